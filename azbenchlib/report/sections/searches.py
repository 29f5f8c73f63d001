"""What searches found: the curve that each of them walked."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.units import format_count, format_us
from azbenchlib.dataset.manifest import SearchCurve
from azbenchlib.plots.load_curve import load_curves
from azbenchlib.report.figures import MOST_FIGURES, Group, Told, again

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

ON_THE_WAY = (
    "A filled marker is a run whose latency stays below the limit, the dashed line; a hollow one does not.",
    "The search halves the list of queue depths at each step, so only those on its way were measured. The "
    "vertical line is the answer; it is measured several times, and its markers tell how far runs differ.",
)


def curves(part: Part, place: str, group: Group, told: Told = None) -> Block | None:
    """A figure a search, the first few; None where nothing was searched."""
    made = [
        _figure(curve, f"{place}-search-{i}", group, told)
        for i, curve in enumerate(part.manifest.searches[:MOST_FIGURES])
        if curve.points
    ]
    return Block("\n".join(block.html for block in made)) if made else None


def _figure(curve: SearchCurve, name: str, group: Group, told: Told) -> Block:
    points = pd.DataFrame([point.model_dump() for point in curve.points])
    answer = points[points["workload"] == curve.answer]
    depth = None if answer.empty else float(answer["queue_depth"].iloc[0])
    what = f"p{curve.percentile:g}"
    where = ", ".join(filter(None, curve.where.split("/"))) or "all runs"
    entry = plots.Series(where, where, where, 0)
    draw = partial(load_curves, points.assign(series=where), [entry])
    svg = plots.both(lambda layout: draw(layout, what=what, most_us=curve.limit_us, answer=depth), name)
    return render(
        "figure",
        id=f"{name}-figure",
        title=_title(curve, answer, depth, what),
        what=f"{where}: IOPS and {what} of the latency over queue depth.",
        svg=safe(svg),
        how=ON_THE_WAY,
        group=group,
        kind="search",
        folded=again("search", told),
    )


def _title(curve: SearchCurve, answer: pd.DataFrame, depth: float | None, what: str) -> str:
    limit = format_us(curve.limit_us)
    if depth is None:
        return f"At no queue depth that was measured does {what} stay below {limit}"
    kept = int((answer["lat_us"] < curve.limit_us).sum())
    if kept < len(answer):
        return (
            f"At queue depth {depth:g}, the deepest that was found, {what} stays below {limit} in {kept} of "
            f"{len(answer)} runs"
        )
    iops = format_count(round(answer["iops"].median()))
    return f"With {what} below {limit}, the disk reaches {iops} IOPS, at queue depth {depth:g}"
