"""Burst credits: how long a burst lasts, how long it takes to come back, and the balance in between.

A bucket for IOPS and one for bytes, of each disk and of the VM's cached and uncached limit, independent
of each other. It starts full; what is left unused below the base limit fills it; what is used above the
base limit empties it. Sources: MicrosoftDocs/azure-compute-docs articles/virtual-machines/disk-bursting.md
@1827cf35 (2023-05-02) and includes/managed-disks-bursting-2.md@2e4af986 (2025-01-14).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.model.io_path import QUANTITIES
from azbenchlib.model.setup import Cap

# A full bucket lasts 30 minutes at the largest burst (source above), so it holds (burst − base) × 1800 s.
BURST_S = 1800


@dataclass(frozen=True)
class Bucket:
    """Credits of one limit. `base` and `burst` per second, in IOPS or in bytes.

    Raises
    ------
    InputError
        When the burst is not above the base.
    """

    base: float
    burst: float
    window_s: float = BURST_S

    def __post_init__(self) -> None:
        if not 0 <= self.base < self.burst < math.inf:
            raise InputError(f"burst limit {self.burst} is not above the base limit {self.base}: no credits")

    @property
    def capacity(self) -> float:
        """Credits when full: I/Os or bytes."""
        return (self.burst - self.base) * self.window_s

    def delivered(self, rate: float, balance: float) -> float:
        """What is delivered of a demanded rate: up to the burst while there are credits, then the base."""
        return min(rate, self.burst if balance > 0 else self.base)

    def time_to_empty(self, rate: float = math.inf, balance: float | None = None) -> float:
        """Seconds from `balance` (None: full) until a demand of `rate` per second is held at the base."""
        spent = min(rate, self.burst) - self.base
        left = self.capacity if balance is None else balance
        return left / spent if spent > 0 else math.inf

    def time_to_refill(self, rate: float = 0.0, balance: float = 0.0) -> float:
        """Seconds from `balance` until the bucket is full, while `rate` per second is used."""
        gained = self.base - rate
        missing = self.capacity - balance
        if missing <= 0:
            return 0.0
        return missing / gained if gained > 0 else math.inf


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A time over which everything is constant: seconds, what was delivered per second, and credits."""

    start_s: float
    end_s: float
    rate: float
    delivered: float
    balance_start: float
    balance_end: float


def buckets(cap: Cap) -> dict[str, Bucket]:
    """The buckets of a limit, by ``iops`` and ``bytes_per_s``; only where there is a burst."""
    found = {}
    for quantity in QUANTITIES:
        base, burst = cap.limit(quantity), cap.limit(quantity, bursting=True)
        if base is not None and burst is not None and burst > base:
            found[quantity] = Bucket(base, burst)
    return found


def balance(
    bucket: Bucket, steps: Sequence[tuple[float, float]], start: float | None = None
) -> Iterator[Stretch]:
    """How the balance goes under a load that is constant in steps.

    Parameters
    ----------
    bucket : Bucket
    steps : sequence of (float, float)
        Seconds, and the demand per second in them.
    start : float, optional
        Credits at the beginning. None: full, as a new disk is.

    Yields
    ------
    Stretch
        A step, cut where the bucket becomes empty or full.

    Raises
    ------
    InputError
        For a negative time or demand, or a start that the bucket cannot hold.
    """
    left = bucket.capacity if start is None else start
    if not 0 <= left <= bucket.capacity:
        raise InputError(f"credits at the start: {left} is not between 0 and {bucket.capacity}")
    now = 0.0
    for seconds, rate in steps:
        if not (0 <= seconds < math.inf and rate >= 0):
            raise InputError(f"step of {seconds} s at {rate} per second: both must be 0 or more")
        while seconds > 0:
            delivered = bucket.delivered(rate, left)
            if rate > bucket.base:
                until, after = bucket.time_to_empty(rate, left) if left > 0 else math.inf, 0.0
            else:
                until, after = bucket.time_to_refill(rate, left) or math.inf, bucket.capacity
            lasts = min(seconds, until)
            gained = (bucket.base - delivered) * lasts
            end = after if lasts == until else min(left + max(gained, -left), bucket.capacity)
            yield Stretch(
                start_s=now,
                end_s=now + lasts,
                rate=rate,
                delivered=delivered,
                balance_start=left,
                balance_end=end,
            )
            now, seconds, left = now + lasts, seconds - lasts, end
