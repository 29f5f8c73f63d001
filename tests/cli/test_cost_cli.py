"""`azbench cost`: what it prints, and what it says instead of a total."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from azbenchlib.azure.prices.book import PRICE_COLUMNS
from azbenchlib.cli.cost import cost
from azbenchlib.core.errors import AzbenchError

APP = typer.Typer()
APP.command()(cost)
PREVIEW = {
    "Ultra LRS Provisioned Capacity": ("0.000082", "1 GiB/Hour"),
    "Ultra LRS Provisioned IOPS": ("0.000034", "1/Hour"),
    "Ultra LRS Provisioned Throughput (MBps)": ("0.000685", "1/Hour"),
    "Ultra LRS Reservation per vCPU Provisioned": ("0.003", "1/Hour"),
}
ULTRA = "ultra:128GiB/32000iops/2000MBps"


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "170")


@pytest.fixture
def preview(tmp_path: Path) -> str:
    return own_book(tmp_path / "preview.csv")


def own_book(path: Path, **change: str) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, PRICE_COLUMNS, restval="")
        writer.writeheader()
        for meter, (price, unit) in PREVIEW.items():
            row = {
                "kind": "disk", "region": "eastus2", "product_name": "Ultra Disks", "meter_name": meter,
                "price_type": "Consumption", "currency": "USD", "unit_price": price,
                "unit_of_measure": unit, "as_of": "2019-09-01", "source_id": "preview",
            }  # fmt: skip
            writer.writerow(row | change)
    return str(path)


def run(*arguments: str) -> str:
    done = CliRunner().invoke(APP, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout


def said(*arguments: str) -> str:
    with pytest.raises(AzbenchError) as caught:
        run(*arguments)
    return str(caught.value)


def bill(*arguments: str) -> dict[str, Any]:
    return json.loads(run(*arguments, "--format", "json"))


def test_the_preview_disk_with_a_book_of_ones_own(preview: str) -> None:
    found = bill("--disk", ULTRA, "--region", "eastus2", "--hours", "1", "--prices", preview)
    assert (found["total"], found["currency"], found["hours"]) == (2.468496, "USD", 1)
    first = found["lines"][0]
    wanted = {
        "meter": "Ultra LRS Provisioned Capacity",
        "quantity": 128,
        "unit_price": 0.000082,
        "amount": 0.010496,
        "source": "preview",
        "as_of": "2019-09-01",
    }
    assert wanted.items() <= first.items()
    assert [line["amount"] for line in found["lines"]] == [0.010496, 1.088, 1.37]


def test_the_preview_disk_with_the_prices_of_its_day() -> None:
    found = bill("--disk", ULTRA, "--region", "eastus2", "--hours", "1", "--as-of", "2019-09-15")
    assert found["total"] == 2.468496
    today = bill("--disk", ULTRA, "--region", "eastus2", "--hours", "1")
    assert today["total"] == 3.154992  # 128 × 0.000164 + 32,000 × 0.000068 + 2,000 × 0.000479


def test_the_reservation_on_32_cores(preview: str) -> None:
    asked = ("--vm", "E32-8s_v3", "--region", "eastus2", "--hours", "1", "--prices", preview)
    vm, fee = bill(*asked, "--ultra-enabled")["lines"]
    assert vm["source"] == "karpenter" and vm["meter"] == "Standard_E32-8s_v3"
    assert (fee["quantity"], fee["amount"]) == (32, 0.096)
    assert len(bill(*asked)["lines"]) == 1
    attached = bill(*asked, "--ultra-enabled", "--disk", ULTRA)["lines"]
    assert "Ultra LRS Reservation per vCPU Provisioned" not in [line["meter"] for line in attached]


def test_a_dataset_names_the_setup() -> None:
    found = bill("ultra-disk-2019/ultra-32000-2000", "--region", "eastus2", "--hours", "1")
    assert "Standard_E32-8s_v3" in [line["meter"] for line in found["lines"]]
    amounts = {line["meter"]: line["quantity"] for line in found["lines"]}
    assert amounts["Ultra LRS Provisioned IOPS"] == 32_000


def test_the_table_shows_every_line_with_its_source() -> None:
    asked = ("--vm", "D8s_v3", "--disk", "P30x2:burst", "--disk", "E10", "--region", "westeurope")
    more = ("--iops", "100", "--burst", "10:6000", "--burst", "60:7000", "--snapshots", "120GiB")
    done = CliRunner().invoke(APP, [*asked, *more])
    shown = done.stdout
    assert "radar of 2026-08-22: Standard_D8s_v3, linux, pay-as-you-go" in shown
    for line in (
        "Standard_D8s_v3 in westeurope, USD",
        "Standard_D8s_v3, linux, pay-as-you-go",
        "LRS Burst Transactions",
        "E4 LRS Disk Operations",
    ):
        assert line in shown
    # 350.4 VM + 2 × (148.68 + 31.949) + 26 × 0.0065 + 9.6 + 26,280 × 0.002 + 120 × 0.05
    assert "Total for 730 h: 779.99 USD (1.068475 an hour)" in shown


def test_json_and_table_say_the_same() -> None:
    asked = ("--vm", "D8s_v3", "--disk", "P30", "--region", "westeurope", "--hours", "100")
    found = bill(*asked)
    assert found["total"] == pytest.approx(48 + 148.68 * 100 / 730, abs=1e-9)
    assert sum(line["amount"] for line in found["lines"]) == pytest.approx(found["total"], abs=1e-12)
    shown = run(*asked)
    assert f"Total for 100 h: {found['total']:.2f} USD" in shown
    assert all(f"{line['amount']:.10f}".rstrip("0").rstrip(".") in shown for line in found["lines"])


@pytest.mark.parametrize(
    ("pay", "amount", "kind"),
    [("payg", 335.8, "Consumption"), ("1y", 193.5833333320, "Reservation1Y"), ("spot", 62.05584, "Spot")],
)
def test_how_the_vm_is_paid(pay: str, amount: float, kind: str) -> None:
    (line,) = bill("--vm", "D8s_v3", "--region", "polandcentral", "--pay", pay)["lines"]
    assert (line["amount"], line["price_type"]) == (amount, kind)


def test_local_disks_are_in_the_price_of_the_vm() -> None:
    assert len(bill("--vm", "D8s_v3", "--disk", "temp", "--region", "westeurope")["lines"]) == 1
    assert "nothing is billed: local disks" in said("--disk", "temp", "--region", "westeurope")


def test_a_missing_price_is_named_with_the_choices() -> None:
    no_term = said("--vm", "D8s_v3", "--region", "westeurope", "--pay", "1y")
    assert no_term == (
        "no total, prices are missing in westeurope: Virtual Machines: standard_d8s_v3, linux, "
        "1-year reservation (priced in: polandcentral; `azbench catalog refresh --retail-prices --region "
        "westeurope` reads Azure's)"
    )
    no_snapshots = said("--disk", "P30", "--region", "eastus", "--snapshots", "1GiB")
    assert (
        "Standard HDD Managed Disks: LRS Snapshots (priced in: belgiumcentral, francecentral" in no_snapshots
    )
    both = said("--disk", "P30:burst", "--region", "eastus", "--snapshots", "1GiB")
    assert "LRS Burst Enablement" in both and "LRS Snapshots" in both


def test_a_region_without_the_size() -> None:
    found = said("--vm", "L8s_v4", "--disk", "P30", "--region", "francesouth")
    assert "standard_l8s_v4, linux, pay-as-you-go (priced in:" in found
    assert "near it there: Standard_" in found
    assert said("--disk", "P30", "--region", "mars").startswith("no region 'mars' is known; there are: aus")


def test_a_book_of_ones_own_that_lacks_a_meter(preview: str) -> None:
    found = said("--disk", "P30", "--region", "eastus2", "--prices", preview)
    assert found.endswith("P30 LRS Disk (" + preview + " has there: none of this product)")
    v2 = said("--disk", "pv2:64GiB", "--disk", ULTRA, "--region", "eastus2", "--prices", preview)
    assert "Premium LRS Provisioned Capacity" in v2


def test_currencies_are_not_mixed(tmp_path: Path) -> None:
    euros = own_book(tmp_path / "eur.csv", currency="EUR")
    alone = bill("--disk", ULTRA, "--region", "eastus2", "--hours", "1", "--prices", euros)
    assert (alone["total"], alone["currency"]) == (2.468496, "EUR")
    mixed = said("--vm", "E32-8s_v3", "--disk", ULTRA, "--region", "eastus2", "--prices", euros)
    assert mixed.startswith("the prices are in several currencies and cannot be added: USD for")


def test_a_damaged_book(tmp_path: Path) -> None:
    book = own_book(tmp_path / "own.csv", unit_price="?")
    assert said("--disk", ULTRA, "--region", "eastus2", "--prices", book) == (
        f"{book}, line 2: price '?' is not a number"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--disk", "P30", "--hours", "0"), "--hours 0.0: a number above 0 is needed"),
        (("--disk", "P30", "--hours", "nan"), "--hours nan: a number above 0"),
        (
            ("--disk", "P30", "--hours", "1e300"),
            "1e+300 hours is not a period; it must be above 0 and at most 876,000",
        ),
        (("--vm", "D8s_v5", "--hours", "100", "--vm-hours", "200"), "at most 100"),
        (("--disk", "E10", "--iops", "-1"), "--iops '-1' is not a number above 0"),
        (("--disk", "P30:burst", "--burst", "soon"), "--burst 'soon': write SECONDS:IOPS[:MBPS]"),
        (("--disk", "P30:burst", "--burst", "1:2:3:4"), "--burst '1:2:3:4': write"),
        (("--disk", "P30", "--snapshots", "much"), "'much' is not a size"),
        (
            (
                "--disk",
                "P60/1TiB",
            ),
            "performance tiers P30 to P50, not P60",
        ),
        (("--disk", "P30", "--as-of", "2021-01-01"), "no prices for westeurope on 2021-01-01"),
        ((), "no disk is given"),
    ],
)
def test_what_cannot_be_priced_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in said(*arguments, "--region", "westeurope")


def test_what_is_left_out_is_said() -> None:
    result = CliRunner().invoke(APP, ["--disk", "E10", "--region", "westeurope", "--format", "json"])
    assert json.loads(result.stdout)["total"] == 9.6
    assert result.stderr.startswith("Note: transactions of E10 are not counted")
