"""Reader of iozone's text output: auto mode, throughput mode and the reports of -R.

A row of auto mode has a column for every test; which figure belongs to which, ``_columns`` tells, in the
layouts of all versions from 3.28 to 3.507. In a page that keeps one blank of several, a row with as many
figures as the header has titles is read in their order.

Figures are KiB/s, with ``-O`` operations per second, with ``-N`` microseconds per operation, cut to whole
ones. ``-+n`` prints a zero for the retests that it leaves out. ``-R`` repeats the rows as reports, which are
checked against them and count where there are no rows; the reports of ``-+u`` tell CPU use. In throughput
mode the figure is the sum that the children saw, in the time in which all of them ran; where the parent saw
less than half of it, or a child had done nothing by then, that is a finding. Left aside: the start, which is
told without a time zone, and what the parent saw else, and the smallest, largest and mean figure of a
process.

Where the banner was cut, a command line above the output, ``# iozone -a -O``, tells unit, file and ``-I``.

Outputs that were appended to one file are a document each. One begins with the banner; where that was cut,
with the head of a table behind the figures of another, or with anything of iozone behind the end of another.
A row of sizes that a row above it has is of another run too.

Source: iozone ``iozone.c``, read at 3.414, and outputs of 3.327, 3.430, 3.465 and 3.489.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.iozone._columns import FILE_END, RECORD_END, Columns
from azbenchlib.formats.iozone._tests import (
    KIB_PER_S,
    OPS_PER_S,
    US_PER_OP,
    Cell,
    CommandLine,
    Figures,
    add_figures,
    number,
    process_counts,
    size_kib,
    test_of,
)
from azbenchlib.formats.source import LONGEST_LINE, Source

BANNER = "Iozone: Performance Test of File I/O"
_SHOWN = 5  # so many examples in one finding
MOST_SIZES = 100  # columns of a report; iozone has record sizes from 4 KiB to 16 MiB, thus 13
DISAGREEING = 2  # children that add up to so many times what the parent saw hardly ran at once

_HEADER = re.compile(r"^(\s*)[kK]B +reclen +write")
_ROW = re.compile(r" *\d+ +\d+")
_ROW_SIZES = re.compile(r"( *\d+)( +\d+)")
_VERSION = re.compile(r"Version \$Revision: ([\w.]+) \$")
_COMMAND = re.compile(r"Command line used: (.*)")
_PROMPT = re.compile(r"(?<![\w.-])(iozone(?:\.exe)?[ \t]{1,9}-[^|;&<>\n]{1,2000})")
_SIZES = re.compile(r"Each (?:process|thread) writes a (\d+) [kK][bB]yte file in (\d+) [kK][bB]yte records")
# Each repetition has a bound, so that no line takes longer than its length.
_SEEN = re.compile(
    r"(Children see|Parent sees) throughput for\s{1,9}(\d{1,9})\s{1,9}([\w -]{1,40}?)\s{0,9}=\s{0,99}"
    r"([\d.]{1,40}) (\w{1,9})/"
)
_LEAST = re.compile(r"Min throughput per (?:process|thread)\s{0,99}=\s{0,99}([\d.]{1,40})")
_CPU = re.compile(r"CPU utilization\s{1,99}([\d.]{1,40})\s{0,9}%")
_RECORD_SIZE = re.compile(r'^"Record size = (\d{1,18}) [kK][bB]ytes')
_FIGURE = re.compile(r"[\d.]+")
_COMPLAINT = re.compile(r"iozone: interrupted|^Can not |^Error |No space left|Input/output error")
_POOR_TIMER = "Timer resolution is poor"
# No \s before them: it takes line ends too, and blank lines would be gone through again from each of them.
_OPENINGS = re.compile(
    rf"^[ \t]*{re.escape(BANNER)}|^[ \t]*[kK]B +reclen +write|^Excel output is below:"
    r"|^[ \t]*Children see throughput for +\d+ ",
    re.MULTILINE,
)
_BEGINNING = re.compile(r"Command line used: |Children see throughput for |^\s*[kK]B +reclen +write")


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
    lines = [raw[:LONGEST_LINE] for raw in source.text.splitlines()]
    beside = CommandLine(None)
    for place, line in enumerate(lines):
        if prompt := _PROMPT.search(line):  # what iozone itself repeats holds for its own output alone
            beside = CommandLine(None if _COMMAND.search(line) else prompt[1])
        if not runs or runs[-1].is_over(line):
            runs.append(_Run(records, source, len(runs)))
        elif runs[-1].has_row_of_sizes(line):
            runs.append(runs[-1].again(len(runs)))
        runs[-1].beside = beside if not runs[-1].figures.values else runs[-1].beside
        runs[-1].take(line, _rows_below(lines, place), place == len(lines) - 1)
    runs = [run for run in runs if run.started]
    for run in runs:
        run.end()
    if not any(run.figures.values for run in runs):
        records.finding(
            Code.NO_FIGURES, f"{source.path}: no figure of iozone can be read from this file", severity=ERROR
        )
    return records


def _rows_below(lines: Sequence[str], place: int) -> Iterator[str]:
    """The rows of auto mode that follow a line."""
    for at in range(place + 1, len(lines)):
        if not _ROW.match(lines[at]):
            return
        yield lines[at]


class _Run:
    """One run of iozone on its way into the tables, line by line."""

    def __init__(self, records: Records, source: Source, doc: int) -> None:
        self.records, self.source = records, source
        self.figures = Figures(doc=doc, command=CommandLine(None), unit=KIB_PER_S)
        self.reported: dict[Cell, float] = {}
        self.reported_cpu: dict[Cell, float] = {}
        self.unplaced: list[str] = []  # rows of reports
        self.started = self.ended = False
        self.version: str | None = None
        self.direct: bool | None = None
        self.beside = CommandLine(None)  # what stands above an output whose banner was cut
        self.is_unit_told = False
        self.columns: Columns | None = None
        self.sizes: set[tuple[int | None, ...]] = set()  # of files and records, of the rows so far
        self.file_bytes: int | None = None
        self.record_bytes: int | None = None
        self.last: Cell | None = None
        self.report: str | None = None  # test of a report of auto mode
        self.of_cpu = False  # whether the report is of CPU use
        self.records_of_report: list[int | None] = []
        self.complaints: list[str] = []
        self.unread: list[str] = []
        self.uneven: list[str] = []  # sums of processes that hardly ran at once

    def is_over(self, line: str) -> bool:
        """Whether a line is the first of another run."""
        if not self.started:
            return BANNER in line
        told = bool(self.figures.values) and bool(_HEADER.match(line))
        return BANNER in line or told or (self.ended and bool(_BEGINNING.search(line)))

    def has_row_of_sizes(self, line: str) -> bool:
        """Whether a row of auto mode has the sizes of one above it."""
        if self.columns is None or not _ROW.match(line):
            return False
        return tuple(map(size_kib, line.split()[:2])) in self.sizes

    def again(self, doc: int) -> "_Run":
        """Another run that was called like this one, whose rows stand below the same titles."""
        other = _Run(self.records, self.source, doc)
        other.figures.command, other.figures.unit = self.figures.command, self.figures.unit
        other.started, other.columns = True, self.columns
        other.version, other.direct = self.version, self.direct
        self.ended = True
        return other

    def take(self, line: str, below: Iterable[str], is_last: bool) -> None:
        """Read one line; `below` are the rows of auto mode that follow it."""
        if _OPENINGS.search(line):
            self.started = True
        if line.startswith('"') or (self.report and line.lstrip().startswith('"')):
            self._quoted(line.strip())
        elif header := _HEADER.match(line):
            self.columns = Columns(line, len(header[1]) + 2 - FILE_END, below)
        elif self.columns and _ROW.match(line):
            self._row(self.columns, line, is_last)
        else:
            self._said(line)

    def _said(self, line: str) -> None:
        """A line outside the tables."""
        if seen := _SEEN.search(line):
            self._seen(seen)
        elif (least := _LEAST.search(line)) and self.last and self.last.numjobs > 1:
            if number(least[1]) == 0:
                self.uneven.append(f"{self.last}: a process had done nothing when the first one ended")
        elif (cpu := _CPU.search(line)) and self.last and (value := number(cpu[1])) is not None:
            self.figures.cpu_pct[self.last] = value
        elif line.startswith("iozone test complete"):
            self.ended, self.columns = True, None
        elif _COMPLAINT.search(line):
            self.complaints.append(line.strip())
        elif line.startswith(_POOR_TIMER):
            message = f"{self.source.path}: iozone found the timer too coarse for the shortest of its tests"
            self.records.finding(Code.TIMER_RESOLUTION, message)
        else:
            self._asked(line)

    def _asked(self, line: str) -> None:
        """A line that tells how iozone was called, and what it made of it."""
        if version := _VERSION.search(line):
            self.version = version[1]
        elif command := _COMMAND.search(line):
            self.figures.command = CommandLine(command[1])
        elif "Output is in " in line:
            self.is_unit_told = True
            words = {"operations per second": OPS_PER_S, "microseconds per operation": US_PER_OP}
            self.figures.unit = next((unit for word, unit in words.items() if word in line), KIB_PER_S)
        elif "O_DIRECT feature enabled" in line:
            self.direct = True
        elif sizes := _SIZES.search(line):
            self.file_bytes, self.record_bytes = size_kib(sizes[1]), size_kib(sizes[2])

    def _row(self, columns: Columns, line: str, is_last: bool) -> None:
        """A row of auto mode."""
        if columns.base < 0:  # a page that keeps one blank of several
            numbers = line.split()
            at_their_columns = len(numbers) == len(columns.columns) + 2 and not is_last
            tests = [test for test, _, _ in columns.columns]
            read: dict[str | None, float | None] = dict(zip(tests, map(number, numbers[2:]), strict=False))
        else:
            end = columns.base + RECORD_END  # a figure may touch the record size, but never reaches into it
            sizes = _ROW_SIZES.fullmatch(line[:end])
            numbers = list(sizes.groups()) if sizes else []
            at_their_columns = bool(sizes and (sizes.end(1), sizes.end()) == (columns.base + FILE_END, end))
            read = dict(columns.place(line, end, not is_last)) if at_their_columns else {}
        file_bytes, record_bytes = map(size_kib, numbers[:2]) if at_their_columns else (None, None)
        if file_bytes is None or record_bytes is None:
            self.unread.append(line.strip())
            return
        if None in read or not columns.complete(set(read)):
            self.unread.append(line.strip())
        self.sizes.add((file_bytes, record_bytes))
        for test, value in read.items():
            if test is not None:
                self._figure(self.figures.values, Cell(test, file_bytes, record_bytes), value)

    def _seen(self, line: re.Match[str]) -> None:
        """What the children or the parent saw of a test of throughput mode: the children's sum counts."""
        test, value, jobs = test_of(line[3]), number(line[4]), int(line[2])
        if test is None or value is None:
            self.unread.append(line[0])
            return
        cell = Cell(test, self.file_bytes, self.record_bytes, jobs)
        if line[1] == "Children see":
            self.figures.unit = OPS_PER_S if line[5].lower() == "ops" else self.figures.unit
            self.last = cell
            self._figure(self.figures.values, cell, value)
        elif (sum_of_children := self.figures.values.get(cell, 0)) > DISAGREEING * value:
            told = (
                f"the child processes report {sum_of_children:,.0f} in sum, the parent process {value:,.0f}"
            )
            self.uneven.append(f"{cell}: {told} {self.figures.unit}")

    def _quoted(self, line: str) -> None:
        """A line of a report."""
        if size := _RECORD_SIZE.match(line):
            self.record_bytes = self.record_bytes or size_kib(size[1])
        elif line.startswith(('"Throughput report', '"CPU utilization report')):
            self.report, self.of_cpu = None, line.startswith('"CPU')
        elif test := self._title(line):
            self.report, self.records_of_report = test, []
        elif self.report and not self.records_of_report:
            sizes = re.findall(r'"(\d{1,18})"', line)[:MOST_SIZES]
            self.records_of_report = [size_kib(size) for size in sizes]
        else:
            label, _, rest = line[1:].partition('"')
            texts = rest.split()
            if texts and all(map(_FIGURE.fullmatch, texts)):
                self._reported(label, texts)

    def _title(self, line: str) -> str | None:
        """The test whose report a line heads."""
        label, found, _ = line.strip('"').lower().partition(" report")
        test = test_of(label.partition(" cpu utilization")[0]) if found and line.endswith('"') else None
        self.of_cpu = " cpu utilization" in label if test else self.of_cpu
        return test

    def _reported(self, label: str, texts: list[str]) -> None:
        """Figures of a row of a report: one a record size, or one a number of processes."""
        if self.report:
            file_bytes = size_kib(label)
            sizes = [size for size in self.records_of_report if size and file_bytes and size <= file_bytes]
            cells = [Cell(self.report, file_bytes, size) for size in sizes]
        else:
            test, counts = test_of(label) or "", process_counts(self.figures.command, len(texts))
            file_bytes = self.file_bytes or self.figures.command.size_bytes("s")
            cells = [Cell(test, file_bytes, self.record_bytes, jobs) for jobs in counts if test and jobs]
        if len(cells) != len(texts):  # where each belongs is not told
            self.unplaced.append(f'"{label}" in a report')
            return
        into = self.reported_cpu if self.of_cpu else self.reported
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
        differing = _differing(values, self.reported) + _differing(self.figures.cpu_pct, self.reported_cpu)
        self.figures.cpu_pct = self.reported_cpu | self.figures.cpu_pct
        if differing:
            message = f"{path}: the report of -R differs for {len(differing)} figures, such as {differing[0]}"
            self.records.finding(Code.REPORT_DIFFERS, message)
        if not values:  # of what was not measured a report may have zeros
            in_us = self.figures.unit == US_PER_OP
            self.figures.values = {cell: value for cell, value in self.reported.items() if value or in_us}
            self.unread += self.unplaced
        if not self.figures.command.text and self.beside.text:
            self.figures.command = self.beside
            message = f"{path}: the command line beside the output says: {self.beside.text[:200]}"
            self.records.finding(Code.OPTIONS_BESIDE, message)
            if not self.is_unit_told and self.figures.unit == KIB_PER_S:
                self.figures.unit = self.beside.unit
        command_direct = self.figures.command.direct
        self.figures.run = {"tool_version": self.version, "direct": self.direct or command_direct}
        for complaint in [*dict.fromkeys(self.complaints)][:_SHOWN]:
            self.records.finding(Code.IOZONE_MESSAGE, f"{path}: iozone said '{complaint[:200]}'")
        if self.unread:
            shown = "; ".join(line[:120] for line in self.unread[:_SHOWN])
            n = len(self.unread)
            what = f"{n} row{'s or figures are' if n > 1 else ' or figure is'} not whole or in no column"
            message = f"{path}: {what}: {shown}"
            self.records.finding(Code.ROW_NOT_READ, message, "What is sure of them was kept")
        if self.uneven:
            n = len(dict.fromkeys(told.partition(": ")[0] for told in self.uneven))
            told = f"figure{'s' if n > 1 else ''} of throughput mode {'are' if n > 1 else 'is'}"
            message = f"{path}: {n} {told} doubtful: {self.uneven[0]}"
            advice = "Use larger files (-s), so that all processes run at the same time for most of the test"
            self.records.finding(Code.PROCESSES_UNEVEN, message, advice)
        if self.version and not self.ended:
            message = f"{path}: the output ends before iozone was done"
            self.records.finding(Code.NOT_COMPLETE, message, "Run it again to the end")
        add_figures(self.records, self.source, self.figures)


def _differing(rows: dict[Cell, float], reported: dict[Cell, float]) -> list[Cell]:
    """The figures that a report tells otherwise than the rows."""
    return [cell for cell, value in reported.items() if rows.get(cell, value) != value]
