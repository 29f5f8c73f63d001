"""What can be bought in a region on a day: VM sizes, disks, and their prices."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np

from azbenchlib.catalog.price_rows import PAYG, VM_PRODUCT, Meter, Price
from azbenchlib.catalog.rows import ProvisionedRules, TierRow
from azbenchlib.errors import InputError
from azbenchlib.model.bill import Bill, bill
from azbenchlib.model.cost import PREMIUM, PREMIUM_V2, STANDARD_HDD, STANDARD_SSD, ULTRA, Use, charges
from azbenchlib.model.machines import Floats, Machines, VmOffer
from azbenchlib.model.setup import VM, Setup

MONTH_HOURS = Decimal(730)
# Kind of disk -> SKU without the redundancy, and product on the bill.
KINDS = {
    "premium": ("Premium", PREMIUM),
    "standard_ssd": ("StandardSSD", STANDARD_SSD),
    "standard_hdd": ("Standard", STANDARD_HDD),
    "premium_v2": ("PremiumV2", PREMIUM_V2),
    "ultra": ("UltraSSD", ULTRA),
}


class LeftOut(NamedTuple):
    """How many VM sizes have a price, and how many of these cannot compete, by what the catalogue lacks."""

    priced: int
    size: int
    disks: int
    limits: int


@dataclass(frozen=True)
class Market:
    """What is on offer.

    Parameters
    ----------
    region : str
    as_of : str
        ISO day of limits and rules.
    machines : Machines
    tiers : tuple of TierRow
        Of that day.
    rules : tuple of ProvisionedRules
        Of that day, for Premium SSD v2 and Ultra.
    prices : mapping of Meter to Price
        Of the region, in one currency.
    hours : Decimal
        The period that is priced.
    pay : {"Consumption", "Spot", "Reservation1Y", "Reservation3Y"}
        How the VM is paid.

    Raises
    ------
    InputError
        When the prices are in several currencies.
    """

    region: str
    as_of: str
    machines: Machines
    tiers: tuple[TierRow, ...]
    rules: tuple[ProvisionedRules, ...]
    prices: Mapping[Meter, Price]
    hours: Decimal = MONTH_HOURS
    pay: str = PAYG

    def __post_init__(self) -> None:
        found: dict[str, Price] = {}
        for price in self.prices.values():
            found.setdefault(price.currency, price)
        if len(found) > 1:
            stated = " and ".join(
                f"{name} (such as {price.meter}, from {price.source_id})" for name, price in found.items()
            )
            raise InputError(f"the prices in {self.region} are in {stated}: they cannot be compared")

    @property
    def vms(self) -> tuple[VmOffer, ...]:
        """The VM sizes, priced or not."""
        return self.machines.offers

    @property
    def currency(self) -> str:
        """Of all prices; empty where there is none."""
        return next((price.currency for price in self.prices.values()), "")

    @cached_property
    def left_out(self) -> LeftOut:
        """The sizes with a price that cannot compete."""
        priced = {meter.name for meter in self.prices if meter == Meter.of_vm(meter.name, self.pay)}
        known = {offer.size.lower(): offer for offer in self.vms}
        offers = [known[name] for name in priced if name in known]
        return LeftOut(
            len(priced),
            len(priced) - len(offers),
            sum(offer.vm.max_data_disks is None for offer in offers),
            sum(None in (offer.vm.uncached.iops, offer.vm.uncached.bytes_per_s) for offer in offers),
        )

    @cached_property
    def vm_bills(self) -> tuple[Bill, ...]:
        """What each VM costs alone."""
        return tuple(self.bill(Setup(VM(size=offer.size))) for offer in self.vms)

    @cached_property
    def vm_prices(self) -> Floats:
        """The same for sorting, shape (sizes,); NaN where a price is missing."""
        return np.array([np.nan if one.missing else float(one.total or 0) for one in self.vm_bills])

    def bill(self, setup: Setup, use: Use | None = None) -> Bill:
        """What a setup costs here."""
        used = replace(use or Use(), pay=self.pay)
        dated = replace(setup, as_of=self.as_of)
        return bill(charges(dated, self.region, self.hours, used), self.prices, self.hours)

    def scaled(self, product: str, factor: str) -> "Market":
        """The same with all prices of one product times `factor`."""
        changed = {
            meter: replace(price, unit_price=price.unit_price * Decimal(factor))
            if meter.product == product
            else price
            for meter, price in self.prices.items()
        }
        other = replace(self, prices=changed)
        if product != VM_PRODUCT:
            vars(other)["vm_bills"] = self.vm_bills  # the same, and worked out already
        return other


def product_of(kind: str) -> str:
    """The product on the bill of a kind of disk; of local disks it is the VM."""
    return KINDS[kind][1] if kind in KINDS else VM_PRODUCT
