"""Reader of diskspd's text output (``-Rtext``, the default).

For each time span: a table of CPU use; tables ``Total IO``, ``Read IO`` and ``Write IO`` with a row for each
thread and target and a ``total:``; with ``-L`` latencies in ms and their percentiles, of all targets and,
where there are several, of each. What old versions call MB/s are MiB/s. The figures are taken as printed,
with two or three digits after the point. A direction that moved nothing is a row of zeros, which are no
measurement. A total has the options that all targets share.
Limits of the rate are each thread's, and so they are in the table of runs.

The total is a run of level ``all``, and ``mixed`` of it sums both directions; a thread is a run of level
``job``, and all of a time span ran at once, so they have one group. The percentiles of a target are those of
its thread, or, where several threads drive it, of a run of level ``group``, which has no rates, as diskspd
prints none. A file may be UTF-16 or in a Chinese code page: PowerShell and cmd redirect so. Left aside: the
sum of all time spans, and with a finding all other tables.

Outputs that were appended to one file are told apart: one ends where a line stands that comes earlier in an
output than what was read of it already. A time span whose heading is missing is taken for the next one that
was requested.

Source: diskspd ``ResultParser.cpp``, read at 2.0.21 and 2.2.0, and outputs of both.
"""

import re
from dataclasses import replace

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.core.units import MIB
from azbenchlib.formats.base import Records
from azbenchlib.formats.diskspd._options import option, path_and_size
from azbenchlib.formats.diskspd._spans import Rows, Shares, Span, SpanOutput
from azbenchlib.formats.diskspd._tables import DiskspdTarget, Measured, real, whole
from azbenchlib.formats.source import LONGEST_LINE, Source

_PERCENTILES = {"min": 0.0, "max": 100.0} | {f"{n}-nines": 100 - 100 / 10**n for n in range(3, 10)}
_DIRECTIONS = {"Read", "Write", "Total"}
CODE_PAGE = "gb18030"  # covers GBK and GB2312
_SHOWN = 5  # so many examples stand in one finding

_OPENINGS = re.compile(
    r"^(?:Results for timespan \d+:|Input parameters:[ \t\r]*$|Total IO[ \t\r]*$|thread \| {1,40}bytes )",
    re.MULTILINE,
)
_SPAN = re.compile(r"^Results for timespan (\d{1,6}):")
_SPAN_OPTIONS = re.compile(r"^\s+timespan:\s+(\d{1,6})")
_SECTION = re.compile(r"^(Total|Read|Write) IO\s*$")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_OF_ALL = re.compile(r"^total(?: latency distribution)?:$", re.IGNORECASE)
_OF_TARGET = "Latency distribution: "  # before a target's path; up to 2.1 the path stands alone
_COMPLAINT = re.compile(
    r"^(?:error\b|could not|failed\b|there has been an error|the test was interrupted)", re.IGNORECASE
)
_OF_SPANS = "Totals:"  # the sum of all time spans


def sniff(opening: str) -> bool:
    """Whether a heading of diskspd's stands in the opening of a file."""
    return len(set(_OPENINGS.findall(opening))) > 1


def read_diskspd_text(source: Source) -> Records:
    """All time spans of all outputs in a file.

    Parameters
    ----------
    source : Source
        The file.

    Returns
    -------
    Records
        Rows of runs (``source_doc`` counts the time spans), results (bytes/s, 1/s), latency, percentiles (µs)
        and findings.
    """
    return _Reader(source).read()


def _text(source: Source) -> str:
    text = source.text
    return source.decoded(CODE_PAGE) if "\ufffd" in text else text


class _Reader:
    """A file on its way into the tables, line by line."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.outputs = [SpanOutput()]
        self.span = Span()
        self.section: str | None = None
        self.columns: list[str] = []  # of the table under way
        self.title = ""  # the line before a table
        self.shares: Shares | None = None  # of the table of percentiles under way
        self.unread: list[str] = []
        self.left_out: dict[str, None] = {}  # titles of tables
        self.complaints: dict[str, None] = {}  # of diskspd
        self.unheaded = 0  # time spans without their heading
        self.incomplete: list[str] = []

    @property
    def output(self) -> SpanOutput:
        """The output under way."""
        return self.outputs[-1]

    def read(self) -> Records:
        for line in _text(self.source).splitlines():
            self._take(line[:LONGEST_LINE])
        for output in self.outputs:
            for number, span in output.spans.items():
                Rows(self.records, self.source, output, number, span).add()
                if (None, "") not in span.rows:
                    what = "has no total" if span.has_results else "was requested and has no results"
                    self.incomplete.append(f"time span {number} {what}")
        self._report()
        return self.records

    def _report(self) -> None:
        path = self.source.path
        if self.complaints:
            message = f"{path}: diskspd said {_some([*self.complaints])}"
            self.records.finding(Code.DISKSPD_MESSAGE, message)
        if self.incomplete:
            message = f"{path}: {len(self.incomplete)} time spans are not whole: {_some(self.incomplete)}"
            self.records.finding(Code.NOT_COMPLETE, message, "Run it again to the end")
        if not any(span.rows for output in self.outputs for span in output.spans.values()):
            self.records.finding(Code.NO_FIGURES, f"{path}: no figure of diskspd can be read", severity=ERROR)
        if self.unread:
            message = f"{path}: {len(self.unread)} lines of tables are not whole: {_some(self.unread)}"
            self.records.finding(Code.ROW_NOT_READ, message, "Left out")
        if self.left_out:
            message = f"{path}: {len(self.left_out)} tables are not kept: {_some([*self.left_out])}"
            self.records.finding(Code.TABLE_LEFT_OUT, message)
        if self.unheaded:
            message = f"{path}: {self.unheaded} headings 'Results for timespan' are missing"
            advice = "The figures were taken for those of the next requested time span"
            self.records.finding(Code.HEADING_MISSING, message, advice)

    def _take(self, line: str) -> None:
        if line.startswith(("Command Line:", "Input parameters:", "System information:")):
            self._head(line.partition(":")[0])
        elif match := _SPAN_OPTIONS.match(line):
            self._asked(max(1, int(match[1])))
        elif match := _SPAN.match(line):
            self._results(max(1, int(match[1])))
        elif match := _SECTION.match(line):
            self._heading(match[1])
        elif "|" in line:
            self._table(line)
        elif line.strip() and not line.startswith(("-", "*")):
            self.title = line.strip()
            self._said(self.title)

    def _begin(self) -> None:
        """Another output begins."""
        self.outputs.append(SpanOutput(first_doc=self.output.first_doc + max(self.output.spans, default=0)))
        self.span, self.section, self.columns = Span(), None, []

    def _head(self, name: str) -> None:
        """A heading that an output has once: what comes again, or behind figures, is of another output."""
        again = name in self.output.heads or (name == "Command Line" and self.output.heads)
        if again or self.output.has_results:
            self._begin()
        self.output.heads.add(name)

    def _asked(self, number: int) -> None:
        if number in self.output.spans:
            self._begin()
        self.span = self.output.spans[number] = Span()
        self.output.waiting.append(number)

    def _results(self, number: int) -> None:
        if number in self.output.spans and self.output.spans[number].has_results:
            self._begin()
        self.span = self.output.spans.setdefault(number, Span())
        self.span.has_results = self.output.has_results = True
        self.section, self.columns = None, []

    def _unheaded(self) -> None:
        """Figures without a heading: of the next requested time span, else of another output."""
        asked = self.output.next_span()
        if asked is None and self.output.spans:
            self._begin()
        self.unheaded += asked is not None
        self._results(asked or 1)

    def _heading(self, name: str) -> None:
        """The heading of a table of figures."""
        if not self.span.has_results or name in self.span.sections:
            self._unheaded()
        self.span.sections.add(name)
        self.section, self.columns = name, []

    def _said(self, line: str) -> None:
        """A line outside the tables."""
        key, colon, value = (part.strip() for part in line.partition(":"))
        if colon and key == "path":
            self.span.targets.append(DiskspdTarget(path=value.strip("'")))
        elif colon and key in ("duration", "warm up time"):
            self.span.seconds[key] = real(value.removesuffix("s"))
        elif colon and key == "actual test time":
            if not self.span.has_results or self.span.runtime_s is not None or self.span.sections:
                self._unheaded()
            self.span.runtime_s = real(value.removesuffix("s"))
        elif colon and key in ("computer name", "start time"):
            self.output.machine[key] = value
        elif _COMPLAINT.match(line):
            self.complaints[line[:200]] = None
        elif self.span.targets and not self.span.has_results:
            told = option(line, key, value)
            self.span.targets[-1] = replace(self.span.targets[-1], **told)

    def _table(self, line: str) -> None:
        """A line of a table, or its header."""
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] == "%-ile" or "CPU" in cells[:5] or {"thread", "bytes"} <= set(cells[:2]):
            self.columns = cells
            self.shares = self._shares() if cells[0] == "%-ile" else None
        elif self.title and not any(real(cell) is not None for cell in cells):  # the header of another table
            self.columns = []
            if not self.title.startswith(_OF_SPANS):
                self.left_out[self.title] = None
        elif self.columns[:1] == ["%-ile"]:
            self._percentile(line, cells)
        elif self.columns and self.columns[0] != "thread":
            if cells[0] == "avg.":  # fewer cells than its header, for those that name the CPU are one
                self.span.cpu = dict(zip(self.columns[-4:], map(real, cells[1:]), strict=False))
        elif self.columns and self.section:
            self._figures(line)
        self.title = ""

    def _figures(self, line: str) -> None:
        """A thread's row of a table of figures, or the total."""
        is_total = line.startswith("total:")
        cells = line.replace("total:", "total|", 1) if is_total else line
        values = dict(
            zip(self.columns, (c.strip() for c in cells.split("|", len(self.columns) - 1)), strict=False)
        )
        figures = _measured(values)
        known = [figures.io_bytes, figures.ios, figures.bw_bytes_per_s, figures.iops]
        expected = len(self.columns) - (1 if is_total else 0)
        if None in known or len(values) < expected or (not is_total and not values["thread"].isdigit()):
            self.unread.append(line)
            return
        key = (None, "") if is_total else (values["thread"], values.get("file", ""))
        row = self.span.rows.setdefault(key, {})
        if self.section in row:
            self.unread.append(line)
        row.setdefault(str(self.section), figures)
        if not is_total:
            self.span.paths.add(path_and_size(key[1])[0])

    def _shares(self) -> Shares:
        """Where the percentiles of a table go whose header was read; those that are left out go nowhere."""
        title = self.title
        path = None if _OF_ALL.match(title) else title.removeprefix(_OF_TARGET)
        unknown = path is not None and path not in self.span.paths
        if unknown or path in self.span.percentiles:
            self.left_out[title or "percentiles without a title"] = None
            return {}
        return self.span.percentiles.setdefault(path, {})

    def _percentile(self, line: str, cells: list[str]) -> None:
        """A line of a table of percentiles."""
        ordinal = _ORDINAL.fullmatch(cells[0])
        percentile = float(ordinal[1]) if ordinal else _PERCENTILES.get(cells[0])
        if percentile is None or len(cells) != len(self.columns) or len(cells) > 1 + len(_DIRECTIONS):
            self.unread.append(line)
            return
        names = [name.split(" ")[0] for name in self.columns[1:]]
        if not _DIRECTIONS.issuperset(names):
            self.unread.append(line)
        elif self.shares is not None:
            self.shares.setdefault(percentile, dict(zip(names, map(real, cells[1:]), strict=True)))


def _measured(values: dict[str, str]) -> Measured:
    """The figures of a row, by the names of their columns."""
    megabytes = real(values.get("MiB/s", values.get("MB/s")))
    return Measured(
        io_bytes=whole(values.get("bytes")),
        ios=whole(values.get("I/Os")),
        bw_bytes_per_s=None if megabytes is None else megabytes * MIB,
        iops=real(values.get("I/O per s")),
        iops_stddev=real(values.get("IopsStdDev")),
        lat_mean_ms=real(values.get("AvgLat")),
        lat_stddev_ms=real(values.get("LatStdDev")),
    )


def _some(lines: list[str]) -> str:
    """The first of the lines."""
    return "; ".join(f"'{line.strip()[:120]}'" for line in lines[:_SHOWN])
