"""How far the median of a run's latencies may be from that of the disk, by these latencies alone.

The median of n values varies by 1 ÷ (2 f √n), where f is the density at the median, whatever the distribution
is. The density is taken from the values within a share of their ranks on both sides (Hall and Sheather, "On
the distribution of a studentized quantile", JRSS B 50, 1988, for a 95 % interval of a median).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

# Of the share of ranks on each side, times n ** (-1/3): z ** (2/3) (1.5 φ(0)²) ** (1/3), z = 1.96.
_WIDTH = 0.972
_FEWEST = 15  # values: of fewer, the share would be more than 0.4


def median_error(values: npt.ArrayLike, counts: npt.ArrayLike = 1) -> float | None:
    """Standard error of the logarithm of a median.

    Parameters
    ----------
    values : array-like, shape (m,)
        Above 0; in any unit and order.
    counts : array-like, shape (m,), optional
        How often each was seen.

    Returns
    -------
    float or None
        None where there are too few to tell.
    """
    every = np.asarray(values, dtype=float)
    order = np.argsort(every)
    reached = np.cumsum(np.broadcast_to(np.asarray(counts, dtype=float), every.shape)[order])
    n = float(reached[-1]) if reached.size else 0.0
    if n < _FEWEST:
        return None
    share = _WIDTH * n ** (-1 / 3)
    low, high = every[order][np.searchsorted(reached, [(0.5 - share) * n, (0.5 + share) * n])]
    return math.log(high / low) / (4 * share * math.sqrt(n))
