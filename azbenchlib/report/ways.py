"""Ways to buy a disk against each other: figures with their crossings, and the crossings in sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azbenchlib import plots
from azbenchlib.catalog.price_rows import Meter
from azbenchlib.model import break_even
from azbenchlib.model.break_even import Ask, Cost, Offer, Turn
from azbenchlib.plots.cost import Crossing, Scale, price_lines
from azbenchlib.report.blocks import Block, render, safe
from azbenchlib.units import GIB, format_count, format_money, format_size

if TYPE_CHECKING:
    from azbenchlib.model.market import Market

POINTS = 120  # of a line
MILLION = 10**6
MOST_IN_TITLE = 3
LEAST_IOPS, MOST_IOPS = 100, 80_000  # the most that one Premium SSD v2 may have
FINE = 0.01  # IOPS; how exactly the crossing of a small disk is told
MONTH_HOURS, HOURS_STEP = 730, 10
MONTH_S = MONTH_HOURS * 3600
SIZES = tuple(32 * GIB * 2**power for power in range(8))  # 32 GiB to 4 TiB
# A colour is a kind of disk; in these figures no setup is drawn.
COLOURS = (
    ("Premium SSD striped", 3),
    ("Premium SSD v2 striped", 5),
    ("bursting", 3),
    ("Premium SSD v2", 2),
    ("Ultra", 4),
    ("Standard SSD", 0),
    ("Standard HDD", 5),
    ("Premium SSD", 1),
)
LOWEST = "The lowest line is the cheapest way at that point."
RING = "A ring is where two ways cost the same."
STEPS = "A step is a larger tier, or one more disk; a line that ends is a way that gives no more."
ON_AVERAGE = (
    "Premium SSD costs the same however much it is used; the I/Os of a Standard disk are billed. What counts "
    "is the average over the month, nights included."
)
SPEED = (
    "Price is not all: a Standard disk answers slower, and more slowly still when many I/Os wait "
    "(02_latency.ipynb shows how much on your own)."
)
UNCAPPED = (
    "Azure bills the I/Os of a Standard SSD up to a cap an hour that is not known here, so its line is the "
    "most that it can cost; transaction_cap sets one."
)
FREE = (
    "Each Premium SSD v2 has 3,000 IOPS and 125 MB/s free, so several small ones can cost less than one "
    "large. They take no host cache and cannot be an OS disk."
)
ALWAYS = (
    "What is provisioned costs the same in an hour of rest; a burst on demand is billed by the I/O above the "
    "tier."
)


@dataclass(frozen=True)
class Pair:
    """Two ways, and where one takes over from the other; the first turn is the smallest demand."""

    names: tuple[str, str]
    turns: list[Turn]
    most: float


@dataclass(frozen=True)
class Comparison:
    """Several ways over one demand, ready to be drawn and told.

    Parameters
    ----------
    name : str
        For the ids of the page.
    unit : str
        Of a demand, in short.
    costs : mapping of str to Cost
    demands : sequence of float
        Ascending multiples of `step`.
    step : float
        How exactly crossings are told.
    scale : Scale
    text : callable
        How a demand reads in a sentence.
    """

    name: str
    unit: str
    costs: Mapping[str, Cost]
    demands: Sequence[float]
    step: float
    scale: Scale
    text: Callable[[float], str]

    @cached_property
    def lacking(self) -> dict[str, tuple[Meter, ...]]:
        """The ways without a price."""
        return break_even.missing(self.costs, self.demands)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each way against each other, as far as both can."""
        known = {name: cost for name, cost in self.costs.items() if name not in self.lacking}
        found = []
        for names in itertools.combinations(known, 2):
            both = {name: known[name] for name in names}
            meet = [x for x in self.demands if all(cost(x) for cost in both.values())]
            if meet:
                found.append(Pair(names, break_even.turns(both, meet, self.step), meet[-1]))
        return found

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Where two lines meet."""
        return [
            Crossing(turn.x, float(turn.offer.bill.total), self.scale.x_text(turn.x))
            for pair in self.pairs
            for turn in pair.turns[1:]
            if turn.offer and turn.offer.bill.total is not None
        ]


def transactions(market: Market, size_bytes: float, bs_bytes: int, cap: int | None) -> Comparison:
    """Premium SSD against the Standard disks, by I/Os on average."""
    costs = break_even.by_transactions(market, size_bytes, bs_bytes, cap)
    standard = [name for name in costs if name.startswith("Standard")]
    most = max((row.iops for row in market.tiers if row.sku.startswith("Standard")), default=0)
    able = [x for x in range(most + 1) if any(costs[name](float(x)) for name in standard)]
    demands = [round(x, 1) for x in np.linspace(0, max(able, default=1), 51)]

    def text(x: float) -> str:
        millions = format_count(x * MONTH_S / MILLION)
        return f"{_tenths(x)} IOPS on average ({millions} million I/Os a month)"

    scale = Scale("IOPS on average over the month", f"{market.currency} a month", _tenths)
    return Comparison("transactions", "IOPS", costs, demands, FINE, scale, text)


def standing(market: Market, ask: Ask) -> Comparison:
    """Premium SSD, Premium SSD v2 and Ultra Disk, one or striped, by IOPS that must be there."""
    costs = break_even.by_iops(market, ask)
    tiers = [edge for row in market.tiers if row.sku == "Premium" for edge in (row.iops, row.iops + 1)]
    spread = np.geomspace(LEAST_IOPS, MOST_IOPS, POINTS).round()
    demands = sorted({float(x) for x in [*spread, *tiers] if x >= LEAST_IOPS})
    scale = Scale("IOPS that must be there", f"{market.currency} a month")
    return Comparison("ways", "IOPS", costs, demands, 1.0, scale, lambda x: f"{format_count(x)} IOPS")


def bursting(market: Market, size_bytes: float, burst_iops: float) -> Comparison:
    """On-demand bursting against having the IOPS all the time, by hours a month."""
    costs = break_even.by_burst_hours(market, size_bytes, burst_iops)
    demands = [float(x) for x in range(0, MONTH_HOURS + 1, HOURS_STEP)]
    scale = Scale(f"hours a month at {format_count(burst_iops)} IOPS", f"{market.currency} a month")
    return Comparison("bursts", "hours", costs, demands, 1.0, scale, lambda x: f"{format_count(x)} h a month")


def overtakes(one: Comparison) -> str:
    """The first crossing, as the title of a figure."""
    pair = next((pair for pair in one.pairs if len(pair.turns) > 1), None)
    if pair is None:
        return "No way overtakes another"
    turn = pair.turns[1]
    other = next(name for name in pair.names if name != turn.cheapest)
    best = {turn.cheapest for turn in break_even.turns(one.costs, one.demands, one.step)}
    told = f"From {one.text(turn.x)} on, {turn.cheapest} costs less than {other}"
    return f"{told}; {best.pop()} is the cheapest throughout" if len(best) == 1 else told


def cheapest(one: Comparison) -> str:
    """Which way is the cheapest, as the title of a figure."""
    turned = [turn for turn in break_even.turns(one.costs, one.demands, one.step) if turn.cheapest]
    if not turned:
        return "No way has a price"
    names = list(dict.fromkeys(str(turn.cheapest) for turn in turned))
    if len(names) == 1:
        return f"{names[0]}: the cheapest at every demand"
    changes = "; ".join(f"from {one.scale.x_text(turn.x)} {turn.cheapest}" for turn in turned[:MOST_IN_TITLE])
    return f"The cheapest, by IOPS: {changes}{'; and on' if len(turned) > MOST_IN_TITLE else ''}"


def figure(one: Comparison, title: str, what: str, how: Sequence[str], rings: bool = True) -> Block:
    """The lines of a comparison, and a sentence on what has no price."""
    table = break_even.curves(one.costs, one.demands)
    able = set(table.dropna(subset=["price"])["series"])
    known = [name for name in one.costs if name in able and name not in one.lacking]
    note = missing_note(one)
    if not known:
        return note if one.lacking else render("note", text=f"{what} No disk gives as much", options=[])
    series = [plots.Series(name, name, name, colour_of(name)) for name in known]
    drawn = partial(draw, table, series, one.scale, one.crossings if rings else [])
    svg = plots.both(drawn, one.name)
    shown = {"title": title, "what": what, "how": [*how, *([RING] if rings and one.crossings else [])]}
    return render("figure", id=f"{one.name}-figure", svg=safe(svg), group=None, **shown) + note


def missing_note(one: Comparison) -> Block:
    """The meters without a price, by their names."""
    if not one.lacking:
        return Block("")
    told = "; ".join(f"{name}: {', '.join(map(str, meters))}" for name, meters in one.lacking.items())
    return render("note", text=f"Left out, for a price is missing: {told}", options=[])


def crossing_rows(one: Comparison) -> list[dict[str, object]]:
    """One row a pair: where the cheaper of the two changes, what it costs there, and the same in words."""
    rows: list[dict[str, object]] = []
    for pair in sorted(one.pairs, key=lambda pair: len(pair.turns) == 1):
        first, *later = pair.turns
        other = next(way for way in pair.names if way != first.cheapest)
        points = "; ".join(one.scale.x_text(turn.x) for turn in later) or "never"
        prices = "; ".join(_price(turn.offer) for turn in later)
        if later:
            spans = [f"{turn.cheapest} from {one.text(turn.x)}" for turn in later]
            told = f"{first.cheapest} costs less at first, {', then '.join(spans)} on."
        else:
            told = f"{first.cheapest} costs less than {other} at every demand up to {one.text(pair.most)}."
        rows.append(
            {"entry": None, "name": " or ".join(pair.names), "sub": "", "cells": [points, prices, told]}
        )
    return rows


def crossings(one: Comparison) -> Block:
    """A table of where one way takes over from another; nothing where only one has a price."""
    rows = crossing_rows(one)
    if not rows:
        return Block("")
    columns = ["Two ways", f"Turn at, {one.unit}", one.scale.price, "In words"]
    note = f"Where one way takes over from another, by {one.scale.x}."
    return render(
        "table", id=f"{one.name}-turns", note=note, columns=columns, rows=rows, left=[1, 3], long=True
    )


def by_size(market: Market, bs_bytes: int, cap: int | None) -> Block:
    """For each size: from how many I/Os on Premium SSD costs less than Standard SSD."""
    rows: list[dict[str, object]] = []
    for size in SIZES:
        one = transactions(market, size, bs_bytes, cap)
        pair = next((pair for pair in one.pairs if pair.names[1].startswith("Standard SSD")), None)
        if pair is None:
            continue
        prices = [_price(one.costs[name](0.0)) for name in pair.names]
        turn = pair.turns[1] if len(pair.turns) > 1 else None
        cells = ["never", ""]
        if turn:
            cells = [_tenths(turn.x), format_count(turn.x * MONTH_S / MILLION)]
        tiers = " or ".join(name.rpartition(" ")[2] for name in pair.names)
        rows.append({"entry": None, "name": format_size(size), "sub": tiers, "cells": [*prices, *cells]})
    if not rows:
        return Block("")
    unit = market.currency
    columns = [
        "Size",
        f"Premium SSD, {unit} a month",
        f"Standard SSD idle, {unit} a month",
        "IOPS on average",
        "Million I/Os a month",
    ]
    note = "From how many I/Os on Premium SSD costs less than Standard SSD of the same size."
    return render("table", id="sizes-turns", note=note, columns=columns, rows=rows, left=[])


def _tenths(x: float) -> str:
    return format_count(round(x, 1))


def draw(
    table: pd.DataFrame,
    series: Sequence[plots.Series],
    scale: Scale,
    crossings: Sequence[Crossing],
    layout: plots.Layout,
) -> plots.Drawn:
    """Prices over a demand, the layout last, as :func:`~azbenchlib.plots.both` gives it."""
    return price_lines(table, series, scale, layout, crossings)


def _price(offer: Offer | None) -> str:
    return format_money(float(offer.bill.total)) if offer and offer.bill.total is not None else ""


def colour_of(name: str) -> int:
    """The colour of a kind of disk, by its name."""
    return next(colour for part, colour in COLOURS if part in name)
