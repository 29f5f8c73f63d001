"""A host cache in front of an emulated disk, in emulated time, which a staircase must find again."""

from dataclasses import replace
from itertools import count

import numpy as np
import probe_caches as caches
import pytest
from probe_caches import DATA_BYTES, Cached
from test_probe_naming import portrait

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB, MIB, NBSP
from azbenchlib.probing import text
from azbenchlib.probing.cache import CacheSeen, CacheShown, Staircase
from azbenchlib.probing.stages import Stages
from azbenchlib.probing.write_back import MOST_LOADS, WriteBackStage

DISK = portrait(5_000, 200 * MB)
HIT_US = 50.0


def said(sentence: str) -> str:
    return sentence.replace(NBSP, " ")


def climbed(disk: Cached, size_bytes: int = DATA_BYTES) -> Staircase:
    stairs = caches.climbed(disk, DISK, size_bytes)
    assert {one.run for one in stairs.measured} <= set(stairs.runs())
    return stairs


@pytest.mark.parametrize(
    ("cache_mib", "iops"), [(8.0, 5_000.0), (8.0, 120.0), (23.4, 800.0), (40.0, 20_000.0)]
)
@pytest.mark.sampled(2)
def test_size_and_hit_latency_are_found(cache_mib: float, iops: float) -> None:
    stairs = climbed(Cached(cache_mib * MIB, iops))
    found = stairs.found(DISK)
    assert found.seen is CacheSeen.STEP and found.known and found.size and found.hit_us
    assert found.size.value == pytest.approx(cache_mib * MIB, rel=0.1)
    assert found.size.low <= cache_mib * MIB <= found.size.high
    assert found.hit_us.value == pytest.approx(HIT_US, rel=0.1)
    assert found.runs == tuple(one.run.name for one in stairs.measured) and len(stairs.measured) <= 9
    sets = [one.run.set_bytes for one in stairs.measured]
    shares = dict(zip(sets, stairs.hit_shares(), strict=True))
    assert shares[4 * MIB] > 0.97 and shares[DATA_BYTES] == pytest.approx(cache_mib / 64, abs=0.05)
    told = text.cached(found)
    assert told.startswith("A cache of ") and "MiB" in told and "µs" in told
    assert f"{round(100 * found.size.value / DATA_BYTES)} % of the reads" in told


@pytest.mark.long  # other sizes than above, drawn
def test_intervals_of_sizes_hold_them() -> None:
    rng, held = np.random.default_rng(11), 0
    for number in range(4):
        cache_bytes = float(np.exp(rng.uniform(np.log(5 * MIB), np.log(50 * MIB))))
        disk = Cached(cache_bytes, float(np.exp(rng.uniform(np.log(100), np.log(5_000)))))
        disk.seeds = count(1_000 * number)
        found = climbed(disk).found(DISK)
        assert found.size and found.size.value == pytest.approx(cache_bytes, rel=0.1)
        held += found.size.low <= cache_bytes <= found.size.high
    assert held >= 3  # of 4, 95 % are 3.8


def test_without_a_cache_and_with_one_that_holds_everything_no_step_is_seen() -> None:
    for cache_bytes in (None, 100.0 * MIB):
        stairs = climbed(Cached(cache_bytes))
        assert stairs.found(DISK).seen is CacheSeen.NO_STEP and len(stairs.measured) == 3
        assert stairs.hit_shares() == []
    assert said(text.cached(stairs.found(DISK))).startswith("No cache was seen up to 64 MiB")


def test_a_cache_below_the_smallest_working_set_is_bounded() -> None:
    found = climbed(Cached(3.0 * MIB)).found(DISK)
    assert found.seen is CacheSeen.STEP and found.size is found.hit_us is None and not found.known
    assert said(text.cached(found)) == "A cache of less than 4 MiB answers reads."


def test_a_disk_that_drifts_is_not_taken_for_a_cache() -> None:
    stairs, slower = Staircase(size_bytes=DATA_BYTES, seconds=2.0, fill_seconds=60.0), 1.0
    while run := stairs.next(DISK):
        slower *= 1.3
        lat_us = np.linspace(80.0, 120.0, 50) * slower
        stairs.tell(CacheShown(run=run, lat_us=lat_us, n=np.full(50, 1e4)))
    assert stairs.found(DISK).seen is CacheSeen.UNSTEADY and "open" in text.cached(stairs.found(DISK))
    unfinished = Staircase(size_bytes=DATA_BYTES, seconds=2.0, fill_seconds=60.0).found(DISK)
    assert unfinished.seen is CacheSeen.UNFINISHED and "open" in text.cached(unfinished)


def test_memory_is_not_asked_for_a_cache_and_too_little_data_is_told() -> None:
    stages = Stages.asked(seconds=1.0, size_bytes=DATA_BYTES, cache=True, drain_minutes=1.0)
    memory = replace(DISK, buffered=True)
    assert stages.stairs and [stage.next(memory) for stage in stages.all_] == [None, None, None]
    assert "memory answered" in text.cached(stages.stairs.found(memory))
    names = [run.name for stage in stages.all_ for run in stage.runs()]
    assert len(set(names)) == len(names)
    with pytest.raises(InputError, match=r"at least 64\sMiB"):
        Stages.asked(seconds=1.0, size_bytes=8 * MIB, cache=True)


def test_the_same_runs_lead_on_where_a_staircase_was_cut_short() -> None:
    whole = climbed(Cached(8.0 * MIB))
    again = Staircase(size_bytes=DATA_BYTES, seconds=2.0, fill_seconds=60.0)
    for one in whole.shown:
        assert again.next(DISK) == one.run
        again.tell(one)
    assert again.next(DISK) is None and again.found(DISK) == whole.found(DISK)


def test_what_a_cache_may_hold_unwritten_is_found() -> None:
    disk = Cached(128.0 * MIB, caching="ReadWrite")
    stairs, fast = climbed(Cached(8.0 * MIB)), portrait(5_000, 200 * MB, write_us=HIT_US)
    stage = WriteBackStage(stairs=stairs, seconds=4.0)
    while run := stage.next(fast):
        stage.tell(disk.load(run))
    found = stage.found()
    assert found and found.burst and found.base and found.bucket and len(stage.shown) < MOST_LOADS
    assert found.bucket.value == pytest.approx(64 * MIB, rel=0.1)
    assert found.base.value == pytest.approx(40 * MB, rel=0.03)
    assert "are not written to the disk; from then on they wait" in text.written_back(found)


def test_a_cache_that_answers_no_writes_is_told() -> None:
    stages = Stages.asked(seconds=2.0, size_bytes=DATA_BYTES, cache=True)
    stages.stairs = climbed(Cached(8.0 * MIB))
    stages.write_back = WriteBackStage(stairs=stages.stairs, seconds=2.0)
    assert stages.write_back.next(DISK) is None  # its writes take 2.4 ms
    assert list(text.told_by(stages, DISK))[-1].startswith("Single writes take longer")
    assert any("--cache" in what for what, _ in text.unlearnt(DISK, 60.0))
    assert not any("--cache" in what for what, _ in text.unlearnt(DISK, 60.0, stages))
