"""Which disks could stand instead of one, and up to which load each kind costs less.

The VM is left out: it is the same with all of them, but for the limits that some sizes have for Premium SSD
v2 and Ultra Disk. Bursts are left out, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from azbenchlib.advisor.demands import demand_file
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.disk_options import DiskOption, options, priced
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.errors import InputError
from azbenchlib.core.stated_values import block
from azbenchlib.core.units import format_count, format_mbps, format_size
from azbenchlib.cost.usage import doubts
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.limits import TIE_REL
from azbenchlib.model.notation import parse_disk
from azbenchlib.model.setup import VM, Disk, Setup

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # of the load at which prices are compared
SUBSTITUTE_COLUMNS = ("iops", "mbps", "size", "bs", "read_share", "latency", "headroom", "max_disks")
_LEAST, _MOST = 1e-3, 16.0  # of the load: prices are compared between them
_STEPS = 40  # of halving: a share is exact to one I/O then


@dataclass(frozen=True, kw_only=True)
class Substitutes:
    """A disk and what could stand instead of it.

    Parameters
    ----------
    disk : Disk
        With its limits.
    kind : DiskKind
        Of the disk.
    demand : Demand
        What has to be met, at a share of 1.
    market : Market
    """

    disk: Disk
    kind: DiskKind
    demand: Demand
    market: Market

    @cached_property
    def option(self) -> DiskOption:
        """The disk with its price under the load."""
        return priced(self.kind, self.disk, self.demand, self.market)

    @cached_property
    def kinds(self) -> tuple[DiskKind, ...]:
        """The kinds that meet some of the loads, that of the disk first."""
        wanted = sorted(self.demand.kinds, key=lambda kind: kind is not self.kind)
        return tuple(
            kind for kind in wanted if not kind.local and any(self.at(kind, share) for share in SHARES)
        )

    @cached_property
    def best(self) -> DiskOption | None:
        """The cheapest of another kind that is as fast; None: none meets the demand."""
        others = (
            self.at(kind, 1.0)
            for kind in self.kinds
            if kind is not self.kind and kind.serves(self.kind.latency_class)
        )
        return min(filter(None, others), key=lambda option: option.price, default=None)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes the price of the disk doubtful, in sentences."""
        return tuple(doubts(Setup(VM(), (self.disk,)), self.option.use))

    @property
    def unpriced(self) -> Iterator[DiskKind]:
        """Kinds that would meet the demand and have no price."""
        for kind in self.demand.kinds:
            if not kind.local and any(one.bill.missing for one in self._options(kind, 1.0)):
                yield kind

    def loaded(self, share: float) -> Demand:
        """The demand with a share of the load."""
        return self.demand.times(share)

    def at(self, kind: DiskKind, share: float) -> DiskOption | None:
        """The cheapest disks of a kind for a share of the load; None: none have as much, or a price."""
        if kind is self.kind and share <= 1:
            return priced(kind, self.disk, self.loaded(share), self.market)
        there = (option for option in self._options(kind, share) if not option.bill.missing)
        return min(there, key=lambda option: (option.price, option.disk.count), default=None)

    @property
    def is_billed_by_use(self) -> bool:
        """Whether the disk costs less with less load."""
        return bool(self.kind.billing and self.kind.billing.operations_tier)

    def cheaper_up_to(self, kind: DiskKind) -> Demand | None:
        """The highest load up to which a kind costs no more than the disk; None: it always costs more.

        Of a disk whose price does not depend on its load.
        """
        low, high = _LEAST, _MOST
        if not self._costs_no_more(kind, low):
            return None
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._costs_no_more(kind, middle) else (low, middle)
        return self.loaded(low)

    def _costs_no_more(self, kind: DiskKind, share: float) -> bool:
        option = self.at(kind, share)
        return option is not None and option.price <= self.option.price

    def _options(self, kind: DiskKind, share: float) -> list[DiskOption]:
        return options(kind, False, self.loaded(share), self.market, on_demand=False)


def substitutes(text: str, stated: Mapping[str, str], market: Market) -> Substitutes:
    """What could stand instead of a disk.

    Parameters
    ----------
    text : str
        The disk in the short notation, such as ``P30`` or ``P30x2:ZRS``.
    stated : mapping of str to str
        Load and room that are needed, by column of a demand (:data:`SUBSTITUTE_COLUMNS`). What is not stated
        is what the disk has; a headroom of 1.
    market : Market

    Raises
    ------
    InputError
        For a disk that there is not, that is local or has no price, a column that does not count here, or a
        demand that the disk does not meet.
    """
    for name in stated:
        if name not in SUBSTITUTE_COLUMNS:
            option = name.replace("_", "-")
            raise InputError(f"--instead-of compares disks without their VM: leave out --{option}")
    disk = resolve(Setup(VM(), (parse_disk(text),)), market.as_of).disks[0]
    if disk.local or disk.kind is None:
        raise InputError(f"--instead-of '{text}' is a local disk: it comes with its VM and has no price")
    if not disk.size_bytes:
        raise InputError(f"--instead-of '{text}' has no size: write one such as {text}:1TiB")
    demand = demand_file.demand(stated, measured=_of_disk(disk, stated))
    compared = Substitutes(disk=disk, kind=disk.kind, demand=demand, market=market)
    if compared.option.bill.missing:
        missing = ", ".join(map(str, compared.option.bill.missing))
        raise InputError(f"--instead-of '{text}': prices are missing in {market.region}: {missing}")
    _check_met(compared)
    return compared


def _of_disk(disk: Disk, stated: Mapping[str, str]) -> dict[str, object]:
    """What the disk has, as fields of a demand: both limits at once, or with a block size the first one."""
    cap = disk.cap.times(disk.count)
    iops, rate = float(cap.iops or 0), float(cap.bytes_per_s or 0)
    size = block("--bs", stated["bs"]) if "bs" in stated else rate / iops
    fields: dict[str, object] = {
        "size_bytes": float((disk.size_bytes or 0) * disk.count),
        "redundancy": (disk.sku or "").partition("_")[2],
        "latency": "any",
        "headroom": 1.0,
        "most_disks": disk.count,
        "is_os_disk": disk.role == "os",
    }
    if not {"iops", "mbps"} & stated.keys():
        iops = min(iops, rate / size)
        fields |= {"iops": iops, "bytes_per_s": iops * size, "bs_bytes": size}
    return fields


def _check_met(compared: Substitutes) -> None:
    """Refuse a demand that the disk itself does not meet."""
    disk, cap = compared.disk, compared.disk.cap.times(compared.disk.count)
    needs = compared.demand.needs(False, unit=disk.io_unit_bytes)
    has = (
        (cap.iops, needs["iops"].peak, format_count, "IOPS"),
        (cap.bytes_per_s, needs["bytes_per_s"].peak, format_mbps, "MB/s"),
        ((disk.size_bytes or 0) * disk.count, compared.demand.size_bytes, format_size, "of room"),
    )
    for limit, need, as_text, unit in has:
        if need > (limit or 0) * (1 + TIE_REL):
            raise InputError(
                f"--instead-of '{disk.name}' has {as_text(limit or 0)} {unit}, and {as_text(need)} are "
                "needed: leave it out to learn which disks meet that"
            )
