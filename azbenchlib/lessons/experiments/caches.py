"""Lesson 6: page cache, host cache, disk; and how a cache becomes warm."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from random import Random

import pandas as pd

from azbenchlib.azure.catalog import latency as catalogue
from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.campaign.workloads.program import Fio
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import KIB, MIB, US_PER_S, format_count, format_us
from azbenchlib.lab.engine.cache import EmulatedCache
from azbenchlib.lab.engine.latency import stratified_sample
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.exercises.caches import CACHES, rate_of_a_warm_cache
from azbenchlib.lessons.experiments.tables import told
from azbenchlib.lessons.lesson import Knob, Lesson, LessonFigure, LessonResult, Mechanism
from azbenchlib.lessons.measure import LessonJob, Ran, drive, find_fio, on_file, quantiles_us, timeline
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import quantile_us, table_of
from azbenchlib.model.warm_up import Warmth, mixed_latency, steady_hit_ratio, warm_up
from azbenchlib.plots import Series
from azbenchlib.plots.confronted import Chart
from azbenchlib.plots.drawing.scales import linear_ticks
from azbenchlib.plots.mechanisms import cached_blocks

_BLOCK = 8 * KIB
_WORKING_SET, _QUICK_WORKING_SET = 4 * MIB, MIB  # small, so that it is warm within seconds
_HOT = 128 * KIB  # of the working set: read again and again, it is in any of the caches
_TURNS = 2.5  # times that a cold disk needs for the working set, which the run lasts
_COLD_SCALE, _HOT_SCALE = 4, 32  # misses take long, hits are short: each runs as slowly as it must
_SHARES = (1.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0)
_MARKED = (10.0, 30.0, 50.0, 70.0, 90.0)
_MOST_POINTS = 40
_SHOWN_BLOCKS, _SHOWN_READS = 256, (32, 128, 1_000, 11_000)  # of the picture
_WARM = Series("warming", "ReadOnly host cache", "host cache", 1)
_PLACES = (
    Series("page", "page cache of this machine", "page cache", 2),
    Series("host", "host cache", "host cache", 1),
    Series("disk", "disk", "disk", 3),
)


class CachesLesson(Lesson):
    """What answers a read, and how long until it does."""

    name = "caches"
    question = (
        "A host cache holds half of the data that a program reads at random, one block after the other. A "
        "read from the cache takes about 0.09 ms, one from the disk 2.2 ms, so the cache alone would give "
        "11,000 IOPS and the disk alone 450. How many IOPS does the program get once the cache is warm?"
    )
    unit = IN_IOPS
    knob = Knob(
        name="Share of the data that the cache holds",
        values=(0.1, 0.25, 0.5, 0.75, 0.9, 1.0),
        text=lambda share: f"{share:.0%}".replace("%", " %"),
        start=0.5,
    )
    makers = CACHES

    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Rate while the cache fills, and latency by place."""
        end_s = self._end_s()
        warming = Chart(
            x_title="Time since the first read",
            y_title="IOPS",
            x_text=lambda seconds: f"{seconds:g} s",
            y_text=format_count,
            x_ticks=linear_ticks(end_s, most=6),
            x_log=False,
        )
        places = Chart(
            x_title="Share of reads that are faster",
            y_title="Latency",
            x_text=lambda share: f"{share:.0f} %",
            y_text=format_us,
            x_ticks=(1, 20, 40, 60, 80, 99),
            x_log=False,
            y_log=True,
        )
        warm, cold = self.expected(knob), _rate(0.0)
        share = self.knob.text(knob)
        title = f"From {cold:,.0f} IOPS cold to {warm:,.0f} IOPS warm, with {share} of the data cached"
        second = "Three places answer reads, each at its own pace"
        what = "Latency by the share of reads that are faster; the page cache is that of this machine."
        return [
            LessonFigure(
                chart=warming, series=[_WARM], title=title, what="IOPS over time, from an empty cache on."
            ),
            LessonFigure(chart=places, series=_PLACES, title=second, what=what),
        ]

    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """How the cache fills, and the published latencies."""
        curve = _curve(knob, self._blocks(), self._end_s())
        tables = {"host": (HOST_CACHE, True), "disk": (_disk_table(), False)}
        quantiles = [
            {"series": key, "x": share, "y": quantile_us(table, write, share)}
            for key, (table, write) in tables.items()
            for share in _SHARES
        ]
        rows = [{"series": "warming", "x": one.t_s, "y": one.iops} for one in curve]
        return [pd.DataFrame(rows), pd.DataFrame(quantiles)]

    def expected(self, knob: float) -> float:
        """IOPS of a warm cache."""
        return _rate(steady_hit_ratio(knob, 1.0))

    def posed(self) -> Exercise:
        """As an exercise, with the latencies of the tables."""
        hit, miss = mean_us(HOST_CACHE, True), mean_us(_disk_table(), False)
        return replace(rate_of_a_warm_cache(self.knob.start, 1.0, hit, miss), question=self.question)

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Of cache and disk."""
        return [("the host cache", HOST_CACHE, True), ("the disk", _disk_table(), False)]

    def place(self, knob: float) -> tuple[str, float]:
        """At the end, when it is warm."""
        return "warming", self._end_s()

    def mechanism(self) -> Mechanism:
        """The blocks that the cache holds after so many reads."""
        share = self.knob.start
        moments, hits = _filling(int(_SHOWN_BLOCKS * share), self.seed)
        return Mechanism(
            title=f"A cache for {self.knob.text(share)} of the data fills with what is read, and then serves "
            f"{self.knob.text(hits)} of the reads",
            what=f"{_SHOWN_BLOCKS} blocks that are read at random; those in the host cache are coloured.",
            how=[
                "Each square is a block. A read of a block that is not cached comes from the disk, and the "
                "block then takes the place of the one that was not read for the longest time. Drawn from "
                "the cache of the emulated disk, with random reads."
            ],
            draw=partial(cached_blocks, moments, _WARM),
        )

    def run(self, knob: float) -> LessonResult:
        """From a cold cache to a warm one; then reads of one place after the other."""
        program, end_s = find_fio(), self._end_s()
        hot_s = 0.4 if self.quick else 2.0
        size = self._blocks() * _BLOCK
        warming = _job("warming", "cached", end_s * _COLD_SCALE, size)
        options = Options(seed=self.seed, cache_bytes=max(size * knob, _HOT))
        with Lab(_setup(), options, time_scale=_COLD_SCALE) as lab:
            first = drive(lab, [warming], program)
            line = timeline(lab, "cached", first, end_s)
            fill = _job("fill", "cached", 2 * hot_s, _HOT, rw="read")
            disk = drive(lab, [fill, _job("disk", "plain", 2 * hot_s, size)], program)
            lab.dilate(_HOT_SCALE)
            host = drive(lab, [_job("host", "cached", 2 * hot_s, _HOT)], program)
        page = _from_page_cache(_job("page", "page-cache.data", hot_s, MIB), program)
        return self._found(line, [first, disk, host, page], end_s)

    def _found(self, line: pd.DataFrame, ran: list[Ran], end_s: float) -> LessonResult:
        late = line[line["t_s"] > end_s * 2 / 3]
        all_bins, all_jobs = pd.concat(one.bins for one in ran), pd.concat(one.jobs for one in ran)
        bins = {one.key: all_bins[all_bins["job"] == one.key] for one in _PLACES}
        quantiles = pd.concat(
            pd.DataFrame({"series": key, "x": _MARKED, "y": quantiles_us(one, _MARKED)})
            for key, one in bins.items()
        )
        rows = all_jobs.set_index("job").loc[list(bins)]
        kept = line.iloc[:: max(1, len(line) // _MOST_POINTS)]
        steps = late["t_s"].diff().fillna(late["t_s"].diff().mean())
        return LessonResult(
            points=[pd.DataFrame({"series": "warming", "x": kept["t_s"], "y": kept["iops"]}), quantiles],
            table=told("Read from", [one.label for one in _PLACES], rows),
            value=float((late["iops"] * steps).sum() / steps.sum()),
            ran=ran,
            asked=[one.key for one in _PLACES],
            where=(
                "fio's IOPS of the job warming are the mean of the whole run, from cold to warm. The answer "
                "is the rate of its last third, which the emulated disk noted while fio ran; on a real disk, "
                "fio's option write_iops_log shows it. The other jobs are the rows of the table."
            ),
        )

    def _blocks(self) -> int:
        return (_QUICK_WORKING_SET if self.quick else _WORKING_SET) // _BLOCK

    def _end_s(self) -> float:
        return _TURNS * self._blocks() / _rate(0.0)


def _filling(places: int, seed: int) -> tuple[list[tuple[str, list[bool]]], float]:
    """Which blocks a cache of so many blocks holds at some moments; and the share of hits once it is warm."""
    cache, random = EmulatedCache(places), Random(seed)  # noqa: S311
    moments, hits = [], 0
    for reads in range(1, _SHOWN_READS[-1] + 1):
        block = random.randrange(_SHOWN_BLOCKS)
        hit = cache.has(range(block, block + 1))
        if not hit:
            cache.put([block])
        hits += hit and reads > _SHOWN_READS[-2]
        if reads in _SHOWN_READS:
            held = copy.deepcopy(cache)
            moments.append(
                (f"after {reads:,} reads", [held.has(range(one, one + 1)) for one in range(_SHOWN_BLOCKS)])
            )
    return moments, hits / (_SHOWN_READS[-1] - _SHOWN_READS[-2])


def _job(name: str, volume: str, seconds: float, size: int, rw: str = "randread") -> LessonJob:
    return LessonJob(name=name, volume=volume, seconds=seconds, rw=rw, bs_bytes=_BLOCK, size_bytes=size)


def _from_page_cache(job: LessonJob, program: Fio) -> Ran:
    """Read a file of this machine until the operating system has it in memory, then measure."""
    with temporary_folder() as folder:
        (folder / job.volume).write_bytes(bytes(job.size_bytes))  # what was just written is in the page cache
        return on_file(job, program, folder)


def _setup() -> Setup:
    """A disk behind the host cache, and one beside it."""
    cap = Cap(iops=5_000, bytes_per_s=200e6)
    vm = VM(cached=Cap(iops=77_000), uncached=Cap(iops=12_800))
    disks = tuple(
        Disk(name=name, sku="Premium_LRS", tier="P30", cap=cap, caching=caching)
        for name, caching in (("cached", "ReadOnly"), ("plain", "None"))
    )
    return Setup(vm, disks)


def _disk_table() -> str:
    setup = _setup()
    return table_of(setup.vm, setup.disks[0])


@cache
def mean_us(table: str, write: bool) -> float:
    """The mean of a table's latencies."""
    sample = stratified_sample(catalogue.percentiles(table, write))
    return sum(sample) / len(sample)


def _rate(hit_ratio: float) -> float:
    """IOPS of one read after the other."""
    return US_PER_S / mixed_latency(hit_ratio, mean_us(HOST_CACHE, True), mean_us(_disk_table(), False))


@lru_cache
def _curve(share: float, blocks: int, end_s: float) -> tuple[Warmth, ...]:
    return tuple(_thinned(warm_up(blocks, steady_hit_ratio(share, 1.0), _rate, end_s)))


def _thinned(curve: Iterator[Warmth]) -> Iterator[Warmth]:
    return (one for i, one in enumerate(curve) if i % 4 == 0)
