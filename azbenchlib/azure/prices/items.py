"""Items of the Azure Retail Prices API to rows of a price book.

Source: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices (2026-04-29).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.prices.rows import PAYG, SPOT
from azbenchlib.core.documents import first_fault
from azbenchlib.core.errors import InputError

# The service says "1 Hour", but a reservation's price is for all of its term.
_TERMS = {"1 Year": "Reservation1Y", "3 Years": "Reservation3Y"}
_PLANS = {"1 Year": "SavingsPlan1Y", "3 Years": "SavingsPlan3Y"}  # their prices are by the hour
_NOT_VMS = re.compile(r"cloud ?services|dedicated host", re.IGNORECASE)
_TIER = re.compile(r"([A-Z]\d+) ")
# Reservations of disks are by the tier: the meter of the disk itself, whatever its name there is.
_RESERVED_DISK = re.compile(r"(P\d+)\b")
Row = dict[str, str]
_Text = Annotated[str, Field(max_length=1000)]
_Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class _Plan(BaseModel):
    """A savings plan."""

    model_config = ConfigDict(extra="ignore", strict=True)

    retail_price: _Amount = Field(alias="retailPrice")
    term: _Text


class _Item(BaseModel):
    """What every item has, and what some have; null is as good as absent where it may be absent."""

    model_config = ConfigDict(extra="ignore", strict=True)

    product: _Text = Field(alias="productName")
    meter: _Text = Field(alias="meterName")
    sku: _Text = Field(alias="skuName")
    region: _Text = Field(alias="armRegionName")
    currency: _Text = Field(alias="currencyCode")
    unit: _Text = Field(alias="unitOfMeasure")
    service: _Text = Field(alias="serviceName")
    kind: _Text = Field(alias="type")
    meter_id: _Text = Field(alias="meterId")
    price: _Amount = Field(alias="retailPrice")
    size: _Text | None = Field(default=None, alias="armSkuName")
    term: _Text | None = Field(default=None, alias="reservationTerm")
    since: _Text | None = Field(default=None, alias="effectiveStartDate")
    least_units: _Amount | None = Field(default=None, alias="tierMinimumUnits")
    is_primary: bool | None = Field(default=None, alias="isPrimaryMeterRegion")
    plans: Annotated[list[_Plan], Field(max_length=100)] | None = Field(default=None, alias="savingsPlan")


def rows(items: Iterable[Mapping[str, Any]], region: str, day: str, source_id: str) -> list[Row]:
    """Rows of a region, one a meter: repeated items, other services' and free tiers are left out.

    Parameters
    ----------
    items : iterable of mapping
        As the service gives them.
    region, day, source_id : str
        `day` is the one on which they were read (ISO).

    Raises
    ------
    InputError
        When an item lacks what every item has.
    """
    found: dict[tuple[str, ...], tuple[tuple[Any, ...], Row]] = {}
    for item in items:
        try:
            _Item.model_validate(item)
            several = _rows(item, region, day, source_id)
            rank = _rank(item, day)
        except ValidationError as error:
            raise InputError(
                f"an item of the price service is not as documented: {first_fault(error)}"
            ) from error
        except KeyError as error:
            raise InputError(
                f"an item of the price service is not as documented: {error} is missing"
            ) from None
        if rank is None:
            continue
        for made in several:
            vm = made["kind"] == "vm"
            name = made["arm_sku"] if vm else f"{made['product_name']} {made['meter_name']}"
            key = (made["kind"], name, made["price_type"], made["os"])
            if key not in found or rank > found[key][0]:
                found[key] = rank, made
    return [made for _, (_, made) in sorted(found.items(), key=lambda entry: entry[0])]


def _rank(item: Mapping[str, Any], day: str) -> tuple[Any, ...] | None:
    """What goes first among items of one meter: in force, primary, newest, for the smallest use.

    None: not in force yet, or free (a free tier is not the price).
    """
    since = str(item.get("effectiveStartDate") or "")[:10]
    if since > day or Decimal(str(item["retailPrice"])) <= 0:
        return None
    return bool(item.get("isPrimaryMeterRegion", True)), since, -float(item.get("tierMinimumUnits") or 0)


def _rows(item: Mapping[str, Any], region: str, day: str, source_id: str) -> list[Row]:
    """What an item says: a price, and those of the savings plans that come with it."""
    own = _row(item, region, day, source_id)
    if own is None:
        return []
    found = [own]
    if own["kind"] == "vm" and own["price_type"] == PAYG and own["os"] == "linux":
        for plan in item.get("savingsPlan") or ():
            price = Decimal(str(plan["retailPrice"]))
            if plan["term"] in _PLANS and price > 0:
                found.append(own | {"price_type": _PLANS[plan["term"]], "unit_price": f"{price:f}"})
    return found


def _row(item: Mapping[str, Any], region: str, day: str, source_id: str) -> Row | None:
    product, meter, sku = item["productName"], item["meterName"], item["skuName"]
    if item["armRegionName"] != region or "Expired" in meter:
        return None
    row = {
        "region": region,
        "product_name": product,
        "sku_name": sku,
        "meter_name": meter,
        "currency": item["currencyCode"],
        "unit_price": f"{Decimal(str(item['retailPrice'])):f}",
        "unit_of_measure": item["unitOfMeasure"],
        "as_of": day,
        "source_id": source_id,
        "meter_id": item["meterId"],
        "effective_from": str(item.get("effectiveStartDate") or "")[:10],
    }
    return row | special if (special := _disk(item) or _vm(item)) else None


def _disk(item: Mapping[str, Any]) -> Row | None:
    if item["productName"] not in {kind.product for kind in disk_kinds.managed()}:
        return None
    if item["type"] == "Reservation":
        return _reserved_disk(item)
    if item["type"] != PAYG:
        return None
    meter = item["meterName"]
    tier = _TIER.match(meter)
    redundancy = "ZRS" if "ZRS" in meter else "LRS"
    return {
        "kind": "disk",
        "arm_sku": "",
        "price_type": PAYG,
        "os": "",
        "tier": tier[1] if tier else "",
        "redundancy": redundancy,
    }


def _reserved_disk(item: Mapping[str, Any]) -> Row | None:
    """A reservation, as the meter of the disk for all of its term."""
    match, term = _RESERVED_DISK.match(item["skuName"]), item["reservationTerm"]
    if match is None or term not in _TERMS or item["productName"] != disk_kinds.PREMIUM.product:
        return None
    tier, redundancy = match[1], "ZRS" if "ZRS" in f"{item['skuName']} {item['meterName']}" else "LRS"
    return {
        "kind": "disk",
        "arm_sku": "",
        "meter_name": f"{tier} {redundancy} Disk",
        "price_type": _TERMS[term],
        "unit_of_measure": term,
        "os": "",
        "tier": tier,
        "redundancy": redundancy,
    }


def _vm(item: Mapping[str, Any]) -> Row | None:
    size, named = item.get("armSkuName") or "", f"{item['skuName']} {item['meterName']}"
    if item["serviceName"] != "Virtual Machines" or not size or _NOT_VMS.search(item["productName"]):
        return None
    if item["type"] not in (PAYG, "Reservation") or "Low Priority" in named:
        return None
    row = {"kind": "vm", "arm_sku": size, "price_type": SPOT if "Spot" in named else PAYG}
    row["os"] = "windows" if item["productName"].endswith("Windows") else "linux"
    if item["type"] == "Reservation":
        term = item["reservationTerm"]
        if term not in _TERMS:
            return None
        row |= {"price_type": _TERMS[term], "unit_of_measure": term}
    return row
