"""Burst credits: the documented buckets, by hand, and that no credit is lost or made."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB
from azbenchlib.model.credits import Bucket, balance, buckets
from azbenchlib.model.setup import Cap

P4 = Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB)
P20 = Cap(iops=2300, bytes_per_s=150 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB)
L8S_V2 = Cap(iops=8000, bytes_per_s=160 * MB, burst_iops=8000, burst_bytes_per_s=1280 * MB)


def test_the_buckets_of_a_p4_are_those_of_the_tier_table() -> None:
    """6,084,000 I/Os, back in 50,700 s; 261,000 MB, back in 10,440 s (disk-bursting.md, 2023-05-02)."""
    iops, size = buckets(P4).values()
    assert (iops.capacity, iops.time_to_empty(), iops.time_to_refill()) == (6_084_000, 1800, 50_700)
    assert (size.capacity / MB, size.time_to_refill()) == (261_000, 10_440)
    assert buckets(P20)["iops"].time_to_refill() == pytest.approx(2_160_000 / 2300)  # 16 minutes


def test_there_is_a_bucket_only_where_there_is_a_burst() -> None:
    assert set(buckets(L8S_V2)) == {"bytes_per_s"} and not buckets(Cap(iops=5000, bytes_per_s=200 * MB))
    with pytest.raises(InputError, match="not above"):
        Bucket(5000, 5000)


def test_a_partial_burst_lasts_longer_and_none_lasts_for_ever() -> None:
    bucket = buckets(P4)["iops"]
    assert bucket.time_to_empty(1120) == pytest.approx(6_084_000 / 1000)
    assert bucket.time_to_empty(120) == math.inf == bucket.time_to_refill(120)
    assert bucket.time_to_empty(9999, balance=3380) == 1
    assert bucket.time_to_refill(20, balance=6_083_900) == 1
    assert bucket.time_to_refill(balance=bucket.capacity) == 0


def test_a_burst_ends_at_the_base_and_rest_brings_it_back() -> None:
    bucket = Bucket(100, 300, window_s=10)
    got = [
        (s.start_s, s.end_s, s.delivered, s.balance_end)
        for s in balance(bucket, [(30, 500), (50, 0), (1, 200)])
    ]
    assert got == [
        (0, 10, 300, 0),
        (10, 30, 100, 0),
        (30, 50, 0, 2000),
        (50, 80, 0, 2000),
        (80, 81, 200, 1900),
    ]


def test_a_p4_measured_for_a_minute_never_shows_its_base() -> None:
    (only,) = balance(buckets(P4)["iops"], [(60, 3500)])
    assert only.delivered == 3500
    assert only.balance_start - only.balance_end == 60 * 3380  # 3.3 % of the bucket


@pytest.mark.parametrize(("start", "steps"), [(-1, []), (1e9, []), (None, [(-1, 5)]), (None, [(1, -5)])])
def test_impossible_loads_are_refused(start: float | None, steps: list[tuple[float, float]]) -> None:
    with pytest.raises(InputError):
        list(balance(Bucket(100, 300), steps, start))


@given(
    st.floats(0, 1e4),
    st.floats(1, 1e5),
    st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 2e5)), max_size=8),
    st.floats(0, 1),
)
def test_credits_are_conserved(
    base: float, more: float, steps: list[tuple[float, float]], full: float
) -> None:
    """What was there and what came in is what went out, what overflowed and what is left."""
    bucket = Bucket(base, base + more)
    start = full * bucket.capacity
    stretches = list(balance(bucket, steps, start))
    overflow = sum(
        (s.end_s - s.start_s) * max(base - s.delivered, 0)
        for s in stretches
        if s.balance_start == bucket.capacity
    )
    net = sum((s.end_s - s.start_s) * (base - s.delivered) for s in stretches)
    end = stretches[-1].balance_end if stretches else start
    moved = sum(abs(s.end_s - s.start_s) * (base + s.delivered) for s in stretches)
    assert end == pytest.approx(start + net - overflow, rel=1e-6, abs=1e-6 * (moved + bucket.capacity))
    assert all(
        0 <= s.balance_end <= bucket.capacity and s.delivered <= min(s.rate, bucket.burst) for s in stretches
    )
    assert sum(s.end_s - s.start_s for s in stretches) == pytest.approx(sum(seconds for seconds, _ in steps))
