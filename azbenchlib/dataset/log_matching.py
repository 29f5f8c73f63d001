"""Which of the files that were read belong together: logs and their run, descriptions and what they describe.

fio names a log ``PREFIX_KIND.JOB.log``: the prefix is what ``write_*_log`` says, else the name of the job;
the job's number counts from 1 over all jobs, also over those that a row sums, and is left out with
``per_job_logs=0``; a client of servers adds the host. A log belongs to a run in the same folder whose output
is called as the prefix is (``a.json``, ``a_clat.1.log``), else to the run whose job is called so. Where one
row stands for several jobs, their latencies are its own, but a rate is that of one job; such logs, and those
without any output, are a run each: the logs of one prefix and job together. Of a log that several jobs share,
each is such a run.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.core.findings import Code
from azbenchlib.dataset.log_names import Log
from azbenchlib.formats.base import Beside
from azbenchlib.formats.unwrap.compressed_names import bare_name

LAB = "lab"  # the log of an emulated disk
_RATES = ("bw", "iops")  # kinds that tell of one job, not of all jobs of a row
# What holds for each job of a row and for the row.
_SHARED = ["rw", "rwmix_read_pct", "bs_bytes", "bs_write_bytes", "iodepth", "direct", "ioengine", "target"]
_ALIKE = ["rw", "bs_bytes", "iodepth"]  # what a description and its run do not differ in


class Kin:
    """The runs that logs belong to.

    Parameters
    ----------
    runs : DataFrame
        The table runs of all files but logs.
    logs : sequence of Log
        All logs that were found.
    log_unit : {"us", "ns"} or None
        What the user says of the unit of their latencies.
    forms : mapping of str to str, optional
        The run that counts, by the run_id of each other form of it.

    Attributes
    ----------
    own : dict of str to dict
        Rows of the table runs for logs that are a run of their own, by run_id.
    """

    def __init__(
        self,
        runs: pd.DataFrame,
        logs: Sequence[Log],
        log_unit: str | None,
        forms: Mapping[str, str] | None = None,
    ) -> None:
        self._runs = runs.assign(
            counts=~runs["run_id"].isin(forms or {}),
            run_id=runs["run_id"].replace(dict(forms or {})),
            folder=runs["source_path"].map(lambda path: str(Path(path).parent)),
            stem=runs["source_path"].map(lambda path: Path(bare_name(path)).stem),
        )
        self._logs, self._log_unit = logs, log_unit
        self._numbers: dict[tuple[str, str, str], set[int | None]] = defaultdict(set)
        for log in (one for one in logs if one.kind in _RATES):
            self._numbers[log.folder, log.prefix, log.host].add(log.job)
        self.own: dict[str, dict[str, Any]] = {}

    def beside(self, log: Log) -> Beside:
        """What the files around a log tell of it."""
        runs = self._runs
        near = runs[(runs["folder"] == log.folder) & runs["level"].isin(["job", "group"])]
        row, covers = self._row(log, near)
        told = near if row is None or pd.isna(row["tool_version"]) else near.loc[[row.name]]
        versions = told["tool_version"].dropna().unique()
        version = str(versions[0]) if len(versions) == 1 else None
        if row is None or (covers and log.kind in _RATES):
            run_id = self._own(log, row, version)
        else:
            run_id = str(row["run_id"])
        return Beside(run_id, version, self._log_unit, jobs_apart=log.job is None and run_id in self.own)

    def add_begin(self, run_id: str, began_at: str | None) -> None:
        """Note when the first line of a log of an own run was, where it tells."""
        if began_at is not None and run_id in self.own:
            known = self.own[run_id].get("started_at")
            self.own[run_id]["started_at"] = min(known or began_at, began_at)

    def add_jobs(self, run_id: str, found: Sequence[str]) -> None:
        """Add a run for each further job that shared a log of an own run; the first has its run_id."""
        if len(found) < 2 or run_id not in self.own:
            return
        for job_index, one in enumerate(found):
            self.own[one] = self.own[run_id] | {"run_id": one, "job_index": job_index}

    def _row(self, log: Log, near: pd.DataFrame) -> tuple[pd.Series | None, bool]:
        """The run that a log belongs to, if there is just one, and whether that sums up several jobs."""
        if log.host:
            near = near[near["host"] == log.host]
        called = near[near["stem"] == log.prefix]
        if log.kind == LAB and len(called):  # one log for all jobs of the output
            return called.iloc[0], False
        by_file = len(called) > 0
        rows = called if by_file else near[near["job"] == log.prefix]
        rows = _of_one_file(rows)
        if rows.empty:
            return None, False
        if len(rows) == 1:
            several = rows["numjobs"].iloc[0]
            covers = bool(pd.notna(several) and several > 1) or (by_file and self._is_of_several(log))
            if covers or not by_file or log.job is None:
                return rows.iloc[0], covers
        if log.job is None:
            return None, False
        # each server counts its own jobs
        numbers = rows["job_index"].rank() if log.host else rows["job_index"] + 1
        sizes = rows["numjobs"].where(rows["level"] == "group", 1).fillna(1)
        before = numbers.map(lambda number: (sizes - 1)[(numbers < number).fillna(False)].sum())
        first = numbers + before
        mine = rows[((first <= log.job) & (first + sizes > log.job)).fillna(False)]
        if len(mine) != 1:
            return None, False
        return mine.iloc[0], bool(sizes[mine.index[0]] > 1)

    def _is_of_several(self, log: Log) -> bool:
        """Whether this is the rate of one of several jobs; a row of a group may tell of the first alone."""
        numbers = self._numbers[log.folder, log.prefix, log.host]
        return log.kind in _RATES and len(numbers - {None}) > 1

    def _own(self, log: Log, row: pd.Series | None, version: str | None) -> str:
        """A run of the logs of one job, whose name depends on their content alone."""
        rates_only = row is not None
        kin = [one for one in self._logs if one.is_with(log) and (one.kind in _RATES or not rates_only)]
        hashes = ":".join(sorted(one.sha256 for one in kin))
        run_id = hashlib.sha256(f"logs:{log.job}:{hashes}".encode()).hexdigest()[:16]
        shared = {} if row is None else {name: row[name] for name in _SHARED if pd.notna(row[name])}
        shared |= {} if row is None else {"numjobs": 1}  # of those that the row sums
        self.own[run_id] = {
            "run_id": run_id,
            "level": "job",
            "tool": "fio",
            "tool_version": version,
            "job": log.prefix if row is None or pd.isna(row["job"]) else row["job"],
            "job_index": None if log.job is None or log.job < 1 else log.job - 1,
            "host": log.host or None,
            "source_path": min(one.path for one in kin),
            "source_sha256": min(kin, key=lambda one: one.path).sha256,
            "source_doc": 0,
            **shared,
        }
        return run_id


def _of_one_file(rows: pd.DataFrame) -> pd.DataFrame:
    """The last document of the file that counts, where all files tell of the same runs; else nothing."""
    last = rows[rows["source_doc"] == rows.groupby("source_path")["source_doc"].transform("max")]
    files = [file for _, file in last.groupby("source_path")]
    if len({frozenset(file["run_id"]) for file in files}) != 1:
        return rows[:0]
    return max(files, key=lambda file: file["counts"].sum())


def described_only(runs: pd.DataFrame, findings: pd.DataFrame) -> pd.Series:
    """Which runs a job file describes whose output was read too.

    The output has a job of the same name, and lies beside the job file or does not differ in pattern, block
    size and depth, where both tell.

    Returns
    -------
    Series of bool
        One a row of `runs`.
    """
    ids = set(findings.loc[findings["code"] == Code.JOB_DESCRIPTION, "run_id"])
    described = runs["run_id"].isin(ids)
    known = pd.Series(False, index=runs.index)
    if not described.any():
        return known
    by_name = dict(list(runs[~described].groupby("job")))
    for place, row in runs[described].iterrows():
        known[place] = row["job"] in by_name and _any_alike(row, by_name[row["job"]])
    return known


def _any_alike(row: pd.Series, others: pd.DataFrame) -> bool:
    """Whether one of the runs of that name is the described one: it lies beside it, or does not differ."""
    folder = Path(row["source_path"]).parent
    beside = others["source_path"].map(lambda path: Path(path).parent == folder)
    alike = pd.Series(True, index=others.index)
    for name in _ALIKE:
        if pd.notna(row[name]):
            alike &= (others[name].isna() | (others[name] == row[name])).astype(bool)
    return bool((alike | beside).any())
