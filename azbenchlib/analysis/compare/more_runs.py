"""How many runs settle what is undecided: from the change and the spread that were seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np
import numpy.typing as npt

from azbenchlib.analysis.compare.ratio import INTERVAL_ALPHA, Array, Estimate, Method

MOST_RUNS = 500  # a side; more are called no number
RARE = 0.1  # of the runs: how often a disk may be in a state that was not seen yet, such as a stall
# Both sides together: such a state is not seen in these in 1 case of 24.
RUNS_THAT_MEET_IT = 30
Sizes = npt.NDArray[np.int64]
_EVEN_CHANCE = 0.5
_PROMISED = 0.97  # of the simulated settlements, so that 95 % is reached for all that
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
        One-sided level of "worse", and of "better".
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
    of the spread. Those that do are a promise: after few runs one in ten of the others may stall, which
    leaves "worse" and "better" to the ranks, and "not worse" out of reach.
    """
    first = max(*question.runs) + 1
    if first > MOST_RUNS:
        return None, None
    n = np.unique(np.geomspace(first, MOST_RUNS, 40).astype(np.int64))
    even, enough = (
        int(some[0]) if (some := n[settled >= chance]).size else None
        for settled, chance in zip(_settled(question, n), (_EVEN_CHANCE, _PROMISED), strict=True)
    )
    return even, enough


def _settled(question: Question, n: Sizes) -> tuple[Array, Array]:
    """How likely each number of runs a side is to settle it: if all is seen, and whatever is not."""
    from scipy.special import stdtrit

    rng = np.random.default_rng(0)
    estimate, sizes = question.estimate, question.runs
    df = estimate.df
    variance = estimate.se**2 / (1 / sizes[0] + 1 / sizes[1])
    sigma = np.sqrt(df * variance / rng.chisquare(df, (_DRAWS, 1)))
    true, means = [], []
    for size, seen in zip(sizes, (0.0, estimate.log_ratio), strict=True):
        true.append(seen + sigma / sqrt(size) * rng.standard_normal((_DRAWS, 1)))
        new = n - size
        means.append(
            (size * seen + new * true[-1] + sigma * np.sqrt(new) * rng.standard_normal((_DRAWS, n.size))) / n
        )
    more = 2 * n - sum(sizes)
    drawn = sigma**2 * rng.chisquare(more, (_DRAWS, n.size))
    se = np.sqrt(2 * (df * variance + drawn) / (df + more) / n)
    strict, usual = (
        stdtrit(df + more, 1 - alpha) for alpha in (question.alpha / question.family, INTERVAL_ALPHA / 2)
    )
    worse, better = (question.sign * log1p(way * question.sign * question.margin) for way in (1, -1))
    change = question.sign * (means[1] - means[0])
    changed = (change - strict * se > worse + estimate.slack) | (
        change + strict * se < better - estimate.slack
    )
    settled = (changed & (n >= question.least)) | (change + usual * se < worse - estimate.slack)
    if sum(sizes) >= RUNS_THAT_MEET_IT:
        return settled.mean(axis=0), settled.mean(axis=0)
    real = question.sign * (true[1] - true[0])
    beyond = np.maximum(real - worse, better - real) - estimate.slack
    return settled.mean(axis=0), _by_ranks(question, n, beyond / sigma, rng).mean(axis=0)


def _by_ranks(question: Question, n: Sizes, beyond: Array, rng: np.random.Generator) -> Array:
    """Whether ranks show a change, `beyond` the margin by so many standard deviations, though runs may stall.

    Notes
    -----
    Of all pairs of runs, those that contradict the change: with stalls on the side that seems faster each, on
    both half, of the others as many as the normal distribution lets overlap.
    """
    from scipy.special import ndtr, ndtri

    if question.estimate.method is not Method.WELCH:  # a trend over time disturbs ranks
        return np.zeros((1, n.size))
    fast, slow = (rng.binomial(n - size, RARE, (_DRAWS, n.size)) for size in question.runs)
    overlap, pairs = ndtr(-beyond / sqrt(2)), (n - fast) * (n - slow)
    noise = np.sqrt(4 * overlap * (1 - overlap) * pairs * (2 * n - fast - slow + 1) / 12)
    against = fast * (n - slow / 2) + pairs * overlap + noise * rng.standard_normal((_DRAWS, n.size))
    allowed = n**2 / 2 + ndtri(question.alpha / question.family / 2) * np.sqrt(n**2 * (2 * n + 1) / 12)
    return (against < allowed - 0.5) & (n >= question.least)
