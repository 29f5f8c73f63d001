"""Emulated disks beside what was published of the real ones: one table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analyse.counterparts import counterparts
from azbenchlib.analyse.labels import workload_text
from azbenchlib.report.blocks import Block, render
from azbenchlib.units import NBSP, format_count, format_mbps, format_us

if TYPE_CHECKING:
    from azbenchlib.report.content import Part

NOTE = (
    "The same workload on the same disk, emulated here and as it was published. They differ by what Azure's "
    "documents, which the emulation follows, do not say of the real disk, and by the hiccups of this machine."
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
    return render("beside", note=NOTE, counted=COUNTED, groups=_groups(found))


def _emulated(part: "Part") -> bool:
    return bool((part.dataset.setups["environment"] == "lab").any())


def _groups(found: pd.DataFrame) -> list[dict[str, Any]]:
    """A group a run, with a row a figure; MB/s only where IOPS are not there to say the same."""
    rated = set(found.loc[found["quantity"] == "iops", "run_id"])
    shown = found[(found["quantity"] != "bw_bytes_per_s") | ~found["run_id"].isin(rated)]
    groups = []
    for _, rows in shown.groupby("run_id", sort=False):
        first = rows.iloc[0]
        work = workload_text(first["rw"], first["bs_bytes"], first["queue_depth"])
        groups.append({"name": first["setup"], "sub": work, "rows": [_row(row) for row in rows.itertuples()]})
    return groups


def _row(row: Any) -> tuple[str, str, str, str]:
    change = f"{(row.ratio - 1) * 100:+.1f}".replace("-", "−")
    return (
        _named(row.quantity),
        _formatted(row.quantity, row.value),
        _formatted(row.quantity, row.other),
        f"{'0.0' if change in ('+0.0', '−0.0') else change}{NBSP}%",
    )


def _named(quantity: str) -> str:
    return {"iops": "IOPS", "bw_bytes_per_s": "MB/s"}.get(quantity, quantity.removesuffix("_us"))


def _formatted(quantity: str, value: float) -> str:
    if quantity.endswith("_us"):
        return format_us(value)
    return format_count(value) if quantity == "iops" else format_mbps(value)
