"""Reader of sysstat's JSON: ``iostat -o JSON``, plain, ``-s`` and ``-x``, and ``sadf -j -- -d``.

Traps that are dealt with: the first report of iostat is the average since boot; there is a time only with
``-t``, in the form of the locale; ``kB`` and ``MB`` are powers of 1024; documents are damaged by several
versions (a comma after ``[`` with ``-y``, braces and commas missing in sadf, an end cut off by Ctrl-C, a
decimal comma, keys lost where there are many disks), so what stands between braces is read by itself; rows
of groups (``-g``) begin with a blank and repeat their members; sadf states the same rate in sectors and in
KiB; reads and writes are told apart by ``-x`` alone.

Source: sysstat iostat.c, json_stats.c and CHANGES, 12.7.9 (2026-07-18); its issues 90, 107, 130, 163, 180,
215, 253 and 396; outputs of 12.6.1.
"""

import json
import re
from typing import Any

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats._telemetry import DeviceReport, add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._clock import Clock
from azbenchlib.formats.sysstat._columns import length_s, value

_MARK = re.compile(r'\A\s{0,99}\{\s{0,99}"sysstat"\s{0,9}:')
_KEYS = ("disk_device", "disk-device")  # of iostat, of sadf
# What stands in a document, in its order. Repetitions have bounds: no text takes longer than its length.
_TOKEN = re.compile(
    r'"nodename"\s{0,9}:\s{0,9}"(?P<host>[^"\n]{0,255})"'
    r'|"date"\s{0,9}:\s{0,9}"(?P<date>[^"\n]{0,40})"(?=[^{}]{0,99}"statistics")'
    r'|"timestamp"\s{0,9}:\s{0,9}(?:"(?P<stamp>[^"\n]{0,60})"|(?P<moment>\{[^{}]{0,400}\}))'
    r'|(?P<disks>"disk"\s{0,9}:\s{0,9}\[)'
    r'|(?P<disk>\{\s{0,9}"disk[-_]device"[^{}]{0,4000}\}?)'
)
_PAIR = re.compile(r'"([^"\n]{1,40})"\s{0,9}:\s{0,9}(?:"([^"\n]{0,255})"|(-?\d{1,18}(?:[.,]\d{1,18})?))')


def sniff(opening: str) -> bool:
    """Whether it is JSON of sysstat."""
    return _MARK.match(opening) is not None


def read_sysstat_json(source: Source) -> Records:
    """The demand that iostat or sar recorded.

    Parameters
    ----------
    source : Source
        JSON, whole or damaged.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    found = _Document(source.text)
    try:
        json.loads(source.text)
    except (ValueError, RecursionError) as error:
        message = f"{source.path}: the JSON is damaged ({error}); {len(found.reports)} reports were read"
        records.finding(Code.BROKEN_JSON, message, severity=Severity.WARNING if found.reports else None)
    if found.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {found.damaged} disks of reports are cut off")
    add_reports(records, "sar" if found.of_sadf else "iostat", found.reports)
    return records


class _Document:
    """The reports of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self.reports: list[DeviceReport] = []
        self.damaged = 0
        self.of_sadf = False
        self._clock, self._host = Clock(text), ""
        self._begun = True  # no report since the tool began
        self._time: tuple[float, str] | None = None
        self._interval_s: float | None = None
        for token in _TOKEN.finditer(text):
            self._take(token)

    def _take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind == "host":
            self._host, self._begun, self._time = token["host"], True, None
        elif kind == "date":
            self._clock.begin_day(token["date"])
        elif kind == "stamp":
            self._time, self._interval_s = self._clock.stamp(token["stamp"]), None
        elif kind == "moment":
            self._take_moment(_pairs(token["moment"]))
        elif kind == "disks":
            self._open()
        else:
            self._take_disk(token["disk"])

    def _take_moment(self, told: dict[str, str]) -> None:
        """A time of sadf: date, time, whether that is UTC, and the interval."""
        self.of_sadf = True
        zone = "UTC" if told.get("utc") == "1" or told.get("tz") == "UTC" else ""
        self._time = self._clock.stamp(f"{told.get('date', '')} {told.get('time', '')} {zone}")
        self._interval_s = length_s(told.get("interval", ""))

    def _open(self) -> None:
        end, clock = self._time or (None, "elapsed")
        self.reports.append(
            DeviceReport(
                host=self._host or None,
                end_s=end,
                clock=clock,
                interval_s=self._interval_s,
                is_first=self._begun,
            )
        )
        self._begun, self._time, self._interval_s = False, None, None

    def _take_disk(self, text: str) -> None:
        told = _pairs(text)
        name = next((told[key] for key in _KEYS if key in told), "")
        if not text.endswith("}"):
            self.damaged += 1
            return
        if not name or name.startswith(" "):  # a group, whose members are told too
            return
        if not self.reports:
            self._open()
        columns = dict(filter(None, (value(key, figure) for key, figure in told.items())))
        self.reports[-1].devices.setdefault(name, {}).update(columns)


def _pairs(text: str) -> dict[str, str]:
    """Keys and values of an object without others in it; the last of equal keys counts."""
    found: dict[str, Any] = {}
    for key, quoted, figure in _PAIR.findall(text):
        found[key] = quoted or figure
    return found
