"""The ways in which a volume may lie beside others on a VM: with or without cache, on disks with limits of
their own, or as an ephemeral OS disk on the host.

What volumes take of a VM's limit adds up, as shares of the limit that each passes
(:func:`azbenchlib.model.io_path.legs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.disk_options import DiskOption, options
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import FULL, Bools, Floats
from azbenchlib.azure.disk_kinds import EPHEMERAL_OS, ULTRA, DiskKind
from azbenchlib.cost.bill import Bill
from azbenchlib.cost.usage import Use
from azbenchlib.model.setup import PLACEMENTS, Disk

# Data disks, price, an option for each volume.
Steps = list[tuple[int, Decimal, tuple[DiskOption, ...]]]


@dataclass(frozen=True)
class VolumeWay:
    """One of them: what it takes of each VM, which VMs may have it, and its disks."""

    remote: Floats  # shape (quantities, sizes)
    cached: Floats
    allowed: Bools
    steps: Steps


def volume_ways(demand: Demand, market: Market) -> Iterator[VolumeWay]:
    """The ways of one volume; kinds of disks that ask the same of a VM are one."""
    if demand.is_os_disk and not demand.persistent and demand.redundancy == "LRS":
        yield from (_ephemeral(placement, demand, market) for placement in PLACEMENTS)
    alike: dict[tuple[bool, bool, bool, bool], tuple[DiskKind, Steps]] = {}
    for kind in demand.kinds:
        if kind.local:
            continue
        for cached in (False, True) if kind.cacheable else (False,):
            same = (cached, kind.separate_vm_limits, kind.needs_premium_io, kind is ULTRA)
            steps: Steps = [
                (0 if demand.is_os_disk else option.disk.count, option.price, (option,))
                for option in options(kind, cached, demand, market)
                if not option.bill.missing
            ]
            before = alike.setdefault(same, (kind, []))
            before[1].extend(steps)
    for (cached, *_), (kind, steps) in alike.items():
        remote, local = market.vm_sizes.shares(kind, cached, demand)
        yield VolumeWay(remote, local, market.vm_sizes.allowed(kind, cached), pareto(steps))


def pareto(steps: Iterable[tuple[int, Decimal, tuple[DiskOption, ...]]]) -> Steps:
    """Without those that cost no less than one with as few disks."""
    kept: Steps = []
    for step in sorted(steps, key=lambda one: one[:2]):
        if not kept or step[1] < kept[-1][1]:
            kept.append(step)
    return kept


def _ephemeral(placement: str, demand: Demand, market: Market) -> VolumeWay:
    """The OS disk on the host, which costs nothing and passes the limits of its place."""
    shares, allowed = market.vm_sizes.ephemeral_shares(placement, demand)
    disk = Disk(
        name=f"ephemeral:{placement}",
        role="ephemeral_os",
        placement=placement,
        size_bytes=demand.size_bytes,
    )
    option = DiskOption(EPHEMERAL_OS, disk, Bill(market.hours, ()), Use())
    return VolumeWay(np.zeros_like(shares), shares, allowed, [(0, Decimal(0), (option,))])


@dataclass(frozen=True)
class OsDisks:
    """The cheapest OS disk of each VM size beside data disks of one kind.

    Parameters
    ----------
    options : tuple of DiskOption
    chosen : ndarray of int, shape (sizes,)
        Which option each VM size has; below 0: none fits.
    """

    options: tuple[DiskOption, ...]
    chosen: npt.NDArray[np.intp]

    @property
    def prices(self) -> Floats:
        """Of the market's period, shape (sizes,); infinite where no OS disk fits."""
        prices = np.array([*(float(option.price) for option in self.options), np.inf])
        return prices[self.chosen]

    def of(self, vm_index: int) -> DiskOption | None:
        """The OS disk of a VM size."""
        return self.options[self.chosen[vm_index]] if self.chosen[vm_index] >= 0 else None


def os_disks(
    demand: Demand, kind: DiskKind, cached: bool, ways: Iterable[VolumeWay], market: Market
) -> OsDisks:
    """The cheapest OS disk of each VM size that leaves its limits to the data disks.

    Parameters
    ----------
    demand : Demand
        Of the data, with its OS disk.
    kind : DiskKind
        Of the data disks. Beside local ones the OS disk is a managed one: they would share a place.
    cached : bool
        Whether the data disks have a host cache.
    ways : iterable of VolumeWay
        Of the OS disk.
    market : Market
    """
    sizes = len(market.vms)
    data = np.zeros((2, 2, sizes))
    if demand.os_disk and demand.os_disk.has_rates and not kind.local:
        data = np.array(market.vm_sizes.shares(kind, cached, demand))
    chosen, least = np.full(sizes, -1), np.full(sizes, np.inf)
    looked_at: list[DiskOption] = []
    for way in ways:
        for _, price, (option,) in way.steps[:1]:
            if kind.local and option.disk.local:
                continue
            taken = np.max(data + np.array((way.remote, way.cached)), axis=(0, 1))
            cheaper = way.allowed & (taken <= FULL) & (float(price) < least)
            chosen[cheaper], least[cheaper] = len(looked_at), float(price)
            looked_at.append(option)
    return OsDisks(tuple(looked_at), chosen)
