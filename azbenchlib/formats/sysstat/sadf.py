"""Reader of ``sadf -d -- -d`` and ``sadf -p -- -d``: records of sar, a line a disk or a line a figure.

With ``-d`` a header line begins with ``# hostname;interval;timestamp;`` and says what the fields of the lines
below are, separated by semicolons or, where somebody replaced these, by tabs or commas; with ``-h`` a line
has all disks. With ``-p`` a line is host, interval, time, device, name and figure, with tabs between them.

Times are in UTC, in the zone of the host with ``-t`` or ``-T``, or seconds since 1970 with ``-U``; each is
the end of its interval, whose length the line states. Restarts are lines of their own. Old versions print a
decimal comma in some locales.

Source: sysstat sadf_misc.c and rndr_stats.c, 12.7.9 (2026-07-18), and outputs of 12.6.1.
"""

import re
from collections.abc import Iterator

from azbenchlib.core.findings import Code
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._telemetry import DeviceReport, add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._columns import FIGURES, length_s, value

_HEADER = re.compile(r"(?:# ?)?hostname([;\t,])interval\1timestamp\1")
_TIME = r"(?:\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[^\t\n]{0,20}|\d{9,11})"
_LINE = rf"[^\t\n]{{1,255}}\t\d{{1,7}}\t{_TIME}"  # host, interval, time, as -p begins each line
_FIGURE = r"\t([^\t\n]{1,255})\t([^\t\n]{1,40})\t([-\d.,]{1,40})"  # device, name, figure
_SNIFF = re.compile(rf"^[ \t]{{0,99}}(?:{_HEADER.pattern}|{_LINE}{_FIGURE}\r?$)", re.MULTILINE)
_BY_FIGURE = re.compile(rf"({_LINE}){_FIGURE}")
_REPEATED = "[...]"  # behind the names of fields that each disk has
_FIXED = 3  # host, interval, timestamp
_NO_DEVICE = "-"  # what stands in its place where a figure is of the whole system


def sniff(opening: str) -> bool:
    """Whether a header of sadf stands in it, or a line of one figure."""
    return _SNIFF.search(opening) is not None


def read_sadf(source: Source) -> Records:
    """The demand that sar recorded.

    Parameters
    ----------
    source : Source
        Lines of sadf.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    clock = Clock("")
    reports: dict[tuple[str, float], DeviceReport] = {}
    header: list[str] = []
    damaged, separator = 0, ";"
    for line in map(str.strip, source.text.splitlines()):
        if begin := _HEADER.match(line):
            separator, header = begin[1], line.split(begin[1])[_FIXED:]
            continue
        figure = _BY_FIGURE.fullmatch(line)
        if figure and figure[3] in FIGURES:
            known = _of_figure(figure, clock)
        elif not figure and line and _is_of_disks(header) and "RESTART" not in line:
            known = _report(line.split(separator), header, clock)
            damaged += known is None
        else:
            continue
        if known is not None:
            own = reports.setdefault((known.host or "", known.end_s or 0.0), known)
            for name, figures in known.devices.items():
                own.devices.setdefault(name, {}).update(figures)
    if not reports and not damaged:
        message = f"{source.path}: sadf tells of no disk in it"
        records.finding(Code.NO_FIGURES, message, "Ask for the disks: sadf -d -- -d")
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} lines left out")
    add_reports(records, "sar", list(reports.values()))
    return records


def _is_of_disks(header: list[str]) -> bool:
    return any(name.removesuffix(_REPEATED) == "DEV" for name in header)


def _report(fields: list[str], header: list[str], clock: Clock) -> DeviceReport | None:
    """One line; None where it is damaged. The line of a comment, such as sadf -C has it, is that too."""
    if len(fields) <= _FIXED or (interval_s := length_s(fields[1])) is None:
        return None
    stamp = clock.stamp(fields[2])
    devices = dict(_devices(fields[_FIXED:], header))
    if stamp is None or not devices:
        return None
    return DeviceReport(
        host=fields[0], end_s=stamp[0], clock=stamp[1], interval_s=interval_s, devices=devices
    )


def _of_figure(line: re.Match[str], clock: Clock) -> DeviceReport | None:
    """One line of -p; None where it is of no disk, or damaged."""
    host, length, time = line[1].split("\t")
    stamp, interval_s, figure = clock.stamp(time), length_s(length), value(line[3], line[4])
    if line[2] == _NO_DEVICE or stamp is None or interval_s is None or figure is None:
        return None
    devices = {line[2]: dict([figure])}
    return DeviceReport(host=host, end_s=stamp[0], clock=stamp[1], interval_s=interval_s, devices=devices)


def _devices(fields: list[str], header: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """The figures of each disk of a line."""
    names = [name.removesuffix(_REPEATED) for name in header]
    if "DEV" not in names or len(fields) % len(names) or (len(fields) > len(names) and header == names):
        return
    for start in range(0, len(fields), len(names)):
        told = dict(zip(names, fields[start : start + len(names)], strict=True))
        columns = (value(name, figure) for name, figure in told.items())
        yield told["DEV"], dict(filter(None, columns))
