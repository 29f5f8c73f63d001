"""Which run tells most per second about what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azbenchlib.probe.forward import Loads, predict
from azbenchlib.probe.hypotheses import Floats, Hypotheses, Setting
from azbenchlib.probe.likelihood import UNHELD_BELOW, p50_variance, rate_variance
from azbenchlib.probe.runs import ProbeRun

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
    deviation = np.exp(some.logs[:, Setting.DEVIATION])[:, None]
    rates = np.log(found.iops)
    wanted = np.where(found.unheld < found.cap, LATENCY_WANTED, CAP_WANTED)
    variance = rate_variance(loads, found, deviation) + wanted**2
    held = found.unheld >= UNHELD_BELOW * found.cap
    told = [(rates, variance)]
    for write, p50_us, share in (
        (False, found.read_p50_us, loads.read_share),
        (True, found.write_p50_us, 1 - loads.read_share),
    ):
        silent = held | (share == 0)[None, :]
        medians = np.where(silent, 0.0, np.log(p50_us))
        noise = p50_variance(some, loads, found, write) + LATENCY_WANTED**2
        told.append((medians, np.where(silent, 1.0, noise)))
    nats = [_information([(mean[:, j], spread[:, j]) for mean, spread in told]) for j in range(len(runs))]
    return [Worth(run=run, nats=one) for run, one in zip(runs, nats, strict=True)]


def _information(told: Sequence[tuple[Floats, Floats]]) -> float:
    distance = np.sum([_bhattacharyya(mean, variance) for mean, variance in told], axis=0)
    return max(0.0, float(-np.mean(np.log(np.mean(np.exp(-distance), axis=1)))))


def _bhattacharyya(mean: Floats, variance: Floats) -> Floats:
    """Distances between all pairs of normal distributions, shape (n, n)."""
    both = variance[:, None] + variance[None, :]
    apart = (mean[:, None] - mean[None, :]) ** 2 / (4 * both)
    wider: Floats = apart + 0.5 * np.log(both / (2 * np.sqrt(variance[:, None] * variance[None, :])))
    return wider
