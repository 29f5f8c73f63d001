"""What each interval of a history needs of every limit of a setup, in parts of that limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from azbenchlib.core.errors import InputError
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.io_path import Leg, Load, legs
from azbenchlib.model.labels import Label
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.setup import Setup, Volume

_ROUNDING = 1e-10  # of a need that is just the limit


@dataclass(frozen=True, kw_only=True)
class PassedLimit:
    """One limit and what a load needs of it.

    Parameters
    ----------
    label : Label
    need : ndarray
        Of each interval, in parts of the base limit, shape (n,): 1 is all of it.
    burst_need : ndarray
        The same in parts of the burst limit; equal to `need` where there is no burst.
    credit_s : float
        A full bucket, in seconds of the base limit; 0: no burst.
    """

    label: Label
    need: Series
    burst_need: Series
    credit_s: float

    @cached_property
    def listed(self) -> tuple[list[float], list[float]]:
        """Both needs as lists: single values of these are found faster than those of arrays."""
        return self.need.tolist(), self.burst_need.tolist()

    def lasts_s(self, lengths: Series) -> float:
        """How long full credits last a load that comes again and again; infinite: for ever.

        Parameters
        ----------
        lengths : ndarray
            Of the intervals in s, shape (n,).
        """
        above = float(np.average(self.need, weights=lengths)) - 1
        return self.credit_s / above if above > _ROUNDING else math.inf

    def repeated(self, times: int) -> PassedLimit:
        """What a load needs that comes so many times."""
        need, burst_need = (np.tile(one, times) for one in (self.need, self.burst_need))
        return replace(self, need=need, burst_need=burst_need)

    @cached_property
    def above_base(self) -> npt.NDArray[np.intp]:
        """The intervals that need more than the base limit."""
        return np.flatnonzero(self.need > 1)


@dataclass(frozen=True)
class Amount:
    """What of a history passes one limit: I/Os or bytes per second, of reads and of writes, shape (n,)."""

    leg: Leg
    quantity: str
    reads: Series
    writes: Series

    @cached_property
    def total(self) -> Series:
        """Both."""
        return self.reads + self.writes


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
    found = (needed(amount, amount.leg) for amount in amounts(setup, history, cache_hit))
    return tuple(limit for limit in found if limit is not None)


def amounts(setup: Setup, history: LoadHistory, cache_hit: float | None = None) -> tuple[Amount, ...]:
    """What passes each limit on the way to a volume, documented or not; see :func:`passed_limits`."""
    rates = {
        "iops": (history.read_iops, history.write_iops),
        "bytes_per_s": (history.read_bytes_per_s, history.write_bytes_per_s),
    }
    unit = the_volume(setup).disk.io_unit_bytes
    counted = [
        ios_counted(iops, size, unit) for iops, size in zip(rates["iops"], rates["bytes_per_s"], strict=True)
    ]
    found = []
    for read, write in legs_of(setup, cache_hit):
        for quantity, (reads, writes) in rates.items():
            weights = counted if quantity == "iops" and read.scope == "disk" else (1.0, 1.0)
            found.append(
                Amount(read, quantity, reads * weights[0] * read.reads, writes * weights[1] * write.writes)
            )
    return tuple(found)


def the_volume(setup: Setup) -> Volume:
    """The only volume of a setup."""
    volumes = setup.volumes()
    if len(volumes) != 1:
        raise InputError(f"a load is replayed on one volume; the setup has {len(volumes)}")
    return volumes[0]


def legs_of(setup: Setup, cache_hit: float | None = None) -> list[tuple[Leg, Leg]]:
    """The limits on the way of reads, and of writes, to the volume of a setup."""
    return list(zip(*(way(setup, share, cache_hit) for share in (1.0, 0.0)), strict=True))


def way(setup: Setup, read_share: float, cache_hit: float | None = None) -> Iterator[Leg]:
    """The limits on the way of a load to the volume of a setup."""
    volume = the_volume(setup)
    load = Load(volume=volume.name, read_share=read_share, iops=1, cache_hit=cache_hit)
    return legs(setup.vm, volume, load)


def ios_counted(iops: Series, bytes_per_s: Series, unit_bytes: int | None) -> Series:
    """How many I/Os a disk counts for one, in each interval: one for each `unit_bytes` of its mean size."""
    if unit_bytes is None:
        return np.ones_like(iops)
    size = np.divide(bytes_per_s, iops, out=np.zeros_like(iops), where=iops > 0)
    # a mean of whole I/Os of one unit may be above it by a rounding
    return np.maximum(1.0, np.ceil(np.round(size / unit_bytes, 9)))


def needed(amount: Amount, leg: Leg) -> PassedLimit | None:
    """What an amount needs of a limit; None: that limit is not documented.

    Reads and writes with limits of their own share what is behind them.
    """
    quantity = amount.quantity
    base, burst = leg.cap.limit(quantity), leg.cap.limit(quantity, bursting=True)
    writes = leg.cap.limit(quantity, write=True)
    if base is None or burst is None or writes is None:
        return None
    bursts = burst > base
    label = leg.label(quantity, bursting=bursts)
    own = writes if getattr(leg.cap, f"write_{quantity}") is not None else None
    need = _parts(amount, base, own)
    return PassedLimit(
        label=label,
        need=need,
        burst_need=_parts(amount, burst, own) if bursts else need,
        credit_s=(burst / base - 1) * BURST_S if bursts else 0.0,
    )


def _parts(amount: Amount, limit: float, of_writes: float | None) -> Series:
    """An amount in parts of a limit; `of_writes`: writes have their own."""
    alike = of_writes is None
    need = amount.total / limit if alike else amount.reads / limit + amount.writes / (of_writes or limit)
    need[np.abs(need - 1) < _ROUNDING] = 1.0
    return need
