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
``log_unix_epoch`` the times are those of the clock on the wall; a log may hold damaged lines.
``_clat_hist`` logs have hundreds of columns and are another format.

Source: fio HOWTO, "Log File Formats", and ``iolog.c``, read at fio-3.41; outputs of fio 2.1.11 to 3.41.
"""

import re
from io import StringIO

import pandas as pd

from azbenchlib import schema, units
from azbenchlib.formats.base import Beside, Records, Source

LATENCY_IN_NS_SINCE = (2, 99)
EPOCH_MS = 10**11  # three years: no job runs so long, and every clock on the wall is later
LINES_TO_SNIFF = 20

_COLUMNS = ["t_ms", "value", "code", "bs"]
_DDIRS = schema.DDIRS[:3]  # fio's codes 0, 1 and 2
_LINE = re.compile(
    r"\s*\d{1,15},\s*\d{1,15}(?:\.\d{1,9})?,\s*[0-2],\s*\d{1,15}(?:,\s*(?:0x)?[\da-f]{1,20}){0,3}\s*",
    re.ASCII,  # digits of other scripts are damage
)
_NAME = re.compile(r"(?:^|[_/\\])(bw|iops|slat|clat|lat)(?:\.\d+)?\.log(?:\.[^/\\]*)?$")
_VERSION = re.compile(r"(\d+)\.(\d+)")


def sniff(opening: str) -> bool:
    """Whether most of the first lines are lines of a fio log."""
    lines = [line for line in opening.splitlines()[:LINES_TO_SNIFF] if line.strip()]
    fitting = sum(bool(_LINE.fullmatch(line)) for line in lines)
    return fitting > len(lines) / 2


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
        records.finding("warning", "log_metric_unknown", message, advice)
        return records
    run_id = beside.run_id if beside else source.run_id(0, "log")
    metric, times, per = _unit(records, source, named[1], beside)
    samples = _samples(records, source, run_id)
    columns = (samples[name].tolist() for name in ("ddir", "seq", "t_s", "value", "bs_bytes"))
    for ddir, seq, t_s, value, bs_bytes in zip(*columns, strict=True):
        records.add(
            "samples",
            run_id=run_id,
            ddir=ddir,
            metric=metric,
            seq=seq,
            t_s=t_s,
            value=value * times / per,
            bs_bytes=bs_bytes,
        )
    return records


def _unit(records: Records, source: Source, kind: str, beside: Beside | None) -> tuple[str, int, int]:
    """The metric of a log, and what fio's values are multiplied with and divided by to get its unit."""
    if kind == "iops":
        return "iops", 1, 1
    if kind == "bw":
        return "bw_bytes_per_s", units.KIB, 1
    version = _VERSION.search(beside.tool_version) if beside else None
    if version is None:
        message = f"{source.path}: the unit of this log is not told; ns assumed, as fio 3 writes"
        advice = (
            "Keep the log beside the JSON of its run; fio 2 writes µs, which come out 1000 times too small"
        )
        records.finding("warning", "log_unit_assumed", message, advice)
    in_us = version is not None and (int(version[1]), int(version[2])) < LATENCY_IN_NS_SINCE
    return f"{kind}_us", 1, 1 if in_us else units.NS_PER_US


def _samples(records: Records, source: Source, run_id: str) -> pd.DataFrame:
    """Columns ddir, seq, t_s, value (as fio printed it) and bs_bytes of all whole lines."""
    lines = source.text.splitlines()
    whole = [bool(_LINE.fullmatch(line)) for line in lines]
    broken = [number for number, fits in enumerate(whole, 1) if not fits and lines[number - 1].strip()]
    if broken:
        message = f"{source.path}: {len(broken)} broken lines left out, the first is line {broken[0]}"
        records.finding("warning", "broken_lines", message, run_id=run_id)
    good = "\n".join(line for line, fits in zip(lines, whole, strict=True) if fits)
    data = pd.read_csv(
        StringIO(good), names=_COLUMNS, usecols=range(4), skipinitialspace=True, dtype={"value": float}
    )
    if len(data) and data["t_ms"].iloc[0] > EPOCH_MS:
        start = pd.Timestamp(data["t_ms"].min(), unit="ms", tz="UTC").isoformat()
        message = f"{source.path}: times are of the clock on the wall; counted here from {start}"
        records.finding("info", "log_epoch_time", message, run_id=run_id)
        data["t_ms"] -= data["t_ms"].min()
    return pd.DataFrame(
        {
            "ddir": data["code"].map(dict(enumerate(_DDIRS))),
            "seq": data.groupby("code").cumcount(),
            "t_s": data["t_ms"] / units.MS_PER_S,
            "value": data["value"],
            "bs_bytes": data["bs"].astype("Int64").mask(data["bs"] == 0),
        }
    )
