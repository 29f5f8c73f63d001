"""Figures in words: the sentences, cards and rows of a report. Values are formatted here, once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from azbenchlib.analyse.arrange import Arrangement
from azbenchlib.analyse.summary import TABLE_PERCENTILES, Card
from azbenchlib.manifest import Manifest
from azbenchlib.units import NBSP, format_bound, format_count, format_mbps, format_size, format_us

NOT_STATED = "not stated"


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


def finding(arrangement: Arrangement, cards: Sequence[Card]) -> str:
    """The range of what was measured, in a sentence or two, derived from the cards."""
    names = dict(zip(arrangement.series["key"], arrangement.series["label"], strict=True))

    def called(card: Card) -> str:
        return f"{card.facet}, {names[card.series]}" if card.facet else names[card.series]

    rated = [(card.rate, called(card)) for card in cards if card.rate is not None]
    sentences = []
    for column in ("iops", "bw_bytes_per_s"):
        known = sorted(
            (row[column], _told(row, column), name) for row, name in rated if not pd.isna(row[column])
        )
        if known:
            (_, low, slowest), (_, high, fastest) = known[0], known[-1]
            span = f"From {low} ({slowest}) to {high} ({fastest})" if low != high else f"{fastest}: {high}"
            sentences.append(f"{span}.")
            break
    timed = sorted((card.latency[99.0], called(card)) for card in cards if 99.0 in card.latency)
    if len(timed) > 1:
        (low_us, best), (high_us, worst) = timed[0], timed[-1]
        sentences.append(f"p99 latency from {format_us(low_us)} ({best}) to {format_us(high_us)} ({worst}).")
    return " ".join(sentences)


def card(card: Card, entry: Any) -> dict[str, Any]:
    """One card, formatted."""
    rate_row = card.rate
    name = entry.name if card.facet is None else f"{card.facet}, {entry.name}"
    return {
        "name": name[:1].upper() + name[1:],
        "detail": entry.detail,
        "colour": entry.colour,
        "char": entry.char,
        "rates": [] if rate_row is None else _rates(rate_row),
        "rate_of": rate_row["facet"] if rate_row is not None and card.facet is None else "",
        "latency": [(f"p{p:g}", *format_us(us).split(NBSP)) for p, us in card.latency.items()],
        "latency_of": _latency_of(card),
        "quotes": [
            (
                f"{row.facet}, ",
                f"{format_bound(row.bound)}{row.value:g}{NBSP}{row.unit}",
                _statistic(row.stat),
            )
            for row in card.quotes.itertuples()
        ],
    }


def result_rows(table: pd.DataFrame, entries: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and column names of the table of results; a column that is empty throughout is left out."""
    columns: dict[str, list[str]] = {
        "Workload": [str(facet) for facet in table["facet"]],
        "IOPS": [iops(v, b) for v, b in zip(table["iops"], table["iops_bound"], strict=True)],
        "MB/s": [mbps(v, b) for v, b in zip(table["bw_bytes_per_s"], table["bw_bound"], strict=True)],
    }
    for p in TABLE_PERCENTILES:
        columns[f"p{p:g}"] = ["" if pd.isna(us) else format_us(us) for us in table[f"p{p:g}"]]
    columns["Latency as published"] = [
        ""
        if pd.isna(row.value)
        else f"{format_bound(row.bound)}{row.value:g}{NBSP}{row.unit}, {_statistic(row.stat)}"
        for row in table.itertuples()
    ]
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = [
        {
            "entry": entries[series],
            "name": entries[series].name,
            "sub": shown["Workload"][i],
            "cells": [cells[i] for name, cells in shown.items() if name != "Workload"],
        }
        for i, series in enumerate(table["series"])
    ]
    return rows, ["Series and workload", *(name for name in shown if name != "Workload")]


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


def _told(row: pd.Series, column: str) -> str:
    """One rate of the row with its unit."""
    return NBSP.join(_rates(row)[0 if column == "iops" else -1])


def _latency_of(card: Card) -> str:
    if not card.latency:
        return ""
    return "Completion latency" if card.facet is not None else f"Latency: {card.latency_of}"


def _statistic(stat: str) -> str:
    return "statistic not stated" if stat.startswith("unspecified") else stat
