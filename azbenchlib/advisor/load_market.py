"""The catalogue and a price book as the market in which advice is looked for."""

from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

from azbenchlib.advisor.market import Market
from azbenchlib.advisor.vm_sizes import VmSize, VmSizes
from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import ProvisionedRules, TierRow, VmRow
from azbenchlib.azure.prices.book import book, elsewhere
from azbenchlib.azure.prices.rows import MONTH_HOURS, PAYG, Meter
from azbenchlib.core.errors import InputError
from azbenchlib.model.fill_from_catalogue import vm_of


def market(
    region: str,
    pay: str = PAYG,
    hours: Decimal = MONTH_HOURS,
    own: Path | None = None,
    as_of: str | None = None,
) -> Market:
    """Everything that the catalogue knows, with the prices of a region.

    Parameters
    ----------
    region : str
        Such as westeurope.
    pay : {"Consumption", "Spot", "Reservation1Y", "Reservation3Y"}
        How the VM is paid.
    hours : Decimal
        The period that is priced.
    own : Path, optional
        A price book of one's own, as :func:`azbenchlib.azure.prices.book.book` takes it.
    as_of : str, optional
        ISO day of limits and prices; default: today's limits and the newest prices.

    Raises
    ------
    InputError
        When there are no prices for the region, or they are in several currencies.
    """
    day = as_of or date.today().isoformat()
    there = book(region, own, as_of)
    tiers, rules = _disks(day)
    return Market(
        region=there.region,
        as_of=day,
        vm_sizes=_vm_sizes(day),
        tiers=tiers,
        rules=rules,
        prices=there.prices,
        hours=hours,
        pay=pay,
    )


def check_offered(vm: str, there: Market) -> None:
    """Refuse a VM size, or a pattern, that has no price in the market.

    Raises
    ------
    InputError
        With the regions where it has one, or the nearest names.
    """
    named = [vm_size.size for vm_size in there.vm_sizes.named(vm)]
    priced = {meter.name for meter in there.prices if meter == Meter.of_vm(meter.name, there.pay)}
    if any(size.lower() in priced for size in named):
        return
    if not named and not set(vm) & set("*?["):
        catalog.vm(vm)  # says which names are near it
    if not named:
        raise InputError(f"no VM size is like '{vm}'; write one such as Standard_E8ds_v5 or Standard_E*")
    regions = ", ".join(elsewhere(*(Meter.of_vm(size, there.pay) for size in named))) or "no region"
    none = f"none of {len(named)} VM sizes like '{vm}' has a" if len(named) > 1 else f"{named[0]} has no"
    raise InputError(f"{none} {there.pay} price in {there.region}; there are some in: {regions}")


@cache
def _vm_sizes(day: str) -> VmSizes:
    return VmSizes(tuple(_vm_size(catalog.vm(size, day)) for size in catalog.vm_sizes()))


def _vm_size(row: VmRow) -> VmSize:
    """What is not known of a size is not taken for granted."""
    temp, nvme = row.best("temp_bytes"), row.best("nvme_bytes")
    return VmSize(
        vm=vm_of(row),
        vcpus=row.vcpus_available or row.vcpus,
        memory_bytes=row.memory_bytes,
        premium_io=row.premium_io is True,
        caching=row.caching is True,
        temp_bytes=temp.value if temp else None,
        nvme_bytes=nvme.value if nvme else None,
    )


def _disks(day: str) -> tuple[tuple[TierRow, ...], tuple[ProvisionedRules, ...]]:
    """Tiers and rules that were in force."""
    tiers, rules = [], []
    for name in catalog.tier_names():
        with suppress(InputError):
            tiers.append(catalog.disk_tier(name, day))
    for sku in catalog.provisioned_skus():
        with suppress(InputError):
            rules.append(catalog.provisioned_rules(sku, day))
    return tuple(tiers), tuple(rules)
