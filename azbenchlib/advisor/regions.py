"""One demand in several regions: the cheapest configuration in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.advisor.advise import recommended
from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.azure.prices.book import check_region, regions
from azbenchlib.azure.prices.rows import PAYMENT_WORDS
from azbenchlib.core.errors import InputError
from azbenchlib.cost.payments import Payment

WORLD = "world"


@dataclass(frozen=True)
class RegionalAnswer:
    """The cheapest configuration in a region; None: there is none, and `why`."""

    region: str
    configuration: Configuration | None
    why: str = ""


def over_regions(
    demand: Demand,
    names: Iterable[str],
    payment: Payment,
    own: Path | None = None,
    as_of: str | None = None,
    with_nvme: bool = False,
) -> list[RegionalAnswer]:
    """The answer in each region, the cheapest first; at the end those without one.

    Parameters
    ----------
    demand : Demand
    names : iterable of str
        Regions; ``world`` is every one for which prices are known.
    payment : Payment
    own, as_of, with_nvme : optional
        As :func:`azbenchlib.advisor.offers.load_market.market` takes them.

    Raises
    ------
    InputError
        When a region is not known, or prices are in several currencies.
    """
    wanted: dict[str, None] = {}
    for name in names:
        wanted |= dict.fromkeys(sorted(regions()) if name.lower() == WORLD else [check_region(name)])
    found = [_answer(demand, name, payment, own, as_of, with_nvme) for name in wanted]
    priced = [one for one in found if one.configuration]
    currencies = {one.configuration.candidate.market.currency for one in priced if one.configuration}
    if len(currencies) > 1:
        raise InputError(f"the prices are in {' and '.join(sorted(currencies))}: they cannot be compared")
    return sorted(found, key=lambda one: (one.configuration is None, _price(one), one.region))


def _price(one: RegionalAnswer) -> float:
    return float(one.configuration.price) if one.configuration else 0.0


def _answer(
    demand: Demand, region: str, payment: Payment, own: Path | None, as_of: str | None, with_nvme: bool
) -> RegionalAnswer:
    try:
        there = market(region, own=own, as_of=as_of, payment=payment, with_nvme=with_nvme)
    except InputError as error:
        return RegionalAnswer(region, None, str(error))
    if not there.priced_sizes:
        return RegionalAnswer(region, None, f"no {PAYMENT_WORDS[payment.pay]} price of a VM is known there")
    found = recommended(demand, there)
    return RegionalAnswer(region, found, "" if found else "no VM and disks with a price there meet it")
