"""Reader of fio's histogram logs (``write_hist_log``): how many I/Os fell into each bin in each interval.

A line is ``end of the interval in ms, direction, block size`` and then a count for each bin. The counts are
those of the interval alone, so they add up over lines, directions and jobs. Which bins there are tells the
unit of the latency, and how many were merged into one (``log_hist_coarseness``, 0 to 6):

======================= ===================== ====
layout                  bins                  unit
======================= ===================== ====
fio 2                   19 × 64 ÷ 2^coarse    µs
fio 3                   29 × 64 ÷ 2^coarse    ns
======================= ===================== ====

Traps that are dealt with: bins are not evenly wide (:mod:`azbenchlib.core.histogram`); merged ones are named
by their middle, which is within 2^coarse × 0.78 % of every I/O in them; fio writes no line for the last,
unfinished interval, so the log holds fewer I/Os than the run; the histogram is of completion latency alone,
with ``per_job_logs=0`` several jobs write into one file; damaged lines are left out, and so are those in
which a client of fio 3 servers wrote addresses of memory for counts.

Source: fio ``iolog.c`` (``flush_hist_samples``, ``hist_sum``), ``stat.c`` (``add_clat_sample``), ``stat.h``
and HOWTO, read at fio-3.41; outputs of fio 2.14 to 3.41.
"""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from azbenchlib.core import histogram, units
from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Beside, Records, Source

NS_PER_UNIT = {19: units.NS_PER_US, 29: 1}  # octaves of the layout -> ns in the unit of its bins
_COARSEST = 6
_EPOCH_MS = 10**11  # three years: no job runs so long, and every clock on the wall is later
_LINES_TO_SNIFF = 5

_DDIRS = ("read", "write", "trim")  # fio's codes 0, 1 and 2
_AHEAD = 3  # time, direction, block size
_LINE = re.compile(r"[ \t]*[0-9]{1,15},[ \t]*[0-2](?:,[ \t]*[0-9]{1,20}){20,}[ \t]*")
_IMPOSSIBLE = re.compile(r"[0-9]{16}")

Layout = tuple[int, int]  # how many bins were merged into one, and the ns in their unit


def sniff(opening: str) -> bool:
    """Whether most of the first lines are a direction with at least nineteen counts."""
    lines = [line for line in opening.splitlines()[:_LINES_TO_SNIFF] if line.strip()]
    return sum(bool(_LINE.fullmatch(line)) for line in lines) > len(lines) / 2


def read_fio_hist_log(source: Source, beside: Beside | None) -> Records:
    """The bins of a histogram log.

    Parameters
    ----------
    source : Source
        The log.
    beside : Beside or None
        The run that the log belongs to.

    Returns
    -------
    Records
        Rows of bins, ``t_s`` the end of their interval in s and ``bin_ns`` in ns, and findings.
    """
    records = Records(source)
    run_id = beside.run_id if beside else source.run_id(0, "log")
    layout: Layout | None = None
    width, broken, parts = 0, [0, 0], []  # broken lines: how many, and the first
    for place, line in enumerate(_lines(source), 1):
        fields = _numbers(line)
        if layout is None and fields is not None:
            layout, width = _layout(len(fields) - _AHEAD), len(fields)
        if fields is not None and layout is not None and len(fields) == width:
            parts.append(_rows(fields, layout))
        elif line.strip():
            broken = [broken[0] + 1, broken[1] or place]
    if layout is None:
        message = f"{source.path}: no line with the bins of a known fio"
        records.finding(Code.HIST_LAYOUT_UNKNOWN, message)
        return records
    _report(records, source, run_id, layout, broken)
    bins = pd.concat(parts, ignore_index=True)
    if bins["t_ms"].min() > _EPOCH_MS:
        _report_epoch(records, source, run_id, bins["t_ms"].min())
        bins["t_ms"] -= bins["t_ms"].min()
    summed = bins.groupby(["t_ms", "ddir", "bin_ns"], as_index=False, sort=True)["n"].sum()
    summed["t_s"] = summed.pop("t_ms") / units.MS_PER_S
    records.add_frame("bins", summed.assign(run_id=run_id, lat_kind="clat"))
    return records


def _lines(source: Source) -> Iterator[str]:
    for block in source.blocks():
        yield from block.split("\n")[:-1]


def _numbers(line: str) -> np.ndarray | None:
    """The whole numbers of an undamaged line."""
    if not _LINE.fullmatch(line) or _IMPOSSIBLE.search(line):
        return None
    return np.array(line.split(","), dtype=np.int64)


def _layout(n_bins: int) -> Layout | None:
    """How coarse the bins are, by their number, and the ns in their unit; None: no known fio."""
    for octaves, ns in NS_PER_UNIT.items():
        for coarse in range(_COARSEST + 1):
            if n_bins == octaves * histogram.PER_OCTAVE >> coarse:
                return 1 << coarse, ns
    return None


def _rows(fields: np.ndarray, layout: Layout) -> pd.DataFrame:
    """The bins of one line that hold an I/O."""
    merged, ns = layout
    counts = fields[_AHEAD:]
    index = np.flatnonzero(counts)
    first = index * merged
    middle = (histogram.value_of(first) + histogram.value_of(first + merged - 1)) // 2
    ddir = _DDIRS[fields[1]]
    return pd.DataFrame({"t_ms": fields[0], "ddir": ddir, "bin_ns": middle * ns, "n": counts[index]})


def _report(records: Records, source: Source, run_id: str, layout: Layout, broken: list[int]) -> None:
    if broken[0]:
        message = f"{source.path}: {broken[0]} broken lines left out, the first is line {broken[1]}"
        records.finding(Code.BROKEN_LINES, message, run_id=run_id)
    if layout[0] > 1:
        error = layout[0] * histogram.REL_ERROR
        message = f"{source.path}: {layout[0]} bins in one; a percentile of it is exact to {error:.1%}"
        advice = "Run with log_hist_coarseness=0 for 0.8 %"
        records.finding(Code.HIST_COARSE, message, advice, run_id=run_id)
    message = f"{source.path}: I/Os after the last whole interval are not in a histogram log"
    records.finding(Code.HIST_LAST_INTERVAL, message, run_id=run_id)


def _report_epoch(records: Records, source: Source, run_id: str, start_ms: int) -> None:
    start = pd.Timestamp(start_ms, unit="ms", tz="UTC").isoformat()
    message = f"{source.path}: times are of the clock on the wall; counted here from {start}"
    records.finding(Code.LOG_EPOCH_TIME, message, run_id=run_id)
