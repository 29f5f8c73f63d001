"""The same workload on the same setup, measured twice: an emulated disk beside the real one."""

from collections.abc import Mapping

import pandas as pd

from azbenchlib.analysis import concurrency, percentiles
from azbenchlib.analysis.setup_names import setup_labels
from azbenchlib.azure.disk_kinds import bare_skus

_PERCENTILES = (50.0, 95.0, 99.0)
MANAGED = ("os", "data")  # roles whose SKU, caching and provisioned figures tell disks apart
_DISK = ["vm_size", "role", "sku", "host_caching", "provisioned_iops", "provisioned_bytes_per_s"]
_WORK = ["rw", "bs_bytes", "rwmix_read_pct"]


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


def twins(tables: Mapping[str, pd.DataFrame], others: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Which setup of another dataset is the same as one here: that with the most workloads in common.

    Parameters
    ----------
    tables, others : mapping of str to DataFrame
        All tables of a dataset.

    Returns
    -------
    dict of str to str
        setup_id in ``tables`` by setup_id in ``others``; each is there once at the most.
    """
    pairs = _described(tables).merge(_described(others), on=[*_DISK, *_WORK], suffixes=("", "_other"))
    depths = pairs["queue_depth"], pairs["queue_depth_other"]
    pairs = pairs[(depths[0] == depths[1]).fillna(True).astype(bool)]
    shared = pairs.groupby(["setup_id", "setup_id_other"], sort=False).size()
    found: dict[str, str] = {}
    for one, other in shared.sort_values(ascending=False, kind="stable").index:
        if str(other) not in found and str(one) not in found.values():
            found[str(other)] = str(one)
    return found


def _described(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row for what ran at once of one workload on a setup with one disk: what it ran, on what."""
    runs = _units(tables)
    runs = runs.assign(queue_depth=runs.groupby("unit")["queue_depth"].transform("sum", min_count=1))
    disks = tables["disks"].drop_duplicates("setup_id", keep=False)
    first = runs.drop_duplicates("unit")
    known = first.merge(tables["setups"][["setup_id", "vm_size"]], on="setup_id").merge(disks, on="setup_id")
    managed = known["role"].isin(MANAGED)
    provisioned = known["sku"].str.startswith(bare_skus(tiered=False)).fillna(False)
    caching = known["host_caching"].fillna("None").where(managed)
    return known.assign(
        run_id=known["unit"],
        sku=known["sku"].where(managed),
        host_caching=caching,
        provisioned_iops=known["provisioned_iops"].where(provisioned),
        provisioned_bytes_per_s=known["provisioned_bytes_per_s"].where(provisioned),
    )[["run_id", "setup_id", *_DISK, *_WORK, "queue_depth"]].dropna(subset=["vm_size", "rw", "bs_bytes"])


def _units(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows that count; `unit` is the run_id of the first of those that ran at once, alike."""
    runs = tables["runs"][concurrency.counted(tables)]
    runs = runs.assign(at_once=concurrency.at_once(runs))
    alike = [runs[name] for name in ("at_once", "setup_id", *_WORK)]
    return runs.assign(unit=runs["run_id"].groupby(alike, dropna=False).transform("first"))


def _figures(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns run_id, quantity, value: what each run, or those that ran at once, delivered."""
    unit = _units(tables)[["run_id", "unit"]]
    results = tables["results"]
    summed = results["ddir"] == "mixed"
    both = results[summed | ~results["run_id"].isin(results.loc[summed, "run_id"])].merge(unit, on="run_id")
    rates = both.groupby("unit")[["iops", "bw_bytes_per_s"]].sum(skipna=False)
    rates = rates.rename_axis("run_id").reset_index()
    single = tables["percentiles"].groupby("run_id")["ddir"].transform("nunique") == 1
    clat = tables["percentiles"][single & (tables["percentiles"]["lat_kind"] == "clat")]
    times = percentiles.wide(_of_units(clat, unit, tables), _PERCENTILES).drop(columns=["ddir", "lat_kind"])
    times = times.rename(columns={name: f"{name}_us" for name in times.columns if name != "run_id"})
    parts = [table.melt("run_id", var_name="quantity") for table in (rates, times)]
    return pd.concat(parts, ignore_index=True).dropna(subset=["value"])


def _of_units(clat: pd.DataFrame, unit: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Percentiles of what ran at once: of its only row, or of the row that sums all of it."""
    owner = {members: run_id for (members, _), run_id in concurrency.sums(tables).items()}
    members = unit.groupby("unit")["run_id"].agg(frozenset)
    told = {next(iter(ids)) if len(ids) == 1 else owner.get(ids): name for name, ids in members.items()}
    return clat[clat["run_id"].isin([key for key in told if key])].assign(run_id=clat["run_id"].map(told))
