"""Lesson 3: a throttled disk is not a slow one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from azbenchlib.core.units import MS_PER_S, US_PER_MS, US_PER_S, format_count, format_us
from azbenchlib.lab.engine.simulate import SimulatedJob, per_second, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_MILLISECONDS
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.lessons.exercises.throttle import THROTTLES, TICK_MS, ticks
from azbenchlib.lessons.experiments.tables import IN_PLACES, told
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, by_second, drive, find_fio, quantiles_us, timeline
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart
from azbenchlib.plots.mechanisms import in_places, queue_places

_LIMIT = 1_100
_SHARES = tuple(float(share) for share in range(1, 100))
_MARKED = (5.0, *(float(share) for share in range(10, 100, 10)), 95.0, 99.0)
_FAR = 3  # times a latency: so much longer is another hump
_SIMULATED_S = 20.0
_LONG_S, _SHORT_S = 4.0, 2.2  # of the emulated disk
_SCALE, _QUICK_SCALE = 4, 2  # latencies matter here; a busy machine is late by milliseconds
_ALONE = Series("alone", "one outstanding, not throttled", "1 outstanding", 2)


class ThrottleLesson(Lesson):
    """Flat IOPS, and latencies of two kinds."""

    name = "throttle"
    question = (
        "A disk P15 whose burst credits are spent allows 1,100 IOPS, through a throttle that lets I/Os pass "
        "every 50 ms; an I/O takes 2.5 ms when nothing holds it. A program keeps 16 outstanding, so it is "
        "throttled. Half of the I/Os take at most how many ms (the median)?"
    )
    unit = IN_MILLISECONDS
    knob = Knob(
        name="Queue depth", values=(1, 2, 4, 8, 16, 32, 64), text=lambda value: f"{value:.0f}", start=16
    )
    makers = THROTTLES

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Latency by share of I/Os, and IOPS over time."""
        series = _series(knob)
        latency = Chart(
            x_title="Share of I/Os that are faster",
            y_title="Latency",
            x_text=lambda share: f"{share:.0f} %",
            y_text=format_us,
            x_ticks=(1, 20, 40, 60, 80, 99),
            x_log=False,
            y_log=True,
        )
        rate = Chart(
            x_title="Time",
            y_title="IOPS",
            x_text=lambda seconds: f"{seconds:g} s",
            y_text=format_count,
            x_ticks=range(20),
            x_log=False,
            y_log=False,
        )
        first = _title(knob)
        second = f"{_rate(knob):,.0f} IOPS in every second: as many as the throttle allows"
        return [
            LessonFigure(
                chart=latency,
                series=series,
                title=first,
                what="Latency by the share of I/Os that are faster.",
            ),
            LessonFigure(chart=rate, series=series, title=second, what="IOPS over time."),
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The emulated disk in calculated time, without a clock."""
        end_s = _SHORT_S if self.quick else _LONG_S
        depths = [1.0, knob] if knob != 1 else [1.0]
        keys = ["alone", "queue"][: len(depths)]
        return [
            pd.concat(
                pd.DataFrame({"series": key, "x": _SHARES, "y": _quantiles(depth)})
                for key, depth in zip(keys, depths, strict=True)
            ),
            pd.concat(
                pd.DataFrame({"series": key, "x": [0.0, end_s], "y": [_rate(depth)] * 2})
                for key, depth in zip(keys, depths, strict=True)
            ),
        ]

    def expected(self, knob: float) -> float:
        """The median latency."""
        return _quantiles(knob)[_SHARES.index(50.0)]

    def posed(self) -> Exercise:
        """With the ways to take a mean, a tick or a slow disk for the median."""
        depth, own = self.knob.start, _quantiles(1.0)[_SHARES.index(50.0)]
        right = self.expected(depth)
        candidates = [
            Misconception(
                "the mean for the median",
                depth / _LIMIT * US_PER_S,
                "Outstanding ÷ limit is the mean latency. A few I/Os that wait long make the mean, and half "
                "of the I/Os may be much faster.",
            ),
            *ticks(own / US_PER_MS),
            Misconception(
                "each waits for all others",
                depth * own,
                "The disk works on many at once; what makes I/Os wait is the limit.",
            ),
        ]
        return Exercise(
            question=self.question,
            unit=self.unit,
            right=right,
            misconceptions=telling(right, candidates),
            hint="Which I/Os wait at all, and which pass at once after each tick?",
            law="At the start of each tick the allowance lets I/Os pass at the pace of the disk, until it "
            "is used up; only those that come then wait for the next tick, and they are fewer than half",
            working="half of the I/Os pass without waiting, in the time of the disk",
        )

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup()
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the median."""
        return "queue", 50.0

    def mechanism(self) -> Mechanism:
        """The places of the queue over three ticks."""
        depth, tick_s = int(self.knob.start), TICK_MS / MS_PER_S
        start_s, until_s = 20 * tick_s, 23 * tick_s
        ios = simulate(
            Machine(_setup(), _options(1)), SimulatedJob(volume="data", queue_depth=depth), until_s + tick_s
        )
        places = in_places(ios, f"{depth} outstanding", start_s, until_s)
        return Mechanism(
            title=f"Every {TICK_MS:g} ms {_LIMIT * tick_s:.0f} I/Os pass, then all {depth} wait",
            what="I/Os in the places of a queue over time; the throttle lets I/Os pass at the dashed lines.",
            how=[
                f"{IN_PLACES} Most are served at once; few have the long grey part, in which the throttle "
                "holds them back, but it lasts most of the time."
            ],
            draw=partial(
                queue_places,
                places,
                Series("queue", "the disk", "the disk", 3),
                until_s=until_s - start_s,
                ticks_s=[tick_s, 2 * tick_s],
            ),
        )

    def run(self, knob: float) -> LessonResult:
        """One outstanding I/O, then the queue."""
        seconds, scale = (_SHORT_S, _QUICK_SCALE) if self.quick else (_LONG_S, _SCALE)
        depths = [1, int(knob)] if knob != 1 else [1]
        jobs = [
            LessonJob(name=f"qd{depth}", volume="data", seconds=seconds * scale, iodepth=depth)
            for depth in depths
        ]
        program = find_fio()
        with Lab(_setup(), _options(self.seed), time_scale=scale) as lab:
            ran = [drive(lab, [job], program) for job in jobs]
            over = [by_second(timeline(lab, "data", one, seconds)) for one in ran]
        keys = ["alone", "queue"][: len(depths)]
        shares = pd.concat(
            pd.DataFrame({"series": key, "x": _MARKED, "y": quantiles_us(one.bins, _MARKED)})
            for key, one in zip(keys, ran, strict=True)
        )
        rates = pd.concat(
            pd.DataFrame({"series": key, "x": line["t_s"], "y": line["iops"]})
            for key, line in zip(keys, over, strict=True)
        )
        rows = pd.concat([one.jobs for one in ran])
        return LessonResult(
            points=[shares, rates],
            table=told("Outstanding I/Os", [str(depth) for depth in depths], rows),
            value=quantiles_us(ran[-1].bins, [50.0])[0],
            ran=ran,
            asked=[f"qd{knob:.0f}"],
            where="The answer is the 50.00th percentile of the last job: half of its I/Os took at most so "
            "long.",
        )


def _series(knob: float) -> list[Series]:
    if knob == 1:
        return [_ALONE]
    return [_ALONE, Series("queue", f"{knob:.0f} outstanding", f"{knob:.0f} outstanding", 3)]


def _title(knob: float) -> str:
    median, slow = (_quantiles(knob)[_SHARES.index(share)] for share in (50.0, 95.0))
    if median > _FAR * _quantiles(1.0)[_SHARES.index(50.0)]:
        return f"With {knob:.0f} outstanding the median waits too: {format_us(median)}"
    if slow > _FAR * median:
        return (
            f"Throttled, one in twenty I/Os takes {slow / median:.0f} times the median, which hardly shows it"
        )
    return "At this queue depth the throttle holds nothing back"


def _setup() -> Setup:
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P15", cap=Cap(iops=_LIMIT)),))


def _options(seed: int) -> Options:
    return Options(tick_s=TICK_MS / MS_PER_S, seed=seed)


@lru_cache
def _simulated(depth: float) -> pd.DataFrame:
    job = SimulatedJob(volume="data", queue_depth=int(depth))
    return simulate(Machine(_setup(), _options(1)), job, _SIMULATED_S)


def _quantiles(depth: float) -> list[float]:
    ios = _simulated(depth)
    later = ios.loc[ios["t_s"] > 1, "lat_us"]
    return [float(value) for value in np.percentile(later, _SHARES)]


def _rate(depth: float) -> float:
    return float(per_second(_simulated(depth))["iops"].iloc[1:-1].mean())
