"""Checks of the figures themselves: could the tool have measured them, and do they fit each other?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.analysis.observation import Observation
from azbenchlib.analysis.view import Check, View, sure
from azbenchlib.core.findings import INFO, WARNING, Code, Finding
from azbenchlib.core.histogram import index_of, value_of
from azbenchlib.core.units import (
    NS_PER_US,
    US_PER_MS,
    format_us,
)
from azbenchlib.verdict.checks import run_checks

_ROUNDING = 0.02  # a bin is 1.6 % wide, and fio's text has three digits or more
_SHOWN = 3  # so many values stand in one finding
_LONGEST_NS = 2**53  # up to here bins have an index
NS_PER_MS = NS_PER_US * US_PER_MS
# How fio makes a printed value of a bin's: the unit in which it counts (µs before fio 3), and whether
# it rounds up (normal text; JSON prints the value itself) or cuts off (terse).
# Source: fio stat.c, show_clat_percentiles and show_ddir_status_terse, fio-3.41.
PRINTED = ((1, True), (1, False), (NS_PER_US, True))

# Where fio's histogram ends, in µs: the value of its last bin, before fio 3.0 (19 groups of 64 bins, of µs)
# and since (29, of ns). Source: fio stat.h, FIO_IO_U_PLAT_GROUP_NR, and stat.c, plat_val_to_idx, fio-3.41.
LAST_BINS_US = (16_711_680.0, 17_112_760.32)
SURE_UP_TO = 99  # percentile; what lies beyond it is rarely quoted

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def percentile_off_grid(view: View) -> Iterator[Finding]:
    """A latency percentile of fio is none of the values that fio's histogram can give.

    fio reports the midpoint of a bin, rounded up to whole µs or ms in its text. A value in between was
    mistyped, averaged or made by another program. Above 4 ms the check finds nearly every wrong value,
    below 0.4 ms about every second one.
    """
    rows = _fio_percentiles(view)
    if rows.empty:
        return
    values = rows["lat_us"].to_numpy(dtype=float) * NS_PER_US
    off = np.abs(values - np.rint(values)) > 1e-3
    off |= _off_grid(np.rint(values).astype(np.int64), rows.groupby(_BLOCK, sort=False).ngroup().to_numpy())
    n_values = rows.groupby("run_id", sort=False).size()
    for run_id, wrong in rows[off].groupby("run_id", sort=False):
        shown = [
            f"{row.ddir} p{row.percentile:.10g} {format_us(row.lat_us)}"
            for row in wrong[:_SHOWN].itertuples()
        ]
        more = " …" if len(wrong) > _SHOWN else ""
        what = f"of {n_values[run_id]} percentile values, {len(wrong)} cannot come from fio's histogram: "
        advice = "Compare with fio's own output; a percentile that was retyped or averaged is none"
        yield Finding.of(Code.PERCENTILE_OFF_GRID, what + ", ".join(shown) + more, advice, run_id=str(run_id))


_BLOCK = ["run_id", "ddir", "lat_kind"]


def beyond_the_histogram(view: View) -> Iterator[Finding]:
    """A percentile lies in the last bin of fio's histogram, which holds all that took 17 s or longer.

    fio reports it as 17 s (16.7 s before fio 3.0), whatever it was. The longest latency is true.
    """
    rows = _fio_percentiles(view)
    rows = rows[rows["lat_kind"] != "slat"]
    values = rows["lat_us"].to_numpy(dtype=float, na_value=np.nan)
    last = np.isclose(values[:, None], LAST_BINS_US, rtol=5e-5, atol=0).any(axis=1)  # text rounds to ms
    firsts = rows[last].sort_values("percentile", kind="stable").drop_duplicates("run_id")
    longest_us = view.table("latency").groupby("run_id")["lat_max_us"].max()
    for row in firsts.itertuples():
        longest = longest_us.get(row.run_id)
        took = "" if pd.isna(longest) else f"; the longest took {format_us(longest)}"
        what = f"from p{row.percentile:.10g} on ({row.ddir}), {format_us(row.lat_us)} means that or longer: "
        severity = WARNING if row.percentile <= SURE_UP_TO else INFO
        advice = "Quote it as a lower bound; a smaller queue depth brings latencies back into the histogram"
        yield Finding.of(
            Code.BEYOND_THE_HISTOGRAM,
            f"{what}fio's histogram ends there{took}",
            advice,
            severity=severity,
            run_id=row.run_id,
        )


def _fio_percentiles(view: View) -> pd.DataFrame:
    """Percentiles of fio's runs, but for those that a publication has rounded."""
    fio = view.runs.index[sure(view.runs["tool"].eq("fio"))]
    published = view.table("published")
    rounded = published[sure(published["precision"].ne("exact"))].drop_duplicates(["run_id", "quantity"])
    rows = view.table("percentiles")
    rows = rows[rows["run_id"].isin(fio) & sure(rows["lat_us"].lt(_LONGEST_NS / NS_PER_US))]
    places = pd.MultiIndex.from_frame(rows[["run_id", "lat_kind"]])
    return rows[~places.isin(pd.MultiIndex.from_frame(rounded[["run_id", "quantity"]]))]


def _off_grid(values_ns: IntArray, block: IntArray) -> BoolArray:
    """Which values fio could not have printed, by the way of printing that fits each block best."""
    step = np.ones_like(values_ns)
    for unit in (NS_PER_US, NS_PER_MS):  # a block is printed in one unit
        fine = np.bincount(block, values_ns % unit != 0) > 0
        step[~fine[block]] = unit
    ways = [_misses(values_ns, step, unit, up) for unit, up in PRINTED]
    counts = np.stack([np.bincount(block, way) for way in ways])
    return np.stack(ways)[counts.argmin(axis=0)[block], np.arange(len(values_ns))]


def _misses(values_ns: IntArray, step: IntArray, unit: int, up: bool) -> BoolArray:
    """Which values do not come from a bin, counted in `unit` ns and rounded to `step` ns."""
    highest = values_ns if up else values_ns + step - 1  # of what is printed so
    units = highest // unit
    index = index_of(units)
    below = np.where(value_of(index) > units, value_of(np.maximum(index - 1, 0)), value_of(index)) * unit
    return below <= values_ns - step if up else below < values_ns


def rate_mismatch(view: View) -> Iterator[Finding]:
    """A direction whose IOPS times block size is another throughput than reported."""
    without_size = view.runs_with(*_NO_ONE_SIZE)
    sizes = view.runs[["bs_bytes", "bs_write_bytes"]].astype(object)
    known = sizes.where(sizes.notna(), None).to_dict(orient="index")
    rows = view.results.dropna(subset=["iops", "bw_bytes_per_s"])
    for row in rows[["run_id", "ddir", "iops", "bw_bytes_per_s"]].itertuples(index=False):
        size = known[row.run_id]
        several = row.ddir in ("trim", "mixed") and size["bs_write_bytes"] not in (None, size["bs_bytes"])
        if several or row.run_id in without_size:
            continue
        seen = Observation(
            read_share=_READ_SHARES.get(row.ddir),
            bs_bytes=size["bs_bytes"],
            bs_write_bytes=size["bs_write_bytes"],
            iops=float(row.iops),
            bw_bytes_per_s=float(row.bw_bytes_per_s),
        )
        if finding := run_checks.rate_mismatch(seen):
            yield replace(finding, run_id=row.run_id)


_READ_SHARES = {"read": 1.0, "write": 0.0}
# Findings of readers after which a run has no single block size, or no exact rate.
_NO_ONE_SIZE = (Code.BLOCK_SIZE_VARIES, Code.OPTIONS_OF_ANOTHER_JOB, Code.APPROXIMATE)


def zero_for_missing(view: View) -> Iterator[Finding]:
    """A rate or latency is zero although I/O was done: a missing value was written as zero."""
    rated = view.results[~view.results["run_id"].isin(view.failed)].set_index("run_id")
    busy = sure((rated[["ios", "io_bytes", "iops", "bw_bytes_per_s"]] > 0).any(axis=1))
    unknown = rated[["ios", "io_bytes"]].isna().all(axis=1)
    found: dict[str, list[str]] = {}
    for column, name in (("iops", "IOPS"), ("bw_bytes_per_s", "throughput")):
        for row in rated[sure(rated[column].eq(0)) & (busy | unknown)].itertuples():
            found.setdefault(row.Index, []).append(f"{name} ({row.ddir})")
    # fio counted in whole µs before version 3, so its zeros may be true; those of a table are not
    exact = set(view.table("published")["run_id"]) | set(view.runs.index[sure(view.runs["tool"].ne("fio"))])
    for table, column in (("latency", "lat_mean_us"), ("percentiles", "lat_us")):
        rows = view.table(table)
        rows = rows[rows["run_id"].isin(exact) & (rows["lat_kind"] != "slat") & sure(rows[column].eq(0))]
        for row in rows.drop_duplicates(["run_id", "ddir", "lat_kind"]).itertuples():
            found.setdefault(row.run_id, []).append(f"{row.lat_kind} ({row.ddir})")
    for run_id, names in found.items():
        what = f"zero stands for {', '.join(names)} although I/O was done or nothing says that there was none"
        yield Finding.of(Code.ZERO_FOR_MISSING, what, run_id=run_id)


def latencies_out_of_order(view: View) -> Iterator[Finding]:
    """Latencies of one direction contradict each other, so at least one of them is wrong.

    Least, mean and largest must come in this order, a rarer percentile must not be smaller, and none can
    be outside of least and largest. What the rounding of a tool explains is not reported.
    """
    found: dict[str, list[str]] = {}
    for run_id, what in (*_moments_out_of_order(view), *_percentiles_out_of_order(view)):
        found.setdefault(run_id, []).append(what)
    for run_id, several in found.items():
        more = " …" if len(several) > _SHOWN else ""
        what = f"latencies that cannot be of one run: {'; '.join(several[:_SHOWN])}{more}"
        yield Finding.of(Code.LATENCIES_OUT_OF_ORDER, what, run_id=run_id)


_MOMENTS = {"lat_min_us": "least", "lat_mean_us": "mean", "lat_max_us": "largest"}


def _moments_out_of_order(view: View) -> Iterator[tuple[str, str]]:
    rows = view.table("latency")
    for low, high in combinations(_MOMENTS, 2):
        wrong = rows[sure(rows[low] - _rounding(rows[low]) > rows[high])]
        for row in wrong[[*_BLOCK, low, high]].itertuples(index=False):
            shown = f"{_MOMENTS[low]} {format_us(row[3])}, {_MOMENTS[high]} {format_us(row[4])}"
            yield row.run_id, f"{row.ddir} {row.lat_kind} {shown}"


def _percentiles_out_of_order(view: View) -> Iterator[tuple[str, str]]:
    rows = view.table("percentiles").dropna(subset=["lat_us", "percentile"])
    rows = rows.sort_values([*_BLOCK, "percentile"], kind="stable")
    before = rows.groupby(_BLOCK, sort=False)[["percentile", "lat_us"]].shift()
    rows = rows.assign(p_before=before["percentile"], before=before["lat_us"])
    for row in rows[sure(rows["before"] > rows["lat_us"])].itertuples():
        shown = (
            f"p{row.p_before:.10g} {format_us(row.before)}, p{row.percentile:.10g} {format_us(row.lat_us)}"
        )
        yield row.run_id, f"{row.ddir} {row.lat_kind} {shown}"
    rows = rows.merge(view.table("latency"), on=_BLOCK)
    above = sure(rows["lat_us"] - _rounding(rows["lat_us"]) > rows["lat_max_us"])
    below = sure(rows["lat_us"] + _rounding(rows["lat_us"]) < rows["lat_min_us"])
    for row in rows[above | below].itertuples():
        name, bound = (
            ("largest", row.lat_max_us) if row.lat_us > row.lat_max_us else ("least", row.lat_min_us)
        )
        shown = f"p{row.percentile:.10g} {format_us(row.lat_us)}, {name} {format_us(bound)}"
        yield row.run_id, f"{row.ddir} {row.lat_kind} {shown}"


def _rounding(values: pd.Series) -> pd.Series:
    """How far a tool's printing can move a latency: whole µs, or a bin of its histogram."""
    return (values * _ROUNDING).clip(lower=1)


FIGURE_CHECKS: Mapping[Code, Check] = {
    Code.PERCENTILE_OFF_GRID: percentile_off_grid,
    Code.BEYOND_THE_HISTOGRAM: beyond_the_histogram,
    Code.LATENCIES_OUT_OF_ORDER: latencies_out_of_order,
    Code.RATE_MISMATCH: rate_mismatch,
    Code.ZERO_FOR_MISSING: zero_for_missing,
}
