"""Lesson 12: a benchmark that is wrong, and the run that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.core.units import KIB, MB, US_PER_MS, format_count, format_us
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lessons.answers import IN_MB_PER_S
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.cases import CASES, one_block_at_a_time
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import expected_us, table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart

_LIMIT, _BLOCK_KIB = 200 * MB, 64
_DEPTHS = (1, 2, 4, 8, 16)
_RATE = Series("rate", "throughput", "the disk", 1)


class CasesLesson(Lesson):
    """A figure is right for what was measured, and only for that."""

    name = "cases"
    question = (
        "A disk is sold with 5,000 IOPS and 200 MB/s. Somebody copies a large file from it, direct and "
        "without any cache: one block of 64 KiB, and when that has come, the next. A block takes 2.2 ms. "
        "The copy is far below 200 MB/s, and the disk is said to be broken. How many MB/s does the copy get?"
    )
    unit = IN_MB_PER_S
    knob = Knob(name="Blocks under way at once", values=_DEPTHS, text=format_count, start=1)
    makers = CASES

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Throughput over blocks under way."""
        chart = Chart(
            x_title="Blocks under way at once",
            y_title="MB/s",
            x_text=format_count,
            y_text=format_count,
            x_ticks=_DEPTHS,
            y_log=True,
        )
        blocks = f"{knob:g} blocks" if knob > 1 else "one block"
        got = self.shown(self.expected(knob))
        title = f"With {blocks} at a time the copy gets {got} MB/s; the disk can do 200"
        what = "Throughput over blocks of 64 KiB under way at once."
        return [LessonFigure(chart=chart, series=[_RATE], title=title, what=what)]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """Little's law under the limit of throughput."""
        rows = [{"series": "rate", "x": depth, "y": self.drawn(self.expected(depth))} for depth in _DEPTHS]
        return [pd.DataFrame(rows)]

    def expected(self, knob: float) -> float:
        """Bytes per second."""
        return one_block_at_a_time(_LIMIT, _BLOCK_KIB, _latency_ms(), int(knob)).right

    def drawn(self, value: float) -> float:
        """In MB/s."""
        return value / MB

    def posed(self) -> Exercise:
        """With the ways to take a limit for a rate."""
        asked = one_block_at_a_time(_LIMIT, _BLOCK_KIB, _latency_ms(), int(self.knob.start))
        return replace(asked, question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup()
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the setting of the question."""
        return "rate", knob

    def run(self, knob: float) -> LessonResult:
        """The copy as it was, and the run that tells: with ever more blocks under way."""
        seconds = 0.8 if self.quick else 3.0
        depths = sorted({int(knob), *_DEPTHS})
        jobs = [
            LessonJob(
                name=f"copy-{depth}",
                volume="data",
                seconds=seconds,
                rw="read",
                bs_bytes=_BLOCK_KIB * KIB,
                iodepth=depth,
            )
            for depth in depths
        ]
        program = find_fio()
        with emulated(_setup(), Options(seed=self.seed), jobs) as lab:
            ran = drive(lab, jobs, program)
        rows = ran.jobs
        rates = rows["bw_bytes_per_s"].astype(float) / MB
        table = pd.DataFrame(
            {
                "Blocks under way": [format_count(depth) for depth in depths],
                "IOPS": [format_count(one) for one in rows["iops"]],
                "MB/s": [f"{one:.3g}" for one in rates],
                "Mean latency": [format_us(one) for one in rows["lat_mean_us"]],
            }
        )
        return LessonResult(
            points=[pd.DataFrame({"series": "rate", "x": depths, "y": rates})],
            table=table,
            value=float(rates[depths.index(int(knob))]) * MB,
            ran=[ran],
            asked=[f"copy-{int(knob)}"],
            where=f"The answer is BW of the job copy-{int(knob)}, in brackets. The other jobs are the run "
            "that tells: where the rate grows with the queue, the disk was not at its limit.",
        )


def _setup() -> Setup:
    cap = Cap(iops=5_000, bytes_per_s=_LIMIT)
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=cap),))


def _latency_ms() -> float:
    setup = _setup()
    return expected_us(table_of(setup.vm, setup.disks[0]), 1.0) / US_PER_MS
