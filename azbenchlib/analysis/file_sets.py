"""Files of one workload whose setup nobody stated: many of them are one series, which says how they spread.

A file whose setup is not stated is compared with no other. Hundreds of them that measured the same are told
together all the same: how many they are, their median and range, and which lie apart. Nobody claims that they
were measured on one setup. Folders side by side that hold several files of a workload each are a set each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.setup_names import file_labels
from azbenchlib.core.patterns import MIXED

if TYPE_CHECKING:
    from azbenchlib.analysis.grouping import Arrangement

MOST_ALONE = 6  # files of one workload that stand for themselves: as many as a figure has colours
# What tells files of a set from each other, and not their workloads.
NO_WORKLOAD = ("host", "disks", "target")
LIKE = [name for name in ("rw", "bs_bytes", "queue_depth", *repeats.WORKLOAD) if name not in NO_WORKLOAD]
# Modified z-score and its limit. Source: B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers,
# ASQC Quality Press, 1993, section 3.3.
_NORMAL = 0.6745  # median absolute deviation ÷ standard deviation of a normal distribution
MOST_Z = 3.5
LEAST_FACTOR = 1.2  # from the median: what is nearer is worth no word, however alike the others are
_FEWEST = 5  # values from which on one can lie apart


@dataclass(frozen=True, kw_only=True)
class FileSet:
    """How the rates of files of one workload spread.

    Attributes
    ----------
    n_files : int
    column : str
        ``iops``, or ``bw_bytes_per_s`` where no IOPS are known.
    median, low, high : float
        Of the rates, each of all that ran at once.
    hosts : DataFrame
        By host, the lowest median first: files, median, low, high, apart (whether its median is an outlier
        among the hosts'); empty where some file names no host, or all have the same.
    outliers : DataFrame
        Of the rates that are outliers, the farthest from the median first: file (as much of its path as tells
        it apart), host, value.
    """

    n_files: int
    column: str
    median: float
    low: float
    high: float
    hosts: pd.DataFrame
    outliers: pd.DataFrame


def together(runs: pd.DataFrame) -> pd.Series:
    """Which runs belong to a set of files of one workload.

    A set has more than :data:`MOST_ALONE` files, and more files than any of them has workloads: of few files
    with much in each, the file is what a reader looks for.

    Parameters
    ----------
    runs : DataFrame
        Of an arrangement, with at_once, stated, source_path, the workload's columns and queue_depth.

    Returns
    -------
    Series of int
        A number a set, from 0 on; -1 for runs of none.
    """
    alone = pd.Series(-1, index=runs.index)
    known = runs["rw"].notna() & runs["bs_bytes"].notna() & runs["source_path"].notna()
    whole = known.groupby(runs["at_once"]).transform("all") & ~runs["stated"]
    some = runs[whole.astype(bool)]
    if some["source_path"].nunique() <= MOST_ALONE:
        return alone
    share = some["rwmix_read_pct"].where(some["rw"].isin(MIXED))
    each = some.assign(rwmix_read_pct=share).groupby(LIKE, dropna=False, sort=False).ngroup()
    ran = each.groupby(some["at_once"], sort=False).agg(lambda numbers: tuple(sorted({*numbers})))
    number = pd.Series(pd.factorize(ran)[0], index=ran.index)
    own = some["at_once"].map(number)
    files = some["source_path"].groupby(own).nunique()
    most = own.groupby(some["source_path"]).transform("nunique").groupby(own).max()
    large = own.isin(files.index[(files > MOST_ALONE) & (files > most)])
    alone[own.index[large]] = pd.factorize(own[large])[0]
    return alone


def folders(runs: pd.DataFrame, number: pd.Series) -> pd.Series:
    """Tell the folder of each row of a set that is parted by its folders.

    A set is parted where its files lie in 2 to :data:`MOST_ALONE` folders and each has several of them,
    unless they name several hosts: those are told below one median.

    Parameters
    ----------
    runs : DataFrame
        As :func:`together` takes them.
    number : Series of int
        As it returns them.

    Returns
    -------
    Series of str
        Empty for all other rows.
    """
    rows = runs.loc[number >= 0, ["source_path", "host"]].assign(number=number[number >= 0])
    rows["folder"] = rows["source_path"].map(lambda path: str(PurePath(path).parent)).astype("string")
    files = rows.groupby(["number", "folder"])["source_path"].nunique().groupby("number").agg(["size", "min"])
    is_parted = files["size"].between(2, MOST_ALONE) & (files["min"] > 1)
    is_parted &= rows.groupby("number")["host"].nunique() < 2
    folder = rows["folder"].where(rows["number"].isin(is_parted.index[is_parted]), "")
    return folder.reindex(runs.index, fill_value="")


def file_set(arrangement: Arrangement, series: str) -> FileSet | None:
    """How the rates of the files of a series spread; None where it is no set of files, or has no rate."""
    runs = arrangement.runs[arrangement.runs["series"] == series]
    if runs.empty or not runs["in_set"].iloc[0]:
        return None
    rows = repeats.added(runs, ["series"], ["source_path"])
    rows["host"] = rows["at_once"].map(_hosts(runs))
    column = next((name for name in repeats.RATE_COLUMNS if rows[name].notna().any()), None)
    if column is None:
        return None
    rows = rows[rows[column].notna()].rename(columns={column: "value"})
    values = rows["value"].astype(float)
    median = float(values.median())
    paths = rows["source_path"].astype(str)
    names = file_labels(dict(zip(paths, paths, strict=True))).set_index("key")["label"]
    found = rows.assign(file=paths.map(names))[apart(values)]
    order = (found["value"] - median).abs().sort_values(ascending=False, kind="stable").index
    return FileSet(
        n_files=int(rows["source_path"].nunique()),
        column=column,
        median=median,
        low=float(values.min()),
        high=float(values.max()),
        hosts=_by_host(rows),
        outliers=found.loc[order, ["file", "host", "value"]].reset_index(drop=True),
    )


def apart(values: pd.Series) -> pd.Series:
    """Which values are outliers: by their modified z-score, and by a factor of at least 1.2 from the median.

    Parameters
    ----------
    values : Series of float
        Without NA. Of fewer than five, none is one.
    """
    median = values.median()
    off = (values - median).abs()
    far = (values >= LEAST_FACTOR * median) | (values * LEAST_FACTOR <= median)
    return far & (_NORMAL * off > MOST_Z * off.median()) & (len(values) >= _FEWEST)


def _hosts(runs: pd.DataFrame) -> dict[str, object]:
    """The host of all that ran at once; NA where it is not one and the same."""
    groups = runs.groupby("at_once")["host"]
    return groups.first().where(groups.nunique(dropna=False) == 1).to_dict()


def _by_host(rows: pd.DataFrame) -> pd.DataFrame:
    groups = rows.groupby("host", sort=False)
    table = groups["value"].agg(["median", "min", "max"]).astype(float)
    table = table.set_axis(["median", "low", "high"], axis=1).assign(files=groups["source_path"].nunique())
    if rows["host"].isna().any() or len(table) < 2:
        table = table[:0]
    return table.assign(apart=apart(table["median"])).sort_values("median", kind="stable")
