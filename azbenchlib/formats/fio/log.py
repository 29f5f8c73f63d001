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
compressed one (``log_store_compressed``, ``.log.fz``) holds fio's own memory, which fio alone unpacks.
``_clat_hist`` logs have hundreds of columns and are another format.

Read some megabytes at a time: a line takes about 200 bytes while its file is read, and 100 in the table.

Source: fio HOWTO, "Log File Formats", ``iolog.c`` (``flush_samples``) and ``client.c``, read at fio-3.41;
outputs of fio 2.1.11 to 3.41.
"""

import io
import re
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from azbenchlib.core import schema, units
from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Beside, Records, Source

LATENCY_IN_NS_SINCE = (2, 99)
_EPOCH_MS = 10**11  # three years: no job runs so long, and every clock on the wall is later
_LINES_TO_SNIFF = 20
_LARGEST = 10**15  # times, values and sizes are below it; a float still holds every whole number

_DDIRS = schema.DDIRS[:3]  # fio's codes 0, 1 and 2
_START = r"[ \t]*(?P<t>[0-9]{1,15}),[ \t]*(?P<value>[0-9]{1,15}(?:\.[0-9]{1,9})?),"
_MAXIMUM = r"[ \t]*[0-9]{1,15},"
_END = r"[ \t]*(?P<code>[0-2]),[ \t]*(?P<bs>[0-9]{1,15})"
_MORE = r"(?:,[ \t]*(?:0x)?[0-9a-f]{1,20})"
_LINE = re.compile(_START + _END + _MORE + r"{0,3}[ \t]*")
_LINE_WITH_MAXIMUM = re.compile(_START + _MAXIMUM + _END + _MORE + r"{1,3}[ \t]*")
_FIELDS = {"t": pa.int64(), "value": pa.float64(), "code": pa.int64(), "bs": pa.int64()}
_PLAIN = b"0123456789, \n"  # what undamaged lines consist of
_NAME = re.compile(r"(?:^|[_/\\])(bw|iops|slat|clat|lat)(?:\.\d+)?\.log(?:\.[^/\\]*)?$")
_VERSION = re.compile(r"(\d+)\.(\d+)")

Columns = dict[str, npt.NDArray[np.float64 | np.int64]]


def sniff(opening: str) -> bool:
    """Whether most of the first lines are lines of a fio log."""
    lines = [line for line in opening.splitlines()[:_LINES_TO_SNIFF] if line.strip()]
    fitting = sum(bool(_LINE.fullmatch(line) or _LINE_WITH_MAXIMUM.fullmatch(line)) for line in lines)
    return fitting > len(lines) / 2


def sniff_compressed(opening: str, path: str) -> bool:
    """Whether a file is a log as fio stores it with ``log_store_compressed``."""
    return bool(re.search(r"\.log\.fz(\.[^/\\]*)?$", path)) and opening[:1] == "x"


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
        Rows of samples, in bytes/s, 1/s or µs, and findings.
    """
    records = Records(source)
    named = _NAME.search(source.path)
    if not named:
        message = f"{source.path}: what this log measures cannot be told from its name"
        advice = "Name it as fio does: NAME_bw.1.log, NAME_iops.1.log, NAME_lat.1.log, …"
        records.finding(Code.LOG_METRIC_UNKNOWN, message, advice)
        return records
    run_id = beside.run_id if beside else source.run_id(0, "log")
    metric, times, per = _unit(records, source, named[1], beside, run_id)
    samples = _samples(records, source, run_id)
    samples = samples.assign(run_id=run_id, metric=metric, value=samples["value"] * times / per)
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
    in_us = _told_in_us(beside)
    if in_us is None:
        message = f"{source.path}: the unit of this log is not told; ns assumed, as fio 3 writes"
        advice = (
            "Keep the log beside the JSON of its run, or say --log-unit us or ns; fio 2 writes µs, which "
            "come out 1000 times too small"
        )
        records.finding(Code.LOG_UNIT_ASSUMED, message, advice, run_id=run_id)
    return f"{kind}_us", 1, 1 if in_us else units.NS_PER_US


def _told_in_us(beside: Beside | None) -> bool | None:
    """Whether latencies are in µs; None where neither an output of the run nor the user tells."""
    version = _VERSION.search(beside.tool_version) if beside and beside.tool_version else None
    if version is not None:
        return (int(version[1]), int(version[2])) < LATENCY_IN_NS_SINCE
    return beside.log_unit == "us" if beside and beside.log_unit else None


def _samples(records: Records, source: Source, run_id: str) -> pd.DataFrame:
    """Columns ddir, seq, t_s, value (as fio printed it) and bs_bytes of all whole lines."""
    maxima = _has_maxima(source.opening)
    parts: list[Columns] = []
    n_lines, broken = 0, []
    for block in source.blocks():
        columns, damaged = _quickly(block, maxima) or _carefully(block, maxima)
        broken += [n_lines + place + 1 for place in damaged]
        n_lines += block.count("\n")
        parts.append(columns)
    data = {name: np.concatenate([part[name] for part in parts] or [np.empty(0)]) for name in _FIELDS}
    if broken:
        message = f"{source.path}: {len(broken)} broken lines left out, the first is line {broken[0]}"
        records.finding(Code.BROKEN_LINES, message, run_id=run_id)
    if maxima:
        message = f"{source.path}: the average of each window is kept, its largest value left out"
        records.finding(Code.LOG_WINDOW_MAXIMUM, message, run_id=run_id)
    if len(data["t"]) and data["t"][0] > _EPOCH_MS:
        start = pd.Timestamp(data["t"].min(), unit="ms", tz="UTC").isoformat()
        message = f"{source.path}: times are of the clock on the wall; counted here from {start}"
        records.finding(Code.LOG_EPOCH_TIME, message, run_id=run_id)
        data["t"] -= data["t"].min()
    return _table(data)


def _table(data: Columns) -> pd.DataFrame:
    code = data["code"].astype(np.int8)
    seq = np.zeros(len(code), dtype=np.int64)
    for one in range(len(_DDIRS)):
        seq[code == one] = np.arange((code == one).sum())
    names = pa.DictionaryArray.from_arrays(pa.array(code), pa.array(_DDIRS)).cast(pa.large_string())
    return pd.DataFrame(
        {
            "ddir": pd.Series(names, dtype=schema.TEXT),
            "seq": seq,
            "t_s": data["t"] / units.MS_PER_S,
            "value": data["value"],
            "bs_bytes": pd.Series(data["bs"], dtype=schema.INT).mask(data["bs"] == 0),
        }
    )


def _has_maxima(opening: str) -> bool:
    """Whether the first whole lines have a second value before the direction."""
    lines = islice((line for line in opening.splitlines() if line.strip()), _LINES_TO_SNIFF)
    both = [(_LINE.fullmatch(line), _LINE_WITH_MAXIMUM.fullmatch(line)) for line in lines]
    return any(two and not one for one, two in both) and not any(one and not two for one, two in both)


def _quickly(block: str, maxima: bool) -> tuple[Columns, list[int]] | None:
    """The columns of a block without damage; None where a line is none of a log."""
    raw = block.encode()
    if raw.translate(None, _PLAIN) or raw.startswith(b"\n") or b"\n\n" in raw:
        return None
    names = ["t", "value", *(["maximum"] if maxima else []), "code", "bs"]
    width = raw[: raw.index(b"\n")].count(b",") + 1
    if not len(names) + maxima <= width <= len(names) + 3:
        return None
    names += [f"more{place}" for place in range(width - len(names))]
    types = dict.fromkeys(names, pa.int64())
    try:
        table = csv.read_csv(
            io.BytesIO(raw),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    columns = {name: table[name].to_numpy() for name in _FIELDS}
    fitting = all((columns[name] < _LARGEST).all() for name in _FIELDS) and (columns["code"] <= 2).all()
    return (columns | {"value": columns["value"].astype(float)}, []) if fitting else None


def _carefully(block: str, maxima: bool) -> tuple[Columns, list[int]]:
    """The columns of the whole lines of any block, and the places of the others from 0."""
    pattern = (_LINE_WITH_MAXIMUM if maxima else _LINE).pattern
    lines = pa.array(block.split("\n")[:-1], pa.string())
    found = pc.extract_regex(lines, f"^{pattern}$")
    blank = pc.match_substring_regex(lines, r"^\s*$")
    damaged = np.flatnonzero(pc.and_(pc.is_null(found), pc.invert(blank)).to_numpy(zero_copy_only=False))
    found = found.drop_null()
    columns = {name: found.field(name).cast(kind).to_numpy() for name, kind in _FIELDS.items()}
    return columns, damaged.tolist()
