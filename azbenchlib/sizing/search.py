"""The cheapest VM with disks that throttles a load no longer than it may be, over a whole market, exactly;
and the one with the fewest disks that costs little more.

VM sizes and disks that others undercut are left out first: no design with them is the cheapest. What is
left is tried pair by pair from the cheapest on. A closed form rules out most pairs
(:mod:`azbenchlib.sizing.bounds`); the others are replayed. Premium SSD v2 and Ultra are searched with each
VM for their least figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, partial

import numpy as np

from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import FEWER_DISKS_WITHIN
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB
from azbenchlib.model.setup import VM, Setup
from azbenchlib.sizing.design import Design, Replays, design
from azbenchlib.sizing.efficient import documented, efficient_options, efficient_vms, vm_price
from azbenchlib.sizing.provisioned import Provisioned
from azbenchlib.sizing.requirement import SizeRequirement
from azbenchlib.sizing.tiered import tiered

_LESS = 0.9  # of a figure that is chosen
_NO_PRICE = Decimal("Infinity")  # is too high


@dataclass(frozen=True)
class _Pair:
    """A VM with disks, and what it costs."""

    price: Decimal
    vm_index: int
    option: DiskOption

    @property
    def order(self) -> tuple[object, ...]:
        """The cheaper first; of what costs the same the simpler. VMs stay in order, the larger first."""
        disk = self.option.disk
        return self.price, disk.caching != "None", disk.count, disk.name


class SizeSearch:
    """What of a market meets a requirement.

    Parameters
    ----------
    requirement : SizeRequirement
    market : Market

    Raises
    ------
    InputError
        When no VM size, or no kind of disk, may be taken.
    """

    def __init__(self, requirement: SizeRequirement, market: Market) -> None:
        self.requirement, self.market = requirement, market
        demand = requirement.demand
        self.replays = Replays(
            requirement.history,
            demand.cache_hit,
            requirement.throttled_s,
            requirement.confidence,
            requirement.burst_factor,
        )
        suiting = np.flatnonzero(market.vm_sizes.suits(demand) & (market.vm_sizes.max_disks >= 1))
        self.vms = efficient_vms(market, suiting.tolist())
        self._floors: dict[tuple[DiskKind, int], tuple[Decimal, DiskOption | None]] = {}
        self._vm_prices = {i: vm_price(market, i) for i in self.vms}
        if not self.vms:
            raise InputError(f"no VM size like '{demand.vm}' with a price in {market.region} may be taken")
        slots = max(int(market.vm_sizes.max_disks[i]) for i in self.vms)
        self.most = min(requirement.most_disks or slots, slots)
        self.kinds = [kind for kind in demand.kinds if not kind.local]
        if not self.kinds:
            raise InputError(
                f"no disk of the latency class '{demand.latency}' with {demand.redundancy} keeps its data"
            )

    @cached_property
    def options(self) -> list[DiskOption]:
        """Disks of tiers that nothing undercuts, those that throttle too long by themselves left out."""
        return [one for one in self._all_options if self._may_do(one)]

    def cheapest(self, most: Decimal | None = None, count: int | None = None) -> Design | None:
        """The cheapest design, with so many disks; None: nothing does, at `most` at that price."""
        below = None if most is None else most.next_plus()
        counts = range(1, self.most + 1) if count is None else range(count, min(count, self.most) + 1)
        pairs = (
            pair
            for pair in self._pairs()
            if pair.option.disk.count in counts and (below is None or pair.price < below)
        )
        best = next((pair for pair in pairs if self._does(pair.vm_index, pair.option)), None)
        for kind in self.kinds:
            if kind.provisioned:
                best = self._provisioned(kind, best, below, counts)
        return None if best is None else self._design(best)

    def recommended(self, cheapest: Design, most: Decimal | None = None) -> Design:
        """The cheapest with the fewest disks that costs at most `FEWER_DISKS_WITHIN` of the cheapest design.

        With `strictly_cheapest` in the demand it is the cheapest design itself; `most` is the highest price.
        """
        if self.requirement.demand.strictly_cheapest:
            return cheapest
        near = cheapest.price * FEWER_DISKS_WITHIN
        near = near if most is None else min(near, most)
        for count in range(1, cheapest.setup.disks[0].count):
            if (design := self.cheapest(near, count)) is not None:
                return design
        return cheapest

    def least_throttled(self) -> Design | None:
        """Of the disks of tiers the design that throttles least; None: there is none."""
        return self._least_throttled(self._pairs_with(self._all_options))

    def _setup(self, pair: _Pair) -> Setup:
        return Setup(self.market.vms[pair.vm_index].vm, (pair.option.disk,))

    def next_cheaper(self, than: Design) -> Design | None:
        """Of the designs that cost less the one that is throttled least; None: there is none.

        Of disks whose figures are chosen these are the same with another VM, one disk fewer, and a tenth less
        of either figure.
        """
        option, price = than.candidate.option, than.price
        pairs = (*self._pairs(all_disks=True), *self._pairs_with(self._near(option)))
        return self._least_throttled([pair for pair in pairs if pair.price < price])

    def _least_throttled(self, pairs: Sequence[_Pair]) -> Design | None:
        """Of designs the one that is throttled least, by the closed form; None: there is none."""
        rough = ((self.replays.at_least_s(self._setup(pair)), pair.order, pair) for pair in pairs)
        ordered = sorted(rough, key=lambda one: one[:2])
        best: tuple[float, tuple[object, ...], _Pair] | None = None
        for at_least, order, pair in ordered:
            if best is not None and at_least > best[0]:
                break
            found = (self.replays.least_s(self._setup(pair)), order, pair)
            best = found if best is None or found[:2] < best[:2] else best
        return None if best is None else self._design(best[2])

    def _near(self, option: DiskOption) -> list[DiskOption]:
        """Disks of chosen figures themselves, and a little less of them; none of tiers."""
        if not option.kind.provisioned:
            return []
        disk = option.disk
        disks = Provisioned(option.kind, self.requirement, self.market)
        iops, mbps = int(disk.cap.iops or 0), int((disk.cap.bytes_per_s or 0) // MB)
        less = [(disk.count, int(iops * _LESS), mbps), (disk.count, iops, int(mbps * _LESS))]
        less += [(disk.count - 1, iops, mbps)] if disk.count > 1 else []
        return [option, *(one for figures in less if (one := disks.of(*figures)) is not None)]

    def _pairs(self, all_disks: bool = False) -> Iterator[_Pair]:
        """VMs with disks of tiers that they can have, the cheapest first."""
        yield from self._pairs_with(self._all_options if all_disks else self.options)

    def _pairs_with(self, options: Sequence[DiskOption]) -> list[_Pair]:
        found = [
            _Pair(self._vm_prices[vm_index] + option.price, vm_index, option)
            for vm_index in self.vms
            for option in options
            if self._can_have(vm_index, option)
        ]
        return sorted(found, key=lambda pair: pair.order)

    @cached_property
    def _all_options(self) -> list[DiskOption]:
        """Disks of tiers that nothing undercuts, whatever they throttle."""
        some = (
            option
            for kind in self.kinds
            if not kind.provisioned
            for option in tiered(kind, self.requirement, self.market, self.most)
        )
        return efficient_options(list(some))

    def _can_have(self, vm_index: int, option: DiskOption) -> bool:
        vm_size, sizes = self.market.vms[vm_index], self.market.vm_sizes
        cached = option.disk.caching != "None"
        if option.disk.count > sizes.max_disks[vm_index] or not sizes.allowed(option.kind, cached)[vm_index]:
            return False
        vm = vm_size.vm
        remote = vm.uncached_v2 or vm.uncached if option.kind.separate_vm_limits else vm.uncached
        return documented(remote) and (not cached or documented(vm.cached))

    def _does(self, vm_index: int, option: DiskOption) -> bool:
        return self.replays.is_enough(Setup(self.market.vms[vm_index].vm, (option.disk,)))

    def _may_do(self, option: DiskOption) -> bool:
        """Whether disks by themselves do not throttle too long."""
        return self.replays.may_do(Setup(VM(), (option.disk,)))

    def _provisioned(
        self, kind: DiskKind, best: _Pair | None, dearest: Decimal | None, counts: range
    ) -> _Pair | None:
        """The better of the best so far and of the cheapest of a kind whose figures are chosen."""
        disks = Provisioned(kind, self.requirement, self.market)
        below_all = dearest if best is None else best.price
        floors = {count: floor for count in counts if (floor := self._floor(disks, count, below_all))}
        for vm_index in self.vms:
            of_vm = self._vm_prices[vm_index]
            for count, floor in floors.items():
                if not self._can_have(vm_index, floor):
                    continue
                below_all = dearest if best is None else best.price
                below = None if below_all is None else below_all - of_vm
                if below is not None and floor.price >= below:
                    continue
                if self._does(vm_index, floor):
                    best = _Pair(of_vm + floor.price, vm_index, floor)
                    continue
                found = disks.cheapest(count, partial(self._does, vm_index), below)
                if found is not None:
                    best = _Pair(of_vm + found.price, vm_index, found)
        return best

    def _floor(self, disks: Provisioned, count: int, below: Decimal | None) -> DiskOption | None:
        """The cheapest disks of so many that do by themselves; None: they cost too much with any VM.

        They may cost a little more than `below` allows, so that a search for fewer disks knows them already.
        """
        most = _NO_PRICE if below is None else below * FEWER_DISKS_WITHIN - min(self._vm_prices.values())
        known = self._floors.get((disks.kind, count))
        if known is None or (known[1] is None and known[0] < most):
            known = most, disks.cheapest(count, self._may_do, None if below is None else most)
            self._floors[disks.kind, count] = known
        return known[1]

    def _design(self, pair: _Pair) -> Design:
        demand = self.requirement.demand
        return design(self.market, pair.vm_index, pair.option, self.requirement.history, demand.cache_hit)
