"""Lesson 1: IOPS and MB/s are two limits of one disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.core.units import KIB, MB, MIB, format_count, format_mbps, format_size, format_us
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.units import UNIT_MAKERS, rate_of_large_blocks
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import Cap, Disk, Load, Setup, ceilings, deliver
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart

_LIMIT_IOPS = 5_000
_QUEUE_DEPTH = 32
_ASKED = 64 * KIB
_SIZES = tuple(4 * KIB * 2**i for i in range(9))  # 4 KiB to 1 MiB
_FEW = (4 * KIB, 32 * KIB, _ASKED, MIB)
_SERIES = Series("disk", "the disk", "the disk", 1)


class UnitsLesson(Lesson):
    """Block size decides which of the two limits binds."""

    name = "units"
    question = (
        "A disk P30 allows 5,000 IOPS and 200 MB/s. A backup reads it in blocks of 64 KiB, with many reads "
        "under way at once. How many IOPS does it reach?"
    )
    unit = IN_IOPS
    knob = Knob(
        name="MB/s limit", values=(50, 100, 200, 400, 800), text=lambda value: f"{value:.0f} MB/s", start=200
    )
    makers = UNIT_MAKERS

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """IOPS over block size."""
        corner = ceilings(_setup(knob), [_ASKED])[0].crossover_bytes or 0.0
        chart = Chart(
            x_title="Block size",
            y_title="IOPS",
            x_text=format_size,
            y_text=format_count,
            x_ticks=_SIZES,
            y_log=True,
        )
        title = f"Up to {format_size(corner)} the disk is limited by IOPS, above by {knob:.0f} MB/s"
        return [
            LessonFigure(
                chart=chart, series=[_SERIES], title=title, what="IOPS over block size, both on log scales."
            )
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The roofline of the disk."""
        corner = ceilings(_setup(knob), [_ASKED])[0].crossover_bytes or _ASKED
        sizes = sorted({*_SIZES, min(max(int(corner), _SIZES[0]), _SIZES[-1])})
        rows = [{"series": "disk", "x": size, "y": _iops(knob, size)} for size in sizes]
        return [pd.DataFrame(rows)]

    def expected(self, knob: float) -> float:
        """IOPS at the block size of the question."""
        return _iops(knob, _ASKED)

    def posed(self) -> Exercise:
        """As the first kind of exercise."""
        return replace(rate_of_large_blocks(_LIMIT_IOPS, 200, _ASKED // KIB), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup(knob)
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the block size of the question."""
        return "disk", _ASKED

    def run(self, knob: float) -> LessonResult:
        """A block size after the other."""
        sizes = _FEW if self.quick else _SIZES
        seconds = 0.3 if self.quick else 1.5
        jobs = [
            LessonJob(
                name=f"bs{size // KIB}k", volume="data", seconds=seconds, bs_bytes=size, iodepth=_QUEUE_DEPTH
            )
            for size in sizes
        ]
        program = find_fio()
        with emulated(_setup(knob), Options(seed=self.seed), jobs) as lab:
            found = drive(lab, jobs, program)
        rows = found.jobs
        points = pd.DataFrame({"series": "disk", "x": rows["bs_bytes"], "y": rows["iops"]})
        table = pd.DataFrame(
            {
                "Block size": [format_size(size) for size in rows["bs_bytes"]],
                "IOPS": [format_count(iops) for iops in rows["iops"]],
                "MB/s": [format_mbps(rate) for rate in rows["bw_bytes_per_s"]],
                "Mean latency": [format_us(us) for us in rows["lat_mean_us"]],
            }
        )
        value = float(rows.loc[rows["bs_bytes"] == _ASKED, "iops"].iloc[0])
        return LessonResult(
            points=[points],
            table=table,
            value=value,
            ran=[found],
            asked=[f"bs{_ASKED // KIB}k"],
            where="The answer is IOPS of the job bs64k.",
        )


def _setup(mbps: float) -> Setup:
    disk = Disk(name="data", sku="Premium_LRS", tier="P30", cap=Cap(iops=_LIMIT_IOPS, bytes_per_s=mbps * MB))
    return Setup(disks=(disk,))


def _iops(mbps: float, bs_bytes: int) -> float:
    return deliver(_setup(mbps), [Load(volume="data", bs_bytes=bs_bytes)]).iops or 0.0
