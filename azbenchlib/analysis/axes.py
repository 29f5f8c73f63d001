"""What a curve may be over: the queue depth, the rate asked for, the size of the data, the block size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from azbenchlib.core.units import format_count, format_depth, format_range, format_size

FLAT = 0.03  # of the highest rate: a rate that is nearer to it has reached it
# By judgement: runs over sets of data that one cache holds scatter more than runs at one limit.
_HELD = 0.1  # of the highest rate: where the data outgrow a cache, far more is lost


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A quantity over which runs that are alike otherwise make a curve.

    Attributes
    ----------
    key : str
        As records and tables name it.
    name : str
        As sentences and figures do.
    unit : str
        What its ticks do not say.
    values : callable
        Its value for each row of runs; NA where there is none.
    words : callable
        How values from one to another read; the same twice: ``QD 8``.
    tick : callable
        How a value reads on the axis.
    base : int
        Of its logarithmic scale.
    free : tuple of str
        The columns of the workload in which the points of a curve may differ, its own first.
    best : callable
        Which point is the best, of the values and their rates.
    turns : bool
        Whether another limit may bind further along.
    from_first : bool
        Whether latency is held against that of the first point, not of the best.
    """

    key: str
    name: str
    unit: str = ""
    values: Callable[[pd.DataFrame], pd.Series]
    words: Callable[[float, float], str]
    tick: Callable[[float], str]
    base: int = 2
    free: tuple[str, ...]
    best: Callable[[Sequence[float], Sequence[float]], int]
    turns: bool = False
    from_first: bool = False

    @property
    def in_sentence(self) -> str:
        """Its name within a sentence."""
        return f"{self.name[:1].lower()}{self.name[1:]}"

    @property
    def label(self) -> str:
        """Its name beside ticks."""
        return ", ".join(filter(None, [self.name, self.unit]))

    @property
    def shared(self) -> list[str]:
        """What the points of a curve have in common and its name says."""
        return [column for column in ("rw", "bs_bytes", "queue_depth") if column not in self.free]

    def text(self, value: float) -> str:
        """Return a value as sentences have it."""
        return self.words(value, value)


def offered_iops(runs: pd.DataFrame) -> pd.Series:
    """Return the I/Os per second that all jobs of each row were held to."""
    jobs = (runs["queue_depth"] / runs["iodepth"]).fillna(1).clip(lower=1)
    return (runs["rate_iops"] * jobs).where(runs["rate_iops"] > 0)


def _of_load(runs: pd.DataFrame, column: str) -> pd.Series:
    """A size of runs with a queue depth; the records and files of iozone are a surface."""
    is_load = runs["queue_depth"].notna() & (runs["tool"] != "iozone").fillna(True)
    return runs[column].where(is_load)


def _depths(first: float, last: float) -> str:
    return format_depth(first) + (f" to {last:,.0f}" if last != first else "")


def _offered(first: float, last: float) -> str:
    return f"{format_range(format_count(first), format_count(last))}\N{NO-BREAK SPACE}IOPS offered"


def _sizes(first: float, last: float) -> str:
    return format_range(format_size(first), format_size(last))


def _first_highest(values: Sequence[float], rates: Sequence[float]) -> int:
    least = (1 - FLAT) * max(rates)
    return next(i for i, rate in enumerate(rates) if rate >= least)


def _last_delivered(values: Sequence[float], rates: Sequence[float]) -> int:
    """The last value before one that is not delivered; the first where that is not."""
    pairs = zip(values, rates, strict=True)
    failed = next((i for i, (value, rate) in enumerate(pairs) if rate < (1 - FLAT) * value), len(rates))
    return max(0, failed - 1)


def _last_highest(rates: Sequence[float], lost: float) -> int:
    least = (1 - lost) * max(rates)
    return max(i for i, rate in enumerate(rates) if rate >= least)


QUEUE_DEPTH = Axis(
    key="queue_depth",
    name="Queue depth",
    values=lambda runs: runs["queue_depth"],
    words=_depths,
    tick=format_count,
    free=("queue_depth", "iodepth", "working_set_bytes"),  # how it is made up, and what grows with the jobs
    best=_first_highest,
)
OFFERED_RATE = Axis(
    key="offered_iops",
    name="Offered rate",
    unit="IOPS",
    values=offered_iops,
    words=_offered,
    tick=format_count,
    base=10,
    free=("rate_iops",),
    best=_last_delivered,
    from_first=True,
)
DATA_SIZE = Axis(
    key="working_set_bytes",
    name="Size of the data",
    values=lambda runs: _of_load(runs, "working_set_bytes"),
    words=lambda first, last: f"{_sizes(first, last)} of data",
    tick=format_size,
    free=("working_set_bytes",),
    best=lambda values, rates: _last_highest(rates, _HELD),
    turns=True,
)
BLOCK_SIZE = Axis(
    key="bs_bytes",
    name="Block size",
    values=lambda runs: _of_load(runs, "bs_bytes"),
    words=_sizes,
    tick=format_size,
    free=("bs_bytes",),
    best=lambda values, rates: _last_highest(rates, FLAT),
    turns=True,
)
AXES = (QUEUE_DEPTH, OFFERED_RATE, DATA_SIZE, BLOCK_SIZE)  # a run is a point of the first that it can be
