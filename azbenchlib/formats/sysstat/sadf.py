"""Reader of ``sadf -d -- -d``: sar's records of disks as lines with semicolons.

A header line begins with ``# hostname;interval;timestamp;`` and says what the fields of the lines below are;
with ``-h`` a line has all disks. Times are in UTC, in the zone of the host with ``-t`` or ``-T``, or seconds
since 1970 with ``-U``; each is the end of its interval, whose length the line states. Restarts are lines of
their own. Old versions print a decimal comma in some locales.

Source: sysstat sadf_misc.c and rndr_stats.c, 12.7.9 (2026-07-18), and outputs of 12.6.1.
"""

import re
from collections.abc import Iterator

from azbenchlib.core.findings import Code
from azbenchlib.formats._telemetry import DeviceReport, add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._clock import Clock
from azbenchlib.formats.sysstat._columns import length_s, value

_HEADER = "# hostname;interval;timestamp;"
_SNIFF = re.compile(rf"\A\s{{0,99}}{_HEADER}")
_REPEATED = "[...]"  # behind the names of fields that each disk has
_FIXED = 3  # host, interval, timestamp


def sniff(opening: str) -> bool:
    """Whether it begins with the header of sadf."""
    return _SNIFF.match(opening) is not None


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
    damaged = 0
    for line in source.text.splitlines():
        if line.startswith(_HEADER):
            header = line.split(";")[_FIXED:]
        elif line.strip() and any(name.startswith("DEV") for name in header) and "RESTART" not in line:
            told = _report(line.split(";"), header, clock)
            if told is None:
                damaged += 1
                continue
            known = reports.setdefault((told.host or "", told.end_s or 0.0), told)
            known.devices.update(told.devices)
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} lines left out")
    add_reports(records, "sar", list(reports.values()))
    return records


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


def _devices(fields: list[str], header: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """The figures of each disk of a line."""
    names = [name.removesuffix(_REPEATED) for name in header]
    if "DEV" not in names or len(fields) % len(names) or (len(fields) > len(names) and header == names):
        return
    for start in range(0, len(fields), len(names)):
        told = dict(zip(names, fields[start : start + len(names)], strict=True))
        columns = (value(name, figure) for name, figure in told.items())
        yield told["DEV"], dict(filter(None, columns))
