"""The run that would settle an uncertain verdict, as a fio job."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.core.units import KIB, MIB, fio_size_text
from azbenchlib.verdict.candidates import Route
from azbenchlib.verdict.labels import Label

_LEAST_BS, _MOST_BS = 4 * KIB, MIB
SECTORS = (512, 4096)  # of disks; Ultra and Premium v2 have the latter. Source: Microsoft Learn, 2026
SOFT_LIMIT = "run for 5 min; limits are enforced approximately over short intervals"
TARGET = "${TARGET}"  # fio takes it from the environment


@dataclass(frozen=True)
class NextRun:
    """What to run, why in one sentence, and the job file.

    `question` is what it settles. fio reads the target, a file or a device, from the environment variable
    TARGET.
    """

    question: str
    advice: str
    job: str


@dataclass(frozen=True, kw_only=True)
class _Job:
    """The options of one section."""

    name: str
    bs_bytes: float
    iodepth: float
    numjobs: int
    runtime_s: float = 60


def next_run(
    flow: Flow,
    route: Route,
    top: Sequence[Label],
    runner_up: Label | None,
    base_not_seen_s: float | None = None,
) -> NextRun | None:
    """The run that separates the label at the top from the runner-up; None where none is needed.

    Parameters
    ----------
    flow : Flow
    route : Route
        The likeliest path.
    top : sequence of Label
        The labels at the top.
    runner_up : Label, optional
    base_not_seen_s : float, optional
        How long credits last, where the run did not show the base.
    """
    pair = [*top[:2]] if len(top) > 1 else [top[0], runner_up or Label.UNKNOWN]
    both = set(pair)
    if Label.PAGE_CACHE in both:
        return _made(flow, "memory or disk", "run with direct=1", [_as_it_was(flow)])
    if Label.CACHE_EXHAUSTION in both:
        long = [_as_it_was(flow, runtime_s=900)]
        return _made(flow, "cache or disk behind it", "run for 15 min, past the size of the cache", long)
    if Label.ABOVE_DOCUMENTED_LIMIT in both:
        long = [_as_it_was(flow, runtime_s=300)]
        return _made(flow, "soft limit or wrong figure", SOFT_LIMIT, long)
    if base_not_seen_s and any(label.burst for label in top):
        seconds = math.ceil(base_not_seen_s / 60 + 5) * 60
        advice = f"run for {seconds // 60} min, until the credits are spent"
        return _made(flow, "burst or base", advice, [_as_it_was(flow, runtime_s=seconds)])
    if Label.HOST_CPU in both and not any(label.is_limit for label in both):
        return _more_jobs(flow)
    if Label.LATENCY_QD in both or not all(label.is_limit for label in both):
        return _depths(flow)
    if pair[0].quantity != pair[1].quantity:
        return _sizes(flow, route)
    if "disk" in {label.scope for label in both}:
        advice = "add a disk of the same kind and run on both: twice the rate means the disk, the same the VM"
        return _made(flow, "disk or VM", advice, [_as_it_was(flow)])
    if any(label.scope == "vm_cached" for label in both):
        advice = "turn host caching off, or read a span larger than the cache"
        return _made(flow, "cached or not", advice, [_as_it_was(flow)])
    return _depths(flow)


def _more_jobs(flow: Flow) -> NextRun:
    """The same load from twice the jobs: more CPUs issue it."""
    was = _as_it_was(flow)
    depth = max(1, was.iodepth // 2)
    more = replace(was, name="morejobs", iodepth=depth, numjobs=2 * was.numjobs)
    advice = f"spread the same load over {2 * was.numjobs} jobs: more IOPS mean that the CPU was the limit"
    return _made(flow, "CPU or not", advice, [was, more])


def _depths(flow: Flow) -> NextRun:
    """One I/O outstanding, half, as it was, and twice."""
    seen = flow.observation
    depth = seen.queue_depth or 32
    jobs = max(1, seen.numjobs)
    base = _as_it_was(flow)
    steps = sorted({1.0, max(1.0, depth // 2), depth, 2 * depth})
    some = [
        _Job(
            name=f"depth{step:.0f}",
            bs_bytes=base.bs_bytes,
            iodepth=max(1, step // jobs),
            numjobs=min(jobs, int(step)),
        )
        for step in steps
    ]
    advice = (
        f"double the queue depth to {2 * depth:,.0f}: twice the IOPS means latency, twice the latency a limit"
    )
    return _made(flow, "latency or limit", advice, some)


def _sizes(flow: Flow, route: Route) -> NextRun:
    """A block size on each side of where the IOPS limit gives way to the MB/s limit."""
    crossover = _crossover(route) or rates(flow.observation).bs_bytes or 8 * KIB
    power = 2 ** math.floor(math.log2(crossover))
    small = min(_MOST_BS, max(_LEAST_BS, power // (2 if power == crossover else 1)))
    large = min(_MOST_BS, max(2 * small, power * 4))
    base = _as_it_was(flow)
    some = [
        _Job(name=f"bs{fio_size_text(int(size))}", bs_bytes=size, iodepth=base.iodepth, numjobs=base.numjobs)
        for size in (small, large)
    ]
    advice = (
        f"run at bs={fio_size_text(int(small))} and bs={fio_size_text(int(large))}: "
        "the same IOPS means the IOPS limit, the same MB/s the MB/s limit"
    )
    return _made(flow, "IOPS or MB/s", advice, some)


def _crossover(route: Route) -> float | None:
    """Bytes at which the tightest IOPS and MB/s limits of the path are equal."""
    values = {
        quantity: min(
            (level.value for stage in route.stages if stage.quantity == quantity for level in stage.levels()),
            default=math.inf,
        )
        for quantity in ("iops", "bytes_per_s")
    }
    found = values["bytes_per_s"] / values["iops"] if all(map(math.isfinite, values.values())) else 0.0
    return found or None


def _as_it_was(flow: Flow, runtime_s: float = 60) -> _Job:
    seen = flow.observation
    jobs = max(1, seen.numjobs)
    depth = max(1, (seen.queue_depth or 32 * jobs) // jobs)
    return _Job(
        name="again",
        bs_bytes=rates(seen).bs_bytes or 8 * KIB,
        iodepth=depth,
        numjobs=jobs,
        runtime_s=runtime_s,
    )


def _made(flow: Flow, question: str, advice: str, some: Sequence[_Job]) -> NextRun:
    share = flow.observation.read_share
    rw = "randread" if share in (1, None) else "randwrite" if share == 0 else "randrw"
    lines = [
        "; TARGET=FILE_OR_DEVICE fio next.fio",
        *(() if rw == "randread" else ("; overwrites TARGET",)),
        "[global]",
        f"filename={TARGET}",
        "ioengine=libaio",
        "direct=1",
        f"rw={rw}",
        *((f"rwmixread={share * 100:.0f}",) if rw == "randrw" and share is not None else ()),
        "size=100%",
        "time_based",
        "ramp_time=10",
        "group_reporting",
    ]
    for job in some:
        lines += [
            "",
            f"[{job.name}]",
            "stonewall",
            f"bs={fio_size_text(_whole_sectors(job.bs_bytes))}",
            f"iodepth={job.iodepth:.0f}",
            f"numjobs={job.numjobs}",
            f"runtime={job.runtime_s:.0f}",
        ]
    return NextRun(question, advice, "\n".join(lines) + "\n")


def _whole_sectors(bs_bytes: float) -> int:
    """The nearest size that direct I/O can address on every disk: a mean of several sizes is none."""
    sector = SECTORS[-1] if bs_bytes >= SECTORS[-1] else SECTORS[0]
    return max(1, round(bs_bytes / sector)) * sector
