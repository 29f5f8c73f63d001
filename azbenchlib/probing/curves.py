"""Curves of a probed disk with their bands: the most IOPS by block size, the latency by queue depth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from azbenchlib.core.units import KIB, US_PER_S
from azbenchlib.probing.forward import Loads, predict
from azbenchlib.probing.hypotheses import SMALLEST_BYTES, Floats, Hypotheses
from azbenchlib.probing.portrait import INTERVAL
from azbenchlib.probing.runs import QUEUE_DEPTHS, ProbeRun

WAYS_SHARES = {"read": 1.0, "write": 0.0}
ROOF_SIZES = tuple(4 * KIB << n for n in range(9))  # 4 KiB to 1 MiB


def roof(disks: Hypotheses) -> pd.DataFrame:
    """The most IOPS at each block size, at the largest queue depth that a probe tries.

    Returns
    -------
    DataFrame
        Columns ddir, bs_bytes, low, iops, high: the median of what the disks do, and its 95 % band.
    """
    deepest = QUEUE_DEPTHS[-1]
    found = []
    for ddir, share in WAYS_SHARES.items():
        runs = [ProbeRun(read_share=share, bs_bytes=size, depth=deepest) for size in ROOF_SIZES]
        low, middle, high = _bands(predict(disks, Loads.of(runs)).iops)
        found.append(
            pd.DataFrame({"ddir": ddir, "bs_bytes": ROOF_SIZES, "low": low, "iops": middle, "high": high})
        )
    return pd.concat(found, ignore_index=True)


def response(disks: Hypotheses, depths: Sequence[int] = QUEUE_DEPTHS) -> pd.DataFrame:
    """The mean latency of 4 KiB I/Os at each queue depth, by Little's law.

    Returns
    -------
    DataFrame
        Columns ddir, queue_depth, low, lat_mean_us, high.
    """
    found = []
    for ddir, share in WAYS_SHARES.items():
        runs = [ProbeRun(read_share=share, bs_bytes=SMALLEST_BYTES, depth=depth) for depth in depths]
        mean_us = np.array(depths)[None, :] * US_PER_S / predict(disks, Loads.of(runs)).iops
        low, middle, high = _bands(mean_us)
        columns = {"queue_depth": list(depths), "low": low, "lat_mean_us": middle, "high": high}
        found.append(pd.DataFrame({"ddir": ddir, **columns}))
    return pd.concat(found, ignore_index=True)


def _bands(values: Floats) -> tuple[Floats, Floats, Floats]:
    low, middle, high = np.quantile(values, INTERVAL, axis=0)
    return low, middle, high
