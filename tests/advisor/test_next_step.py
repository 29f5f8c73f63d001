"""The next disk or VM, against every tier and size of the catalogue and the price book."""

from dataclasses import replace
from decimal import Decimal

import pytest
from bound_loads import PRICES, SHOP, TODAY, UNPRICED, asked
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from azbenchlib.advisor.reasons.next_step import (
    MORE,
    BoundLoad,
    NextStep,
    NoStep,
    SetupPart,
    Shop,
    StepObstacle,
    next_step,
)
from azbenchlib.azure import catalog
from azbenchlib.azure.prices.rows import MONTH_HOURS, Meter
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.model.setup import VM

SIZES = ("Standard_D2s_v5", "Standard_D8s_v5", "Standard_E16ds_v5", "Standard_F8s_v2", "Standard_E32-8s_v3")
SERIES = {"Standard_D8s_v5": "Standard_D{}s_v5", "Standard_E16ds_v5": "Standard_E{}ds_v5"}
BLOCKS = (4 * KIB, 16 * KIB, 64 * KIB, 512 * KIB)


def step_of(bound: BoundLoad, shop: Shop = SHOP) -> NextStep:
    step = next_step(bound, shop)
    assert isinstance(step, NextStep)
    return step


def of_vm(vm: str, bs: float) -> float:
    """I/Os per second that a VM carries to managed disks, by hand."""
    row = catalog.vm(vm, TODAY)
    iops, rate = (row.best(name) for name in ("uncached_iops", "uncached_bytes_per_s"))
    assert iops is not None and rate is not None
    return min(iops.value, rate.value / bs)


def of_tier(row: catalog.TierRow, n: int, bs: float) -> float:
    """The same of disks; an I/O above 256 KiB counts as several."""
    return n * min(row.iops / max(1, -(-bs // (256 * KIB))), row.bytes_per_s / bs)


def vm_month(vm: str) -> Decimal:
    price = PRICES[Meter.of_vm(vm)]
    return price.unit_price * MONTH_HOURS


@settings(max_examples=40, deadline=None)
@given(
    vm=st.sampled_from(SIZES),
    tier=st.sampled_from(["P1", "P4", "P10", "P15", "P20", "P30", "P40", "P50", "P60", "P70"]),
    n=st.integers(1, 3),
    bs=st.sampled_from(BLOCKS),
)
def test_the_next_tier_is_the_cheapest_of_all_that_give_more(vm: str, tier: str, n: int, bs: int) -> None:
    present = catalog.disk_tier(tier, TODAY)
    limit, now = of_vm(vm, bs), of_tier(present, n, bs)
    assume(now * MORE * 1.001 < limit)
    every = [row for row in catalog.disk_tiers(TODAY) if row.sku == "Premium"]
    enough = [
        (PRICES[Meter("Premium SSD Managed Disks", f"{row.name} LRS Disk")].unit_price * n, row.name)
        for row in every
        if row.size_bytes >= present.size_bytes and min(limit, of_tier(row, n, bs)) >= now * MORE
    ]
    step = next_step(asked(vm, f"{tier}x{n}" if n > 1 else tier, bs=bs), SHOP)
    if not enough:
        assert isinstance(step, NoStep) or step.disk.provisioned
        return
    assert isinstance(step, NextStep) and step.part is SetupPart.DISK
    price, name = min(enough)
    assert (step.disk.tier, step.disk.count) == (name, n)
    assert step.price == pytest.approx(price) and step.more is not None
    before = PRICES[Meter("Premium SSD Managed Disks", f"{tier} LRS Disk")].unit_price * n
    assert step.more == pytest.approx(price - before)
    rate = min(limit, of_tier(catalog.disk_tier(name, TODAY), n, bs))
    assert step.then.iops == pytest.approx(rate)
    assert any(label.scope == ("vm_uncached" if rate == limit else "disk") for label, _ in step.binding)


@pytest.mark.parametrize("vm", SERIES)
@pytest.mark.parametrize("bs", BLOCKS)
def test_the_next_size_is_the_cheapest_of_its_series_that_gives_more(vm: str, bs: int) -> None:
    bound = asked(vm, "P60x4", bs=bs)
    larger = [SERIES[vm].format(n) for n in (2, 4, 8, 16, 20, 32, 48, 64, 96)]
    known = [name for name in larger if name in catalog.vm_sizes()]
    enough = [
        (vm_month(name), name)
        for name in known
        if min(of_vm(name, bs), of_tier(catalog.disk_tier("P60"), 4, bs)) >= of_vm(vm, bs) * MORE
    ]
    step = step_of(bound)
    price, name = min(enough)
    assert step.part is SetupPart.VM and step.after.vm.size == name
    assert step.price == pytest.approx(price) and step.more == pytest.approx(price - vm_month(vm))
    assert step.then.iops == pytest.approx(min(of_vm(name, bs), of_tier(catalog.disk_tier("P60"), 4, bs)))


def test_premium_ssd_v2_with_the_limits_of_the_tier_stands_beside_it_where_it_costs_less() -> None:
    step = step_of(asked("Standard_D8s_v5", "P30"))
    other = step.instead
    assert (
        step.disk.tier == "P40" and other is not None and other.price is not None and step.price is not None
    )
    assert other.disk.sku == "PremiumV2_LRS" and other.disk.size_bytes == TIB
    assert (other.disk.cap.iops, other.disk.cap.bytes_per_s) == (7_500, 250 * MB)
    product = "Azure Premium SSD v2"
    each = [
        PRICES[Meter(product, f"Premium LRS Provisioned {name}")].unit_price * MONTH_HOURS * count
        for name, count in (("Capacity", 1024), ("IOPS", 4_500), ("Throughput (MBps)", 125))
    ]
    assert other.price == pytest.approx(sum(each)) and other.price < step.price


@pytest.mark.parametrize("disk", ["P30:ReadOnly", "os:P30"], ids=["host caching", "an OS disk"])
def test_premium_ssd_v2_takes_no_host_caching_and_no_os(disk: str) -> None:
    step = step_of(asked("Standard_D8s_v5", disk))
    assert step.disk.tier == "P40" and step.instead is None
    assert step.disk.caching == step.before.disks[0].caching


def test_zone_redundant_disks_stay_so() -> None:
    bound = asked("Standard_D8s_v5", "P30")
    (disk,) = bound.stated.disks
    zoned = replace(bound, stated=replace(bound.stated, disks=(replace(disk, sku="Premium_ZRS"),)))
    step = step_of(zoned)
    assert step.disk.sku == "Premium_ZRS" and step.instead is None
    assert step.price == PRICES[Meter("Premium SSD Managed Disks", "P40 ZRS Disk")].unit_price


@pytest.mark.parametrize("vm, most", [("Standard_D8s_v5", 12_800), ("Standard_D32s_v5", 51_200)])
def test_provisioned_disks_are_provisioned_anew_as_far_as_the_vm_carries_it(vm: str, most: float) -> None:
    step = step_of(asked(vm, "pv2:256GiB/10000iops/125MBps"))
    assert step.disk.sku == "PremiumV2_LRS" and step.disk.size_bytes == 256 * GIB
    v2 = catalog.vm(vm).best("uncached_v2_iops")
    assert step.disk.cap.iops == min(20_000, v2.value if v2 else most)
    assert step.disk.cap.bytes_per_s == 125 * MB  # 4 KiB need no more


def test_a_small_provisioned_disk_grows_to_what_its_iops_need() -> None:
    step = step_of(asked("Standard_D32s_v5", "pv2:10GiB/5000iops/125MBps"))
    assert step.disk.cap.iops == 10_000 and step.disk.size_bytes == 20 * GIB  # 500 IOPS for each GiB


@pytest.mark.parametrize("vm, disk", [("Standard_E8ds_v4", "temp"), ("Standard_L8s_v3", "nvme")])
def test_of_local_disks_only_the_vm_can_change(vm: str, disk: str) -> None:
    step = step_of(asked(vm, disk, bs=64 * KIB, read_share=1.0))
    assert step.part is SetupPart.VM and step.after.vm.size == vm.replace("8", "16")
    assert step.then.bytes_per_s is not None and step.more is not None and step.more > 0


def test_hits_of_a_host_cache_are_the_vms_and_misses_the_disks() -> None:
    hits, misses = (asked("Standard_E8ds_v4", "P30:ReadOnly", cache_hit=hit) for hit in (1.0, 0.0))
    assert step_of(hits).part is SetupPart.VM
    assert step_of(misses).part is SetupPart.DISK


def test_for_a_burst_the_next_disk_has_that_rate_without_credits() -> None:
    step = step_of(asked("Standard_D8s_v5", "P10", on_credits=True))
    assert step.disk.tier == "P30"  # 5,000 IOPS: P20 has 2,300, a P10 bursts to 3,500
    assert step.then.iops == 5_000


@pytest.mark.parametrize("bs", BLOCKS)
def test_a_disk_and_a_vm_that_bind_at_once_are_both_changed(bs: int) -> None:
    """The cheapest pair of a size of the series and a tier, by hand, or less for a Premium SSD v2."""
    mine = catalog.vm("Standard_D8s_v5", TODAY)
    own = of_vm(mine.size, bs)
    disk = f"pv2:256GiB/{max(own, 3_000):.0f}iops/{max(own * bs / MB, 125):.0f}MBps"
    bound = asked(mine.size, disk, bs=bs)
    assert {label.scope for label in bound.labels} == {"disk", "vm_uncached"}
    step = step_of(bound)
    assert step.part is SetupPart.BOTH and step.price is not None
    sizes = [f"Standard_D{n}s_v5" for n in (16, 32, 48, 64, 96)]
    tiers = [row for row in catalog.disk_tiers(TODAY) if row.sku == "Premium" and row.size_bytes >= 256 * GIB]
    month = {row.name: Meter("Premium SSD Managed Disks", f"{row.name} LRS Disk") for row in tiers}
    pairs = [
        vm_month(vm) + PRICES[month[row.name]].unit_price
        for vm in sizes
        for row in tiers
        if min(of_vm(vm, bs), of_tier(row, 1, bs)) >= own * MORE
    ]
    assert step.price <= min(pairs)
    assert step.then.iops is not None and step.then.iops >= own * MORE
    assert step.after.vm.size == "Standard_D16s_v5" and step.more is not None and step.more > 0


def test_the_largest_size_of_a_series_has_none_above() -> None:
    assert next_step(asked("Standard_D96s_v5", "P80x8"), SHOP) == NoStep(
        SetupPart.VM, StepObstacle.NONE_LARGER
    )


def test_without_prices_the_smallest_step_is_told_without_one() -> None:
    for bound in (asked("Standard_D8s_v5", "P30"), asked("Standard_D8s_v5", "P60x4")):
        step = step_of(bound, UNPRICED)
        assert step.price is None and step.more is None and step.instead is None
        assert step.record()["price"] is None
        assert step_of(bound).after == step.after


def test_of_an_unknown_vm_the_disk_can_still_change() -> None:
    step = step_of(asked(None, "P30"))
    assert step.disk.tier == "P40" and step.then.iops == 7_500


def test_what_does_not_bind_by_any_document_has_no_next_step() -> None:
    bound, other = asked("Standard_D8s_v5", "P30"), asked("Standard_D8s_v5", "P60x4")
    assert next_step(replace(bound, labels=other.labels), SHOP) is None
    with pytest.raises(InputError, match="no VM size"):
        next_step(replace(bound, stated=replace(bound.stated, vm=VM(size="Standard_D8s_v55"))), SHOP)
