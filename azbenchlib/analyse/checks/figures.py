"""Checks of the figures themselves: could the tool have measured them, and do they fit each other?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.analyse.checks.view import Check, Doubt, View, sure
from azbenchlib.histogram import index_of, value_of
from azbenchlib.units import (
    KIB,
    NS_PER_US,
    US_PER_MS,
    US_PER_S,
    format_count,
    format_mbps,
    format_size,
    format_us,
)

RATE_TOLERANCE = 0.01
LOAD_TOLERANCE = 0.05
OWN_TIME_US = 10  # between two I/Os, fio itself takes up to some µs
SHOWN = 3  # so many values stand in one finding
LONGEST_NS = 2**53  # up to here bins have an index
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


def percentile_off_grid(view: View) -> Iterator[Doubt]:
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
            f"{row.ddir} p{row.percentile:.10g} {format_us(row.lat_us)}" for row in wrong[:SHOWN].itertuples()
        ]
        more = " …" if len(wrong) > SHOWN else ""
        what = f"of {n_values[run_id]} percentile values, {len(wrong)} cannot come from fio's histogram: "
        advice = "Compare with fio's own output; a percentile that was retyped or averaged is none"
        yield Doubt(str(run_id), "warning", what + ", ".join(shown) + more, advice)


_BLOCK = ["run_id", "ddir", "lat_kind"]


def beyond_the_histogram(view: View) -> Iterator[Doubt]:
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
        severity = "warning" if row.percentile <= SURE_UP_TO else "info"
        advice = "Quote it as a lower bound; a smaller queue depth brings latencies back into the histogram"
        yield Doubt(row.run_id, severity, f"{what}fio's histogram ends there{took}", advice)


def _fio_percentiles(view: View) -> pd.DataFrame:
    """Percentiles of fio's runs, but for those that a publication has rounded."""
    fio = view.runs.index[sure(view.runs["tool"].eq("fio"))]
    published = view.table("published")
    rounded = published[sure(published["precision"].ne("exact"))].drop_duplicates(["run_id", "quantity"])
    rows = view.table("percentiles")
    rows = rows[rows["run_id"].isin(fio) & sure(rows["lat_us"].lt(LONGEST_NS / NS_PER_US))]
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


def rate_mismatch(view: View) -> Iterator[Doubt]:
    """IOPS times block size differs from the throughput by more than 1 %.

    One of the three belongs to another run, or its unit was misread (KiB/s for KB/s is 2.4 %). Runs with
    several block sizes and approximate figures are not checked.
    """
    sizes = view.runs[["bs_bytes", "bs_write_bytes"]]
    rows = view.results.join(sizes, on="run_id")
    own = rows["bs_write_bytes"].fillna(rows["bs_bytes"])
    several = rows["ddir"].isin(["trim", "mixed"]) & sure(own.ne(rows["bs_bytes"]))
    several |= rows["run_id"].isin(view.runs_with(*_NO_ONE_SIZE))
    size = rows["bs_bytes"].mask(rows["ddir"].eq("write"), own).astype("Float64")
    made, given = rows["iops"] * size, rows["bw_bytes_per_s"]
    # fio before 2.2 has whole IOPS, and whole KiB/s before 3.2
    rounding = size.where(sure(rows["iops"].mod(1).eq(0)), 0).clip(lower=KIB)
    most = (given * RATE_TOLERANCE).clip(lower=rounding)
    wrong = rows.assign(size=size, made=made)[sure((made - given).abs() > most) & ~several]
    for row in wrong[sure(wrong["made"].gt(0) & wrong["bw_bytes_per_s"].gt(0))].itertuples():
        what = (
            f"{format_count(row.iops)} IOPS of {format_size(row.size)} are {format_mbps(row.made)} MB/s, "
            f"but {format_mbps(row.bw_bytes_per_s)} MB/s are given ({row.ddir})"
        )
        advice = "Look up block size and units in the original output; quote neither rate before"
        yield Doubt(row.run_id, "warning", what, advice)


# Findings of readers after which a run has no block size, or no rate, to reckon with.
_NO_ONE_SIZE = ("block_size_varies", "options_of_another_job", "approximate")


def load_mismatch(view: View) -> Iterator[Doubt]:
    """By Little's law another number of I/Os was outstanding than asked for, by more than 5 %.

    N = IOPS × mean total latency. Fewer: the job could not keep its queue full, for a rate limit, think
    time, flushes or CPU. More: the figures are not of one run, or of more jobs than the options tell.
    """
    total = view.counted.loc[view.counted["lat_kind"] == "lat", ["run_id", "ddir", "lat_mean_us"]]
    rows = view.results.merge(total, on=["run_id", "ddir"], how="left")
    rows["out"] = rows["iops"] * rows["lat_mean_us"] / US_PER_S
    sums = rows.groupby("run_id").agg(
        iops=("iops", "sum"), out=("out", "sum"), known=("out", "count"), of=("ddir", "size")
    )
    sums = sums[sums["known"] == sums["of"]].join(view.runs[["queue_depth", "rate_iops"]])
    asked = sums["queue_depth"].astype("Float64")
    off = sure(((asked - sums["out"]).abs() / asked.where(asked > 0)) > LOAD_TOLERANCE)
    for row in sums[off & (sums["iops"] > 0)].itertuples():
        yield _load_doubt(row)


def _load_doubt(row: Any) -> Doubt:
    """What is said of one run whose load is another than asked for."""
    what = (
        f"queue depth {format_count(row.queue_depth)} was asked for, but IOPS × mean latency makes "
        f"{row.out:.3g}"
    )
    if row.out > row.queue_depth:
        advice = "Look whether rates, latencies and options are of the same jobs (numjobs, group_reporting)"
        return Doubt(row.Index, "warning", what, advice)
    gap_us = (row.queue_depth - row.out) / row.iops * US_PER_S
    if pd.notna(row.rate_iops):
        what += f"; the rate limit of {format_count(row.rate_iops)} IOPS held it back"
        return Doubt(row.Index, "info", what, "Take the latencies as those of this rate, not of this depth")
    what += f"; {format_us(gap_us)} between I/Os went elsewhere"
    if gap_us < OWN_TIME_US:
        advice = "fio's own time shows on so fast a disk; for its limit add jobs or depth"
        return Doubt(row.Index, "info", what, advice)
    advice = "Look for think time, fsync, a rate limit, buffered I/O or a busy CPU; the disk had spare time"
    return Doubt(row.Index, "warning", what, advice)


def zero_for_missing(view: View) -> Iterator[Doubt]:
    """A rate or latency is zero although I/O was done: a missing value was written as zero."""
    rated = view.results[~view.results["run_id"].isin(view.failed)].set_index("run_id")
    busy = sure((rated[["ios", "io_bytes", "iops", "bw_bytes_per_s"]] > 0).any(axis=1))
    unknown = rated[["ios", "io_bytes"]].isna().all(axis=1)
    found: dict[str, list[str]] = {}
    for column, name in (("iops", "IOPS"), ("bw_bytes_per_s", "throughput")):
        for row in rated[sure(rated[column].eq(0)) & (busy | unknown)].itertuples():
            found.setdefault(row.Index, []).append(f"{name} ({row.ddir})")
    # fio counted in whole µs before version 3, so its zeros may be true; those of a table are not
    told = set(view.table("published")["run_id"]) | set(view.runs.index[sure(view.runs["tool"].ne("fio"))])
    for table, column in (("latency", "lat_mean_us"), ("percentiles", "lat_us")):
        rows = view.table(table)
        rows = rows[rows["run_id"].isin(told) & (rows["lat_kind"] != "slat") & sure(rows[column].eq(0))]
        for row in rows.drop_duplicates(["run_id", "ddir", "lat_kind"]).itertuples():
            found.setdefault(row.run_id, []).append(f"{row.lat_kind} ({row.ddir})")
    for run_id, names in found.items():
        what = f"zero stands for {', '.join(names)} although I/O was done or nothing says that there was none"
        yield Doubt(run_id, "warning", what, "Take the zero as missing; leave the cell empty in a table")


CHECKS: tuple[Check, ...] = (
    percentile_off_grid,
    beyond_the_histogram,
    rate_mismatch,
    load_mismatch,
    zero_for_missing,
)
