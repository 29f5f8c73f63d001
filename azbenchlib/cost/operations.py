"""Billed operations: transactions of Standard disks, and those above what a bursting disk has."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.disk_kinds import IO_UNIT_BYTES
from azbenchlib.core.units import KIB, MB, MIB, S_PER_HOUR

# Transactions above what is provisioned are billed by the 10,000, MB/s as I/Os of 256 KiB.
# Source: includes/managed-disks-bursting-2.md@2e4af987 (2025-01-14).
BURST_UNIT = 10_000
BURST_IOS_PER_MB = MIB // IO_UNIT_BYTES
# S4, S6, S70 and S80 count I/Os in units of 16 KiB, S70 and S80 at most 16 of an I/O, up to a cap an hour;
# the others count I/Os. In these regions all count I/Os. Source: Azure Storage Blog, "Understanding the
# Standard HDD I/O unit size update", 2026-03-10; disks-understand-billing.md.
HDD_UNIT_BYTES = 16 * KIB
HDD_CAPS = {"S4": 450_000, "S6": 858_000, "S70": 93_000_000, "S80": 110_000_000}
HDD_MOST_UNITS = {"S70": 16, "S80": 16}
HDD_PLAIN_REGIONS = ("eastus", "northeurope")


@dataclass(frozen=True)
class Burst:
    """So many seconds in which each bursting disk is asked for more than it has."""

    seconds: float
    iops: float = 0.0
    bytes_per_s: float = 0.0


def burst_transactions(bursts: Iterable[Burst], iops: float, bytes_per_s: float) -> int:
    """Transactions above what is provisioned, in one disk: each second the larger of I/Os and 256 KiB units.

    Parameters
    ----------
    bursts : iterable of Burst
    iops, bytes_per_s : float
        The disk's own. MB/s are turned to I/Os as Azure does, times 1024 / 256.

    Returns
    -------
    int
        10 s at 6,000 and 60 s at 7,000 IOPS of a P30 are 130,000. Source: managed-disks-bursting-2.md,
        "Billing".
    """
    per_io = MB / BURST_IOS_PER_MB
    above = (b.seconds * max(b.iops - iops, (b.bytes_per_s - bytes_per_s) / per_io, 0) for b in bursts)
    return math.ceil(round(sum(above), 6))


def burst_units(bursts: Iterable[Burst], iops: float, bytes_per_s: float) -> int:
    """The same in packs of 10,000, as they are billed: 13 in that example."""
    return math.ceil(burst_transactions(bursts, iops, bytes_per_s) / BURST_UNIT)


def transactions(
    tier: str, region: str, ios_per_s: float, bs_bytes: int, ssd_cap: int | None = None
) -> Decimal:
    """Billed transactions of one Standard disk in an hour: in units of its kind, up to its cap.

    Parameters
    ----------
    tier : str
        Such as E10 or S4.
    region : str
    ios_per_s : float
        On average.
    bs_bytes : int
        Size of an I/O.
    ssd_cap : int, optional
        Most that is billed of a Standard SSD in an hour. None: none is known.
    """
    kind = disk_kinds.of_tier(tier)
    unit = kind.billing.operations_unit_bytes if kind and kind.billing else None
    units, cap = 1, None
    if unit:
        units, cap = math.ceil(bs_bytes / unit), ssd_cap
    elif tier in HDD_CAPS and region not in HDD_PLAIN_REGIONS:
        units = min(math.ceil(bs_bytes / HDD_UNIT_BYTES), HDD_MOST_UNITS.get(tier, bs_bytes))
        cap = HDD_CAPS[tier]
    an_hour = Decimal(str(ios_per_s)) * S_PER_HOUR * units
    return an_hour if cap is None else min(an_hour, Decimal(cap))
