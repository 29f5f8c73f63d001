"""What more of a demand costs: the cheapest VM with each kind of disk."""

from __future__ import annotations

from functools import partial

import pandas as pd

from azbenchlib import plots
from azbenchlib.advisor.demands.demand import MOST_DISKS, Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import FOR_SERVERS, SERVER_CHOICE
from azbenchlib.advisor.reasons.frontier import frontier
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.azure import disk_kinds
from azbenchlib.core.units import NBSP, format_count, format_mbps, format_money, format_size
from azbenchlib.plots.cost import Scale
from azbenchlib.report.sections.purchase_options import colour_of, draw

FACTORS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of the demand
FILLED = "A filled marker is the cheapest kind of disk at that demand, a hollow one the cheapest of its kind."
PROMISED = {
    "local": "on the host",
    "submillisecond": "within 1 ms",
    "premium": "within 10 ms",
    "ssd": "within 10 ms for 99 % of the time",
}


def frontier_figure(market: Market, demand: Demand) -> Block:
    """The cheapest VM with each kind of disk for parts and multiples of a demand, and a table of the best."""
    rows = pd.DataFrame(frontier(demand, market, FACTORS))
    if rows.empty:
        text = f"No VM and disk with a price in {market.region} give an eighth of it"
        return render("note", text=text, options=[])
    price = rows["price"].astype(float)
    what = rows["vm"].str.removeprefix("Standard_") + " with " + rows["disks"]
    names = rows["kind"].map(lambda key: disk_kinds.get(key).label)
    table = pd.DataFrame(
        {"series": names, "x": rows["iops"], "price": price, "best": rows["best"], "what": what}
    )
    series = [plots.Series(name, name, name, colour_of(name)) for name in dict.fromkeys(names)]
    scale = Scale("IOPS that VM and disks must give", f"{market.currency} a month")
    svg = plots.both(partial(draw, table, series, scale, []), "frontier")
    best = table[table["best"]]
    shown = {
        "title": _title(best, market.currency),
        "what": (
            f"{format_size(demand.size_bytes)} and 1/8 to 8 times {format_count(demand.steady[0])} IOPS and "
            f"{format_mbps(demand.steady[1])} MB/s, {market.region}, list price of VM and disks."
        ),
        "how": [
            FILLED,
            _conditions(demand),
            *([f"{FOR_SERVERS}."] if demand.choice == SERVER_CHOICE else []),
        ],
    }
    return render("figure", id="frontier-figure", svg=safe(svg), group=None, **shown) + _best(best, scale)


def _conditions(demand: Demand) -> str:
    """What every configuration of the figure meets besides the rates."""
    most = f"At most {demand.most_disks} disks. " if demand.most_disks < MOST_DISKS else ""
    limits = (
        f"{most}Every limit of VM and disks is at least {demand.headroom:g} times the requirement, "
        f"{100 * demand.read_share:.0f}{NBSP}% of it reads"
    )
    kept = ["keep their data"] if demand.persistent else []
    promised = PROMISED.get(demand.latency)
    wanted = [*kept, *([f"answer {promised}"] if promised else [])]
    return f"{limits}; only disks that {' and '.join(wanted)}." if wanted else f"{limits}."


def _best(best: pd.DataFrame, scale: Scale) -> Block:
    """The cheapest of all kinds at each demand."""
    rows = [
        {
            "entry": None,
            "name": f"{format_count(row.x)} IOPS",
            "sub": "",
            "cells": [row.what, format_money(row.price), format_money(1000 * row.price / row.x)],
        }
        for row in best.itertuples()
    ]
    columns = ["Requirement", "Cheapest", scale.price, "For 1,000 IOPS"]
    note = (
        "The cheapest of all kinds at each demand; azbench advise explains why cheaper configurations fail."
    )
    return render("table", id="frontier-best", note=note, columns=columns, rows=rows, left=[1])


def _title(best: pd.DataFrame, currency: str) -> str:
    """What the demand times 64 costs."""
    first, last = best.iloc[0], best.iloc[-1]
    more, increase = last["x"] / first["x"], last["price"] / first["price"]
    span = f"{currency} {format_money(first['price'])} to {format_money(last['price'])} a month"
    return f"{more:.0f} times the IOPS cost {increase:.1f} times as much: {span}"
