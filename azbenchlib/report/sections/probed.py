"""What a probe found of a disk: the answer, each figure with its interval, the portrait, and what is open."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.units import format_count, format_probability
from azbenchlib.dataset.probed import ProbeRecord
from azbenchlib.plots.drawing.svg import both
from azbenchlib.plots.probed import PortraitData, RunWorth, probe_portrait, run_worths
from azbenchlib.probing import text
from azbenchlib.report import formatting
from azbenchlib.report.figures import Group

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_MOST_DRAWN = 24  # that are drawn
_HOW = (
    "Lines are medians of all disks that explain the runs; bands are their 95 % intervals. Where the "
    "roofline is flat, the cap of IOPS limits; where it falls, the cap of MB/s does.",
    "The latency is that of an unloaded disk until the queue reaches the cap, and grows with the queue from "
    "there.",
)
_CREDITS = (
    "Credits are what passed above the base until the bucket was empty: what was left of it when the full "
    "load began, not what it holds when it is full."
)
_STAIRS = "Where the working set outgrows a cache, the median latency rises to that of the disk."
_WORTH = (
    "From top to bottom in the order in which the probe chose them. A bar is the information that was "
    "expected of the run when it was chosen, in nats: 0.69 nats halve the possibilities.",
)


def section(part: Part, place: str, group: Group) -> Block | None:
    """All of it for one dataset; None where it is no probe."""
    found = part.probe
    if found is None:
        return None
    said = render("told", tone="", label=group["title"] if group else "", sentences=found.sentences)
    drawn = portrait(found, f"{place}-probe"), runs(found, f"{place}-probe")
    blocks = (said, _figures(found, place), *drawn, _names(found, place), _open(found, place))
    return Block("\n".join(block.html for block in blocks if block))


def portrait(found: ProbeRecord, name: str) -> Block:
    """Roofline and latency over load with their bands; credits over time and working sets, if any."""
    data = PortraitData(
        roof=pd.DataFrame([one.model_dump() for one in found.roof]),
        response=pd.DataFrame([one.model_dump() for one in found.response]),
        credits=pd.DataFrame(
            [
                {"quantity": one.quantity, **level.model_dump()}
                for one in found.credits
                for level in one.levels
            ],
            columns=["quantity", "t_s", "left"],
        ),
        steps=pd.DataFrame(
            [step.model_dump() for step in found.cache.steps] if found.cache else [],
            columns=["set_bytes", "hit_share", "p50_us"],
        ),
    )
    how = [*_HOW, *([_CREDITS] if len(data.credits) else []), *([_STAIRS] if len(data.steps) else [])]
    shown = render(
        "figure",
        id=f"{name}-portrait",
        group=None,
        title="Portrait of the disk",
        what="What the runs leave possible.",
        svg=safe(both(partial(probe_portrait, data), f"{name}-portrait")),
        how=how,
    )
    return Block(shown.html, lambda: data.roof)


def runs(found: ProbeRecord, name: str) -> Block:
    """The runs in the order in which they were chosen, and what each was worth."""
    some = [
        RunWorth(title=run.title, showed=f"{format_count(round(run.iops))} IOPS", nats=run.nats)
        for run in found.runs[:_MOST_DRAWN]
    ]
    more = f", the first {_MOST_DRAWN} of {len(found.runs)}" if len(found.runs) > _MOST_DRAWN else ""
    return render(
        "figure",
        id=f"{name}-runs",
        group=None,
        title=f"{formatting.count(len(found.runs), 'run')} led to this",
        what=f"What each run was, what it showed, and what it was worth{more}.",
        svg=safe(both(partial(run_worths, some), f"{name}-runs")),
        how=_WORTH,
    )


def _figures(found: ProbeRecord, place: str) -> Block:
    numbers = {run.run: i for i, run in enumerate(found.runs, 1)}
    rows = []
    for one in found.figures:
        value, between = text.told(one.figure)
        told_by = ", ".join(str(numbers[run]) for run in one.runs if run in numbers)
        rows.append(
            {"entry": None, "name": one.label, "sub": "", "cells": [value, between or "–", told_by or "–"]}
        )
    note = "Each property with its 95 % interval and the runs that say so, by their numbers below."
    columns = ["Property", "Value", "95 % interval", "Runs"]
    return render("table", id=f"{place}-probed", note=note, columns=columns, rows=rows, left=[2, 3], few=True)


def _names(found: ProbeRecord, place: str) -> Block | None:
    if not found.names:
        return None
    rows = [
        {
            "entry": None,
            "name": f"{one.title[:1].upper()}{one.title[1:]}",
            "sub": "",
            "cells": [
                format_probability(one.probability),
                _ratio(one.measured_per_documented_iops),
                _ratio(one.measured_per_documented_bytes_per_s),
            ],
        }
        for one in found.names
    ]
    note = "Documented disks and VM limits that fit. A ratio is measured ÷ documented."
    columns = ["It may be", "Probability", "Ratio of IOPS", "Ratio of MB/s"]
    return render("table", id=f"{place}-names", note=note, columns=columns, rows=rows, left=[], few=True)


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _open(found: ProbeRecord, place: str) -> Block | None:
    if not found.not_learnt:
        return None
    rows = [
        {"entry": None, "name": one.what, "sub": "", "cells": [_minutes(one.minutes)]}
        for one in found.not_learnt
    ]
    note = "What is not known, and how long it would take to learn it."
    return render(
        "table", id=f"{place}-open", note=note, columns=["Not learnt", "Takes about"], rows=rows, left=[]
    )


def _minutes(minutes: float | None) -> str:
    return "no run tells it" if minutes is None else f"{max(minutes, 1):.0f} min"
