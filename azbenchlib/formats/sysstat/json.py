"""Reader of sysstat's JSON: ``iostat -o JSON``, plain, ``-s`` and ``-x``, and ``sadf -j -- -d``.

Documents are found wherever they stand, one or several, however they are indented, and read with a JSON
parser; damaged ones part by part.

Traps that are dealt with: the first report of iostat is the average since boot, unless a command line above
it has ``-y``; there is a time only with ``-t``, in the form of the locale; ``kB`` and ``MB`` are powers of
1024; documents are damaged by several versions (a comma after ``[`` with ``-y``, braces and commas missing in
sadf, an end cut off by Ctrl-C, a decimal comma, keys lost where there are many disks), so of these what
stands between braces is read by itself; rows of groups (``-g``) begin with a blank and repeat their members;
sadf states the same rate in sectors and in KiB; reads and writes are told apart by ``-x`` alone.

Source: sysstat iostat.c, json_stats.c and CHANGES, 12.7.9 (2026-07-18); its issues 90, 107, 130, 163, 180,
215, 253 and 396; outputs of 12.6.1.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._telemetry import DeviceReport, add_reports, processors
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._columns import length_s, settle, value
from azbenchlib.formats.sysstat._command import IostatCommand, last_command

_MARK = re.compile(r'\{\s{0,99}"sysstat"\s{0,9}:')
_BLANKS = re.compile(r"\s{2,}")
_MOST_DAMAGED = 20  # documents that are tried to be parsed; what is behind them is read part by part
_ABOVE = 2000  # characters before a document in which its command line stands
_KEYS = ("disk_device", "disk-device")  # of iostat, of sadf
# What stands in a document, in its order. Repetitions have bounds: no text takes longer than its length.
_TOKEN = re.compile(
    r'"nodename"\s{0,9}:\s{0,9}"(?P<host>[^"\n]{0,255})"'
    r'|"number-of-cpus"\s{0,9}:\s{0,9}(?P<cpus>\d{1,5})(?=\s{0,9}[,}])'
    r'|"date"\s{0,9}:\s{0,9}"(?P<date>[^"\n]{0,40})"(?=[^{}]{0,99}"statistics")'
    r'|"timestamp"\s{0,9}:\s{0,9}(?:"(?P<stamp>[^"\n]{0,60})"|(?P<moment>\{[^{}]{0,400}\}))'
    r'|(?P<disks>"disk"\s{0,9}:\s{0,9}\[)'
    r'|(?P<disk>\{\s{0,9}"disk[-_]device"[^{}]{0,4000}\}?)'
)
_PAIR = re.compile(r'"([^"\n]{1,40})"\s{0,9}:\s{0,9}(?:"([^"\n]{0,255})"|(-?\d{1,18}(?:[.,]\d{1,18})?))')


def sniff(opening: str) -> bool:
    """Whether a document of sysstat begins in it."""
    return _MARK.search(opening) is not None


def read_sysstat_json(source: Source) -> Records:
    """The demand that iostat or sar recorded.

    Parameters
    ----------
    source : Source
        JSON, whole or damaged, alone or in a page.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    seen = _Documents(source.text)
    if seen.error:
        message = f"{source.path}: the JSON is damaged ({seen.error}); {len(seen.reports)} reports were read"
        records.finding(Code.BROKEN_JSON, message, severity=Severity.WARNING if seen.reports else None)
    if seen.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {seen.damaged} disks of reports are cut off")
    doubtful = sum(settle(figures) for report in seen.reports for figures in report.devices.values())
    if doubtful:
        message = (
            f"{source.path}: {doubtful} rows have one figure for what was written and what was discarded"
        )
        records.finding(Code.DISCARDS_IN_WRITES, message)
    if seen.stated:
        message = f"{source.path}: the command line above the output says: {seen.stated}"
        records.finding(Code.OPTION_OF_COMMAND_LINE, message)
    if not any(report.devices for report in seen.reports) and not (seen.error or seen.damaged):
        message = f"{source.path}: this JSON of sysstat tells of no disk"
        records.finding(Code.NO_FIGURES, message, "Record with iostat -x -t -o JSON 60, or sadf -j -- -d")
    add_reports(records, "sar" if seen.of_sadf else "iostat", seen.reports)
    return records


class _Documents:
    """The reports of all documents of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self.reports: list[DeviceReport] = []
        self.damaged = 0
        self.error = ""  # of the first document that is damaged
        self.of_sadf = False
        self.stated = ""  # what a command line says
        self._clock, self._host = Clock(text), ""
        self._cpus: int | None = None
        self._command: IostatCommand | None = None
        self._begun = self._keeps_first = False
        self._time: tuple[float, str] | None = None
        self._interval_s: float | None = None
        self._read(text)

    def _read(self, text: str) -> None:
        place, n_damaged, parse = 0, 0, json.JSONDecoder().raw_decode
        while mark := _MARK.search(text, place):
            self._command = last_command(text[max(place, mark.start() - _ABOVE) : mark.start()])
            self._begin("")
            try:
                document, place = parse(text, mark.start())
                self._take_document(document)
            except (ValueError, RecursionError) as error:
                self.error, n_damaged = self.error or str(error), n_damaged + 1
                later = _MARK.search(text, mark.end()) if n_damaged < _MOST_DAMAGED else None
                place = later.start() if later else len(text)
                for token in _TOKEN.finditer(_BLANKS.sub(" ", text[mark.start() : place])):
                    self._take(token)

    def _take_document(self, document: Any) -> None:
        """A document that is whole."""
        for host in _listed(_object(document).get("sysstat"), "hosts"):
            stated = _texts(_object(host))
            self._begin(stated.get("nodename", "")[:255])
            self._cpus = processors(stated.get("number-of-cpus", ""))
            self._clock.begin_day(str(_object(host).get("date", "")))
            for entry in _listed(host, "statistics"):
                moment, disks = _object(entry).get("timestamp"), _object(entry).get("disk")
                self._time, self._interval_s = None, None
                if isinstance(moment, str):
                    self._time = self._clock.stamp(moment)
                elif isinstance(moment, dict):
                    self._take_moment(_texts(moment))
                if isinstance(disks, list):
                    self._open()
                    for disk in disks:
                        self._add(_texts(_object(disk)))

    def _take(self, token: re.Match[str]) -> None:
        """What stands between braces of a damaged document."""
        kind = token.lastgroup
        if kind == "host":
            self._begin(token["host"])
        elif kind == "cpus":
            self._cpus = processors(token["cpus"])
        elif kind == "date":
            self._clock.begin_day(token["date"])
        elif kind == "stamp":
            self._time, self._interval_s = self._clock.stamp(token["stamp"]), None
        elif kind == "moment":
            self._take_moment(_pairs(token["moment"]))
        elif kind == "disks":
            self._open()
        elif not token["disk"].endswith("}"):
            self.damaged += 1
        else:
            self._add(_pairs(token["disk"]))

    def _begin(self, host: str) -> None:
        self._host, self._cpus, self._time, self._interval_s = host, None, None, None
        self._keeps_first = bool(self._command and self._command.omits_first)
        self._begun = not self._keeps_first

    def _take_moment(self, stated: Mapping[str, str]) -> None:
        """A time of sadf: date, time, whether that is UTC, and the interval."""
        self.of_sadf = True
        zone = "UTC" if stated.get("utc") == "1" or stated.get("tz") == "UTC" else ""
        self._time = self._clock.stamp(f"{stated.get('date', '')} {stated.get('time', '')} {zone}")
        self._interval_s = length_s(stated.get("interval", ""))

    def _open(self) -> None:
        end, clock = self._time or (None, "elapsed")
        length = self._interval_s
        every = self._command.interval_s if self._command and not self._begun else None
        if length is None and every and (self._keeps_first or end is None):
            length = every
            self.stated = f"reports of {every:g} s{', with -y' if self._keeps_first else ''}"
        self.reports.append(
            DeviceReport(
                host=self._host or None,
                cpus=self._cpus,
                end_s=end,
                clock=clock,
                interval_s=length,
                is_first=self._begun,
            )
        )
        self._begun, self._time, self._interval_s, self._keeps_first = False, None, None, False

    def _add(self, stated: Mapping[str, str]) -> None:
        """The figures of one device."""
        name = next((stated[key] for key in _KEYS if key in stated), "")
        if not name or name.startswith(" "):  # a group, whose members are there too
            return
        if not self.reports:
            self._open()
        columns = dict(filter(None, (value(key, figure) for key, figure in stated.items())))
        self.reports[-1].devices.setdefault(name, {}).update(columns)


def _object(part: Any) -> dict[str, Any]:
    return part if isinstance(part, dict) else {}


def _listed(part: Any, name: str) -> list[Any]:
    listed = _object(part).get(name)
    return listed if isinstance(listed, list) else []


def _texts(part: Mapping[str, Any]) -> dict[str, str]:
    """The texts and figures of an object, as texts that can be written."""
    return {
        key: str(figure).encode("utf-8", "replace").decode()
        for key, figure in part.items()
        if type(figure) in (str, int, float)
    }


def _pairs(text: str) -> dict[str, str]:
    """Keys and values of an object without others in it; the last of equal keys counts."""
    return {key: quoted or figure for key, quoted, figure in _PAIR.findall(text)}
