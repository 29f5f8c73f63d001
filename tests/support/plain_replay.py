"""The slow way to what is throttled: second by second, in fractions, without a shortcut.

Nothing of the library's replay is used: limits are pairs of numbers, the line is a list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class PlainLimit:
    """A limit: what each interval needs of the base limit and of the burst limit, and a full bucket."""

    need: list[Fraction]
    burst_need: list[Fraction]
    full: Fraction


def throttled(  # noqa: C901
    limits: Sequence[PlainLimit], lengths: Sequence[int]
) -> tuple[list[Fraction], list[list[Fraction]], Fraction]:
    """Of each second how much of it something waited; the credits after each second; what is left at the end.

    Parameters
    ----------
    limits : sequence of PlainLimit
    lengths : sequence of int
        Of the intervals, in s.
    """
    line: list[list[Fraction]] = []  # [interval, seconds of its load that wait]
    left = [limit.full for limit in limits]
    waited, balances = [], []
    for interval, length in enumerate(lengths):
        for _ in range(length):
            rest, waiting = Fraction(1), Fraction(0)
            while rest > 0:
                served = int(line[0][0]) if line else interval
                needs = [
                    limit.burst_need[served] if credit > 0 else limit.need[served]
                    for limit, credit in zip(limits, left, strict=True)
                ]
                worst = max(needs)
                if line and worst == 0:
                    line.pop(0)
                    continue
                speed = 1 / worst if worst else Fraction(1)
                speed = speed if line else min(Fraction(1), speed)
                step = rest
                if line:
                    inflow = 1 if int(line[0][0]) == interval else 0
                    if speed > inflow:
                        step = min(step, line[0][1] / (speed - inflow))
                changes = [1 - speed * limit.need[served] for limit in limits]
                for credit, change in zip(left, changes, strict=True):
                    if change < 0 and credit > 0:
                        step = min(step, credit / -change)
                left = [
                    min(limit.full, max(Fraction(0), credit + change * step))
                    for limit, credit, change in zip(limits, left, changes, strict=True)
                ]
                if line or speed < 1:
                    waiting += step
                _join(line, interval, step)
                line[0][1] -= speed * step
                while line and line[0][1] == 0:
                    line.pop(0)
                rest -= step
            waited.append(waiting)
            balances.append(list(left))
    return waited, balances, sum((seconds for _, seconds in line), Fraction(0))


def _join(line: list[list[Fraction]], interval: int, seconds: Fraction) -> None:
    if line and line[-1][0] == interval:
        line[-1][1] += seconds
    else:
        line.append([Fraction(interval), seconds])
