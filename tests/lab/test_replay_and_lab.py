"""The replay of a history and the lab's emulated VM tell of the same seconds in which a load is throttled.

They share the limits and nothing else: the lab serves I/O by I/O, through token buckets and with latencies.
"""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from azbenchlib.core.units import GIB, KIB
from azbenchlib.lab.engine.virtual_machine import READ, WRITE, Machine, Options
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import passed_limits
from azbenchlib.model.replay import replay

CREDIT_S = 20.0  # a full bucket lasts so long at the largest burst, not 30 minutes
SLACK_S = 0.1  # that an I/O may take for other reasons: its latency, a tick of the buckets
BS = 8 * KIB
RATES = (20, 60, 120, 200, 320)


def a_history(random: Random) -> LoadHistory:
    n = random.randint(6, 9)
    iops = np.array([random.choice(RATES) for _ in range(n)], dtype=float)
    iops[random.randrange(n)] = RATES[-1]
    lengths = np.array([random.choice([20.0, 30.0, 45.0]) for _ in range(n)])
    reads = iops * random.choice([0.5, 1.0])
    return LoadHistory(
        t_s=np.cumsum(lengths) - lengths,
        interval_s=lengths,
        read_iops=reads,
        write_iops=iops - reads,
        read_bytes_per_s=reads * BS,
        write_bytes_per_s=(iops - reads) * BS,
    )


def throttled_in_the_lab(setup: Setup, history: LoadHistory) -> float:
    """Each I/O is sent when the history asks for it; seconds in which one waits."""
    machine = Machine(setup, Options(credit_s=CREDIT_S, tick_s=0.0, burst_tolerance_s=0.05))
    ended: list[float] = []
    asked: list[float] = []
    for begin, length, reads, writes in zip(
        history.t_s, history.interval_s, history.read_iops, history.write_iops, strict=True
    ):
        many = round((reads + writes) * length)
        for i in range(many):
            now = begin + (i + 0.5) * length / many
            place = len(asked)
            asked.append(now)
            ended.append(np.inf)
            op = READ if writes == 0 or i % 2 else WRITE
            machine.submit(
                "data", op, (i % 1000) * BS, BS, now, lambda t, place=place: ended.__setitem__(place, t)
            )
    machine.advance(1e9)
    covered, until = 0.0, 0.0
    end = history.duration_s
    for begin, done in sorted(zip(asked, ended, strict=True)):
        if done - begin > SLACK_S:
            covered += max(0.0, min(done, end) - max(begin, until))
            until = max(until, done)
    return covered


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sampled(2)
def test_the_lab_is_throttled_as_long_as_the_replay_says(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    history = a_history(random)
    base = random.choice([80.0, 100.0, 150.0])
    disk = Disk(
        name="data",
        size_bytes=GIB,
        cap=Cap(iops=base, bytes_per_s=BS * 250.0, burst_iops=random.choice([None, 300.0])),
    )
    setup = Setup(VM(uncached=Cap(iops=180.0)), (disk,))
    limits = [
        replace(one, credit_s=one.credit_s * CREDIT_S / BURST_S) for one in passed_limits(setup, history)
    ]
    predicted = replay(limits, history).seconds
    assert predicted > 20
    assert throttled_in_the_lab(setup, history) == pytest.approx(predicted, rel=0.05, abs=1.0)
