"""How long an I/O takes on a disk that nothing throttles, by the catalogue's tables of latencies.

The lab draws from these distributions, a verdict expects them, and advice sizes queues by them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping
from statistics import NormalDist

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.catalog import latency
from azbenchlib.azure.disk_kinds import DiskKind, LatencyTable
from azbenchlib.model.setup import VM, Disk

# Beyond the outermost published quantiles; our choice.
FASTEST, SLOWEST = 0.75, 1.25  # × p1, × p99.99
# Where only a median is published: the spread of the logarithm that the p50 and p95 of an uncached Premium
# SSD have (2,474 and 2,868 µs, dataset azure-local-disks-2020).
SIGMA = math.log(2868 / 2474) / NormalDist().inv_cdf(0.95)
MEDIAN = 50.0

Quantiles = Mapping[float, float]


def table_of(vm: VM, disk: Disk) -> str:
    """The table that fits a disk; of an unknown kind that of Premium SSD."""
    if disk.place == "nvme":
        return _table(disk_kinds.NVME, vm, disk)
    if disk.role == "ephemeral_os":
        return latency.EPHEMERAL
    return _table(disk.kind or disk_kinds.PREMIUM, vm, disk)


def expected_us(table: str, read_share: float, percentile: float = MEDIAN) -> float:
    """The latency in µs at a percentile: of reads and of writes, mixed in the logarithm by their shares."""
    write, read = (math.log(quantile_us(table, write, percentile)) for write in (True, False))
    return math.exp(read_share * read + (1 - read_share) * write)


def quantile_us(table: str, write: bool, percentile: float) -> float:
    """The latency in µs of writes, else of reads, at a percentile (0 to 100): stated, or in between.

    Raises
    ------
    InputError
        For a table that there is not.
    """
    stated = latency.percentiles(table, write)
    return stated[percentile] if percentile in stated else distribution(stated)(percentile / 100)


def distribution(quantiles: Quantiles) -> Callable[[float], float]:
    """The latency at each share (0 to 1) of the I/Os, the fastest first.

    Parameters
    ----------
    quantiles : mapping of float to float
        Latency by percentile, 0 to 100. Of one or two a log-normal is made.
    """
    if len(quantiles) <= 2:
        return lambda share: _log_normal(quantiles, share)
    knots = _knots(quantiles)
    shares = [share for share, _ in knots]
    return lambda share: _between(knots, bisect(shares, share), share)


def _table(kind: DiskKind, vm: VM, disk: Disk) -> str:
    size = (vm.size or "").removeprefix("Standard_")
    redundancy = (disk.sku or "").partition("_")[2]
    tier = disk_kinds.tier_number(disk.tier)

    def fits(table: LatencyTable) -> bool:
        like = re.match(table.vm_pattern, size) is not None
        return table.redundancy in (None, redundancy) and tier >= table.least_tier and like

    return next(table.name for table in kind.latency_tables if fits(table))


def _knots(quantiles: Quantiles) -> list[tuple[float, float]]:
    """Shares (0 to 1) and latencies between which the logarithm is interpolated.

    Each published quantile holds over a small plateau around it: between p99 and p99.9 the slope is so
    steep that a few late I/Os of 10,000 would shift p99. Only the shape between published points, which
    nobody knows, changes.
    """
    points = sorted((percentile / 100, value) for percentile, value in quantiles.items())
    knots = [(0.0, FASTEST * points[0][1])]
    for share, value in points:
        half = 0.25 * (1 - share) if share > 0.6 else min(0.01, 0.25 * share)
        knots += [(share - half, value), (share + half, value)]
    return [*knots, (1.0, SLOWEST * points[-1][1])]


def _between(knots: list[tuple[float, float]], j: int, share: float) -> float:
    (low, slow), (high, fast) = knots[j - 1], knots[j]
    return math.exp(math.log(slow) + math.log(fast / slow) * (share - low) / (high - low))


def _log_normal(quantiles: Quantiles, share: float) -> float:
    """Of its median and, where it is given, another quantile."""
    median = quantiles[MEDIAN]
    others = [
        math.log(value / median) / NormalDist().inv_cdf(percentile / 100)
        for percentile, value in quantiles.items()
        if percentile != MEDIAN
    ]
    return median * math.exp((others[0] if others else SIGMA) * NormalDist().inv_cdf(share))
