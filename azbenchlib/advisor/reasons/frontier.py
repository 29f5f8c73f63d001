"""The cost frontier: what more of a demand costs, with each kind of disk."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import search


@dataclass(frozen=True, kw_only=True)
class FrontierRow:
    """The cheapest configuration with one kind of disk, for so many times the demand's rates.

    `iops` and `bytes_per_s` are those that are wanted all the time; `best`: nothing is cheaper.
    """

    factor: float
    iops: float
    bytes_per_s: float
    kind: str
    best: bool
    vm: str
    disks: str
    caching: str
    disk_count: int
    price: Decimal
    currency: str
    price_per_1000_iops: Decimal


def frontier(demand: Demand, market: Market, factors: Iterable[float]) -> list[FrontierRow]:
    """A row for each factor and kind of disk that can do it; none where it cannot.

    Parameters
    ----------
    demand : Demand
    market : Market
    factors : iterable of float
        Of the rates; the size stays.
    """
    found = []
    for factor in factors:
        wanted = demand.times(factor)
        there = search(wanted, market)
        best = there.cheapest()
        for kind in there.kinds():
            candidate = there.cheapest([kind])
            if candidate is None or best is None:
                continue
            iops, size = wanted.steady
            disk = candidate.option.disk
            found.append(
                FrontierRow(
                    factor=factor,
                    iops=iops,
                    bytes_per_s=size,
                    kind=kind.key,
                    best=kind == best.option.kind,
                    vm=candidate.setup.vm.size or "",
                    disks=disk.name,
                    caching=disk.caching,
                    disk_count=disk.count,
                    price=candidate.price,
                    currency=market.currency,
                    price_per_1000_iops=candidate.price * 1000 / Decimal(str(iops)),
                )
            )
    return found
