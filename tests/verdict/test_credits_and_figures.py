"""Base and burst of one limit, runs of two phases, and figures that are not known or differ in print."""

from dataclasses import replace

import numpy as np
import pytest

from azbenchlib.analysis.observation import Observation
from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import BurstDocumented
from azbenchlib.core.units import KIB, MB
from azbenchlib.model.fill_from_catalogue import differ, resolve, vm_of
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, BurstKind, Cap, Setup
from azbenchlib.verdict import Judgement, judge
from azbenchlib.verdict.limit_sources import rows

DAY = "2026-08-17"
WIDE = VM(uncached=Cap(iops=80_000, bytes_per_s=2_000 * MB))


def run(**known: object) -> Observation:
    usual = {"read_share": 1.0, "bs_bytes": 4 * KIB, "queue_depth": 256, "runtime_s": 60, "direct": True}
    return Observation(**{**usual, **known})  # type: ignore[arg-type]


def on(disk: str, vm: VM = WIDE) -> Setup:
    return resolve(Setup(vm, parse_disks([disk])), DAY)


def plain(judged: Judgement) -> str:
    return judged.words.replace("\N{NO-BREAK SPACE}", " ")


def codes(judged: Judgement) -> list[str]:
    return [finding.code for finding in judged.findings]


@pytest.mark.parametrize("ramp_s", [None, 10.0])
@pytest.mark.parametrize("iops", [579, 566])
def test_a_fresh_standard_ssd_just_below_its_burst_is_at_its_burst(iops: int, ramp_s: float | None) -> None:
    got = judge(run(iops=iops, ramp_s=ramp_s), on("E20"))
    assert got.binding == ("disk_burst_iops",) and got.probability > 0.8


def test_a_base_that_is_named_is_not_said_to_be_unseen() -> None:
    got = judge(run(iops=505), on("E20"))
    assert got.binding == ("disk_iops",) and "base_not_seen" not in codes(got)


def test_a_standard_hdd_may_still_be_far_above_its_figure() -> None:
    assert judge(run(iops=85, bs_bytes=1024 * KIB), on("S20")).posterior.get("disk_mbps", 0) > 0.1


def test_a_mean_of_burst_and_base_is_told_as_two_phases() -> None:
    got = judge(run(iops=1843, runtime_s=3600), on("P4"))
    assert "they give 3,500 IOPS for 30 min, then 120; the measured mean, 1,843, is no rate" in plain(got)
    assert {row.label: round(row.utilisation, 2) for row in got.limits if row.label.quantity == "iops"} == {
        "disk_burst_iops": 1.02,
        "disk_iops": 1.02,
        "vm_uncached_iops": 0.04,
    }
    assert "base_not_seen" not in codes(got)


@pytest.mark.parametrize("sampled", [True, False])
def test_each_limit_of_a_run_of_two_phases_is_held_against_the_phase_that_it_bounds(sampled: bool) -> None:
    """3,500 IOPS of 8 KiB are 28.7 MB/s: above the base of 25 MB/s, and 17 % of the burst limit."""
    t_s = np.arange(1, 3601, dtype=float)
    iops = np.where(t_s <= 1800, 3_500.0, 120.0)
    over_time = {"samples": (t_s, iops)} if sampled else {}
    rate = {"iops": iops.mean(), "bw_bytes_per_s": iops.mean() * 8 * KIB}
    got = judge(run(**rate, bs_bytes=8 * KIB, runtime_s=3600, **over_time), on("P4"))
    used = {row.label: round(row.utilisation, 2) for row in got.limits}
    assert used == {
        "disk_burst_iops": 1.0,
        "disk_iops": 1.0,
        "disk_burst_mbps": 0.17,
        "disk_mbps": 0.04,
        "vm_uncached_iops": 0.04,
        "vm_uncached_mbps": 0.01,
    }


def test_phases_in_the_samples_are_told_as_they_were() -> None:
    t_s = np.arange(1, 3601, dtype=float)
    iops = np.where(t_s <= 1800, 3_560.0, 122.0)
    got = judge(run(iops=iops.mean(), runtime_s=3600, samples=(t_s, iops)), on("P4"))
    assert "3,560 IOPS for 30 min, then 122; their mean, 1,841, is no rate" in got.words.replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_no_burst_is_taken_for_granted_that_another_limit_would_have_held() -> None:
    """144 writes of 1 MiB are 577 as a P10 counts them, above its 500; at 3,500 they were 917 MB/s of 170."""
    seen = run(iops=144.2, bs_bytes=1024 * KIB, read_share=0.0, queue_depth=256, unloaded_us=24_000)
    got = judge(seen, on("P10"))
    assert "disk_iops" in got.posterior and got.binding == ("disk_iops",)
    assert "no rate" not in got.words
    assert all(row.utilisation < 1.3 for row in got.limits), got.limits


def test_phases_are_the_same_where_the_device_counted_its_own_ios() -> None:
    """fio's disk_util counts over the whole run, as the mean does, and no phase has that rate."""
    t_s = np.arange(1, 2701, dtype=float)
    iops = np.where(t_s <= 1800, 3_512.0, 121.0)
    seen = {"iops": iops.mean(), "runtime_s": 2700, "samples": (t_s, iops)}
    got = judge(run(**seen, device_iops=iops.mean()), on("P4"))
    assert got.binding == ("disk_burst_iops",) and got.probability > 0.95
    assert got.words == judge(run(**seen), on("P4")).words


@pytest.mark.parametrize("runtime_s", [60, 600])
def test_a_run_that_full_credits_outlast_has_one_phase(runtime_s: int) -> None:
    got = judge(run(iops=1843, runtime_s=runtime_s), on("P4"))
    assert "no rate" not in got.words


def test_credits_of_another_limit_are_not_spoken_of() -> None:
    """The VM bursts too, on credits of its own; it is the disk that binds."""
    vm = VM(uncached=Cap(iops=3_200, bytes_per_s=48 * MB, burst_iops=16_000, burst_bytes_per_s=200 * MB))
    got = judge(run(iops=5_080), on("P30", vm))
    assert got.binding == ("disk_iops",) and "base_not_seen" not in codes(got)
    small = judge(run(iops=3_560), on("P4", replace(vm, uncached=replace(vm.uncached, iops=1_600))))
    (message,) = [finding.message for finding in small.findings if finding.code == "base_not_seen"]
    assert "full credits of the disk" in message and "120 IOPS" in message


def test_the_limits_that_the_sentence_names_are_among_the_bars() -> None:
    disk = replace(on("P30").disks[0], unstated=("caching",))
    vm = VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=5_150, bytes_per_s=128 * MB))
    got = judge(run(iops=5_120), Setup(vm, (disk,)))
    assert got.runner_up is not None and got.probability < 0.95
    named = {label for label in (*got.binding, got.runner_up) if label.is_limit}
    assert len(named) == 2 and named <= {row.label for row in got.limits}


def test_hits_that_are_taken_for_granted_are_told() -> None:
    disk = replace(on("P30:ReadOnly").disks[0])
    vm = VM(uncached=Cap(iops=80_000), cached=Cap(iops=160_000), cache_bytes=50 * 2**30)
    got = judge(run(iops=10_150, working_set_bytes=100 * 2**30), Setup(vm, (disk,)))
    assert got.binding == ("disk_iops",) and "if the host cache serves 50% of the reads" in got.words
    told = judge(run(iops=10_150, working_set_bytes=100 * 2**30), Setup(vm, (disk,)), cache_hit=0.5)
    assert "if the host cache" not in told.words


# --- figures that are not known, or differ ------------------------------------------------------------------


def open_burst() -> VM:
    uncached = Cap(iops=6_400, bytes_per_s=600 * MB, burst_kind=BurstKind.NOT_KNOWN)
    return VM(size="Standard_X4s", uncached=uncached)


@pytest.mark.parametrize("times", [1.3, 2.0, 3.1, 3.9])
def test_a_rate_up_to_four_times_a_base_whose_burst_is_not_known_is_probably_its_burst(times: float) -> None:
    got = judge(run(iops=6_400 * times, queue_depth=1024), on("ultra:1TiB/60000iops/1000MBps", open_burst()))
    assert got.binding == ("vm_uncached_burst_iops",) and got.probability > 0.8
    assert "whose figure is not documented" in got.words and "burst_not_known" in codes(got)
    assert got.posterior.get("above_documented_limit", 0) < 0.01


def test_far_above_any_burst_is_above() -> None:
    got = judge(run(iops=6_400 * 12, queue_depth=4096), on("ultra:1TiB/160000iops/1000MBps", open_burst()))
    assert got.binding == ("above_documented_limit",)


def test_sizes_whose_page_prints_no_uncached_limit_have_an_open_burst() -> None:
    there = [row for row in catalog.every_vm(DAY) if row.burst == BurstDocumented.NOT_KNOWN]
    some = [row for row in there if row.best("uncached_iops")]
    assert some and all(vm_of(row).uncached.burst_kind == BurstKind.NOT_KNOWN for row in some)


def two_figures() -> Setup:
    uncached = Cap(iops=20_000, bytes_per_s=600 * MB, other_figures=(("iops", 30_000.0),))
    return on("ultra:1TiB/60000iops/1000MBps", VM(size="X", uncached=uncached))


@pytest.mark.parametrize("iops", [20_300, 24_500, 30_450])
def test_a_rate_up_to_the_higher_of_two_figures_is_not_above(iops: int) -> None:
    text = "X uncached_iops, 20,000 IOPS in the API and 30,000 IOPS in a page"
    got = judge(run(iops=iops, queue_depth=1024), two_figures(), rows={"vm_uncached_iops": text})
    assert got.binding == ("vm_uncached_iops",)
    assert got.posterior.get("above_documented_limit", 0) < 0.01
    (message,) = [finding.message for finding in got.findings if finding.code == "figures_differ"]
    assert text in message
    assert judge(run(iops=40_000, queue_depth=1024), two_figures()).binding == ("above_documented_limit",)


def test_two_figures_of_the_catalogue_come_with_their_sources() -> None:
    row = next(
        row
        for row in catalog.every_vm(DAY)
        for figures in [row.figures("uncached_iops")]
        if len(figures) > 1 and differ(figures[0].value, figures[1].value)
    )
    setup = resolve(Setup(VM(size=row.size), parse_disks(["P30"])), DAY)
    assert dict(setup.vm.uncached.other_figures)["iops"] != setup.vm.uncached.iops
    text = rows(setup, Setup(VM(size=row.size), parse_disks(["P30"])))["vm_uncached_iops"]
    assert all(limit.source_id in text for limit in row.figures("uncached_iops")[:2])
