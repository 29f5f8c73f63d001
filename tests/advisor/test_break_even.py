"""Which way to buy a disk costs the least: against sums by hand, and against trying every demand."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import VmSizes
from azbenchlib.advisor.reasons import break_even
from azbenchlib.advisor.reasons.break_even import Cost, Quote, Requirement
from azbenchlib.azure import catalog
from azbenchlib.azure.disk_kinds import PREMIUM, PREMIUM_V2, STANDARD_HDD, STANDARD_SSD, ULTRA
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.usage import Charge

DAY, MONTH_S = "2026-08-22", 730 * 3600
# Round prices, so that every crossing below can be found by hand.
PRICES = {
    (PREMIUM.product, "P30 LRS Disk"): ("150", "1/Month"),
    (PREMIUM.product, "P40 LRS Disk"): ("300", "1/Month"),
    (PREMIUM.product, "P60 LRS Disk"): ("1200", "1/Month"),
    (PREMIUM.product, "LRS Burst Enablement"): ("30", "1/Month"),
    (PREMIUM.product, "LRS Burst Transactions"): ("0.005", "10K"),
    (STANDARD_SSD.product, "E30 LRS Disk"): ("75", "1/Month"),
    (STANDARD_SSD.product, "E4 LRS Disk Operations"): ("0.002", "10K"),
    (STANDARD_HDD.product, "S30 LRS Disk"): ("40", "1/Month"),
    (STANDARD_HDD.product, "S4 LRS Disk Operations"): ("0.0005", "10K"),
    (PREMIUM_V2.product, "Premium LRS Provisioned Capacity"): ("0.0001", "1 GiB/Hour"),
    (PREMIUM_V2.product, "Premium LRS Provisioned IOPS"): ("0.00001", "1/Hour"),
    (PREMIUM_V2.product, "Premium LRS Provisioned Throughput (MBps)"): ("0.0001", "1/Hour"),
    (ULTRA.product, "Ultra LRS Provisioned Capacity"): ("0.0002", "1 GiB/Hour"),
    (ULTRA.product, "Ultra LRS Provisioned IOPS"): ("0.0001", "1/Hour"),
    (ULTRA.product, "Ultra LRS Provisioned Throughput (MBps)"): ("0.001", "1/Hour"),
}
TIERS = ("P30", "P40", "P60", "E30", "S30")


def market(*without: str) -> Market:
    meters = {Meter(*key): stated for key, stated in PRICES.items() if key[1] not in without}
    prices = {
        meter: Price(
            meter=meter,
            name=meter.name,
            region="westeurope",
            currency="USD",
            unit_price=Decimal(price),
            unit=unit,
            as_of=DAY,
            source_id="by hand",
        )
        for meter, (price, unit) in meters.items()
    }
    tiers = tuple(catalog.disk_tier(name, DAY) for name in TIERS)
    rules = tuple(catalog.provisioned_rules(sku, DAY) for sku in ("PremiumV2_LRS", "UltraSSD_LRS"))
    return Market(
        region="westeurope", as_of=DAY, vm_sizes=VmSizes(()), tiers=tiers, rules=rules, prices=prices
    )


def total(cost: Cost, x: float) -> Decimal | None:
    quote = cost(x)
    return quote.bill.total if quote else None


def two(costs: dict[str, Cost], *names: str) -> dict[str, Cost]:
    return {name: costs[name] for name in names}


def line(at_zero: int, slope: int, x: float) -> Quote:
    """An quote on a line."""
    amount, meter = round(at_zero + slope * x), Meter("any", "any")
    row = Price(
        meter=meter,
        name="any",
        region="here",
        currency="USD",
        unit_price=Decimal(amount),
        unit="1/Month",
        as_of=DAY,
        source_id="by hand",
    )
    return Quote(str(amount), bill([Charge(meter, Decimal(1), "it")], {meter: row}, Decimal(730)))


# --- Premium against Standard ----------------------------------------------------------------------


def test_a_busy_standard_ssd_costs_more_than_premium() -> None:
    """(150 - 75) / 0.002 × 10,000 = 375 million I/Os a month, which are 142.69 a second."""
    costs = two(break_even.by_transactions(market(), TIB, 4 * KIB), "Premium SSD P30", "Standard SSD E30")
    first, point = break_even.break_evens(costs, range(0, 501, 20), 0.01)
    assert (first.x, first.cheapest) == (0, "Standard SSD E30")
    assert point.cheapest == "Premium SSD P30" and point.x == pytest.approx(142.70)
    assert point.quote is not None and point.quote.bill.total == 150


def test_an_hourly_cap_makes_the_line_level() -> None:
    """100,000 an hour × 730 h ÷ 10,000 × 0.002 = 14.60, and 75 for the disk."""
    cost = break_even.by_transactions(market(), TIB, 4 * KIB, 100_000)["Standard SSD E30"]
    assert total(cost, 10) == 75 + Decimal(10 * MONTH_S) / 10_000 * Decimal("0.002")
    assert total(cost, 100) == total(cost, 500) == Decimal("89.6")


def test_an_io_above_256_kib_counts_as_several_and_uses_up_the_limit() -> None:
    cost = break_even.by_transactions(market(), TIB, 512 * KIB)["Standard SSD E30"]
    once = break_even.by_transactions(market(), TIB, 256 * KIB)["Standard SSD E30"]
    assert total(cost, 100) == total(once, 200)
    assert cost(250) is not None and cost(251) is None  # 500 units a second are all that an E30 has


def test_a_size_without_a_tier_is_left_out() -> None:
    assert list(break_even.by_transactions(market(), 2 * TIB, 4 * KIB)) == ["Premium SSD P40"]


# --- IOPS that must be there ------------------------------------------------------------------------


def test_free_baselines_make_a_stripe_of_premium_v2_cheap() -> None:
    """24,000 IOPS and 1,000 MB/s: 0.0001 × 1,024 GiB × 730 h = 74.752, and nothing for performance."""
    costs = break_even.by_iops(market(), Requirement(TIB, 1_000 * MB))
    quote = costs["Premium SSD v2 striped"](24_000)
    assert quote is not None and quote.what == "pv2x8:128GiB/3000iops/125MBps"
    assert quote.bill.total == Decimal("74.752")
    single = Decimal("74.752") + 21_000 * Decimal("0.0073") + 875 * Decimal("0.073")
    assert total(costs["Premium SSD v2"], 24_000) == single


def test_premium_goes_up_in_steps_and_ends() -> None:
    costs = break_even.by_iops(market(), Requirement(TIB, 100 * MB, most_disks=4))
    assert [total(costs["Premium SSD"], x) for x in (5_000, 5_001, 7_500, 7_501, 16_000)] == [
        150, 300, 300, 1200, 1200,
    ]  # fmt: skip
    assert costs["Premium SSD"](16_001) is None
    assert [total(costs["Premium SSD striped"], x) for x in (5_001, 10_001, 15_001)] == [300, 450, 600]
    assert costs["Premium SSD striped"](5_000) is None  # one disk of every tier is enough
    stripe = costs["Premium SSD striped"](64_000)
    assert stripe is not None and stripe.what == "P60x4" and costs["Premium SSD striped"](64_001) is None


def test_a_crossing_of_steps_is_found_to_the_io() -> None:
    """Ultra: 149.504 + 100 × 0.73 + 0.073 an IOPS: 1,200 at (1,200 - 222.504) / 0.073 = 13,390.4."""
    costs = two(break_even.by_iops(market(), Requirement(TIB, 100 * MB)), "Premium SSD", "Ultra Disk")
    break_evens = break_even.break_evens(costs, [100, 5_000, 10_000, 16_000, 20_000])
    assert [(point.x, point.cheapest) for point in break_evens] == [
        (100, "Premium SSD"),
        (7_501, "Ultra Disk"),
        (13_391, "Premium SSD"),
        (16_001, "Ultra Disk"),
    ]


def test_more_is_never_cheaper() -> None:
    xs = [float(x) for x in np.geomspace(100, 80_000, 40).round()]
    table = break_even.curves(break_even.by_iops(market(), Requirement(TIB, 300 * MB)), xs)
    for _, rows in table.groupby("series"):
        known = rows["price"].dropna().tolist()
        assert all(low <= high for low, high in pairwise(known)) and known
        assert rows["price"].notna().tolist() == sorted(rows["price"].notna(), reverse=True)


# --- bursting ---------------------------------------------------------------------------------------


def test_bursting_pays_for_a_few_hours() -> None:
    """An hour above P30: 5,000 × 3,600 / 10,000 × 0.005 = 9; two P30 instead:
    (2 × 150 - 150 - 30) / 9 = 13.3 h. One disk with as many IOPS would be a P60 of 1,200 (H of the review).
    """
    costs = break_even.by_burst_hours(market(), TIB, 10_000)
    assert list(costs) == ["P30 bursting on demand", "Premium SSD with 10,000 IOPS", "Premium SSD v2"]
    assert total(costs["P30 bursting on demand"], 0) == 180
    assert total(costs["P30 bursting on demand"], 10) == 270
    pair = two(costs, "P30 bursting on demand", "Premium SSD with 10,000 IOPS")
    first, point = break_even.break_evens(pair, range(0, 731, 10))
    assert first.cheapest == "P30 bursting on demand"
    assert (point.x, point.cheapest) == (14, "Premium SSD with 10,000 IOPS")


def test_there_is_no_burst_above_30000_nor_on_demand_on_small_disks() -> None:
    assert break_even.by_burst_hours(market(), TIB, 30_000)["P30 bursting on demand"](1) is not None
    assert break_even.by_burst_hours(market(), TIB, 30_001)["P30 bursting on demand"](1) is None
    assert break_even.by_burst_hours(market(), 512 * GIB, 10_000) == {}


# --- what is missing, and laws ----------------------------------------------------------------------


def test_a_missing_price_is_named_and_never_ranked() -> None:
    there = market("Ultra LRS Provisioned IOPS")
    costs = break_even.by_iops(there, Requirement(TIB, 100 * MB))
    (name,) = lacking = break_even.missing(costs, [100.0, 20_000.0])
    assert name == "Ultra Disk" and [meter.name for meter in lacking[name]] == ["Ultra LRS Provisioned IOPS"]
    table = break_even.curves(costs, [20_000.0])
    ultra = table[table["series"] == "Ultra Disk"]
    assert ultra["price"].isna().all() and ultra["what"].notna().all()
    at_rest = break_even.by_transactions(market("E4 LRS Disk Operations"), TIB, 4 * KIB)
    assert total(at_rest["Standard SSD E30"], 0) == 75  # idle it has a price, in use it has none
    assert list(break_even.missing(at_rest, [0.0, 1.0])) == ["Standard SSD E30"]
    break_evens = break_even.break_evens(two(costs, "Ultra Disk"), [100, 200])
    assert [(point.cheapest, point.quote) for point in break_evens] == [(None, None)]


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(0, 9)), min_size=2, max_size=4),
    st.integers(2, 60),
    st.lists(st.integers(0, 60), max_size=4),
)
def test_turns_are_those_of_trying_every_demand(
    lines: list[tuple[int, int]], most: int, more: list[int]
) -> None:
    """Lines change places once at most between two of them; every demand is looked at as a neighbour."""
    costs: dict[str, Cost] = {f"{i}": partial(line, *ends) for i, ends in enumerate(lines)}
    every = [min(costs, key=lambda name: total(costs[name], x) or 0) for x in range(most + 1)]
    wanted = [(0, every[0])] + [(x, every[x]) for x in range(1, most + 1) if every[x] != every[x - 1]]
    found = break_even.break_evens(costs, range(most + 1))
    assert [(point.x, point.cheapest) for point in found] == wanted
    if len(lines) == 2:  # then few points will do
        few = sorted({0, most, *(x for x in more if x < most)})
        assert break_even.break_evens(costs, few) == found


def test_a_curve_is_in_the_market_s_period_and_currency() -> None:
    day = replace(market(), hours=Decimal(24))
    cost = break_even.by_transactions(day, TIB, 4 * KIB)["Premium SSD P30"]
    assert isinstance(found := cost(0), Quote) and isinstance(found.bill, Bill)
    assert found.bill.total == pytest.approx(Decimal(150) * 24 / 730)
