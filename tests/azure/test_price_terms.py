"""What a refresh reads beside prices as you go, and what no longer counts after one."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from price_server import PriceServer, item, price_service, vm_item

from azbenchlib.advisor.advise import recommended
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.azure.prices import book
from azbenchlib.azure.prices.refresh import refresh
from azbenchlib.azure.prices.rows import Meter
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.cost.payments import Payment

SIZE = "Standard_D8s_v5"
PREMIUM = "Premium SSD Managed Disks"
PLANS = [{"term": "3 Years", "retailPrice": 0.25, "unitPrice": 0.25}, {"term": "1 Year", "retailPrice": 0.35}]
SOLD = [
    vm_item(SIZE, 0.46, savingsPlan=PLANS),
    vm_item(SIZE, 0.83, windows=True),
    vm_item(SIZE, 0.09, "Spot"),
    vm_item(SIZE, 2380.0, type="Reservation", reservationTerm="1 Year"),
    item("P30 LRS Disk", 135.17),
    item("P30 LRS Disk", 1401.0, type="Reservation", reservationTerm="1 Year", unitOfMeasure="1 Hour"),
    item("P20 LRS Disk", 73.22),
]


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    book.forget()
    yield
    book.forget()


def read(*items: dict[str, Any], currency: str = "USD") -> None:
    with price_service(list(items), page=3) as server:
        refresh("westeurope", server.url, sleep=lambda _: None, currency=currency)


def price(meter: Meter) -> Decimal | None:
    found = book.book("westeurope").prices.get(meter)
    return found and found.unit_price


def test_savings_plans_licences_and_reserved_disks_are_prices() -> None:
    read(*SOLD)
    assert price(Meter.of_vm(SIZE, "SavingsPlan1Y")) == Decimal("0.35")
    assert price(Meter.of_vm(SIZE, "SavingsPlan3Y")) == Decimal("0.25")
    assert price(Meter.of_vm(SIZE, "Licence", "windows")) == Decimal("0.37")
    reserved = book.book("westeurope").prices[Meter(PREMIUM, "P30 LRS Disk", "Reservation1Y")]
    assert (reserved.unit_price, reserved.per.hours) == (Decimal("1401.0"), 8760)


def test_a_hundred_reserved_p30_cost_what_microsoft_prints() -> None:
    """F of the review: 140,100 a year (understand-disk-reservations.md); it was billed as you go."""
    read(*SOLD)
    from azbenchlib.cost.bill import bill
    from azbenchlib.cost.usage import Use, charges
    from azbenchlib.model.fill_from_catalogue import resolve
    from azbenchlib.model.notation import parse_disks
    from azbenchlib.model.setup import Setup

    setup = resolve(Setup(disks=parse_disks(["P30x100"])), "2026-11-20")
    year, prices = Decimal(8760), book.book("westeurope").prices
    found = bill(charges(setup, "westeurope", year, Use(disk_pay="Reservation1Y")), prices, year)
    assert found.total == 140_100


def test_what_azure_no_longer_lists_has_no_price_any_more() -> None:
    """D of the review: the shipped price of August stayed beside those of today."""
    other = Meter.of_vm("Standard_D4s_v5")
    assert price(other) == Decimal("0.23") and price(Meter(PREMIUM, "P10 LRS Disk"))
    read(*SOLD)
    assert price(other) is None and price(Meter(PREMIUM, "P10 LRS Disk")) is None
    assert price(Meter.of_vm(SIZE)) == Decimal("0.46")
    assert book.book("westeurope", as_of="2026-09-01").prices[other].unit_price == Decimal("0.23")
    assert other in book.book("northeurope").prices


def test_a_reading_without_vms_keeps_the_vms() -> None:
    read(item("P30 LRS Disk", 1.0))
    assert price(Meter.of_vm("Standard_D4s_v5")) == Decimal("0.23")
    assert price(Meter(PREMIUM, "P10 LRS Disk")) is None


def test_another_currency_stands_beside_dollars() -> None:
    euros = [one | {"currencyCode": "EUR"} for one in SOLD]
    read(*euros, currency="EUR")
    assert price(Meter.of_vm(SIZE)) == Decimal("0.46")  # of the shipped book, in dollars
    found = book.book("westeurope", currency="EUR")
    assert {one.currency for one in found.prices.values()} == {"EUR"}
    best = recommended(
        Demand(size_bytes=100 * GIB, iops=500), market("westeurope", payment=Payment(currency="EUR"))
    )
    assert best is not None and best.candidate.market.currency == "EUR" and best.vm == SIZE
    with pytest.raises(
        InputError, match=r"no prices in GBP for westeurope, but in EUR, USD: .*--currency GBP"
    ):
        book.book("westeurope", currency="GBP")


def test_a_service_that_answers_in_another_currency_is_refused() -> None:
    with pytest.raises(InputError, match="answers in USD, not in EUR"):
        read(*SOLD, currency="EUR")
    with pytest.raises(InputError, match="'euro' is not a currency"):
        read(*SOLD, currency="euro")


def test_the_service_is_asked_in_the_currency() -> None:
    server: PriceServer
    with price_service([one | {"currencyCode": "EUR"} for one in SOLD]) as server:
        refresh("westeurope", server.url, currency="EUR")
        assert all("currencyCode=%27EUR%27" in path for path in server.asked)


@pytest.mark.parametrize("pay", ["Spot", "SavingsPlan1Y", "Reservation1Y", "Consumption"])
@pytest.mark.parametrize(("system", "more"), [("linux", "0"), ("windows", "0.37"), ("windows-hybrid", "0")])
@pytest.mark.sampled(5)
def test_each_way_to_pay_with_each_licence(pay: str, system: str, more: str) -> None:
    read(*SOLD, vm_item(SIZE, 0.17, "Spot", windows=True))
    there = market("westeurope", payment=Payment(pay=pay, os=system))
    best = recommended(Demand(size_bytes=100 * GIB, iops=500), there)
    assert best is not None
    hourly = {"Consumption": "0.46", "Spot": "0.09", "SavingsPlan1Y": "0.35"}
    machine = Decimal(hourly.get(pay, "0")) * 730 or Decimal(2380) / 12
    extra = Decimal("0.08") if (pay, system) == ("Spot", "windows") else Decimal(more)
    assert best.price - best.candidate.option.price == pytest.approx(
        machine + extra * 730, abs=Decimal("1e-6")
    )


def test_a_discount_is_taken_off_every_price() -> None:
    demand = Demand(size_bytes=100 * GIB, iops=500)
    full = recommended(demand, market("westeurope"))
    less = recommended(demand, market("westeurope", payment=Payment(discount=Decimal("0.12"))))
    assert full and less and less.price == pytest.approx(full.price * Decimal("0.88"), abs=Decimal("1e-6"))
    with pytest.raises(InputError, match=r"discount of 100.* is not below 100"):
        Payment(discount=Decimal(1))
    with pytest.raises(InputError, match="'euro' is not a currency"):
        Payment(currency="euro")


def test_reserved_disks_without_a_price_are_refused() -> None:
    with pytest.raises(InputError, match=r"no 1-year reservation price of a disk.*refresh --retail-prices"):
        market("westeurope", payment=Payment(disk_pay="Reservation1Y"))
