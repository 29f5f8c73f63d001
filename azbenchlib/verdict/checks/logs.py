"""Checks of a log against the summary of its run: both are of the same I/Os."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.logs_of_jobs import logs_of_jobs
from azbenchlib.analysis.over_time.rate_samples import ios_of, is_of_single_ios
from azbenchlib.analysis.view import Check, FloatArray, View
from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import KIB, format_count, format_mbps

_APART = (
    0.1  # of the rate in the summary; our choice: a tenth is more than rounding and the edges of intervals
)
_LEAST = 3  # lines of a log that has a mean
_LEAST_IOS = 100  # of a log of single I/Os
_GAP = 1.5  # usual intervals between two lines; where there are more, nothing was done
_RATES = {  # metric: unit, form, and the step in which fio prints it
    "iops": ("IOPS", format_count, 1),
    "bw_bytes_per_s": ("MB/s", format_mbps, KIB),
}
# Findings of readers after which a log, or the figures beside it, is not whole.
_NOT_WHOLE = (Code.BROKEN_LINES, Code.NOT_COMPLETE, Code.APPROXIMATE)


@dataclass(frozen=True, kw_only=True)
class _Logged:
    """What the log of one job and direction comes to.

    Attributes
    ----------
    done : float
        I/Os or bytes.
    lasted_s : float
        From the begin of its first interval to the end of the last one.
    peak : float
        The largest rate.
    """

    done: float
    lasted_s: float
    peak: float


def log_disagrees(view: View) -> Iterator[Finding]:
    """The mean of a log of IOPS or bandwidth is not the rate in the summary of its run.

    A log has no line for what is left of its last interval, so a summary may be above it by what the rate
    could have been then. What differs by more than a tenth beyond that is of another run, or of one job among
    several.
    """
    samples = view.table("samples")
    samples = samples[samples["metric"].isin(_RATES) & samples["object"].isna()]
    if samples.empty:
        return
    skipped = view.failed | view.verified | view.runs_with(*_NOT_WHOLE)
    with_results = {row["run_id"] for row in view.results}
    of_jobs = logs_of_jobs(view.runs.values(), with_results)
    logs = dict(list(samples.groupby(["run_id", "ddir", "metric"], sort=False)))
    found: dict[str, list[str]] = defaultdict(list)
    for row in view.results:
        ids = of_jobs.get(row["run_id"], (row["run_id"],))
        if row["run_id"] in skipped or not skipped.isdisjoint(ids) or not row["runtime_s"]:
            continue
        for metric in _RATES:
            keys = [(run_id, row["ddir"], metric) for run_id in ids]
            if all(key in logs for key in keys) and (
                what := _apart(row, metric, [logs[key] for key in keys])
            ):
                found[row["run_id"]].append(what)
    for run_id, differences in found.items():
        advice = (
            "Look whether the log is of another run, or of one of several jobs, before its course is used"
        )
        yield Finding.of(Code.LOG_DISAGREES, "; ".join(differences), advice, run_id=run_id)


def _apart(row: Mapping[str, Any], metric: str, logs: Sequence[pd.DataFrame]) -> str | None:
    """How far the logs of all jobs of a row are from its rate; None where they agree or tell no mean."""
    unit, form, step = _RATES[metric]
    rate, runtime_s = row[metric], row["runtime_s"]
    parts = [_logged(log) for log in logs]
    if rate is None or any(part is None for part in parts):
        return None
    told = [part for part in parts if part is not None]
    done, expected = sum(part.done for part in told), rate * runtime_s
    mean = sum(part.done / part.lasted_s for part in told)
    unlogged = sum(max(0.0, runtime_s - part.lasted_s) * part.peak for part in told)
    too_much = min(done / expected, mean / rate) > 1 + _APART if rate else mean > 0
    too_little = rate > 0 and max((done + unlogged) / expected, mean / rate) < 1 - _APART
    if not (too_much or too_little) or abs(mean - rate) <= step * len(told):
        return None
    return f"the log has {form(mean)} {unit} on average, the summary {form(rate)} ({row['ddir']})"


def _logged(log: pd.DataFrame) -> _Logged | None:
    """What a log comes to; None for one of too few lines."""
    if len(log) < _LEAST:
        return None
    ordered = log.sort_values("seq", kind="stable")
    if is_of_single_ios(ordered):
        return _of_single_ios(ordered)
    times, values = (ordered[name].to_numpy(dtype=float) for name in ("t_s", "value"))
    took = np.diff(times, prepend=0.0)
    usual = float(np.median(took[took > 0])) if (took > 0).any() else 0.0
    if usual <= 0 or not (np.isfinite(times).all() and np.isfinite(values).all()):
        return None
    begins_anew = took <= 0  # the log of another job or run
    took = np.where(begins_anew | (took > _GAP * usual), usual, took)
    return _Logged(
        done=float((values * took).sum()), lasted_s=_lasted_s(times, took), peak=float(values.max())
    )


def _of_single_ios(ordered: pd.DataFrame) -> _Logged | None:
    """What a log of a line an I/O comes to; None where one more or less would count."""
    lasted_s = float(ordered["t_s"].max())
    if len(ordered) < _LEAST_IOS or not lasted_s > 0:
        return None
    done = float(ios_of(ordered).sum())
    return _Logged(done=done, lasted_s=lasted_s, peak=done / lasted_s)


def _lasted_s(times: FloatArray, took: FloatArray) -> float:
    return float(times.max() - (times - took).min())


LOG_CHECKS: Mapping[Code, Check] = {Code.LOG_DISAGREES: log_disagrees}
