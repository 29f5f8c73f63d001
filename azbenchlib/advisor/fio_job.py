"""The fio job that shows whether a configuration delivers what it is chosen for."""

import math
from dataclasses import dataclass

from azbenchlib.advisor.demands.demand import Demand, Moment
from azbenchlib.core.units import (
    GIB,
    MIB,
    NBSP,
    SECTOR_BYTES,
    US_PER_S,
    fio_size_text,
    format_count,
    format_mbps,
    format_size,
)
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, Disk, Setup
from azbenchlib.model.unloaded_latency import expected_us, table_of

_FILE, _OS_FILE = "/mnt/data/azbench.fio", "/azbench.fio"
_MOST_SIZE, _LEAST_SIZE = 100 * GIB, 64 * MIB
_FILE_SHARE = 0.9  # of the room for data: the file system needs some of it
_DEPTH, _MOST_JOBS = 64, 16
_DRAINED_S = 1_860  # full credits last 30 min at the largest burst (model/credits.py)
_WARM_S, _RUN_S = 30, 300
_SLOW = 99.0  # percentile of the latency that a queue is sized by
_AMPLE = 2  # times the depth of Little's law: the limits are to hold it back, not the depth


@dataclass(frozen=True)
class _Queue:
    """How deep the job's queues are, and in which steps its I/Os grow."""

    latency_s: float
    sector_bytes: int

    def depth(self, iops: float) -> int:
        """Outstanding I/Os that make so many a second."""
        return math.ceil(_AMPLE * max(1, iops * self.latency_s))


def latency_s(vm: VM, disk: Disk, demand: Demand) -> float:
    """How long 99 of 100 I/Os take at most on the unloaded disk, by the catalogue's table of its kind."""
    return expected_us(table_of(vm, disk), demand.read_share, _SLOW) / US_PER_S


def outstanding(vm: VM, disk: Disk, demand: Demand) -> int:
    """How many I/Os the application has to keep outstanding, by Little's law, to use what it asks for."""
    return max(1, math.ceil(round(demand.highest[0] * latency_s(vm, disk, demand), 6)))


def fio_job(vm: VM, disk: Disk, demand: Demand) -> str:
    """A job file that drives the volume as hard as it goes, with the demand's mix; then a peak at its rate.

    Parameters
    ----------
    vm : VM
    disk : Disk
    demand : Demand

    Notes
    -----
    The first half hour on managed disks is not counted, whatever is documented: most VM sizes have burst
    credits, and the resource-SKU API never tells them.
    """
    file = _OS_FILE if demand.is_os_disk else _FILE
    lines = [
        f"; {vm.size} with {disk.name} passes with at least the figures below.",
        *([] if disk.local else ["; The first half hour uses up burst credits; it is not counted."]),
        f"; Writes to {file}: put the file on the volume.",
        "[global]",
        f"filename={file}",
        f"size={fio_size_text(_size(vm, disk, demand))}",
        "ioengine=libaio",
        "direct=1",
        *_pattern(demand.read_share),
        "time_based",
        f"ramp_time={_WARM_S if disk.local else _DRAINED_S}",
        f"runtime={_RUN_S}",
        "group_reporting",
    ]
    queue = _Queue(latency_s(vm, disk, demand), disk.kind.sector_bytes if disk.kind else SECTOR_BYTES)
    steady = demand.moments()
    for moment in steady:
        reached = _reached(vm, disk, demand, moment)
        lines += _job("", queue, moment, f"; {_wanted(moment)}", [], depth_for=max(moment.iops, reached))
    for i, moment in enumerate(demand.moments(peak=True)) if demand.peak else ():
        if moment not in steady:
            lines += _peak(queue, demand, steady[min(i, len(steady) - 1)], moment)
    return "\n".join(lines).replace(NBSP, " ") + "\n"


def _peak(queue: _Queue, demand: Demand, steady: Moment, moment: Moment) -> list[str]:
    """A peak after a rest, both at the rates of the demand: faster, it would spend more than its credits."""
    length = demand.peak
    if length is None:
        raise AssertionError("no peak")
    rest_s, peak_s = math.ceil(length.period_s - length.seconds), math.ceil(length.seconds)
    lines = []
    for one, prefix, seconds, why in (
        (steady, "rest-", rest_s, "between two peaks; credits come back"),
        (moment, "peak-", peak_s, "it must be held to the end"),
    ):
        jobs = _jobs(queue.depth(one.iops))
        more = ["ramp_time=0", f"runtime={seconds}", f"rate_iops={_rate(one.iops / jobs, demand.read_share)}"]
        lines += _job(prefix, queue, one, f"; {_wanted(one)}: {why}", more, depth_for=one.iops)
    return lines


def _job(
    prefix: str, queue: _Queue, moment: Moment, note: str, more: list[str], depth_for: float
) -> list[str]:
    size = max(1, round(moment.bs_bytes / queue.sector_bytes)) * queue.sector_bytes
    depth = queue.depth(depth_for)
    jobs = _jobs(depth)
    return [
        "",
        f"[{prefix}{fio_size_text(size)}]",
        note,
        "stonewall",
        f"bs={fio_size_text(size)}",
        f"iodepth={math.ceil(depth / jobs)}",
        f"numjobs={jobs}",
        *more,
    ]


def _wanted(moment: Moment) -> str:
    rates = f"{format_count(moment.iops)} IOPS, {format_mbps(moment.bytes_per_s)} MB/s"
    return f"{rates} in I/Os of {format_size(moment.bs_bytes)}"


def _jobs(depth: int) -> int:
    return min(_MOST_JOBS, math.ceil(depth / _DEPTH))


def _rate(iops: float, read_share: float) -> str:
    """Of one of fio's jobs: reads and writes, or the one that there is."""
    if read_share in (0, 1):
        return f"{max(1, round(iops))}"
    return f"{max(1, round(iops * read_share))},{max(1, round(iops * (1 - read_share)))}"


def _reached(vm: VM, disk: Disk, demand: Demand, moment: Moment) -> float:
    """IOPS with credits: a run that gets less does not use them up in half an hour."""
    load = Load(
        volume=disk.name, read_share=demand.read_share, bs_bytes=moment.bs_bytes, cache_hit=demand.cache_hit
    )
    return deliver(Setup(vm, (disk,)), [load]).iops or 0.0


def _pattern(read_share: float) -> list[str]:
    if read_share in (0, 1):
        return ["rw=randread" if read_share else "rw=randwrite"]
    return ["rw=randrw", f"rwmixread={round(read_share * 100)}"]


def _size(vm: VM, disk: Disk, demand: Demand) -> int:
    """Of the file, whole MiB: what fits; where a cache is to serve a share of the reads, no more than of
    which it holds that share.
    """
    size = min(_MOST_SIZE, demand.size_bytes * _FILE_SHARE)
    if disk.caching != "None" and demand.cache_hit and vm.cache_bytes:
        size = min(size, vm.cache_bytes / demand.cache_hit)
    return int(max(_LEAST_SIZE, size) // MIB * MIB)
