"""Faults of `azbench advise` and `azbench cost` that a review reproduced, one by one: each stays mended."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from azbenchlib.cli import app
from azbenchlib.core.errors import AzbenchError

PLACE = ("--region", "westeurope", "--as-of", "2026-11-20")
SMALL = ("--iops", "3000", "--size", "1TiB", "--latency", "premium", "--vm", "Standard_D4s_v5", *PLACE)


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout.replace("\u00a0", " ")


def words(*arguments: str) -> str:
    """What is printed, on one line."""
    return " ".join(run(*arguments).split())


def said(*arguments: str) -> str:
    with pytest.raises(AzbenchError) as caught:
        run(*arguments)
    return str(caught.value).replace("\u00a0", " ")


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("advise", *arguments, "--format", "json"))
    return found


STRICTLY = ("--strictly-cheapest",)


def test_a_vm_that_is_stopped_at_night_keeps_its_disks() -> None:
    """A: 63.91 was said; 0.23 × 176 h + 1,024 × 0.00013 × 730 h = 40.48 + 97.18 = 137.66."""
    best = document(*SMALL, *STRICTLY, "--vm-hours", "176")["configurations"][0]
    assert best["price_per_month"] == pytest.approx(40.48 + 97.1776)
    assert (best["hours"], best["vm_hours"]) == (730, 176)
    text = run("advise", *SMALL, *STRICTLY, "--vm-hours", "176")
    assert "137.66 USD a month" in text and "VM 40.48 (pay-as-you-go, 176 h), disks 97.18" in text
    assert "800.0 hours of the VM are not above 0 and at most 730" in said(
        "advise", *SMALL, "--vm-hours", "800"
    )


@pytest.mark.parametrize(
    ("pay", "told"),
    [
        ("spot", ("spot", "eviction")),
        ("3y", ("3-year reservation",)),
        ("savings-1y", ("1-year savings plan",)),
    ],
)
def test_the_text_says_how_it_is_paid(pay: str, told: tuple[str, ...]) -> None:
    """E."""
    asked = ("advise", "--iops", "3000", "--size", "1TiB", "--region", "polandcentral", "--pay", pay)
    text = run(*asked)
    assert all(word in text for word in told)


def test_a_way_to_pay_that_nothing_knows_is_refused() -> None:
    """F: it was ignored."""
    hundred = ("cost", "--region", "westus2", "--disk", "P30x100")
    assert "is of a VM, and no VM is named" in said(*hundred, "--pay", "1y")
    assert "P30 LRS Disk, 1-year reservation" in said(*hundred, "--disk-pay", "1y")
    assert "from P30 on, and here is P20" in said(
        "cost", "--region", "westus2", "--disk", "P20", "--disk-pay", "1y"
    )
    reserved = ("cost", "--region", "polandcentral", "--vm", "D8s_v5", "--pay", "1y")
    assert "paid for every hour" in said(*reserved, "--vm-hours", "176")
    shown = CliRunner().invoke(app, [*reserved, "--disk", "P30"]).stdout
    assert "the disks are paid as you go; --disk-pay 1y" in " ".join(shown.split())


def test_json_has_what_the_text_has() -> None:
    """G: an answer of 1,905.56 came without a word that Standard HDD and Standard SSD were not ranked."""
    asked = ("--mbps", "60", "--size", "20TiB", "--bs", "1MiB", "--read-share", "0.9", "--region", "uksouth")
    found = document(*asked)
    assert next(iter(found)) == "version"
    for part in ("demand", "assumptions", "notes", "savings", "not_ranked", "not_modelled", "sensitivity"):
        assert part in found
    hdd = next(one for one in found["not_ranked"] if one["what"] == "Standard HDD LRS")
    assert "S4 LRS Disk Operations" in hdd["missing"][0]
    assert 0 < hdd["at_least"] < found["configurations"][0]["price_per_month"]
    assert "at least" in run("advise", *asked)
    ssd = {
        one["what"]: one["at_least"] for one in found["not_ranked"] if one["what"].startswith("Standard SSD")
    }
    assert ssd["Standard SSD LRS"] < ssd["Standard SSD ZRS"]


def test_a_price_that_may_be_less_has_a_sign() -> None:
    """J: a Standard SSD without its hourly cap was shown like a firm price."""
    asked = ("--iops", "200", "--size", "64GiB", *PLACE)
    found = document(*asked)["configurations"]
    bounds = {one["kind"]: one["price_bound"] for one in found}
    assert bounds["standard_ssd"] == "<=" and bounds["premium_v2"] == "="
    (ssd,) = [one for one in found if one["kind"] == "standard_ssd"]
    assert f"≤ {ssd['price_per_month']:,.2f}" in run("advise", *asked, "--why")
    assert any("this is the most" in text for text in ssd["cautions"])


def test_bursting_that_azure_does_not_have_is_refused() -> None:
    """L: both were dropped."""
    place = ("--region", "westeurope")
    assert "on-demand bursting is for Premium SSD above 512 GiB" in said(
        "cost", *place, "--disk", "P20:burst"
    )
    assert "none does: write P30:burst" in said("cost", *place, "--disk", "P20", "--burst", "10:3000")


def test_a_price_that_is_not_shipped_names_the_command_that_reads_it() -> None:
    """M."""
    found = said("advise", "--iops", "100", "--size", "1TiB", "--pay", "3y", *PLACE)
    assert "none of 1628 VM sizes like '*' has a 3-year reservation price in westeurope" in found
    assert "`azbench catalog refresh --retail-prices --region westeurope`" in found


def test_several_regions_are_all_answered() -> None:
    """N: the last one won."""
    asked = ("--iops", "3000", "--size", "1TiB", "--as-of", "2026-11-20")
    both = ("--region", "westeurope", "--region", "eastus")
    rows = document(*asked, *both)["regions"]
    assert [row["name"] for row in rows] == ["eastus", "westeurope"]
    for row in rows:
        alone = document(*asked, "--region", row["name"])["configurations"][0]
        assert (row["vm"], row["price_per_month"]) == (alone["vm"], alone["price_per_month"])
    text = run("advise", *asked, *both)
    assert text.index("eastus") < text.index("westeurope") and f"{rows[0]['price_per_month']:,.2f}" in text
    assert "no region 'westeurop' is known; nearest: westeurope" in said(
        "advise", *asked, "--region", "westeurop", "--region", "eastus"
    )
    assert "give --region once" in said("advise", "--workloads", "x.csv", *both)


def test_no_limit_is_named_twice_in_a_line() -> None:
    """O."""
    asked = ("--iops", "6000", "--mbps", "300", "--size", "1TiB", "--peak", "600/3600:20000", *PLACE)
    for one in document(*asked, "--latency", "premium", "--vm", "Standard_E*s_v5")["configurations"]:
        for why in one["why_not_cheaper"]:
            told, _, others = why.partition("); ")
            assert not set(others.removesuffix(" too").split(", ")) & set(told.split())


def test_old_prices_are_called_old() -> None:
    """P: the age was printed, never judged."""
    asked = ("--iops", "3000", "--size", "1TiB", "--region", "eastus")
    assert "prices 158 days old" in words("advise", *asked, "--as-of", "2026-11-23")
    assert "days old" not in words("advise", *asked, "--as-of", "2026-08-30")
