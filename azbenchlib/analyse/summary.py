"""What a report says first: one card a series, and one table of all results."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from azbenchlib.analyse.arrange import RATES, Arrangement, curves, rates

CARD_PERCENTILES = (50.0, 95.0, 99.0)
TABLE_PERCENTILES = (50.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Card:
    """The figures of one series, unformatted.

    Attributes
    ----------
    series : str
        Key of the series.
    facet : str or None
        What else names the card, where a series has several.
    rate : Series or None
        A row of :func:`~azbenchlib.analyse.arrange.rates`.
    latency : dict of float to float
        Percentile to µs, from the run with the least load.
    latency_of : str
        The workload of those.
    quotes : DataFrame
        Published latencies whose statistic or kind is open: facet, value, bound, unit, stat.
    """

    series: str
    facet: str | None
    rate: pd.Series | None
    latency: dict[float, float]
    latency_of: str
    quotes: pd.DataFrame


def cards(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> list[Card]:
    """One card a setup; with one setup only, one card a workload.

    The rate is that of the workload which most series share; among those, a direct one before reads
    that the page cache may have answered, the highest load, writes, random I/O, the smallest block.
    """
    rated = rates(arrangement)
    ranked = _ranked(rated[rated[list(RATES)].notna().any(axis=1)])
    timed = curves(arrangement, tables)
    workloads = rated.set_index(["series", "facet", "ddir"])
    quotes = _quotes(arrangement, tables["published"])
    result = []
    for series in arrangement.series["key"]:
        mine = [None] if arrangement.by == "setup" else _facets(rated, series)
        for facet in mine:
            rate = _of(ranked, series, facet)
            points = _lightest(_of(timed, series, facet), workloads)
            latency = {float(row.percentile): float(row.lat_us) for row in points.itertuples()}
            result.append(
                Card(
                    series,
                    facet,
                    rate.iloc[0] if len(rate) else None,
                    {p: latency[p] for p in CARD_PERCENTILES if p in latency},
                    str(points["facet"].iloc[0]) if len(points) else "",
                    _of(quotes, series, facet),
                )
            )
    return result


def results_table(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every series and workload with rates and percentiles, one row each.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, iops, bw_bytes_per_s, their bounds, p50, p95, p99, p99.9 (µs), and a
        published latency whose statistic or kind is open: value, bound, unit, stat.
    """
    timed = curves(arrangement, tables)
    keys = ["series", "facet", "ddir"]
    some = timed[timed["percentile"].isin(TABLE_PERCENTILES)]
    wide = some.pivot_table(index=keys, columns="percentile", values="lat_us", aggfunc="first", observed=True)
    wide = wide.reindex(columns=list(TABLE_PERCENTILES))
    wide.columns = pd.Index([f"p{p:g}" for p in TABLE_PERCENTILES])
    order = ["series", "facet", "ddir", *RATES, "iops_bound", "bw_bound"]
    quotes = (
        _quotes(arrangement, tables["published"]).drop(columns="run_id").drop_duplicates(["series", "facet"])
    )
    table = rates(arrangement)[order].merge(wide.reset_index(), on=keys, how="left")
    return table.merge(quotes, on=["series", "facet"], how="left")


def medians_by_pattern(rated: pd.DataFrame) -> pd.DataFrame:
    """Median throughput over block sizes: one row a pattern, one column a series, in B/s.

    A median of rates, never of percentiles; for datasets with more results than a page can list.
    """
    return rated.pivot_table(
        index="rw", columns="series", values="bw_bytes_per_s", aggfunc="median", sort=False, observed=True
    )


def _ranked(rated: pd.DataFrame) -> pd.DataFrame:
    patterns = rated["rw"].fillna("")
    writes = patterns.str.endswith("write")
    ranks = pd.DataFrame(
        {
            "shared": -rated.groupby("facet")["series"].transform("nunique"),
            "buffered_read": (rated["direct"].eq(False).fillna(False) & ~writes).astype(int),
            "load": -rated["queue_depth"].fillna(0),
            "read": (~writes).astype(int),
            "sequential": (~patterns.str.startswith("rand")).astype(int),
            "block": rated["bs_bytes"].fillna(0),
        }
    )
    return rated.loc[ranks.sort_values(list(ranks.columns), kind="stable").index]


def _lightest(points: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """The curve of the workload with the least queue depth."""
    if points.empty:
        return points
    keys = list(points[["series", "facet", "ddir"]].drop_duplicates().itertuples(index=False, name=None))
    depths = [workloads.loc[[key], "queue_depth"].fillna(0).min() for key in keys]
    _, facet, ddir = keys[depths.index(min(depths))]
    return points[(points["facet"] == facet) & (points["ddir"] == ddir)]


def _quotes(arrangement: Arrangement, published: pd.DataFrame) -> pd.DataFrame:
    keep = ["run_id", "value", "bound", "unit", "stat"]
    known = published["measured"].fillna(False) & published["value"].notna()
    some = published.loc[(published["quantity"] == "latency") & known, keep]
    return some.merge(arrangement.runs[["run_id", "series", "facet"]], on="run_id")


def _facets(rated: pd.DataFrame, series: str) -> list[str | None]:
    return list(rated.loc[rated["series"] == series, "facet"].drop_duplicates())


def _of(rows: pd.DataFrame, series: str, facet: str | None) -> pd.DataFrame:
    mine = rows[rows["series"] == series]
    return mine if facet is None else mine[mine["facet"] == facet]


def overview(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a run and direction with its main figures, as the tool reported them.

    Returns
    -------
    DataFrame
        Columns source_path, job, level, ddir, rw, bs_bytes, queue_depth, iops, bw_bytes_per_s, p50, p99
        (µs, completion latency where there is any).
    """
    kinds = tables["percentiles"].sort_values("lat_kind").drop_duplicates(["run_id", "ddir", "percentile"])
    kinds = kinds[kinds["lat_kind"] != "slat"]
    wide = kinds.pivot(index=["run_id", "ddir"], columns="percentile", values="lat_us")
    wide = wide.reindex(columns=[50.0, 99.0]).set_axis(["p50", "p99"], axis=1).reset_index()
    rated = tables["results"][["run_id", "ddir", *RATES]].merge(wide, on=["run_id", "ddir"], how="outer")
    known = ["run_id", "source_path", "job", "level", "rw", "bs_bytes", "queue_depth"]
    rows = tables["runs"][known].merge(rated, on="run_id")
    return rows[[*known[1:4], "ddir", *known[4:], *RATES, "p50", "p99"]]
