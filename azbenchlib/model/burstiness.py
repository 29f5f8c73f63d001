"""How a load comes within the intervals in which it was recorded: with which probability it waits how long.

A mean over a minute hides its seconds. Disk loads are bursty on every scale: split the load of an interval
between its halves, those between theirs, and so on, at random and with about the same unevenness on each
scale, and what comes out queues as real loads do (Wang, Madhyastha, Chan, Papadimitriou and Faloutsos, Data
Mining Meets Performance Evaluation: Fast Algorithms for Modeling Bursty Traffic, ICDE 2002). How uneven, the
recording tells of its own neighbouring intervals; how that grows from scale to scale, of intervals put
together by twos, fours and so on: noise without memory is twice as uneven on half the scale. That of finer
scales is extrapolated, so several cascades with weights stand for what is not known. Their figures were set
on random loads known by the second
(`benchmarks/size_coarse.py`): the designs are kept as often as the probability says, or more often.

The load is split down to about a second; what happens within a second is not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import NormalDist

import numpy as np

from azbenchlib.model.load_history import LoadHistory, Series

# The unevenness of a split is the half difference of two neighbours in parts of their mean, squared.
_USUAL, _USUAL_PAIRS = 0.05, 4  # before anything was recorded: so much, which counts as so many pairs
# From a scale to the next finer one, with weights before the recording's own scales are looked at.
_GROWTHS = ((0.8, 0.28), (1.0, 0.38), (1.4, 0.27), (2.0, 0.07))
_MOST_SCALES, _FEWEST_PAIRS = 4, 8  # that are compared; of neighbours on each
_TAILS = 8.0  # variance of the logarithm of an unevenness times its pairs: 2 of a normal load, more of others
_STRAYS = 0.15  # how far the growth on finer scales may be from that on coarser ones, of its logarithm
_FACTORS = ((0.5, 0.25), (1.0, 0.5), (1.5, 0.25))  # of what the recording tells, with weights
_MOST = 0.4  # a split into 18 and 82 % on average
_FINE = 6  # splits of a minute
_WAYS = len(_GROWTHS) * len(_FACTORS)
_STEP = 1.3  # unevenness is rounded to powers of it, so that the cascades of many loads are the same
_CELLS, _DRAWS = 8192, 32  # of the draws of a cascade together; at least so many
_NEEDS = np.concatenate([[0.0], np.geomspace(0.01, 1.0, 32)])  # in parts of a limit
_CERTAIN = 1e-9
_ROUNDS = 40  # of a bisection


@dataclass(frozen=True)
class _Cascade:
    """One way in which the load of an interval may come: its weight, and the unevenness of each split."""

    weight: float
    splits: tuple[float, ...]


class Burstiness:
    """How the load of a history may come within its intervals.

    Parameters
    ----------
    history : LoadHistory
        A load that is the same in several intervals, and in all, is taken to come evenly.
    burst_factor : float
        How many times the mean of its interval it is at most at a moment; infinite: not known.
    """

    def __init__(self, history: LoadHistory, burst_factor: float = math.inf) -> None:
        self._most = burst_factor
        self._lengths = history.interval_s
        self._depths = np.maximum(0, np.round(np.log2(self._lengths))).astype(int)
        self._uneven = max(_unevenness(history, values) for values in (history.iops, history.bytes_per_s))
        self._growths = _growth_weights(history)

    @property
    def is_constant(self) -> bool:
        """Whether the load is the same in all intervals."""
        return not self._uneven

    @property
    def is_known(self) -> bool:
        """Whether the recording tells how the load came: it is of about a second, or the same throughout."""
        return self.is_constant or not self._depths.any()

    @property
    def is_fine(self) -> bool:
        """Whether most of the recording is of about a minute or less: no more has to be extrapolated."""
        return bool(np.median(self._depths) <= _FINE)

    def probability(self, need: Series, most_s: float) -> float:
        """Probability that a load waits no longer than `most_s` in all.

        Parameters
        ----------
        need : ndarray
            Of each interval, in parts of the limit that is tightest in it, shape (n,).
        most_s : float
        """
        found = 0.0
        for weight, mean_s, deviation_s in self._waiting(need):
            if deviation_s > _CERTAIN:
                found += weight * NormalDist(mean_s, deviation_s).cdf(most_s)
            else:
                found += weight * (mean_s <= most_s + _CERTAIN)
        return 1.0 if found > 1 - _CERTAIN else found

    def at_most_s(self, need: Series, probability: float) -> float:
        """How long a load waits at most with a probability, in s; the inverse of :meth:`probability`."""
        low, high = 0.0, float(self._lengths.sum())
        if self.probability(need, low) >= probability:
            return low
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.probability(need, middle) >= probability else (middle, high)
        return high

    def highest_need(self, shape: Series, most_s: float, probability: float) -> float:
        """How often a need may be taken so that :meth:`probability` is still that.

        Parameters
        ----------
        shape : ndarray
            The need, shape (n,), with 1 as its largest.
        most_s, probability : float
        """
        low, high = 0.0, 1.0 + most_s
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            is_enough = self.probability(shape * middle, most_s) >= probability
            low, high = (middle, high) if is_enough else (low, middle)
        return low

    def excess(self, need: Series) -> Series:
        """What of a load comes above a limit, on average: seconds of that limit in each interval, shape (n,).

        Parameters
        ----------
        need : ndarray
            Of each interval, in parts of the limit, shape (n,).
        """
        found = np.zeros(len(need))
        for depth in np.unique(self._depths):
            here = self._depths == depth
            above = np.maximum(need[here] - 1, 0.0)
            for cascade in self._cascades(int(depth)):
                _, _, excess = _table(cascade.splits, self._most)
                inside = np.interp(need[here], _NEEDS, excess)
                found[here] += cascade.weight * np.where(need[here] < 1, inside, above + excess[-1])
        return found * self._lengths

    def _cascades(self, depth: int) -> tuple[_Cascade, ...]:
        return _cascades(self._uneven, depth, self._growths)

    def _waiting(self, need: Series) -> list[tuple[float, float, float]]:
        """For each cascade its weight, and mean and standard deviation of the seconds in which it waits."""
        means, variances = np.zeros(_WAYS), np.zeros(_WAYS)
        for depth in np.unique(self._depths):
            here = self._depths == depth
            needs, lengths = need[here], self._lengths[here]
            beyond = float(lengths[needs > 1].sum())  # waits all the time
            inside, squares = (_on_grid(needs, weights) for weights in (lengths, lengths**2))
            tables = [_table(cascade.splits, self._most) for cascade in self._cascades(int(depth))]
            means += [beyond + mean @ inside for mean, _, _ in tables]
            variances += [variance @ squares for _, variance, _ in tables]
        weights = (cascade.weight for cascade in self._cascades(0))
        return list(zip(weights, means.tolist(), np.sqrt(variances).tolist(), strict=True))


def _on_grid(needs: Series, weights: Series) -> Series:
    """How much weighs on each of `_NEEDS`, where a need lies on its two neighbours in proportion."""
    inside = needs <= 1
    needs, weights = needs[inside], weights[inside]
    place = np.clip(np.searchsorted(_NEEDS, needs, side="right") - 1, 0, len(_NEEDS) - 2)
    part = (needs - _NEEDS[place]) / (_NEEDS[place + 1] - _NEEDS[place])
    lower, upper = (
        np.bincount(at, share * weights, len(_NEEDS)) for at, share in ((place, 1 - part), (place + 1, part))
    )
    return np.asarray(lower + upper)


def _unevenness(history: LoadHistory, values: Series) -> float:
    """Of the intervals that follow each other, weighted by the square of their load; 0: all are the same.

    One interval has no neighbour, so it tells nothing.
    """
    lengths, ends = history.interval_s, history.t_s + history.interval_s
    follows = np.isclose(ends[:-1], history.t_s[1:]) & np.isclose(lengths[:-1], lengths[1:])
    first, second = values[:-1][follows], values[1:][follows]
    if len(values) > 1 and np.ptp(values) == 0:
        return 0.0
    if not len(first):
        return _USUAL
    weights = (first + second) ** 2
    total = float(weights.sum())
    told = float(((first - second) ** 2).sum()) / total if total else 0.0
    pairs = len(first) / 2
    return (told * pairs + _USUAL * _USUAL_PAIRS) / (pairs + _USUAL_PAIRS)


def _growth_weights(history: LoadHistory) -> tuple[float, ...]:
    """The weights of `_GROWTHS`, by how the unevenness of the recording grows from scale to scale."""
    prior = np.array([weight for _, weight in _GROWTHS])
    scales = list(_scales(history.iops)) if _is_regular(history) else []
    if len(scales) < 2:
        return tuple(prior)
    logs, pairs = (np.array(column) for column in zip(*scales, strict=True))
    places = np.arange(len(logs)) - np.average(np.arange(len(logs)), weights=pairs)
    spread = float((pairs * places**2).sum())
    growth = -float((pairs * places * logs).sum()) / spread
    variance = _TAILS / spread + _STRAYS**2
    distance = np.array([math.log(each) - growth for each, _ in _GROWTHS])
    weights = prior * np.exp(-(distance**2) / (2 * variance))
    return tuple((weights / weights.sum()).tolist())


def _is_regular(history: LoadHistory) -> bool:
    """Whether all intervals follow each other and are as long."""
    lengths = history.interval_s
    return bool(np.allclose(lengths, lengths[0]) and np.allclose(np.diff(history.t_s), lengths[:-1]))


def _scales(values: Series) -> Iterator[tuple[float, int]]:
    """The logarithm of the unevenness of a load and its pairs, on the recorded scale and coarser ones."""
    for _ in range(_MOST_SCALES):
        pairs = len(values) // 2
        if pairs < _FEWEST_PAIRS:
            return
        first, second = values[: 2 * pairs : 2], values[1 : 2 * pairs : 2]
        total = float(((first + second) ** 2).sum())
        told = float(((first - second) ** 2).sum())
        if not told or not total:
            return
        yield math.log(told / total), pairs
        values = (first + second) / 2


@cache
def _cascades(uneven: float, depth: int, growths: tuple[float, ...]) -> tuple[_Cascade, ...]:
    """The `_WAYS` in which the load of an interval of 2 to the power of `depth` seconds may come.

    `growths` are the weights of `_GROWTHS`.
    """
    weighted = [(growth, weight) for (growth, _), weight in zip(_GROWTHS, growths, strict=True)]
    if not uneven:
        return tuple(_Cascade(a * b, ()) for (_, a), (_, b) in product(weighted, _FACTORS))
    near = _STEP ** round(math.log(uneven, _STEP))
    return tuple(
        _Cascade(a * b, tuple(min(_MOST, near * factor * growth**level) for level in range(1, depth + 1)))
        for (growth, a), (factor, b) in product(weighted, _FACTORS)
    )


@cache
def _table(splits: Sequence[float], most: float) -> tuple[Series, Series, Series]:
    """By need: mean and variance of the share of an interval in which a load waits, and what is above 1."""
    dice = np.random.default_rng(7)
    draws = max(_DRAWS, _CELLS >> len(splits))
    loads = np.ones((draws, 1))
    for uneven in splits:
        shape = (1 / uneven - 1) / 2
        parts = dice.beta(shape, shape, loads.shape)
        loads = np.stack([2 * loads * parts, 2 * loads * (1 - parts)], axis=2).reshape(draws, -1)
    loads = np.minimum(loads, most)
    shares = np.array([_waits(loads * need) for need in _NEEDS])
    excess = np.array([np.maximum(loads * need - 1, 0.0).mean() for need in _NEEDS])
    return shares.mean(axis=1), shares.var(axis=1), excess


def _waits(need: np.ndarray) -> Series:
    """The share of the cells, shape (draws, cells), in which anything waits at a limit of 1.

    What waits at the end of an interval waits at its beginning.
    """
    slope = need - 1
    total = np.concatenate([np.zeros((len(need), 1)), np.cumsum(slope, axis=1)], axis=1)
    at_end = total[:, -1:] - total.min(axis=1, keepdims=True)
    before = (total - np.minimum(np.minimum.accumulate(total, axis=1), -at_end))[:, :-1]
    return np.asarray(((before > 0) | (slope > 0)).mean(axis=1))
