"""Checks of how a run was made: is it what its figures are taken for?"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from azbenchlib.analysis.percentiles import min_samples
from azbenchlib.analysis.view import Check, View
from azbenchlib.core.findings import INFO, WARNING, Code, Finding
from azbenchlib.core.units import format_count
from azbenchlib.verdict.checks.run_checks import RUN_CHECKS, RunCheck

STATUS_LINE = re.compile(r"\beta\b|eta_|status line|progress line|instantaneous", re.IGNORECASE)


def each_run(view: View, check: RunCheck) -> Iterator[Finding]:
    """What a check reports of each run."""
    for run_id, seen in view.observations.items():
        if finding := check(seen):
            yield replace(finding, run_id=run_id)


def rate_from_status_line(view: View) -> Iterator[Finding]:
    """A rate was taken from fio's status line (with the ETA): the last moment, not the mean of the run."""
    figures: dict[str, list[str]] = {}
    for row in view.rows("published"):
        text = f"{row['stat'] or ''} {row['precision'] or ''} {row['claim'] or ''}"
        if row["measured"] and STATUS_LINE.search(text):
            figures.setdefault(row["run_id"], []).append(f"{row['value']:g} {row['unit']}")
    for run_id, shown in figures.items():
        what = f"from fio's status line, the last moment of the run and not its mean: {', '.join(shown)}"
        yield Finding.of(Code.RATE_FROM_STATUS_LINE, what, run_id=run_id)


def verified(view: View) -> Iterator[Finding]:
    """A job wrote, and read it back to verify it."""
    for run_id in view.runs:
        if run_id in view.verified:
            what = "fio read back what it had written to verify it: these reads are not counted"
            yield Finding.of(Code.VERIFIED, what, run_id=run_id)


def too_few_samples(view: View) -> Iterator[Finding]:
    """A percentile rests on fewer I/Os than bound it from above with 95 % confidence.

    p99 needs 368, p99.9 3,688, p99.99 36,887, and more where I/Os are correlated.
    """
    counts = {(row["run_id"], row["ddir"], row["lat_kind"]): row["n"] or 0 for row in view.counted}
    found = view.percentiles
    asked = (found.percentile > 0) & (found.percentile < 100) & found.of(lambda block: block[2] != "slat")
    values, place = np.unique(found.percentile[asked], return_inverse=True)
    need = np.array([min_samples(float(value)) for value in values])
    n = np.array([counts.get(block, 0) for block in found.blocks])
    rows = found.where(asked)
    few = (n[rows.block] > 0) & (n[rows.block] < need[place]) if rows.block.size else place > 0
    firsts: set[str] = set()
    for i in sorted(np.flatnonzero(few), key=rows.percentile.__getitem__):
        run_id, ddir, _ = rows.blocks[rows.block[i]]
        if run_id not in firsts:
            firsts.add(run_id)
            yield _too_few(
                run_id, ddir, float(rows.percentile[i]), int(n[rows.block[i]]), int(need[place[i]])
            )


def _too_few(run_id: str, ddir: str, percentile: float, n: int, need: int) -> Finding:
    severity = WARNING if percentile <= 99 else INFO
    what = (
        f"too few I/Os from p{percentile:.10g} on: {format_count(n)}, where "
        f"{format_count(need)} are needed ({ddir})"
    )
    advice = f"Run {math.ceil(need / n)} times as long, or do not quote rarer percentiles"
    return Finding.of(Code.TOO_FEW_SAMPLES, what, advice, severity=severity, run_id=run_id)


def job_failed(view: View) -> Iterator[Finding]:
    """The tool reported an error, and yet figures of the job stand in the tables: they are partial."""
    for run_id in sorted(view.failed & {row["run_id"] for row in view.results}):
        what = f"it failed with error {view.runs[run_id]['error']}; its figures are partial"
        yield Finding.of(Code.JOB_FAILED, what, run_id=run_id)


CONDITION_CHECKS: Mapping[Code, Check] = {
    **{
        code: partial(each_run, check=RUN_CHECKS[code])
        for code in (Code.PAGE_CACHE_SUSPECTED, Code.TOO_SHORT, Code.ENDED_BY_SIZE, Code.LOAD_MISMATCH)
    },
    Code.RATE_FROM_STATUS_LINE: rate_from_status_line,
    Code.TOO_FEW_SAMPLES: too_few_samples,
    Code.JOB_FAILED: job_failed,
    Code.VERIFIED: verified,
}
