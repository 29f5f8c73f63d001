"""Repeats at several levels, over the times at which they were made: when something changed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from azbenchlib.analysis.grouping import Arrangement

LEVEL_COLUMNS = ["series", "facet", "level", "at", "t_s", "iops", "bw_bytes_per_s"]


def levels_over_time(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rates of the repeats that lie around several levels, with the time of each.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
        The dataset's tables.

    Returns
    -------
    DataFrame
        One row for all that ran at once, in the order of time: series, facet (the workload of all levels),
        level (the number of its group), at (when it began, or was written where no tool says when it began),
        t_s (seconds since the first of the workload), iops and bw_bytes_per_s (of all jobs and directions
        together). Workloads at one level, those of which a time is not known, and those whose runs all have
        the same time have no rows.
    """
    runs = arrangement.runs
    keys = ["series", "repeats_of"]
    several = runs[runs.groupby(keys)["level"].transform("nunique") > 1]
    if several.empty:
        return pd.DataFrame(columns=LEVEL_COLUMNS)
    times = tables["runs"].set_index("run_id")[["started_at", "ended_at"]]
    is_begun = several.groupby(keys)["run_id"].transform(
        lambda ids: times["started_at"].reindex(ids).notna().all()
    )
    text = (
        several["run_id"].map(times["started_at"]).where(is_begun, several["run_id"].map(times["ended_at"]))
    )
    several = several.assign(at=pd.to_datetime(text, utc=True, errors="coerce", format="ISO8601"))
    each = several.groupby([*keys, "at_once"], sort=False)
    rows = each.agg(level=("level", "first"), at=("at", "min")).join(
        each[["iops", "bw_bytes_per_s"]].sum(min_count=1)
    )
    rows = rows.reset_index().rename(columns={"repeats_of": "facet"})
    by_workload = rows.groupby(["series", "facet"])["at"]
    known = by_workload.transform("count") == by_workload.transform("size")
    rows = rows[known & (by_workload.transform("nunique") > 1)]
    began = rows.groupby(["series", "facet"])["at"].transform("min")
    rows = rows.assign(t_s=(rows["at"] - began).dt.total_seconds())
    return rows.sort_values("at", kind="stable", ignore_index=True)[LEVEL_COLUMNS]
