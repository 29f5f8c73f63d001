"""The phases of a run: the levels that its rate kept for a while, such as a burst and then the base.

A mean over a burst and the base is a rate that the disk never had. Here are the levels themselves, and how
they are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from azbenchlib.analysis.over_time.steady import LEVEL_SAMPLES, MAD_TO_SD, Segment, between_changes, join
from azbenchlib.analysis.over_time.trace import Array, whole
from azbenchlib.core.units import format_count, format_span

# A level is told from noise by many samples, or by a few that agree: their standard error ÷ their mean, or ÷
# their distance from the levels beside, where that is more: an interval has a whole number of I/Os.
MANY, AGREE = 10, 0.05
_ALIKE = 0.05  # levels that differ by less, relative to the higher, are one
EXCURSION = 0.10  # so much of the trace, between levels alike, may interrupt them without being a level
SHORT_SHARE = (
    0.05  # of the trace: at its start, a workload getting going or a cache filling; at its end, no rate
)
_APART = 1.25  # neighbours whose rates differ by a smaller factor are told as one phase
_ENOUGH = 4000  # samples
_FAR, FEW_LAST = 5.0, 5  # standard deviations; so many samples at most are a ragged end rather than a level
_MOST = 4  # more phases than these are a rate that goes up and down


def levels(t_s: npt.ArrayLike, rates: npt.ArrayLike, zeros: bool = True) -> list[Segment]:
    """The levels that last: a few stray samples, and a stall within a level, are none.

    Parameters
    ----------
    t_s, rates : array_like, shape (n,)
        End of each sample in s, and the mean rate in it.
    zeros : bool
        Whether an interval that the log leaves out had a rate of zero; not so for latencies.

    Returns
    -------
    list of Segment
        In the order of time, from the start of the trace to its end; empty where nothing lasts. The mean is
        that of the level's own samples; what interrupts it counts by its time alone.

    Raises
    ------
    InputError
        When times and rates differ in number, or times do not rise.
    """
    times, values = whole(t_s, rates, zeros)
    if times.size < 2 * LEVEL_SAMPLES:
        return between_changes(times, values)
    times, values = _thinned(times, values)
    found = _without_stray_end(_segments(times, values), times, values)
    parts = _pooled(times, values, found)
    kept = [parts[i] for i in range(len(parts)) if _lasts(parts, i, times, values)]
    return _without_excursions(_joined(_covering(kept, found)), values.size)


def phases(t_s: npt.ArrayLike, rates: npt.ArrayLike, zeros: bool = True) -> list[Segment]:
    """The levels of a trace that differ by so much that its mean is the rate of none of them.

    Parameters
    ----------
    t_s, rates : array_like, shape (n,)
        End of each sample in s, and the mean rate in it.
    zeros : bool
        Whether an interval that the log leaves out had a rate of zero; not so for latencies.

    Returns
    -------
    list of Segment
        Two to four, in the order of time; none where the rate kept one level, or went up and down.

    Raises
    ------
    InputError
        When times and rates differ in number, or times do not rise.
    """
    every = levels(t_s, rates, zeros)
    if not every or every[-1].end_s <= every[0].start_s:  # a log of one line, at its start
        return []
    late = [level for level in every if _share(every[0].start_s, level.end_s, every) >= SHORT_SHARE]
    found = _covering(late, every)
    told = list(found)
    while len(told) > 1:
        apart = [_times_apart(*pair) for pair in pairwise(told)]
        i = int(np.argmin(apart))
        if apart[i] >= _APART:
            break
        told[i : i + 2] = [_as_one(*told[i : i + 2])]
    return told if 2 <= len(told) <= _MOST else []


def _times_apart(one: Segment, other: Segment) -> float:
    """The larger mean ÷ the smaller."""
    low, high = sorted((one.mean, other.mean))
    return high / low if low > 0 else np.inf


def lasting(found: Sequence[Segment]) -> Segment:
    """The phase whose rate a run sustained: the last that took at least 5 % of the trace's time.

    A shorter one at the end may be what is left of the run rather than a level of the disk.
    """
    return [phase for phase in found if _share(phase.start_s, phase.end_s, found) >= SHORT_SHARE][-1]


def in_words(found: Sequence[Segment]) -> str:
    """``3,499 IOPS for 30 min, then 120 IOPS for 15 min``; empty without a phase. Their rates are in IOPS."""
    rates = [f"{format_count(round(phase.mean))} IOPS" for phase in found]
    spans = [format_span(phase.end_s - phase.start_s) for phase in found]
    return ", then ".join(f"{rate} for {span}" for rate, span in zip(rates, spans, strict=True))


def _thinned(times: Array, values: Array) -> tuple[Array, Array]:
    """Means of neighbours, where samples are more than levels need: the search for changes is slow."""
    each = -(-times.size // _ENOUGH)
    n = times.size // each * each
    return times[each - 1 : n : each], values[:n].reshape(-1, each).mean(axis=1)


def _segments(times: Array, values: Array) -> list[Segment]:
    """The segments of the trace, and of those that are more than noise again, by their own noise: that of a
    burst hides a change that is large for the base.
    """
    min_s = LEVEL_SAMPLES * float(np.median(np.diff(times)))
    edges = [0]
    for part in between_changes(times, values, min_s):
        mine = slice(edges[-1], edges[-1] + part.n)
        again = [part] if _is_noise(values[mine]) else between_changes(times[mine], values[mine], min_s)
        edges += [edges[-1] + int(n) for n in np.cumsum([one.n for one in again])]
    return [join(times, values, begin, end) for begin, end in pairwise(edges)]


def _without_stray_end(found: list[Segment], times: Array, values: Array) -> list[Segment]:
    """The segments, with the last samples, as far as they are far from all others of theirs, apart."""
    begin = values.size - found[-1].n
    mine = values[begin:]
    middle = float(np.median(mine))
    far = np.abs(mine - middle) > max(
        _ALIKE * middle, _FAR * MAD_TO_SD * float(np.median(np.abs(mine - middle)))
    )
    stray = mine.size - 1 - int(np.flatnonzero(~far)[-1])  # half of them are no farther than the median
    if not 0 < stray <= FEW_LAST or mine.size - stray < LEVEL_SAMPLES:
        return found
    end = values.size - stray
    return [*found[:-1], join(times, values, begin, end), join(times, values, end, values.size)]


def _pooled(times: Array, values: Array, found: Sequence[Segment]) -> list[Segment]:
    """The segments, with short neighbours put together that are noise around one level: where a trace has
    few different values, each change is the edge of a segment.
    """
    edges = np.cumsum([0, *(part.n for part in found)]).tolist()
    kept = []
    for short, some in groupby(range(len(found)), key=lambda i: found[i].n < MANY):
        places = list(some)
        begin, end = edges[places[0]], edges[places[-1] + 1]
        whole_group = short and _is_noise(values[begin + 1 : end - 1])
        kept += [begin] if whole_group else [edges[i] for i in places]
    return [join(times, values, begin, end) for begin, end in pairwise([*kept, values.size])]


def _is_noise(part: Array) -> bool:
    """Whether samples scatter around one level rather than step from one to another: then the mean square of
    their differences is twice their variance, and not a small part of it (von Neumann, 1941).
    """
    return part.size >= LEVEL_SAMPLES and float(np.mean(np.diff(part) ** 2)) >= float(part.var())


def _lasts(parts: Sequence[Segment], i: int, times: Array, values: Array) -> bool:
    """Whether a segment is a level: many samples, or a few alike, perhaps without the first and the last,
    into which a change may fall.
    """
    level = parts[i]
    if level.n >= MANY:
        return True
    beside = [*parts[max(i - 1, 0) : i], *parts[i + 1 : i + 2]]
    away = min((abs(level.mean - other.mean) for other in beside), default=0.0)
    mine = values[(times > level.start_s) & (times <= level.end_s)]
    return any(
        part.size >= LEVEL_SAMPLES and part.std(ddof=1) <= AGREE * max(part.mean(), away) * np.sqrt(part.size)
        for part in (mine, mine[1:], mine[1:-1])
    )


def _covering(kept: Sequence[Segment], found: Sequence[Segment]) -> list[Segment]:
    """The kept levels made to meet: what lies between two belongs to the earlier one."""
    if not kept:
        return []
    starts = [found[0].start_s, *(level.start_s for level in kept[1:])]
    ends = [*starts[1:], found[-1].end_s]
    return [replace(level, start_s=s, end_s=e) for level, s, e in zip(kept, starts, ends, strict=True)]


def _joined(found: Sequence[Segment]) -> list[Segment]:
    """Neighbours that are alike as one."""
    told = list(found[:1])
    for level in found[1:]:
        told[-1:] = [_as_one(told[-1], level)] if _alike(told[-1], level) else [told[-1], level]
    return told


def _without_excursions(found: list[Segment], n: int) -> list[Segment]:
    """The levels without short ones between levels alike, the shortest first, as long as these are the
    exception.
    """
    left = EXCURSION * n
    while True:
        inner = range(1, len(found) - 1)
        between = [i for i in inner if found[i].n <= left and _alike(found[i - 1], found[i + 1])]
        if not between:
            return found
        i = min(between, key=lambda place: found[place].n)
        left -= found[i].n
        found = [*found[: i - 1], _as_one(found[i - 1], found[i + 1]), *found[i + 2 :]]


def _alike(one: Segment, other: Segment) -> bool:
    low, high = sorted((one.mean, other.mean))
    return high - low <= _ALIKE * high


def _as_one(one: Segment, later: Segment) -> Segment:
    n = one.n + later.n
    return Segment(one.start_s, later.end_s, (one.n * one.mean + later.n * later.mean) / n, n)


def _share(start_s: float, end_s: float, found: Sequence[Segment]) -> float:
    """Of the trace's time."""
    return (end_s - start_s) / (found[-1].end_s - found[0].start_s)
