"""The runs of a dataset as flows: what ran at once is one judgement, parallel jobs alike are one flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from azbenchlib.analysis import concurrency, trace
from azbenchlib.analysis.flow import Flow
from azbenchlib.analysis.mix import read_share
from azbenchlib.analysis.observation import Observation
from azbenchlib.analysis.view import View
from azbenchlib.core.findings import Code, Finding, Severity, without_label
from azbenchlib.core.units import sum_known
from azbenchlib.formats.published import PER_S, US_PER
from azbenchlib.model.credits import BURST_S

Tables = Mapping[str, pd.DataFrame]
Row = Mapping[str, Any]
_ALIKE = ["rw", "bs_bytes", "bs_write_bytes", "disks", "direct"]

_NOTHING = pd.DataFrame({"ddir": []})


@dataclass(frozen=True, kw_only=True)
class Run:
    """What ran at once: its name, ids, setup, flows, and what is known to be wrong with it. `test` is the
    pattern, as the tool calls it; `source` is the file it is from.
    """

    name: str
    test: str
    run_ids: tuple[str, ...]
    setup_id: str | None
    flows: tuple[Flow, ...]
    findings: tuple[Finding, ...]
    source: str = ""


def runs(tables: Tables) -> list[Run]:
    """All runs of a dataset that have a rate or a latency, in order."""
    view = View(tables)
    known = view.runs.reset_index()
    figures = _Figures(view, tables)
    known = known[known["run_id"].isin(figures.ids)]
    rows = {str(row["run_id"]): row for row in known.to_dict(orient="records")}
    groups = known.groupby(concurrency.at_once(known), sort=False)
    return [_run(group, rows, figures) for _, group in groups]


class _Figures:
    """The figures of runs, looked up by run."""

    def __init__(self, view: View, tables: Tables) -> None:
        self.results = _by_run(view.results)
        self.latency = _by_run(view.table("latency"))
        self.percentiles = _by_run(view.table("percentiles"))
        samples = view.table("samples")
        self.samples = _by_run(samples[samples["metric"] == "iops"])
        published = view.table("published")
        self.published = _by_run(published[published["measured"].fillna(False).astype(bool)])
        findings = tables["findings"]
        self.findings = _by_run(findings[findings["run_id"].notna()])
        rated = {run for run, rows in self.published.items() if _published(rows)}
        self.ids = {*self.results, *self.percentiles, *rated}
        # of rows that sum others, for those that have no percentiles of their own
        self.wholes = concurrency.sums(tables) if len(tables["percentiles"]) else {}
        if self.wholes:
            ids = list(self.wholes.values())
            for name, known in (("percentiles", self.percentiles), ("latency", self.latency)):
                known |= _by_run(tables[name][tables[name]["run_id"].isin(ids)])


def _by_run(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    if rows.empty:
        return {}
    return {str(run_id): group for run_id, group in rows.groupby("run_id", sort=False)}


def _run(group: pd.DataFrame, rows: Mapping[str, Row], figures: _Figures) -> Run:
    alike = [part for _, part in group.groupby(_ALIKE, sort=False, dropna=False)] if len(group) > 1 else []
    parts = alike or [group]
    ids = tuple(map(str, group["run_id"]))
    setup = group["setup_id"].iloc[0]
    jobs = zip(ids, group["job"], strict=True)
    told = [finding for run_id, job in jobs for finding in _findings(figures.findings.get(run_id), job)]
    names = list(dict.fromkeys(group["job"].dropna().astype(str)))
    name = names[0] if names else ids[0]
    return Run(
        name=name if len(names) < 2 else f"{name} +{len(names) - 1}",
        test=", ".join(dict.fromkeys(group["rw"].dropna().astype(str))),
        run_ids=ids,
        setup_id=None if pd.isna(setup) else str(setup),
        flows=tuple(_flow([rows[str(run_id)] for run_id in part["run_id"]], figures) for part in parts),
        findings=tuple(dict.fromkeys(told)),
        source=str(group["source_path"].fillna("").iloc[0]),
    )


def _findings(rows: pd.DataFrame | None, job: object) -> Iterator[Finding]:
    if rows is not None:
        for row in rows.fillna("").itertuples():
            message = without_label(
                str(row.message), str(row.source_path), None if pd.isna(job) else str(job)
            )
            yield Finding(
                code=Code(row.code), severity=Severity(row.severity), message=message, advice=str(row.advice)
            )


def _flow(jobs: list[Row], figures: _Figures) -> Flow:
    """Jobs alike as one: rates and depths are summed, the rest is that of the first."""
    first = jobs[0]
    rates = [_rates(job, figures) for job in jobs]
    sums = {name: sum_known([rate.get(name) for rate in rates]) for name in ("iops", "bytes_per_s")}
    n_jobs = sum(_jobs(job) for job in jobs)
    seen = Observation(
        read_share=_reads(jobs, rates),
        bs_bytes=_value(first, "bs_bytes"),
        bs_write_bytes=_value(first, "bs_write_bytes"),
        iops=sums["iops"],
        bw_bytes_per_s=sums["bytes_per_s"],
        queue_depth=sum_known([_value(job, "queue_depth") for job in jobs]),
        numjobs=n_jobs,
        runtime_s=max((rate["runtime_s"] for rate in rates if "runtime_s" in rate), default=None)
        or _value(first, "runtime_limit_s"),
        direct=None if pd.isna(first["direct"]) else bool(first["direct"]),
        mean_us=_mean_us(jobs, figures, rates),
        percentiles=_percentiles(jobs, figures),
        cpu_pct=_cpu(jobs),
        rate_iops=sum_known([_asked(job) for job in jobs]),
        working_set_bytes=_value(first, "working_set_bytes"),
        ram_bytes=_value(first, "ram_bytes"),
        samples=_samples(jobs, figures),
        tool=None if pd.isna(first["tool"]) else str(first["tool"]),
        runtime_limit_s=_value(first, "runtime_limit_s"),
        is_emulated=first.get("environment") == "lab",
        time_based=None if pd.isna(first["time_based"]) else bool(first["time_based"]),
        idle_before_s=_value(first, "idle_before_s"),
    )
    disks = "" if pd.isna(first["disks"]) else str(first["disks"])
    return Flow(
        observation=_at_length(seen, first),
        volumes=tuple(part.strip() for part in disks.split(",") if part.strip()),
    )


def _at_length(seen: Observation, job: Row) -> Observation:
    """A run on an emulated disk as long as it stands for: where credits last shorter, so does all else."""
    credit_s = _value(job, "credit_s")
    if not credit_s:
        return seen
    longer = BURST_S / credit_s
    return replace(
        seen,
        runtime_s=None if seen.runtime_s is None else seen.runtime_s * longer,
        runtime_limit_s=None if seen.runtime_limit_s is None else seen.runtime_limit_s * longer,
        idle_before_s=None if seen.idle_before_s is None else seen.idle_before_s * longer,
        samples=None if seen.samples is None else (seen.samples[0] * longer, seen.samples[1]),
    )


def _value(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)


def _jobs(job: Row) -> int:
    """How many jobs a row covers: as many as the depth of one goes into its own."""
    depth, each = _value(job, "queue_depth"), _value(job, "iodepth")
    return max(1, round(depth / each)) if depth and each else int(_value(job, "numjobs") or 1)


def _asked(job: Row) -> float | None:
    rate = _value(job, "rate_iops")
    return rate * _jobs(job) if rate else None


def _rates(job: Row, figures: _Figures) -> dict[str, float]:
    """Rates of both directions together, with ``reads`` and ``runtime_s`` where they are told."""
    rows = figures.results.get(str(job["run_id"]))
    if rows is None:
        return _published(figures.published.get(str(job["run_id"])))
    found = {}
    for name, column in (("iops", "iops"), ("bytes_per_s", "bw_bytes_per_s")):
        if rows[column].notna().all():
            found[name] = float(rows[column].sum())
    reads = rows.loc[rows["ddir"] == "read", "iops"]
    if found.get("iops") and "mixed" not in set(rows["ddir"]):
        found["reads"] = float(reads.fillna(0).sum()) / found["iops"]
    if rows["runtime_s"].notna().any():
        found["runtime_s"] = float(rows["runtime_s"].max())
    return found


def _published(rows: pd.DataFrame | None) -> dict[str, float]:
    """Rates and latencies that stand in a publication, bounds too: the least that was reached."""
    found: dict[str, float] = {}
    if rows is None:
        return found
    names = {"iops": "iops", "bandwidth": "bytes_per_s"}
    for row in rows.itertuples():
        scale = PER_S.get(str(row.quantity), {}).get(str(row.unit))
        if scale and pd.notna(row.value) and row.bound != "<":
            found.setdefault(names[str(row.quantity)], float(row.value) * scale)
        if row.quantity == "latency" and row.unit in US_PER and row.bound == "=":
            found["latency_us"] = float(row.value) * US_PER[str(row.unit)]
    return found


def _reads(jobs: list[Row], rates: list[dict[str, float]]) -> float | None:
    """The share of reads of all jobs: as it was measured, else as their pattern says."""
    if all("reads" in rate for rate in rates):
        total = sum(rate["iops"] for rate in rates)
        return sum(rate["reads"] * rate["iops"] for rate in rates) / total
    return read_share(jobs[0]["rw"], jobs[0]["rwmix_read_pct"])


def _mean_us(jobs: list[Row], figures: _Figures, rates: list[dict[str, float]]) -> float | None:
    """The mean total latency, weighted by the I/Os of each job and direction."""
    total = weight = 0.0
    for job in jobs:
        rows = figures.latency.get(str(job["run_id"]))
        if rows is None:
            continue
        for row in rows[(rows["lat_kind"] == "lat") & rows["lat_mean_us"].notna()].itertuples():
            n = float(row.n) if pd.notna(row.n) else 1.0
            total, weight = total + n * float(row.lat_mean_us), weight + n
    return total / weight if weight else rates[0].get("latency_us")


def _percentiles(jobs: list[Row], figures: _Figures) -> dict[float, float]:
    """Of the total latency, or completion latency, of a job, or of the row that sums all of the jobs; several
    directions are not mixed.
    """
    run_id, rows = _whole(jobs, figures)
    found: dict[float, float] = {}
    if rows is None or rows["ddir"].nunique() != 1:
        return found
    for kind in ("lat", "clat"):
        some = rows[rows["lat_kind"] == kind]
        if not found:
            found = dict(zip(some["percentile"].astype(float), some["lat_us"].astype(float), strict=True))
        moments = figures.latency.get(run_id)
        if moments is not None and found and 100.0 not in found:
            largest = moments.loc[moments["lat_kind"] == kind, "lat_max_us"].dropna()
            found |= {100.0: float(largest.max())} if len(largest) else {}
    return found


def _whole(jobs: list[Row], figures: _Figures) -> tuple[str, pd.DataFrame | None]:
    """The row that has the percentiles of all jobs together, and these, without sums of directions."""
    first, ids = str(jobs[0]["run_id"]), frozenset(str(job["run_id"]) for job in jobs)
    own = figures.percentiles.get(first)
    if len(jobs) == 1 and own is not None:
        apart = own[own["ddir"] != "mixed"]
        return first, apart if len(apart) else own
    moved = {str(ddir) for run_id in ids for ddir in figures.results.get(run_id, _NOTHING)["ddir"]}
    ddir = next(iter(moved)) if len(moved) == 1 else ""
    whole = figures.wholes.get((ids, ddir), "")
    told = figures.percentiles.get(whole)
    return whole, None if told is None else told[told["ddir"] == ddir]


def _cpu(jobs: list[Row]) -> float | None:
    parts = [sum_known([_value(job, "usr_cpu_pct"), _value(job, "sys_cpu_pct")]) for job in jobs]
    total = sum_known(parts)
    return None if total is None else total / len(jobs)


def _samples(jobs: list[Row], figures: _Figures) -> Any:
    """The IOPS logs of all jobs and directions, summed; None where one of them has no log."""
    parts = []
    for job in jobs:
        run_id = str(job["run_id"])
        rows, moved = figures.samples.get(run_id), figures.results.get(run_id, _NOTHING)
        if rows is None or not set(moved.loc[moved["ddir"] != "mixed", "ddir"]) <= set(rows["ddir"]):
            return None
        for _, own in rows.sort_values("t_s").groupby("ddir"):
            single = own.drop_duplicates("t_s")
            parts.append(
                trace.whole(single["t_s"].to_numpy(dtype=float), single["value"].to_numpy(dtype=float))
            )
    times, rates = trace.together(parts)
    return (times, rates) if times.size > 1 else None
