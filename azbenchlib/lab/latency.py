"""How long an unthrottled I/O takes: published quantiles where there are some, else a log-normal.

The tables are in ``data/latency.csv``, each row with its source and day: all that the shipped publications
have (`kind` is ``published``), and typical values that are our assumption within what Microsoft's pages
promise (``assumed``). Published are the quantiles of 8 KiB random writes with one outstanding; reads and
other sizes take the same, for want of better.
"""

from __future__ import annotations

import csv
import itertools
import math
import random
import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from statistics import NormalDist

from azbenchlib.errors import InputError
from azbenchlib.model.setup import VM, Disk
from azbenchlib.units import US_PER_S

TABLES = Path(__file__).parent / "data" / "latency.csv"
NONE = "none"  # the table of no latency at all
HOST_CACHE = "host-cache"
# Every 2,000 I/Os have the table's quantiles exactly, so that p99 is right after few of them.
DECK = 2_000
# Beyond the outermost published quantiles; our choice.
FASTEST, SLOWEST = 0.75, 1.25  # × p1, × p99.99
# Where only a median is published: the spread of the logarithm that the p50 and p95 of an uncached Premium
# SSD have (2,474 and 2,868 µs, dataset azure-local-disks-2020).
SIGMA = math.log(2868 / 2474) / NormalDist().inv_cdf(0.95)
LARGE_TIER = 30  # P30 and up take the latency that was published of a P30
_AMD = re.compile(r"^(?:Standard_)?[A-Z]+\d+(?:-\d+)?a")

Quantiles = Mapping[float, float]


def sampler(table: str, write: bool, seed: int) -> Callable[[], float]:
    """Draws latencies in seconds, from a shuffled deck that is dealt over and over.

    Parameters
    ----------
    table : str
        One of `names`.
    write : bool
        Whether writes (else reads), where a table has them apart.
    seed : int
        Of the shuffle.

    Raises
    ------
    InputError
        For a table that there is not.
    """
    if table == NONE:
        return itertools.repeat(0.0).__next__
    found = _tables().get(table)
    if found is None:
        raise InputError(f"no latency table '{table}'; there are: {', '.join(names())}")
    deck = deal(found["write" if write else "read"])
    random.Random(seed).shuffle(deck)  # noqa: S311  not for secrets
    return itertools.cycle([us / US_PER_S for us in deck]).__next__


def names() -> tuple[str, ...]:
    """The tables that there are."""
    return (*_tables(), NONE)


def deal(quantiles: Quantiles, n: int = DECK) -> list[float]:
    """`n` latencies in rising order whose quantiles are these.

    Parameters
    ----------
    quantiles : mapping of float to float
        Latency by percentile, 0 to 100. Of one or two a log-normal is made.
    n : int

    Returns
    -------
    list of float
        In the unit of the quantiles.
    """
    middles = [(i + 0.5) / n for i in range(n)]
    if len(quantiles) <= 2:
        return [_log_normal(quantiles, u) for u in middles]
    knots = _knots(quantiles)
    shares = [share for share, _ in knots]
    return [_between(knots, bisect(shares, u), u) for u in middles]


def table_of(vm: VM, disk: Disk) -> str:
    """The table that fits a kind of disk."""
    if disk.place == "nvme":
        return "nvme"
    if disk.role == "ephemeral_os":
        return "ephemeral"
    if disk.place == "temp":
        return "temp-amd" if _AMD.match(vm.size or "") else "temp"
    kinds = {"UltraSSD_": "ultra", "PremiumV2_": "premium-v2", "StandardSSD_": "standard-ssd"}
    sku = disk.sku or ""
    for start, name in (*kinds.items(), ("Standard_", "standard-hdd"), ("Premium_ZRS", "premium-zrs")):
        if sku.startswith(start):
            return name
    tier = disk.tier or ""
    return "premium-large" if tier[1:].isdigit() and int(tier[1:]) >= LARGE_TIER else "premium"


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


def _between(knots: list[tuple[float, float]], j: int, u: float) -> float:
    (low, slow), (high, fast) = knots[j - 1], knots[j]
    return math.exp(math.log(slow) + math.log(fast / slow) * (u - low) / (high - low))


def _log_normal(quantiles: Quantiles, u: float) -> float:
    """Of its median and, where it is given, another quantile."""
    median = quantiles[50]
    others = [
        math.log(value / median) / NormalDist().inv_cdf(percentile / 100)
        for percentile, value in quantiles.items()
        if percentile != 50
    ]
    return median * math.exp((others[0] if others else SIGMA) * NormalDist().inv_cdf(u))


@cache
def _tables() -> dict[str, dict[str, dict[float, float]]]:
    """Table and direction to quantiles in µs."""
    found: dict[str, dict[str, dict[float, float]]] = defaultdict(lambda: {"read": {}, "write": {}})
    with TABLES.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for ddir in [row["serves"]] if row["serves"] else ["read", "write"]:
                found[row["profile"]][ddir][float(row["percentile"])] = float(row["lat_us"])
    return dict(found)
