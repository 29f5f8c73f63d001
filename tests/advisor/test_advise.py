"""Advice: the cheapest configuration against the slow way, its laws, and the traps of the trade."""

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from shutil import which
from subprocess import run
from typing import Any

import advice_brute_force
import numpy as np
import pytest
import shipped_market
import small_market
from hypothesis import given, settings
from hypothesis import strategies as st

from azbenchlib.advisor.advise import advise
from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.demands.demand import LARGE_BS, Demand, Peak
from azbenchlib.advisor.offers.disk_options import options, provision, tier_disk
from azbenchlib.advisor.offers.load_market import check_offered, market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.reasons.frontier import frontier
from azbenchlib.advisor.search import Candidate, search
from azbenchlib.advisor.text import missed
from azbenchlib.advisor.verify import limits
from azbenchlib.azure.catalog import disk_tier
from azbenchlib.azure.disk_kinds import PREMIUM, PREMIUM_V2, DiskKind
from azbenchlib.azure.prices.rows import VM_PRODUCT, Meter
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.cost.operations import Burst, burst_units
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import Setup

DAY = "2026-11-20"
CACHING = {  # up to a documented limit, and at all
    "Standard_D8s_v3": (True, True),
    "Standard_E2as_v5": (False, True),
    "Standard_L8s_v3": (False, False),
    "Standard_D8_v5": (False, None),
}
SLOW = Demand(size_bytes=200 * GIB, iops=500)


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@cache
def europe() -> Market:
    return market("westeurope", as_of=DAY)


def best(demand: Demand, there: Market | None = None) -> Configuration:
    return advise(demand, there or europe()).best


def cheapest_of(kind: DiskKind, demand: Demand) -> Candidate:
    found = search(demand, europe()).cheapest([kind])
    assert found is not None
    return found


def test_it_equals_the_slow_way_on_small_catalogues() -> None:
    """60 of them here; benchmarks/advice_brute_force.py compares 500, and the long test below."""
    won = advice_brute_force.compare(range(60))
    assert won["answers"] > 15 and won["none"] > 10


def test_it_equals_the_slow_way_on_parts_of_the_shipped_catalogue() -> None:
    """Four demands here; `benchmarks/advice_brute_force.py 500 --shipped` compares 500."""
    won = advice_brute_force.compare(range(4), shipped_market)
    assert won["answers"] >= 2


@pytest.mark.long
def test_it_equals_the_slow_way_on_500_small_catalogues() -> None:
    won = advice_brute_force.compare(range(500))
    # every kind of configuration is among the answers, or the catalogues tell nothing of it
    assert all(won[kind] for kind in advice_brute_force.WANTED), won


def test_without_bursting_it_equals_the_slow_way_too() -> None:
    compared = 0
    for seed in range(500, 575):
        random = Random(seed)  # noqa: S311
        there, demand = small_market.market(random), small_market.demand(random)
        if demand.peak is None:
            continue
        slow = small_market.cheapest(demand.without_peak(), there, bursting=False)
        found = search(demand, there, bursting=False).cheapest()
        assert (None if slow is None else float(slow[0])) == (
            None if found is None else pytest.approx(float(found.price), abs=1e-6)
        ), seed
        compared += found is not None
    assert compared > 5


SIZES = st.integers(1, 6_000).map(lambda gib: gib * GIB)
DEMANDS = st.builds(
    Demand,
    size_bytes=SIZES,
    iops=st.integers(100, 80_000),
    bytes_per_s=st.none() | st.integers(1, 1_500).map(lambda mbps: mbps * MB),
    bs_bytes=st.sampled_from([4 * KIB, 64 * KIB, 300 * KIB]),
    read_share=st.sampled_from([0.0, 0.7, 1.0]),
    latency=st.sampled_from(["any", "premium", "submillisecond"]),
    redundancy=st.sampled_from(["LRS", "ZRS"]),
    persistent=st.booleans(),
    cache_hit=st.sampled_from([0.0, 0.8]),
    peak=st.none() | st.builds(Peak, st.just(600.0), st.just(3600.0), st.integers(1_000, 100_000)),
)


def _more(demand: Demand, share: float) -> list[Demand]:
    """Demands that ask for more of one thing."""
    peak = demand.peak and replace(demand.peak, iops=(demand.peak.iops or 0) * share)
    more = [
        replace(demand, iops=(demand.iops or 0) * share),
        replace(demand, bytes_per_s=(demand.bytes_per_s or MB) * share, iops=demand.iops),
        replace(demand, size_bytes=demand.size_bytes * share),
        replace(demand, headroom=demand.headroom * share),
        replace(demand, peak=peak),
        replace(demand, redundancy="ZRS"),
        replace(demand, persistent=True),
        replace(demand, vcpus=8),
        replace(demand, memory_bytes=64 * GIB),
        demand.times(share),
        demand.without_peak(),
    ]
    return more if demand.bytes_per_s else [*more[:1], *more[2:]]


@given(DEMANDS, st.floats(1.0, 4.0))
@settings(max_examples=8)
def test_more_demand_never_costs_less(demand: Demand, share: float) -> None:
    least = search(demand, europe()).cheapest()
    for more in _more(demand, share):
        found = search(more, europe()).cheapest()
        if found is not None:
            assert least is not None and found.price >= least.price, more


@given(DEMANDS)
def test_every_answer_is_delivered_by_the_model_of_the_limits(demand: Demand) -> None:
    try:
        answer = advise(demand, europe())
    except InputError:
        return
    for configuration in answer.configurations:
        assert all(one.fits for one in configuration.limits)
        wanted = configuration.demand
        if not wanted.peak and not configuration.candidate.option.on_demand:
            name = configuration.setup.volumes()[0].name
            asked = (wanted.iops or 0) * wanted.headroom
            load = Load(
                volume=name,
                read_share=wanted.read_share,
                bs_bytes=wanted.block,
                iops=asked,
                cache_hit=wanted.cache_hit,
                destaged=True,
            )
            got = deliver(configuration.setup, [load], bursting=False)
            assert got.iops == pytest.approx(asked, rel=1e-6)


@settings(max_examples=20)
@given(DEMANDS.map(lambda demand: replace(demand, vm="Standard_E*")))
def test_every_cheaper_design_that_is_named_breaks_a_limit(demand: Demand) -> None:
    try:
        configuration = advise(demand, europe()).best
    except InputError:
        return
    allowed = europe().vm_sizes.suits(demand)
    for miss in configuration.why_not_cheaper:
        assert allowed[miss.candidate.vm_index]
        assert miss.candidate.price <= configuration.price
        assert miss.worst.limit < miss.worst.wanted * miss.worst.enough
        assert miss.worst.label.display_name in missed(miss, "USD")


def test_eight_premium_v2_disks_have_24000_iops_and_1000_mbps_for_free() -> None:
    configuration = best(
        Demand(
            size_bytes=2 * TIB,
            iops=24_000,
            bytes_per_s=1_000 * MB,
            bs_bytes=8 * KIB,
            latency="submillisecond",
            headroom=1,
            strictly_cheapest=True,
        )
    )
    assert (configuration.kind.key, configuration.disks) == ("premium_v2", "pv2x8:256GiB/3000iops/125MBps")
    assert [line.price.name for line in configuration.bill.lines[1:]] == ["Premium LRS Provisioned Capacity"]
    # 2,048 GiB × 0.00013 USD × 730 h
    assert configuration.bill.lines[1].amount == Decimal("194.3552")
    one = next(
        option
        for option in options(PREMIUM_V2, False, configuration.demand, europe())
        if option.disk.count == 1
    )
    # 21,000 IOPS at 0.000008 and 875 MB/s at 0.000065 USD an hour above the free ones
    assert one.price == Decimal("194.3552") + 730 * (21_000 * Decimal("0.000008") + 875 * Decimal("0.000065"))


@pytest.mark.parametrize(
    ("sku", "wanted", "least"),
    [
        # nothing above the free ones
        ("PremiumV2", (1.2, 2_000, 100), (2, 3_000, 125)),
        # 500 IOPS a GiB
        ("PremiumV2", (10, 80_000, 100), (160, 80_000, 125)),
        # 0.25 MB/s an IOPS: 1,000 MB/s need 4,000 IOPS, and these 8 GiB
        ("PremiumV2", (1, 100, 1_000), (8, 4_000, 1_000)),
        ("PremiumV2", (1, 80_001, 100), None),
        ("PremiumV2", (1, 100, 2_001), None),
        # 1,000 IOPS a GiB, 4 GiB and 100 IOPS at least
        ("UltraSSD", (1, 1, 0.5), (4, 100, 1)),
        ("UltraSSD", (1, 20_000, 300), (20, 20_000, 300)),
        ("UltraSSD", (1, 100, 2_000), (8, 8_000, 2_000)),
        ("UltraSSD", (65_537, 100, 1), None),
    ],
)
def test_a_provisioned_disk_has_just_what_is_needed(
    sku: str, wanted: tuple[float, float, float], least: tuple[int, int, int] | None
) -> None:
    (rules,) = [one for one in europe().rules if one.sku == sku]
    gib, iops, mbps = wanted
    found = provision(rules, gib * GIB, iops, mbps * MB)
    assert found == (least and (least[0] * GIB, least[1], least[2] * MB))


def test_a_peak_that_asks_for_no_more_of_a_limit_needs_no_credits() -> None:
    """18 P10 have just the 1,800 MB/s that are wanted all the time; the peak is one of IOPS alone."""
    peak = Peak(600, 3_600, 1_000)
    demand = Demand(
        size_bytes=1 * GIB,
        iops=100,
        bytes_per_s=1_500 * MB,
        bs_bytes=4 * KIB,
        read_share=0,
        redundancy="ZRS",
        peak=peak,
    )
    configuration = best(demand)
    assert configuration.disks == "P10x18:ZRS" and not configuration.bursts


def test_a_read_only_cache_holds_d8s_v3_at_128_mbps_where_none_gives_192() -> None:
    demand = Demand(
        size_bytes=1 * TIB,
        bytes_per_s=150 * MB,
        bs_bytes=64 * KIB,
        read_share=1,
        headroom=1,
        vm="Standard_D8s_v3",
    )
    answer = advise(demand, europe())
    premium = next(configuration for configuration in answer.configurations if configuration.kind is PREMIUM)
    assert (premium.disks, premium.caching, premium.binding) == ("P30", "None", "vm_uncached_mbps")
    assert premium.headroom["vm_uncached_mbps"] == pytest.approx(192 / 150 - 1)
    (miss,) = [one for one in premium.why_not_cheaper if one.candidate.option.disk.caching == "ReadOnly"]
    assert (miss.worst.label, miss.worst.limit) == ("vm_cached_mbps", 131_072_000)
    # with less than the cache's limit both do
    slower = replace(demand, bytes_per_s=125 * MB)
    cached = [group for group in search(slower, europe()).groups if group.cached and group.kind is PREMIUM]
    assert np.isfinite(cached[0].totals()).sum() == 1


@pytest.mark.parametrize(
    ("vm", "iops", "most"), [("Standard_E2as_v5", 80_000, 3_750), ("Standard_D2s_v3", 5_000, 3_200)]
)
def test_a_vm_is_not_sold_a_disk_that_it_cannot_drive(vm: str, iops: int, most: int) -> None:
    """80,000 IOPS of a Premium SSD v2 on E2as_v5; a P30 with 5,000 IOPS on D2s_v3."""
    demand = Demand(size_bytes=1 * TIB, iops=iops, headroom=1, vm=vm)
    with pytest.raises(InputError, match=f"{most:,} IOPS instead of {iops:,} IOPS"):
        advise(demand, europe())
    assert best(replace(demand, iops=most)).vm == vm


def test_an_impossible_demand_names_the_nearest_that_is_met() -> None:
    demand = Demand(size_bytes=1 * TIB, iops=2_000_000)
    with pytest.raises(InputError) as caught:
        advise(demand, europe())
    said = str(caught.value)
    most = float(said.split(": ")[-1].split(" IOPS")[0].replace(",", ""))
    assert best(replace(demand, iops=most)).price > 0
    assert search(replace(demand, iops=most + 1), europe()).cheapest() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"redundancy": "ZRS", "latency": "submillisecond"}, "with any latency, or with LRS"),
        ({"latency": "local"}, "with any latency, or with local disks that lose their data"),
        ({"vcpus": 5_000}, r"896 vCPUs instead of 5,000 vCPUs"),
        ({"memory_bytes": 900 * TIB}, "of RAM instead of 900"),
        ({"memory_per_vcpu_bytes": 900 * GIB}, r"of RAM a vCPU instead of 900.GiB of RAM a vCPU"),
        ({"size_bytes": 9_000 * TIB}, "TiB instead of 9,?000"),
    ],
)
def test_an_impossible_condition_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        advise(replace(SLOW, **change), europe())


def test_a_missing_price_is_named_and_its_design_never_ranked() -> None:
    there = europe()
    missing = Meter("Azure Premium SSD v2", "Premium LRS Provisioned Capacity")
    without = replace(there, prices={m: p for m, p in there.prices.items() if m != missing})
    demand = Demand(size_bytes=2 * TIB, iops=24_000, latency="premium")
    before, after = advise(demand, there), advise(demand, without)
    assert before.best.kind is PREMIUM_V2
    assert PREMIUM_V2 not in {configuration.kind for configuration in after.configurations}
    assert after.best.price > before.best.price
    listed = {one.what: one.missing for one in after.unpriced}
    assert listed["Premium SSD v2 LRS"] == (str(missing),)


def test_a_vm_without_a_price_is_listed_apart() -> None:
    there = europe()
    first = best(SLOW).vm
    without = replace(there, prices={m: p for m, p in there.prices.items() if m != Meter.of_vm(first)})
    after = advise(SLOW, without)
    assert first not in {configuration.vm for configuration in after.configurations}
    (listed,) = [one for one in after.unpriced if one.what.endswith("VM sizes")]
    assert first in listed.missing


def test_prices_in_two_currencies_are_refused() -> None:
    there = europe()
    meter, price = next(iter(there.prices.items()))
    with pytest.raises(InputError, match=r"EUR .*USD|USD .*EUR"):
        replace(there, prices={**there.prices, meter: replace(price, currency="EUR")})


def test_there_are_alternatives_and_each_says_what_it_is() -> None:
    answer = advise(
        Demand(
            size_bytes=1 * TIB,
            iops=3_000,
            bytes_per_s=100 * MB,
            peak=Peak(600, 3_600, 12_000),
            latency="premium",
        ),
        europe(),
    )
    labels = {
        label: configuration for configuration in answer.configurations for label in configuration.labels
    }
    calm, zrs = labels["cheapest without bursting"], labels["cheapest with ZRS"]
    assert answer.best is labels["fewest disks within 5% of the cheapest"] and answer.best.bursts
    assert not calm.bursts and zrs.redundancy == "ZRS"
    assert calm.price > answer.best.price and zrs.price > answer.best.price
    prices = [configuration.price for configuration in answer.configurations[1:]]
    assert answer.configurations[1] is labels["cheapest"] and (
        prices == sorted(prices)
        and len({(one.vm, one.disks, one.redundancy) for one in answer.configurations}) > 3
    )


def test_no_alternative_is_said_too() -> None:
    answer = advise(replace(SLOW, latency="submillisecond"), europe())
    assert answer.notes == ("there is no configuration with ZRS",)


def test_local_disks_are_for_what_may_be_lost() -> None:
    demand = Demand(size_bytes=500 * GIB, iops=100_000, latency="local", persistent=False)
    answer = advise(demand, europe())
    assert answer.best.kind.local and len(answer.best.bill.lines) == 1
    assert all(configuration.kind.local for configuration in answer.configurations)
    kept = advise(replace(demand, latency="any"), europe())
    assert "cheapest that keeps its data" in {label for one in kept.configurations for label in one.labels}


def test_credits_have_to_last_and_to_come_back() -> None:
    """P20: 2,300 IOPS, 3,500 with credits for 30 min."""
    demand = Demand(
        size_bytes=500 * GIB, iops=500, headroom=1, peak=Peak(1_800, 36_000, 3_500), latency="premium"
    )

    def few(peak: Peak) -> int:
        found = options(PREMIUM, False, replace(demand, peak=peak), europe())
        return min(one.disk.count for one in found if one.disk.tier == "P20")

    assert few(Peak(1_800, 36_000, 3_500)) == 1
    assert few(Peak(1_801, 36_000, 3_500)) == 2
    # 1,200 IOPS are spent for 1,800 s and 1,800 IOPS gained afterwards: 1,200 s
    assert few(Peak(1_800, 3_000, 3_500)) == 1
    assert few(Peak(1_800, 2_999, 3_500)) == 2


def test_credits_are_told_in_seconds() -> None:
    """Full ones last 30 min at the largest burst; 1,800 IOPS in 600 s give 900 s of 1,200 above the base."""
    tier = disk_tier("P20", DAY)
    vm_size = next(vm_size for vm_size in europe().vms if vm_size.size == "Standard_D8s_v3")
    setup = Setup(vm_size.vm, (tier_disk(tier, 1, False, "LRS"),))

    def lasts(seconds: float, period_s: float) -> float:
        demand = Demand(size_bytes=500 * GIB, iops=500, headroom=1, peak=Peak(seconds, period_s, 3_500))
        (credit,) = [one for one in limits(setup, demand) if one.unit == "credit_s"]
        return credit.limit

    assert lasts(1_801, 36_000) == pytest.approx(1_800)
    assert lasts(100, 700) == pytest.approx(600 * 1_800 / 1_200)


def test_what_is_not_known_of_a_size_is_not_taken_for_granted() -> None:
    sizes = {vm_size.size: vm_size for vm_size in europe().vms}
    assert sizes["Standard_D8s_v3"].caching and sizes["Standard_D8s_v3"].premium_io
    documented = [(sizes[name].caching, sizes[name].caching_supported) for name in CACHING]
    assert documented == list(CACHING.values())
    assert not sizes["Standard_D8_v3"].premium_io


@pytest.mark.parametrize(("vm", "said"), [("D8s_v3", False), ("D8s_v5", True), ("L8s_v3", False)])
def test_no_hit_is_counted_where_no_cached_limit_is_documented(vm: str, said: bool) -> None:
    """12,000 IOPS of which nine tenths hit a cache: a P30 would do behind a cache that carries them."""
    demand = Demand(
        size_bytes=1 * TIB, iops=12_000, headroom=1, read_share=1, cache_hit=0.9, vm=f"Standard_{vm}",
        latency="premium", redundancy="ZRS",
    )  # fmt: skip
    found = advise(demand, europe())
    assert {one.caching for one in found.configurations} == ({"ReadOnly"} if vm == "D8s_v3" else {"None"})
    told = [text for text in found.assumptions if "host caching" in text]
    assert told[0] == (
        "host caching counts on the 447 of 1,673 VM sizes with a documented cached limit; 962 others support "
        "it without one, 44 do not support it, and of 220 it is not known"
    )
    why = "Standard_D8s_v5 supports host caching, but no cached limit is documented, so no hit is counted"
    assert told[1:] == ([why] if said else [])


def test_on_demand_bursting_is_billed_for_the_peak() -> None:
    demand = Demand(
        size_bytes=1 * TIB, iops=4_000, headroom=1, peak=Peak(60, 86_400, 20_000), latency="premium"
    )
    found = options(PREMIUM, False, demand, europe())
    (one,) = [
        o for o in found if o.on_demand and o.disk.tier == "P30" and o.disk.count == 1 and "LRS" in o.disk.sku
    ]
    lines = {line.price.name: line.amount for line in one.bill.lines}
    packs = burst_units([Burst(730 * 3600 * 60 / 86_400, 20_000)], 5_000, 200 * MB)
    assert packs == 2_738  # 1,825 s × 15,000
    assert lines["LRS Burst Enablement"] == Decimal("31.949")
    assert lines["LRS Burst Transactions"] == packs * Decimal("0.0065")


def test_a_disk_of_4_tib_is_cached_only_if_it_is_a_little_smaller() -> None:
    demand = Demand(size_bytes=3 * TIB, iops=2_000, cache_hit=0.8, read_share=1, latency="premium")
    cached = {one.disk.tier: one.disk for one in options(PREMIUM, True, demand, europe())}
    assert (cached["P50"].size_bytes, cached["P50"].name) == (4_095 * GIB, "P50/4095GiB:ZRS:ReadOnly")
    assert not {"P60", "P70", "P80"} & set(cached)


def test_a_cache_helps_only_reads_that_hit_it() -> None:
    demand = Demand(
        size_bytes=1 * TIB, iops=12_000, read_share=0.9, cache_hit=0.9, latency="premium", redundancy="ZRS"
    )
    assert best(demand).caching == "ReadOnly"
    assert best(replace(demand, cache_hit=0)).caching == "None"
    assert best(replace(demand, read_share=0)).caching == "None"


def test_large_ios_count_as_several_against_the_disk() -> None:
    small = Demand(size_bytes=1 * TIB, iops=300, bs_bytes=256 * KIB, headroom=1)
    large = replace(small, bs_bytes=257 * KIB)
    counted = [demand.needs(False, unit=LARGE_BS)["iops"].steady for demand in (small, large)]
    assert counted == [300, 600]
    assert large.needs(False)["iops"].steady == 300


def test_behind_a_cache_the_mix_has_more_writes() -> None:
    demand = Demand(size_bytes=1 * TIB, iops=1_000, read_share=0.5, cache_hit=0.8, headroom=1)
    need = demand.needs(True)["iops"]
    assert (need.steady, need.write_share) == (pytest.approx(600), pytest.approx(0.5 / 0.6))
    assert demand.needs(True, remote=False)["iops"].steady == 1_000


def test_the_nearest_miss_is_the_one_that_lacks_least() -> None:
    """E4bs_v5 has 350 MB/s all the time, 360 are needed; its IOPS burst would do."""
    demand = Demand(
        size_bytes=1 * TIB,
        iops=6_000,
        bytes_per_s=300 * MB,
        latency="premium",
        peak=Peak(600, 3_600, 20_000),
        vm="Standard_E*s_v5",
    )
    first = best(demand).why_not_cheaper[0]
    assert first.candidate.setup.vm.size == "Standard_E4bs_v5"
    assert [one.label for one in first.broken] == ["vm_uncached_mbps"]
    assert first.worst.shortfall == pytest.approx(360 / 350)


def test_a_read_write_cache_carries_no_lasting_load_that_read_only_would_not() -> None:
    candidate = cheapest_of(
        PREMIUM, Demand(size_bytes=1 * TIB, iops=8_000, cache_hit=0.5, latency="premium", redundancy="ZRS")
    )
    setups = []
    for caching in ("ReadOnly", "ReadWrite"):
        disk = replace(candidate.option.disk, caching=caching)
        setups.append(replace(candidate.setup, disks=(disk,)))
    for share in (0.0, 0.3, 1.0):
        rates = [
            deliver(
                setup,
                [
                    Load(
                        volume=setup.disks[0].name,
                        read_share=share,
                        bs_bytes=8192,
                        cache_hit=0.5,
                        destaged=True,
                    )
                ],
                bursting=False,
            )
            for setup in setups
        ]
        assert rates[0].iops == rates[1].iops


def test_the_needs_of_the_vm() -> None:
    there = europe()
    one = best(replace(SLOW, vcpus=16, memory_bytes=256 * GIB, vm="Standard_E*s_v5", architecture="x64"))
    vm_size = next(vm_size for vm_size in there.vms if vm_size.size == one.vm)
    assert (vm_size.vcpus or 0) >= 16 and (vm_size.memory_bytes or 0) >= 256 * GIB
    assert one.vm.startswith("Standard_E") and one.vm.endswith("s_v5") and vm_size.architecture == "x64"
    arm = best(replace(SLOW, architecture="arm64"))
    assert "p" in arm.vm.removeprefix("Standard_").partition("_")[0]


def test_a_size_that_is_not_sold_there_is_refused_with_where_it_is() -> None:
    with pytest.raises(InputError, match=r"no VM size 'Standard_D8s_v33'.*nearest: Standard_D8s_v3"):
        check_offered("Standard_D8s_v33", europe())
    with pytest.raises(InputError, match=r"no VM size is like 'Standard_Q\*'"):
        check_offered("Standard_Q*", europe())
    there = europe()
    without = replace(
        there, prices={m: p for m, p in there.prices.items() if m != Meter.of_vm("Standard_D8s_v3")}
    )
    with pytest.raises(InputError, match=r"Standard_D8s_v3 has no pay-as-you-go price in westeurope.*eastus"):
        check_offered("D8s_v3", without)


def test_sensitivity_says_what_wins_then() -> None:
    demand = Demand(
        size_bytes=2 * TIB, iops=30_000, bytes_per_s=600 * MB, bs_bytes=8 * KIB, strictly_cheapest=True
    )
    answer = advise(demand, europe())
    found = {one.change: one for one in answer.sensitivity}
    more = found["IOPS and MB/s +20 %"]
    assert more.configuration and more.configuration.price == best(demand.times(1.2)).price and not more.same
    dearer = found["VM prices +10 %"].configuration
    vm, disks = answer.best.bill.lines[0].amount, answer.best.candidate.option.price
    assert dearer and dearer.price == vm * Decimal("1.1") + disks
    assert found["VM prices −10 %"].same


@pytest.mark.parametrize("product", [VM_PRODUCT, PREMIUM.product, PREMIUM_V2.product])
def test_scaled_prices_decide_as_if_they_had_been_read_so(product: str) -> None:
    demand = Demand(size_bytes=2 * TIB, iops=24_000, bs_bytes=8 * KIB, latency="premium")
    advise(demand, europe())  # whatever it keeps is made
    scaled = europe().scaled(product, "0.5")
    anew = replace(europe(), prices=dict(scaled.prices))
    assert (
        advise(demand, scaled).records()
        == advise(demand, anew).records()
        != advise(demand, europe()).records()
    )


def test_the_frontier_has_a_row_for_each_kind_that_does() -> None:
    rows = frontier(Demand(size_bytes=1 * TIB, iops=4_000, latency="premium"), europe(), [1, 2, 50])
    prices = {(row.factor, row.kind): row.price for row in rows}
    for kind in ("premium", "premium_v2", "ultra"):
        assert prices[1, kind] <= prices[2, kind] <= prices.get((50, kind), Decimal("Infinity"))
    (one,) = [row for row in rows if row.factor == 2 and row.best]
    assert one.price == min(row.price for row in rows if row.factor == 2)
    assert one.price_per_1000_iops == one.price / 8


def test_the_record_has_what_it_promises() -> None:
    (row, *_) = advise(SLOW, europe()).records()
    assert {"vm", "disks", "caching", "price_per_month", "currency", "binding_limit", "headroom"} < set(row)
    assert row["price_per_month"] == sum(line["amount"] for line in row["lines"])  # type: ignore[attr-defined]
    assert row["headroom"][row["binding_limit"]] >= 0.2 - 1e-9  # type: ignore[index,operator]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"iops": None}, "needs IOPS, MB/s or both"),
        ({"iops": 0}, "iops 0 is not above 0"),
        ({"read_share": 70}, "read_share 70 is not between 0 and 1"),
        ({"headroom": 0.9}, "headroom 0.9 is not 1 or more"),
        ({"latency": "low"}, "latency 'low' is not one of: local"),
        ({"redundancy": "GRS"}, "redundancy 'GRS' is not one of: LRS, ZRS"),
    ],
)
def test_a_demand_that_is_none(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(SLOW, **change)


@pytest.mark.fio
@pytest.mark.skipif(which("fio") is None, reason="needs fio, which parses the job")
@pytest.mark.parametrize(
    "demand",
    [
        Demand(size_bytes=2 * TIB, iops=24_000, bytes_per_s=600 * MB, bs_bytes=8 * KIB),
        Demand(size_bytes=1 * TIB, iops=4_000, read_share=1, peak=Peak(600, 3_600, 20_000, 400 * MB)),
        Demand(size_bytes=3 * GIB + 5, iops=777.7, bs_bytes=5_000, read_share=0, persistent=False),
    ],
)
def test_fio_takes_the_job_that_verifies_it(tmp_path: Path, demand: Demand) -> None:
    path = tmp_path / "verify.fio"
    for configuration in advise(demand, europe()).configurations[:3]:
        path.write_text(configuration.fio_job, encoding="utf-8")
        done = run(["fio", "--parse-only", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        wanted = configuration.demand
        steady = wanted.moments()
        peaks = [one for one in wanted.moments(peak=True) if one not in steady]
        assert configuration.fio_job.count("\nbs=") == len(steady) + 2 * len(peaks)  # each after a rest
        assert configuration.fio_job.isascii()


def job(demand: Demand) -> dict[str, str]:
    """Options of the last job of the cheapest configuration's file, over those of all."""
    lines = best(demand).fio_job.splitlines()
    sections = "\n".join(lines).split("\n[")
    stated = [dict(line.split("=", 1) for line in part.splitlines() if "=" in line) for part in sections]
    return stated[1] | stated[-1]


def test_the_job_s_file_leaves_room_for_the_file_system() -> None:
    small = best(Demand(size_bytes=100 * GIB, iops=100))
    assert "size=92160m" not in small.fio_job and "size=90g" in small.fio_job
    assert "size=64m" in best(Demand(size_bytes=1, iops=1)).fio_job


def test_the_job_of_a_cached_disk_has_the_hits_that_are_asked_for() -> None:
    """The cache of a D2s_v4 is 50 GiB: of 55.6 GiB it can serve nine tenths."""
    one = best(Demand(size_bytes=1 * TIB, iops=8_000, read_share=0.9, cache_hit=0.9))
    assert one.caching == "ReadOnly" and one.setup.vm.cache_bytes == 50 * GIB
    assert f"size={int(50 * GIB / 0.9) // 2**20}m" in one.fio_job


def test_the_job_uses_up_credits_that_are_documented_or_not() -> None:
    """With as many outstanding as the burst takes: 3,000 IOPS at 1.2 ms, twice; with 1 it would not."""
    asked = job(Demand(size_bytes=10 * GIB, iops=10, latency="submillisecond", vm="Standard_B2ats_v2"))
    assert (asked["ramp_time"], asked["iodepth"]) == ("1860", "8")
    local = job(Demand(size_bytes=10 * GIB, iops=10, latency="local", persistent=False))
    assert local["ramp_time"] == "30"


def test_a_peak_comes_after_a_rest_at_the_demand_s_own_rate() -> None:
    demand = Demand(size_bytes=1 * TIB, iops=1_000, peak=Peak(600, 3_600, 20_000))
    text = best(demand).fio_job
    rest, peak = text.split("[rest-4k]")[1].split("[peak-4k]")
    assert "runtime=3000" in rest and "rate_iops=700,300" in rest
    assert "runtime=600" in peak and "rate_iops=14000,6000" in peak
    same = best(replace(demand, bytes_per_s=300 * MB)).fio_job
    assert "[peak-4k]" in same and "[peak-256k]" not in same  # no more MB/s in the peak than before


def test_direct_io_has_whole_sectors_of_its_disk() -> None:
    assert (
        "bs=4k"
        in best(Demand(size_bytes=10 * GIB, iops=10, bs_bytes=5_000, latency="submillisecond")).fio_job
    )
    assert "bs=5k" in best(Demand(size_bytes=10 * GIB, iops=10, bs_bytes=5_000, redundancy="ZRS")).fio_job


@pytest.mark.parametrize("wanted", [1e12, 1e18, 1e300])
@pytest.mark.sampled(1)
def test_the_nearest_is_exact_however_far_it_is(wanted: float) -> None:
    with pytest.raises(InputError, match=r"the nearest that is met, all else as it is: 666,666 IOPS instead"):
        advise(Demand(size_bytes=1 * TIB, iops=wanted), europe())
    assert advise(Demand(size_bytes=1 * TIB, iops=666_666), europe())


@pytest.mark.parametrize("rates", [(math.nan, None), (-20, None), (math.inf, None), (100, -1)])
def test_a_peak_s_rates_are_numbers_above_0(rates: tuple[float, float | None]) -> None:
    with pytest.raises(InputError, match=r"a peak's rate .* is not above 0"):
        Peak(600, 3_600, *rates)


def test_sizes_that_cannot_compete_are_counted() -> None:
    there = europe()
    priced = {meter.name for meter in there.prices if meter == Meter.of_vm(meter.name)}
    known = {vm_size.size.lower(): vm_size.vm.max_data_disks for vm_size in there.vms}
    unknown = [name for name in priced if name not in known]
    countless = [name for name in priced if known.get(name, 0) is None]
    (line,) = [one for one in advise(SLOW, there).assumptions if "left out" in one]
    assert line.startswith(
        f"of {len(priced):,} VM sizes with a price some are left out: {len(unknown)} are not in the "
        f"catalogue; {len(countless)} have no documented number of data disks"
    )
    assert (len(priced), len(unknown), len(countless)) == (1_656, 83, 1)
    (line,) = [one for one in advise(SLOW, there).assumptions if one.startswith("price lists alone")]
    assert "e96ias_v5" in line and "standard" not in line and "h16r" not in line


def test_where_no_size_has_such_a_price_it_is_said_where_some_have() -> None:
    reserved = market("westeurope", pay="Reservation1Y", as_of=DAY)
    with pytest.raises(
        InputError, match=r"none of \d+ VM sizes like '\*' has a 1-year reservation price in "
    ):
        check_offered("*", reserved)
    with pytest.raises(InputError, match=r"there are some in: .*polandcentral.*refresh --retail-prices"):
        check_offered("*", reserved)


def test_bursting_without_a_price_does_not_hide_disks_that_have_one() -> None:
    answer = advise(Demand(size_bytes=1 * TIB, iops=5_180, read_share=0), market("eastus2", as_of=DAY))
    named = {one.what for one in answer.unpriced}
    assert "Premium SSD LRS, bursting on demand" in named and "Premium SSD LRS" not in named
    assert PREMIUM in {configuration.kind for configuration in answer.configurations}


def test_what_fails_at_the_same_price_is_not_called_cheaper() -> None:
    """ReadOnly caching costs nothing, so one that fails with it is told as one that costs the same."""
    one = best(
        Demand(
            size_bytes=1 * TIB,
            iops=None,
            bytes_per_s=150 * MB,
            bs_bytes=64 * KIB,
            redundancy="ZRS",
            headroom=1.0,
            vm="Standard_D8s_v3",
            latency="premium",
        )
    )
    told = list(zip(one.why_not_cheaper, [missed(miss, "USD") for miss in one.why_not_cheaper], strict=True))
    assert any(miss.same_price for miss, _ in told)
    for miss, sentence in told:
        assert (miss.candidate.price < one.price) != miss.same_price
        assert sentence.endswith("it costs the same") == miss.same_price
