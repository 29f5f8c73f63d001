"""Whether a rate is steady: changes of level, and spread.

Every function takes one trace: times in s and the rate in the interval that ends there. A partial interval
at its end is left out, and an interval that the log leaves out has a rate of zero (:mod:`.trace`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from azbenchlib.analysis.over_time.trace import Array, whole

LEVEL_SAMPLES = 3  # of one level at least: two neighbours may be two halves of a change
MIN_SEGMENT_S = 10.0
SAME_LEVEL = 0.02  # segments whose medians differ by less are one
# Times σ² ln n. 2 is BIC's; with σ itself estimated, it splits 1 of 13 traces of 60 samples of white noise.
PENALTY = 3.0
MAD_TO_SD = 1.4826  # of a normal distribution
SETTLE_S = 10.0
MIN_SAMPLES = 60  # fewer do not tell a spread
RESAMPLES = 1000


@dataclass(frozen=True)
class Segment:
    """A stretch of one level: from the end of the sample before it to the end of its last one, in s."""

    start_s: float
    end_s: float
    mean: float
    n: int


@dataclass(frozen=True)
class Variation:
    """Standard deviation ÷ mean of the samples, with the limits of its 95 % confidence interval."""

    cv: float
    low: float
    high: float
    n: int


def segments(
    t_s: npt.ArrayLike, values: npt.ArrayLike, min_s: float = MIN_SEGMENT_S, same: float = SAME_LEVEL
) -> list[Segment]:
    """The levels of a trace, between its changes.

    Parameters
    ----------
    t_s, values : array_like, shape (n,)
        End of each sample in s, and the mean rate in it. Samples that are not numbers are left out.
    min_s : float
        No level is shorter; nor has one fewer than 3 samples, unless the trace itself does.
    same : float
        Neighbours whose medians differ by less, relative to the larger, are joined.

    Returns
    -------
    list of Segment
        In the order of time; one for a steady trace, none for an empty one.

    Raises
    ------
    InputError
        When times and values differ in number, or times do not rise.

    Notes
    -----
    Least squares with a penalty of 3 σ² ln n for a change, solved exactly by PELT (Killick, Fearnhead and
    Eckley, JASA 107, 2012); σ from the median absolute deviation of the differences, which a change of
    level does not disturb. Changes are found to a sample.
    """
    return between_changes(*whole(t_s, values), min_s, same)


def between_changes(
    times: Array, rates: Array, min_s: float = MIN_SEGMENT_S, same: float = SAME_LEVEL
) -> list[Segment]:
    """The levels of :func:`segments`, of a trace that is known to be whole."""
    if rates.size < 2:
        return [Segment(0.0, float(times[-1]), float(rates[0]), 1)] if rates.size else []
    step = float(np.median(np.diff(times)))
    least = max(LEVEL_SAMPLES, math.ceil(min_s / step))
    ends = [rates.size]
    sigma = _noise(rates)
    if rates.size >= 2 * least and sigma > 0:
        from ruptures import KernelCPD  # takes a second to import, with the scipy.stats that it needs

        search = KernelCPD(kernel="linear", min_size=least).fit((rates / sigma).reshape(-1, 1))
        ends = search.predict(pen=PENALTY * math.log(rates.size))
    elif rates.size >= 2 * least:
        ends = _long_enough([*map(int, np.flatnonzero(np.diff(rates)) + 1), rates.size])
    edges = _sharpened(rates, _joined(rates, [0, *map(int, ends)], same))
    return [join(times, rates, begin, end) for begin, end in pairwise(edges)]


def variation(t_s: npt.ArrayLike, values: npt.ArrayLike, settle_s: float = SETTLE_S) -> Variation | None:
    """Coefficient of variation after the first seconds; None with fewer than 60 samples left.

    Notes
    -----
    The interval is from a moving-block bootstrap (Künsch, Annals of Statistics 17, 1989) with blocks of
    ∛n samples, as neighbours are alike; always with the same random numbers.
    """
    times, rates = whole(t_s, values)
    rates = rates[times > settle_s]
    if rates.size < MIN_SAMPLES or not rates.mean() > 0:
        return None
    block = round(rates.size ** (1 / 3))
    rng = np.random.default_rng(0)
    starts = rng.integers(0, rates.size - block + 1, (RESAMPLES, math.ceil(rates.size / block)))
    drawn = rates[(starts[:, :, None] + np.arange(block)).reshape(RESAMPLES, -1)[:, : rates.size]]
    low, high = np.percentile(drawn.std(axis=1, ddof=1) / drawn.mean(axis=1), [2.5, 97.5])
    return Variation(float(rates.std(ddof=1) / rates.mean()), float(low), float(high), rates.size)


def join(times: Array, rates: Array, begin: int, end: int) -> Segment:
    """The samples from `begin` to before `end` as a segment of the whole trace; its mean leaves out those in
    which a change may fall.
    """
    inner = rates[begin + (begin > 0) : end - (end < rates.size)]
    start = times[begin - 1] if begin else max(0.0, 2 * times[0] - times[1])
    mean = float((inner if inner.size else rates[begin:end]).mean())
    return Segment(float(start), float(times[end - 1]), mean, end - begin)


def _noise(rates: Array) -> float:
    """Standard deviation around the levels; a sample alone shows none."""
    steps = np.diff(rates)
    if not steps.size:
        return 0.0
    spread = np.median(np.abs(steps - np.median(steps))) or np.median(
        np.abs(steps)
    )  # a sawtooth has no other
    return float(MAD_TO_SD * spread / math.sqrt(2))


def _joined(rates: Array, edges: list[int], same: float) -> list[int]:
    """The edges without those between segments of one level."""
    kept = edges[:2]
    for edge in edges[2:]:
        kept.append(edge)
        while len(kept) > 2 and _alike(rates[kept[-3] : kept[-2]], rates[kept[-2] : edge], rates.size, same):
            del kept[-2]
    return kept


def _alike(before: Array, after: Array, n: int, same: float) -> bool:
    """Whether two segments are of one level: nearly, or as far as their own noise can tell.

    Medians decide, as the sample in which a change falls lies between the levels. The noise of a whole
    trace is too little for its most uneven part, and splits that.
    """
    low, high = sorted((abs(float(np.median(before))), abs(float(np.median(after)))))
    weight = before.size * after.size / (before.size + after.size)
    noise = max(_noise(before), _noise(after))
    return high - low < same * high or weight * (high - low) ** 2 < PENALTY * math.log(n) * noise**2


def _long_enough(ends: list[int]) -> list[int]:
    """Ends of stretches of one value each, without those that are too short for a level: neighbours among
    them are one stretch, and what is still too short belongs to the stretch before, at the start to the next.
    """
    kept: list[int] = []
    for short, some in groupby(pairwise([0, *ends]), key=lambda part: part[1] - part[0] < LEVEL_SAMPLES):
        parts = list(some)
        begin, end = parts[0][0], parts[-1][1]
        if not short:
            kept += [end for _, end in parts]
        elif kept and end - begin < LEVEL_SAMPLES:
            kept[-1] = end
        else:
            kept.append(end)
    return kept[1:] if len(kept) > 1 and kept[0] < LEVEL_SAMPLES else kept


def _sharpened(rates: Array, edges: list[int]) -> list[int]:
    """Each edge where it leaves the least squares on its two sides, now that the levels are known."""
    for i in range(1, len(edges) - 1):
        part = rates[edges[i - 1] : edges[i + 1]]
        n, sums = np.arange(1, part.size), np.cumsum(part)
        explained = sums[:-1] ** 2 / n + (sums[-1] - sums[:-1]) ** 2 / (part.size - n)
        first = LEVEL_SAMPLES - 1  # so many samples are left on either side
        edges[i] = edges[i - 1] + first + 1 + int(explained[first : part.size - first - 1].argmax())
    return edges
