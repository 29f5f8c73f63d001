"""The runs of a dataset as flows: what ran at once is one judgement, parallel jobs alike are one flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from azbenchlib.analyse.checks.view import View
from azbenchlib.analyse.observation import Observation
from azbenchlib.analyse.verdict.flow import Flow
from azbenchlib.analyse.verdict.gates import Finding
from azbenchlib.formats.published import PER_S, US_PER
from azbenchlib.model.credits import BURST_S

Tables = Mapping[str, pd.DataFrame]
Row = Mapping[str, Any]
_AT_ONCE = ["source_path", "source_doc", "host", "group_id"]
_ALIKE = ["rw", "bs_bytes", "bs_write_bytes", "disks", "direct"]


@dataclass(frozen=True)
class Run:
    """What ran at once: its name, ids, setup, flows, and what is known to be wrong with it. `test` is the
    pattern, as the tool calls it.
    """

    name: str
    test: str
    run_ids: tuple[str, ...]
    setup_id: str | None
    flows: tuple[Flow, ...]
    findings: tuple[Finding, ...]


def runs(tables: Tables) -> list[Run]:
    """All runs of a dataset that have a rate or a latency, in order."""
    view = View(tables)
    known = view.runs.reset_index()
    figures = _Figures(view, tables)
    known = known[known["run_id"].isin(figures.ids)]
    # fio's jobs of one reporting group ran at once; others are alone
    alone = known["group_id"].isna() | known["source_doc"].isna()
    keys = [known[name].astype(object).where(~alone, known["run_id"]) for name in _AT_ONCE]
    return [_run(group, figures) for _, group in known.groupby(keys, sort=False, dropna=False)]


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


def _by_run(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(run_id): group for run_id, group in rows.groupby("run_id", sort=False)}


def _run(group: pd.DataFrame, figures: _Figures) -> Run:
    parts = [part for _, part in group.groupby(_ALIKE, sort=False, dropna=False)]
    ids = tuple(map(str, group["run_id"]))
    setup = group["setup_id"].iloc[0]
    jobs = zip(ids, group["job"], strict=True)
    told = [finding for run_id, job in jobs for finding in _findings(figures.findings.get(run_id), job)]
    names = list(dict.fromkeys(group["job"].dropna().astype(str)))
    name = names[0] if names else ids[0]
    return Run(
        name if len(names) < 2 else f"{name} +{len(names) - 1}",
        ", ".join(dict.fromkeys(group["rw"].dropna().astype(str))),
        ids,
        None if pd.isna(setup) else str(setup),
        tuple(_flow([*part.to_dict(orient="records")], figures) for part in parts),
        tuple(dict.fromkeys(told)),
    )


def _findings(rows: pd.DataFrame | None, job: object) -> Iterator[Finding]:
    if rows is not None:
        for row in rows.fillna("").itertuples():
            message = str(row.message).removeprefix(f"{row.source_path}: ").removeprefix(f"{job}: ")
            message = message.removeprefix(f"job '{job}': ")
            yield Finding(str(row.severity), str(row.code), message, str(row.advice))


def _flow(jobs: list[Row], figures: _Figures) -> Flow:
    """Jobs alike as one: rates and depths are summed, the rest is that of the first."""
    first = jobs[0]
    rates = [_rates(job, figures) for job in jobs]
    sums = {name: _sum([rate.get(name) for rate in rates]) for name in ("iops", "bytes_per_s")}
    n_jobs = sum(_jobs(job) for job in jobs)
    seen = Observation(
        read_share=_read_share(first, rates[0]),
        bs_bytes=_value(first, "bs_bytes"),
        bs_write_bytes=_value(first, "bs_write_bytes"),
        iops=sums["iops"],
        bw_bytes_per_s=sums["bytes_per_s"],
        queue_depth=_sum([_value(job, "queue_depth") for job in jobs]),
        numjobs=n_jobs,
        runtime_s=max((rate["runtime_s"] for rate in rates if "runtime_s" in rate), default=None)
        or _value(first, "runtime_limit_s"),
        direct=None if pd.isna(first["direct"]) else bool(first["direct"]),
        mean_us=_mean_us(jobs, figures, rates),
        percentiles=_percentiles(jobs, figures),
        cpu_pct=_cpu(jobs),
        rate_iops=_sum([_asked(job) for job in jobs]),
        working_set_bytes=_value(first, "working_set_bytes"),
        ram_bytes=_value(first, "ram_bytes"),
        samples=_samples(jobs, figures),
        tool=None if pd.isna(first["tool"]) else str(first["tool"]),
        time_based=None if pd.isna(first["time_based"]) else bool(first["time_based"]),
        idle_before_s=_value(first, "idle_before_s"),
    )
    disks = "" if pd.isna(first["disks"]) else str(first["disks"])
    return Flow(_at_length(seen, first), tuple(part.strip() for part in disks.split(",") if part.strip()))


def _at_length(seen: Observation, job: Row) -> Observation:
    """A run on an emulated disk as long as it stands for: where credits last shorter, so does all else."""
    credit_s = _value(job, "credit_s")
    if not credit_s:
        return seen
    longer = BURST_S / credit_s
    return replace(
        seen,
        runtime_s=None if seen.runtime_s is None else seen.runtime_s * longer,
        idle_before_s=None if seen.idle_before_s is None else seen.idle_before_s * longer,
        samples=None if seen.samples is None else (seen.samples[0] * longer, seen.samples[1]),
    )


def _value(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)


def _sum(parts: list[float | None]) -> float | None:
    """The sum; None where one of them is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


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


def _read_share(job: Row, rates: Mapping[str, float]) -> float | None:
    if "reads" in rates:
        return rates["reads"]
    rw, mix = job["rw"], _value(job, "rwmix_read_pct")
    if pd.isna(rw):
        return None
    if "rw" in str(rw) or str(rw) == "readwrite":
        return 0.5 if mix is None else mix / 100
    return 0.0 if "write" in str(rw) else 1.0


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
    """Of the first job's total latency, or completion latency; several directions are not mixed."""
    if len(jobs) > 1:
        return {}
    run_id = str(jobs[0]["run_id"])
    found: dict[float, float] = {}
    for kind in ("lat", "clat"):
        rows = figures.percentiles.get(run_id)
        if rows is not None and not found:
            some = rows[rows["lat_kind"] == kind]
            if some["ddir"].nunique() == 1:
                found = dict(zip(some["percentile"].astype(float), some["lat_us"].astype(float), strict=True))
        moments = figures.latency.get(run_id)
        if moments is not None and found and 100.0 not in found:
            largest = moments.loc[moments["lat_kind"] == kind, "lat_max_us"].dropna()
            found |= {100.0: float(largest.max())} if len(largest) else {}
    return found


def _cpu(jobs: list[Row]) -> float | None:
    parts = [_sum([_value(job, "usr_cpu_pct"), _value(job, "sys_cpu_pct")]) for job in jobs]
    total = _sum(parts)
    return None if total is None else total / len(jobs)


def _samples(jobs: list[Row], figures: _Figures) -> Any:
    """The IOPS log of a single job in a single direction."""
    rows = figures.samples.get(str(jobs[0]["run_id"])) if len(jobs) == 1 else None
    if rows is None or rows["ddir"].nunique() != 1 or len(rows) < 2:
        return None
    rows = rows.sort_values("t_s")
    return rows["t_s"].to_numpy(dtype=float), rows["value"].to_numpy(dtype=float)
