"""The checks of one run: how it was made, and whether its figures fit each other.

They work on an :class:`~azbenchlib.analysis.observation.Observation`, so that runs of a dataset and published
cases are held to the same rules. None: there is nothing to report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from azbenchlib.analysis.flow import block_size, direction
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.findings import INFO, WARNING, Code, Finding
from azbenchlib.core.units import (
    KIB,
    US_PER_S,
    format_count,
    format_mbps,
    format_significant,
    format_size,
    format_us,
)

SHORT_S = 30  # our choice: caches fill and throttles set in within seconds, while credits may last 30 min
TIMES_RAM = 2  # a file so much larger than the memory cannot be held by the page cache
EARLY = 0.99  # of the run time requested: a job that ends before ended by itself
RATE_TOLERANCE = 0.01  # below the 2.4 % between KiB and KB, the smallest mistake of units
LOAD_TOLERANCE = 0.05  # of the queue depth; our choice
RAMP_SURPLUS = 2  # times the queue depth, at most, when a ramp ends; fio 3.33 counted 1 to 1.3
MONITOR_APART = 0.1  # of the tool's rate; our choice: Azure's minutes are not those of the run
MINUTES_S = 180  # a run this long fills two minutes of Azure Monitor at least
OWN_TIME_US = 10  # between two I/Os, fio itself takes up to some µs

RunCheck = Callable[[Observation], Finding | None]


def page_cache_suspected(seen: Observation) -> Finding | None:
    """Whether the page cache of the operating system may have answered; never of direct I/O."""
    if seen.direct is not False:
        return None
    size, ram, severity = seen.working_set_bytes, seen.ram_bytes, None
    if not size or not ram:
        known = f"; its data are {format_size(size)}" if size else ""
        what = f"buffered I/O, so the page cache may have answered{known}"
    elif size < TIMES_RAM * ram:
        what = f"buffered I/O on {format_size(size)} with {format_size(ram)} of RAM: the page cache"
        what += " may hold it all" if size <= ram else " may hold most of it"
    else:
        severity = INFO
        what = (
            f"buffered I/O, though on {format_size(size)}, {format_significant(size / ram, 3)} times the RAM"
        )
    option = "-I (direct I/O)" if seen.tool == "iozone" else "--direct=1"
    larger = f", or on at least {format_size(TIMES_RAM * ram)}" if ram else ""
    return Finding.of(Code.PAGE_CACHE_SUSPECTED, what, f"Run again with {option}{larger}", severity)


def too_short(seen: Observation) -> Finding | None:
    """Whether what sets in later cannot be seen; on emulated disks, credits are as short as the run."""
    runtime_s = seen.runtime_s or seen.runtime_limit_s
    if seen.is_emulated or runtime_s is None or runtime_s >= SHORT_S:
        return None
    took = _seconds(runtime_s)
    what = f"it took {took}: too short to see what sets in later, such as the end of burst credits"
    return Finding.of(Code.TOO_SHORT, what)


def ended_by_size(seen: Observation) -> Finding | None:
    """Whether the job had done all its data before its time was over."""
    limit_s, runtime_s = seen.runtime_limit_s, seen.runtime_s
    if seen.time_based is not False or not limit_s or runtime_s is None or runtime_s >= EARLY * limit_s:
        return None
    what = f"it ended by its size after {_seconds(runtime_s)} of {_seconds(limit_s)}"
    return Finding.of(Code.ENDED_BY_SIZE, what, f"Run again with --time_based --runtime={limit_s:g}")


def rate_mismatch(seen: Observation) -> Finding | None:
    """Whether IOPS times block size is another throughput than reported."""
    size = block_size(seen)
    if not (seen.iops and seen.bw_bytes_per_s and size):
        return None
    made, reported = seen.iops * size, seen.bw_bytes_per_s
    # fio before 2.2 has whole IOPS, and whole KiB/s before 3.2
    rounding = max(KIB, size if seen.iops == round(seen.iops) else 0)
    if abs(made - reported) <= max(RATE_TOLERANCE * reported, rounding, _of_the_ramp(seen, size)):
        return None
    what = (
        f"{format_count(seen.iops)} IOPS of {format_size(size)} are {format_mbps(made)} MB/s, "
        f"but {format_mbps(reported)} MB/s are given ({direction(seen)})"
    )
    return Finding.of(Code.RATE_MISMATCH, what, "Look up block size and units in the original output")


def _of_the_ramp(seen: Observation, size: float) -> float:
    """Bytes per second that a ramp explains: fio counts the bytes alone of what was under way at its end."""
    if not (seen.ramp_s and seen.queue_depth and seen.runtime_s):
        return 0
    return RAMP_SURPLUS * seen.queue_depth * size / seen.runtime_s


def load_mismatch(seen: Observation) -> Finding | None:
    """Whether by Little's law another number of I/Os was outstanding than requested."""
    depth = seen.queue_depth
    if not (depth and seen.iops and seen.mean_us):
        return None
    outstanding = seen.iops * seen.mean_us / US_PER_S
    if abs(depth - outstanding) <= LOAD_TOLERANCE * depth:
        return None
    makes = format_significant(outstanding, 3)
    what = f"queue depth {format_count(depth)} was requested, but IOPS × mean latency makes {makes}"
    if outstanding > depth:
        advice = "Look whether rates, latencies and options are of the same jobs (numjobs, group_reporting)"
        return Finding.of(Code.LOAD_MISMATCH, what, advice)
    if seen.rate_iops is not None:
        what += f"; the run was limited by its own rate limit of {format_count(seen.rate_iops)} IOPS"
        advice = "Take the latencies as those of this rate, not of this depth"
        return Finding.of(Code.LOAD_MISMATCH, what, advice, INFO)
    gap_us = (depth - outstanding) / seen.iops * US_PER_S
    what += f"; {format_us(gap_us)} between I/Os went elsewhere"
    if gap_us < OWN_TIME_US:
        advice = "fio's own time shows on so fast a disk; for its limit add jobs or depth"
        return Finding.of(Code.LOAD_MISMATCH, what, advice, INFO)
    advice = "Look for think time, fsync, a rate limit, buffered I/O or a busy CPU; the disk had spare time"
    return Finding.of(Code.LOAD_MISMATCH, what, advice)


def azures_own_view(seen: Observation) -> Finding | None:
    """What Azure Monitor says of the run, beside what the tool counted."""
    parts = []
    own = seen.device_iops if seen.device_iops is not None else seen.iops
    if seen.monitor_iops is not None:
        beside = "" if own is None else f", and {seen.tool or 'the tool'} {format_count(round(own))}"
        parts.append(f"it counted {format_count(round(seen.monitor_iops))} IOPS at the disks{beside}")
    shares = {
        **seen.consumed_pct,
        **{f"{name} credits": value for name, value in seen.credits_used_pct.items()},
    }
    used = [f"{name.replace('_', ' ')} {value:.3g} %" for name, value in shares.items() if value]
    parts += [f"it shows as used: {', '.join(used)}"] if used else []
    if not parts:
        return None
    what = f"Azure Monitor: {'; '.join(parts)}"
    long_enough = seen.runtime_s is not None and seen.runtime_s >= MINUTES_S
    if (
        own
        and seen.monitor_iops is not None
        and long_enough
        and abs(seen.monitor_iops / own - 1) > MONITOR_APART
    ):
        advice = "Look for other load on the disks, and for I/Os that were merged or split on their way"
        return Finding.of(Code.AZURE_MONITOR, what, advice, WARNING)
    return Finding.of(Code.AZURE_MONITOR, what, severity=INFO)


RUN_CHECKS: Mapping[Code, RunCheck] = {
    Code.AZURE_MONITOR: azures_own_view,
    Code.PAGE_CACHE_SUSPECTED: page_cache_suspected,
    Code.TOO_SHORT: too_short,
    Code.ENDED_BY_SIZE: ended_by_size,
    Code.RATE_MISMATCH: rate_mismatch,
    Code.LOAD_MISMATCH: load_mismatch,
}


def check_run(seen: Observation) -> list[Finding]:
    """What all of these checks report of a run."""
    return [finding for check in RUN_CHECKS.values() if (finding := check(seen)) is not None]


def _seconds(value: float) -> str:
    return format_us(value * US_PER_S)
