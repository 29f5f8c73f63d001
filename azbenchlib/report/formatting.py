"""Figures in words: the sentences, cards and rows of a report. Values are formatted here, once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from azbenchlib.analysis.setup_names import NO_SETUP
from azbenchlib.analysis.summary import TABLE_PERCENTILES, Card, LatencySummary
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.units import (
    NBSP,
    format_bound,
    format_count,
    format_mbps,
    format_range,
    format_size,
)
from azbenchlib.dataset.manifest import Manifest

ResultShare = tuple[str, Mapping[str, Any], pd.DataFrame]  # place, entries, rows of the table of results
NOT_STATED = "not stated"
LATENCY_KINDS = {"clat": "completion latency", "lat": "total latency"}


def join(texts: Iterable[str]) -> str:
    """Each text once, in order: ``mid-2020; today``."""
    return "; ".join(dict.fromkeys(text for text in texts if text))


def count(n: int, noun: str) -> str:
    """``1 run``, ``12 runs``."""
    return f"{n:,}{NBSP}{noun}{'' if n == 1 else 's'}"


def measured(manifest: Manifest) -> str:
    """When and where: ``mid-2020, northeurope``."""
    return ", ".join([manifest.measured, *dict.fromkeys(s.region for s in manifest.setups if s.region)])


def tools(manifest: Manifest) -> str:
    """``fio-3.33``, ``fio, version not stated``."""
    texts = [
        f"{name}, version not stated"
        if version == NOT_STATED
        else f"{name} {version.removeprefix(f'{name}-')}"
        for name, version in manifest.tools.items()
    ]
    return ", ".join(texts)


def iops(value: Any, bound: Any = "=") -> str:
    """IOPS with its bound, or nothing."""
    return "" if pd.isna(value) else f"{format_bound(bound)}{format_count(float(value))}"


def mbps(value: Any, bound: Any = "=") -> str:
    """MB/s with its bound, or nothing."""
    return "" if pd.isna(value) else f"{format_bound(bound)}{format_mbps(float(value))}"


def spread(row: Any, column: str = "iops") -> str:
    """``median of 3 runs, 990 to 1,010``; nothing of a single run."""
    if row["repeats"] < 2:
        return ""
    short, text, unit = ("iops", iops, "IOPS") if column == "iops" else ("bw", mbps, "MB/s")
    low, high = text(row[f"{short}_low"]), text(row[f"{short}_high"])
    between = f", {low} to {high}{NBSP}{unit}" if low else ""
    return f"median of {count(int(row['repeats']), 'run')}{between}"


def workload_of(row: Any, column: str = "iops") -> str:
    """The workload of a rate, of how many runs it is the median, and what the rate was before the last phase
    of the run, where it had several.
    """
    column = column if not pd.isna(row[column]) else "bw_bytes_per_s"
    return with_phases(", ".join(filter(None, [str(row["facet"]), spread(row, column)])), row)


def with_phases(text: str, row: Any) -> str:
    """What is said of a rate, and the phases of the run; the rate is that of the last one."""
    return ": ".join(filter(None, [text, row["phases"]]))


def called(card: Card, name: str, begins: bool = False) -> str:
    """A card by its workload and its setup; by the setup where that says enough.

    Parameters
    ----------
    card : Card
    name : str
        Of its series.
    begins : bool
        Whether the name of the series is the first part of the workload.
    """
    whole = card.rate is not None and card.rate["workloads"] > 1  # its workloads name their loads
    parts = [card.facet or "", "" if card.facet and whole else name]
    return ", ".join(filter(None, reversed(parts) if begins else parts))


def rate_words(row: Any) -> str:
    """``59,200 IOPS, 484 MB/s``, as far as they are known."""
    return ", ".join(NBSP.join(rate) for rate in _rates(row))


def card(card: Card, entry: Any, name: str) -> dict[str, Any]:
    """One card, formatted."""
    rate_row = card.rate
    return {
        "name": name if entry.detail == NO_SETUP else entry.begun(name),  # a file keeps its name
        "detail": entry.detail,
        "colour": entry.colour,
        "char": entry.char,
        "rates": [] if rate_row is None else _rates(rate_row),
        "latencies": [
            (
                _latency_of(card, told),
                _percentiles(told),
            )
            for told in card.latencies
        ],
        "quotes": [
            (
                f"{row.facet}, ",
                f"{format_bound(row.bound)}{row.value:g}{NBSP}{row.unit}",
                _statistic(row.stat),
            )
            for row in card.quotes.itertuples()
        ],
    }


def rate_of(card: Card) -> str:
    """Of which workload and how many runs the rate of a card is, and its phases, unless its name says it."""
    if card.rate is None:
        return ""
    whole = card.facet is None and card.files is None
    return workload_of(card.rate) if whole else with_phases(_spread_of(card.rate), card.rate)


def _percentiles(told: LatencySummary) -> list[tuple[str, str, str, str]]:
    """Name, figure, unit and range of each percentile; the figure is the range where there is no other."""
    known = []
    for p in told.values or told.ranges:
        low, high = map(format_percentile, told.ranges.get(p, (0, 0)))
        figure, _, unit = format_range(low, high).rpartition(NBSP)
        ends = ""
        if told.values:
            ends = f"{figure}{NBSP}{unit}" if p in told.ranges else ""
            figure, _, unit = format_percentile(told.values[p]).rpartition(NBSP)
        known.append((f"p{p:g}", figure, unit, ends if ends != f"{figure}{NBSP}{unit}" else ""))
    return known


def result_rows(shares: Sequence[ResultShare]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and column names of the table of results; a column that is empty throughout is left out.

    Parameters
    ----------
    shares : sequence of ResultShare
        Of each dataset its place on the page, its entries, and its table with the column source.
    """
    told = [
        (place, entries, row) for place, entries, table in shares for row in table.to_dict(orient="records")
    ]
    rows = [row for *_, row in told]
    columns: dict[str, list[str]] = {
        "IOPS": [iops(row["iops"], row["iops_bound"]) for row in rows],
        "MB/s": [mbps(row["bw_bytes_per_s"], row["bw_bound"]) for row in rows],
        "Rates are": [with_phases(_spread_of(row), row) for row in rows],
    }
    for p in TABLE_PERCENTILES:
        values = (row[f"p{p:g}"] for row in rows)
        columns[f"p{p:g}"] = ["" if pd.isna(us) else format_percentile(us) for us in values]
    columns["Latency as published"] = [
        ""
        if pd.isna(row["value"])
        else f"{format_bound(row['bound'])}{row['value']:g}{NBSP}{row['unit']}, {_statistic(row['stat'])}"
        for row in rows
    ]
    files = [str(row["source"]) for row in rows]
    columns["Source"] = files if len(set(files)) > 1 else [""] * len(files)
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    made = [
        {
            "entry": entries[row["series"]],
            "name": entries[row["series"]].name,
            "sub": str(row["facet"]),
            "cells": [cells[i] for cells in shown.values()],
            "dataset": place,
        }
        for i, (place, entries, row) in enumerate(told)
    ]
    return made, ["Series and workload", *shown]


def median_rows(medians: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the condensed table: a test and its median MB/s per series."""
    return [
        {"entry": None, "name": str(rw).replace("_", " "), "sub": "", "cells": [mbps(v) for v in row]}
        for rw, row in zip(medians.index, medians.itertuples(index=False, name=None), strict=True)
    ]


def span_of_sizes(sizes: pd.Series) -> str:
    """``13 block sizes, 4 KiB to 16 MiB``."""
    return f"{sizes.nunique()} block sizes, {format_size(sizes.min())} to {format_size(sizes.max())}"


def _rates(row: pd.Series) -> list[tuple[str, str]]:
    """Figure and unit of the rates that there are."""
    both = (
        (iops(row["iops"], row["iops_bound"]), "IOPS"),
        (mbps(row["bw_bytes_per_s"], row["bw_bound"]), "MB/s"),
    )
    return [(figure, unit) for figure, unit in both if figure]


def _spread_of(row: Any) -> str:
    """Of how many runs the rates are the median."""
    return spread(row, "iops" if not pd.isna(row["iops"]) else "bw_bytes_per_s")


def latency_kinds(kinds: Iterable[Any]) -> str:
    """``completion latency``, ``total latency``, or both."""
    return " and ".join(dict.fromkeys(LATENCY_KINDS[kind] for kind in kinds if not pd.isna(kind)))


def _latency_of(card: Card, told: LatencySummary) -> str:
    """Which latency it is, and of what where the name of the card does not say."""
    kind = LATENCY_KINDS[told.kind].capitalize()
    whole = card.rate is not None and card.rate["workloads"] > 1
    if card.files is None and (card.facet is None or whole):
        of = f"{'Latency' if told.kind == 'clat' else kind}: {told.of}"
    else:
        of = f"{kind} of {told.direction}" if told.direction else kind
    what = "median and range" if told.values else "range"
    ranges = f"{what} of each {told.each}'s own percentiles" if told.ranges else ""
    return ", ".join(
        filter(None, [of, "over all phases of the run" if _has_phases(card, told) else "", ranges])
    )


def _has_phases(card: Card, told: LatencySummary) -> bool:
    """Whether the latency is of a run whose rate is that of its last phase alone."""
    rate = card.rate
    return rate is not None and bool(rate["phases"]) and (card.facet is not None or told.of == rate["facet"])


def _statistic(stat: str) -> str:
    return "statistic not stated" if stat.startswith("unspecified") else stat


def today() -> str:
    """Today's date in words: 20 November 2026."""
    now = pd.Timestamp(datetime.now(UTC))
    return f"{now.day} {now:%B %Y}"


def sentence(text: str) -> str:
    """A message that begins with a capital, unless with a name or a path, and ends with a full stop."""
    text = text.strip()
    first = text.partition(" ")[0]
    begun = text[:1].upper() + text[1:] if first.strip(",:;").isalpha() else text
    return f"{begun}{'' if text.endswith(('.', '…', '?')) else '.'}" if text else ""


def times(ratio: float) -> str:
    """``1.4 times``, ``29 times``, ``2,300 times``."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f} times"
