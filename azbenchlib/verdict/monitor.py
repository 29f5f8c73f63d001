"""What Azure Monitor says of a run: how much of each limit it consumed, and of which burst credits.

A percentage near 100 is nearly proof that the limit binds; it may read 101. A smaller one is evidence against
it only where it counts what the limit counts: misses of cached disks meet the cached limit while the uncached
percentage stays at 80 (MicrosoftDocs/azure-docs#85354), a percentage that is not split by LUN is the mean
over the disks, and one of a minute hides a shorter run. Source of the names: azure-monitor-docs
microsoft-compute-virtualmachines-metrics.md (2026-07-31).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from azbenchlib.analysis.observation import Observation
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Volume

# Our judgement, in percent.
_FULL = NormalDist(100.0, 1.5)  # of a limit that binds
_OFF, _OFF_UNSURE = (
    0.1,
    0.4,
)  # share of limits that bind and show less; more, where the figure counts other things
_FREE_TOP, _FREE_BEYOND = 96.0, 0.02  # of limits that do not bind, so many show more than the former
_MINUTE_S = 120  # a shorter run does not fill a minute of the grid
SPENT, LEFT = 99.0, 95.0  # used credits from which on none are left, and below which some are
CREDITS_DENY = 0.03


def consumption(label: Label, seen: Observation, volumes: Sequence[Volume]) -> float:
    """How likely the consumed percentages are if a label binds; 1 where there are none."""
    weight = 1.0
    for name, percent in seen.consumed_pct.items():
        limit = Label(name)
        if label.is_limit and label.base == limit:
            weight *= _of_a_binding_one(percent, _counts_other_things(limit, seen, volumes))
        else:
            weight *= _of_a_free_one(percent)
    return weight


def credit_chance(label: Label, seen: Observation, share: float) -> float:
    """The chance that a limit stood at its burst or its base, given the used credits of it."""
    used = seen.credits_used_pct.get(label.base)
    if used is None:
        return share
    if label.burst:
        return CREDITS_DENY * share if used >= SPENT else 1.0 if used < LEFT else share
    return CREDITS_DENY if used < LEFT else 1.0 if used >= SPENT else share


def _of_a_binding_one(percent: float, unsure: bool) -> float:
    off = _OFF_UNSURE if unsure else _OFF
    return (1 - off) * _FULL.pdf(percent) + off / _FREE_TOP * (percent <= _FREE_TOP)


def _of_a_free_one(percent: float) -> float:
    beyond = percent > _FREE_TOP
    return _FREE_BEYOND / (110.0 - _FREE_TOP) if beyond else (1 - _FREE_BEYOND) / _FREE_TOP


def _counts_other_things(limit: Label, seen: Observation, volumes: Sequence[Volume]) -> bool:
    """Whether a limit may bind although its percentage is below 100."""
    cached = any(volume.disk.caching != "None" and not volume.disk.local for volume in volumes)
    short = seen.runtime_s is not None and seen.runtime_s < _MINUTE_S
    mean = limit.scope == "disk" and (len(volumes) > 1 or any(volume.members > 1 for volume in volumes))
    return short or mean or (cached and limit.scope != "vm_cached")
