"""What a disk may be: the settings that a probe looks for, and what is thought of them before any run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from azbenchlib.core.units import GB, KIB, MB

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Sizes above which one I/O may count as several. Azure's Premium SSD counts in 256 KiB
# (:mod:`azbenchlib.azure.disk_kinds`); others count in 16 KiB to 1 MiB. The last: any size counts as one.
SMALLEST_BYTES = 4 * KIB  # counts as one whatever the unit is
IO_UNITS = (*(float(KIB << n) for n in range(4, 11)), math.inf)


class Setting(IntEnum):
    """The settings that are numbers; each is held as its natural logarithm.

    Caps are of I/Os or bytes per second, latencies are unloaded medians of I/Os of 4 KiB in µs, a stream is
    the bytes per second at which the rest of one I/O follows, a skew is the mean of the latency over its
    median. The deviation is how far a rate that a cap holds strays from this model, relative to it; that of
    the latency is how far a rate or a median strays that the latency decides.
    """

    READ_IOPS = 0
    WRITE_IOPS = 1
    READ_BYTES_PER_S = 2
    WRITE_BYTES_PER_S = 3
    READ_LAT_US = 4
    WRITE_LAT_US = 5
    READ_STREAM = 6
    WRITE_STREAM = 7
    READ_SKEW = 8
    WRITE_SKEW = 9
    DEVIATION = 10
    LATENCY_DEVIATION = 11


@dataclass(frozen=True, kw_only=True)
class Belief:
    """A range within which the logarithm of a setting is thought to be: evenly, or around a median.

    `low` and `high` are logarithms. With `median` and `spread` (of the logarithm), values in the range are
    as likely as a normal distribution has it.
    """

    low: float
    high: float
    median: float = 0.0
    spread: float = math.inf

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Values of this belief."""
        if math.isinf(self.spread):
            return rng.uniform(self.low, self.high, shape)
        return np.clip(rng.normal(self.median, self.spread, shape), self.low, self.high)

    def log_density(self, values: Floats) -> Floats:
        """Logarithm of the density at values; minus infinity outside the range."""
        inside = (values >= self.low) & (values <= self.high)
        if math.isinf(self.spread):
            density = np.full(values.shape, -math.log(self.high - self.low))
        else:
            z = (values - self.median) / self.spread
            density = -0.5 * z * z - math.log(self.spread * math.sqrt(2 * math.pi))
        return np.where(inside, density, -np.inf)


def _within(low: float, high: float) -> Belief:
    return Belief(low=math.log(low), high=math.log(high))


_IOPS = _within(10, 2e7)
_RATE = _within(0.1 * MB, 20_000 * GB)
_LATENCY = _within(0.5, 100_000)
_STREAM = _within(5 * MB, 100_000 * GB)
_SKEW = Belief(low=-0.1, high=math.log(4), median=0.0, spread=0.4)
# Emulated disks stray from their caps by 0.1 to 0.4 %, Azure's by about as much (CV of throttled samples
# 0.42 %, seven shipped setups); busy machines and bare SSDs by several percent.
_DEVIATION = Belief(low=math.log(2e-4), high=math.log(0.2), median=math.log(1.5e-3), spread=0.7)
# Rates that no cap holds also stray by what the machine takes for an I/O, which is no part of the model:
# those of an emulated NVMe at great depths by 20 % and more.
_LATENCY_DEVIATION = Belief(low=math.log(2e-4), high=math.log(0.5), median=math.log(3e-3), spread=1.2)

BELIEFS: tuple[Belief, ...] = (
    *(_IOPS, _IOPS, _RATE, _RATE, _LATENCY, _LATENCY, _STREAM, _STREAM, _SKEW, _SKEW, _DEVIATION),
    _LATENCY_DEVIATION,
)
SAME_FOR_BOTH = 0.6  # chance that reads and writes have the same caps, as all of Azure's remote disks do


class Sharing(IntEnum):
    """What reads and writes of r and w per second may do together, where each alone may do R and W.

    TOGETHER: r/R + w/W ≤ 1. APART: r ≤ R and w ≤ W. BEHIND: r + w ≤ R and w ≤ W < R, as of a disk behind a
    host cache that answers reads.
    """

    TOGETHER = 0
    APART = 1
    BEHIND = 2


SHARING_CHANCES = np.array([0.7, 0.15, 0.15])  # of each; our judgement


@dataclass
class Hypotheses:
    """Many disks that each may be the one that is probed.

    Parameters
    ----------
    logs : ndarray, shape (n, len(Setting))
        Natural logarithms of the settings.
    unit : ndarray of int, shape (n,)
        Place in :data:`IO_UNITS`.
    same : ndarray of bool, shape (n,)
        Whether writes have the caps of reads; then their own settings mean nothing.
    sharing : ndarray of int, shape (n,)
        Place in :class:`Sharing`.
    """

    logs: Floats
    unit: Ints
    same: Bools
    sharing: Ints

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, which: Ints | slice) -> Hypotheses:
        return Hypotheses(self.logs[which], self.unit[which], self.same[which], self.sharing[which])

    def values(self, setting: Setting) -> Floats:
        """A setting of each, shape (n,); of writes those of reads, where both have the same caps."""
        values = np.exp(self.logs[:, setting])
        if setting in (Setting.WRITE_IOPS, Setting.WRITE_BYTES_PER_S):
            of_reads = np.exp(self.logs[:, Setting(setting - 1)])
            return np.where(self.same, of_reads, values)
        return values

    def unit_bytes(self) -> Floats:
        """The size above which one I/O counts as several, of each; infinite where none does."""
        return np.array(IO_UNITS)[self.unit]

    def copy(self) -> Hypotheses:
        """The same in arrays of its own."""
        return Hypotheses(self.logs.copy(), self.unit.copy(), self.same.copy(), self.sharing.copy())

    def put(self, others: Hypotheses, where: Bools) -> None:
        """Take the others' settings, where it is so."""
        for mine, theirs in (
            (self.logs, others.logs),
            (self.unit, others.unit),
            (self.same, others.same),
            (self.sharing, others.sharing),
        ):
            mine[where] = theirs[where]


def draw(rng: np.random.Generator, n: int) -> Hypotheses:
    """Disks as they are thought to be before any run."""
    logs = np.stack([belief.draw(rng, (n,)) for belief in BELIEFS], axis=1)
    drawn = Hypotheses(
        logs,
        rng.integers(0, len(IO_UNITS), n),
        rng.random(n) < SAME_FOR_BOTH,
        rng.choice(len(Sharing), n, p=SHARING_CHANCES),
    )
    drawn.sharing[(drawn.sharing == Sharing.BEHIND) & ~_may_be_behind(drawn)] = Sharing.TOGETHER
    return drawn


def _may_be_behind(disks: Hypotheses) -> Bools:
    """Whether writes have lower caps than reads, shape (n,)."""
    reads, writes = (
        (Setting.READ_IOPS, Setting.READ_BYTES_PER_S),
        (Setting.WRITE_IOPS, Setting.WRITE_BYTES_PER_S),
    )
    return ~disks.same & (disks.logs[:, writes] <= disks.logs[:, reads]).all(axis=1)


def sharing_chance(disks: Hypotheses) -> Floats:
    """How likely the way in which each shares its caps is thought to be before any run, shape (n,).

    Where no disk can be behind a cache, caps are shared instead.
    """
    together, _, behind = SHARING_CHANCES
    may_be = _may_be_behind(disks)
    chance = np.where(
        disks.sharing == Sharing.TOGETHER, together + np.where(may_be, 0.0, behind), behind * may_be
    )
    return np.where(disks.sharing == Sharing.APART, SHARING_CHANCES[Sharing.APART], chance)


def log_prior(found: Hypotheses) -> Floats:
    """Logarithm of how likely each is thought to be before any run, shape (n,); all units are as likely."""
    each = [belief.log_density(found.logs[:, i]) for i, belief in enumerate(BELIEFS)]
    same = np.where(found.same, math.log(SAME_FOR_BOTH), math.log(1 - SAME_FOR_BOTH))
    with np.errstate(divide="ignore"):
        return np.sum(each, axis=0) + same + np.log(sharing_chance(found))
