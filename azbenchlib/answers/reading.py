"""What was read, for people: a line a run with what it got, what names the limit, and a line a device."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.summary import overview
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
)
from azbenchlib.answers.figures import (
    AS_BYTES,
    AS_BYTES_PER_S,
    AS_IOPS,
    AS_SECONDS,
    Figure,
    FigureUnit,
)
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.printable import one_line
from azbenchlib.core.schema import LAT_KINDS
from azbenchlib.core.units import format_count

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset

_MOST_LOOKED_AT = 500  # runs, of which it takes no time to tell what they look like
_NUMBER = FigureUnit("count", format_count)
_PERCENTILE = FigureUnit("us", format_percentile)
_NAMES = {
    "job": "Job",
    "host": "Host",
    "file": "File",
    "setup": "Setup",
    "rw": "Pattern",
    "ddir": "Direction",
}
_ALWAYS = ("job", "rw", "ddir")
_LOADS = (
    TableColumn("bs_bytes", "Block", AS_BYTES),
    TableColumn("queue_depth", "Depth", _NUMBER),
    TableColumn("iops", "IOPS", AS_IOPS),
    TableColumn("bw_bytes_per_s", "MB/s", AS_BYTES_PER_S),
)
_DEVICES = (
    TableColumn("host", "Host"),
    TableColumn("device", "Device"),
    TableColumn("tool", "Tool"),
    TableColumn("reports", "Reports", _NUMBER),
    TableColumn("interval_s", "Interval", AS_SECONDS),
    TableColumn("iops", "IOPS on average", AS_IOPS),
)


def overview_document(dataset: Dataset, wide: bool = False) -> Document:
    """Return a line a run and direction, what its rates look like, and a line a device of telemetry.

    Parameters
    ----------
    dataset : Dataset
    wide : bool
        All percentiles, and file and setup wherever they are known.
    """
    parts: list[Part] = []
    if len(dataset.tables["runs"]):
        parts += [rates_part(dataset, wide), *_setup_part(dataset.tables)]
    if len(dataset.tables["demand"]):
        parts.append(_devices(dataset.tables["demand"]))
    return Document(None, parts)


def rates_part(dataset: Dataset, wide: bool = False) -> Part:
    """Return a line a job: what it ran and what it got; with its file and setup where there are several."""
    rows = overview(dataset.tables)
    if rows.empty:
        return Sentence(_without_results(dataset.tables))
    named = [name for name in _NAMES if name in _ALWAYS or rows[name].nunique() > 1]
    percentiles = ["p50_us", "p99_us"]
    if wide:
        named = [name for name in _NAMES if name in _ALWAYS or rows[name].notna().any()]
        percentiles = [name for name in rows if re.fullmatch(r"p[0-9.]+_us", name)]
    timed = (TableColumn(name, name.removesuffix("_us"), _PERCENTILE) for name in percentiles)
    columns = [TableColumn(name, _NAMES[name]) for name in named] + [
        column for column in (*_LOADS, *timed) if rows[column.name].notna().any()
    ]
    return FigureTable(columns=columns, rows=[_row(row, columns) for row in rows.to_dict(orient="records")])


def _row(row: Mapping[Any, Any], columns: list[TableColumn]) -> TableRow:
    about = [str(row["level"])] if row["level"] != "job" else []
    about += [] if pd.isna(row["state"]) else [str(row["state"])]
    job = " ".join([str(row["job"]), *(f"({word})" for word in about)])
    return TableRow([_cell(column, {**row, "job": job}[column.name]) for column in columns])


def _cell(column: TableColumn, value: Any) -> Any:
    if column.unit is None:
        return "" if pd.isna(value) else one_line(str(value))
    return Figure(None, column.unit, text="–") if pd.isna(value) else value


def _setup_part(tables: Mapping[str, pd.DataFrame]) -> Iterator[Listing]:
    """Where no setup is stated: what the rates look like, and what names the limit."""
    if len(tables["runs"]) > _MOST_LOOKED_AT:
        return
    from azbenchlib.verdict.run_verdicts import looks  # loads the model, which telemetry does without

    likely = looks(tables)
    if likely is not None:
        like = f" The rates look like {likely[0]}." if len(likely) == 1 else ""
        advice = "Add --vm and --disk to azbench verdict to learn which limit binds."
        yield Listing("Setup", [Sentence(f"No setup is stated.{like} {advice}")])


def _without_results(tables: Mapping[str, pd.DataFrame]) -> str:
    """What there is where no output tells a rate or a percentile of a run, as of logs alone."""
    samples, bins = tables["samples"], tables["bins"]
    n = len(samples) + int(bins["n"].sum())
    if not n:
        return "No rate and no percentile of a run was read."
    words = "samples of logs were read, and no output that tells the rates of their runs."
    counted = f"{format_count(n)} {words}"
    if bins.empty and not samples["metric"].isin([f"{kind}_us" for kind in LAT_KINDS]).any():
        return counted
    return f"{counted} --window 1s prints percentiles of latency by time, unless the samples are averages."


def _devices(demand: pd.DataFrame) -> FigureTable:
    """A line a device: how long it was recorded, and what it did on average."""
    rows = []
    for names, own in demand.groupby(["host", "device", "tool"], sort=False, dropna=False):
        iops = own["iops"].fillna(own["read_iops"] + own["write_iops"]).dropna()
        length = own["interval_s"].dropna()
        interval = float(length.median()) if len(length) else None
        average = float(iops.mean()) if len(iops) else None
        texts = ("" if pd.isna(name) else one_line(str(name)) for name in names)
        rows.append(TableRow([*texts, len(own), interval, average]))
    return FigureTable(columns=_DEVICES, rows=rows, title="Telemetry")
