"""Lesson 10: what a line of fio's output speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.core.units import MB, MIB, US_PER_S, format_count, format_us
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.reading import READINGS, one_paragraph
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart

_LIMIT, _DEPTH = 2_000, 8
_JOBS = (2, 4, 8)
_SUM = "together"
_SERIES = (
    Series("all", "all jobs, as one paragraph", "group_reporting", 2),
    Series("one", "one job, in its own paragraph", "one job", 1),
)


class ReadingLesson(Lesson):
    """fio writes a paragraph for each job, and a figure for each question."""

    name = "reading"
    question = (
        "A disk allows 2,000 IOPS, and nothing else uses it. A job file starts 4 jobs at once, and each "
        "keeps 8 reads of 4 KiB outstanding. fio writes a paragraph for each job; the first one begins with "
        "“reader-1” and, in the next line, “read: IOPS=”. Which number follows?"
    )
    unit = IN_IOPS
    knob = Knob(name="Jobs at once", values=_JOBS, text=format_count, start=4)
    makers = READINGS

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """IOPS in a paragraph over jobs."""
        chart = Chart(
            x_title="Jobs at once",
            y_title="IOPS",
            x_text=format_count,
            y_text=format_count,
            x_ticks=_JOBS,
            y_log=True,
        )
        title = (
            f"With {knob:g} jobs a paragraph says {self.expected(knob):,.0f} IOPS, and the disk gives "
            f"{_LIMIT:,}"
        )
        what = "IOPS that fio writes, over the number of jobs."
        return [LessonFigure(chart=chart, series=_SERIES, title=title, what=what)]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The limit, and its share."""
        rows = [{"series": "all", "x": n, "y": float(_LIMIT)} for n in _JOBS]
        rows += [{"series": "one", "x": n, "y": self.expected(n)} for n in _JOBS]
        return [pd.DataFrame(rows)]

    def expected(self, knob: float) -> float:
        """IOPS of a job: the limit is reached with any of these numbers of jobs."""
        return one_paragraph(_LIMIT, int(knob), _DEPTH).right

    def posed(self) -> Exercise:
        """With the ways to take a paragraph for something else."""
        return replace(one_paragraph(_LIMIT, int(self.knob.start), _DEPTH), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup()
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """In the paragraph of a job."""
        return "one", knob

    def run(self, knob: float) -> LessonResult:
        """The jobs at once, then the same ones reported as one."""
        seconds, n = (1.0 if self.quick else 5.0), int(knob)
        jobs = [
            LessonJob(name=f"reader-{i}", volume="data", seconds=seconds, iodepth=_DEPTH, beside=i > 1)
            for i in range(1, n + 1)
        ]
        jobs.append(LessonJob(name=_SUM, volume="data", seconds=seconds, iodepth=_DEPTH, numjobs=n))
        program = find_fio()
        with emulated(_setup(), Options(seed=self.seed), jobs) as lab:
            ran = drive(lab, jobs, program)
        rows = ran.jobs
        ones = rows[rows["job"] != _SUM]
        return LessonResult(
            points=[
                pd.DataFrame(
                    {
                        "series": ["all", "one"],
                        "x": knob,
                        "y": [float(rows.set_index("job").loc[_SUM, "iops"]), float(ones["iops"].mean())],
                    }
                )
            ],
            table=_told(rows),
            value=float(ones["iops"].iloc[0]),
            ran=[ran],
            asked=["reader-1", _SUM],
            where="The answer is IOPS in the paragraph of the job reader-1. What the disk gave stands "
            "nowhere in the paragraphs of the readers: it is their sum, and IOPS of the job together, which "
            "ran with numjobs and group_reporting.",
        )


def _told(rows: pd.DataFrame) -> pd.DataFrame:
    """What each paragraph says, and Little's law."""
    per_s, iops, mean_us = rows["bw_bytes_per_s"], rows["iops"], rows["lat_mean_us"]
    return pd.DataFrame(
        {
            "Paragraph": rows["job"],
            "IOPS": [format_count(one) for one in iops],
            "MiB/s": [f"{one / MIB:.3g}" for one in per_s],
            "MB/s": [f"{one / MB:.3g}" for one in per_s],
            "lat, avg": [format_us(one) for one in mean_us],
            "IOPS × lat": [f"{one:.3g}" for one in iops * mean_us / US_PER_S],
        }
    )


def _setup() -> Setup:
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=Cap(iops=_LIMIT)),))
