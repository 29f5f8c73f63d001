"""The figures of a report: what is drawn, under which sentence, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analyse import arrange, summary, timeline
from azbenchlib.histogram import REL_ERROR
from azbenchlib.report import words
from azbenchlib.report.blocks import Block, render, safe
from azbenchlib.units import format_us

if TYPE_CHECKING:
    from azbenchlib.report.content import Part

MOST_FIGURES = 4  # of one kind, per dataset

Group = dict[str, str] | None  # title of the dataset, where a report has several
Panel = tuple[str, list[plots.Series], pd.DataFrame]  # what it shows, the series in it, their rows
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
LATENCY_KINDS = {"clat": "completion latency", "lat": "total latency"}


def percentile_figures(part: Part, place: str, group: Group) -> Block | None:
    """One figure a workload (or pattern) that has percentile curves, the most shared first."""
    curves = arrange.curves(part.arrangement, part.dataset.tables)
    how = [RARER, WITHIN, *([HOLLOW] if curves["n"].notna().any() else [])]
    kinds = words.join(LATENCY_KINDS[kind] for kind in curves["lat_kind"])
    return _figures(
        _panels(part, curves),
        f"{place}-percentiles",
        plots.percentile_curves,
        _percentile_finding,
        f"{kinds} by percentile. Lower is better.",
        how,
        group,
    )


def rate_figures(part: Part, place: str, group: Group) -> Block | None:
    """The headline rate of every setup; with one setup, one figure a pattern."""
    by_setup = part.arrangement.by == "setup"
    cards = summary.cards(part.arrangement, part.dataset.tables)
    rows = [
        {
            "series": card.series,
            "facet": "Each setup" if by_setup else card.facet,
            **card.rate[["iops", "bw_bytes_per_s", "iops_bound", "bw_bound"]],
            "note": card.rate["facet"] if by_setup else "",
        }
        for card in cards
        if card.rate is not None
    ]
    comparisons = [panel for panel in _panels(part, pd.DataFrame(rows)) if len(panel[2]) > 1]
    what = "IOPS and throughput" + ("; the workload stands in grey." if by_setup else ".")
    return _figures(
        comparisons,
        f"{place}-rates",
        plots.rates_side_by_side,
        _rate_finding,
        what,
        [ONE_MARKER, LOG_AXIS],
        group,
    )


def time_figures(part: Part, place: str, group: Group) -> Block | None:
    """Latency over time of every workload that has a latency log."""
    return _figures(
        _panels(part, timeline.envelope(part.arrangement, part.dataset.tables)),
        f"{place}-time",
        plots.latency_over_time,
        _steadiness,
        "mean latency in each interval of the log.",
        [LEVEL, INTERVALS],
        group,
    )


def _figures(
    panels: Sequence[Panel],
    name: str,
    draw: Callable[[pd.DataFrame, Sequence[plots.Series], plots.Layout], plots.Drawn],
    title: Callable[[pd.DataFrame, Sequence[plots.Series]], str],
    what: str,
    how: Sequence[str],
    group: Group,
) -> Block | None:
    """One figure a panel: its finding as the title, then what is drawn, the drawing, how to read it."""
    made = []
    for i, (facet, series, rows) in enumerate(panels):
        svg = plots.both(partial(draw, rows, series), f"{name}-{i}")
        made.append(
            render(
                "figure",
                id=f"{name}-{i}-figure",
                title=title(rows, series),
                what=f"{facet[:1].upper()}{facet[1:]}: {what}",
                svg=safe(svg),
                how=how,
                group=group,
            ).html
        )
    return Block("\n".join(made)) if made else None


def _panels(part: Part, rows: pd.DataFrame) -> list[Panel]:
    """Rows by facet, in groups of six series; the facets that most series share first."""
    if rows.empty:
        return []
    counts = rows.groupby("facet", sort=False)["series"].nunique()
    panels: list[Panel] = []
    for facet in counts.sort_values(ascending=False, kind="stable").index:
        mine = rows[rows["facet"] == facet]
        for group in part.groups:
            series = [entry for entry in group if entry.key in set(mine["series"])]
            if series:
                some = mine[mine["series"].isin([entry.key for entry in series])]
                panels.append((str(facet), series, some))
    return panels[:MOST_FIGURES]


def _percentile_finding(curves: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    names = {entry.key: entry.short for entry in series}
    tail = curves[curves["percentile"] == curves.loc[curves["percentile"] <= 99, "percentile"].max()]
    percentile = f"p{tail['percentile'].iloc[0]:g}"
    low, high = tail.loc[tail["lat_us"].idxmin()], tail.loc[tail["lat_us"].idxmax()]
    if len(tail) == 1:
        return f"{percentile} is {format_us(low['lat_us'])}"
    return (
        f"{percentile} runs from {format_us(low['lat_us'])} ({names[low['series']]}) to "
        f"{format_us(high['lat_us'])} ({names[high['series']]}): {_times(high['lat_us'] / low['lat_us'])}"
    )


def _rate_finding(rates: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    names = {entry.key: entry.short for entry in series}
    column = "iops" if rates["iops"].notna().sum() > 1 else "bw_bytes_per_s"
    known = rates[rates[column].notna()]
    low, high = known.loc[known[column].idxmin()], known.loc[known[column].idxmax()]
    unit, text = ("IOPS", words.iops) if column == "iops" else ("MB/s", words.mbps)
    bound = "iops_bound" if column == "iops" else "bw_bound"
    return (
        f"From {text(low[column], low[bound])} {unit} ({names[low['series']]}) to "
        f"{text(high[column], high[bound])} {unit} ({names[high['series']]})"
    )


def _steadiness(envelope: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    names = {entry.key: entry.short for entry in series}
    grouped = envelope.groupby("series", sort=False)["lat_us"]
    swing = (grouped.max() / grouped.median()).sort_values()
    worst = str(swing.index[-1])
    return f"The slowest interval takes {_times(swing.iloc[-1])} the median ({names[worst]})"


def _times(ratio: float) -> str:
    """``1.4 times``, ``29 times``, ``2,300 times``."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f} times"
