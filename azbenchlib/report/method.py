"""The back of a report: what is doubtful, what it was measured on, with which commands, from what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.report import words
from azbenchlib.report.blocks import Block, render
from azbenchlib.units import format_size

if TYPE_CHECKING:
    from azbenchlib.report.content import Part

LEVELS = {"error": ("Error", "warn"), "warning": ("Doubt", "warn"), "info": ("Note", "info")}
MOST_HASHES = 24


def trust(part: Part, place: str, group: dict[str, str] | None) -> Block:
    """Findings by kind, and the notes of the manifest."""
    rows = _finding_rows(part.dataset.findings)
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
        ("Disks", words.join(_disk(row) for _, row in disks.iterrows())),
        ("Tools", words.tools(part.manifest)),
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


def _finding_rows(findings: pd.DataFrame) -> list[dict[str, str]]:
    """One row a kind of finding: the message where it is one, else what its messages share."""
    order = findings.assign(rank=findings["severity"].map({level: i for i, level in enumerate(LEVELS)}))
    rows = []
    for (severity, code), group in order.sort_values("rank", kind="stable").groupby(
        ["severity", "code"], sort=False
    ):
        messages = list(dict.fromkeys(group["message"]))
        endings = {message.partition(": ")[2] or message for message in messages}
        message = (
            messages[0] if len(messages) == 1 else endings.pop() if len(endings) == 1 else f"{messages[0]} …"
        )
        level, css = LEVELS[str(severity)]
        rows.append(
            {
                "level": level,
                "css": css,
                "message": message[:1].upper() + message[1:],
                "code": str(code),
                "amount": words.count(len(group), "run" if group["run_id"].notna().all() else "time"),
                "advice": words.join(group["advice"].dropna()) or "Nothing",
            }
        )
    return rows


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
