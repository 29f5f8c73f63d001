"""Where the samples of a log become a trace: its whole intervals, and those in which nothing was done.

A benchmark ends between two lines of its log, so the last line may cover less than an interval, or reach past
the time that the run was to last: a rate of a few I/Os, or the latency of what was outstanding when the tool
stopped asking. That is no level of the disk. Only the part of an interval before that time counts.
fio writes no line for an interval without an I/O (``stat.c``, ``__add_samples``: "No entries for interval",
read at fio-3.41), so in a log of a few I/Os per interval a gap is a rate of zero. Where an interval holds
many, a gap is a stall or a line that was lost: nothing is made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.core.errors import InputError

Array = npt.NDArray[np.float64]

PARTIAL = 0.9  # an interval at an end, shorter than this share of the usual one, is none of its own
_ENOUGH = 10  # lines, of a log of latencies, to tell what is usual in it
ENDS = 2  # fio's latency log can end with two such lines: the end of the wait, and what came with it
_GAP = 1.5  # usual intervals between two lines from which on one is missing
FEW_IOS = 10  # an interval that holds no more I/Os than these may well hold none


def whole(
    t_s: npt.ArrayLike, rates: npt.ArrayLike, zeros: bool = True, limit_s: float | None = None
) -> tuple[Array, Array]:
    """A trace of the whole intervals, with a zero for each that the log leaves out for want of an I/O.

    Parameters
    ----------
    t_s, rates : array_like, shape (n,)
        End of each sample in s, rising, and the mean rate in it, in I/Os per second for gaps to be told.
        Samples that are not numbers are left out.
    zeros : bool
        Whether to put a zero where the log leaves out an interval; not for latencies.
    limit_s : float, optional
        How long the run was to last, in s: no more I/Os were asked for after it. None: not known.

    Returns
    -------
    (ndarray, ndarray)
        Times in s and rates; more or fewer than there were.

    Raises
    ------
    InputError
        When times and rates differ in number, or times do not rise.
    """
    times, values = np.asarray(t_s, float), np.asarray(rates, float)
    if times.shape != values.shape or times.ndim != 1:
        raise InputError(f"{times.size} times and {values.size} values: a trace needs a time for each value")
    timed = np.isfinite(times)
    times, values = times[timed], values[timed]
    if (np.diff(times) <= 0).any():
        at = float(times[1:][np.diff(times) <= 0][0])
        raise InputError(
            f"the trace's times do not rise at {at:g} s; sort the samples, one direction at a time"
        )
    kept = slice(_n_short_at_first(times), n_whole(times, limit_s))
    times, values = times[kept], values[kept]
    times, values = _filled(times, values) if zeros else (times, values)
    known = np.isfinite(values)  # told, but not as a number: not known rather than zero
    return times[known], values[known]


def together(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The sum of traces that ran at the same time, in the intervals that all of them have.

    Parameters
    ----------
    parts : sequence of (ndarray, ndarray)
        Times in s and rates of each, at least one; as :func:`whole` makes them.
    """
    if len(parts) == 1 or any(times.size < 2 for times, _ in parts):
        return parts[0] if len(parts) == 1 else (np.empty(0), np.empty(0))
    step = max(float(np.median(np.diff(times))) for times, _ in parts)
    places = [np.rint(times / step).astype(int) for times, _ in parts]
    shared = reduce(np.intersect1d, places)
    total = np.zeros(shared.size)
    for place, (_, rates) in zip(places, parts, strict=True):
        index = np.searchsorted(shared, place)
        mine = (index < shared.size) & (shared[np.minimum(index, shared.size - 1)] == place)
        n = np.bincount(index[mine], minlength=shared.size)
        total += np.bincount(index[mine], weights=rates[mine], minlength=shared.size) / n
    return shared * step, total


def without_ends(samples: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The samples of latency logs without what was written when the tool no longer asked for I/O.

    Parameters
    ----------
    samples : DataFrame
        Rows of the table samples, of any runs.
    runs : DataFrame
        The table runs; what is logged after `runtime_limit_s` is of the last wait. fio with its NBD engine
        takes the end of that wait as the end of every I/O that is outstanding (seen with 3.33).

    Returns
    -------
    DataFrame
        The rows that are left, in their order.
    """
    limits = limits_s(runs)
    ordered = samples.sort_values(["run_id", "ddir", "metric", "seq"], kind="stable")
    same = [ordered[name] for name in ("run_id", "ddir", "metric")]
    back = (ordered["t_s"].groupby(same, sort=False).diff() < 0).fillna(
        False
    )  # there the log of another job begins
    kept = []
    for (run_id, *_), part in ordered.groupby([*same, back.cumsum()], sort=False):
        times = part["t_s"].to_numpy(dtype=float)
        if times.size >= _ENOUGH:
            part = part.iloc[: n_whole(times, limits.get(run_id))]
        kept.append(part)
    return pd.concat(kept).sort_index() if kept else samples


def limits_s(runs: pd.DataFrame) -> dict[str, float]:
    """How long each run was to last, in s, by run_id, where it is known; from the table runs."""
    known = runs.dropna(subset=["runtime_limit_s"])
    return dict(zip(known["run_id"].astype(str), known["runtime_limit_s"].astype(float), strict=True))


def n_whole(t_s: Array, limit_s: float | None = None) -> int:
    """How many of the samples are left without the intervals at the end of which too little counts.

    Parameters
    ----------
    t_s : ndarray, shape (n,)
        End of each sample of one log in s, in order.
    limit_s : float, optional
        How long the run was to last, in s; what is after it does not count. None: not known.
    """
    until = np.inf if limit_s is None else limit_s + _clock_start(t_s)
    begins = t_s[:-1]
    n = min(t_s.size, 1 + int(np.searchsorted(begins, until)))
    for _ in range(ENDS):
        steps = np.diff(t_s[:n])
        if steps.size < 2 or min(t_s[n - 1], until) - t_s[n - 2] >= PARTIAL * np.median(steps[:-1]):
            break
        n -= 1
    return n


def _clock_start(t_s: Array) -> float:
    """When the first interval began, by the clock of the log, which may run from a ramp on."""
    steps = np.diff(t_s)
    usual = float(np.median(steps)) if steps.size else np.inf
    return float(t_s[0]) - usual if steps.size and t_s[0] > _GAP * usual else 0.0


def _n_short_at_first(t_s: Array) -> int:
    """1 where the first interval, from zero on, is shorter than the others; not where it ends at zero."""
    steps = np.diff(t_s)
    return int(steps.size >= 2 and 0 < t_s[0] < PARTIAL * float(np.median(steps)))


def _filled(times: Array, values: Array) -> tuple[Array, Array]:
    """With zeros in the gaps; as it is where gaps are more than samples, so not the exception."""
    steps = np.diff(times)
    if steps.size < 2:
        return times, values
    usual = float(np.median(steps))
    open_ = (steps > _GAP * usual) & (values[1:] * usual <= FEW_IOS)
    missing = np.where(open_, np.round(steps / usual) - 1, 0)
    if not 0 < missing.sum() <= times.size:
        return times, values
    before = np.repeat(np.arange(steps.size), missing.astype(int))
    nth = np.concatenate([np.arange(1, n + 1) for n in missing[missing > 0]])
    zeros = times[before] + nth * steps[before] / (missing[before] + 1)
    order = np.argsort(np.concatenate([times, zeros]), kind="stable")
    return np.concatenate([times, zeros])[order], np.concatenate([values, np.zeros(zeros.size)])[order]
