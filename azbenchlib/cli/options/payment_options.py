"""How everything is paid, as options of `azbench cost` and `azbench advise`."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.azure.prices.rows import DISK_PAYMENTS, PAYMENTS
from azbenchlib.core.stated_values import share

if TYPE_CHECKING:
    from azbenchlib.cost.payments import Payment


class Pay(StrEnum):
    """How the VM is paid."""

    payg = "payg"
    spot = "spot"
    reserved_1y = "1y"
    reserved_3y = "3y"
    savings_1y = "savings-1y"
    savings_3y = "savings-3y"


class DiskPay(StrEnum):
    """How disks are paid."""

    payg = "payg"
    reserved_1y = "1y"


class System(StrEnum):
    """The operating system that is licensed."""

    linux = "linux"
    windows = "windows"
    windows_hybrid = "windows-hybrid"


PayOption = Annotated[
    Pay,
    typer.Option(
        help="How the VM is paid: payg is as you go; spot, which Azure may evict; 1y and 3y are reservations."
    ),
]
DiskPayOption = Annotated[
    DiskPay, typer.Option("--disk-pay", help="How disks are paid; 1y reserves Premium SSD from P30 on.")
]
SystemOption = Annotated[
    System,
    typer.Option(
        "--os", help="Operating system; windows-hybrid is Windows with licences of your own (hybrid benefit)."
    ),
]
DiscountOption = Annotated[
    str, typer.Option("--discount", help="What an agreement takes off every price, such as 12%.")
]
CurrencyOption = Annotated[
    str,
    typer.Option(
        "--currency",
        help="Of the prices; others than USD come with `azbench catalog refresh`.",
        show_default="USD",
    ),
]
PricesOption = Annotated[
    Path | None, typer.Option(help="A price book of your own: CSV with the columns of the shipped one.")
]
VmHoursOption = Annotated[
    float | None,
    typer.Option(
        help="Hours that the VM runs, of the period of `azbench cost` (--hours) or of a month of 730; its "
        "disks are billed in all. Default: all.",
    ),
]


def payment(
    pay: Pay, disk_pay: DiskPay, system: System, vm_hours: float | None, currency: str, discount: str
) -> Payment:
    """The options together."""
    from azbenchlib.cost.payments import Payment

    return Payment(
        pay=PAYMENTS[pay],
        disk_pay=DISK_PAYMENTS[disk_pay],
        os=str(system),
        vm_hours=None if vm_hours is None else Decimal(str(vm_hours)),
        currency=currency.upper(),
        discount=Decimal(str(share("--discount", discount))),
    )
