"""What the setups of a dataset cost, and what that is for each thousand IOPS that they delivered."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pandas as pd

from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.azure import catalog
from azbenchlib.azure.prices.book import USD, book
from azbenchlib.azure.prices.rows import MONTH_HOURS, PAYG
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.usage import Use, charges, check_tier, doubts
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.setup import Setup

PRICED_IN = ("azure", "lab")  # a lab's disk stands for one in Azure
# Of a figure that is only a bound, the price for each is one the other way round.
_TURNED = {"<": ">", ">": "<"}


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How setups are paid for, and by which prices.

    Parameters
    ----------
    region : str
        Empty: where each was measured.
    hours : Decimal
        The period.
    pay : str
        Of the VM, as in :class:`~azbenchlib.cost.usage.Use`.
    own : Path, optional
        A price book of one's own.
    as_of : str
        ISO day whose prices count; empty: the newest.
    currency : str
        Of the shipped prices and of those that were read; `own` has its own.
    """

    region: str = ""
    hours: Decimal = MONTH_HOURS
    pay: str = PAYG
    own: Path | None = None
    as_of: str = ""
    currency: str = USD


@dataclass(frozen=True, kw_only=True)
class Priced:
    """A setup with its bill.

    Parameters
    ----------
    setup : Setup
        With the catalogue's numbers, where it has them.
    region : str
    bill : Bill, optional
        None: it cannot be billed.
    why : str
        Why there is no total, in a sentence; empty where there is one.
    doubts : tuple of str
        What the bill leaves out.
    """

    setup: Setup
    region: str
    bill: Bill | None = None
    why: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """Of the period; None where a price is missing."""
        return self.bill.total if self.bill else None


def resolved(stated: Setup, day: str) -> Setup:
    """The setup with the catalogue's numbers, if it can be billed as it is described.

    Raises
    ------
    InputError
        For what the catalogue does not know, and for a tier that a disk of its size cannot have.
    """
    full = resolve(stated, day)
    for disk in full.disks:
        if disk.tier and disk.sku and disk.size_bytes:
            by_size = catalog.tier_for(disk.sku, int(disk.size_bytes), full.as_of)
            check_tier(disk, catalog.disk_tier(disk.tier, full.as_of), by_size)
    return full


def price(stated: Setup, terms: Terms) -> Priced:
    """The bill of a setup at the prices, and by the billing rules, of the day of the terms.

    Parameters
    ----------
    stated : Setup
        As a dataset or a notation describes it; its limits are those of its own day.
    terms : Terms
        With a region.
    """
    try:
        full = resolved(stated, date.today().isoformat())
        there = book(terms.region, terms.own, terms.as_of or None, terms.currency)
        vcpus = catalog.vm(full.vm.size, full.as_of).vcpus if full.vm.size else None
        use = Use(pay=terms.pay, vcpus=vcpus)
        billed = replace(full, as_of=terms.as_of or None)
        found = bill(charges(billed, there.region, terms.hours, use), there.prices, terms.hours)
    except InputError as error:
        return Priced(setup=stated, region=terms.region, why=str(error))
    if not found.lines and not found.missing:
        return Priced(
            setup=full, region=there.region, why="local disks cost nothing of their own, and no VM is stated"
        )
    lacking = ", ".join(dict.fromkeys(map(str, found.missing)))
    why = f"no price in {there.region} for {lacking}" if lacking else ""
    return Priced(
        setup=full, region=there.region, bill=found, why=why, doubts=(*_left_out(full), *doubts(full, use))
    )


def check_currency(tables: Mapping[str, pd.DataFrame], currency: str) -> None:
    """See that each region in which a setup of a dataset was measured has prices in a currency; a setup of no
    stated region is checked only where none states one.

    Raises
    ------
    InputError
        When one has none, with the command that reads them.
    """
    setups, measured = tables["setups"], tables["runs"]["setup_id"]
    priced = setups[setups["environment"].isin(PRICED_IN) & setups["setup_id"].isin(measured)]
    stated = priced["region"].dropna().unique()
    for region in stated if len(stated) or priced.empty else [DEFAULT_REGION]:
        book(str(region), currency=currency)


def measured_setups(
    tables: Mapping[str, pd.DataFrame], used: Container[str], terms: Terms
) -> dict[str, Priced]:
    """The setups of a dataset that are Azure's, or stand for such, by setup_id.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    used : container of str
        The setup_ids that count.
    terms : Terms
        Without a region, each is priced where it was measured.
    """
    return {
        name: price(stated_setup(tables, name), replace(terms, region=terms.region or region))
        for name, region in regions(tables).items()
        if name in used
    }


def regions(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Where each setup of a dataset that is Azure's, or stands for such, is bought, by setup_id."""
    found = {}
    for row in tables["setups"].itertuples():
        stated = stated_setup(tables, str(row.setup_id))
        if row.environment in PRICED_IN and (stated.vm.size or stated.disks):
            found[str(row.setup_id)] = DEFAULT_REGION if pd.isna(row.region) else str(row.region)
    return found


def per_delivered(rates: pd.DataFrame, setups: Mapping[str, Priced]) -> pd.DataFrame:
    """The price of each thousand IOPS and of each 100 MB/s that were delivered.

    Parameters
    ----------
    rates : DataFrame
        Columns setup_id, iops, bw_bytes_per_s, iops_bound, bw_bound: one row a workload.
    setups : mapping of str to Priced
        By setup_id.

    Returns
    -------
    DataFrame
        The same rows with price (of the period), per_1000_iops and per_100_mbps in the currency of the
        bill, and their bounds; NA where the price or the rate is missing.
    """
    totals = [setups[name].total if name in setups else None for name in rates["setup_id"]]
    price_of = pd.array([None if total is None else float(total) for total in totals], dtype="Float64")
    iops, rate = (pd.to_numeric(rates[name]).astype("Float64") for name in ("iops", "bw_bytes_per_s"))
    return rates.assign(
        price=price_of,
        per_1000_iops=(price_of * 1000 / iops.where(iops > 0)),
        per_100_mbps=(price_of * 100 * MB / rate.where(rate > 0)),
        per_iops_bound=rates["iops_bound"].replace(_TURNED),
        per_mbps_bound=rates["bw_bound"].replace(_TURNED),
    )


def setup_of(arrangement: Arrangement) -> dict[str, str]:
    """The setup_id of each series."""
    runs = arrangement.runs
    return dict(zip(runs["series"], runs["setup_id"], strict=True))


def _left_out(setup: Setup) -> list[str]:
    """A VM boots from a disk; publications seldom name it."""
    boots = any(disk.role in ("os", "ephemeral_os") for disk in setup.disks)
    return [] if boots or not setup.vm.size else ["the OS disk is not stated, so it is not counted"]
