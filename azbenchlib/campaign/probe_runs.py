"""The runs of a probe as fio makes them, and what their outputs showed."""

from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.concurrency import counted
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.campaign.workloads.grid import Workload, log_interval_ms
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MS_PER_S, NS_PER_US, fio_size_text
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.model.unloaded_latency import MEDIAN
from azbenchlib.probing.cache import FILL_BYTES, FILL_DEPTH, CacheRun, CacheShown
from azbenchlib.probing.drain import DrainRun, DrainShown
from azbenchlib.probing.fill import FillRun, FillShown
from azbenchlib.probing.median import median_error
from azbenchlib.probing.rounds import BS_BYTES, COMPARED_BYTES, RoundRun, RoundShown
from azbenchlib.probing.runs import PATTERN_OF, ProbeRun, Shown

Tables = dict[str, pd.DataFrame]
_KINDS = ("lat", "clat")  # of latency, the first that there is
# A pass ends where all was read, and the next one reads in another order.
_ONE_PASS = {"time_based": "0", "randrepeat": "0"}


@singledispatch
def workload(run: Any, size_bytes: int) -> Workload | JobFile:
    """A run of a probe, on so many bytes of data, as fio makes it."""
    raise TypeError(run)


@workload.register
def _probe_workload(run: ProbeRun, size_bytes: int) -> Workload:
    return Workload(
        name=run.name,
        rw=PATTERN_OF[run.read_share],
        bs_bytes=run.bs_bytes,
        iodepth=run.depth,
        size_bytes=size_bytes,
        runtime_s=run.seconds,
        options=_paced(run),
    )


def _paced(run: ProbeRun) -> dict[str, str]:
    """What makes fio issue no more than the rate: of each direction, and evenly."""
    if not run.rate_iops:
        return {}
    each = run.rate_iops // 2 if 0 < run.read_share < 1 else run.rate_iops
    return {"rate_iops": f"{each},{each}"}


@workload.register
def _drain_workload(run: DrainRun, size_bytes: int) -> Workload:
    return Workload(
        name=run.name,
        rw="write" if run.write else PATTERN_OF[1.0],  # in turn, so that nothing unwritten is written again
        bs_bytes=run.bs_bytes,
        iodepth=run.depth,
        size_bytes=size_bytes,
        runtime_s=run.seconds,
        options={"rate_iops": str(run.rate_iops)} if run.rate_iops else {},
    )


@workload.register
def _cache_workload(run: CacheRun, size_bytes: int) -> Workload:
    return Workload(
        name=run.name,
        rw=PATTERN_OF[1.0],
        bs_bytes=run.bs_bytes,
        iodepth=run.depth,
        size_bytes=min(run.set_bytes, size_bytes),
        runtime_s=run.seconds,
        options=_ONE_PASS if run.fill else {"randrepeat": "0"},
    )


@workload.register
def _fill_workload(run: FillRun, size_bytes: int) -> Workload:
    return Workload(
        name=run.name,
        rw="read",
        bs_bytes=FILL_BYTES,
        iodepth=FILL_DEPTH,
        size_bytes=run.part_bytes,
        runtime_s=run.seconds,
        options={"time_based": "0", "offset": str(run.offset_bytes)},
    )


@workload.register
def _round_workload(run: RoundRun, size_bytes: int) -> Workload | JobFile:
    load, most = run.load, min(COMPARED_BYTES, size_bytes)
    if load.own_files:
        return JobFile(run.name, _own_files(run, max(BS_BYTES, most // load.jobs)), run.seconds)
    return Workload(
        name=run.name,
        rw=PATTERN_OF[0.0],
        bs_bytes=BS_BYTES,
        iodepth=load.depth,
        numjobs=load.jobs,
        size_bytes=most,
        runtime_s=run.seconds,
        options={"fsync": "1"} if load.fsync else {},
    )


def _own_files(run: RoundRun, each_bytes: int) -> str:
    """A job file whose jobs have a file each; these are written before, so that no write finds a hole."""
    options = {
        "rw": PATTERN_OF[0.0],
        "bs": fio_size_text(BS_BYTES),
        "size": fio_size_text(each_bytes),
        "iodepth": run.load.depth,
        "numjobs": run.load.jobs,
        "ioengine": "libaio",
        "direct": 1,
        "overwrite": 1,
        "time_based": 1,
        "runtime": f"{run.seconds:g}",
    }
    return "\n".join([f"[{run.name}]", *(f"{name}={value}" for name, value in options.items()), ""])


@singledispatch
def shown(run: Any, output: Path, dilation: float = 1.0) -> Any:
    """What a run showed, from its output.

    `output`: fio's JSON; `dilation`: how much more slowly than the disk it ran: rates are multiplied by it,
    times divided. Raises an InputError when the output does not tell what is needed.
    """
    raise TypeError(run)


@shown.register
def _probe_shown(run: ProbeRun, output: Path, dilation: float = 1.0) -> Shown:
    tables, runs, rows = _read(output, ["read", "write"], with_bins=True)
    iops = float(rows["iops"].sum())
    if not iops > 0:
        raise InputError(f"{output}: tells no I/Os per second")
    length_s = float(rows["runtime_s"].max())
    spread = float((rows["iops_stddev"].astype(float) ** 2).sum() ** 0.5)
    sample_s = log_interval_ms(length_s) / MS_PER_S  # also of fio's own samples, as seen with fio 3.33
    samples = max(1.0, length_s / sample_s)
    return Shown(
        run=run,
        iops=iops * dilation,
        read_p50_us=_median_us(tables, "read", dilation),
        write_p50_us=_median_us(tables, "write", dilation),
        read_p50_error=_median_error(tables, "read"),
        write_p50_error=_median_error(tables, "write"),
        error=0.0 if run.rate_iops else _beyond_counting(iops, spread, sample_s) / iops / samples**0.5,
        seconds=length_s / dilation,
        read_share=float(rows.loc[rows["ddir"] == "read", "iops"].sum()) / iops,
        direct=runs["ioengine"].eq(EMULATED_ENGINE).all() or bool(runs["direct"].eq(True).all()),
    )


def _beyond_counting(iops: float, spread: float, sample_s: float) -> float:
    """How far samples of a rate scatter beyond what counting single I/Os makes them.

    A sample of n I/Os scatters by √n of them, so one of 50 by 14 %: of a disk of 100 IOPS that tells nothing.
    """
    return max(0.0, spread**2 - iops / sample_s) ** 0.5


@shown.register
def _drain_shown(run: DrainRun, output: Path, dilation: float = 1.0) -> DrainShown:
    what = "write" if run.write else "read"
    _, runs, rows = _read(output, [what])
    ended = runs["ended_at"].max()
    if rows.empty or pd.isna(ended):
        raise InputError(f"{output}: tells no {what}s, or not when they ended")
    iops, lasted_s = float(rows["iops"].sum()) * dilation, float(rows["runtime_s"].max())
    return DrainShown(
        run=run,
        rate=iops if run.quantity == "iops" else iops * run.bs_bytes,
        began_s=(pd.Timestamp(ended).timestamp() - lasted_s) / dilation,
        lasted_s=lasted_s / dilation,
    )


@shown.register
def _fill_shown(run: FillRun, output: Path, dilation: float = 1.0) -> FillShown:
    _, _, rows = _read(output, ["read"])
    return FillShown(run=run, read_bytes=float(rows["io_bytes"].sum()))


@shown.register
def _cache_shown(run: CacheRun, output: Path, dilation: float = 1.0) -> CacheShown:
    tables, _, rows = _read(output, ["read"], with_bins=not run.fill)
    if run.fill:
        ios = float(rows["ios"].sum())
        return CacheShown(run=run, lat_us=np.zeros(1), n=np.array([ios]))
    counts = _latencies(tables, "read")
    if counts.empty:
        raise InputError(f"{output}: tells no latencies of single reads")
    lat_us = counts.index.to_numpy(dtype=float) / NS_PER_US / dilation
    return CacheShown(run=run, lat_us=lat_us, n=counts.to_numpy(dtype=float))


@shown.register
def _round_shown(run: RoundRun, output: Path, dilation: float = 1.0) -> RoundShown:
    _, _, rows = _read(output, ["write"])
    return RoundShown(run=run, iops=float(rows["iops"].sum()) * dilation)  # none in all its seconds: 0


def _read(
    output: Path, ddirs: list[str], with_bins: bool = False
) -> tuple[Tables, pd.DataFrame, pd.DataFrame]:
    """All tables of an output, its runs, and what they did in some directions."""
    tables = registry.read(Source.of(output, with_bins=with_bins))
    runs = tables["runs"].loc[counted(tables)]
    rows = tables["results"]
    return tables, runs, rows[rows["run_id"].isin(runs["run_id"]) & rows["ddir"].isin(ddirs)]


def _latencies(tables: Tables, ddir: str) -> pd.Series:
    """How many I/Os took so long, by ns: of total latency, or of completion where that is all there is."""
    bins = tables["bins"]
    bins = bins[(bins["ddir"] == ddir) & bins["t_s"].isna()]
    kinds = set(bins["lat_kind"])
    kind = next((kind for kind in _KINDS if kind in kinds), None)
    return bins[bins["lat_kind"] == kind].groupby("bin_ns")["n"].sum().sort_index()


def _median_error(tables: Tables, ddir: str) -> float | None:
    counts = _latencies(tables, ddir)
    return median_error(counts.index.to_numpy(dtype=float), counts.to_numpy(dtype=float))


def _median_us(tables: Tables, ddir: str, dilation: float) -> float | None:
    """The median of total latency, or of completion where that is all there is."""
    rows = tables["percentiles"]
    rows = rows[(rows["ddir"] == ddir) & (rows["percentile"] == MEDIAN)]
    by_kind = rows.set_index("lat_kind")["lat_us"]
    found = next((float(by_kind[kind]) for kind in _KINDS if kind in by_kind), None)
    return found / dilation if found else None
