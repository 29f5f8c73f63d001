"""What an order is decided from: advice with its designs side by side and the ways to pay for them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import takewhile

from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.order_designs import WAYS_TO_PAY, OrderDesign, order_designs
from azbenchlib.advisor.text import described
from azbenchlib.answers.advice import SENSITIVITY, AdviceAnswer
from azbenchlib.answers.document import (
    CodeBlock,
    Document,
    FigureTable,
    Part,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import Figure, FigureUnit, money
from azbenchlib.azure.prices.rows import PAYMENT_WORDS


def order_document(answer: AdviceAnswer, markets: Mapping[str, Market]) -> Document:
    """Return the recommended configuration, three designs, ways to pay, and what the answer rests on.

    Parameters
    ----------
    answer : AdviceAnswer
    markets : mapping of str to Market
        By the way to pay the VM (:func:`azbenchlib.advisor.order_designs.markets_by_payment`).
    """
    whole = answer.explained().document
    designs = order_designs(answer.result)
    parts = [part for part in whole.parts if not _is_for_the_terminal(part)]
    head = list(takewhile(lambda part: isinstance(part, Sentence), parts))
    return Document(
        whole.headline,
        [
            *head,
            Section("Three designs", [_designs(answer, designs)]),
            Section("By the way to pay for the VM", [_prices(answer, designs, markets)]),
            *parts[len(head) :],
        ],
    )


def _is_for_the_terminal(part: Part) -> bool:
    """Whether a part has no room on two pages."""
    return isinstance(part, CodeBlock) or (isinstance(part, Section) and part.title == SENSITIVITY)


def _designs(answer: AdviceAnswer, designs: tuple[OrderDesign, ...]) -> FigureTable:
    unit = money(answer.result.market.currency, "month")
    columns = (
        TableColumn("design", "Design"),
        TableColumn("vm", "VM"),
        TableColumn("disks", "Disks"),
        TableColumn("price_per_month", unit.suffix, unit),
        TableColumn("binding_limit", "First limit"),
    )
    rows = []
    for one in designs:
        best = one.configuration
        if best is None:
            price = Figure(None, unit, text="none")
            rows.append(TableRow((_named(one), "none meets it", "", price, ""), tone=Tone.DOUBT))
            continue
        bound = "≤ " if best.bound == "<=" else ""
        price = Figure(best.price, unit, text=f"{bound}{best.price:,.2f}")
        limit = f"{best.binding.display_name}, {best.headroom[best.binding]:+.0%}"
        tone = Tone.SURE if best is answer.result.best else Tone.PLAIN
        rows.append(
            TableRow((_named(one), best.vm, _disks(best, answer.result.best), price, limit), tone=tone)
        )
    return FigureTable(columns=columns, rows=rows, name="designs")


def _disks(one: Configuration, recommended: Configuration) -> str:
    """The disks in words, with the OS disk where that of the recommended configuration is another."""
    os_option, other = one.candidate.os_option, recommended.candidate.os_option
    data = described(one.candidate.option)
    if os_option is None or other is None or os_option.disk == other.disk:
        return data
    return f"{data}; OS disk: {described(os_option)}"


def _prices(
    answer: AdviceAnswer, designs: tuple[OrderDesign, ...], markets: Mapping[str, Market]
) -> FigureTable:
    market = answer.result.market
    unit = money(market.currency, "month")
    columns = (
        TableColumn("design", "Design"),
        *(TableColumn(pay, PAYMENT_WORDS[pay], unit) for pay in markets),
    )
    rows = [
        TableRow((one.name, *(_cell(one.price(there), unit) for there in markets.values())))
        for one in designs
        if one.configuration is not None
    ]
    note = f"{unit.suffix}, disks included"
    if unknown := [PAYMENT_WORDS[pay] for pay in WAYS_TO_PAY if pay not in markets]:
        refresh = f"azbench catalog refresh --retail-prices --region {market.region}"
        note += f"; no price is known of {', '.join(unknown)}: `{refresh}` reads them"
    return FigureTable(columns=columns, rows=rows, note=note, name="payments")


def _named(one: OrderDesign) -> str:
    return f"{one.name}: {one.meaning}"


def _cell(price: Decimal | None, unit: FigureUnit) -> Figure:
    return Figure(price, unit, text="no price" if price is None else f"{price:,.2f}")
