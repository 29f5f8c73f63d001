"""Averaged logs of fio's IOPS and bandwidth as rows of the table demand: one device a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.analysis.logs_of_jobs import logs_of_jobs
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.sizing.sampled_rates import LOAD_COLUMNS, LOAD_RATES, METRICS

_TOOL = "fio"
_MOST_INTERVALS = 10_000_000  # of a job: four months of seconds
_GAP = 1.5  # usual intervals between two lines; where there are more, nothing was done
_ALIKE = 0.1  # intervals of jobs that differ by no more were meant to be the same

_PARTIAL = 0.1  # of the last interval may be behind the last line


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
    by_run = {run_id: own for run_id, own in samples.groupby("run_id") if own["metric"].nunique() > 1}
    runs = tables["runs"][(tables["runs"]["tool"] == _TOOL).fillna(False)].drop_duplicates("run_id")
    jobs = [run for run in schema.records(runs) if run["run_id"] in by_run]
    lengths = _alike([_usual_step(by_run[run["run_id"]]) for run in jobs])
    begins = _begins_s(jobs, tables, [float(by_run[run["run_id"]]["t_s"].max()) for run in jobs])
    parts = [
        _of_job(run, by_run[run["run_id"]], length, name).assign(
            t_s=lambda rows, begin=begin: rows["t_s"] + begin
        )
        for run, length, name, begin in zip(jobs, lengths, _names(jobs), begins, strict=True)
    ]
    return pd.concat(parts, ignore_index=True) if parts else schema.empty("demand")


def jobs_with_one_log(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """The files of jobs that logged their IOPS or their bandwidth alone, which is no load."""
    samples = tables["samples"]
    samples = samples[samples["metric"].isin(METRICS) & samples["object"].isna() & samples["bs_bytes"].isna()]
    logged = samples.groupby("run_id")["metric"].nunique()
    runs = tables["runs"][(tables["runs"]["tool"] == _TOOL).fillna(False)]
    return list(dict.fromkeys(runs.loc[runs["run_id"].isin(logged[logged == 1].index), "source_path"]))


def _begins_s(
    jobs: Sequence[Mapping[str, Any]], tables: Mapping[str, pd.DataFrame], lasted_s: Sequence[float]
) -> list[float]:
    """When each job began, after the first: as its output states, else the groups of a file one by one.

    Jobs of one group, those in different files and those without an output began at once, for all that is
    known.
    """
    runs = schema.records(tables["runs"].drop_duplicates("run_id"))
    by_id = {run["run_id"]: run for run in runs}
    with_results = set(tables["results"]["run_id"])
    row_of = {one: row for row, ids in logs_of_jobs(runs, with_results).items() for one in ids}
    rows = [by_id[row_of.get(job["run_id"], job["run_id"])] for job in jobs]
    stated = pd.Series(
        [job["started_at"] or row["started_at"] for job, row in zip(jobs, rows, strict=True)], dtype="string"
    )
    started = pd.to_datetime(stated, errors="coerce", utc=True, format="ISO8601")
    if started.notna().all():
        return [float(seconds) for seconds in (started - started.min()).dt.total_seconds()]
    places = [(row["source_path"], row["source_doc"] or 0, row["group_id"] or 0) for row in rows]
    longest: dict[Any, float] = {}
    for place, lasted in zip(places, lasted_s, strict=True):
        longest[place] = max(lasted, longest.get(place, 0.0))
    ordered = sorted(longest)
    before = {
        place: sum(longest[one] for one in ordered[:i] if one[0] == place[0])
        for i, place in enumerate(ordered)
    }
    return [before[place] for place in places]


def _usual_step(own: pd.DataFrame) -> float | None:
    """The usual time between two lines of one log of a job; None where it has but one."""
    logs = own.sort_values("seq", kind="stable").groupby(["metric", "ddir"])["t_s"]
    steps = np.concatenate([np.diff(told.to_numpy(dtype=float)) for _, told in logs])
    return float(np.median(steps[steps > 0])) if (steps > 0).any() else None


def _alike(lengths: Sequence[float | None]) -> list[float | None]:
    """One length for all jobs whose intervals were meant to be the same, so that they are put side by side.

    A job with a single line has that of the first of the others.
    """
    found: list[float] = []
    for length in lengths:
        if length is not None:
            found.append(next((one for one in found if abs(one - length) <= _ALIKE * one), length))
    known = iter(found)
    return [next(known) if length is not None else next(iter(found), None) for length in lengths]


def _checked(run: Mapping[str, Any], own: pd.DataFrame, length: float) -> float:
    """The length of the intervals of a job, where its lines are rates and not too many."""
    last = own["t_s"].max()
    if own["bs_bytes"].notna().any() or length <= 0:
        raise InputError(
            f"{run['source_path']}: its logs of IOPS and bandwidth have a line for each I/O; have fio "
            "average them, such as with log_avg_msec=1000"
        )
    if last / length > _MOST_INTERVALS:
        raise InputError(
            f"{run['source_path']}: its logs of IOPS and bandwidth last {last:,.0f} s and have a line "
            f"each {length:g} s; {_MOST_INTERVALS:,} intervals are the most that can be taken"
        )
    return length


def _names(jobs: Iterable[Mapping[str, Any]]) -> list[str]:
    """What each job is called; those of one name are numbered."""
    stems = [str(job["job"] or PurePosixPath(str(job["source_path"])).stem) for job in jobs]
    return [
        stem if stems.count(stem) == 1 else f"{stem} {stems[: i + 1].count(stem)}"
        for i, stem in enumerate(stems)
    ]


def _of_job(run: Mapping[str, Any], own: pd.DataFrame, step: float | None, name: str) -> pd.DataFrame:
    """A row an interval; fio writes no line for one without I/O, so what is not there is nothing done."""
    last = float(own["t_s"].max())
    length = _checked(run, own, last if step is None else step)
    if own["t_s"].min() == 0:  # of the clock on the wall: it counts from the end of the first interval
        own, last = own.assign(t_s=own["t_s"] + length), last + length
    ends = np.arange(1, max(1, int(last / length + _PARTIAL)) + 1) * length
    rates = dict.fromkeys(LOAD_RATES, np.zeros(len(ends)))
    for key, log in own.groupby(["metric", "ddir"]):
        if (column := LOAD_COLUMNS.get(key)) is not None:
            rates[column] = _on(ends, length, log.sort_values("t_s", kind="stable"))
    rows = pd.DataFrame(rates).assign(
        telemetry_id=run["run_id"],
        source_path=run["source_path"],
        tool=_TOOL,
        host=run["host"] or "fio",
        device=name,
        seq=np.arange(len(ends)),
        clock="elapsed",
        t_s=ends - length,
        interval_s=length,
    )
    return schema.conform("demand", rows)


def _on(ends: npt.NDArray[Any], length: float, log: pd.DataFrame) -> npt.NDArray[Any]:
    """Mean rates in intervals of one length; a line tells of the time since the line before."""
    times, values = (log[name].to_numpy(dtype=float) for name in ("t_s", "value"))
    before = np.concatenate([[0.0], times[:-1]])
    took = np.where(times - before > _GAP * length, length, times - before)
    moments = np.stack([times - took, times], axis=1).ravel()
    done = np.cumsum(values * took)
    at_moments = np.stack([done - values * took, done], axis=1).ravel()
    return np.diff(np.interp(np.concatenate([[0.0], ends]), moments, at_moments)) / length
