"""The report's part on cost: what each measured setup costs a month, and what would do for less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.advisor.cheaper import Cheaper, cheaper
from azbenchlib.core.units import format_money
from azbenchlib.cost import priced_setups, published_costs
from azbenchlib.cost.priced_setups import Priced, Terms
from azbenchlib.report import formatting
from azbenchlib.report.blocks import Block, render, safe
from azbenchlib.report.figures import Group
from azbenchlib.report.sections import bills
from azbenchlib.report.sections.cheaper import design_words, vm_words
from azbenchlib.report.sections.frontiers import BURSTABLE

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

KEEPING = (
    "The cheapest of today with the same rates and size, as durable and of the same class of latency, on a "
    "VM of the same CPU architecture with as many vCPUs and as much memory; an OS disk comes on top."
)


def price_part(part: Part, place: str, group: Group, heading: bool) -> Block | None:
    """Prices, what is cheaper, and doubts; None where no setup of Azure is known.

    Parameters
    ----------
    part : Part
    place : str
        For the ids of the page.
    group : dict, optional
        Title of the dataset, where the report has several.
    heading : bool
        Whether the part's own heading comes before it.
    """
    found = bills.price_setups(part, Terms())
    if not found:
        return None
    rates = bills.headlines(part)
    rated = rates[rates["setup_id"].isin([key for key, one in found.items() if one.total is not None])]
    names = {key: bills.called(part, key) for key in found}
    if rated.empty:
        text = f"Nothing here can be priced: {next(iter(found.values())).why or 'no rate is stated'}"
        shown = {"table": safe(render("note", text=text, options=[]).html), "finding": "", "doubts": []}
        return render("cost", heading=heading, group=group, cheaper=[], cheaper_note="", **shown)
    designs, none = cheaper(rated, found)
    burstable = any(vm_words(one).startswith("B") for one in designs)
    doubts = [*_none_cheaper(part, none), *bills.notes(names, found), *_more_doubts(part, found)]
    return render(
        "cost",
        heading=heading,
        group=group,
        finding=_finding(part, priced_setups.per_delivered(rated, found), found),
        table=safe(bills.delivered_block(part, place, found, rated).html),
        cheaper=_cheaper_rows(part, designs),
        cheaper_note=f"{KEEPING} {BURSTABLE}" if burstable else KEEPING,
        doubts=doubts,
    )


def _finding(part: Part, table: pd.DataFrame, found: Mapping[str, Priced]) -> str:
    """The cheapest and the dearest thousand IOPS; of MB/s where IOPS are not stated."""
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


def _cheaper_rows(part: Part, designs: list[Cheaper]) -> list[tuple[str, str]]:
    return [(part.entries[one.series].name, design_words(one)) for one in designs]


def _none_cheaper(part: Part, none: list[str]) -> list[str]:
    names = formatting.join(part.entries[key].name for key in none)
    return [f"Nothing found that gives as much for less: {names}."] if none else []


def _more_doubts(part: Part, found: Mapping[str, Priced]) -> list[str]:
    """Where no region is stated, what is emulated, what was published."""
    setups = part.dataset.setups.set_index("setup_id").loc[list(found)]
    said = []
    if setups["region"].isna().any():
        said.append(f"No region is stated for some: prices of {bills.ELSEWHERE}.")
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
