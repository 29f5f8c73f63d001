"""The cache in front of a disk: single reads at random places of growing working sets.

A cache that keeps what was read last, or anything of it, holds the share min(1, C ÷ W) of a working set W
that was read whole; so of W > C that share of the reads is fast. How many are faster than a threshold between
hits and misses is therefore f + (g - f) min(1, C ÷ W): f of the misses are as fast, g of the hits. No rate
has to be known for it, and a cap that holds misses back does not matter. The law is that of uniform random
reads; where a cache is filled by other rules, the runs disagree and the interval is wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from azbenchlib.core.units import KIB, MIB, format_size
from azbenchlib.probing.drain import Interval
from azbenchlib.probing.portrait import Portrait

SMALLEST_SET_BYTES = 4 * MIB
LEAST_SETS = 16  # times the smallest that the largest must be
FILL_BYTES = 256 * KIB  # of a read that fills
FILL_DEPTH = 16
MOST_FILLS = 6  # passes over one working set
READ_ENOUGH = 0.99  # of a working set that was read before it counts as whole
SET_STEP = math.sqrt(2.0)  # between one working set and the next larger one
MOST_STEPS = 9  # working sets that are measured
CACHE_WIDTH = 0.1  # half of the interval, relative to the size: from there on it is known
STEP_SHARE = 0.1  # difference of the shares of fast reads that is taken for a step
STEP_TO_NOISE = 3.0  # ... and at least so many times that of two runs over the same data
# Standard error of a share beside that of counting, for latencies drift on any disk; our judgement.
SHARE_ERROR = 0.01
ABOVE_THE_STEP, BELOW_THE_STEP = (
    1.5,
    0.75,
)  # × the size: one run that tells it best, one that should see all hits
SURE_CHI2 = 3.84  # 95 % of one degree of freedom
SIZES_TRIED = 4_000
MEDIAN_Z = 0.98  # half of 1.96: the standard error of a median's rank is √n ÷ 2

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, order=True)
class CacheRun:
    """Reads of a working set, the first `set_bytes` of the data.

    `fill`: all of it once, in large reads; else single reads of 4 KiB for `seconds`. `number` counts from 1.
    """

    set_bytes: int
    number: int
    fill: bool
    seconds: float

    @property
    def bs_bytes(self) -> int:
        """Of one read."""
        return FILL_BYTES if self.fill else 4 * KIB

    @property
    def depth(self) -> int:
        """Outstanding reads; one alone meets no queue."""
        return FILL_DEPTH if self.fill else 1

    @property
    def name(self) -> str:
        """What its outputs are called by."""
        return f"cache-{self.set_bytes // KIB}k-{'fill' if self.fill else 'reads'}-{self.number}"

    @property
    def title(self) -> str:
        """How it is called in texts."""
        if self.fill:
            return f"all of {format_size(self.set_bytes)} is read once, pass {self.number}"
        return f"single reads of 4 KiB within {format_size(self.set_bytes)}, {self.seconds:g} s"


@dataclass(frozen=True, kw_only=True)
class CacheShown:
    """What such a run showed: how many reads took how long.

    Parameters
    ----------
    run : CacheRun
    lat_us : array of float
        Ascending.
    n : array of float
        How many reads took each of these.
    """

    run: CacheRun
    lat_us: Floats
    n: Floats

    @property
    def ios(self) -> float:
        """How many reads there were."""
        return float(self.n.sum())

    def share_below(self, us: Floats | float) -> Floats:
        """The share of reads that took no longer."""
        cumulated = np.concatenate([[0.0], np.cumsum(self.n)]) / self.ios
        return cumulated[np.searchsorted(self.lat_us, us, side="right")]

    def quantile_us(self, share: float) -> float:
        """The latency that a share of the reads stays within."""
        at = np.searchsorted(np.cumsum(self.n), min(max(share, 0.0), 1.0) * self.ios)
        return float(self.lat_us[min(int(at), len(self.lat_us) - 1)])


class CacheSeen(StrEnum):
    """What the working sets showed."""

    STEP = "step"
    NO_STEP = "no step"
    UNSTEADY = "unsteady"  # two runs over the same data differ as much as a step would
    MEMORY = "memory"  # the page cache, or memory itself, answered all runs
    UNFINISHED = "unfinished"


@dataclass(frozen=True, kw_only=True)
class CacheFound:
    """What is known of the cache.

    Parameters
    ----------
    seen : CacheSeen
    searched : tuple of int
        The smallest and the largest working set in bytes.
    size : Interval, optional
        Bytes. None: no step was seen, or it lies below the smallest working set.
    known : bool
        Whether the interval is as narrow as is wanted.
    hit_us : Interval, optional
        Median latency of a read that the cache answers.
    runs : tuple of str
        Names of the runs that say so.
    """

    seen: CacheSeen
    searched: tuple[int, int]
    size: Interval | None = None
    known: bool = False
    hit_us: Interval | None = None
    runs: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Staircase:
    """Which working set is read next, and what the reads showed.

    Parameters
    ----------
    size_bytes : int
        The largest working set.
    seconds : float
        Of each run that measures.
    fill_seconds : float
        How long a run that fills may last at most.
    """

    size_bytes: int
    seconds: float
    fill_seconds: float
    shown: list[CacheShown] = field(default_factory=list, init=False)

    @property
    def sets(self) -> tuple[int, ...]:
        """Working sets to choose from, in bytes, ascending; the last is all of the data."""
        steps = math.floor(math.log(self.size_bytes / SMALLEST_SET_BYTES, SET_STEP) + 1e-9)
        grown = (int(self.size_bytes / SET_STEP**n) // FILL_BYTES * FILL_BYTES for n in range(1, steps))
        return (SMALLEST_SET_BYTES, *sorted(grown), self.size_bytes)

    def runs(self) -> tuple[CacheRun, ...]:
        """All that there may be."""
        rounds = range(1, 2 * MOST_FILLS + 1)
        fills = (
            CacheRun(set_bytes=one, number=n, fill=True, seconds=self.fill_seconds)
            for one in self.sets
            for n in rounds
        )
        reads = (
            CacheRun(set_bytes=one, number=n, fill=False, seconds=self.seconds)
            for one in self.sets
            for n in (1, 2)
        )
        return (*fills, *reads)

    def tell(self, shown: CacheShown) -> None:
        """Learn from a run."""
        self.shown.append(shown)

    @property
    def measured(self) -> list[CacheShown]:
        """The runs that measured, in their order."""
        return [one for one in self.shown if not one.run.fill]

    def next(self, portrait: Portrait) -> CacheRun | None:
        """The next run; None where the step is known, or there is none."""
        wanted = None if portrait.buffered else self._next_set()
        if wanted is None:
            return None
        since = self._since_last_measured()
        passes = [one for one in since if one.run.set_bytes == wanted]
        if len(passes) < MOST_FILLS and _left_out(passes) > 1 - READ_ENOUGH:
            before = sum(one.run.fill and one.run.set_bytes == wanted for one in self.shown)
            return CacheRun(set_bytes=wanted, number=before + 1, fill=True, seconds=self.fill_seconds)
        before = sum(one.run.set_bytes == wanted for one in self.measured)
        return CacheRun(set_bytes=wanted, number=before + 1, fill=False, seconds=self.seconds)

    def _since_last_measured(self) -> list[CacheShown]:
        last = max((i for i, one in enumerate(self.shown) if not one.run.fill), default=-1)
        return self.shown[last + 1 :]

    def _next_set(self) -> int | None:
        """The working set of the next run that measures."""
        smallest, largest = self.sets[0], self.sets[-1]
        made = [one.run.set_bytes for one in self.measured]
        first = [smallest, largest, smallest]
        if len(made) < len(first):
            return first[len(made)]
        if self._seen() is not CacheSeen.STEP or len(made) >= MOST_STEPS:
            return None
        size = _fitted(self.measured, self._threshold_us()).size
        wide = size.high > 2 * size.low
        wanted = (
            [math.sqrt(size.low * size.high)]
            if wide
            else [ABOVE_THE_STEP * size.value, BELOW_THE_STEP * size.value]
        )
        nearest = (min(self.sets, key=lambda one: abs(math.log(one / bytes_))) for bytes_ in wanted)
        return next((one for one in nearest if one not in made), None)

    def _ends(self) -> tuple[CacheShown, CacheShown, CacheShown] | None:
        """The smallest working set, the largest, and the smallest again; None: not measured yet."""
        made = self.measured
        return (made[0], made[1], made[2]) if len(made) > 2 else None

    def _seen(self) -> CacheSeen:
        ends = self._ends()
        if ends is None:
            return CacheSeen.UNFINISHED
        small, large, again = ends
        noise = max(_most_below(small, again)[0], _most_below(again, small)[0])
        step = min(_most_below(small, large)[0], _most_below(again, large)[0])
        if step > max(STEP_SHARE, STEP_TO_NOISE * noise):
            return CacheSeen.STEP
        return CacheSeen.UNSTEADY if STEP_TO_NOISE * noise > 0.5 or step > STEP_SHARE else CacheSeen.NO_STEP

    def _threshold_us(self) -> float:
        ends = self._ends()
        return _most_below(ends[0], ends[1])[1] if ends else math.nan

    def found(self, portrait: Portrait) -> CacheFound:
        """What is known so far."""
        seen = CacheSeen.MEMORY if portrait.buffered else self._seen()
        searched = (self.sets[0], self.sets[-1])
        if seen is not CacheSeen.STEP:
            return CacheFound(seen=seen, searched=searched, runs=tuple(one.run.name for one in self.measured))
        fit = _fitted(self.measured, self._threshold_us())
        size = fit.size
        hits = [one for one in self.measured if one.run.set_bytes <= size.low] or [self.measured[0]]
        below = size.low <= searched[0]
        return CacheFound(
            seen=seen,
            searched=searched,
            size=None if below else size,
            known=not below and size.high - size.low <= 2 * CACHE_WIDTH * size.value,
            hit_us=None if below else _median(hits),
            runs=tuple(one.run.name for one in self.measured),
        )

    def hit_shares(self) -> list[float]:
        """The share of the reads of each run that the cache answered; empty without a step."""
        if self._seen() is not CacheSeen.STEP:
            return []
        threshold = self._threshold_us()
        fit = _fitted(self.measured, threshold)
        below = (float(one.share_below(threshold)) for one in self.measured)
        return [min(1.0, max(0.0, (one - fit.missed) / (fit.hit - fit.missed))) for one in below]


def _left_out(passes: Sequence[CacheShown]) -> float:
    """The share of a working set that no pass has read; each reads nothing twice, at places of its own."""
    return math.prod(1 - min(1.0, one.ios * FILL_BYTES / one.run.set_bytes) for one in passes)


def _most_below(small: CacheShown, large: CacheShown) -> tuple[float, float]:
    """By how much more reads of one run are fast than of another, and the threshold where this is most."""
    edges = np.union1d(small.lat_us, large.lat_us)
    more = small.share_below(edges) - large.share_below(edges)
    most = int(np.argmax(more))
    return float(more[most]), float(edges[most])


def _median(made: Sequence[CacheShown]) -> Interval:
    """The median of some runs together; its interval holds the median of each."""
    lat_us, n = np.concatenate([one.lat_us for one in made]), np.concatenate([one.n for one in made])
    order = np.argsort(lat_us, kind="stable")
    pooled = CacheShown(run=made[0].run, lat_us=lat_us[order], n=n[order])
    away, each = MEDIAN_Z / math.sqrt(pooled.ios), [one.quantile_us(0.5) for one in made]
    return Interval(
        value=pooled.quantile_us(0.5),
        low=min(pooled.quantile_us(0.5 - away), *each),
        high=max(pooled.quantile_us(0.5 + away), *each),
    )


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Size of the cache; the shares of hits and of misses that are below the threshold."""

    size: Interval
    hit: float
    missed: float


def _fitted(made: Sequence[CacheShown], threshold_us: float) -> _Fit:
    """The size with which the shares of fast reads agree best, and those with which they agree at 95 %."""
    sets = np.array([one.run.set_bytes for one in made], dtype=float)
    shares = np.array([float(one.share_below(threshold_us)) for one in made])
    counted = np.array([one.ios for one in made])
    variance = np.maximum(shares * (1 - shares), 0.25 / counted) / counted + SHARE_ERROR**2
    sizes = np.geomspace(0.5 * sets.min(), sets.max(), SIZES_TRIED)
    hits, misses, chi2 = _levels(np.minimum(1.0, sizes[:, None] / sets[None, :]), shares, variance)
    best = int(np.argmin(chi2))
    spare = len(made) - 3  # beside size and two levels
    worse = max(1.0, float(chi2[best]) / spare) if spare > 0 else 1.0
    inside = sizes[chi2 <= chi2[best] + SURE_CHI2 * worse]
    return _Fit(
        size=Interval(value=float(sizes[best]), low=float(inside.min()), high=float(inside.max())),
        hit=float(hits[best]),
        missed=float(misses[best]),
    )


def _levels(held: Floats, shares: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """Least squares of the two levels for each size, both between 0 and 1, and how far off they are.

    `held` has the share of each working set that a cache of each size holds, shape (sizes, runs).
    """
    weights = 1 / variance
    a, b = held, 1 - held
    aa, ab, bb = ((x * y * weights).sum(axis=1) for x, y in ((a, a), (a, b), (b, b)))
    ay, by = (a * shares * weights).sum(axis=1), (b * shares * weights).sum(axis=1)
    determinant = aa * bb - ab**2
    flat = determinant <= 1e-9 * aa * np.maximum(bb, 1e-12)
    safe = np.where(flat, 1.0, determinant)
    hits = np.clip(np.where(flat, ay / aa, (ay * bb - by * ab) / safe), 0.0, 1.0)
    # with the one level held between 0 and 1, the other is what is best beside it
    misses = np.clip(np.where(bb > 0, (by - hits * ab) / np.where(bb > 0, bb, 1.0), 0.0), 0.0, hits)
    hits = np.clip((ay - misses * ab) / aa, 0.0, 1.0)
    off = shares[None, :] - hits[:, None] * a - misses[:, None] * b
    chi2: Floats = (off**2 * weights).sum(axis=1)
    return hits, misses, chi2
