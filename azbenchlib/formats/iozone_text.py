"""Reader of iozone's text output: auto mode, throughput mode and the reports of -R.

A row of auto mode has a column for every test, and blanks where a test was not run, so a figure belongs to
the column at whose end it stands, and cannot be told by counting words. The columns after ``reclen`` (which
ends at character 24) are 8 or 9 wide up to 3.414, 9 or 10 wide from 3.430 on; ``-E`` adds more. A figure with
more digits than its column holds shifts the rest of its row. In the narrow layout it may touch the one before
it; which digits are whose is told unless one of them is too wide.

Figures are KiB/s, with ``-O`` operations per second, with ``-N`` microseconds per operation, cut to whole
ones. ``-+n`` prints a zero for the retests that it leaves out. ``-R`` repeats the rows as reports, which are
checked against them and count where there are no rows; the reports of ``-+u`` tell CPU use. In throughput
mode the figure is the sum that the children saw. Left aside: the start, which is told without a time zone,
what the parent saw, and the smallest, largest and mean figure of a process.

Source: iozone ``iozone.c``, read at 3.414, and outputs of 3.327, 3.430, 3.465 and 3.489.
"""

import re
from collections.abc import Iterator

from azbenchlib.formats._iozone_tests import (
    KIB_PER_S,
    OPS_PER_S,
    TESTS,
    US_PER_OP,
    Cell,
    Command,
    Figures,
    add_figures,
    number,
    process_counts,
    size_kib,
    test_of,
)
from azbenchlib.formats.base import LONGEST_LINE, Records, Source

BANNER = "Iozone: Performance Test of File I/O"
FILE_END, RECORD_END = 16, 24  # where the columns of the two sizes end
NARROW = (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9)
WIDE = (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9)
EXTENDED = (8, 9, 8, 9) * 2  # -E: pwrite repwrite pread repread, and the same with vectors
SHOWN = 5  # so many examples in one finding

_HEADER = re.compile(r"^(\s*)[kK]B +reclen +write")
_ROW = re.compile(r" *\d+ +\d+")
_ROW_SIZES = re.compile(r"( *\d+)( +\d+)")
_VERSION = re.compile(r"Version \$Revision: ([\w.]+) \$")
_COMMAND = re.compile(r"Command line used: (.*)")
_SIZES = re.compile(r"Each (?:process|thread) writes a (\d+) [kK][bB]yte file in (\d+) [kK][bB]yte records")
_CHILDREN = re.compile(r"Children see throughput for\s+(\d+)\s+([\w -]+?)\s*=\s*([\d.]+) (\w+)/")
_CPU = re.compile(r"CPU utilization\s+([\d.]+)\s*%")
_REPORT = re.compile(r'^"\s*([\w -]+?)( CPU utilization)? report\b.*"$', re.IGNORECASE)
_QUOTED = re.compile(r'^"\s*([\w -]+?)\s*"((?:\s+[\d.]+)+)\s*$')
_RECORD_SIZE = re.compile(r'^"Record size = (\d+) [kK][bB]ytes')
_COMPLAINT = re.compile(r"iozone: interrupted|^Can not |^Error |No space left|Input/output error")
_WORD = re.compile(r"\S+")
_POOR_TIMER = "Timer resolution is poor"
_OPENINGS = re.compile(
    rf"^\s*{re.escape(BANNER)}|^\s*[kK]B +reclen +write|^Excel output is below:"
    r"|^\s*Children see throughput for +\d+ ",
    re.MULTILINE,
)


def sniff(opening: str) -> bool:
    """Whether the banner, a header or a report of iozone stands in the opening of a file."""
    return bool(_OPENINGS.search(opening))


def read_iozone_text(source: Source) -> Records:
    """All figures of all runs in a file.

    Parameters
    ----------
    source : Source
        The file. What stands around the output of iozone is left out.

    Returns
    -------
    Records
        Rows of runs (one a figure), results (bytes/s or 1/s), latency (µs; -N) and findings.
    """
    records = Records(source)
    runs: list[_Run] = []
    for line in source.text.splitlines():
        if BANNER in line or not runs:
            runs.append(_Run(records, source, len(runs)))
        runs[-1].take(line[:LONGEST_LINE])
    runs = [run for run in runs if run.started]
    for run in runs:
        run.end()
    if not any(run.figures.values for run in runs):
        records.finding(
            "error", "no_figures", f"{source.path}: no figure of iozone can be read from this file"
        )
    return records


class _Run:
    """One run of iozone on its way into the tables, line by line."""

    def __init__(self, records: Records, source: Source, doc: int) -> None:
        self.records, self.source = records, source
        self.figures = Figures(doc, Command(None), KIB_PER_S)
        self.reported: dict[Cell, float] = {}
        self.unplaced: list[str] = []  # rows of reports
        self.started = self.ended = False
        self.version: str | None = None
        self.direct: bool | None = None
        self.columns: _Columns | None = None
        self.file_bytes: int | None = None
        self.record_bytes: int | None = None
        self.last: Cell | None = None
        self.report: tuple[str, bool] | None = None  # test of a report, and whether it is of CPU use
        self.records_of_report: list[int | None] = []
        self.complaints: list[str] = []
        self.unread: list[str] = []

    def take(self, line: str) -> None:
        """Read one line."""
        if _OPENINGS.search(line):
            self.started = True
        if line.startswith('"') or (self.report and line.lstrip().startswith('"')):
            self._quoted(line.strip())
        elif header := _HEADER.match(line):
            self.columns = _Columns(line, len(header[1]) + 2 - FILE_END)
        elif self.columns and _ROW.match(line):
            self._row(self.columns, line)
        else:
            self._said(line)

    def _said(self, line: str) -> None:
        """A line outside the tables."""
        if children := _CHILDREN.search(line):
            self._children(children)
        elif (cpu := _CPU.search(line)) and self.last and (value := number(cpu[1])) is not None:
            self.figures.cpu_pct[self.last] = value
        elif line.startswith("iozone test complete"):
            self.ended, self.columns = True, None
        elif _COMPLAINT.search(line):
            self.complaints.append(line.strip())
        elif line.startswith(_POOR_TIMER):
            message = f"{self.source.path}: iozone found the timer too coarse for the shortest of its tests"
            self.records.finding("warning", "timer_resolution", message, "Doubt the smallest files")
        else:
            self._asked(line)

    def _asked(self, line: str) -> None:
        """A line that tells how iozone was called, and what it made of it."""
        if version := _VERSION.search(line):
            self.version = version[1]
        elif command := _COMMAND.search(line):
            self.figures.command = Command(command[1])
        elif "Output is in " in line:
            words = {"operations per second": OPS_PER_S, "microseconds per operation": US_PER_OP}
            self.figures.unit = next((unit for word, unit in words.items() if word in line), KIB_PER_S)
        elif "O_DIRECT feature enabled" in line:
            self.direct = True
        elif sizes := _SIZES.search(line):
            self.file_bytes, self.record_bytes = size_kib(sizes[1]), size_kib(sizes[2])

    def _row(self, columns: "_Columns", line: str) -> None:
        """A row of auto mode."""
        end = columns.base + RECORD_END  # a figure may touch the record size, but never reaches into it
        sizes = _ROW_SIZES.fullmatch(line[:end])
        file_bytes, record_bytes = map(size_kib, sizes.groups()) if sizes else (None, None)
        at_their_columns = sizes and (sizes.end(1), sizes.end()) == (columns.base + FILE_END, end)
        if not at_their_columns or file_bytes is None or record_bytes is None:
            self.unread.append(line.strip())
            return
        read = dict(columns.place(line, end))
        if None in read or not columns.complete(set(read)):
            self.unread.append(line.strip())
        for test, value in read.items():
            if test is not None:
                self._figure(self.figures.values, Cell(test, file_bytes, record_bytes), value)

    def _children(self, line: re.Match[str]) -> None:
        """The sum of a test of throughput mode."""
        test, value, jobs = test_of(line[2]), number(line[3]), int(line[1][:9])
        if test is None or value is None:
            self.unread.append(line[0])
            return
        self.figures.unit = OPS_PER_S if line[4].lower() == "ops" else self.figures.unit
        self.last = Cell(test, self.file_bytes, self.record_bytes, jobs)
        self._figure(self.figures.values, self.last, value)

    def _quoted(self, line: str) -> None:
        """A line of a report."""
        if size := _RECORD_SIZE.match(line):
            self.record_bytes = self.record_bytes or size_kib(size[1])
        elif line.startswith('"Throughput report'):
            self.report = None
        elif (title := _REPORT.match(line)) and (test := test_of(title[1])):
            self.report, self.records_of_report = (test, bool(title[2])), []
        elif self.report and not self.records_of_report:
            self.records_of_report = [size_kib(size) for size in re.findall(r'"(\d+)"', line)]
        elif row := _QUOTED.match(line):
            self._reported(row[1], row[2].split())

    def _reported(self, label: str, texts: list[str]) -> None:
        """Figures of a row of a report: one a record size, or one a number of processes."""
        if self.report:
            test, file_bytes = self.report[0], size_kib(label)
            sizes = [size for size in self.records_of_report if size and file_bytes and size <= file_bytes]
            cells = [Cell(test, file_bytes, size) for size in sizes]
        else:
            test, counts = test_of(label) or "", process_counts(self.figures.command, len(texts))
            file_bytes = self.file_bytes or self.figures.command.size_bytes("s")
            cells = [Cell(test, file_bytes, self.record_bytes, jobs) for jobs in counts if test and jobs]
        if len(cells) != len(texts):  # where each belongs is not told
            self.unplaced.append(f'"{label}" in a report')
            return
        into = self.figures.cpu_pct if self.report and self.report[1] else self.reported
        for cell, text in zip(cells, texts, strict=True):
            self._figure(into, cell, number(text))

    def _figure(self, into: dict[Cell, float], cell: Cell, value: float | None) -> None:
        if value is None or cell in into:
            self.unread.append(f"{cell}: {'there twice' if value is not None else 'no number'}")
        else:
            into[cell] = value

    def end(self) -> None:
        """Add the figures, and what was wrong."""
        values, path = self.figures.values, self.source.path
        differing = [cell for cell, value in self.reported.items() if values.get(cell, value) != value]
        if differing:
            message = f"{path}: the report of -R differs for {len(differing)} figures, such as {differing[0]}"
            self.records.finding("warning", "report_differs", message, "The rows count")
        if not values:  # of what was not measured a report may have zeros
            in_us = self.figures.unit == US_PER_OP
            self.figures.values = {cell: value for cell, value in self.reported.items() if value or in_us}
            self.unread += self.unplaced
        command_direct = self.figures.command.direct
        self.figures.run = {"tool_version": self.version, "direct": self.direct or command_direct}
        for complaint in dict.fromkeys(self.complaints):
            self.records.finding("error", "iozone_message", f"{path}: iozone said '{complaint[:200]}'")
        if self.unread:
            shown = "; ".join(line[:120] for line in self.unread[:SHOWN])
            message = f"{path}: {len(self.unread)} rows or figures are not whole or in no column: {shown}"
            self.records.finding("warning", "row_not_read", message, "What is sure of them was kept")
        if self.version and not self.ended:
            message = f"{path}: the output ends before iozone was done"
            self.records.finding("warning", "not_complete", message, "Run it again to the end")
        add_figures(self.records, self.source, self.figures)


class _Columns:
    """Where the columns of auto mode end, as a header tells."""

    def __init__(self, header: str, base: int) -> None:
        self.base = base  # characters that stand before the output in every line
        words = header.split()[2:]
        narrow = header.find("write") + len("write") - base == RECORD_END + NARROW[0]
        widths = (NARROW if narrow else WIDE) + EXTENDED
        self.columns = []
        end = base + RECORD_END
        for test, width in zip(TESTS[: len(words)], widths, strict=False):
            end += width
            self.columns.append((test, end, width))
        self.seen: set[str | None] = set()

    def complete(self, tests: set[str | None]) -> bool:
        """Whether a row has all tests that the rows before it had."""
        whole = bool(tests) and tests >= self.seen
        self.seen |= tests
        return whole

    def place(self, line: str, start: int) -> Iterator[tuple[str | None, float | None]]:
        """Test and value of each figure of a row; None: the figure ends at no column."""
        shift, first = 0, 0  # characters that the row has been shifted; columns that are done
        for word in _WORD.finditer(line, start):
            digits = word[0] if word[0].isascii() and word[0].isdigit() else ""
            drifts = [
                (word.end() - end - shift, index)
                for index, (_, end, width) in enumerate(self.columns)
                if index >= first and 0 <= word.end() - end - shift <= max(1, len(digits) - width + 1)
            ]
            if not digits or not drifts:
                yield None, None
                continue
            drift, index = min(drifts)
            test, _, width = self.columns[index]
            if len(digits) <= width + drift:
                yield test, number(digits)
            else:
                yield from self._apart(digits, first, index, drift)
            shift, first = shift + drift, index + 1

    def _apart(
        self, digits: str, first: int, last: int, drift: int
    ) -> Iterator[tuple[str | None, float | None]]:
        """Figures that touch: each but the leftmost fills its column, unless one is too wide for it."""
        found: list[tuple[str | None, float | None]] = []
        for test, _, width in reversed(self.columns[first : last + 1]):
            digits, own = digits[:-width], digits[-width:]
            found.append((test, number(own)))
            if not digits:
                break
        yield from [(None, None)] if digits or drift else reversed(found)
