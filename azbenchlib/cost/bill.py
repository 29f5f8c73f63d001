"""Charges times prices: the bill, in exact decimals, with the row behind every amount."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import NamedTuple

from azbenchlib.azure.prices.rows import COMMITTED, HOURS, PAYMENT_WORDS, VM_PRODUCT, Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.cost.usage import Charge

STEP = Decimal("1e-10")  # amounts are rounded to this much of the currency, so that they add up exactly
DIGITS = 60  # of the arithmetic before that
MOST_HOURS = 100 * HOURS["year"]  # period in hours; our choice


class BillLine(NamedTuple):
    """One meter on the bill.

    Parameters
    ----------
    what : str
        Whose it is.
    quantity : Decimal
        In units of the price: GiB, IOPS, MB/s, disks, or packs of 10,000 operations.
    hours : Decimal, optional
        The period; None: billed by the operation, whenever it was.
    amount : Decimal
        In the currency of the price.
    price : Price
        The row of the price book, with unit price, unit, day and source.
    """

    what: str
    quantity: Decimal
    hours: Decimal | None
    amount: Decimal
    price: Price


@dataclass(frozen=True)
class Bill:
    """What a setup costs in a period.

    Parameters
    ----------
    hours : Decimal
    lines : tuple of Line
    missing : tuple of Meter
        What has no price. With any of these there is no total.
    """

    hours: Decimal
    lines: tuple[BillLine, ...]
    missing: tuple[Meter, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """The sum of the lines; None where a price is missing."""
        return None if self.missing else sum((line.amount for line in self.lines), Decimal(0))

    def records(self) -> list[dict[str, object]]:
        """The bill as a table, a line a meter: amounts are exact decimals."""
        return [
            {
                "meter": line.price.name,
                "quantity": line.quantity,
                "unit_price": line.price.unit_price,
                "amount": line.amount,
                "source": line.price.source_id,
                "as_of": line.price.as_of,
                "unit": line.price.unit,
                "hours": line.hours,
                "product": line.price.meter.product,
                "price_type": line.price.meter.price_type,
                "what": line.what,
            }
            for line in self.lines
        ]

    @property
    def currency(self) -> str | None:
        """Of all lines; None where there is none."""
        return self.lines[0].price.currency if self.lines else None


def bill(
    charged: Iterable[Charge],
    prices: Mapping[Meter, Price],
    hours: Decimal,
    vm_hours: Decimal | None = None,
) -> Bill:
    """Put prices to charges.

    Parameters
    ----------
    charged : iterable of Charge
        For the same period.
    prices : mapping of Meter to Price
        Of one region.
    hours : Decimal
        The period; a month has 730.
    vm_hours : Decimal, optional
        How many of these the VM runs. Its disks are billed all the time. None: all of them.

    Raises
    ------
    InputError
        When the prices are in several currencies, or the period is none or above a hundred years;
        when a VM that is paid for every hour does not run in each.
    """
    if not hours.is_finite() or not 0 < hours <= MOST_HOURS:
        raise InputError(
            f"{hours:g} hours is not a period; it must be above 0 and at most {MOST_HOURS:,}, a hundred "
            f"years; a month has {HOURS['month']}"
        )
    running = hours if vm_hours is None else vm_hours
    if not running.is_finite() or not 0 < running <= hours:
        raise InputError(
            f"{running} hours of the VM are not above 0 and at most {hours}, those of the period; a month "
            f"has {HOURS['month']}"
        )
    wanted = list(charged)
    if running < hours:
        _refuse_committed(wanted)
    with localcontext() as context:
        context.prec = DIGITS
        lines = [
            _line(charge, prices[charge.meter], running if charge.meter.product == VM_PRODUCT else hours)
            for charge in wanted
            if charge.meter in prices
        ]
    _one_currency(lines)
    missing = dict.fromkeys(charge.meter for charge in wanted if charge.meter not in prices)
    return Bill(hours, tuple(lines), tuple(missing))


def _refuse_committed(wanted: Iterable[Charge]) -> None:
    """A reservation of a VM or a savings plan is paid for every hour."""
    kinds = (charge.meter.price_type for charge in wanted if charge.meter.product == VM_PRODUCT)
    paid = next((kind for kind in kinds if kind in COMMITTED), None)
    if paid is not None:
        raise InputError(
            f"a {PAYMENT_WORDS[paid]} is paid for every hour, whether the VM runs or not: leave out the "
            "hours, or pay as you go"
        )


def _line(charge: Charge, price: Price, hours: Decimal) -> BillLine:
    """Quantity × unit price × hours ÷ hours of the unit; without the hours for operations."""
    pack, unit_hours = price.per
    quantity = charge.quantity / pack
    amount = quantity * price.unit_price
    if unit_hours is not None:
        amount = amount * hours / unit_hours
    rounded = amount.quantize(STEP, ROUND_HALF_EVEN)
    return BillLine(
        what=charge.what,
        quantity=quantity,
        hours=None if unit_hours is None else hours,
        amount=rounded,
        price=price,
    )


def _one_currency(lines: Iterable[BillLine]) -> None:
    found: dict[str, Meter] = {}
    for line in lines:
        found.setdefault(line.price.currency, line.price.meter)
    if len(found) > 1:
        stated = "; ".join(f"{currency} for {meter}" for currency, meter in found.items())
        raise InputError(f"the prices are in several currencies and cannot be added: {stated}")
