"""The back of a report: what is doubtful, what it was measured on, with which commands, from what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.answers.blocks import Block, render
from azbenchlib.core import schema
from azbenchlib.core.findings import Severity, without_label
from azbenchlib.core.units import format_size
from azbenchlib.model.credits import BURST_S
from azbenchlib.report import formatting

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

_LEVELS = {
    Severity.ERROR: ("Error", "warn"),
    Severity.WARNING: ("Warning", "warn"),
    Severity.INFO: ("Note", "info"),
}
_WHOLE = 100  # from here on a ratio is told in whole numbers
MOST_NAMES = 12  # runs of one kind of finding
_FIGURE = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/]|[.,]\d)")


def trust(
    part: Part, place: str, group: dict[str, str] | None, found: Sequence[RunVerdict] | None = None
) -> Block:
    """Findings by kind, those that make verdicts doubtful among them, and the notes of the manifest.

    Parameters
    ----------
    part : Part
    place : str
        For the ids of the page.
    group : dict, optional
        Title of the dataset, where there are several.
    found : sequence of RunVerdict, optional
        Default: those of the dataset.
    """
    read = part.dataset.findings
    known = set(read["code"])
    rows = [
        replace(finding, run_id=verdict.run.run_ids[0]).row()
        for verdict in (part.verdicts if found is None else found)
        for finding in verdict.judged.findings
        if finding.code not in known and not _silent(verdict)
    ]
    every = pd.concat([read, schema.frame("findings", rows)], ignore_index=True) if rows else read
    shown = finding_rows(every, part.dataset.runs)
    return render("trust", id=f"{place}-findings", rows=shown, notes=part.manifest.notes, group=group)


def _silent(verdict: RunVerdict) -> bool:
    """Whether nothing is documented of the setup, and its VM size is not known."""
    return not verdict.judged.limits and not verdict.setup.vm.size


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
        ("Burst times", _burst_times(setups["credit_s"])),
        ("Memory", _each(setups["ram_bytes"].dropna().map(format_size))),
        ("Disks", formatting.join(_disk(row) for _, row in disks.iterrows())),
        ("Tools", formatting.tools(part.manifest)),
        *((part.manifest.identity or {}).items()),
        ("Units", part.manifest.units),
    ]
    known = [(name, value) for name, value in facts if value]
    return render("method", environment=known, commands=part.manifest.commands, group=group)


def _burst_times(credit_s: pd.Series) -> str:
    """How the times of disks are told whose credits last shorter than on Azure."""
    cuts = sorted({BURST_S / lasts_s for lasts_s in credit_s.dropna() if lasts_s < BURST_S})
    times = " or ".join(f"{cut:,.0f}" if cut >= _WHOLE else f"{cut:.3g}" for cut in cuts)
    return (
        f"as on Azure: {times} times those measured, as the emulated disks have fewer credits" if cuts else ""
    )


def sources(parts: Sequence[Part]) -> Block:
    """Publications and hashes of all datasets."""
    publications = [source for part in parts for source in part.manifest.sources]
    raw = [
        (f"{part.manifest.name}/{name}", digest)
        for part in parts
        for name, digest in part.manifest.raw.items()
    ]
    return render("sources", publications=publications, raw=raw)


def finding_rows(findings: pd.DataFrame, runs: pd.DataFrame) -> list[dict[str, Any]]:
    """One row a kind of finding: messages that differ in figures alone are one, with their range.

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
) -> dict[str, Any]:
    messages = [
        without_label(row["message"], row["source_path"] or "", jobs.get(row["run_id"])) for row in group
    ]
    of_runs = all(row["run_id"] is not None for row in group)
    whose = [str(jobs.get(row["run_id"]) or row["source_path"] or "") for row in group]
    names = list(dict.fromkeys(name for name in whose if name))
    name, css = level
    return {
        "level": name,
        "css": css,
        "message": formatting.sentence(_told(messages)),
        "code": code,
        "amount": formatting.count(len(group), "run" if of_runs else "time"),
        "names": names[:MOST_NAMES] if len(group) > 1 else [],
        "more": max(0, len(names) - MOST_NAMES),
        "advice": formatting.sentence(_told([row["advice"] for row in group if row["advice"]])),
    }


def _told(texts: Sequence[str]) -> str:
    """One text for several: figures in which they differ as a range; else the first, and a sign of more."""
    alike: dict[tuple[str, ...], list[list[str]]] = {}
    for text in texts:
        alike.setdefault(tuple(_FIGURE.split(text)), []).append(_FIGURE.findall(text))
    told = []
    for words, figures in alike.items():
        spans = [_span(list(column)) for column in zip(*figures, strict=True)]
        told.append("".join(part for pair in zip(words, [*spans, ""], strict=True) for part in pair))
    return f"{told[0]} …" if len(told) > 1 else "".join(told)


def _span(figures: Sequence[str]) -> str:
    """``2–5``; one figure as it is."""
    ordered = sorted(set(figures), key=lambda text: float(text.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


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
