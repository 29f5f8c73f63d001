"""Lesson 2: outstanding I/Os, rate and latency hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from azbenchlib.core.units import US_PER_MS, US_PER_S, format_count
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.queue import QUEUES, iops_at, rate_below_the_knee
from azbenchlib.lessons.experiments.tables import FEW_DEPTHS, IN_PLACES, LADDER_DEPTHS, by_depth, told
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import expected_us, table_of
from azbenchlib.plots import Series
from azbenchlib.plots.mechanisms import in_places, queue_places

_ASKED = 4
_RATE = Series("rate", "rate", "the disk", 1)
_LATENCY = Series("latency", "latency", "the disk", 3)


class QueueLesson(Lesson):
    """More I/Os under way give more IOPS, until they only wait."""

    name = "queue"
    question = (
        "A disk allows 5,000 IOPS, and a read takes 2.2 ms when nothing else runs. A program keeps 4 reads "
        "outstanding all the time. How many IOPS does it get?"
    )
    unit = IN_IOPS
    knob = Knob(
        name="IOPS limit",
        values=(1_100, 2_300, 5_000, 7_500, 16_000),
        text=lambda value: f"{value:,.0f} IOPS",
        start=5_000,
    )
    makers = QUEUES

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Rate and latency over queue depth."""
        knee = knob * _latency_us(knob) / US_PER_S
        rate = f"The rate grows with the queue up to {knee:.1f} outstanding I/Os, and ends at the limit"
        wait = f"From {knee:.1f} outstanding I/Os on, more of them only wait longer"
        return [
            LessonFigure(
                chart=by_depth("IOPS"), series=[_RATE], title=rate, what="IOPS over queue depth, 4 KiB reads."
            ),
            LessonFigure(
                chart=by_depth("Mean latency", latency=True),
                series=[_LATENCY],
                title=wait,
                what="Mean latency over queue depth, 4 KiB reads.",
            ),
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """Little's law under the limit."""
        latency_us = _latency_us(knob)
        knee = knob * latency_us / US_PER_S
        depths = sorted({*map(float, LADDER_DEPTHS), min(max(knee, 1.0), LADDER_DEPTHS[-1])})
        rates = [iops_at(knob, latency_us / US_PER_MS, depth) for depth in depths]
        waits = [depth / rate * US_PER_S for depth, rate in zip(depths, rates, strict=True)]
        return [
            pd.DataFrame({"series": "rate", "x": depths, "y": rates}),
            pd.DataFrame({"series": "latency", "x": depths, "y": waits}),
        ]

    def expected(self, knob: float) -> float:
        """IOPS at the queue depth of the question."""
        return iops_at(knob, _latency_us(knob) / US_PER_MS, _ASKED)

    def posed(self) -> Exercise:
        """As the first kind of exercise."""
        latency = _latency_us(self.knob.start) / US_PER_MS
        return replace(rate_below_the_knee(int(self.knob.start), latency, _ASKED), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup(knob)
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the queue depth of the question."""
        return "rate", _ASKED

    def mechanism(self) -> Mechanism:
        """The places of three queues over some milliseconds."""
        setup, start_s, until_s = _setup(self.knob.start), 0.1, 0.112
        few, many = _ASKED, 4 * _ASKED
        queues = []
        for depth in (1, few, many):
            ios = simulate(Machine(setup), SimulatedJob(volume="data", queue_depth=depth), 2 * until_s)
            queues.append(in_places(ios, f"{depth} outstanding", start_s, until_s))
        limited = iops_at(self.knob.start, _latency_us(self.knob.start) / US_PER_MS, many)
        served = f"{few} places complete {self.expected(self.knob.start):,.0f} reads per second"
        return Mechanism(
            title=f"{served}, {many} complete {limited:,.0f}: the limit makes them wait",
            what="Reads of 4 KiB in the places of a queue over time.",
            how=[f"{IN_PLACES} A grey part is the time for which the limit holds a read back."],
            draw=partial(queue_places, pd.concat(queues), _RATE, until_s=until_s - start_s),
        )

    def run(self, knob: float) -> LessonResult:
        """A queue depth after the other."""
        seconds = 0.4 if self.quick else 2.0
        jobs = [
            LessonJob(name=f"qd{depth}", volume="data", seconds=seconds, iodepth=depth)
            for depth in (FEW_DEPTHS if self.quick else LADDER_DEPTHS)
        ]
        program = find_fio()
        with emulated(_setup(knob), Options(seed=self.seed), jobs) as lab:
            found = drive(lab, jobs, program)
        rows = found.jobs
        depth = rows["queue_depth"].astype(float)
        return LessonResult(
            points=[
                pd.DataFrame({"series": "rate", "x": depth, "y": rows["iops"]}),
                pd.DataFrame({"series": "latency", "x": depth, "y": rows["lat_mean_us"]}),
            ],
            table=told("Queue depth", [format_count(one) for one in depth], rows, spread=False),
            value=float(rows.loc[depth == _ASKED, "iops"].iloc[0]),
            ran=[found],
            asked=[f"qd{_ASKED}"],
            where="The answer is IOPS of the job qd4.",
        )


def _setup(limit: float) -> Setup:
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=Cap(iops=limit)),))


def _latency_us(limit: float) -> float:
    setup = _setup(limit)
    return expected_us(table_of(setup.vm, setup.disks[0]), 1.0)
