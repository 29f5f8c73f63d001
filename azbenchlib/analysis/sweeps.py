"""Which runs sweep the queue depth: one pattern and block size at several depths."""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

LEAST_DEPTHS = 3  # of a sweep: two depths show no knee
_WORKLOAD = ["rw", "bs_bytes"]


def sweeps(runs: pd.DataFrame) -> pd.Series:
    """Which rows belong to a sweep.

    Parameters
    ----------
    runs : DataFrame
        Columns rw, bs_bytes and queue_depth.

    Returns
    -------
    Series of bool
        True for patterns and block sizes that were measured at three depths or more.
    """
    depths = runs.groupby(_WORKLOAD, dropna=False)["queue_depth"].transform("nunique")
    return depths >= LEAST_DEPTHS


def swept_folders(runs: pd.DataFrame) -> pd.Series:
    """The folder of each row whose files together sweep the queue depth of one target; else NA.

    Whoever lays files of one workload at several depths side by side measured one disk. Where two files of a
    folder measured the same, or targets or hosts differ, each file may be of a disk of its own.

    Parameters
    ----------
    runs : DataFrame
        Columns source_path, host, target, rw, bs_bytes and queue_depth.

    Returns
    -------
    Series of str
        As long as `runs`.
    """
    if runs.empty:
        return pd.Series(index=runs.index, dtype="string")
    known = runs.loc[runs["source_path"].notna()]
    folder = known["source_path"].map(lambda path: str(PurePath(path).parent)).astype("string")
    rows = known.assign(folder=folder)
    files = rows.groupby(["folder", *_WORKLOAD, "queue_depth"], dropna=False)["source_path"].nunique()
    each_once = files.groupby("folder").max() == 1
    places = rows.groupby("folder")[["host", "target"]].nunique().max(axis=1) <= 1
    depths = rows.groupby(["folder", *_WORKLOAD], dropna=False)["queue_depth"].nunique()
    swept = each_once & places & (depths.groupby("folder").max() >= LEAST_DEPTHS)
    return folder.where(folder.map(swept).astype(bool)).reindex(runs.index)
