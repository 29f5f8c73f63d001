"""What `02_latency.ipynb` shows: each method of :class:`Latency` is one of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import pandas as pd
from ipywidgets import interactive
from seaborn import FacetGrid

from azbenchlib import plots
from azbenchlib.analysis import distribution
from azbenchlib.analysis.over_time import timeline
from azbenchlib.analysis.percentiles import wide
from azbenchlib.answers.blocks import Block, render
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import REL_ERROR, format_percentile
from azbenchlib.core.units import format_count
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.plots.explore import TITLES, WORDS, scatter
from azbenchlib.plots.heatmap import latency_heatmap
from azbenchlib.plots.histogram import latency_histogram
from azbenchlib.report import formatting
from azbenchlib.report.figures import figures, panels
from azbenchlib.report.part import Part
from azbenchlib.report.sections import evidence
from azbenchlib.views.view import NotebookView, StatedSetup

NEXT_TIME = "To have it next time, run fio with"
LEAST_US = 0.001  # fio counts in ns
BINS_NEEDED = ["--output-format=json+"]
_LOG_NEEDED = [
    "--write_lat_log=NAME --log_avg_msec=500",
    "--write_hist_log=NAME --log_hist_msec=500",
]
MODES = (
    "One peak is one path of the I/O. Two peaks mean two paths, such as cache hit and disk, or let through "
    "and throttled."
)
WHOLE_BINS = (
    f"Each bar takes whole bins of fio's histogram; a value in it is known to {100 * REL_ERROR:.1f} %."
)
_CUT = "The fastest and the slowest 1 in 1,000 are left out; the percentiles show them."
COLUMNS = (
    "Each column is a span of time, and its colours add up to 100 %: the strongest is where most I/Os lie."
)
FAST = "The fastest 1 in 1,000 are left out, for a few answers from a cache would stretch the axis."
BANDS = "A level band is a steady disk. A second band above is a throttle or a cache miss; a step is a limit."
SOURCES = {
    "histogram": "From histogram logs: every I/O is counted.",
    "log": "Every line of the log is one I/O.",
    "averages": (
        "The lines of this log are averages of an interval (log_avg_msec), not single I/Os: a slow I/O "
        "within an interval is not seen."
    ),
}


class Latency(NotebookView):
    """The latencies of datasets, as figures and tables; ``.data`` of each is the DataFrame behind it.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped.
    runs : str
        Only runs whose job has this text in its name; empty: all.
    ddir, lat_kind : str
        Only this direction, only this kind of latency; empty: all directions, completion latency where there
        is one.
    percentiles : sequence of float
        Which stand in the table.
    stated : StatedSetup
        Of outputs that do not tell their setup.

    Raises
    ------
    InputError
        When a dataset cannot be read, or no run is left.
    """

    def __init__(
        self,
        datasets: str | Sequence[str],
        *,
        runs: str = "",
        ddir: str = "",
        lat_kind: str = "",
        percentiles: Sequence[float] = (50, 90, 95, 99, 99.9, 99.99),
        **stated: Unpack[StatedSetup],
    ) -> None:
        for name, given, known in (
            ("ddir", ddir, schema.DDIRS),
            ("lat_kind", lat_kind, distribution.KINDS),
        ):
            if given and given not in known:
                raise InputError(f"{name} '{given}' is not one of: {', '.join(known)}")
        wrong = [p for p in percentiles if not 0 < p <= 100]
        if wrong:
            raise InputError(f"percentiles must be above 0 and at most 100, not {wrong[0]}")
        self._wanted = [float(p) for p in percentiles]
        self._select = partial(_selected, runs=runs, ddir=ddir, lat_kind=lat_kind)
        super().__init__(datasets, "latencies need at least one dataset", **stated)

    def _part(self, dataset: Dataset, place: Path) -> Part:
        return Part(self._select(dataset, str(place)), place)

    def table(self) -> Block:
        """The percentiles asked for, one row a workload."""
        return self._blocks(
            self._table_of, "has no percentile of latency. " + NEXT_TIME, BINS_NEEDED, self._wanted_of
        )

    def curves(self) -> Block:
        """Latency by percentile."""
        return self._blocks(
            lambda part, place: evidence.percentile_figures(part, place, self._group(part)),
            "has no percentile of latency, or those of several runs without their bins. " + NEXT_TIME,
            BINS_NEEDED,
            lambda part, _: part.curves,
        )

    def histogram(self) -> Block:
        """How many I/Os took how long."""
        return self._blocks(
            self._histogram_of,
            "has no histogram of latency. " + NEXT_TIME,
            BINS_NEEDED,
            lambda part, _: distribution.spread(part.arrangement, part.dataset.tables),
        )

    def over_time(self) -> Block:
        """Mean and largest latency over time."""
        return self._blocks(
            lambda part, place: evidence.time_figures(part, place, self._group(part)),
            "has no log of latencies. " + NEXT_TIME,
            _LOG_NEEDED,
            lambda part, _: timeline.envelope(part.arrangement, part.dataset.tables),
        )

    def heat_map(self) -> Block:
        """How the latencies of each moment are spread."""
        return self._blocks(
            self._heat_map_of,
            "has no log of latencies. " + NEXT_TIME,
            _LOG_NEEDED,
            lambda part, _: distribution.over_time(part.arrangement, part.dataset.tables),
        )

    def explore(
        self, x: str = "queue_depth", y: str = "p99", *, hue: str = "series", style: str = "ddir"
    ) -> FacetGrid:
        """Two figures of all runs against each other.

        Parameters
        ----------
        x, y, hue, style : str
            As :func:`azbenchlib.plots.explore.scatter` takes them.

        Returns
        -------
        seaborn.FacetGrid
            With a marker for each run and direction of all datasets; ``.data`` has the rows.
        """
        parts = []
        for part in self.parts:
            percentiles = part.dataset.tables["percentiles"]
            tails = wide(percentiles[percentiles["lat_kind"] != "slat"], [50, 99])
            prefix = f"{part.manifest.name}: " if len(self.parts) > 1 else ""
            names = {key: f"{prefix}{entry.name}" for key, entry in part.entries.items()}
            runs = part.arrangement.runs.merge(tails, on=["run_id", "ddir"], how="left")
            parts.append(runs.assign(series=runs["series"].map(names)))
        return scatter(pd.concat(parts, ignore_index=True), x=x, y=y, hue=hue, style=style)

    def menus(self) -> interactive:
        """:meth:`explore` with a menu for each argument; draws anew at each choice."""

        def draw(**choice: str) -> None:
            try:
                self.explore(**choice)
            except InputError as error:
                print(error)

        return interactive(
            draw,
            x=list(TITLES),
            y=["p99", "p50", "iops", "bw_bytes_per_s"],
            hue=list(WORDS),
            style=list(WORDS),
        )

    def _wanted_of(self, part: Part, _: str) -> pd.DataFrame:
        curves = part.curves
        return curves[curves["percentile"].isin(self._wanted)]

    def _table_of(self, part: Part, place: str) -> Block | None:
        curves = part.curves
        if curves.empty:
            return None
        keys = ["series", "facet", "ddir", "lat_kind"]
        shown = curves[curves["percentile"].isin(self._wanted)]
        wide = shown.pivot(index=keys, columns="percentile", values="lat_us").reindex(columns=self._wanted)
        n = curves.drop_duplicates(keys).set_index(keys)["n"]
        rows = []
        for key in curves[keys].drop_duplicates().itertuples(index=False, name=None):
            values = wide.loc[key] if key in wide.index else pd.Series(pd.NA, index=self._wanted)
            cells = ["" if pd.isna(us) else format_percentile(us) for us in values]
            count = "" if pd.isna(n[key]) else format_count(n[key])
            entry = part.entries[str(key[0])]
            rows.append({"entry": entry, "name": entry.name, "sub": key[1], "cells": [*cells, count]})
        columns = ["Series and workload", *(f"p{p:.10g}" for p in self._wanted), "I/Os"]
        kinds = formatting.latency_kinds(curves["lat_kind"])
        kinds = kinds[:1].upper() + kinds[1:]
        what = "by percentile; an empty cell is a percentile that the tool did not report."
        note = f"{self._prefix(part)}{kinds} {what}"
        return render("table", id=f"{place}-latency", note=note, columns=columns, rows=rows, left=[])

    def _histogram_of(self, part: Part, place: str) -> Block | None:
        spread = distribution.spread(part.arrangement, part.dataset.tables)
        return figures(
            panels(part, spread),
            f"{place}-histogram",
            latency_histogram,
            title=_spread_finding,
            what="share of I/Os by latency, with p50 and p99.",
            how=[MODES, WHOLE_BINS, _CUT],
            group=self._group(part),
            kind="histogram",
        )

    def _heat_map_of(self, part: Part, place: str) -> Block | None:
        cells = distribution.over_time(part.arrangement, part.dataset.tables)
        sources = [SOURCES[source] for source in dict.fromkeys(cells["source"])]
        averages = set(cells["source"]) == {"averages"}
        return figures(
            panels(part, cells),
            f"{place}-heat",
            latency_heatmap,
            title=_heat_finding,
            what=f"{'averages of latency' if averages else 'latency'} over time; darker means more I/Os.",
            how=[COLUMNS, BANDS, *sources, FAST],
            group=self._group(part),
            kind="heat",
        )


def _selected(found: Dataset, name: str, runs: str, ddir: str, lat_kind: str) -> Dataset:
    """The dataset with the runs, the direction and the kind of latency that were asked for."""
    tables = dict(found.tables)
    jobs = tables["runs"]["job"]
    if runs:
        tables["runs"] = tables["runs"][jobs.str.contains(runs, regex=False).fillna(False)]
        if tables["runs"].empty:
            known = ", ".join(dict.fromkeys(jobs.dropna().head(8)))
            raise InputError(f"{name}: no run has '{runs}' in the name of its job; there are: {known}, …")
    if ddir:
        for table in ("results", "latency", "percentiles", "bins", "samples"):
            tables[table] = tables[table][tables[table]["ddir"] == ddir]
    if lat_kind:
        for table in ("latency", "percentiles", "bins"):
            tables[table] = tables[table][tables[table]["lat_kind"] == lat_kind]
        other = tables["samples"]["metric"].isin([f"{kind}_us" for kind in schema.LAT_KINDS])
        tables["samples"] = tables["samples"][~other | (tables["samples"]["metric"] == f"{lat_kind}_us")]
    return Dataset(tables=tables, manifest=found.manifest)


def _spread_finding(spread: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """The distance from the median to p99, which is what a histogram shows."""
    names = {entry.key: entry.short for entry in series}
    one = spread.drop_duplicates("series").set_index("series")
    ratios = (one["p99_us"] / one["p50_us"].clip(lower=LEAST_US)).sort_values()
    low = f"p99 is {formatting.times(ratios.iloc[0])} the median"
    if len(ratios) == 1:
        return low
    high = f"{formatting.times(ratios.iloc[-1])} ({names[ratios.index[-1]]})"
    return f"{low} ({names[ratios.index[0]]}) to {high}"


def _heat_finding(cells: pd.DataFrame, series: Sequence[plots.Series]) -> str:
    """How far the slowest lies above most."""
    names = {entry.key: entry.short for entry in series}
    far = {}
    for key, mine in cells.groupby("series", sort=False):
        usual = float(mine.groupby("low_us")["n"].sum().idxmax())
        far[str(key)] = float(mine["low_us"].max()) / max(usual, LEAST_US)
    worst = max(far, key=lambda key: far[key])
    what = "interval" if set(cells["source"]) == {"averages"} else "I/O"
    return f"The slowest {what} takes {formatting.times(far[worst])} as long as most ({names[worst]})"
