"""Reader of sysstat's text: ``iostat``, plain, ``-s``, ``-x`` and ``-h``, and ``sar -d``.

Traps that are dealt with: the first report of iostat is the average since boot; there is a time only with
``-t``, in the form of the locale; sar prints times of a day alone, which pass midnight; columns differ by
version and option and are known by their names; ``k`` and ``M`` are powers of 1024, blocks and sectors 512
bytes; with ``-h`` figures have units and the name stands last, reads and writes in tables of their own; rows
of groups (``-g``) begin with a blank; averages at the end of sar are no report; a decimal comma.

Source: sysstat iostat.c, pr_stats.c and CHANGES, 12.7.9 (2026-07-18), and outputs of 12.6.1.
"""

import re

from azbenchlib.core.findings import Code
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._clock import Clock, next_day
from azbenchlib.formats.sysstat._columns import FIGURES, value

_BANNER = re.compile(
    r"Linux \S{1,200} \((?P<host>[^()\n]{0,255})\)\s{1,9}(?P<date>\S{6,10})"
    r"(?:\s{1,9}_\S{1,40}_)?(?:\s{1,9}\(\d{1,5} CPU\))?\s{0,9}"
)
_SNIFF = re.compile(rf"\A\s{{0,99}}{_BANNER.pattern}$", re.MULTILINE)
_DEVICE = ("Device", "Device:")
_RESTART = "LINUX RESTART"


def sniff(opening: str) -> bool:
    """Whether it begins with the line that iostat and sar begin with."""
    return _SNIFF.match(opening) is not None


def read_sysstat_text(source: Source) -> Records:
    """The demand that iostat or sar printed.

    Parameters
    ----------
    source : Source
        Text.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    found = _Lines(Clock(source.text))
    for line in source.text.splitlines():
        found.take(line)
    if found.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {found.damaged} lines of disks left out")
    reports = [report for report in found.reports if report.devices or report.is_first]
    add_reports(records, "sar" if found.of_sar else "iostat", reports)
    return records


class _Lines:
    """Lines on their way into reports."""

    def __init__(self, clock: Clock) -> None:
        self.reports: list[DeviceReport] = []
        self.damaged = 0
        self.of_sar = False
        self._clock, self._host = clock, ""
        self._begun = True
        self._time: tuple[float, str] | None = None
        self._before_s: float | None = None  # the last time of sar since its begin
        self._header: list[str] = []
        self._told: set[str] = set()  # columns that the report under way has

    def take(self, line: str) -> None:
        """The next line."""
        words = line.split()
        if banner := _BANNER.fullmatch(line):
            self._host, self._begun, self._header = banner["host"], True, []
            self._time = self._before_s = None
            self._clock.begin_day(banner["date"])
        elif _RESTART in line:
            self._begun, self._header = True, []
        elif not words:
            return
        elif words[0] in _DEVICE or words[-1] in _DEVICE:
            self._begin_table(words)
        elif "DEV" in words[1:]:
            self._begin_sar(words)
        elif (stamp := self._clock.stamp(line)) is not None:
            self._time, self._told, self._header = stamp, set(), []
        elif words[0].startswith("avg-cpu"):
            self._told, self._header = set(), []
        elif self._header:
            self._take_row(line, words)

    def _begin_table(self, words: list[str]) -> None:
        """A header of iostat; a column that the report has already begins another one."""
        columns = {word for word in words if word in FIGURES}
        if not self._told or self._told & columns:
            self._open(self._time, self._begun)
            self._begun, self._time, self._told = False, None, set()
        self._told |= columns
        self._header, self.of_sar = words, False

    def _begin_sar(self, words: list[str]) -> None:
        """A header of sar, which states when its first interval began; that of averages has no time."""
        self.of_sar = True
        start = self._stamp(words)
        self._header = words[start[1] :] if start else []
        if self._begun and start:
            self._open(start[0], True)
            self._begun = False

    def _take_row(self, line: str, words: list[str]) -> None:
        if self.of_sar:
            self._take_sar(words)
        elif not line.startswith(" ") or self._header[0] not in _DEVICE:  # else a group, told by its members
            self._add(words)

    def _take_sar(self, words: list[str]) -> None:
        start = self._stamp(words)
        rest = words[start[1] :] if start else []
        if all(number(word) is None for word in rest):  # the header of a table of something else
            self._header = []
        elif start is None or len(rest) != len(self._header):
            self.damaged += 1
        else:
            if not self.reports or self.reports[-1].end_s != start[0][0]:
                self._open(start[0], self._begun)
                self._begun = False
            self._add(rest)

    def _stamp(self, words: list[str]) -> tuple[tuple[float, str], int] | None:
        """The time that a line of sar begins with, and how many words it takes: AM or PM is one."""
        for many in (2, 1):
            stamp = self._clock.stamp(" ".join(words[:many]))
            if stamp is not None:
                end = next_day(stamp[0], self._before_s)
                self._before_s = end
                return (end, stamp[1]), many
        return None

    def _open(self, time: tuple[float, str] | None, is_first: bool) -> None:
        end, clock = time or (None, "elapsed")
        self.reports.append(DeviceReport(host=self._host or None, end_s=end, clock=clock, is_first=is_first))

    def _add(self, words: list[str]) -> None:
        """The figures of one device."""
        header = self._header
        if len(words) != len(header):
            self.damaged += 1
            return
        place = next((i for i, name in enumerate(header) if name in (*_DEVICE, "DEV")), 0)
        figures = [value(name, word) for name, word in zip(header, words, strict=True)]
        self.reports[-1].devices.setdefault(words[place], {}).update(dict(filter(None, figures)))
