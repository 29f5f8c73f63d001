"""Reader of sysstat's text: ``iostat``, plain, ``-s``, ``-x`` and ``-h``, and ``sar -d`` and ``-b``.

The tables are known by their headers, wherever they stand: behind the banner or, in a log that was cut or
rotated, without it; in a page or a transcript; indented or quoted; several captures below each other.

Traps that are dealt with: the first report of iostat is the average since boot, unless a command line above
it has ``-y``; there is a time only with ``-t``, in the form of the locale, else the command line may tell how
long a report is; sar prints times of a day alone, which pass midnight, and without the
banner of no day; columns differ by version and option and are known by their names; ``k`` and ``M`` are
powers of 1024, blocks and sectors 512 bytes; with ``-h`` figures have units and the name stands last, reads
and writes in tables of their own, or, in version 11 and before, the name on a line of its own; ``-s`` prints
writes and discards in one figure; rows of groups (``-g``) begin with a blank; averages at the end of sar are
no report; a decimal comma. ``sar -b`` has totals of all disks, which count where no disk is told by itself.

Source: sysstat iostat.c, pr_stats.c and CHANGES, 12.7.9 (2026-07-18), and outputs of 12.6.1.
"""

import re

from azbenchlib.core.findings import Code, Severity
from azbenchlib.formats._clock import Clock, next_day
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number, processors
from azbenchlib.formats.base import LONGEST_MESSAGE, Records
from azbenchlib.formats.source import Source
from azbenchlib.formats.sysstat._columns import FIGURES, settle, value
from azbenchlib.formats.sysstat._command import IostatCommand, command

_BANNER = re.compile(
    r"Linux \S{1,200} \((?P<host>[^()\n]{0,255})\)\s{1,9}(?P<date>\S{6,12})"
    r"(?:\s{1,9}_\S{1,40}_)?(?:\s{1,9}\((?P<cpus>\d{1,5}) CPU\))?\s{0,9}"
)
_LEAD = " \t>"  # of an indented or quoted line
_TAGS = re.compile(r"</?(?:html|body|pre|code|samp|p|div|span|br)\b[^<>\n]{0,200}>")
_TIME = r"\d{1,2}[:时時]\d{2}[:分]\d{2}秒?(?:[ \t][AP]M)?"
_SIGN = re.compile(
    rf"^[ \t>]{{0,99}}(?:{_TAGS.pattern}){{0,3}}(?:{_BANNER.pattern}(?:</pre>)?\r?$"
    r"|Device:?[ \t]{1,60}(?:tps|r/s|rrqm/s)(?=[ \t])"
    r"|(?:tps|r/s)[ \t][^\n]{0,300}[ \t]Device\r?$"
    rf"|{_TIME}[ \t]{{1,60}}(?:DEV[ \t]{{1,60}}tps|tps[ \t]{{1,60}}rtps)(?=[ \t]))",
    re.MULTILINE,
)
_DEVICE = ("Device", "Device:")
_NAMES = (*_DEVICE, "DEV")  # titles of the column that names the device
_RESTART = "LINUX RESTART"
_OF_TOTALS = "sar -b"
_TOOLS = ("iostat", "sar", _OF_TOTALS)
_TOTAL = "total"  # what sar -b tells of, which names no device
_GROUP = re.compile(r"[ \t]{2}\S{1,99}$")  # a name behind one blank more than others
_DATED = re.compile(r"[-/.年]|^\d{9,11}$")
# Word of a header -> what sysstat tells of below it.
_OTHERS = {
    "PID": "processes, as pidstat does",
    "CPU": "processors, as mpstat and sar -u do",
    "INTR": "interrupts, as sar -I does",
    "IFACE": "network interfaces, as sar -n does",
    "kbmemfree": "memory, as sar -r does",
    "avg-cpu:": "processors, as iostat -c does",
    "Filesystem:": "file systems over the network, as cifsiostat does",
    "Filesystem": "file systems over the network, as cifsiostat does",
    "Tape:": "tape drives, as tapestat does",
}


def sniff(opening: str) -> bool:
    """Whether a banner of sysstat or the header of a table of disks stands in it."""
    return _SIGN.search(opening) is not None


def read_sysstat_text(source: Source) -> Records:
    """The demand that iostat or sar printed.

    Parameters
    ----------
    source : Source
        Text: what a tool printed, or a page in which that stands.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    seen = _Lines(Clock(source.text))
    for line in source.text.splitlines():
        seen.take(line)
    if seen.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {seen.damaged} lines of disks left out")
    for place, tool in enumerate(seen.tools_with_disks()):
        reports = [report for report in seen.reports[tool] if report.devices or report.is_first]
        _count_from_begin(reports)
        _tell_of_columns(records, tool, reports)
        add_reports(records, tool.split()[0], reports, place)
    if seen.stated:
        message = f"{source.path}: the command line above the output says: {'; '.join(sorted(seen.stated))}"
        records.finding(Code.OPTION_OF_COMMAND_LINE, message[:LONGEST_MESSAGE])
    if not seen.tools_with_disks():
        what = f"tells of {' and of '.join(seen.others)}" if seen.others else "has no whole table"
        records.finding(
            Code.NO_FIGURES,
            f"{source.path}: this output of sysstat {what}; there are no figures of disks",
            "Record with iostat -x -t 60, or with sar -d",
            severity=Severity.WARNING,
        )
    return records


def _count_from_begin(reports: list[DeviceReport]) -> None:
    """Times of no stated day begin at zero."""
    if reports and reports[0].clock == "elapsed" and reports[0].is_first:
        begin = reports[0].end_s or 0.0
        for report in reports:
            if report.clock == "elapsed" and report.end_s is not None:
                report.end_s -= begin


def _tell_of_columns(records: Records, tool: str, reports: list[DeviceReport]) -> None:
    """What the columns of a table do not tell apart."""
    path = records.source.path
    doubtful = sum(settle(figures) for report in reports for figures in report.devices.values())
    if doubtful:
        message = f"{path}: {doubtful} rows have one figure for what was written and what was discarded"
        records.finding(Code.DISCARDS_IN_WRITES, message)
    if tool == _OF_TOTALS:
        records.finding(Code.TOTALS_ALONE, f"{path}: sar -b tells of all disks together")


class _Lines:
    """Lines on their way into reports."""

    def __init__(self, clock: Clock) -> None:
        self.reports: dict[str, list[DeviceReport]] = {tool: [] for tool in _TOOLS}
        self.damaged = 0
        self.others: list[str] = []  # what tables tell of that are not of disks
        self.stated: set[str] = set()  # what was taken from command lines
        self._clock, self._host, self._tool = clock, "", _TOOLS[0]
        self._cpus: int | None = None
        self._fresh = set(_TOOLS)  # those of which no report came since the begin
        self._keeps_first = False  # as -y is there
        self._command: IostatCommand | None = None
        self._is_above = False  # whether the command line stands above the next banner
        self._time: tuple[float, str] | None = None
        self._before_s: dict[str, float] = {}  # the last time without a date since the begin, of each tool
        self._header: list[str] = []
        self._indent = 0  # of the header
        self._name = ""  # of a device whose figures stand on the next line
        self._seen: set[str] = set()  # columns that the report under way has

    def tools_with_disks(self) -> list[str]:
        """Those that told of disks; totals count where no tool told of disks one by one."""
        tools = [tool for tool in _TOOLS if any(report.devices for report in self.reports[tool])]
        return tools if tools == [_OF_TOTALS] else [tool for tool in tools if tool != _OF_TOTALS]

    def take(self, line: str) -> None:
        """The next line."""
        bare = (_TAGS.sub("", line) if "<" in line else line).lstrip(_LEAD)
        words = bare.split()
        if not words or self._begins_capture(line, bare):
            return
        named = words[0] in _DEVICE or words[-1] in _DEVICE
        if named and any(word.endswith("/s") for word in words):
            self._begin_table(words, len(line) - len(bare))
        elif "DEV" in words[1:] or "rtps" in words[1:4]:
            self._begin_sar(words)
        elif (stamp := self._clock.stamp(bare)) is not None:
            self._time, self._seen, self._header = self._placed(stamp, bare), set(), []
        elif words[0].startswith("avg-cpu") or not self._header:
            self._end_table(words)
        elif self._tool != _TOOLS[0]:
            self._take_sar(words)
        else:
            self._take_row(bare, words, len(line) - len(bare))

    def _begins_capture(self, line: str, bare: str) -> bool:
        """Whether a line is a banner, a restart or a command line."""
        if banner := _BANNER.fullmatch(bare):
            if not self._is_above:
                self._command = None
            self._clock.begin_day(banner["date"])
            self._begin(banner["host"], banner["cpus"])
            self._is_above = False
        elif _RESTART in line:
            self._fresh, self._header = set(_TOOLS), []
        elif (stated := command(line)) is not None:
            self._command, self._is_above = stated, True
            self._begin(self._host, str(self._cpus or ""))
        else:
            return False
        return True

    def _begin(self, host: str, cpus: str | None) -> None:
        """A tool begins to print."""
        self._host, self._cpus = host, processors(cpus or "")
        self._keeps_first = bool(self._command and self._command.omits_first)
        self._fresh = set(_TOOLS) - ({_TOOLS[0]} if self._keeps_first else set())
        self._time = None
        self._before_s = {}
        self._end_table([])

    def _end_table(self, words: list[str]) -> None:
        """A line that is of no table of disks, such as the header of another one."""
        self._header, self._seen, self._name = [], set(), ""
        kind = next((_OTHERS[word] for word in words[:5] if word in _OTHERS), None)
        if kind and kind not in self.others:
            self.others.append(kind)

    def _begin_table(self, words: list[str], indent: int) -> None:
        """A header of iostat; a column that the report has already begins another one."""
        columns = {word for word in words if word in FIGURES}
        self._tool = _TOOLS[0]
        if not self._seen or self._seen & columns:
            self._open(self._time)
            self._time, self._seen = None, set()
        self._seen |= columns
        self._header, self._indent, self._name = words, indent, ""

    def _begin_sar(self, words: list[str]) -> None:
        """A header of sar, which states when its first interval began; that of averages has no time."""
        self._tool = "sar" if "DEV" in words else _OF_TOTALS
        start = self._stamp(words)
        self._header = words[start[1] :] if start else []
        if self._tool in self._fresh and start:
            self._open(start[0])

    def _take_row(self, bare: str, words: list[str], indent: int) -> None:
        """A line below a header of iostat."""
        header, name = self._header, self._name
        self._name = ""
        if name and len(words) == len(header) - 1:
            words, indent = [name, *words], self._indent
        n_numbers = sum(number(word.rstrip("%kMGTsB")) is not None for word in words)
        named_first = header[0] in _DEVICE
        if not n_numbers and len(words) == 1 and named_first and indent <= self._indent:
            self._name = words[0]
        elif 2 * n_numbers < len(words):
            self._end_table(words)
        elif len(words) != len(header):
            self.damaged += 1
        elif not (indent > self._indent if named_first else _GROUP.search(bare)):  # else told by its members
            self._add(words)

    def _take_sar(self, words: list[str]) -> None:
        start = self._stamp(words)
        rest = words[start[1] :] if start else []
        if all(number(word) is None for word in rest):  # the header of a table of something else
            self._end_table(words)
        elif start is None or len(rest) != len(self._header):
            self.damaged += 1
        else:
            reports = self.reports[self._tool]
            if not reports or reports[-1].end_s != start[0][0]:
                self._open(start[0])
            self._add(rest)

    def _stamp(self, words: list[str]) -> tuple[tuple[float, str], int] | None:
        """The time that a line of sar begins with, and how many words it takes: AM or PM is one."""
        for many in (2, 1):
            text = " ".join(words[:many])
            if (stamp := self._clock.stamp(text)) is not None:
                return self._placed(stamp, text), many
        return None

    def _placed(self, stamp: tuple[float, str], text: str) -> tuple[float, str]:
        """A time without a date is of the day of the time before it, or of the next one."""
        if not _DATED.search(text):
            stamp = next_day(stamp[0], self._before_s.get(self._tool)), stamp[1]
            self._before_s[self._tool] = stamp[0]
        return stamp

    def _open(self, time: tuple[float, str] | None) -> None:
        """Begin a report of the tool."""
        end, clock = time or (None, "elapsed")
        is_first = self._tool in self._fresh
        self._fresh.discard(self._tool)
        report = DeviceReport(
            host=self._host or None, cpus=self._cpus, end_s=end, clock=clock, is_first=is_first
        )
        stated = self._command if self._tool == _TOOLS[0] and not is_first else None
        if stated and stated.interval_s and (self._keeps_first or end is None):
            report.interval_s = stated.interval_s
            self.stated.add(f"reports of {stated.interval_s:g} s{', with -y' if stated.omits_first else ''}")
        self._keeps_first = False
        self.reports[self._tool].append(report)

    def _add(self, words: list[str]) -> None:
        """The figures of one device."""
        figures = [value(name, word) for name, word in zip(self._header, words, strict=True)]
        columns, name = dict(filter(None, figures)), _TOTAL
        if self._tool == _OF_TOTALS:  # which tells reads and writes apart: its tps counts discards, too
            columns.pop("iops", None)
        else:
            name = next(word for word, title in zip(words, self._header, strict=True) if title in _NAMES)
        devices = self.reports[self._tool][-1].devices
        if (
            self._tool == _TOOLS[0] and devices.get(name, {}).keys() & columns.keys()
        ):  # its header was cut out
            self._open(None)
            devices = self.reports[self._tool][-1].devices
        devices.setdefault(name, {}).update(columns)
