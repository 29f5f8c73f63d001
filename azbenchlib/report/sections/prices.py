"""The report's part on cost: what each measured setup costs a month, all setups in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.answers.bill import left_out, note_of_setups
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.units import format_money
from azbenchlib.cost import priced_setups, published_costs
from azbenchlib.cost.priced_setups import Priced
from azbenchlib.plots.cost import Scale, price_lines
from azbenchlib.report.sections import bills

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_MOST_IN_A_FIGURE = 18  # setups: colours and markers come again, and names lie close
NEARER = "The lower and the farther right a marker is, the less an I/O costs."
DELIVERED = "A marker is the rate on the card of a setup, and what its VM and disks cost in a month."
KEEPING = (
    "“Cheaper” on a card is today's cheapest configuration with the same performance and durability: the "
    "same rates, size, redundancy and class of latency, on a VM of the same CPU architecture with as many "
    "vCPUs and as much memory; an OS disk comes on top."
)


def price_section(parts: Sequence[Part], designs: Sequence[str]) -> Block:
    """Prices of all setups but published twins, with what they leave out; empty where no setup of Azure is
    known.

    Parameters
    ----------
    parts : sequence of Part
        All datasets of the page, in its order.
    designs : sequence of str
        What the cards call cheaper.
    """
    priced = [(part, part.priced) for part in parts]
    every = [one for _, found in priced for one in found.values()]
    if not every:
        return Block("")
    shares = [(part, found, _rated(part, found)) for part, found in priced]
    known = [(part, found, rates) for part, found, rates in shares if len(rates)]
    if not known:
        text = f"Nothing here can be priced: {every[0].why or 'no rate is stated'}"
        note = safe(render("note", text=text, options=[]).html)
        return render("cost", figure="", table=note, finding="", doubts=[])
    figure, table = _price_and_rate(known), bills.delivered_block(shares, "price")
    if figure:  # which shows them, as the cards do
        table = render(
            "fold", id="all-prices", title="Prices as a table", long=False, content=safe(table.html)
        )
    return render(
        "cost",
        finding=_finding(known) if len(known) == 1 else "",
        figure=safe(figure),
        table=safe(table.html),
        doubts=[*([("", KEEPING)] if designs else []), *_notes(priced)],
    )


def _price_and_rate(shares: Sequence[bills.Share]) -> str:
    """The price of each setup over the IOPS that it delivered; empty where no two prices differ."""
    told = [
        (part.entries[row["series"]].drawn, float(row["iops"]), float(row["price"]))
        for part, found, rates in shares
        for row in priced_setups.per_delivered(rates, found).to_dict(orient="records")
        if not pd.isna(row["iops"]) and not pd.isna(row["price"]) and row["iops"] > 0
    ]
    if len({price for *_, price in told}) < 2 or len(told) > _MOST_IN_A_FIGURE:
        return ""
    of_one = len(shares) == 1
    series = [
        replace(entry, key=f"{i}", short=entry.short if of_one else entry.label)
        for i, (entry, *_) in enumerate(told)
    ]
    points = pd.DataFrame(
        {
            "series": [entry.key for entry in series],
            "x": [iops for _, iops, _ in told],
            "price": [price for *_, price in told],
            "best": True,
            "what": [entry.label for entry in series],
        }
    )
    unit = bills.currency([one for _, found, _ in shares for one in found.values()])
    scale = Scale("IOPS delivered", f"{unit} a month", ratios=True)
    svg = plots.both(partial(price_lines, points, series, scale), "price-and-rate")
    return render(
        "figure",
        id="price-and-rate-figure",
        svg=safe(svg),
        title="Price and rate of each setup",
        what=f"{unit} a month for VM and disks, and the IOPS that were measured.",
        how=[NEARER, DELIVERED],
        group=None,
        kind="price",
    ).html


def _notes(priced: Sequence[tuple[Part, Mapping[str, Priced]]]) -> list[tuple[str, str]]:
    """What the bills leave out, each sentence once, with the dataset that it is of; "": of several."""
    told: dict[str, list[tuple[str, list[str], int]]] = {}
    more: dict[str, str] = {}
    for i, (part, found) in enumerate(priced):
        if not found:
            continue
        named = [(bills.called(part, key), one) for key, one in found.items()]
        for text, whose in left_out(named).items():
            told.setdefault(text, []).append((f"d{i}", whose, len(found)))
        for text in _more_doubts(part, found):
            more.setdefault(text, f"d{i}")
    every = sum(len(found) for _, found in priced)
    notes = []
    for text, shares in told.items():
        place, whose, of = shares[0] if len(shares) == 1 else ("", ["some setups"], every)
        concerned = sum(len(names) for _, names, _ in shares)
        notes.append((place, note_of_setups(text, whose if concerned < of else [])))
    return [*notes, *((place, text) for text, place in more.items())]


def _rated(part: Part, found: Mapping[str, Priced]) -> pd.DataFrame:
    """The headline of each setup that has a price, without published twins."""
    rates = bills.headlines(part)
    if rates.empty:
        return rates
    priced = {key for key, one in found.items() if one.total is not None}
    kept = [
        setup_id in priced and not part.entries[series].twin
        for setup_id, series in zip(rates["setup_id"], rates["series"], strict=True)
    ]
    return rates[kept]


def _finding(shares: Sequence[bills.Share]) -> str:
    """Of one dataset the cheapest and the most expensive thousand IOPS; of MB/s where IOPS are not stated."""
    part, found, rates = shares[0]
    table = priced_setups.per_delivered(rates, found)
    unit = bills.currency(found.values())
    for column, bound, what in (
        ("per_1000_iops", "per_iops_bound", "1,000 IOPS"),
        ("per_100_mbps", "per_mbps_bound", "100 MB/s"),
    ):
        known = table.dropna(subset=[column]).sort_values(column)
        if known.empty:
            continue
        ends = [
            f"{unit} {bills.money(row[column], row[bound])} ({part.entries[row['series']].name})"
            for row in (known.iloc[0], known.iloc[-1])
        ]
        return f"A month of {what}, VM and disks: {' to '.join(dict.fromkeys(ends))}."
    return ""


def _more_doubts(part: Part, found: Mapping[str, Priced]) -> list[str]:
    """Where no region is stated, what is emulated, what was published."""
    setups = part.dataset.setups.set_index("setup_id").loc[list(found)]
    said = []
    if setups["region"].isna().any():
        said.append(f"No region is stated for some: prices of {DEFAULT_REGION}.")
    if (setups["environment"] == "lab").any():
        said.append("Emulated disks: the prices are those of the Azure disks that they stand for.")
    printed = published_costs.vm_prices(part.dataset.tables)
    if "payg" in printed:
        unit = str(printed["unit"].iloc[0])
        currency, _, period = unit.partition("/")
        low, high = (format_money(float(value)) for value in (printed["payg"].min(), printed["payg"].max()))
        said.append(
            f"Published with the measurements ({part.manifest.measured}): {currency} {low} to {high} a "
            f"{period} for the VM, pay as you go; 04_cost.ipynb has them beside today's."
        )
    return said
