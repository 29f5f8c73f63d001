"""The disks that meet a demand, each with its price: the fewest of every tier, and Premium SSD v2 and Ultra
with just what is needed.

That is exact. More disks of a tier never cost less, and whatever n of them carry, n + 1 do; a provisioned
disk's price grows with each of its figures, so the least of every figure is the cheapest. Performance tiers
need no place of their own: a disk is billed as the tier that it performs as, so the larger disk costs the
same. ReadWrite caching carries no lasting load that ReadOnly would not: what it takes in must be written on.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

import numpy as np

from azbenchlib.advisor.demands.demand import LARGE_BS, MOST_DISKS, Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import FULL, Floats, uncredited_utilisation, utilisation
from azbenchlib.azure.catalog.rows import ProvisionedRules, TierRow
from azbenchlib.azure.disk_kinds import IO_UNIT_BYTES, DiskKind
from azbenchlib.core.units import GIB, MB, S_PER_HOUR
from azbenchlib.cost.bill import Bill
from azbenchlib.cost.operations import Burst
from azbenchlib.cost.usage import Use, capped
from azbenchlib.model.fill_from_catalogue import tier_cap
from azbenchlib.model.rules import CACHE_BELOW_BYTES, bytes_per_s_range, iops_range
from azbenchlib.model.setup import ON_DEMAND_ABOVE_BYTES, Cap, Disk

_UNCOUNTED = Use()  # of what is not billed by use
_DIGITS = 9  # behind the point, of what is provisioned


@dataclass(frozen=True)
class DiskOption:
    """Disks of one kind, striped into one volume; `bill` is without the VM."""

    kind: DiskKind
    disk: Disk
    bill: Bill
    use: Use

    @cached_property
    def price(self) -> Decimal:
        """Of the market's period. Where a price is missing, that of the rest."""
        return sum((line.amount for line in self.bill.lines), Decimal(0))

    @property
    def at_most(self) -> bool:
        """Whether the price is the most that it can be: its transactions are capped, nobody says at what."""
        return capped(self.kind) and any(line.hours is None for line in self.bill.lines)

    @property
    def at_least(self) -> bool:
        """Whether only prices of operations are missing: what the rest costs is the least that it can be."""
        return bool(self.bill.missing) and all("Operations" in meter.name for meter in self.bill.missing)

    @property
    def on_demand(self) -> bool:
        """Whether it bursts for money."""
        return self.disk.bursting is True


def options(
    kind: DiskKind, cached: bool, demand: Demand, market: Market, on_demand: bool = True
) -> list[DiskOption]:
    """Disks of one kind that meet a demand, with prices or with what is missing of them.

    Parameters
    ----------
    kind : DiskKind
    cached : bool
        ReadOnly host caching, else none.
    demand : Demand
    market : Market
    on_demand : bool
        Whether on-demand bursting may be used.
    """
    if kind.provisioned:
        disks = _provisioned(kind, demand, market) if not cached else iter(())
    else:
        disks = _tiered(kind, cached, demand, market, on_demand)
    return [priced(kind, disk, demand, market) for disk in disks]


def tier_lacks(
    kind: DiskKind,
    cached: bool,
    demand: Demand,
    market: Market,
    on_demand: bool = False,
    credits_count: bool = True,
) -> tuple[list[TierRow], Floats]:
    """The tiers of a kind, and how many times of what 1, 2, … disks have is wanted, shape (tiers, counts):
    of their limits or their size, the worst. It falls with every disk; infinite where none can be had so.
    Without `credits_count` as :func:`azbenchlib.advisor.offers.vm_sizes.uncredited_utilisation`.
    """
    rows = market.tiers_of(kind.sku)
    counts = np.arange(1, MOST_DISKS + 1, dtype=float)
    sizes = np.array([[tier_size(row, cached or demand.is_os_disk)] for row in rows], dtype=float)
    with np.errstate(divide="ignore"):
        worst: Floats = demand.size_bytes / (sizes * counts)
        for quantity, need in demand.needs(cached, unit=kind.io_unit_bytes).items():
            base, burst, paid = (
                market.tier_figures(kind.sku, f"{before}{quantity}") * counts
                for before in ("", "burst_", "on_demand_burst_")
            )
            if on_demand:
                lack = need.peak / np.maximum(base, paid)
            elif credits_count:
                lack = utilisation(base, np.maximum(base, burst), need, demand.peak)
            else:
                lack = uncredited_utilisation(base, np.maximum(base, burst), need)
            worst = np.maximum(worst, lack)
    return rows, worst


def tier_size(row: TierRow, cached: bool) -> int:
    """The largest disk of a tier that may be cached, or not; 0: none."""
    if not cached or row.size_bytes < CACHE_BELOW_BYTES:
        return row.size_bytes
    return CACHE_BELOW_BYTES - GIB if row.size_bytes == CACHE_BELOW_BYTES else 0


@lru_cache(maxsize=8_192)  # asked for the same few disks by most demands
def tier_disk(
    row: TierRow,
    count: int,
    cached: bool,
    redundancy: str,
    on_demand: bool = False,
    os_disk: bool = False,
) -> Disk:
    """So many disks of a tier as one volume, or one as the OS disk, which is no larger than a cached one."""
    size = tier_size(row, cached or os_disk)
    name = f"{row.name}{f'x{count}' if count > 1 else ''}"
    words = {"ZRS": redundancy == "ZRS", "ReadOnly": cached, "burst": on_demand}
    smaller = f"/{size // GIB}GiB" if size != row.size_bytes else ""
    return Disk(
        name=":".join(
            [*(["os"] * os_disk), f"{name}{smaller}", *(word for word, applies in words.items() if applies)]
        ),
        role="os" if os_disk else "data",
        sku=f"{row.sku}_{redundancy}",
        tier=row.name,
        size_bytes=size,
        caching="ReadOnly" if cached else "None",
        cap=tier_cap(row, on_demand),
        count=count,
        striped=count > 1,
        bursting=True if on_demand else None,
    )


def redundancies(kind: DiskKind, demand: Demand) -> tuple[str, ...]:
    """Those that do, of those that there are."""
    return ("ZRS",) if demand.redundancy == "ZRS" else kind.redundancies


def priced(kind: DiskKind, disk: Disk, demand: Demand, market: Market) -> DiskOption:
    """A disk with its price under the demand; of two ways to count its transactions the more expensive."""
    found = [
        DiskOption(kind, disk, market.disk_bill(disk, use), use) for use in _uses(kind, disk, demand, market)
    ]
    return max(found, key=lambda option: option.price)


def _tiered(kind: DiskKind, cached: bool, demand: Demand, market: Market, on_demand: bool) -> Iterator[Disk]:
    """The fewest disks of every tier; with on-demand bursting any number below that."""
    rows = market.tiers_of(kind.sku)
    if not rows:
        return
    plain = _first(tier_lacks(kind, cached, demand, market)[1])
    paid = plain
    if on_demand and kind.on_demand_bursting:
        paid = _first(tier_lacks(kind, cached, demand, market, True)[1])
    for row, few, fewer in zip(rows, plain, paid, strict=True):
        bursting = range(fewer, min(few, demand.most_disks + 1)) if _bursts_on_demand(row, cached) else ()
        for redundancy in redundancies(kind, demand):
            if few <= demand.most_disks:
                yield tier_disk(row, few, cached, redundancy, os_disk=demand.is_os_disk)
            for count in bursting:
                yield tier_disk(row, count, cached, redundancy, on_demand=True, os_disk=demand.is_os_disk)


def _first(lacks: Floats) -> list[int]:
    """The first count that is enough, of every tier; one above the most where none is."""
    return [int(count) + 1 for count in (lacks > FULL).sum(axis=1)]


def _bursts_on_demand(row: TierRow, cached: bool) -> bool:
    return row.on_demand_burst_iops is not None and tier_size(row, cached) > ON_DEMAND_ABOVE_BYTES


def _provisioned(kind: DiskKind, demand: Demand, market: Market) -> Iterator[Disk]:
    """One disk to the most, each with the least that is enough."""
    of_day = next((rules for rules in market.rules if rules.sku == kind.sku), None)
    if of_day is None:
        return
    sku = f"{of_day.sku}_LRS"
    needs = demand.needs(False, unit=kind.io_unit_bytes)
    for count in range(1, demand.most_disks + 1):
        each = [needs[quantity].peak / count for quantity in ("iops", "bytes_per_s")]
        least = provision(of_day, demand.size_bytes / count, *each)
        if least is not None:
            yield provisioned_disk(kind, sku, count, *least)


def provision(
    of_day: ProvisionedRules, size_bytes: float, iops: float, bytes_per_s: float
) -> tuple[int, int, int] | None:
    """The least size, IOPS and bytes per second that a disk can have and that are enough: whole GiB, IOPS
    and MB/s. None: it cannot have as much.
    """
    rate = max(_up(bytes_per_s / MB) * MB, of_day.min_bytes_per_s or of_day.baseline_bytes_per_s or 0)
    least = max(_up(iops), of_day.baseline_iops or of_day.min_iops or 0)
    if of_day.max_bytes_per_s_per_iops:
        least = max(least, _up(rate / of_day.max_bytes_per_s_per_iops))
    size = max(_up(size_bytes / GIB), _up((of_day.min_size_bytes or 0) / GIB), 1)
    if of_day.max_iops_per_gib and least > (of_day.baseline_iops or 0):
        size = max(size, _up(least / of_day.max_iops_per_gib))
    least = max(least, _up(size * (of_day.min_iops_per_gib or 0)))
    rate = max(rate, _up(least * (of_day.min_bytes_per_s_per_iops or 0) / MB) * MB)
    fits = size * GIB <= (of_day.max_size_bytes or math.inf)
    allowed = iops_range(of_day, size * GIB), bytes_per_s_range(of_day, least)
    if fits and least <= allowed[0].high and rate <= allowed[1].high:
        return size * GIB, least, rate
    return None


def provisioned_disk(kind: DiskKind, sku: str, count: int, size: int, iops: int, rate: int) -> Disk:
    return Disk(
        name=f"{kind.word}{f'x{count}' if count > 1 else ''}:{size // GIB}GiB/{iops}iops/{rate // MB}MBps",
        sku=sku,
        size_bytes=size,
        cap=Cap(iops=iops, bytes_per_s=rate),
        count=count,
        striped=count > 1,
    )


def _up(value: float) -> int:
    return math.ceil(round(value, _DIGITS))


def _uses(kind: DiskKind, disk: Disk, demand: Demand, market: Market) -> Iterator[Use]:
    """How each disk is used over the period, for what is billed by use."""
    cached = disk.caching != "None"
    share = demand.behind_cache(cached) / disk.count
    if kind.billing and kind.billing.operations_tier:
        iops, rate = demand.mean
        yield Use(ios_per_s=iops * share, bs_bytes=int(demand.block))
        if rate > iops * demand.block:
            yield Use(ios_per_s=rate / LARGE_BS * share, bs_bytes=LARGE_BS)
    elif disk.bursting:
        needs = demand.needs(cached, unit=IO_UNIT_BYTES)
        seconds = float(market.running) * S_PER_HOUR
        each, peak = demand.headroom * disk.count, demand.duty * seconds
        rest = seconds - peak
        lasting = Burst(rest, *(need.steady / each for need in needs.values()))
        highest = Burst(peak, *(need.peak / each for need in needs.values()))
        yield Use(bursts=(lasting, highest))
    else:
        yield _UNCOUNTED
