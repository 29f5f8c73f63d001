"""What can be provisioned in a region on a day: VM sizes, disks, and their prices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from azbenchlib.advisor.offers.vm_choice import SizeName
from azbenchlib.advisor.offers.vm_sizes import Floats, VmSize, VmSizes
from azbenchlib.azure.catalog.rows import ProvisionedRules, TierRow
from azbenchlib.azure.prices.rows import MONTH_HOURS, PAYG, VM_PRODUCT, Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.payments import vm_meters
from azbenchlib.cost.usage import Use, charges
from azbenchlib.model.setup import VM, Disk, Setup

_NO_VM = VM()
_UNPRICED = ("left_out", "priced_sizes", "tiers_of", "tier_figures")  # of a market: whatever prices are
_OF_VMS, _OF_DISKS = ("vm_bill", "vm_prices"), ("disk_bill",)  # what their prices decide
_BILLS = 8_192  # of disks that are remembered: twice what there is of tiers, counts, redundancies and caching


class LeftOut(NamedTuple):
    """How many VM sizes have a price, and how many of these cannot compete, by what the catalogue lacks.

    `servers` has the names of those for servers among them, as a price list has them.
    """

    priced: int
    size: int
    disks: int
    limits: int
    servers: tuple[str, ...]


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
        The period that is priced, in which disks are billed all the time.
    vm_hours : Decimal, optional
        How many hours of it the VM runs. None: all.
    pay : str
        How the VM is paid: one of `azbenchlib.azure.prices.rows.PAYMENTS`.
    disk_pay : {"Consumption", "Reservation1Y"}
        How disks are paid that can be reserved.
    os : {"linux", "windows", "windows-hybrid"}
    discount : Decimal
        Share of every price that an agreement takes off. It is taken off `prices` already.
    asked_on : str, optional
        ISO day on which the region was asked what it offers. None: it was not.
    with_nvme : bool
        Whether VM sizes with both interfaces have their limits over NVMe, else those over SCSI.

    Raises
    ------
    InputError
        When the prices are in several currencies.
    """

    region: str
    as_of: str
    vm_sizes: VmSizes = field(repr=False)
    tiers: tuple[TierRow, ...] = field(repr=False)
    rules: tuple[ProvisionedRules, ...] = field(repr=False)
    prices: Mapping[Meter, Price] = field(repr=False)
    hours: Decimal = MONTH_HOURS
    vm_hours: Decimal | None = None
    pay: str = PAYG
    disk_pay: str = PAYG
    os: str = "linux"
    discount: Decimal = Decimal(0)
    asked_on: str | None = None
    with_nvme: bool = False

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
        priced = self.priced_sizes
        known = {vm_size.size.lower(): vm_size for vm_size in self.vms}
        sizes = [known[name] for name in priced if name in known]
        return LeftOut(
            len(priced),
            len(priced) - len(sizes),
            sum(vm_size.vm.max_data_disks is None for vm_size in sizes),
            sum(None in (vm_size.vm.uncached.iops, vm_size.vm.uncached.bytes_per_s) for vm_size in sizes),
            tuple(sorted(name for name in priced - known.keys() if SizeName.of(name).current)),
        )

    @cached_property
    def priced_sizes(self) -> frozenset[str]:
        """The sizes, in lower case, that have a price as the VM is paid."""
        names = {meter.name for meter in self.prices if meter.product == VM_PRODUCT}
        return frozenset(
            name
            for name in names
            if all(meter in self.prices for meter in vm_meters(name, self.pay, self.os))
        )

    @property
    def running(self) -> Decimal:
        """Hours of the period in which the VM runs, and its disks do I/O."""
        return self.hours if self.vm_hours is None else self.vm_hours

    @cached_property
    def tiers_of(self) -> Callable[[str | None], list[TierRow]]:
        """The tiers of a SKU."""
        return cache(lambda sku: [row for row in self.tiers if row.sku == sku])

    @cached_property
    def tier_figures(self) -> Callable[[str | None, str], Floats]:
        """One figure of every tier of a SKU, by its name, shape (tiers, 1); 0 where there is none."""
        return cache(
            lambda sku, name: np.array([[getattr(row, name) or 0] for row in self.tiers_of(sku)], dtype=float)
        )

    @cached_property
    def vm_bill(self) -> Callable[[int], Bill]:
        """What a VM costs alone, by its place."""
        return cache(lambda vm_index: self.bill(Setup(VM(size=self.vms[vm_index].size))))

    @cached_property
    def disk_bill(self) -> Callable[[Disk, Use], Bill]:
        """What disks cost alone. Most demands ask for the same few disks of a tier."""
        return lru_cache(maxsize=_BILLS)(lambda disk, use: self.bill(Setup(_NO_VM, (disk,), self.as_of), use))

    @cached_property
    def _paid(self) -> Callable[[Use], Use]:
        """A use as it is paid for here. Options of a demand share few of them."""
        paid = {"pay": self.pay, "disk_pay": self.disk_pay, "os": self.os, "vm_hours": self.vm_hours}
        return lru_cache(maxsize=_BILLS)(lambda use: replace(use, **paid))

    @cached_property
    def vm_prices(self) -> Floats:
        """The same of every VM for sorting, shape (sizes,); NaN where a price is missing."""
        sizes = [one.size.lower() for one in self.vms]
        return np.array([self._vm_price(size) for size in sizes])

    def _vm_price(self, size: str) -> float:
        """As :func:`azbenchlib.cost.bill.bill` does it, in floats."""
        if size not in self.priced_sizes:
            return np.nan
        total = 0.0
        for meter in vm_meters(size, self.pay, self.os):
            price = self.prices[meter]
            pack, hours = price.per
            total += float(price.unit_price) / pack * float(self.running) / (hours or 1)
        return total

    def bill(self, setup: Setup, use: Use | None = None) -> Bill:
        """What a setup costs here."""
        used = self._paid(use or Use())
        dated = setup if setup.as_of == self.as_of else replace(setup, as_of=self.as_of)
        charged = charges(dated, self.region, self.hours, used)
        return bill(charged, self.prices, self.hours, self.vm_hours)

    def scaled(self, product: str, factor: str) -> "Market":
        """The same with all prices of one product times `factor`; what none of these decides is kept."""
        changed = {
            meter: replace(price, unit_price=price.unit_price * Decimal(factor))
            if meter.product == product
            else price
            for meter, price in self.prices.items()
        }
        found = replace(self, prices=changed)
        kept = {
            name: getattr(self, name)
            for name in (*_UNPRICED, *(_OF_DISKS if product == VM_PRODUCT else _OF_VMS))
        }
        vars(found).update(kept)  # where cached properties keep what they made
        return found
