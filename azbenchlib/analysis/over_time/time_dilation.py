"""Undo the time dilation of the lab: times ÷ k, rates × k; counts and bytes are what they are.

An emulated disk runs k times slower than the disk it stands for, so that any machine keeps up with it.
k is a power of two: a bin of fio's histograms divided by it is again one of fio's bins (64 for every
doubling), so histograms stay exact and merge with those of other runs.
"""

from collections.abc import Mapping

import pandas as pd

from azbenchlib.core import histogram, schema

# Columns that are times, rates or neither are told apart here, a table at a time.
_TIMES = {
    "runs": ("ramp_s", "runtime_limit_s", "idle_before_s", "thinktime_us"),
    "results": ("runtime_s",),
    "latency": ("lat_min_us", "lat_mean_us", "lat_stddev_us", "lat_max_us"),
    "percentiles": ("lat_us",),
    "bins": ("t_s",),
    "samples": ("t_s",),
}
_RATES = {
    "runs": ("rate_iops", "rate_bytes_per_s"),
    "results": ("iops", "iops_stddev", "bw_bytes_per_s"),
}
_SAMPLED_TIMES = ("slat_us", "clat_us", "lat_us")
_SAMPLED_RATES = ("iops", "bw_bytes_per_s")


def undo(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables as the disk would have given them at full speed.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All tables of a dataset as they were read. `setups.time_scale` is k; NA is 1.

    Returns
    -------
    dict of str to DataFrame
        The same tables; only rows of setups with another k than 1 are changed. `time_scale` stays, to
        say what was undone.
    """
    setups = tables["setups"].dropna(subset=["time_scale"])
    factors = setups.loc[setups["time_scale"] != 1].set_index("setup_id")["time_scale"]
    if factors.empty:
        return dict(tables)
    runs = tables["runs"][["run_id", "setup_id"]].dropna()
    by_run = runs.set_index("run_id")["setup_id"].map(factors).dropna().astype(float)
    return {
        name: _undone(name, table, by_run) if "run_id" in table else table for name, table in tables.items()
    }


def _undone(name: str, table: pd.DataFrame, by_run: pd.Series) -> pd.DataFrame:
    k = table["run_id"].map(by_run).astype(schema.FLOAT)
    slowed = k.notna()
    if not slowed.any() or name not in _TIMES:
        return table
    k = k.fillna(1.0)
    changed = table.assign(
        **{column: table[column] / k for column in _TIMES[name]},
        **{column: table[column] * k for column in _RATES.get(name, ())},
    )
    if name == "samples":
        value = table["value"].mask(table["metric"].isin(_SAMPLED_TIMES), table["value"] / k)
        value = value.mask(table["metric"].isin(_SAMPLED_RATES), table["value"] * k)
        changed = changed.assign(value=value)
    if name == "bins":
        changed = _binned(changed, k, slowed)
    return schema.conform(name, changed)


def _binned(bins: pd.DataFrame, k: pd.Series, slowed: pd.Series) -> pd.DataFrame:
    """Bins under the name that fio gives the faster one; those that fall together are added up."""
    faster = (bins["bin_ns"] / k).astype(float).to_numpy()
    named = histogram.value_of(histogram.index_of(faster.astype("int64")))
    bins = bins.assign(bin_ns=bins["bin_ns"].mask(slowed, pd.Series(named, index=bins.index)))
    keys = list(schema.TABLES["bins"].key)
    return bins.groupby(keys, as_index=False, dropna=False, sort=False)["n"].sum()
