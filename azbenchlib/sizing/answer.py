"""Which disk a system needs: the recommended design, what a cheaper one does, and what a percentile buys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from azbenchlib.advisor.offers.market import Market
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_span
from azbenchlib.model.burstiness import Burstiness
from azbenchlib.model.hidden_bursts import throttled_at_most_s
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.replay import Replayed, Throttling
from azbenchlib.sizing.design import Design, tightest_need
from azbenchlib.sizing.percentile_rule import by_percentile
from azbenchlib.sizing.requirement import CONFIDENCE, SizeRequirement
from azbenchlib.sizing.search import SizeSearch
from azbenchlib.sizing.telemetry import Telemetry

# No load asks for less than one that comes evenly, so twice its price is at most twice the least price.
MOST_OF_EVEN = Decimal(2)
_LESS = (0.8, 0.5)  # probabilities that are asked for where a higher one costs too much


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a design does with the history.

    Parameters
    ----------
    design : Design
    bursts : Burstiness
        How the load of each interval may come.
    requirement : SizeRequirement
    """

    design: Design
    bursts: Burstiness
    requirement: SizeRequirement

    @property
    def replayed(self) -> Replayed:
        """Of the means."""
        return self.design.replayed

    @property
    def credits_last_s(self) -> float | None:
        """How long its credits carry a load above what it gives for good; None: it gives that for good."""
        return self.replayed.credits_last_s

    @property
    def at_least_s(self) -> float:
        """Seconds throttled if the load of each interval came evenly."""
        return self.replayed.seconds

    @cached_property
    def at_most_s(self) -> float:
        """Seconds in which something may have waited, however the load of each interval came."""
        most = throttled_at_most_s(self.design.limits, self.design.history, self.requirement.burst_factor)
        return max(most, self.at_least_s)

    @cached_property
    def probability(self) -> float:
        """Probability that the load is throttled no longer than it may be."""
        allowed_s = self.requirement.throttled_s
        if self.at_least_s > allowed_s:
            return 0.0
        return 1.0 if self.at_most_s <= allowed_s else self.bursts.probability(self._need, allowed_s)

    @cached_property
    def probably_at_most_s(self) -> float:
        """Seconds throttled at most with the confidence that is asked for, or with `CONFIDENCE`."""
        confidence = self.requirement.confidence or CONFIDENCE
        likely = self.bursts.at_most_s(self._need, confidence)
        return min(max(likely, self.at_least_s), self.at_most_s)

    @cached_property
    def _need(self) -> Series:
        """What each interval needs of the tightest limit, shape (n,)."""
        return tightest_need(self.design.limits, self.replayed, self.bursts)

    @property
    def share(self) -> float:
        """Of the time, throttled at least."""
        return self.at_least_s / self.replayed.duration_s

    def times(self, most: int | None = None) -> list[Throttling]:
        """When it is throttled, the longest first."""
        return sorted(self.replayed.throttled, key=lambda one: (-one.seconds, one.start_s))[:most]


@dataclass(frozen=True, kw_only=True)
class SizeAnswer:
    """The answer to one telemetry in one market.

    Parameters
    ----------
    telemetry : Telemetry
        As it was recorded.
    requirement : SizeRequirement
        With the history that was replayed.
    factor : float
        Growth and headroom in that history.
    market : Market
    best : Outcome
        Recommended: that with the fewest disks which costs little more than the cheapest.
    cheapest : Outcome
        That does with the confidence, or with as much of it as can be had.
    even : Outcome
        The cheapest that does if the load of each interval comes evenly.
    one_disk : Outcome, optional
        The cheapest that does with one disk. None: nothing does, or `best` has one.
    next_cheaper : Outcome, optional
        None: nothing is cheaper.
    by_percentile : Outcome, optional
        What the rule of thumb buys. None: it finds nothing.
    """

    telemetry: Telemetry
    requirement: SizeRequirement
    factor: float
    market: Market
    best: Outcome
    cheapest: Outcome
    even: Outcome
    one_disk: Outcome | None
    next_cheaper: Outcome | None
    by_percentile: Outcome | None

    @property
    def history(self) -> LoadHistory:
        """That was replayed."""
        return self.requirement.history


def size(
    recorded: Telemetry,
    requirement: SizeRequirement,
    market: Market,
    factor: float = 1.0,
) -> SizeAnswer:
    """Find the VM with disks whose load is throttled no longer than it may be.

    Parameters
    ----------
    recorded : Telemetry
    requirement : SizeRequirement
        Its history is that of the telemetry times `factor`.
    market : Market
    factor : float
        Growth and headroom.

    Raises
    ------
    InputError
        When nothing throttles it so little: one sentence with the least that can be had.
    """
    chosen = choose(requirement, market)
    below = SizeSearch(replace(requirement, confidence=0.0), market).next_cheaper(chosen.cheapest.design)
    rule = by_percentile(requirement.history, requirement.demand, market, requirement.most_disks)
    ruled = None if rule is None else Design(rule, requirement.history, requirement.demand.cache_hit)
    return SizeAnswer(
        telemetry=recorded,
        requirement=requirement,
        factor=factor,
        market=market,
        **chosen._asdict(),
        next_cheaper=None if below is None else replace(chosen.best, design=below),
        by_percentile=None if ruled is None else replace(chosen.best, design=ruled),
    )


class Chosen(NamedTuple):
    """The designs that meet a requirement, by the names of :class:`SizeAnswer`."""

    best: Outcome
    cheapest: Outcome
    even: Outcome
    one_disk: Outcome | None


def choose(requirement: SizeRequirement, market: Market) -> Chosen:
    """Choose the designs that meet a requirement; parameters and the error are those of :func:`size`."""
    search = SizeSearch(replace(requirement, confidence=0.0), market)
    even = search.cheapest()
    if even is None:
        raise InputError(_nothing(requirement, market, search))
    bursts = Burstiness(requirement.history, requirement.burst_factor)
    most, cheapest = None, even
    if not bursts.is_known:
        most = None if bursts.is_fine else even.price * MOST_OF_EVEN
        search, cheapest = _confident(requirement, search, even, most)
    best = search.recommended(cheapest, most)
    one_disk = search.cheapest(count=1) if best.setup.disks[0].count > 1 else None
    outcome = Outcome(design=best, bursts=bursts, requirement=requirement)
    return Chosen(
        outcome,
        replace(outcome, design=cheapest),
        replace(outcome, design=even),
        None if one_disk is None else replace(outcome, design=one_disk),
    )


def _confident(
    requirement: SizeRequirement, search: SizeSearch, even: Design, most: Decimal | None
) -> tuple[SizeSearch, Design]:
    """The cheapest design with the confidence at most at a price, or with as much of it, and its search."""
    for confidence in (requirement.confidence, *(less for less in _LESS if less < requirement.confidence)):
        if confidence:
            sure = SizeSearch(replace(requirement, confidence=confidence), search.market)
            if (best := sure.cheapest(most)) is not None:
                return sure, best
    return search, even


def _nothing(requirement: SizeRequirement, market: Market, search: SizeSearch) -> str:
    """That nothing does, and how little the best would throttle."""
    allowed = format_span(requirement.throttled_s)
    most = f"{requirement.most_disks} disks" if requirement.most_disks else "all its disks"
    what = f"no VM size in {market.region} with up to {most} is throttled for {allowed} or less"
    least = search.least_throttled()
    if least is None:
        return f"{what}: no disk has room for the data and a price; ask for more disks or another latency"
    return (
        f"{what}; the least is {format_span(least.replayed.seconds)}, of {least.vm} with "
        f"{least.setup.disks[0].name}; allow more with --held-back or --within"
    )
