"""Lesson 9: a ReadWrite cache makes writes fast until somebody asks whether they are on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.core.units import US_PER_S, format_count, format_us
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.flush import FLUSHES, rate_of_a_log, rate_with_flushes
from azbenchlib.lessons.experiments.caches import mean_us
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, find_fio
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart

_WRITES = (1, 2, 4, 8)
_SCALE = 32  # a write into the cache takes some 50 µs, of which this machine must be late by a part only
_SERIES = (
    Series("lazy", "ReadWrite, never flushed", "never flushed", 2),
    Series("cached", "ReadWrite, flushed", "ReadWrite", 1),
    Series("plain", "None, flushed", "None", 3),
)
_CACHING = {"cached": "ReadWrite", "plain": "None", "lazy": "ReadWrite"}  # in the order in which they run


class FlushLesson(Lesson):
    """Fast is what is not on the disk yet."""

    name = "flush"
    question = (
        "A database log writes one block after the other to a disk P30 with host caching ReadWrite. A "
        "write is "
        "complete in the cache after 0.09 ms, so without flushes the log gets 11,000 IOPS. The cache "
        "sends each "
        "write to the disk at once, which takes 1.3 ms. Now the log flushes after every write, and a flush "
        "waits until the disk has it. How many IOPS does the log get?"
    )
    unit = IN_IOPS
    knob = Knob(name="Writes between two flushes", values=_WRITES, text=format_count, start=1)
    makers = FLUSHES

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """IOPS over the writes between two flushes."""
        chart = Chart(
            x_title="Writes between two flushes",
            y_title="IOPS",
            x_text=format_count,
            y_text=format_count,
            x_ticks=_WRITES,
            y_log=True,
        )
        shared = f"{format_count(knob)} writes share a flush" if knob > 1 else "each write is flushed"
        title = f"Where {shared}, ReadWrite gives {self.expected(knob):,.0f} IOPS; None gives {_plain():,.0f}"
        return [
            LessonFigure(
                chart=chart, series=_SERIES, title=title, what="IOPS over writes between two flushes."
            )
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The rate of the cache, of the disk, and what lies between."""
        rates = {"lazy": lambda _: US_PER_S / mean_us(HOST_CACHE, True), "plain": lambda _: _plain()}
        rows = [
            {"series": one.key, "x": n, "y": rates.get(one.key, self.expected)(n)}
            for one in _SERIES
            for n in _WRITES
        ]
        return [pd.DataFrame(rows)]

    def expected(self, knob: float) -> float:
        """IOPS of the log."""
        return rate_with_flushes(int(knob), mean_us(HOST_CACHE, True), _disk_us())

    def posed(self) -> Exercise:
        """As the first kind of exercise."""
        log = rate_of_a_log(int(self.knob.start), mean_us(HOST_CACHE, True), _disk_us())
        return replace(log, question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of cache and disk."""
        return [("the host cache", HOST_CACHE, True), ("the disk", _disk_table(), True)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the setting of the question."""
        return "cached", self.knob.start

    def run(self, knob: float) -> LessonResult:
        """With a flush after so many writes, on a ReadWrite disk and on one without caching; then without."""
        jobs = [
            LessonJob(
                name=key,
                volume=key,
                seconds=2.0 if self.quick else 6.0,
                rw="randwrite",
                fsync=None if key == "lazy" else int(knob),
            )
            for key in _CACHING
        ]
        program = find_fio()
        with Lab(_setup(), Options(seed=self.seed), time_scale=_SCALE) as lab:
            ran = drive(lab, jobs, program)
        rows = ran.jobs.set_index("job").loc[[one.key for one in _SERIES]]
        table = pd.DataFrame(
            {
                "Host caching": [one.label for one in _SERIES],
                "IOPS": [format_count(iops) for iops in rows["iops"]],
                "p50 of a write": [format_us(us) for us in rows["p50"]],
            }
        )
        return LessonResult(
            points=[pd.DataFrame({"series": rows.index, "x": knob, "y": rows["iops"].to_numpy()})],
            table=table,
            value=float(rows.loc["cached", "iops"]),
            ran=[ran],
            asked=["lazy", "cached"],
            where="The answer is IOPS of the job cached. Its percentiles are those of the writes alone, "
            "as fast as "
            "without flushes: the time that the flushes take is in none of them, but in IOPS.",
        )


def _setup() -> Setup:
    vm = VM(cached=Cap(iops=77_000), uncached=Cap(iops=12_800))
    cap = Cap(iops=5_000, bytes_per_s=200e6)
    disks = (
        Disk(name=key, sku="Premium_LRS", tier="P30", cap=cap, caching=caching)
        for key, caching in _CACHING.items()
    )
    return Setup(vm, tuple(disks))


def _disk_table() -> str:
    setup = _setup()
    return table_of(setup.vm, setup.disks[0])


def _disk_us() -> float:
    return mean_us(_disk_table(), True)


def _plain() -> float:
    """IOPS without host caching, where a flush has nothing to wait for."""
    return US_PER_S / _disk_us()
