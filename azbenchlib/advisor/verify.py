"""The limits of a configuration under a demand, verified by :func:`azbenchlib.model.limits.deliver`, which
shares no arithmetic with the search.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from azbenchlib.advisor.demands.demand import Demand, Moment
from azbenchlib.model.credits import Bucket
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import LimitUse, deliver
from azbenchlib.model.setup import Setup

_EXACT = 1e-9


class PlaceLimit(StrEnum):
    """What else a configuration must have enough of."""

    CAPACITY = "capacity"
    DATA_DISKS = "data_disks"

    @property
    def display_name(self) -> str:
        """Its name for people."""
        return "data disks" if self is PlaceLimit.DATA_DISKS else "capacity"


@dataclass(frozen=True, kw_only=True)
class CheckedLimit:
    """One limit under the demand.

    Parameters
    ----------
    label : Label or PlaceLimit
    unit : {"iops", "bytes_per_s", "credit_s", "bytes", "disks"}
        Of credits: the seconds that they last in a peak.
    limit, wanted : float
        `wanted` without headroom.
    enough : float
        `limit` must be so many times `wanted`.
    """

    label: Label | PlaceLimit
    unit: str
    limit: float
    wanted: float
    enough: float = 1.0

    @property
    def headroom(self) -> float:
        """What is left, as a share of what is wanted: 0.2 is a fifth above; below 0: too little."""
        return round(self.limit / self.wanted - 1, 9) if self.wanted else math.inf

    @property
    def shortfall(self) -> float:
        """How many times of what there is would be enough; at most 1 where it is."""
        return self.wanted * self.enough / self.limit if self.limit else math.inf

    @property
    def fits(self) -> bool:
        """Whether it is enough."""
        return self.shortfall <= 1 + _EXACT


def limits(setup: Setup, demand: Demand) -> list[CheckedLimit]:
    """Every limit that the demand passes on a setup with one volume and its OS disk, the tightest first.

    Each limit once, with the moment that strains it most: steady on base limits, the peak on burst limits
    and their credits. Limits that are not documented are not there, nor those of the OS disk itself.
    """
    disk = setup.disks[0]
    found = [
        CheckedLimit(
            label=PlaceLimit.CAPACITY,
            unit="bytes",
            limit=(disk.size_bytes or 0) * disk.count,
            wanted=demand.size_bytes,
        )
    ]
    if not disk.local:
        found.append(
            CheckedLimit(
                label=PlaceLimit.DATA_DISKS,
                unit="disks",
                limit=setup.vm.max_data_disks or 0,
                wanted=disk.count,
            )
        )
    tightest: dict[tuple[Label | PlaceLimit, str], CheckedLimit] = {}
    for one in _rates(setup, demand):
        before = tightest.get((one.label, one.unit))
        if before is None or one.headroom < before.headroom:
            tightest[one.label, one.unit] = one
    return sorted((*tightest.values(), *found), key=lambda one: (-round(one.shortfall, 9), one.label))


def _rates(setup: Setup, demand: Demand) -> Iterator[CheckedLimit]:
    steady: dict[Label, float] = {}
    for moment in demand.moments():
        for use, wanted in _wanted(setup, demand, moment, bursting=False):
            steady[use.label.base] = max(wanted, steady.get(use.label.base, 0.0))
            yield CheckedLimit(
                label=use.label, unit=use.quantity, limit=use.cap, wanted=wanted, enough=demand.headroom
            )
    for moment in demand.moments(peak=True) if demand.peak else ():
        for use, wanted in _wanted(setup, demand, moment, bursting=True):
            yield CheckedLimit(
                label=use.label, unit=use.quantity, limit=use.cap, wanted=wanted, enough=demand.headroom
            )
            base, before = use.base or 0.0, steady[use.label.base] * demand.headroom
            above = base * (1 + _EXACT) < min(use.cap, wanted * demand.headroom)
            if base and above and before <= base * (1 + _EXACT):  # else the base is broken, which is told
                yield _credits(use, wanted * demand.headroom, before, demand)


def _wanted(setup: Setup, demand: Demand, moment: Moment, bursting: bool) -> Iterator[tuple[LimitUse, float]]:
    """Each limit with what of it the moment takes, without headroom, whether it gets that or not."""
    shared = _of_os_disk(setup, demand)
    for use, wanted in _of_volume(setup, 0, demand, moment, bursting):
        other, taken = shared.pop((use.owner, use.label), (use, 0.0))
        yield use, wanted + taken * use.cap / other.cap  # shares of one limit, which has two figures on some
    yield from shared.values()


def _of_volume(
    setup: Setup, place: int, demand: Demand, moment: Moment, bursting: bool
) -> Iterator[tuple[LimitUse, float]]:
    got = deliver(setup, [_load(setup, place, demand, moment)], bursting=bursting)
    for use in got.limits:
        if use.used and got.iops:
            yield use, use.used / got.iops * moment.iops


def _of_os_disk(setup: Setup, demand: Demand) -> dict[tuple[str, Label], tuple[LimitUse, float]]:
    """What the OS disk takes of each limit of the VM at its worst moment; with the headroom of the data."""
    worst: dict[tuple[str, Label], tuple[LimitUse, float]] = {}
    os_disk = demand.os_disk
    if os_disk is None or not os_disk.has_rates:
        return worst
    for moment in os_disk.moments():
        for use, wanted in _of_volume(setup, 1, os_disk, moment, bursting=False):
            if use.owner == "vm":
                key, share = (use.owner, use.label), wanted * os_disk.headroom / demand.headroom
                worst[key] = use, max(share, worst.get(key, (use, 0.0))[1])
    return worst


def _credits(use: LimitUse, peak: float, steady: float, demand: Demand) -> CheckedLimit:
    """How long the credits last that come back between two peaks, beside how long a peak is."""
    base, length = use.base or 0.0, demand.peak
    if length is None:
        raise AssertionError("credits are for peaks")
    gained = max(0.0, base - steady) * (length.period_s - length.seconds)
    lasts = min(Bucket(base, use.cap).capacity, gained) / (peak - base)
    return CheckedLimit(label=use.label, unit="credit_s", limit=lasts, wanted=length.seconds)


def _load(setup: Setup, place: int, demand: Demand, moment: Moment) -> Load:
    """Writes into a cache are taken to go on to the disk, as they must in a load that lasts."""
    return Load(
        volume=setup.volumes()[place].name,
        read_share=demand.read_share,
        bs_bytes=moment.bs_bytes,
        iops=moment.iops * demand.headroom,
        cache_hit=demand.cache_hit,
        destaged=True,
    )
