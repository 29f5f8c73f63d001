"""Curves over load: the rates and latencies of one pattern and block size of one setup, by queue depth.

A single run is a curve of one point. Where three depths or more were measured, the curve is what a reader
asks for: from which depth on the rate no longer grows, and what more depth costs in latency.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.setup_names import workload_text
from azbenchlib.analysis.summary import Card, cards
from azbenchlib.analysis.sweeps import LEAST_DEPTHS, sweeps

FLAT = 0.03  # of the highest rate: a rate that is nearer to it has reached it
# What may differ between the points of a curve: how the depth is made up, and what grows with the jobs.
_FREE = ("iodepth", "working_set_bytes")
_ALIKE = [name for name in repeats.WORKLOAD if name not in _FREE]


@dataclass(frozen=True, kw_only=True)
class LoadCurve:
    """One pattern and block size of one setup over the queue depth.

    Attributes
    ----------
    name : str
        The workload without its depth, such as ``4 KiB random reads``.
    points : tuple of Card
        The figures at each depth, the least depth first; repeats at one depth are one point, their median.
    """

    name: str
    points: tuple[Card, ...]

    @property
    def is_sweep(self) -> bool:
        """Whether it has enough depths to show where the rate stops growing."""
        return len(self.points) >= LEAST_DEPTHS

    @property
    def pattern(self) -> str:
        """As fio spells it."""
        return str(_row(self.points[0])["rw"])

    @property
    def bs_bytes(self) -> float:
        """Of one I/O."""
        return float(_row(self.points[0])["bs_bytes"])

    @cached_property
    def best(self) -> Card:
        """The point of the least depth that has reached the highest rate."""
        rates = [rate_of(point) for point in self.points]
        least = (1 - FLAT) * max(rates)
        return next(point for point, rate in zip(self.points, rates, strict=True) if rate >= least)

    @property
    def deepest(self) -> Card:
        """The point of the largest depth."""
        return self.points[-1]


def depth_of(point: Card) -> float:
    """Return the queue depth of a point."""
    return float(_row(point)["queue_depth"])


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
    """Return the curves of a dataset, those that have enough depths to be one.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
    known : DataFrame, optional
        The percentile curves of these, where they were made before.

    Returns
    -------
    list of LoadCurve
        By pattern and block size.
    """
    rows = arrangement.runs
    if not may_sweep(rows):
        return []
    first = rows.drop_duplicates(["series", "whole"]).set_index(["series", "whole"])
    every = cards(arrangement, tables, known, each=True)
    groups: dict[Hashable, list[tuple[Card, pd.Series]]] = defaultdict(list)
    for card in every:
        if _is_point(card):
            row = first.loc[(card.series, card.facet)]
            groups[_key(card, row)].append((card, row))
    made = [curve for group in groups.values() for curve in _curves(group)]
    return _named_apart([curve for curve in made if curve.is_sweep], first)


def may_sweep(runs: pd.DataFrame) -> bool:
    """Whether any pattern and block size was measured at depths enough for a curve."""
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


def _key(card: Card, row: pd.Series) -> Hashable:
    """What the points of a curve share."""
    return (card.series, *(str(row[name]) for name in (*_ALIKE, "rw", "bs_bytes", "level")))


def _curves(group: Sequence[tuple[Card, pd.Series]]) -> list[LoadCurve]:
    """The curves of what is alike: one, or one for each number of jobs where depths come twice."""
    by_jobs: dict[Hashable, list[tuple[Card, pd.Series]]] = {"": list(group)}
    if _has_twice(group):
        by_jobs = defaultdict(list)
        for card, row in group:
            jobs = row["queue_depth"] / row["iodepth"]
            by_jobs["" if pd.isna(jobs) else float(jobs)].append((card, row))
    made = []
    for same in by_jobs.values():
        points = tuple(card for card, _ in sorted(same, key=lambda pair: depth_of(pair[0])))
        row = same[0][1]
        if not _has_twice(same):
            made.append(LoadCurve(name=workload_text(row["rw"], row["bs_bytes"], pd.NA), points=points))
    return made


def _has_twice(group: Sequence[tuple[Card, pd.Series]]) -> bool:
    return max(Counter(depth_of(card) for card, _ in group).values()) > 1


def _named_apart(curves: Sequence[LoadCurve], first: pd.DataFrame) -> list[LoadCurve]:
    """The curves by pattern and block size; of those with one name, each says what tells it apart."""
    seen = Counter((curve.points[0].series, curve.name) for curve in curves)
    named = []
    for curve in curves:
        point = curve.best
        row = first.loc[(point.series, point.facet)]
        apart = str(row["apart"]) if seen[point.series, curve.name] > 1 else ""
        named.append(LoadCurve(name=f"{curve.name}{apart}", points=curve.points))
    return named
