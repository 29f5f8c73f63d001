"""The samples of a rate, from logs, reports under way and a tool's intervals, of all jobs of a row."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.logs_of_jobs import logs_of_jobs
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.over_time.trace import Array

IOPS_METRIC, THROUGHPUT_METRIC = "iops", "bw_bytes_per_s"
_MOST_INTERVALS = 300  # of a log of single I/Os
_FEWEST_IOS = 10  # in an interval of such a log, on average: fewer make a rate that jumps
_NARROWEST_S = 0.1
_STEPS = (1, 2, 5)


class RateSamples:
    """The samples of one rate in a dataset.

    Parameters
    ----------
    samples : DataFrame
        Rows of the table samples of this rate, without the reads of verifying.
    runs : iterable of mapping
        Rows of the table runs as plain values.
    with_results : collection of str
        The runs that have results.
    """

    def __init__(
        self, samples: pd.DataFrame, runs: Iterable[Mapping[str, Any]], with_results: Collection[str]
    ) -> None:
        self._of_run = {str(run_id): rows for run_id, rows in samples.groupby("run_id", sort=False)}
        self._logs = logs_of_jobs(runs, with_results) if self._of_run else {}

    def of_run(self, run_id: str, moved: Collection[str], limit_s: float | None) -> list[tuple[Array, Array]]:
        """The traces of a row of runs, one a job and direction; none where a part of it has no samples.

        Parameters
        ----------
        run_id : str
        moved : collection of str
            The directions in which it moved something.
        limit_s : float, optional
            How long it was to last. None: not known.
        """
        parts = []
        for log_id in self._logs.get(run_id, (run_id,)):
            rows = self._of_run.get(log_id)
            if rows is None or not set(moved) <= set(rows["ddir"]):
                return []
            parts += [_trace(own, limit_s) for _, own in rows.groupby("ddir")]
        return parts

    def of_direction(self, run_id: str, ddir: str) -> list[tuple[Array, Array]]:
        """The trace of one direction of a run whose time limit is not known; none where there is none."""
        rows = self._of_run.get(run_id)
        own = None if rows is None else rows[rows["ddir"] == ddir]
        return [] if own is None or own.empty else [_trace(own, None)]


def _trace(own: pd.DataFrame, limit_s: float | None) -> tuple[Array, Array]:
    """The whole intervals of one log."""
    ordered = own.sort_values("t_s")
    if is_of_single_ios(ordered):
        return _of_single_ios(ordered, limit_s)
    single = ordered.drop_duplicates("t_s")
    t_s, rates = (single[name].to_numpy(dtype=float) for name in ("t_s", "value"))
    return trace.whole(t_s, rates, limit_s=limit_s)


def is_of_single_ios(ordered: pd.DataFrame) -> bool:
    """Whether a log of a rate, in the order of time, has a line for each I/O (fio without ``log_avg_msec``).

    Such lines tell the size of their I/O; so do averages in some logs. Each is one I/O in a log of IOPS.
    """
    if ordered["bs_bytes"].isna().any():
        return False
    if ordered["metric"].iloc[0] == IOPS_METRIC:
        return bool((ordered["value"] == 1).all())
    return bool(ordered["t_s"].diff().median() < _NARROWEST_S)


def ios_of(log: pd.DataFrame) -> Array:
    """What each line of a log of single I/Os stands for: one I/O, or its bytes in a log of throughput."""
    if log["metric"].iloc[0] == THROUGHPUT_METRIC:
        return log["bs_bytes"].to_numpy(dtype=np.float64, na_value=0.0)
    return np.ones(len(log))


def _of_single_ios(ordered: pd.DataFrame, limit_s: float | None) -> tuple[Array, Array]:
    """What a log of one line an I/O did in equal intervals; its values are those of one I/O."""
    t_s = ordered["t_s"].to_numpy(dtype=float, na_value=np.nan)
    until = float(np.nanmax(t_s, initial=0.0))
    until = until if limit_s is None else min(until, limit_s)
    width = _width_s(until, t_s.size)
    n = math.floor(until / width + 1e-9)
    done = ios_of(ordered)
    place = np.ceil(t_s / width - 1e-9)
    inside = (place <= n) & np.isfinite(place)
    sums = np.bincount(np.maximum(place[inside] - 1, 0).astype(int), weights=done[inside], minlength=n)
    ends: Array = np.arange(1, n + 1, dtype=np.float64) * width
    rates: Array = (sums[:n] / width).astype(np.float64)
    return ends, rates


def _width_s(lasted_s: float, n_ios: int) -> float:
    """The shortest round interval that holds enough I/Os on average, and makes no more points than a page
    shows.
    """
    least = max(_NARROWEST_S, lasted_s / _MOST_INTERVALS, _FEWEST_IOS * lasted_s / max(n_ios, 1))
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (*_STEPS, 10) if step * power >= least * (1 - 1e-9))
