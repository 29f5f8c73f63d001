"""What is told of the time within intervals is what random loads do, and certain where nothing is hidden."""

from random import Random

import numpy as np
import pytest

from azbenchlib.model.burstiness import _GROWTHS, Burstiness
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit
from azbenchlib.model.replay import replay_for_good


def a_history(iops: np.ndarray, interval_s: float) -> LoadHistory:
    lengths = np.full(len(iops), float(interval_s))
    return LoadHistory(
        t_s=np.arange(len(iops)) * float(interval_s),
        interval_s=lengths,
        read_iops=iops,
        write_iops=iops * 0,
        read_bytes_per_s=iops * 4096,
        write_bytes_per_s=iops * 0,
    )


def a_cascade(seed: int, seconds: int, bias: float) -> np.ndarray:
    dice = np.random.default_rng(seed)
    load = np.ones(1)
    while len(load) < seconds:
        share = np.where(dice.random(len(load)) < 0.5, bias, 1 - bias)
        load = np.stack([2 * load * share, 2 * load * (1 - share)], axis=1).ravel()
    return load[:seconds] * 1000


def waits_s(load: np.ndarray, limit: float) -> float:
    """How long a load by the second waits at a limit, by the replay."""
    need = load / limit
    alone = PassedLimit(label="a", need=need, burst_need=need, credit_s=0.0)
    return replay_for_good([alone], a_history(load, 1)).seconds


def test_a_recording_by_the_second_hides_nothing() -> None:
    load = np.random.default_rng(1).lognormal(6, 0.5, 600)
    bursts = Burstiness(a_history(load, 1))
    assert bursts.is_known and bursts.is_fine and not bursts.is_constant
    need = load / np.sort(load)[-5]
    assert bursts.probability(need, 3.0) == 0 and bursts.probability(need, 4.0) == 1


@pytest.mark.parametrize("interval", [10, 60, 600])
def test_a_constant_load_is_constant_within_its_intervals(interval: int) -> None:
    for n in (2, 24, 1008):
        bursts = Burstiness(a_history(np.full(n, 5000.0), interval))
        assert bursts.is_constant and bursts.is_known
        assert bursts.probability(np.full(n, 0.999), 0.0) == 1


def test_one_mean_tells_nothing_of_its_seconds() -> None:
    bursts = Burstiness(a_history(np.full(1, 5000.0), 600))
    assert not bursts.is_constant and not bursts.is_known
    assert bursts.probability(np.full(1, 0.9), 60.0) < 0.5


def test_more_time_and_more_limit_are_never_less_probable() -> None:
    random = Random(3)  # noqa: S311
    load = a_cascade(2, 7200, 0.65).reshape(-1, 60).mean(axis=1)
    bursts = Burstiness(a_history(load, 60))
    for _ in range(20):
        limit = random.uniform(1, 8) * load.mean()
        chances = [bursts.probability(load / limit, seconds) for seconds in (0, 10, 60, 600, 7200)]
        assert chances == sorted(chances)
        assert bursts.probability(load / limit / 2, 60) >= bursts.probability(load / limit, 60) - 1e-9
        seconds = bursts.at_most_s(load / limit, 0.95)
        assert bursts.probability(load / limit, seconds) == pytest.approx(0.95, abs=1e-6) or seconds == 0


@pytest.mark.parametrize("interval", [10, 60])
def test_a_limit_with_the_probability_keeps_the_time(interval: int) -> None:
    """Of loads known by the second that differ in how bursty they are."""
    kept = {True: 0, False: 0}  # with the probability, and for an even load
    for seed in range(20):
        load = a_cascade(seed, 7200, 0.55 + seed / 100)
        means = load.reshape(-1, interval).mean(axis=1)
        bursts = Burstiness(a_history(means, interval))
        highest = bursts.highest_need(means / means.max(), 60, 0.95)
        kept[True] += waits_s(load, means.max() / highest) <= 60
        kept[False] += waits_s(load, means.max()) <= 60
    assert kept[True] >= 18 > kept[False], kept


def test_a_burst_factor_bounds_what_is_hidden() -> None:
    load = a_cascade(4, 7200, 0.7).reshape(-1, 60).mean(axis=1)
    need = load / load.max() / 3.5
    assert Burstiness(a_history(load, 60), 3).probability(need, 0) == 1
    assert Burstiness(a_history(load, 60)).probability(need, 0) < 0.9


def test_what_comes_above_a_limit_grows_with_the_need() -> None:
    load = a_cascade(5, 7200, 0.7).reshape(-1, 60).mean(axis=1)
    bursts = Burstiness(a_history(load, 60))
    shares = np.linspace(0, 3, 40)
    excess = [float(bursts.excess(np.full(len(load), share))[0]) for share in shares]
    assert excess[0] == 0 and np.all(np.diff(excess) >= -1e-9)
    assert excess[-1] >= (shares[-1] - 1) * 60  # all that comes is above the base, and more


@pytest.mark.parametrize("interval", [10, 60])
def test_noise_without_memory_is_told_from_loads_that_are_as_uneven_on_each_scale(interval: int) -> None:
    """Its means tell little of its seconds: they are twice as uneven on half the scale."""
    dice = np.random.default_rng(5)
    loads = {
        "noise": dice.lognormal(6, 0.8, 14_400),
        "cascade": a_cascade(5, 14_400, 0.58),
    }
    weights = {
        name: Burstiness(a_history(load.reshape(-1, interval).mean(axis=1), interval))._growths
        for name, load in loads.items()
    }
    assert all(sum(each) == pytest.approx(1, abs=0.01) for each in weights.values())
    assert weights["noise"][-1] > 2 * weights["cascade"][-1]
    # three means have no scales to compare: what was thought before holds
    few = Burstiness(a_history(loads["noise"][:30].reshape(-1, 10).mean(axis=1), 10))
    assert few._growths == tuple(weight for _, weight in _GROWTHS)


def test_noise_without_memory_keeps_its_time_from_means_of_ten_seconds() -> None:
    kept = 0
    for seed in range(12):
        load = np.random.default_rng(seed).lognormal(6, 0.6, 7200)
        means = load.reshape(-1, 10).mean(axis=1)
        shape = means / means.max()
        limit = means.max() / Burstiness(a_history(means, 10)).highest_need(shape, 60.0, 0.95)
        kept += waits_s(load, limit) <= 60
    assert kept >= 10
