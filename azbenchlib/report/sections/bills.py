"""What the setups of a dataset cost: the bills line by line, the price for each thousand IOPS delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis import totals
from azbenchlib.answers.blocks import Block, render
from azbenchlib.azure.prices.rows import MONTH_HOURS, PAYMENT_WORDS
from azbenchlib.core.units import NBSP, format_bound, format_money
from azbenchlib.cost import priced_setups
from azbenchlib.cost.priced_setups import Priced, Terms
from azbenchlib.cost.published_costs import Recount
from azbenchlib.model import VM, Setup
from azbenchlib.report import formatting

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

PRINTED_WORDS = {"payg": "Pay as you go", "1y_reserved": "Reserved for one year"}
RECOUNTED = {
    "capacity": "Capacity",
    "iops": "IOPS",
    "mbps": "MB/s",
    "total": "Total",
    "reservation": "vCPU reservation, while no disk is attached",
}


Share = tuple["Part", Mapping[str, Priced], pd.DataFrame]  # of one dataset: its priced setups and rates


def delivered_block(shares: Sequence[Share], name: str) -> Block:
    """Price and rates of each row, and the price of each thousand IOPS and 100 MB/s, in one table.

    Parameters
    ----------
    shares : sequence of Share
    name : str
        The id of the table.
    """
    told = [
        (part, found, row)
        for part, found, rates in shares
        if len(rates)
        for row in priced_setups.per_delivered(rates, found).to_dict(orient="records")
    ]
    unit = currency([one for _, found, _ in shares for one in found.values()])
    several = len({row["facet"] for _, _, row in told}) > 1 or any(
        row["repeats"] > 1 or row["phases"] for _, _, row in told
    )
    cells = {
        f"{unit} a month": [money(row["price"]) for *_, row in told],
        f"{unit} for 1,000 IOPS": [money(row["per_1000_iops"], row["per_iops_bound"]) for *_, row in told],
        f"{unit} for 100 MB/s": [money(row["per_100_mbps"], row["per_mbps_bound"]) for *_, row in told],
        "IOPS": [formatting.iops(row["iops"], row["iops_bound"]) for *_, row in told],
        "MB/s": [formatting.mbps(row["bw_bytes_per_s"], row["bw_bound"]) for *_, row in told],
        f"{unit}, disks only": [_disks(found.get(row["setup_id"])) for _, found, row in told],
    }
    shown = {title: texts for title, texts in cells.items() if any(texts)}
    places = {id(part): f"d{i}" for i, (part, *_) in enumerate(shares)}
    rows = [
        {
            "entry": part.entries[row["series"]],
            "name": part.entries[row["series"]].name,
            "sub": formatting.workload_of(row) if several else "",
            "cells": [texts[i] for texts in shown.values()],
            "dataset": places[id(part)] if len(shares) > 1 else "",
        }
        for i, (part, _, row) in enumerate(told)
    ]
    facet = str(told[0][2]["facet"])
    load = "" if several else f" {facet[:1].upper()}{facet[1:]}."
    every = {f"{i} {key}": one for i, (_, found, _) in enumerate(shares) for key, one in found.items()}
    note = f"Monthly cost of VM and disks, and the performance that it delivered.{load} {coverage(every)}"
    return render("table", id=name, note=note, columns=["Setup", *shown], rows=rows, left=[])


def workloads(part: Part) -> pd.DataFrame:
    """Every workload of a dataset with a rate, all directions together, for :func:`delivered_block`."""
    rates = totals.totals(part.arrangement)
    rates = rates[rates[["iops", "bw_bytes_per_s"]].notna().any(axis=1)]
    return rates.assign(setup_id=rates["series"].map(priced_setups.setup_of(part.arrangement)))


def headlines(part: Part) -> pd.DataFrame:
    """One row a setup: the rate of its card; of several loads of one setup, the most IOPS.

    Where a page cache served some of iozone's sizes, no rate is paid for.
    """
    known = [(card.series, card.rate) for card in part.cards]
    for surface in part.surfaces:
        series, rate = surface.point.series, surface.point.rate
        known.append((series, _without_rates(rate) if surface.served and rate is not None else rate))
    rows = pd.DataFrame([{**rate, "series": series} for series, rate in known if rate is not None])
    if rows.empty:
        return rows
    rows["setup_id"] = rows["series"].map(priced_setups.setup_of(part.arrangement))
    best = rows.sort_values(["iops", "bw_bytes_per_s"], ascending=False, kind="stable")
    return rows.loc[sorted(best.drop_duplicates("setup_id").index)].reset_index(drop=True)


def _without_rates(rate: pd.Series) -> pd.Series:
    return rate.mask(rate.index.isin(["iops", "bw_bytes_per_s"]))


def called(part: Part, setup_id: str) -> str:
    """The name of a setup; where the series are loads, that in the manifest."""
    entry = part.entries.get(setup_id)
    return setup_id if entry is None else entry.name


def recounted(found: Sequence[Recount], place: str) -> Block:
    """What a publication prints, compared with what its own unit prices come to."""
    rows = []
    for one in found:
        off = one.printed - one.computed
        told = "agrees" if not off else f"{'too high' if off > 0 else 'too low'} by {_plain(abs(off))}"
        cells = [_plain(one.printed), _plain(one.computed), told, one.how]
        sub = f"“{one.claim}”" if one.claim else ""
        rows.append({"entry": None, "name": RECOUNTED[one.what], "sub": sub, "cells": cells})
    unit = found[0].unit
    columns = ["Cost", f"Published, {unit}", f"By its prices, {unit}", "Published figure", "Recomputed from"]
    note = (
        "Costs as the publication prints them, recomputed from the unit prices that it prints. The "
        "reservation counts all vCPUs of a constrained size, not only those that the guest sees."
    )
    return render("table", id=f"{place}-recount", note=note, columns=columns, rows=rows, left=[3, 4])


def printed_vm_prices(printed: pd.DataFrame, part: Part, terms: Terms, place: str) -> Block:
    """VM prices of a publication and of the price book: other days, and often other currencies."""
    payments = [name for name in PRINTED_WORDS if name in printed.columns]
    setups = part.dataset.setups.set_index("setup_id")
    rows, found = [], {}
    for row in printed.to_dict(orient="records"):
        region = terms.region or str(setups.loc[row["setup_id"], "region"])
        one = priced_setups.price(
            Setup(VM(size=row["vm_size"])), replace(terms, region=region, hours=MONTH_HOURS)
        )
        found[str(row["setup_id"])] = one
        cells = [*(money(row[name]) for name in payments), money(one.total)]
        name = str(row["vm_size"]).removeprefix("Standard_")
        rows.append({"entry": None, "name": name, "sub": "", "cells": cells})
    unit = str(printed["unit"].iloc[0]).replace("/", " a ")
    heads = [f"{PRINTED_WORDS[name]}, {unit}, as published" for name in payments]
    heads.append(f"{PAYMENT_WORDS[terms.pay].capitalize()}, {currency(found.values())} a month, price book")
    note = f"VM prices as published with the measurements ({part.manifest.measured}). {coverage(found)}"
    return render("table", id=f"{place}-printed", note=note, columns=["VM", *heads], rows=rows, left=[])


def coverage(found: Mapping[str, Priced]) -> str:
    """Region and day of the prices: a sentence."""
    bills = [one for one in found.values() if one.bill and one.bill.lines]
    if not bills:
        return ""
    days = sorted({line.price.as_of for one in bills for line in one.bill.lines})  # type: ignore[union-attr]
    span = " to ".join(day_text(day) for day in dict.fromkeys((days[0], days[-1])))
    return f"List prices of {', '.join(dict.fromkeys(one.region for one in bills))}, read {span}."


def day_text(iso: str) -> str:
    """``22 August 2026``, on one line."""
    day = pd.Timestamp(iso)
    return f"{day.day}{NBSP}{day:%B}{NBSP}{day.year}"


def currency(found: Sequence[Priced] | Any) -> str:
    """Of the bills; all of one price book have the same."""
    known = dict.fromkeys(one.bill.currency for one in found if one.bill and one.bill.currency)
    return "/".join(known) or "Price"


def _plain(value: Decimal) -> str:
    """In full, with thousands separators and without idle zeros."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def money(value: Any, bound: Any = "=") -> str:
    """An amount with its bound, or nothing."""
    return "" if pd.isna(value) else f"{format_bound(bound)}{format_money(float(value))}"


def _disks(one: Priced | None) -> str:
    """What the managed disks cost of it; nothing where there is no total."""
    return "" if one is None or one.total is None else money(float(disks_total(one)))


def disks_total(one: Priced) -> Decimal:
    """The lines of the bill that are not the VM's own."""
    lines = one.bill.lines if one.bill else ()
    return sum((line.amount for line in lines if line.what != one.setup.vm.size), Decimal(0))
