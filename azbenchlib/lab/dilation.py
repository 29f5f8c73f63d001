"""Time dilation: how much slower than the real disk an emulated one must run on this machine.

Time dilation divides every rate by the dilation factor k and multiplies every latency by k. The factor is
chosen so that this machine keeps up with the rates, and so that its scheduling jitter is small compared with
the latencies. The larger the factor, the fewer I/Os fit into a measurement; where these would be too few,
exact latencies are given up first.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, MIB
from azbenchlib.lab.calibrate import Calibration
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lab.nbd import READ, WRITE
from azbenchlib.model.ceilings import ceilings
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import Setup

LARGEST_SCALE = 64
_LOAD = 0.4  # of what this machine does without limits is asked of it, so that it has time to be on time
_JITTER = 0.03  # of the median latency that a late completion may be
_BLOCK_SIZES = (4 * KIB, MIB)  # at the first IOPS are largest, at the last bytes per second
_NO_LATENCY_S = 1e-6  # what is less was asked for, or is rounding
_PROBES = 101  # requests that find a median
# A rate is to be within a percent or two of the disk's: so many I/Os at least, and so much of the measured
# time at most before the first of them completes.
_LEAST_IOS = 100
_BEFORE_FIRST = 0.01


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A workload: so many I/Os of one size outstanding at a volume, for so many real seconds.

    `read_share` is 0, 1, or something between for a mix of any share.
    """

    volume: str
    bs_bytes: int
    queue_depth: int
    read_share: float
    lasts_s: float


def time_scale(setup: Setup, options: Options, found: Calibration, asked: Sequence[Asked] = ()) -> int:
    """The dilation factor k that this machine keeps up with: a power of two, at most 64.

    Parameters
    ----------
    setup : Setup
    options : Options
    found : Calibration
    asked : sequence of Asked
        What is going to be measured, where that is known: k is then no larger than it allows, as far as
        this machine keeps up with the rates.

    Returns
    -------
    int
        A power of two: see :mod:`azbenchlib.analysis.over_time.time_dilation`.
    """
    needs = needed_scales(setup, options, found)
    allowed = _power(allowed_scale(setup, options, asked), math.floor)
    exact = min(_power(needs.pop("latency"), math.ceil), allowed)
    return min(LARGEST_SCALE, max(exact, _power(max(needs.values()), math.ceil)))


def allowed_scale(setup: Setup, options: Options, asked: Sequence[Asked]) -> float:
    """The largest k with which each workload has I/Os enough, and is not longer at its end than it lasted.

    Parameters
    ----------
    setup : Setup
    options : Options
    asked : sequence of Asked

    Returns
    -------
    float
        Any positive number; infinite where nothing bounds it.

    Raises
    ------
    InputError
        When a workload asks for a volume that there is not.

    Notes
    -----
    By Little's law: an I/O takes as long as the queue before it, but at least its latency. What is
    outstanding at the end still completes.
    """
    medians_s, allowed = _medians_s(setup, options) if asked else {}, math.inf
    for work in asked:
        if work.volume not in medians_s:
            raise InputError(f"no volume '{work.volume}' in this setup; there are: {', '.join(medians_s)}")
        *reads_s, writes_s = medians_s[work.volume]
        latency_s = max([writes_s] * (work.read_share < 1) + reads_s * (work.read_share > 0))
        response_s = max(latency_s, work.queue_depth / _iops(setup, work))
        if response_s > 0:
            ios = work.lasts_s * work.queue_depth / response_s
            allowed = min(allowed, work.lasts_s / response_s, ios / _LEAST_IOS)
        if latency_s > 0:
            allowed = min(allowed, _BEFORE_FIRST * work.lasts_s / latency_s)
    return allowed


def _power(scale: float, rounded: Callable[[float], int]) -> int:
    """The power of two, from 1 to the largest scale, next to this one."""
    return 2 ** rounded(math.log2(min(max(scale, 1.0), LARGEST_SCALE)))


def _iops(setup: Setup, work: Asked) -> float:
    """What the volume delivers of it, bursting where it can; a host cache has nothing yet, and room."""
    load = Load(volume=work.volume, read_share=work.read_share, bs_bytes=work.bs_bytes, cache_hit=0.0)
    found = deliver(setup, [load], bursting=True).iops
    return math.inf if found is None else found


def check(scale: int | None) -> None:
    """Refuse a dilation factor by which histograms could not be scaled back exactly; None asks for none.

    Raises
    ------
    InputError
        For what is no power of two.
    """
    if scale is not None and (scale < 1 or scale & (scale - 1)):
        raise InputError(f"time scale {scale}: a power of two is needed, so that histograms stay exact")


def needed_scales(setup: Setup, options: Options, found: Calibration) -> dict[str, float]:
    """The k that IOPS, bytes per second and latency each ask for; what is not documented asks for none."""
    rows = ceilings(setup, _BLOCK_SIZES)
    return {
        "IOPS": max((row.iops for row in rows if row.iops), default=0.0) / (_LOAD * found.iops),
        "MB/s": max((row.bytes_per_s for row in rows if row.bytes_per_s), default=0.0)
        / (_LOAD * found.bytes_per_s),
        "latency": found.jitter_s / (_JITTER * _shortest_median_s(setup, options)),
        "nothing": 1.0,
    }


def _shortest_median_s(setup: Setup, options: Options) -> float:
    """The shortest of them."""
    every = (median for medians in _medians_s(setup, options).values() for median in medians)
    return min((median for median in every if median > _NO_LATENCY_S), default=math.inf)


def _medians_s(setup: Setup, options: Options) -> dict[str, list[float]]:
    """The median latencies of each volume, unloaded: of reads, of reads again, of writes."""
    machine, now = Machine(setup, options), 0.0
    medians: dict[str, list[float]] = {name: [] for name in machine.volumes}
    for name in machine.volumes:
        for op in (READ, READ, WRITE):
            due: list[float] = []
            begun = now
            for i in range(_PROBES):
                now += 1.0
                machine.submit(name, op, i * 4 * KIB, 4 * KIB, now, due.append)
            machine.advance(now)
            medians[name].append(statistics.median(at - begun - i for i, at in enumerate(due, 1)))
    return medians
