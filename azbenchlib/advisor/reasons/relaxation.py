"""When nothing meets a demand: which requirement to relax, and how far, so that something does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from azbenchlib.advisor.demands.demand import MOST_DISKS, Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import ANYTHING
from azbenchlib.advisor.offers.vm_sizes import EVERY
from azbenchlib.advisor.search import search
from azbenchlib.core.units import GIB, MB, format_size

_SHOWN = 2


@dataclass(frozen=True)
class _Number:
    """A figure of the demand: with another value, in whole steps, and how it is said."""

    name: str
    value: float
    step: float
    text: Callable[[float], str]

    def at(self, demand: Demand, value: float) -> Demand:
        """The demand with another value."""
        changed: dict[str, Any] = {self.name: value}
        return replace(demand, **changed)


def sentence(demand: Demand, market: Market) -> str:
    """What is not met, and what would be: one figure less, or one condition fewer.

    Parameters
    ----------
    demand : Demand
        That nothing meets.
    market : Market
    """
    there = f"no VM and disks in {market.region} meet this demand{_uncounted_hits(demand, market)}"
    found = sorted(_less(demand, market), key=lambda pair: -pair[0])[:_SHOWN]
    if found:
        return (
            f"{there}; the nearest that is met, all else as it is: {', or '.join(text for _, text in found)}"
        )
    dropped = [text for text, other in _fewer(demand) if _met(other, market)]
    if dropped:
        return f"{there}; it is met {', or '.join(dropped)}"
    return f"{there}; relaxing any single requirement does not help; {_unpriced(demand, market)}"


def _uncounted_hits(demand: Demand, market: Market) -> str:
    """That no read counts as a hit of the host cache, where that is so on each VM size that suits."""
    suiting = [market.vms[i] for i in np.flatnonzero(market.vm_sizes.suits(demand))]
    if not demand.cache_hit or not suiting or any(vm_size.caching for vm_size in suiting):
        return ""
    which = suiting[0].size if len(suiting) == 1 else f"any of the {len(suiting)} VM sizes that suit"
    return f" (hits of the host cache do not count: no cached limit of {which} is documented)"


def _less(demand: Demand, market: Market) -> Iterator[tuple[float, str]]:
    """The largest share of each figure that is met, and the sentence of it."""
    for number in _numbers(demand):
        most = _largest(number, demand, market)
        if most:
            yield most / number.value, f"{number.text(most)} instead of {number.text(number.value)}"


def _numbers(demand: Demand) -> list[_Number]:
    figures = [
        _Number("iops", demand.iops or 0, 1, lambda value: f"{value:,.10g} IOPS"),
        _Number("bytes_per_s", demand.bytes_per_s or 0, MB, lambda value: f"{value / MB:,.10g} MB/s"),
        _Number("size_bytes", demand.size_bytes, GIB, format_size),
        _Number("vcpus", demand.vcpus or 0, 1, lambda value: f"{value:,.10g} vCPUs"),
        _Number("memory_bytes", demand.memory_bytes or 0, GIB, lambda value: f"{format_size(value)} of RAM"),
        _Number(
            "memory_per_vcpu_bytes",
            demand.memory_per_vcpu_bytes or 0,
            GIB,
            lambda value: f"{format_size(value)} of RAM a vCPU",
        ),
    ]
    return [figure for figure in figures if figure.value]


def _largest(number: _Number, demand: Demand, market: Market) -> float:
    """The largest value in whole steps that is met; 0: none is. More is never easier, so halves do."""

    def met(steps: int) -> bool:
        return _met(number.at(demand, steps * number.step), market)

    if not met(1):
        return 0
    low, high = 1, 2
    while met(high):  # doubled first: what is wanted may be far above
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if met(middle) else (low, middle)
    return low * number.step


def _fewer(demand: Demand) -> Iterator[tuple[str, Demand]]:
    """The demand without one of its conditions."""
    some: dict[str, Any] = {
        "without the peak": {"peak": None},
        "without headroom": {"headroom": 1.0},
        "with any latency": {"latency": "any"},
        "with LRS": {"redundancy": "LRS"},
        "with local disks that lose their data": {"persistent": False},
        "with another VM size": {"vm": EVERY},
        "with another CPU architecture": {"architecture": "any"},
        f"with up to {MOST_DISKS} disks": {"most_disks": MOST_DISKS},
        "with any VM family": {"choice": ANYTHING},
        "in another zone": {"zone": None},
        "without the OS disk": {"os_disk": None},
    }
    for text, change in some.items():
        other = replace(demand, **change)
        if other != demand:
            yield text, other
    if demand.latency == "local" and demand.persistent:
        yield "with < 1 ms on disks that keep their data", replace(demand, latency="submillisecond")
    yield "with a tenth of the rates", demand.times(0.1)


def _met(demand: Demand, market: Market) -> bool:
    return search(demand, market).cheapest() is not None


def _unpriced(demand: Demand, market: Market) -> str:
    groups = search(demand, market).groups
    priceless = (group.kind.key for group in groups if group.unpriced or group.unpriced_sizes.any())
    kinds = ", ".join(dict.fromkeys(priceless))
    return f"what meets it has no price there: {kinds}" if kinds else "nothing in the catalogue comes near it"
