"""Cheaper configurations that fail: which limit is too small for the demand, and by how much."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azbenchlib.advisor.offers.disk_options import (
    FULL,
    DiskOption,
    priced,
    redundancies,
    tier_disk,
    tier_lacks,
)
from azbenchlib.advisor.search import Candidate, Group, Search
from azbenchlib.advisor.verify import CheckedLimit, limits
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.model.rules import CACHE_BELOW_BYTES

_SHOWN = 4
_LOOKED_AT = 8  # nearest ones of each group
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
        candidate
        for group in found.groups
        if kinds is None or group.kind in kinds
        for candidate in _cheaper(found, group, chosen)
    )
    asked = (*_cached(found, chosen), *cheaper)
    misses = [miss for candidate in asked if (miss := _missed(candidate, found, chosen))]
    nearest: dict[tuple[str, str], RejectedAlternative] = {}
    for miss in sorted(misses, key=lambda one: (one.worst.shortfall, one.candidate.order)):
        nearest.setdefault((miss.candidate.option.kind.key, miss.worst.label), miss)
    near = [miss for miss in nearest.values() if miss.worst.shortfall <= _FAR]
    return tuple(near[:_SHOWN] or list(nearest.values())[:1])


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


def _cheaper(found: Search, group: Group, chosen: Candidate) -> Iterator[Candidate]:
    """The cheaper configurations of a group that lack least."""
    if group.kind.local:
        return
    some = [*((option, 1.0) for option in group.steps), *_one_fewer(found, group)]
    if not some:
        return
    prices = np.array([[float(option.price)] for option, _ in some])
    lacks = np.array([[lack] for _, lack in some])
    slots = np.array([[option.disk.count] for option, _ in some]) / np.maximum(group.slots, 1e-9)
    worst = np.maximum(np.maximum(lacks, slots), group.utilisation)
    cheaper = group.suits & (prices + group.market.vm_prices < float(chosen.price))
    worst = np.where(cheaper & (worst > FULL), worst, np.inf)
    nearest = np.argsort(worst, axis=None, kind="stable")[:_LOOKED_AT]
    for place in nearest:
        which, vm_index = np.unravel_index(place, worst.shape)
        if np.isfinite(worst[which, vm_index]):
            yield Candidate(group.market, int(vm_index), some[int(which)][0])


def _one_fewer(found: Search, group: Group) -> Iterator[tuple[DiskOption, float]]:
    """Of every tier one disk less than enough, with how many times as much would be."""
    if group.kind.provisioned:
        return
    rows, lacks = tier_lacks(group.kind, group.cached, found.demand, group.market)
    (redundancy, *_) = redundancies(group.kind, found.demand)
    for row, lack in zip(rows, lacks, strict=True):
        few = min(int((lack > FULL).sum()), found.demand.most_disks)
        if few and np.isfinite(lack[few - 1]):
            disk = tier_disk(row, few, group.cached, redundancy)
            option = priced(group.kind, disk, found.demand, group.market)
            if not option.bill.missing:
                yield option, float(lack[few - 1])
