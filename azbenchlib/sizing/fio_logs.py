"""Averaged logs of fio's IOPS and bandwidth as rows of the table demand: one device a job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.sizing.sampled_rates import LOAD_RATES, METRICS, wide_rates

_TOOL = "fio"
_MOST_INTERVALS = 10_000_000  # of a job: four months of seconds


def of_fio_logs(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of the table demand; none where no job has logs of both its IOPS and its bandwidth.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `runs` and `samples`.

    Raises
    ------
    InputError
        For logs of single I/Os, whose lines are no rates, and where a time is out of all proportion.
    """
    samples = tables["samples"]
    samples = samples[samples["metric"].isin(METRICS) & samples["object"].isna()]
    runs = tables["runs"][(tables["runs"]["tool"] == _TOOL).fillna(False)]
    parts = []
    for run in runs.to_dict("records"):
        own = samples[samples["run_id"] == run["run_id"]]
        if own["metric"].nunique() == len(METRICS):
            parts.append(_of_job(run, own))
    return pd.concat(parts, ignore_index=True) if parts else schema.empty("demand")


def _of_job(run: Mapping[str, object], own: pd.DataFrame) -> pd.DataFrame:
    """A row an interval; fio writes no line for one without I/O, so what is not there is nothing done."""
    moments = np.unique(own["t_s"].to_numpy(dtype=float))
    length = float(np.median(np.diff(moments))) if len(moments) > 1 else float(moments[0])
    if own["bs_bytes"].notna().any() or length <= 0:
        raise InputError(
            f"{run['source_path']}: its logs of IOPS and bandwidth have a line for each I/O; have fio "
            "average them, such as with log_avg_msec=1000"
        )
    if moments[-1] / length > _MOST_INTERVALS:
        raise InputError(
            f"{run['source_path']}: its logs of IOPS and bandwidth last {moments[-1]:,.0f} s and have a line "
            f"each {length:g} s; {_MOST_INTERVALS:,} intervals are the most that can be taken"
        )
    places = np.rint(own["t_s"].to_numpy(dtype=float) / length).astype(int) - 1
    wide = wide_rates(own.assign(seq=places), ["seq"]).set_index("seq")
    wide = wide.reindex(range(int(places.max()) + 1), columns=list(LOAD_RATES)).fillna(0.0).reset_index()
    known = {name: value for name in ("host", "job") if not pd.isna(value := run[name])}
    rows = wide.assign(
        telemetry_id=run["run_id"],
        source_path=run["source_path"],
        tool=_TOOL,
        host=known.get("host", "fio"),
        device=known.get("job", PurePosixPath(str(run["source_path"])).stem),
        clock="elapsed",
        t_s=wide["seq"] * length,
        interval_s=length,
    )
    return schema.conform("demand", rows)
