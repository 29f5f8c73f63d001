"""The ratio by ranks, which a run that stalls hardly moves.

Mann and Whitney's test (Annals of Mathematical Statistics 18, 1947), and the interval of Hodges and Lehmann.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, sqrt

import numpy as np

from azbenchlib.analysis.compare.ratio import INTERVAL_ALPHA, Array, Method, bounded_exp

_MOST_EXACT = 2500  # pairs of runs, above which the normal distribution does


@dataclass(frozen=True, kw_only=True)
class RankEstimate:
    """What the ranks of the runs tell of the ratio B ÷ A.

    Attributes
    ----------
    differences : ndarray
        Logarithms B - A of every pair of runs, in ascending order.
    n_a, n_b : int
        Runs of each side.
    slack : float
        By how much rounding in the outputs may have moved a difference.
    """

    differences: Array
    n_a: int
    n_b: int
    slack: float = 0.0
    method = Method.RANKS

    @property
    def log_ratio(self) -> float:
        """The median of all differences (Hodges and Lehmann, Annals of Mathematical Statistics 34, 1963)."""
        return float(np.median(self.differences))

    def interval(self, alpha: float = INTERVAL_ALPHA) -> tuple[float, float]:
        """Two-sided interval of the ratio with confidence 1 - `alpha`, of those that are exact."""
        below = int(np.searchsorted(_cumulated(self.n_a, self.n_b), alpha / 2, side="right"))
        low, high = self.differences[max(below - 1, 0)], self.differences[-max(below, 1)]
        return bounded_exp(float(low) - self.slack), bounded_exp(float(high) + self.slack)

    def p_beyond(self, log_bound: float, sign: int) -> float:
        """One-sided p-value of the hypothesis that the ratio is not beyond a bound, as of `Estimate`."""
        short = int((sign * (self.differences - log_bound) <= self.slack).sum())
        return float(_cumulated(self.n_a, self.n_b)[short])


def by_ranks(a: Sequence[float], b: Sequence[float], slack: float = 0.0) -> RankEstimate:
    """Return the estimate from one figure a run, above 0."""
    logs = np.log(np.asarray(a, float)), np.log(np.asarray(b, float))
    differences = np.sort(np.subtract.outer(logs[1], logs[0]).ravel())
    return RankEstimate(differences=differences, n_a=len(a), n_b=len(b), slack=slack)


def least_p(n_a: int, n_b: int) -> float:
    """Return the p-value where all runs of one side are beyond all of the other, the least by ranks."""
    return 1 / comb(n_a + n_b, n_a)


@lru_cache(maxsize=256)
def _cumulated(n_a: int, n_b: int) -> Array:
    """Probabilities that at most 0, 1, 2, … of all pairs are the other way round, of equals.

    Notes
    -----
    Whichever side has the highest run, the others are a smaller case of the same question.
    """
    pairs = n_a * n_b
    if pairs > _MOST_EXACT:
        from scipy.special import ndtr

        sd = sqrt(pairs * (n_a + n_b + 1) / 12)
        return np.asarray(ndtr((np.arange(pairs + 1) + 0.5 - pairs / 2) / sd), float)
    rows = [np.eye(1, pairs + 1)[0]] * (n_b + 1)
    for i in range(1, n_a + 1):
        for j in range(1, n_b + 1):
            shifted = np.concatenate([np.zeros(j), rows[j][: pairs + 1 - j]])
            rows[j] = (i * shifted + j * rows[j - 1]) / (i + j)
    return np.minimum(np.cumsum(rows[n_b]), 1.0)
