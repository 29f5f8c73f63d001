"""What a VM with its disks costs: every meter with its quantity, price, source and day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.drawing import horizontal_bars
from azbenchlib.answers.figures import Figure, FigureUnit, money
from azbenchlib.azure.prices.rows import PAYG, PAYMENT_WORDS
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import plain
from azbenchlib.core.units import NBSP

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from azbenchlib.azure.prices.rows import Price
    from azbenchlib.cost.bill import Bill, BillLine
    from azbenchlib.cost.payments import Payment
    from azbenchlib.cost.priced_setups import Priced

_COLUMNS = {
    "meter": "string",
    "quantity": "Float64",
    "unit_price": "Float64",
    "amount": "Float64",
    "source": "string",
    "as_of": "string",
    "unit": "string",
    "hours": "Float64",
    "product": "string",
    "price_type": "string",
    "what": "string",
}


class BillAnswer(Answer):
    """The bill of a setup, grouped by what is billed.

    Parameters
    ----------
    result : Priced
        With ``total``, ``bill`` and ``why`` there is no total; the answer has these names, too.
    payment : Payment, optional
        How all is paid; default: as you go, with Linux, at list prices.
    """

    result: Priced

    def __init__(self, result: Priced, payment: Payment | None = None) -> None:
        self.result = result
        self._is_licensed = payment is not None and payment.os == "windows"
        self._discount = payment.discount if payment else Decimal(0)

    @cached_property
    def document(self) -> Document:
        """The meters, what they come to, what is not counted, and where the prices are from."""
        setup, bill = self.result.setup, self.result.bill
        place = {"what": setup.vm.size or "Disks alone", "region": self.result.region}
        if bill is None or not bill.lines:
            return Document(Sentence("{what} in {region}", place), [Sentence(self.result.why)])
        currency = bill.currency or ""
        parts: list[Part] = [_table([(line.what, line) for line in bill.lines], currency)]
        if bill.total is None:
            parts.append(Sentence(f"No total: {self.result.why}", tone=Tone.DOUBT))
        else:
            parts.append(self._total(bill, bill.total, currency))
        if self.result.doubts:
            parts.append(Listing("Notes", [Sentence(doubt) for doubt in self.result.doubts]))
        parts.append(_prices(bill.lines))
        return Document(Sentence("{what} in {region}, {currency}", {**place, "currency": currency}), parts)

    def to_dict(self) -> dict[str, Any]:
        """Return total, currency, hours and the lines; no total where a price is missing."""
        bill = self.result.bill
        return {
            "total": plain(self.result.total),
            "currency": bill.currency if bill else None,
            "hours": plain(bill.hours) if bill else None,
            "lines": plain(bill.records()) if bill else [],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row a meter, with amounts in the currency of the bill."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["lines"], columns=list(_COLUMNS)).astype(_COLUMNS)

    def draw(self, axes: Axes) -> None:
        """Draw the amounts of the meters as horizontal bars."""
        bill = self.result.bill
        if bill is None or not bill.lines:
            raise InputError(f"nothing can be drawn: {self.result.why}")
        names = [_meter_text(line.price) for line in bill.lines]
        amounts = [float(line.amount) for line in bill.lines]
        horizontal_bars(axes, names, amounts, f"{bill.currency} in {_text(bill.hours)} h")

    def _total(self, bill: Bill, total: Decimal, currency: str) -> Sentence:
        amount = money(currency)
        an_hour = (total / bill.hours).quantize(Decimal("1e-6"))
        licence = "" if self._is_licensed else "operating system licence, "
        return Sentence(
            "Total for {period}: {total} ({an_hour} an hour); without {licence}network and backup{discount}",
            {
                "period": Figure(bill.hours, FigureUnit("h", _text), text=f"{_text(bill.hours)} h"),
                "total": Figure(total, amount, text=f"{_cents(total)} {currency}"),
                "an_hour": Figure(an_hour, money(currency, "hour"), text=_text(an_hour)),
                "licence": licence,
                "discount": f"; {self._discount:%} off" if self._discount else "",
            },
            Tone.STRONG,
        )


def bills_document(priced: Sequence[tuple[str, Priced]], period: Decimal) -> Document:
    """Return the bills of several setups in one table, what they leave out, and the sources of the prices.

    Parameters
    ----------
    priced : sequence of tuple
        Each setup with what it is called; all in one currency.
    period : Decimal
        Hours.
    """
    bills = [(name, one.bill) for name, one in priced if one.bill and one.bill.lines]
    lines = [(_heading(name, bill), line) for name, bill in bills for line in bill.lines]
    currency = next((bill.currency for _, bill in bills if bill.currency), "")
    notes = left_out(priced).items()
    said = [note_of_setups(text, whose if len(whose) < len(priced) else ()) for text, whose in notes]
    title = f"Every meter in {_text(period)}{NBSP}h, in {currency}"
    parts: list[Part] = [replace(_table(lines, currency), title=title)] if lines else []
    parts += [Listing("Notes", list(map(Sentence, said)))] if said else []
    parts += [_prices([line for _, line in lines])] if lines else []
    return Document(None, parts)


def _heading(name: str, bill: Bill) -> str:
    if bill.total is None:
        return f"{name}: no total"
    an_hour = (bill.total / bill.hours).quantize(Decimal("1e-6"))
    return f"{name}: {_cents(bill.total)} {bill.currency} ({_text(an_hour)} an hour)"


def left_out(priced: Sequence[tuple[str, Priced]]) -> dict[str, list[str]]:
    """Return why there is no total and what bills leave out: each sentence with the names of its setups."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, one in priced:
        for text in (*([one.why] if one.why else []), *one.doubts):
            names[text].append(name)
    return names


def note_of_setups(text: str, names: Sequence[str]) -> str:
    """Return a sentence, with the setups that it is true of in brackets; none: it is true of all."""
    of = f" ({'; '.join(names)})" if names else ""
    return f"{text[:1].upper()}{text[1:]}{of}."


def _table(lines: Sequence[tuple[str, BillLine]], currency: str) -> FigureTable:
    """Return a row a meter, below what each is billed for."""
    amount = money(currency)
    columns = (
        TableColumn("meter", "Meter"),
        TableColumn("unit", "Unit"),
        TableColumn("quantity", "Quantity", FigureUnit("units", _text)),
        TableColumn("unit_price", "Unit price", amount),
        TableColumn("amount", "Amount", amount),
    )
    return FigureTable(
        columns=columns, rows=[_row(line, amount, group) for group, line in lines], name="bill"
    )


def _row(line: BillLine, amount: FigureUnit, group: str) -> TableRow:
    price, source = line.price, _source(line.price)
    figures = (
        Figure(line.quantity, FigureUnit(price.unit, _text)),
        Figure(price.unit_price, amount, source, text=_text(price.unit_price)),
        Figure(line.amount, amount, source, text=_amount(line.amount)),
    )
    return TableRow((_meter_text(price), price.unit, *figures), group)


def _prices(lines: Sequence[BillLine]) -> Listing:
    """Return each source of prices with its day and the meters that it has the price of."""
    meters: dict[str, dict[str, None]] = defaultdict(dict)
    for line in lines:
        meters[_source(line.price)][_meter_text(line.price)] = None
    return Listing("Prices", [Sentence(f"{source}: {'; '.join(names)}") for source, names in meters.items()])


def _source(price: Price) -> str:
    return f"{price.source_id} of {price.as_of}"


def _meter_text(price: Price) -> str:
    paid = PAYMENT_WORDS.get(price.meter.price_type, price.meter.price_type)
    if price.meter.os:
        return f"{price.name}, {price.meter.os}, {paid}"
    return price.name if price.meter.price_type == PAYG else f"{price.name}, {paid}"


def _cents(total: Decimal) -> str:
    """Return an amount as money is paid; in full below 1."""
    return f"{total.quantize(Decimal('0.01'), ROUND_HALF_UP):,f}" if total >= 1 else _text(total)


def _amount(value: Decimal) -> str:
    """Return an amount in full, with the two decimals of money at least."""
    text = _text(value)
    return f"{value:,.2f}" if len(text.partition(".")[2]) < len("00") else text


def _text(value: Decimal) -> str:
    """Return a value in full, with thousands separators and without idle zeros."""
    return f"{value.quantize(Decimal('1e-10')):,f}".rstrip("0").rstrip(".")
