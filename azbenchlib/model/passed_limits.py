"""What each interval of a history needs of every limit of a setup, in parts of that limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azbenchlib.core.errors import InputError
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.io_path import QUANTITIES, Leg, Load, legs
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.setup import Setup

_ROUNDING = 1e-10  # of a need that is just the limit


@dataclass(frozen=True, kw_only=True)
class PassedLimit:
    """One limit and what a load needs of it.

    Parameters
    ----------
    label : str
        Such as ``vm_uncached_iops``.
    need : ndarray
        Of each interval, in parts of the base limit, shape (n,): 1 is all of it.
    burst_need : ndarray
        The same in parts of the burst limit; equal to `need` where there is no burst.
    credit_s : float
        A full bucket, in seconds of the base limit; 0: no burst.
    """

    label: str
    need: Series
    burst_need: Series
    credit_s: float


def passed_limits(
    setup: Setup, history: LoadHistory, cache_hit: float | None = None
) -> tuple[PassedLimit, ...]:
    """Every documented limit on the way of a load to a volume, with what the load needs of it.

    Parameters
    ----------
    setup : Setup
        With one volume.
    history : LoadHistory
        All of it goes to that volume.
    cache_hit : float, optional
        Share of reads that the host cache serves. None: as the disk says, or 0.

    Returns
    -------
    tuple of PassedLimit
        By the paths of :func:`azbenchlib.model.io_path.legs`; an I/O counts by the mean size of the reads, or
        of the writes, of its interval. A limit that is not documented is not among them.

    Raises
    ------
    InputError
        When the setup has not just one volume.
    """
    volumes = setup.volumes()
    if len(volumes) != 1:
        raise InputError(f"a load is replayed on one volume; the setup has {len(volumes)}")
    volume = volumes[0]
    rates = {
        "iops": (history.read_iops, history.write_iops),
        "bytes_per_s": (history.read_bytes_per_s, history.write_bytes_per_s),
    }
    of_reads, of_writes = (
        list(legs(setup.vm, volume, Load(volume=volume.name, read_share=share, iops=1, cache_hit=cache_hit)))
        for share in (1.0, 0.0)
    )
    unit = volume.disk.io_unit_bytes
    counted = [ios_counted(*pair, unit) for pair in zip(*rates.values(), strict=True)]
    found = []
    for read, write in zip(of_reads, of_writes, strict=True):
        for quantity, (reads, writes) in rates.items():
            weights = counted if quantity == "iops" and read.stem == "disk" else (1.0, 1.0)
            amounts = (reads * weights[0] * read.reads, writes * weights[1] * write.writes)
            found += _passed(read, quantity, amounts)
    return tuple(found)


def ios_counted(iops: Series, bytes_per_s: Series, unit_bytes: int | None) -> Series:
    """How many I/Os a disk counts for one, in each interval: one for each `unit_bytes` of its mean size."""
    if unit_bytes is None:
        return np.ones_like(iops)
    size = np.divide(bytes_per_s, iops, out=np.zeros_like(iops), where=iops > 0)
    # a mean of whole I/Os of one unit may be above it by a rounding
    return np.maximum(1.0, np.ceil(np.round(size / unit_bytes, 9)))


def _passed(leg: Leg, quantity: str, amounts: Sequence[Series]) -> list[PassedLimit]:
    """One quantity of a limit; reads and writes with limits of their own share what is behind them."""
    needs = []
    for bursting in (False, True):
        limits = [leg.cap.limit(quantity, bursting, write) for write in (False, True)]
        if None in limits:
            return []
        need = sum(amount / limit for amount, limit in zip(amounts, limits, strict=True) if limit)
        needs.append(np.where(np.abs(need - 1) < _ROUNDING, 1.0, need))
    base, burst = leg.cap.limit(quantity), leg.cap.limit(quantity, bursting=True)
    credit_s = (burst / base - 1) * BURST_S if base and burst else 0.0
    label = leg.label(quantity, bursting=credit_s > 0)
    return [PassedLimit(label=label, need=needs[0], burst_need=needs[1], credit_s=credit_s)]
