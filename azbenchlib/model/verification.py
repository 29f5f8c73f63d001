"""The fio job that shows whether a design delivers what it is chosen for."""

import math

from azbenchlib.model.demand import LOCAL, V2, Demand, Moment
from azbenchlib.model.setup import VM, Disk
from azbenchlib.units import GIB, NBSP, fio_size_text, format_count, format_mbps, format_size

FILE = "/mnt/data/azbench.fio"
_MOST_SIZE = 100 * GIB
_DEPTH, _MOST_JOBS = 64, 16
_SECTOR = 512
_DRAINED_S = 1_860  # full credits last 30 min at the largest burst (model/credits.py)
_WARM_S, _RUN_S = 30, 300
_AMPLE = 2  # times the depth of Little's law: the disks are to hold it back, not the depth


def latency_s(kind: str) -> float:
    """The most that one I/O of an unloaded disk of this kind is said to take (see `demand.LATENCY_KINDS`)."""
    return 0.0003 if kind in LOCAL else 0.001 if kind in V2 else 0.010


def outstanding(kind: str, demand: Demand) -> int:
    """How many I/Os the application has to keep outstanding, by Little's law, to use what it asks for."""
    return max(1, math.ceil(round(demand.highest[0] * latency_s(kind), 6)))


def fio_job(kind: str, vm: VM, disk: Disk, demand: Demand) -> str:
    """A job file that drives the volume as hard as it goes, with the demand's mix.

    Parameters
    ----------
    kind : str
    vm : VM
    disk : Disk
    demand : Demand
    """
    credits = not disk.local and bool(vm.uncached.burst_iops or disk.cap.burst_iops)
    lines = [
        f"; {vm.size} with {disk.name}: at least what is said below, or it is not what was asked for.",
        *(["; The first half hour uses up burst credits; it is not counted."] if credits else []),
        f"; Writes to {FILE}: put the file on the volume.",
        "[global]",
        f"filename={FILE}",
        f"size={fio_size_text(int(_size(disk, demand)))}",
        "ioengine=libaio",
        "direct=1",
        *_pattern(demand.read_share),
        "time_based",
        f"ramp_time={_DRAINED_S if credits else _WARM_S}",
        f"runtime={_RUN_S}",
        "group_reporting",
    ]
    for moment in demand.moments():
        lines += _job(kind, moment)
    if demand.peak:
        for moment in demand.moments(peak=True):
            lines += _job(kind, moment, demand.peak.seconds)
    return "\n".join(lines).replace(NBSP, " ") + "\n"


def _job(kind: str, moment: Moment, peak_s: float = 0) -> list[str]:
    size = max(1, round(moment.bs_bytes / _SECTOR)) * _SECTOR
    depth = math.ceil(_AMPLE * max(1, moment.iops * latency_s(kind)))
    jobs = min(_MOST_JOBS, math.ceil(depth / _DEPTH))
    name = f"{'peak-' if peak_s else ''}{fio_size_text(size)}"
    wanted = f"{format_count(moment.iops)} IOPS, {format_mbps(moment.bytes_per_s)} MB/s"
    rested = ["; after a rest in which the credits came back", "ramp_time=0"] if peak_s else []
    return [
        "",
        f"[{name}]",
        f"; {wanted} in I/Os of {format_size(size)}",
        *rested,
        "stonewall",
        f"bs={fio_size_text(size)}",
        f"iodepth={math.ceil(depth / jobs)}",
        f"numjobs={jobs}",
        *([f"runtime={math.ceil(peak_s)}"] if peak_s else []),
    ]


def _pattern(read_share: float) -> list[str]:
    if read_share in (0, 1):
        return ["rw=randread" if read_share else "rw=randwrite"]
    return ["rw=randrw", f"rwmixread={round(read_share * 100)}"]


def _size(disk: Disk, demand: Demand) -> float:
    return max(_SECTOR, min(_MOST_SIZE, demand.size_bytes) // _SECTOR * _SECTOR)
