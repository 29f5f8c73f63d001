"""A history of loads on a setup: what is throttled, when, by which limit, and how the credits go.

What a limit throttles waits in line and is served later, first come, first served. With the time `t` goes a
place `p` in the history up to which all is served: `p = t` while nothing waits, and ``t − p`` is for how
long what is served now was throttled. Intervals of the history are served at ``v`` seconds a second,

    v = min over all limits of 1 / need(p),    and at most 1 while nothing waits,

where the need is in parts of the burst limit while a limit has credits, else of the base limit. Credits of
a limit change by ``1 − v·need(p)`` seconds of the base limit a second, between 0 and full. All of this is
linear between events (an interval ends, credits end, the line ends), so the replay goes from event to event
and is exact. With loads that keep their proportions it is the greedy shaper of network calculus (Le Boudec
and Thiran, Network Calculus, 2001, 1.5), by which the tests calculate it another way.

Valid for loads that would be the same however long they wait, such as those of users; and for means over
seconds: the ticks of the throttle are not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from azbenchlib.core.errors import InputError
from azbenchlib.model.labels import Label
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.passed_limits import PassedLimit

_EXACT = 1e-6  # s; a place that is so near to an event is there
# Tried until credits are alike after the last two; what still differs then counts as it is.
_PASSES = (2, 4, 16)


@dataclass(frozen=True, kw_only=True)
class Throttling:
    """A time in which a load waited: begin and end in s since the begin of the history, gaps left out.

    `labels`: the limits that throttled it, the one that did so longest first. `delay_s`: for how long what
    waited longest was throttled.
    """

    start_s: float
    end_s: float
    labels: tuple[Label, ...]
    delay_s: float

    @property
    def seconds(self) -> float:
        """How long."""
        return self.end_s - self.start_s


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """What became of a history on a setup.

    Parameters
    ----------
    throttled : tuple of Throttling
        In their order.
    duration_s : float
        Of the history.
    left_s : float
        How many seconds of the history are still to be served at its end.
    credits : mapping of Label to ndarray, as a tuple of pairs
        By label, of limits with a burst: the share that is left at the end of each interval, shape (n,).
    delay_s : ndarray
        At the end of each interval: for how long what is served then was throttled, shape (n,).
    credits_last_s : float, optional
        The history needs more than a limit gives for good: after so long, when it comes again and again, its
        credits are used up, and the load waits ever longer. None: it can go on for ever.
    """

    throttled: tuple[Throttling, ...]
    duration_s: float
    left_s: float
    credits: tuple[tuple[Label, Series], ...]
    delay_s: Series
    credits_last_s: float | None = None

    @property
    def seconds(self) -> float:
        """How long the load was throttled in all; where it cannot go on for ever, all the time in the end."""
        if self.credits_last_s is not None:
            return self.duration_s
        return sum(one.seconds for one in self.throttled)

    @property
    def worst(self) -> Throttling | None:
        """The longest time; None: nothing was throttled."""
        return max(self.throttled, key=lambda one: (one.seconds, -one.start_s), default=None)


def replay(
    limits: Sequence[PassedLimit], history: LoadHistory, stop_after_s: float | None = None
) -> Replayed:
    """Serve a history through limits, in order.

    Parameters
    ----------
    limits : sequence of PassedLimit
        Of the history, from :func:`azbenchlib.model.passed_limits.passed_limits`. Their credits are full at
        the begin.
    history : LoadHistory
        Time between intervals of which nothing is known is left out: nothing waits less after it, and no
        credits come back.
    stop_after_s : float, optional
        The replay may end as soon as more than this was throttled; what comes later is then not told.

    Raises
    ------
    InputError
        When there is no limit.
    """
    if not limits:
        raise InputError("nothing limits the setup: no limit of it is documented")
    return _Replay(limits, history, stop_after_s).run()


def replay_for_good(
    limits: Sequence[PassedLimit], history: LoadHistory, stop_after_s: float | None = None
) -> Replayed:
    """Serve a history that comes again and again: the pass after which credits are as they were before it.

    Parameters are those of :func:`replay`. A history that needs more of a limit than that gives for good has
    no such pass; it is served once, with full credits, and `credits_last_s` is told.

    Raises
    ------
    InputError
        When there is no limit.
    """
    first = replay(limits, history, stop_after_s)
    lasts_s = min((limit.lasts_s(history.interval_s) for limit in limits), default=math.inf)
    if lasts_s < math.inf:
        return replace(first, credits_last_s=lasts_s)
    stopped = stop_after_s is not None and first.seconds > stop_after_s
    if stopped or _as_at_begin(first):
        return first
    for passes in _PASSES:
        whole = replay([limit.repeated(passes) for limit in limits], history.repeated(passes))
        before, last = (_pass(whole, number, passes) for number in (passes - 2, passes - 1))
        if _alike(before, last):
            break
    return last


def _as_at_begin(one: Replayed) -> bool:
    """Whether a replay ends with full credits and nothing waiting."""
    return not one.delay_s[-1] and all(left[-1] >= 1 for _, left in one.credits)


def _alike(one: Replayed, other: Replayed) -> bool:
    """Whether two passes end with the same credits, and the same load waiting."""
    ends = [(one.delay_s[-1], other.delay_s[-1])]
    ends += [(a[-1], b[-1]) for (_, a), (_, b) in zip(one.credits, other.credits, strict=True)]
    return all(math.isclose(a, b, abs_tol=_EXACT) for a, b in ends)


def _pass(whole: Replayed, number: int, passes: int) -> Replayed:
    """One pass of a history that was served several times, as if it were the only one."""
    duration = whole.duration_s / passes
    n = len(whole.delay_s) // passes
    begin, places = number * duration, slice(number * n, (number + 1) * n)
    throttled = (
        replace(one, start_s=max(one.start_s - begin, 0.0), end_s=min(one.end_s - begin, duration))
        for one in whole.throttled
        if one.start_s < begin + duration and one.end_s > begin
    )
    return Replayed(
        throttled=tuple(throttled),
        duration_s=duration,
        left_s=float(whole.delay_s[places][-1]),
        credits=tuple((label, left[places]) for label, left in whole.credits),
        delay_s=whole.delay_s[places],
    )


class _Replay:
    """A replay under way: time, place, credits, and what has been throttled."""

    def __init__(
        self, limits: Sequence[PassedLimit], history: LoadHistory, stop_after_s: float | None
    ) -> None:
        self.labels = [limit.label for limit in limits]
        self.needs = [limit.listed for limit in limits]
        self.full = [limit.credit_s for limit in limits]
        self.lengths = history.interval_s
        self.ends = np.cumsum(history.interval_s)
        self.above = np.unique(np.concatenate([limit.above_base for limit in limits]))
        self.n, self.total = len(self.lengths), float(self.ends[-1])
        self.stop = np.inf if stop_after_s is None else stop_after_s
        self.t = self.p = 0.0
        self.now = self.place = 0  # the intervals of t and p
        self.credits = list(self.full)
        self.at_ends: dict[int, tuple[float, list[float]]] = {}
        self.begun: float | None = None
        self.blame: dict[int, float] = {}
        self.longest = 0.0
        self.throttled: list[Throttling] = []
        self.throttled_s = 0.0

    def run(self) -> Replayed:
        """To the end of the history."""
        ends = self.ends.tolist()
        while self.now < self.n and self.throttled_s <= self.stop:
            if self.begun is None and self.credits == self.full and self._skip(ends):
                continue
            self._step(ends)
        left = self.total - self.p if self.now >= self.n else 0.0
        self._end_line()
        return Replayed(
            throttled=tuple(self.throttled),
            duration_s=self.total,
            left_s=left,
            credits=tuple(self._balances()),
            delay_s=self._delays(),
        )

    def _skip(self, ends: list[float]) -> bool:
        """Go to the next interval that needs more than a base limit: until there nothing changes."""
        where = int(np.searchsorted(self.above, self.now))
        until = int(self.above[where]) if where < len(self.above) else self.n
        if until <= self.now:
            return False
        self.now = self.place = until
        self.t = self.p = ends[until - 1]
        return True

    def _step(self, ends: list[float]) -> None:
        """To the next event."""
        place, credits = self.place, self.credits
        needs = [
            (burst if left > 0 else base)[place]
            for (base, burst), left in zip(self.needs, credits, strict=True)
        ]
        worst = max(needs)
        waits = self.p < self.t
        fastest = 1 / worst if worst > 0 else np.inf
        speed = fastest if waits else min(1.0, fastest)
        if waits and speed == np.inf:  # an interval without load takes no time
            self.p = min(ends[place], self.t)
            self._turn(ends)
            return
        late = waits or speed < 1
        step = self._until(ends, speed)
        gains = [1 - speed * base[place] for base, _ in self.needs]
        empties = None
        for k, gain in enumerate(gains):
            if gain < 0 and credits[k] > 0 and credits[k] <= -gain * step:
                step, empties = credits[k] / -gain, k
        for k, gain in enumerate(gains):
            credits[k] = min(self.full[k], max(0.0, credits[k] + gain * step))
        if empties is not None:
            credits[empties] = 0.0
        if late:
            self._hold(needs.index(worst), step)
        self.t += step
        self.p += speed * step
        self._turn(ends)

    def _until(self, ends: list[float], speed: float) -> float:
        """Seconds until an interval ends, that of the time or that of the place, or the line does."""
        step = ends[self.now] - self.t
        if self.p < self.t or speed < 1:
            step = min(step, (ends[self.place] - self.p) / speed)
        if speed > 1:
            step = min(step, (self.t - self.p) / (speed - 1))
        return max(step, 0.0)

    def _hold(self, limit: int, seconds: float) -> None:
        if self.begun is None:
            self.begun = self.t
        self.blame[limit] = self.blame.get(limit, 0.0) + seconds
        self.throttled_s += seconds

    def _turn(self, ends: list[float]) -> None:
        """What an event changes: the interval of the time, that of the place, and whether the line ended."""
        while self.now < self.n and self.t >= ends[self.now] - _EXACT:
            self.t = ends[self.now]
            self.at_ends[self.now] = (max(0.0, self.t - self.p), list(self.credits))
            self.now += 1
        if self.p >= self.t - _EXACT:
            self.p, self.place = self.t, min(self.now, self.n - 1)
            self._end_line()
            return
        self.longest = max(self.longest, self.t - self.p)
        while self.place < self.now and self.p >= ends[self.place] - _EXACT:
            self.p = ends[self.place]
            self.place += 1

    def _end_line(self) -> None:
        if self.begun is not None:
            labels = sorted(self.blame, key=lambda limit: -self.blame[limit])
            self.throttled.append(
                Throttling(
                    start_s=self.begun,
                    end_s=self.t,
                    labels=tuple(dict.fromkeys(self.labels[limit] for limit in labels)),
                    delay_s=self.longest,
                )
            )
        self.begun, self.blame, self.longest = None, {}, 0.0

    def _balances(self) -> list[tuple[Label, Series]]:
        """What is left of the credits of each limit; full where the replay skipped."""
        found = []
        for k, (label, full) in enumerate(zip(self.labels, self.full, strict=True)):
            if full > 0:
                shares = np.ones(self.n)
                for i, (_, credits) in self.at_ends.items():
                    shares[i] = credits[k] / full
                found.append((label, shares))
        return found

    def _delays(self) -> Series:
        delays = np.zeros(self.n)
        for i, (delay, _) in self.at_ends.items():
            delays[i] = delay
        return delays
