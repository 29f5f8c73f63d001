"""How many runs would settle what is undecided: from the spread that was seen, and how well that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from azbenchlib.analysis.compare.ratio import LEAST_SD

MOST_RUNS = 500  # a side; more are called no number
POWER = 0.95
_DRAWS = 1000
_LEAST_DISTANCE = 0.02  # from the margin, of a change that a plan is for
_SPREAD_CONFIDENCE = 0.985  # that the spread is not larger than a plan takes it to be
_FEW = 8  # degrees of freedom: with fewer, the spread is too little known to predict from
_TARGET = 0.98  # of the simulated settlements, so that POWER is reached for all that


@dataclass(frozen=True, kw_only=True)
class Question:
    """A figure that is undecided.

    Attributes
    ----------
    a, b : sequence of float
        Logarithms of the figures of each run, at least two a side.
    sign : {1, -1}
        1 where a higher value is worse.
    margin : float
        As a logarithm.
    slack : float
        Rounding of the figures, as a logarithm.
    alpha : float
        One-sided level of an interval.
    family : int
        How many figures are judged together.
    least : int
        Fewest runs a side for the answer "worse".
    """

    a: Sequence[float]
    b: Sequence[float]
    sign: int
    margin: float
    slack: float
    alpha: float
    family: int
    least: int


def runs_needed(question: Question) -> int | None:
    """Runs a side, all together, that settle a question with 95 % probability; None: more than 500.

    Notes
    -----
    Planned: enough to tell no change at all, and a change that exceeds the margin by as much as the margin is
    (2 % at least), with the upper 98.5 % bound of the spread. Predicted, from five runs a side on, where
    that needs fewer: the change is where it seems to be, within its error; new runs are drawn from what is
    known of mean and spread. A change that is as large as the margin is settled by no number.
    """
    a, b = np.asarray(question.a, float), np.asarray(question.b, float)
    present = max(a.size, b.size)
    ways = (_planned,) if a.size + b.size - 2 < _FEW else (_planned, _predicted)
    known = [n for way in ways if (n := way(question, a, b)) is not None and n > present]
    return min(known) if known else None


def _pooled(a: np.ndarray, b: np.ndarray) -> tuple[float, int]:
    """Variance within the sides, and its degrees of freedom."""
    df = a.size + b.size - 2
    return max(float(a.var() * a.size + b.var() * b.size) / df, LEAST_SD**2), df


def _planned(question: Question, a: np.ndarray, b: np.ndarray) -> int | None:
    from scipy.special import chdtri, stdtrit

    variance, df = _pooled(a, b)
    variance *= df / float(chdtri(df, _SPREAD_CONFIDENCE))  # chdtri takes the upper tail
    distance = max(question.margin, _LEAST_DISTANCE) - question.slack
    if distance <= 0:
        return None
    n = np.arange(max(question.least, 2), MOST_RUNS + 1)
    reach = stdtrit(2 * n - 2, 1 - question.alpha / question.family) + stdtrit(2 * n - 2, POWER)
    enough = n[reach * np.sqrt(2 * variance / n) <= distance]
    return int(enough[0]) if enough.size else None


def _predicted(question: Question, a: np.ndarray, b: np.ndarray) -> int | None:
    from scipy.special import stdtrit

    variance, df = _pooled(a, b)
    first = max(a.size, b.size, question.least - 1) + 1
    n = np.unique(np.geomspace(first, MOST_RUNS, 40).astype(int)) if first <= MOST_RUNS else np.array([], int)
    if not n.size:
        return None
    rng = np.random.default_rng(0)
    sigma = np.sqrt(df * variance / rng.chisquare(df, (_DRAWS, 1)))
    totals = []
    for side in (a, b):
        mean = side.mean() + sigma / sqrt(side.size) * rng.standard_normal((_DRAWS, 1))
        new = n - side.size
        drawn = new * mean + sigma * np.sqrt(new) * rng.standard_normal((_DRAWS, n.size))
        totals.append((side.sum() + drawn) / n)
    more = 2 * n - 2 - df
    variances = (df * variance + sigma**2 * rng.chisquare(np.maximum(more, 1), (_DRAWS, n.size))) / (
        2 * n - 2
    )
    se = np.sqrt(2 * variances / n)
    worsening = question.sign * (totals[1] - totals[0])
    strict = stdtrit(2 * n - 2, 1 - question.alpha / question.family)
    usual = stdtrit(2 * n - 2, 1 - question.alpha)
    worse = worsening - question.slack - question.margin > strict * se
    inside = worsening + question.slack + usual * se < question.margin
    enough = n[(worse | inside).mean(axis=0) >= _TARGET]
    return int(enough[0]) if enough.size else None
