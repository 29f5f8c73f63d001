"""A cache that becomes warm, against what can be derived by hand."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from azbenchlib.core.errors import InputError
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.model.setup import Disk, Setup
from azbenchlib.model.warm_up import mixed_latency, steady_hit_ratio, warm_up


def test_a_cache_serves_the_share_that_it_holds() -> None:
    assert steady_hit_ratio(50, 200) == 0.25
    assert steady_hit_ratio(300, 200) == 1.0
    with pytest.raises(InputError, match="both must be above 0"):
        steady_hit_ratio(0, 200)


def test_times_are_averaged_over_ios() -> None:
    assert mixed_latency(0.75, 100, 2_100) == 600
    assert mixed_latency(1, 100, 2_100) == 100
    with pytest.raises(InputError, match="between 0 and 1"):
        mixed_latency(1.1, 100, 2_100)


def test_at_a_constant_rate_it_warms_as_an_exponential() -> None:
    """dh/dt = r (1 − h) / n gives h = 1 − exp(−r t / n)."""
    for one in warm_up(1_000, 1.0, lambda _: 500.0, 6.0):
        assert one.hit_ratio == pytest.approx(1 - math.exp(-500 * one.t_s / 1_000), abs=1e-3)


@given(some.floats(0.05, 1), some.floats(10, 1e5), some.floats(0.1, 100))
def test_it_only_becomes_warmer_and_never_beyond_what_fits(
    most: float, blocks: float, seconds: float
) -> None:
    curve = list(warm_up(blocks, most, lambda hit: 1 / mixed_latency(hit, 1e-4, 2e-3), seconds))
    hits, rates = [one.hit_ratio for one in curve], [one.iops for one in curve]
    assert hits == sorted(hits) and rates == sorted(rates)
    assert hits[0] == 0 and hits[-1] <= most


def test_the_emulated_cache_becomes_warm_as_calculated() -> None:
    """A ReadOnly cache that holds half of the data, from cold to warm, in emulated time."""
    blocks, size = 512, 512 * 4096
    setup = Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", caching="ReadOnly"),))
    machine = Machine(setup, Options(cache_bytes=size / 2))
    ios = simulate(machine, SimulatedJob(volume="data", working_set_bytes=size), 3.0)
    hit_us, miss_us = (
        ios.loc[found, "lat_us"].mean() for found in (ios["lat_us"] < 1_000, ios["lat_us"] > 1_500)
    )
    curve = list(warm_up(blocks, 0.5, lambda hit: 1e6 / mixed_latency(hit, hit_us, miss_us), 3.0))
    done = sum((a.iops + b.iops) / 2 * (b.t_s - a.t_s) for a, b in itertools.pairwise(curve))
    assert len(ios) == pytest.approx(done, rel=0.05)
    late = ios[ios["t_s"] > 2]
    assert (late["lat_us"] < 1_000).mean() == pytest.approx(0.5, abs=0.05)


def test_no_time_and_no_block_are_refused() -> None:
    with pytest.raises(InputError, match="both must be above 0"):
        list(warm_up(0, 0.5, lambda _: 1.0, 1.0))
