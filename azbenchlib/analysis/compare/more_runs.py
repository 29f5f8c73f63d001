"""How many runs settle what is undecided: from the change and the spread that were seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np

from azbenchlib.analysis.compare.ratio import Estimate

MOST_RUNS = 500  # a side; more are called no number
# Both sides together: a state of the disk that shows in one run of ten is not seen in these in 1 case of 24.
RUNS_BEFORE_A_PROMISE = 30
_EVEN_CHANCE = 0.5
_PROMISED = 0.99  # of the simulated settlements, so that 95 % is reached for all that
_DRAWS = 1000


@dataclass(frozen=True, kw_only=True)
class Question:
    """A figure that is undecided.

    Attributes
    ----------
    runs : pair of int
        Of each side, at least two.
    estimate : Estimate
    sign : {1, -1}
        1 where a higher value is worse.
    margin : float
        Relative.
    alpha : float
        One-sided level of an interval.
    family : int
        How many figures are judged together.
    least : int
        Fewest runs a side for the answer "worse" or "better".
    """

    runs: tuple[int, int]
    estimate: Estimate
    sign: int
    margin: float
    alpha: float
    family: int
    least: int


def runs_settling(question: Question) -> tuple[int | None, int | None]:
    """Return runs a side, all together, with an even chance to settle it, and those that do; None: over 500.

    Notes
    -----
    The change is where it seems to be, within its error, and new runs are drawn from what is known of it and
    of the spread. A state of the disk that was not seen yet is in no such draw, so after few runs none are
    promised.
    """
    first = max(*question.runs, question.least - 1) + 1
    if first > MOST_RUNS:
        return None, None
    n = np.unique(np.geomspace(first, MOST_RUNS, 40).astype(int))
    settled = _settled(question, n)
    even, enough = (
        int(some[0]) if (some := n[settled >= chance]).size else None for chance in (_EVEN_CHANCE, _PROMISED)
    )
    return even, enough if sum(question.runs) >= RUNS_BEFORE_A_PROMISE else None


def _settled(question: Question, n: np.ndarray) -> np.ndarray:
    """How likely each number of runs a side is to settle it."""
    from scipy.special import stdtrit

    rng = np.random.default_rng(0)
    estimate, sizes = question.estimate, question.runs
    df, slack = estimate.df, estimate.slack
    variance = estimate.se**2 / (1 / sizes[0] + 1 / sizes[1])
    sigma = np.sqrt(df * variance / rng.chisquare(df, (_DRAWS, 1)))
    means = []
    for size, seen in zip(sizes, (0.0, estimate.log_ratio), strict=True):
        true = seen + sigma / sqrt(size) * rng.standard_normal((_DRAWS, 1))
        new = n - size
        means.append(
            (size * seen + new * true + sigma * np.sqrt(new) * rng.standard_normal((_DRAWS, n.size))) / n
        )
    more = 2 * n - sum(sizes)
    drawn = sigma**2 * rng.chisquare(more, (_DRAWS, n.size))
    se = np.sqrt(2 * (df * variance + drawn) / (df + more) / n)
    worsening = question.sign * (means[1] - means[0])
    strict, usual = (stdtrit(df + more, 1 - question.alpha / family) for family in (question.family, 1))
    worse, better = (question.sign * log1p(way * question.sign * question.margin) for way in (1, -1))
    decided = (worsening - slack - strict * se > worse) | (worsening + slack + strict * se < better)
    return (decided | (worsening + slack + usual * se < worse)).mean(axis=0)
