"""Lesson 8: three zones take longer, and have a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.answers.blocks import Block, render
from azbenchlib.azure.catalog.latency import ZRS_BY_ZONE
from azbenchlib.azure.prices.rows import MONTH_HOURS
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.units import US_PER_MS, US_PER_S, format_count, format_money
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.queue import iops_at
from azbenchlib.lessons.exercises.redundancy import REDUNDANCY, monthly, total, writes_over_zones
from azbenchlib.lessons.experiments.tables import FEW_DEPTHS, LADDER_DEPTHS, by_depth, told
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import expected_us
from azbenchlib.plots import Series

_LIMIT = 5_000
_LRS_TABLE = "premium-large"
_SERIES = (Series("lrs", "P30 LRS, one zone", "LRS", 1), Series("zrs", "P30 ZRS, three zones", "ZRS", 3))
_PRICED = ("P10", "P20", "P30", "P40")


class RedundancyLesson(Lesson):
    """Equal limits hide unequal latencies."""

    name = "redundancy"
    question = (
        "A disk P30 allows 5,000 IOPS, with LRS and with ZRS alike. A write takes 1.3 ms on LRS and, from a "
        "VM in zone 3, 4.8 ms on ZRS. A database log writes one block after the other. How many IOPS does "
        "it get on ZRS?"
    )
    unit = IN_IOPS
    knob = Knob(name="Zone of the VM", values=(1, 2, 3), text=lambda zone: f"zone {zone:.0f}", start=3)
    makers = REDUNDANCY

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Rates and latencies of both over queue depth."""
        lrs, zrs = (_rate(one.key, knob, 1) for one in _SERIES)
        first = f"One write at a time: {lrs:,.0f} IOPS with LRS, {zrs:,.0f} with ZRS"
        second = "Where both are at their limit, they wait equally long"
        what = f"of 4 KiB writes over queue depth, from a VM in {self.knob.text(knob)}."
        return [
            LessonFigure(chart=by_depth("IOPS"), series=_SERIES, title=first, what=f"IOPS {what}"),
            LessonFigure(
                chart=by_depth("Mean latency", latency=True),
                series=_SERIES,
                title=second,
                what=f"Mean latency {what}",
            ),
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """Little's law for both."""
        keys = [one.key for one in _SERIES]
        rates = [
            {"series": key, "x": depth, "y": _rate(key, knob, depth)}
            for key in keys
            for depth in LADDER_DEPTHS
        ]
        waits = [{**row, "y": float(str(row["x"])) / float(str(row["y"])) * US_PER_S} for row in rates]
        return [pd.DataFrame(rates), pd.DataFrame(waits)]

    def expected(self, knob: float) -> float:
        """IOPS of one write after the other on ZRS."""
        return _rate("zrs", knob, 1)

    def posed(self) -> Exercise:
        """As the first kind of exercise."""
        lrs, zrs = (
            expected_us(table, 0.0) / US_PER_MS for table in (_LRS_TABLE, _zone_table(self.knob.start))
        )
        return replace(writes_over_zones("P30", 1, lrs, zrs), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of both redundancies."""
        return [("LRS", _LRS_TABLE, True), ("ZRS", _zone_table(knob), True)]

    def place(self, knob: float) -> tuple[str, float]:
        """At a queue depth of 1."""
        return "zrs", 1

    def run(self, knob: float) -> LessonResult:
        """Both disks, a queue depth after the other."""
        seconds = 0.4 if self.quick else 1.6
        jobs = [
            LessonJob(
                name=f"{one.key}-{depth}", volume=one.key, seconds=seconds, rw="randwrite", iodepth=depth
            )
            for one in _SERIES
            for depth in (FEW_DEPTHS if self.quick else LADDER_DEPTHS)
        ]
        options = Options(seed=self.seed, latency={"zrs": _zone_table(knob)})
        program = find_fio()
        with emulated(_setup(), options, jobs) as lab:
            found = drive(lab, jobs, program)
        rows = found.jobs
        key, depth = rows["job"].str.partition("-")[0], rows["queue_depth"].astype(float)
        names = [
            f"{kind.upper()}, {format_count(one)} outstanding" for kind, one in zip(key, depth, strict=True)
        ]
        asked = (key == "zrs") & (depth == 1)
        return LessonResult(
            points=[
                pd.DataFrame({"series": key, "x": depth, "y": rows["iops"]}),
                pd.DataFrame({"series": key, "x": depth, "y": rows["lat_mean_us"]}),
            ],
            table=told("Redundancy", names, rows, spread=False),
            value=float(rows.loc[asked, "iops"].iloc[0]),
            ran=[found],
            asked=["zrs-1"],
            where="The answer is IOPS of the job zrs-1.",
        )

    def cost(self) -> Block:
        """What LRS and ZRS cost in a month, by the price book."""
        rows = []
        for tier in _PRICED:
            lrs, zrs = total(monthly(tier)), total(monthly(tier, "ZRS"))
            cells = [format_money(lrs), format_money(zrs), f"{zrs / lrs:.2f}"]
            rows.append({"name": tier, "sub": "", "entry": None, "cells": cells})
        day = monthly(_PRICED[0])[0].price.as_of
        note = f"One disk for a month of {MONTH_HOURS} hours in {DEFAULT_REGION}, USD; prices read on {day}."
        columns = ["Disk", "LRS", "ZRS", "ZRS ÷ LRS"]
        return render("table", id="cost", note=note, columns=columns, rows=rows, left=[])


def _setup() -> Setup:
    cap = Cap(iops=_LIMIT)
    return Setup(
        disks=tuple(
            Disk(name=one.key, sku=f"Premium_{one.key.upper()}", tier="P30", cap=cap) for one in _SERIES
        )
    )


def _zone_table(zone: float) -> str:
    return ZRS_BY_ZONE[int(zone) - 1]


def _rate(key: str, zone: float, depth: float) -> float:
    table = _LRS_TABLE if key == "lrs" else _zone_table(zone)
    return iops_at(_LIMIT, expected_us(table, 0.0) / US_PER_MS, depth)
