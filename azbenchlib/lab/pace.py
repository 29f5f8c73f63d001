"""How much slower than the real disk an emulated one must run on this machine: slow motion.

Slow motion divides every rate by k and multiplies every latency by k; k is chosen so that this machine
keeps up with the rates, and so that its own hiccups are small beside the latencies.
"""

import math
import statistics

from azbenchlib.errors import InputError
from azbenchlib.lab.calibrate import Calibration
from azbenchlib.lab.machine import Machine, Options
from azbenchlib.lab.protocol import READ, WRITE
from azbenchlib.model.ceilings import ceilings
from azbenchlib.model.setup import Setup
from azbenchlib.units import KIB, MIB

LARGEST_SCALE = 64
_LOAD = 0.4  # of what this machine does without limits is asked of it, so that it has time to be on time
_HICCUP = 0.03  # of the median latency that a late completion may be
_BLOCK_SIZES = (4 * KIB, MIB)  # at the first IOPS are largest, at the last bytes per second
_NO_LATENCY_S = 1e-6  # what is less was asked for, or is rounding
_PROBES = 101  # requests that find a median


def time_scale(setup: Setup, options: Options, found: Calibration) -> int:
    """The slow motion k that this machine keeps up with: a power of two, at most 64.

    Parameters
    ----------
    setup : Setup
    options : Options
    found : Calibration

    Returns
    -------
    int
        A power of two: see :mod:`azbenchlib.analyse.slow_motion`.
    """
    return min(
        LARGEST_SCALE, 2 ** max(0, math.ceil(math.log2(max(needed_scales(setup, options, found).values()))))
    )


def check(scale: int | None) -> None:
    """Refuse a slow motion that histograms could not be scaled back by exactly; None asks for none.

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
        "latency": found.jitter_s / (_HICCUP * _shortest_median_s(setup, options)),
        "nothing": 1.0,
    }


def _shortest_median_s(setup: Setup, options: Options) -> float:
    """The median latency of the fastest volume, unloaded: of reads, of reads again, of writes."""
    machine, now, medians = Machine(setup, options), 0.0, []
    for name in machine.volumes:
        for op in (READ, READ, WRITE):
            due: list[float] = []
            begun = now
            for i in range(_PROBES):
                now += 1.0
                machine.submit(name, op, i * 4 * KIB, 4 * KIB, now, due.append)
            machine.advance(now)
            medians.append(statistics.median(at - begun - i for i, at in enumerate(due, 1)))
    return min((median for median in medians if median > _NO_LATENCY_S), default=math.inf)
