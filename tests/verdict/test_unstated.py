"""Runs whose setup is not stated: what they look like is said, and no disk is named that they do not show."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_verdict_judgement import run

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import GB, KIB, MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model.documented_setups import documented_places
from azbenchlib.verdict import Flow
from azbenchlib.verdict.run_verdicts import judge_runs, looks
from azbenchlib.verdict.unstated import likely_setup

DAY = "2026-08-17"


def words(*seen: Observation) -> str | None:
    likely = likely_setup([Flow(observation=one) for one in seen], DAY)
    return likely.words() if likely else None


def sweep(iops: float, bytes_per_s: float) -> list[Observation]:
    """Two depths at a small and at a large block size."""
    small = [run(iops=iops, queue_depth=depth) for depth in (64, 128)]
    return small + [replace(one, iops=bytes_per_s / MIB, bs_bytes=MIB) for one in small]


def test_plateaus_of_a_sweep_name_the_disk() -> None:
    assert words(*sweep(5_080, 203e6)) == "a P30: 5,000 IOPS and 200 MB/s, within 2 %"
    assert words(*sweep(7_560, 252e6)) == "a P40 or P50: 7,500 IOPS and 250 MB/s, within 1 %"
    assert words(*sweep(3_540, 172e6)) == "a P1 to P20 while it bursts: 3,500 IOPS and 170 MB/s, within 2 %"
    size = words(*sweep(25_650, 605e6))
    assert size and size.startswith("a VM of the size Standard_") and "25,600 IOPS and 600 MB/s" in size


@pytest.mark.parametrize("use", [1.0, 1.016, 1.03])
def test_every_tier_is_among_the_names_of_its_plateaus(use: float) -> None:
    for tier in (one for one in documented_places(DAY).plain if one.kind != "vm"):
        flows = [Flow(observation=one) for one in sweep(use * tier.iops, use * tier.bytes_per_s)]
        likely = likely_setup(flows, DAY)
        if tier.bytes_per_s < MIB * tier.iops:  # else no block size meets the limit of MB/s
            assert likely and tier in likely.limits, tier.names


def test_a_deep_queue_near_a_documented_figure_is_enough() -> None:
    assert words(run(iops=5_090)) == "a P30: 5,000 IOPS, within 2 %"
    assert words(run(iops=1_550, bs_bytes=128 * KIB)) == "a P30: 200 MB/s, within 2 %"


@pytest.mark.parametrize(
    "seen",
    [
        run(iops=5_400),  # 8 % above a figure
        run(iops=30_100),  # what bursts on demand does so only where it is switched on
        run(iops=5_090, queue_depth=4),  # the latency may set it
        run(iops=5_090, direct=False),
        run(iops=5_090, rate_iops=5_100),
        run(iops=5_090, mean_us=2_000),  # 10 of 64 outstanding
        run(iops=5_090, percentiles={1.0: 12_000, 10.0: 12_400, 95.0: 13_000}),  # nothing throttled it
    ],
)
def test_a_rate_that_no_limit_set_names_nothing(seen: Observation) -> None:
    assert words(seen) is None


def test_local_disks_and_memory_are_hardly_ever_taken_for_a_disk() -> None:
    rng = np.random.default_rng(1)
    rates, sizes = np.exp(rng.uniform(np.log(2e4), np.log(1e6), 300)), rng.uniform(8e3, 64e3, 300)
    named = [words(*sweep(rate, rate * size)) for rate, size in zip(rates, sizes, strict=True)]
    assert sum(name is not None for name in named) <= 12
    assert words(*sweep(261_000, 2.1 * GB)) is None


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A fio output of two depths on a P30, without a word on the setup."""
    jobs = []
    for i, (depth, iops) in enumerate([(1, 430.0), (32, 5_080.0), (64, 5_090.0)]):
        rates = {"iops": iops, "bw_bytes": int(iops * 4096), "runtime": 60_000, "total_ios": int(60 * iops)}
        rates |= {"io_bytes": int(60 * iops * 4096), "bw": int(iops * 4)}
        options = {"rw": "randread", "bs": "4k", "iodepth": str(depth), "ioengine": "libaio", "direct": "1"}
        jobs.append({"jobname": f"q{depth}", "groupid": i, "error": 0, "job options": options, "read": rates})
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"fio version": "fio-3.36", "timestamp": 1_700_000_000, "jobs": jobs}))
    return path


def test_a_verdict_without_a_setup_says_what_the_runs_look_like(output: Path) -> None:
    tables = Dataset.read(output).tables
    judged = {one.run.name: one.judgement for one in judge_runs(tables, as_of=DAY)}
    named = "a P30: 5,000 IOPS, within 2 %"
    assert looks(tables) == [named]
    assert judged["q64"].words == f"As {named}; state --vm and --disk to be sure"
    assert {one.likely_setup for one in judged.values()} == {named}
    for one in judged.values():
        messages = {finding.code: finding.message for finding in one.findings}
        assert messages["setup_not_known"].endswith(f"look like {named}: state --vm and --disk to be sure")
        assert "documented limit explains" not in one.words


def test_where_nothing_fits_the_options_are_named(output: Path) -> None:
    output.write_text(output.read_text().replace("5080.0", "4600.0").replace("5090.0", "4610.0"))
    tables = Dataset.read(output).tables
    judged = {one.run.name: one.judgement for one in judge_runs(tables, as_of=DAY)}
    assert looks(tables) == [] and judged["q64"].likely_setup is None
    assert judged["q64"].words.endswith("state --vm and --disk to learn which limit binds")
