"""Reader of iozone's spreadsheets: the BIFF2 stream that ``-b`` writes, and .xlsx files with such sheets.

iozone writes a bare BIFF2 stream, whatever the file's name ends in: records BOF, LABEL, NUMBER and EOF, no
container. Excel and its kin save such a sheet as .xlsx, several in one file.

A sheet of auto mode: A1 the command line; then for each test its title (``Writer Report``), a row of record
sizes in kB from B on, and a row for each file size in kB, what was not measured left empty. A sheet of
throughput mode: A1 the command line, ``Record size = 64 kBytes``, ``Output is in kBytes/sec``, and a row for
each test with one figure from C on for each number of processes, which only the command line tells. The unit
of auto mode is told by the command line alone (``-O``, ``-N``). ``-+u`` adds reports of CPU use.

What a file may take: sheets have 16,384 rows of 256 columns, as BIFF2 has, and together a million places from
the first to the last cell of each row; an .xlsx file may unpack to 64 MiB and to a hundred times its size.

Source: outputs of 3.430 and 3.489; iozone ``iozone.c``, read at 3.414 (units, ``-+n``).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.formats._sheet_files import Row, Workbook, biff2
from azbenchlib.formats._xml import RefusedError
from azbenchlib.formats.base import Records
from azbenchlib.formats.iozone._tests import (
    KIB_PER_S,
    OPS_PER_S,
    Cell,
    CommandLine,
    Figures,
    add_figures,
    number,
    process_counts,
    size_kib,
    test_of,
)
from azbenchlib.formats.source import Source

BIFF2 = "\t\0\x04\0\x02\0\x10\0"  # BOF, 4 bytes, version 2, a worksheet
ZIP = "PK\x03\x04"
PARTS = ("[Content_Types].xml", "docProps/", "xl/w")  # one of them stands first in an .xlsx file

_RECORD_SIZE = re.compile(r"Record size = (\d+) [kK]Bytes")
_CPU = "CPU utilization report"

Sheets = Iterator[tuple[str, Iterable[Row]]]


def sniff(opening: str) -> bool:
    """Whether the file is a BIFF2 worksheet, or an .xlsx file."""
    return opening.startswith(BIFF2) or (opening.startswith(ZIP) and any(part in opening for part in PARTS))


def read_iozone_sheets(source: Source) -> Records:
    """All figures of all sheets of a file.

    Parameters
    ----------
    source : Source
        The file. Of a damaged BIFF2 stream the whole records are read; a damaged .xlsx file is a finding.

    Returns
    -------
    Records
        Rows of runs (one a figure; ``source_doc`` counts the sheets), results (bytes/s or 1/s), latency (µs;
        -N) and findings.
    """
    records = Records(source)
    sheets = _xlsx(source, records) if source.data.startswith(ZIP.encode()) else _biff2(source, records)
    filled = False
    for doc, (title, rows) in enumerate(sheets):
        sheet = _Sheet(doc, rows)
        for code, offenders in sheet.complaints.items():
            message = f"{source.path}: sheet '{title}': {len(offenders)} figures, such as {offenders[0]}"
            records.finding(code, message, "Left out")
        if not sheet.figures.values:
            message = f"{source.path}: sheet '{title}' has no report as iozone writes it"
            records.finding(Code.SHEET_NOT_READ, message)
        add_figures(records, source, sheet.figures)
        filled = filled or bool(sheet.figures.values)
    if not filled:
        records.finding(Code.NO_FIGURES, f"{source.path}: no figure of iozone stands in this file")
    return records


def _biff2(source: Source, records: Records) -> Sheets:
    """Title and rows of the one sheet of a BIFF2 stream."""
    try:
        grid, whole = biff2(source.data, BIFF2.encode())
    except RefusedError as error:
        records.finding(Code.BROKEN_SHEET, f"{source.path}: {error}", "Write it again")
        return
    if not whole:
        message = f"{source.path}: the spreadsheet is damaged or cut; its whole records were read"
        records.finding(Code.BROKEN_SHEET, message, "Figures may be missing; write it again")
    yield "Sheet 1", grid.rows()


def _xlsx(source: Source, records: Records) -> Sheets:
    """Title and rows of the sheets of an .xlsx file."""
    try:
        yield from Workbook(source.data).sheets()
    except InputError as error:
        advice = "Save the sheets in a file of their own"
        records.finding(Code.BROKEN_SHEET, f"{source.path}: {error}", advice)


class _Sheet:
    """One sheet on its way into the tables."""

    def __init__(self, doc: int, rows: Iterable[Row]) -> None:
        lines = iter(rows)
        top = next(lines, [])
        first = str(top[0]) if top else ""
        command = CommandLine(first if "iozone" in first.split(" ")[0] else None)
        self.figures = Figures(doc=doc, command=command, unit=command.unit, run={"tool_version": None})
        self.complaints: dict[Code, list[str]] = defaultdict(list)
        self.report: str | None = None  # test of a report of auto mode
        self.of_cpu = False  # whether the report is of CPU use
        self.throughput = False
        self.record_sizes: list[int | None] = []
        self.record_bytes: int | None = None
        for row in chain([top], lines):
            if any(cell not in (None, "") for cell in row):
                self._row(row[0], row[1:])

    def _row(self, head: Any, rest: Sequence[Any]) -> None:
        if not isinstance(head, str) or not head:
            self._numbers(head, rest)
        elif head.startswith(("Throughput report", _CPU)):
            self.throughput, self.report, self.of_cpu = True, None, head.startswith(_CPU)
        elif size := _RECORD_SIZE.match(head):
            self.record_bytes = size_kib(size[1])
        elif head.startswith("Output is in "):
            self.figures.unit = OPS_PER_S if "op" in head else KIB_PER_S
        elif self.throughput and (test := test_of(head)):
            self._throughput(test, rest[1:])
        elif not any(value not in (None, "") for value in rest):
            self.of_cpu = _CPU in head
            self.report, self.record_sizes = test_of(head.partition("CPU")[0] if self.of_cpu else head), []

    def _numbers(self, head: Any, values: Sequence[Any]) -> None:
        """The sizes above a report, or one of its rows."""
        if self.report and head in (None, ""):
            self.record_sizes = [None if value is None else size_kib(value) for value in values]
        elif self.report and (file_bytes := size_kib(head)):
            for size, value in zip(self.record_sizes, values, strict=False):
                if size and value not in (None, ""):
                    self._figure(Cell(self.report, file_bytes, size), value)

    def _throughput(self, test: str, values: Sequence[Any]) -> None:
        """The figures of a test, one a number of processes."""
        counts = process_counts(self.figures.command, len(values))
        file_bytes = self.figures.command.size_bytes("s")
        for jobs, value in zip(counts, values, strict=True):
            if value in (None, ""):
                continue
            if jobs is None:
                self.complaints[Code.FIGURE_NOT_READ].append(f"{test}: for how many processes is not told")
            else:
                self._figure(Cell(test, file_bytes, self.record_bytes, jobs), value)

    def _figure(self, cell: Cell, value: Any) -> None:
        into = self.figures.cpu_pct if self.of_cpu else self.figures.values
        figure = number(value)
        if figure is None:
            self.complaints[Code.FIGURE_NOT_READ].append(f"{cell}: '{str(value)[:80]}' is no such figure")
        elif cell in into:
            self.complaints[Code.FIGURE_TWICE].append(f"{cell}: is there twice; the first counts")
        else:
            into[cell] = figure
