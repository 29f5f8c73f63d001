r"""Reader of Windows' performance counters as CSV (PDH-CSV), of typeperf, logman and relog, and of esxtop -b.

Export-Counter of PowerShell writes it too, its paths in lower case; PDH-TSV has tabs. The header names each
column ``\\HOST\Object(instance)\Counter``. Of these, disks' rates, latencies and queues are read: of
PhysicalDisk; of LogicalDisk, whose volumes may share a disk, only where that is absent; in files of esxtop of
the SCSI devices, else of the virtual disks. A file may be a transcript, and have several headers.

Traps that are dealt with: the first sample of a rate is blank, for it begins there; values may have a blank
in front; times are local, with the bias of the zone in minutes west of Greenwich in the header, one for the
whole file, so that an hour is doubled at the end of summer time; typeperf states no zone and ends with a
sentence; ``_Total`` repeats the others; counters have names in the language of Windows, and only the
English ones are known; relog leaves samples out and averages nothing.

Source: learn.microsoft.com, typeperf, relog and Export-Counter (read 2026-11); see :mod:`._disk_counters`.
"""

import re
from calendar import timegm
from collections.abc import Iterable, Iterator, Mapping, Sequence

from azbenchlib.core.findings import Code, Severity
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.formats._csv_rows import readable_rows
from azbenchlib.formats._disk_counters import DISK_RATES, OF_ESXTOP, DiskCounter, disk_counter, that_count
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_HEAD = re.compile(
    r'[ \t>]{0,99}"?\(PDH-[CT]SV \d{1,3}\.\d{1,3}\)'
    r'(?: ?\((?P<zone>[^"\t]{0,200}?)\)\((?P<bias>-?\d{1,4})\))?"?(?P<next>[,;\t])?'
)
_SNIFF = re.compile(r'^[ \t>]{0,99}"?\(PDH-[CT]SV \d', re.MULTILINE)
_TIME = re.compile(r"(\d{2})/(\d{2})/(\d{4}) (\d{2}):(\d{2}):(\d{2})(\.\d{1,6})?")
_ENDINGS = ("Exiting", "The command completed", "Quitting")  # what typeperf says at its end
_MOST_CELLS = 1_000_000  # of a header


def sniff(opening: str) -> bool:
    """Whether a header of PDH-CSV or PDH-TSV stands in it."""
    return _SNIFF.search(opening) is not None


def read_perfmon_csv(source: Source) -> Records:
    """The demand that performance counters of disks recorded.

    Parameters
    ----------
    source : Source
        PDH-CSV, alone or in a transcript.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    reports: list[DeviceReport] = []
    damaged, of_esxtop = 0, False
    for lines in _captures(source.text):
        head = _HEAD.match(lines[0])
        rows = readable_rows(lines, (head and head["next"]) or ",")
        header = next(rows)[:_MOST_CELLS]
        counters = _counters(records, header)
        bias = None if head is None or head["bias"] is None else int(head["bias"])
        own, broken = _reports(rows, counters, len(header), bias)
        reports += own
        damaged += broken
        of_esxtop = of_esxtop or any(counter.of in OF_ESXTOP for counter in counters.values())
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} damaged lines left out")
    add_reports(records, "esxtop" if of_esxtop else "perfmon", reports)
    return records


def _captures(text: str) -> Iterator[list[str]]:
    """The lines from each header to the next one."""
    own: list[str] = []
    for line in text.splitlines():
        if _SNIFF.match(line):
            if own:
                yield own
            own = [line]
        elif own:
            own.append(line)
    if own:
        yield own


def _counters(records: Records, header: Sequence[str]) -> Mapping[int, DiskCounter]:
    """The columns that are read, by their places; what is left out is said."""
    known = {place: disk_counter(name) for place, name in enumerate(header[1:], 1)}
    counters = {place: counter for place, counter in known.items() if counter is not None}
    others = len(known) - len(counters)
    if others or not counters:
        message = f"{records.source.path}: {others} of {len(known)} counters tell nothing of disks"
        records.finding(
            Code.COUNTERS_LEFT_OUT,
            message,
            None if counters else "Record with English names, such as \\PhysicalDisk(*)\\Disk Reads/sec",
            severity=None if counters else Severity.WARNING,
        )
    some = that_count(counters.values())
    return {place: counter for place, counter in counters.items() if counter in some}


def _reports(
    rows: Iterable[list[str]], counters: Mapping[int, DiskCounter], width: int, bias: int | None
) -> tuple[list[DeviceReport], int]:
    """A report a line and host; how many lines are damaged."""
    reports: list[DeviceReport] = []
    damaged = 0
    seen: set[str] = set()
    for cells in rows:
        if not cells or cells[0].startswith(_ENDINGS):
            continue
        end = _seconds(cells[0])
        if end is None or len(cells) < width:
            damaged += end is not None or len(cells) > 1
            continue
        told: dict[str, dict[str, dict[str, float]]] = {counter.host: {} for counter in counters.values()}
        for place, counter in counters.items():
            value = number(cells[place])
            if value is not None and value >= 0:
                own = told[counter.host].setdefault(counter.instance, {})
                own[counter.column] = value * counter.factor
        for host, named in told.items():
            devices = {name: figures for name, figures in named.items() if DISK_RATES & figures.keys()}
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


def _seconds(text: str) -> float | None:
    """A time as seconds since 1970, by the clock that it is of."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    month, day, year, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61 and year > 0):
        return None
    return timegm((year, month, day, hour, minute, second)) + float(found[7] or 0)
