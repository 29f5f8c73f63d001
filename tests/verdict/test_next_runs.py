"""The run that an unsure verdict proposes settles what is open, and else is the run that was made."""

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import next_runs
import numpy as np
import pandas as pd
import pytest
from test_verdict_judgement import D8S, P4, P30, run

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import GIB, KIB, MB
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import Flow, Judgement, NextRun, judge, judge_sweep
from azbenchlib.verdict.next_run import trials

E20 = Disk(
    name="e20",
    sku="StandardSSD_LRS",
    tier="E20",
    cap=Cap(iops=500, bytes_per_s=60 * MB, burst_iops=600, burst_bytes_per_s=150 * MB),
)
PREMIUM, BURSTING = Setup(D8S, (P30,)), Setup(D8S, (E20,))
TEMP = Setup(VM(temp=Cap(iops=16_000, bytes_per_s=128 * MB)), (Disk(name="temp", role="temp"),))
SHORT_S = 90.0  # of the runs that are simulated, so that the test is short too
WAITS = run(iops=3600, queue_depth=8)  # latency, or something that no document knows


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return next_runs.checked(next_runs.undecided(24, rng, 130, SHORT_S), rng, SHORT_S)


def test_a_proposed_run_gives_another_rate_in_the_world_of_each_hypothesis(found: pd.DataFrame) -> None:
    run_in_both = found[found[["rate_0", "rate_1"]].notna().all(axis=1)]
    assert len(run_in_both) >= 8 and run_in_both["kind"].nunique() >= 2
    assert run_in_both["apart"].mean() >= 0.9


def proposed(seen: Observation, setup: Setup = PREMIUM, *others: Observation) -> NextRun:
    judged = judge(seen, setup, other_runs=others)
    assert judged.next_run is not None, judged.why_no_run
    return judged.next_run


def lines(seen: Observation, setup: Setup = PREMIUM) -> list[str]:
    return proposed(seen, setup).job.splitlines()


CASES = [
    (run(iops=9000, direct=False), PREMIUM, "direct I/O", "direct=1"),
    (WAITS, PREMIUM, "queue depth", "iodepth=16"),
    (run(iops=2500, numjobs=4, cpu_pct=99), PREMIUM, "jobs", "numjobs=8"),
    (run(iops=579, bs_bytes=8 * KIB), BURSTING, "credits spent", "runtime=2580"),
    (run(iops=3499), Setup(D8S, (P4,)), "credits spent", "runtime=2160"),
    (run(iops=2500, queue_depth=16, unloaded_us=2300), PREMIUM, "no pauses", "iodepth=16"),
]


@pytest.mark.parametrize(("seen", "setup", "kind", "line"), CASES)
def test_what_differs_is_what_the_hypotheses_differ_in(
    seen: Observation, setup: Setup, kind: str, line: str, tmp_path: Path
) -> None:
    following = proposed(seen, setup)
    assert following.kind == kind and line in following.job.splitlines()
    fio_takes(following.job, tmp_path)


def test_the_advice_says_what_to_expect() -> None:
    following = proposed(WAITS)
    assert following.advice == (
        "double the queue depth to 16 (latency at this queue depth: 5,000 IOPS; an unknown cause: 3,600 IOPS)"
    )
    assert following.expected == pytest.approx({"latency_qd": 5000, "unknown": 3600}, rel=1e-3)
    assert judge(WAITS, PREMIUM).words.startswith("Probably") and following.action in following.advice


def test_a_sure_burst_is_followed_until_its_base_shows() -> None:
    following = proposed(run(iops=3499), Setup(D8S, (P4,)))
    assert following.advice == "run for 36 min, until the credits are spent (then 120 IOPS are expected)"
    assert [line for line in following.job.splitlines() if line.startswith("[")] == [
        *("[global]", "[spend]", "[after]")
    ]


def test_burst_and_base_of_one_disk_are_not_told_apart_by_another_disk() -> None:
    for iops in (560, 566, 579, 590):
        judged = judge(run(iops=iops, bs_bytes=8 * KIB), BURSTING)
        assert judged.next_run is None or judged.next_run.kind == "credits spent"


def test_what_was_run_for_an_hour_is_not_run_for_less() -> None:
    hour = run(iops=579, bs_bytes=8 * KIB, runtime_s=3600.0)
    judged = judge(hour, BURSTING)
    assert judged.next_run is None or judged.next_run.kind != "credits spent"


def test_where_all_rates_come_out_alike_there_is_no_run_and_a_reason() -> None:
    """Both limits of the temp disk lie within 2 % of each other, and of the rate."""
    judged = judge(run(iops=14_900, bs_bytes=8 * KIB, read_share=0.5), TEMP)
    assert judged.next_run is None
    assert judged.why_no_run == "both causes would give nearly the same rate in every run that was simulated"
    unsure = judge(run(iops=9000), PREMIUM)  # a wrong figure, or a limit that is passed
    assert unsure.next_run is None or unsure.next_run.kind != "credits spent"


def test_the_vm_alone_is_told_from_what_is_not_stated(tmp_path: Path) -> None:
    """No disk is stated: the burst of the VM, at a depth that reaches it, shows whether its limit bound."""
    vm = VM(uncached=Cap(iops=12_800, bytes_per_s=290 * MB, burst_iops=20_000, burst_bytes_per_s=600 * MB))
    judged = judge(run(iops=12_700, queue_depth=64), Setup(vm))
    assert judged.binding == ("vm_uncached_iops",) and judged.probability < 0.95
    assert judged.next_run is not None and judged.open_fact is not None
    assert (
        judged.next_run.kind == "rest before" and "and run at a queue depth of 128" in judged.next_run.action
    )
    assert judged.next_run.expected == {"vm_uncached_iops": 20_000, "unknown": 12_700}
    fio_takes(judged.next_run.job, tmp_path)


def test_a_limit_without_a_figure_is_a_fact_to_state() -> None:
    fast = run(iops=9000, queue_depth=64, unloaded_us=200, cpu_pct=20)
    judged = judge(fast, Setup(D8S, (Disk(name="d", sku="Premium_LRS"),)))
    assert judged.open_fact == "no figure of the disk IOPS limit is documented, and it may bind"
    nothing = judge(fast, Setup(VM(), TEMP.disks))
    assert nothing.next_run is None and nothing.why_no_run and nothing.open_fact
    assert nothing.why_no_run.endswith("so that its rates cannot be predicted")
    assert nothing.why_no_run not in nothing.words


def test_buffered_io_that_nothing_else_tells_apart_is_run_past_the_page_cache() -> None:
    judged = judge(run(iops=16_200, direct=False, queue_depth=64), TEMP)
    assert judged.binding == ("temp_iops",) and judged.runner_up == "page_cache"
    assert judged.next_run is not None
    assert judged.next_run.advice == "run with direct=1 (then 16,000 IOPS are expected)"


def test_buffered_io_that_is_slower_than_memory_needs_no_such_run() -> None:
    at_limit = judge(run(iops=5050, direct=False, queue_depth=64), PREMIUM)
    assert at_limit.binding == ("disk_iops",) and at_limit.probability > 0.95 and not at_limit.next_run


def sweep(rates: dict[int, float]) -> Judgement:
    flows = [Flow(observation=run(queue_depth=depth, iops=rate)) for depth, rate in rates.items()]
    return judge_sweep(flows, PREMIUM)


def test_what_the_data_hold_is_not_proposed() -> None:
    rates = {1: 450.0, 2: 900.0, 4: 1800.0, 8: 3600.0, 16: 3700.0, 32: 3710.0, 64: 3700.0, 128: 3705.0}
    depths = {
        next_runs.sections(point.next_run.job)["next"]["iodepth"]
        for point in sweep(rates).points
        if point.next_run and point.next_run.kind == "queue depth"
    }
    assert not depths & set(map(str, rates))
    assert proposed(WAITS).kind == "queue depth"
    known = [replace(WAITS, queue_depth=float(8 * times)) for times in (0.125, 0.25, 0.5, 2, 4)]
    judged = judge(WAITS, PREMIUM, other_runs=known)
    assert judged.next_run is None or "queue depth to 16" not in judged.next_run.advice
    alone = judge(WAITS, PREMIUM, other_runs=[replace(WAITS, queue_depth=16.0, bs_bytes=64 * KIB)])
    assert alone.next_run and "queue depth to 16" in alone.next_run.advice


def test_the_run_is_carried_over() -> None:
    """Engine, pattern, rate limit, span, and both block sizes stay; what no output tells is said."""
    fast = run(iops=9000, direct=False, tool="fio", ioengine="io_uring")
    seen = replace(fast, rw="rw", read_share=0.7, bs_bytes=4 * KIB, bs_write_bytes=8 * KIB)
    job = lines(replace(seen, working_set_bytes=4 * GIB, rate_iops=50_000, numjobs=2))
    assert {"rw=rw", "rwmixread=70", "bs=4k,8k", "ioengine=io_uring", "size=4g", "numjobs=2"} <= set(job)
    assert "rate_iops=17500,7500" in job and "; overwrites TARGET" in job
    assert any("fsync or thinktime" in line for line in job)
    unknown = lines(replace(seen, ioengine=None, rw="randwrite", read_share=0.0, bs_write_bytes=None))
    assert {"rw=randwrite", "ioengine=libaio", "size=100%"} <= set(unknown)


def test_jobs_of_a_synchronous_engine_have_one_io_each() -> None:
    seen = run(iops=9000, direct=False, queue_depth=8, numjobs=8, ioengine="psync", tool="fio")
    assert {"ioengine=psync", "iodepth=1", "numjobs=8"} <= set(lines(seen))
    was = trials.trial_of(seen)
    assert was is not None
    more = [one.trial for one in trials.experiments(Flow(observation=seen), was, ())]
    assert {(16.0, 16), (4.0, 4)} <= {(trial.queue_depth, trial.numjobs) for trial in more}
    assert all(trial.queue_depth == trial.numjobs for trial in more)


@pytest.mark.parametrize(
    ("mean", "line"), [(7910, "bs=8k"), (4096, "bs=4k"), (700, "bs=512"), (100, "bs=512")]
)
def test_a_mean_block_size_becomes_one_that_direct_io_can_address(mean: int, line: str) -> None:
    assert line in lines(run(iops=9000, direct=False, bs_bytes=mean))


def test_what_is_not_stated_is_no_default() -> None:
    judged = judge(run(iops=3600, queue_depth=8, bs_bytes=None), PREMIUM)
    assert judged.next_run is None and judged.why_no_run and "block size is not stated" in judged.why_no_run
    no_depth = judge(run(iops=3600, queue_depth=None, direct=False), PREMIUM).next_run
    assert no_depth is None or "; the queue depth of the run is not known: set iodepth" in no_depth.job


def fio_takes(job: str, folder: Path) -> None:
    if which("fio") is None:
        pytest.skip("fio is not installed")
    path = folder / "next.fio"
    path.write_text(job)
    done = subprocess.run(
        ["fio", "--parse-only", str(path)],
        env={"TARGET": str(folder / "target"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
