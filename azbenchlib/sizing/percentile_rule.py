"""What a rule of thumb leads to: the 95th percentile of peaks of 10 min × 1.3, in limits without credits.

Source: Azure Migrate, MicrosoftDocs/azure-docs concepts-assessment-calculation.md (2020-01-06: percentiles of
peaks of 10 min, 95 by default) and best-practices-assessment.md (2019-07-10: comfort factor of 30 %).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import Candidate, search
from azbenchlib.core.units import MB
from azbenchlib.model.load_history import LoadHistory, Series

PERCENTILE, COMFORT = 95, 1.3
PEAK_S = 600.0  # of which the largest rate counts
_LEAST_IOPS, _LEAST_BYTES_PER_S = 1.0, 0.001 * MB


def percentile(history: LoadHistory, values: Series, percent: float) -> float:
    """The value that a figure did not exceed in so many per cent of the time."""
    return _percentile(values, history.interval_s, percent)


def _percentile(values: Series, lengths: Series, percent: float) -> float:
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(lengths[order])
    place = int(np.searchsorted(passed, percent / 100 * passed[-1] * (1 - 1e-12)))
    return float(values[order[min(place, len(order) - 1)]])


def percentile_of_peaks(history: LoadHistory, values: Series) -> float:
    """The largest rate of each ten minutes: the one that was not exceeded in 95 per cent of the time."""
    windows = np.floor((history.t_s - history.t_s[0]) / PEAK_S)
    starts = np.flatnonzero(np.diff(windows, prepend=-1.0))
    peaks, lengths = np.maximum.reduceat(values, starts), np.add.reduceat(history.interval_s, starts)
    return _percentile(peaks, lengths, PERCENTILE)


def by_percentile(
    history: LoadHistory, demand: Demand, market: Market, most_disks: int | None
) -> Candidate | None:
    """The cheapest that the rule accepts; None: nothing is that large.

    Parameters
    ----------
    history : LoadHistory
    demand : Demand
        What is asked for beside the load.
    market : Market
    most_disks : int, optional
        That a design may have. None: as many as a VM takes.
    """
    iops, rate = (
        COMFORT * percentile_of_peaks(history, values) for values in (history.iops, history.bytes_per_s)
    )
    wanted = replace(
        demand,
        iops=max(iops, _LEAST_IOPS),
        bytes_per_s=max(rate, _LEAST_BYTES_PER_S),
        bs_bytes=None,
        headroom=1.0,
        peak=None,
        most_disks=most_disks or demand.most_disks,
    )
    return search(wanted, market, bursting=False).cheapest()
