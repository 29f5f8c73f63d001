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

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from azbenchlib.core import histogram, schema, units
from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Beside, Records
from azbenchlib.formats.fio.logs import hist_lines
from azbenchlib.formats.fio.logs.hist_lines import HistBins, HistLayout
from azbenchlib.formats.fio.logs.log_lines import EPOCH_MS, FIO_DDIRS, damaged_lines, wall_clock
from azbenchlib.formats.source import Source


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
    layout = hist_lines.layout(source)
    if layout is None:
        message = f"{source.path}: no line with the bins of a known fio"
        records.finding(Code.HIST_LAYOUT_UNKNOWN, message)
        return records
    parts = list(hist_lines.blocks(source, layout))
    _report(records, source, run_id, layout, damaged_lines(parts))
    bins = _table(parts)
    if len(bins) and bins["t_ms"].min() > EPOCH_MS:
        _report_epoch(records, source, run_id, bins["t_ms"].min())
        bins["t_ms"] -= bins["t_ms"].min()
    summed = bins.groupby(["t_ms", "ddir", "bin_ns"], as_index=False, sort=True)["n"].sum()
    summed["t_s"] = summed.pop("t_ms") / units.MS_PER_S
    records.add_frame("bins", summed.assign(run_id=run_id, lat_kind="clat"))
    return records


def _table(parts: Sequence[HistBins]) -> pd.DataFrame:
    """Columns t_ms, ddir, bin_ns and n of all whole lines."""
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ("t_ms", "bin_ns", "n")
    }
    code = np.concatenate([part.code for part in parts])
    return pd.DataFrame(columns | {"ddir": pd.Series(np.array(FIO_DDIRS)[code], dtype=schema.TEXT)})


def _report(records: Records, source: Source, run_id: str, layout: HistLayout, broken: list[int]) -> None:
    if broken:
        message = (
            f"{source.path}: {len(broken)} broken lines left out, the first is line {source.line(broken[0])}"
        )
        records.finding(Code.BROKEN_LINES, message, run_id=run_id)
    if layout.merged > 1:
        error = layout.merged * histogram.REL_ERROR
        message = f"{source.path}: {layout.merged} bins in one; a percentile of it is exact to {error:.1%}"
        advice = "Run with log_hist_coarseness=0 for 0.8 %"
        records.finding(Code.HIST_COARSE, message, advice, run_id=run_id)
    message = f"{source.path}: I/Os after the last whole interval are not in a histogram log"
    records.finding(Code.HIST_LAST_INTERVAL, message, run_id=run_id)


def _report_epoch(records: Records, source: Source, run_id: str, start_ms: int) -> None:
    start = wall_clock(start_ms)
    message = f"{source.path}: times are of the clock on the wall; counted here from {start}"
    records.finding(Code.LOG_EPOCH_TIME, message, run_id=run_id)
