"""Intervals that may be looked at after each run: 95 % hold at all looks together.

The mean of a normal quantity whose mean and spread are unknown, from a t-statistic that is mixed over
effects: with ``x = t² / (n - 1)`` and ``k = 1 + SPREAD n``, ``((1 + x) / (1 + x / k)) ** (n / 2) / sqrt(k)``
is a martingale where the mean is the true one, so it rarely ever exceeds a bound; all means at which it does
not are in the interval. A look after each run makes Student's interval miss far more often than it says.

Sources: H. Wang and A. Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
variance, arXiv:2310.03722, 2023 (the Gaussian mixture); T. L. Lai, Annals of Statistics 4, 1976. Their bound
holds for ever; here the number of looks is limited, so the bound is the one that 5 % of 200,000 simulated
series of that length exceed at some look from the third on (``benchmarks/sequential_intervals.py``).
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

FIRST_LOOK = 3  # runs before the first look
COVERAGE = 0.95
SPREAD = 10.0  # of the effects over which it is mixed, as a variance; 10 is narrowest at some 5 to 20 runs
# The bound's inverse, by the most runs that there may be.
LOOK_BOUNDS = (
    *((3, 0.251), (4, 0.184), (5, 0.157), (6, 0.142), (8, 0.127), (10, 0.119)),
    *((15, 0.108), (20, 0.103), (30, 0.0965), (50, 0.092), (70, 0.09), (100, 0.0875)),
)


def half_width(values: Sequence[float], most: int) -> float:
    """Half the width of the interval for the mean of normal values, at one of at most so many looks.

    Parameters
    ----------
    values : sequence of float
        One a run so far.
    most : int
        Runs that there may be at most, up to 100.

    Returns
    -------
    float
        In the unit of the values; infinite before the third run, and where it cannot be bounded yet.
    """
    n = len(values)
    if n < FIRST_LOOK:
        return math.inf
    level = next(level for runs, level in LOOK_BOUNDS if runs >= most)
    k = 1 + n * SPREAD
    exceeded = (k / level**2) ** (1 / n)
    if exceeded >= k:
        return math.inf
    x = (exceeded - 1) / (1 - exceeded / k)
    return stdev(values) / math.sqrt(n) * math.sqrt((n - 1) * x)


def relative(values: Sequence[float], most: int) -> tuple[float, float]:
    """The typical value of a positive figure that varies by ratios, and how far the interval goes from it.

    Parameters
    ----------
    values : sequence of float
        Such as the p99 of each run so far; the interval is that of the mean of their logarithms.
    most : int
        As for :func:`half_width`.

    Returns
    -------
    (float, float)
        The geometric mean, and the share of it: 0.05 where the upper end of the interval is 5 % above it. The
        lower end is as far away as a ratio.
    """
    logs = [math.log(value) for value in values]
    half = half_width(logs, most)
    return math.exp(fmean(logs)), math.expm1(half) if half < 700 else math.inf
