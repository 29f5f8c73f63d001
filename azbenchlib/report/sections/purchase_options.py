"""Purchase options of disks compared: figures with their break-even points, and these in sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azbenchlib import plots
from azbenchlib.advisor.reasons import break_even
from azbenchlib.advisor.reasons.break_even import BreakEven, Cost, Quote, Requirement
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.azure import disk_kinds
from azbenchlib.azure.disk_kinds import PREMIUM
from azbenchlib.azure.prices.rows import MONTH_HOURS, Meter
from azbenchlib.core.units import GIB, MILLION, S_PER_HOUR, format_count, format_money, format_size
from azbenchlib.plots.cost import Crossing, Scale, price_lines

if TYPE_CHECKING:
    from azbenchlib.advisor.offers.market import Market

POINTS = 120  # of a line
MOST_IN_TITLE = 3
LEAST_IOPS, MOST_IOPS = 100, 80_000  # the most that one Premium SSD v2 may have
FINE = 0.01  # IOPS; how exactly the crossing of a small disk is told
HOURS_STEP = 10
MONTH_S = int(MONTH_HOURS) * S_PER_HOUR
SIZES = tuple(32 * GIB * 2**power for power in range(8))  # 32 GiB to 4 TiB
BURSTING_COLOUR = 3  # a colour is a kind of disk; in these figures no setup is drawn
LOWEST = "The lowest line is the cheapest purchase option at that point."
_RING = "A ring marks a break-even point: two purchase options cost the same."
STEPS = "Steps are larger tiers or additional disks; a line ends where the option reaches its maximum."
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
    """Two options, and where one becomes cheaper than the other; the first point is the smallest demand."""

    names: tuple[str, str]
    break_evens: list[BreakEven]
    most: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several options over one demand, ready to be drawn and put into words.

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
        How exactly break_even_points are told.
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
        """The options without a price."""
        return break_even.missing(self.costs, self.demands)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each option against each other, as far as both can meet a demand."""
        known = {name: cost for name, cost in self.costs.items() if name not in self.lacking}
        found = []
        for names in itertools.combinations(known, 2):
            both = {name: known[name] for name in names}
            meet = [x for x in self.demands if all(cost(x) for cost in both.values())]
            if meet:
                found.append(Pair(names, break_even.break_evens(both, meet, self.step), meet[-1]))
        return found

    @cached_property
    def break_even_points(self) -> list[Crossing]:
        """Where two lines meet."""
        return [
            Crossing(point.x, float(point.quote.bill.total), self.scale.x_text(point.x))
            for pair in self.pairs
            for point in pair.break_evens[1:]
            if point.quote and point.quote.bill.total is not None
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
    return Comparison(
        name="transactions", unit="IOPS", costs=costs, demands=demands, step=FINE, scale=scale, text=text
    )


def standing(market: Market, requirement: Requirement) -> Comparison:
    """Premium SSD, Premium SSD v2 and Ultra Disk, one or striped, by IOPS that must be there."""
    costs = break_even.by_iops(market, requirement)
    tiers = [edge for row in market.tiers if row.sku == PREMIUM.sku for edge in (row.iops, row.iops + 1)]
    spread = np.geomspace(LEAST_IOPS, MOST_IOPS, POINTS).round()
    demands = sorted({float(x) for x in [*spread, *tiers] if x >= LEAST_IOPS})
    scale = Scale("IOPS that must be there", f"{market.currency} a month")
    return Comparison(
        name="ways",
        unit="IOPS",
        costs=costs,
        demands=demands,
        step=1.0,
        scale=scale,
        text=lambda x: f"{format_count(x)} IOPS",
    )


def bursting(market: Market, size_bytes: float, burst_iops: float) -> Comparison:
    """On-demand bursting against having the IOPS all the time, by hours a month."""
    costs = break_even.by_burst_hours(market, size_bytes, burst_iops)
    demands = [float(x) for x in range(0, int(MONTH_HOURS) + 1, HOURS_STEP)]
    scale = Scale(f"hours a month at {format_count(burst_iops)} IOPS", f"{market.currency} a month")
    return Comparison(
        name="bursts",
        unit="hours",
        costs=costs,
        demands=demands,
        step=1.0,
        scale=scale,
        text=lambda x: f"{format_count(x)} h a month",
    )


def overtakes(one: Comparison) -> str:
    """The first crossing, as the title of a figure."""
    pair = next((pair for pair in one.pairs if len(pair.break_evens) > 1), None)
    if pair is None:
        return "No option becomes cheaper than another in this range"
    point = pair.break_evens[1]
    other = next(name for name in pair.names if name != point.cheapest)
    best = {point.cheapest for point in break_even.break_evens(one.costs, one.demands, one.step)}
    told = f"From {one.text(point.x)} on, {point.cheapest} costs less than {other}"
    return f"{told}; {best.pop()} is the cheapest throughout" if len(best) == 1 else told


def cheapest(one: Comparison) -> str:
    """Which option is the cheapest, as the title of a figure."""
    changes_at = [
        point for point in break_even.break_evens(one.costs, one.demands, one.step) if point.cheapest
    ]
    if not changes_at:
        return "No purchase option has a price"
    names = list(dict.fromkeys(str(point.cheapest) for point in changes_at))
    if len(names) == 1:
        return f"{names[0]}: the cheapest at every demand"
    changes = "; ".join(
        f"from {one.scale.x_text(point.x)} {point.cheapest}" for point in changes_at[:MOST_IN_TITLE]
    )
    return f"The cheapest, by IOPS: {changes}{'; and on' if len(changes_at) > MOST_IN_TITLE else ''}"


def figure(one: Comparison, title: str, what: str, how: Sequence[str], rings: bool = True) -> Block:
    """The lines of a comparison, and a sentence on what has no price."""
    table = break_even.curves(one.costs, one.demands)
    able = set(table.dropna(subset=["price"])["series"])
    known = [name for name in one.costs if name in able and name not in one.lacking]
    note = missing_note(one)
    if not known:
        return note if one.lacking else render("note", text=f"{what} No disk gives as much", options=[])
    series = [plots.Series(name, name, name, colour_of(name)) for name in known]
    drawn = partial(draw, table, series, one.scale, one.break_even_points if rings else [])
    svg = plots.both(drawn, one.name)
    shown = {
        "title": title,
        "what": what,
        "how": [*how, *([_RING] if rings and one.break_even_points else [])],
    }
    return render("figure", id=f"{one.name}-figure", svg=safe(svg), group=None, **shown) + note


def missing_note(one: Comparison) -> Block:
    """The meters without a price, by their names."""
    if not one.lacking:
        return Block("")
    told = "; ".join(f"{name}: {', '.join(map(str, meters))}" for name, meters in one.lacking.items())
    return render("note", text=f"Left out because a price is missing: {told}", options=[])


def break_even_rows(one: Comparison) -> list[dict[str, object]]:
    """One row a pair: where the cheaper of the two changes, what it costs there, and the same in words."""
    rows: list[dict[str, object]] = []
    for pair in sorted(one.pairs, key=lambda pair: len(pair.break_evens) == 1):
        first, *later = pair.break_evens
        other = next(name for name in pair.names if name != first.cheapest)
        points = "; ".join(one.scale.x_text(point.x) for point in later) or "never"
        prices = "; ".join(_price(point.quote) for point in later)
        if later:
            spans = [f"{point.cheapest} from {one.text(point.x)}" for point in later]
            told = f"{first.cheapest} costs less at first, {', then '.join(spans)} on."
        else:
            told = f"{first.cheapest} costs less than {other} at every demand up to {one.text(pair.most)}."
        rows.append(
            {"entry": None, "name": " or ".join(pair.names), "sub": "", "cells": [points, prices, told]}
        )
    return rows


def break_even_points(one: Comparison) -> Block:
    """A table of the break-even points; nothing where only one option has a price."""
    rows = break_even_rows(one)
    if not rows:
        return Block("")
    columns = ["Two options", f"Break-even at, {one.unit}", one.scale.price, "In words"]
    note = f"Where one option becomes cheaper than another, by {one.scale.x}."
    return render(
        "table", id=f"{one.name}-break_evens", note=note, columns=columns, rows=rows, left=[1, 3], long=True
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
        point = pair.break_evens[1] if len(pair.break_evens) > 1 else None
        cells = ["never", ""]
        if point:
            cells = [_tenths(point.x), format_count(point.x * MONTH_S / MILLION)]
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
    return render("table", id="sizes-break_evens", note=note, columns=columns, rows=rows, left=[])


def _tenths(x: float) -> str:
    return format_count(round(x, 1))


def draw(
    table: pd.DataFrame,
    series: Sequence[plots.Series],
    scale: Scale,
    break_even_points: Sequence[Crossing],
    layout: plots.Layout,
) -> plots.Drawn:
    """Prices over a demand, the layout last, as :func:`~azbenchlib.plots.both` gives it."""
    return price_lines(table, series, scale, layout, break_even_points)


def _price(quote: Quote | None) -> str:
    return format_money(float(quote.bill.total)) if quote and quote.bill.total is not None else ""


def colour_of(name: str) -> int:
    """The colour of a purchase option: of the kind of disk with the longest label in its name."""
    named = [kind for kind in disk_kinds.kinds() if kind.label in name]
    if not named:
        return BURSTING_COLOUR
    kind = max(named, key=lambda kind: len(kind.label))
    return kind.striped_colour if name.endswith("striped") and kind.striped_colour else kind.colour
