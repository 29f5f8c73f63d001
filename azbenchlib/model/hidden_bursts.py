"""How long a load may have been throttled at most, where only means over intervals are known.

Within an interval the load may have come in any way, all of it at once even. A mean tells no more, so what
a setup does lies between two bounds. The lower one is the replay of the means. The upper one adds up, for
each interval, the time in which the setup is busy with it at its limits: that is the longest that any of it
can wait for the setup, however it came, for a line that is served at its limits is over as soon as its work
is done. Burst limits count only where there are credits however the load came: where the largest bursts of
this interval and of the one before, one right after the other, leave some, and nothing older waits.

A history comes again and again: its first pass tells what credits are left, and what still waits.

With `burst_factor`, the load is never more than so many times the mean of its interval; an interval whose
highest load fits all limits then throttles nothing by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from azbenchlib.core.errors import InputError
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit


def throttled_at_most_s(
    limits: Sequence[PassedLimit], history: LoadHistory, burst_factor: float = math.inf
) -> float:
    """Seconds in which something may have waited, at most, in a history that comes again and again.

    Parameters
    ----------
    limits : sequence of PassedLimit
        Of the history.
    history : LoadHistory
    burst_factor : float
        How many times the mean of an interval the load may be at a moment of it. Infinite: nothing is known.

    Raises
    ------
    InputError
        When the factor is below 1.
    """
    if not burst_factor >= 1:
        raise InputError(f"a burst of {burst_factor} times the mean is none: the factor must be 1 or more")
    lengths = history.interval_s.tolist()
    steady = [limit.listed[0] for limit in limits if not limit.credit_s]
    bursting = [_Credits(limit, lengths) for limit in limits if limit.credit_s]
    waiting = total = 0.0
    for i, length in (*enumerate(lengths), *enumerate(lengths)):
        if not i:
            total = 0.0
        busy = max(
            (*(need[i] for need in steady), *(credits.need(i, waiting > 0) for credits in bursting)),
            default=0.0,
        )
        alone = busy * burst_factor <= 1 if busy else True
        if not alone or waiting:
            there = waiting + busy * length
            total += min(length, there)
            waiting = max(0.0, there - length)
        for credits in bursting:
            credits.go_on(i, waiting > 0)
    return total


class _Credits:
    """The least credits of a limit that there can be, in seconds of its base, however the load came."""

    def __init__(self, limit: PassedLimit, lengths: list[float]) -> None:
        self.full = self.left = limit.credit_s
        self.needs = limit.listed
        # a burst is served at the burst limit, and costs what that is above the base
        pairs = zip(*self.needs, lengths, strict=True)
        self.most = [(base - burst) * length for base, burst, length in pairs]
        self.gains = [(1 - base) * length for base, length in zip(self.needs[0], lengths, strict=True)]

    def _spent(self, i: int) -> float:
        """In the largest bursts of an interval and of the one before."""
        return self.most[i] + self.most[i - 1]

    def need(self, i: int, waits: bool) -> float:
        """What an interval needs, of the burst limit where there are credits for certain."""
        base, burst = self.needs
        return burst[i] if not waits and self.left > self._spent(i) else base[i]

    def go_on(self, i: int, waits: bool) -> None:
        """To the end of an interval; while something waits, nothing is known of what it will cost."""
        most = min(self.left + self.gains[i], self.full - self._spent(i))
        self.left = 0.0 if waits else max(0.0, most)
