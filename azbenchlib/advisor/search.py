"""The cheapest VM with disks, exactly: what a VM carries and what disks carry are apart, so the cheapest
disks for a number of slots serve every VM that carries the demand and has the slots.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.disk_options import DiskOption, options
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import FULL, Bools, Floats, VmSize
from azbenchlib.advisor.offers.volume_ways import VolumeWay, os_disks, volume_ways
from azbenchlib.azure.disk_kinds import NVME, DiskKind
from azbenchlib.cost.bill import Bill
from azbenchlib.cost.usage import Use
from azbenchlib.model.setup import Disk, Setup

FEWER_DISKS_WITHIN = Decimal("1.05")  # of the least price: what fewer disks to attach and watch are worth
_NEAR = 1e-9  # prices closer than that are compared as exact decimals


@dataclass(frozen=True)
class Candidate:
    """A VM, by its place in the market, with disks."""

    market: Market
    vm_index: int
    option: DiskOption
    os_option: DiskOption | None = None

    @cached_property
    def setup(self) -> Setup:
        """As it would be provisioned, the data disks first."""
        disks = tuple(option.disk for option in self.options)
        return Setup(self.market.vms[self.vm_index].vm, disks, self.market.as_of)

    @cached_property
    def bill(self) -> Bill:
        """The whole bill."""
        data = replace(self.setup, disks=(self.option.disk,))
        billed = self.market.bill(data, self.option.use)
        of_os = self.os_option.bill.lines if self.os_option else ()
        return replace(billed, lines=(*billed.lines, *of_os))

    @property
    def vm_size(self) -> VmSize:
        """With all that is known of it."""
        return self.market.vms[self.vm_index]

    @property
    def options(self) -> tuple[DiskOption, ...]:
        """Its data disks, and its OS disk where that is part of the answer."""
        return (self.option, *((self.os_option,) if self.os_option else ()))

    @property
    def price(self) -> Decimal:
        """Of the market's period."""
        return sum((option.price for option in self.options), self.vm_bill.total or Decimal(0))

    @cached_property
    def vm_bill(self) -> Bill:
        """What the VM costs alone."""
        return self.market.vm_bill(self.vm_index)

    @property
    def order(self) -> tuple[object, ...]:
        """The cheaper first; of what costs the same the simpler, on the larger VM."""
        return self.price, *_simpler(self.option), *self.market.vms[self.vm_index].larger_first


class Group:
    """All configurations with one kind of disk, cached or not."""

    def __init__(
        self,
        kind: DiskKind,
        cached: bool,
        demand: Demand,
        market: Market,
        bursting: bool,
        os_ways: Sequence[VolumeWay],
    ) -> None:
        self.kind, self.cached, self.market = kind, cached, market
        self._os_disks = os_disks(demand, kind, cached, os_ways, market) if demand.os_disk else None
        self._os_prices = self._os_disks.prices if self._os_disks else np.zeros(len(market.vms))
        found = [] if kind.local else options(kind, cached, demand, market, bursting)
        self.options = [option for option in found if not option.bill.missing]
        self.unpriced = [option for option in found if option.bill.missing]
        self.utilisation = market.vm_sizes.utilisation(kind, cached, demand)
        self.slots = market.vm_sizes.max_disks
        self.suits = market.vm_sizes.suits(demand) & self._holds(demand)
        self.fits: Bools = self.suits & (self.utilisation <= FULL) & np.isfinite(self._os_prices)

    def _holds(self, demand: Demand) -> Bools:
        vm_sizes = self.market.vm_sizes
        if not self.kind.local:
            return vm_sizes.allowed(self.kind, self.cached)
        holds: Bools = vm_sizes.local_bytes(self.kind) >= demand.size_bytes
        return holds

    @cached_property
    def vm_prices(self) -> Floats:
        """Of each VM with its OS disk; NaN where a price is missing, infinite where no OS disk fits."""
        return self.market.vm_prices + self._os_prices

    @cached_property
    def steps(self) -> list[DiskOption]:
        """The cheapest option for so many slots: more disks only where they cost less."""
        found: list[DiskOption] = []
        for option in sorted(self.options, key=lambda one: (one.disk.count, one.price, *_simpler(one))):
            if not found or option.price < found[-1].price:
                found.append(option)
        return found

    def _step(self, most_disks: float) -> npt.NDArray[np.intp]:
        """Which step each VM may have; below 0: none."""
        counts = np.array([option.disk.count for option in self.steps])
        return np.searchsorted(counts, np.minimum(self.slots, most_disks), side="right") - 1

    def totals(self, most_disks: float = np.inf) -> Floats:
        """The price with each VM and at most so many disks; infinite where none does, or has a price."""
        vms = np.where(np.isnan(self.vm_prices), np.inf, self.vm_prices)
        if self.kind.local:
            return np.where(self.fits, vms, np.inf)
        if not self.steps:
            return np.full(len(vms), np.inf)
        prices = np.array([float(option.price) for option in self.steps])
        step = self._step(most_disks)
        return np.where(self.fits & (step >= 0), vms + prices[step], np.inf)

    @property
    def unpriced_sizes(self) -> Bools:
        """The VMs that would do, but have no price."""
        there = self.fits & np.isnan(self.vm_prices)
        if self.kind.local:
            return there
        least = min((option.disk.count for option in self.options), default=np.inf)
        return there & (self.slots >= least)

    def at_least(self, some: Sequence[DiskOption]) -> Candidate | None:
        """Of options that lack only prices of operations the cheapest without them; None: none is such."""
        prices = np.where(self.fits, self.vm_prices, np.nan)
        found = []
        for option in some:
            there = np.where(self.slots >= option.disk.count, prices, np.nan)
            if option.at_least and np.isfinite(there).any():
                found.append(self.with_vm(int(np.nanargmin(there)), option))
        return min(found, key=lambda candidate: candidate.order, default=None)

    def candidate(self, vm_index: int, most_disks: float = np.inf) -> Candidate:
        """The cheapest with one VM and at most so many disks."""
        if self.kind.local:
            return self.with_vm(vm_index, self._local(vm_index))
        return self.with_vm(vm_index, self.steps[int(self._step(most_disks)[vm_index])])

    def with_vm(self, vm_index: int, option: DiskOption) -> Candidate:
        """Disks with one VM and its OS disk."""
        os_option = self._os_disks.of(vm_index) if self._os_disks else None
        return Candidate(self.market, vm_index, option, os_option)

    def _local(self, vm_index: int) -> DiskOption:
        vm_size = self.market.vms[vm_index]
        nvme = self.kind is NVME
        many = (vm_size.vm.nvme_count or 1) if nvme else 1
        size = vm_size.nvme_bytes if nvme else vm_size.temp_bytes
        name = f"{self.kind.word}{f'x{many}' if many > 1 else ''}"
        disk = Disk(name=name, role=self.kind.key, size_bytes=size, count=many, striped=many > 1)
        return DiskOption(self.kind, disk, Bill(self.market.hours, ()), Use())


@dataclass(frozen=True)
class Search:
    """Everything that meets one demand in one market."""

    demand: Demand
    market: Market
    groups: tuple[Group, ...]

    def recommended(self) -> Candidate | None:
        """The cheapest of those with the fewest disks that cost at most `FEWER_DISKS_WITHIN` of the least.

        Local disks come with the VM, so none of them is fewer; with `strictly_cheapest`, price alone counts.
        """
        cheapest = self.cheapest()
        if cheapest is None or cheapest.option.kind.local or self.demand.strictly_cheapest:
            return cheapest
        managed = [kind for kind in self.kinds() if not kind.local]
        for count in range(1, cheapest.option.disk.count):
            candidate = self.cheapest(managed, most_disks=count)
            if candidate is not None and candidate.price <= cheapest.price * FEWER_DISKS_WITHIN:
                return candidate
        return cheapest

    def cheapest(
        self,
        kinds: Sequence[DiskKind] | None = None,
        among: Bools | None = None,
        most_disks: float = np.inf,
    ) -> Candidate | None:
        """The cheapest configuration; of kinds of disks, or among VMs, where these are given.

        Prices are compared as floats first; those that are within one part in 10⁹ as exact decimals.
        """
        groups = [group for group in self.groups if kinds is None or group.kind in kinds]
        wanted = True if among is None else among
        totals = [np.where(wanted, group.totals(most_disks), np.inf) for group in groups]
        least = min((total.min() for total in totals if total.size), default=np.inf)
        if np.isinf(least):
            return None
        near = [
            group.candidate(int(vm_index), most_disks)
            for group, total in zip(groups, totals, strict=True)
            for vm_index in np.flatnonzero(total <= least * (1 + _NEAR))
        ]
        return min(near, key=lambda candidate: candidate.order)

    def kinds(self) -> Iterator[DiskKind]:
        """The kinds of disks that were looked at."""
        yield from dict.fromkeys(group.kind for group in self.groups)


def search(demand: Demand, market: Market, bursting: bool = True) -> Search:
    """Look at every VM size with every configuration of disks.

    Parameters
    ----------
    demand : Demand
    market : Market
    bursting : bool
        Whether the peak may be met with credits or with on-demand bursting; else it counts as lasting.
    """
    wanted = demand if bursting else demand.without_peak()
    os_ways = list(volume_ways(demand.os_disk, market)) if demand.os_disk else []
    groups = [
        Group(kind, cached, wanted, market, bursting, os_ways)
        for kind in wanted.kinds
        for cached in ((False, True) if kind.cacheable else (False,))
    ]
    return Search(wanted, market, tuple(groups))


def _simpler(option: DiskOption) -> tuple[object, ...]:
    disk = option.disk
    return option.on_demand, disk.caching != "None", disk.count, disk.name
