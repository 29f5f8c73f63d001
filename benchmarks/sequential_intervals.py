"""Do the intervals that are looked at after each run hold, and what do they save?

    .venv/bin/python benchmarks/sequential_intervals.py
    .venv/bin/python benchmarks/sequential_intervals.py --calibrate

Simulated campaigns: the figure of each workload is log-normal, its spread drawn from 0.5 % to 8 % (as p99 of
repeated runs has it), up to 20 repeats, until ± 5 %. Told are: how often the true value lies in the interval
at every look of a series, and at the look at which the campaign stops; and how many runs it takes against a
campaign that repeats all workloads a fixed number of times, chosen as the least with which as many workloads
are known as closely (by Student's interval, looked at once). The spread of a workload is not known
beforehand, so a fixed number has to serve the noisiest; for one workload whose spread is known, a fixed
number takes fewer runs.
"""

from __future__ import annotations

import argparse
import math
import random
from dataclasses import dataclass

import numpy as np
from scipy import stats

from azbenchlib.campaign.design import figures

MOST, WANTED = 20, 0.05
SPREADS = 0.005, 0.08


@dataclass(frozen=True, kw_only=True)
class Found:
    """Of simulated workloads: shares, and runs a workload."""

    at_every_look: float
    at_the_stop: float
    reached: float
    runs: float
    fixed_runs: int

    @property
    def saved(self) -> float:
        return 1 - self.runs / self.fixed_runs


def simulate(workloads: int, seed: int, most: int = MOST) -> Found:
    """So many workloads, each repeated until it is known closely enough."""
    rng = np.random.default_rng(seed)
    spreads = np.exp(rng.uniform(*np.log(SPREADS), workloads))
    every, stop, reached, runs = 0, 0, 0, 0
    for spread in spreads:
        logs = rng.normal(0, spread, most)
        widths = [figures.half_width(logs[:n].tolist(), most) for n in range(1, most + 1)]
        covers = [abs(logs[:n].mean()) <= width for n, width in enumerate(widths, 1)]
        at = next((n for n, width in enumerate(widths) if width <= math.log1p(WANTED)), most - 1)
        every += all(covers)
        stop += covers[at]
        reached += widths[at] <= math.log1p(WANTED)
        runs += at + 1
    share = reached / workloads
    return Found(
        at_every_look=every / workloads,
        at_the_stop=stop / workloads,
        reached=share,
        runs=runs / workloads,
        fixed_runs=fixed(spreads, share, rng),
    )


def fixed(spreads: np.ndarray, share: float, rng: np.random.Generator) -> int:
    """The least fixed number of runs with which as many workloads are known as closely."""
    logs = rng.normal(0, 1, (len(spreads), 400)) * spreads[:, None]
    for n in range(3, 401):
        half = stats.t.ppf(0.975, n - 1) * logs[:, :n].std(axis=1, ddof=1) / math.sqrt(n)
        if (half <= math.log1p(WANTED)).mean() >= share:
            return n
    return 400


def exceeded(most: int, series: int, seed: int) -> float:
    """The bound that 5 % of simulated series of a length exceed at some look from the third on, inverted."""
    rng = np.random.default_rng(seed)
    logs = rng.standard_normal((series, most))
    n = np.arange(1, most + 1)
    mean = logs.cumsum(1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = ((logs**2).cumsum(1) / n - mean**2) * n / (n - 1)
        x, k = n * mean**2 / variance / (n - 1), 1 + n * figures.SPREAD
        ratio = -0.5 * np.log(k) + n / 2 * (np.log1p(x) - np.log1p(x / k))
    worst = ratio[:, figures.FIRST_LOOK - 1 :].max(axis=1)
    return float(np.exp(-np.quantile(worst, figures.COVERAGE)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--calibrate", action="store_true", help="the bounds of intervals.LOOK_BOUNDS, anew")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    if asked.calibrate:
        for most, level in figures.LOOK_BOUNDS:
            print(f"up to {most} runs: {exceeded(most, 200_000, asked.seed):.4f} (in use: {level})")
        return 0
    found = simulate(asked.workloads, asked.seed)
    print(f"the true value is in the interval at every look: {found.at_every_look:.1%}")
    print(
        f"at the look at which it stops: {found.at_the_stop:.1%}; as closely as wanted: {found.reached:.1%}"
    )
    print(f"runs a workload: {found.runs:.2f}, fixed: {found.fixed_runs}, saved: {found.saved:.0%}")
    return abs(found.at_every_look - figures.COVERAGE) > 0.02 or found.saved < 0.3


if __name__ == "__main__":
    raise SystemExit(main())
