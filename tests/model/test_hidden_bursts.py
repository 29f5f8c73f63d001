"""What a minute hides is bounded: however the load of each interval came, no more is throttled."""

import math
from random import Random

import numpy as np
import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.model.hidden_bursts import throttled_at_most_s
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit
from azbenchlib.model.replay import replay_for_good

PART_S = 10.0  # the load of an interval came in such parts
PARTS = 6


def loads(n: int, seconds: float) -> LoadHistory:
    ones = np.ones(n)
    return LoadHistory(
        t_s=np.arange(n) * seconds, interval_s=ones * seconds, read_iops=ones, write_iops=ones * 0,
        read_bytes_per_s=ones, write_bytes_per_s=ones * 0,
    )  # fmt: skip


def limits(random: Random, need: np.ndarray) -> list[PassedLimit]:
    found = []
    for k in range(random.randint(1, 3)):
        base = random.choice([4.0, 6.0, 9.0])
        burst = base + random.choice([0, 0, 6, 20])
        credit_s = (burst / base - 1) * random.choice([20, 200])
        found.append(PassedLimit(label=f"{k}", need=need / base, burst_need=need / burst, credit_s=credit_s))
    return found


@pytest.mark.parametrize("seed", range(150))
def test_no_way_in_which_the_load_came_is_throttled_longer(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    n = random.randint(1, 15)
    means = np.array([random.choice([0, 0.5, 1, 2, 3, 5]) for _ in range(n)])
    parts = np.array([_parts(random, mean) for mean in means])
    of_means, of_parts = limits(Random(seed), means), limits(Random(seed), parts.ravel())  # noqa: S311
    most = throttled_at_most_s(of_means, loads(n, PART_S * PARTS))
    for replayed in (
        replay_for_good(of_parts, loads(n * PARTS, PART_S)),
        replay_for_good(of_means, loads(n, PART_S * PARTS)),
    ):
        assert replayed.credits_last_s is not None or replayed.seconds <= most + 1e-6


def _parts(random: Random, mean: float) -> list[float]:
    kind = random.choice(["all at once", "at the end", "even", "any"])
    weights = {
        "all at once": [1, 0, 0, 0, 0, 0],
        "at the end": [0, 0, 0, 0, 0, 1],
        "even": [1] * PARTS,
        "any": [random.random() for _ in range(PARTS)],
    }[kind]
    return [mean * PARTS * weight / sum(weights) for weight in weights]


def test_a_setup_is_busy_for_its_share_of_each_interval() -> None:
    need = np.array([0.25, 0.5, 0.0])
    (limit,) = [PassedLimit(label="a", need=need, burst_need=need, credit_s=0.0)]
    assert throttled_at_most_s([limit], loads(3, 60)) == pytest.approx(45)
    # bursts of up to twice the mean fit the limit
    assert throttled_at_most_s([limit], loads(3, 60), burst_factor=2) == 0
    assert throttled_at_most_s([limit], loads(3, 60), burst_factor=3) == pytest.approx(30)
    assert throttled_at_most_s([limit], loads(3, 60), burst_factor=math.inf) == pytest.approx(45)


def test_a_factor_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="1 or more"):
        throttled_at_most_s([], loads(1, 60), burst_factor=0.5)
