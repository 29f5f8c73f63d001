"""In which order the runs of both sides were made, and the ratio with a trend over time taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np

from azbenchlib.analysis.compare.ratio import LEAST_SD, Array, Estimate, Method

Starts = tuple[Sequence[float], Sequence[float]]
_SHOWN = 1.2816  # standard deviations: a trend shows in one of five sides that have none
INTERLEAVE = "interleave them: A B A B"


class RunOrder(StrEnum):
    """How the runs of two sides follow each other."""

    IN_TURNS = "in turns"
    ONE_AFTER_OTHER = "one after the other"
    OTHER = ""


@dataclass(frozen=True)
class SideDrift:
    """Of sides that ran one after the other: the estimate without a trend, and whether a trend shows."""

    estimate: Estimate
    shows: bool


def run_order(starts: Starts | None) -> RunOrder:
    """Return the order of the runs: in turns where each pair of neighbours has one of each side."""
    if starts is None:
        return RunOrder.OTHER
    a, b = starts
    if max(a) < min(b) or max(b) < min(a):
        return RunOrder.ONE_AFTER_OTHER
    sides = [side for _, side in sorted([*((t, 0) for t in a), *((t, 1) for t in b)])]
    pairs = zip(sides[::2], sides[1::2], strict=False)
    return RunOrder.IN_TURNS if len(a) == len(b) and all(x != y for x, y in pairs) else RunOrder.OTHER


def without_trend(a: Array, b: Array, starts: Starts, slack: float) -> Estimate:
    """Return the ratio that a straight line through the order of all runs leaves.

    Parameters
    ----------
    a, b : ndarray
        Logarithms of the figures, five together at the least.
    starts : pair of sequence of float
        When each run began.
    slack : float
        Rounding of the figures, as a logarithm.

    Notes
    -----
    Least squares: level, side and place in the order. Of runs in turns, pairs alone would take a drift of 1 %
    a run for a change of 1 %, as each B is one run later than its A.
    """
    n_a, n = a.size, a.size + b.size
    place = np.empty(n)
    place[np.argsort([*starts[0], *starts[1]], kind="stable")] = np.arange(n)
    columns = np.column_stack([np.ones(n), np.arange(n) >= n_a, place])
    inverse = np.linalg.inv(columns.T @ columns)
    logs = np.concatenate([a, b])
    fitted = inverse @ columns.T @ logs
    left_over = logs - columns @ fitted
    sd = max(sqrt(float(left_over @ left_over) / (n - 3)), LEAST_SD)
    return Estimate(
        log_ratio=float(fitted[1]),
        se=sd * sqrt(float(inverse[1, 1])),
        df=n - 3,
        slack=slack,
        method=Method.TREND_REMOVED,
    )


def shows_trend(a: Array, b: Array, starts: Starts) -> bool:
    """Return whether runs rise or fall within their sides, by the signs of all pairs of a side.

    Notes
    -----
    Mann (Econometrica 13, 1945), added over the sides; two-sided at 20 %, as a trend that is overlooked would
    pass for a change.
    """
    total, variance = 0.0, 0.0
    for logs, own in zip((a, b), starts, strict=True):
        ordered, n = logs[np.argsort(own, kind="stable")], logs.size
        total += float(np.sign(np.subtract.outer(ordered, ordered))[np.tril_indices(n, -1)].sum())
        variance += n * (n - 1) * (2 * n + 5) / 18
    return abs(total) > _SHOWN * sqrt(variance)
