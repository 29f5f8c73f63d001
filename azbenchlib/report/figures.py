"""Figures of a report: one a workload, with its finding as the title and a line on how to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.answers.blocks import Block, render, safe

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

MOST_FIGURES = 4  # of one kind, per dataset

Told = set[str] | None  # kinds of figures that the page has explained; None: each is explained

Group = dict[str, str] | None  # title of the dataset, where a report has several
Panel = tuple[str, list[plots.Series], pd.DataFrame]  # what it shows, the series in it, their rows


def figures(
    panels: Sequence[Panel],
    name: str,
    draw: Callable[[pd.DataFrame, Sequence[plots.Series], plots.Layout], plots.Drawn],
    *,
    title: Callable[[pd.DataFrame, Sequence[plots.Series]], str],
    what: str,
    how: Sequence[str],
    group: Group,
    kind: str,
    told: Told = None,
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
                kind=kind,
                folded=again(kind, told),
            ).html
        )
    return Block("\n".join(made)) if made else None


def again(kind: str, told: Told) -> bool:
    """Whether the page has explained this kind of figure before; now it has."""
    if told is None:
        return False
    known = kind in told
    told.add(kind)
    return known


def panels(part: Part, rows: pd.DataFrame, most: int | None = MOST_FIGURES) -> list[Panel]:
    """Rows by facet, in groups of six series; the facets that most series share first; None: all of them."""
    if rows.empty:
        return []
    counts = rows.groupby("facet", sort=False)["series"].nunique()
    found: list[Panel] = []
    for facet in counts.sort_values(ascending=False, kind="stable").index:
        mine = rows[rows["facet"] == facet]
        for group in part.groups:
            series = [entry for entry in group if entry.key in set(mine["series"])]
            if series:
                some = mine[mine["series"].isin([entry.key for entry in series])]
                found.append((str(facet), series, some))
    return found[:most]
