"""The same workload on the same setup, measured twice: an emulated disk beside the real one."""

from collections.abc import Mapping

import pandas as pd

from azbenchlib.analyse import levels, percentiles
from azbenchlib.analyse.labels import setup_labels

PERCENTILES = (50.0, 95.0, 99.0)
MANAGED = ("os", "data")  # roles whose SKU, caching and bought figures tell disks apart
_DISK = ["vm_size", "role", "sku", "host_caching", "provisioned_iops", "provisioned_bytes_per_s"]
_WORK = ["rw", "bs_bytes", "rwmix_read_pct"]
_BOUGHT = ("UltraSSD", "PremiumV2")  # SKUs whose IOPS and MB/s are bought, and so part of what they are


def counterparts(tables: Mapping[str, pd.DataFrame], others: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Figures of runs beside those of their counterparts in another dataset.

    Two runs are counterparts when VM size, disk, host caching, pattern, block size and mix of reads are
    the same, and the queue depth, where both tell it.

    Parameters
    ----------
    tables, others : mapping of str to DataFrame
        All tables of a dataset.

    Returns
    -------
    DataFrame
        Columns run_id, setup (label), rw, bs_bytes, queue_depth, quantity (``iops``, ``bw_bytes_per_s``,
        ``p50_us``, ``p95_us``, ``p99_us``), value, other (that of the counterpart) and ratio, one row a
        figure that both have. Rates are those of all directions together; latencies are clat of runs of
        one direction.
    """
    mine, theirs = _described(tables), _described(others)
    pairs = mine.merge(theirs, on=[*_DISK, *_WORK], suffixes=("", "_other"))
    depths = pairs["queue_depth"], pairs["queue_depth_other"]
    pairs = pairs[(depths[0] == depths[1]).fillna(True).astype(bool)]
    found = pairs.merge(_figures(tables), on="run_id")
    other = _figures(others).rename(columns={"run_id": "run_id_other", "value": "other"})
    found = found.merge(other, on=["run_id_other", "quantity"])
    named = setup_labels(tables["setups"], tables["disks"], list(dict.fromkeys(found["setup_id"])))
    found["setup"] = found["setup_id"].map(named.set_index("key")["label"])
    found["ratio"] = found["value"] / found["other"]
    return found[
        ["run_id", "setup", "rw", "bs_bytes", "queue_depth", "quantity", "value", "other", "ratio"]
    ].reset_index(drop=True)


def _described(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a run of its own on a setup with one disk: what it ran, on what."""
    runs = tables["runs"][levels.no_sum(tables["runs"])]
    disks = tables["disks"].drop_duplicates("setup_id", keep=False)
    known = runs.merge(tables["setups"][["setup_id", "vm_size"]], on="setup_id").merge(disks, on="setup_id")
    managed = known["role"].isin(MANAGED)
    bought = known["sku"].str.startswith(_BOUGHT).fillna(False)
    caching = known["host_caching"].fillna("None").where(managed)
    return known.assign(
        sku=known["sku"].where(managed),
        host_caching=caching,
        provisioned_iops=known["provisioned_iops"].where(bought),
        provisioned_bytes_per_s=known["provisioned_bytes_per_s"].where(bought),
    )[["run_id", "setup_id", *_DISK, *_WORK, "queue_depth"]].dropna(subset=["vm_size", "rw", "bs_bytes"])


def _figures(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns run_id, quantity, value: what each run delivered."""
    results = tables["results"]
    summed = results["ddir"] == "mixed"
    both = results[summed | ~results["run_id"].isin(results.loc[summed, "run_id"])]
    rates = both.groupby("run_id")[["iops", "bw_bytes_per_s"]].sum(min_count=1).reset_index()
    single = tables["percentiles"].groupby("run_id")["ddir"].transform("nunique") == 1
    clat = tables["percentiles"][single & (tables["percentiles"]["lat_kind"] == "clat")]
    times = percentiles.wide(clat, PERCENTILES).drop(columns=["ddir", "lat_kind"])
    times = times.rename(columns={name: f"{name}_us" for name in times.columns if name != "run_id"})
    parts = [table.melt("run_id", var_name="quantity") for table in (rates, times)]
    return pd.concat(parts, ignore_index=True).dropna(subset=["value"])
