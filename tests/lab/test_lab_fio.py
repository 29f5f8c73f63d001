"""What real fio finds through the real server: the figures that the documents promise, and its own data."""

import json
import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from lab_tools import assert_measured, fio, late, own_cache  # noqa: F401
from measuring import Measurement

from azbenchlib import campaign
from azbenchlib.campaign.targets.lab.plan import in_words
from azbenchlib.cli.options.setup_options import described_setup
from azbenchlib.core.units import GIB, KIB, MIB, NS_PER_US, US_PER_S
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.virtual_machine import WRITE, Machine, Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.setup import VM, Cap, Disk, Setup

pytestmark = pytest.mark.fio
DAY = "2020-07-01"  # of the limits with which the published figures were measured
HICCUP_S = 0.05  # real; after so long a pause a limit lets pass what it did not meanwhile
VERY_SLOW = 256  # k with which even a busy machine is on time
SETTLED = 3  # lines of the log, of 0.2 s, until a bucket that was full is so no more


def setup_of(vm: str, disk: str) -> Setup:
    """As the command line and a measurement file describe it, with the limits of the day."""
    return in_words(described_setup(None, vm, [disk], DAY), []).resolved(DAY)


def counted(lab: Lab) -> list[tuple[float, int]]:
    """Emulated seconds and I/Os so far, five times a real second, while fio ran: the server's own count."""
    (volume,) = lab.sizes
    lines = [(line.t_s, line.done[volume][0], line.late_us) for line in live_log.read(lab.log).lines]
    return [(t_s, ios) for t_s, ios, late_us in lines if late_us is not None]


def rate(points: Sequence[tuple[float, int]]) -> float:
    (begun, first), (ended, last) = points[0], points[-1]
    return (last - first) / (ended - begun)


def assert_steady(
    expected: float, setup: Setup, *options: str, time_scale: int, warm: Sequence[str] = ()
) -> None:
    """So many IOPS has the emulated disk within a per cent, once it has settled."""
    (volume,) = (one.name for one in setup.volumes())

    def measure() -> tuple[float, str]:
        with Lab(setup, Options(burst_tolerance_s=HICCUP_S), time_scale=time_scale) as lab:
            if warm:
                fio(lab.uri(volume), *warm)
            before = len(counted(lab))
            fio(lab.uri(volume), "--time_based", "--runtime=2", "--iodepth=64", *options)
            return rate(counted(lab)[before + SETTLED : -2]), late(lab)

    assert_measured(measure, pytest.approx(expected, rel=0.01))


def test_a_p4_bursts_until_its_credits_say() -> None:
    """3,500 IOPS, then 120; the knee is where full credits, which last `credit_s`, are spent."""
    credit_s, lasts_s, k, depth = 1.0, 2.4, 2, 64
    setup, options = (
        setup_of("Standard_E8ds_v4", "P4:None"),
        Options(credit_s=credit_s, burst_tolerance_s=HICCUP_S),
    )
    at_once = 3500 * HICCUP_S / k  # what the cap, being full, lets pass in the beginning

    def measure() -> tuple[dict[str, float], str]:
        with Lab(setup, options, time_scale=k) as lab:
            fio(
                lab.uri("p4-none"),
                *("--rw=randwrite", "--bs=4k", f"--iodepth={depth}", "--size=1g"),
                *("--time_based", f"--runtime={lasts_s * k * 1000:.0f}ms"),
            )
            points, told = counted(lab), late(lab)
        begun = points[0][0] - (points[0][1] - depth - at_once) / 3500
        burst = [point for point in points if point[0] < begun + credit_s - 0.05][1:]
        base = [point for point in points if begun + credit_s + 0.2 < point[0] < begun + lasts_s - 0.2]
        (t1, n1), (t2, n2) = burst[0], base[-1]  # through them go two straight lines, which meet at the knee
        knee = (n2 - n1 + 3500 * t1 - 120 * t2) / (3500 - 120)
        spent = n2 - depth - 120 * (t2 - begun)
        found = {"burst": rate(burst), "base": rate(base), "knee_s": knee - begun, "spent": spent}
        return found, told

    expected = {
        "burst": pytest.approx(3500, rel=0.01),
        "base": pytest.approx(120, rel=0.02),
        "knee_s": pytest.approx(credit_s - at_once / (3500 - 120), rel=0.02),
        "spent": pytest.approx((3500 - 120) * credit_s, rel=0.02),
    }
    assert_measured(measure, expected)


def test_bytes_bind_an_ultra_disk_before_its_iops() -> None:
    setup = setup_of("Standard_E32-8s_v3", "ultra:128GiB/10000iops/50MBps")
    assert_steady(6_104, setup, "--rw=randread", "--bs=8k", "--size=1g", time_scale=8)


@pytest.mark.parametrize(("bs", "expected"), [("8k", 59_136), ("4k", 77_000)])
def test_what_the_host_cache_answers_has_the_cached_limits(bs: str, expected: float) -> None:
    """As the API's row of 2020 has them: 77,000 IOPS and 462 MiB/s."""
    setup = setup_of("Standard_E8ds_v4", "P30:ReadOnly")
    warm = ("--rw=read", "--bs=256k", "--size=2m")
    assert_steady(expected, setup, "--rw=randread", f"--bs={bs}", "--size=2m", time_scale=32, warm=warm)


def test_the_hit_curve() -> None:
    """What a working set of 0.5, 1, 2 and 4 × the cache gets: min(cap, disk ÷ share of misses)."""
    cap, disk, cache = 3_000, 750, 8 * MIB
    vm = VM(cached=Cap(iops=cap))
    setup = Setup(vm, (Disk(name="data", caching="ReadOnly", size_bytes=GIB, cap=Cap(iops=disk)),))
    no_latency = {"data": "none", "host-cache": "none"}
    options = Options(cache_bytes=cache, latency=no_latency, burst_tolerance_s=HICCUP_S)
    shares = {0.5: 0.0, 1: 0.0, 2: 0.5, 4: 0.75}  # of the reads that miss

    def measure() -> tuple[dict[str, float], str]:
        found = {}
        with Lab(setup, options, time_scale=1) as lab:
            for times in shares:
                size = f"--size={int(times * cache)}"
                fio(lab.uri("data"), "--rw=read", "--bs=256k", "--iodepth=4", size)
                before = len(counted(lab))
                drive = ("--rw=randread", "--norandommap", "--bs=4k", "--iodepth=32", size)
                fio(lab.uri("data"), *drive, "--time_based", "--runtime=1800ms")
                iops, misses = rate(counted(lab)[before + 1 : -1]), missed(lab, before + 1)
                found[f"{times} × the cache: misses"] = misses
                found[f"{times} × the cache: of what is due"] = iops / min(cap, disk / max(misses, 1e-9))
            return found, late(lab)

    expected = {}
    for times, share in shares.items():
        expected[f"{times} × the cache: misses"] = pytest.approx(share, abs=0.04)  # of some thousand draws
        expected[f"{times} × the cache: of what is due"] = pytest.approx(1, rel=0.02)
    assert_measured(measure, expected)


def missed(lab: Lab, begin: int) -> float:
    """Share of the reads that the cache did not have, from a line of the log on, without the last."""
    lines = [line for line in live_log.read(lab.log).lines if line.late_us is not None][begin:-1]
    ios = [after.done["data"][0] - line.done["data"][0] for line, after in pairwise(lines)]
    hits = [1.0 if (hit := line.objects["data"].cache_hit_ratio) is None else hit for line in lines[1:]]
    return 1 - sum(map(mul, ios, hits)) / sum(ios)


# The setups of the dataset azure-local-disks-2020 in the command line's words, and the table of each.
PROFILES = {
    "E8as_v4-temp": ("Standard_E8as_v4", "temp", "temp-amd"),
    "E8ds_v4-temp": ("Standard_E8ds_v4", "temp", "temp"),
    "E8ds_v4-os-readwrite": ("Standard_E8ds_v4", "os:P4:ReadWrite", "host-cache"),
    "E8ds_v4-os-none": ("Standard_E8ds_v4", "os:P4:None", "premium"),
    "E8ds_v4-ephemeral-os": ("Standard_E8ds_v4", "ephemeral:cache", "ephemeral"),
    "L8s_v2-nvme": ("Standard_L8s_v2", "nvme", "nvme"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_words_and_dataset_reach_every_published_profile(name: str) -> None:
    vm, disk, table = PROFILES[name]
    for setup in (
        setup_of(vm, disk),
        in_words(described_setup(f"azure-local-disks-2020/{name}", None, [], None), []).resolved(DAY),
    ):
        (volume,) = setup.volumes()
        machine = Machine(setup)
        due: list[float] = []
        for i in range(latency.SAMPLE_SIZE):  # a second apart
            machine.submit(volume.name, WRITE, i * 8 * KIB, 8 * KIB, float(i), due.append)
        machine.advance(math.inf)
        took = sorted(at - i for i, at in enumerate(due))
        assert took == pytest.approx(sorted(sample(table)), rel=1e-6)


@pytest.mark.parametrize(
    "name", ["E8as_v4-temp", pytest.param("E8ds_v4-ephemeral-os", marks=pytest.mark.long)]
)
def test_fio_finds_the_published_latencies(name: str) -> None:
    """The median of three short runs; without limits, so that many at once are as fast as one."""
    vm, disk, table = PROFILES[name]
    free = described_setup(None, vm, [disk], DAY)
    jobs = math.ceil(1.1 * sum(sample(table)) * VERY_SLOW / 1.6)  # that take a whole sample in their 1.6 s
    expected = [sorted(sample(table))[round(q * (latency.SAMPLE_SIZE - 1))] for q in (0.5, 0.95, 0.99)]

    def measure() -> tuple[list[float], str]:
        with Lab(free, time_scale=VERY_SLOW) as lab:
            runs = [percentiles(lab, jobs) for _ in range(3)]
            return [statistics.median(each) for each in zip(*runs, strict=True)], late(lab)

    assert_measured(measure, pytest.approx(expected, rel=0.05))


def percentiles(lab: Lab, jobs: int) -> list[float]:
    """p50, p95 and p99 in emulated seconds, of jobs with one I/O each.

    (A job with several waits at its end for all of them, and takes that as the latency of each.)
    """
    (volume,) = lab.sizes
    drive = ("--rw=randwrite", "--bs=8k", "--size=64m", "--time_based", "--runtime=1600ms")
    many = (f"--numjobs={jobs}", "--group_reporting")
    found = fio(lab.uri(volume), *drive, *many)["write"]["clat_ns"]["percentile"]
    return [found[q] / NS_PER_US / US_PER_S / lab.time_scale for q in ("50.000000", "95.000000", "99.000000")]


def sample(table: str) -> list[float]:
    draw = latency.sampler(table, True, 1)
    return [draw() for _ in range(latency.SAMPLE_SIZE)]


VERIFIED = """
title: What was written
region: westeurope
setups:
  - name: cached
    vm: Standard_E8ds_v4
    disks: {data: {sku: Premium_LRS, size: 1024GiB, caching: ReadWrite}}
    workloads:
      kept: {rw: randwrite, bs: 16k, iodepth: 16, size: 2m, runtime: 60, verify: crc32c, verify_fatal: 1,
             verify_state_save: 0}
"""


def test_fio_finds_its_own_data_in_the_cache_and_behind_it(tmp_path: Path) -> None:
    (tmp_path / "verify.yaml").write_text(VERIFIED)
    folder = tmp_path / "ds"

    def measure() -> dict[str, Any]:
        campaign.run(campaign.load(tmp_path / "verify.yaml"), folder, target="lab", longest_s=2, fresh=True)
        (raw,) = (folder / "raw").rglob("kept.json")
        text = raw.read_text()
        (job,) = json.loads(text[text.index("{") :])["jobs"]
        assert job["error"] == 0
        return dict(job)

    def holds(job: dict[str, Any]) -> None:
        assert job["write"]["total_ios"] >= 128  # all of it
        assert job["read"]["total_ios"] > 0

    Measurement(measure).check(holds)
    assert "verify" in Dataset.load(folder).manifest.commands[0].text
