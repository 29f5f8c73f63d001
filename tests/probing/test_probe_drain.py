"""Burst credits that are drained: an exact bucket whose size, base and refill must be found again."""

import numpy as np
import pytest
from test_probe_naming import portrait

from azbenchlib.azure.catalog.lookup import disk_tiers
from azbenchlib.core.units import MB
from azbenchlib.probing import text
from azbenchlib.probing.drain import SMALLEST_BURST, Drain, DrainRun, DrainShown, bucket_over_time
from azbenchlib.probing.stages import Stages

BURST, BASE, BUCKET = 3_500.0, 500.0, 3_000.0 * 600
PAUSE_S = 2.0


class Bucketed:
    """A disk with credits, which are followed exactly."""

    def __init__(
        self, bucket: float = BUCKET, base: float = BASE, scatter: float = 0.0, pause_s: float = PAUSE_S
    ) -> None:
        self.pause_s = pause_s
        self.left = self.bucket = bucket
        self.base, self.now_s, self.scatter, self._rng = base, 0.0, scatter, np.random.default_rng(1)

    def measure(self, run: DrainRun) -> DrainShown:
        stray, base_stray = np.exp(self._rng.normal(0, self.scatter, 2))
        base = self.base * base_stray
        self.left = min(self.bucket, self.left + base * self.pause_s)
        began = self.now_s = self.now_s + self.pause_s
        rate = BURST * stray if run.number else 1.0
        lasts = min(run.seconds, self.left / (rate - base) if rate > base else np.inf)
        amount = rate * lasts + base * (run.seconds - lasts)
        self.left = min(self.bucket, self.left + base * run.seconds - amount)
        self.now_s += run.seconds
        return DrainShown(run=run, rate=amount / run.seconds, began_s=began, lasted_s=run.seconds)


def drained(disk: Bucketed, minutes: float = 30.0) -> Drain:
    drain, known = Drain(seconds=60.0, minutes=minutes), portrait(BURST, 170 * MB)
    while (run := drain.next(known)) and run.quantity == "iops":
        drain.tell(disk.measure(run))
    return drain


@pytest.mark.parametrize("bucket", [BUCKET, 3_000.0 * 90, 3_000.0 * 1_111])
def test_bucket_base_and_refill_are_found(bucket: float) -> None:
    (found,) = drained(Bucketed(bucket)).found()
    assert found.burst and found.base and found.bucket and found.refill
    assert found.base.value == pytest.approx(BASE)
    assert found.burst.value == pytest.approx(BURST, rel=0.01)
    assert found.bucket.value == pytest.approx(bucket, rel=0.01)
    assert found.refill.value == pytest.approx(BASE, rel=0.1)


def test_long_pauses_hide_only_a_burst_that_is_little_above_its_base() -> None:
    """As of run-commands of Azure: after each run, the base comes in for two minutes."""
    (found,) = drained(Bucketed(pause_s=120.0)).found()
    assert found.base and found.bucket and found.base.value == pytest.approx(BASE)
    assert found.bucket.value == pytest.approx(BUCKET, rel=0.01)
    for times, seen in ((3.5, True), (3.1, False)):
        (found,) = drained(Bucketed(base=BURST / times, pause_s=120.0), minutes=60.0).found()
        assert (found.base is not None) == seen
    assert "118 min in all, so a burst below 3.3 times its base would not be seen to end" in text.drained(
        found
    )


def test_the_base_is_that_of_runs_after_the_bucket_was_empty() -> None:
    """The run in which the last credits go is a little above the base, and at one level with the others."""
    drain = drained(Bucketed(3_000.0 * 600.2 - 9 * BASE * PAUSE_S))
    level = [one.rate for one in drain.shown if one.run.number and one.rate < 0.9 * BURST][:3]
    came_in = BASE * (60 + PAUSE_S) / 60  # what the pause before a run brings passes in it
    assert level[1:] == pytest.approx([came_in] * 2) and 1.005 * came_in < level[0] < 1.03 * came_in
    (found,) = drain.found()
    assert found.base and found.base.value == pytest.approx(BASE, rel=1e-4)


def test_what_is_left_over_time_is_what_the_bucket_held() -> None:
    disk, drain, held = Bucketed(), Drain(seconds=60.0, minutes=30.0), {}
    known = portrait(BURST, 170 * MB)
    while (run := drain.next(known)) and run.quantity == "iops":
        before, shown = disk.left, disk.measure(run)
        held[shown.began_s] = min(disk.bucket, before + BASE * PAUSE_S)
        drain.tell(shown)
    levels = bucket_over_time(drain.shown)
    assert len(levels) > 10 and levels == sorted(levels, key=lambda one: one[0])
    for t_s, left in levels:
        if t_s in held:
            assert left == pytest.approx(held[t_s], abs=2 * BASE * PAUSE_S)
    assert levels[0][1] == pytest.approx(BUCKET, rel=0.01) and levels[-1][1] == 0
    assert bucket_over_time(drained(Bucketed(1e12), minutes=5.0).shown) == []


def test_intervals_hold_what_scatters() -> None:
    held = 0
    for seed in range(60):
        disk = Bucketed(scatter=0.003)
        disk._rng = np.random.default_rng(seed)
        (found,) = drained(disk).found()
        assert found.bucket and found.bucket.value == pytest.approx(BUCKET, rel=0.05)
        held += found.bucket.low <= BUCKET <= found.bucket.high
    assert held >= 54  # of 60, 95 % are 57


def test_a_disk_without_a_burst_is_driven_for_the_time_allowed_and_no_longer() -> None:
    drain = drained(Bucketed(1e12), minutes=5.0)
    (found,) = drain.found()
    assert found.base is found.bucket is found.refill is None
    assert found.driven_s == 300 and all(one.run.number for one in drain.shown)


def test_the_same_runs_lead_on_where_it_was_cut_short() -> None:
    whole, again = drained(Bucketed()), Drain(seconds=60.0, minutes=30.0)
    for one in whole.shown:
        assert again.next(portrait(BURST, 170 * MB)) == one.run
        again.tell(one)
    assert again.found() == whole.found()


def test_both_caps_are_driven_and_each_run_has_a_name_of_its_own() -> None:
    drain = drained(Bucketed())
    run = drain.next(portrait(BURST, 170 * MB))
    assert run is not None and run.quantity == "bytes_per_s" and run.bs_bytes == 1 << 20
    assert drain.next(portrait(BURST, 170 * MB, rate_cap=False)) is None
    names = [run.name for run in drain.runs()]
    assert len(set(names)) == len(names)


def test_what_was_drained_is_told_in_sentences() -> None:
    (found,) = drained(Bucketed()).found()
    told = text.drained(found)
    assert "3,500 IOPS" in told and "is a burst" in told and "500 IOPS" in told and "1,800,000 I/Os" in told
    assert found.burst and found.base
    assert text.bursts("iops", found.burst, found.base).endswith(" after that, which is the base.")
    (none,) = drained(Bucketed(1e12), minutes=5.0).found()
    told = text.drained(none)
    assert told.startswith("Cap of IOPS: no burst that ends was found within 5 min. Credits came back ")
    assert "a burst below 1.14 times its base would not be seen" in told  # the MB/s of a P20 are 1.13 times
    assert "at most 62 min" in text.drain_cost(Drain(seconds=60.0, minutes=30.0))  # and two rests
    assert "at most 10 min" in text.drain_cost(Drain(seconds=60.0, minutes=0.1))  # too short to see a fall
    caps = portrait(BURST, 170 * MB)
    assert any("--drain" in what for what, _ in text.unlearnt(caps, 60.0))
    assert not any(
        "--drain" in what for what, _ in text.unlearnt(caps, 60.0, Stages(drain=drained(Bucketed())))
    )


def test_no_documented_burst_is_smaller_than_the_smallest() -> None:
    found = [
        burst / base
        for row in disk_tiers()
        for burst, base in ((row.burst_iops, row.iops), (row.burst_bytes_per_s, row.bytes_per_s))
        if burst and burst > base
    ]
    assert min(found) == pytest.approx(SMALLEST_BURST, abs=0.005)
