"""The search finds what trying every design finds, and the bounds it leaves designs out by hold."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import plain_sizing
import pytest
import small_market

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit
from azbenchlib.model.replay import replay_for_good
from azbenchlib.sizing.bounds import seconds_together, throttled_alone
from azbenchlib.sizing.percentile_rule import percentile, percentile_of_peaks
from azbenchlib.sizing.requirement import SizeRequirement
from azbenchlib.sizing.search import SizeSearch


def a_history(random: Random, highest: int) -> LoadHistory:
    n = random.randint(1, 12)
    usual = random.randint(1, highest)
    iops = np.array(
        [random.choice([0, usual, random.randint(0, 2 * highest)]) for _ in range(n)], dtype=float
    )
    reads = iops * random.choice([0, 0.5, 0.75, 1])
    sizes = [np.array([random.choice([4, 64, 300]) * KIB for _ in range(n)], dtype=float) for _ in range(2)]
    lengths = np.array([random.choice([10, 60, 300, 3000]) for _ in range(n)], dtype=float)
    return LoadHistory(
        t_s=np.cumsum(lengths) - lengths,
        interval_s=lengths,
        read_iops=reads,
        write_iops=iops - reads,
        read_bytes_per_s=reads * sizes[0],
        write_bytes_per_s=(iops - reads) * sizes[1],
    )


def a_requirement(random: Random) -> SizeRequirement:
    history = a_history(random, random.choice([20, 120, 400]))
    mean = max(history.mean(history.iops), 1e-3)
    demand = Demand(
        size_bytes=random.randint(1, 12) * GIB,
        iops=mean,
        bs_bytes=max(history.mean(history.bytes_per_s) / mean, 1.0),
        cache_hit=random.choice([0, 0, 0.5, 1]),
        latency=random.choice(["premium", "premium", "submillisecond", "any"]),
        redundancy=random.choice(["LRS", "LRS", "LRS", "ZRS"]),
        headroom=1,
        vcpus=random.choice([None, None, 4]),
    )
    return SizeRequirement(
        history=history,
        demand=demand,
        throttled_s=random.choice([0, 10, 60, 300]),
        most_disks=random.choice([2, 4]),
    )


@pytest.mark.parametrize("some", range(10))
@pytest.mark.sampled(1)
def test_the_cheapest_is_what_trying_every_design_finds(some: int) -> None:
    found = 0
    for seed in range(some * 20, some * 20 + 20):
        random = Random(seed)  # noqa: S311
        market, requirement = small_market.market(random), a_requirement(random)
        expected = plain_sizing.cheapest_price(requirement, market)
        try:
            search = SizeSearch(requirement, market)
        except InputError as error:
            assert expected is None, (seed, error)
            continue
        best = search.cheapest()
        assert (best and Fraction(best.price)) == expected, seed
        if best is not None and expected is not None:
            found += 1
            assert best.replayed.seconds <= requirement.throttled_s
            recommended = search.recommended(best)
            count, price = fewest_disks(requirement, market, expected, best.setup.disks[0].count)
            assert (recommended.setup.disks[0].count, Fraction(recommended.price)) == (count, price), seed
            assert recommended.replayed.seconds <= requirement.throttled_s
    assert found > 5


def fewest_disks(
    requirement: SizeRequirement, market: Market, cheapest: Fraction, count: int
) -> tuple[int, Fraction]:
    """How many disks the recommended design has, and its price, by trying every design."""
    for fewer in range(1, count):
        price = plain_sizing.cheapest_price(replace(requirement, most_disks=fewer), market)
        if price is not None and price <= cheapest * Fraction("1.05"):
            return fewer, price
    return count, cheapest


def test_fewer_disks_are_recommended_only_within_what_they_may_cost() -> None:
    random = Random(6)  # noqa: S311
    counts: dict[bool, list[int]] = {False: [], True: []}
    for _ in range(40):
        market, requirement = small_market.market(random), a_requirement(random)
        try:
            search = SizeSearch(requirement, market)
        except InputError:
            continue
        if (cheapest := search.cheapest()) is None:
            continue
        for strictly in counts:
            search.requirement = replace(
                requirement, demand=replace(requirement.demand, strictly_cheapest=strictly)
            )
            best = search.recommended(cheapest)
            assert best.price <= cheapest.price * Decimal("1.05")
            assert not strictly or best is cheapest
            counts[strictly].append(best.setup.disks[0].count)
    assert sum(counts[False]) < sum(counts[True])


def limits_alone(random: Random, n: int) -> list[PassedLimit]:
    kinds = [np.array([random.choice([0, 1, 2, 5, 9, 14]) for _ in range(n)], dtype=float) for _ in range(2)]
    found = []
    for k in range(random.randint(1, 4)):
        base = random.choice([2.0, 3.0, 5.0, 8.0])
        burst = base + random.choice([0, 0, 4, 9])
        need = random.choice(kinds)
        credit_s = (burst / base - 1) * random.choice([10, 60])
        found.append(PassedLimit(label=f"{k}", need=need / base, burst_need=need / burst, credit_s=credit_s))
    return found


@pytest.mark.parametrize("seed", range(100))
def test_a_limit_alone_holds_back_as_long_as_its_replay(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    load = a_history(random, 10)
    limits = limits_alone(random, len(load.t_s))
    alone = [throttled_alone(limit, load.interval_s) for limit in limits]
    for limit, held in zip(limits, alone, strict=True):
        together = seconds_together([held], load.interval_s)
        assert together == pytest.approx(replay_for_good([limit], load).seconds, abs=1e-3)
    assert seconds_together(alone, load.interval_s) <= replay_for_good(limits, load).seconds + 1e-3


def test_with_loads_that_keep_their_proportions_the_bound_is_exact() -> None:
    for seed in range(50):
        random = Random(seed)  # noqa: S311
        load = a_history(random, 10)
        need = np.array([random.choice([0, 1, 2, 5, 9, 14]) for _ in load.t_s], dtype=float)
        limits = [
            PassedLimit(label="a", need=need / 3, burst_need=need / 7, credit_s=4 / 3 * 60),
            PassedLimit(label="b", need=need / 5, burst_need=need / 5, credit_s=0.0),
        ]
        alone = [throttled_alone(limit, load.interval_s) for limit in limits]
        assert seconds_together(alone, load.interval_s) == pytest.approx(
            replay_for_good(limits, load).seconds, abs=1e-3
        )


def test_more_that_may_be_throttled_is_never_dearer() -> None:
    random = Random(3)  # noqa: S311
    market, requirement = small_market.market(random), a_requirement(random)
    prices = []
    for seconds in (0, 60, 600, 6000):
        best = SizeSearch(replace(requirement, throttled_s=seconds), market).cheapest()
        prices.append(float(best.price) if best else float("inf"))
    assert prices == sorted(prices, reverse=True)


@pytest.mark.parametrize("seed", range(12))
def test_a_constant_load_gets_the_same_design_however_long_it_was_recorded(seed: int) -> None:
    """Ten minutes of it could live on credits that seven days use up."""
    random = Random(seed)  # noqa: S311
    market, requirement = small_market.market(random), a_requirement(random)
    iops, size = random.choice([20.0, 120.0, 400.0]), random.choice([4, 64, 300]) * KIB
    prices = []
    for minutes in (10, 168 * 60):
        ones = np.ones(minutes // 5)
        history = LoadHistory(
            t_s=np.arange(len(ones)) * 300.0,
            interval_s=ones * 300,
            read_iops=ones * iops,
            write_iops=ones * 0,
            read_bytes_per_s=ones * iops * size,
            write_bytes_per_s=ones * 0,
        )
        try:
            best = SizeSearch(replace(requirement, history=history, throttled_s=60), market).cheapest()
        except InputError:
            best = None
        prices.append(None if best is None else best.price)
    assert prices[0] == prices[1]


def test_the_percentile_is_of_peaks_of_ten_minutes() -> None:
    """A minute of each hour at ten times the rate is in a sixth of the peaks, a sixtieth of the time."""
    iops = np.tile(np.array([1000.0] + [100.0] * 59), 24)
    history = LoadHistory(
        t_s=np.arange(len(iops)) * 60.0,
        interval_s=np.full(len(iops), 60.0),
        read_iops=iops,
        write_iops=iops * 0,
        read_bytes_per_s=iops * KIB,
        write_bytes_per_s=iops * 0,
    )
    assert percentile(history, history.iops, 95) == 100
    assert percentile_of_peaks(history, history.iops) == 1000
    rare = replace(history, read_iops=np.where(history.t_s < 3600, history.read_iops, 100.0))
    assert percentile_of_peaks(rare, rare.iops) == 100
