"""Lesson 4: what the disks allow passes through the VM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from azbenchlib.core.units import KIB, format_count, format_mbps
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.nested import NESTED, driven, of_a_stripe, striped
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, drive, emulated, find_fio
from azbenchlib.model import VM, Setup
from azbenchlib.model.limits import Delivered
from azbenchlib.model.setup import Cap
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart
from azbenchlib.plots.mechanisms import LimitOnTheWay, limits_on_the_way

_SIZES = ("D4s_v3", "D8s_v3", "D16s_v3", "D32s_v3")
_MOST = 4
_BLOCK = 16 * KIB
_QUEUE_DEPTH = 32
_SERIES = (
    Series("vm", "disks below the VM", "through the VM", 1),
    Series("disks", "limits of the disks", "disks alone", 0),
)


class NestedLesson(Lesson):
    """Disks add up; the VM does not grow with them."""

    name = "nested"
    question = (
        "Four disks P30 of 5,000 IOPS and 200 MB/s each are driven at once, in blocks of 16 KiB, on a VM "
        "D8s_v3. Its burst credits are spent, so it allows 12,800 IOPS and 192 MB/s to its disks; host "
        "caching is off. How many IOPS do the four reach together?"
    )
    unit = IN_IOPS
    knob = Knob(
        name="VM size", values=tuple(range(len(_SIZES))), text=lambda value: _SIZES[int(value)], start=1
    )
    makers = NESTED

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """IOPS over the number of disks."""
        chart = Chart(
            x_title="Disks P30 that are driven at once",
            y_title="IOPS of all together",
            x_text=format_count,
            y_text=format_count,
            x_ticks=range(1, _MOST + 1),
            x_log=False,
            y_log=False,
        )
        every = [_delivered(knob, n) for n in range(1, _MOST + 1)]
        limit = _vm(knob).uncached.iops or 0
        title = (
            f"{_SIZES[int(knob)]} ends the rise at {every[-1]:,.0f} IOPS"
            if every[-1] < _alone(_MOST) * 0.999
            else f"{_SIZES[int(knob)]} allows {limit:,.0f} IOPS, so four disks give all they have"
        )
        return [
            LessonFigure(
                chart=chart, series=_SERIES, title=title, what="IOPS of all disks over their number."
            )
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The disks through the VM, and the disks alone."""
        numbers = range(1, _MOST + 1)
        through = [{"series": "vm", "x": n, "y": _delivered(knob, n)} for n in numbers]
        alone = [{"series": "disks", "x": n, "y": _alone(n)} for n in numbers]
        return [pd.DataFrame([*through, *alone])]

    def expected(self, knob: float) -> float:
        """IOPS of four disks."""
        return _delivered(knob, _MOST)

    def posed(self) -> Exercise:
        """As the exercises."""
        return replace(
            of_a_stripe(striped(_SIZES[int(self.knob.start)], "P30", _MOST), _BLOCK // KIB, IN_IOPS),
            question=self.question,
        )

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of the disk."""
        setup = _setup(knob, 1)
        return [("the disk", table_of(setup.vm, setup.disks[0]), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At four disks."""
        return "vm", _MOST

    def mechanism(self) -> Mechanism:
        """The limits that the I/Os of four disks pass."""
        passed = _passed(driven(_setup(self.knob.start, _MOST), _BLOCK))
        binding = next(one for one in passed if one.binds)
        return Mechanism(
            title=f"The widest part does not help: {binding.name} ends the I/Os of all {_MOST} disks",
            what=f"Limits on the way of I/Os of {_BLOCK // KIB} KiB, all in I/Os per second.",
            how=[
                "Each bar is a limit, as wide as it allows I/Os per second; limits of MB/s are divided by "
                "the block size. All I/Os pass all of them, so each is filled equally far, and the narrowest "
                "is full. Calculated from the documented limits."
            ],
            draw=partial(limits_on_the_way, passed, _SERIES[0]),
        )

    def run(self, knob: float) -> LessonResult:
        """One disk, then two at once, and so on."""
        seconds = 0.6 if self.quick else 4.0
        numbers = (1, 3, _MOST) if self.quick else range(1, _MOST + 1)
        jobs = [
            LessonJob(
                name=f"{n}-{i}",
                volume=f"disk{i}",
                seconds=seconds,
                bs_bytes=_BLOCK,
                iodepth=_QUEUE_DEPTH,
                beside=i > 1,
            )
            for n in numbers
            for i in range(1, n + 1)
        ]
        program = find_fio()
        with emulated(_setup(knob, _MOST), Options(seed=self.seed), jobs) as lab:
            found = drive(lab, jobs, program)
        rows = found.jobs.assign(n=found.jobs["job"].str.partition("-")[0].astype(int))
        sums = rows.groupby("n")[["iops", "bw_bytes_per_s"]].sum()
        least = rows.groupby("n")["iops"].min()
        table = pd.DataFrame(
            {
                "Disks": [str(n) for n in sums.index],
                "IOPS together": [format_count(iops) for iops in sums["iops"]],
                "MB/s together": [format_mbps(rate) for rate in sums["bw_bytes_per_s"]],
                "IOPS of the slowest": [format_count(iops) for iops in least],
            }
        )
        points = pd.DataFrame({"series": "vm", "x": sums.index.astype(float), "y": sums["iops"].to_numpy()})
        return LessonResult(
            points=[points],
            table=table,
            value=float(sums["iops"].loc[_MOST]),
            ran=[found],
            asked=[f"{_MOST}-{i}" for i in range(1, _MOST + 1)],
            where="The answer is the sum of IOPS of the jobs 4-1 to 4-4, which ran at once.",
        )


def _vm(knob: float) -> VM:
    """The VM without its bursts: a run of seconds would show nothing else."""
    vm = striped(_SIZES[int(knob)], "P30", 1).vm
    return replace(vm, uncached=Cap(iops=vm.uncached.iops, bytes_per_s=vm.uncached.bytes_per_s))


def _setup(knob: float, n: int) -> Setup:
    (disk,) = striped(_SIZES[int(knob)], "P30", 1).disks
    return Setup(_vm(knob), tuple(replace(disk, name=f"disk{i}") for i in range(1, n + 1)))


def _passed(got: Delivered) -> list[LimitOnTheWay]:
    """The limits in I/Os per second, those of all disks added up."""
    passed = []
    for use in sorted(got.limits, key=lambda one: one.owner == "vm"):
        if use.owner in ("disk1", "vm"):
            times = (1 if use.owner == "vm" else _MOST) / (1 if use.quantity == "iops" else _BLOCK)
            name = f"{'' if use.owner == 'vm' else f'{_MOST} × '}{use.label.display_name}"
            limit = LimitOnTheWay(
                name=name, limit=use.cap * times, used=use.used * times, binds=use.label in got.binding
            )
            passed.append(limit)
    return passed


def _delivered(knob: float, n: int) -> float:
    return driven(_setup(knob, n), _BLOCK).iops or 0.0


def _alone(n: int) -> float:
    return driven(replace(_setup(0, n), vm=VM()), _BLOCK).iops or 0.0
