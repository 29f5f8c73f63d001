"""A VM with disks as one volume, and what it does with a history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import Candidate
from azbenchlib.model.burstiness import Burstiness
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.passed_limits import Amount, PassedLimit, amounts, needed, passed_limits, way
from azbenchlib.model.replay import Replayed, replay_for_good
from azbenchlib.model.setup import Setup
from azbenchlib.sizing.bounds import NEVER, ThrottledAlone, seconds_together, throttled_alone

_Parts = dict[object, ThrottledAlone]  # by all that decides it


class Replays:
    """What VMs and disks do with one history; what a limit alone does is calculated once.

    Parameters
    ----------
    history : LoadHistory
    cache_hit : float
        Share of reads that a host cache would serve.
    stop_after_s : float
        What is throttled longer need not be known to the end.
    confidence, burst_factor : float
        As :class:`~azbenchlib.sizing.requirement.SizeRequirement` has them.
    """

    def __init__(
        self,
        history: LoadHistory,
        cache_hit: float,
        stop_after_s: float,
        confidence: float = 0.0,
        burst_factor: float = math.inf,
    ) -> None:
        self.history, self.cache_hit, self.stop_after_s = history, cache_hit, stop_after_s
        self.confidence, self._bursts = confidence, Burstiness(history, burst_factor)
        self._likely: dict[object, bool] = {}
        self._highest: dict[object, float] = {}
        self._amounts: dict[object, dict[tuple[str, str], Amount]] = {}
        self._alone: dict[object, ThrottledAlone] = {}
        self._enough: dict[object, bool] = {}

    def least_s(self, setup: Setup) -> float:
        """A time that the setup does not undercut."""
        return seconds_together(self._parts(setup).values(), self.history.interval_s)

    def at_least_s(self, setup: Setup) -> float:
        """A smaller such time, found faster: that of the limit which throttles longest alone."""
        return _longest_s(self._parts(setup))

    def may_do(self, setup: Setup) -> bool:
        """Whether no limit, and not all of them together, rule a setup out."""
        return self._may_do(self._parts(setup))

    def _may_do(self, parts: _Parts) -> bool:
        return (
            _longest_s(parts) <= self.stop_after_s
            and all(self._likely[key] for key in parts)
            and seconds_together(parts.values(), self.history.interval_s) <= self.stop_after_s
        )

    def is_enough(self, setup: Setup) -> bool:
        """Whether a setup throttles the load no longer than may be."""
        parts = self._parts(setup)
        key = frozenset(parts)
        if key not in self._enough:
            self._enough[key] = self._may_do(parts) and self._holds(setup)
        return self._enough[key]

    def _holds(self, setup: Setup) -> bool:
        """Whether a setup throttles no longer, in a replay of the means and with the probability."""
        limits = passed_limits(setup, self.history, self.cache_hit)
        replayed = replay_for_good(limits, self.history, self.stop_after_s)
        if replayed.seconds > self.stop_after_s or not self.confidence:
            return replayed.seconds <= self.stop_after_s
        need = tightest_need(limits, replayed, self._bursts)
        return self._bursts.probability(need, self.stop_after_s) >= self.confidence

    def _is_likely(self, limit: PassedLimit, amount: object | None) -> bool:
        """Whether a limit alone, always with credits, leaves the probability.

        Needs of one amount, which is named where reads and writes share the limit, differ by a factor alone.
        """
        highest = float(limit.burst_need.max())
        if not self.confidence or not highest:
            return True
        if amount is None:
            return self._bursts.probability(limit.burst_need, self.stop_after_s) >= self.confidence
        if amount not in self._highest:
            shape = limit.burst_need / highest
            self._highest[amount] = self._bursts.highest_need(shape, self.stop_after_s, self.confidence)
        return highest <= self._highest[amount]

    def _parts(self, setup: Setup) -> _Parts:
        """When each limit of a setup alone throttles."""
        (disk,) = setup.disks
        path = (disk.caching, disk.io_unit_bytes)
        if path not in self._amounts:
            found = amounts(setup, self.history, self.cache_hit)
            self._amounts[path] = {(amount.leg.scope, amount.quantity): amount for amount in found}
        there = {leg.scope: leg for leg in way(setup, 1.0, self.cache_hit)}
        told: _Parts = {}
        for (stem, quantity), amount in self._amounts[path].items():
            leg = there[stem]
            limits = tuple(leg.cap.limit(quantity, *how) for how in ((False,), (True,), (False, True)))
            key = (path, stem, quantity, limits)
            if key not in self._alone:
                limit = needed(amount, leg)
                alone = NEVER if limit is None else throttled_alone(limit, self.history.interval_s)
                self._alone[key] = alone
                together = getattr(leg.cap, f"write_{quantity}") is None
                self._likely[key] = limit is None or self._is_likely(limit, key[:3] if together else None)
            told[key] = self._alone[key]
        return told


def _longest_s(parts: _Parts) -> float:
    return max((one.seconds for one in parts.values()), default=0.0)


def tightest_need(limits: Sequence[PassedLimit], replayed: Replayed, bursts: Burstiness) -> Series:
    """What each interval needs of the tightest limit, of the burst limit where there are credits for it.

    There are, where twice what comes above the base on average is left at the begin of the interval.

    Parameters
    ----------
    limits : sequence of PassedLimit
    replayed : Replayed
        Of the history on them.
    bursts : Burstiness
        Of the history.
    """
    credits = dict(replayed.credits)
    needs = []
    for limit in limits:
        need = limit.need
        if limit.credit_s:
            left_s = np.roll(credits[limit.label], 1) * limit.credit_s
            need = np.where(left_s >= 2 * bursts.excess(limit.need), limit.burst_need, limit.need)
        needs.append(need)
    return np.asarray(np.max(needs, axis=0))


@dataclass(frozen=True)
class Design:
    """A VM with disks, and what became of a history on it."""

    candidate: Candidate
    history: LoadHistory
    cache_hit: float

    @property
    def vm(self) -> str:
        """Its size."""
        return self.setup.vm.size or ""

    @property
    def setup(self) -> Setup:
        """As it would be provisioned."""
        return self.candidate.setup

    @property
    def price(self) -> Decimal:
        """Of the market's period."""
        return self.candidate.price

    @cached_property
    def limits(self) -> tuple[PassedLimit, ...]:
        """Every limit on the way, with what the history needs of it."""
        return passed_limits(self.setup, self.history, self.cache_hit)

    @cached_property
    def replayed(self) -> Replayed:
        """The history on it, to the end, when it comes again and again."""
        return replay_for_good(self.limits, self.history)


def design(
    market: Market, vm_index: int, option: DiskOption, history: LoadHistory, cache_hit: float
) -> Design:
    """A design of a market."""
    return Design(Candidate(market, vm_index, option), history, cache_hit)
