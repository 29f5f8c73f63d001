"""Latency over time, thinned to what a page can show."""

from collections.abc import Mapping

import pandas as pd

from azbenchlib.analysis import trace
from azbenchlib.analysis.grouping import Arrangement

MOST_POINTS = 300  # per series: more than the pixels that show them buys nothing
_KINDS = ("clat_us", "lat_us")


def envelope(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean and largest logged latency in equal spans of time.

    Parameters
    ----------
    arrangement : Arrangement
        Which runs are compared.
    tables : mapping of str to DataFrame
        The dataset's tables; completion latency is taken where it was logged, else total latency.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, t_s (middle of the span), lat_us (mean of the logged values),
        lat_max_us; empty where there is no latency log. Without what was written when the tool no longer
        asked for I/O.
    """
    samples = tables["samples"].dropna(subset=["t_s"])  # some logs have latencies without times
    some = trace.without_ends(samples[samples["metric"].isin(_KINDS)], tables["runs"]).merge(
        arrangement.runs[["run_id", "ddir", "series", "facet"]], on=["run_id", "ddir"]
    )
    keys = ["series", "facet", "ddir"]
    columns = [*keys, "t_s", "lat_us", "lat_max_us"]
    if some.empty:
        return pd.DataFrame(columns=columns)
    first = some.groupby(keys, sort=False)["metric"].transform("min")  # clat_us sorts before lat_us
    some = some[some["metric"] == first]
    parts = []
    for key, group in some.groupby(keys, sort=False):
        n = min(MOST_POINTS, group["t_s"].nunique())
        span = pd.cut(group["t_s"].astype(float), n, labels=False) if n > 1 else 0
        means = group.groupby(span if n > 1 else group["ddir"])
        thin = pd.DataFrame(
            {"t_s": means["t_s"].mean(), "lat_us": means["value"].mean(), "lat_max_us": means["value"].max()}
        )
        parts.append(thin.assign(**dict(zip(keys, key, strict=True))))
    return pd.concat(parts, ignore_index=True)[columns]
