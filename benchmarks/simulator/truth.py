"""What bound a run, and whether its evidence is enough to tell: from the physics, not from a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.hidden import RESOURCES, UNLIMITED, Array, Hidden
from simulator.loop import CPU, DEMAND, FULL, LATENCY, PLATEAU, Course

APART = 1.15  # another ceiling nearer than this may be the one
FAR = 2.0  # how much faster all ceilings must be, where only they speak against a queue that is too short
MOSTLY = 0.9  # of the run's time the same thing must have bound
SLOW = 100  # times as long as memory takes: buffered I/Os that it did not serve
PLAIN = 0.1  # share of hits that is as good as none (or, taken from one, as all)
BOXES = ("disk", "vm_uncached", "local")
LOCAL_NAMES = ("", "vm_cached", "vm_cached", "temp", "nvme", "vm_cached")


@dataclass(frozen=True)
class Truth:
    """`labels` lists, for each run, the names that are right; `identifiable` whether one could know."""

    labels: list[tuple[str, ...]]
    identifiable: npt.NDArray[np.bool_]


def truth(setups: Hidden, course: Course) -> Truth:
    """What bound each run most of the time."""
    share = course.time_by_cause / course.time_by_cause.sum(axis=1, keepdims=True)
    cause = share.argmax(axis=1)
    iops = course.served / course.time_by_cause.sum(axis=1)
    told = _told(setups, cause, iops)
    above = (iops[:, None] > APART * _highest(setups)).any(axis=1)
    labels = [_labels(setups, i, int(cause[i]), told[i], bool(above[i])) for i in range(len(setups))]
    clear = (share.max(axis=1) >= MOSTLY) & _alone(setups, cause, iops) & _evidence(setups, cause, iops)
    return Truth(labels, clear)


def _documented(setups: Hidden) -> Array:
    """IOPS that each documented limit allows, shape (n, 12): base limits, then burst limits."""
    wants = setups.wants(setups.hit, False)
    both = np.concatenate([setups.nominal, setups.nominal_burst], axis=1)
    return np.where(np.tile(wants > 0, 2), both / np.maximum(np.tile(wants, 2), 1e-12), np.nan)


def _highest(setups: Hidden) -> Array:
    """The same, the higher of the two, shape (n, 6)."""
    levels = _documented(setups)
    open_burst = setups.hides_burst[:, None] & np.isin(np.arange(6), (2, 3))
    return np.where(open_burst, UNLIMITED, np.fmax(levels[:, :6], levels[:, 6:]))


def _told(setups: Hidden, cause: npt.NDArray[np.int64], iops: Array) -> Array:
    """How many times the documented figure of the limit that bound was reached; NaN: none is documented."""
    rows = np.arange(len(setups))
    limit = _documented(setups)[rows, np.minimum(cause, 2 * len(RESOURCES) - 1)]
    return np.where(cause < 2 * len(RESOURCES), iops / limit, np.nan)


def _labels(setups: Hidden, i: int, cause: int, told: float, above: bool) -> tuple[str, ...]:
    """The names that are right; several where two say the same, as a full cache and the disk behind it."""
    if setups.page_hit[i] > 0.5:
        return ("page_cache",)
    above |= bool(setups.merged[i] < 1) and not setups.knows_device[i]  # by the rate of the workload it is
    more = ("above_documented_limit",) if above else ()
    more += ("page_cache",) if setups.page_hit[i] > PLAIN else ()
    if cause == LATENCY and setups.think_s[i] > 0:
        return ("latency_qd", "workload_demand", *more)
    own = {LATENCY: "latency_qd", DEMAND: "workload_demand", CPU: "host_cpu", PLATEAU: "unknown"}
    if cause in own:
        return (own[cause], *more)
    if cause == FULL:
        wants = np.maximum(setups.wants(1.0, True)[i, :4], 1e-12)
        stem, quantity = RESOURCES[int((setups.base[i, :4] / wants).argmin())].rsplit("_", 1)
        return ("cache_exhaustion", f"{stem}_{quantity}", f"{stem}_burst_{quantity}", *more)
    resource, bursting = cause % len(RESOURCES), cause >= len(RESOURCES)
    stem = LOCAL_NAMES[setups.path[i]] if resource >= 4 else BOXES[resource // 2]
    if bursting and resource in (2, 3) and setups.hides_burst[i]:
        return (f"{stem}_burst_{'mbps' if resource % 2 else 'iops'}", *more)
    if np.isnan(told):
        return ("unknown", f"{stem}_{'mbps' if resource % 2 else 'iops'}", *more)
    if told > APART and above:
        return more
    return (f"{stem}_{'burst_' if bursting else ''}{'mbps' if resource % 2 else 'iops'}", *more)


def _alone(setups: Hidden, cause: npt.NDArray[np.int64], iops: Array) -> npt.NDArray[np.bool_]:
    """Whether no other ceiling, as it is and as it is documented, lies near what was delivered."""
    rows, bucket = np.arange(len(setups)), cause < 2 * len(RESOURCES)
    clear = np.ones(len(setups), bool)
    unloaded = setups.latency(False, setups.depth)
    own = {
        LATENCY: setups.depth / (unloaded + setups.think_s),
        DEMAND: setups.rate_iops,
        CPU: setups.numjobs / setups.cpu_s,
        PLATEAU: setups.plateau_iops,
    }
    for code, ceiling in own.items():
        clear &= (cause == code) | (ceiling > APART * iops)
    taken = np.tile(np.maximum(setups.wants(setups.hit, False), 1e-12), 2)
    real = np.concatenate([setups.base, setups.burst], axis=1) / taken
    flat = np.tile(setups.base == setups.burst, 2) & (np.arange(12) >= 6)  # has no burst of its own
    for levels in (real, _documented(setups)):
        near = (levels > iops[:, None] / APART) & (levels < iops[:, None] * APART) & ~flat
        near[rows[bucket], cause[bucket]] = False
        clear &= ~near.any(axis=1)
    return clear


def _evidence(setups: Hidden, cause: npt.NDArray[np.int64], iops: Array) -> npt.NDArray[np.bool_]:
    """Whether the run tells what speaks for its cause: each has something that must be known."""
    told = _told(setups, cause, iops)
    throttled = setups.depth / np.maximum(iops, 1e-9) > 1.3 * setups.latency(False, 1.0)
    room = np.nan_to_num(_documented(setups), nan=UNLIMITED).min(axis=1) / iops
    known = np.ones(len(setups), bool)
    known &= (cause != LATENCY) | setups.knows_unloaded | (room > FAR)
    known &= (cause != CPU) | setups.knows_cpu
    hidden = (cause == PLATEAU) | ((cause < 12) & np.isnan(told))
    known &= ~hidden | (setups.knows_unloaded & setups.knows_cpu & throttled & (room > APART**2))
    known &= ~setups.hides & (~setups.synchronous | setups.knows_slat & (cause == LATENCY))
    known &= (setups.merged == 1) | setups.knows_device
    known &= (setups.start_s == 0) | (setups.ramp_s > 0) | (setups.runtime_s > 60 * setups.start_s)
    known &= (setups.think_s == 0) | (setups.knows_mean & (cause == LATENCY))
    open_hits = np.isin(setups.path, (1, 2)) & (setups.read_share > 0) & ~setups.knows_hit
    known &= ~open_hits | (setups.hit < PLAIN) | (setups.hit > 1 - PLAIN)
    known &= ~(told > APART) | (iops[:, None] > APART * _highest(setups)).any(axis=1)
    known &= setups.direct | (setups.working_set_bytes < setups.ram_bytes / 2)
    is_slow = setups.numjobs / np.maximum(iops, 1e-9) > SLOW * setups.memory_s
    known &= setups.direct | (setups.page_hit > 0) | is_slow
    return known & (cause != FULL)
