"""Several volumes on one VM, each with a demand of its own: the cheapest VM and disks for all, exactly.

For every way in which the volumes may lie (:mod:`azbenchlib.advisor.offers.volume_ways`) the cheapest disks
for so many slots are paired with each VM that carries the sum. Managed disks alone, but for an ephemeral OS
disk; every volume is at its most at once, and peaks are not looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.document import demand_record
from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import FULL, Bools, VmSize
from azbenchlib.advisor.offers.volume_ways import Steps, VolumeWay, pareto, volume_ways
from azbenchlib.advisor.search import FEWER_DISKS_WITHIN, Candidate, Search
from azbenchlib.core.errors import InputError
from azbenchlib.cost.bill import Bill
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import Setup

_REACHED = 1 - 1e-9
_NEAR = 1e-9


@dataclass(frozen=True)
class Volumes:
    """A VM with the disks of each volume, by its name, and what all that costs."""

    market: Market
    vm_index: int
    options: Mapping[str, DiskOption]
    demands: Mapping[str, Demand]

    @property
    def vm_size(self) -> VmSize:
        """The VM."""
        return self.market.vms[self.vm_index]

    @cached_property
    def bill(self) -> Bill:
        """The VM first, then the volumes as they came."""
        bills = [self.market.vm_bill(self.vm_index), *(option.bill for option in self.options.values())]
        return Bill(self.market.hours, tuple(line for one in bills for line in one.lines))

    @property
    def price(self) -> Decimal:
        """Of the market's period."""
        return self.bill.total or Decimal(0)

    @property
    def disk_count(self) -> int:
        """Data disks of all volumes."""
        return sum(
            option.disk.count for name, option in self.options.items() if not self.demands[name].is_os_disk
        )

    @property
    def setup(self) -> Setup:
        """As it would be provisioned; each volume is a disk, or a stripe, of its name."""
        disks = [replace(option.disk, name=name) for name, option in self.options.items()]
        return Setup(self.vm_size.vm, tuple(disks), self.market.as_of)

    @property
    def parts(self) -> Mapping[str, Configuration]:
        """Each volume alone on the VM: its disks in words, cautions and fio job."""
        return {
            name: Configuration(
                Candidate(self.market, self.vm_index, option),
                (name,),
                Search(self.demands[name], self.market, ()),
            )
            for name, option in self.options.items()
        }

    @property
    def cautions(self) -> tuple[str, ...]:
        """What is to be known before it is ordered."""
        found = (caution.text for part in self.parts.values() for caution in part.cautions)
        return tuple(dict.fromkeys(found))

    def record(self) -> dict[str, object]:
        """All of it for JSON; prices are exact decimals."""
        vm = self.market.vm_bill(self.vm_index).total or Decimal(0)
        return {
            "vm": self.vm_size.size,
            "price_per_month": self.price,
            "price_bound": "<=" if any(one.at_most for one in self.options.values()) else "=",
            "currency": self.market.currency,
            "region": self.market.region,
            "vm_price_per_month": vm,
            "volumes": [
                {
                    "name": name,
                    "disks": part.disks,
                    "caching": part.caching,
                    "redundancy": part.redundancy,
                    "kind": part.kind.key,
                    "price_per_month": self.options[name].price,
                    "fio_job": part.fio_job if part.demand.steady[1] else None,
                }
                for name, part in self.parts.items()
            ],
            "demands": {name: demand_record(demand) for name, demand in self.demands.items()},
            "cautions": list(self.cautions),
            "lines": self.bill.records(),
        }

    def delivers(self) -> bool:
        """Whether the model of the limits gives every volume its rates with headroom, all at once."""
        for large in (False, True):
            loads = [self._load(name, demand, large) for name, demand in self.demands.items()]
            got = deliver(self.setup, loads, bursting=False)
            wanted = sum(load.iops or 0 for load in loads)
            if (got.iops or 0) < wanted * _REACHED:
                return False
        return True

    def _load(self, name: str, demand: Demand, large: bool) -> Load:
        moments = demand.moments()
        moment = moments[-1 if large else 0]
        return Load(
            volume=name,
            read_share=demand.read_share,
            bs_bytes=moment.bs_bytes,
            iops=moment.iops * demand.headroom,
            cache_hit=demand.cache_hit,
            destaged=True,
        )


def recommended_volumes(demands: Mapping[str, Demand], market: Market) -> Volumes | None:
    """The cheapest VM with disks for all volumes; None where nothing does.

    Of those that cost at most :data:`~azbenchlib.advisor.search.FEWER_DISKS_WITHIN` of the least price, it is
    the cheapest with the fewest disks, where no demand is `strictly_cheapest`.

    Parameters
    ----------
    demands : mapping of str to Demand
        By the volume's name. What they want of the VM (vCPUs, memory, names, zone) has to suit all.
    market : Market

    Raises
    ------
    InputError
        For a demand with a peak, or for local disks.
    """
    for name, demand in demands.items():
        if demand.peak is not None:
            raise InputError(f"volume '{name}': a peak is answered for one volume alone; leave out --peak")
        if demand.latency == "local" or not (demand.persistent or demand.is_os_disk):
            raise InputError(f"volume '{name}': local disks are answered for one volume alone")
    suits = np.logical_and.reduce([market.vm_sizes.suits(demand) for demand in demands.values()])
    ways = [list(volume_ways(demand, market)) for demand in demands.values()]
    found: list[Volumes] = []
    least = np.inf
    strictly = any(demand.strictly_cheapest for demand in demands.values())
    within = 1 if strictly else FEWER_DISKS_WITHIN
    for chosen in itertools.product(*ways):
        for total, vm_index, some in _of_ways(chosen, suits, market):
            if total <= least * (float(within) + _NEAR):
                least = min(least, total)
                found.append(Volumes(market, vm_index, dict(zip(demands, some, strict=True)), demands))
    cheapest = min((one.price for one in found), default=Decimal(0))
    near = [one for one in found if one.price <= cheapest * within]
    return min(
        near, key=lambda one: (0 if strictly else one.disk_count, one.price, one.vm_size.size), default=None
    )


def advise_volumes(demands: Mapping[str, Demand], market: Market) -> Volumes:
    """The cheapest for all volumes, checked by the model of the limits.

    Raises
    ------
    InputError
        When nothing carries all of them: with those that nothing carries alone.
    """
    found = recommended_volumes(demands, market)
    if found is None:
        alone = [name for name, demand in demands.items() if not recommended_volumes({name: demand}, market)]
        several = f"these {len(demands)} volumes together" if len(demands) > 1 else "this volume"
        why = f"'{', '.join(alone)}' is not met alone either" if alone else "each of them is met alone"
        raise InputError(f"no VM and disks in {market.region} meet {several}; {why}")
    if not found.delivers():
        raise AssertionError(f"{found.setup} does not deliver {found.demands}")
    return found


def _of_ways(
    chosen: Sequence[VolumeWay], suits: Bools, market: Market
) -> Iterator[tuple[float, int, tuple[DiskOption, ...]]]:
    """The cheapest VM and disks of one way for each volume."""
    fits = suits & np.isfinite(market.vm_prices)
    for way in chosen:
        fits = fits & way.allowed
    for shares in (sum(way.remote for way in chosen), sum(way.cached for way in chosen)):
        fits = fits & (np.max(shares, axis=0) <= FULL)
    if not fits.any():
        return
    steps: Steps = [(0, Decimal(0), ())]
    for way in chosen:
        steps = pareto(
            (count + more, price + extra, (*some, *others))
            for count, price, some in steps
            for more, extra, others in way.steps
        )
    for count, price, some in steps:
        totals = np.where(fits & (market.vm_sizes.max_disks >= count), market.vm_prices, np.inf)
        vm_index = int(np.argmin(totals))
        if np.isfinite(totals[vm_index]):
            yield float(totals[vm_index]) + float(price), vm_index, some
