"""The cheapest VM with disks, exactly: what a VM carries and what disks carry are apart, so the cheapest
disks for a number of slots serve every VM that carries the demand and has the slots.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from azbenchlib.model.bill import Bill
from azbenchlib.model.cost import Use
from azbenchlib.model.demand import LOCAL, Demand
from azbenchlib.model.machines import Bools, Floats
from azbenchlib.model.market import Market
from azbenchlib.model.options import FULL, Option, options
from azbenchlib.model.setup import Disk, Setup

_NEAR = 1e-9  # prices closer than that are compared as exact decimals


@dataclass(frozen=True)
class Choice:
    """A VM, by its place in the market, with disks."""

    market: Market
    machine: int
    option: Option

    @cached_property
    def setup(self) -> Setup:
        """As it would be bought."""
        return Setup(self.market.vms[self.machine].vm, (self.option.disk,), self.market.as_of)

    @cached_property
    def bill(self) -> Bill:
        """The whole bill."""
        return self.market.bill(self.setup, self.option.use)

    @property
    def price(self) -> Decimal:
        """Of the market's period."""
        return (self.market.vm_bills[self.machine].total or Decimal(0)) + self.option.price

    @property
    def order(self) -> tuple[object, ...]:
        """The cheaper first; of what costs the same the simpler."""
        return self.price, *_simpler(self.option), self.market.vms[self.machine].size


class Group:
    """All designs with one kind of disk, cached or not."""

    def __init__(self, kind: str, cached: bool, demand: Demand, market: Market, bursting: bool) -> None:
        self.kind, self.cached, self.market = kind, cached, market
        found = [] if kind in LOCAL else options(kind, cached, demand, market, bursting)
        self.options = [option for option in found if not option.bill.missing]
        self.unpriced = [option for option in found if option.bill.missing]
        self.strain = market.machines.strain(kind, cached, demand)
        self.slots = market.machines.max_disks
        self.suits = market.machines.suits(demand) & self._holds(demand)
        self.fits: Bools = self.suits & (self.strain <= FULL)

    def _holds(self, demand: Demand) -> Bools:
        machines = self.market.machines
        if self.kind not in LOCAL:
            return machines.allowed(self.kind, self.cached)
        holds: Bools = machines.local_bytes(self.kind) >= demand.size_bytes
        return holds

    @cached_property
    def steps(self) -> list[Option]:
        """The cheapest option for so many slots: more disks only where they cost less."""
        found: list[Option] = []
        for option in sorted(self.options, key=lambda one: (one.disk.count, one.price, *_simpler(one))):
            if not found or option.price < found[-1].price:
                found.append(option)
        return found

    @cached_property
    def _step(self) -> npt.NDArray[np.intp]:
        """Which step each VM may have; below 0: none."""
        counts = np.array([option.disk.count for option in self.steps])
        return np.searchsorted(counts, self.slots, side="right") - 1

    @cached_property
    def totals(self) -> Floats:
        """The price with each VM; infinite where it does not do, or has no price."""
        prices = np.array([float(option.price) for option in self.steps])
        vms = np.where(np.isnan(self.market.vm_prices), np.inf, self.market.vm_prices)
        if self.kind in LOCAL:
            return np.where(self.fits, vms, np.inf)
        if not len(prices):
            return np.full(len(vms), np.inf)
        return np.where(self.fits & (self._step >= 0), vms + prices[self._step], np.inf)

    @property
    def unpriced_machines(self) -> Bools:
        """The VMs that would do, but have no price."""
        there = self.fits & np.isnan(self.market.vm_prices)
        if self.kind in LOCAL:
            return there
        least = min((option.disk.count for option in self.options), default=np.inf)
        return there & (self.slots >= least)

    def choice(self, machine: int) -> Choice:
        """The cheapest with one VM."""
        if self.kind in LOCAL:
            return Choice(self.market, machine, self._local(machine))
        return Choice(self.market, machine, self.steps[int(self._step[machine])])

    def _local(self, machine: int) -> Option:
        offer = self.market.vms[machine]
        many = (offer.vm.nvme_count or 1) if self.kind == "nvme" else 1
        size = offer.nvme_bytes if self.kind == "nvme" else offer.temp_bytes
        name = f"{self.kind}{f'x{many}' if many > 1 else ''}"
        disk = Disk(name, role=self.kind, size_bytes=size, count=many, striped=many > 1)
        return Option(self.kind, disk, Bill(self.market.hours, ()), Use())


@dataclass(frozen=True)
class Search:
    """Everything that meets one demand in one market."""

    demand: Demand
    market: Market
    groups: tuple[Group, ...]

    def cheapest(self, kinds: Sequence[str] | None = None, among: Bools | None = None) -> Choice | None:
        """The cheapest design; of kinds of disks, or among VMs, where these are given.

        Prices are compared as floats first; those that are within one part in 10⁹ as exact decimals.
        """
        groups = [group for group in self.groups if kinds is None or group.kind in kinds]
        wanted = True if among is None else among
        totals = [np.where(wanted, group.totals, np.inf) for group in groups]
        least = min((total.min() for total in totals if total.size), default=np.inf)
        if np.isinf(least):
            return None
        near = [
            group.choice(int(machine))
            for group, total in zip(groups, totals, strict=True)
            for machine in np.flatnonzero(total <= least * (1 + _NEAR))
        ]
        return min(near, key=lambda choice: choice.order)

    def kinds(self) -> Iterator[str]:
        """The kinds of disks that were looked at."""
        yield from dict.fromkeys(group.kind for group in self.groups)


def search(demand: Demand, market: Market, bursting: bool = True) -> Search:
    """Look at every VM size with every design of disks.

    Parameters
    ----------
    demand : Demand
    market : Market
    bursting : bool
        Whether the peak may be met with credits or with on-demand bursting; else it counts as lasting.
    """
    wanted = demand if bursting else demand.without_peak()
    groups = [
        Group(kind, cached, wanted, market, bursting)
        for kind in wanted.kinds
        for cached in ((False,) if kind in LOCAL or kind in ("premium_v2", "ultra") else (False, True))
    ]
    return Search(wanted, market, tuple(groups))


def _simpler(option: Option) -> tuple[object, ...]:
    disk = option.disk
    return option.on_demand, disk.caching != "None", disk.count, disk.name
