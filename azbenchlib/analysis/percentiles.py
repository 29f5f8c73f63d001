"""Percentiles: from long to wide, merged over runs, and how many I/Os each needs."""

import math
from collections.abc import Sequence

import pandas as pd

from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NS_PER_US

CONFIDENCE_TAIL = 0.025  # one side of a 95 % interval


def min_samples(percentile: float) -> int:
    """Fewest I/Os that bound a percentile from above with 95 % two-sided confidence.

    The largest of n samples lies above the q-quantile with probability 1 − q^n, which must reach
    0.975: 146 for p97.5, 368 for p99, 3,688 for p99.9, 36,887 for p99.99. Order statistics of
    independent samples; I/Os of one run are correlated, so this is the least, not enough.

    Parameters
    ----------
    percentile : float
        Above 0, below 100.

    Raises
    ------
    InputError
        Outside of that.
    """
    if not 0 < percentile < 100:
        raise InputError(f"a percentile between 0 and 100 is needed, not {percentile}")
    return math.ceil(math.log(CONFIDENCE_TAIL) / math.log(percentile / 100))


def wide(percentiles: pd.DataFrame, wanted: Sequence[float]) -> pd.DataFrame:
    """One row a run, direction and latency kind; one column a percentile, in µs.

    Parameters
    ----------
    percentiles : DataFrame
        The table percentiles.
    wanted : sequence of float
        0 to 100; one that a run does not have is NA.

    Returns
    -------
    DataFrame
        Columns run_id, ddir, lat_kind, then p50, p99.9, … as asked for.
    """
    keys = ["run_id", "ddir", "lat_kind"]
    some = percentiles[percentiles["percentile"].isin(wanted)]
    table = some.pivot(index=keys, columns="percentile", values="lat_us").reindex(columns=list(wanted))
    table.columns = pd.Index([f"p{p:.10g}" for p in wanted])
    return table.reset_index()


def once(bins: pd.DataFrame) -> pd.DataFrame:
    """The bins that count each I/O once: of the whole run where there are any, else of its histogram log.

    Parameters
    ----------
    bins : DataFrame
        The table bins. Whole-run bins (t_s NA) and those of a histogram log count the same I/Os.
    """
    whole = bins["t_s"].isna()
    covered = whole.groupby([bins["run_id"], bins["ddir"], bins["lat_kind"]]).transform("any")
    return bins[whole | ~covered]


def merged(
    bins: pd.DataFrame, wanted: Sequence[float], by: Sequence[str] = ("ddir", "lat_kind")
) -> pd.DataFrame:
    """Percentiles of several runs taken together, from their bins.

    Exact to the bin: within ±0.78 % of what one run with all the I/Os would have reported. The mean
    of the runs' percentiles is no percentile of anything.

    Parameters
    ----------
    bins : DataFrame
        The table bins, of the runs to be merged.
    wanted : sequence of float
        Above 0, at most 100.
    by : sequence of str
        What is kept apart.

    Returns
    -------
    DataFrame
        Columns `by`, percentile, lat_us.

    Raises
    ------
    InputError
        When there are no bins: percentiles alone cannot be merged.
    """
    if bins.empty:
        raise InputError("percentiles cannot be merged without bins; run fio with --output-format=json+")
    parts = []
    for key, group in once(bins).groupby(list(by), dropna=False):
        counts = histogram.merge(group)
        values = histogram.percentile(counts["bin_ns"], counts["n"], wanted)
        names = dict(zip(by, key, strict=True))
        parts.append(pd.DataFrame({**names, "percentile": list(wanted), "lat_us": values / NS_PER_US}))
    return pd.concat(parts, ignore_index=True).astype({"lat_us": schema.FLOAT, "percentile": schema.FLOAT})
