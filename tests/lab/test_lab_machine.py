"""The emulated machine against what the limits say, in emulated time: rates, credits, fair shares."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from azbenchlib.azure import catalog
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, MIB
from azbenchlib.lab.engine.simulate import SimulatedJob, per_second, rate, simulate
from azbenchlib.lab.engine.token_buckets import TokenBucket
from azbenchlib.lab.engine.virtual_machine import FLUSH, READ, TRIM, WRITE, ZERO, Machine, Options
from azbenchlib.model import VM, Cap, Disk, Load, Setup, deliver
from azbenchlib.model.fill_from_catalogue import vm_of

P4 = Disk(
    name="os",
    role="os",
    sku="Premium_LRS",
    size_bytes=32 * GIB,
    cap=Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB),
)
P30 = Disk(name="data", sku="Premium_LRS", size_bytes=GIB, cap=Cap(iops=5000, bytes_per_s=200 * MB))
E8DS_V4 = vm_of(catalog.vm("Standard_E8ds_v4", "2020-07-01"))
NO_LATENCY = {"data": "none"}


ANY_VM = VM()


def machine(*disks: Disk, vm: VM = ANY_VM, **options: object) -> Machine:
    return Machine(Setup(vm, disks), Options(**options))


def credits_of(emulated: Machine, now: float) -> float:
    return emulated.live(now)["os disk_burst_iops"]["credits"]


# one disk


def test_a_p4_bursts_until_its_credits_are_spent_and_then_holds_its_base() -> None:
    ios = simulate(
        machine(P4, credit_s=10),
        SimulatedJob(volume="os", queue_depth=64, bs_bytes=8 * KIB, read_share=0),
        20,
    )
    by_second = per_second(ios).set_index("t_s")["iops"]
    assert by_second[2:9].between(3497, 3503).all()
    assert by_second[12:20].between(119, 121).all()
    knee = (ios["t_s"] <= 20).sum() / 3500  # if all had come at the burst rate
    assert len(ios) - 120 * 20 == pytest.approx((3500 - 120) * 10, rel=0.01)
    assert knee == pytest.approx(10 + 10 * 120 / 3500, rel=0.01)


def test_full_credits_are_half_an_hour_of_the_burst() -> None:
    assert credits_of(machine(P4), 0.0) == pytest.approx((3500 - 120) * 1800)


def test_a_pause_brings_credits_back_at_the_base_rate() -> None:
    emulated = machine(P4, credit_s=5)
    simulate(emulated, SimulatedJob(volume="os", queue_depth=64, bs_bytes=8 * KIB, read_share=0), 10)
    assert credits_of(emulated, 10) < 65  # what waits has them already
    pause = 60.0
    ios = simulate(
        emulated,
        SimulatedJob(volume="os", queue_depth=64, bs_bytes=8 * KIB, read_share=0),
        20,
        start=10 + pause,
    )
    assert len(ios) - 120 * 20 == pytest.approx(120 * pause, rel=0.02)


def test_credits_do_not_grow_beyond_what_the_bucket_holds() -> None:
    emulated = machine(P4, credit_s=5)
    simulate(emulated, SimulatedJob(volume="os", queue_depth=64, bs_bytes=8 * KIB, read_share=0), 10)
    assert credits_of(emulated, 1e9) == pytest.approx((3500 - 120) * 5)


def test_iops_and_bytes_have_credits_apart() -> None:
    emulated = machine(P4, credit_s=5)
    simulate(emulated, SimulatedJob(volume="os", queue_depth=64, bs_bytes=4 * KIB, read_share=0), 10)
    live = emulated.live(10)
    assert live["os disk_burst_iops"]["credits"] < 65
    assert live["os disk_burst_mbps"]["credits"] == pytest.approx((170 - 25) * MB * 5)


def test_ultra_disk_of_50_mb_per_s_gives_6104_iops_of_8_kib() -> None:
    ultra = Disk(name="data", sku="UltraSSD_LRS", size_bytes=GIB, cap=Cap(iops=10_000, bytes_per_s=50 * MB))
    ios = simulate(
        machine(ultra), SimulatedJob(volume="data", queue_depth=32, bs_bytes=8 * KIB, read_share=0.5), 10
    )
    assert rate(ios, "data", 1, 10) == pytest.approx(50e6 / 8192, rel=0.001)
    faster = replace(ultra, cap=Cap(iops=10_000, bytes_per_s=100 * MB))
    ios = simulate(
        machine(faster), SimulatedJob(volume="data", queue_depth=32, bs_bytes=8 * KIB, read_share=0.5), 5
    )
    assert rate(ios, "data", 1, 5) == pytest.approx(10_000, rel=0.001)


@pytest.mark.parametrize(("bs", "iops"), [(8 * KIB, 59_136), (4 * KIB, 77_000)])
def test_cached_writes_of_e8ds_v4_reach_the_limit_of_the_row(bs: int, iops: int) -> None:
    emulated = machine(replace(P4, caching="ReadWrite"), vm=E8DS_V4)
    ios = simulate(emulated, SimulatedJob(volume="os", queue_depth=512, bs_bytes=bs, read_share=0), 1)
    assert rate(ios, "os", 0.4, 1) == pytest.approx(iops, rel=0.001)


@pytest.mark.parametrize(
    ("vm", "disk", "bs", "expected"),
    [
        (Cap(iops=4000, bytes_per_s=50 * MB), Cap(iops=5000, bytes_per_s=200 * MB), 4 * KIB, 4000),
        (
            Cap(iops=6400, bytes_per_s=50 * MB),
            Cap(iops=5000, bytes_per_s=200 * MB),
            16 * KIB,
            50 * MB / (16 * KIB),
        ),
        (
            Cap(iops=6400, bytes_per_s=96 * MB),
            Cap(iops=5000, bytes_per_s=60 * MB),
            16 * KIB,
            60 * MB / (16 * KIB),
        ),
        (
            Cap(iops=6400, bytes_per_s=500 * MB),
            Cap(iops=500, bytes_per_s=400 * MB),
            512 * KIB,
            250,
        ),  # counts as two
    ],
)
def test_the_least_of_all_limits_on_the_way_holds(vm: Cap, disk: Cap, bs: int, expected: float) -> None:
    emulated = machine(replace(P30, cap=disk), vm=VM(uncached=vm))
    ios = simulate(emulated, SimulatedJob(volume="data", queue_depth=64, bs_bytes=bs), 5)
    assert rate(ios, "data", 1, 5) == pytest.approx(expected, rel=0.002)


def test_a_stripe_has_the_limits_of_its_disks_together() -> None:
    stripe = replace(P30, count=3, striped=True)
    emulated = machine(stripe)
    assert emulated.volumes["data"].size_bytes == 3 * GIB
    assert rate(
        simulate(emulated, SimulatedJob(volume="data", queue_depth=128), 2), "data", 1, 2
    ) == pytest.approx(15_000, rel=0.002)


def test_reads_and_writes_with_limits_of_their_own_share_them() -> None:
    vm = VM(temp=Cap(iops=4000, write_iops=1000), cached=Cap(iops=9000))
    temp = Disk(name="temp", role="temp", size_bytes=GIB)
    ios = simulate(machine(temp, vm=vm), SimulatedJob(volume="temp", queue_depth=32, read_share=0.5), 3)
    assert rate(ios, "temp", 1, 3) == pytest.approx(1 / (0.5 / 4000 + 0.5 / 1000), rel=0.002)


def test_nvme_writes_are_not_limited_by_what_is_stated_of_reads() -> None:
    emulated = machine(
        Disk(name="nvme", role="nvme"), vm=VM(nvme=Cap(iops=500, write_iops=float("inf")), nvme_count=1)
    )
    reads = simulate(emulated, SimulatedJob(volume="nvme", queue_depth=4), 1)
    assert len(reads) == pytest.approx(500, abs=10)
    writes = simulate(emulated, SimulatedJob(volume="nvme", queue_depth=4, read_share=0), 1, start=1)
    assert len(writes) > 20_000


def test_with_one_outstanding_the_latency_sets_the_rate() -> None:
    ios = simulate(machine(P30), SimulatedJob(volume="data", queue_depth=1), 10)
    assert len(ios) == pytest.approx(10 / (ios["lat_us"].mean() * 1e-6), rel=0.001)
    assert ios["lat_us"].median() == pytest.approx(2474, rel=0.01)


def test_nothing_known_limits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    emulated = machine(Disk(name="data"), vm=VM())
    due: list[float] = []
    for _ in range(10_000):
        emulated.submit("data", WRITE, 0, MIB, 0.0, due.append)
    assert max(due) < 0.02
    monkeypatch.setattr("azbenchlib.lab.engine.simulate.MOST_IOS", 10_000)
    with pytest.raises(InputError, match="nothing limits them"):
        simulate(
            machine(Disk(name="data"), latency={"data": "none"}),
            SimulatedJob(volume="data", queue_depth=1),
            1,
        )


# ticks


def test_ticks_let_waiting_ios_through_at_multiples_of_the_tick_at_the_same_rate() -> None:
    emulated = machine(P30, tick_s=0.05, latency=NO_LATENCY)
    ios = simulate(emulated, SimulatedJob(volume="data", queue_depth=512), 5)
    assert rate(ios, "data", 1, 5) == pytest.approx(5000, rel=0.001)
    ticks = ios["t_s"] / 0.05
    assert (ticks - ticks.round()).abs().max() < 1e-6


def test_ticks_do_not_hold_back_what_is_within_the_limit() -> None:
    ios = simulate(machine(P30, tick_s=0.05), SimulatedJob(volume="data", queue_depth=4), 2)
    assert ios["lat_us"].median() == pytest.approx(2474, rel=0.01)


# shared limits


def test_four_disks_share_the_limit_of_the_vm_fairly_whatever_their_depth() -> None:
    emulated = machine(replace(P30, count=4), vm=VM(uncached=Cap(iops=12_800, bytes_per_s=1000 * MB)))
    depths = {"data-1": 64, "data-2": 64, "data-3": 32, "data-4": 16}
    ios = simulate(
        emulated, [SimulatedJob(volume=name, queue_depth=depth) for name, depth in depths.items()], 5
    )
    rates = [rate(ios, name, 1, 5) for name in depths]
    assert sum(rates) == pytest.approx(12_800, rel=0.01)
    assert rates == pytest.approx([3200] * 4, rel=0.01)


def agrees(setup: Setup, jobs: list[SimulatedJob], *, seconds: float = 4, bursting: bool = False) -> None:
    """Each volume gets what `deliver` says, within 1 %."""
    names = [volume.name for volume in setup.volumes()]
    latency = dict.fromkeys([*names, "host-cache"], "none")
    options = Options(credit_s=1e6 if bursting else 0, cache_bytes=4096, latency=latency)
    ios = simulate(Machine(setup, options), jobs, seconds)
    loads = [
        Load(volume=job.volume, read_share=job.read_share, bs_bytes=job.bs_bytes, destaged=True)
        for job in jobs
    ]
    said = {use.volume: use.iops for use in deliver(setup, loads, bursting=bursting).volumes}
    got = {job.volume: rate(ios, job.volume, seconds / 4, seconds) for job in jobs}
    assert got == pytest.approx(said, rel=0.01)


def test_a_slow_disk_leaves_the_rest_to_its_neighbour() -> None:
    slow, fast = (
        replace(P30, name=name, cap=Cap(iops=iops)) for name, iops in (("slow", 500), ("fast", 20_000))
    )
    setup = Setup(VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB)), (slow, fast))
    agrees(setup, [SimulatedJob(volume="slow", queue_depth=128), SimulatedJob(volume="fast", queue_depth=16)])


def test_different_block_sizes_share_by_ios() -> None:
    small, large = (replace(P30, name=name) for name in ("small", "large"))
    setup = Setup(VM(uncached=Cap(iops=6400, bytes_per_s=96 * MB)), (small, large))
    agrees(
        setup,
        [
            SimulatedJob(volume="small", queue_depth=32, bs_bytes=4 * KIB, read_share=0.5),
            SimulatedJob(volume="large", queue_depth=32, bs_bytes=64 * KIB, read_share=0.5),
        ],
    )


def test_temp_and_cached_disks_share_one_limit() -> None:
    cached, temp = replace(P30, caching="ReadOnly"), Disk(name="temp", role="temp", size_bytes=GIB)
    setup = Setup(
        VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=8000, bytes_per_s=100 * MB)),
        (cached, temp),
    )
    agrees(
        setup,
        [
            SimulatedJob(volume="data", queue_depth=32, bs_bytes=4 * KIB),
            SimulatedJob(volume="temp", queue_depth=32, bs_bytes=4 * KIB),
        ],
    )
    agrees(
        setup,
        [
            SimulatedJob(volume="data", queue_depth=32, bs_bytes=32 * KIB, read_share=0.7),
            SimulatedJob(volume="temp", queue_depth=8, bs_bytes=8 * KIB, read_share=0.0),
        ],
    )


def test_ultra_and_premium_disks_share_what_is_behind_their_limits() -> None:
    ultra = replace(P30, name="ultra", sku="UltraSSD_LRS", cap=Cap(iops=50_000))
    vm = VM(uncached=Cap(iops=6000, bytes_per_s=100 * MB), uncached_v2=Cap(iops=9000, bytes_per_s=120 * MB))
    agrees(
        Setup(vm, (ultra, replace(P30, cap=Cap(iops=50_000)))),
        [SimulatedJob(volume="ultra", queue_depth=16), SimulatedJob(volume="data", queue_depth=16)],
    )


def test_a_disk_does_not_wait_for_a_limit_that_only_its_neighbour_has() -> None:
    ultra = replace(P30, name="ultra", sku="UltraSSD_LRS", cap=Cap(iops=50_000))
    vm = VM(uncached=Cap(iops=6000), uncached_v2=Cap(iops=6000, bytes_per_s=20 * MB))
    agrees(
        Setup(vm, (ultra, replace(P30, cap=Cap(iops=50_000)))),
        [
            SimulatedJob(volume="ultra", queue_depth=64, bs_bytes=64 * KIB),
            SimulatedJob(volume="data", queue_depth=16),
        ],
    )


def test_a_burst_of_the_vm_is_shared_too_and_ends_when_its_credits_do() -> None:
    vm = VM(uncached=Cap(iops=2000, bytes_per_s=100 * MB, burst_iops=4000, burst_bytes_per_s=100 * MB))
    setup = Setup(vm, (replace(P30, count=2),))
    agrees(
        setup,
        [SimulatedJob(volume="data-1", queue_depth=8), SimulatedJob(volume="data-2", queue_depth=32)],
        bursting=True,
    )
    ios = simulate(
        Machine(setup, Options(credit_s=3)),
        [SimulatedJob(volume="data-1", queue_depth=32), SimulatedJob(volume="data-2", queue_depth=32)],
        8,
    )
    total = per_second(ios).groupby("t_s")["iops"].sum()
    assert total[2] == pytest.approx(4000, rel=0.01)
    assert total[7] == pytest.approx(2000, rel=0.01)
    assert len(ios) - 8 * 2000 == pytest.approx(2000 * 3, rel=0.02)


rates = st.one_of(st.none(), st.floats(100, 2e4))
byte_rates = st.one_of(st.none(), st.floats(2e6, 2e8))
caps = st.builds(Cap, iops=rates, bytes_per_s=byte_rates, burst_iops=rates, burst_bytes_per_s=byte_rates).map(
    # a burst without a base says nothing of the time without credits
    lambda cap: replace(
        cap,
        burst_iops=cap.iops and cap.burst_iops,
        burst_bytes_per_s=cap.bytes_per_s and cap.burst_bytes_per_s,
    )
)
local_caps = st.builds(
    Cap, iops=rates, bytes_per_s=byte_rates, write_iops=rates, write_bytes_per_s=byte_rates
)
disks = st.builds(
    Disk,
    name=st.just("data"),
    role=st.sampled_from(["data", "temp", "nvme"]),
    sku=st.sampled_from(["Premium_LRS", "PremiumV2_LRS", None]),
    size_bytes=st.just(16 * GIB),
    caching=st.sampled_from(["None", "ReadOnly", "ReadWrite"]),
    cap=caps,
    count=st.integers(1, 3),
    striped=st.booleans(),
)
vms = st.builds(
    VM,
    uncached=caps,
    uncached_v2=caps,
    cached=caps,
    temp=local_caps,
    nvme=local_caps,
    cache_bytes=st.just(4096),
)


@given(
    vms,
    disks,
    st.sampled_from([512, 4096, 8192, 65536, 393216, 1048576]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.booleans(),
)
def test_single_and_alike_volumes_get_what_the_model_says(
    vm: VM, disk: Disk, bs: int, read_share: float, bursting: bool
) -> None:
    setup = Setup(vm, (disk,))
    names = [volume.name for volume in setup.volumes()]
    loads = [Load(volume=name, read_share=read_share, bs_bytes=bs, destaged=True) for name in names]
    said = deliver(setup, loads, bursting=bursting).iops
    assume(said is not None)
    jobs = [SimulatedJob(volume=name, queue_depth=16, bs_bytes=bs, read_share=read_share) for name in names]
    agrees(setup, jobs, seconds=max(0.1, 2500 * len(names) / said), bursting=bursting)


# what can be watched


def test_live_names_what_throttles() -> None:
    emulated = machine(replace(P30, caching="ReadOnly"), vm=E8DS_V4)
    simulate(emulated, SimulatedJob(volume="data", queue_depth=64, bs_bytes=4 * KIB), 2)
    live = emulated.live(2)
    assert live["data"] == {"queue_depth": 64, "cache_hit_ratio": pytest.approx(0, abs=0.1)}
    assert live["data disk_iops"]["throttled_share"] > 0.95
    assert live["vm vm_uncached_iops"] == {"throttled_share": 0}
    assert "credits" not in live["vm vm_cached_iops"]
    assert emulated.live(2) == {"data": {"queue_depth": 64}}  # no request since then: no shares


def test_live_counts_who_waits_in_turn_at_a_shared_limit() -> None:
    emulated = machine(
        replace(P30, count=2),
        vm=VM(uncached=Cap(iops=1000, bytes_per_s=96 * MB, burst_iops=2000, burst_bytes_per_s=96 * MB)),
    )
    simulate(
        emulated,
        [SimulatedJob(volume="data-1", queue_depth=8), SimulatedJob(volume="data-2", queue_depth=8)],
        2,
    )
    live = emulated.live(2)
    assert live["vm vm_uncached_burst_iops"]["throttled_share"] > 0.95
    assert live["vm vm_uncached_iops"]["throttled_share"] == 0
    assert live["vm vm_uncached_burst_iops"]["credits"] == pytest.approx(1000 * (1800 - 2), rel=0.001)


def test_live_temp_throttling_is_called_temp() -> None:
    emulated = machine(Disk(name="temp", role="temp", size_bytes=GIB), vm=VM(cached=Cap(iops=500)))
    simulate(emulated, SimulatedJob(volume="temp", queue_depth=8), 2)
    assert emulated.live(2)["vm temp_iops"]["throttled_share"] > 0.9


def test_nobody_waits_for_what_is_written_back_until_there_is_no_room() -> None:
    for cache_bytes, waits in ((GIB, False), (MIB, True)):
        disk = replace(P30, caching="ReadWrite")
        emulated = machine(disk, vm=E8DS_V4, cache_bytes=cache_bytes, latency={"host-cache": "none"})
        simulate(emulated, SimulatedJob(volume="data", queue_depth=1, bs_bytes=4 * KIB, read_share=0), 2)
        assert (emulated.totals()["data"]["stalls"] > 0) is waits
        assert (emulated.live(2).get("data disk_iops", {}).get("throttled_share", 0) > 0.9) is waits


def test_totals_count_exactly() -> None:
    emulated = machine(P30)
    done: list[float] = []
    for op, length in ((READ, 4096), (READ, 512 * KIB), (WRITE, 8192), (FLUSH, 0), (TRIM, GIB), (ZERO, MIB)):
        emulated.submit("data", op, 0, length, 0.0, done.append)
    total = emulated.totals()["data"]
    assert len(done) == 6
    assert (total["read_ios"], total["read_bytes"]) == (2, 4096 + 512 * KIB)
    assert (total["write_ios"], total["write_bytes"], total["flush_ios"]) == (1, 8192, 1)
    assert (total["trim_bytes"], total["zero_bytes"]) == (GIB, MIB)
    assert total["counted_ios"] == 1 + 2 + 1 + 1 + 1  # the 512 KiB read counts as two, the flush as none


# laws


@given(
    st.floats(0, 100),
    st.lists(st.tuples(st.floats(0, 10), st.floats(0.001, 5)), min_size=1, max_size=40),
)
def test_a_bucket_is_never_below_empty_nor_above_full(
    full_s: float, steps: list[tuple[float, float]]
) -> None:
    bucket, now, taken, largest = TokenBucket(full_s), 0.0, 0.0, 0.0
    for wait, cost in steps:
        now += wait
        passes = max(now, bucket.take(now, cost))
        assert 0 <= bucket.level_s(now) <= full_s
        # before it, no more than a full bucket and what flowed in since the start
        assert taken <= full_s + passes + 1e-9 + largest
        taken, largest = taken + cost, max(largest, cost)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"credit_s": -1}, "credit_s -1"),
        ({"tick_s": float("nan")}, "tick_s nan"),
        ({"cache_bytes": 10}, "cache of 10 bytes"),
        ({"dirty_share": 0}, "dirty_share 0"),
        ({"latency": {"other": "temp"}}, "'other'.*data, host-cache"),
        ({"latency": {"data": "warp"}}, "no latency table 'warp'.*nvme"),
    ],
)
def test_options_outside_their_range_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        machine(P30, **options)


def test_a_setup_without_disks_is_refused() -> None:
    with pytest.raises(InputError, match="without disks"):
        Machine(Setup(E8DS_V4))


def test_jobs_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="no volume 'nope'; there are: data"):
        simulate(machine(P30), SimulatedJob(volume="nope"), 1)
    with pytest.raises(InputError, match="queue depth 0"):
        SimulatedJob(volume="data", queue_depth=0)
    with pytest.raises(InputError, match="at least a block"):
        simulate(machine(P30), SimulatedJob(volume="data", working_set_bytes=512), 1)
