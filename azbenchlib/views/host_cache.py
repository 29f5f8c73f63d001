"""What `02b_host_cache.ipynb` shows: each method of :class:`HostCache` is one of its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import pandas as pd

from azbenchlib import plots
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.surface_verdict import SurfaceVerdict, page_cache
from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import KIB, format_mbps, format_size
from azbenchlib.plots.slices import FILE_SIZE, RECORD, throughput_slices
from azbenchlib.report.part import Entry, Part
from azbenchlib.report.sections.surface_figures import (
    IN_MEMORY,
    MOST_SURFACES,
    has_both_sizes,
    surface_figure,
)
from azbenchlib.views.view import NotebookView, StatedSetup

_MOST_FIGURES = 8
_NAMES = {"write": "first write", "rewrite": "rewrite", "record_rewrite": "rewrite of one record"}
SAME_AXIS = "All lines share one axis. In charts with axes of their own, a tenth looks like the whole."
ONCE = "A marker is one figure of iozone: a single pass over the file, unless the test was repeated."


@dataclass(frozen=True)
class _Kept:
    """The figures of iozone in one dataset, by setup."""

    part: Part
    rows: pd.DataFrame  # runs with their throughput: setup_id, rw, bs_bytes, working_set_bytes, direct, …
    entries: dict[str, Entry]  # by setup_id

    @property
    def series(self) -> list[plots.Series]:
        """The setups as the figures take them, six at the most."""
        every = [entry.drawn for entry in self.entries.values()]
        return every[: len(COLOURS)]

    @property
    def surfaces(self) -> list[SurfaceVerdict]:
        """Those of its tests, as the report has them."""
        return [one for one in self.part.surfaces if one.surface.test in set(self.rows["rw"])]

    @property
    def ram_bytes(self) -> float | None:
        """Memory of the machine, where the setups tell one."""
        known = self.part.dataset.setups["ram_bytes"].dropna().unique()
        return float(known[0]) if len(known) == 1 else None


class HostCache(NotebookView):
    """Figures of iozone, compared by the setting of the host cache.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped; each with figures of iozone.
    tests : sequence of str
        Which tests are compared, by the names in the column rw, such as ``write``; empty: all.
    stated : StatedSetup
        Of outputs that do not tell their setup.

    Raises
    ------
    InputError
        When a dataset cannot be read, or has none of these figures.
    """

    def __init__(
        self, datasets: str | Sequence[str], *, tests: Sequence[str] = (), **stated: Unpack[StatedSetup]
    ) -> None:
        super().__init__(datasets, "host caching is compared in at least one dataset; name one", **stated)
        self._kept = {f"d{i}": _kept(part, list(tests)) for i, part in enumerate(self.parts)}

    def finding(self) -> Block:
        """How far the settings are apart in their first writes, and what measured memory."""
        return self._of_each(lambda kept, _: render("note", text=_finding(kept), options=[]))

    def medians(self) -> Block:
        """Median over the record sizes, a row a test, a column a setting."""
        return self._of_each(self._medians_of, _medians)

    def over_record_size(self) -> Block:
        """Throughput over record size: a line for each setting, on one axis."""
        return self._of_each(partial(self._slices_of, over=RECORD), _figures)

    def over_file_size(self) -> Block:
        """Throughput over file size: a line for each setting, on one axis, with the memory marked."""
        return self._of_each(partial(self._slices_of, over=FILE_SIZE), _figures)

    def surfaces(self) -> Block:
        """Throughput over both sizes, a figure for each setting and test."""
        return self._of_each(self._surfaces_of, _figures)

    def _of_each(
        self, make: Callable[[_Kept, str], Block], rows: Callable[[_Kept], pd.DataFrame] | None = None
    ) -> Block:
        def data(_: Part, place: str) -> pd.DataFrame:
            return rows(self._kept[place]) if rows else pd.DataFrame()

        return self._blocks(lambda _, place: make(self._kept[place], place), rows=data if rows else None)

    def _medians_of(self, kept: _Kept, place: str) -> Block:
        medians = _medians(kept).pivot(index="rw", columns="setup_id", values="bw_bytes_per_s")
        ids = list(kept.entries)
        rows = []
        for test in dict.fromkeys(kept.rows["rw"]):
            mine = medians.loc[test].reindex(ids)
            cells = ["" if pd.isna(rate) else f"{rate / KIB:,.0f}" for rate in mine]
            spread = f"{mine.max() / mine.min():.1f}" if mine.notna().sum() > 1 else ""
            rows.append({"entry": None, "name": named(test), "sub": "", "cells": [*cells, spread]})
        columns = ["Test", *(kept.entries[key].short for key in ids), "Largest ÷ smallest"]
        title = self._prefix(kept.part)
        note = f"{title}Median over the record sizes, KiB/s."
        return render("table", id=f"{place}-medians", note=note, columns=columns, rows=rows, left=[])

    def _slices_of(self, kept: _Kept, place: str, over: str) -> Block:
        sizes = ("bs_bytes", "working_set_bytes")
        column, other = sizes if over == RECORD else sizes[::-1]
        rows = kept.rows.dropna(subset=list(sizes))
        if rows[column].nunique() < 2:
            text = f"“{kept.part.manifest.title}” has one {over.lower()}: nothing can be drawn over it"
            return render("note", text=text, options=[])
        ram = kept.ram_bytes if over == FILE_SIZE else None
        made: list[str] = []
        for test, mine in rows.groupby("rw", sort=False):
            for of, series, points in _cuts(kept, mine, column, other):
                draw = partial(throughput_slices, points, series, over=over, ram_bytes=ram)
                slug = f"{place}-{over.split()[0].lower()}-{len(made)}"
                how = [SAME_AXIS, ONCE, *([IN_MEMORY] if ram else [])]
                made.append(
                    self._figure(kept, slug, _apart(points, series), f"{named(str(test))}{of}", draw, how)
                )
        return Block("\n".join(made[:_MOST_FIGURES]))

    def _surfaces_of(self, kept: _Kept, place: str) -> Block:
        drawn = [one for one in kept.surfaces if has_both_sizes(one)][:MOST_SURFACES]
        group = self._group(kept.part)
        made = [
            surface_figure(kept.part, one, f"{place}-surface-{i}", group).html for i, one in enumerate(drawn)
        ]
        if made:
            return Block("\n".join(made))
        text = f"“{kept.part.manifest.title}” has one file size only, and a surface needs two"
        return render("note", text=text, options=[])

    def _figure(
        self, kept: _Kept, slug: str, title: str, what: str, draw: partial[plots.Drawn], how: Sequence[str]
    ) -> str:
        svg = safe(plots.both(draw, slug))
        what = f"{what[:1].upper()}{what[1:]}: throughput."
        values = {"title": title, "what": what, "svg": svg, "how": how, "group": self._group(kept.part)}
        return render("figure", id=f"{slug}-figure", **values).html


def _kept(part: Part, tests: list[str]) -> _Kept:
    """The figures of iozone in a dataset; of the tests that are named, else of all."""
    runs = part.dataset.runs
    runs = runs[(runs["tool"] == "iozone").fillna(False)]
    rates = part.dataset.results[["run_id", "ddir", "bw_bytes_per_s"]]
    rows = runs.merge(rates, on="run_id").dropna(subset=["rw", "bs_bytes", "bw_bytes_per_s"])
    known = list(dict.fromkeys(rows["rw"]))
    if wrong := [test for test in tests if test not in known]:
        raise InputError(f"{part.folder}: has no test '{wrong[0]}' of iozone; it has: {', '.join(known)}")
    if rows.empty:
        raise InputError(f"{part.folder}: has no throughput measured with iozone")
    wanted = [test for test in (tests or known) if test in known]
    rows = rows[rows["rw"].isin(wanted)].assign(setup_id=rows["setup_id"].fillna("the machine"))
    order = pd.Categorical(rows["rw"], wanted, ordered=True)
    rows = rows.assign(order=order).sort_values(["order"], kind="stable")
    return _Kept(part, rows, _entries(part, rows))


def _medians(kept: _Kept) -> pd.DataFrame:
    """Columns rw, setup_id and bw_bytes_per_s, the median over the record sizes."""
    return kept.rows.groupby(["rw", "setup_id"], as_index=False)["bw_bytes_per_s"].median()


def _figures(kept: _Kept) -> pd.DataFrame:
    """Every figure of iozone: columns rw, setup_id, bs_bytes, working_set_bytes, bw_bytes_per_s."""
    return kept.rows[["rw", "setup_id", "bs_bytes", "working_set_bytes", "bw_bytes_per_s"]]


def named(test: str) -> str:
    """A test of iozone in words."""
    return _NAMES.get(test, test.replace("_", " "))


def _entries(part: Part, rows: pd.DataFrame) -> dict[str, Entry]:
    """Names, colours and markers of the setups: those of the report, where it tells setups apart."""
    ids = [str(key) for key in dict.fromkeys(rows["setup_id"])]
    if part.arrangement.by == "setup" and part.entries.keys() >= {*ids}:
        return {key: part.entries[key] for key in ids}
    labels = {setup.setup_id: setup.label or setup.setup_id for setup in part.manifest.setups}
    named = [(key, labels.get(key, key)) for key in ids]
    return {
        key: Entry(key=key, name=label, short=label, detail="", slot=i)
        for i, (key, label) in enumerate(named)
    }


def _cuts(
    kept: _Kept, rows: pd.DataFrame, column: str, other: str
) -> Iterator[tuple[str, list[plots.Series], pd.DataFrame]]:
    """What of a test is drawn over one size: a figure an other size, or one for all of a single setup."""
    kind = "files" if other == "working_set_bytes" else "records"
    rows = rows.assign(size_bytes=rows[column])
    if len(kept.entries) > 1:
        for size, mine in rows.groupby(other):
            if mine[column].nunique() > 1:
                yield f", {kind} of {format_size(size)}", kept.series, mine.assign(series=mine["setup_id"])
        return
    sizes = sorted(rows[other].unique())
    places = sorted({round(i * (len(sizes) - 1) / 5) for i in range(6)})  # six lines, from end to end
    series = [
        plots.Series(str(sizes[at]), f"{kind} of {format_size(sizes[at])}", format_size(sizes[at]), i)
        for i, at in enumerate(places)
    ]
    yield f", a line a size of {kind}", series, rows.assign(series=rows[other].astype(str))


def _apart(points: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """How far the medians of the lines are apart: the title of a figure."""
    names = {entry.key: entry.short for entry in series}
    points = points[points["series"].isin(list(names))]
    medians = points.groupby("series", sort=False)["bw_bytes_per_s"].median().astype(float)
    low, high = str(medians.idxmin()), str(medians.idxmax())
    if low == high:
        return f"The median is {format_mbps(medians[low])} MB/s ({names[low]})"
    return f"Medians: {names[low]} has {medians[low] / medians[high]:.2f} of the throughput of {names[high]}"


def _finding(kept: _Kept) -> str:
    """The largest gap between data disks in the first test, and what the page cache served."""
    first = kept.rows["rw"].iloc[0]
    disks = kept.part.dataset.disks
    data = set(disks.loc[disks["role"] == "data", "setup_id"])
    mine = kept.rows[kept.rows["rw"] == first]
    mine = mine[mine["setup_id"].isin(data)] if mine["setup_id"].isin(data).any() else mine
    medians = mine.groupby("setup_id", sort=False)["bw_bytes_per_s"].median().astype(float)
    low, high = str(medians.idxmin()), str(medians.idxmax())
    words = f"{named(first).capitalize()}: {kept.entries[low].name} has {_kib(medians[low])}"
    if low != high:
        ratio = medians[low] / medians[high]
        words += f", {ratio:.2f} of the {_kib(medians[high])} of {kept.entries[high].name}"
    served = page_cache(kept.surfaces)
    return f"{words}. {served.text}" if served else words


def _kib(rate: float) -> str:
    return f"{rate / KIB:,.0f} KiB/s"
