"""Curves: the rates and latencies of one workload of one setup over an axis, such as the queue depth.

A single run is a curve of one point. Where three depths or more were measured, the curve is what a reader
asks for: from which depth on the rate no longer grows, and what more depth costs in latency. So it is with
three offered rates, three sizes of the data or three block sizes of runs that are alike otherwise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.axes import AXES, Axis
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.setup_names import workload_text
from azbenchlib.analysis.summary import Card, cards
from azbenchlib.analysis.sweeps import LEAST_POINTS, sweeps

TAIL = 99.0  # the percentile that tells what more load costs
_NAMED = ("rw", "bs_bytes", "queue_depth")
_FACTS = (*repeats.WORKLOAD, *_NAMED)


@dataclass(frozen=True, kw_only=True)
class LoadCurve:
    """One workload of one setup over an axis.

    Attributes
    ----------
    name : str
        The workload without its place on the axis, such as ``4 KiB random reads``.
    axis : Axis
    values : tuple of float
        The places of the points on it, in order.
    points : tuple of Card
        The figures at each; repeats at one place are one point, their median.
    """

    name: str
    axis: Axis
    values: tuple[float, ...]
    points: tuple[Card, ...]

    @property
    def is_sweep(self) -> bool:
        """Whether it has enough points to show where the rate turns."""
        return len(self.points) >= LEAST_POINTS

    @property
    def shared(self) -> dict[str, Any]:
        """What the workload of all points is: pattern (as fio spells it), block size, queue depth."""
        facts = _row(self.points[0])
        return {name: facts[name] if name == "rw" else float(facts[name]) for name in self.axis.shared}

    @property
    def pattern(self) -> str:
        """As fio spells it."""
        return str(self.shared["rw"])

    @property
    def bs_bytes(self) -> float | None:
        """Of one I/O; None: it varies."""
        return self.shared.get("bs_bytes")

    @cached_property
    def best_place(self) -> int:
        """Which point is the best: on the queue depth that of the least depth at the highest rate."""
        return self.axis.best(self.values, self.rates)

    @property
    def best(self) -> Card:
        """That point."""
        return self.points[self.best_place]

    @property
    def best_value(self) -> float:
        """Its place on the axis."""
        return self.values[self.best_place]

    @property
    def calm(self) -> Card:
        """The point whose latency that of the last one is held against."""
        return self.points[0] if self.axis.from_first else self.best

    @property
    def deepest(self) -> Card:
        """The last point."""
        return self.points[-1]

    @property
    def rates(self) -> list[float]:
        """IOPS of the points."""
        return [rate_of(point) for point in self.points]

    @property
    def turns_inside(self) -> bool:
        """Whether the best point is not the last one."""
        return self.best is not self.deepest

    @property
    def slower(self) -> float:
        """How many times as long p99 is at the last point as at the calm one; 1 where it is not known."""
        before, after = (percentile_of(point, TAIL) for point in (self.calm, self.deepest))
        return after[0] / before[1] if before and after else 1.0


def rate_of(point: Card) -> float:
    """Return the IOPS of a point; those that make its throughput where no IOPS are known."""
    rate = _row(point)
    return float(rate["bw_bytes_per_s"] / rate["bs_bytes"] if pd.isna(rate["iops"]) else rate["iops"])


def percentile_of(point: Card, percentile: float) -> tuple[float, float] | None:
    """Return the lowest and highest latency (µs) of its first direction at a percentile; the same of a single
    run or of merged bins.
    """
    for told in point.latencies:
        if percentile in told.ranges:
            return told.ranges[percentile]
        if percentile in told.values:
            return told.values[percentile], told.values[percentile]
    return None


def load_curves(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], known: pd.DataFrame | None = None
) -> list[LoadCurve]:
    """Return the curves of a dataset, those that have enough points to be one.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
    known : DataFrame, optional
        The percentile curves of these, where they were made before.

    Returns
    -------
    list of LoadCurve
        By axis, pattern and block size. A run is a point of one curve: over the queue depth, where there is
        one.
    """
    rows = arrangement.runs
    if not may_sweep(rows):
        return []
    first = rows.drop_duplicates(["series", "whole"]).set_index(["series", "whole"])
    places = pd.DataFrame({axis.key: axis.values(first) for axis in AXES}, index=first.index)
    points = [
        _Point(card=card, facts=first.loc[place], places=places.loc[place])
        for card in cards(arrangement, tables, known, each=True)
        if _is_point(card)
        for place in [(card.series, card.facet)]
    ]
    made: list[LoadCurve] = []
    for axis in AXES:
        groups: dict[Hashable, list[_Point]] = defaultdict(list)
        for point in points:
            if not pd.isna(point.places[axis.key]):
                groups[_key(point, axis, arrangement.by)].append(point)
        found = [curve for group in groups.values() for curve in _curves(group, axis) if curve.is_sweep]
        taken = {id(card) for curve in found for card in curve.points}
        points = [point for point in points if id(point.card) not in taken]
        made += found
    return _named_apart(made, first)


@dataclass(frozen=True)
class _Point:
    """What may be a point: its figures, the facts of its first run, and its place on each axis."""

    card: Card
    facts: pd.Series
    places: pd.Series


def may_sweep(runs: pd.DataFrame) -> bool:
    """Whether any workload was measured at places enough for a curve."""
    return bool(sweeps(runs).any())


def _row(point: Card) -> Any:
    assert point.rate is not None  # noqa: S101  (a point has a rate)
    return point.rate


def _is_point(card: Card) -> bool:
    """Whether a card is of one workload with a rate, a pattern, a block size and a depth."""
    rate = card.rate
    facts = ("rw", "bs_bytes", "queue_depth")
    return (
        rate is not None
        and card.files is None
        and rate["workloads"] == 1
        and not any(pd.isna(rate[name]) for name in facts)
        and not (pd.isna(rate["iops"]) and pd.isna(rate["bw_bytes_per_s"]))
    )


def _key(point: _Point, axis: Axis, by: str) -> Hashable:
    """What the points of a curve share; where there is one setup, series are patterns or loads.

    Repeats at two levels are points of two curves.
    """
    series = point.card.series if by == "setup" else ""
    return (
        series,
        int(point.facts["level"]),
        *(str(point.facts[name]) for name in _FACTS if name not in axis.free),
    )


def _curves(group: Sequence[_Point], axis: Axis) -> list[LoadCurve]:
    """The curves of what is alike: one, or one for each number of jobs where depths come twice."""
    by_jobs: dict[Hashable, list[_Point]] = {"": list(group)}
    if _has_twice(group, axis):
        by_jobs = defaultdict(list)
        for point in group:
            jobs = point.facts["queue_depth"] / point.facts["iodepth"]
            by_jobs["" if pd.isna(jobs) else float(jobs)].append(point)
    made = []
    for same in by_jobs.values():
        if not _has_twice(same, axis):
            same = sorted(same, key=lambda point: float(point.places[axis.key]))
            named = (same[0].facts[name] if name in axis.shared else pd.NA for name in _NAMED)
            made.append(
                LoadCurve(
                    name=workload_text(*named),
                    axis=axis,
                    values=tuple(float(point.places[axis.key]) for point in same),
                    points=tuple(point.card for point in same),
                )
            )
    return made


def _has_twice(group: Sequence[_Point], axis: Axis) -> bool:
    return max(Counter(float(point.places[axis.key]) for point in group).values()) > 1


def _named_apart(curves: Sequence[LoadCurve], first: pd.DataFrame) -> list[LoadCurve]:
    """The curves by pattern and block size; of those with one name, each says what tells it apart.

    Of curves through repeats at several levels that is their order: each point has a level of its own.
    """
    rows = [first.loc[(curve.best.series, curve.best.facet)] for curve in curves]
    seen = Counter((curve.best.series, curve.name) for curve in curves)
    named = []
    for curve, row in zip(curves, rows, strict=True):
        own = repeats.DIFFERENCES.get(curve.axis.free[0], str)(row[curve.axis.free[0]])
        apart = str(row["apart"]).replace(f", {own}", "") if seen[curve.best.series, curve.name] > 1 else ""
        named.append((curve.best.series, f"{curve.name}{apart}", int(row["level"])))
    levels: dict[Hashable, list[int]] = defaultdict(list)
    for series, name, level in named:
        levels[series, name].append(level)
    return [
        replace(curve, name=name + _level_text(sorted(levels[series, name]), level))
        for curve, (series, name, level) in zip(curves, named, strict=True)
    ]


def _level_text(levels: Sequence[int], level: int) -> str:
    """Which of the levels of a workload, the lowest first, a curve goes through; empty where there is one."""
    if len(levels) == 1 or len(set(levels)) < len(levels):
        return ""
    if len(levels) == 2:
        return f", the {'lower' if level == levels[0] else 'higher'} of two levels"
    return f", level {levels.index(level) + 1} of {len(levels)}"
