"""The runs of a dataset as flows: what ran at once is one judgement, parallel jobs alike are one flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.flow import Flow
from azbenchlib.analysis.mix import of_load, read_share
from azbenchlib.analysis.observation import Observation
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.over_time.monitored import Monitor
from azbenchlib.analysis.over_time.rate_samples import RateSamples
from azbenchlib.analysis.view import View
from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Finding, Severity, without_label
from azbenchlib.core.units import sum_known
from azbenchlib.formats.published import PER_S, US_PER

Tables = Mapping[str, pd.DataFrame]
Row = Mapping[str, Any]
_ALIKE = ["rw", "bs_bytes", "bs_write_bytes", "disks", "direct"]


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
    figures = _Figures(view, tables)
    together: dict[str, list[Row]] = defaultdict(list)
    for run_id, row in view.runs.items():
        if run_id in figures.ids:
            together[view.together[run_id]].append(row)
    return [_run(rows, figures) for rows in together.values()]


class _Figures:
    """The figures of runs as plain rows, looked up by run."""

    def __init__(self, view: View, tables: Tables) -> None:
        self.results = _by_run(view.of_load(view.results))
        self.latency = _by_run(view.of_load(view.latency))
        self.percentiles = _by_run(view.of_load(view.rows("percentiles")))
        self.monitor = Monitor(tables)
        samples = view.table("samples")
        samples = of_load(samples[samples["metric"] == "iops"], view.verified)
        self.samples = RateSamples(samples, view.runs.values(), self.results)
        self.published = _by_run([row for row in view.rows("published") if row["measured"]])
        findings = tables["findings"]
        self.findings = _by_run(schema.records(findings[findings["run_id"].notna()]))
        rated = {run for run, rows in self.published.items() if _published(rows)}
        self.ids = {*self.results, *self.percentiles, *rated}
        # of rows that sum others, for those that have no percentiles of their own
        self.wholes = concurrency.sums(tables) if len(tables["percentiles"]) else {}
        if self.wholes:
            ids = list(self.wholes.values())
            for name, known in (("percentiles", self.percentiles), ("latency", self.latency)):
                known |= _by_run(schema.records(tables[name][tables[name]["run_id"].isin(ids)]))


def _by_run(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[str(row["run_id"])].append(row)
    return dict(found)


def _run(jobs: list[Row], figures: _Figures) -> Run:
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for job in jobs:
        parts[tuple(job[name] for name in _ALIKE)].append(job)
    told = [
        finding for job in jobs for finding in _findings(figures.findings.get(str(job["run_id"]), ()), job)
    ]
    ids = tuple(str(job["run_id"]) for job in jobs)
    names = _each(jobs, "job")
    name = names[0] if names else ids[0]
    setup = jobs[0]["setup_id"]
    return Run(
        name=name if len(names) < 2 else f"{name} +{len(names) - 1}",
        test=", ".join(_each(jobs, "rw")),
        run_ids=ids,
        setup_id=None if setup is None else str(setup),
        flows=tuple(_flow(part, figures) for part in parts.values()),
        findings=tuple(dict.fromkeys(told)),
        source=str(jobs[0]["source_path"] or ""),
    )


def _each(rows: Iterable[Row], name: str) -> list[str]:
    """The different values of a column that are known, in order."""
    return list(dict.fromkeys(str(row[name]) for row in rows if row[name] is not None))


def _findings(rows: Iterable[Row], job: Row) -> Iterator[Finding]:
    for row in rows:
        message = without_label(row["message"] or "", row["source_path"] or "", job["job"])
        code, severity = Code(row["code"]), Severity(row["severity"])
        yield Finding(code=code, severity=severity, message=message, advice=row["advice"] or "")


def _flow(jobs: list[Row], figures: _Figures) -> Flow:
    """Jobs alike as one: rates and depths are summed, the rest is that of the first."""
    first = jobs[0]
    rates = [_rates(job, figures) for job in jobs]
    sums = {name: sum_known([rate.get(name) for rate in rates]) for name in ("iops", "bytes_per_s")}
    n_jobs = sum(_jobs(job) for job in jobs)
    lasted = max((rate["runtime_s"] for rate in rates if "runtime_s" in rate), default=None)
    monitored = figures.monitor.of(first, lasted)
    seen = Observation(
        read_share=_reads(jobs, rates),
        bs_bytes=_value(first, "bs_bytes"),
        bs_write_bytes=_value(first, "bs_write_bytes"),
        iops=sums["iops"],
        bw_bytes_per_s=sums["bytes_per_s"],
        queue_depth=sum_known([_value(job, "queue_depth") for job in jobs]),
        numjobs=n_jobs,
        runtime_s=lasted or _value(first, "runtime_limit_s"),
        direct=first["direct"],
        mean_us=_mean_us(jobs, figures, "lat") or rates[0].get("latency_us"),
        slat_us=_mean_us(jobs, figures, "slat"),
        ramp_s=_value(first, "ramp_s"),
        device_iops=_device_iops(first, sums["iops"]),
        percentiles=_percentiles(jobs, figures),
        cpu_pct=_cpu(jobs),
        rate_iops=sum_known([_asked(job) for job in jobs]),
        working_set_bytes=_value(first, "working_set_bytes"),
        ram_bytes=_value(first, "ram_bytes"),
        samples=_samples(jobs, figures),
        tool=first["tool"],
        runtime_limit_s=_value(first, "runtime_limit_s"),
        is_emulated=first.get("environment") == "lab",
        time_based=first["time_based"],
        idle_before_s=_value(first, "idle_before_s"),
        credit_s=_value(first, "credit_s"),
        consumed_pct=monitored.consumed_pct,
        credits_used_pct=monitored.credits_used_pct,
        monitor_iops=monitored.iops,
        rw=first["rw"],
        ioengine=first["ioengine"],
    )
    disks = first["disks"] or ""
    return Flow(
        observation=seen,
        volumes=tuple(part.strip() for part in disks.split(",") if part.strip()),
    )


def _value(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None else float(value)


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
        total = sum_known([_value(row, column) for row in rows])
        if total is not None:
            found[name] = total
    if found.get("iops") and all(row["ddir"] != "mixed" for row in rows):
        reads = sum(row["iops"] for row in rows if row["ddir"] == "read")
        found["reads"] = reads / found["iops"]
    lasted = [row["runtime_s"] for row in rows if row["runtime_s"] is not None]
    if lasted:
        found["runtime_s"] = max(lasted)
    return found


def _published(rows: Iterable[Row] | None) -> dict[str, float]:
    """Rates and latencies that stand in a publication, bounds too: the least that was reached."""
    found: dict[str, float] = {}
    names = {"iops": "iops", "bandwidth": "bytes_per_s"}
    for row in rows or ():
        value, unit = _value(row, "value"), str(row["unit"])
        scale = PER_S.get(str(row["quantity"]), {}).get(unit)
        if scale and value is not None and row["bound"] != "<":
            found.setdefault(names[row["quantity"]], value * scale)
        if row["quantity"] == "latency" and unit in US_PER and row["bound"] == "=" and value is not None:
            found["latency_us"] = value * US_PER[unit]
    return found


def _reads(jobs: list[Row], rates: list[dict[str, float]]) -> float | None:
    """The share of reads of all jobs: as it was measured, else as their pattern says."""
    if all("reads" in rate for rate in rates):
        total = sum(rate["iops"] for rate in rates)
        return sum(rate["reads"] * rate["iops"] for rate in rates) / total
    return read_share(jobs[0]["rw"], jobs[0]["rwmix_read_pct"])


def _mean_us(jobs: list[Row], figures: _Figures, kind: str) -> float | None:
    """The mean of a kind of latency, weighted by the I/Os of each job and direction."""
    total = weight = 0.0
    for job in jobs:
        for row in figures.latency.get(str(job["run_id"]), ()):
            if row["lat_kind"] == kind and row["lat_mean_us"] is not None:
                n = 1.0 if row["n"] is None else float(row["n"])
                total, weight = total + n * row["lat_mean_us"], weight + n
    return total / weight if weight else None


def _percentiles(jobs: list[Row], figures: _Figures) -> dict[float, float]:
    """Of the total latency, or completion latency, of a job, or of the row that sums all of the jobs; several
    directions are not mixed.
    """
    run_id, rows = _whole(jobs, figures)
    found: dict[float, float] = {}
    if len({row["ddir"] for row in rows}) != 1:
        return found
    for kind in ("lat", "clat"):
        if not found:
            found = {row["percentile"]: row["lat_us"] for row in rows if row["lat_kind"] == kind}
        if found and 100.0 not in found:
            moments = [row for row in figures.latency.get(run_id, ()) if row["lat_kind"] == kind]
            largest = [row["lat_max_us"] for row in moments if row["lat_max_us"] is not None]
            found |= {100.0: max(largest)} if largest else {}
    return found


def _whole(jobs: list[Row], figures: _Figures) -> tuple[str, list[Row]]:
    """The row that has the percentiles of all jobs together, and these, without sums of directions."""
    first, ids = str(jobs[0]["run_id"]), frozenset(str(job["run_id"]) for job in jobs)
    own = figures.percentiles.get(first)
    if len(jobs) == 1 and own is not None:
        return first, [row for row in own if row["ddir"] != "mixed"] or own
    moved = {str(row["ddir"]) for run_id in ids for row in figures.results.get(run_id, ())}
    ddir = next(iter(moved)) if len(moved) == 1 else ""
    whole = figures.wholes.get((ids, ddir), "")
    return whole, [row for row in figures.percentiles.get(whole, ()) if row["ddir"] == ddir]


def _device_iops(job: Row, iops: float | None) -> float | None:
    ratio = _value(job, "device_ios_per_io")
    return None if iops is None or ratio is None else iops * ratio


def _cpu(jobs: list[Row]) -> float | None:
    parts = [sum_known([_value(job, "usr_cpu_pct"), _value(job, "sys_cpu_pct")]) for job in jobs]
    total = sum_known(parts)
    return None if total is None else total / len(jobs)


def _samples(jobs: list[Row], figures: _Figures) -> Any:
    """The rates of all jobs and directions over time, summed; None where one of them has no samples."""
    parts = []
    for job in jobs:
        run_id = str(job["run_id"])
        moved = {row["ddir"] for row in figures.results.get(run_id, ())} - {"mixed"}
        own = figures.samples.of_run(run_id, moved, _value(job, "runtime_limit_s"))
        if not own:
            return None
        parts += own
    times, rates = trace.together(parts)
    return (times, rates) if times.size > 1 else None
