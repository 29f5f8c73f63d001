"""The token bucket behind a trace: base, burst, capacity and the credits that were there at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.analysis.over_time.phases import levels
from azbenchlib.analysis.over_time.steady import Segment
from azbenchlib.analysis.over_time.trace import whole
from azbenchlib.model.credits import BURST_S, Bucket

LEAST_FALL = 0.05  # a smaller fall may be anything
AT_BURST = 0.10  # levels this near to the last one before the fall are at the burst
LEAST_LONG = 0.10  # share of the time before the fall from which on a level above the burst is one of its own


@dataclass(frozen=True, kw_only=True)
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
    Levels are those of :func:`.phases.levels`, so neither noise at the end nor a stall is taken for the base.
    Credits at the start are what flowed above the base until the fall, ∫ (rate − base) dt; slow stretches
    before it earn credits. That is right as long as the bucket was never full while it earned. The demand
    must have been above the burst for `burst` to be the limit. Two falls are two buckets: none explains both.
    """
    found = levels(t_s, rates)
    if len(found) < 2 or not 0 < found[-1].mean < found[-2].mean * (1 - LEAST_FALL):
        return None
    *before, last = found
    low, high = before[-1].mean * (1 - AT_BURST), before[-1].mean * (1 + AT_BURST)
    at_burst = [level for level in before if low < level.mean <= high]
    higher = [level for level in before if level.mean > high]
    if sum(map(_seconds, higher)) > LEAST_LONG * sum(map(_seconds, before)) or _fell_before(before, at_burst):
        return None
    burst = _mean(at_burst)
    empty_s = before[-1].end_s
    times, values = whole(t_s, rates)
    widths = np.diff(times, prepend=found[0].start_s)
    spent = float(np.sum(((values - last.mean) * widths)[times <= empty_s]))
    return BucketFit(
        base=last.mean,
        burst=burst,
        balance=max(0.0, spent),
        capacity=Bucket(last.mean, burst, window_s).capacity,
        empty_s=empty_s,
    )


def _fell_before(before: list[Segment], at_burst: list[Segment]) -> bool:
    """Whether the rate left the burst and came back to it: then the credits were not there all the time."""
    return before[before.index(at_burst[0]) :] != at_burst


def _mean(found: list[Segment]) -> float:
    return float(np.average([level.mean for level in found], weights=[level.n for level in found]))


def _seconds(level: Segment) -> float:
    return level.end_s - level.start_s
