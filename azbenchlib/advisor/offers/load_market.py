"""The catalogue and a price book as the market in which advice is looked for."""

from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path

from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import VmSize, VmSizes
from azbenchlib.azure import catalog, overlays
from azbenchlib.azure.catalog.rows import ProvisionedRules, RegionalOffer, TierRow, VmRow
from azbenchlib.azure.disk_kinds import PREMIUM
from azbenchlib.azure.prices.book import book, elsewhere
from azbenchlib.azure.prices.rows import (
    MONTH_HOURS,
    PAYG,
    PAYMENT_WORDS,
)
from azbenchlib.core.errors import InputError
from azbenchlib.cost.payments import Payment, discounted, vm_kinds, vm_meters
from azbenchlib.model.fill_from_catalogue import over_nvme, vm_of
from azbenchlib.model.setup import PLACEMENT_OF

_SHOWN = 3  # sizes that one sentence lists


def market(
    region: str,
    pay: str = PAYG,
    hours: Decimal = MONTH_HOURS,
    own: Path | None = None,
    as_of: str | None = None,
    payment: Payment | None = None,
    with_nvme: bool = False,
) -> Market:
    """Everything that the catalogue knows, with the prices of a region.

    Parameters
    ----------
    region : str
        Such as westeurope.
    pay : str
        How the VM is paid, where no `payment` says more.
    hours : Decimal
        The period that is priced.
    payment : Payment, optional
    own : Path, optional
        A price book of one's own, as :func:`azbenchlib.azure.prices.book.book` takes it.
    as_of : str, optional
        ISO day of limits and prices; default: today's limits and the newest prices.
    with_nvme : bool
        Whether the image has NVMe drivers, so that VM sizes with both interfaces have their limits over NVMe.

    Raises
    ------
    InputError
        When there are no prices for the region, or they are in several currencies.
    """
    day = as_of or date.today().isoformat()
    paid = payment or Payment(pay=pay)
    there = book(region, own, as_of, paid.currency, vm_kinds(paid.pay, paid.os))
    tiers, rules = _disks(day)
    asked = catalog.offers(there.region)
    found = Market(
        region=there.region,
        as_of=day,
        vm_sizes=_vm_sizes(day, asked, overlays.files("catalog"), with_nvme),
        tiers=tiers,
        rules=rules,
        prices=discounted(there.prices, paid.discount),
        hours=hours,
        vm_hours=paid.vm_hours,
        pay=paid.pay,
        disk_pay=paid.disk_pay,
        os=paid.os,
        discount=paid.discount,
        asked_on=asked.day if asked else None,
        with_nvme=with_nvme,
    )
    _check_reservations(found)
    return found


def _check_reservations(there: Market) -> None:
    """Refuse reserved disks where no such price is known."""
    if there.disk_pay == PAYG or any(
        meter.price_type == there.disk_pay for meter in there.prices if meter.product == PREMIUM.product
    ):
        return
    raise InputError(
        f"no {PAYMENT_WORDS[there.disk_pay]} price of a disk is known in {there.region}; "
        f"{_reads(there.region)}"
    )


def _reads(region: str) -> str:
    return f"`azbench catalog refresh --retail-prices --region {region}` reads Azure's"


def check_exists(vm: str, there: Market) -> None:
    """Refuse a VM size that there is not, or a pattern that no size is like.

    Raises
    ------
    InputError
        With the nearest names.
    """
    if there.vm_sizes.named(vm):
        return
    if not set(vm) & set("*?["):
        catalog.vm(vm)  # says which names are near it
    raise InputError(f"no VM size is like '{vm}'; write one such as Standard_E8ds_v5 or Standard_E*")


def check_offered(vm: str, there: Market) -> None:
    """Refuse a VM size, or a pattern, that has no price in the market.

    Raises
    ------
    InputError
        With the regions where it has one, or the nearest names.
    """
    named = there.vm_sizes.named(vm)
    sold = [one for one in named if not one.gone]
    if any(one.size.lower() in there.priced_sizes for one in sold):
        return
    check_exists(vm, there)
    if not sold:
        reasons = "; ".join(f"{one.size} {one.gone}" for one in named[:_SHOWN])
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        raise InputError(f"{reasons}{more}")
    meters = {meter: None for one in sold for meter in vm_meters(one.size, there.pay, there.os)}
    regions = ", ".join(elsewhere(*meters)) or "no region"
    none = f"none of {len(sold)} VM sizes like '{vm}' has a" if len(sold) > 1 else f"{sold[0].size} has no"
    system = "" if there.os == "linux" else f" of {there.os}"
    raise InputError(
        f"{none} {PAYMENT_WORDS[there.pay]} price{system} in {there.region}; there are some in: {regions}; "
        f"{_reads(there.region)}"
    )


@cache
def _vm_sizes(day: str, asked: RegionalOffer | None, _extra: tuple[Path, ...], with_nvme: bool) -> VmSizes:
    """Read again where the user's own files have come or gone."""
    return VmSizes(tuple(_vm_size(row, asked, with_nvme) for row in catalog.every_vm(day)))


def _vm_size(row: VmRow, asked: RegionalOffer | None, with_nvme: bool) -> VmSize:
    """What is not known of a size is not taken for granted."""
    offer = asked.sizes.get(row.size.lower()) if asked else None
    temp, nvme = row.best("temp_bytes"), row.best("nvme_bytes")
    return VmSize(
        vm=over_nvme(vm_of(row), row) if with_nvme else vm_of(row),
        vcpus=row.vcpus_available or row.vcpus,
        memory_bytes=row.memory_bytes,
        premium_io=row.premium_io is True,
        caching=row.cached_limit_documented,
        caching_supported=row.caching,
        temp_bytes=temp.value if temp else None,
        nvme_bytes=nvme.value if nvme else None,
        ephemeral_placements=tuple(
            PLACEMENT_OF[name.lower()]
            for name in row.ephemeral_placements
            if row.ephemeral_os and name.lower() in PLACEMENT_OF
        ),
        cpu=row.architecture,
        gpus=row.gpus,
        interface=row.interface,
        ultra=offer.ultra if offer else row.ultra_ssd,
        retires_on=row.retires_on,
        pages_only=row.pages_only,
        offer=offer,
        gone=not_sold(row, asked),
    )


def not_sold(row: VmRow, asked: RegionalOffer | None) -> str:
    """Why a size cannot be bought; empty: it can, as far as is known.

    Parameters
    ----------
    row : VmRow
    asked : RegionalOffer, optional
        What the region offers. None: it was not asked.
    """
    offer = asked.sizes.get(row.size.lower()) if asked else None
    if row.retires_on and row.retires_on <= row.as_of:
        return f"was retired on {row.retires_on}"
    if asked and offer is None:
        return f"is not offered in {asked.region} (asked on {asked.day})"
    if asked and offer and offer.restriction:
        return f"is restricted in {asked.region}: {offer.restriction} (asked on {asked.day})"
    return ""


def _disks(day: str) -> tuple[tuple[TierRow, ...], tuple[ProvisionedRules, ...]]:
    """Tiers and rules that were in force."""
    rules = []
    for sku in catalog.provisioned_skus():
        with suppress(InputError):
            rules.append(catalog.provisioned_rules(sku, day))
    return tuple(catalog.disk_tiers(day)), tuple(rules)
