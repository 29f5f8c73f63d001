"""Designs that are cheaper than the answer and do not do: which limit is in the way, and by how much."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azbenchlib.model.demand import LOCAL, V2
from azbenchlib.model.options import FULL, Option, priced, redundancies, tier_disk, tier_lacks
from azbenchlib.model.recheck import Limit, limits
from azbenchlib.model.rules import CACHE_BELOW_BYTES
from azbenchlib.model.search import Choice, Group, Search

SHOWN = 4
LOOKED_AT = 8  # nearest ones of each group
FAR = 2.0  # times as much: what lacks more is no near miss


@dataclass(frozen=True)
class NearMiss:
    """A cheaper design, or one of the `same_price`, with the limits that it breaks, the worst first."""

    choice: Choice
    broken: tuple[Limit, ...]
    same_price: bool = False

    @property
    def worst(self) -> Limit:
        """The limit that is missed by most."""
        return self.broken[0]


def near_misses(found: Search, chosen: Choice, kinds: Sequence[str] | None = None) -> tuple[NearMiss, ...]:
    """The cheaper designs that miss the demand by least, one a kind of disk and limit.

    With every VM that suits: the disks that would do, and one disk fewer of every tier.
    """
    cheaper = (
        choice
        for group in found.groups
        if kinds is None or group.kind in kinds
        for choice in _cheaper(found, group, chosen)
    )
    asked = (*_cached(found, chosen), *cheaper)
    misses = [miss for choice in asked if (miss := _missed(choice, found, chosen))]
    nearest: dict[tuple[str, str], NearMiss] = {}
    for miss in sorted(misses, key=lambda one: (one.worst.shortfall, one.choice.order)):
        nearest.setdefault((miss.choice.option.kind, miss.worst.label), miss)
    near = [miss for miss in nearest.values() if miss.worst.shortfall <= FAR]
    return tuple(near[:SHOWN] or list(nearest.values())[:1])


def _missed(choice: Choice, found: Search, chosen: Choice) -> NearMiss | None:
    broken = tuple(one for one in limits(choice.setup, found.demand) if not one.fits)
    return NearMiss(choice, broken, choice.price == chosen.price) if broken else None


def _cached(found: Search, chosen: Choice) -> Iterator[Choice]:
    """The same with ReadOnly caching, which costs nothing."""
    option, machine = chosen.option, chosen.machine
    groups = [group for group in found.groups if group.kind == option.kind and group.cached]
    if option.disk.caching == "None" and any(group.suits[machine] for group in groups):
        disk = replace(option.disk, caching="ReadOnly", name=f"{option.disk.name}:ReadOnly")
        if (disk.size_bytes or 0) < CACHE_BELOW_BYTES:
            yield replace(chosen, option=replace(option, disk=disk))


def _cheaper(found: Search, group: Group, chosen: Choice) -> Iterator[Choice]:
    """The cheaper designs of a group that lack least."""
    if group.kind in LOCAL:
        return
    some = [*((option, 1.0) for option in group.steps), *_one_fewer(found, group)]
    if not some:
        return
    prices = np.array([[float(option.price)] for option, _ in some])
    lacks = np.array([[lack] for _, lack in some])
    slots = np.array([[option.disk.count] for option, _ in some]) / np.maximum(group.slots, 1e-9)
    worst = np.maximum(np.maximum(lacks, slots), group.strain)
    cheaper = group.suits & (prices + group.market.vm_prices < float(chosen.price))
    worst = np.where(cheaper & (worst > FULL), worst, np.inf)
    nearest = np.argsort(worst, axis=None, kind="stable")[:LOOKED_AT]
    for place in nearest:
        which, machine = np.unravel_index(place, worst.shape)
        if np.isfinite(worst[which, machine]):
            yield Choice(group.market, int(machine), some[int(which)][0])


def _one_fewer(found: Search, group: Group) -> Iterator[tuple[Option, float]]:
    """Of every tier one disk less than enough, with how many times as much would be."""
    if group.kind in V2:
        return
    rows, lacks = tier_lacks(group.kind, group.cached, found.demand, group.market)
    (redundancy, *_) = redundancies(group.kind, found.demand)
    for row, lack in zip(rows, lacks, strict=True):
        few = int((lack > FULL).sum())
        if few and np.isfinite(lack[few - 1]):
            disk = tier_disk(row, few, group.cached, redundancy)
            option = priced(group.kind, disk, found.demand, group.market)
            if not option.bill.missing:
                yield option, float(lack[few - 1])
