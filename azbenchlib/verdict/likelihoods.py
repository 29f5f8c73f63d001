"""How likely a rate is if one thing, and nothing else, sets it. All densities are per unit of log rate.

The spread of measured ÷ documented comes from the shipped publications (seven setups: mean 1.016,
standard deviation 0.013) and from runs of up to a minute, which reach 1.04 to 1.12 on some disks. Weights
and the spread of unloaded latencies are our judgement, calibrated on a simulator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

from azbenchlib.azure.catalog.latency import HOST_SSD
from azbenchlib.azure.disk_kinds import LOCAL_SPREAD, REMOTE_SPREAD
from azbenchlib.core.units import KIB, US_PER_S
from azbenchlib.model.setup import VM, Disk
from azbenchlib.model.unloaded_latency import expected_us, table_of

APPROXIMATE_UP_TO_S = 60  # runs up to a minute show rates above limits that longer runs do not
FIRM = NormalDist(math.log(1.016), 0.016)
LOOSE = NormalDist(math.log(1.06), 0.05)
LOOSE_SHARE = {"soft": 0.5, "short": 0.15, "not known": 0.08, "long": 0.03}
# Standard disks reach up to 1.7 times their MB/s, and hardly ever as much above their IOPS.
FAR_SHARE, FAR_ABOVE = {"bytes_per_s": 0.12, "iops": 0.02}, (math.log(1.05), math.log(1.75))
# A short run that has no ramp time counts its start: at the end of 20 s, 0.93 to 0.965 of burst limits.
RAMPING = NormalDist(math.log(0.95), 0.02)
RAMPING_SHARE = {"burst": 0.2, "base": 0.03, "long": 0.005}
RAMPED = 0.35  # of these shares, where a ramp time went by before the run
BURST_SCALE = {"iops": 0.6, "bytes_per_s": 0.85}  # of log(burst ÷ base) of VMs that burst, by the pages
OTHER_FIGURE, BETWEEN = 0.35, 0.1  # chances where several figures of a limit are in print
ROW_WRONG = 0.002  # chance that a documented figure does not hold at all
HARD = 1.15  # measured ÷ limit above which the documented figure cannot hold
LOOSEST = 1.12  # what some disks reach in short runs
OPEN = 1 / math.log(0.97 / 0.02)  # something that sets any rate from 2 to 97 % of the limit
ABOVE_SCALE = 0.7  # of log(measured ÷ limit) where the documented figure does not hold

# Median in µs, and spread of the logarithm, where the kind of disk is not known; our judgement. Those of the
# known kinds are in the catalogue (:mod:`azbenchlib.model.unloaded_latency`).
ANY_REMOTE = (2_500.0, REMOTE_SPREAD)
ANY_DISK = (600.0, 1.8)  # where it may as well be local
# What one stream of large blocks reaches, bytes per second; our judgement.
STREAM_BYTES_PER_S = {"local": 1e9, "nvme": 2e9, "remote": 3e8}
# CPU time in µs that an I/O takes of the job that issues it: median, and spread of the logarithm. Some 18 µs
# were published of runs that nothing else limited; our judgement.
CPU_US = (11.0, 0.7)
# Where the unloaded latency was measured: a little more at a greater depth.
CALIBRATED = NormalDist(0.03, 0.06)
# Share of the host cache that writes may take before it holds them up, least and most; Azure states none.
UNWRITTEN_SHARE = (0.05, 1.0)
# What an I/O takes at most that the page cache serves: microseconds, bytes per second, and the spread of the
# logarithm. By judgement far slower than memory is in any VM; calibrated on a simulator.
MEMORY_CALL_US, MEMORY_BYTES_PER_S, MEMORY_SPREAD = 20.0, 2e8, 1.0
DEMANDED = NormalDist(-0.003, 0.008)  # of log(rate ÷ demand)
ANY_DEPTH = math.log(1024)  # queue depths are 1 to 1024 where they are not known


def loose_share(soft: bool, runtime_s: float | None) -> float:
    """Share of limits that are held loosely: of Standard disks, and seen by short runs."""
    if soft:
        return LOOSE_SHARE["soft"]
    if runtime_s is None:
        return LOOSE_SHARE["not known"]
    return LOOSE_SHARE["short" if runtime_s <= APPROXIMATE_UP_TO_S else "long"]


def _above(spread: NormalDist, x: float) -> float:
    """Chance of more than x; the upper tail itself, exact also where it is tiny."""
    return 1 - spread.cdf(x) if x < spread.mean else spread.cdf(2 * spread.mean - x)


def ramping_share(burst: bool, runtime_s: float | None, ramp_s: float | None) -> float:
    """Share of runs of a limit whose mean is pulled down by their start."""
    if runtime_s is not None and runtime_s > APPROXIMATE_UP_TO_S:
        return RAMPING_SHARE["long"]
    share = RAMPING_SHARE["burst" if burst else "base"] * (0.5 if runtime_s is None else 1.0)
    return max(RAMPING_SHARE["long"], share * RAMPED) if ramp_s else share


def bound(use: float, loose: float, quantity: str = "iops", ramping: float = 0.0) -> float:
    """Density of measured ÷ limit if this limit binds; `ramping` is the share that the start pulls down."""
    if use <= 0:
        return 0.0
    x = math.log(use)
    far = _far_share(loose, quantity)
    parts = (1 - loose) * FIRM.pdf(x) + loose * LOOSE.pdf(x)
    beyond_it = far / (FAR_ABOVE[1] - FAR_ABOVE[0]) if FAR_ABOVE[0] <= x <= FAR_ABOVE[1] else 0.0
    return (1 - ramping) * ((1 - far) * parts + beyond_it) + ramping * RAMPING.pdf(x)


def bound_of(
    others: Sequence[float], use: float, loose: float, quantity: str = "iops", ramping: float = 0.0
) -> float:
    """The same where other figures are in print: any of them may be the one, or one between them."""
    likely = bound(use, loose, quantity, ramping)
    if not others or use <= 0:
        return likely
    elsewhere = fmean(bound(use / factor, loose, quantity, ramping) for factor in others)
    low, high = min((1.0, *others)), max((1.0, *others))
    between = 1 / math.log(high / low) if low <= use <= high else 0.0
    return (1 - OTHER_FIGURE - BETWEEN) * likely + OTHER_FIGURE * elsewhere + BETWEEN * between


def open_burst(use: float, quantity: str) -> float:
    """Density of measured ÷ base if a burst limit of a VM binds whose figure is not known."""
    return open_burst_holds(use, quantity) / BURST_SCALE[quantity] if use > 1 else 0.0


def open_burst_holds(use: float, quantity: str) -> float:
    """Chance that such a burst limit is not below what was measured."""
    return math.exp(-math.log(use) / BURST_SCALE[quantity]) if use > 1 else 1.0


def holds(use: float, loose: float, quantity: str = "iops") -> float:
    """Chance that a limit is not below what was measured, so that another one may bind."""
    if use <= 0:
        return 1.0
    x = math.log(use)
    far = _far_share(loose, quantity)
    parts = (1 - loose) * _above(FIRM, x) + loose * _above(LOOSE, x)
    left = min(1.0, max(0.0, (FAR_ABOVE[1] - x) / (FAR_ABOVE[1] - FAR_ABOVE[0])))
    return ROW_WRONG + (1 - ROW_WRONG) * ((1 - far) * parts + far * left)


def _far_share(loose: float, quantity: str) -> float:
    return FAR_SHARE[quantity] if loose >= LOOSE_SHARE["soft"] else 0.0


def cpu_bound(iops: float, numjobs: int) -> float:
    """Density of the rate if the CPU time of an I/O sets it: each job issues one after the other."""
    median, sd = CPU_US
    return NormalDist(math.log(median), sd).pdf(math.log(numjobs * US_PER_S / iops)) if iops > 0 else 0.0


def beyond(use: float) -> float:
    """Density of measured ÷ limit if the documented figure does not hold, and the rate is above it."""
    start = math.log(LOOSEST)
    x = math.log(use) if use > 0 else -math.inf
    return math.exp(-(x - start) / ABOVE_SCALE) / ABOVE_SCALE if x > start else 0.0


def unloaded(
    expected: tuple[float, float], serves: str, bs_bytes: float | None, measured_us: float | None
) -> NormalDist:
    """Spread of the logarithm of an I/O's latency in µs where nothing but the latency sets the rate.

    Parameters
    ----------
    expected : (float, float)
        Median in µs of small I/Os, and the spread of its logarithm.
    serves : str
        remote, local or nvme.
    bs_bytes : float, optional
    measured_us : float, optional
        Of a run with one I/O outstanding.
    """
    if measured_us:
        return NormalDist(math.log(measured_us) + CALIBRATED.mean, CALIBRATED.stdev)
    median, sd = expected
    larger = max(0.0, (bs_bytes or 0) - 8 * KIB) / STREAM_BYTES_PER_S[serves] * US_PER_S
    return NormalDist(math.log(median + larger), sd)


def from_memory(each_us: float, bs_bytes: float | None) -> float:
    """Chance that an I/O which the page cache serves takes so many microseconds or more."""
    slowest = MEMORY_CALL_US + (bs_bytes or 0.0) / MEMORY_BYTES_PER_S * US_PER_S
    return NormalDist(math.log(slowest), MEMORY_SPREAD).cdf(2 * math.log(slowest) - math.log(each_us))


def filled(use: float, written_bytes: float, cache_bytes: float) -> float:
    """Density of the rate if a ReadWrite cache that was full from some moment on sets it.

    What was written is then what the disk took in all that time, and what the cache had room for.

    Parameters
    ----------
    use : float
        Written ÷ what the disk and the way to it take at their base limits.
    written_bytes : float
        Over the whole run.
    cache_bytes : float
        Of the VM's host cache.
    """
    if use <= 1:
        return 0.0
    least, most = UNWRITTEN_SHARE
    share = written_bytes * (1 - 1 / use) / cache_bytes
    return use / (use - 1) / math.log(most / least) if least <= share <= most else 0.0


def charged(used: float, use: float) -> float:
    """Density of the mean rate if credits ran out during the run, any share of full ones being as likely.

    Parameters
    ----------
    used : float
        Share of full credits that were used.
    use : float
        Measured ÷ base limit, above 1.
    """
    return used * use / (use - 1) if 0 < used <= 1 and use > 1 else 0.0


def expected_latency(vm: VM, disk: Disk | None, serves: str, read_share: float) -> tuple[float, float]:
    """Median in µs of a small I/O where it is served, unloaded, and the spread of its logarithm.

    The SSD of a host serves cache, temp and ephemeral disk: of each one VM was published (51 to 221 µs),
    which tells less of another VM than all of them do together. Of local NVMe only writes were published
    (43 µs), which end in the device's own cache; reads reach its flash, so the middle of both is expected.
    """
    if serves != "remote":
        host_us = math.exp(fmean(math.log(expected_us(table, read_share)) for table in HOST_SSD))
        if disk is not None and serves == "nvme":
            return math.sqrt(host_us * expected_us(table_of(vm, disk), read_share)), LOCAL_SPREAD
        return host_us, LOCAL_SPREAD
    if disk is None or not disk.in_azure:
        return ANY_DISK
    if disk.kind is None:
        return ANY_REMOTE
    return expected_us(table_of(vm, disk), read_share), disk.kind.latency_spread


def demanded(rate: float, demand: float) -> float:
    """Density of the rate if the workload asks for no more."""
    return DEMANDED.pdf(math.log(rate / demand)) if rate > 0 and demand > 0 else 0.0
