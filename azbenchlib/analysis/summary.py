"""What a report says first: one card a series, and one table of all results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from azbenchlib.analysis.concurrency import interim
from azbenchlib.analysis.file_sets import FileSet, file_set
from azbenchlib.analysis.grouping import DIRECTION_WORDS, KEYS, Arrangement, curves, rates
from azbenchlib.analysis.repeats import RATE_COLUMNS
from azbenchlib.analysis.setup_names import file_labels, setup_labels
from azbenchlib.analysis.totals import totals
from azbenchlib.core import schema

CARD_PERCENTILES = (50.0, 95.0, 99.0)
_OVERVIEW_PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
UNDER_WAY = "under way"
TABLE_PERCENTILES = (50.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True, kw_only=True)
class LatencySummary:
    """Percentiles of one direction of a workload.

    Attributes
    ----------
    of : str
        The workload, with the direction where it has several.
    direction : str
        ``reads``, ``writes``, …, where the workload has several; else empty.
    kind : str
        ``clat`` or ``lat``.
    values : dict of float to float
        Percentile to µs; of repeats without bins the median of their own percentiles.
    ranges : dict of float to (float, float)
        Percentile to the lowest and highest, in µs, that one of several repeats has, or, in place of values,
        a file of a set or one of several jobs that ran at once, where these have no bins to be merged.
    each : {"file", "run", "job"}
        What the ranges are over.
    """

    of: str
    direction: str
    kind: str
    values: dict[float, float]
    ranges: dict[float, tuple[float, float]] = field(default_factory=dict)
    each: str = "file"


@dataclass(frozen=True, kw_only=True)
class Card:
    """The figures of one series, unformatted.

    Attributes
    ----------
    series : str
        Key of the series.
    facet : str or None
        What else names the card, where a series has several.
    rate : Series or None
        A row of :func:`~azbenchlib.analysis.totals.totals`: all directions together.
    latencies : tuple of Latency
        From the run with the least load, each direction apart.
    quotes : DataFrame
        Published latencies whose statistic or kind is open: facet, value, bound, unit, stat.
    files : FileSet or None
        How the rates spread, where the series is a set of files of one workload.
    """

    series: str
    facet: str | None
    rate: pd.Series | None
    latencies: tuple[LatencySummary, ...]
    quotes: pd.DataFrame
    files: FileSet | None = None

    @property
    def latency(self) -> dict[float, float]:
        """Percentile to µs, of the first direction; empty where there is none."""
        return self.latencies[0].values if self.latencies else {}


def cards(
    arrangement: Arrangement,
    tables: Mapping[str, pd.DataFrame],
    known: pd.DataFrame | None = None,
    *,
    each: bool = False,
) -> list[Card]:
    """One card a setup; with one setup only, or with `each`, one card a workload.

    The rate is that of the workload which most series share; among those, a direct one before reads
    that the page cache may have answered, the highest load, writes, random I/O, the smallest block.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
    known : DataFrame, optional
        The percentile curves of these, where they were made before.
    """
    rated = totals(arrangement)
    ranked = _ranked(rated[rated[list(RATE_COLUMNS)].notna().any(axis=1)])
    made = curves(arrangement, tables) if known is None else known
    timed = made.merge(_places(arrangement), on=KEYS, how="left")
    quotes = _quotes(arrangement, tables["published"])
    ranges = _ranges(arrangement, tables, timed)
    every = [_by_series(rows) for rows in (rated, ranked, timed, quotes)]
    result = []
    for series in arrangement.series["key"]:
        own, rates_, curves_, quotes_ = (rows.get(series) for rows in every)
        apart = own is not None and (each or arrangement.by != "setup")
        mine = [None] if own is None or not apart else list(own["facet"].drop_duplicates())
        for facet in mine:
            rate = _of(rates_, ranked, facet)
            points = _lightest(_of(curves_, timed, facet, "whole"))
            result.append(
                Card(
                    series=series,
                    facet=facet,
                    rate=rate.iloc[0] if len(rate) else None,
                    latencies=tuple(_latencies(points)) or _ranges_of(ranges.get(series, ()), facet),
                    quotes=_of(quotes_, quotes, facet, "whole"),
                    files=file_set(arrangement, series),
                )
            )
    return result


def _places(arrangement: Arrangement) -> pd.DataFrame:
    """Workload, all that ran at once, and queue depth of each series, facet and direction."""
    columns = [*KEYS, "workload", "whole", "queue_depth"]
    return arrangement.runs[columns].drop_duplicates(KEYS)


def results_table(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], known: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Every series and workload with rates and percentiles, one row each; parameters as of :func:`cards`.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, iops, bw_bytes_per_s, their bounds, repeats and range as of
        :func:`~azbenchlib.analysis.grouping.rates`, lat_kind, p50, p95, p99, p99.9 (µs), and a published
        latency whose statistic or kind is open: value, bound, unit, stat.
    """
    timed = curves(arrangement, tables) if known is None else known
    keys = [*KEYS, "lat_kind"]
    some = timed[timed["percentile"].isin(TABLE_PERCENTILES)]
    wide = some.pivot_table(index=keys, columns="percentile", values="lat_us", aggfunc="first", observed=True)
    wide = wide.reindex(columns=list(TABLE_PERCENTILES))
    wide.columns = pd.Index([f"p{p:g}" for p in TABLE_PERCENTILES])
    pool = ["repeats", "phases", "iops_low", "iops_high", "bw_low", "bw_high"]
    order = [*KEYS, *RATE_COLUMNS, *RATE_COLUMNS.values(), *pool]
    quotes = (
        _quotes(arrangement, tables["published"])
        .drop(columns=["run_id", "whole"])
        .drop_duplicates(["series", "facet"])
    )
    table = rates(arrangement)[order].merge(wide.reset_index(), on=KEYS, how="left")
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
    writes = rated["read_share"].eq(0).fillna(False).astype(bool)
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


def _lightest(points: pd.DataFrame) -> pd.DataFrame:
    """The curves of the workload with the least queue depth, in all its directions."""
    if points.empty:
        return points
    least = points.loc[points["queue_depth"].fillna(0).astype(float).idxmin(), "workload"]
    return points[points["workload"] == least]


def _latencies(points: pd.DataFrame) -> Iterator[LatencySummary]:
    for (facet, ddir), rows in points.groupby(["facet", "ddir"], sort=False):
        several = facet != rows["workload"].iloc[0]
        known = dict(zip(rows["percentile"].astype(float), rows["lat_us"].astype(float), strict=True))
        values = {p: known[p] for p in CARD_PERCENTILES if p in known}
        if values:
            direction = DIRECTION_WORDS.get(str(ddir), "") if several else ""
            yield LatencySummary(
                of=str(facet), direction=direction, kind=str(rows["lat_kind"].iloc[0]), values=values
            )


def _ranges(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], timed: pd.DataFrame
) -> dict[str, list[tuple[str, LatencySummary]]]:
    """By series, each with its workload: the range of the percentiles that each of several has, of one
    workload without bins; the workload of the least depth first.

    These are files of a set, repeats, or jobs that ran at once, such as those of several hosts. The
    percentile of all their I/Os together lies between the least and the largest.
    """
    runs = arrangement.runs
    known = pd.MultiIndex.from_frame(timed[KEYS].drop_duplicates())
    runs = runs[~pd.MultiIndex.from_frame(runs[KEYS]).isin(known)]
    if runs.empty:
        return {}
    several = runs.groupby(KEYS)["at_once"].transform("nunique") > 1
    each = pd.Series("job", runs.index).mask(several, "run").mask(runs["in_set"], "file")
    runs = runs.assign(each=each, part=runs["at_once"].where(each != "job", runs["run_id"]))
    own = curves(replace(arrangement, runs=runs.assign(series=runs["part"])), tables)
    own = own[own["percentile"].isin(CARD_PERCENTILES)].rename(columns={"series": "part"})
    of = runs[["part", *KEYS, "workload", "whole", "queue_depth", "each"]].drop_duplicates(["part", *KEYS])
    n = of.groupby(KEYS).size()
    ranges: dict[str, list[tuple[str, LatencySummary]]] = {}
    rows = own.merge(of, on=["part", "facet", "ddir"]).sort_values("queue_depth", kind="stable")
    for key, mine in rows.groupby(KEYS, sort=False):
        spread = mine.groupby("percentile")["lat_us"].agg(["size", "min", "max", "median"])
        spread = spread[spread["size"] == n[key]]
        if len(spread) and mine["lat_kind"].nunique() == 1:
            whole, summed = _range_of(mine.iloc[0], spread)
            ranges.setdefault(str(key[0]), []).append((whole, summed))
    return ranges


def _range_of(row: pd.Series, spread: pd.DataFrame) -> tuple[str, LatencySummary]:
    ends = {float(each.Index): (float(each.min), float(each.max)) for each in spread.itertuples()}
    several = row["facet"] != row["workload"]
    summed = LatencySummary(
        of=str(row["facet"]),
        direction=DIRECTION_WORDS.get(str(row["ddir"]), "") if several else "",
        kind=str(row["lat_kind"]),
        values={float(p): float(us) for p, us in spread["median"].items()} if row["each"] == "run" else {},
        ranges=ends,
        each=str(row["each"]),
    )
    return str(row["whole"]), summed


def _ranges_of(mine: Sequence[tuple[str, LatencySummary]], facet: str | None) -> tuple[LatencySummary, ...]:
    """The ranges of one workload; of the one with the least depth where none is asked for."""
    wanted = facet or (mine[0][0] if mine else "")
    return tuple(summed for whole, summed in mine if whole == wanted)


def _quotes(arrangement: Arrangement, published: pd.DataFrame) -> pd.DataFrame:
    keep = ["run_id", "value", "bound", "unit", "stat"]
    known = published["measured"].fillna(False) & published["value"].notna()
    some = published.loc[(published["quantity"] == "latency") & known, keep]
    return some.merge(arrangement.runs[["run_id", "series", "facet", "whole"]], on="run_id")


def _by_series(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(key): some for key, some in rows.groupby("series", sort=False)}


def _of(
    mine: pd.DataFrame | None, rows: pd.DataFrame, facet: str | None, column: str = "facet"
) -> pd.DataFrame:
    """The rows of a series, or none of all rows; of one facet where it is given."""
    if mine is None:
        return rows[:0]
    return mine if facet is None else mine[mine[column] == facet]


def overview(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a run and direction with its main figures, as the tool reported them.

    Returns
    -------
    DataFrame
        Columns source_path, setup_id, setup and file (as they are called where there are several), host, job,
        level, state (``under way``, where another row tells the end of the run), tool, rw, ddir, bs_bytes,
        iodepth, numjobs, queue_depth, iops, bw_bytes_per_s, lat_kind (clat where there is any), lat_mean_us
        and p50_us to p99.9_us.
    """
    kinds = tables["percentiles"].sort_values("lat_kind").drop_duplicates(["run_id", "ddir", "percentile"])
    kinds = kinds[kinds["lat_kind"] != "slat"]
    wide = kinds.pivot(index=["run_id", "ddir"], columns="percentile", values="lat_us")
    names = [f"p{p:g}_us" for p in _OVERVIEW_PERCENTILES]
    wide = wide.reindex(columns=list(_OVERVIEW_PERCENTILES)).set_axis(names, axis=1).reset_index()
    timed = tables["latency"][tables["latency"]["lat_kind"] != "slat"].sort_values("lat_kind")
    timed = timed.drop_duplicates(["run_id", "ddir"])[["run_id", "ddir", "lat_kind", "lat_mean_us"]]
    rated = tables["results"][["run_id", "ddir", *RATE_COLUMNS]].merge(
        wide, on=["run_id", "ddir"], how="outer"
    )
    rated = rated.merge(timed, on=["run_id", "ddir"], how="left")
    rows = tables["runs"].merge(rated, on="run_id")
    setups = list(rows["setup_id"].dropna().unique())
    called = setup_labels(tables["setups"], tables["disks"], setups).set_index("key")["label"]
    paths = {path: path for path in rows["source_path"].dropna().unique()}
    files = file_labels(paths).set_index("key")["label"]
    rows["setup"] = rows["setup_id"].map(called).astype(schema.TEXT)
    rows["file"] = rows["source_path"].map(files).astype(schema.TEXT)
    under_way = rows["run_id"].isin(interim(tables["findings"]))
    rows["state"] = pd.Series(pd.NA, rows.index, schema.TEXT).mask(under_way, UNDER_WAY)
    known = [
        "source_path",
        "setup_id",
        "setup",
        "file",
        "host",
        "job",
        "level",
        "state",
        "tool",
        "rw",
        "ddir",
    ]
    loads = ["bs_bytes", "iodepth", "numjobs", "queue_depth"]
    return rows[[*known, *loads, *RATE_COLUMNS, "lat_kind", "lat_mean_us", *names]]
