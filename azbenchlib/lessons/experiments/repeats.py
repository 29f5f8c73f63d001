"""Lesson 11: how many runs it takes to tell a change from a good day."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean

import pandas as pd

from azbenchlib.analysis.compare import ComparedFigure
from azbenchlib.core.units import format_count
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_PER_CENT
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.repeats import (
    REPEATED,
    STATED_MARGIN,
    half_width,
    judged,
    reach_of_interval,
)
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart

_MEAN, _SPREAD, _COST = 2_000, 0.02, 0.03  # IOPS of the disk, how its days differ, what the update costs
_RUNS = (4, 8, 16)
_ALL = _RUNS[-1]  # runs of each side that are made, for one comparison or several
_CURVE = (3, 4, 5, 6, 8, 12, 16, 24)
_DEPTH = 16
_FROM = 1_700  # IOPS at which the axis of single runs begins
_SCALE = 2
_RATIOS = {"before": 1.0, "after": 1 - _COST}
_SIDES = tuple(Series(key, f"{key} the update", key, i) for i, key in enumerate(_RATIOS, 1))
_WIDTH = Series("width", "half of a 95 % interval", "interval", 1)


class RepeatsLesson(Lesson):
    """A difference is known as well as the runs agree, and no better."""

    name = "repeats"
    question = (
        "A disk has better and worse minutes: its runs differ by 2 % from their mean (standard deviation). "
        "You measure it 4 times before an update and 4 times after it. From which difference of the two "
        "means on, in %, are you 95 % sure that there is one at all?"
    )
    unit = IN_PER_CENT
    knob = Knob(name="Runs a side", values=_RUNS, text=format_count, start=4)
    makers = REPEATED

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Half of the interval over runs, and the runs themselves."""
        width = Chart(
            x_title="Runs a side",
            y_title="Half of the interval",
            x_text=format_count,
            y_text=_per_cent,
            x_ticks=_CURVE,
        )
        runs = Chart(
            x_title="Run",
            y_title=f"IOPS, from {_FROM:,} on",
            x_text=format_count,
            y_text=lambda above: format_count(above + _FROM),
            x_ticks=(1, 4, 8, 12, 16),
            x_log=False,
            y_log=False,
        )
        shown = self.shown(self.expected(knob))
        return [
            LessonFigure(
                chart=width,
                series=[_WIDTH],
                title=f"With {knob:g} runs a side, a difference shows from {shown} % on",
                what="Half of a 95 % interval of the ratio of two sides, over the runs of each.",
            ),
            LessonFigure(
                chart=runs,
                series=_SIDES,
                title="The update costs 3 %, and single runs differ by more than that",
                what="IOPS of each run; the lines are what the disk gives in the long run.",
            ),
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """What an interval reaches, and both means."""
        widths = [{"series": "width", "x": n, "y": half_width(n, _SPREAD)} for n in _CURVE]
        means = [
            {"series": key, "x": run, "y": _MEAN * ratio - _FROM}
            for key, ratio in _RATIOS.items()
            for run in (1, _ALL)
        ]
        return [pd.DataFrame(widths), pd.DataFrame(means)]

    def expected(self, knob: float) -> float:
        """Half of the interval, as a share."""
        return half_width(int(knob), _SPREAD)

    def posed(self) -> Exercise:
        """As the exercise on the reach of an interval."""
        return replace(reach_of_interval(100 * _SPREAD, int(self.knob.start)), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup(1, self.seed)
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the number of runs of the question."""
        return "width", knob

    def run(self, knob: float) -> LessonResult:
        """All runs in turns; as many comparisons as they make with so many runs a side."""
        setup = _setup(_ALL, self.seed)
        jobs = [
            LessonJob(name=disk.name, volume=disk.name, seconds=0.4 if self.quick else 0.8, iodepth=_DEPTH)
            for disk in setup.disks
        ]
        program = find_fio()
        with Lab(setup, Options(seed=self.seed), time_scale=_SCALE) as lab:
            ran = drive(lab, jobs, program)
        iops = ran.jobs["iops"].astype(float).tolist()
        before, after, runs = iops[::2], iops[1::2], int(knob)
        figures = [judged(before[i : i + runs], after[i : i + runs]) for i in range(0, _ALL, runs)]
        intervals = [one.interval or (math.nan, math.nan) for one in figures]
        width = fmean((high - low) / 2 for low, high in intervals)
        points = [
            pd.DataFrame({"series": key, "x": range(1, _ALL + 1), "y": [one - _FROM for one in rates]})
            for key, rates in zip(_RATIOS, (before, after), strict=True)
        ]
        return LessonResult(
            points=[pd.DataFrame([{"series": "width", "x": knob, "y": width}]), pd.concat(points)],
            table=_told(figures, runs),
            value=width,
            ran=[ran],
            asked=["before-1", "after-1"],
            where="The answer is in no line of fio: a run knows nothing of how much runs differ. azbench "
            "compare makes it of IOPS of all jobs, one figure a run; it is the mean of the comparisons in "
            "the table.",
        )


def _per_cent(share: float) -> str:
    return f"{share:.1%}".replace("%", " %")


def _told(figures: Sequence[ComparedFigure], runs: int) -> pd.DataFrame:
    """What azbench compare makes of each so many runs of both sides."""
    rows = []
    for i, one in enumerate(figures):
        before, after = (format_count(value or math.nan) for value in one.medians)
        low, high = one.interval or (math.nan, math.nan)
        rows.append(
            {
                "Runs": f"{i * runs + 1} to {(i + 1) * runs}",
                "Median before": before,
                "Median after": after,
                "After ÷ before": f"{one.ratio:.3f}",
                "95 % interval": f"{low:.3f} to {high:.3f}",
                f"azbench compare, margin {100 * STATED_MARGIN:g} %": one.answer.value,
            }
        )
    return pd.DataFrame(rows)


def _setup(runs: int, seed: int) -> Setup:
    """A disk a run, in turns: the same one on another day, with a limit that is drawn anew."""
    draw = Random(f"days {seed}")  # noqa: S311  not for secrets
    return Setup(
        disks=tuple(
            Disk(
                name=f"{key}-{run}",
                sku="Premium_LRS",
                tier="P30",
                cap=Cap(iops=_MEAN * ratio * (1 + draw.gauss(0, _SPREAD))),
            )
            for run in range(1, runs + 1)
            for key, ratio in _RATIOS.items()
        )
    )
