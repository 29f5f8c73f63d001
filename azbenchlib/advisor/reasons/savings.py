"""What an answer would save if a condition that suits a server were dropped: one line a condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from azbenchlib.advisor.demands.demand import MOST_DISKS, Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import Candidate, search

LEAST_SAVED = 0.01  # of the price; below, it is the same


@dataclass(frozen=True)
class Saving:
    """What is recommended with an `option` of the command line more; `share` of the price less."""

    option: str
    what: str
    candidate: Candidate
    share: float


def savings(demand: Demand, market: Market, best: Candidate) -> tuple[Saving, ...]:
    """The conditions without which another configuration would cost less, the largest saving first.

    Parameters
    ----------
    demand : Demand
    market : Market
    best : Candidate
        The recommended one with all conditions.
    """
    found = []
    for option, what, loosened in _loosened(demand):
        candidate = search(loosened, market).recommended()
        if candidate is not None:
            share = 1 - float(candidate.price) / float(best.price)
            if share >= LEAST_SAVED:
                found.append(Saving(option, what, candidate, share))
    return tuple(sorted(found, key=lambda one: -one.share))


def _loosened(demand: Demand) -> Iterator[tuple[str, str, Demand]]:
    choice = demand.choice
    if not choice.arm and demand.architecture == "any":
        yield "--arm", "Arm CPUs", replace(demand, choice=replace(choice, arm=True))
    if not choice.burstable and not choice.families:
        yield "--burstable", "burstable VMs", replace(demand, choice=replace(choice, burstable=True))
    if not choice.any_family and not choice.families:
        loose = replace(demand, choice=replace(choice, any_family=True))
        yield "--any-family", "previous generations and special families", loose
    if demand.most_disks < MOST_DISKS:
        loose = replace(demand, most_disks=MOST_DISKS)
        yield f"--max-disks {MOST_DISKS}", f"up to {MOST_DISKS} disks", loose
    if demand.latency == "ssd":
        yield "--latency any", "Standard HDD", replace(demand, latency="any")
