r"""Reader of what PowerShell's Get-Counter shows, and of its samples as CSV (``Export-Csv``).

As text, a time stands before the first counter of each sample, and below each
``\\host\object(instance)\counter :`` its figure; long paths are wrapped. As CSV, ``Path``, ``CookedValue``
and ``Timestamp`` are columns, as of ``(Get-Counter …).CounterSamples | Export-Csv``. Of the counters those of
disks are read, as from a log of performance counters.

Traps that are dealt with: times and figures are of the culture of the session, so a comma may be the decimal
point, and a day above 12 anywhere tells that the day comes first; times are local, of no stated zone; the
first sample is a mean, too, and has the length of the others.

Source: learn.microsoft.com, Get-Counter and PerformanceCounterSample (read 2026-11).
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._csv_rows import readable_rows
from azbenchlib.formats._disk_counters import DiskCounter, disk_counter, that_count
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_NEEDED = ("timestamp", "path", "cookedvalue")
_TITLES = re.compile(r"^[ \t>]{0,99}Timestamp[ \t]{1,60}CounterSamples\r?$", re.MULTILINE)
_PATH_BEGINS = re.compile(r"(?P<time>[^\\]{0,60})(?P<path>\\\\[^\\]{1,255}\\.{1,1000})")
_ONE_LINE = re.compile(r"(?P<path>.{1,1200}\S) ?: {1,30}(?P<figure>[-\d.,E+]{1,40})")
_EMPTY = "GetCounter.PerformanceCounterSample"  # the name of the samples, which stands in place of them
_LONGEST_PATH = 2000  # characters; it may be wrapped over several lines

Sample = tuple[str, str, str]  # time, path, figure


def sniff(opening: str) -> bool:
    """Whether samples of counters stand in it."""
    as_csv = "CookedValue" in opening and any(_delimiter(line) for line in opening.splitlines())
    return as_csv or _TITLES.search(opening) is not None or _EMPTY in opening


def read_powershell(source: Source) -> Records:
    """The demand that performance counters of disks told.

    Parameters
    ----------
    source : Source
        Text or CSV of PowerShell, alone or in a transcript.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    clock, times = Clock(source.text), dict[str, tuple[float, str] | None]()
    samples: list[tuple[tuple[float, str], DiskCounter, float]] = []
    others = damaged = 0
    for time, path, figure in _samples(source.text.splitlines()):
        counter, value = disk_counter(path), number(figure)
        stamp = times.setdefault(time, clock.stamp(time))
        others += counter is None
        damaged += counter is not None and (stamp is None or value is None)
        if counter is not None and stamp is not None and value is not None and value >= 0:
            samples.append((stamp, counter, value))
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} damaged samples left out")
    if not (samples or others or damaged):
        message = f"{source.path}: it tells of samples of counters, and has none of them"
        records.finding(Code.NO_FIGURES, message, "(Get-Counter …).CounterSamples | Export-Csv FILE")
    elif others or not samples:
        message = f"{source.path}: {others} samples tell nothing of disks"
        advice = None if samples else "Ask for English names, such as \\PhysicalDisk(*)\\Disk Reads/sec"
        severity = None if samples else Severity.WARNING
        records.finding(Code.COUNTERS_LEFT_OUT, message, advice, severity=severity)
    counting = that_count(counter for _, counter, _ in samples)
    reports: dict[tuple[str, float], DeviceReport] = {}
    for (end, kind), counter, value in samples:
        if counter in counting:
            new = DeviceReport(host=counter.host, end_s=end, clock=kind)
            devices = reports.setdefault((counter.host, end), new).devices
            devices.setdefault(counter.instance, {})[counter.column] = value * counter.factor
    add_reports(records, "perfmon", list(reports.values()))
    return records


def _delimiter(line: str) -> str | None:
    """What separates the titles of a CSV of samples; None: the line has no such titles."""
    for delimiter in ",;\t":
        titles = [title.strip('" \t>').lower() for title in line[:1000].split(delimiter)]
        if set(_NEEDED) <= set(titles):
            return delimiter
    return None


def _samples(lines: Sequence[str]) -> Iterator[Sample]:
    """All samples, in whichever form they stand."""
    time = path = ""
    for place, line in enumerate(lines):
        bare = line.strip(" \t>")
        if "CookedValue" in line and (delimiter := _delimiter(line)):
            yield from _of_csv(lines[place:], delimiter)
            return
        begin = _PATH_BEGINS.fullmatch(bare)
        if begin:
            time, path = begin["time"].strip() or time, begin["path"]
            if whole := _ONE_LINE.fullmatch(path):
                yield time, whole["path"], whole["figure"]
                path = ""
        elif path.endswith(":"):
            yield time, path.rstrip(" :"), bare
            path = ""
        elif path:
            path = f"{path} {bare}" if bare and len(path) < _LONGEST_PATH else ""


def _of_csv(lines: Iterable[str], delimiter: str) -> Iterator[Sample]:
    titles: list[str] = []
    for cells in readable_rows(lines, delimiter):
        known = [cell.strip().lower() for cell in cells]
        if set(_NEEDED) <= set(known):
            titles = known
        elif len(cells) == len(titles):
            time, path, figure = (cells[titles.index(name)] for name in _NEEDED)
            yield time, path, figure
