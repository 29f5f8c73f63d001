"""Reader of ``vmstat -d -t N``: counters of each disk since the system started, and when they were read.

Two lines of titles stand above the rows; a row is the name of the disk, then total, merged, sectors and ms of
reads and the same of writes, two figures of I/O under way, and date and time. A rate is what a counter grew
by from one reading to the next; sectors have 512 bytes. Without ``-t`` there is no time, and thus no rate;
times are whole seconds, so at an interval of one second a rate is a rough one. Discards are not told.

Source: procps-ng vmstat.c (``diskformat``) and outputs of 4.0.2, 2026-11.
"""

import re

from azbenchlib.core.findings import Code
from azbenchlib.core.units import SECTOR_BYTES, US_PER_MS
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._cumulative import CounterReading, reports_between
from azbenchlib.formats._telemetry import add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_DASHES = r"-{1,99}[ \t]{1,9}-{1,99}"
_TITLES = re.compile(rf"^[ \t>]{{0,99}}disk{_DASHES}reads{_DASHES}writes{_DASHES}IO-{{1,99}}", re.MULTILINE)
_ZONE = re.compile(r"total[ \t]{1,30}merged[ \t].{0,200}[ \t]sec(?:[ \t]{1,60}(?P<zone>\S{1,9}))?")
_ROW = re.compile(
    r"(?P<name>\S{1,99})(?P<counters>(?:[ \t]{1,30}\d{1,18}){10})"
    r"(?:[ \t]{1,9}(?P<time>\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}))?"
)
# Place of a counter in a row -> column of the table demand, factor.
_COUNTERS = {
    0: ("read_iops", 1),
    2: ("read_bytes_per_s", SECTOR_BYTES),
    3: ("read_lat_us", US_PER_MS),
    4: ("write_iops", 1),
    6: ("write_bytes_per_s", SECTOR_BYTES),
    7: ("write_lat_us", US_PER_MS),
}


def sniff(opening: str) -> bool:
    """Whether the titles of vmstat -d stand in it."""
    return _TITLES.search(opening) is not None


def read_vmstat(source: Source) -> Records:
    """The demand between the readings of vmstat.

    Parameters
    ----------
    source : Source
        Text of ``vmstat -d -t``, alone or in a page.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    clock, zone, untimed = Clock(""), "", 0
    devices: dict[float, dict[str, dict[str, float]]] = {}
    for line in source.text.splitlines():
        bare = line.strip(" \t>")
        if titles := _ZONE.fullmatch(bare):
            zone = titles["zone"] or ""
        elif row := _ROW.fullmatch(bare):
            stamp = clock.stamp(row["time"]) if row["time"] else None
            untimed += stamp is None
            if stamp is not None:
                counters = [float(word) for word in row["counters"].split()]
                columns = {name: counters[place] * factor for place, (name, factor) in _COUNTERS.items()}
                devices.setdefault(stamp[0], {})[row["name"]] = columns
    kind = "utc" if zone == "UTC" else "local"
    reports = reports_between(
        [CounterReading(host=None, at_s=at_s, clock=kind, devices=some) for at_s, some in devices.items()]
    )
    if not reports:
        what = "its counters have no times" if untimed else "it holds one reading of counters"
        message = f"{source.path}: vmstat -d: {what}, so there are no rates"
        records.finding(Code.COUNTERS_ONCE, message)
    add_reports(records, "vmstat", reports)
    return records
