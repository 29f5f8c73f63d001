"""The figures of a report: what is drawn, under which sentence, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis import grouping, timeline
from azbenchlib.analysis.phases import phases
from azbenchlib.core.histogram import REL_ERROR
from azbenchlib.core.units import format_us
from azbenchlib.report import formatting
from azbenchlib.report.blocks import Block
from azbenchlib.report.figures import Group, figures, panels

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

LASTING = 0.2  # of the time: a shorter level is no headline
SWING = 3.0  # times the median: from there on an interval is worth a headline, as means of few I/Os vary

RARER = (
    "Each step to the right is rarer: p99 is the latency that 1 I/O in 100 exceeds. A flat line is a steady "
    "disk; a line that climbs at the right has a bad tail."
)
WITHIN = (
    f"Lines join the percentiles that the tool reported, each within {100 * REL_ERROR:.1f} % "
    "(half a histogram bin)."
)
HOLLOW = "A hollow marker stands for a percentile that this run had too few I/Os to be sure of."
ONE_MARKER = "A marker is one result. Where the workloads differ, compare bytes rather than IOPS."
LOG_AXIS = "An axis over more than a factor of 30 is logarithmic: equal distances are equal ratios."
LEVEL = (
    "A level line is a steady disk. A step is a limit that began or ended; teeth are a cache or a throttle "
    "that works in turns."
)
INTERVALS = "Each point is the mean of a log interval; what happens inside an interval is not seen."


def percentile_figures(part: Part, place: str, group: Group) -> Block | None:
    """One figure a workload (or pattern) that has percentile curves, the most shared first."""
    curves = grouping.curves(part.arrangement, part.dataset.tables)
    how = [RARER, WITHIN, *([HOLLOW] if curves["n"].notna().any() else [])]
    kinds = formatting.join(formatting.LATENCY_KINDS[kind] for kind in curves["lat_kind"])
    return figures(
        panels(part, curves),
        f"{place}-percentiles",
        plots.percentile_curves,
        title=_percentile_finding,
        what=f"{kinds} by percentile. Lower is better.",
        how=how,
        group=group,
    )


def rate_figures(part: Part, place: str, group: Group) -> Block | None:
    """The headline rate of every setup; with one setup, one figure a pattern."""
    by_setup = part.arrangement.by == "setup"
    rows = [
        {
            "series": card.series,
            "facet": "Each setup" if by_setup else card.facet,
            **card.rate[["iops", "bw_bytes_per_s", "iops_bound", "bw_bound"]],
            "note": formatting.workload_of(card.rate)
            if by_setup
            else formatting.with_phases(formatting.spread(card.rate), card.rate),
        }
        for card in part.cards
        if card.rate is not None
    ]
    comparisons = [panel for panel in panels(part, pd.DataFrame(rows)) if len(panel[2]) > 1]
    what = "IOPS and throughput" + ("; the workload stands in grey." if by_setup else ".")
    return figures(
        comparisons,
        f"{place}-rates",
        plots.rates_side_by_side,
        title=_rate_finding,
        what=what,
        how=[ONE_MARKER, LOG_AXIS],
        group=group,
    )


def time_figures(part: Part, place: str, group: Group) -> Block | None:
    """Latency over time of every workload that has a latency log."""
    return figures(
        panels(part, timeline.envelope(part.arrangement, part.dataset.tables)),
        f"{place}-time",
        plots.latency_over_time,
        title=_course,
        what="mean latency in each interval of the log.",
        how=[LEVEL, INTERVALS],
        group=group,
    )


def _percentile_finding(curves: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    names = {entry.key: entry.short for entry in series}
    tail = curves[curves["percentile"] == curves.loc[curves["percentile"] <= 99, "percentile"].max()]
    percentile = f"p{tail['percentile'].iloc[0]:g}"
    low, high = tail.loc[tail["lat_us"].idxmin()], tail.loc[tail["lat_us"].idxmax()]
    if len(tail) == 1:
        return f"{percentile} is {format_us(low['lat_us'])}"
    ratio = f": {formatting.times(high['lat_us'] / low['lat_us'])}" if low["lat_us"] else ""
    return (
        f"{percentile} runs from {format_us(low['lat_us'])} ({names[low['series']]}) to "
        f"{format_us(high['lat_us'])} ({names[high['series']]}){ratio}"
    )


def _rate_finding(rates: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    names = {entry.key: entry.short for entry in series}
    column = "iops" if rates["iops"].notna().sum() > 1 else "bw_bytes_per_s"
    known = rates[rates[column].notna()]
    low, high = known.loc[known[column].idxmin()], known.loc[known[column].idxmax()]
    unit, text = ("IOPS", formatting.iops) if column == "iops" else ("MB/s", formatting.mbps)
    bound = "iops_bound" if column == "iops" else "bw_bound"
    return (
        f"From {text(low[column], low[bound])} {unit} ({names[low['series']]}) to "
        f"{text(high[column], high[bound])} {unit} ({names[high['series']]})"
    )


def _course(envelope: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """What there is to say of latency over time: another level, or an interval far above the others."""
    names = {entry.key: entry.short for entry in series}
    changes, swings = [], []
    for key, rows in envelope.groupby("series", sort=False):
        line = rows.groupby("t_s")["lat_us"].mean()
        first, last = _ends(line)
        changes.append((max(first, last) / min(first, last) if first != last else 0.0, first, last, key))
        swings.append((line.max() / line.median(), key))
    size, first, last, key = max(changes)
    if size:
        change = f"from {format_us(first)} to {format_us(last)}"
        return f"Mean latency goes {change} during the run ({names[str(key)]})"
    worst, key = max(swings)
    if worst < SWING:
        return "Latency over time"
    return f"The slowest interval takes {formatting.times(worst)} the median ({names[str(key)]})"


def _ends(line: pd.Series) -> tuple[float, float]:
    """The first and the last level of latencies by time; the same where none is, or one is short: queues
    fill at the start.
    """
    steps = phases(line.index, line, zeros=False)
    least = LASTING * (line.index[-1] - line.index[0])
    if not steps or min(step.end_s - step.start_s for step in steps) < least:
        return 1.0, 1.0
    return steps[0].mean, steps[-1].mean
