"""`azbench catalog refresh` with the real az and the fake Azure: what is read, and what is advised."""

import json
from pathlib import Path
from typing import Any

import pytest
from fake_azure.catalogue import PAGE_LENGTH
from fake_azure.login import Azure
from fake_azure.skus import restrict
from typer.testing import CliRunner

from azbenchlib.azure import catalog
from azbenchlib.azure.az_errors import AzError
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = pytest.mark.slow

REGION = ("--region", "westeurope")
ASKED = ("advise", "--iops", "1000", "--size", "200GiB", "--read-share", "0.7", "--any-family", *REGION)
LISTED = r"Microsoft\.Compute/skus"


@pytest.fixture
def there(signed_in: Azure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Azure:
    """The fake Azure, and an empty folder for what is read of it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return signed_in


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout


def answer(*more: str) -> dict[str, Any]:
    """The cheapest that is advised."""
    found: dict[str, Any] = json.loads(run(*ASKED, *more, "--format", "json"))["configurations"][0]
    return found


def sku(azure: Azure, size: str) -> dict[str, Any]:
    found = azure.arm.sku(size, "westeurope")
    assert found is not None
    return found


def test_every_page_of_the_region_is_read(there: Azure) -> None:
    run("catalog", "refresh", *REGION)
    asked = [one for one in there.arm.log if one.path.endswith("/Microsoft.Compute/skus")]
    entries = len(there.arm.skus)
    pages = [None, *(str(start) for start in range(PAGE_LENGTH, entries, PAGE_LENGTH))]
    assert [one.query.get("$skiptoken") for one in asked] == pages and len(pages) > 2
    found = catalog.offers("westeurope")
    sizes = {
        one["name"].lower()
        for one in there.arm.skus
        if one["resourceType"] == "virtualMachines" and one["locations"] == ["westeurope"]
    }
    assert found is not None and set(found.sizes) == sizes
    assert all(one.zones == ("1", "2", "3") and not one.restriction for one in found.sizes.values())


@pytest.mark.long
def test_only_what_the_region_sells_is_advised(there: Azure) -> None:
    """Restricted, restricted in a zone, retired and taken off the list: none of them is named."""
    assert "not known" in " ".join(answer()["cautions"])
    run("catalog", "refresh", *REGION)
    first = answer()
    assert not any("not known" in caution for caution in first["cautions"])
    restrict(sku(there, first["vm"]))
    run("catalog", "refresh", *REGION)
    second = answer()
    assert second["vm"] != first["vm"]
    with pytest.raises(InputError, match=f"{first['vm']} is restricted in westeurope: NotAvailableForSub"):
        answer("--vm", first["vm"])
    restrict(sku(there, second["vm"]), "1", "2")
    run("catalog", "refresh", *REGION)
    assert answer("--zone", "3")["vm"] == second["vm"] != answer("--zone", "1")["vm"]
    sku(there, second["vm"])["capabilities"].append({"name": "RetirementDateUtc", "value": "11/15/2024"})
    run("catalog", "refresh", *REGION)
    third = answer()
    assert third["vm"] not in (first["vm"], second["vm"])
    there.arm.skus.remove(sku(there, third["vm"]))
    run("catalog", "refresh", *REGION)
    assert answer()["vm"] not in (first["vm"], second["vm"], third["vm"])
    with pytest.raises(InputError, match=f"{third['vm']} is not offered in westeurope"):
        answer("--vm", third["vm"])


def test_a_region_that_breaks_off_changes_nothing(there: Azure) -> None:
    run("catalog", "refresh", *REGION)
    before = catalog.offers("westeurope")
    there.arm.faults.refuse("GET", LISTED, "Forbidden", "no more of it", 403, nth=2)
    with pytest.raises(AzError, match="no more of it"):
        run("catalog", "refresh", *REGION)
    after = catalog.offers("westeurope")
    assert before is not None and after is not None and after.sizes == before.sizes


def test_an_ultra_disk_only_on_what_takes_it_there(there: Azure) -> None:
    run("catalog", "refresh", *REGION)
    found = catalog.offers("westeurope")
    assert found is not None
    assert found.sizes["standard_e8ds_v5"].ultra and not found.sizes["standard_l8s_v3"].ultra
    assert found.sizes["standard_e8ds_v5"].ultra_zones == ("1", "2", "3")
