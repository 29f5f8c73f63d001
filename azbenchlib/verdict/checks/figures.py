"""Checks of the figures themselves: could the tool have measured them, and do they fit each other?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from azbenchlib.analysis.observation import Observation
from azbenchlib.analysis.view import (
    BoolArray,
    Check,
    FloatArray,
    IntArray,
    LatencyKey,
    Percentiles,
    Row,
    View,
)
from azbenchlib.core.findings import INFO, WARNING, Code, Finding
from azbenchlib.core.histogram import index_of, is_last_bin, value_of
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

SURE_UP_TO = 99  # percentile; what lies beyond it is rarely quoted

Values = TypeVar("Values", float, FloatArray)


def percentile_off_grid(view: View) -> Iterator[Finding]:
    """A latency percentile of fio is none of the values that fio's histogram can give.

    fio reports the midpoint of a bin, rounded up to whole µs or ms in its text. A value in between was
    mistyped, averaged or made by another program. Above 4 ms the check finds nearly every wrong value,
    below 0.4 ms about every second one.
    """
    rows = _fio_percentiles(view)
    if not rows.block.size:
        return
    values = rows.lat_us * NS_PER_US
    off = np.abs(values - np.rint(values)) > 1e-3
    off |= _off_grid(np.rint(values).astype(np.int64), rows.block)
    if not off.any():
        return
    n_values = Counter(rows.blocks[i][0] for i in rows.block)
    found: dict[str, list[str]] = {}
    for i in np.flatnonzero(off):
        run_id, ddir, _ = rows.blocks[rows.block[i]]
        found.setdefault(run_id, []).append(f"{ddir} p{rows.percentile[i]:.10g} {format_us(rows.lat_us[i])}")
    for run_id, wrong in found.items():
        more = " …" if len(wrong) > _SHOWN else ""
        what = f"of {n_values[run_id]} percentile values, {len(wrong)} cannot come from fio's histogram: "
        advice = "Compare with fio's own output; percentiles that were retyped or averaged are not valid"
        shown = ", ".join(wrong[:_SHOWN])
        yield Finding.of(Code.PERCENTILE_OFF_GRID, what + shown + more, advice, run_id=run_id)


def beyond_the_histogram(view: View) -> Iterator[Finding]:
    """A percentile lies in the last bin of fio's histogram, which holds all that took 17 s or longer.

    fio reports it as 17 s (16.7 s before fio 3.0), whatever it was. The longest latency is true.
    """
    rows = _fio_percentiles(view)
    rows = rows.where(rows.of(lambda block: block[2] != "slat"))
    last = is_last_bin(rows.lat_us)
    longest_us = _longest_us(view) if last.any() else {}
    firsts: set[str] = set()
    for i in sorted(np.flatnonzero(last), key=rows.percentile.__getitem__):
        run_id, ddir, _ = rows.blocks[rows.block[i]]
        if run_id in firsts:
            continue
        firsts.add(run_id)
        longest = longest_us.get(run_id)
        took = "" if longest is None else f"; the longest took {format_us(longest)}"
        what = (
            f"from p{rows.percentile[i]:.10g} on ({ddir}), {format_us(rows.lat_us[i])} means that or longer: "
        )
        severity = WARNING if rows.percentile[i] <= SURE_UP_TO else INFO
        advice = "Quote it as a lower bound; a smaller queue depth brings latencies back into the histogram"
        yield Finding.of(
            Code.BEYOND_THE_HISTOGRAM,
            f"{what}fio's histogram ends there{took}",
            advice,
            severity=severity,
            run_id=run_id,
        )


def _longest_us(view: View) -> dict[str, float]:
    """The longest latency of each run, where it is told."""
    longest: dict[str, float] = {}
    for row in view.latency:
        if (took := row["lat_max_us"]) is not None:
            longest[row["run_id"]] = max(took, longest.get(row["run_id"], took))
    return longest


def _fio_percentiles(view: View) -> Percentiles:
    """Percentiles of fio's runs, but for those that a publication has rounded."""
    published = view.rows("published")
    rounded = {
        (row["run_id"], row["quantity"]) for row in published if row["precision"] not in (None, "exact")
    }
    found = view.percentiles
    of_fio = found.of(
        lambda block: view.runs[block[0]]["tool"] == "fio" and (block[0], block[2]) not in rounded
    )
    return found.where(of_fio & (found.lat_us < _LONGEST_NS / NS_PER_US))


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
    for row in view.results:
        run_id, ddir, iops, bw = row["run_id"], row["ddir"], row["iops"], row["bw_bytes_per_s"]
        size = view.runs[run_id]
        several = ddir in ("trim", "mixed") and size["bs_write_bytes"] not in (None, size["bs_bytes"])
        if iops is None or bw is None or several or run_id in without_size:
            continue
        seen = Observation(
            read_share=_READ_SHARES.get(ddir),
            bs_bytes=size["bs_bytes"],
            bs_write_bytes=size["bs_write_bytes"],
            iops=iops,
            bw_bytes_per_s=bw,
        )
        if finding := run_checks.rate_mismatch(seen):
            yield replace(finding, run_id=run_id)


_READ_SHARES = {"read": 1.0, "write": 0.0}
# Findings of readers after which a run has no single block size, or no exact rate.
_NO_ONE_SIZE = (
    *(Code.BLOCK_SIZE_VARIES, Code.OPTIONS_OF_ANOTHER_JOB, Code.APPROXIMATE),
    Code.BYTES_OF_THE_RAMP,
)


def zero_for_missing(view: View) -> Iterator[Finding]:
    """A rate or latency is zero although I/O was done: a missing value was written as zero."""
    found: dict[str, list[str]] = {}
    for column, name in (("iops", "IOPS"), ("bw_bytes_per_s", "throughput")):
        for row in view.results:
            if row[column] == 0 and row["run_id"] not in view.failed and _was_done(row):
                found.setdefault(row["run_id"], []).append(f"{name} ({row['ddir']})")
    # fio counted in whole µs before version 3, so its zeros may be true; those of a table are not
    exact = {row["run_id"] for row in view.rows("published")}
    exact |= {run_id for run_id, row in view.runs.items() if row["tool"] not in (None, "fio")}
    places = view.percentiles
    zeros = [(row["run_id"], row["ddir"], row["lat_kind"]) for row in view.latency if row["lat_mean_us"] == 0]
    for some in (zeros, [places.blocks[i] for i in places.block[places.lat_us == 0]]):
        for run_id, ddir, lat_kind in dict.fromkeys(some):
            if run_id in exact and lat_kind != "slat":
                found.setdefault(run_id, []).append(f"{lat_kind} ({ddir})")
    for run_id, names in found.items():
        what = f"zero stands for {', '.join(names)} although I/O was done or nothing says that there was none"
        yield Finding.of(Code.ZERO_FOR_MISSING, what, run_id=run_id)


def _was_done(row: Row) -> bool:
    """Whether a direction did I/O, or nothing says that it did none."""
    amounts = [row[name] for name in ("ios", "io_bytes", "iops", "bw_bytes_per_s")]
    return any(amount for amount in amounts) or amounts[:2] == [None, None]


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
    table = view.table("latency")
    moments = {name: table[name].to_numpy(dtype=float, na_value=np.nan) for name in _MOMENTS}
    for low, high in combinations(_MOMENTS, 2):
        for i in np.flatnonzero(moments[low] - _rounding(moments[low]) > moments[high]).tolist():
            row = view.latency[i]
            shown = f"{_MOMENTS[low]} {format_us(row[low])}, {_MOMENTS[high]} {format_us(row[high])}"
            yield row["run_id"], f"{row['ddir']} {row['lat_kind']} {shown}"


def _percentiles_out_of_order(view: View) -> Iterator[tuple[str, str]]:
    found = view.percentiles
    rows = found.where(~np.isnan(found.lat_us) & ~np.isnan(found.percentile)).ordered()
    fell = (np.diff(rows.lat_us) < 0) & (np.diff(rows.block) == 0)
    for i in np.flatnonzero(fell).tolist():
        yield _told(rows, i, _shown(rows, i), _shown(rows, i + 1))
    moments = {(row["run_id"], row["ddir"], row["lat_kind"]): row for row in view.latency}
    least, largest = (_each_block(rows.blocks, moments, name) for name in ("lat_min_us", "lat_max_us"))
    above = rows.lat_us - _rounding(rows.lat_us) > largest[rows.block]
    below = rows.lat_us + _rounding(rows.lat_us) < least[rows.block]
    for i in np.flatnonzero(above | below).tolist():
        name, bounds = ("largest", largest) if rows.lat_us[i] > largest[rows.block[i]] else ("least", least)
        yield _told(rows, i, _shown(rows, i), f"{name} {format_us(bounds[rows.block[i]])}")


def _each_block(blocks: Sequence[LatencyKey], moments: Mapping[LatencyKey, Row], name: str) -> FloatArray:
    """A column of the table latency, by block; NaN where it is not told."""
    known = (moments.get(block, {}).get(name) for block in blocks)
    return np.array([np.nan if value is None else value for value in known], dtype=float)


def _told(rows: Percentiles, i: int, *shown: str) -> tuple[str, str]:
    run_id, ddir, lat_kind = rows.blocks[rows.block[i]]
    return run_id, f"{ddir} {lat_kind} {', '.join(shown)}"


def _shown(rows: Percentiles, i: int) -> str:
    return f"p{rows.percentile[i]:.10g} {format_us(rows.lat_us[i])}"


def _rounding(values: Values) -> Values:
    """How far a tool's printing can move a latency: whole µs, or a bin of its histogram."""
    return np.maximum(values * _ROUNDING, 1)


FIGURE_CHECKS: Mapping[Code, Check] = {
    Code.PERCENTILE_OFF_GRID: percentile_off_grid,
    Code.BEYOND_THE_HISTOGRAM: beyond_the_histogram,
    Code.LATENCIES_OUT_OF_ORDER: latencies_out_of_order,
    Code.RATE_MISMATCH: rate_mismatch,
    Code.ZERO_FOR_MISSING: zero_for_missing,
}
