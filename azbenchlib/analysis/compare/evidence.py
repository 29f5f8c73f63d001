"""The figures of both sides of a comparison, brought together workload by workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt
from statistics import median

import numpy as np
import pandas as pd

from azbenchlib.analysis.compare.cells import Evidence, Scope
from azbenchlib.analysis.compare.figures import run_figures, within_run
from azbenchlib.analysis.compare.matching import ComparedWorkload, Key, SideRuns
from azbenchlib.analysis.compare.metrics import Metric
from azbenchlib.analysis.compare.published_repeats import REPEATS, is_beyond_repeats
from azbenchlib.analysis.compare.ratio import FEWEST_RUNS, Estimate, Method, spread, welch
from azbenchlib.analysis.compare.run_order import (
    RunOrder,
    SideDrift,
    Starts,
    run_order,
    shows_trend,
    without_trend,
)
from azbenchlib.analysis.distribution import KINDS

Tables = Mapping[str, pd.DataFrame]
_LARGE_DF = 1e9  # of an interval that is not from a spread of runs
_WITHIN_ALPHA = 0.01  # two-sided error of the interval within a run that gives its standard error
_RATE = ("",)


@dataclass(frozen=True, kw_only=True)
class SideFigures:
    """A side: its runs, and by workload and metric the figures of each: unit, lat_kind, value, rounding."""

    tables: Tables
    side: SideRuns
    figures: Mapping[tuple[Key, str], pd.DataFrame]
    none: pd.DataFrame

    @cached_property
    def _places(self) -> dict[str, dict[str, np.ndarray]]:
        """Where the rows of each run are, in the tables that tell of the inside of a run or of its length."""
        return {name: self.tables[name].groupby("run_id").indices for name in ("bins", "samples", "runs")}

    def inside(self, run_ids: Sequence[str]) -> Tables:
        """The tables that tell of the inside of runs, with no other runs in them."""
        nothing = np.array([], dtype=int)
        return {
            name: self.tables[name].take(np.concatenate([known.get(one, nothing) for one in run_ids]))
            for name, known in self._places.items()
        }

    @cached_property
    def _starts(self) -> pd.Series:
        """When each unit began, in seconds; NA where an output does not tell."""
        starts = self.side.starts_of(self.tables)
        return starts.groupby(self.side.runs["unit"].to_numpy()).min()

    def starts_of(self, units: pd.Series) -> list[float] | None:
        """When runs began, in their order; None where that is not known of all."""
        found = self._starts.reindex(units)
        return None if found.isna().any() else [float(one) for one in found]

    def of(self, key: Key, metric: str) -> pd.DataFrame:
        """The figures of one metric of a workload; no row where there is none."""
        return self.figures.get((key, metric), self.none)


def side_figures(tables: Tables, side: SideRuns, keys: pd.Series, metrics: Sequence[Metric]) -> SideFigures:
    """The figures of all runs of a side."""
    found = run_figures(side.units, side.runs, tables, metrics)
    by_unit = dict(zip(side.units["unit"], keys, strict=True))
    grouped = found.groupby(["unit", "metric"], sort=False)
    parts: dict[tuple[Key, str], list[pd.DataFrame]] = {}
    for (unit, metric), rows in grouped:
        parts.setdefault((by_unit[unit], metric), []).append(rows)
    figures = {name: some[0] if len(some) == 1 else pd.concat(some) for name, some in parts.items()}
    return SideFigures(tables=tables, side=side, figures=figures, none=found[:0])


def evidence(
    a: SideFigures,
    b: SideFigures,
    workloads: Sequence[ComparedWorkload],
    metrics: Sequence[Metric],
    *,
    every: bool,
) -> Iterator[Evidence]:
    """What both sides tell of each metric of each workload.

    Parameters
    ----------
    a, b : SideFigures
    workloads : sequence of ComparedWorkload
        Those that both have.
    metrics : sequence of Metric
    every : bool
        Whether a metric that neither side has counts too, and throughput beside IOPS of one block size, of
        which the ratio is the same.
    """
    for workload in workloads:
        rated = False
        for metric in metrics:
            if metric.name == "bw" and rated and not every and _one_size(workload):
                continue
            found = _evidence(a, b, workload, metric)
            if found is None and not every:
                continue
            rated |= metric.name == "iops" and bool(found and found.a and found.b)
            yield found or _nothing(workload, metric, "neither side has it")


def _one_size(workload: ComparedWorkload) -> bool:
    key = dict(workload.key)
    return bool(key["bs_bytes"]) and not key["bs_write_bytes"]


def _nothing(workload: ComparedWorkload, metric: Metric, why: str) -> Evidence:
    return Evidence(
        workload=workload, metric=metric, lat_kind="", a=(), b=(), estimate=None, scope=Scope.NOTHING, why=why
    )


def _evidence(a: SideFigures, b: SideFigures, workload: ComparedWorkload, metric: Metric) -> Evidence | None:
    """None where neither side has the metric."""
    rows = [one.of(workload.key, metric.name) for one in (a, b)]
    if all(one.empty for one in rows):
        return None
    kinds = KINDS if metric.percentile is not None else _RATE
    kind = next((k for k in kinds if all((one["lat_kind"] == k).any() for one in rows)), None)
    if kind is None:
        return _nothing(workload, metric, _lacking(rows))
    rows = [one[one["lat_kind"] == kind] for one in rows]
    values = [tuple(float(value) for value in one["value"]) for one in rows]
    slack = sum(log((1 + r) / (1 - r)) / 2 for r in (float(one["rounding"].max()) for one in rows))
    known = of_values(workload, metric, kind, values[0], values[1], slack, _starts((a, b), rows))
    if known.estimate is not None or len(values[0]) > 1 < len(values[1]) or min(*values[0], *values[1]) <= 0:
        return known
    estimate = _within((a, b), rows, metric, kind, slack)
    return replace(known, estimate=estimate, scope=Scope.ONE_RUN if estimate else Scope.NOTHING)


def _starts(sides: Sequence[SideFigures], rows: Sequence[pd.DataFrame]) -> Starts | None:
    a, b = (side.starts_of(one["unit"]) for side, one in zip(sides, rows, strict=True))
    return None if a is None or b is None else (a, b)


def of_values(
    workload: ComparedWorkload,
    metric: Metric,
    kind: str,
    a: tuple[float, ...],
    b: tuple[float, ...],
    slack: float = 0.0,
    starts: Starts | None = None,
) -> Evidence:
    """What the figures of runs tell; nothing of how well it is known where a side has a single one.

    Parameters
    ----------
    workload : ComparedWorkload
    metric : Metric
    kind : str
        Of latency; empty for rates.
    a, b : tuple of float
        A figure a run.
    slack : float
        Rounding of the figures, as a logarithm.
    starts : pair of sequence of float, optional
        When each run began, where that is known of all.
    """
    estimate, scope, why, drift = None, Scope.NOTHING, "", None
    order = run_order(starts)
    if min(*a, *b) <= 0:
        why = "a run has a figure of zero, which gives no ratio"
    elif min(len(a), len(b)) > 1:
        estimate, scope = welch(a, b, slack), Scope.RUNS
        if starts is not None and order is not RunOrder.OTHER and min(len(a), len(b)) >= FEWEST_RUNS:
            logs = np.log(a), np.log(b)
            level = without_trend(*logs, starts, slack)
            if order is RunOrder.IN_TURNS:
                estimate = level
            else:
                drift = SideDrift(level, shows_trend(*logs, starts))
    else:
        why = _too_few((a, b))
    return Evidence(
        workload=workload,
        metric=metric,
        lat_kind=kind,
        a=a,
        b=b,
        estimate=estimate,
        scope=scope,
        why=why,
        drift=drift,
    )


def _lacking(rows: Sequence[pd.DataFrame]) -> str:
    empty = [one.empty for one in rows]
    return (
        "the new side does not have it"
        if empty[1]
        else "the old side does not have it"
        if empty[0]
        else ("the sides have different kinds of latency")
    )


def _too_few(values: Sequence[Sequence[float]]) -> str:
    single = [len(one) == 1 for one in values]
    which = "each side has" if all(single) else "the old side has" if single[0] else "the new side has"
    if is_beyond_repeats(median(values[1]) / median(values[0])):
        return f"different, but not repeated: {which} one run, and {REPEATS}"
    return f"{which} one run, and how much runs differ is not known"


def _within(
    sides: Sequence[SideFigures],
    rows: Sequence[pd.DataFrame],
    metric: Metric,
    kind: str,
    slack: float,
) -> Estimate | None:
    """From the interval of a single run, and the spread of several; None where a run tells nothing."""
    from scipy.special import ndtri

    errors, centres = [], []
    for side, one in zip(sides, rows, strict=True):
        logs = np.log(one["value"].to_numpy(float))
        centres.append(float(logs.mean()))
        if logs.size > 1:
            errors.append(spread(logs) / sqrt(logs.size))
            continue
        unit = side.side.units.set_index("unit").loc[one["unit"].iloc[0]]
        limits = within_run(unit, metric, kind, side.inside(unit["run_ids"]), _WITHIN_ALPHA)
        if limits is None or limits[0] <= 0:
            return None
        errors.append(log(limits[1] / limits[0]) / (2 * float(ndtri(1 - _WITHIN_ALPHA / 2))))
    se = max(sqrt(sum(error**2 for error in errors)), 1e-6)
    return Estimate(
        log_ratio=centres[1] - centres[0], se=se, df=_LARGE_DF, slack=slack, method=Method.WITHIN_RUN
    )
