"""Whether latencies have two modes, as under a token bucket: some find a token, the others wait for one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MIXTURE_STEPS = 200
LEAST_SHARE = 0.01
VALLEY = 0.5  # between two modes, the density falls below this share of the lower one


@dataclass(frozen=True)
class Modes:
    """Two modes of latency in µs, the share of I/Os in the upper one, and density between ÷ lower peak."""

    low_us: float
    high_us: float
    share_high: float
    valley: float


def two_modes(latency_us: npt.ArrayLike, n: npt.ArrayLike | None = None) -> Modes | None:
    """The two modes of a distribution of latency; None where it has one.

    Parameters
    ----------
    latency_us : array_like, shape (k,)
        Latencies, the values of histogram bins, or equally spaced percentiles, in µs; above 0.
    n : array_like, shape (k,), optional
        How many I/Os each stands for. None: one.

    Notes
    -----
    Two normal distributions of the logarithm, fitted by expectation and maximisation; two modes are two
    where the density between them falls below half of the lower peak and each holds 1 % of the I/Os.
    """
    x = np.log(np.asarray(latency_us, float))
    weight = np.ones(x.size) if n is None else np.asarray(n, float)
    if x.size < 4 or np.ptp(x) == 0:
        return None
    share, mean, sd = _mixture(x, weight / weight.sum())
    if share.min() < LEAST_SHARE:
        return None
    between = np.linspace(mean[0], mean[1], 101)
    density = _densities(between, share, mean, sd).sum(axis=0)
    valley = float(density.min() / min(density[0], density[-1]))
    if valley >= VALLEY:
        return None
    return Modes(float(np.exp(mean[0])), float(np.exp(mean[1])), float(share[1]), valley)


def _mixture(x: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Shares, means and standard deviations of two normal distributions, the lower mean first."""
    order = np.argsort(x)
    x, weight = x[order], weight[order]
    # Where two groups are tightest: the split that leaves the least squares inside them.
    low, sums, squares = np.cumsum(weight), np.cumsum(weight * x), np.cumsum(weight * x**2)
    at = low[:-1].clip(1e-12), (1 - low[:-1]).clip(1e-12)
    inside = squares[-1] - sums[:-1] ** 2 / at[0] - (sums[-1] - sums[:-1]) ** 2 / at[1]
    upper = np.arange(x.size) > int(np.argmin(inside))
    belongs = np.stack([~upper, upper]).astype(float)
    floor = max(1e-3, 0.01 * float(np.sqrt(squares[-1] - sums[-1] ** 2)))
    for _ in range(MIXTURE_STEPS):
        share = (belongs * weight).sum(axis=1).clip(1e-12)
        mean = (belongs * weight * x).sum(axis=1) / share
        sd = np.sqrt((belongs * weight * (x - mean[:, None]) ** 2).sum(axis=1) / share).clip(floor)
        density = _densities(x, share, mean, sd)
        before, belongs = belongs, density / density.sum(axis=0).clip(1e-300)
        if np.abs(belongs - before).max() < 1e-6:
            break
    lower = np.argsort(mean)
    return share[lower], mean[lower], sd[lower]


def _densities(x: Array, share: Array, mean: Array, sd: Array) -> Array:
    z = (x - mean[:, None]) / sd[:, None]
    return np.exp(-(z**2) / 2) * (share / sd)[:, None]
