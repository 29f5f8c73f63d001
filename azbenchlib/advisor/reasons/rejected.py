"""Cheaper configurations that fail: which limit is too small for the demand, and by how much."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from azbenchlib.advisor.offers.disk_options import (
    DiskOption,
    priced,
    redundancies,
    tier_disk,
    tier_lacks,
)
from azbenchlib.advisor.offers.vm_sizes import FULL, Bools, Floats
from azbenchlib.advisor.search import Candidate, Group, Search
from azbenchlib.advisor.verify import CheckedLimit, limits
from azbenchlib.azure.catalog.rows import TierRow
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.model.rules import CACHE_BELOW_BYTES

_SHOWN = 4
_LOOKED_AT = 8  # nearest ones of each group
_ROUNDING = 1e-9  # between the arithmetic of the search and that of `limits`
_FAR = 2.0  # times as much: what lacks more is no near miss


@dataclass(frozen=True)
class RejectedAlternative:
    """A cheaper configuration, or one of the `same_price`, with the limits that are too small, the worst
    first.
    """

    candidate: Candidate
    broken: tuple[CheckedLimit, ...]
    same_price: bool = False

    @property
    def worst(self) -> CheckedLimit:
        """The limit that is missed by most."""
        return self.broken[0]


def rejected_alternatives(
    found: Search, chosen: Candidate, kinds: Sequence[DiskKind] | None = None
) -> tuple[RejectedAlternative, ...]:
    """The cheaper configurations that miss the demand by least, one a kind of disk and limit.

    With every VM that suits: the disks that would do, and one disk fewer of every tier.
    """
    cheaper = (
        one
        for group in found.groups
        if kinds is None or group.kind in kinds
        for one in _cheaper(found, group, chosen)
    )
    asked = [*((0.0, candidate) for candidate in _cached(found, chosen)), *cheaper]
    nearest: dict[tuple[str, str], RejectedAlternative] = {}
    for least, candidate in sorted(asked, key=lambda pair: pair[0]):
        if least * (1 - _ROUNDING) > _far_enough(nearest):
            break
        if miss := _missed(candidate, found, chosen):
            key = (candidate.option.kind.key, miss.worst.label)
            nearest[key] = min(nearest.get(key, miss), miss, key=_distance)
    misses = sorted(nearest.values(), key=_distance)
    near = [miss for miss in misses if miss.worst.shortfall <= _FAR]
    return tuple(near[:_SHOWN] or misses[:1])


def _distance(miss: RejectedAlternative) -> tuple[object, ...]:
    return miss.worst.shortfall, miss.candidate.order


def _far_enough(nearest: Mapping[tuple[str, str], RejectedAlternative]) -> float:
    """What lacks more than that would not be shown beside these."""
    lacks = sorted(miss.worst.shortfall for miss in nearest.values())[:_SHOWN]
    if not lacks:
        return math.inf
    return max(lacks[0], min(_FAR, lacks[-1] if len(lacks) == _SHOWN else _FAR))


def _missed(candidate: Candidate, found: Search, chosen: Candidate) -> RejectedAlternative | None:
    broken = tuple(one for one in limits(candidate.setup, found.demand) if not one.fits)
    return RejectedAlternative(candidate, broken, candidate.price == chosen.price) if broken else None


def _cached(found: Search, chosen: Candidate) -> Iterator[Candidate]:
    """The same with ReadOnly caching, which costs nothing."""
    option, vm_index = chosen.option, chosen.vm_index
    groups = [group for group in found.groups if group.kind == option.kind and group.cached]
    if option.disk.caching == "None" and any(group.suits[vm_index] for group in groups):
        disk = replace(option.disk, caching="ReadOnly", name=f"{option.disk.name}:ReadOnly")
        if (disk.size_bytes or 0) < CACHE_BELOW_BYTES:
            yield replace(chosen, option=replace(option, disk=disk))


@dataclass(frozen=True)
class _Few:
    """Disks that may be too few, priced only when it is asked: how many times as much would be enough, and
    the least of that which `limits` can find.
    """

    count: int
    lack: float
    least: float
    priced: Callable[[], DiskOption]

    @cached_property
    def option(self) -> DiskOption:
        """With its price."""
        return self.priced()


def _cheaper(found: Search, group: Group, chosen: Candidate) -> Iterator[tuple[float, Candidate]]:
    """The cheaper configurations of a group that lack least, each with the least that `limits` can find."""
    if group.kind.local:
        return
    some = [*map(_enough, group.steps), *_one_fewer(found, group)]
    vm_indices = np.flatnonzero(group.suits & (group.vm_prices < float(chosen.price)))
    if not some or not len(vm_indices):
        return
    slots = np.array([[few.count] for few in some]) / np.maximum(group.slots[vm_indices], 1e-9)
    of_vms = np.maximum(slots, group.utilisation[vm_indices])
    lacks = np.maximum(np.array([[few.lack] for few in some]), of_vms)
    lacks[~((lacks > FULL) & np.isfinite(lacks))] = np.inf
    uncredited = group.utilisation
    if found.demand.peak:
        uncredited = group.market.vm_sizes.utilisation(
            group.kind, group.cached, found.demand, credits_count=False
        )
    vm_prices = group.vm_prices[vm_indices]
    for _, which, place in _nearest(some, lacks, lambda price: price + vm_prices < float(chosen.price)):
        few, vm_index = some[which], int(vm_indices[place])
        least = max(few.least, float(slots[which, place]), float(uncredited[vm_index]))
        yield least, group.with_vm(vm_index, few.option)


def _nearest(
    some: Sequence[_Few], lacks: Floats, cheaper: Callable[[float], Bools]
) -> list[tuple[float, int, int]]:
    """What lacks least of what is cheaper, the first of equal ones first: lack, disks, place of the VM.

    Disks are looked at from those that lack least on, as long as they may be among the nearest.
    """
    found: list[tuple[float, int, int]] = []
    smallest = lacks.min(axis=1)
    for which in np.argsort(smallest, kind="stable"):
        most = found[-1][0] if len(found) == _LOOKED_AT else np.inf
        if smallest[which] > most or np.isinf(smallest[which]):
            break
        option = some[which].option
        if not option.bill.missing:
            row = np.where(cheaper(float(option.price)), lacks[which], np.inf)
            near = np.flatnonzero((row <= most) & (row < np.inf))
            places = near[np.argsort(row[near], kind="stable")[:_LOOKED_AT]]
            there = ((float(row[place]), int(which), int(place)) for place in places)
            found = sorted((*found, *there))[:_LOOKED_AT]
    return found


def _enough(option: DiskOption) -> _Few:
    return _Few(option.disk.count, 1.0, 1.0, lambda: option)


def _one_fewer(found: Search, group: Group) -> Iterator[_Few]:
    """Of every tier one disk less than enough."""
    if group.kind.provisioned:
        return
    asked = group.kind, group.cached, found.demand, group.market
    rows, lacks = tier_lacks(*asked)
    least = tier_lacks(*asked, credits_count=False)[1] if found.demand.peak else lacks
    for row, lack, at_least in zip(rows, lacks, least, strict=True):
        few = min(int((lack > FULL).sum()), found.demand.most_disks)
        if few and np.isfinite(lack[few - 1]):
            option = partial(_priced, found, group, row, few)
            yield _Few(few, float(lack[few - 1]), float(at_least[few - 1]), option)


def _priced(found: Search, group: Group, row: TierRow, count: int) -> DiskOption:
    (redundancy, *_) = redundancies(group.kind, found.demand)
    disk = tier_disk(row, count, group.cached, redundancy)
    return priced(group.kind, disk, found.demand, group.market)
