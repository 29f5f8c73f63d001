"""Latency over time, thinned to what a page can show."""

from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet

import pandas as pd

from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.over_time import trace
from azbenchlib.core.units import NS_PER_US

MOST_POINTS = 300  # per series: more than the pixels that show them buys nothing
_MIXED = 1.2  # times as many moments as intervals: those of several jobs
_KINDS = ("clat_us", "lat_us")
_KEYS = ["series", "facet", "ddir"]
_COLUMNS = [*_KEYS, "t_s", "lat_us", "lat_max_us"]


def envelope(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean and largest logged latency in equal spans of time.

    Parameters
    ----------
    arrangement : Arrangement
        Which runs are compared.
    tables : mapping of str to DataFrame
        The dataset's tables; completion latency is taken where it was logged, else total latency; of a run
        whose latencies are counted by window, the bins.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, t_s (middle of the span), lat_us (mean of the logged values, or of the
        bins), lat_max_us; empty where there is no latency log. Without what was written when the tool no
        longer asked for I/O.
    """
    samples = tables["samples"].dropna(subset=["t_s"])  # some logs have latencies without times
    logged = trace.without_ends(samples[samples["metric"].isin(_KINDS)], tables["runs"])
    rows = logged.rename(columns={"value": "lat_us", "metric": "kind"}).assign(
        lat_max_us=logged["value"], n=1
    )
    counted = _of_bins(tables["bins"], set(logged["run_id"]))
    names = ["run_id", "ddir", "kind", "t_s", "lat_us", "lat_max_us", "n"]
    parts = [part[names] for part in (rows, counted) if len(part)]
    if not parts:
        return pd.DataFrame(columns=_COLUMNS)
    of_series = arrangement.runs[["run_id", "ddir", "series", "facet"]]
    some = pd.concat(parts, ignore_index=True).merge(of_series, on=["run_id", "ddir"])
    first = some.groupby(_KEYS, sort=False)["kind"].transform("min")  # clat_us sorts before lat_us
    thin = [_thinned(group, key) for key, group in some[some["kind"] == first].groupby(_KEYS, sort=False)]
    return pd.concat(thin, ignore_index=True)[_COLUMNS] if thin else pd.DataFrame(columns=_COLUMNS)


def _of_bins(bins: pd.DataFrame, logged: AbstractSet[str]) -> pd.DataFrame:
    """A row a window of the bins of long logs and histogram logs, of runs without other latencies."""
    some = bins[bins["t_s"].notna() & ~bins["run_id"].isin(logged)]
    some = some.assign(kind=some["lat_kind"] + "_us", us=some["bin_ns"] / NS_PER_US)
    some = some[some["kind"].isin(_KINDS)]
    moved = some.assign(total=some["us"] * some["n"]).groupby(
        ["run_id", "ddir", "kind", "t_s"], as_index=False
    )
    found = moved.agg(total=("total", "sum"), n=("n", "sum"), lat_max_us=("us", "max"))
    width = found.groupby(["run_id", "ddir", "kind"])["t_s"].transform(_width)
    return found.assign(lat_us=found["total"] / found["n"], t_s=found["t_s"] - width / 2)


def _width(ends_s: pd.Series) -> float:
    """How long windows are, by their ends."""
    return float(pd.Series([0.0, *sorted(ends_s)]).diff().median())


def n_spans(group: pd.DataFrame) -> int:
    """How many spans are no shorter than the intervals of one job, where the logs of several are mixed.

    Each job's intervals end some milliseconds before or after those of the others; spans of these
    milliseconds would show one job and then the other.
    """
    times = group["t_s"].astype(float)
    steps = times.groupby(group["run_id"], sort=False).diff()
    forward = steps[steps > 0]
    if forward.empty:
        return len(group)
    spans = 1 + round((times.max() - times.min()) / forward.median())
    return spans if times.nunique() > _MIXED * spans else len(group)


def _thinned(group: pd.DataFrame, key: tuple[Hashable, ...]) -> pd.DataFrame:
    """The rows of one series in at most so many spans of time."""
    n = min(MOST_POINTS, group["t_s"].nunique(), n_spans(group))
    span = pd.cut(group["t_s"].astype(float), n, labels=False) if n > 1 else group["ddir"]
    means = group.assign(total=group["lat_us"] * group["n"]).groupby(span)
    thin = pd.DataFrame(
        {
            "t_s": means["t_s"].mean(),
            "lat_us": means["total"].sum() / means["n"].sum(),
            "lat_max_us": means["lat_max_us"].max(),
        }
    )
    return thin.assign(**dict(zip(_KEYS, key, strict=True)))
