"""A cache that fills: the share of reads that it serves, and how fast it becomes warm.

Valid for random reads spread evenly over the working set, through a cache with a least-recently-used order:
it then holds the lines that were read last, which are any lines of the working set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from azbenchlib.core.errors import InputError

_STEPS = 400  # of the integration; a tenth of a percent of the curve


@dataclass(frozen=True)
class Warmth:
    """A moment of a cache that fills: seconds since the first read, share of hits, I/Os per second."""

    t_s: float
    hit_ratio: float
    iops: float


def steady_hit_ratio(cache_bytes: float, working_set_bytes: float) -> float:
    """The share of random reads that a warm cache serves: the share of the working set that it holds.

    Raises
    ------
    InputError
        For a size that is not above 0.
    """
    if not (cache_bytes > 0 and working_set_bytes > 0):
        raise InputError(
            f"cache of {cache_bytes} and working set of {working_set_bytes} bytes: both must be above 0"
        )
    return min(1.0, cache_bytes / working_set_bytes)


def mixed_latency(hit_ratio: float, hit: float, miss: float) -> float:
    """The mean latency of hits and misses, weighted by how many I/Os each are; in the unit of the two.

    Times are averaged over I/Os; rates are not: an hour is spent where the I/Os are slow.

    Raises
    ------
    InputError
        For a share outside 0 to 1.
    """
    if not 0 <= hit_ratio <= 1:
        raise InputError(f"hit ratio {hit_ratio}: it must be between 0 and 1")
    return hit_ratio * hit + (1 - hit_ratio) * miss


def warm_up(
    blocks: float, most_hits: float, rate: Callable[[float], float], seconds: float
) -> Iterator[Warmth]:
    """How a cache becomes warm under random reads.

    Parameters
    ----------
    blocks : float
        Blocks in the working set.
    most_hits : float
        The share of hits once it is warm, 0 to 1: :func:`steady_hit_ratio`.
    rate : callable
        I/Os per second at a share of hits.
    seconds : float
        How long it is watched.

    Yields
    ------
    Warmth
        At even steps, the first at 0.

    Raises
    ------
    InputError
        For no block or no time.

    Notes
    -----
    Every miss brings a block that was not there: dh/dt = rate(h) · (1 − h) / blocks, until the cache is full.
    """
    if not (blocks > 0 and 0 < seconds < math.inf):
        raise InputError(f"{blocks} blocks and {seconds} s: both must be above 0")
    hit, step = 0.0, seconds / _STEPS
    for i in range(_STEPS + 1):
        iops = rate(hit)
        yield Warmth(i * step, hit, iops)
        middle = min(most_hits, hit + iops * (1 - hit) / blocks * step / 2)
        hit = min(most_hits, hit + rate(middle) * (1 - middle) / blocks * step)
