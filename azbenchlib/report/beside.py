"""Emulated disks beside what was published of the real ones: one table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analyse.counterparts import counterparts
from azbenchlib.analyse.labels import workload_text
from azbenchlib.report.blocks import Block, render, safe
from azbenchlib.units import NBSP, format_count, format_mbps, format_us

if TYPE_CHECKING:
    from azbenchlib.report.content import Part

NOTE = (
    "The same workload on the same disk, emulated here and as it was published. What they differ by is what "
    "Azure's documents, which the emulation follows, do not say of the real disk."
)
COUNTED = "Rates of all directions together; percentiles of completion latency."


def table(parts: Sequence["Part"]) -> Block:
    """The figures that emulated and other datasets of a report have in common; empty without any."""
    emulated = [part for part in parts if _emulated(part)]
    others = [part for part in parts if not _emulated(part)]
    pairs = [counterparts(one.dataset.tables, other.dataset.tables) for one in emulated for other in others]
    found = pd.concat(pairs, ignore_index=True) if pairs else pd.DataFrame()
    if found.empty:
        return Block("")
    columns = ["Disk and workload", "Figure", "Emulated", "Published", "Difference"]
    rows = render("table", id="beside", note=COUNTED, columns=columns, rows=_rows(found), left=[1], long=True)
    return render("beside", note=NOTE, table=safe(rows.html))


def _emulated(part: "Part") -> bool:
    return bool((part.dataset.setups["environment"] == "lab").any())


def _rows(found: pd.DataFrame) -> list[dict[str, Any]]:
    """One row a figure; MB/s only where IOPS are not there to say the same."""
    rated = set(found.loc[found["quantity"] == "iops", "run_id"])
    shown = found[(found["quantity"] != "bw_bytes_per_s") | ~found["run_id"].isin(rated)]
    return [
        {
            "entry": None,
            "name": row.setup,
            "sub": workload_text(row.rw, row.bs_bytes, row.queue_depth),
            "cells": [
                _named(row.quantity),
                _formatted(row.quantity, row.value),
                _formatted(row.quantity, row.other),
                f"{(row.ratio - 1) * 100:+.1f}{NBSP}%".replace("-", "−"),
            ],
        }
        for row in shown.itertuples()
    ]


def _named(quantity: str) -> str:
    return {"iops": "IOPS", "bw_bytes_per_s": "MB/s"}.get(quantity, quantity.removesuffix("_us"))


def _formatted(quantity: str, value: float) -> str:
    if quantity.endswith("_us"):
        return format_us(value)
    return format_count(value) if quantity == "iops" else format_mbps(value)
