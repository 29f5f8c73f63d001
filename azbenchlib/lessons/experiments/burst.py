"""Lesson 5: a burst lasts as long as its credits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from azbenchlib.core.units import S_PER_MIN, US_PER_S, format_count
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_MINUTES
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.burst import BURSTS, bucket_of, time_until_empty
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, drive, find_fio, timeline
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.credits import BURST_S, Stretch, balance
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart
from azbenchlib.plots.mechanisms import StockLevel, stock_levels

_TIER = "P10"
_MINUTES, _REST_MIN = 90, 60
_CREDIT_S, _QUICK_CREDIT_S = 4.0, 1.0  # that full credits last here, instead of 30 minutes
_QUEUE_DEPTH = 32
_MOST_POINTS = 40
_LEFT = 0.1  # of the credits; above it they fall evenly
_RATE = Series("rate", "rate", "rate", 1)
_CREDITS = Series("credits", "credits", "credits", 3)


class BurstLesson(Lesson):
    """Fast for a while, and then what the disk is sold for."""

    name = "burst"
    question = (
        "A disk P10 has a base limit of 500 IOPS and bursts to 3,500. Full credits last 30 minutes at 3,500 "
        "IOPS. A job needs 2,000 IOPS for an hour and a half. After how many minutes do the credits run out?"
    )
    unit = IN_MINUTES
    knob = Knob(
        name="Demand",
        values=(400, 1_000, 1_500, 2_000, 2_500, 3_500),
        text=lambda value: f"{value:,.0f} IOPS",
        start=2_000,
    )
    makers = BURSTS

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Rate and credits over time."""
        ticks = range(0, _MINUTES + 1, 15)
        charts = [
            Chart(
                x_title="Time",
                y_title=name,
                x_text=lambda minutes: f"{minutes:.0f} min",
                y_text=format_count,
                x_ticks=ticks,
                x_log=False,
                y_log=False,
            )
            for name in ("IOPS", "Burst credits, I/Os")
        ]
        empty = self.expected(knob) / US_PER_S / S_PER_MIN
        base = bucket_of(_TIER).base
        titles = (
            (
                f"After {empty:.0f} minutes the {_TIER} falls to {base:,.0f} IOPS",
                "The credits fall evenly, and end",
            )
            if empty < _MINUTES
            else (
                f"Within {_MINUTES} minutes this load meets no limit",
                "The credits last longer than this run",
            )
        )
        whats = ("IOPS over time.", "Credits left over time.")
        return [
            LessonFigure(chart=chart, series=[one], title=title, what=what)
            for chart, one, title, what in zip(charts, (_RATE, _CREDITS), titles, whats, strict=True)
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The bucket of the disk."""
        stretches = _stretches(knob)
        times = [t / S_PER_MIN for one in stretches for t in (one.start_s, one.end_s)]
        rates = [one.delivered for one in stretches for _ in range(2)]
        credits = [left for one in stretches for left in (one.balance_start, one.balance_end)]
        return [
            pd.DataFrame({"series": "rate", "x": times, "y": rates}),
            pd.DataFrame({"series": "credits", "x": times, "y": credits}),
        ]

    def expected(self, knob: float) -> float:
        """When the credits run out; infinite where they do not."""
        return bucket_of(_TIER).time_to_empty(knob) * US_PER_S

    def posed(self) -> Exercise:
        """As the first kind of exercise."""
        return replace(time_until_empty(_TIER, int(self.knob.start)), question=self.question)

    def place(self, knob: float) -> tuple[str, float]:
        """Where the rate falls."""
        return "rate", self.predicted / US_PER_S / S_PER_MIN if self.predicted is not None else 0.0

    def drawn(self, value: float) -> float:
        """A time is shown on the line that falls, half way down."""
        bucket = bucket_of(_TIER)
        return (self.knob.start + bucket.base) / 2

    def mechanism(self) -> Mechanism:
        """What is left of the credits while the job runs, and after it."""
        bucket, rate = bucket_of(_TIER), int(self.knob.start)
        steps = [(_MINUTES * S_PER_MIN, rate), (_REST_MIN * S_PER_MIN, 0)]
        stretches = list(balance(bucket, steps))
        empty = next(one.end_s for one in stretches if not one.balance_end)
        moments = [0.0, empty / 2, empty, _MINUTES * S_PER_MIN, (_MINUTES + _REST_MIN) * S_PER_MIN]
        levels = []
        for moment in moments:
            one = next(each for each in stretches if moment < each.end_s or each is stretches[-1])
            share = (moment - one.start_s) / (one.end_s - one.start_s)
            left = one.balance_start + share * (one.balance_end - one.balance_start)
            flows = [f"+{bucket.base:,.0f}", f"−{one.delivered:,.0f}"]
            name = f"{moment / S_PER_MIN:.0f} min"
            levels.append(StockLevel(name=name, share=left / bucket.capacity, lines=flows))
        return Mechanism(
            title=f"{bucket.base:,.0f} IOPS flow in, {rate:,} flow out, and the stock ends after "
            f"{empty / S_PER_MIN:.0f} minutes",
            what=f"Burst credits of a {_TIER} at five moments: {_MINUTES} minutes of the job, then "
            f"{_REST_MIN} minutes without I/O.",
            how=[
                "Each vessel is the stock of credits, filled as far as there are some; below it, in I/Os per "
                "second, what flows in (the base limit, at any time) and out (what the disk does). Empty, it "
                "gives no more than flows in; unused, it fills again. Calculated from the documented limits."
            ],
            draw=partial(stock_levels, levels, _CREDITS),
        )

    def run(self, knob: float) -> LessonResult:
        """An hour and a half in some seconds: the credits are fewer, the rates are the disk's."""
        credit_s = _QUICK_CREDIT_S if self.quick else _CREDIT_S
        minute_s = credit_s / BURST_S * S_PER_MIN  # of the emulation
        seconds = _MINUTES * minute_s
        job = LessonJob(name="job", volume="data", seconds=seconds, iodepth=_QUEUE_DEPTH, rate_iops=int(knob))
        program = find_fio()
        with Lab(_setup(), Options(seed=self.seed, credit_s=credit_s), time_scale=1) as lab:
            ran = drive(lab, [job], program)
            line = timeline(lab, "data", ran, seconds)
        minutes = line["t_s"] / minute_s
        credits = line["credits"] * (BURST_S / credit_s)
        kept = slice(None, None, max(1, len(line) // _MOST_POINTS))
        empty = _runs_out(minutes, credits, bucket_of(_TIER).capacity)
        halves = [line[minutes <= empty], line[minutes > empty]] if empty < _MINUTES else [line]
        table = pd.DataFrame(
            {
                "Part of the run": ["with credits", "without credits"][: len(halves)],
                "Mean IOPS": [format_count(half["iops"].mean()) for half in halves if len(half)],
            }
        )
        return LessonResult(
            points=[
                pd.DataFrame({"series": "rate", "x": minutes, "y": line["iops"]})[kept],
                pd.DataFrame({"series": "credits", "x": minutes, "y": credits})[kept],
            ],
            table=table,
            value=empty * S_PER_MIN * US_PER_S,
            ran=[ran],
            asked=["job"],
            where="fio's IOPS are the mean of the whole run, so they do not tell when the credits ended; "
            "the emulated disk noted that while fio ran. On a real disk, fio's option write_iops_log "
            f"shows when the rate falls. Here full credits last {credit_s:g} s instead of 30 minutes.",
        )


def _setup() -> Setup:
    bucket = bucket_of(_TIER)
    cap = Cap(iops=bucket.base, burst_iops=bucket.burst)
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier=_TIER, cap=cap),))


def _stretches(rate: float) -> list[Stretch]:
    return list(balance(bucket_of(_TIER), [(_MINUTES * S_PER_MIN, rate)]))


def _runs_out(minutes: pd.Series, credits: pd.Series, full: float) -> float:
    """When a line through the falling part of the credits reaches zero; infinite where they do not fall."""
    falling = (credits > _LEFT * full) & (credits < (1 - _LEFT / 2) * full)
    if falling.sum() < 2:
        return float("inf")
    slope, start = np.polyfit(minutes[falling].astype(float), credits[falling].astype(float), 1)
    return float(-start / slope) if slope < 0 else float("inf")
