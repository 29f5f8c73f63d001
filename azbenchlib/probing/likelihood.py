"""How likely what runs showed is, if the disk is of given settings: densities of log rate and log latency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from azbenchlib.core.units import US_PER_S
from azbenchlib.probing.forward import Loads, Predicted, predict
from azbenchlib.probing.hypotheses import Floats, Hypotheses, Ints, Setting
from azbenchlib.probing.runs import ProbeRun, Shown

# fio's figure of a run can be wrong by what was outstanding at its end; half of it, as one standard error.
END_SHARE = 0.25
# Where the queue just reaches the cap, a random latency leaves some of it unused: up to some percent within
# a range of 15 % around that point. Engine of the lab, log-normal latencies; our choice.
KNEE, KNEE_WIDTH = 0.05, 0.2
UNHELD_BELOW = 0.75  # of the cap: then the median is that of the unloaded latency
LN_2 = math.log(2)
# A paced run of few I/Os tells no skew; the least of the lab's measured tables is about this (σ = 0.2).
LEAST_LOG_SKEW = 0.02
P50_ERROR = 0.01  # of a median: fio's bins are 1/64 wide and prints their middle


class ProbeEvidence:
    """All that runs showed, as arrays.

    Parameters
    ----------
    shown : sequence of Shown
        At least one.
    """

    def __init__(self, shown: Sequence[Shown]) -> None:
        self.shown = tuple(shown)
        self.loads = Loads.of([_as_made(one) for one in shown])
        self.iops = np.array([one.iops for one in shown])
        self.log_iops = np.log(self.iops)
        self.own_error = np.array([one.error for one in shown])
        reads = [(one.read_p50_us, one.read_p50_error) for one in shown]
        writes = [(one.write_p50_us, one.write_p50_error) for one in shown]
        self._medians = (_Medians.of(reads, self.loads, False), _Medians.of(writes, self.loads, True))

    def p50_us(self, write: bool) -> Floats:
        """The median that each run showed in one direction, shape (m,); NaN: none."""
        medians = self._medians[write]
        found = np.full(len(self.shown), np.nan)
        found[medians.which] = np.exp(medians.log_us)
        return found

    def predict(self, disks: Hypotheses) -> Predicted:
        """What each of some disks would have shown."""
        return predict(disks, self.loads)

    def log_likelihoods(self, disks: Hypotheses) -> Floats:
        """Of each run, if it is each of some disks, shape (n, m)."""
        found = self.predict(disks)
        variance = rate_variance(disks, self.loads, found) + self.own_error[None, :] ** 2
        z2 = (self.log_iops[None, :] - np.log(found.iops)) ** 2 / variance
        told: Floats = -0.5 * (z2 + np.log(2 * math.pi * variance))
        for medians in self._medians:
            told[:, medians.which] += medians.log_likelihoods(disks, found)
        return told


def _as_made(shown: Shown) -> ProbeRun:
    """A run with what was made of it: where chance decides, 100 I/Os are 40 to 60 reads."""
    run = shown.run
    share = run.read_share if shown.read_share is None else shown.read_share
    return replace(run, seconds=shown.seconds or run.seconds, read_share=share)


@dataclass(frozen=True, kw_only=True)
class _Medians:
    """The medians in one direction, of the runs that have one.

    Parameters
    ----------
    which : ndarray of int, shape (k,)
        Places of these runs among all.
    log_us, own_error : ndarray, shape (k,)
        Logarithms of the medians, and their errors as the latencies tell them (NaN: they do not).
    """

    which: Ints
    log_us: Floats
    own_error: Floats
    loads: Loads
    write: bool

    @classmethod
    def of(cls, told: Sequence[tuple[float | None, float | None]], loads: Loads, write: bool) -> _Medians:
        """Of medians and their errors, one a run."""
        which = np.array([i for i, (p50_us, _) in enumerate(told) if p50_us], dtype=np.int64)
        p50_us, own_error = (np.array([told[i][j] for i in which], dtype=float) for j in (0, 1))
        loads = loads.some(which)
        return cls(which=which, log_us=np.log(p50_us), own_error=own_error, loads=loads, write=write)

    def log_likelihoods(self, disks: Hypotheses, every: Predicted) -> Floats:
        """Logarithm of the density of each, shape (n, k), of disks of which all runs are predicted."""
        found = every.some(self.which)
        variance = p50_variance(disks, self.loads, found, self.write, self.own_error)
        free = np.log(found.write_p50_us if self.write else found.read_p50_us)
        told: Floats = -0.5 * ((self.log_us[None, :] - free) ** 2 / variance + np.log(2 * math.pi * variance))
        waits = found.unheld >= UNHELD_BELOW * found.cap
        runs = np.flatnonzero(waits.any(axis=0))
        free, log_us, waits = free[:, runs], self.log_us[None, runs], waits[:, runs]
        # Anywhere between what the disk alone takes and somewhat more than the mean, or all of the waiting
        # where only one direction waits. Where they wait, medians are near the mean whatever the disk alone
        # takes, so no range of these is likelier for being narrow.
        share = 1 - self.loads.read_share[runs] if self.write else self.loads.read_share[runs]
        most = np.log(self.loads.depth[runs] * US_PER_S / share[None, :] / found.iops[:, runs]) + 0.1
        outside = np.maximum(0, free - log_us) + np.maximum(0, log_us - np.maximum(most, free + 0.3))
        held = -0.5 * (outside / 0.05) ** 2
        told[:, runs] = np.where(waits, np.logaddexp(told[:, runs], held) - LN_2, told[:, runs])
        return told


def p50_variance(
    disks: Hypotheses, loads: Loads, found: Predicted, write: bool, own_error: Floats | None = None
) -> Floats:
    """Variance of the logarithm of an unloaded median of reads or writes, shape (n, m).

    Of fio's bins, of what strays from the model, and of the sample. `own_error`, shape (m,): what the
    latencies of each run tell of the latter. Where they do not (NaN), the median of n values varies by
    π/2 ÷ n times their own variance, which is 2 ln(mean ÷ median) where latencies are log-normal.
    """
    share = 1 - loads.read_share if write else loads.read_share
    ios = np.maximum(1.0, found.iops * (loads.seconds * share)[None, :])
    log_skew = disks.logs[:, Setting.WRITE_SKEW if write else Setting.READ_SKEW]
    own = 2 * np.maximum(LEAST_LOG_SKEW, log_skew)[:, None]
    deviation = np.exp(disks.logs[:, Setting.LATENCY_DEVIATION])[:, None]
    sampled = math.pi / 2 * own / ios
    if own_error is not None:
        sampled = np.where(np.isnan(own_error), sampled, own_error**2)
    variance: Floats = P50_ERROR**2 + deviation**2 + sampled
    return variance


def rate_variance(disks: Hypotheses, loads: Loads, found: Predicted) -> Floats:
    """Variance of the logarithm of a rate, shape (n, m).

    Of what strays from the model, the I/Os outstanding at the end, whole I/Os, and the knee.
    """
    strays = np.exp(disks.logs[:, (Setting.DEVIATION, Setting.LATENCY_DEVIATION)])
    deviation = np.where(found.unheld < found.cap, strays[:, 1:], strays[:, :1])
    ios = found.iops * loads.seconds[None, :]
    end = END_SHARE * loads.depth[None, :] / ios
    distance = np.log(found.unheld / found.cap) / KNEE_WIDTH
    knee = KNEE * np.exp(-0.5 * distance**2)
    skew_noise = np.where(found.unheld < found.cap, 0.5 / np.sqrt(ios), 0.0)
    variance: Floats = deviation**2 + end**2 + knee**2 + 1 / (12 * ios**2) + skew_noise**2
    return variance
