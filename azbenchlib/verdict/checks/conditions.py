"""Checks of how a run was made: is it what its figures are taken for?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from azbenchlib.analysis.percentiles import min_samples
from azbenchlib.analysis.view import Check, View, sure
from azbenchlib.core.findings import INFO, WARNING, Code, Finding
from azbenchlib.core.units import format_count
from azbenchlib.verdict.checks.run_checks import RUN_CHECKS, RunCheck

STATUS_LINE = r"\beta\b|eta_|status line|progress line|instantaneous"


def each_run(view: View, check: RunCheck) -> Iterator[Finding]:
    """What a check reports of each run."""
    for run_id, seen in view.observations.items():
        if finding := check(seen):
            yield replace(finding, run_id=run_id)


def rate_from_status_line(view: View) -> Iterator[Finding]:
    """A rate was taken from fio's status line (with the ETA): the last moment, not the mean of the run."""
    rows = view.table("published")
    texts = rows["stat"].fillna("") + " " + rows["precision"].fillna("") + " " + rows["claim"].fillna("")
    some = rows[texts.str.contains(STATUS_LINE, case=False, regex=True) & sure(rows["measured"])]
    for run_id, figures in some.groupby("run_id", sort=False):
        shown = ", ".join(f"{row.value:g} {row.unit}" for row in figures.itertuples())
        what = f"from fio's status line, the last moment of the run and not its mean: {shown}"
        yield Finding.of(Code.RATE_FROM_STATUS_LINE, what, run_id=str(run_id))


def too_few_samples(view: View) -> Iterator[Finding]:
    """A percentile rests on fewer I/Os than bound it from above with 95 % confidence.

    p99 needs 368, p99.9 3,688, p99.99 36,887, and more where I/Os are correlated.
    """
    rows = view.table("percentiles")
    rows = rows[rows["percentile"].between(0, 100, inclusive="neither") & (rows["lat_kind"] != "slat")]
    keys = ["run_id", "ddir", "lat_kind"]
    rows = rows.merge(view.counted[[*keys, "n"]], on=keys)
    need = rows["percentile"].map({p: min_samples(p) for p in rows["percentile"].unique()}).astype("Int64")
    few = rows.assign(need=need)[sure(rows["n"].gt(0) & rows["n"].lt(need))]
    firsts = few.sort_values("percentile", kind="stable").drop_duplicates("run_id")
    for row in firsts.itertuples():
        severity = WARNING if row.percentile <= 99 else INFO
        what = (
            f"too few I/Os from p{row.percentile:.10g} on: {format_count(row.n)}, where "
            f"{format_count(row.need)} are needed ({row.ddir})"
        )
        advice = f"Run {int(np.ceil(row.need / row.n))} times as long, or quote no rarer percentile"
        yield Finding.of(Code.TOO_FEW_SAMPLES, what, advice, severity=severity, run_id=row.run_id)


def job_failed(view: View) -> Iterator[Finding]:
    """The tool reported an error, and yet figures of the job stand in the tables: they are partial."""
    for run_id in sorted(view.failed & set(view.results["run_id"])):
        what = f"it failed with error {view.runs.at[run_id, 'error']}; its figures are partial"
        yield Finding.of(Code.JOB_FAILED, what, run_id=run_id)


CONDITION_CHECKS: Mapping[Code, Check] = {
    **{
        code: partial(each_run, check=RUN_CHECKS[code])
        for code in (Code.PAGE_CACHE_SUSPECTED, Code.TOO_SHORT, Code.ENDED_BY_SIZE, Code.LOAD_MISMATCH)
    },
    Code.RATE_FROM_STATUS_LINE: rate_from_status_line,
    Code.TOO_FEW_SAMPLES: too_few_samples,
    Code.JOB_FAILED: job_failed,
}
