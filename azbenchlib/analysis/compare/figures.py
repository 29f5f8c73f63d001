"""One figure a run: its own rate, its own percentile; and what a single run tells of itself.

A run is all that ran at once. Its rates are added, its percentiles are those of the added bins, taken within
the bin by rank: fio's bins are 1.6 % wide, and a comparison is not to be rounded to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.compare.metrics import RATES, Metric
from azbenchlib.analysis.distribution import KINDS
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.percentiles import once
from azbenchlib.core import histogram
from azbenchlib.core.units import NS_PER_US

Tables = Mapping[str, pd.DataFrame]
Array = npt.NDArray[np.float64]
Interval = tuple[float, float]

_COLUMNS = ["unit", "metric", "lat_kind", "value", "rounding"]
_FEWEST_SAMPLES = 20  # of a log, for blocks to tell anything
_BLOCKS = 10
_ONLY = ("=", "~")  # bounds of published rates that are values


def run_figures(
    units: pd.DataFrame, runs: pd.DataFrame, tables: Tables, metrics: Sequence[Metric]
) -> pd.DataFrame:
    """The figures of each run.

    Parameters
    ----------
    units : DataFrame
        A row a workload, direction and run (all that ran at once): unit (its number), run_ids, ddir.
    runs : DataFrame
        Rows of an arrangement with the column unit.
    tables : mapping of str to DataFrame
        The dataset's tables.
    metrics : sequence of Metric

    Returns
    -------
    DataFrame
        Columns unit, metric (name), lat_kind (empty for rates), value (1/s, B/s or µs; above or equal 0),
        rounding (how far the output may have rounded it, relative). What is not known has no row.
    """
    rates = [metric.name for metric in metrics if metric.percentile is None]
    wanted = [metric for metric in metrics if metric.percentile is not None]
    rows = [*_rates(runs, rates), *(_percentiles(units, tables, wanted) if wanted else ())]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _rates(runs: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    for name in names:
        column = RATES[name]
        bound = runs["iops_bound" if name == "iops" else "bw_bound"]
        value = runs[column].where(bound.isna() | bound.isin(_ONLY))
        sums = value.groupby(runs["unit"], sort=False).sum(skipna=False)
        for unit, total in sums.dropna().items():
            yield unit, name, "", float(total), 0.0


def _percentiles(
    units: pd.DataFrame, tables: Tables, wanted: Sequence[Metric]
) -> Iterator[tuple[object, ...]]:
    """From the bins of all runs of a unit; else as the only run, or the row that sums them, reports them."""
    binned = dict(list(once(tables["bins"]).groupby(["run_id", "ddir", "lat_kind"])))
    columns = ["run_id", "ddir", "lat_kind", "percentile"]
    reported = tables["percentiles"].set_index(columns)["lat_us"].dropna()
    told = reported.to_dict()
    wholes = concurrency.sums(tables)
    for row in units.itertuples():
        for kind in KINDS:
            parts = [binned.get((run_id, row.ddir, kind)) for run_id in row.run_ids]
            there = [part for part in parts if part is not None]
            if there and len(there) == len(parts):
                shares = [metric.percentile / 100 for metric in wanted if metric.percentile]
                values, rounding = quantiles(pd.concat(there), shares)
                for metric, value in zip(wanted, values, strict=True):
                    yield row.unit, metric.name, kind, value / NS_PER_US, rounding
                continue
            whole = row.run_ids[0] if len(parts) == 1 else wholes.get((frozenset(row.run_ids), row.ddir))
            for metric in wanted:
                value = told.get((whole, row.ddir, kind, metric.percentile))
                if value is not None:
                    yield row.unit, metric.name, kind, float(value), histogram.REL_ERROR


def quantiles(bins: pd.DataFrame, shares: Sequence[float]) -> tuple[Array, float]:
    """Values in ns that these shares of the I/Os do not exceed, and how far rounding may have moved them.

    Parameters
    ----------
    bins : DataFrame
        Columns bin_ns and n; a bin may stand in several rows.
    shares : sequence of float
        0 to 1.

    Returns
    -------
    (ndarray, float)
        By rank within the bin, which is exact to the second order where the I/Os spread evenly in it.
    """
    counts = histogram.merge(bins)
    values, n = counts["bin_ns"].to_numpy("int64"), counts["n"].to_numpy("int64")
    cumulated = np.cumsum(n)
    reach = np.clip(np.asarray(shares, float), 0, 1) * cumulated[-1]
    place = np.minimum(np.searchsorted(cumulated, reach - 1e-9 * cumulated[-1]), n.size - 1)
    low, high, rounding = _edges(values)
    within = np.clip((reach - (cumulated[place] - n[place])) / np.maximum(n[place], 1), 0, 1)
    return low[place] + within * (high[place] - low[place]), rounding


def _edges(values: npt.NDArray[np.int64]) -> tuple[Array, Array, float]:
    """Where bins begin and end, in ns, and the rounding that is left; joined bins have unknown edges."""
    for unit in (1, NS_PER_US):  # fio 2 counts in µs
        if (values % unit == 0).all() and histogram.on_grid(values // unit).all():
            index = histogram.index_of(values // unit)
            low, high = (np.float64(unit) * histogram.edge_of(index + more) for more in (0, 1))
            return low.astype(np.float64), high.astype(np.float64), 0.0
    middle = np.asarray(values, np.float64)
    gaps = np.diff(np.log(middle))
    rounding = float(gaps.min()) / 2 if gaps.size else histogram.REL_ERROR
    return middle, middle, max(rounding, histogram.REL_ERROR)


def within_run(unit: pd.Series, metric: Metric, kind: str, tables: Tables, alpha: float) -> Interval | None:
    """An interval of one run's figure from that run alone, with confidence 1 - `alpha`; None: nothing tells.

    Parameters
    ----------
    unit : Series
        run_ids and ddir of all that ran at once.
    metric : Metric
    kind : str
        Of latency; empty for rates.
    tables : mapping of str to DataFrame
        The dataset's tables.
    alpha : float
        0 to 1.

    Notes
    -----
    Percentiles: order statistics of the bins, as if I/Os were independent. Rates: the means of ten blocks of
    the log, which keeps the correlation of neighbours within the blocks. Neither knows how runs differ.
    """
    if metric.percentile is None:
        return _rate_interval(unit, metric, tables, alpha)
    return _percentile_interval(unit, metric.percentile / 100, kind, tables, alpha)


def _percentile_interval(
    unit: pd.Series, share: float, kind: str, tables: Tables, alpha: float
) -> Interval | None:
    from scipy.special import bdtrik

    bins = tables["bins"]
    mine = bins["run_id"].isin(unit["run_ids"]) & (bins["ddir"] == unit["ddir"]) & (bins["lat_kind"] == kind)
    rows = once(bins[mine.fillna(False)])
    total = int(rows["n"].sum())
    if rows["run_id"].nunique() < len(unit["run_ids"]) or not total:
        return None
    low, high = (float(bdtrik(tail, total, share)) for tail in (alpha / 2, 1 - alpha / 2))
    low, high = max(np.floor(low), 0.0) if low == low else 0.0, np.ceil(high) + 1
    if low < 1 or high > total:  # the run has too few I/Os to bound it
        return None
    values, _ = quantiles(rows, [low / total, high / total])
    return float(values[0]) / NS_PER_US, float(values[1]) / NS_PER_US


def _rate_interval(unit: pd.Series, metric: Metric, tables: Tables, alpha: float) -> Interval | None:
    from scipy.special import stdtrit

    samples = tables["samples"]
    mine = samples["run_id"].isin(unit["run_ids"]) & (samples["ddir"] == unit["ddir"])
    rows = samples[mine.fillna(False) & (samples["metric"] == RATES[metric.name])].dropna(
        subset=["t_s", "value"]
    )
    if rows["run_id"].nunique() < len(unit["run_ids"]):
        return None
    limits = trace.limits_s(tables["runs"])
    parts = []
    for run_id, one in rows.groupby("run_id"):
        single = one.sort_values("t_s").drop_duplicates("t_s")
        t_s, values = (single[name].to_numpy(float) for name in ("t_s", "value"))
        parts.append(trace.whole(t_s, values, metric.name == "iops", limits.get(str(run_id))))
    _, rates = trace.together(parts)
    if rates.size < _FEWEST_SAMPLES:
        return None
    means = np.array([block.mean() for block in np.array_split(rates, _BLOCKS)])
    reach = float(stdtrit(_BLOCKS - 1, 1 - alpha / 2)) * float(means.std(ddof=1)) / np.sqrt(_BLOCKS)
    mean = float(rates.mean())
    return (mean - reach, mean + reach) if mean > reach else None
