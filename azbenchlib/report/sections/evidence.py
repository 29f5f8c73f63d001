"""The figures of a report: what is drawn, under which sentence, and how to read it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.over_time import timeline
from azbenchlib.analysis.over_time.phases import phases
from azbenchlib.analysis.percentiles import min_samples
from azbenchlib.answers import sayings
from azbenchlib.answers.blocks import Block
from azbenchlib.core.histogram import REL_ERROR, format_percentile
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import format_us
from azbenchlib.report import formatting
from azbenchlib.report.figures import MOST_FIGURES, Group, Panel, Told, figures, panels
from azbenchlib.report.setup_answer import verdict_of

if TYPE_CHECKING:
    from azbenchlib.analysis.summary import Card
    from azbenchlib.report.part import Part

LASTING = 0.2  # of the time: a shorter level is no headline
APART = 1.2  # the largest ÷ the smallest value: below, there is nothing to tell
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
TICK = "A grey tick is a documented limit: a marker on it is at that limit. Limits far above are left out."
LOG_AXIS = "An axis over more than a factor of 30 is logarithmic: equal distances are equal ratios."
LEVEL = (
    "A level line is a steady disk. A step is a limit that began or ended; a sawtooth is a cache flush or a "
    "throttle that switches on and off."
)
OWN_WORKLOADS = "Each series with a workload of its own"
_MOST_OF_FILES = 2  # of the percentiles of many files without a stated setup: the table has them all
_READS, _WRITES = ", reads", ", writes"  # as facets of a mixed load end
_SCOPES = {"disk": "disk", "vm_uncached": "VM", "vm_cached": "VM"}
SPANS = (
    "A point is the mean of what was logged in a short span of time; the shade reaches up to the largest "
    "value there. What the log itself averaged is not seen."
)


def percentile_figures(
    part: Part, place: str, group: Group, told: Told = None, most: int = MOST_FIGURES
) -> Block | None:
    """One figure a workload (or pattern) that has percentile curves, the most shared first."""
    curves = _alone(part, part.curves)
    if len(part.entries) > len(COLOURS) and not any(map(part.is_comparable, part.entries)):
        most = min(most, _MOST_OF_FILES)
    found = panels(part, curves, None)
    found = found[:most] if told is None else _each_once(part, _once(found))
    how = [RARER, WITHIN, *([] if _is_sure(curves).all() else [HOLLOW])]
    kinds = formatting.join(formatting.LATENCY_KINDS[kind] for kind in curves["lat_kind"])
    return figures(
        found[:most],
        f"{place}-percentiles",
        plots.percentile_curves,
        title=partial(_percentile_finding, part),
        what=f"{kinds} by percentile. Lower is better.",
        how=how,
        group=group,
        kind="percentiles",
        told=told,
    )


def _alone(part: Part, curves: pd.DataFrame) -> pd.DataFrame:
    """The percentile curves of what no figure over load shows."""
    keys = pd.MultiIndex.from_frame(curves[["series", "facet"]])
    points = part.points_of_curves
    return curves[~keys.isin(list(points))] if points else curves


def _each_once(part: Part, found: Sequence[Panel]) -> list[Panel]:
    """What compares several series; then the curves of those that have a workload for themselves, in one
    figure where they are of one group.
    """
    shared = [one for one in found if len(one[1]) > 1]
    place = {entry.key: i for i, group in enumerate(part.groups) for entry in group}
    figures_of: dict[tuple[int, int], list[Panel]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for one in found:
        if len(one[1]) == 1:
            key = one[1][0].key
            figures_of[seen[key], place[key]].append(one)
            seen[key] += 1
    several = [some[0] if len(some) == 1 else _together(some) for some in figures_of.values()]
    return [*shared, *several]


def _together(some: Sequence[Panel]) -> Panel:
    """One panel of several with a series each, which are called by their workloads too."""
    series = [
        replace(entry, label=_with_load(entry.label, facet), short=_with_load(entry.short, facet))
        for facet, (entry,), _ in some
    ]
    return OWN_WORKLOADS, series, pd.concat([rows for *_, rows in some])


def _with_load(name: str, facet: str) -> str:
    """``a.json, 4 KiB random reads``; a set of files is called by its workload already."""
    return name if facet in name else f"{name}, {facet}"


def rate_figures(part: Part, place: str, group: Group, told: Told = None) -> Block | None:
    """The headline rate of every setup with its limits; with one setup, one figure a pattern."""
    by_setup = part.arrangement.by == "setup"
    known = [(card, verdict_of(part, card)[0]) for card in _comparable(part)]
    rows = [
        {
            "series": card.series,
            "facet": "Each setup" if by_setup else card.facet,
            **card.rate[["iops", "bw_bytes_per_s", "iops_bound", "bw_bound"]],  # type: ignore[index]
            "note": formatting.workload_of(card.rate)
            if by_setup and card.files is None
            else formatting.with_phases(formatting.spread(card.rate), card.rate),
            "verdict": verdict,
        }
        for card, verdict in known
    ]
    comparisons = [panel for panel in panels(part, pd.DataFrame(rows)) if len(panel[2]) > 1]
    limited = any(verdict and verdict.judged.limits for _, verdict in known)
    what = f"measured IOPS and throughput{' (marker) and documented limits (ticks)' if limited else ''}."
    return figures(
        comparisons,
        f"{place}-rates",
        lambda some, series, layout: plots.rates_side_by_side(some, series, layout, _limits(some)),
        title=partial(_rate_finding, part),
        what=what,
        how=[*([TICK] if limited else []), ONE_MARKER, LOG_AXIS],
        group=group,
        kind="rates",
        told=told,
    )


def _comparable(part: Part) -> list[Card]:
    """The cards whose rates stand side by side; of a few files without a setup those of one workload."""
    points = part.points_of_curves
    rated = [
        (card, str(card.rate["facet"]))
        for card in part.cards
        if card.rate is not None
        and not part.entries[card.series].twin
        and (card.series, card.facet) not in points
    ]
    n = Counter(facet for _, facet in rated)
    few = len(rated) <= len(COLOURS)
    return [card for card, facet in rated if part.is_comparable(card.series) or (few and n[facet] > 1)]


def time_figures(
    part: Part, place: str, group: Group, told: Told = None, steady: bool | None = None
) -> Block | None:
    """Latency over time of every workload that has a latency log; with `steady` of those only where nothing
    happened, and where it is False of the others.
    """
    found = panels(part, timeline.envelope(part.arrangement, part.dataset.tables))
    if steady is not None:
        each = _each_once(part, _once(found))
        found = [one for one in each if (_event(one[2], one[1]) is None) == steady]
    return figures(
        found,
        f"{place}-time",
        plots.latency_over_time,
        title=lambda rows, series: _event(rows, series) or "Latency over time",
        what="mean latency over time, from the log.",
        how=[LEVEL, SPANS],
        group=group,
        kind="time",
        told=told,
    )


def _once(found: Sequence[Panel]) -> list[Panel]:
    """Without the writes of a mixed load whose reads are drawn; what compares several series comes first."""
    facets = {facet for facet, *_ in found}
    kept = [
        one
        for one in found
        if one[0].removesuffix(_WRITES) + _READS not in facets or not one[0].endswith(_WRITES)
    ]
    return sorted(kept, key=lambda one: len(one[1]) < 2)


def _limits(rows: pd.DataFrame) -> pd.DataFrame:
    """The limits of the runs whose rates are drawn, for their ticks."""
    found = [
        {
            "series": row.series,
            "column": "iops" if limit.label.quantity == "iops" else "bw_bytes_per_s",
            "value": limit.value,
            "name": " ".join(
                filter(None, [_SCOPES.get(limit.label.scope or ""), "burst" if limit.label.burst else ""])
            ),
        }
        for row in rows.itertuples()
        if row.verdict
        for limit in row.verdict.judged.limits
    ]
    return pd.DataFrame(found, columns=["series", "column", "value", "name"])


def _is_sure(curves: pd.DataFrame) -> pd.Series:
    """Whether a run had enough I/Os for each percentile; the least and the largest value need but one."""
    inner = curves["percentile"].between(0, 100, inclusive="neither")
    need = curves["percentile"].where(inner, 50).map(min_samples).where(inner, 1)
    return (curves["n"].isna() | (curves["n"] >= need)).astype(bool)


def _percentile_finding(part: Part, curves: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """The range of p99, or of the last percentile below that every curve has enough I/Os for, where the
    curves are of one workload, and on stated setups or one and the same.
    """
    if not all(part.is_comparable(entry.key) for entry in series):
        return "Latency by percentile"
    names = {entry.key: entry.short for entry in series}
    inner = curves[curves["percentile"].between(0, 99, inclusive="right")]
    sure = inner[_is_sure(inner)]
    shared = sure.groupby("percentile")["series"].nunique()
    told = shared.index[shared == len(series)]
    if len(series) < 2 or not len(told) or curves["facet"].nunique() > 1:
        return "Latency by percentile"
    tail = sure[sure["percentile"] == told.max()]
    low, high = tail.loc[tail["lat_us"].idxmin()], tail.loc[tail["lat_us"].idxmax()]
    if not low["lat_us"] or high["lat_us"] / low["lat_us"] < APART:
        return "Latency by percentile"
    return (
        f"p{told.max():g} runs from {format_percentile(low['lat_us'])} ({names[low['series']]}) to "
        f"{format_percentile(high['lat_us'])} ({names[high['series']]}): "
        f"{formatting.times(high['lat_us'] / low['lat_us'])}"
    )


def _rate_finding(part: Part, rates: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """How many setups or workloads stop at one limit, or at one at all; without limits the range of like
    rates, if it is one.
    """
    what = "setup" if part.arrangement.by == "setup" else "workload"
    at: dict[str, int] = {}
    for verdict in rates["verdict"]:
        rows = sayings.binding_rows(verdict.judged) if verdict and verdict.at_limit else []
        if len(rows) == 1:
            text = sayings.limit_text(rows[0])
            at[text] = at.get(text, 0) + 1
    if at:
        text, n = max(at.items(), key=lambda one: one[1])
        if n > 1:
            return f"{n} of {formatting.count(len(rates), what)} stop at {text}"
        n = sum(at.values())
        stop = "stops" if n == 1 else "stop"
        return f"{n} of {formatting.count(len(rates), what)} {stop} at a documented limit"
    if not all(part.is_comparable(entry.key) for entry in series):
        return "Rates"
    return _range(rates, series)


def _range(rates: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """From the lowest to the highest rate, where workloads are alike and the rates are not."""
    names = {entry.key: entry.short for entry in series}
    column = "iops" if rates["iops"].notna().sum() > 1 else "bw_bytes_per_s"
    known = rates[rates[column].notna()]
    if len(known) < 2 or known["note"].nunique() > 1:
        return "Rates"
    low, high = known.loc[known[column].idxmin()], known.loc[known[column].idxmax()]
    unit, text = ("IOPS", formatting.iops) if column == "iops" else ("MB/s", formatting.mbps)
    bound = "iops_bound" if column == "iops" else "bw_bound"
    if not low[column] or high[column] / low[column] < APART:
        return "Rates"
    return (
        f"From {text(low[column], low[bound])} {unit} ({names[low['series']]}) to "
        f"{text(high[column], high[bound])} {unit} ({names[high['series']]})"
    )


def _event(envelope: pd.DataFrame, series: Sequence[plots.Series]) -> str | None:
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
        return None
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
