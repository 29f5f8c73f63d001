"""Several runs taken together: jobs side by side, hosts, repeats. Exact, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.percentiles import merged, once
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import NS_PER_US, format_size

_WORKLOAD = ("setup_id", "rw", "bs_bytes", "queue_depth")
USUAL = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_SHOWN = 3
MOST_COARSE = 6  # fio's largest log_hist_coarseness joins 64 bins
_KEY = ["run_id", "ddir", "lat_kind"]
_GROUP = ["group", "ddir", "lat_kind"]


@dataclass(frozen=True, kw_only=True)
class Merged:
    """Runs taken together; each table has the columns `by` and ddir first.

    Attributes
    ----------
    rates : DataFrame
        n_runs, ios, io_bytes (sums), iops, bw_bytes_per_s: added for jobs that ran side by side, the
        median over repeats.
    latency : DataFrame
        lat_kind, n, lat_min_us, lat_mean_us, lat_stddev_us, lat_max_us, as of all I/Os in one run.
    percentiles : DataFrame
        lat_kind, percentile, lat_us; each within `rel_error` of the sample at that rank.
    bins : DataFrame
        lat_kind, bin_ns, n (sums).
    rel_error : float
        0.0078: half a bin of fio's histogram; more where a histogram log joined bins into coarser ones.
    """

    rates: pd.DataFrame
    latency: pd.DataFrame
    percentiles: pd.DataFrame
    bins: pd.DataFrame
    rel_error: float


def merge(
    tables: Mapping[str, pd.DataFrame],
    by: Sequence[str] = _WORKLOAD,
    *,
    side_by_side: Sequence[str] = concurrency.TOGETHER_COLUMNS,
    percentiles: Sequence[float] = USUAL,
) -> Merged:
    """Take runs together that agree in the columns `by`.

    Sums of other rows (level host, group, all; ddir mixed), interim states of a run and histogram logs
    beside whole-run bins count I/Os that are there already; they are left out.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The dataset's tables.
    by : sequence of str
        Columns of runs that are kept apart; () takes all runs together.
    side_by_side : sequence of str
        Columns of runs: rows that agree in them ran at the same time, and their rates add up; the others
        are repeats, of which the rate is the median. As it stands, the jobs of one reporting group of a
        document ran together; () says that all did, as where each host wrote its own file.
    percentiles : sequence of float
        Above 0, at most 100.

    Raises
    ------
    InputError
        For block sizes that differ within a group, latencies without bins (a mean of percentiles is no
        percentile), an unknown column, or no run at all.
    """
    unknown = [name for name in (*by, *side_by_side) if name not in schema.TABLES["runs"].columns]
    if unknown:
        known = ", ".join(schema.TABLES["runs"].columns)
        raise InputError(f"runs cannot be merged by '{unknown[0]}'; the columns are: {known}")
    runs = _single(tables)
    runs["group"] = runs.groupby(list(by), dropna=False, sort=False).ngroup() if by else 0
    _check_sizes(runs, by)
    runs["at_once"] = concurrency.at_once(runs, side_by_side)
    place = runs[["run_id", "group", "at_once"]]
    names = ("results", "latency", "percentiles", "bins")
    rows = (tables[name].merge(place, on="run_id") for name in names)
    results, latency, told, bins = (one[concurrency.counts_once(one)] for one in rows)
    bins = once(bins)
    _check_bins(told, results, bins, runs)
    parts = (
        _rates(results),
        _moments(latency, bins),
        _percentiles(bins, percentiles),
        histogram.merge(bins, _GROUP),
    )
    known = runs.drop_duplicates("group").set_index("group")[list(by)]
    rates, latency, shares, counts = (_named(known, part) for part in parts)
    return Merged(
        rates=rates,
        latency=latency,
        percentiles=shares,
        bins=counts,
        rel_error=_error(bins, tables["findings"]),
    )


def _named(known: pd.DataFrame, part: pd.DataFrame) -> pd.DataFrame:
    """The columns `by` in the place of the number of the group."""
    return known.join(part.set_index("group"), how="right").reset_index(drop=True)


def _single(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The runs that no other row repeats or sums."""
    runs = tables["runs"][concurrency.counted(tables)].copy()
    if runs.empty:
        raise InputError("there is no run to merge")
    return runs


def _check_sizes(runs: pd.DataFrame, by: Sequence[str]) -> None:
    """Refuse groups of runs with several block sizes."""
    for name in ("bs_bytes", "bs_write_bytes"):
        several = runs.groupby("group")[name].nunique(dropna=False)
        if (several > 1).any():
            sizes = runs.loc[runs["group"] == several.idxmax(), name]
            told = [
                "not stated" if pd.isna(size) else format_size(size)
                for size in dict.fromkeys(sizes.sort_values())
            ]
            raise InputError(
                f"runs of different block sizes are not merged ({', '.join(told)}): "
                f"keep them apart with by={[*by, name]}, or read fewer runs"
            )


def _check_bins(
    percentiles: pd.DataFrame, results: pd.DataFrame, bins: pd.DataFrame, runs: pd.DataFrame
) -> None:
    """Refuse where a run took part in a histogram, or should have, and has no bins of it."""
    histograms = pd.concat([percentiles, bins])[["group", "ddir", "lat_kind"]].drop_duplicates()
    wanted = histograms.merge(results[["run_id", "group", "ddir"]], on=["group", "ddir"])[_KEY]
    wanted = pd.concat([wanted, percentiles[_KEY]]).drop_duplicates()
    there = pd.MultiIndex.from_frame(bins[_KEY].drop_duplicates())
    lacking = wanted[~pd.MultiIndex.from_frame(wanted).isin(there)]
    if len(lacking):
        told = runs.set_index("run_id").loc[lacking["run_id"].unique()]
        names = [f"{row.source_path} (job {row.job})" for row in told[:_SHOWN].itertuples()]
        more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        raise InputError(
            f"without its latency bins a run cannot be merged: {', '.join(names)}{more}; "
            "run fio with --output-format=json+; percentiles cannot be averaged"
        )


def _error(bins: pd.DataFrame, findings: pd.DataFrame) -> float:
    """Half a bin; of histogram logs that joined bins (``log_hist_coarseness``), half of those joined."""
    coarse = findings.loc[findings["code"] == Code.HIST_COARSE, "run_id"]
    logged = bins[bins["t_s"].notna() & bins["run_id"].isin(coarse)]
    joined = [_bins_in_one(own["bin_ns"].to_numpy(dtype="int64")) for _, own in logged.groupby("run_id")]
    return max([1, *joined]) * histogram.REL_ERROR


def _bins_in_one(bin_ns: histogram.IntArray) -> int:
    """How many of fio's bins a histogram log has joined: 1, 2, 4 … 64, told by the middles of its bins."""
    unit = 1 if (bin_ns % NS_PER_US).any() else NS_PER_US  # fio 2 counts in µs
    for joined in (1 << coarse for coarse in range(MOST_COARSE)):
        first = histogram.index_of(bin_ns // unit) // joined * joined
        middle = (histogram.value_of(first) + histogram.value_of(first + joined - 1)) // 2
        if (middle * unit == bin_ns).all():
            return joined
    return 1 << MOST_COARSE


def _rates(results: pd.DataFrame) -> pd.DataFrame:
    at_once = results.groupby(["group", "ddir", "at_once"], dropna=False, sort=False)
    sums = at_once[["ios", "io_bytes", "iops", "bw_bytes_per_s"]].sum(skipna=False)
    repeats = sums.assign(n_runs=at_once.size()).groupby(["group", "ddir"], sort=False)
    total = repeats[["n_runs", "ios", "io_bytes"]].sum(skipna=False)
    return total.join(repeats[["iops", "bw_bytes_per_s"]].median()).reset_index()


def _moments(latency: pd.DataFrame, bins: pd.DataFrame) -> pd.DataFrame:
    """Mean weighted by n; sums of squares about the common mean; the outermost extremes.

    S = Σ (nᵢ − 1) sᵢ² + Σ nᵢ (mᵢ − m)² and s = √(S / (n − 1)), as fio adds up its jobs (stat.c,
    ``__sum_stat``, fio-3.41). What one of the runs does not tell is NA.
    """
    rows = latency.join(bins.groupby(_KEY)["n"].sum().rename("binned"), on=_KEY)
    rows["n"] = rows["n"].fillna(rows["binned"]).astype(schema.FLOAT)
    rows["sum"] = rows["n"] * rows["lat_mean_us"]
    grouped = rows.groupby(_GROUP, sort=False)
    sums = grouped[["n", "sum"]].sum(skipna=False)
    means = (sums["sum"] / sums["n"]).rename("common")
    rows = rows.join(means, on=_GROUP)
    within = (rows["n"] - 1) * rows["lat_stddev_us"] ** 2
    rows["squares"] = within + rows["n"] * (rows["lat_mean_us"] - rows["common"]) ** 2
    squares = rows.groupby(_GROUP, sort=False)["squares"].sum(skipna=False)
    pooled = {
        "n": sums["n"].astype(schema.INT),
        "lat_min_us": grouped["lat_min_us"].min(skipna=False),
        "lat_mean_us": means,
        "lat_stddev_us": (squares / (sums["n"] - 1).clip(lower=1)) ** 0.5,  # fio has 0 for one I/O
        "lat_max_us": grouped["lat_max_us"].max(skipna=False),
    }
    return pd.DataFrame(pooled).reset_index()


def _percentiles(bins: pd.DataFrame, wanted: Sequence[float]) -> pd.DataFrame:
    if bins.empty:
        return pd.DataFrame(columns=[*_GROUP, "percentile", "lat_us"])
    return merged(bins, wanted, by=_GROUP).astype({"ddir": schema.TEXT, "lat_kind": schema.TEXT})
