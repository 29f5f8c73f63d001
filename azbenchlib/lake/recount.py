"""What of a lake is told more than once: decided when it is asked, so the order of collecting is no matter.

Parts are written without a look at what other parts hold. So a run may be there as JSON in one and as normal
text in another, a state of it under way in a third, and its log, or the job file that describes it, in a
fourth. The relations are those by which outputs are read
(:mod:`~azbenchlib.analysis.same_runs`, :mod:`~azbenchlib.analysis.logs_apart`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from azbenchlib.analysis import logs_apart, same_runs
from azbenchlib.core.findings import Code
from azbenchlib.dataset.log_matching import described_only

RECOUNTED_COLUMNS = ("tool", *same_runs.COMPARED_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class CountedRuns:
    """Runs of a lake that are told again.

    Attributes
    ----------
    dropped : frozenset of str
        Rows of another form of a run, or of a description of it: left out.
    uncounted : frozenset of str
        Rows that are there and do not count: states under way, and logs of runs that have bins themselves.
    logs : frozenset of str
        Logs of runs that have no bins, and other forms of such with a log: their bins alone count.
    """

    dropped: frozenset[str] = frozenset()
    uncounted: frozenset[str] = frozenset()
    logs: frozenset[str] = frozenset()


class Told(Protocol):
    """What a lake tells, as far as it is needed."""

    def runs(self) -> pd.DataFrame:
        """:data:`RECOUNTED_COLUMNS` of all runs, each once."""
        ...

    def named(self) -> pd.DataFrame:
        """run_id, job, numjobs and source_path of all runs, a row for each file that tells of one."""
        ...

    def runs_with(self, code: Code) -> set[str]:
        """The runs that a finding of this code is about."""
        ...

    def rows(self, name: str, ids: Collection[str]) -> pd.DataFrame:
        """The rows of results, latency, samples or bins of some runs."""
        ...

    def totals(self) -> dict[str, tuple[float, float]]:
        """I/Os and seconds of all directions of every run."""
        ...


def recount(told: Told) -> CountedRuns:
    """What of a lake is told more than once."""
    runs = told.runs()
    interim, described = (told.runs_with(code) for code in (Code.INTERIM_DOCUMENT, Code.JOB_DESCRIPTION))
    dropped = _described(runs, described)
    runs = runs[~runs["run_id"].isin(dropped | interim)]
    figures = same_runs.RunFigures(rows=told.rows, totals=told.totals)
    again = same_runs.same_runs(runs, figures)
    runs = runs[~runs["run_id"].isin(again.keys())]
    interim |= same_runs.states_under_way(runs, figures)
    runs = runs[~runs["run_id"].isin(interim)]
    run_of = _logs(told, runs, again)
    logs = _with_bins_alone(told, run_of | again)
    return CountedRuns(
        dropped=frozenset((dropped | again.keys()) - logs),
        uncounted=frozenset((interim | run_of.keys()) - logs),
        logs=logs,
    )


def _with_bins_alone(told: Told, run_of: Mapping[str, str]) -> frozenset[str]:
    """Of each run that has no bins itself one of those that tell of it and have some."""
    if not run_of:
        return frozenset()
    there = set(told.rows("bins", {*run_of, *run_of.values()})["run_id"])
    first: dict[str, str] = {}
    for again, run_id in sorted(run_of.items()):
        if again in there and run_id not in there:
            first.setdefault(run_id, again)
    return frozenset(first.values())


def _described(runs: pd.DataFrame, described: set[str]) -> set[str]:
    """The descriptions of jobs whose output is there."""
    if not described:
        return set()
    findings = pd.DataFrame([{"code": Code.JOB_DESCRIPTION, "run_id": run_id} for run_id in described])
    return set(runs.loc[described_only(runs, findings), "run_id"])


def _logs(told: Told, runs: pd.DataFrame, again: Mapping[str, str]) -> dict[str, str]:
    """The run of each log that lies apart from it; `again`: the runs that are told in other forms too."""
    if logs_apart.log_runs(runs, set()).empty:
        return {}
    named = told.named()
    named = named.assign(run_id=named["run_id"].replace(dict(again)))
    named = named[named["run_id"].isin(set(runs["run_id"]))]
    figures = same_runs.RunFigures(rows=told.rows, totals=told.totals)
    return logs_apart.owners(runs, set(told.totals()), named, told.rows, figures)
