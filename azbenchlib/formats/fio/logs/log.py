"""Reader of fio's logs (``write_bw_log``, ``write_iops_log``, ``write_lat_log``): one line a sample.

A line is ``time in ms, value, direction, block size`` and, depending on version and options, offset,
priority and issue time. What the value is stands in the file's name alone, its unit nowhere:

============================== ============================================
``_bw.N.log``                  KiB/s
``_iops.N.log``                1/s
``_slat``, ``_clat``, ``_lat`` ns from fio 3.0 on (and its 2.99 builds), µs before
============================== ============================================

Traps that are dealt with: the fifth column is the priority from 3.28 on and the offset in older
versions, so neither is read; averages (``log_avg_msec``) have a block size of 0; with
``log_window_value=both`` (from 3.38 on) a second value, the largest in the window, follows the average;
with ``log_unix_epoch`` the times are those of the clock on the wall; a log may hold damaged lines, and a
compressed one (``log_store_compressed``, ``.log.fz``) holds fio's own memory, which fio alone unpacks; with
``per_job_logs=0`` all jobs share a log, and are runs of their own where no output tells of them as one.
``_clat_hist`` logs have hundreds of columns and are another format.

Read some megabytes at a time: a line takes about 200 bytes while its file is read, and 100 in the table.

Source: fio HOWTO, "Log File Formats", ``iolog.c`` (``flush_samples``) and ``client.c``, read at fio-3.41;
outputs of fio 2.1.11 to 3.41.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from azbenchlib.core import histogram, schema, units
from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Beside, Records
from azbenchlib.formats.fio.logs import binned_log, jobs_of_log, log_lines
from azbenchlib.formats.fio.logs.log_lines import LineDamage, LogColumns
from azbenchlib.formats.source import Source

_FIELDS = ("t_ms", "value", "code", "bs_bytes")

Columns = dict[str, npt.NDArray[np.float64 | np.int64 | np.uint8]]


def read_fio_log(source: Source, beside: Beside | None) -> Records:
    """The samples of a fio log.

    Parameters
    ----------
    source : Source
        The log; its name ends as fio names its logs.
    beside : Beside or None
        The run that the log belongs to, and the version that wrote it.

    Returns
    -------
    Records
        Rows of samples, in bytes/s, 1/s or µs, and findings; of a long log of latencies, rows of bins.
    """
    records = Records(source)
    kind = log_lines.kind_of(source.path)
    if kind is None:
        message = f"{source.path}: what this log measures cannot be told from its name"
        advice = "Name it as fio does: NAME_bw.1.log, NAME_iops.1.log, NAME_lat.1.log, …"
        records.finding(Code.LOG_METRIC_UNKNOWN, message, advice)
        return records
    run_id = beside.run_id if beside else source.run_id(0, "log")
    metric, times, per = _unit(records, source, kind, beside, run_id)
    if binned_log.is_long(source, kind):
        _add_bins(records, source, run_id, kind, units.NS_PER_US // per)
        return records
    samples = _samples(records, source, run_id, apart=beside is not None and beside.jobs_apart)
    samples = samples.assign(metric=metric, value=samples["value"] * times / per)
    records.add_frame("samples", samples)
    return records


def _unit(
    records: Records, source: Source, kind: str, beside: Beside | None, run_id: str
) -> tuple[str, int, int]:
    """The metric of a log, and what fio's values are multiplied with and divided by to get its unit."""
    if kind == "iops":
        return "iops", 1, 1
    if kind == "bw":
        return "bw_bytes_per_s", units.KIB, 1
    in_us = log_lines.in_us(beside.tool_version, beside.log_unit) if beside else None
    if in_us is None:
        records.add_finding(log_lines.unit_assumed(source.path, run_id))
    return f"{kind}_us", 1, 1 if in_us else units.NS_PER_US


def _add_bins(records: Records, source: Source, run_id: str, kind: str, ns_per_unit: int) -> None:
    """The latencies of a long log as bins of windows, and a finding that says so."""
    bins, damage = binned_log.read_bins(source, ns_per_unit)
    _report_damage(records, source, damage, run_id)
    records.add_frame("bins", bins.assign(run_id=run_id, lat_kind=kind))
    width_s = binned_log.width_ms(source) // units.MS_PER_S
    message = (
        f"{source.path}: {bins['n'].sum():,} latencies are counted in bins of each {width_s} s, exact to "
        f"{histogram.REL_ERROR:.1%}"
    )
    records.finding(Code.LOG_BINNED, message, run_id=run_id)


def _samples(records: Records, source: Source, run_id: str, apart: bool) -> pd.DataFrame:
    """Columns run_id, ddir, seq, t_s, value (as fio printed it) and bs_bytes of all whole lines."""
    parts = list(log_lines.blocks(source))
    _report_damage(records, source, parts, run_id)
    data: Columns = {
        name: np.concatenate([getattr(part, name) for part in parts] or [np.empty(0)]) for name in _FIELDS
    }
    if len(data["t_ms"]) and data["t_ms"][0] > log_lines.EPOCH_MS:
        start = log_lines.wall_clock(data["t_ms"].min())
        message = f"{source.path}: times are of the clock on the wall; counted here from {start}"
        records.finding(Code.LOG_EPOCH_TIME, message, run_id=run_id)
        data["t_ms"] -= data["t_ms"].min()
    if not apart:
        return _table(data).assign(run_id=run_id)
    job = jobs_of_log.job_of_line(data["t_ms"].astype(np.int64), averaged=not data["bs_bytes"].any())
    tables = [
        _table({name: values[job == one] for name, values in data.items()}).assign(
            run_id=jobs_of_log.run_of_job(run_id, int(one))
        )
        for one in np.unique(job)
    ]
    return pd.concat(tables, ignore_index=True) if tables else _table(data).assign(run_id=run_id)


def _report_damage(
    records: Records, source: Source, parts: Sequence[LogColumns | LineDamage], run_id: str
) -> None:
    broken = log_lines.damaged_lines(parts)
    if broken:
        message = (
            f"{source.path}: {len(broken)} broken lines left out, the first is line {source.line(broken[0])}"
        )
        records.finding(Code.BROKEN_LINES, message, run_id=run_id)
    if log_lines.has_maxima(source.opening):
        message = f"{source.path}: the average of each window is kept, its largest value left out"
        records.finding(Code.LOG_WINDOW_MAXIMUM, message, run_id=run_id)


def _table(data: Columns) -> pd.DataFrame:
    code, size = data["code"].astype(np.int8), data["bs_bytes"].astype(np.int64)
    seq = np.zeros(len(code), dtype=np.int64)
    for one in range(len(log_lines.FIO_DDIRS)):
        seq[code == one] = np.arange((code == one).sum())
    names = pa.DictionaryArray.from_arrays(pa.array(code), pa.array(log_lines.FIO_DDIRS)).cast(
        pa.large_string()
    )
    return pd.DataFrame(
        {
            "ddir": pd.Series(names, dtype=schema.TEXT),
            "seq": seq,
            "t_s": data["t_ms"] / units.MS_PER_S,
            "value": data["value"],
            "bs_bytes": pd.Series(size, dtype=schema.INT).mask(size == 0),
        }
    )
