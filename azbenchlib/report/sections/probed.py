"""What a probe found of a disk: the answer, each figure with its interval, the portrait, and what is open."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.document import Document
from azbenchlib.answers.html import block
from azbenchlib.answers.probe import ProbeAnswer
from azbenchlib.core.units import format_count
from azbenchlib.dataset.probed import ProbeRecord
from azbenchlib.plots.drawing.svg import both
from azbenchlib.plots.probed import PortraitData, RunWorth, probe_portrait, run_worths
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
    answer, name = ProbeAnswer.load(part.folder), f"{place}-probe"
    said = render("told", tone="", label=group["title"] if group else "", sentences=found.sentences)
    known = block(Document(None, [answer.properties]), place=name)
    concluded = block(Document(None, answer.conclusions), place=name)
    return said + known + portrait(found, name) + runs(found, name) + concluded


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
