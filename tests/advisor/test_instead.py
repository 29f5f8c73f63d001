"""What could stand instead of a disk: prices by an independent reckoning, and the load where they cross."""

import json
from fractions import Fraction
from functools import cache
from math import ceil

import pytest
from typer.testing import CliRunner

from azbenchlib.advisor.instead import SHARES, Substitutes, substitutes
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.answers.instead import SubstitutesAnswer
from azbenchlib.azure.disk_kinds import PREMIUM, PREMIUM_V2, STANDARD_HDD, STANDARD_SSD, ULTRA
from azbenchlib.azure.prices.rows import Meter
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB

DAY = "2026-11-20"
FREE_IOPS, FREE_MBPS = 3_000, 125  # of each Premium SSD v2
HOURS = 730  # of a month


@cache
def europe() -> Market:
    return market("westeurope", as_of=DAY)


def instead_of(text: str, **stated: str) -> Substitutes:
    return substitutes(text, stated, europe())


def price_of_v2(gib: int, iops: float, mbps: float) -> Fraction:
    """Three prices by the hour, of what is above the free ones."""
    rows = [
        europe().prices[Meter("Azure Premium SSD v2", f"Premium LRS Provisioned {what}")]
        for what in ("Capacity", "IOPS", "Throughput (MBps)")
    ]
    needs = (Fraction(gib), Fraction(max(0, iops - FREE_IOPS)), Fraction(max(0, mbps - FREE_MBPS)))
    per_month = (Fraction(HOURS) if "Hour" in row.unit else Fraction(1) for row in rows)
    return sum(
        (
            Fraction(row.unit_price) * need * times
            for row, need, times in zip(rows, needs, per_month, strict=True)
        ),
        Fraction(0),
    )


@pytest.mark.parametrize(
    ("tier", "gib", "iops", "mbps"),
    [("P10", 128, 500, 100), ("P30", 1024, 5000, 200), ("P40", 2048, 7500, 250)],
)
def test_prices_over_the_load_are_those_of_the_price_list(tier: str, gib: int, iops: int, mbps: int) -> None:
    compared = instead_of(tier)
    own = Fraction(europe().prices[Meter("Premium SSD Managed Disks", f"{tier} LRS Disk")].unit_price)
    assert Fraction(compared.option.price) == own
    assert compared.demand.size_bytes == gib * GIB
    for share in SHARES:
        assert compared.loaded(share).steady == (
            pytest.approx(iops * share),
            pytest.approx(mbps * MB * share),
        )
        v2 = compared.at(PREMIUM_V2, share)
        assert v2 is not None and v2.disk.count == 1
        assert Fraction(v2.price) == price_of_v2(gib, ceil(iops * share), ceil(mbps * share))
        if share <= 1:
            premium = compared.at(PREMIUM, share)
            assert premium is not None and Fraction(premium.price) == own
    assert compared.best is not None and compared.best.kind is PREMIUM_V2


@pytest.mark.parametrize("tier", ["P10", "P20", "P30", "P50"])
def test_a_kind_costs_no_more_up_to_the_load_that_is_told_and_more_above_it(tier: str) -> None:
    compared = instead_of(tier)
    for kind in (PREMIUM_V2, STANDARD_HDD, STANDARD_SSD):
        load = compared.cheaper_up_to(kind)
        assert load is not None
        share = load.steady[0] / compared.demand.steady[0]
        below = compared.at(kind, share * (1 - 1e-9))
        above = compared.at(kind, share + 1.5 / compared.demand.steady[0])
        assert below is not None and below.price <= compared.option.price
        assert above is None or above.price > compared.option.price
    if tier == "P30":
        assert compared.cheaper_up_to(ULTRA) is None


def test_what_is_stated_counts_instead_of_what_the_disk_has() -> None:
    compared = instead_of("P30", size="300GiB", iops="1200", bs="16KiB", headroom="1.2")
    assert compared.best is not None
    assert Fraction(compared.best.price) == price_of_v2(300, 1440, 24)
    large = instead_of("P30", bs="256KiB")
    assert large.demand.steady[1] == pytest.approx(200 * MB)  # MB/s is the first limit
    assert large.demand.steady[0] == pytest.approx(200 * MB / (256 * 1024))


def test_an_os_disk_a_zone_redundant_one_and_one_billed_by_use_have_their_own_answers() -> None:
    assert not {PREMIUM_V2, ULTRA} & set(instead_of("os:P10").kinds)
    assert set(instead_of("P30:ZRS").kinds) == {PREMIUM, STANDARD_SSD}
    used = instead_of("E20")
    prices = [used.at(STANDARD_SSD, share) for share in (0.1, 0.5, 1.0)]
    assert [option.price for option in prices if option] == sorted(
        {option.price for option in prices if option}
    )
    assert len(prices) == 3 and used.is_billed_by_use
    assert "costs no more" not in SubstitutesAnswer(used).to_text()
    assert instead_of("P10x4").at(PREMIUM_V2, 1.0).disk.count <= 4  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "stated", "sentence"),
    [
        ("temp", {}, "'temp' is a local disk"),
        ("pv2", {}, "has no size: write one such as pv2:1TiB"),
        ("P99", {}, "P99"),
        ("P10", {"iops": "600"}, "'P10' has 500 IOPS, and 600 are needed"),
        ("P10", {"mbps": "110"}, "'P10' has 100 MB/s, and 110 are needed"),
        ("P10", {"size": "1TiB"}, r"'P10' has 128\sGiB of room, and 1\sTiB are needed"),
        ("P10", {"vcpus": "8"}, "without their VM: leave out --vcpus"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(
    text: str, stated: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        instead_of(text, **stated)


def run(*more: str) -> str:
    done = CliRunner().invoke(
        app, ["advise", "--instead-of", "P30", "--region", "westeurope", "--as-of", DAY, *more]
    )
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_every_surface_says_the_same() -> None:
    answer = SubstitutesAnswer(instead_of("P30"))
    text, told = " ".join(run().split()), json.loads(run("--format", "json"))
    rows = answer.to_frame()
    best = instead_of("P30").best
    assert best is not None
    price = f"{best.price:,.2f} USD a month"
    for surface in (text, answer.to_markdown(), answer._repr_html_()):
        assert price in surface.replace("\N{NO-BREAK SPACE}", " ")
    assert told["best"] == best.disk.name and len(told["prices"]) == len(rows)
    known = told["costs_no_more_up_to"]
    assert known["ultra"] is None and known["premium_v2"]["iops"] > 5000
    assert f"{known['premium_v2']['iops']:,.0f} IOPS" in text
    assert run("--format", "csv").count("\n") == len(rows) + 1
    assert len(answer.plot().lines) == len(instead_of("P30").kinds)


@pytest.mark.parametrize("more", [("--why",), ("--os-disk", "64GiB"), ("--quota",), ("--region", "eastus")])
def test_what_is_of_an_order_alone_is_refused(more: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["advise", "--instead-of", "P30", "--region", "westeurope", *more])
    assert isinstance(done.exception, InputError) and "--instead-of" in str(done.exception)
