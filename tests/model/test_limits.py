"""Limits and how they combine: by hand, by law, and as they explain published measurements."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.azure import catalog
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB
from azbenchlib.model import VM, Cap, Disk, Load, Setup, ceilings, deliver, rules
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks

D8S_V3 = VM(
    size="D8s_v3",
    uncached=Cap(iops=12800, bytes_per_s=192 * MB, burst_iops=16000, burst_bytes_per_s=400 * MB),
    cached=Cap(iops=16000, bytes_per_s=128 * MB),
)
P30 = Disk(name="data", sku="Premium_LRS", cap=Cap(iops=5000, bytes_per_s=200 * MB))
P4 = Disk(
    name="os",
    role="os",
    sku="Premium_LRS",
    cap=Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB),
)

caps = st.builds(
    Cap,
    iops=st.one_of(st.none(), st.floats(100, 1e5)),
    bytes_per_s=st.one_of(st.none(), st.floats(1e6, 1e9)),
    burst_iops=st.one_of(st.none(), st.floats(100, 1e5)),
    burst_bytes_per_s=st.one_of(st.none(), st.floats(1e6, 1e9)),
)
block_sizes = st.sampled_from([512, 4096, 8192, 65536, 262144, 393216, 1048576])
# None, or at least one I/O in a billion: the reciprocal of the least numbers that there are is no number.
shares = st.one_of(st.just(0.0), st.floats(1e-9, 1))
QUANTITIES = ("iops", "bytes_per_s", "burst_iops", "burst_bytes_per_s")


@st.composite
def setups(draw: st.DrawFn, most: int = 4) -> Setup:
    disks = [
        Disk(
            name=f"d{i}",
            role=draw(st.sampled_from(["data", "data", "data", "temp"])),
            sku=draw(st.sampled_from(["Premium_LRS", "PremiumV2_LRS", None])),
            caching=draw(st.sampled_from(["None", "ReadOnly", "ReadWrite"])),
            cap=draw(caps),
            count=draw(st.integers(1, 3)),
            striped=True,
            cache_hit=draw(st.one_of(st.none(), shares)),
        )
        for i in range(draw(st.integers(1, most)))
    ]
    return Setup(
        VM(size="any", uncached=draw(caps), uncached_v2=draw(caps), cached=draw(caps), temp=draw(caps)),
        tuple(disks),
    )


def one(setup: Setup, read_share: float = 1.0, bs: int = 4 * KIB, **how: float) -> list[Load]:
    return [Load(volume=volume.name, read_share=read_share, bs_bytes=bs, **how) for volume in setup.volumes()]


def test_the_separate_budgets_of_cached_and_uncached_disks_add_up() -> None:
    cached = replace(P30, name="cached", caching="ReadOnly", count=4, striped=True)
    setup = Setup(D8S_V3, (cached, replace(P30, count=4, striped=True)))
    got = deliver(
        setup,
        [
            Load(volume="cached", read_share=1, bs_bytes=4096, cache_hit=1.0),
            Load(volume="data", read_share=1, bs_bytes=4096),
        ],
        bursting=False,
    )
    assert (got.through("vm_cached"), got.through("vm_uncached")) == pytest.approx((16000, 12800))
    assert set(got.binding) == {"vm_cached_iops", "vm_uncached_iops"}


@pytest.mark.parametrize(
    ("caching", "read_share", "hit", "destaged", "binding", "iops"),
    [
        ("None", 1.0, 1.0, False, "disk_iops", 120),  # nothing is cached
        ("ReadOnly", 1.0, 1.0, False, "vm_cached_iops", 16000),
        ("ReadOnly", 1.0, 0.0, False, "disk_iops", 120),
        ("ReadOnly", 1.0, 0.5, False, "disk_iops", 240),  # every second read goes to the disk
        ("ReadOnly", 0.0, 1.0, False, "disk_iops", 120),  # writes reach cache and disk
        ("ReadWrite", 0.0, 0.0, False, "vm_cached_iops", 16000),  # done when in the cache
        ("ReadWrite", 0.0, 0.0, True, "disk_iops", 120),
        ("ReadWrite", 0.5, 1.0, True, "disk_iops", 240),
    ],
)
def test_each_path_meets_its_own_limits(
    caching: str, read_share: float, hit: float, destaged: bool, binding: str, iops: float
) -> None:
    setup = Setup(D8S_V3, (replace(P4, caching=caching),))
    load = Load(volume="os", read_share=read_share, bs_bytes=4096, cache_hit=hit, destaged=destaged)
    got = deliver(setup, [load], bursting=False)
    assert (got.binding, got.iops) == ((binding,), pytest.approx(iops))


def test_a_share_that_is_not_used_goes_to_the_others() -> None:
    setup = Setup(replace(D8S_V3, uncached=Cap(iops=9000)), tuple(replace(P30, name=name) for name in "abc"))
    got = deliver(
        setup, [Load(volume="a", iops=1000), Load(volume="b", iops=5000), Load(volume="c", iops=9999)]
    )
    assert [volume.iops for volume in got.volumes] == pytest.approx([1000, 4000, 4000])
    assert [volume.binding for volume in got.volumes] == [("workload_demand",)] + [("vm_uncached_iops",)] * 2


def test_separate_disks_and_a_stripe_have_the_same_sum() -> None:
    apart, joined = (Setup(D8S_V3, (replace(P30, count=2, striped=striped),)) for striped in (False, True))
    assert deliver(apart, one(apart)).iops == deliver(joined, one(joined)).iops == pytest.approx(10000)
    assert [len(setup.volumes()) for setup in (apart, joined)] == [2, 1]


@pytest.mark.parametrize(
    ("bs", "iops", "binding"),
    [
        (256 * KIB, 25 * MB / (256 * KIB), "disk_mbps"),
        (257 * KIB, 60, "disk_iops"),
        (1024 * KIB, 25 * MB / 1024**2, "disk_mbps"),
    ],
)
def test_larger_ios_count_as_several_of_256_kib(bs: int, iops: float, binding: str) -> None:
    got = deliver(Setup(disks=(P4,)), [Load(volume="os", read_share=1, bs_bytes=bs)], bursting=False)
    assert (got.iops, got.binding[0]) == (pytest.approx(iops), binding)
    uncounted = deliver(
        Setup(disks=(replace(P4, sku="Standard_LRS"),)),
        [Load(volume="os", read_share=1, bs_bytes=bs)],
        bursting=False,
    )
    assert uncounted.binding == ("disk_mbps",)


def test_equal_limits_are_a_tie_and_so_are_those_that_azure_itself_states_two_ways() -> None:
    setup = Setup(
        VM(
            size="DS14",
            uncached=Cap(iops=50000, bytes_per_s=512 * MB),
            cached=Cap(iops=64000, bytes_per_s=512 * MB),
        ),
        (replace(P30, count=10, striped=True),),
    )
    assert set(deliver(setup, one(setup)).binding) == {"disk_iops", "vm_uncached_iops"}
    cached = Setup(setup.vm, (replace(P30, caching="ReadOnly", cache_hit=1.0),))
    assert deliver(cached, one(cached, bs=8192)).binding == (
        "vm_cached_mbps",
        "vm_cached_iops",
    )  # 512 and 524 MB/s
    assert deliver(cached, one(cached, bs=16384)).binding == ("vm_cached_mbps",)


def test_the_temp_disk_shares_the_cached_limit_unless_it_has_one_of_its_own() -> None:
    disks = (replace(P30, caching="ReadOnly", cache_hit=1.0), Disk(name="temp", role="temp"))
    both = deliver(shared := Setup(D8S_V3, disks), one(shared))
    assert both.iops == pytest.approx(16000) and set(both.binding) == {"vm_cached_iops", "temp_iops"}
    repeated = Setup(replace(D8S_V3, temp=Cap(iops=16000, bytes_per_s=128 * MB)), disks)
    assert deliver(repeated, one(repeated)).iops == pytest.approx(16000)
    own = Setup(replace(D8S_V3, temp=Cap(iops=9000, bytes_per_s=125 * MB)), disks)
    assert deliver(own, one(own)).iops == pytest.approx(25000)


def test_reads_and_writes_with_limits_of_their_own_share_the_device() -> None:
    vm = VM(
        size="D64_v3",
        cached=Cap(iops=96000, bytes_per_s=1000 * MB),
        temp=Cap(iops=96000, bytes_per_s=1000 * MB, write_bytes_per_s=500 * MB),
    )
    setup = Setup(vm, (Disk(name="temp", role="temp"),))
    sizes = [deliver(setup, one(setup, share, MB)).bytes_per_s for share in (1.0, 0.5, 0.0)]
    assert sizes == pytest.approx([1000 * MB, 2000 * MB / 3, 500 * MB])


def test_ultra_has_limits_of_its_own_on_sizes_that_state_them() -> None:
    vm = VM(size="E8ds_v6", uncached=Cap(iops=12800), uncached_v2=Cap(iops=16667))
    ultra = Disk(name="u", sku="UltraSSD_LRS", cap=Cap(iops=80000))
    assert deliver(Setup(vm, (ultra,)), [Load(volume="u", iops=1e6)]).iops == pytest.approx(16667)
    assert deliver(
        Setup(vm, (replace(P30, count=4, striped=True),)), [Load(volume="data", iops=1e6)]
    ).iops == pytest.approx(12800)


def test_little_s_law_binds_where_too_little_is_outstanding() -> None:
    setup = Setup(disks=(P30,))
    got = deliver(setup, one(setup), queue_depth=4, latency_s=0.001)
    assert (got.iops, got.binding) == (pytest.approx(4000), ("latency_qd",))
    assert deliver(setup, one(setup), queue_depth=5, latency_s=0.001).binding == ("disk_iops", "latency_qd")


def test_an_idle_disk_gains_credits_and_a_busy_one_spends_them() -> None:
    setup = Setup(
        replace(D8S_V3, uncached=Cap(iops=6400, bytes_per_s=96 * MB)),
        (P4, replace(P4, name="b"), replace(P4, name="c")),
    )
    got = deliver(setup, [Load(volume="os", iops=0), Load(volume="b", iops=120), Load(volume="c", iops=9000)])
    assert [volume.state for volume in got.volumes] == ["accruing", "steady", "bursting"]
    assert got.volumes[2].binding == ("disk_burst_iops",) and got.volumes[0].iops == 0


def test_no_documented_limit_is_unknown_not_a_figure() -> None:
    setup = Setup(disks=(Disk(name="nvme", role="nvme"),))
    got = deliver(setup, one(setup))
    assert (got.iops, got.bytes_per_s, got.binding) == (None, None, ("unknown",))


def test_volumes_that_turn_one_after_the_other_have_no_common_crossover() -> None:
    disks = (P30, replace(P30, name="log", cap=Cap(iops=10000, bytes_per_s=50 * MB)))
    turns = {row.scope: row.crossover_bytes for row in ceilings(Setup(disks=disks), [4096])}
    assert turns == {"data": 40_000, "log": 5000, "all volumes": None}
    twins = ceilings(Setup(disks=(replace(P30, count=2),)), [4096])
    assert {row.crossover_bytes for row in twins} == {40_000}


def test_ceilings_turn_at_the_crossover() -> None:
    rows = ceilings(Setup(disks=(P30,)), [16 * KIB, 40_000, 64 * KIB])
    assert [row.crossover_bytes for row in rows] == pytest.approx([200 * MB / 5000] * 3)
    assert [row.binding[0] for row in rows] == ["disk_iops", "disk_iops", "disk_mbps"]
    paths = {row.path for row in ceilings(Setup(D8S_V3, (replace(P30, caching="ReadWrite"),)), [4096], 0.5)}
    assert len(paths) == 4 and {row.level for row in ceilings(Setup(D8S_V3, (P4,)), [4096])} == {
        "base",
        "burst",
    }


@given(setups(), st.data(), block_sizes, shares, st.booleans())
def test_nothing_is_delivered_above_a_cap(
    setup: Setup, data: st.DataObject, bs: int, share: float, bursting: bool
) -> None:
    wanted = st.one_of(st.none(), st.floats(0, 1e6))
    loads = [
        Load(volume=volume.name, read_share=share, bs_bytes=bs, iops=data.draw(wanted))
        for volume in setup.volumes()
    ]
    got = deliver(setup, loads, bursting=bursting)
    assert all(use.used <= use.cap * (1 + 1e-6) and use.utilisation <= 1 + 1e-6 for use in got.limits)
    for load, volume in zip(loads, got.volumes, strict=True):
        if volume.iops is not None and load.iops is not None:
            assert volume.iops <= load.iops * (1 + 1e-6)


@given(setups(), st.data(), block_sizes, shares, st.booleans())
def test_raising_a_cap_never_takes_from_the_least_served(
    setup: Setup, data: st.DataObject, bs: int, share: float, bursting: bool
) -> None:
    """Of max-min fairness: the rates, sorted, never become less in the first place where they differ.
    With one volume this is its IOPS and MB/s.
    """
    before = served(setup, bs, share, bursting)
    after = served(raised(setup, data), bs, share, bursting)
    different = [(a, b) for a, b in zip(before, after, strict=True) if abs(a - b) > 1e-6 * max(a, b)]
    assert not different or different[0][0] < different[0][1]


@given(setups(), st.data(), block_sizes, shares, st.sampled_from(["None", "ReadOnly"]))
def test_raising_a_cap_never_lowers_what_is_delivered_on_one_path(
    setup: Setup, data: st.DataObject, bs: int, share: float, caching: str
) -> None:
    alike = [
        replace(disk, role="data", sku="Premium_LRS", caching=caching, cache_hit=0.5) for disk in setup.disks
    ]
    setup = Setup(setup.vm, tuple(alike))
    before, after = (deliver(s, one(s, share, bs)) for s in (setup, raised(setup, data)))
    for old, new in ((before.iops, after.iops), (before.bytes_per_s, after.bytes_per_s)):
        assert old is None or new is None or new >= old * (1 - 1e-6)


def raised(setup: Setup, data: st.DataObject) -> Setup:
    """The same setup with one of its caps larger."""
    factor, name = data.draw(st.floats(1, 100)), data.draw(st.sampled_from(QUANTITIES))
    where = data.draw(
        st.sampled_from(["uncached", "uncached_v2", "cached", "temp", *range(len(setup.disks))])
    )
    if isinstance(where, str):
        return replace(setup, vm=replace(setup.vm, **{where: more(getattr(setup.vm, where), name, factor)}))
    disks = list(setup.disks)
    disks[where] = replace(disks[where], cap=more(disks[where].cap, name, factor))
    return replace(setup, disks=tuple(disks))


def more(cap: Cap, name: str, factor: float) -> Cap:
    value = getattr(cap, name)
    return cap if value is None else replace(cap, **{name: value * factor})


def served(setup: Setup, bs: int, share: float, bursting: bool) -> list[float]:
    rates = [volume.iops for volume in deliver(setup, one(setup, share, bs), bursting=bursting).volumes]
    return sorted(float("inf") if rate is None else rate for rate in rates)


@given(caps, block_sizes, shares)
def test_one_disk_without_vm_limits_gives_the_disk(cap: Cap, bs: int, share: float) -> None:
    got = deliver(
        Setup(disks=(Disk(name="d", cap=cap),)),
        [Load(volume="d", read_share=share, bs_bytes=bs)],
        bursting=False,
    )
    allowed = [limit for limit in (cap.iops, cap.bytes_per_s and cap.bytes_per_s / bs) if limit]
    assert got.iops == (pytest.approx(min(allowed)) if allowed else None)


@given(caps, st.integers(2, 6), caps, block_sizes)
def test_symmetric_disks_share_equally(cap: Cap, n: int, uncached: Cap, bs: int) -> None:
    setup = Setup(VM(size="any", uncached=uncached), (Disk(name="d", cap=cap, count=n),))
    rates = {volume.iops for volume in deliver(setup, one(setup, 1.0, bs)).volumes}
    assert len(rates) == 1 or max(rates) == pytest.approx(min(rates))


@pytest.mark.parametrize(
    ("vm", "disks", "as_of", "words"),
    [
        (None, ["ultra:128GiB/10000iops/50MBps:ReadOnly"], "2026-08-17", ("no host caching", "2022-06-06")),
        (None, ["pv2:128GiB/3000iops/125MBps:ReadWrite"], "2026-08-17", ("no host caching", "disks-prem-v2")),
        (None, ["P50:ReadOnly"], "2026-08-17", ("smaller than 4", "premium-storage-performance.md")),
        ("Standard_D2s_v3", ["P10x40"], "2026-08-17", ("40 data disks", "at most 4")),
        (
            None,
            ["ultra:128GiB/10000iops/40MBps"],
            "2019-09-01",
            ("between 40.96 and 2,000", "disk-types-2019"),
        ),
        (None, ["ultra:128GiB/10000iops"], "2019-09-01", ("between 40.96 and 2,000",)),
        (None, ["ultra:4GiB/5000iops/10MBps"], "2026-08-17", ("between 100 and 4,000",)),
        (None, ["ultra:128GiB/50000iops/50MBps"], "2022-07-01", ("between 128 and 38,400",)),
        (None, ["pv2:8GiB/5000iops"], "2026-08-17", ("between 3,000 and 4,000",)),
        (None, ["os:pv2:8GiB"], "2026-08-17", ("cannot be an OS disk",)),
        ("Standard_E8s_v4", ["temp"], "2026-08-17", ("no temp disk",)),
        ("Standard_E8ds_v44", ["P30"], "2026-08-17", ("Standard_E8ds_v4",)),
        (None, ["P31"], "2026-08-17", ("P30",)),
    ],
)
def test_what_azure_refuses_is_refused_with_rule_and_source(
    vm: str | None, disks: list[str], as_of: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refusal:
        resolve(Setup(VM(size=vm), parse_disks(disks)), as_of)
    assert all(word in str(refusal.value).replace("\xa0", " ") for word in words), refusal.value


@pytest.mark.parametrize(
    ("disk", "as_of"),
    [
        ("P50/4095GiB:ReadOnly", "2026-08-17"),
        ("ultra:128GiB/10000iops/50MBps", "2019-09-01"),
        ("ultra:128GiB/10000iops/1MBps", "2026-08-17"),
        ("pv2:10GiB/5000iops/1200MBps", "2025-02-01"),
    ],
)
def test_what_azure_accepts_is_accepted(disk: str, as_of: str) -> None:
    assert resolve(Setup(VM(), parse_disks([disk])), as_of).as_of == as_of


def test_the_ranges_of_premium_v2_are_those_of_the_document() -> None:
    """azure-compute-docs disks-types.md@18c531ec (2026-08-11)."""
    of_day = catalog.provisioned_rules("PremiumV2_LRS", "2026-08-17")
    assert [rules.iops_range(of_day, size * GIB).high for size in (1, 6, 8, 10, 160)] == [
        3000,
        3000,
        4000,
        5000,
        80000,
    ]
    rates = [rules.bytes_per_s_range(of_day, iops).high / MB for iops in (3000, 4000, 8000, 80000)]
    assert rates == [750, 1000, 2000, 2000] and rules.bytes_per_s_range(of_day, 3000).low == 125 * MB


# The limit that explains each published measurement: VM, disk, day, block size, share of reads, bursting,
# and what binds. The figures themselves are in facts/checks.csv, beside the corpus.
EXPLAINED = {
    "E8as_v4 temp 8K IOPS": ("E8as_v4", "temp", "2020-07-01", 8192, 0, "iops", "temp_iops"),
    "E8as_v4 temp 8K bytes": ("E8as_v4", "temp", "2020-07-01", 8192, 0, "bytes_per_s", "temp_mbps"),
    "E8ds_v4 temp 8K IOPS from bytes cap": ("E8ds_v4", "temp", "2020-07-01", 8192, 0, "iops", "temp_mbps"),
    "E8ds_v4 temp MiB/s": ("E8ds_v4", "temp", "2020-07-01", 8192, 0, "bytes_per_s", "temp_mbps"),
    "E8ds_v4 cached OS disk IOPS@8K": (
        "E8ds_v4", "os:P4:ReadWrite", "2020-07-01", 8192, 0, "iops", "vm_cached_mbps",
    ),
    "P4 uncached burst": ("E8ds_v4", "os:P4", "2020-07-01", 8192, 0, "iops", "disk_burst_iops"),
    "P30 on D4as_v4": ("D4as_v4", "P30", "2022-02-17", 4096, 1, "iops", "disk_iops"),
    "L8s_v2 NVMe 4K write": ("L8s_v2", "nvme", "2020-07-01", 4096, 0, "iops", "unknown"),
    "Ultra 2000MBps/32000IOPS on E32(-8)s_v3": (
        "E32-8s_v3", "ultra:128GiB/32000iops/2000MBps", "2019-09-01", 65536, 1, "bytes_per_s",
        "vm_uncached_mbps",
    ),
    "L4s": ("L4s", "temp", "2017-04-13", 4096, 1, "iops", "temp_iops"),
    "L16s": ("L16s", "temp", "2017-04-13", 4096, 1, "iops", "temp_iops"),
}  # fmt: skip


def checks() -> dict[str, dict[str, str]]:
    corpus = os.environ.get("AZBENCH_CORPUS")
    path = Path(corpus).parent / "facts" / "checks.csv" if corpus else None
    if path is None or not path.is_file():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no facts/checks.csv beside it")
    with path.open(newline="") as file:
        return {row["measurement"]: row for row in csv.DictReader(file)}


def test_every_published_measurement_has_its_limit() -> None:
    assert set(checks()) == set(EXPLAINED)


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_limit_that_explains_a_published_measurement(name: str) -> None:
    row = checks()[name]
    vm, disk, as_of, bs, read_share, quantity, label = EXPLAINED[name]
    setup = resolve(Setup(VM(size=vm), parse_disks([disk])), as_of)
    got = deliver(setup, one(setup, read_share, bs))
    assert label in got.binding
    if label != "unknown":
        assert getattr(got, quantity) == pytest.approx(float(row["catalogue_limit"]), rel=1e-6)
    reads = deliver(setup, one(setup, 1.0, bs))
    assert reads.iops is not None
