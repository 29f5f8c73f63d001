r"""Reader of Windows' performance counters as CSV (PDH-CSV), of typeperf, logman and relog, and of esxtop -b.

The header names each column ``\\HOST\Object(instance)\Counter``. Of these, disks' rates, latencies and
queues are read: of PhysicalDisk; of LogicalDisk, whose volumes may share a disk, only where that is absent;
in files of esxtop of the SCSI devices, else of the virtual disks.

Traps that are dealt with: the first sample of a rate is blank, for it begins there; values may have a blank
in front; times are local, with the bias of the zone in minutes west of Greenwich in the header, one for the
whole file, so that an hour is doubled at the end of summer time; typeperf states no zone and ends with a
sentence; ``_Total`` repeats the others; counters have names in the language of Windows, and only the
English ones are known; relog leaves samples out and averages nothing. esxtop's megabytes are taken to be
2²⁰ bytes.

Source: learn.microsoft.com, typeperf, relog and "Performance counters: PhysicalDisk" (read 2026-11); notes
of VMware on esxtop's batch mode.
"""

import csv
import re
from calendar import timegm
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from azbenchlib.core.findings import Code, Severity
from azbenchlib.core.units import MIB, S_PER_MIN, US_PER_MS, US_PER_S
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_HEAD = re.compile(r'"?\(PDH-CSV \d+\.\d+\)(?: ?\((?P<zone>[^"]*)\)\((?P<bias>-?\d{1,4})\))?')
_SNIFF = re.compile(r'\A\s{0,99}"?\(PDH-CSV \d')
_PATH = re.compile(r"\\\\(?P<host>[^\\]+)\\(?P<object>[^\\(]+)(?:\((?P<instance>.*)\))?\\(?P<counter>[^\\]+)")
_TIME = re.compile(r"(\d{2})/(\d{2})/(\d{4}) (\d{2}):(\d{2}):(\d{2})(\.\d{1,6})?")
_OBJECTS = ("PhysicalDisk", "Physical Disk SCSI Device", "Virtual Disk", "LogicalDisk")  # the first counts
_TOTAL = "_Total"
_ENDINGS = ("Exiting", "The command completed", "Quitting")  # what typeperf says at its end
_RATES = {"iops", "read_iops", "write_iops", "bw_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"}
_MOST_CELLS = 1_000_000  # of a header
# Name -> column of the table demand, factor.
_COUNTERS = {
    "disk reads/sec": ("read_iops", 1),
    "disk writes/sec": ("write_iops", 1),
    "disk transfers/sec": ("iops", 1),
    "disk read bytes/sec": ("read_bytes_per_s", 1),
    "disk write bytes/sec": ("write_bytes_per_s", 1),
    "disk bytes/sec": ("bw_bytes_per_s", 1),
    "avg. disk sec/read": ("read_lat_us", US_PER_S),
    "avg. disk sec/write": ("write_lat_us", US_PER_S),
    "avg. disk sec/transfer": ("lat_us", US_PER_S),
    "avg. disk queue length": ("queue_depth", 1),
    "reads/sec": ("read_iops", 1),
    "writes/sec": ("write_iops", 1),
    "commands/sec": ("iops", 1),
    "mbytes read/sec": ("read_bytes_per_s", MIB),
    "mbytes written/sec": ("write_bytes_per_s", MIB),
    "average guest millisec/read": ("read_lat_us", US_PER_MS),
    "average guest millisec/write": ("write_lat_us", US_PER_MS),
    "average guest millisec/command": ("lat_us", US_PER_MS),
}


@dataclass(frozen=True, kw_only=True)
class _Counter:
    """One column of the file that is read."""

    place: int
    host: str
    instance: str
    column: str
    factor: float


def sniff(opening: str) -> bool:
    """Whether it begins with the header of PDH-CSV."""
    return _SNIFF.match(opening) is not None


def read_perfmon_csv(source: Source) -> Records:
    """The demand that performance counters of disks recorded.

    Parameters
    ----------
    source : Source
        PDH-CSV.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    lines = source.text.lstrip().splitlines()
    rows = csv.reader(lines)
    try:
        header = next(rows)[:_MOST_CELLS]
    except (csv.Error, StopIteration) as error:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: its header cannot be read: {error}")
        return records
    counters, others = _counters(header)
    if others or not counters:
        message = f"{source.path}: {others} of {len(header) - 1} counters tell nothing of disks"
        records.finding(
            Code.COUNTERS_LEFT_OUT,
            message,
            None if counters else "Record with English names, such as \\PhysicalDisk(*)\\Disk Reads/sec",
            severity=None if counters else Severity.WARNING,
        )
    head = _HEAD.match(lines[0])
    bias = None if head is None or head["bias"] is None else int(head["bias"])
    reports, damaged = _reports(rows, counters, len(header), bias)
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} damaged lines left out")
    of_esxtop = any(_OBJECTS[1] in name or _OBJECTS[2] in name for name in header)
    add_reports(records, "esxtop" if of_esxtop else "perfmon", reports)
    return records


def _counters(header: Sequence[str]) -> tuple[list[_Counter], int]:
    """The columns that are read, and how many are not."""
    found: dict[str, list[_Counter]] = {}
    others = 0
    for place, name in enumerate(header[1:], 1):
        match = _PATH.fullmatch(name.strip())
        known = _COUNTERS.get(match["counter"].strip().lower()) if match else None
        if match is None or known is None or match["object"] not in _OBJECTS:
            others += 1
            continue
        column, factor = known
        found.setdefault(match["object"], []).append(
            _Counter(
                place=place,
                host=match["host"],
                instance=match["instance"] or _TOTAL,
                column=column,
                factor=factor,
            )
        )
    some = next((found[name] for name in _OBJECTS if name in found), [])
    own = [counter for counter in some if counter.instance != _TOTAL] or some
    return own, others


def _reports(
    rows: Iterable[list[str]], counters: Sequence[_Counter], width: int, bias: int | None
) -> tuple[list[DeviceReport], int]:
    """A report a line and host; lines that are none, and how many of these are damaged."""
    reports: list[DeviceReport] = []
    damaged = 0
    seen: set[str] = set()
    for cells in _readable(rows):
        if not cells or cells[0].startswith(_ENDINGS):
            continue
        end = _seconds(cells[0])
        if end is None or len(cells) < width:
            damaged += 1
            continue
        told: dict[str, dict[str, dict[str, float]]] = {counter.host: {} for counter in counters}
        for counter in counters:
            value = number(cells[counter.place])
            if value is not None and value >= 0:
                own = told[counter.host].setdefault(counter.instance, {})
                own[counter.column] = value * counter.factor
        for host, named in told.items():
            devices = {name: figures for name, figures in named.items() if _RATES & figures.keys()}
            reports.append(
                DeviceReport(
                    host=host,
                    end_s=end if bias is None else end + bias * S_PER_MIN,
                    clock="local" if bias is None else "utc",
                    is_first=host not in seen and not devices,
                    devices=devices,
                )
            )
            seen.add(host)
    return reports, damaged


def _readable(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """The lines that are CSV; another one is an empty one."""
    lines = iter(rows)
    while True:
        try:
            yield next(lines)
        except StopIteration:
            return
        except csv.Error:
            yield [""]


def _seconds(text: str) -> float | None:
    """A time as seconds since 1970, by the clock that it is of."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    month, day, year, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61 and year > 0):
        return None
    return timegm((year, month, day, hour, minute, second)) + float(found[7] or 0)
