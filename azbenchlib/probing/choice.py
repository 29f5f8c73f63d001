"""Which run tells most per second about what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azbenchlib.probing.forward import Loads, predict
from azbenchlib.probing.hypotheses import Floats, Hypotheses
from azbenchlib.probing.likelihood import UNHELD_BELOW, p50_variance, rate_variance
from azbenchlib.probing.runs import ProbeRun

SAMPLE = 96  # disks among which runs are to decide
# Differences below these are not asked about (relative): caps are wanted within 1 %, latencies within 5 %.
CAP_WANTED, LATENCY_WANTED = 0.004, 0.02


@dataclass(frozen=True, kw_only=True)
class Worth:
    """A run and what it is expected to tell, in nats (natural units of information)."""

    run: ProbeRun
    nats: float

    @property
    def nats_per_s(self) -> float:
        """By which runs are chosen."""
        return self.nats / self.run.costs_s


def worths(disks: Hypotheses, runs: Sequence[ProbeRun]) -> list[Worth]:
    """What each of some runs is expected to tell about which of the disks it is.

    Parameters
    ----------
    disks : Hypotheses
        Drawn from what is thought of the disk so far.
    runs : sequence of ProbeRun

    Returns
    -------
    list of Worth
        In the order of `runs`.

    Notes
    -----
    The information that a result gives is the entropy of the mixture of what the disks predict, less the
    noise's own. It is bounded from below by the Bhattacharyya distances between the predictions (Kolchinsky
    and Tracey, Entropy 19, 2017, equation 20), which is exact where they agree or lie far apart.
    """
    some = disks[np.linspace(0, len(disks) - 1, min(SAMPLE, len(disks))).astype(int)]
    loads = Loads.of(runs)
    found = predict(some, loads)
    rates = np.log(found.iops)
    wanted = np.where(found.unheld < found.cap, LATENCY_WANTED, CAP_WANTED)
    variance = rate_variance(some, loads, found) + wanted**2
    held = found.unheld >= UNHELD_BELOW * found.cap
    told = [(rates, variance, np.ones(len(runs), dtype=bool))]
    for write, p50_us, share in (
        (False, found.read_p50_us, loads.read_share),
        (True, found.write_p50_us, 1 - loads.read_share),
    ):
        medians = np.where(held, 0.0, np.log(p50_us))
        noise = np.where(held, 1.0, p50_variance(some, loads, found, write) + LATENCY_WANTED**2)
        told.append((medians, noise, (share > 0) & ~held.all(axis=0)))
    nats = [
        _information([(mean[:, j], spread[:, j]) for mean, spread, of in told if of[j]])
        for j in range(len(runs))
    ]
    return [Worth(run=run, nats=one) for run, one in zip(runs, nats, strict=True)]


def _information(told: Sequence[tuple[Floats, Floats]]) -> float:
    """From the Bhattacharyya distances between all pairs of products of normal distributions."""
    n = len(told[0][0])
    apart, narrower = np.zeros((n, n)), np.ones((n, n))
    for mean, variance in told:
        both = variance[:, None] + variance[None, :]
        apart += (mean[:, None] - mean[None, :]) ** 2 / both
        deviation = np.sqrt(2 * variance)
        narrower *= deviation[:, None] * deviation[None, :] / both
    alike = np.sqrt(narrower) * np.exp(-0.25 * apart)
    return max(0.0, float(-np.mean(np.log(np.mean(alike, axis=1)))))
