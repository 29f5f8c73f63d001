"""The simulator obeys the laws that a measured disk obeys; it stands apart from the model that it tests."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated import bursting, limits, simulator, trace
from simulator.loop import CAUSES

KIB, MB, GIB = 1024, 1e6, 1024**3


def measured(setup: simulator.Hidden, seed: int = 0) -> simulator.Report:
    rng = np.random.default_rng(seed)
    return simulator.report(setup, simulator.run(setup, rng), rng)


def both(iops: float) -> dict[str, np.ndarray]:
    return {"base": limits(disk_iops=iops), "burst": limits(disk_iops=iops)}


def test_shares_no_code_with_the_model() -> None:
    command = [sys.executable, "-c", "import sys, simulator; print(*sys.modules)"]
    folder = Path(__file__).parents[2] / "benchmarks"
    loaded = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()
    assert "simulator.loop" in loaded
    assert not [name for name in loaded if name.startswith("azbenchlib")]


def test_throttled_p15_of_a_publication() -> None:
    # 1,100 IOPS documented, QD 16: 1,122 IOPS, mean 14.26 ms, p50 2.84, p80 41.7, p99 45.4 ms, CV 0.42 %
    got = measured(simulator.fixed(latency_disk_s=2.75e-3, queue_depth=16.0, runtime_s=300.0, **both(1122.0)))
    at = dict(zip(simulator.measured.PERCENTILES, got.percentiles_us[0] / 1e3, strict=True))
    assert got.iops[0] == pytest.approx(1122, rel=0.001)
    assert got.mean_us[0] == pytest.approx(14_260, rel=0.02)
    assert at[50] == pytest.approx(2.84, rel=0.1)
    assert at[80] == pytest.approx(41.7, rel=0.05)
    assert at[99] == pytest.approx(45.4, rel=0.05)
    rates = got.samples(0, 10.0)[1]
    assert rates.std() / rates.mean() < 0.006


def test_little_holds_where_nothing_else_paces() -> None:
    rng = np.random.default_rng(7)
    setups = simulator.draw(14, rng)
    closed = (setups.think_s == 0) & (setups.rate_iops > 1e17)
    got = measured(setups)
    outstanding = got.iops * got.mean_us / 1e6
    assert closed.sum() > 10
    np.testing.assert_allclose(outstanding[closed], setups.queue_depth[closed], rtol=0.03)
    assert (outstanding < setups.queue_depth * 1.03).all()


def test_unthrottled_rate_is_depth_over_latency_and_doubles_with_it() -> None:
    depths = np.array([1.0, 2.0, 16.0])
    got = measured(simulator.fixed(3, queue_depth=depths, latency_disk_s=1e-3))
    np.testing.assert_allclose(got.iops, depths * 1000, rtol=0.01)


def test_think_time_is_no_latency() -> None:
    got = measured(simulator.fixed(latency_disk_s=1e-3, think_s=3e-3))
    assert got.iops[0] == pytest.approx(250, rel=0.01)
    assert got.mean_us[0] == pytest.approx(1000, rel=0.03)


def test_a_higher_cap_never_lowers_the_rate() -> None:
    caps = np.linspace(200, 40_000, 12)
    base = np.stack([limits(disk_iops=cap) for cap in caps])
    got = measured(simulator.fixed(12, queue_depth=32.0, drift=0.0, base=base, burst=base))
    assert (np.diff(got.iops) > -1e-6).all()
    assert got.iops[0] == pytest.approx(200, rel=0.001)


@pytest.mark.parametrize(
    ("named", "bs_bytes", "iops"),
    [
        ({"disk_iops": 5000.0}, 8 * KIB, 5000),
        ({"disk_mbps": 200 * MB}, 64 * KIB, 200e6 / 65536),
        ({"disk_iops": 5000.0}, 1024 * KIB, 1250),  # an I/O of 1 MiB counts as four
        ({"disk_iops": 5000.0, "vm_uncached_iops": 3200.0}, 4 * KIB, 3200),
        ({"local_iops": 3000.0}, 4 * KIB, 256 / 2e-3),  # a disk without cache does not pass it
    ],
)
def test_the_tightest_of_the_limits_in_series_binds(
    named: dict[str, float], bs_bytes: int, iops: float
) -> None:
    caps = limits(**named)
    got = measured(simulator.fixed(queue_depth=256.0, bs_bytes=float(bs_bytes), base=caps, burst=caps))
    assert got.iops[0] == pytest.approx(iops, rel=0.01)


def test_cache_hits_pass_the_cached_limit_only() -> None:
    caps = limits(disk_iops=1000.0, local_iops=30_000.0)
    hits = np.array([0.0, 0.5, 0.9, 1.0])
    setups = simulator.fixed(4, path=1, hit=hits, queue_depth=1024.0, base=caps, burst=caps)
    np.testing.assert_allclose(measured(setups).iops, [1000, 2000, 10_000, 30_000], rtol=0.01)


def test_credits_are_spent_once() -> None:
    _, rates = trace(bursting(500, 3500, 0.1, runtime_s=400.0))
    assert rates[:300].mean() == pytest.approx(3500, rel=0.01)
    assert rates[-60:].mean() == pytest.approx(500, rel=0.01)
    assert ((rates - 500) / 2).sum() == pytest.approx(0.1 * 3000 * 1800, rel=0.01)


def test_a_full_write_cache_falls_to_the_disk() -> None:
    caps = limits(disk_mbps=25 * MB, local_mbps=200 * MB)
    setup = simulator.fixed(
        path=2, read_share=0.0, cache_bytes=20.0 * GIB, bs_bytes=65536.0, bs_write_bytes=65536.0,
        queue_depth=64.0, runtime_s=200.0, base=caps, burst=caps,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    course = simulator.run(setup, rng)
    rates = course.series[0, :400] * 65536
    assert rates[:100].mean() == pytest.approx(200 * MB, rel=0.02)
    assert rates[-100:].mean() == pytest.approx(25 * MB, rel=0.02)
    changed = np.flatnonzero(rates < 100 * MB)[0] / 2
    assert changed == pytest.approx(10 * GIB / (175 * MB), rel=0.03)
    assert CAUSES[int(course.time_by_cause.argmax())] == "full"
    assert simulator.truth(setup, course).labels == [("cache_exhaustion", "disk_mbps", "disk_burst_mbps")]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ({"queue_depth": 1.0}, ("latency_qd",)),
        ({"queue_depth": 64.0, "rate_iops": 500.0}, ("workload_demand",)),
        ({"queue_depth": 512.0, "cpu_s": 20e-6}, ("host_cpu",)),
        ({"queue_depth": 64.0, "plateau_iops": 700.0}, ("unknown",)),
        ({"queue_depth": 64.0, **both(900.0), "nominal": limits(disk_iops=880.0)}, ("disk_iops",)),
        (
            {"queue_depth": 64.0, **both(900.0), "nominal": limits(disk_iops=500.0)},
            ("above_documented_limit",),
        ),
        ({"queue_depth": 64.0, **both(900.0)}, ("unknown", "disk_iops")),
        ({"page_hit": 1.0, "direct": False, "working_set_bytes": 1e9}, ("page_cache",)),
    ],
)
def test_truth_names_what_was_put_in(values: dict, labels: tuple[str, ...]) -> None:
    setup = simulator.fixed(**({"nominal_burst": values.get("nominal", np.nan)} | values))
    found = simulator.truth(setup, simulator.run(setup, np.random.default_rng(0)))
    assert found.labels == [labels]
    assert found.identifiable.all()


def test_a_job_that_waits_in_submission_has_one_io_outstanding_and_tells_so() -> None:
    got = measured(simulator.fixed(queue_depth=64.0, numjobs=4.0, synchronous=True, latency_disk_s=1e-3))
    assert got.iops[0] == pytest.approx(4_000, rel=0.01)
    assert got.slat_us[0] * got.iops[0] / 4 == pytest.approx(1e6, rel=0.01)


@pytest.mark.parametrize(("merged", "bs_bytes", "iops"), [(0.1, 8 * KIB, 5_000), (2.0, 128 * KIB, 250)])
def test_limits_count_the_ios_of_the_device(merged: float, bs_bytes: int, iops: float) -> None:
    more = {"merged": merged, "bs_bytes": float(bs_bytes), "counted_in_units": False}
    got = measured(simulator.fixed(queue_depth=256.0, **more, **both(500.0)))
    assert got.iops[0] == pytest.approx(iops, rel=0.01)
    assert got.device_iops[0] == pytest.approx(500, rel=0.05)


def test_a_start_lowers_a_short_run_but_not_one_with_ramp_time() -> None:
    ramps = {"ramp_s": np.array([0.0, 10.0]), "start_s": 2.0, "runtime_s": 20.0}
    got = measured(simulator.fixed(2, queue_depth=256.0, **ramps, **both(500.0)))
    assert got.iops == pytest.approx([475, 500], rel=0.01)


def test_azure_monitor_reads_a_hundred_percent_of_the_limit_that_binds() -> None:
    caps = limits(disk_iops=500.0, vm_uncached_iops=1000.0)
    got = measured(simulator.fixed(queue_depth=256.0, runtime_s=600.0, base=caps, burst=caps))
    assert got.consumed_pct[0, :3] == pytest.approx([100, 0, 50], abs=3)


def test_what_the_verdict_is_not_told_is_not_identifiable() -> None:
    caps = {**both(900.0), "nominal": limits(disk_iops=880.0), "nominal_burst": limits(disk_iops=880.0)}
    told = simulator.fixed(3, queue_depth=64.0, **caps)
    hidden = replace(
        told, hides_caching=np.array([False, True, False]), hides_vm=np.array([False, False, True])
    )
    found = simulator.truth(hidden, simulator.run(hidden, np.random.default_rng(0)))
    assert found.identifiable.tolist() == [True, False, False]


@pytest.mark.parametrize("off", [1.0, 1.08, 0.93])
def test_limits_near_each_other_are_not_identifiable(off: float) -> None:
    caps = limits(disk_iops=5000.0, vm_uncached_iops=5000.0 * off)
    setup = simulator.fixed(queue_depth=64.0, base=caps, burst=caps, nominal=caps, nominal_burst=caps)
    assert not simulator.truth(setup, simulator.run(setup, np.random.default_rng(0))).identifiable.any()


def test_ranges_are_wider_than_what_was_measured() -> None:
    setups = simulator.draw(4000, np.random.default_rng(3))
    factor = (setups.base / setups.nominal)[~setups.stale]
    factor = factor[np.isfinite(factor)]
    assert factor.min() < 0.99 and factor.max() > 1.11
    assert np.isin([512, 2**20], setups.bs_bytes).all()
    assert setups.queue_depth.min() == 1 and setups.queue_depth.max() > 900
    assert setups.runtime_s.min() < 12 and setups.runtime_s.max() > 1600
    assert setups.cpu_s.min() < 2e-6 and setups.cpu_s.max() > 35e-6
    assert setups.merged.min() < 0.1 and setups.merged.max() == 4
    assert 0.01 < setups.synchronous.mean() < 0.1 and setups.start_s.max() > 2.5
    assert (setups.devices_used < setups.devices).any() and 0.15 < setups.hides.mean() < 0.3
