"""Lesson 7: percentiles of parts do not make that of the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from azbenchlib.azure.catalog import latency as catalogue
from azbenchlib.core.units import format_count, format_us
from azbenchlib.lab.engine.latency import stratified_sample
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_MILLISECONDS
from azbenchlib.lessons.check import Exercise, telling
from azbenchlib.lessons.exercises.tails import TAILS, of_two
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, drive, find_fio, quantiles_us
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import distribution, quantile_us, table_of
from azbenchlib.plots import Series, latency_histogram
from azbenchlib.plots.confronted import Chart

_TOTAL_IOPS = 900
_SHARES = (50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.0, 98.0, 99.0)
_MARKED = (50.0, 75.0, 90.0, 95.0, 99.0)
_ASKED = 99.0
_SCALE = 4  # latencies matter here, and rates are low; a busy machine is late by milliseconds
_DRAWN, _BARS = 20_000, 60  # reads of the picture, and bars of its histograms
_DEPTHS = {"fast": 16, "slow": 32}  # enough for the rates that the jobs keep to
_NAMES = {"fast": "Premium SSD", "slow": "Standard HDD", "both": "both together"}
_SERIES = tuple(Series(key, name, name, i) for i, (key, name) in enumerate(_NAMES.items(), 1))


class TailsLesson(Lesson):
    """A few slow I/Os are the tail of all."""

    name = "tails"
    question = (
        "A service reads from two disks. p99 of the one, a Premium SSD, is 2.7 ms; p99 of the other, a "
        "Standard HDD, is 20 ms. One read in ten goes to the HDD. What is p99 of all reads together, in ms?"
    )
    unit = IN_MILLISECONDS
    knob = Knob(
        name="Share of reads that go to the HDD",
        values=(0.01, 0.05, 0.1, 0.25, 0.4),
        text=lambda share: f"{share:.0%}".replace("%", " %"),
        start=0.1,
    )
    makers = TAILS

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Latency over rarity."""
        chart = Chart(
            x_title="One I/O in so many is slower",
            y_title="Latency",
            x_text=lambda odds: f"1 in {odds:.0f}",
            y_text=format_us,
            x_ticks=(2, 5, 10, 20, 50, 100),
            y_log=True,
        )
        fast, slow = (quantile_us(_table(key), False, _ASKED) for key in ("fast", "slow"))
        title = (
            f"p99 of both together is {format_us(self.expected(knob))}; the mean of the two p99 would be "
            f"{format_us((fast + slow) / 2)}"
        )
        what = "Latency over rarity: p50 at the left, p99 at the right."
        return [LessonFigure(chart=chart, series=_SERIES, title=title, what=what)]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """The latencies of each disk, and of their mixture."""
        rows = [
            {"series": key, "x": _odds(share), "y": quantile_us(_table(key), False, share)}
            for key in ("fast", "slow")
            for share in _SHARES
        ]
        rows += [{"series": "both", "x": _odds(share), "y": _mixed_us(knob, share)} for share in _SHARES]
        return [pd.DataFrame(rows)]

    def expected(self, knob: float) -> float:
        """p99 of both together."""
        return _mixed_us(knob, _ASKED)

    def posed(self) -> Exercise:
        """With the ways to make one p99 of two."""
        fast, slow = (quantile_us(_table(key), False, _ASKED) for key in ("fast", "slow"))
        share = self.knob.start
        right = self.expected(share)
        of_slow = 100 - (100 - _ASKED) / share
        return Exercise(
            question=self.question,
            unit=self.unit,
            right=right,
            misconceptions=telling(right, of_two(fast, slow, 1 - share, share)),
            hint="One percent of all reads is which part of those on the HDD?",
            law="The slowest percent of all reads lies on the HDD, which serves one read in ten; so it is "
            "the slowest tenth of the reads there",
            working=f"about p{of_slow:g} of the HDD",
        )

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of both disks."""
        return [(_NAMES[key], _table(key), False) for key in ("fast", "slow")]

    def place(self, knob: float) -> tuple[str, float]:
        """At p99."""
        return "both", _odds(_ASKED)

    def mechanism(self) -> Mechanism:
        """The latencies of each disk and of both, as histograms."""
        share = self.knob.start
        return Mechanism(
            title="Together the reads have two humps, and p99 lies in that of the slow "
            f"{self.knob.text(share)}",
            what="Latencies of reads: shares of the I/Os of each disk, and of all.",
            how=[
                "Each bar is the share of I/Os with latencies between its edges. The counts of both disks "
                "add up, bar by bar, to those of all; p99 of all is where the slowest percent of that "
                "histogram begins. Calculated from the latencies that the emulated disks have."
            ],
            draw=partial(latency_histogram, _humps(share), _SERIES),
        )

    def run(self, knob: float) -> LessonResult:
        """Both disks at once, each at its rate; their histograms are then put together."""
        seconds = 3.0 if self.quick else 20.0
        rates = {"fast": round(_TOTAL_IOPS * (1 - knob)), "slow": round(_TOTAL_IOPS * knob)}
        jobs = [
            LessonJob(
                name=key,
                volume=key,
                seconds=seconds,
                iodepth=_DEPTHS[key],
                rate_iops=rate,
                beside=key == "slow",
            )
            for key, rate in rates.items()
        ]
        program = find_fio()
        with Lab(_setup(), Options(seed=self.seed), time_scale=_SCALE) as lab:
            found = drive(lab, jobs, program)
        bins = {key: found.bins[found.bins["job"] == key] for key in rates} | {"both": found.bins}
        quantiles = {key: quantiles_us(one, _MARKED) for key, one in bins.items()}
        points = pd.concat(
            pd.DataFrame({"series": key, "x": [_odds(share) for share in _MARKED], "y": values})
            for key, values in quantiles.items()
        )
        ends = [quantiles[key][-1] for key in ("fast", "slow")]
        table = pd.DataFrame(
            {
                "Reads of": [_NAMES[key] for key in bins],
                "I/Os": [format_count(one["n"].sum()) for one in bins.values()],
                "p50": [format_us(values[0]) for values in quantiles.values()],
                "p99": [format_us(values[-1]) for values in quantiles.values()],
            }
        )
        table.loc[len(table)] = [
            "mean of the two p99: no percentile at all",
            "",
            "",
            format_us(sum(ends) / 2),
        ]
        return LessonResult(
            points=[points],
            table=table,
            value=quantiles["both"][-1],
            ran=[found],
            asked=list(rates),
            where="The answer is in neither 99.00th percentile: the histograms of both jobs, which are in "
            "fio's JSON (json+), are put together, and p99 is that of all I/Os.",
        )


def _odds(share: float) -> float:
    return 100 / (100 - share)


def _setup() -> Setup:
    premium = Disk(name="fast", sku="Premium_LRS", tier="P30", cap=Cap(iops=5_000))
    return Setup(disks=(premium, Disk(name="slow", sku="Standard_LRS", tier="S30", cap=Cap(iops=5_000))))


def _table(key: str) -> str:
    setup = _setup()
    return table_of(setup.vm, next(disk for disk in setup.disks if disk.name == key))


def _humps(slow_share: float) -> pd.DataFrame:
    """Histograms of each disk and of all reads, which add up."""
    n = {"fast": round(_DRAWN * (1 - slow_share)), "slow": round(_DRAWN * slow_share)}
    drawn = {
        key: np.array(stratified_sample(catalogue.percentiles(_table(key), False), many))
        for key, many in n.items()
    }
    drawn["both"] = np.concatenate(list(drawn.values()))
    edges = np.geomspace(drawn["both"].min() * 0.99, drawn["both"].max() * 1.01, _BARS + 1)
    return pd.concat(
        pd.DataFrame(
            {
                "series": key,
                "low_us": edges[:-1],
                "high_us": edges[1:],
                "share": np.histogram(values, edges)[0] / len(values),
                "n_total": len(values),
                "p50_us": np.percentile(values, 50),
                "p99_us": np.percentile(values, _ASKED),
            }
        )
        for key, values in drawn.items()
    )


@lru_cache
def _mixed_us(slow_share: float, percentile: float) -> float:
    """The percentile of a mixture: where the shares of both disks below it add up to it."""
    fast, slow = (distribution(catalogue.percentiles(_table(key), False)) for key in ("fast", "slow"))

    def below(us: float) -> float:
        return (
            (1 - slow_share) * _share_below(fast, us) + slow_share * _share_below(slow, us) - percentile / 100
        )

    return float(brentq(below, fast(1e-6), slow(1 - 1e-6)))


def _share_below(latency_at: Callable[[float], float], us: float) -> float:
    """The share of I/Os that are faster, of a latency that rises with the share."""
    low, high = 1e-9, 1 - 1e-9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if latency_at(middle) < us else (low, middle)
    return (low + high) / 2
