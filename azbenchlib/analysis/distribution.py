"""How latencies are spread: over their values, and over values and time."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.analysis.grouping import KEYS, Arrangement
from azbenchlib.analysis.percentiles import once
from azbenchlib.core import histogram, schema
from azbenchlib.core.units import NS_PER_US

KINDS = ("clat", "lat")  # the first that there is
MOST_BARS, _MOST_ROWS, MOST_COLUMNS = 110, 60, 60
FINEST, _COARSEST = 32, 2  # classes of latency per doubling; each takes whole bins of fio
MARKS = (0.1, 50.0, 99.0, 99.9)  # the outer ones are the ends of the axis
_LONGEST_NS = 2**53  # up to here bins have an index
_PLACES = [*KEYS, "lat_kind"]

IntArray = npt.NDArray[np.int64]


def spread(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many I/Os took how long, from the bins: one row a class of latency that is not empty.

    Parameters
    ----------
    arrangement : Arrangement
        Which runs are compared; runs of one workload are added up.
    tables : mapping of str to DataFrame
        The dataset's tables.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, lat_kind, low_us, high_us (edges; classes are equally wide on a log
        axis), share (of all I/Os of the series), and of the series n_total, p50_us, p99_us. Classes below
        p0.1 and above p99.9 are left out, for they would fill the axis and yet not be seen; so are
        workloads of which a run has no bins.
    """
    rows = _complete(_placed(arrangement, once(tables["bins"])), arrangement)
    if rows.empty:
        return _empty("low_us", "high_us", "share", "n_total", "p50_us", "p99_us")
    parts = []
    for facet, mine in rows.groupby("facet", sort=False):
        counts = histogram.merge(mine, ["series", "ddir", "lat_kind"])
        named = counts.groupby(["series", "ddir", "lat_kind"], sort=False)
        marks = {key: histogram.percentile(one["bin_ns"], one["n"], MARKS) for key, one in named}
        reach = [value for values in marks.values() for value in values]
        per_octave = _per_octave(histogram.index_of([min(reach), max(reach)]), MOST_BARS)
        for key, one in named:
            p50, p99 = marks[key][1:3] / NS_PER_US
            names = dict(zip(("series", "ddir", "lat_kind"), key, strict=True))
            part = _classes(one, per_octave, marks[key][0], marks[key][-1])
            parts.append(part.assign(**names, facet=facet, p50_us=p50, p99_us=p99))
    return pd.concat(parts, ignore_index=True)


def _classes(counts: pd.DataFrame, per_octave: int, low_ns: int, high_ns: int) -> pd.DataFrame:
    """The classes of one histogram from that of the lowest to that of the highest value."""
    width = histogram.PER_OCTAVE // per_octave
    index = histogram.index_of(counts["bin_ns"]) // width
    classes = counts["n"].groupby(index).sum().rename_axis("index").reset_index(name="n")
    n_total = classes["n"].sum()
    first, last = histogram.index_of([low_ns, high_ns]) // width
    part = _with_edges(classes[classes["index"].between(first, last)], per_octave)
    return part.assign(share=part["n"] / n_total, n_total=n_total).drop(columns=["index", "n"])


def over_time(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many I/Os took how long and when, from histogram logs or else latency logs.

    Parameters
    ----------
    arrangement : Arrangement
        Which runs are compared; runs of one workload are laid over each other.
    tables : mapping of str to DataFrame
        The dataset's tables; completion latency is taken where it was logged, else total latency.

    Returns
    -------
    DataFrame
        One row a span of time and class of latency that is not empty: series, facet, ddir, lat_kind, t_s
        and t_end_s (edges of the span), low_us and high_us (edges of the class), n, share (of the span),
        source: ``histogram`` (every I/O), ``log`` (every line is an I/O) or ``averages`` (every line is
        the mean of an interval, and n counts those). The fastest 1 in 1,000 of a facet are left out: a few
        answers from a cache would stretch the axis.
    """
    rows = _logged(arrangement, tables)
    if rows.empty:
        return _empty("t_s", "t_end_s", "low_us", "high_us", "n", "share", "source")
    parts = []
    for _, mine in rows.groupby("facet", sort=False):
        counts = histogram.merge(mine)
        fastest = histogram.percentile(counts["bin_ns"], counts["n"], MARKS[:1])[0]
        mine = mine[mine["bin_ns"] >= fastest]
        index = histogram.index_of(mine["bin_ns"])
        per_octave = _per_octave(index, _MOST_ROWS)
        classes = mine.assign(index=index // (histogram.PER_OCTAVE // per_octave))
        span_s = _span(classes)
        classes["column"] = np.maximum((classes["t_s"] - classes["step_s"] / 2) // span_s, 0).astype(int)
        keys = [*_PLACES, "source", "column", "index"]
        part = classes.groupby(keys, sort=False, as_index=False)["n"].sum()
        part = _with_edges(part, per_octave)
        part["share"] = part["n"] / part.groupby([*_PLACES, "column"])["n"].transform("sum")
        parts.append(part.assign(t_s=part["column"] * span_s, t_end_s=(part["column"] + 1) * span_s))
    return pd.concat(parts, ignore_index=True).drop(columns=["column", "index"])


def _placed(arrangement: Arrangement, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the arranged runs, of the first kind of latency that each series and facet has."""
    place = arrangement.runs[["run_id", *KEYS]]
    mine = rows[rows["lat_kind"].isin(KINDS)].merge(place, on=["run_id", "ddir"])
    if mine.empty:
        return mine
    first = mine.groupby(KEYS, sort=False)["lat_kind"].transform("min")  # clat sorts before lat
    return mine[mine["lat_kind"] == first]


def _complete(rows: pd.DataFrame, arrangement: Arrangement) -> pd.DataFrame:
    """Without the workloads of which some run has no bins: what is left would pass for the whole."""
    wanted = arrangement.runs.groupby(KEYS, sort=False)["run_id"].nunique()
    there = rows.groupby(KEYS, sort=False)["run_id"].nunique()
    whole = there.index[there == wanted.reindex(there.index)]
    return rows[pd.MultiIndex.from_frame(rows[KEYS]).isin(whole)]


def _logged(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Latencies with their times: from the histogram log of a workload, else from its latency log."""
    bins = tables["bins"]
    counted = _placed(arrangement, bins[bins["t_s"].notna()]).assign(source="histogram")
    samples = tables["samples"]
    samples = samples[samples["metric"].isin([f"{kind}_us" for kind in KINDS])]
    lines = samples.assign(
        lat_kind=samples["metric"].str.removesuffix("_us"),
        bin_ns=(samples["value"] * NS_PER_US).clip(0, _LONGEST_NS).round(),
        n=1,
        source=samples["bs_bytes"].isna().map({True: "averages", False: "log"}),
    )
    listed = _placed(arrangement, lines)
    told = pd.MultiIndex.from_frame(counted[KEYS].drop_duplicates())
    listed = listed[~pd.MultiIndex.from_frame(listed[KEYS]).isin(told)]
    rows = pd.concat(
        [part[["run_id", *_PLACES, "t_s", "bin_ns", "n", "source"]] for part in (counted, listed)]
    )
    rows = rows.dropna(subset=["t_s", "bin_ns", "n"])
    rows = rows.astype({"t_s": float, "bin_ns": "int64", "n": "int64"})
    return rows.assign(step_s=rows.groupby(["run_id", "ddir"])["t_s"].transform(_step))


def _step(times: pd.Series) -> float:
    """Seconds between two lines of a log that has one in every interval, else about nothing."""
    gaps = np.diff(np.unique(times))
    return float(np.median(gaps)) if gaps.size else float(times.iloc[0])


def _span(rows: pd.DataFrame) -> float:
    """Width of a column in seconds: a log's interval where so many columns are enough."""
    end = float(rows["t_s"].max())
    columns = min(MOST_COLUMNS, max(1, round(end / max(rows["step_s"].max(), end / MOST_COLUMNS, 1e-9))))
    return max(end, 1e-9) / columns


def _per_octave(index: IntArray, most: int) -> int:
    """Classes per doubling, so that at most so many cover all bins."""
    classes = FINEST
    while classes > _COARSEST and np.ptp(index) * classes / histogram.PER_OCTAVE > most:
        classes //= 2
    return classes


def _with_edges(classes: pd.DataFrame, per_octave: int) -> pd.DataFrame:
    """Where each class begins and ends, in µs."""
    width = histogram.PER_OCTAVE // per_octave
    index = classes["index"].to_numpy(dtype=np.int64) * width
    return classes.assign(
        low_us=histogram.edge_of(index) / NS_PER_US, high_us=histogram.edge_of(index + width) / NS_PER_US
    )


def _empty(*columns: str) -> pd.DataFrame:
    return pd.DataFrame(columns=[*_PLACES, *columns]).astype(dict.fromkeys(_PLACES, schema.TEXT))
