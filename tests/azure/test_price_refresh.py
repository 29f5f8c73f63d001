"""Reading the price service: pages, faults, a break-off, and what becomes of its items."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from price_server import PriceServer, item, price_service, vm_item
from typer.testing import CliRunner

from azbenchlib.azure.prices import book
from azbenchlib.azure.prices.refresh import PRICE_TRIES, PriceServiceError, refresh
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.cli.catalog import catalog
from azbenchlib.core.errors import InputError, OutputError

TODAY = date.today().isoformat()
DISKS = [item(f"P{n} LRS Disk", 1.25 * n) for n in (10, 15, 20, 30, 40)]
VMS = [
    vm_item("Standard_D8s_v3", 0.48),
    vm_item("Standard_D8s_v3", 0.848, windows=True),
    vm_item("Standard_D8s_v3", 0.0887, "Spot"),
    vm_item("Standard_D8s_v3", 0.096, "Low Priority"),
    vm_item("Standard_D8s_v3", 2628.0, type="Reservation", reservationTerm="1 Year"),
]
SIZE = "Standard_D8s_v3"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    book.forget()
    return tmp_path / "azbench" / "prices"


@pytest.fixture
def service() -> Iterator[PriceServer]:
    with price_service(DISKS + VMS) as server:
        yield server


def run(server: PriceServer) -> list[Price]:
    """What a refresh writes, and how long it waited beside it (server.waits)."""
    server.waits = []
    path = refresh("westeurope", server.url, sleep=server.waits.append)
    return list(book.read(path))


def shape(found: list[Price]) -> dict[Meter, Decimal]:
    return {price.meter: price.unit_price for price in found}


def whole() -> dict[Meter, Decimal]:
    disks = {
        Meter("Premium SSD Managed Disks", one["meterName"]): Decimal(str(one["retailPrice"]))
        for one in DISKS
    }
    return disks | {
        Meter.of_vm(SIZE): Decimal("0.48"),
        Meter.of_vm(SIZE, os="windows"): Decimal("0.848"),
        Meter.of_vm(SIZE, "Spot"): Decimal("0.0887"),
        Meter.of_vm(SIZE, "Reservation1Y"): Decimal("2628.0"),
    }


def test_all_pages_of_all_queries_become_a_dated_book(service: PriceServer, folder: Path) -> None:
    found = run(service)
    assert shape(found) == whole()
    assert {price.as_of for price in found} == {TODAY}
    assert {price.source_id for price in found} == {f"retail-prices-api-{TODAY}_westeurope"}
    assert len(service.asked) == 3 + 2 + 1 + 1 and service.waits == []
    assert [path.name for path in folder.iterdir()] == [f"{TODAY}_westeurope.csv"]
    text = (folder / f"{TODAY}_westeurope.csv").read_text()
    assert "id-P30 LRS Disk,2024-01-01" in text


def test_lookups_take_the_reading_from_then_on(service: PriceServer) -> None:
    meter = Meter("Premium SSD Managed Disks", "P30 LRS Disk")
    assert book.book("westeurope").prices[meter].unit_price == Decimal("148.68")
    run(service)
    assert book.book("westeurope").prices[meter].unit_price == Decimal("37.5")
    assert book.book("northeurope").prices[meter].source_id == "radar"


def test_a_reservation_is_for_all_of_its_term(service: PriceServer) -> None:
    reserved = next(price for price in run(service) if price.meter.price_type == "Reservation1Y")
    assert (reserved.unit, reserved.per.hours) == ("1 Year", 8760)


def test_links_are_followed_at_the_host_that_was_asked(service: PriceServer) -> None:
    service.link_host = "elsewhere.invalid:443"
    assert shape(run(service)) == whole()


@pytest.mark.parametrize("fault", ["500", "503", "429", "break", "half"])
def test_a_fault_is_tried_again_with_growing_waits(service: PriceServer, fault: str) -> None:
    service.faults = [None, fault, fault, None]
    assert shape(run(service)) == whole()
    assert service.waits == [1.0, 2.0]


def test_the_service_says_how_long_to_wait(service: PriceServer) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    service.faults = ["429:7", f"429:{soon}", "429:never", "429:99999"]
    run(service)
    seconds, dated, backed_off, longest = service.waits
    assert (seconds, backed_off, longest) == (7.0, 4.0, 300.0)
    assert 50 < dated <= 60


def test_after_a_break_off_it_goes_on_where_it_stopped(service: PriceServer, folder: Path) -> None:
    service.faults = [None, None] + ["500"] * PRICE_TRIES
    with pytest.raises(PriceServiceError, match=r"failed 6 times.*status 500.*are kept"):
        run(service)
    assert [path.name for path in folder.iterdir()] == [f"{TODAY}_westeurope.part.jsonl"]
    before = list(service.asked)
    assert shape(run(service)) == whole()
    assert not set(before[:2]) & set(service.asked[len(before) :])
    assert [path.name for path in folder.iterdir()] == [f"{TODAY}_westeurope.csv"]


def test_a_page_that_was_cut_off_in_writing_is_read_again(service: PriceServer, folder: Path) -> None:
    service.faults = [None, None] + ["500"] * PRICE_TRIES
    with pytest.raises(PriceServiceError):
        run(service)
    part = next(folder.iterdir())
    part.write_text(part.read_text()[:-40])
    assert shape(run(service)) == whole()


def test_what_another_service_gave_is_not_gone_on_with(service: PriceServer, folder: Path) -> None:
    service.faults = [None] + ["500"] * PRICE_TRIES
    with pytest.raises(PriceServiceError):
        run(service)
    with price_service([item("P30 LRS Disk", 99.0)]) as other:
        assert list(shape(run(other)).values()) == [Decimal("99.0")]


def test_repeated_items_count_once(service: PriceServer) -> None:
    service.repeats = True
    assert shape(run(service)) == whole()


def test_a_full_page_without_a_link_is_asked_on() -> None:
    many = [item(f"P{n} LRS Disk", 1.0 + n) for n in range(250)]
    with price_service(many, page=100) as server:
        server.empty_links = True
        assert len(run(server)) == 250


def test_a_service_that_repeats_its_full_page_for_ever_is_left() -> None:
    many = [item(f"P{n} LRS Disk", 1.0 + n) for n in range(100)]
    with price_service(many, page=100) as server:
        server.empty_links = server.ignores_skip = True
        assert len(run(server)) == 100
        assert len(server.asked) == 5


def only(*items: dict[str, Any]) -> list[Price]:
    with price_service(list(items), page=50) as server:
        return run(server)


def test_free_tiers_future_prices_and_other_regions_are_not_the_price() -> None:
    kept = item("P30 LRS Disk", 148.68)
    later = (date.today() + timedelta(days=5)).isoformat()
    others = [
        item("P30 LRS Disk", 0.0, tierMinimumUnits=0.0),
        item("P30 LRS Disk", 120.0, tierMinimumUnits=500.0),
        item("P30 LRS Disk", 160.0, effectiveStartDate=f"{later}T00:00:00Z"),
        item("P30 LRS Disk", 130.0, effectiveStartDate="2020-01-01T00:00:00Z"),
        item("P30 LRS Disk", 131.0, isPrimaryMeterRegion=False, effectiveStartDate="2025-01-01T00:00:00Z"),
    ]
    assert [price.unit_price for price in only(*others, kept)] == [Decimal("148.68")]
    assert [price.unit_price for price in only(kept, *others)] == [Decimal("148.68")]


def test_what_is_no_vm_and_no_disk_is_left_out() -> None:
    found = only(
        item("P30 LRS Disk", 1.0),
        item("Hot LRS Data Stored", 0.02, productName="Blob Storage"),
        vm_item("Standard_D8s_v3", 0.5, productName="Virtual Machines Dsv3 Series CloudServices"),
        vm_item("Standard_DS11_v2", 0.2) | {"meterName": "DS11 v2 - Expired"},
        vm_item("", 0.2),
    )
    assert [price.name for price in found] == ["P30 LRS Disk"]


def test_small_prices_keep_all_digits() -> None:
    (found,) = only(item("Premium LRS Provisioned IOPS", 8e-06, productName="Azure Premium SSD v2"))
    assert found.unit_price == Decimal("0.000008")


def test_an_item_that_is_not_as_documented_is_an_error() -> None:
    with pytest.raises(InputError, match="not as documented: unitOfMeasure: Field required"):
        only({name: value for name, value in item("P30 LRS Disk", 1.0).items() if name != "unitOfMeasure"})


def test_nothing_for_a_region(service: PriceServer, folder: Path) -> None:
    with pytest.raises(InputError, match="no VM or disk price for region 'mars'"):
        refresh("mars", service.url)
    with pytest.raises(InputError, match="'West Europe' is not a region's name"):
        refresh("West Europe", service.url)
    assert not list(folder.glob("*.csv"))


def test_a_refusal_is_not_tried_again(service: PriceServer) -> None:
    service.faults = ["400"]
    with pytest.raises(PriceServiceError, match="answers with status 400"):
        run(service)
    assert len(service.asked) == 1


def test_the_address_comes_from_the_environment(
    service: PriceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZBENCH_PRICES_URL", service.url)
    assert refresh("westeurope").is_file()
    with pytest.raises(InputError, match="starts with https"):
        refresh("westeurope", "file:///etc/passwd")


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with price_service([]) as server:
        gone = server.url
    waits: list[float] = []
    with pytest.raises(PriceServiceError, match=r"failed 6 times.*refused"):
        refresh("westeurope", gone, sleep=waits.append)
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_a_folder_that_cannot_be_made(service: PriceServer, folder: Path) -> None:
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        refresh("westeurope", service.url)


def test_the_page_store_is_json_lines(service: PriceServer, folder: Path) -> None:
    service.faults = [None] + ["500"] * PRICE_TRIES
    with pytest.raises(PriceServiceError):
        run(service)
    head, page = (json.loads(line) for line in next(folder.iterdir()).read_text().splitlines())
    assert head == {"url": service.url}
    assert [one["meterName"] for one in page["items"]] == ["P10 LRS Disk", "P15 LRS Disk"]


def test_the_command_line_refreshes_prices(
    service: PriceServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZBENCH_PRICES_URL", service.url)
    done = CliRunner().invoke(catalog, ["refresh", "--retail-prices", "--region", "westeurope"])
    assert done.exit_code == 0, done.output
    assert list(folder.rglob("*westeurope*"))
