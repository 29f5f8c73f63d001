"""The price book: what is shipped, what counts, and what a damaged file is told."""

import csv
import gzip
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from azbenchlib.azure import overlays
from azbenchlib.azure.prices import book as prices
from azbenchlib.azure.prices.rows import Meter, Unit, unit
from azbenchlib.core.errors import InputError

P30 = Meter("Premium SSD Managed Disks", "P30 LRS Disk")
ULTRA_GIB = Meter("Ultra Disks", "Ultra LRS Provisioned Capacity")
D8S = "Standard_D8s_v3"
ROW = {
    "kind": "disk", "region": "westeurope", "product_name": P30.product, "sku_name": "P30 LRS",
    "meter_name": P30.name, "arm_sku": "", "tier": "P30", "redundancy": "LRS", "price_type": "Consumption",
    "os": "", "currency": "USD", "unit_price": "148.68", "unit_of_measure": "1/Month", "as_of": "2026-08-22",
    "source_id": "mine",
}  # fmt: skip
VM = ROW | {"kind": "vm", "arm_sku": D8S, "meter_name": "", "os": "linux", "unit_of_measure": "1 Hour"}


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def written(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, prices.PRICE_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def shipped() -> list[prices.Price]:
    return [price for path in prices.SHIPPED.glob("*.gz") for price in prices.read(path)]


def test_the_snapshot_covers_what_it_says() -> None:
    found = shipped()

    def regions(product: str, name: str = "", price_type: str = "Consumption") -> int:
        kinds = (one for one in found if one.meter.product == product and name in one.meter.name)
        return len({one.region for one in kinds if one.meter.price_type == price_type})

    assert len({one.region for one in found if one.meter.product != prices.VM_PRODUCT}) == 65
    for product in ("Premium SSD", "Standard SSD", "Standard HDD"):
        assert regions(f"{product} Managed Disks", "Snapshots") == 5
    assert regions(P30.product, "Burst") == regions(P30.product, "Mount") == 5
    assert regions("Standard SSD Managed Disks", "Operations") == 5
    assert regions(prices.VM_PRODUCT) == 57 + 1  # belgiumcentral is only in the other source
    assert regions(prices.VM_PRODUCT, price_type="Spot") == 6
    assert regions(prices.VM_PRODUCT, price_type="SavingsPlan1Y") == 6
    assert len({one.region for one in found if one.meter.os == "windows"}) == 6
    assert {one.region for one in found if "Reservation" in one.meter.price_type} == {"polandcentral"}
    assert {one.currency for one in found} == {"USD"}
    assert min(one.unit_price for one in found) > 0


def test_a_book_is_assembled_once_and_nobody_changes_it() -> None:
    found = prices.book("West Europe")
    assert prices.book("westeurope") is found and prices.book("westeurope", as_of="2026-07-12") is not found
    with pytest.raises(TypeError):
        found.prices[P30] = found.prices[P30]  # type: ignore[index]
    prices.forget()
    assert prices.book("westeurope") is not found


def test_it_is_small_and_every_row_has_a_source_and_a_day() -> None:
    paths = list(prices.SHIPPED.glob("*"))
    assert sum(path.stat().st_size for path in paths) < 1_500_000
    ids = {one.source_id for one in shipped()}
    assert len(ids) == 5
    for source_id in ids:
        stated = prices.source(source_id)
        assert stated and stated.date and stated.licence
    assert prices.source("mine") is None


def test_a_linux_price_that_is_one_of_windows_is_not_there() -> None:
    """karpenter gives 0.392 for D4as_v5 in polandcentral: the Windows price; Linux is 0.208."""
    sold = Meter.of_vm("Standard_D4as_v5")
    assert prices.book("polandcentral").prices[sold].unit_price == Decimal("0.208")
    assert Meter.of_vm("Standard_D2as_v5") not in prices.book("eastus").prices


def test_the_newest_reading_counts_and_any_spelling_of_a_region_is_taken() -> None:
    book = prices.book("West Europe")
    assert book.region == "westeurope"
    assert book.prices[P30].unit_price == Decimal("148.68")
    sold = book.prices[Meter.of_vm(D8S)]
    assert (sold.unit_price, sold.source_id, sold.name) == (Decimal("0.48"), "radar", D8S)


def test_prices_of_another_day() -> None:
    preview = prices.book("eastus2", as_of="2019-09-15").prices
    assert preview[ULTRA_GIB].unit_price == Decimal("0.000082")
    assert len(preview) == 4
    assert prices.book("eastus2").prices[ULTRA_GIB].unit_price == Decimal("0.000164")
    assert P30 in prices.book("eastus2", as_of="2026-07-12").prices
    with pytest.raises(InputError, match=r"no prices for eastus2 on 2023-01-01; .*2019-09-01 to 2019"):
        prices.book("eastus2", as_of="2023-01-01")


def test_a_price_that_no_longer_holds_is_none() -> None:
    ended = overlays.folder("prices") / "2026-11-01_mars.csv"
    ended.parent.mkdir(parents=True)
    columns, cells = [*ROW, "valid_to"], [*(ROW | {"region": "mars"}).values(), "2026-11-02"]
    ended.write_text(f"{','.join(columns)}\n{','.join(cells)}\n")
    assert P30 in prices.book("mars", as_of="2026-11-01").prices
    for day in (None, "2026-11-02"):
        with pytest.raises(InputError, match="no prices for"):
            prices.book("mars", as_of=day)


def test_a_region_without_prices_gets_the_choices() -> None:
    with pytest.raises(InputError, match=r"no region 'mars' is known; there are: .*westeurope"):
        prices.book("mars")


def test_where_else_a_meter_has_a_price() -> None:
    snapshots = Meter("Standard HDD Managed Disks", "LRS Snapshots")
    assert prices.elsewhere(snapshots) == [
        "belgiumcentral",
        "francecentral",
        "northeurope",
        "swedencentral",
        "westeurope",
    ]


def test_sizes_with_a_price_of_that_kind() -> None:
    near = prices.sizes_like(Meter.of_vm("Standard_D8sv3"), prices.book("westeurope"))
    assert near[0] == D8S
    assert prices.sizes_like(Meter.of_vm(D8S, "Reservation1Y"), prices.book("westeurope")) == []


@pytest.mark.parametrize(
    ("text", "count", "hours"),
    [
        ("1/Month", 1, 730), ("1 GB/Month", 1, 730), ("1/Hour", 1, 1), ("1 GiB/Hour", 1, 1), ("1 Hour", 1, 1),
        ("100 Hours", 100, 1), ("1 Year", 1, 8760), ("3 Years", 1, 26280), ("10K", 10_000, None),
        ("10K/Month", 10_000, None), ("1 TB", 1, None), ("1/Day", 1, 24), ("1M", 1_000_000, None),
    ],
)  # fmt: skip
def test_units_in_numbers(text: str, count: int, hours: int | None) -> None:
    assert unit(text) == Unit(count, hours)


@pytest.mark.parametrize("text", ["", "month", "1/Fortnight", "0/Month", "1 GiB/Month/Hour"])
def test_an_unknown_unit(text: str) -> None:
    with pytest.raises(InputError, match="is not known; write 1/Month"):
        unit(text)


def test_a_book_of_ones_own_stands_for_the_kinds_it_has(tmp_path: Path) -> None:
    own = written(tmp_path / "own.csv", ROW | {"unit_price": "100"})
    found = prices.book("westeurope", own).prices
    assert [m for m in found if m.product != prices.VM_PRODUCT] == [P30]
    assert found[P30].unit_price == 100
    assert found[Meter.of_vm(D8S)].source_id == "radar"
    vms = written(tmp_path / "vms.csv", VM | {"unit_price": "1"})
    replaced = prices.book("westeurope", vms).prices
    assert [m for m in replaced if m.product == prices.VM_PRODUCT] == [Meter.of_vm(D8S)]
    assert replaced[P30].source_id == "radar"
    both = written(tmp_path / "both.csv", ROW, VM)
    assert set(prices.book("westeurope", both).prices) == {P30, Meter.of_vm(D8S)}


def test_a_book_of_ones_own_may_be_packed_and_bear_a_byte_order_mark(tmp_path: Path) -> None:
    own = written(tmp_path / "own.csv", ROW)
    packed = tmp_path / "own.csv.gz"
    packed.write_bytes(gzip.compress(own.read_bytes()))
    own.write_bytes(b"\xef\xbb\xbf" + own.read_bytes())
    assert list(prices.read(own)) == list(prices.read(packed))


@pytest.mark.parametrize(("stated", "unit_", "hours"), [("0.31", "1 Hour", 1), ("2628", "1 Year", 8760)])
def test_reservations_by_the_hour_or_for_the_term(
    tmp_path: Path, stated: str, unit_: str, hours: int
) -> None:
    """The service's are for the term although it says an hour; a calculator's are by the hour."""
    reserved = VM | {"price_type": "Reservation1Y", "unit_price": stated}
    own = written(tmp_path / "own.csv", VM | {"unit_price": "0.48"}, reserved)
    found = prices.book("westeurope", own).prices[Meter.of_vm(D8S, "Reservation1Y")]
    assert (found.unit, found.per.hours, found.unit_price) == (unit_, hours, Decimal(stated))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"unit_price": "a lot"}, "line 2: price 'a lot' is not a number"),
        ({"unit_price": ""}, "price '' is not a number"),
        ({"unit_price": "0"}, "price '0' is not above zero; leave a price that is not known out"),
        ({"unit_price": "-1"}, "price '-1' is not above zero"),
        ({"unit_price": "nan"}, "price 'nan' is not above zero"),
        ({"unit_of_measure": "1/Moon"}, "unit '1/Moon' is not known"),
        ({"kind": "tape"}, "kind 'tape' is not one of: disk, vm"),
        ({"currency": ""}, "the currency of the disk is empty"),
        ({"meter_name": ""}, "the name of the disk is empty"),
        ({"kind": "vm"}, "the name of the vm is empty"),
        ({"region": " "}, "the region of the disk is empty"),
        ({"as_of": "yesterday"}, "as_of 'yesterday' is not a day"),
    ],
)
def test_a_damaged_row_is_told_with_its_line(tmp_path: Path, change: dict[str, str], said: str) -> None:
    own = written(tmp_path / "own.csv", ROW | change)
    with pytest.raises(InputError) as caught:
        prices.book("westeurope", own)
    assert str(caught.value).startswith(f"{own}, line 2: ") and said in str(caught.value)


def test_damaged_files(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    with pytest.raises(InputError, match=r"own\.csv: cannot be read as a price book: No such file"):
        prices.book("westeurope", own)
    for content, said in (
        (b"", "columns are missing: kind, region"),
        (b"meter,price\nP30,1\n", "columns are missing: kind, region"),
        (b"\xff\xfe\x00", "cannot be read as a price book"),
        ((",".join(prices.PRICE_COLUMNS) + "\ndisk,westeurope\n").encode(), "line 2: 2 cells, not 15"),
        ((",".join(prices.PRICE_COLUMNS) + '\n"disk\n').encode(), "line 2: 1 cells, not 15"),
    ):
        own.write_bytes(content)
        with pytest.raises(InputError, match=said):
            prices.book("westeurope", own)
    packed = tmp_path / "own.csv.gz"
    for content in (b"no gzip", gzip.compress(b"kind" * 1000)[:-9]):
        packed.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as a price book"):
            prices.book("westeurope", packed)


def test_one_meter_with_two_prices(tmp_path: Path) -> None:
    for change, said in (
        ({"currency": "EUR"}, r"two prices from mine: 148.68 USD 1/Month and 148.68 EUR 1/Month; keep one"),
        ({"currency": "EUR", "as_of": "2026-09-01"}, "and 148.68 EUR"),
        ({"unit_price": "150"}, "and 150 USD"),
    ):
        own = written(tmp_path / "own.csv", ROW, ROW | change)
        with pytest.raises(InputError, match=said):
            prices.book("westeurope", own)
    own = written(tmp_path / "own.csv", ROW | {"unit_price": "150", "as_of": "2026-09-01"}, ROW)
    assert prices.book("westeurope", own).prices[P30].unit_price == 150


def test_a_book_of_ones_own_without_the_region(tmp_path: Path) -> None:
    both = written(tmp_path / "own.csv", ROW, VM)
    with pytest.raises(InputError, match=r"no prices for region 'eastus'; there are: westeurope$"):
        prices.book("eastus", both)


def test_the_files_are_made_from_the_facts(tmp_path: Path) -> None:
    corpus = os.environ.get("AZBENCH_CORPUS")
    facts = Path(corpus).parent / "facts" if corpus else None
    if facts is None or not facts.is_dir():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder facts beside it")
    root = Path(__file__).parents[2]
    ask = "import sys, make_prices as m; from pathlib import Path;"
    ask += "sys.exit(any(path.read_bytes() != text for path, text in m.make(Path(sys.argv[1])).items()))"
    scripts = root / "scripts"
    done = subprocess.run(
        [sys.executable, "-c", ask, str(facts)], cwd=scripts, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "2112 VM prices left out" in done.stderr
