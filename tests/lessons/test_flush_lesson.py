"""Right answers about a ReadWrite cache are what the emulated cache, the model and real fio give."""

import math
import re

import pytest
from measuring import Measurement

from azbenchlib.core.units import GIB, KIB, NS_PER_US, US_PER_S
from azbenchlib.lab.engine.cache import EmulatedCache
from azbenchlib.lab.engine.token_buckets import EventQueue
from azbenchlib.lab.engine.volume import ReadWriteCachedVolume, Way
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.nbd import FLUSH, WRITE
from azbenchlib.lessons.answers import IN_OUTSTANDING
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.experiments.tables import notes
from azbenchlib.lessons.lesson import LessonResult
from azbenchlib.lessons.measure import LessonJob, Ran, drive, find_fio
from azbenchlib.model import VM, Cap, Disk, Load, Setup, deliver

LOG = re.compile(
    r"after ([\d.]+) µs; .* takes ([\d.]+) ms\. The log flushes after every (?:(\d+) writes|write,)"
)
RATES = re.compile(
    r"allows ([\d,]+) IOPS through its host cache, and a disk P\d+ with host caching ReadWrite ([\d,]+) "
    r"IOPS; burst credits, where there are any, are spent\. .* for (\d+) s,"
)
K, LONGEST_S = 4, 8.0  # dilation; emulated time of writing and flushing, to which those of an exercise shrink


def exercises() -> list[Exercise]:
    return [open_lesson("flush").exercise_of(seed) for seed in range(200)]


def engine_rate(writes: int, hit_s: float, disk_s: float) -> float:
    """IOPS of the lab's own ReadWrite volume where nothing limits and latencies are constant."""
    queue, cycles = EventQueue(), 50
    way = Way(event_queue=queue, near=(), far=(), read_s=lambda: disk_s, write_s=lambda: disk_s)
    volume = ReadWriteCachedVolume(GIB, way, EmulatedCache(math.inf), 0, lambda: hit_s, math.inf)
    ends: list[float] = []
    now = 0.0
    for i in range(cycles):
        for j in range(writes):
            volume.submit(WRITE, (i * writes + j) * 4 * KIB, 4 * KIB, now, ends.append)
            now = ends.pop()
            queue.run(now)
        volume.submit(FLUSH, 0, 0, now, ends.append)
        while not ends:
            queue.run(queue.events[0][0])
        now = ends.pop()
    return cycles * writes / now


def setup_of(exercise: Exercise) -> tuple[Setup, int]:
    """What is told of VM and disk, and for how many seconds it is written."""
    told = RATES.search(exercise.question)
    assert told
    cached, limit = (float(told[i].replace(",", "")) for i in (1, 2))
    disk = Disk(name="data", sku="Premium_LRS", tier="P30", caching="ReadWrite", cap=Cap(iops=limit))
    return Setup(VM(cached=Cap(iops=cached)), (disk,)), int(told[3])


def rates(setup: Setup) -> tuple[float, float]:
    """IOPS of writes into the cache, and of those that the disk takes."""
    loads = (
        Load(volume="data", bs_bytes=4 * KIB, read_share=0.0, destaged=destaged) for destaged in (False, True)
    )
    cached, disk = (deliver(setup, [load]).iops or 0.0 for load in loads)
    return cached, disk


def test_right_answers_are_what_cache_and_model_give() -> None:
    n_logs = 0
    for exercise in exercises():
        told = LOG.search(exercise.question)
        if told:
            n_logs += 1
            right = engine_rate(int(told[3] or 1), float(told[1]) / 1e6, float(told[2]) / 1e3)
        else:
            setup, seconds = setup_of(exercise)
            cached, disk = rates(setup)
            lost = (cached - disk) * seconds
            right = lost if exercise.unit is IN_OUTSTANDING else lost / disk * 1e6
        assert exercise.right == pytest.approx(right, rel=1e-6), exercise.question
    assert n_logs == 67


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.alone
def test_flushed_writes_are_as_slow_as_the_disk_and_the_others_are_not() -> None:
    lesson = open_lesson("flush", quick=True)

    def holds(result: LessonResult) -> None:
        (ran,) = result.ran
        iops = ran.jobs.set_index("job")["iops"]
        assert iops["cached"] == pytest.approx(iops["plain"], rel=0.25)
        assert (
            iops["cached"] == pytest.approx(lesson.expected(1), rel=0.25) and iops["lazy"] > 8 * iops["plain"]
        )
        flushed = next(job for job in ran.document["jobs"] if job["jobname"] == "cached")
        assert flushed["sync"]["lat_ns"]["mean"] > 5 * flushed["write"]["lat_ns"]["mean"]

    Measurement(lambda: lesson.run(1), lambda result: " ".join(notes(*result.ran))).check(holds)


def written_and_flushed(setup: Setup, seconds: float) -> Ran:
    """Write for so long without a flush, then flush once."""
    jobs = [
        LessonJob(
            name="writes", volume="data", seconds=seconds * K, rw="write", iodepth=64, size_bytes=8 * GIB
        ),
        LessonJob(name="flush", volume="data", seconds=0.5, rw="write", fsync=1),
    ]
    with Lab(setup, time_scale=K) as lab:
        return drive(lab, jobs, find_fio())


@pytest.mark.long
@pytest.mark.fio
@pytest.mark.alone
def test_right_answers_hold_for_real_fio_on_the_lab() -> None:
    told = [one for one in exercises() if RATES.search(one.question)]
    chosen = [
        one for one in told if max(rates(setup_of(one)[0])) <= 16_000 and min(rates(setup_of(one)[0])) > 1_000
    ]
    for exercise in chosen[:5]:
        setup, seconds = setup_of(exercise)
        cached, disk = rates(setup)
        shorter = (
            seconds * cached / disk / LONGEST_S
        )  # the flush ends cached ÷ disk × seconds after the start

        def holds(
            ran: Ran, exercise: Exercise = exercise, shorter: float = shorter, disk: float = disk
        ) -> None:
            flush = ran.document["jobs"][1]["sync"]["lat_ns"]["max"] / NS_PER_US / US_PER_S / K * shorter
            right = exercise.right / disk if exercise.unit is IN_OUTSTANDING else exercise.right / 1e6
            assert flush == pytest.approx(right, rel=0.1), exercise.question

        Measurement(
            lambda setup=setup, s=seconds / shorter: written_and_flushed(setup, s),
            lambda ran: " ".join(notes(ran)),
        ).check(holds)
