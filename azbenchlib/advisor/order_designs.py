"""The designs that an order is decided between, each with its price by the way to pay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from azbenchlib.advisor.advise import Advice, recommended
from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure.disk_kinds import LATENCY_CLASSES
from azbenchlib.azure.prices.rows import PAYG, RESERVED_YEARS, SAVINGS_PLANS, SPOT
from azbenchlib.cost.payments import Payment

MORE_HEADROOM, GROWTH = 1.25, 1.5  # our judgement: of the headroom, and of rates and room
SAFE = f"headroom × {MORE_HEADROOM:g}, no bursting, disks with fixed limits that keep their data"
GROWN = f"{GROWTH - 1:.0%} more IOPS, MB/s and data"
WAYS_TO_PAY = (PAYG, *RESERVED_YEARS, *SAVINGS_PLANS, SPOT)


@dataclass(frozen=True, kw_only=True)
class OrderDesign:
    """One of them.

    Parameters
    ----------
    name : str
    meaning : str
        What it is made for.
    configuration : Configuration, optional
        None: nothing meets that.
    """

    name: str
    meaning: str
    configuration: Configuration | None

    def price(self, market: Market) -> Decimal | None:
        """What it costs in a market with other ways to pay; None: a price is missing."""
        if self.configuration is None:
            return None
        bill = replace(self.configuration.candidate, market=market).bill
        return None if bill.missing else bill.total


def markets_by_payment(there: Market, own: Path | None, as_of: str | None) -> dict[str, Market]:
    """The market for each way to pay the VM of which any price is known.

    Parameters
    ----------
    there : Market
        Whose region, currency, hours and agreement hold.
    own, as_of : optional
        As :func:`azbenchlib.advisor.offers.load_market.market` took them for `there`.
    """
    terms = Payment(
        disk_pay=there.disk_pay,
        os=there.os,
        vm_hours=there.vm_hours,
        discount=there.discount,
        currency=there.currency,
    )
    markets = {
        pay: market(
            there.region,
            own=own,
            as_of=as_of,
            payment=replace(terms, pay=pay),
            hours=there.hours,
            with_nvme=there.with_nvme,
        )
        for pay in WAYS_TO_PAY
    }
    return {pay: one for pay, one in markets.items() if one.priced_sizes}


def order_designs(advice: Advice) -> tuple[OrderDesign, ...]:
    """What is recommended, a safe design, and one for growth."""
    return tuple(_designs(advice))


def _designs(advice: Advice) -> Iterator[OrderDesign]:
    demand, there = advice.demand, advice.market
    yield OrderDesign(name="recommended", meaning="the demand as it is stated", configuration=advice.best)
    yield OrderDesign(name="safe", meaning=SAFE, configuration=recommended(_safe(demand), there))
    grown = replace(demand.times(GROWTH), size_bytes=demand.size_bytes * GROWTH)
    yield OrderDesign(name="growth", meaning=GROWN, configuration=recommended(grown, there))


def _safe(demand: Demand) -> Demand:
    """The demand with more headroom, its peak all the time, and no disk with limits that are only "up to"."""
    classes = (demand.latency, "premium")
    latency = min(classes, key=LATENCY_CLASSES.index)
    steady = demand.without_peak() if demand.peak else demand
    return replace(
        steady,
        headroom=demand.headroom * MORE_HEADROOM,
        latency="premium" if latency == "local" else latency,
        persistent=True,
    )
