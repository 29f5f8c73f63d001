"""Reader of the CSV of dstat and of dool (``--output``).

Some lines about the run stand above two lines of titles: the groups, each over its columns (``dsk/sda``), and
the columns (``read``, or ``dsk/sda:read`` where a group has several devices). ``dsk`` is in bytes per second,
``io`` (``--io``) in requests per second. Both list the same devices in the same order, and dool shortens the
names of ``dsk``, so ``io`` names them where both are there.

Traps that are dealt with: the first row is the mean since boot; ``--time`` prints day and month without a
year, which the line ``Date:`` tells; without ``--time`` and ``--epoch`` an interval is as long as the delay
of the command line; a file may have several runs. pcp-dstat has other units, and is refused.

Source: dstat 0.8.0 and dool 1.3.8 (``showcsv``; plugins time, epoch, disk and io) and their outputs, 2026-11.
"""

import re
from collections.abc import Mapping, Sequence

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._csv_rows import readable_rows
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_SNIFF = re.compile(
    r'^[ \t]{0,99}"(?:(?:Dstat|dool|pcp-dstat) \d[^"\n]{0,40} CSV [Oo]utput"'
    r'|Host:","[^"\n]{0,255}",{1,9}"User:"|Cmdline:","[^"\n]{0,999}\b(?:dstat|dool) )',
    re.MULTILINE,
)
_YEAR = re.compile(r"\d{1,2} [A-Za-z]{3,9} (\d{4}) ")
_DAY = re.compile(r"(?:([A-Za-z]{3})-(\d{1,2})|(\d{1,2})-(\d{1,2})) ([\d:.]{5,15})")
_OPTION = re.compile(r"-[a-zA-Z]{0,20}[CDINS]|--output")  # one that takes a value
_OF_OTHER_UNITS = "pcp-dstat"
# Plugin and its column -> column of the table demand.
_COLUMNS = {
    ("dsk", "read"): "read_bytes_per_s",
    ("dsk", "writ"): "write_bytes_per_s",
    ("io", "read"): "read_iops",
    ("io", "writ"): "write_iops",
}
Places = Mapping[int, tuple[str, str]]  # place in a row -> device, column of the table demand


def sniff(opening: str) -> bool:
    """Whether the lines about a run of dstat or dool stand in it."""
    return _SNIFF.search(opening) is not None


def read_dstat(source: Source) -> Records:
    """The demand that dstat or dool recorded.

    Parameters
    ----------
    source : Source
        CSV of ``--output``.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    run = _Run()
    for cells in readable_rows(source.text.splitlines()):
        run.take(cells)
    if run.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {run.damaged} damaged rows left out")
    if not any(report.devices for report in run.reports):
        what = "in units of pcp-dstat, which are not known" if run.is_of_pcp else "of no disk"
        advice = "Record with dool --time --disk --io --output FILE 10"
        records.finding(
            Code.NO_FIGURES, f"{source.path}: its figures are {what}", advice, severity=Severity.WARNING
        )
    add_reports(records, "dstat", run.reports)
    return records


class _Run:
    """Rows on their way into reports."""

    def __init__(self) -> None:
        self.reports: list[DeviceReport] = []
        self.damaged = 0
        self.is_of_pcp = False
        self._clock, self._host, self._year = Clock(""), "", ""
        self._delay_s: float | None = None
        self._groups: list[str] = []
        self._titles: list[str] = []
        self._places: Places = {}
        self._is_first = True

    def take(self, cells: Sequence[str]) -> None:
        """The next row."""
        first = cells[0] if cells else ""
        if _OF_OTHER_UNITS in first:
            self.is_of_pcp = True
        elif first == "Host:" and len(cells) > 1:
            self._host = cells[1]
        elif first == "Cmdline:" and len(cells) > 1:
            date = next(filter(None, map(_YEAR.match, cells[2:])), None)
            self._delay_s, self._year, self._titles = _delay_s(cells[1]), date[1] if date else "", []
            self._groups, self._places = [], {}
        elif any(cell.startswith(("dsk/", "io/")) and ":" not in cell for cell in cells):
            self._groups, self._titles = _carried(cells), []
        elif self._groups and not self._titles:
            self._titles, self._is_first = [cell.rpartition(":")[2] for cell in cells], True
            self._places = {} if self.is_of_pcp else _places(self._groups, self._titles)
        elif self._places and len(cells) > 1:
            self._take_figures(cells)

    def _take_figures(self, cells: Sequence[str]) -> None:
        if len(cells) != len(self._titles) or number(cells[max(self._places)]) is None:
            self.damaged += 1
            return
        devices: dict[str, dict[str, float]] = {}
        for place, (device, column) in self._places.items():
            if (value := number(cells[place])) is not None and value >= 0:
                devices.setdefault(device, {})[column] = value
        stamp = self._stamp(dict(zip(self._titles, cells, strict=True)))
        end, clock = stamp or (None, "elapsed")
        length = self._delay_s if stamp is None and not self._is_first else None
        self.reports.append(
            DeviceReport(
                host=self._host or None,
                end_s=end,
                clock=clock,
                interval_s=length,
                is_first=self._is_first,
                devices=devices,
            )
        )
        self._is_first = False

    def _stamp(self, cells: Mapping[str, str]) -> tuple[float, str] | None:
        """The time of a row: seconds since 1970, or day, month and time of the year of the run."""
        if (epoch := number(cells.get("epoch", ""))) is not None:
            return epoch, "utc"
        day = _DAY.fullmatch(cells.get("time", cells.get("date/time", "")).strip())
        if day is None or not self._year:
            return None
        if day[1]:
            return self._clock.stamp(f"{day[2]}-{day[1]}-{self._year} {day[5]}")
        return self._clock.stamp(f"{self._year}-{day[4]}-{day[3]} {day[5]}")


def _carried(cells: Sequence[str]) -> list[str]:
    """The group that each column belongs to: it stands over the first of its columns."""
    groups: list[str] = []
    for cell in cells:
        groups.append(cell or (groups[-1] if groups else ""))
    return groups


def _places(groups: Sequence[str], titles: Sequence[str]) -> Places:
    """The columns that are read; groups of both plugins are of the same devices, in their order."""
    names = {
        plugin: list(
            dict.fromkeys(group.partition("/")[2] for group in groups if group.startswith(f"{plugin}/"))
        )
        for plugin in ("dsk", "io")
    }
    whole = dict(zip(names["dsk"], names["io"], strict=True)) if len(names["dsk"]) == len(names["io"]) else {}
    found: dict[int, tuple[str, str]] = {}
    for place, (group, title) in enumerate(zip(groups, titles, strict=False)):
        plugin, _, device = group.partition("/")
        if column := _COLUMNS.get((plugin, title)):
            found[place] = whole.get(device, device) if plugin == "dsk" else device, column
    return found


def _delay_s(line: str) -> float | None:
    """The delay that a command line states, the first of the numbers at its end; one second where none is."""
    words, numbers = line.split(), list[float]()
    while len(words) > 1 and words[-1].isdecimal() and not _OPTION.fullmatch(words[-2]) and len(numbers) < 2:
        numbers.append(float(words.pop()))
    return (numbers[-1] or None) if numbers else 1.0
