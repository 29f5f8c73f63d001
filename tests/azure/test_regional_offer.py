"""What a region offers: az's answer with zones, restrictions and retirement, as advice uses it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.advisor.advise import recommended
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import check_offered, market
from azbenchlib.azure import catalog
from azbenchlib.azure.az import Az
from azbenchlib.azure.catalog import skus
from azbenchlib.azure.catalog.refresh import refresh
from azbenchlib.azure.disk_kinds import ULTRA
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB

SUBSCRIPTION = "NotAvailableForSubscription"
ASKED = Demand(size_bytes=200 * GIB, iops=1_000)


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def sku(
    name: str,
    *,
    zones: tuple[str, ...] = ("1", "2", "3"),
    ultra: tuple[str, ...] = (),
    taken: tuple[str, ...] = (),
    reason: str = "",
    **capabilities: str,
) -> dict[str, Any]:
    """An entry as `az vm list-skus --all` prints it."""
    restrictions = []
    if reason:
        restrictions.append(
            {"type": "Location", "reasonCode": reason, "restrictionInfo": {"locations": ["westeurope"]}}
        )
    if taken:
        info = {"locations": ["westeurope"], "zones": list(taken)}
        restrictions.append({"type": "Zone", "reasonCode": SUBSCRIPTION, "restrictionInfo": info})
    details = [{"Name": list(ultra), "capabilities": [{"name": "UltraSSDAvailable", "value": "True"}]}]
    stated = {"vCPUs": "8", "MemoryGB": "32", "MaxDataDiskCount": "16", "PremiumIO": "True"} | capabilities
    return {
        "name": name,
        "resourceType": "virtualMachines",
        "locations": ["westeurope"],
        "locationInfo": [
            {"location": "westeurope", "zones": list(zones), "zoneDetails": details if ultra else []}
        ],
        "restrictions": restrictions,
        "capabilities": [{"name": key, "value": value} for key, value in stated.items()],
    }


def read(folder: Path, *entries: dict[str, Any]) -> None:
    """Refresh westeurope from a program that answers like az."""
    (folder / "answer.json").write_text(json.dumps(entries))
    program = folder / "az"
    program.write_text(f'#!/bin/sh\ncat "{folder}/answer.json"\n')
    program.chmod(0o755)
    refresh("westeurope", Az(path=str(program)))


def test_restrictions_zones_and_ultra_disks_of_an_answer(tmp_path: Path) -> None:
    read(
        tmp_path,
        sku("Standard_D8s_v5", ultra=("2", "3"), taken=("3",)),
        sku("Standard_E8s_v5", reason=SUBSCRIPTION),
        sku("Standard_E8ds_v5", zones=("1",), taken=("1",)),
        sku("Standard_F8s_v2", zones=(), UltraSSDAvailable="True", RetirementDateUtc="11/15/2028"),
    )
    found = catalog.offers("westeurope")
    assert found is not None and catalog.offers("northeurope") is None
    d8, e8, e8d, f8 = (found.sizes[f"standard_{name}"] for name in ("d8s_v5", "e8s_v5", "e8ds_v5", "f8s_v2"))
    assert (d8.zones, d8.ultra_zones, d8.ultra, d8.restriction) == (("1", "2"), ("2",), True, "")
    assert e8.restriction == SUBSCRIPTION
    assert e8d.restriction == "restricted in every zone"
    assert (f8.zones, f8.ultra, f8.restriction) == ((), True, "")
    assert catalog.vm("F8s_v2").retires_on == "2028-11-15"


def test_advice_names_only_what_the_region_has(tmp_path: Path) -> None:
    """B of the review: restricted sizes, and those that the answer does not list, were recommended."""
    before = recommended(ASKED, market("westeurope"))
    assert before is not None and any("not known" in one.text for one in before.cautions)
    read(
        tmp_path,
        sku(before.vm, reason=SUBSCRIPTION),
        sku("Standard_D8s_v5"),
        sku("Standard_D8as_v5", zones=("1",)),
    )
    there = market("westeurope")
    after = recommended(ASKED, there)
    assert after is not None and after.vm == "Standard_D8as_v5" and there.asked_on
    assert not any("not known" in one.text for one in after.cautions)
    with pytest.raises(InputError, match=rf"{before.vm} is restricted in westeurope: {SUBSCRIPTION}"):
        check_offered(before.vm, there)
    with pytest.raises(InputError, match="Standard_E8s_v5 is not offered in westeurope"):
        check_offered("Standard_E8s_v5", there)
    zoned = recommended(replace(ASKED, zone="2"), there)
    assert zoned is not None and zoned.vm == "Standard_D8s_v5"
    assert recommended(replace(ASKED, zone="3", vm="Standard_D8as_v5"), there) is None
    elsewhere = market("northeurope")
    assert elsewhere.asked_on is None and not any("northeurope" in one.gone for one in elsewhere.vms)


def test_ultra_disks_only_where_the_region_has_them(tmp_path: Path) -> None:
    wanted = replace(ASKED, latency="submillisecond")
    read(tmp_path, sku("Standard_D8s_v5"), sku("Standard_E8s_v5", ultra=("1",)))
    there = market("westeurope")
    sizes = {one.size: i for i, one in enumerate(there.vms)}
    allowed = there.vm_sizes.allowed(ULTRA, False)
    assert not allowed[sizes["Standard_D8s_v5"]] and allowed[sizes["Standard_E8s_v5"]]
    assert recommended(wanted, there) is not None


def test_where_the_api_denies_ultra_disks_that_is_said(tmp_path: Path) -> None:
    """K of the review: L8s_v4 has limits for Ultra Disks on its page, and False in the API."""
    there = market("westeurope")
    demand = replace(ASKED, iops=20_000, latency="submillisecond", vm="Standard_L8s_v4")
    from azbenchlib.advisor.configuration import Configuration
    from azbenchlib.advisor.search import search

    found = search(replace(demand, iops=10_000), there)
    one = found.cheapest([ULTRA])
    assert one is not None
    said = [caution.text for caution in Configuration(one, (), found).cautions]
    assert any("resource-SKU API says that it takes none" in text for text in said)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("11/15/2028", "2028-11-15"),
        ("11/15/2028 00:00:00", "2028-11-15"),
        ("2028-11-15T00:00:00Z", "2028-11-15"),
        ("01/01/9999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_days_of_retirement(text: str, day: str | None) -> None:
    (row,) = skus.parse([sku("Standard_D8s_v5", RetirementDateUtc=text, CachedDiskBytes="1")], "here")
    assert row.get("retires_on") == day
