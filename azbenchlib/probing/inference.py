"""From what runs showed to the disks that explain it: Metropolis–Hastings chains, many side by side.

Each setting is proposed in turn (:mod:`.proposals`). Between those, differences between chains are added
(ter Braak, Statistics and Computing 16, 2006), along whatever direction the runs leave open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from azbenchlib.probing.forward import counted
from azbenchlib.probing.hypotheses import (
    BELIEFS,
    IO_UNITS,
    Floats,
    Hypotheses,
    Ints,
    Setting,
    Sharing,
    draw,
    log_prior,
)
from azbenchlib.probing.likelihood import LN_2, ProbeEvidence
from azbenchlib.probing.proposals import CAP_SETTINGS, OTHER_WAY, READ_CAPS, WRITE_CAPS, Proposals, log_near

CHAINS = 400
SWEEPS = 6
_BETWEEN = 2  # sweeps after each bit of the last run
_STILL_COUNT = 0.5  # share of the chains that agree with each bit of it
_CLEARLY = 6.0  # nats by which an explanation is so much better that the other one has missed it
_STRAYING = math.log(0.008)  # deviation above which chains may have lost the explanation
_SPLITS = 3  # moves between one cap for both directions and one for each, in each sweep
_TURNED = 0.25  # share of the proposals of caps that change how these are shared, or counted
_TOGETHER = (  # caps that are proposed at once
    READ_CAPS,
    WRITE_CAPS,
    (Setting.WRITE_IOPS, Setting.READ_IOPS),
    (Setting.WRITE_BYTES_PER_S, Setting.READ_BYTES_PER_S),
    CAP_SETTINGS,
)
_JOINT = 3  # moves along differences after each sweep over the settings


class Sampler:
    """Chains that follow the evidence.

    Parameters
    ----------
    seed : int
        Of all that is drawn: the same runs lead to the same result.
    chains, sweeps : int
        How many disks are held, and how often each is moved after a run.
    """

    def __init__(self, seed: int = 1, chains: int = CHAINS, sweeps: int = SWEEPS) -> None:
        self._rng = np.random.default_rng(seed)
        self._sweeps = sweeps
        self.disks = draw(self._rng, chains)

    def learn(self, evidence: ProbeEvidence) -> None:
        """Move the chains until they stand for all that explains the evidence.

        Where they are far from what was measured they may have lost the explanation: then new chains begin
        with all of the evidence, and those that explain it better are kept.
        """
        last = np.zeros(len(evidence.shown))
        last[-1] = 1.0
        self.disks, fit = self._followed(self.disks, evidence, last)
        if float(np.median(self.disks.logs[:, Setting.DEVIATION])) > _STRAYING:
            disks, other = self._begun_anew(evidence, _STRAYING)
            if other > fit:
                self.disks = disks

    def doubt(self, evidence: ProbeEvidence) -> None:
        """Let chains that begin anew explain the evidence, and hold half of these and half of the old ones.

        Chains that follow run after run can settle on one of several explanations by chance (on one cap for
        reads and writes, after mixed runs alone); others settle otherwise, and together they tell what is
        open.
        """
        strays = float(np.median(self.disks.logs[:, Setting.DEVIATION]))
        anew, fit = self._begun_anew(evidence, max(_STRAYING, strays + LN_2))
        known = float(np.mean(log_prior(self.disks) + evidence.log_likelihoods(self.disks).sum(axis=1)))
        if fit > known + _CLEARLY:
            self.disks = anew
        elif fit > known - _CLEARLY:
            self.disks.put(anew, np.arange(len(anew)) % 2 == 0)

    def _begun_anew(self, evidence: ProbeEvidence, most_straying: float) -> tuple[Hypotheses, float]:
        """Chains that begin anew with all of the evidence, of disks whose rates stray no further than that.

        Where rates may stray by percents, disks of many kinds explain them roughly, and while the evidence is
        let in bit by bit these outnumber the few that explain it exactly.
        """
        anew = draw(self._rng, len(self.disks))
        anew.logs[:, Setting.DEVIATION] = np.minimum(anew.logs[:, Setting.DEVIATION], most_straying)
        return self._followed(anew, evidence, np.ones(len(evidence.shown)), most_straying)

    def _followed(
        self, disks: Hypotheses, evidence: ProbeEvidence, new: Floats, most_straying: float = math.inf
    ) -> tuple[Hypotheses, float]:
        """Chains that came to stand for the evidence, of which some runs are new, and how well they fit it.

        These are let in bit by bit, so that half of the chains agree with each bit; the others begin anew
        where these are (sequential Monte Carlo; Del Moral, Doucet and Jasra, JRSS B 68, 2006).
        """
        power = 0.0
        while power < 1:
            told = evidence.log_likelihoods(disks) @ new
            before, power = power, _next_power(told, power)
            disks = disks[_resampled(self._rng, _weights((power - before) * told))]
            moves = _Moves(self._rng, disks, evidence, 1 - new + power * new, most_straying)
            for _ in range(self._sweeps if power == 1 else _BETWEEN):
                moves.sweep()
            disks = moves.disks
        return disks, moves.fit


def _weights(logs: Floats) -> Floats:
    weights: Floats = np.exp(logs - logs.max())
    return weights / weights.sum()


def _next_power(told: Floats, power: float) -> float:
    """The power of the last run's likelihood with which half of the chains still count."""
    from scipy.optimize import brentq

    def too_few(more: float) -> float:
        weights = _weights(more * told)
        return _STILL_COUNT * len(told) - float(1 / np.sum(weights**2))

    left = 1 - power
    if too_few(left) <= 0:
        return 1.0
    return power + float(brentq(too_few, 0.0, left, xtol=1e-12, rtol=1e-3))


def _resampled(rng: np.random.Generator, weights: Floats) -> Ints:
    """Places of chains, each as often as its weight says (systematic resampling)."""
    n = len(weights)
    found: Ints = np.searchsorted(np.cumsum(weights), (rng.random() + np.arange(n)) / n).clip(max=n - 1)
    return found


class _Moves:
    """The moves over one evidence, of which each run counts with a power; `most_straying` is a logarithm."""

    def __init__(
        self,
        rng: np.random.Generator,
        disks: Hypotheses,
        evidence: ProbeEvidence,
        powers: Floats,
        most_straying: float,
    ) -> None:
        self._most_straying = most_straying
        self._rng, self.disks, self._evidence, self._powers = rng, disks.copy(), evidence, powers
        self._proposals = Proposals(rng, evidence)
        self._now = self._log_posterior(self.disks)

    @property
    def fit(self) -> float:
        """Mean logarithm of the posterior."""
        return float(self._now.mean())

    def sweep(self) -> None:
        """Every setting once, caps also together, then all together along differences."""
        for setting in Setting:
            self._anew([setting], turned=setting in CAP_SETTINGS)
        for some in _TOGETHER:
            self._anew(some, turned=True)
        for _ in range(_SPLITS):
            self._split()
        self._doubled()
        self._units()
        for _ in range(_JOINT):
            self._along()

    def _log_posterior(self, disks: Hypotheses) -> Floats:
        told: Floats = self._evidence.log_likelihoods(disks) @ self._powers
        strays = disks.logs[:, Setting.DEVIATION] > self._most_straying
        return np.where(strays, -np.inf, log_prior(disks) + told)

    def _accept(self, proposed: Hypotheses, log_ratio: Floats) -> None:
        """Take what is proposed with the probability that keeps the posterior; `log_ratio` of proposals."""
        then = self._log_posterior(proposed)
        with np.errstate(invalid="ignore"):
            taken = np.log(self._rng.random(len(proposed))) < then - self._now + log_ratio
        self.disks.put(proposed, taken)
        self._now = np.where(taken, then, self._now)

    def _anew(self, settings: Sequence[Setting], turned: bool = False) -> None:
        """Propose some settings at once; what runs imply of one may depend on those before it.

        `turned`: of some disks also whether writes have the caps of reads, whether they use them up, and the
        unit, so that chains pass between explanations in which all these differ at once.
        """
        proposed, disks = self.disks.copy(), self.disks
        n = len(disks)
        if turned:
            same, sharing, unit = self._rng.random((3, n)) < _TURNED
            proposed.same = disks.same ^ same
            proposed.sharing = np.where(sharing, self._rng.integers(0, len(Sharing), n), disks.sharing)
            proposed.unit = np.where(unit, self._rng.integers(0, len(IO_UNITS), n), disks.unit)
        ratio = np.zeros(n)
        for i, setting in enumerate(settings):
            given = OTHER_WAY.get(setting) not in settings[i:]
            after, before = (self._proposals.implied(some, setting, given) for some in (proposed, disks))
            proposed.logs[:, setting] = self._proposals.near(setting, after)
            ratio += log_near(setting, before, disks.logs[:, setting])
            ratio -= log_near(setting, after, proposed.logs[:, setting])
        self._accept(proposed, ratio)

    def _split(self) -> None:
        """One cap of both directions becomes one for each, or back.

        What stays is the cap of one direction or what half reads, half writes do, as is drawn for each cap.

        All values of a cap are as likely before any run, so that what is drawn and what is dropped cancel.
        """
        proposed, n = self.disks.copy(), len(self.disks)
        proposed.same = ~self.disks.same
        ratio = np.zeros(n)
        for read, write in zip(READ_CAPS, WRITE_CAPS, strict=True):
            rule, of_writes = self._rng.random((2, n)) < 0.5
            drawn = BELIEFS[read].draw(self._rng, (n,))
            reads, writes = self.disks.logs[:, read], self.disks.logs[:, write]
            one, other = np.where(of_writes, (writes, reads), (reads, writes))
            with np.errstate(invalid="ignore", divide="ignore"):
                # the cap of one direction with which half reads, half writes do as before, and its derivative
                split = -np.log(2 * np.exp(-reads) - np.exp(-drawn))
            split = np.where(np.isfinite(split), split, BELIEFS[read].high + 1)  # there is none
            merged = LN_2 - np.logaddexp(-one, -other)
            slope = np.where(self.disks.same, LN_2 - reads + split, merged - one - LN_2)
            kept = np.where(self.disks.same, np.where(rule, split, reads), np.where(rule, merged, one))
            turned = of_writes & ~proposed.same
            proposed.logs[:, read] = np.where(turned, drawn, kept)
            proposed.logs[:, write] = np.where(turned, kept, drawn)
            ratio += np.where(rule, slope, 0.0)
        self._accept(proposed, ratio)

    def _doubled(self) -> None:
        """Caps together instead of apart, or back, some of them such that runs of half reads do as before."""
        proposed = self.disks.copy()
        proposed.sharing = np.array([Sharing.APART, Sharing.TOGETHER, Sharing.BEHIND])[self.disks.sharing]
        chosen = self._rng.random((len(proposed), len(CAP_SETTINGS))) < 0.5
        halved_or_doubled = np.array([LN_2, -LN_2, 0.0])[proposed.sharing][:, None]
        proposed.logs[:, CAP_SETTINGS] += np.where(chosen, halved_or_doubled, 0.0)
        self._accept(proposed, np.zeros(len(proposed)))

    def _units(self) -> None:
        """Another unit; the caps of IOPS as they were, or so that one of the runs is explained as before."""
        n = len(self.disks)
        proposed = self.disks.copy()
        proposed.unit = self._rng.integers(0, len(IO_UNITS), n)
        self._accept(proposed, np.zeros(n))
        proposed = self.disks.copy()
        proposed.unit = self._rng.integers(0, len(IO_UNITS), n)
        run = self._rng.integers(0, len(self._evidence.shown), n)
        rows = np.arange(n)
        factor = counted(proposed, self._evidence.loads)[rows, run]
        factor = factor / counted(self.disks, self._evidence.loads)[rows, run]
        # each is reached back from the other by the same choice of unit and run: the ratio is 1
        for setting in (Setting.READ_IOPS, Setting.WRITE_IOPS):
            proposed.logs[:, setting] += np.where(self._rng.random(n) < 0.7, np.log(factor), 0.0)
        self._accept(proposed, np.zeros(n))

    def _along(self) -> None:
        """A step along the difference of two other chains, in all settings or in some of them."""
        n, proposed = len(self.disks), self.disks.copy()
        first, second = self._rng.integers(0, n, (2, n))
        moved = self._rng.random((n, len(BELIEFS))) < self._rng.choice((0.25, 1.0))
        size = self._rng.choice((0.3, 0.6, 1.0), (n, 1))
        step = size * (self.disks.logs[first] - self.disks.logs[second])
        proposed.logs += np.where(moved, step + self._rng.normal(0, 1e-4, step.shape), 0.0)
        self._accept(proposed, np.zeros(n))
