"""Reader of ``sadf -x -- -d``: sar's records of disks as XML.

Each ``timestamp`` states date, time, zone and the length of its interval, which ends then; below it stands a
``disk-device`` for each disk. Version 12.6 and those before declare the type of the document, in front of it,
where nothing is read; a document type within it is refused. Times in the zone of the host (``-t``, ``-T``)
are local. What is whole of a document that breaks off is read.

Source: sysstat xml_stats.c and sadf_misc.c, 12.7.9 (2026-07-18), and outputs of 12.6.1.
"""

import re
from collections.abc import Iterator
from xml.parsers.expat import ExpatError

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats import _xml
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._telemetry import DeviceReport, add_reports, processors
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._columns import length_s, value

_BEGIN = re.compile(r"<sysstat(?=[\s>])")
_END = "</sysstat>"
_SNIFF = re.compile(r"<sysstat(?=[\s>])[^<>]{0,999}>\s{0,99}<sysdata-version>")


def sniff(opening: str) -> bool:
    """Whether a document of sadf begins in it."""
    return _SNIFF.search(opening) is not None


def read_sadf_xml(source: Source) -> Records:
    """The demand that sar recorded.

    Parameters
    ----------
    source : Source
        XML, alone or in a page.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    seen = _Elements()
    text = source.text
    for begin, end in _documents(text):
        try:
            pieces = range(begin, end, _xml.PIECE)
            _xml.parse(
                (text[i : min(end, i + _xml.PIECE)].encode() for i in pieces), seen.start, seen.end, seen.text
            )
        except (ExpatError, ValueError, _xml.RefusedError) as error:
            message = f"{source.path}: the XML is damaged ({error}); {len(seen.reports)} reports were read"
            records.finding(Code.ROW_NOT_READ, message, severity=Severity.WARNING)
    if not any(report.devices for report in seen.reports):
        message = f"{source.path}: sadf tells of no disk in it"
        records.finding(Code.NO_FIGURES, message, "Ask for the disks: sadf -x -- -d")
    add_reports(records, "sar", seen.reports)
    return records


def _documents(text: str) -> Iterator[tuple[int, int]]:
    """From the first tag of each document to its last, or to the begin of the next one."""
    begins = [found.start() for found in _BEGIN.finditer(text)]
    for begin, later in zip(begins, [*begins[1:], len(text)], strict=True):
        end = text.find(_END, begin, later)
        yield begin, later if end < 0 else end + len(_END)


class _Elements:
    """The reports, element by element."""

    def __init__(self) -> None:
        self.reports: list[DeviceReport] = []
        self._clock, self._host = Clock(""), ""
        self._cpus: int | None = None
        self._element = ""  # whose text comes next
        self._report: DeviceReport | None = None

    def start(self, name: str, stated: dict[str, str]) -> None:
        """An element begins."""
        self._element = name
        if name == "host":
            self._host, self._cpus = stated.get("nodename", ""), None
        elif name == "timestamp":
            zone = "UTC" if stated.get("tz") == "UTC" or stated.get("utc") == "1" else ""
            time = self._clock.stamp(f"{stated.get('date', '')} {stated.get('time', '')} {zone}")
            length = length_s(stated.get("interval", ""))
            self._report = None
            if time is not None and length is not None:
                self._report = DeviceReport(
                    host=self._host or None,
                    cpus=self._cpus,
                    end_s=time[0],
                    clock=time[1],
                    interval_s=length,
                )
        elif name == "disk-device" and self._report is not None and stated.get("dev"):
            figures = (value(key, text) for key, text in stated.items())
            self._report.devices.setdefault(stated["dev"], {}).update(dict(filter(None, figures)))

    def text(self, text: str) -> None:
        """The text of an element."""
        if self._element == "number-of-cpus":
            self._cpus = processors(text)

    def end(self, name: str) -> None:
        """An element ends; a report that is cut off is not kept."""
        self._element = ""
        if name == "timestamp" and self._report is not None:
            self.reports.append(self._report)
            self._report = None
