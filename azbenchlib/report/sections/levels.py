"""Figures of repeats at several levels: each run over the time at which it was made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.over_time.levels_over_time import levels_over_time
from azbenchlib.answers.blocks import Block
from azbenchlib.core.units import format_count, format_mbps
from azbenchlib.plots import timeline
from azbenchlib.report import formatting
from azbenchlib.report.figures import MOST_FIGURES, Group, Told, figures, panels

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

A_RUN = (
    "A marker is a run. Runs around several levels are no repeats of one thing: something changed between "
    "them."
)


def level_figures(part: Part, place: str, group: Group, told: Told = None) -> Block | None:
    """One figure a workload whose repeats lie around several levels; None where none do."""
    found = panels(part, levels_over_time(part.arrangement, part.dataset.tables), None)
    more = len(found) - MOST_FIGURES
    left_out = [f"Without a figure: {formatting.count(more, 'more workload')}."] if more > 0 else []
    return figures(
        found[:MOST_FIGURES],
        f"{place}-levels",
        _drawn,
        title=_title,
        what="rates of single runs over the times of the runs.",
        how=[A_RUN, *left_out],
        group=group,
        kind="levels",
        told=told,
    )


def _drawn(rows: pd.DataFrame, series: Sequence[plots.Series], layout: plots.Layout) -> plots.Drawn:
    quantity, values = _measured(rows)
    return plots.rates_over_time(_with_gaps(rows, values), series, layout, quantity=quantity)


def _measured(rows: pd.DataFrame) -> tuple[timeline.Quantity, pd.Series]:
    """IOPS, or MB/s where these are all that is known, and the values."""
    is_iops = rows["iops"].notna().all()
    quantity = timeline.IOPS_OF_RUNS if is_iops else timeline.THROUGHPUT_OF_RUNS
    return quantity, rows["iops" if is_iops else "bw_bytes_per_s"].astype(float)


def _with_gaps(rows: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """The runs as points: a gap after each, so that no line joins them."""
    points = rows[["series", "t_s"]].assign(value=values, nth=0)
    gaps = points.assign(value=float("nan"), nth=1)
    return pd.concat([points, gaps]).sort_values(["t_s", "nth"], kind="stable", ignore_index=True)


def _title(rows: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """When the rate changed, where the levels follow each other; else around which levels the runs lie."""
    quantity, values = _measured(rows)
    if len(series) > 1:
        return "Runs of one workload lie around several levels"
    means = values.groupby(rows["level"].to_numpy()).median()
    texts = {level: _rate(value, quantity) for level, value in means.items()}
    turns = [i for i, (before, after) in enumerate(pairwise(rows["level"])) if before != after]
    if len(turns) == 1 and len(means) == 2:
        later = rows.iloc[turns[0] + 1]
        first = rows["level"].iloc[0]
        when = f"{later['at'].day} {later['at']:%B %Y, %H:%M} UTC"
        return f"{texts[later['level']]} from {when} on, {texts[first]} before"
    levels = [texts[level] for level in means.sort_values().index]
    return f"{len(rows)} runs lie around {', '.join(levels[:-1])} and {levels[-1]}"


def _rate(value: float, quantity: timeline.Quantity) -> str:
    if quantity is timeline.IOPS_OF_RUNS:
        return f"{format_count(round(value))} IOPS"
    return f"{format_mbps(value)} MB/s"
