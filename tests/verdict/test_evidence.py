"""Evidence beside the rate: submission, latency shape, CPU per I/O, the device's count, Azure Monitor."""

import math
from dataclasses import replace

import pytest

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import KIB, MB
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import judge, likelihoods
from azbenchlib.verdict.cases import monitored
from azbenchlib.verdict.evidence import effective_depth, flat, queued

P30 = Disk(name="p30", sku="Premium_LRS", tier="P30", cap=Cap(iops=5000, bytes_per_s=200 * MB))
P4 = Disk(name="p4", sku="Premium_LRS", cap=Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500))
S30 = Disk(name="s30", sku="Standard_LRS", cap=Cap(iops=500, bytes_per_s=60 * MB))
D8S = VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=16_000, bytes_per_s=128 * MB))
TEMP = Setup(VM(temp=Cap(iops=64_000, bytes_per_s=768 * MB)), (Disk(name="temp", role="temp"),))


def run(**known: object) -> Observation:
    usual = {"read_share": 1.0, "bs_bytes": 4 * KIB, "queue_depth": 64, "runtime_s": 60, "direct": True}
    return Observation(**{**usual, **known})  # type: ignore[arg-type]


def test_a_job_that_waits_in_submission_has_one_io_outstanding() -> None:
    assert effective_depth(run(iops=6_234, queue_depth=256, slat_us=158.7)) == 1
    assert effective_depth(run(iops=6_234, queue_depth=256, slat_us=4)) == 256
    assert effective_depth(run(iops=24_000, queue_depth=256, numjobs=4, slat_us=158)) == 4
    setup = Setup(D8S, (replace(P30, caching="ReadOnly"),))
    seen = run(iops=6_234, queue_depth=256, mean_us=41_029)
    assert judge(replace(seen, slat_us=158.7), setup).binding == ("latency_qd",)
    assert judge(replace(seen, slat_us=4), setup).binding == ("unknown",)


def test_what_was_written_tells_whether_a_write_cache_was_full() -> None:
    """75 GB in 10 minutes; a P30 at 200 MB/s takes 120 GB in that time, a P4 at 25 MB/s 15 GB."""
    seen = run(read_share=0.0, bs_bytes=64 * KIB, iops=1_900, runtime_s=600, queue_depth=32)
    cached = [
        Setup(replace(D8S, cache_bytes=200e9), (replace(disk, caching="ReadWrite"),)) for disk in (P30, P4)
    ]
    takes_it, outrun = (judge(seen, setup).posterior.get("cache_exhaustion", 0.0) for setup in cached)
    assert takes_it < 0.01 and outrun > 0.2
    brief = judge(replace(seen, runtime_s=20), cached[1]).posterior.get("cache_exhaustion", 0.0)
    assert brief < 0.05  # 2 GB of 200 fill no cache


def test_latency_of_what_was_written_beyond_the_cache() -> None:
    assert likelihoods.filled(0.9, 1e11, 1e11) == 0  # the disk takes it all
    assert likelihoods.filled(2.0, 4e11, 1e11) == 0  # more than the cache can hold back
    at = [likelihoods.filled(use, 1e11, 1e11) for use in (1.2, 2.0)]
    assert at[0] == pytest.approx(6 / math.log(20)) and at[1] == pytest.approx(2 / math.log(20))


@pytest.mark.parametrize(
    ("runtime_s", "named"),
    [(2_700, "disk_burst_iops"), (7_200, "disk_iops")],
)
def test_a_run_that_outlasts_its_credits_is_held_by_burst_and_base(runtime_s: float, named: str) -> None:
    """Half an hour at 3,500 IOPS, the rest at 120: what holds the longer part of the run is named."""
    mean = (1_800 * 3_500 + (runtime_s - 1_800) * 120) / runtime_s
    got = judge(run(iops=1.016 * mean, runtime_s=runtime_s), Setup(D8S, (P4,)))
    assert got.binding == (named,) and got.probability > 0.95
    above = judge(run(iops=1.4 * mean, runtime_s=runtime_s), Setup(D8S, (P4,)))
    assert above.binding == ("above_documented_limit",)


def test_some_credits_that_ran_out_are_not_ruled_out() -> None:
    seen = run(iops=2_000, runtime_s=1_500, unloaded_us=2_000)
    known = judge(seen, Setup(D8S, (P4,))).posterior
    assert known["disk_burst_iops"] > 0.3
    brief = judge(replace(seen, runtime_s=30), Setup(D8S, (P4,))).posterior
    assert brief.get("disk_burst_iops", 0.0) < 0.1


def test_a_synchronous_ioengine_has_one_io_outstanding_whatever_its_depth() -> None:
    seen = run(iops=420, mean_us=2_350)
    assert effective_depth(seen) == 1 and effective_depth(replace(seen, mean_us=100_000)) == 64
    assert judge(seen, Setup(D8S, (P30,))).binding == ("latency_qd",)


def test_what_holds_an_io_up_adds_to_its_latency() -> None:
    """Faster than unloaded, nothing can have held it up; slower by far, something did."""
    setup = Setup(D8S, (P30,))
    fast, slow = (
        judge(run(iops=iops, queue_depth=4, unloaded_us=2_000), setup).posterior.get("unknown", 0.0)
        for iops in (2_200, 700)
    )
    assert fast < 0.01 and slow > 0.8


def test_a_job_that_uses_a_whole_core_is_bound_by_it() -> None:
    whole, nearly = (
        judge(run(iops=30_000, queue_depth=32, cpu_pct=used), TEMP).posterior.get("host_cpu", 0.0)
        for used in (99, 90)
    )
    assert whole > 0.9 and whole > nearly


def test_a_stall_is_no_latency_of_every_io() -> None:
    seen = run(iops=7_000, queue_depth=1, bs_bytes=4 * KIB, runtime_s=300)
    stalled = replace(seen, percentiles={50.0: 69.0, 100.0: 108e6})
    sure = [judge(one, Setup(VM())).posterior["latency_qd"] for one in (seen, stalled)]
    assert sure[1] < sure[0] - 0.1


def test_a_wide_latency_is_no_queue() -> None:
    wide = {1.0: 500.0, 10.0: 1_100.0, 99.0: 8_000.0}
    assert not queued(run(mean_us=2_400, percentiles=wide))
    assert queued(run(mean_us=9_000, percentiles=wide))


def test_a_flat_latency_argues_against_a_throttle() -> None:
    even, uneven = {1.0: 800.0, 99.0: 1_100.0}, {1.0: 150.0, 99.0: 30_000.0}
    assert flat(run(percentiles=even)) and not flat(run(percentiles=uneven))
    assert not flat(run(percentiles={1.0: 200_000.0, 99.0: 230_000.0}))  # longer than a tick: a deep queue
    throttled = judge(run(iops=65_000, percentiles=uneven), TEMP)
    smooth = judge(run(iops=65_000, percentiles=even), TEMP)
    assert throttled.binding == ("temp_iops",)
    assert smooth.posterior["temp_iops"] < throttled.posterior["temp_iops"] - 0.01


def test_the_cpu_is_the_likelier_the_more_ios_a_job_issues() -> None:
    busy, idle, spread = (
        judge(run(iops=iops, numjobs=jobs, percentiles={1.0: 1_000.0, 99.0: 1_400.0}), TEMP)
        for iops, jobs in ((54_000, 1), (2_000, 1), (54_000, 32))
    )
    assert busy.binding == ("host_cpu",)
    assert idle.posterior.get("host_cpu", 0) < 0.01 and spread.posterior["host_cpu"] < 0.3
    assert judge(run(iops=54_000, cpu_pct=10), TEMP).posterior.get("host_cpu", 0) < 0.1


def test_the_devices_own_count_meets_the_iops_limit() -> None:
    setup = Setup(D8S, (S30,))
    merged = run(iops=5_634, bs_bytes=8 * KIB, queue_depth=512)
    assert judge(merged, setup).binding == ("above_documented_limit",)
    assert judge(replace(merged, device_iops=500), setup).binding == ("disk_iops",)
    split = run(iops=253.5, bs_bytes=256 * KIB, queue_depth=512)
    assert judge(split, setup).binding == ("disk_mbps",)
    assert judge(replace(split, device_iops=507), setup).binding == ("disk_iops",)


@pytest.mark.parametrize(
    "changed",
    [{"device_iops": 5_000 * 1.05}, {"device_iops": 50_000, "direct": False}],
    ids=["same", "buffered"],
)
def test_a_count_that_says_nothing_new_is_left_aside(changed: dict[str, object]) -> None:
    seen = run(iops=5_000, direct=changed.get("direct", True))
    with_it = replace(seen, **changed)
    assert judge(with_it, Setup(D8S, (P30,))).posterior == judge(seen, Setup(D8S, (P30,))).posterior


def test_what_a_disk_counts_as_several_is_not_counted_twice_when_the_kernel_splits_it() -> None:
    seen = run(iops=1_260, bs_bytes=1024 * KIB)
    setup = Setup(VM(), (replace(P30, cap=Cap(iops=5_000)),))
    assert judge(seen, setup).limits == judge(replace(seen, device_iops=4 * 1_260), setup).limits


def test_a_short_run_without_ramp_time_may_stay_below_a_burst_limit() -> None:
    setup, seen = Setup(D8S, (P4,)), run(iops=3_270, queue_depth=1024, runtime_s=20)
    short, ramped, long = (
        judge(replace(seen, **known), setup).posterior["disk_burst_iops"]
        for known in ({}, {"ramp_s": 10}, {"runtime_s": 600})
    )
    assert short > 0.95 > max(ramped, long)


@pytest.mark.parametrize(
    ("percent", "caching", "low", "high"),
    [(None, "None", 0.1, 0.9), (101, "None", 0.95, 1), (60, "None", 0, 0.1), (80, "ReadOnly", 0.001, 0.9)],
)
def test_consumed_percentages_of_azure_monitor(
    percent: float | None, caching: str, low: float, high: float
) -> None:
    """101 % is nearly proof; less is none against it where misses of cached disks are counted elsewhere."""
    setup = Setup(D8S, (replace(P30, count=4, striped=True, caching=caching),))
    seen = run(
        iops=12_200, runtime_s=600, consumed_pct={} if percent is None else {"vm_uncached_iops": percent}
    )
    got = judge(seen, setup, cache_hit=0.0 if caching != "None" else None)
    assert low <= got.posterior.get("vm_uncached_iops", 0) <= high


def test_used_credits_tell_burst_from_base() -> None:
    setup = Setup(D8S, (replace(P4, cap=Cap(iops=3_400, burst_iops=3_500)),))
    seen = run(iops=3_500)
    spent = judge(replace(seen, credits_used_pct={"disk_iops": 100}), setup)
    full = judge(replace(seen, credits_used_pct={"disk_iops": 20}), setup)
    assert spent.posterior["disk_iops"] > 0.8 and full.posterior["disk_burst_iops"] > 0.9


def test_percentages_are_found_by_their_words() -> None:
    case = {
        "observed": {
            "iops": 1,
            "vm_uncached_iops_consumed_pct": 101,
            "disk_util_pct": 100,
            "consumed_pct": {"disk_iops": 40},
        },
        "azure_monitor": {
            "VM Cached Bandwidth Consumed Percentage": 55.5,
            "Data Disk Used Burst IO Credits Percentage": 99,
            "VM Remote Used Burst BPS Credits Percentage": 12,
        },
    }
    assert monitored.consumed(case) == {
        "vm_uncached_iops": 101,
        "disk_iops": 40,
        "vm_cached_mbps": 55.5,
    }
    assert monitored.credits_used(case) == {"disk_iops": 99, "vm_uncached_mbps": 12}
