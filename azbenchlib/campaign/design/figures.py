"""Figures of a run that a measurement file can name, and how they are read from its output."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pandas as pd

from azbenchlib.analysis.concurrency import counted
from azbenchlib.analysis.percentiles import merged, once
from azbenchlib.campaign.workloads.matrix import MOST_IN_FILE
from azbenchlib.core.errors import InputError
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

_RATES = {"iops": "iops", "bw": "bw_bytes_per_s"}
_WHAT = "iops, bw, or a percentile of the latency such as p50, p99 or p99.9"
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]{1,3})?)")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?%")
_LEAST_SHARE = 0.001


def checked(figure: str) -> str:
    """The name of a figure.

    Raises a ValueError when it is none; with the choices.
    """
    if figure not in _RATES and not percentile_of(figure):
        raise ValueError(f"'{figure[:40]}' is no figure of a run; write {_WHAT}")
    return figure


def share(value: object) -> object:
    """A share such as ``5%`` as a number; a number as it is.

    Raises a ValueError when it is neither, or below 0.1 %.
    """
    match = _SHARE.fullmatch(value) if isinstance(value, str) else None
    number = float(match[1]) / 100 if match else value
    if isinstance(number, bool) or not isinstance(number, float) or not _LEAST_SHARE <= number <= 1:
        raise ValueError("must be a share from 0.1% to 100%, such as 5%")
    return number


def percentile_of(figure: str) -> float:
    """The percentile that a figure is; 0 where it is none."""
    match = _PERCENTILE.fullmatch(figure)
    return float(match[1]) if match else 0.0


def read(output: Path, figure: str, dilation: float = 1) -> float | None:
    """A figure of a run, from its output: rates of all its jobs, latencies in µs over all its I/Os.

    None where the output does not tell it, as when it is not there. `dilation`: by which the lab ran more
    slowly than the disk; it is undone.
    """
    if not output.is_file():
        return None
    found = output.stat()
    value = _read(output, figure, found.st_mtime_ns, found.st_size)
    return value and (value * dilation if figure in _RATES else value / dilation)


@lru_cache(maxsize=2 * MOST_IN_FILE)
def _read(output: Path, figure: str, *state: int) -> float | None:
    try:
        tables = registry.read(Source.of(output))
    except InputError:
        return None
    value = _rate(tables, _RATES[figure]) if figure in _RATES else _latency(tables, percentile_of(figure))
    return value if value and value > 0 else None


def _rate(tables: Mapping[str, pd.DataFrame], column: str) -> float | None:
    results = tables["results"]
    once = results["run_id"].isin(tables["runs"].loc[counted(tables), "run_id"])
    rates = results.loc[once & (results["ddir"] != "mixed"), column].dropna()
    return float(rates.sum()) if len(rates) else None


def _latency(tables: Mapping[str, pd.DataFrame], percentile: float) -> float | None:
    bins = once(tables["bins"])
    for kind in ("clat", "lat"):
        mine = bins[bins["lat_kind"] == kind]
        if len(mine):
            return float(merged(mine, [percentile], by=("lat_kind",))["lat_us"].iloc[0])
    return None
