"""What can be provisioned in a region on a day: VM sizes, disks, and their prices."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from azbenchlib.advisor.vm_sizes import Floats, VmSize, VmSizes
from azbenchlib.azure.catalog.rows import ProvisionedRules, TierRow
from azbenchlib.azure.prices.rows import MONTH_HOURS, PAYG, VM_PRODUCT, Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.usage import Use, charges
from azbenchlib.model.setup import VM, Setup


class LeftOut(NamedTuple):
    """How many VM sizes have a price, and how many of these cannot compete, by what the catalogue lacks."""

    priced: int
    size: int
    disks: int
    limits: int


@dataclass(frozen=True, kw_only=True)
class Market:
    """What is on vm_size.

    Parameters
    ----------
    region : str
    as_of : str
        ISO day of limits and rules.
    vm_sizes : VmSizes
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
    vm_sizes: VmSizes
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
    def vms(self) -> tuple[VmSize, ...]:
        """The VM sizes, priced or not."""
        return self.vm_sizes.sizes

    @property
    def currency(self) -> str:
        """Of all prices; empty where there is none."""
        return next((price.currency for price in self.prices.values()), "")

    @cached_property
    def left_out(self) -> LeftOut:
        """The sizes with a price that cannot compete."""
        priced = {meter.name for meter in self.prices if meter == Meter.of_vm(meter.name, self.pay)}
        known = {vm_size.size.lower(): vm_size for vm_size in self.vms}
        sizes = [known[name] for name in priced if name in known]
        return LeftOut(
            len(priced),
            len(priced) - len(sizes),
            sum(vm_size.vm.max_data_disks is None for vm_size in sizes),
            sum(None in (vm_size.vm.uncached.iops, vm_size.vm.uncached.bytes_per_s) for vm_size in sizes),
        )

    @cached_property
    def vm_bills(self) -> tuple[Bill, ...]:
        """What each VM costs alone."""
        prices = frozenset(price for meter, price in self.prices.items() if meter.product == VM_PRODUCT)
        return _vm_bills(self.vm_sizes, prices, self.region, self.as_of, self.hours, self.pay)

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
        return replace(self, prices=changed)


@lru_cache(maxsize=8)
def _vm_bills(
    vm_sizes: VmSizes, prices: frozenset[Price], region: str, as_of: str, hours: Decimal, pay: str
) -> tuple[Bill, ...]:
    """The bill of each VM alone; markets that differ in the prices of disks share them."""
    by_meter = {price.meter: price for price in prices}
    alone = (Setup(VM(size=vm_size.size), as_of=as_of) for vm_size in vm_sizes.sizes)
    return tuple(bill(charges(setup, region, hours, Use(pay=pay)), by_meter, hours) for setup in alone)
