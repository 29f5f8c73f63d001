"""How likely a rate is if one thing, and nothing else, sets it. All densities are per unit of log rate.

The spread of measured ÷ documented comes from the shipped publications (seven setups: mean 1.016,
standard deviation 0.013) and from runs of up to a minute, which reach 1.04 to 1.12 on some disks. Weights
and the spread of unloaded latencies are our judgement, calibrated on a simulator.
"""

from __future__ import annotations

import math

from azbenchlib.units import KIB

SHORT_S = 60
FIRM = (math.log(1.016), 0.016)
LOOSE = (math.log(1.06), 0.05)
LOOSE_SHARE = {"soft": 0.5, "short": 0.15, "not known": 0.08, "long": 0.03}
FAR_SHARE, FAR = 0.02, (math.log(1.05), math.log(1.75))  # Standard disks reach up to 1.7 times their MB/s
ROW_WRONG = 0.002  # chance that a documented figure does not hold at all
HARD = 1.15  # measured ÷ limit above which the documented figure cannot hold
LOOSEST = 1.12  # what some disks reach in short runs
OPEN = 1 / math.log(0.97 / 0.02)  # something that sets any rate from 2 to 97 % of the limit
ABOVE_SCALE = 0.7  # of log(measured ÷ limit) where the documented figure does not hold

# Unloaded latency in µs of a small I/O: median, and spread of its logarithm. The shipped publications
# have 145 to 221 µs on temp and ephemeral disks, 51 in a cache, 43 on NVMe, 1.3 to 4.8 ms on Premium SSD,
# below 1 ms on Ultra Disk; Standard disks are our judgement.
UNLOADED_US = {
    "local": (120.0, 0.7),
    "nvme": (70.0, 0.7),
    "Premium_": (2_200.0, 0.7),
    "UltraSSD_": (700.0, 0.7),
    "PremiumV2_": (900.0, 0.7),
    "StandardSSD_": (4_000.0, 0.8),
    "Standard_": (8_000.0, 0.9),
}
ANY_REMOTE = (2_500.0, 0.9)
# What one stream of large blocks reaches, bytes per second; our judgement.
STREAM_BYTES_PER_S = {"local": 1e9, "nvme": 2e9, "remote": 3e8}
CALIBRATED = (0.03, 0.08)  # where the unloaded latency was measured: a little more at a greater depth
ANY_DEPTH = math.log(1024)  # queue depths are 1 to 1024 where they are not known


def normal(x: float, mean: float, sd: float) -> float:
    """Density of the normal distribution."""
    return math.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))


def _survival(x: float, mean: float, sd: float) -> float:
    return math.erfc((x - mean) / (sd * math.sqrt(2))) / 2


def loose_share(soft: bool, runtime_s: float | None) -> float:
    """Share of limits that are held loosely: of Standard disks, and seen by short runs."""
    if soft:
        return LOOSE_SHARE["soft"]
    if runtime_s is None:
        return LOOSE_SHARE["not known"]
    return LOOSE_SHARE["short" if runtime_s <= SHORT_S else "long"]


def bound(use: float, loose: float) -> float:
    """Density of measured ÷ limit if this limit binds."""
    if use <= 0:
        return 0.0
    x = math.log(use)
    far = FAR_SHARE / (FAR[1] - FAR[0]) if loose >= LOOSE_SHARE["soft"] and FAR[0] <= x <= FAR[1] else 0.0
    return (1 - loose) * normal(x, *FIRM) + loose * normal(x, *LOOSE) + far


def holds(use: float, loose: float) -> float:
    """Chance that a limit is not below what was measured, so that another one may bind."""
    if use <= 0:
        return 1.0
    x = math.log(use)
    chance = (1 - loose) * _survival(x, *FIRM) + loose * _survival(x, *LOOSE)
    return ROW_WRONG + (1 - ROW_WRONG) * chance


def beyond(use: float) -> float:
    """Density of measured ÷ limit if the documented figure does not hold, and the rate is above it."""
    start = math.log(LOOSEST)
    x = math.log(use) if use > 0 else -math.inf
    return math.exp(-(x - start) / ABOVE_SCALE) / ABOVE_SCALE if x > start else 0.0


def unloaded(
    latency_us: float, serves: str, sku: str | None, bs_bytes: float | None, measured_us: float | None
) -> float:
    """Density of the latency of each I/O if nothing but the latency sets the rate."""
    if measured_us:
        return normal(math.log(latency_us / measured_us), *CALIBRATED)
    kinds = (spread for kind, spread in UNLOADED_US.items() if (sku or "").startswith(kind))
    median, sd = UNLOADED_US.get(serves) or next(kinds, ANY_REMOTE)
    larger = max(0.0, (bs_bytes or 0) - 8 * KIB) / STREAM_BYTES_PER_S[serves] * 1e6
    return normal(math.log(latency_us / (median + larger)), 0.0, sd)


def demanded(rate: float, demand: float) -> float:
    """Density of the rate if the workload asks for no more."""
    return normal(math.log(rate / demand), -0.003, 0.008) if rate > 0 and demand > 0 else 0.0
