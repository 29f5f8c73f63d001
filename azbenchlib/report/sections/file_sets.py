"""What a card and the lead say of files of one workload whose setup nobody stated: how they spread."""

from __future__ import annotations

from typing import Any

import pandas as pd

from azbenchlib.analysis.file_sets import LEAST_FACTOR, MOST_Z, FileSet
from azbenchlib.core.units import NBSP, format_significant
from azbenchlib.report import formatting

_MOST_HOSTS = 8
_MOST_OUTLIERS = 3  # that are named
NO_OUTLIER = "No file is an outlier."
OUTLIERS = (
    f"An outlier among files or hosts lies a factor of {LEAST_FACTOR:g} or more from the median, and its "
    f"modified z-score is above {MOST_Z:g}."
)


def card(files: FileSet) -> dict[str, Any]:
    """The hosts and the outliers of a set of files, as its card shows them."""
    shown = _shown_hosts(files.hosts)
    left_out = len(files.hosts) - len(shown)
    return {
        "unit": _unit(files),
        "hosts": [
            {
                "name": str(row.Index),
                "files": f"{row.files:,}",
                "median": _figure(files, row.median),
                "range": f"{_figure(files, row.low)} to {_figure(files, row.high)}",
            }
            for row in shown.itertuples()
        ],
        "more": f"{formatting.count(left_out, 'more host')} with medians in between." if left_out else "",
        "outliers": _outliers(files),
    }


def finding(files: FileSet) -> str:
    """What follows the name of a set in the lead: ``give 500 IOPS at the median, from 400 to 600 IOPS``."""
    told = [
        f"give {_rate(files, files.median)} at the median, from {_figure(files, files.low)} to "
        f"{_rate(files, files.high)}"
    ]
    if len(files.hosts):
        low, high = files.hosts.iloc[0], files.hosts.iloc[-1]
        told.append(
            f"the medians of {formatting.count(len(files.hosts), 'host')} from "
            f"{_figure(files, low['median'])} ({low.name}) to {_rate(files, high['median'])} ({high.name})"
        )
    n = len(files.outliers)
    told.append(f"{formatting.count(n, 'outlier')}" if n else "no outlier")
    return "; ".join(told) + "."


def _shown_hosts(hosts: pd.DataFrame) -> pd.DataFrame:
    """All hosts; of many those with the lowest and the highest medians."""
    if len(hosts) <= _MOST_HOSTS:
        return hosts
    return pd.concat([hosts.head(_MOST_HOSTS // 2), hosts.tail(_MOST_HOSTS // 2)])


def _outliers(files: FileSet) -> str:
    """The hosts that lie apart, then the files of other hosts, the farthest first."""
    hosts = files.hosts[files.hosts["apart"].astype(bool)]
    told = [
        f"host {name}, median of {formatting.count(int(row['files']), 'file')} "
        f"{_rate(files, row['median'])}, {_times(row['median'], files.median)}"
        for name, row in hosts.iterrows()
    ]
    others = files.outliers[~files.outliers["host"].isin(hosts.index)]
    told += [
        f"{row.file}{'' if pd.isna(row.host) else f' ({row.host})'} {_rate(files, row.value)}, "
        f"{_times(row.value, files.median)}"
        for row in others.head(_MOST_OUTLIERS).itertuples()
    ]
    if not told:
        return NO_OUTLIER
    more = len(others) - _MOST_OUTLIERS
    return f"Outliers: {'; '.join(told)}{f'; {more:,} more' if more > 0 else ''}."


def _times(value: float, median: float) -> str:
    return f"{format_significant(value / median, 2)} times the median" if median else "median 0"


def _unit(files: FileSet) -> str:
    return "IOPS" if files.column == "iops" else "MB/s"


def _figure(files: FileSet, value: float) -> str:
    return (formatting.iops if files.column == "iops" else formatting.mbps)(value)


def _rate(files: FileSet, value: float) -> str:
    return f"{_figure(files, value)}{NBSP}{_unit(files)}"
