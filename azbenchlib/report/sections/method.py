"""The back of a report: what is doubtful, what it was measured on, with which commands, from what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.core.findings import Severity, without_label
from azbenchlib.core.units import format_size
from azbenchlib.report import formatting
from azbenchlib.report.blocks import Block, render

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_LEVELS = {
    Severity.ERROR: ("Error", "warn"),
    Severity.WARNING: ("Warning", "warn"),
    Severity.INFO: ("Note", "info"),
}
MOST_HASHES = 24


def trust(part: Part, place: str, group: dict[str, str] | None) -> Block:
    """Findings by kind, and the notes of the manifest."""
    rows = finding_rows(part.dataset.findings, part.dataset.runs)
    return render("trust", id=f"{place}-findings", rows=rows, notes=part.manifest.notes, group=group)


def environment(part: Part, group: dict[str, str] | None) -> Block:
    """Where it ran, on which disks, with which tools, and the exact commands."""
    used = part.arrangement.runs["setup_id"].dropna().unique()
    setups = part.dataset.setups[part.dataset.setups["setup_id"].isin(used)]
    disks = part.dataset.disks[part.dataset.disks["setup_id"].isin(used)]
    facts = [
        ("About", part.manifest.about),
        ("Region", _each(setups["region"])),
        ("VM sizes", _each(setups["vm_size"])),
        ("System", _each(setups["os"])),
        ("Kernel", _each(setups["kernel"])),
        ("Memory", _each(setups["ram_bytes"].dropna().map(format_size))),
        ("Disks", formatting.join(_disk(row) for _, row in disks.iterrows())),
        ("Tools", formatting.tools(part.manifest)),
        ("Units", part.manifest.units),
    ]
    known = [(name, value) for name, value in facts if value]
    return render("method", environment=known, commands=part.manifest.commands, group=group)


def sources(parts: Sequence[Part]) -> Block:
    """Publications and hashes of all datasets."""
    publications = [source for part in parts for source in part.manifest.sources]
    raw = [
        (f"{part.manifest.name}/{name}", digest)
        for part in parts
        for name, digest in part.manifest.raw.items()
    ]
    left_out = len(raw) - MOST_HASHES
    shown = raw[:MOST_HASHES] if left_out > 0 else raw
    if left_out > 0:
        shown = [*shown, (f"{left_out} more", "in the manifest.json of the datasets")]
    return render("sources", publications=publications, raw=shown)


def finding_rows(findings: pd.DataFrame, runs: pd.DataFrame) -> list[dict[str, str]]:
    """One row a kind of finding: the message where it is one, else what its messages share.

    Parameters
    ----------
    findings, runs : DataFrame
        The tables.
    """
    jobs = runs.dropna(subset=["job"]).set_index("run_id")["job"].to_dict()
    rows = []
    for severity, level in _LEVELS.items():
        of_severity = findings[findings["severity"] == severity]
        for code, group in of_severity.groupby("code", sort=False):
            known = group.astype(object).where(group.notna(), None).to_dict(orient="records")
            rows.append(_finding_row(level, str(code), known, jobs))
    return rows


def _finding_row(
    level: tuple[str, str], code: str, group: Sequence[Mapping[str, Any]], jobs: Mapping[str, str]
) -> dict[str, str]:
    messages = list(dict.fromkeys(row["message"] for row in group))
    without = {
        without_label(row["message"], row["source_path"] or "", jobs.get(row["run_id"])) for row in group
    }
    alone = messages[0] if len(messages) == 1 else without.pop() if len(without) == 1 else f"{messages[0]} …"
    of_runs = all(row["run_id"] is not None for row in group)
    name, css = level
    return {
        "level": name,
        "css": css,
        "message": alone[:1].upper() + alone[1:],
        "code": code,
        "amount": formatting.count(len(group), "run" if of_runs else "time"),
        "advice": formatting.join(row["advice"] for row in group if row["advice"]) or "Nothing",
    }


def _each(values: pd.Series) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values.dropna()))


def _disk(row: pd.Series) -> str:
    get = {name: value for name, value in row.items() if not pd.isna(value)}
    size = format_size(get["size_bytes"]) if "size_bytes" in get else ""
    cache = f"host caching {get['host_caching']}" if "host_caching" in get else ""
    return " ".join(
        filter(
            None,
            [
                str(get.get("role", "")).replace("_", " "),
                str(get.get("sku", "")),
                str(get.get("tier", "")),
                size,
                cache,
            ],
        )
    )
