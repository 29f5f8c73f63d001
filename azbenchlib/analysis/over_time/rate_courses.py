"""Rates over time, summed over all that ran at once and thinned to what a page can show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from azbenchlib.analysis import mix
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.over_time.rate_samples import IOPS_METRIC, THROUGHPUT_METRIC, RateSamples
from azbenchlib.analysis.over_time.timeline import MOST_POINTS, n_spans
from azbenchlib.analysis.over_time.trace import Array
from azbenchlib.core import schema

COURSE_COLUMNS = ["series", "facet", "metric", "t_s", "value", "low", "high"]


def courses(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """IOPS and throughput over time of everything that ran at once, thinned to what a page can show.

    Parameters
    ----------
    arrangement : Arrangement
        Which runs are compared.
    tables : mapping of str to DataFrame
        The dataset's tables.

    Returns
    -------
    DataFrame
        Columns series, facet (the whole workload), metric (iops or bw_bytes_per_s), t_s (middle of a span
        of intervals; the end of an interval where a span is one), value (the mean rate of all jobs and
        directions together, and over repeats), low and high (the least and the largest of what was logged
        there); empty where no rate was logged. What ran at once without samples of each job has no rows.
    """
    samples = tables["samples"]
    samples = samples[samples["metric"].isin([IOPS_METRIC, THROUGHPUT_METRIC]) & samples["object"].isna()]
    if samples.empty:
        return pd.DataFrame(columns=COURSE_COLUMNS)
    samples = mix.of_load(samples, mix.verified(tables["runs"], tables["results"]))
    runs, with_results = schema.records(tables["runs"]), set(tables["results"]["run_id"])
    limits, parts = trace.limits_s(tables["runs"]), []
    for metric, rows in samples.groupby("metric", sort=False):
        known = RateSamples(rows, runs, with_results)
        for _, jobs in arrangement.runs.groupby("at_once", sort=False):
            times, rates = _together(known, jobs, limits)
            if times.size > 1:
                first = {"series": jobs["series"].iloc[0], "facet": jobs["whole"].iloc[0], "metric": metric}
                run = pd.DataFrame({"t_s": times, "value": rates, "run_id": jobs["run_id"].iloc[0]})
                parts.append(run.assign(**first))
    if not parts:
        return pd.DataFrame(columns=COURSE_COLUMNS)
    every = pd.concat(parts, ignore_index=True).groupby(COURSE_COLUMNS[:3], sort=False)
    return pd.concat(
        [_thinned(rows).assign(**dict(zip(COURSE_COLUMNS[:3], key, strict=True))) for key, rows in every],
        ignore_index=True,
    )[COURSE_COLUMNS]


def _together(known: RateSamples, jobs: pd.DataFrame, limits: Mapping[str, float]) -> tuple[Array, Array]:
    """The sum of all jobs; nothing where one of them has no samples."""
    parts = []
    for run_id, rows in jobs.groupby("run_id", sort=False):
        own = known.of_run(str(run_id), set(rows["ddir"]) - {"mixed"}, limits.get(str(run_id)))
        if not own:
            return np.empty(0), np.empty(0)
        parts += own
    return trace.together(parts)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """The rates of one workload in at most so many spans of time."""
    n = min(MOST_POINTS, rows["t_s"].nunique(), n_spans(rows))
    span = pd.cut(rows["t_s"], n, labels=False) if n > 1 else pd.Series(0, index=rows.index)
    groups = rows.groupby(span)
    found = groups.agg(
        t_s=("t_s", "mean"), value=("value", "mean"), low=("value", "min"), high=("value", "max")
    )
    return found.reset_index(drop=True)
