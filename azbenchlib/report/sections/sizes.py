"""Which disk a system needs: the load on a design over time, and when it is throttled."""

from __future__ import annotations

from functools import partial

from azbenchlib import plots
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.units import format_span
from azbenchlib.plots.throttle import IOPS_RATE, THROUGHPUT_RATE, Rate, rate_over_time
from azbenchlib.sizing import text as words
from azbenchlib.sizing.answer import Outcome, SizeAnswer
from azbenchlib.sizing.traces import caps, trace

_MOST_TIMES = 20  # in the table of times
_HOW = (
    "The line is the largest rate of each stretch; dashed are the tightest limits; below are the credits of "
    "the emptiest bucket.",
    "The load is throttled where it is above the base limit and no credits are left, and until what waited "
    "is served.",
)


def over_time(answer: SizeAnswer, outcome: Outcome, name: str) -> Block:
    """The load of IOPS and of MB/s on a design, with its limits and credits."""
    return _figure(answer, outcome, IOPS_RATE, name) + _figure(answer, outcome, THROUGHPUT_RATE, name)


def _figure(answer: SizeAnswer, outcome: Outcome, rate: Rate, name: str) -> Block:
    design = outcome.design
    label = f"{design.vm} with {design.setup.disks[0].name}"
    entry = plots.Series(rate.column, label, label, 0)
    rows, limits = trace(design, rate.column), caps(design, rate.column)
    svg = plots.both(partial(_draw, rows, limits, entry, rate), f"{name}-{rate.column}")
    at_least_s = outcome.at_least_s
    never = "not throttled" if outcome.bursts.is_known else "not throttled by an even load"
    title = f"{label}: {f'throttled for {format_span(at_least_s)} at least' if at_least_s else never}"
    begin = words.moment(answer.history, 0.0)
    return render(
        "figure",
        id=f"{name}-{rate.column}-figure",
        title=title,
        what=f"{rate.title} from {begin} on.",
        svg=safe(svg),
        how=_HOW,
        group=None,
    )


def _draw(rows: object, limits: object, entry: plots.Series, rate: Rate, layout: plots.Layout) -> plots.Drawn:
    return rate_over_time(rows, limits, entry, layout, rate)  # type: ignore[arg-type]


def times(answer: SizeAnswer, outcome: Outcome, name: str) -> Block:
    """When a design is throttled, the longest first."""
    some = outcome.times(_MOST_TIMES)
    what = f"{outcome.design.vm} with {outcome.design.setup.disks[0].name}"
    if not some:
        return render(
            "note", text=f"{what} is never throttled if the load of each interval is even", options=[]
        )
    rows = [
        {
            "entry": None,
            "name": words.moment(answer.history, one.start_s),
            "sub": "",
            "cells": [
                format_span(one.seconds),
                one.labels[0].display_name,
                format_span(one.delay_s) if one.delay_s > 0 else "0 s",
            ],
        }
        for one in some
    ]
    all_of_them = len(outcome.replayed.throttled)
    more = f"; the {len(some)} longest of {all_of_them}" if all_of_them > len(some) else ""
    columns = ["Begin", "Throttled", "By", "Longest wait"]
    return render(
        "table",
        id=f"{name}-times",
        note=f"When {what} is throttled{more}.",
        columns=columns,
        rows=rows,
        left=[2],
    )
