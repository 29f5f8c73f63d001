"""What Azure counts and what it costs, against values derived by hand and published ones."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_cases import cases

from azbenchlib.azure import catalog
from azbenchlib.azure.disk_kinds import ULTRA
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.operations import Burst, burst_transactions, burst_units, transactions
from azbenchlib.cost.usage import (  # fmt: skip
    Charge,
    Use,
    charges,
    check_tier,
    doubts,
    ultra_size,
    ultra_vcpus,
)
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks

HOUR, MONTH = Decimal(1), Decimal(730)
PREMIUM, SSD, HDD = (f"{name} Managed Disks" for name in ("Premium SSD", "Standard SSD", "Standard HDD"))


def price(meter: Meter, unit_price: str, unit: str, currency: str = "USD") -> Price:
    return Price(
        meter=meter,
        name=meter.name,
        region="westeurope",
        currency=currency,
        unit_price=Decimal(unit_price),
        unit=unit,
        as_of="2026-08-22",
        source_id="test",
    )


def book(*found: Price) -> dict[Meter, Price]:
    return {one.meter: one for one in found}


def ultra(capacity: str, iops: str, mbps: str, vcpu: str) -> dict[Meter, Price]:
    names = {
        "Provisioned Capacity": (capacity, "1 GiB/Hour"),
        "Provisioned IOPS": (iops, "1/Hour"),
        "Provisioned Throughput (MBps)": (mbps, "1/Hour"),
        "Reservation per vCPU Provisioned": (vcpu, "1/Hour"),
    }
    return book(
        *(price(Meter(ULTRA.product, f"Ultra LRS {name}"), *stated) for name, stated in names.items())
    )


PREVIEW = ultra("0.000082", "0.000034", "0.000685", "0.003")
ULTRA_DISK = Disk(
    name="u", sku="UltraSSD_LRS", size_bytes=128 * GIB, cap=Cap(iops=32_000, bytes_per_s=2_000 * MB)
)


def counted(setup: Setup, use: Use | None = None, hours: Decimal = MONTH) -> dict[str, Decimal]:
    return {one.meter.name: one.quantity for one in charges(setup, "westeurope", hours, use)}


def disk(tier: str, **more: Any) -> Disk:
    sku = {"P": "Premium_LRS", "E": "StandardSSD_LRS", "S": "Standard_LRS"}[tier[0]]
    return Disk(**({"name": tier, "sku": sku, "tier": tier, "size_bytes": 1 * TIB} | more))


# --- Ultra ---------------------------------------------------------------------------------------


def test_the_preview_disk_costs_what_its_parts_add_up_to() -> None:
    """0.010496 + 1.088 + 1.37 = 2.468496; the publication prints 2.488496, from a part misread as 1.008."""
    found = bill(charges(Setup(disks=(ULTRA_DISK,)), "eastus2", HOUR), PREVIEW, HOUR)
    parts = {line.price.name.removeprefix("Ultra LRS Provisioned "): line.amount for line in found.lines}
    assert parts == {
        "Capacity": Decimal("0.010496"),
        "IOPS": Decimal("1.088"),
        "Throughput (MBps)": Decimal("1.37"),
    }
    assert found.total == Decimal("2.468496")


def test_the_reservation_is_for_all_cores_of_a_constrained_size() -> None:
    """0.003 × 32 = 0.096 USD an hour; the publication reckons with the 8 that the guest sees: 0.024."""
    row = catalog.vm("E32-8s_v3", "2019-09-01")
    assert (row.vcpus, row.vcpus_available) == (32, 8)
    setup = Setup(VM(size=row.size))
    found = charges(setup, "eastus2", HOUR, Use(vcpus=row.vcpus, ultra_enabled=True))
    fee = [one for one in found if one.meter.product == ULTRA.product]
    assert bill(fee, PREVIEW, HOUR).total == Decimal("0.096")


def test_the_reservation_is_due_only_while_no_ultra_disk_is_attached() -> None:
    vm = VM(size="Standard_E32-8s_v3")
    assert ultra_vcpus(Setup(vm), Use(vcpus=32)) == 0
    assert ultra_vcpus(Setup(vm, (ULTRA_DISK,)), Use(vcpus=32, ultra_enabled=True)) == 0
    assert ultra_vcpus(Setup(vm, (disk("P30"),)), Use(vcpus=32, ultra_enabled=True)) == 32
    with pytest.raises(InputError, match="vCPUs of Standard_E32-8s_v3 are not known"):
        ultra_vcpus(Setup(vm), Use(ultra_enabled=True))


@pytest.mark.parametrize(
    ("gib", "billed_then"), [(1, 4), (4, 4), (5, 8), (128, 128), (200, 256), (1024, 1024), (1025, 2048)]
)
def test_of_old_an_ultra_disk_was_billed_at_the_next_size(gib: int, billed_then: int) -> None:
    assert ultra_size(gib * GIB, "2024-08-12") == billed_then * GIB
    assert ultra_size(gib * GIB, "2026-08-11") == ultra_size(gib * GIB, None) == gib * GIB


# --- Premium SSD v2 ------------------------------------------------------------------------------


def test_a_premium_v2_has_3000_iops_and_125_mbps_free() -> None:
    at_baseline = Disk(
        name="d", sku="PremiumV2_LRS", size_bytes=100 * GIB, cap=Cap(iops=3_000, bytes_per_s=125 * MB)
    )
    assert counted(Setup(disks=(at_baseline,))) == {"Premium LRS Provisioned Capacity": 100}
    above = Disk(
        name="d", sku="PremiumV2_LRS", size_bytes=100 * GIB, cap=Cap(iops=10_000, bytes_per_s=500 * MB)
    )
    assert counted(Setup(disks=(above,))) == {
        "Premium LRS Provisioned Capacity": 100,
        "Premium LRS Provisioned IOPS": 7_000,
        "Premium LRS Provisioned Throughput (MBps)": 375,
    }


def test_eight_disks_give_24000_iops_and_1000_mbps_without_a_performance_charge() -> None:
    eight = parse_disks(["pv2x8:128GiB/3000iops/125MBps"])
    assert counted(Setup(disks=eight)) == {"Premium LRS Provisioned Capacity": 1024}
    one = parse_disks(["pv2:1024GiB/24000iops/1000MBps"])
    assert counted(Setup(disks=one)) == {
        "Premium LRS Provisioned Capacity": 1024,
        "Premium LRS Provisioned IOPS": 21_000,
        "Premium LRS Provisioned Throughput (MBps)": 875,
    }


# --- tiers ---------------------------------------------------------------------------------------


def test_tiers_are_billed_by_name_count_and_redundancy() -> None:
    setup = Setup(disks=(disk("P30", count=4, striped=True), disk("E10", sku="StandardSSD_ZRS")))
    assert counted(setup) == {"P30 LRS Disk": 4, "E10 ZRS Disk": 1}


def test_the_performance_tier_is_what_is_billed() -> None:
    raised = disk("P50", size_bytes=1 * TIB)
    assert counted(Setup(disks=(raised,))) == {"P50 LRS Disk": 1}


@pytest.mark.parametrize(
    ("tier", "size_gib", "said"),
    [
        ("P60", 1024, "performance tiers P30 to P50, not P60"),
        ("P60", 4096, "performance tiers P50 to P50, not P60"),
        ("P10", 1024, "do not fit in a P10; it takes a P30"),
        ("E50", 1024, "has the tier E30; only Premium SSD has performance tiers"),
    ],
)
def test_tiers_that_a_disk_cannot_have(tier: str, size_gib: int, said: str) -> None:
    one = disk(tier, size_bytes=size_gib * GIB)
    with pytest.raises(InputError, match=said):
        check_tier(one, catalog.disk_tier(tier), catalog.tier_for(one.sku or "", size_gib * GIB))


@pytest.mark.parametrize(("tier", "size_gib"), [("P50", 1024), ("P30", 600), ("P70", 5000), ("E30", 1024)])
def test_tiers_that_a_disk_can_have(tier: str, size_gib: int) -> None:
    one = disk(tier, size_bytes=size_gib * GIB)
    check_tier(one, catalog.disk_tier(tier), catalog.tier_for(one.sku or "", size_gib * GIB))


def test_local_disks_cost_nothing_of_their_own() -> None:
    local = parse_disks(["temp", "nvme", "ephemeral:cache"])
    assert counted(Setup(VM(size="Standard_L8s_v3"), local)) == {"standard_l8s_v3": 1}


@pytest.mark.parametrize("sku", ["Premium_GRS", "Gold_LRS", None])
def test_a_sku_without_meters(sku: str | None) -> None:
    with pytest.raises(InputError, match="has no known meters; it is one of Premium_LRS"):
        counted(Setup(disks=(disk("P30", sku=sku),)))


def test_a_disk_without_what_is_billed() -> None:
    with pytest.raises(InputError, match="give its tier"):
        counted(Setup(disks=(Disk(name="d", sku="Premium_LRS", size_bytes=TIB),)))
    with pytest.raises(InputError, match="UltraSSD needs a size"):
        counted(Setup(disks=(Disk(name="u", sku="UltraSSD_LRS", cap=Cap(iops=1000, bytes_per_s=10 * MB)),)))


# --- on-demand bursting --------------------------------------------------------------------------


def test_burst_transactions_second_by_second() -> None:
    """Of a P30 (5,000 IOPS, 200 MB/s): 10 × 1,000 + 60 × 2,000; 100 MB/s more are 400 I/Os a second."""
    assert burst_transactions([Burst(10, 6_000), Burst(60, 7_000)], 5_000, 200 * MB) == 130_000
    assert burst_transactions([Burst(20, 4_000, 300 * MB)], 5_000, 200 * MB) == 8_000
    assert burst_transactions([Burst(10, 7_500, 300 * MB)], 5_000, 200 * MB) == 25_000
    assert burst_transactions([Burst(10, 5_000, 200 * MB), Burst(5)], 5_000, 200 * MB) == 0


def test_a_pack_of_10000_is_billed_once_it_is_begun() -> None:
    assert burst_units([Burst(10, 6_000)], 5_000, 0) == 1
    assert burst_units([Burst(10.001, 6_000)], 5_000, 0) == 2
    assert burst_units([], 5_000, 0) == 0


def test_bursting_on_demand_has_a_fee_and_transactions_for_each_disk() -> None:
    p30 = disk(
        "P30",
        count=2,
        bursting=True,
        cap=Cap(iops=5_000, bytes_per_s=200 * MB, burst_iops=30_000, burst_bytes_per_s=1_000 * MB),
    )
    use = Use(bursts=(Burst(10, 6_000), Burst(60, 7_000)))
    assert counted(Setup(disks=(p30,)), use) == {
        "P30 LRS Disk": 2,
        "LRS Burst Enablement": 2,
        "LRS Burst Transactions": 260_000,
    }


def test_what_a_disk_is_provisioned_with_by_assumption_is_told() -> None:
    full = resolve(Setup(disks=parse_disks(["pv2:1TiB", "pv2:1TiB/4000iops/125MBps"])), "2026-08-17")
    (only,) = doubts(full)
    assert only.startswith("pv2:1TiB is priced with 3,000 IOPS and 125 MB/s")


@pytest.mark.parametrize(
    ("tier", "gib", "bursting", "paid"),
    [
        ("P30", 1024, True, True),
        ("P20", 512, True, False),
        ("P30", 1024, None, False),
        ("E30", 1024, True, False),
    ],
)
def test_only_large_premium_disks_burst_on_demand(tier: str, gib: int, bursting: bool, paid: bool) -> None:
    assert disk(tier, size_bytes=gib * GIB, bursting=bursting).bursts_on_demand is paid


# --- transactions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "region", "bs", "an_hour"),
    [
        ("E10", "westeurope", 4 * KIB, 360_000),
        ("E10", "westeurope", 256 * KIB, 360_000),
        ("E10", "westeurope", 257 * KIB, 720_000),
        ("S10", "westeurope", 64 * KIB, 360_000),
        ("S4", "westeurope", 4 * KIB, 360_000),
        ("S4", "westeurope", 64 * KIB, 450_000),  # 4 units each: 1,440,000, above the cap
        ("S6", "westeurope", 64 * KIB, 858_000),
        ("S4", "northeurope", 64 * KIB, 360_000),
        ("S4", "eastus", 64 * KIB, 360_000),
        ("S70", "westeurope", 64 * KIB, 1_440_000),
        ("S80", "westeurope", 1024 * KIB, 16 * 360_000),  # 64 units, but 16 of an I/O at most
    ],
)
def test_transactions_of_100_ios_per_s(tier: str, region: str, bs: int, an_hour: int) -> None:
    assert transactions(tier, region, 100, bs) == an_hour


def test_a_cap_an_hour_of_standard_ssd() -> None:
    assert transactions("E10", "westeurope", 100, 4 * KIB, ssd_cap=200_000) == 200_000
    assert transactions("E10", "westeurope", 100, 4 * KIB, ssd_cap=400_000) == 360_000


def test_transactions_are_billed_at_the_smallest_size_of_the_kind() -> None:
    setup = Setup(disks=(disk("E30"), disk("S20", count=2)))
    use = Use(ios_per_s=100)
    assert counted(setup, use) == {
        "E30 LRS Disk": 1,
        "E4 LRS Disk Operations": 360_000 * 730,
        "S20 LRS Disk": 2,
        "S4 LRS Disk Operations": 2 * 360_000 * 730,
    }


def test_what_is_not_counted_is_said() -> None:
    setup = Setup(disks=(disk("E30"), disk("P30", bursting=True), disk("S20")))
    counts, bursts = doubts(setup, Use())
    assert counts == "transactions of E30, S20 are not counted: the I/Os per second are not given"
    assert bursts == "burst transactions of P30 are not counted: no burst is given"
    (cap,) = doubts(setup, Use(ios_per_s=1, bursts=(Burst(1, 6000),)))
    assert "of E30 up to a cap an hour that is not known here" in cap
    assert doubts(setup, Use(ios_per_s=1, transaction_cap=10, bursts=(Burst(1, 6000),))) == []


def test_snapshots_by_used_size() -> None:
    found = charges(Setup(), "westeurope", MONTH, Use(snapshot_bytes=120 * GIB))
    assert found == [Charge(Meter(HDD, "LRS Snapshots"), Decimal(120), "snapshots")]
    ssd = charges(Setup(), "westeurope", MONTH, Use(snapshot_bytes=GIB, snapshot_sku="StandardSSD_ZRS"))
    assert ssd[0].meter == Meter(SSD, "Snapshots ZRS Snapshots")
    premium = charges(Setup(), "westeurope", MONTH, Use(snapshot_bytes=GIB, snapshot_sku="Premium_LRS"))
    assert premium[0].meter == Meter(PREMIUM, "LRS Snapshots")


# --- the bill ------------------------------------------------------------------------------------


D8S = VM(size="Standard_D8s_v3")


@pytest.mark.parametrize(
    ("pay", "stated", "unit", "a_month"),
    [
        ("Consumption", "0.48", "1 Hour", "350.4"),
        ("Spot", "0.0887", "1 Hour", "64.751"),
        ("Reservation1Y", "2628", "1 Year", "219"),
        ("Reservation3Y", "5256", "3 Years", "146"),
    ],
)
def test_a_vm_by_the_hour_spot_and_reserved(pay: str, stated: str, unit: str, a_month: str) -> None:
    sold = book(price(Meter.of_vm(D8S.size or "", pay), stated, unit))
    assert bill(charges(Setup(D8S), "x", MONTH, Use(pay=pay)), sold, MONTH).total == Decimal(a_month)


def test_a_part_of_a_month_is_billed_by_the_hour() -> None:
    sold = book(price(Meter(PREMIUM, "P30 LRS Disk"), "148.68", "1/Month"))
    found = charges(Setup(disks=(disk("P30"),)), "westeurope", Decimal(73))
    assert bill(found, sold, Decimal(73)).total == Decimal("14.868")
    assert bill(found, sold, MONTH).total == Decimal("148.68")
    assert bill(found, sold, Decimal("0.5")).total == Decimal("0.1018356164")


def test_operations_do_not_depend_on_the_month() -> None:
    sold = book(price(Meter(PREMIUM, "LRS Burst Transactions"), "0.0065", "10K/Month"))
    (line,) = bill(
        [Charge(Meter(PREMIUM, "LRS Burst Transactions"), Decimal(130_000), "d")], sold, HOUR
    ).lines
    assert (line.quantity, line.hours, line.amount) == (13, None, Decimal("0.0845"))


def test_a_missing_price_is_named_and_leaves_no_total() -> None:
    sold = book(price(Meter(PREMIUM, "P30 LRS Disk"), "148.68", "1/Month"))
    found = bill(charges(Setup(disks=(disk("P30"), disk("P40"))), "x", MONTH), sold, MONTH)
    assert found.total is None
    assert found.missing == (Meter(PREMIUM, "P40 LRS Disk"),)
    assert [line.amount for line in found.lines] == [Decimal("148.68")]


def test_currencies_are_not_added() -> None:
    sold = book(
        price(Meter(PREMIUM, "P30 LRS Disk"), "148.68", "1/Month"),
        price(Meter(PREMIUM, "P40 LRS Disk"), "270", "1/Month", "EUR"),
    )
    with pytest.raises(InputError, match=r"several currencies.*USD for.*P30.*EUR for.*P40"):
        bill(charges(Setup(disks=(disk("P30"), disk("P40"))), "x", MONTH), sold, MONTH)


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "inf"])
def test_a_period_that_is_none(hours: str) -> None:
    with pytest.raises(InputError, match="is not a period"):
        bill([], {}, Decimal(hours))


def test_records_are_the_table_of_the_bill() -> None:
    found = bill(charges(Setup(disks=(ULTRA_DISK,)), "eastus2", HOUR), PREVIEW, HOUR)
    assert [row["quantity"] for row in found.records()] == [128, 32_000, 2_000]
    assert sum(row["amount"] for row in found.records()) == found.total  # type: ignore[misc]
    assert found.records()[0]["source"] == "test" and found.currency == "USD"


# --- published cases -----------------------------------------------------------------------------

COSTS = {case["id"]: case for case in cases() if case["kind"] == "cost_example"}


def test_published_cost_examples() -> None:
    if not COSTS:
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    burst, reserved = COSTS["ms-22-ondemand-burst-tx"], COSTS["ms-24-ultra-reservation-E32-8s"]
    stated = burst["disks"][0]
    asked = [Burst(10, 6_000), Burst(60, 7_000)]  # its profile, in words: 10 s @6,000 IOPS, 60 s @7,000 IOPS
    assert "10 s @6,000 IOPS, 60 s @7,000" in burst["demand"]["profile"]
    limits = stated["iops"], stated["mbps"] * MB
    assert {
        "burst_transactions": burst_transactions(asked, *limits),
        "units_of_10k": burst_units(asked, *limits),
    } == burst["expected"]["achieved"]
    row = catalog.vm(reserved["vm"]["size"])
    use = Use(vcpus=row.vcpus, ultra_enabled=True)
    assert ultra_vcpus(Setup(VM(size=row.size)), use) == reserved["expected"]["achieved"]["vcpus_billed"]


# --- laws ----------------------------------------------------------------------------------------

TIERS = ("P10", "P30", "E10", "E30", "S10")
METERS = [
    *(Meter({"P": PREMIUM, "E": SSD, "S": HDD}[tier[0]], f"{tier} LRS Disk") for tier in TIERS),
    Meter(SSD, "E4 LRS Disk Operations"),
    Meter(HDD, "S4 LRS Disk Operations"),
    Meter(PREMIUM, "LRS Burst Enablement"),
]
AMOUNTS = st.decimals("0.000001", "9999", places=6)


@st.composite
def priced(draw: st.DrawFn) -> tuple[Setup, dict[Meter, Price], Use]:
    tiers = draw(st.lists(st.sampled_from(TIERS), min_size=1, max_size=4))
    disks = [disk(t, name=f"d{i}", count=draw(st.integers(1, 5)), striped=True) for i, t in enumerate(tiers)]
    units = ("10K" if "Operations" in meter.name else "1/Month" for meter in METERS)
    sold = [price(m, str(draw(AMOUNTS)), unit) for m, unit in zip(METERS, units, strict=True)]
    return Setup(disks=tuple(disks)), book(*sold), Use(ios_per_s=draw(st.floats(0.1, 1000)))


def made(setup: Setup, sold: dict[Meter, Price], use: Use, hours: Decimal) -> Bill:
    return bill(charges(setup, "westeurope", hours, use), sold, hours)


@given(priced(), st.decimals("0.01", "9000", places=2), st.decimals("0", "9000", places=2))
def test_more_hours_are_never_cheaper(given_: Any, hours: Decimal, more: Decimal) -> None:
    setup, sold, use = given_
    short, long = made(setup, sold, use, hours), made(setup, sold, use, hours + more)
    assert short.total is not None and long.total is not None and short.total <= long.total


@given(priced(), st.decimals("0.01", "9000", places=2))
def test_the_total_is_the_sum_of_the_lines(given_: Any, hours: Decimal) -> None:
    setup, sold, use = given_
    found = made(setup, sold, use, hours)
    assert found.total is not None
    assert Fraction(found.total) == sum((Fraction(line.amount) for line in found.lines), Fraction(0))
    assert [one.meter for one in charges(setup, "westeurope", hours, use)] == [
        line.price.meter for line in found.lines
    ]


@given(priced(), st.data())
def test_a_missing_meter_never_gives_a_total(given_: Any, data: st.DataObject) -> None:
    setup, sold, use = given_
    needed = sorted({one.meter for one in charges(setup, "westeurope", MONTH, use)})
    gone = data.draw(st.sampled_from(needed))
    found = made(setup, {meter: row for meter, row in sold.items() if meter != gone}, use, MONTH)
    assert found.total is None and found.missing == (gone,)


@given(st.integers(1, 64), st.integers(3_000, 80_000), st.integers(125, 2_000))
def test_n_premium_v2_disks_have_n_baselines(n: int, iops: int, mbps: int) -> None:
    one = Disk(
        name="d",
        sku="PremiumV2_LRS",
        size_bytes=160 * GIB,
        cap=Cap(iops=iops, bytes_per_s=mbps * MB),
        count=n,
        striped=True,
    )
    found = counted(Setup(disks=(one,)))
    assert found.get("Premium LRS Provisioned IOPS", 0) == max(0, iops * n - 3_000 * n)
    assert found.get("Premium LRS Provisioned Throughput (MBps)", 0) == max(0, mbps * n - 125 * n)


@given(st.floats(0, 2000), st.floats(0, 2000), st.integers(1, 4096))
def test_more_ios_are_never_fewer_transactions(ios: float, more: float, kib: int) -> None:
    for tier in ("E10", "S4", "S10", "S80"):
        few, many = (transactions(tier, "westeurope", rate, kib * KIB) for rate in (ios, ios + more))
        assert few <= many


@pytest.mark.parametrize(
    ("tier", "bs_bytes", "is_told"),
    [("S20", 64 * KIB, True), ("S20", 16 * KIB, False), ("S4", 64 * KIB, False)],
)
def test_two_pages_that_count_the_same_ios_otherwise_are_told(
    tier: str, bs_bytes: int, is_told: bool
) -> None:
    setup = resolve(Setup(VM(), parse_disks([tier])), "2026-11-20")
    said = doubts(setup, Use(ios_per_s=10, bs_bytes=bs_bytes))
    assert any("disk types of 2026-08-11 counts units of 16" in text for text in said) is is_told
