"""Whether an output of a benchmark is whole: what it says of itself must agree.

A job that the kernel killed leaves its count of I/Os without their bytes and time, and fio may well end with
status 0 all the same; one that was told to end leaves figures of less time than it was asked for.
"""

import re
from collections.abc import Iterator, Mapping

import pandas as pd

from azbenchlib.analysis.concurrency import counted
from azbenchlib.core.findings import Code
from azbenchlib.core.patterns import DIRECTIONS
from azbenchlib.core.units import format_span

# Source: fio backend.c, reap_threads and sig_int, fio-3.33.
_SIGNAL = re.compile(r"^fio: (?:pid=\d+, got signal=\d+|terminating on signal \d+)", re.MULTILINE)
# Options by which a job may end before its run time is over, or while others go on.
_MAY_END_EARLY = (
    *("steadystate", "ss", "number_ios", "io_size", "io_limit", "exitall", "flow", "loops"),
    *("verify", "exit_what"),
)
_EARLY_SHARE, _EARLY_S = 0.9, 1.0  # of the run time that was asked for; fio stops within a moment of it
_SURELY = 40  # I/Os of a job of two directions, so many that one without any is no chance


def signal_told(text: str) -> str:
    """The words of a tool that tell of a signal to it or a job of it; empty: it got none."""
    told = _SIGNAL.search(text)
    return told[0] if told else ""


def flaw(text: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Why an output of fio is not whole, in words; empty: it is. `tables`: what was read of it, with bins."""
    runs = tables["runs"]
    if runs.empty:
        return "its output holds no job"
    final = runs[runs["run_id"].isin(runs.loc[counted(tables), "run_id"])]
    results = tables["results"].merge(final[["run_id", "job"]], on="run_id")
    if told := signal_told(text):
        return told
    if not results["ios"].sum():
        failed = runs.loc[runs["error"] != 0, "error"]
        return f"it ended with error {failed.iloc[0]}" if len(failed) else "it did no I/O"
    findings = tables["findings"]
    others = findings.loc[findings["code"] == Code.OPTIONS_OF_ANOTHER_JOB, "run_id"]
    plain = final[~final["run_id"].isin(others)]
    reasons = (
        *_errors(runs),
        *_without_figures(results),
        *_lost_bins(tables, final),
        *_idle(final, results),
        *_missing_directions(plain, results),
        *([] if any(f'"{name}"' in text for name in _MAY_END_EARLY) else _ended_early(plain, results)),
    )
    return next(iter(reasons), "")


def _errors(runs: pd.DataFrame) -> Iterator[str]:
    for job, error in runs.loc[runs["error"] != 0, ["job", "error"]].itertuples(index=False):
        yield f"job '{job}' ended with error {error}"


def _without_figures(results: pd.DataFrame) -> Iterator[str]:
    lost = results[["io_bytes", "runtime_s"]].isna().any(axis=1) & (results["ios"] > 0)
    for row in results[lost].itertuples():
        yield (
            f"job '{row.job}' has {row.ios:,} I/Os ({row.ddir}) without their bytes or time, as of a job "
            "that was killed"
        )


def _lost_bins(tables: Mapping[str, pd.DataFrame], final: pd.DataFrame) -> Iterator[str]:
    keys = ["run_id", "ddir", "lat_kind"]
    binned = tables["bins"].groupby(keys, sort=False)["n"].sum().to_dict()
    jobs = dict(zip(final["run_id"], final["job"], strict=True))
    for run_id, ddir, kind, n in tables["latency"][[*keys, "n"]].itertuples(index=False):
        n_binned = binned.get((run_id, ddir, kind), n) if run_id in jobs else n
        if pd.notna(n) and n != n_binned:
            job = jobs[run_id]
            yield f"job '{job}' has {n_binned:,} latencies ({ddir}) in its bins, and {n:,} were counted"


def _idle(final: pd.DataFrame, results: pd.DataFrame) -> Iterator[str]:
    """Of several jobs of one name, which do the same, some did no I/O."""
    active = set(results.loc[results["ios"] > 0, "run_id"])
    for job, several in final.groupby("job"):
        n_active = several["run_id"].isin(active).sum()
        if 0 < n_active < len(several):
            yield f"{len(several) - n_active} of {len(several)} jobs '{job}' did no I/O"


def _missing_directions(runs: pd.DataFrame, results: pd.DataFrame) -> Iterator[str]:
    """A job did one of the two directions that it was to do, and never the other."""
    for run in runs.itertuples():
        done = results[(results["run_id"] == run.run_id) & (results["ios"] > 0)]
        asked = DIRECTIONS.get(run.rw, set()) if pd.notna(run.rw) else set()
        if done.empty or "mixed" in set(done["ddir"]) or len(asked) < 2:
            continue
        read_pct = 50 if pd.isna(run.rwmix_read_pct) else run.rwmix_read_pct
        least = min(read_pct, 100 - read_pct) / 100 * done["ios"].sum()
        for ddir in sorted(asked - set(done["ddir"])):
            if least >= _SURELY / 2:
                yield f"job '{run.job}' did no {ddir}, which its pattern {run.rw} has"


def _ended_early(runs: pd.DataFrame, results: pd.DataFrame) -> Iterator[str]:
    timed = runs[runs["time_based"].fillna(False) & runs["runtime_limit_s"].notna()]
    took = results.groupby("run_id")["runtime_s"].max()
    for run in timed.itertuples():
        seconds, asked = took.get(run.run_id), run.runtime_limit_s
        if pd.notna(seconds) and seconds < min(_EARLY_SHARE * asked, asked - _EARLY_S):
            yield f"job '{run.job}' ended after {format_span(seconds)} of {format_span(asked)}"
