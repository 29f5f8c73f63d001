"""Emulated disks beside what was published of the real ones: one table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.matched_runs import counterparts
from azbenchlib.analysis.setup_names import workload_text
from azbenchlib.answers.blocks import Block, render
from azbenchlib.azure.catalog.latency import origins, percentiles
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.units import NBSP, format_count, format_mbps
from azbenchlib.lab.engine import latency
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.setup import Setup

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

NOTE = (
    "The same workload on the same disk, emulated here and as it was published. Differences: effects that "
    "Azure does not document, and scheduling jitter on this host."
)
INPUT, ASSUMED, FOLLOWS, OUTCOME = "input", "input, from elsewhere", "follows from the latency", "outcome"
MEANING = {
    INPUT: "The lab draws the latencies of these disks from the percentiles that the publication prints. So "
    "rows marked “input” compare the emulation with what it was made from: they show that the emulation "
    "works, and nothing about the real disk.",
    ASSUMED: "“Input, from elsewhere”: drawn from an assumption or from another publication.",
    FOLLOWS: "“Follows from the latency”: at QD 1, IOPS are one divided by the latency.",
    OUTCOME: "“Outcome”: what the documented limits make of the workload; nothing of it was taken from the "
    "publication.",
}
_DRAWN = (
    1.5  # times its table from which on a latency is that of a queue, and no longer the one that was drawn
)
COUNTED = "Rates of all directions together; percentiles of completion latency."


def table(parts: Sequence["Part"]) -> Block:
    """The figures that emulated and other datasets of a report have in common; empty without any."""
    emulated = [part for part in parts if part.emulated]
    others = [part for part in parts if not part.emulated]
    pairs = [_pair(one, other) for one in emulated for other in others]
    found = pd.concat(pairs, ignore_index=True) if pairs else pd.DataFrame()
    if found.empty:
        return Block("")
    meanings = [text for kind, text in MEANING.items() if (found["kind"] == kind).any()]
    return render("beside", note=" ".join([NOTE, *meanings]), counted=COUNTED, groups=_groups(found))


def _pair(one: "Part", other: "Part") -> pd.DataFrame:
    """Figures of emulated runs beside published ones, with what each is in the emulation."""
    tables = one.dataset.tables
    found = counterparts(tables, other.dataset.tables)
    setups = tables["runs"].drop_duplicates("run_id").set_index("run_id")["setup_id"]
    kinds = [
        kind_of(row, stated_setup(tables, str(setups[row.run_id])), other.manifest.name)
        for row in found.itertuples()
    ]
    return found.assign(kind=pd.Series(kinds, index=found.index, dtype="string"))


def kind_of(row: Any, setup: Setup, publication: str) -> str:
    """Whether a figure was put into the emulation, follows from what was, or came out of it."""
    tables = [name for disk in setup.disks for name in latency.profiles(setup.vm, disk)]
    if not row.quantity.endswith("_us"):
        alone = not pd.isna(row.queue_depth) and row.queue_depth == 1
        return FOLLOWS if alone else OUTCOME
    percentile = float(row.quantity.removeprefix("p").removesuffix("_us"))
    write = str(row.rw).endswith("write")
    drawn = [percentiles(name, write).get(percentile) for name in tables]
    known = [us for us in drawn if us is not None]
    if known and row.value > _DRAWN * max(known):
        return OUTCOME
    return INPUT if any(publication in origins(name) for name in tables) else ASSUMED


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


def _row(row: Any) -> tuple[str, str, str, str, str]:
    change = f"{(row.ratio - 1) * 100:+.1f}".replace("-", "−")
    return (
        _named(row.quantity),
        _formatted(row.quantity, row.value),
        _formatted(row.quantity, row.other),
        f"{'0.0' if change in ('+0.0', '−0.0') else change}{NBSP}%",
        row.kind,
    )


def _named(quantity: str) -> str:
    return {"iops": "IOPS", "bw_bytes_per_s": "MB/s"}.get(quantity, quantity.removesuffix("_us"))


def _formatted(quantity: str, value: float) -> str:
    if quantity.endswith("_us"):
        return format_percentile(value)
    return format_count(value) if quantity == "iops" else format_mbps(value)
