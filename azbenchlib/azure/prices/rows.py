"""One row of a price book: which meter, in which unit, at what price."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from azbenchlib.core.errors import InputError

VM_PRODUCT = "Virtual Machines"
PAYG, SPOT = "Consumption", "Spot"
RESERVED_YEARS = {"Reservation1Y": 1, "Reservation3Y": 3}
SAVINGS_PLANS = ("SavingsPlan1Y", "SavingsPlan3Y")
COMMITTED = (*RESERVED_YEARS, *SAVINGS_PLANS)  # paid for every hour, whether the VM runs or not
# What Windows costs above Linux, which a reservation or a savings plan does not cover: in polandcentral the
# calculator's Windows prices are the Linux ones with just that added (sstybel_calc, 2026-01-26).
LICENCE = "Licence"
# How a VM is paid, as people say it.
PAYMENTS = {
    "payg": PAYG,
    "spot": SPOT,
    "1y": "Reservation1Y",
    "3y": "Reservation3Y",
    "savings-1y": "SavingsPlan1Y",
    "savings-3y": "SavingsPlan3Y",
}
DISK_PAYMENTS = {"payg": PAYG, "1y": "Reservation1Y"}  # source: understand-disk-reservations.md
PAYMENT_WORDS = {
    PAYG: "pay-as-you-go",
    SPOT: "spot",
    "Reservation1Y": "1-year reservation",
    "Reservation3Y": "3-year reservation",
    "SavingsPlan1Y": "1-year savings plan",
    "SavingsPlan3Y": "3-year savings plan",
    LICENCE: "licence",
}
OPERATING_SYSTEMS = ("linux", "windows", "windows-hybrid")  # the last with licences of one's own

# A month has 730 hours and a year 8,760. Source: the Azure pricing calculator's month; the reserved prices
# an hour in polandcentral (sstybel_calc) times 8,760 are whole dollars.
HOURS = {"hour": 1, "day": 24, "month": 730, "year": 8760}
MONTH_HOURS = Decimal(HOURS["month"])
_QUOTED = 80  # characters of a text that a sentence repeats
_UNIT = re.compile(r"(\d{1,9})(K|M)?(?: ?(?:GiB|GB|TiB|TB))?(?:[ /](Hour|Day|Month|Year)s?)?", re.IGNORECASE)


class Meter(NamedTuple):
    """What Azure counts: of a disk its product and meter, of a VM its size in lower case."""

    product: str
    name: str
    price_type: str = PAYG
    os: str = ""

    @classmethod
    def of_vm(cls, size: str, price_type: str = PAYG, os: str = "linux") -> Meter:
        """The meter of a VM size."""
        return cls(VM_PRODUCT, size.lower(), price_type, os)

    def __str__(self) -> str:
        paid = PAYMENT_WORDS.get(self.price_type, self.price_type)
        if self.product == VM_PRODUCT:
            return f"{self.product}: {self.name}, {self.os}, {paid}"
        return f"{self.product}: {self.name}{f', {paid}' if self.price_type != PAYG else ''}"


class Unit(NamedTuple):
    """What a price is for: a pack of so many, during so many hours; `hours` None: whenever they occur."""

    pack: int
    hours: int | None


@dataclass(frozen=True, kw_only=True)
class Price:
    """One row of a price book.

    Parameters
    ----------
    meter : Meter
    name : str
        Of the meter or the VM size, as Azure spells it.
    region, currency : str
    unit_price : Decimal
        As the source prints it, above zero.
    unit : str
        Such as 1/Month, 1 GiB/Hour or 10K; of a reservation, 1 Year or 3 Years where the price is for all
        of it.
    as_of : str
        ISO day on which it was read.
    source_id : str
    valid_to : str
        ISO day on which it no longer held; empty: not known to have changed.
    """

    meter: Meter
    name: str
    region: str
    currency: str
    unit_price: Decimal
    unit: str
    as_of: str
    source_id: str
    valid_to: str = ""

    @property
    def per(self) -> Unit:
        """The unit, in numbers."""
        return unit(self.unit)


@lru_cache(maxsize=64)
def unit(text: str) -> Unit:
    """A unit of measure in numbers: ``1/Month``, ``1 GiB/Hour``, ``1 Hour``, ``10K``, ``10K/Month``.

    Thousands are counts of operations, billed whenever they occur: of ``10K/Month`` the month is only when
    it is billed.

    Raises
    ------
    InputError
        For another text.
    """
    match = _UNIT.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise InputError(
            f"unit '{text[:_QUOTED]}' is not known; write 1/Month, 1/Hour, 1 GiB/Hour, 1 Hour, 1 Year or 10K"
        )
    thousands = {"k": 1_000, "m": 1_000_000}.get((match[2] or "").lower())
    period = HOURS.get((match[3] or "").lower())
    if thousands or period is None:
        return Unit(int(match[1]) * (thousands or 1), None)
    years = int(match[1]) if period == HOURS["year"] else 1
    return Unit(int(match[1]) // years, period * years)
