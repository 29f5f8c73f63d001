"""Which runs sweep an axis: one pattern at three queue depths or more, at three offered rates, and so on."""

from __future__ import annotations

from functools import reduce
from operator import or_
from pathlib import PurePath

import pandas as pd

from azbenchlib.analysis.axes import AXES, Axis
from azbenchlib.analysis.groups import distinct

LEAST_POINTS = 3  # of a sweep: two show no knee


def sweeps(runs: pd.DataFrame) -> pd.Series:
    """Which rows belong to a sweep.

    Parameters
    ----------
    runs : DataFrame
        Columns tool, rw, bs_bytes, queue_depth, iodepth, rate_iops and working_set_bytes.

    Returns
    -------
    Series of bool
        True for what was measured at three values of an axis or more, such as a pattern and block size at
        three queue depths.
    """
    if len(runs) < LEAST_POINTS:
        return pd.Series(False, index=runs.index)
    return reduce(or_, (_swept(runs, axis) for axis in AXES))


def _swept(runs: pd.DataFrame, axis: Axis) -> pd.Series:
    return distinct(axis.values(runs), [runs[name] for name in axis.shared]) >= LEAST_POINTS


def on_surface(runs: pd.DataFrame, apart: str = "tool") -> pd.Series:
    """Which rows are of a test of iozone over three sizes of records and files or more: a surface.

    Parameters
    ----------
    runs : DataFrame
        Columns tool, rw, bs_bytes, queue_depth, working_set_bytes, and `apart`.
    apart : str
        What the figures of a surface share beside test and depth, such as ``series``.

    Returns
    -------
    Series of bool
    """
    is_iozone = (runs["tool"] == "iozone").fillna(False)
    if not is_iozone.any():
        return is_iozone
    cell = runs["bs_bytes"].astype("string") + " in " + runs["working_set_bytes"].astype("string")
    is_cell = is_iozone & cell.notna()
    alike = [runs[name] for name in (apart, "rw", "queue_depth")]
    return is_cell & (cell.groupby(alike, dropna=False).transform("nunique") >= LEAST_POINTS)


def swept_folders(runs: pd.DataFrame) -> pd.Series:
    """The folder of each row whose files together sweep an axis on one target; else NA.

    Whoever lays files of one workload at several depths side by side measured one disk. Where two files of a
    folder measured the same, or targets or hosts differ, each file may be of a disk of its own.

    Parameters
    ----------
    runs : DataFrame
        Columns source_path, host, target, and those of :func:`sweeps`.

    Returns
    -------
    Series of str
        As long as `runs`.
    """
    known = runs.loc[runs["source_path"].notna()]
    if len(known) < LEAST_POINTS:
        return pd.Series(index=runs.index, dtype="string")
    folder = known["source_path"].map(lambda path: str(PurePath(path).parent)).astype("string")
    swept = reduce(or_, (_each_once(known, folder, axis) for axis in AXES))
    several = (distinct(known["host"], [folder]) > 1) | (distinct(known["target"], [folder]) > 1)
    return folder.where(folder.isin(swept) & ~several).reindex(runs.index)


def _each_once(rows: pd.DataFrame, folder: pd.Series, axis: Axis) -> set[str]:
    """The folders whose files sweep an axis, and of which no two measured the same."""
    values = axis.values(rows)
    alike = [folder, *(rows[name] for name in axis.shared)]
    swept = folder[distinct(values, alike) >= LEAST_POINTS]
    return {*swept} - {*folder[distinct(rows["source_path"], [*alike, values]) > 1]}
