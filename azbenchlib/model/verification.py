"""The fio job that shows whether a design delivers what it is chosen for."""

import math

from azbenchlib.model.demand import LOCAL, V2, Demand, Moment
from azbenchlib.model.flows import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, Disk, Setup
from azbenchlib.units import GIB, MIB, NBSP, fio_size_text, format_count, format_mbps, format_size

FILE = "/mnt/data/azbench.fio"
_MOST_SIZE, _LEAST_SIZE = 100 * GIB, 64 * MIB
_FILE_SHARE = 0.9  # of the room for data: the file system needs some of it
_DEPTH, _MOST_JOBS = 64, 16
# Direct I/O needs whole sectors; Premium SSD v2 and Ultra have 4 KiB by default. Source: azure-compute-docs
# articles/virtual-machines/disks-types.md@18c531ec (2026-08-11).
_SECTOR, _V2_SECTOR = 512, 4096
_DRAINED_S = 1_860  # full credits last 30 min at the largest burst (model/credits.py)
_WARM_S, _RUN_S = 30, 300
_AMPLE = 2  # times the depth of Little's law: the limits are to hold it back, not the depth


def latency_s(kind: str) -> float:
    """The most that one I/O of an unloaded disk of this kind is said to take (see `demand.LATENCY_KINDS`)."""
    return 0.0003 if kind in LOCAL else 0.001 if kind in V2 else 0.010


def outstanding(kind: str, demand: Demand) -> int:
    """How many I/Os the application has to keep outstanding, by Little's law, to use what it asks for."""
    return max(1, math.ceil(round(demand.highest[0] * latency_s(kind), 6)))


def fio_job(kind: str, vm: VM, disk: Disk, demand: Demand) -> str:
    """A job file that drives the volume as hard as it goes, with the demand's mix; then a peak at its rate.

    Parameters
    ----------
    kind : str
    vm : VM
    disk : Disk
    demand : Demand

    Notes
    -----
    The first half hour on managed disks is not counted, whatever is documented: most VM sizes have burst
    credits, and the resource-SKU API never tells them.
    """
    lines = [
        f"; {vm.size} with {disk.name}: at least what is said below, or it is not what was asked for.",
        *([] if disk.local else ["; The first half hour uses up burst credits; it is not counted."]),
        f"; Writes to {FILE}: put the file on the volume.",
        "[global]",
        f"filename={FILE}",
        f"size={fio_size_text(_size(vm, disk, demand))}",
        "ioengine=libaio",
        "direct=1",
        *_pattern(demand.read_share),
        "time_based",
        f"ramp_time={_WARM_S if disk.local else _DRAINED_S}",
        f"runtime={_RUN_S}",
        "group_reporting",
    ]
    steady = demand.moments()
    for moment in steady:
        reached = _reached(vm, disk, demand, moment)
        lines += _job("", kind, moment, f"; {_wanted(moment)}", [], depth_for=max(moment.iops, reached))
    for i, moment in enumerate(demand.moments(peak=True)) if demand.peak else ():
        if moment not in steady:
            lines += _peak(kind, demand, steady[min(i, len(steady) - 1)], moment)
    return "\n".join(lines).replace(NBSP, " ") + "\n"


def _peak(kind: str, demand: Demand, steady: Moment, moment: Moment) -> list[str]:
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
        jobs = _jobs(_depth(kind, one.iops))
        more = ["ramp_time=0", f"runtime={seconds}", f"rate_iops={_rate(one.iops / jobs, demand.read_share)}"]
        lines += _job(prefix, kind, one, f"; {_wanted(one)}: {why}", more, depth_for=one.iops)
    return lines


def _job(prefix: str, kind: str, moment: Moment, note: str, more: list[str], depth_for: float) -> list[str]:
    sector = _V2_SECTOR if kind in V2 else _SECTOR
    size = max(1, round(moment.bs_bytes / sector)) * sector
    depth = _depth(kind, depth_for)
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


def _depth(kind: str, iops: float) -> int:
    return math.ceil(_AMPLE * max(1, iops * latency_s(kind)))


def _jobs(depth: int) -> int:
    return min(_MOST_JOBS, math.ceil(depth / _DEPTH))


def _rate(iops: float, read_share: float) -> str:
    """Of one of fio's jobs: reads and writes, or the one that there is."""
    if read_share in (0, 1):
        return f"{max(1, round(iops))}"
    return f"{max(1, round(iops * read_share))},{max(1, round(iops * (1 - read_share)))}"


def _reached(vm: VM, disk: Disk, demand: Demand, moment: Moment) -> float:
    """IOPS with credits: a run that gets less does not use them up in half an hour."""
    load = Load(disk.name, demand.read_share, bs_bytes=moment.bs_bytes, cache_hit=demand.cache_hit)
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
