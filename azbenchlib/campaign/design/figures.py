"""Figures of a run that a measurement file can name, how closely they are known, and when a run counts.

Their intervals may be looked at after each run: 95 % hold at all looks together. They are those of the mean
of a normal quantity whose mean and spread are unknown, from a t-statistic that is mixed over effects: with
``x = t² / (n - 1)`` and ``k = 1 + SPREAD n``, ``((1 + x) / (1 + x / k)) ** (n / 2) / sqrt(k)`` is a
martingale where the mean is the true one, so it rarely ever exceeds a bound; all means at which it does not
are in the interval. A look after each run makes Student's interval miss far more often than it says.

Sources: H. Wang and A. Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
variance, arXiv:2310.03722, 2023 (the Gaussian mixture); T. L. Lai, Annals of Statistics 4, 1976. Their bound
holds for ever; here the number of looks is limited, so the bound is the one that 5 % of 200,000 simulated
series of that length exceed at some look from the third on (``benchmarks/sequential_intervals.py``).

Warm-up: a workload is run until two runs one after the other agree, and counts from then on. What is cold in
the first runs, a host cache above all, then is in no figure. The runs before are kept, but are no part of the
dataset. Whether the runs that count are steady in themselves is judged elsewhere, by
:mod:`azbenchlib.analysis.over_time.steady`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev

import pandas as pd

from azbenchlib.analysis.concurrency import counted
from azbenchlib.analysis.percentiles import merged, once
from azbenchlib.campaign.workloads import base
from azbenchlib.campaign.workloads.kinds import MOST_IN_FILE
from azbenchlib.core.errors import InputError
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

FIRST_LOOK = 3  # runs before the first look
COVERAGE = 0.95
SPREAD = 10.0  # of the effects over which it is mixed, as a variance; 10 is narrowest at some 5 to 20 runs
# The bound's inverse, by the most runs that there may be.
LOOK_BOUNDS = (
    *((3, 0.251), (4, 0.184), (5, 0.157), (6, 0.142), (8, 0.127), (10, 0.119)),
    *((15, 0.108), (20, 0.103), (30, 0.0965), (50, 0.092), (70, 0.09), (100, 0.0875)),
)


def half_width(values: Sequence[float], most: int) -> float:
    """Half the width of the interval for the mean of normal values, at one of at most so many looks.

    Parameters
    ----------
    values : sequence of float
        One a run so far.
    most : int
        Runs that there may be at most, up to 100.

    Returns
    -------
    float
        In the unit of the values; infinite before the third run, and where it cannot be bounded yet.
    """
    n = len(values)
    if n < FIRST_LOOK:
        return math.inf
    level = next(level for runs, level in LOOK_BOUNDS if runs >= most)
    k = 1 + n * SPREAD
    exceeded = (k / level**2) ** (1 / n)
    if exceeded >= k:
        return math.inf
    x = (exceeded - 1) / (1 - exceeded / k)
    return stdev(values) / math.sqrt(n) * math.sqrt((n - 1) * x)


def relative(values: Sequence[float], most: int) -> tuple[float, float]:
    """The typical value of a positive figure that varies by ratios, and how far the interval goes from it.

    Parameters
    ----------
    values : sequence of float
        Such as the p99 of each run so far; the interval is that of the mean of their logarithms.
    most : int
        As for :func:`half_width`.

    Returns
    -------
    (float, float)
        The geometric mean, and the share of it: 0.05 where the upper end of the interval is 5 % above it. The
        lower end is as far away as a ratio.
    """
    logs = [math.log(value) for value in values]
    half = half_width(logs, most)
    return math.exp(fmean(logs)), math.expm1(half) if half < 700 else math.inf


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


LEAST_WARM_UPS, MOST_WARM_UPS = 2, 8  # runs before those that count


def agreed(output: Path, wanted: Mapping[str, float], dilation: float = 1) -> str:
    """Which runs before a warm-up agree, so that it need not be run; empty where none do.

    `output` is the file that the warm-up would write; those of the warm-ups before it lie beside it. `wanted`
    has figures, and the share of their mean by which two runs may differ. `dilation`: by which the lab ran
    more slowly than the disk.
    """
    name, number = base.warm_up_of(output.stem)
    before = [output.with_name(f"{base.of_warm_up(name, n)}{output.suffix}") for n in range(1, number)]
    for last, (one, other) in enumerate(pairwise(before), LEAST_WARM_UPS):
        said = [_close(one, other, figure, share, dilation) for figure, share in wanted.items()]
        if all(said):
            return f"warm after {last} runs: the last two differ by {' and '.join(said)}"
    return ""


def waits(output: Path) -> bool:
    """Whether the result of another run decides about a warm-up."""
    name, number = base.warm_up_of(output.stem)
    before = output.with_name(f"{base.of_warm_up(name, number - 1)}{output.suffix}")
    return number > LEAST_WARM_UPS and not before.is_file()


def _close(one: Path, other: Path, figure: str, share: float, dilation: float) -> str:
    """By how much a figure of two runs differs, where that is little enough; else empty."""
    first, second = (read(path, figure, dilation) for path in (one, other))
    if not first or not second:
        return ""
    apart = abs(first - second) / ((first + second) / 2)
    return f"{apart:.1%} ({figure})" if apart <= share else ""
