"""Surfaces: the rates of one test of iozone on one setup, over the sizes of records and of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.setup_names import pattern_text
from azbenchlib.analysis.summary import Card, cards
from azbenchlib.analysis.sweeps import on_surface
from azbenchlib.analysis.totals import totals
from azbenchlib.core.units import format_depth

RECORD_BYTES, FILE_BYTES = "bs_bytes", "working_set_bytes"
# What may tell surfaces of one test apart, and how it reads.
_APART: dict[str, Callable[[Any], str]] = {
    **{name: words for name, words in repeats.DIFFERENCES.items() if name != FILE_BYTES},
    "queue_depth": format_depth,
    "level": lambda level: "repeats at another rate" if level else "",
}


@dataclass(frozen=True, kw_only=True)
class Surface:
    """One test over the sizes of records and of files.

    Attributes
    ----------
    name : str
        The test in words, such as ``sequential writes``, and what tells it apart from others of that name.
    series : str
        Key of the series.
    test : str
        As the column rw has it.
    cells : DataFrame
        A row a figure: facet, bs_bytes (of the record), working_set_bytes (of the file), bw_bytes_per_s; by
        file, then by record.
    setup_id : str
    point : Card
        The figures of the cell that is nearest to the disk: of the largest file the highest rate.
    """

    name: str
    series: str
    test: str
    cells: pd.DataFrame
    setup_id: str
    point: Card

    @cached_property
    def place(self) -> int:
        """Which cell that is."""
        return _nearest(self.cells)


def off_surfaces(arrangement: Arrangement) -> Arrangement:
    """Return an arrangement without the figures that are on surfaces."""
    runs = arrangement.runs[~_on_surface(arrangement)]
    series = arrangement.series
    return replace(arrangement, runs=runs, series=series[series["key"].isin(runs["series"])])


def surfaces(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> list[Surface]:
    """Return the surfaces of a dataset, in the order of its tests; repeats of one cell are their median."""
    runs = arrangement.runs[_on_surface(arrangement)]
    if runs.empty:
        return []
    rates = totals(replace(arrangement, runs=runs))
    rates["bw_bytes_per_s"] = rates["bw_bytes_per_s"].fillna(rates["iops"] * rates[RECORD_BYTES])  # of -O
    facts = runs.drop_duplicates(["series", "whole"]).assign(facet=lambda rows: rows["whole"])
    rates = rates[["series", "facet", "rw", RECORD_BYTES, "bw_bytes_per_s"]].dropna()
    cells = rates.merge(facts[["series", "facet", "setup_id", FILE_BYTES, *_APART]], on=["series", "facet"])
    of_test = cells.groupby(["series", "rw"], sort=False)
    apart = [name for name in _APART if (of_test[name].nunique(dropna=False) > 1).any()]
    groups = [
        mine.sort_values([FILE_BYTES, RECORD_BYTES], kind="stable", ignore_index=True)
        for _, mine in cells.groupby(["series", "rw", *apart], sort=False, dropna=False)
    ]
    points = _points(arrangement, tables, groups)
    return [
        Surface(
            name=", ".join([pattern_text(first["rw"]), *_words(first[apart])]),
            series=str(first["series"]),
            test=str(first["rw"]),
            cells=mine[["facet", RECORD_BYTES, FILE_BYTES, "bw_bytes_per_s"]],
            setup_id=str(first["setup_id"]),
            point=point,
        )
        for mine, point in zip(groups, points, strict=True)
        for first in [mine.iloc[0]]
    ]


def _on_surface(arrangement: Arrangement) -> pd.Series:
    return on_surface(arrangement.runs, "series" if arrangement.by == "setup" else "tool")


def _nearest(cells: pd.DataFrame) -> int:
    """The cell that is nearest to the disk."""
    return int(cells[cells[FILE_BYTES] == cells[FILE_BYTES].max()]["bw_bytes_per_s"].idxmax())


def _points(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], groups: Sequence[pd.DataFrame]
) -> list[Card]:
    """The figures of the cell of each group that is nearest to the disk."""
    places = [tuple(mine.loc[_nearest(mine), ["series", "facet"]]) for mine in groups]
    wanted = pd.MultiIndex.from_tuples(places)
    runs = arrangement.runs
    shown = runs[pd.MultiIndex.from_frame(runs[["series", "whole"]]).isin(wanted)]
    every = cards(replace(arrangement, runs=shown), tables, each=True)
    known = {(card.series, card.facet): card for card in every}
    return [known[place] for place in places]


def _words(facts: pd.Series) -> list[str]:
    """What tells a surface apart from others of its test."""
    told = (_APART[str(name)](value) for name, value in facts.items() if not pd.isna(value))
    return [text for text in told if text]
