"""Burst credits: full load until the rate falls, a rest, and full load again.

A bucket that holds B and gains the base rate lets B + base × T through until it is empty, whatever the rates
in between are; so whole runs suffice, and none must end where the rate falls. :mod:`azbenchlib.model.credits`
is the same law, from Azure's documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from azbenchlib.core.units import KIB, S_PER_MIN, format_size
from azbenchlib.probing.portrait import Knowledge, Portrait

FELL_TO = 0.9  # of the rate at first: below, the burst is over
# × its base, of Azure's disks: a P20, 150 MB/s and 170 in bursts. Source: Microsoft Learn, "Azure managed
# disk types", as in the catalogue of 2026-11.
SMALLEST_BURST = 1.13
ONE_LEVEL = 0.03  # relative: runs that differ by no more are at one level
LEVEL_RUNS = 3  # runs at one level below the burst: the bucket is empty from the end of the first on
DRAIN_RUNS = 6  # times as long as a run of the probe, unless another length is asked for
LARGE_BYTES = 1024 * KIB
FULL_AGAIN = 0.9  # of the bucket
START_ERROR_S = 0.1  # of the moments at which runs begin and end, as fio tells them; our judgement
SURE_QUANTILE = 0.975


@dataclass(frozen=True, kw_only=True, order=True)
class DrainRun:
    """Full load on one cap for `seconds`, or a rest.

    Parameters
    ----------
    quantity : {"iops", "bytes_per_s"}
        What the cap limits.
    number : int
        From 1; 0 is the rest.
    seconds : float
    write : bool
        Whether it writes; else it reads.
    """

    quantity: str
    number: int
    seconds: float
    write: bool = False

    @property
    def bs_bytes(self) -> int:
        """Small I/Os reach the cap of IOPS, large ones that of MB/s."""
        return 4 * KIB if self.quantity == "iops" else LARGE_BYTES

    @property
    def depth(self) -> int:
        """Outstanding I/Os."""
        return (256 if self.quantity == "iops" else 64) if self.number else 1

    @property
    def rate_iops(self) -> int:
        """IOPS at most; 0: as many as there can be. A rest is a run, so that it is kept like the others."""
        return 0 if self.number else 1

    @property
    def name(self) -> str:
        """What its outputs are called by."""
        what = "write-back" if self.write else "drain"
        return f"{what}-{self.quantity.split('_')[0]}-{self.number or 'rest'}"

    @property
    def title(self) -> str:
        """How it is called in texts."""
        if not self.number:
            return f"a rest, in which credits come back, {self.seconds:g} s"
        what = "writes" if self.write else "reads"
        return f"{what} of {format_size(self.bs_bytes)} at full load, part {self.number}, {self.seconds:g} s"


@dataclass(frozen=True, kw_only=True)
class DrainShown:
    """What such a run showed: I/Os or bytes per second, and when it began and how long it lasted, in s."""

    run: DrainRun
    rate: float
    began_s: float
    lasted_s: float

    @property
    def amount(self) -> float:
        """I/Os or bytes."""
        return self.rate * self.lasted_s

    @property
    def ended_s(self) -> float:
        """When it ended."""
        return self.began_s + self.lasted_s


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class DrainedCap:
    """What driving one cap showed.

    Parameters
    ----------
    quantity : {"iops", "bytes_per_s"}
    driven_s : float
        Seconds at full load.
    paused_s : float
        Seconds between those runs, in which credits come back; told where no fall was seen.
    burst, base : Interval, optional
        I/Os or bytes per second. None: the rate did not fall, or runs differ too much.
    bucket : Interval, optional
        I/Os or bytes above the base that were left when it began.
    refill : Interval, optional
        What came back per second of rest.
    """

    quantity: str
    driven_s: float
    paused_s: float = 0.0
    burst: Interval | None = None
    base: Interval | None = None
    bucket: Interval | None = None
    refill: Interval | None = None

    @property
    def unseen_below(self) -> float:
        """How many times its base a burst must be to be seen ending in spite of the pauses.

        From an empty bucket, a run and the pause before it let base × (run + pause) through, which is a fall
        where it is less than `FELL_TO` of what the burst lets through in the run.
        """
        return (1 + self.paused_s / self.driven_s) / FELL_TO


@dataclass(kw_only=True)
class Drain:
    """Which run is next, and what they showed.

    Parameters
    ----------
    seconds : float
        Of each run.
    minutes : float
        How long each cap may be at full load.
    """

    seconds: float
    minutes: float
    shown: list[DrainShown] = field(default_factory=list, init=False)

    def runs(self) -> tuple[DrainRun, ...]:
        """All that there may be."""
        most = max(LEVEL_RUNS + 1, int(self.minutes * S_PER_MIN // self.seconds))
        return tuple(
            DrainRun(quantity=quantity, number=number, seconds=self.seconds)
            for quantity in ("iops", "bytes_per_s")
            for number in range(most + 1)
        )

    def tell(self, shown: DrainShown) -> None:
        """Learn from a run."""
        self.shown.append(shown)

    def next(self, portrait: Portrait) -> DrainRun | None:
        """The next run; None where nothing is left to be learnt in the time allowed."""
        runs = {(run.quantity, run.number): run for run in self.runs()}
        for quantity in worth_driving(portrait):
            made = self._of(quantity)
            loads, rested = [one for one in made if one.run.number], any(not one.run.number for one in made)
            again = runs.get((quantity, len(loads) + 1))
            fell = fall(loads)
            if not again or (rested and fell and _at_base(made[-1], loads[fell])):
                continue
            return again if fell is None or rested else runs[quantity, 0]
        return None

    def _of(self, quantity: str) -> list[DrainShown]:
        return [one for one in self.shown if one.run.quantity == quantity]

    def found(self) -> list[DrainedCap]:
        """What is known of each cap that was driven."""
        driven = dict.fromkeys(one.run.quantity for one in self.shown)
        return [credits_of(quantity, self._of(quantity)) for quantity in driven]


def worth_driving(portrait: Portrait) -> Iterator[str]:
    """The caps that were found: no burst is seen of one that nothing reaches."""
    for quantity in ("iops", "bytes_per_s"):
        if portrait[f"read_{quantity}"].state is not Knowledge.ABOVE and not portrait.buffered:
            yield quantity


def _at_base(last: DrainShown, known: DrainShown) -> bool:
    return bool(last.run.number) and _level(last.rate, known.rate)


def _level(one: float, other: float) -> bool:
    return min(one, other) > 0 and abs(math.log(one / other)) <= ONE_LEVEL


def fall(loads: Sequence[DrainShown]) -> int | None:
    """The place of the last of the first runs at the base, of those at full load; None: no fall."""
    for last in range(LEVEL_RUNS, len(loads)):
        level = [one.rate for one in loads[last - LEVEL_RUNS + 1 : last + 1]]
        fell = max(level) < FELL_TO * max(one.rate for one in loads[:last])
        if fell and _level(max(level), min(level)):
            return last
    return None


def credits_of(quantity: str, made: Sequence[DrainShown]) -> DrainedCap:
    """What full load on one cap showed, run by run."""
    from scipy.special import stdtrit  # half a second to import, which reports mostly do without

    loads = [one for one in made if one.run.number]
    driven_s, fell = sum(one.lasted_s for one in loads), fall(loads)
    if fell is None:
        paused_s = loads[-1].ended_s - loads[0].began_s - driven_s
        return DrainedCap(quantity=quantity, driven_s=driven_s, paused_s=max(0.0, paused_s))
    first, level = loads[: fell + 1], loads[fell - LEVEL_RUNS + 1 : fell + 1]
    at_base = _base_rates(level)
    most = max(one.rate for one in first)
    bursting = [one for one in first if _level(one.rate, most)]
    degrees = len(bursting) + len(at_base) - 2
    base, burst = float(np.mean(at_base)), float(np.mean([one.rate for one in bursting]))
    strays = [math.log(rate / base) for rate in at_base] + [math.log(one.rate / burst) for one in bursting]
    scatter = math.sqrt(sum(stray**2 for stray in strays) / degrees)
    times = float(stdtrit(degrees, SURE_QUANTILE))  # Student's t
    base_error = base * scatter / math.sqrt(len(at_base))
    # pauses count: the base comes in then too, unless the bucket was full, from which on it is counted
    begun = _begun(first, base)
    bucket = _above(first[begun:], first[begun].began_s, base)
    timing = START_ERROR_S * first[begun].rate
    error = math.hypot(base_error * (first[-1].ended_s - first[begun].began_s), timing)
    return DrainedCap(
        quantity=quantity,
        driven_s=driven_s,
        burst=_interval(burst, times * burst * scatter / math.sqrt(len(bursting))),
        base=_interval(base, times * base_error),
        bucket=_interval(bucket, times * error),
        refill=_refill(made, level[-1], base, times * base_error, bucket),
    )


def bucket_over_time(made: Sequence[DrainShown]) -> list[tuple[float, float]]:
    """How much was left above the base, when runs on one cap began and when the bucket was empty.

    Parameters
    ----------
    made : sequence of DrainShown
        All runs on one cap, in their order.

    Returns
    -------
    list of (float, float)
        Moments in s, and I/Os or bytes; empty where no fall was seen.
    """
    loads = [one for one in made if one.run.number]
    fell = fall(loads)
    if fell is None:
        return []
    first, second = loads[: fell + 1], loads[fell + 1 :]
    base = float(np.mean(_base_rates(first[-LEVEL_RUNS:])))
    told = _levels(first[_begun(first, base) :], base)
    ended = second and _at_base(second[-1], first[-1])
    return [*told, *(_levels(second, base) if ended else ())]


def _levels(until_empty: Sequence[DrainShown], base: float) -> list[tuple[float, float]]:
    left = [max(0.0, _above(until_empty[i:], one.began_s, base)) for i, one in enumerate(until_empty)]
    moments = [one.began_s for one in until_empty]
    return [*zip(moments, left, strict=True), (until_empty[-1].ended_s, 0.0)]


def _base_rates(level: Sequence[DrainShown]) -> list[float]:
    """Between two moments at which the bucket is empty, what passes is what came in; pauses count."""
    return [one.amount / (one.ended_s - before.ended_s) for before, one in pairwise(level)]


def _begun(first: Sequence[DrainShown], base: float) -> int:
    """The place of the run from which on the bucket is no longer full, of those until it is empty."""
    return max(range(len(first)), key=lambda i: _above(first[i:], first[i].began_s, base))


def _refill(
    made: Sequence[DrainShown], emptied: DrainShown, base: float, base_error: float, bucket: float
) -> Interval | None:
    """What came back per second after the bucket was empty, until the load began again."""
    after = [one for one in made if one.began_s >= emptied.ended_s]
    second = [one for one in after if one.run.number]
    if len(second) == len(after) or not second or not _at_base(second[-1], emptied):
        return None
    waited_s = second[0].began_s - emptied.ended_s
    gained = _above(after, emptied.ended_s, base) + base * waited_s
    if gained > FULL_AGAIN * bucket:  # it may have been full before the load began
        return None
    error = base_error * (after[-1].ended_s - emptied.ended_s) + START_ERROR_S * second[0].rate
    return _interval(gained / waited_s, error / waited_s)


def _above(made: Sequence[DrainShown], from_s: float, base: float) -> float:
    """What passed above the base from a moment to the end of the last of some runs."""
    return sum(one.amount for one in made) - base * (made[-1].ended_s - from_s)


def _interval(value: float, error: float) -> Interval:
    return Interval(value=value, low=max(0.0, value - error), high=value + error)
