"""Logs of rates without an output: each folder's logs of one name are a run, whose rate is their mean.

Logs of one name and several numbers are of the jobs of one call of fio, which ran at once for all that is
known. They become what an output with ``group_reporting`` would be: a row that sums its jobs, each of which
has a log.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.logs_of_jobs import RATE_LOG, logs_of_jobs
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.over_time.rate_samples import IOPS_METRIC, THROUGHPUT_METRIC, RateSamples
from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Finding

Tables = Mapping[str, pd.DataFrame]
Row = Mapping[str, Any]


def with_rates_of_logs(tables: Tables) -> Tables:
    """The tables with a rate for what only logs of fio tell; the same where nothing is.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All tables of a dataset.

    Returns
    -------
    mapping of str to DataFrame
        With rows of results: the mean of the logged rates and the time that they cover. The logs of several
        jobs have a row of runs that sums them. A finding says of each that its rate is of logs.
    """
    samples = tables["samples"]
    rated = samples[samples["metric"].isin([IOPS_METRIC, THROUGHPUT_METRIC]) & samples["object"].isna()]
    alone = set(rated["run_id"]) - set(tables["results"]["run_id"])
    if not alone:
        return tables
    runs = schema.records(tables["runs"])
    with_results = set(tables["results"]["run_id"])
    alone -= {log for logs in logs_of_jobs(runs, with_results).values() for log in logs}
    jobs: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for run in runs:
        if run["run_id"] in alone and run["tool"] == "fio" and RATE_LOG.search(run["source_path"] or ""):
            jobs[str(PurePath(run["source_path"]).parent), run["host"], run["job"]].append(run)
    known = {metric: RateSamples(rows, (), ()) for metric, rows in rated.groupby("metric", sort=False)}
    for some in jobs.values():
        numbers = [run["job_index"] for run in some]
        for group in [some] if len(set(numbers)) == len(some) else [[run] for run in some]:
            tables = _with_run(tables, group, known)
    return tables


def _with_run(tables: Tables, jobs: Sequence[Row], known: Mapping[str, RateSamples]) -> Tables:
    """The tables with the rates of some jobs as those of one run."""
    ids = [str(run["run_id"]) for run in jobs]
    samples = tables["samples"]
    moved = sorted(samples.loc[samples["run_id"].isin(ids), "ddir"].unique())
    run_id = ids[0] if len(ids) == 1 else hashlib.sha256(":".join(sorted(ids)).encode()).hexdigest()[:16]
    rows = [row for ddir in moved if (row := _result(run_id, ddir, ids, known)) is not None]
    if not rows:
        return tables
    changed = dict(tables)
    if len(ids) > 1:
        whole = {**jobs[0], "run_id": run_id, "level": "group", "numjobs": len(ids), "job_index": 0}
        own = tables["runs"]["run_id"].isin(ids)
        kept = tables["runs"].assign(numjobs=tables["runs"]["numjobs"].mask(own, 1))
        changed["runs"] = pd.concat([kept, schema.frame("runs", [whole])], ignore_index=True)
        changed["samples"] = _latencies_of(samples, ids, run_id)
    changed["results"] = pd.concat([tables["results"], schema.frame("results", rows)], ignore_index=True)
    told = "its log" if len(ids) == 1 else f"the logs of {len(ids)} jobs, added up"
    message = f"{jobs[0]['source_path']}: no output tells this run; its rate is the mean of {told}"
    finding = Finding.of(Code.RATE_OF_LOGS, message, run_id=run_id, source_path=jobs[0]["source_path"])
    changed["findings"] = pd.concat(
        [tables["findings"], schema.frame("findings", [finding.row()])], ignore_index=True
    )
    return changed


def _result(run_id: str, ddir: str, ids: Sequence[str], known: Mapping[str, RateSamples]) -> Row | None:
    """A row of results of one direction; None where no rate of it was logged."""
    row: dict[str, Any] = {"run_id": run_id, "ddir": ddir}
    for metric, samples in known.items():
        parts = [part for one in ids for part in samples.of_direction(one, ddir)]
        times, rates = trace.together(parts) if parts else (np.empty(0), np.empty(0))
        if times.size:
            took = np.diff(times, prepend=max(0.0, 2 * times[0] - times[1]) if times.size > 1 else 0.0)
            row |= {metric: float(np.average(rates, weights=took)), "runtime_s": float(took.sum())}
    return row if len(row) > 2 else None


def _latencies_of(samples: pd.DataFrame, ids: Sequence[str], run_id: str) -> pd.DataFrame:
    """The samples with the latencies of some jobs as those of one run; rates stay with their jobs."""
    latencies = samples["run_id"].isin(ids) & ~samples["metric"].isin([IOPS_METRIC, THROUGHPUT_METRIC])
    moved = samples.assign(run_id=samples["run_id"].mask(latencies, run_id))
    seq = moved.groupby(["run_id", "ddir", "metric"]).cumcount()
    return moved.assign(seq=moved["seq"].mask(latencies, seq))
