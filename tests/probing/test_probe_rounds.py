"""Loads that are compared round by round: known costs must be found again, with intervals that hold them."""

import json

import numpy as np
import pytest
from test_probe_naming import portrait

from azbenchlib.core.units import MB, US_PER_S
from azbenchlib.probing import text
from azbenchlib.probing.rounds import A_FILE_EACH, EACH_LOAD, ONE_JOB, SHARED, RoundRun, Rounds, RoundShown
from azbenchlib.probing.stages import Stages
from azbenchlib.probing.to_json import told_by_rounds

DISK = portrait(5_000, 200 * MB)
WRITE_US, FSYNC_US, GAINS = 400.0, 1_500.0, {SHARED: 1.0, A_FILE_EACH: 1.6}


def rate(run: RoundRun, rng: np.random.Generator, scatter: float) -> float:
    us = WRITE_US + (FSYNC_US if run.load.fsync else 0.0)
    return US_PER_S / us * GAINS.get(run.load, 1.0) * float(np.exp(rng.normal(0, scatter)))


def made(rounds: Rounds, seed: int = 1, scatter: float = 0.01) -> Rounds:
    rng = np.random.default_rng(seed)
    while run := rounds.next(DISK):
        rounds.tell(RoundShown(run=run, iops=rate(run, rng, scatter)))
    return rounds


def asked(files: bool = True) -> Stages:
    return Stages.asked(seconds=2.0, size_bytes=1 << 30, fsync=True, jobs=True, files=files)


def test_the_cost_of_an_fsync_is_found() -> None:
    held = 0
    for seed in range(100):
        rounds = asked().fsync
        assert rounds
        found = made(rounds, seed).longer_us()
        assert found and found.value == pytest.approx(FSYNC_US, rel=0.05)
        held += found.low <= FSYNC_US <= found.high
    assert 88 <= held <= 100  # 95 expected
    assert text.synced(rounds).startswith("An fsync after each write of 4 KiB makes it 1.")


def test_jobs_and_files_are_compared_with_one_job() -> None:
    rounds = asked().jobs
    assert rounds
    made(rounds)
    assert [one.run.load for one in rounds.shown[:3]] == [ONE_JOB, SHARED, A_FILE_EACH]
    assert len(rounds.shown) == 3 * EACH_LOAD
    for load, gain in GAINS.items():
        found = rounds.times_as_many(load)
        assert found and found.value == pytest.approx(gain, rel=0.03) and found.low < gain < found.high
    told = text.parallel(rounds)
    assert "of one job on the same data, and 1.6" in told and told.endswith("with a file each.")


def test_a_device_has_no_files_and_what_was_not_made_is_not_told() -> None:
    stages = asked(files=False)
    assert stages.jobs and stages.fsync and A_FILE_EACH not in stages.jobs.loads
    assert [text.parallel(stages.jobs), text.synced(stages.fsync)] == [
        "Whether several jobs reach more than one was not learnt.",
        "What an fsync costs was not learnt.",
    ]
    assert told_by_rounds(stages)["fsync"] == {"longer_us": None, "runs": []}
    made(stages.jobs)
    assert json.dumps(told_by_rounds(stages)["jobs"]).count('"value"') == 1


def test_a_run_that_wrote_nothing_is_left_out_with_its_round() -> None:
    rng = np.random.default_rng(1)
    for dead in (1, EACH_LOAD):  # rounds without a write: one, then all of them
        stages = asked()
        assert stages.fsync and stages.jobs
        for rounds in (stages.fsync, stages.jobs):
            for run in rounds.runs():
                silent = run.load == rounds.loads[1] and run.number <= dead
                rounds.tell(RoundShown(run=run, iops=0.0 if silent else rate(run, rng, 0.01)))
        longer, times = stages.fsync.longer_us(), stages.jobs.times_as_many(SHARED)
        if dead == EACH_LOAD:
            assert longer is times is None
            assert text.synced(stages.fsync) == "What an fsync costs was not learnt."
        else:
            assert longer and longer.value == pytest.approx(FSYNC_US, rel=0.05)
            assert times and times.value == pytest.approx(GAINS[SHARED], rel=0.05)


def test_a_free_fsync_is_bounded() -> None:
    rounds = asked().fsync
    assert rounds
    rng = np.random.default_rng(1)
    for run in rounds.runs():
        rounds.tell(RoundShown(run=run, iops=2_500 * float(np.exp(rng.normal(0, 0.01)))))
    assert text.synced(rounds).startswith("No cost of an fsync") and "at most" in text.synced(rounds)
