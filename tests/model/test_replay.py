"""The replay of a history equals one that goes second by second, and what can be derived by hand."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import plain_replay
import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit, ios_counted, passed_limits
from azbenchlib.model.replay import replay, replay_for_good

KIB = 1024


def history(rows: list[tuple[int, float, float]], bs: float = 8 * KIB) -> LoadHistory:
    """Seconds, reads and writes per second of each interval."""
    seconds, reads, writes = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return LoadHistory(
        t_s=np.cumsum(seconds) - seconds,
        interval_s=seconds,
        read_iops=reads,
        write_iops=writes,
        read_bytes_per_s=reads * bs,
        write_bytes_per_s=writes * bs,
    )


def disk_of(cap: Cap, vm: VM | None = None, **more: object) -> Setup:
    return Setup(vm or VM(), (Disk(name="data", cap=cap, **more),))


def served(setup: Setup, load: LoadHistory):
    return replay(passed_limits(setup, load), load)


def test_what_is_above_the_limit_waits_until_it_is_served() -> None:
    load = history([(60, 100, 0), (60, 300, 0), (60, 50, 0), (60, 50, 0)])
    found = served(disk_of(Cap(iops=200)), load)
    # a minute of 100 too many is 6,000 I/Os; 150 a second are free then: 40 s more
    (held,) = found.throttled
    assert (held.start_s, held.end_s) == pytest.approx((60, 160))
    assert held.labels == ("disk_iops",)
    # the last I/O of the second minute is served when 12,000 more were: 90 s after it began, 30 s late
    assert held.delay_s == pytest.approx(30)
    assert found.seconds == pytest.approx(100)
    assert found.left_s == 0


def test_credits_carry_a_burst_as_long_as_they_last() -> None:
    # 3,500 of 500: a full bucket is 3,000 x 1,800 I/Os and lasts 1,800 s at the largest burst
    load = history([(600, 100, 0), (2000, 3500, 0), (36_000, 100, 0)])
    found = served(disk_of(Cap(iops=500, burst_iops=3500)), load)
    (held,) = found.throttled
    assert held.start_s == pytest.approx(600 + 1800)
    # 200 s at 3,000 too many, then 400 a second are free
    assert held.end_s == pytest.approx(2600 + 200 * 3000 / 400)
    ((label, left),) = found.credits
    assert label == "disk_burst_iops"
    assert left[0] == 1 and left[1] == 0
    back = (36_000 - 1500) * 400 / (3000 * 1800)
    assert left[2] == pytest.approx(min(1, back))


def test_an_io_of_more_than_256_kib_counts_for_several() -> None:
    load = history([(10, 100, 0), (10, 0, 0)], bs=512 * KIB)
    found = served(disk_of(Cap(iops=100), sku="Premium_LRS"), load)
    assert found.seconds == pytest.approx(20)
    assert served(disk_of(Cap(iops=200), sku="Premium_LRS"), load).seconds == 0
    assert ios_counted(np.array([3.0]), np.array([3.0 * 262_144]), 262_144)[0] == 1


def test_hits_of_a_host_cache_pass_the_cached_limit_alone() -> None:
    load = history([(10, 1000, 0)])
    vm = VM(uncached=Cap(iops=300), cached=Cap(iops=2000))
    assert served(disk_of(Cap(), vm, caching="ReadOnly", cache_hit=0.7), load).seconds == 0
    assert served(disk_of(Cap(), vm, caching="ReadOnly", cache_hit=0.6), load).seconds == pytest.approx(10)


def test_what_one_limit_delays_is_met_later_by_another() -> None:
    """Small I/Os that wait are served together with the large ones after them, in order."""
    small, large = (100.0, 100.0 * 4 * KIB), (10.0, 10.0 * 1_000 * KIB)
    load = LoadHistory(
        t_s=np.array([0.0, 10.0, 20.0]),
        interval_s=np.array([10.0, 10.0, 10.0]),
        read_iops=np.array([small[0], large[0], 0]),
        write_iops=np.zeros(3),
        read_bytes_per_s=np.array([small[1], large[1], 0]),
        write_bytes_per_s=np.zeros(3),
    )
    setup = disk_of(Cap(iops=80, bytes_per_s=large[1]))
    (held,) = served(setup, load).throttled
    # 2.5 s late at 10 s; the large ones run at their limit, so they stay 2.5 s late until none come
    assert (held.start_s, held.end_s) == pytest.approx((0, 22.5))
    assert held.labels == ("disk_iops", "disk_mbps")  # 12.5 s of it, then 10


def limits_of(random: Random, lengths: list[int]) -> list[plain_replay.PlainLimit]:
    found = []
    kinds = [[Fraction(random.choice([0, 1, 2, 5, 9, 14, 30])) for _ in lengths] for _ in range(2)]
    for _ in range(random.randint(1, 4)):
        base = Fraction(random.choice([3, 5, 6, 8, 12, 20]))
        burst = base + random.choice([0, 0, 4, 10])
        amounts = random.choice(kinds)
        found.append(
            plain_replay.PlainLimit(
                [amount / base for amount in amounts],
                [amount / burst for amount in amounts],
                (burst / base - 1) * random.choice([3, 10, 60]),
            )
        )
    return found


def of_plain(limits: list[plain_replay.PlainLimit]) -> list[PassedLimit]:
    return [
        PassedLimit(
            label=f"limit {k}",
            need=np.array([float(need) for need in limit.need]),
            burst_need=np.array([float(need) for need in limit.burst_need]),
            credit_s=float(limit.full),
        )
        for k, limit in enumerate(limits)
    ]


@pytest.mark.parametrize("seed", range(200))
def test_it_equals_a_replay_second_by_second(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    lengths = [random.choice([1, 2, 5, 10, 30]) for _ in range(random.randint(1, 12))]
    limits = limits_of(random, lengths)
    waited, balances, left = plain_replay.throttled(limits, lengths)
    load = history([(length, 1, 0) for length in lengths])
    found = replay(of_plain(limits), load)
    ends = np.cumsum(lengths)
    assert found.seconds == pytest.approx(float(sum(waited)), abs=1e-4)
    assert found.left_s == pytest.approx(float(left), abs=1e-4)
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        inside = sum(max(0.0, min(end, one.end_s) - max(begin, one.start_s)) for one in found.throttled)
        assert inside == pytest.approx(float(sum(waited[begin:end])), abs=1e-4)
    for k, (label, shares) in enumerate(found.credits):
        limit = int(label.split()[1])
        told = [float(balances[end - 1][limit] / limits[limit].full) for end in ends]
        assert shares.tolist() == pytest.approx(told, abs=1e-5), (k, label)


def test_nothing_documented_limits_nothing_and_is_refused() -> None:
    load = history([(10, 100, 0)])
    with pytest.raises(InputError, match="no limit of it is documented"):
        served(disk_of(Cap()), load)


def test_a_negative_or_missing_figure_is_refused() -> None:
    with pytest.raises(InputError, match="read_iops"):
        history([(10, float("nan"), 0)])
    with pytest.raises(InputError, match="at least one"):
        LoadHistory(**dict.fromkeys(("t_s", "interval_s", "read_iops", "write_iops", "read_bytes_per_s",
                                     "write_bytes_per_s"), np.array([])))  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_a_history_that_comes_again_and_again_is_served_as_in_its_last_pass(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    load = history([(random.choice([10, 60]), random.choice([0, 100, 400, 900]), 0) for _ in range(8)])
    setup = disk_of(Cap(iops=500, burst_iops=800, bytes_per_s=6e6), VM(uncached=Cap(iops=700)))
    limits = [replace(limit, credit_s=limit.credit_s / 60) for limit in passed_limits(setup, load)]
    steady = replay_for_good(limits, load)
    passes = [
        replay([limit.repeated(times) for limit in limits], load.repeated(times)).seconds
        for times in (39, 40)
    ]
    if steady.credits_last_s is None:
        assert steady.seconds == pytest.approx(passes[1] - passes[0], abs=1e-3)
        assert steady.seconds == pytest.approx(sum(one.seconds for one in steady.throttled))
    else:
        assert passes[1] - passes[0] == pytest.approx(load.duration_s) == steady.seconds


def test_credits_last_as_long_as_the_mean_is_above_the_base() -> None:
    """A constant load of 1.5 times the base spends half of it a second, however long it was recorded."""
    for hours in (1, 4, 168):
        load = history([(3600, 750, 0)] * hours)
        served_again = replay_for_good(passed_limits(disk_of(Cap(iops=500, burst_iops=3500)), load), load)
        assert served_again.credits_last_s == pytest.approx(3000 / 500 * 1800 / 0.5)
        assert served_again.seconds == load.duration_s
    load = history([(3600, 750, 0), (3600, 200, 0)])
    again = replay_for_good(passed_limits(disk_of(Cap(iops=500, burst_iops=3500)), load), load)
    assert again.credits_last_s is None and again.seconds == 0
