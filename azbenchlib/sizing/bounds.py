"""How long a limit alone throttles a history that comes again and again, in closed form.

No setup with that limit undercuts it.

A limit with base 1, burst c and full credits B (in seconds of the base) lets through what the curve
``min(c·t, t + B)`` does, so the load that waits at any time is

    max(L_c, L_1 − B),

where L_r is what waits at a limit of r without credits: a running sum less its running minimum, begun with
what waits when the history ends. More than a limit gives for good waits all the time. Source: Le Boudec and
Thiran, Network Calculus, 2001, theorem 1.5.1 (shapers whose curves are min-plus combined). More limits can
only let things wait longer, so the time in which any of several limits alone throttles is a lower bound for
all of them together; with loads that keep their proportions it is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.model.load_history import Series
from azbenchlib.model.passed_limits import PassedLimit


@dataclass(frozen=True)
class ThrottledAlone:
    """In which intervals a limit alone throttles, and for how many seconds at their begin and at their end.

    Parameters
    ----------
    places : ndarray of int
        Intervals with any, in order.
    at_begin, at_end : ndarray
        Seconds, of the same shape.
    seconds : float
        In all.
    """

    places: npt.NDArray[np.intp]
    at_begin: Series
    at_end: Series
    seconds: float


NEVER = ThrottledAlone(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), 0.0)


def throttled_alone(limit: PassedLimit, lengths: Series) -> ThrottledAlone:
    """When a limit alone throttles a load.

    Parameters
    ----------
    limit : PassedLimit
    lengths : ndarray
        Of the intervals in s, shape (n,).
    """
    if not len(limit.above_base):
        return NEVER
    if math.isfinite(limit.lasts_s(lengths)):
        return ThrottledAlone(np.arange(len(lengths)), lengths, np.zeros(len(lengths)), float(lengths.sum()))
    before, slope = _waiting(limit.burst_need, lengths)
    at_begin, at_end = _positive(before, slope, lengths)
    if limit.credit_s > 0:
        before, slope = _waiting(limit.need, lengths)
        more_begin, more_end = _positive(before - limit.credit_s, slope, lengths)
        at_begin, at_end = np.maximum(at_begin, more_begin), np.maximum(at_end, more_end)
    places = np.flatnonzero((at_begin > 0) | (at_end > 0))
    begins, ends = at_begin[places], at_end[places]
    seconds = float(np.minimum(begins + ends, lengths[places]).sum())
    return ThrottledAlone(places, begins, ends, seconds)


def seconds_together(several: Iterable[ThrottledAlone], lengths: Series) -> float:
    """Seconds in which any of several limits throttles."""
    told = [one for one in several if len(one.places)]
    if len(told) < 2:
        return told[0].seconds if told else 0.0
    at_begin, at_end = np.zeros(len(lengths)), np.zeros(len(lengths))
    for one in told:
        at_begin[one.places] = np.maximum(at_begin[one.places], one.at_begin)
        at_end[one.places] = np.maximum(at_end[one.places], one.at_end)
    places = np.flatnonzero((at_begin > 0) | (at_end > 0))
    return float(np.minimum(at_begin[places] + at_end[places], lengths[places]).sum())


def _waiting(need: Series, lengths: Series) -> tuple[Series, Series]:
    """What waits at the begin of each interval, in seconds of the limit, and how fast it grows."""
    slope = need - 1
    total = np.concatenate([[0.0], np.cumsum(slope * lengths)])
    at_end = total[-1] - total.min()
    return (total - np.minimum(np.minimum.accumulate(total), -at_end))[:-1], slope


def _positive(before: Series, slope: Series, lengths: Series) -> tuple[Series, Series]:
    """Seconds at the begin and at the end of each interval in which a line is above 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.where(slope != 0, -before / slope, np.inf)
    waits = (before > 0) | ((before == 0) & (slope > 0))
    falls = waits & (slope < 0)
    at_begin = np.where(waits, np.where(falls, np.minimum(crossing, lengths), lengths), 0.0)
    rises = ~waits & (slope > 0)
    at_end = np.where(rises, np.maximum(lengths - crossing, 0.0), 0.0)
    return at_begin, at_end
