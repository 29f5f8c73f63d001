"""Checks of how a run was made: is it what its figures are taken for?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from azbenchlib.analyse.checks.view import Check, Doubt, View, seconds, sure
from azbenchlib.analyse.percentiles import min_samples
from azbenchlib.units import format_count, format_size

SHORT_S = 30
TIMES_RAM = 2  # a file so much larger than the memory cannot be held by the page cache
EARLY = 0.99  # of the run time asked for: a job that ends before ended by itself
STATUS_LINE = r"\beta\b|eta_|status line|progress line|instantaneous"


def page_cache_suspected(view: View) -> Iterator[Doubt]:
    """The run was buffered (fio direct=0, iozone without -I): it may have measured main memory.

    Worth knowing where the file is at least twice as large as the memory, doubtful where it is smaller
    or one of the two is not known. Never told of direct I/O.
    """
    buffered = view.runs[sure(view.runs["direct"].eq(False))]
    for run in buffered[["tool", "working_set_bytes", "ram_bytes"]].itertuples():
        size, ram, severity = run.working_set_bytes, run.ram_bytes, "warning"
        if pd.isna(size) or pd.isna(ram):
            known = f"; its data are {format_size(size)}" if pd.notna(size) else ""
            what = f"buffered I/O, so the page cache may have answered{known}"
        elif size < TIMES_RAM * ram:
            what = f"buffered I/O on {format_size(size)} with {format_size(ram)} of RAM: the page cache"
            what += " may hold it all" if size <= ram else " may hold most of it"
        else:
            severity = "info"
            what = f"buffered I/O, though on {format_size(size)}, {size / ram:.3g} times the RAM"
        option = "-I (direct I/O)" if run.tool == "iozone" else "--direct=1"
        larger = "" if pd.isna(ram) else f", or on at least {format_size(TIMES_RAM * ram)}"
        yield Doubt(run.Index, severity, what, f"Run again with {option}{larger}")


def too_short(view: View) -> Iterator[Doubt]:
    """The run took less than 30 s: burst credits, full caches and the clean-up of an SSD do not show."""
    limit = view.runs["runtime_limit_s"]
    took = view.runtime_s.fillna(limit.where(sure(limit.gt(0))))
    emulated = sure(view.runs["environment"].eq("lab"))  # there, credits are as short as the run
    few = sure(took.lt(SHORT_S)) & ~took.index.isin(view.failed) & ~emulated
    for run_id, time_s in took[few].items():
        what = f"it took {seconds(time_s)}: what sets in later, such as the end of burst credits, is not seen"
        advice = "Run again with --time_based --runtime=60; for burst credits, longer than 30 min"
        yield Doubt(str(run_id), "warning", what, advice)


def ended_by_size(view: View) -> Iterator[Doubt]:
    """The job had done all its data before its time was over, so parallel jobs may have ended one by one."""
    limit = view.runs["runtime_limit_s"]
    early = sure(view.runs["time_based"].eq(False)) & sure(view.runtime_s.lt(EARLY * limit))
    for run_id in view.runs.index[early & ~early.index.isin(view.failed)]:
        took, asked = seconds(view.runtime_s[run_id]), seconds(limit[run_id])
        what = f"it ended by its size after {took} of {asked}"
        yield Doubt(str(run_id), "info", what, f"Run again with --time_based --runtime={limit[run_id]:g}")


def rate_from_status_line(view: View) -> Iterator[Doubt]:
    """A rate was taken from fio's status line (with the ETA): the last moment, not the mean of the run."""
    rows = view.table("published")
    texts = rows["stat"].fillna("") + " " + rows["precision"].fillna("") + " " + rows["claim"].fillna("")
    some = rows[texts.str.contains(STATUS_LINE, case=False, regex=True) & sure(rows["measured"])]
    for run_id, figures in some.groupby("run_id", sort=False):
        shown = ", ".join(f"{row.value:g} {row.unit}" for row in figures.itertuples())
        what = f"from fio's status line, the last moment of the run and not its mean: {shown}"
        yield Doubt(str(run_id), "warning", what, "Run again with --output-format=json+")


def too_few_samples(view: View) -> Iterator[Doubt]:
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
        severity = "warning" if row.percentile <= 99 else "info"
        what = (
            f"too few I/Os from p{row.percentile:.10g} on: {format_count(row.n)}, where "
            f"{format_count(row.need)} are needed ({row.ddir})"
        )
        advice = f"Run {int(np.ceil(row.need / row.n))} times as long, or quote no rarer percentile"
        yield Doubt(row.run_id, severity, what, advice)


def job_failed(view: View) -> Iterator[Doubt]:
    """The tool reported an error, and yet figures of the job stand in the tables: they are partial."""
    for run_id in sorted(view.failed & set(view.results["run_id"])):
        what = f"it failed with error {view.runs.at[run_id, 'error']}; its figures are partial"
        yield Doubt(run_id, "error", what, "Mend the cause and run again")


CHECKS: tuple[Check, ...] = (
    page_cache_suspected,
    too_short,
    ended_by_size,
    rate_from_status_line,
    too_few_samples,
    job_failed,
)
