"""Loads that are compared round by round: what an fsync costs, and what several jobs and files reach.

Each round makes every load once, one right after the other, so that what drifts drifts for all of them;
rounds are the repeats from which intervals follow (Student's t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from azbenchlib.core.units import KIB, MIB, US_PER_S
from azbenchlib.probing.drain import SURE_QUANTILE, Interval
from azbenchlib.probing.portrait import Portrait

EACH_LOAD = 4
JOBS, TOTAL_DEPTH = 4, 32  # so many outstanding with one job as with several
COMPARED_BYTES = 256 * MIB  # at most, of data
BS_BYTES = 4 * KIB


@dataclass(frozen=True, kw_only=True)
class ComparedLoad:
    """Writes of 4 KiB at random places.

    `own_files`: each job has a file of its own; else all share the data. `fsync`: after each write.
    """

    kind: str
    what: str
    depth: int = 1
    jobs: int = 1
    fsync: bool = False
    own_files: bool = False


UNSYNCED = ComparedLoad(kind="unsynced", what="single writes")
SYNCED = ComparedLoad(kind="synced", what="single writes with an fsync after each", fsync=True)
ONE_JOB = ComparedLoad(kind="one-job", what="writes of one job", depth=TOTAL_DEPTH)
SHARED = ComparedLoad(
    kind="shared-data", what=f"writes of {JOBS} jobs to the same data", depth=TOTAL_DEPTH // JOBS, jobs=JOBS
)
A_FILE_EACH = ComparedLoad(
    kind="own-files",
    what=f"writes of {JOBS} jobs to a file each",
    depth=TOTAL_DEPTH // JOBS,
    jobs=JOBS,
    own_files=True,
)


@dataclass(frozen=True, kw_only=True)
class RoundRun:
    """A load in one of the rounds, which count from 1."""

    load: ComparedLoad
    number: int
    seconds: float

    @property
    def name(self) -> str:
        """What its outputs are called by."""
        return f"{self.load.kind}-{self.number}"

    @property
    def title(self) -> str:
        """How it is called in texts."""
        return f"{self.load.what}, 4 KiB, round {self.number}, {self.seconds:g} s"


@dataclass(frozen=True, kw_only=True)
class RoundShown:
    """How many writes per second such a run did; 0: it did none, and tells of no ratio."""

    run: RoundRun
    iops: float


@dataclass(kw_only=True)
class Rounds:
    """Some loads, each once a round.

    Parameters
    ----------
    loads : sequence of ComparedLoad
        With the first of them, the others are compared.
    seconds : float
        Of each run.
    """

    loads: Sequence[ComparedLoad]
    seconds: float
    shown: list[RoundShown] = field(default_factory=list, init=False)

    def runs(self) -> list[RoundRun]:
        """All that there will be, in their order."""
        numbers = range(1, EACH_LOAD + 1)
        return [RoundRun(load=one, number=n, seconds=self.seconds) for n in numbers for one in self.loads]

    def next(self, portrait: Portrait) -> RoundRun | None:
        """The next run; None where all are made, or memory answers."""
        made = {one.run for one in self.shown}
        return None if portrait.buffered else next((run for run in self.runs() if run not in made), None)

    def tell(self, shown: RoundShown) -> None:
        """Learn from a run."""
        self.shown.append(shown)

    def _pairs(self, load: ComparedLoad) -> list[tuple[float, float]]:
        """The rates of the first load and of another one, of each round in which both wrote."""
        first, other = (
            {one.run.number: one.iops for one in self.shown if one.run.load == some and one.iops > 0}
            for some in (self.loads[0], load)
        )
        return [(first[number], other[number]) for number in sorted(first.keys() & other.keys())]

    def longer_us(self) -> Interval | None:
        """By how much one write of the second load takes longer than one of the first; None: not known."""
        pairs = self._pairs(self.loads[1])
        return _mean([US_PER_S / later - US_PER_S / first for first, later in pairs])

    def times_as_many(self, load: ComparedLoad) -> Interval | None:
        """How many times the IOPS of the first load another one reaches; None: not known."""
        found = _mean([math.log(other / first) for first, other in self._pairs(load)])
        if found is None:
            return None
        return Interval(value=math.exp(found.value), low=math.exp(found.low), high=math.exp(found.high))


def _mean(values: Sequence[float]) -> Interval | None:
    """The mean of some repeats with its 95 % interval; None of fewer than two."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit

    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    error = float(stdtrit(len(values) - 1, SURE_QUANTILE)) * spread / math.sqrt(len(values))
    return Interval(value=mean, low=mean - error, high=mean + error)
