"""Which purchase option of disks is the cheapest, and where another one takes over.

Each option is a function of one demand: the IOPS used on average, the IOPS that must be there, or the hours
of a burst in a month. What it answers comes from :mod:`azbenchlib.cost.bill`, so every price is that of a
bill. Where the cheapest option changes is found by halving, so steps between tiers are exact too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import pandas as pd

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.disk_options import options, tier_disk
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure import disk_kinds
from azbenchlib.azure.catalog.rows import TierRow
from azbenchlib.azure.disk_kinds import IO_UNIT_BYTES, PREMIUM, PREMIUM_V2, DiskKind
from azbenchlib.azure.prices.rows import Meter
from azbenchlib.core.units import KIB, S_PER_HOUR
from azbenchlib.cost.bill import Bill
from azbenchlib.cost.operations import Burst
from azbenchlib.cost.usage import Use
from azbenchlib.model.setup import ON_DEMAND_ABOVE_BYTES, Setup


@dataclass(frozen=True)
class Quote:
    """What is provisioned, such as ``2 × P30``, and its bill, for the market's period."""

    what: str
    bill: Bill


Cost = Callable[[float], Quote | None]  # of a demand; None: the option cannot meet it


@dataclass(frozen=True)
class Requirement:
    """What must be there besides the IOPS: so much space and so many bytes per second, in at most so many
    disks. The IOPS are of `bs_bytes` each, so many of them are bytes too.
    """

    size_bytes: float
    bytes_per_s: float
    bs_bytes: int = 4 * KIB
    most_disks: int = 16


@dataclass(frozen=True)
class BreakEven:
    """From a demand of `x` on, `cheapest` costs the least (``None``: nothing meets it); before, another."""

    x: float
    cheapest: str | None
    quote: Quote | None


def by_transactions(
    market: Market, size_bytes: float, bs_bytes: int, transaction_cap: int | None = None
) -> dict[str, Cost]:
    """Premium SSD and the Standard disks, whose transactions are billed, by IOPS on average over the month.

    Parameters
    ----------
    market : Market
    size_bytes : float
        Of the disk.
    bs_bytes : int
        Size of an I/O; above 256 KiB each counts as several.
    transaction_cap : int, optional
        Transactions of a Standard SSD that are billed in an hour at most; None: no cap is known.
    """
    found: dict[str, Cost] = {}
    for kind in disk_kinds.managed():
        if row := smallest_tier(market, kind, size_bytes):
            found[f"{kind.label} {row.name}"] = cache(partial(_used, market, row, bs_bytes, transaction_cap))
    return found


def by_iops(market: Market, requirement: Requirement) -> dict[str, Cost]:
    """Premium SSD, Premium SSD v2 and Ultra Disk, one disk or several striped, by IOPS that must be there.

    Of a tier of which one disk is enough, no stripe is offered.
    """
    found: dict[str, Cost] = {}
    for kind in disk_kinds.managed():
        if kind.serves("premium"):
            found[kind.label] = cache(partial(_standing, market, requirement, kind, False))
            if kind.striped_colour is not None:
                found[f"{kind.label} striped"] = cache(partial(_standing, market, requirement, kind, True))
    return found


def by_burst_hours(market: Market, size_bytes: float, burst_iops: float) -> dict[str, Cost]:
    """On-demand bursting against disks that have the IOPS all the time, by hours of the burst in a month.

    Parameters
    ----------
    market : Market
    size_bytes : float
        Above 512 GiB: smaller disks have no on-demand bursting, and nothing is found.
    burst_iops : float
        Of the burst.
    """
    row = smallest_tier(market, PREMIUM, size_bytes)
    if size_bytes <= ON_DEMAND_ABOVE_BYTES or row is None:
        return {}
    requirement = Requirement(size_bytes, row.bytes_per_s)
    kinds = (PREMIUM, PREMIUM_V2)
    premium, v2 = (cache(partial(_standing, market, requirement, kind, None)) for kind in kinds)
    return {
        f"{row.name} bursting on demand": cache(partial(_bursting, market, row, burst_iops)),
        f"{PREMIUM.label} with {burst_iops:,.0f} IOPS": partial(_always, premium, burst_iops),
        PREMIUM_V2.label: partial(_always, v2, burst_iops),
    }


def curves(costs: Mapping[str, Cost], demands: Iterable[float]) -> pd.DataFrame:
    """The price of each option at each demand.

    Returns
    -------
    DataFrame
        Columns series (the option), x, price (in the market's period and currency; NA: it cannot be met,
        or a price is missing), what (is provisioned).
    """
    rows = []
    for x in demands:
        for name, cost in costs.items():
            quote = cost(x)
            total = quote.bill.total if quote else None
            rows.append((name, float(x), None if total is None else float(total), quote and quote.what))
    table = pd.DataFrame(rows, columns=["series", "x", "price", "what"])
    return table.astype({"series": "string", "x": "Float64", "price": "Float64", "what": "string"})


def break_evens(costs: Mapping[str, Cost], demands: Sequence[float], step: float = 1.0) -> list[BreakEven]:
    """Where the cheapest option changes, from the smallest demand on; of equal prices the first counts.

    Parameters
    ----------
    costs : mapping of str to Cost
    demands : sequence of float
        Ascending multiples of `step`. An option that is the cheapest only between two neighbours is not seen.
    step : float
        How exactly a point is found.
    """

    @cache
    def cheapest(n: int) -> str | None:
        return _cheapest(costs, n * step)

    def between(low: int, high: int) -> Iterator[int]:
        if cheapest(low) == cheapest(high):
            return
        if high - low == 1:
            yield high
            return
        middle = (low + high) // 2
        yield from between(low, middle)
        yield from between(middle, high)

    places = [round(x / step) for x in demands]
    found = places[:1]
    for low, high in itertools.pairwise(places):
        found += between(low, high)
    names = [(n * step, cheapest(n)) for n in found]
    return [BreakEven(x, name, costs[name](x) if name else None) for x, name in names]


def missing(costs: Mapping[str, Cost], demands: Iterable[float]) -> dict[str, tuple[Meter, ...]]:
    """The meters without a price, by the options that need one at some demand: these are not compared."""
    lacking: dict[str, tuple[Meter, ...]] = {}
    points = list(demands)
    for name, cost in costs.items():
        bills = [quote.bill for quote in map(cost, points) if quote]
        if meters := dict.fromkeys(meter for bill in bills for meter in bill.missing):
            lacking[name] = tuple(meters)
    return lacking


def smallest_tier(market: Market, kind: DiskKind, size_bytes: float) -> TierRow | None:
    """The smallest tier of a kind that holds so much; None: it has none."""
    fitting = (row for row in market.tiers if row.sku == kind.sku and row.size_bytes >= size_bytes)
    return min(fitting, key=lambda row: row.size_bytes, default=None)


def _cheapest(costs: Mapping[str, Cost], x: float) -> str | None:
    quotes = {name: cost(x) for name, cost in costs.items()}
    totals = {name: quote.bill.total for name, quote in quotes.items() if quote}
    known = {name: total for name, total in totals.items() if total is not None}
    return min(known, key=lambda name: known[name], default=None)


def _used(
    market: Market, row: TierRow, bs_bytes: int, transaction_cap: int | None, iops: float
) -> Quote | None:
    """A disk with so many I/Os on average; None above its limit."""
    if iops * math.ceil(bs_bytes / IO_UNIT_BYTES) > row.iops:
        return None
    use = Use(ios_per_s=iops, bs_bytes=bs_bytes, transaction_cap=transaction_cap)
    disk = tier_disk(row, 1, False, "LRS")
    return Quote(row.name, market.bill(Setup(disks=(disk,)), use))


def _standing(
    market: Market, requirement: Requirement, kind: DiskKind, striped: bool | None, iops: float
) -> Quote | None:
    """The cheapest disk of a kind, the cheapest stripe, or of both (None), with so many IOPS all the time."""
    demand = Demand(
        size_bytes=requirement.size_bytes,
        iops=iops,
        bytes_per_s=requirement.bytes_per_s,
        bs_bytes=requirement.bs_bytes,
        headroom=1.0,
    )
    found = options(kind, False, demand, market, on_demand=False)
    few = [one for one in found if 2 <= one.disk.count <= requirement.most_disks or one.disk.count == 1]
    return _least([Quote(one.disk.name, one.bill) for one in few if striped in (None, one.disk.count > 1)])


def _bursting(market: Market, row: TierRow, burst_iops: float, hours: float) -> Quote | None:
    if burst_iops > (row.on_demand_burst_iops or 0):
        return None
    disk = tier_disk(row, 1, False, "LRS", on_demand=True)
    use = Use(bursts=(Burst(hours * S_PER_HOUR, burst_iops),))
    return Quote(disk.name, market.bill(Setup(disks=(disk,)), use))


def _always(cost: Cost, burst_iops: float, _hours: float) -> Quote | None:
    """What has the IOPS all the time costs the same however long they are used."""
    return cost(burst_iops)


def _least(quotes: Sequence[Quote]) -> Quote | None:
    """The cheapest; without any total the first, which names what is missing."""
    priced = [quote for quote in quotes if quote.bill.total is not None]
    return min(priced, key=lambda quote: quote.bill.total or 0) if priced else next(iter(quotes), None)
