"""Which disk a system needs: the cheapest design, what the next cheaper one does, what a percentile buys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from azbenchlib.advisor.offers.market import Market
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_span
from azbenchlib.model.hidden_bursts import throttled_at_most_s
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.replay import Replayed, Throttling
from azbenchlib.sizing.design import Design
from azbenchlib.sizing.percentile_rule import by_percentile
from azbenchlib.sizing.requirement import SizeRequirement
from azbenchlib.sizing.search import SizeSearch
from azbenchlib.sizing.telemetry import Telemetry


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a design does with the history.

    Parameters
    ----------
    design : Design
    burst_factor : float
        How many times its mean a load may be within an interval; infinite: not known.
    """

    design: Design
    burst_factor: float

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
        most = throttled_at_most_s(self.design.limits, self.design.history, self.burst_factor)
        return max(most, self.at_least_s)

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
        The cheapest that does.
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
    burst_factor: float = math.inf,
) -> SizeAnswer:
    """The cheapest VM with disks whose load is throttled no longer than it may be.

    Parameters
    ----------
    recorded : Telemetry
    requirement : SizeRequirement
        Its history is that of the telemetry times `factor`.
    market : Market
    factor : float
        Growth and headroom.
    burst_factor : float
        How many times the mean of its interval a load may be at a moment; infinite: not known.

    Raises
    ------
    InputError
        When nothing throttles it so little: one sentence with the least that can be had.
    """
    search = SizeSearch(requirement, market)
    best = search.cheapest()
    if best is None:
        raise InputError(_nothing(requirement, market, search))
    below = search.next_cheaper(best)
    rule = by_percentile(requirement.history, requirement.demand, market, requirement.most_disks)

    def outcome(design: Design | None) -> Outcome | None:
        return None if design is None else Outcome(design=design, burst_factor=burst_factor)

    ruled = None if rule is None else Design(rule, requirement.history, requirement.demand.cache_hit)
    return SizeAnswer(
        telemetry=recorded,
        requirement=requirement,
        factor=factor,
        market=market,
        best=Outcome(design=best, burst_factor=burst_factor),
        next_cheaper=outcome(below),
        by_percentile=outcome(ruled),
    )


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
