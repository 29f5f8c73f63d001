"""The ratio of two samples of runs with its interval, and what may be concluded from it.

Runs are compared by the logarithms of their figures, so that a ratio and its inverse are treated alike:
Welch's test (Biometrika 34, 1947), Holm's adjustment over all figures (Scandinavian Journal of Statistics 6,
1979), and a bound for disks that are in one of two states, such as with and without burst credits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, sqrt

import numpy as np
import numpy.typing as npt

# No run is known better than this, relative: run times are told in ms, and neighbours of equal figures would
# otherwise seem to be known exactly.
LEAST_SD = 0.001
FEWEST_RUNS = 3  # of a side, for any answer
# Two-sided error of an interval. So "not worse" is wrong in at most 2.5 % of the figures that are worse by
# just the margin, the level of trials of non-inferiority (ICH E9, 1998, section 5.5).
INTERVAL_ALPHA = 0.05

Array = npt.NDArray[np.float64]


class Method(StrEnum):
    """What an estimate is from."""

    WELCH = "welch"
    TREND_REMOVED = "trend_removed"
    RANKS = "ranks"
    WITHIN_RUN = "within_run"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The logarithm of the ratio B ÷ A, and how well it is known.

    Attributes
    ----------
    log_ratio : float
        Of the geometric means.
    se : float
        Standard error.
    df : float
        Degrees of freedom of that.
    slack : float
        By how much rounding in the outputs may have moved it.
    method : Method
    """

    log_ratio: float
    se: float
    df: float
    slack: float = 0.0
    method: Method = Method.WELCH

    def interval(self, alpha: float = INTERVAL_ALPHA) -> tuple[float, float]:
        """Two-sided interval of the ratio with confidence 1 - `alpha`."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.df, 1 - alpha / 2)) * self.se + self.slack
        return bounded_exp(self.log_ratio - reach), bounded_exp(self.log_ratio + reach)

    def p_beyond(self, log_bound: float, sign: int) -> float:
        """One-sided p-value of the hypothesis that the ratio is not beyond a bound.

        Parameters
        ----------
        log_bound : float
            Logarithm of the bound.
        sign : {1, -1}
            1: beyond means above; -1: below.
        """
        from scipy.special import stdtr

        distance = sign * (self.log_ratio - log_bound) - self.slack
        return float(stdtr(self.df, -distance / self.se))


def bounded_exp(value: float) -> float:
    """The exponential, of what a float can hold."""
    return exp(min(max(value, -700.0), 700.0))


def welch(a: Sequence[float], b: Sequence[float], slack: float = 0.0) -> Estimate:
    """The estimate from the figures of several runs a side.

    Parameters
    ----------
    a, b : sequence of float
        One figure a run, above 0; at least two a side.
    slack : float
        Rounding of the figures, as a logarithm.
    """
    logs = [np.log(np.asarray(values, float)) for values in (a, b)]
    parts = [spread(one) ** 2 / one.size for one in logs]
    total = sum(parts)
    df = total**2 / sum(part**2 / (one.size - 1) for part, one in zip(parts, logs, strict=True))
    return Estimate(
        log_ratio=float(logs[1].mean() - logs[0].mean()), se=sqrt(total), df=float(df), slack=slack
    )


def spread(logs: Array) -> float:
    """Standard deviation between runs, at least :data:`LEAST_SD`."""
    return max(float(logs.std(ddof=1)), LEAST_SD)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the given order: those up to α are rejected with family-wise error α."""
    p = np.asarray(p_values, float)
    order = np.argsort(p, kind="stable")
    raised = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    adjusted = np.empty(p.size)
    adjusted[order] = raised
    return [float(value) for value in adjusted]


def two_states(n_a: int, n_b: int) -> float:
    """How likely a disk of two states is, at the worst, to show one in all runs of A, the other in all of B.

    Notes
    -----
    With probability p of the first state that is p^a (1 − p)^b, which is largest at p = a ÷ (a + b); twice,
    as either side may have the slower state.
    """
    n = n_a + n_b
    return 2 * (n_a / n) ** n_a * (n_b / n) ** n_b


def least_runs(workloads: int, alpha: float) -> int:
    """Fewest runs a side with which two states of a disk do not pass for a change in any workload."""
    n = FEWEST_RUNS
    while workloads * two_states(n, n) > alpha:
        n += 1
    return n
