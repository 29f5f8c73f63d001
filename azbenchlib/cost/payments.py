"""How VMs and disks are paid: which meters bill a VM, and what can be reserved.

Sources: azure-docs articles/virtual-machines/disks-reserved-capacity.md and
includes/disk-reserved-capacity-shared.md (2020-01-15); understand-disk-reservations.md: Premium SSD of
certain sizes, from P30 on, for one year.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from azbenchlib.azure.disk_kinds import PREMIUM, tier_number
from azbenchlib.azure.prices.book import CURRENCY, USD
from azbenchlib.azure.prices.rows import (
    COMMITTED,
    DISK_PAYMENTS,
    LICENCE,
    OPERATING_SYSTEMS,
    PAYG,
    PAYMENT_WORDS,
    PAYMENTS,
    RESERVED_YEARS,
    Meter,
    Price,
)
from azbenchlib.core.errors import InputError
from azbenchlib.core.stated_values import as_text, number, share
from azbenchlib.model.setup import Disk, Setup

RESERVABLE_FROM = 30  # number of the smallest tier of Premium SSD


@dataclass(frozen=True, kw_only=True)
class Payment:
    """How everything is paid.

    Parameters
    ----------
    pay, disk_pay, os : str
        As in :class:`~azbenchlib.advisor.offers.market.Market`.
    vm_hours : Decimal, optional
        Hours a month in which the VM runs. None: all.
    currency : str
        Of the prices.
    discount : Decimal
        Share of every price that an agreement takes off, 0 to below 1.
    """

    pay: str = PAYG
    disk_pay: str = PAYG
    os: str = "linux"
    vm_hours: Decimal | None = None
    currency: str = USD
    discount: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if self.os not in OPERATING_SYSTEMS:
            raise InputError(f"os '{self.os}' is not one of: {', '.join(OPERATING_SYSTEMS)}")
        if not 0 <= self.discount < 1:
            raise InputError(f"a discount of {self.discount:%} is not below 100 %")
        if not CURRENCY.fullmatch(self.currency):
            raise InputError(f"'{self.currency}' is not a currency; write it as USD or EUR")


def stated_payment(
    *, pay: str, disk_pay: str, os: str, vm_hours: object, discount: object, currency: str
) -> Payment:
    """Return how everything is paid, as a program states it with the words of the command line.

    Parameters
    ----------
    pay, disk_pay : str
        Keys of :data:`~azbenchlib.azure.prices.rows.PAYMENTS` and ``DISK_PAYMENTS``.
    os : str
    vm_hours : int, float, Decimal, str or None
        In which the VM runs. None: all.
    discount : int, float, Decimal or str
    currency : str

    Raises
    ------
    InputError
        With the choices.
    """
    for name, word, words in (("pay", pay, PAYMENTS), ("disk_pay", disk_pay, DISK_PAYMENTS)):
        if word not in words:
            raise InputError(f"{name} '{word}' is not one of: {', '.join(words)}")
    running = None if vm_hours is None else number("vm_hours", as_text("vm_hours", vm_hours))
    return Payment(
        pay=PAYMENTS[pay],
        disk_pay=DISK_PAYMENTS[disk_pay],
        os=os,
        vm_hours=None if running is None else Decimal(str(running)),
        currency=currency.upper(),
        discount=Decimal(str(share("discount", as_text("discount", discount)))),
    )


def vm_meters(size: str, pay: str, os: str) -> list[Meter]:
    """What bills a VM size itself: one meter, or that of Linux and the licence of Windows apart.

    A reservation or a savings plan covers the machine, not the licence. With Azure Hybrid Benefit
    (``windows-hybrid``) Windows costs what Linux does.
    """
    if os != "windows":
        return [Meter.of_vm(size, pay)]
    if pay not in COMMITTED:
        return [Meter.of_vm(size, pay, os)]
    return [Meter.of_vm(size, pay), Meter.of_vm(size, LICENCE, os)]


def vm_kinds(pay: str, os: str) -> frozenset[tuple[str, str]]:
    """Kinds of prices of VMs, price type and operating system, of which a bill is made."""
    systems = {"linux", "windows" if os == "windows" else "linux"}
    return frozenset((kind, system) for kind in (pay, PAYG) for system in systems)


def reservable(disk: Disk) -> bool:
    """Whether Azure sells reservations of such disks."""
    return disk.kind is PREMIUM and tier_number(disk.tier) >= RESERVABLE_FROM


def check_payments(setup: Setup, pay: str, disk_pay: str) -> None:
    """Refuse a way to pay that no part of the setup knows.

    Raises
    ------
    InputError
        With what it is for.
    """
    if setup.vm.size is None and pay != PAYG:
        raise InputError(
            f"a {PAYMENT_WORDS[pay]} is of a VM, and no VM is named: --disk-pay 1y reserves Premium SSD from "
            f"P{RESERVABLE_FROM} on"
        )
    if disk_pay != PAYG and not any(map(reservable, setup.disks)):
        named = ", ".join(disk.name for disk in setup.disks if not disk.local) or "no managed disk"
        raise InputError(
            f"Azure reserves Premium SSD from P{RESERVABLE_FROM} on, and here is {named}: leave out "
            "--disk-pay"
        )


def payment_doubts(setup: Setup, pay: str, disk_pay: str) -> Iterator[str]:
    """What is paid otherwise than the rest, in sentences."""
    managed = [disk for disk in setup.disks if not disk.local]
    others = ", ".join(disk.name for disk in managed if not reservable(disk))
    if disk_pay != PAYG and others:
        yield f"{others} are paid as you go: Azure sells no reservation of such disks"
    elif pay in RESERVED_YEARS and managed:
        yield f"the disks are paid as you go; --disk-pay 1y reserves Premium SSD from P{RESERVABLE_FROM} on"


def discounted(prices: Mapping[Meter, Price], share: Decimal) -> Mapping[Meter, Price]:
    """All prices with a share off."""
    if not share:
        return prices
    return {
        meter: replace(price, unit_price=price.unit_price * (1 - share)) for meter, price in prices.items()
    }
