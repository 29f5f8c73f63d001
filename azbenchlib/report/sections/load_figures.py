"""Figures over load: rate and latency over the queue depth or another axis, with the limits as lines."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.load_curves import TAIL, LoadCurve, percentile_of
from azbenchlib.analysis.setup_names import pattern_text
from azbenchlib.answers import sayings
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.curve_verdict import CurveVerdict
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import format_size
from azbenchlib.plots.load_curve import load_curves
from azbenchlib.report import formatting
from azbenchlib.report.figures import MOST_FIGURES, Group, Told, again

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_NEAR = 2.0  # times the highest rate: a limit above that would flatten the curves
_MOST_LIMITS = 3
OF_RANGES = "Of repeats the highest p99 is drawn."


def curve_figures(part: Part, place: str, group: Group, told: Told = None) -> Block | None:
    """A figure for the curves that share a figure: one block size, or one workload of several setups."""
    shared: dict[Hashable, list[CurveVerdict]] = defaultdict(list)
    for verdict in part.curve_verdicts:
        shared[_panel(part, verdict)].append(verdict)
    chunks = [
        some[begin : begin + len(COLOURS)]
        for some in shared.values()
        for begin in range(0, len(some), len(COLOURS))
    ]
    made = [
        _figure(part, some, f"{place}-load-{i}", group, told) for i, some in enumerate(chunks[:MOST_FIGURES])
    ]
    if more := sum(map(len, chunks[MOST_FIGURES:])):
        text = f"{formatting.count(more, 'more curve')} without a figure: the table of results has them."
        made.append(render("note", text=text, options=[]))
    return Block("\n".join(block.html for block in made)) if made else None


def _panel(part: Part, verdict: CurveVerdict) -> Hashable:
    curve = verdict.curve
    return curve.axis.key, curve.bs_bytes, curve.name if part.arrangement.by == "setup" else ""


def _key(curve: LoadCurve) -> str:
    return str(curve.points[0].series)


def _figure(part: Part, some: Sequence[CurveVerdict], name: str, group: Group, told: Told) -> Block:
    series, points = _drawn(part, some)
    limits = _limits(some, float(points["iops"].max()))
    axis, words = some[0].curve.axis, some[0].words
    draw = partial(load_curves, points, series, axis=axis)
    svg = plots.both(lambda layout: draw(layout, what="p99", limits=limits), name)
    ranges = any(p.latencies and p.latencies[0].ranges for one in some for p in one.curve.points)
    return render(
        "figure",
        id=f"{name}-figure",
        title=_title(some),
        what=f"{_what(some)}: IOPS and p99 of the latency over the {axis.in_sentence}.",
        svg=safe(svg),
        how=[words.turn, *([words.limits] if limits else []), *([OF_RANGES] if ranges else [])],
        group=group,
        kind="load",
        folded=again("load", told),
    )


def _drawn(part: Part, some: Sequence[CurveVerdict]) -> tuple[list[plots.Series], pd.DataFrame]:
    """The series of a figure and their points; each curve has the colour of its entry, where these differ."""
    entries = [part.entries[_key(verdict.curve)] for verdict in some]
    own = len({entry.key for entry in entries}) == len(some) and all(e.slot < len(COLOURS) for e in entries)
    series, rows = [], []
    for i, (entry, verdict) in enumerate(zip(entries, some, strict=True)):
        curve = verdict.curve
        label = entry.name if own and part.arrangement.by == "setup" else curve.name
        short = entry.short if label == entry.name else pattern_text(curve.pattern)
        series.append(plots.Series(f"{i}", label, short, entry.slot if own else i))
        rows += [
            {
                "series": f"{i}",
                curve.axis.key: value,
                "iops": rate,
                "lat_us": (percentile_of(point, TAIL) or (pd.NA, pd.NA))[1],
            }
            for value, rate, point in zip(curve.values, curve.rates, curve.points, strict=True)
        ]
    return series, pd.DataFrame(rows).astype({"iops": "Float64", "lat_us": "Float64"})


def _limits(some: Sequence[CurveVerdict], highest: float) -> list[tuple[str, float]]:
    """The limits near the rates, in IOPS of the block size; those that bind first."""
    known: dict[str, tuple[bool, float]] = {}
    for verdict in some:
        judged, size = verdict.judgement, verdict.curve.bs_bytes
        for row in judged.limits if judged else ():
            in_bytes = row.label.quantity == "mbps"
            value = (row.value / size if size else math.inf) if in_bytes else row.value
            text = f"{sayings.bar_name(row.label)}: {sayings.limit_text(row)}"
            if judged and value <= _NEAR * highest:
                known[text] = min((row.label not in judged.binding, value), known.get(text, (True, value)))
    ranked = sorted(known.items(), key=lambda item: item[1])
    return [(text, value) for text, (_, value) in ranked[:_MOST_LIMITS]]


def _what(some: Sequence[CurveVerdict]) -> str:
    """What the curves of a figure have in common."""
    names = list(dict.fromkeys(verdict.curve.name for verdict in some))
    size = some[0].curve.bs_bytes
    if len(names) > 1 and size:
        return format_size(size)
    return "; ".join([f"{names[0][:1].upper()}{names[0][1:]}", *names[1:]])


def _title(some: Sequence[CurveVerdict]) -> str:
    """Where the rates stop growing, and how much slower the deepest queue is."""
    words, axis = some[0].words, some[0].curve.axis
    level = [one for one in some if one.curve.turns_inside]
    if not level:
        return words.grows.format(at=axis.text(max(one.curve.values[-1] for one in some)))
    best = [one.curve.best_value for one in level]
    pairs = [(percentile_of(one.curve.calm, TAIL), percentile_of(one.curve.deepest, TAIL)) for one in level]
    slower = max((last[0] / first[1] for first, last in pairs if first and last), default=0.0)
    grows = f"; {words.more} makes p99 up to {formatting.times(slower)} as long" if slower > 1 else ""
    some_only = "" if len(level) == len(some) else f" in {len(level)} of {len(some)} curves"
    return f"{words.stops.format(at=axis.words(min(best), max(best)))}{some_only}{grows}"
