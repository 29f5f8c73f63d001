"""A cache that answers writes and writes them to the disk later: how much it holds until writes must wait.

It takes in what is written at the rate of the cache, and gives it to the disk at the disk's rate, until as
much is unwritten as it may hold. That is the law of burst credits (:mod:`azbenchlib.probing.drain`), with
another bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from azbenchlib.probing.cache import CacheFound, Staircase
from azbenchlib.probing.drain import DrainedCap, DrainRun, DrainShown, credits_of, fall
from azbenchlib.probing.portrait import Portrait

MOST_LOADS = 12
AS_FAST = 1.5  # × a hit: a write that takes no longer was answered by the cache
QUANTITY = "bytes_per_s"


@dataclass(kw_only=True)
class WriteBackStage:
    """Full load of writes until they wait, where a cache was found that answers writes.

    Parameters
    ----------
    stairs : Staircase
        Of the same disk, which comes before.
    seconds : float
        Of each run.
    """

    stairs: Staircase
    seconds: float
    shown: list[DrainShown] = field(default_factory=list, init=False)

    def runs(self) -> Sequence[DrainRun]:
        """All that there may be."""
        numbers = range(1, MOST_LOADS + 1)
        return [DrainRun(quantity=QUANTITY, number=n, seconds=self.seconds, write=True) for n in numbers]

    def next(self, portrait: Portrait) -> DrainRun | None:
        """The next run; None where the rate has fallen, the time is spent, or the cache answers no writes."""
        made = len(self.shown)
        if made >= MOST_LOADS or not answers_writes(self.stairs.found(portrait), portrait):
            return None
        return self.runs()[made] if fall(self.shown) is None else None

    def tell(self, shown: DrainShown) -> None:
        """Learn from a run."""
        self.shown.append(shown)

    def found(self) -> DrainedCap | None:
        """The bucket is what may be unwritten, the base the rate at which it is written; None: no run."""
        return credits_of(QUANTITY, self.shown) if self.shown else None


def answers_writes(cache: CacheFound, portrait: Portrait) -> bool:
    """Whether single writes take no longer than reads that the cache answers."""
    write_us = portrait["write_p50_us_4k"].value
    return bool(cache.hit_us and write_us and write_us <= AS_FAST * cache.hit_us.high)
