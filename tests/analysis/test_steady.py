"""Steady, or not: levels and their changes, SNIA's steady state, spread, and token buckets."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import bursting, limits, logs, simulator, trace

from azbenchlib.analysis.over_time import steady, token_bucket_fit
from azbenchlib.core.errors import InputError


def white(n: int, cv: float, seed: int) -> np.ndarray:
    return 1000 * np.random.default_rng(seed).normal(1, cv, n)


def times(n: int, step: float = 0.5) -> np.ndarray:
    return np.arange(1, n + 1) * step


@pytest.mark.parametrize("tick_s", [0.037, 0.05, 0.08])
@pytest.mark.sampled(1)
def test_token_bucket_is_found_in_one_trace(tick_s: float) -> None:
    base = np.array([120.0, 500, 2300, 5000])
    burst = np.array([3500.0, 3500, 3500, 12_800])
    filled = np.array([0.3, 0.2, 0.6, 0.02])
    runtime_s = np.array([900.0, 600, 1800, 120])
    setups = bursting(base, burst, filled, runtime_s=runtime_s, tick_s=np.full(4, tick_s))
    for i, log in enumerate(logs(setups, seed=4)):
        got = token_bucket_fit.fit(log.t_s, log.iops)
        full = (burst[i] - base[i]) * 1800
        assert got is not None
        assert got.base == pytest.approx(base[i], rel=0.01)
        assert got.burst == pytest.approx(burst[i], rel=0.01)
        assert got.capacity == pytest.approx(full, rel=0.05)
        assert got.balance == pytest.approx(full * filled[i], rel=0.05)
        assert got.filled == pytest.approx(filled[i], rel=0.05)
        assert got.empty_s == pytest.approx(log.empty_s, abs=2)


def test_a_slow_start_earns_credits_that_the_fit_counts() -> None:
    rates = np.r_[np.full(200, 100.0), np.full(400, 3500.0), np.full(600, 500.0)]
    got = token_bucket_fit.fit(times(1200), rates)
    assert got is not None
    assert got.balance == pytest.approx((3500 - 500) * 200 - (500 - 100) * 100)
    assert (got.base, got.burst, got.empty_s) == (500, 3500, 300)


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param(white(240, 0.01, 0), id="no fall"),
        pytest.param(np.r_[white(100, 0.01, 0), 3 * white(100, 0.01, 1)], id="a rise"),
        pytest.param(np.r_[white(100, 0.01, 0) * 3, white(40, 0.01, 1), 2 * white(100, 0.01, 2)], id="a dip"),
    ],
)
def test_no_bucket_without_a_fall_that_lasts(rates: np.ndarray) -> None:
    assert token_bucket_fit.fit(times(rates.size), rates) is None


def test_changes_from_burst_to_base_are_found_and_no_others() -> None:
    rng = np.random.default_rng(12)
    base, filled, tick_s = rng.uniform(200, 2500, 40), rng.uniform(0.02, 0.1, 40), rng.uniform(0.03, 0.08, 40)
    hits = misses = extra = 0
    for log in logs(bursting(base, np.full(40, 3500.0), filled, tick_s=tick_s, runtime_s=400.0)):
        found = [part.end_s for part in steady.segments(log.t_s, log.iops)[:-1]]
        near = [abs(at - log.empty_s) <= 2 for at in found]
        hits, misses, extra = hits + any(near), misses + (not any(near)), extra + near.count(False)
    assert 2 * hits / (2 * hits + misses + extra) >= 0.95


@pytest.mark.parametrize("n", [60, 240, 1200])
@pytest.mark.parametrize("cv", [0.005, 0.05, 0.2])
@pytest.mark.sampled(4)
def test_white_noise_has_no_changes(n: int, cv: float) -> None:
    split = [len(steady.segments(times(n), white(n, cv, seed))) > 1 for seed in range(100)]
    assert np.mean(split) <= 0.05


def test_throttled_trace_has_one_level() -> None:
    setup = simulator.fixed(
        queue_depth=64.0, runtime_s=300.0, base=limits(disk_iops=5100), burst=limits(disk_iops=5100)
    )
    (only,) = steady.segments(*trace(setup))
    assert only.mean == pytest.approx(5100, rel=0.002)
    assert (only.start_s, only.end_s, only.n) == (0, 300, 600)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=4, unique=True), st.integers(0, 3), st.floats(1, 1e6)
)
def test_levels_cover_the_trace_and_scale_with_it(levels: list[int], seed: int, scale: float) -> None:
    rates = np.concatenate([np.full(60, float(level)) for level in levels])
    rates *= np.random.default_rng(seed).normal(1, 0.001, rates.size)
    found = steady.segments(times(rates.size), rates)
    assert found[0].start_s == 0 and found[-1].end_s == rates.size / 2
    assert all(a.end_s == b.start_s for a, b in pairwise(found))
    assert sum(part.n for part in found) == rates.size
    assert [round(part.mean) for part in found] == levels
    scaled = steady.segments(times(rates.size), rates * scale)
    np.testing.assert_allclose(
        [part.mean for part in scaled], [part.mean * scale for part in found], rtol=1e-9
    )


def test_short_and_empty_traces() -> None:
    assert steady.segments([], []) == []
    assert steady.segments([0.5], [3.0]) == [steady.Segment(0.0, 0.5, 3.0, 1)]
    (only,) = steady.segments([1, 2, 3, 4], [5, np.nan, 7, 6])
    assert (only.mean, only.n) == (6, 3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_a_level_has_three_samples(noise: float) -> None:
    for place in (0, 20, 37):
        for n in (1, 2, 3):
            rates = np.full(40, 1000.0)
            rates[place : place + n] = 2000
            rates *= np.random.default_rng(3).normal(1, noise, 40)
            sizes = [level.n for level in steady.segments(times(40, 45.0), rates)]
            wanted = [size for size in (place, n, 40 - place - n) if size]
            assert min(sizes) >= steady.LEVEL_SAMPLES
            assert sizes == wanted if n == 3 else len(sizes) < len(wanted) or sizes == [40]


def test_a_trace_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="2 times and 3 values"):
        steady.segments([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="do not rise at 2 s"):
        steady.segments([1, 2, 2], [1, 2, 3])


def test_spread_tells_throttled_from_latency_bound() -> None:
    caps = {"base": limits(disk_iops=1122), "burst": limits(disk_iops=1122)}
    throttled = steady.variation(*trace(simulator.fixed(queue_depth=16.0, **caps)))
    free = steady.variation(*trace(simulator.fixed(drift=0.06)))
    assert throttled is not None and throttled.high < 0.01
    assert free is not None and free.low > 0.02
    assert steady.variation(times(79), white(79, 0.1, 0)) is None  # 59 after the first 10 s


@pytest.mark.parametrize("memory", [0.0, 0.3])
@pytest.mark.sampled(1)
def test_interval_of_the_spread_holds_the_truth(memory: float) -> None:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(200):
        noise = rng.normal(0, np.sqrt(1 - memory**2), 720)
        for i in range(1, noise.size):
            noise[i] += memory * noise[i - 1]
        found = steady.variation(times(720), 1000 + 30 * noise)
        assert found is not None
        held += found.low <= 0.03 <= found.high
    assert 0.89 <= held / 200 <= 0.99
