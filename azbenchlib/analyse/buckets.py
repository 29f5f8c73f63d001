"""The token bucket behind a trace: base, burst, capacity and the credits that were there at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.analyse.steady import Segment, segments
from azbenchlib.model.credits import BURST_S, Bucket

LEAST_FALL = 0.05  # a smaller fall may be anything
AT_BURST = 0.10  # levels this near to the highest are at the burst, which is less even than the base
SETTLED = 0.02  # after the fall, levels stay this near to the base


@dataclass(frozen=True)
class BucketFit:
    """What a trace shows of a token bucket.

    Parameters
    ----------
    base, burst : float
        Per second, in the unit of the trace.
    balance : float
        Credits at the start of the trace: I/Os or bytes.
    capacity : float
        Credits when full, by Azure's rule: (burst − base) × 1800 s.
    empty_s : float
        When the credits were spent, in s.
    """

    base: float
    burst: float
    balance: float
    capacity: float
    empty_s: float

    @property
    def filled(self) -> float:
        """Share of the bucket that was full at the start."""
        return self.balance / self.capacity


def fit(t_s: npt.ArrayLike, rates: npt.ArrayLike, window_s: float = BURST_S) -> BucketFit | None:
    """The token bucket that explains a trace.

    Parameters
    ----------
    t_s, rates : array_like, shape (n,)
        End of each sample in s, and the mean rate in it.
    window_s : float
        How long a full bucket lasts at the whole burst.

    Returns
    -------
    BucketFit or None
        None where the trace does not fall to a lower level and stay there: then it tells nothing of the
        credits.

    Notes
    -----
    Levels are the means of the trace's segments. Credits at the start are what flowed above the base until
    the fall, ∫ (rate − base) dt; slow stretches before it earn credits. That is right as long as the bucket
    was never full while it earned. The demand must have been above the burst for `burst` to be the limit.
    """
    levels = segments(t_s, rates)
    fall = _fall(levels)
    if fall is None:
        return None
    before, after = levels[:fall], levels[fall:]
    highest = max(level.mean for level in before)
    base = _mean(after)
    burst = _mean([level for level in before if level.mean > highest * (1 - AT_BURST)])
    empty_s = before[-1].end_s
    spent = sum((level.mean - base) * (level.end_s - level.start_s) for level in before)
    capacity = Bucket(base, burst, window_s).capacity
    return BucketFit(base, burst, max(0.0, spent), capacity, empty_s)


def _mean(levels: list[Segment]) -> float:
    return float(np.average([level.mean for level in levels], weights=[level.n for level in levels]))


def _fall(levels: list[Segment]) -> int | None:
    """Where the last level begins that the trace fell to and stayed at."""
    for i in range(len(levels) - 1, 0, -1):
        low = levels[-1].mean
        if abs(levels[i].mean - low) > SETTLED * max(levels[i].mean, low):
            return None
        if levels[i - 1].mean > low * (1 + LEAST_FALL):
            return i
    return None
