"""Repeats that cannot be one number: where their rates lie in groups far apart, no median stands for all.

A disk that was changed between two runs, a burst that was spent in some of them, or two disks in one folder
give rates around several levels, and a median over these is a rate that nobody measured. Repeats are told
apart where the gap between two groups is wide, both of itself and beside the widest group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from azbenchlib.core.units import format_count, format_mbps

# By judgement: repeats of one disk scatter by some per cent (published_repeats.py), and tiers and VM sizes
# that follow each other mostly differ by a quarter or more.
LEAST_RATIO = 1.15  # of neighbouring rates in different groups
RATIO_OF_ONE = 1.25  # where one of the groups is a single run, which does not say how it scatters
WIDER = 4.0  # times as wide as the widest group is the narrowest gap, in logarithms
MOST_OF_A_SET = 0.75  # of the files of a set near one level: the others are its outliers, no further level


def groups_of(rates: Sequence[float]) -> list[list[int]]:
    """Return the places of rates that lie around one level, for each level.

    Parameters
    ----------
    rates : sequence of float
        Of repeats, above zero.

    Returns
    -------
    list of list of int
        The largest group first, of those of one size the lowest; one group where there is one level.
    """
    order = np.argsort(rates, kind="stable")
    logs = np.log(np.asarray(rates, dtype=float)[order])
    gaps = np.diff(logs)
    for width in np.unique(gaps[gaps >= np.log(LEAST_RATIO)]):
        edges = [0, *(np.flatnonzero(gaps >= width) + 1).tolist(), len(logs)]
        parts = [order[begin:end].tolist() for begin, end in pairwise(edges)]
        widest = max(logs[end - 1] - logs[begin] for begin, end in pairwise(edges))
        all_alone = len(parts) == len(logs) > 2  # nothing shows how repeats scatter
        least = np.log(RATIO_OF_ONE) if min(map(len, parts)) == 1 else 0.0
        if width >= max(WIDER * widest, least) and not all_alone:
            return sorted(parts, key=lambda part: -len(part))
    return [list(range(len(logs)))]


def repeats_apart(runs: pd.DataFrame, lasting: Mapping[str, float]) -> pd.DataFrame:
    """Tell apart repeats whose rates lie in several groups.

    Parameters
    ----------
    runs : DataFrame
        Of an arrangement: series, whole, at_once, in_set, iops, bw_bytes_per_s. A set of files is one group
        where :data:`MOST_OF_A_SET` lie around one level.
    lasting : mapping of str to float
        By at_once, the IOPS of the last phase of what had phases.

    Returns
    -------
    DataFrame
        Columns level (the number of the group, 0 for the lowest rates) and near (``, 6 of 12 runs near 5,089
        IOPS``, of files ``, near 5,089 IOPS``; empty where repeats are one group), as long as `runs`.
    """
    level = pd.Series(0, index=runs.index)
    near = pd.Series("", index=runs.index, dtype="string")
    keys = ["series", "whole"]
    several = runs.groupby(keys)["at_once"].transform("nunique") > 1
    for _, rows in runs[several].groupby(keys, sort=False):
        sums = rows.groupby("at_once", sort=False)[["iops", "bw_bytes_per_s"]].sum(min_count=1)
        sums["iops"] = sums["iops"].mask(sums.index.isin(list(lasting)), sums.index.map(lasting))
        column = "iops" if sums["iops"].notna().all() else "bw_bytes_per_s"
        rates = sums[column].astype(float)
        if not (rates > 0).all():
            continue
        parts, is_set = groups_of(rates.tolist()), bool(rows["in_set"].iloc[0])
        if is_set and len(parts[0]) >= MOST_OF_A_SET * len(rates):
            continue
        parts.sort(key=lambda places: rates.iloc[places[0]])  # as at other depths, however many ran at each
        for number, places in enumerate(parts if len(parts) > 1 else []):
            mine = runs.index[runs["at_once"].isin(rates.index[places]) & several]
            mine = mine.intersection(rows.index)
            level.loc[mine] = number
            of = "" if is_set else f"{len(places)} of {len(rates)} runs "
            near.loc[mine] = f", {of}{_near(float(rates.iloc[places].median()), column)}"
    return pd.DataFrame({"level": level, "near": near})


def _near(rate: float, column: str) -> str:
    middle = f"{format_count(round(rate))} IOPS" if column == "iops" else f"{format_mbps(rate)} MB/s"
    return f"near {middle}"
