"""The verdict as such: its laws, its gates, its words, and the run that it proposes."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import Flow, Judgement, judge, judge_flows, judge_sweep
from azbenchlib.verdict import text as wording
from azbenchlib.verdict.likelihoods import bound, holds

P30 = Disk(name="p30", sku="Premium_LRS", tier="P30", cap=Cap(iops=5000, bytes_per_s=200 * MB))
P4 = Disk(
    name="p4",
    sku="Premium_LRS",
    tier="P4",
    cap=Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB),
)
D8S = VM(
    uncached=Cap(iops=12_800, bytes_per_s=192 * MB, burst_iops=16_000, burst_bytes_per_s=400 * MB),
    cached=Cap(iops=16_000, bytes_per_s=128 * MB),
)


def run(**known: object) -> Observation:
    """A minute of random 4 KiB reads with 64 I/Os outstanding, direct."""
    usual = {"read_share": 1.0, "bs_bytes": 4 * KIB, "queue_depth": 64, "runtime_s": 60, "direct": True}
    return Observation(**{**usual, **known})  # type: ignore[arg-type]


def codes(judged: Judgement) -> set[str]:
    return {finding.code for finding in judged.findings}


@pytest.mark.parametrize(
    ("setup", "seen", "binding"),
    [
        (Setup(D8S, (P30,)), run(iops=5090), ("disk_iops",)),
        (Setup(D8S, (P30,)), run(iops=1570, bs_bytes=128 * KIB), ("disk_mbps",)),
        (Setup(D8S, (replace(P30, count=4, striped=True),)), run(iops=13_000), ("vm_uncached_iops",)),
        (Setup(D8S, (replace(P30, count=4, striped=True),)), run(iops=16_250), ("vm_uncached_burst_iops",)),
        (Setup(D8S, (replace(P30, caching="ReadOnly"),)), run(iops=16_300), ("vm_cached_iops",)),
        (Setup(D8S, (replace(P30, caching="ReadOnly"),)), run(iops=5080), ("disk_iops",)),
        (Setup(D8S, (P4,)), run(iops=3550), ("disk_burst_iops",)),
        (Setup(D8S, (P4,)), run(iops=122, runtime_s=7200), ("disk_iops",)),
        (Setup(D8S, (P30,)), run(iops=450, queue_depth=1), ("latency_qd",)),
        (Setup(D8S, (P30,)), run(iops=3600, queue_depth=8, unloaded_us=2200), ("latency_qd",)),
        (Setup(D8S, (P30,)), run(iops=2500), ("unknown",)),
        (Setup(D8S, (P30,)), run(iops=2500, cpu_pct=99), ("host_cpu",)),
        (Setup(D8S, (P30,)), run(iops=1000, rate_iops=1000), ("workload_demand",)),
        (Setup(D8S, (P30,)), run(iops=9000, direct=False), ("page_cache",)),
        (Setup(D8S, (P30,)), run(iops=9000), ("above_documented_limit",)),
        (
            Setup(VM(uncached=Cap(iops=50_000)), (replace(P30, count=10),)),
            run(iops=50_100),
            ("disk_iops", "vm_uncached_iops"),
        ),
        (
            Setup(VM(cached=Cap(iops=64_000, bytes_per_s=512 * MB)), (Disk(name="temp", role="temp"),)),
            run(iops=64_000, bs_bytes=8 * KIB),
            ("temp_mbps", "temp_iops"),
        ),
    ],
)
def test_each_cause_is_told_from_the_others(
    setup: Setup, seen: Observation, binding: tuple[str, ...]
) -> None:
    judged = judge(seen, setup)
    assert set(judged.binding) == set(binding)
    assert judged.tie == (len(binding) > 1)


def test_flows_at_once_are_judged_each_by_its_own_path() -> None:
    """Cached reads and uncached writes do not share a limit."""
    vm = VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=77_000, bytes_per_s=485 * MB))
    setup = Setup(vm, (replace(P30, count=3), replace(P30, name="cached", caching="ReadOnly")))
    reads = Flow(observation=run(iops=78_300, queue_depth=512), volumes=("cached",), cache_hit=1.0)
    names = tuple(f"p30-{i}" for i in (1, 2, 3))
    writes = Flow(observation=run(iops=12_700, read_share=0.0, queue_depth=512), volumes=names)
    judged = judge_flows([writes, reads], setup)
    assert [flow.binding for flow in judged.flows] == [("vm_uncached_iops",), ("vm_cached_iops",)]
    assert judged.binding == ("vm_cached_iops",) and judged.iops == pytest.approx(91_000)


def test_flows_that_share_a_limit_fill_it_together() -> None:
    setup = Setup(VM(uncached=Cap(iops=8_000)), (replace(P30, count=2),))
    both = [Flow(observation=run(iops=4_050), volumes=(name,)) for name in ("p30-1", "p30-2")]
    assert judge_flows(both, setup).binding == ("vm_uncached_iops",)
    assert "vm_uncached_iops" not in judge_flows(both[:1], setup).binding


def test_a_sweep_shows_the_unloaded_latency_to_its_heavier_points() -> None:
    """R stays up to 16 outstanding I/Os; then a plateau that no limit explains."""
    setup = Setup(
        VM(uncached=Cap(iops=51_200, bytes_per_s=768 * MB)), (replace(P30, count=12, striped=True),)
    )
    points = [(1, 313.0), (2, 627.0), (4, 1301.0), (16, 5330.0), (64, 6278.0), (256, 6611.0)]
    flows = [Flow(observation=run(queue_depth=depth, iops=rate, runtime_s=None)) for depth, rate in points]
    judged = judge_sweep(flows, setup)
    assert [point.binding[0] for point in judged.points] == ["latency_qd"] * 4 + ["unknown"] * 2
    assert judged.binding == judged.points[-1].binding


def test_a_minute_cannot_show_the_base_of_a_bursting_disk() -> None:
    judged = judge(run(iops=3499), Setup(D8S, (P4,)))
    assert "base_not_seen" in codes(judged)
    (message,) = [finding.message for finding in judged.findings if finding.code == "base_not_seen"]
    assert "60 s cannot show the base of 120 IOPS" in message
    assert judged.next_run and "runtime=2160" in judged.next_run.job  # 30 min of credits and some more
    assert "base_not_seen" not in codes(judge(run(iops=5090), Setup(D8S, (P30,))))


def test_a_run_that_fell_to_the_base_has_seen_it() -> None:
    """Credits that were not full at the start: they are spent long before full ones would be."""
    times = np.arange(1.0, 901.0)
    rates = np.where(times <= 500, 3499.0, 120.0)
    fell = run(iops=float(rates.mean()), runtime_s=900, samples=(times, rates))
    assert "base_not_seen" not in codes(judge(fell, Setup(D8S, (P4,))))
    held = replace(fell, samples=(times, np.full(900, 3499.0)), iops=3499.0)
    assert "base_not_seen" in codes(judge(held, Setup(D8S, (P4,))))
    rose = replace(fell, samples=(times, rates[::-1].copy()))
    assert "base_not_seen" in codes(judge(rose, Setup(D8S, (P4,))))


def test_credits_that_are_spent_leave_the_base() -> None:
    setup = Setup(D8S, (P4,))
    spent = judge(run(iops=3550), setup, credits_there=False)
    assert spent.binding == ("above_documented_limit",)
    assert all("burst" not in row.label for row in spent.limits)


def test_the_longest_level_of_a_trace_is_judged() -> None:
    times = np.arange(1, 1201) * 0.5
    rng = np.random.default_rng(1)
    rates = np.where(times < 120, 3550.0, 122.0) * rng.normal(1, 0.002, times.size)
    seen = run(iops=float(rates.mean()), runtime_s=600, samples=(times, rates))
    judged = judge(seen, Setup(D8S, (P4,)))
    assert judged.binding == ("disk_iops",) and "several_levels" in codes(judged)
    assert judged.iops == pytest.approx(float(rates.mean()))


def test_a_burst_that_ended_with_its_credits_was_within_the_limits() -> None:
    times = np.arange(1, 2701) * 1.0
    rates = np.where(times <= 1800, 3500.0, 120.0) * np.random.default_rng(1).normal(1, 0.002, times.size)
    judged = judge(run(iops=float(rates.mean()), runtime_s=2700, samples=(times, rates)), Setup(D8S, (P4,)))
    assert judged.binding == ("disk_burst_iops",)
    assert "above_documented_limit" not in codes(judged)


def test_a_stall_behind_a_write_cache() -> None:
    disk = replace(P4, name="os", role="os", caching="ReadWrite")
    fast = {50.0: 69.0, 99.99: 3600.0}
    seen = run(iops=6900, queue_depth=1, runtime_s=300, read_share=0.0, percentiles=fast | {100.0: 1.1e8})
    stalled = judge(seen, Setup(disks=(disk,)))
    assert stalled.binding == ("cache_exhaustion",) and "stall" in codes(stalled)
    smooth = judge(replace(seen, percentiles=fast | {100.0: 9000.0}), Setup(disks=(disk,)))
    assert smooth.binding == ("latency_qd",)


def test_a_load_that_was_not_kept_up_is_no_throttle() -> None:
    seen = run(iops=5000, mean_us=2000)  # 10 of 64 outstanding
    judged = judge(seen, Setup(D8S, (P30,)))
    assert "load_mismatch" in codes(judged)
    assert judged.posterior["disk_iops"] < judge(run(iops=5000), Setup(D8S, (P30,))).posterior["disk_iops"]


def test_no_documented_limit_is_unknown_with_that_finding() -> None:
    judged = judge(run(iops=261_000, queue_depth=8192), Setup(VM(), (Disk(name="nvme", role="nvme"),)))
    assert judged.binding == ("unknown",) and "no_documented_limit" in codes(judged) and not judged.limits


def test_a_rate_may_follow_from_latency_alone() -> None:
    judged = judge(run(queue_depth=1, mean_us=2400), Setup(D8S, (P30,)))
    assert judged.iops == pytest.approx(1e6 / 2400) and "rate_from_latency" in codes(judged)
    assert judged.binding == ("latency_qd",)


def test_controls_tell_of_mib_and_of_other_figures() -> None:
    judged = judge(
        run(iops=None, bw_bytes_per_s=134e6 * 1.01, bs_bytes=128 * KIB),
        Setup(VM(cached=Cap(iops=16_000, bytes_per_s=128 * MB)), (Disk(name="temp", role="temp"),)),
    )
    assert "fits_mib" in codes(judged)
    setup = Setup(VM(cached=Cap(iops=38_000, bytes_per_s=500 * MB)), (Disk(name="temp", role="temp"),))
    judged = judge(run(iops=78_000), setup, other_rows={"temp_iops": [(77_000.0, "the page of 2020")]})
    (other,) = [finding for finding in judged.findings if finding.code == "fits_other_row"]
    assert judged.binding == ("above_documented_limit",) and "the page of 2020" in other.message


def test_columns_that_were_swapped() -> None:
    vm = VM(uncached=Cap(iops=4_000, bytes_per_s=100 * MB), cached=Cap(iops=8_000, bytes_per_s=400 * MB))
    judged = judge(
        run(iops=8_100), Setup(vm, (replace(P30, count=2, striped=True, caching="ReadOnly"),)), cache_hit=0.0
    )
    assert "fits_swapped" in codes(judged)


def test_the_wrong_volume_is_refused() -> None:
    with pytest.raises(InputError, match="no volume 'q30'"):
        judge(run(iops=1.0), Setup(D8S, (P30,)), volumes=("q30",))


@pytest.mark.parametrize(
    ("probability", "starts"),
    [(0.97, "Bound by"), (0.9, "Probably bound by"), (0.6, "Cannot tell between")],
)
def test_words_go_by_probability(probability: float, starts: str) -> None:
    text = wording.words((Label.DISK_IOPS,), probability, Label.VM_UNCACHED_BURST_MBPS, "run at bs=4k")
    assert text.startswith(starts)
    assert ("burst MB/s limit: run at bs=4k" in text) == (probability < 0.8)


def test_every_label_has_words() -> None:
    names = [label.display_name for label in Label]
    assert len(set(names)) == len(names)


caps = st.builds(
    lambda iops, size, more: Cap(
        iops=iops, bytes_per_s=iops * size, burst_iops=iops * more, burst_bytes_per_s=iops * size * more
    ),
    st.floats(100, 100_000),
    st.floats(2_000, 200_000),
    st.sampled_from([1.0, 1.25, 3.0]),
)
setups = st.builds(
    lambda disk, uncached, cached, caching, n: Setup(
        VM(uncached=uncached, cached=cached),
        (Disk(name="disk", sku="Premium_LRS", cap=disk, caching=caching, count=n, striped=n > 1),),
    ),
    caps,
    caps,
    caps,
    st.sampled_from(["None", "ReadOnly", "ReadWrite"]),
    st.integers(1, 4),
)
seen_runs = st.builds(
    lambda iops, size, share, depth, seconds, direct: run(
        iops=iops, bs_bytes=size, read_share=share, queue_depth=depth, runtime_s=seconds, direct=direct
    ),
    st.floats(10, 300_000),
    st.sampled_from([4 * KIB, 64 * KIB, 1024 * KIB]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1, 16, 1024]),
    st.sampled_from([10, 60, 4000]),  # an hour is twice what full credits last: burst and base would tie
    st.sampled_from([True, False, None]),
)


@given(setups, seen_runs)
def test_probabilities_are_a_distribution(setup: Setup, seen: Observation) -> None:
    judged = judge(seen, setup)
    assert math.fsum(judged.posterior.values()) == pytest.approx(1)
    assert all(0 <= part <= 1 for part in judged.posterior.values())
    shares = [round(part, 12) for part in judged.posterior.values()]
    assert shares == sorted(shares, reverse=True)
    assert judged.posterior[judged.binding[0]] == max(judged.posterior.values())
    assert judged.runner_up is None or judged.runner_up not in judged.binding


def times(cap: Cap, k: float) -> Cap:
    return cap.times(k)


def at_a_base(setup: Setup, iops: float, bs_bytes: float) -> bool:
    """Whether a rate is that of a limit to the last digits, which decide whether an hour had a burst."""
    limits = [setup.vm.uncached, setup.vm.cached, *(disk.cap.times(disk.count) for disk in setup.disks)]
    return any(
        limit is not None and math.isclose(rate, limit)
        for cap in limits
        for rate, limit in ((iops, cap.iops), (iops * bs_bytes, cap.bytes_per_s))
    )


@given(setups, seen_runs)
def test_twice_the_limits_and_twice_the_rate_is_the_same_verdict(setup: Setup, seen: Observation) -> None:
    """With twice the outstanding I/Os, so that each takes as long as before; of direct I/O, for memory is as
    fast whatever the limits are.
    """
    seen = replace(seen, direct=True)
    vm = replace(setup.vm, uncached=times(setup.vm.uncached, 2), cached=times(setup.vm.cached, 2))
    disks = tuple(replace(disk, cap=times(disk.cap, 2)) for disk in setup.disks)
    assert seen.iops and seen.queue_depth
    assume(not at_a_base(setup, seen.iops, seen.bs_bytes or 0))
    latency = seen.queue_depth * 1e6 / seen.iops
    first = replace(seen, queue_depth=2 * seen.queue_depth, unloaded_us=latency, cpu_pct=10, slat_us=1)
    twice = replace(first, iops=2 * seen.iops, queue_depth=4 * seen.queue_depth)
    before, after = judge(first, setup), judge(twice, replace(setup, vm=vm, disks=disks))
    assert before.binding == after.binding
    # FEW outstanding I/Os a job is a matter of their number, so that only what follows from rates is compared
    same = set(before.posterior) & set(after.posterior) - {"latency_qd"}
    ratios = [
        after.posterior[label] / before.posterior[label] for label in same if before.posterior[label] > 1e-6
    ]
    assert max(ratios) == pytest.approx(min(ratios), rel=1e-3)


@given(setups, seen_runs, st.permutations(range(3)))
def test_the_order_of_the_disks_is_irrelevant(setup: Setup, seen: Observation, order: list[int]) -> None:
    disks = [replace(setup.disks[0], name=name) for name in "abc"]
    here, there = (replace(setup, disks=tuple(some)) for some in (disks, [disks[i] for i in order]))
    assert judge(seen, here).binding == judge(seen, there).binding
    assert judge(seen, here).posterior == pytest.approx(judge(seen, there).posterior)


@given(st.floats(0.01, 10), st.sampled_from([0.03, 0.15, 0.5]))
def test_a_limit_that_was_passed_holds_the_less(use: float, loose: float) -> None:
    assert holds(use, loose) >= holds(use * 1.01, loose)
    assert bound(use, loose) >= 0


def test_the_density_of_a_limit_that_binds_sums_to_one() -> None:
    steps = np.linspace(math.log(0.5), math.log(2.0), 20_001)
    density = [bound(math.exp(x), 0.15) for x in steps]
    assert float(np.trapezoid(density, steps)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "missing",
    [
        field.name
        for field in fields(Observation)
        if field.name not in ("read_share", "numjobs", "percentiles", "consumed_pct", "credits_used_pct")
    ],
)
def test_any_part_may_be_missing(missing: str) -> None:
    whole = run(
        iops=5090,
        bw_bytes_per_s=5090 * 4 * KIB,
        mean_us=12_570,
        percentiles={50.0: 2800.0, 99.0: 45_000.0},
        cpu_pct=5,
        working_set_bytes=30 * GIB,
        ram_bytes=32 * GIB,
        time_based=True,
    )
    judged = judge(replace(whole, **{missing: None}), Setup(D8S, (P30,)))
    assert judged.binding == ("disk_iops",) and judged.probability > 0.9
