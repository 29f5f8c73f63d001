"""Reader of iozone's spreadsheets: the BIFF2 stream that ``-b`` writes, and .xlsx files with such sheets.

iozone writes a bare BIFF2 stream, whatever the file's name ends in: records BOF, LABEL, NUMBER and EOF, no
container. Excel and its kin save such a sheet as .xlsx, several in one file.

A sheet of auto mode: A1 the command line; then for each test its title (``Writer Report``), a row of record
sizes in kB from B on, and a row for each file size in kB, what was not measured left empty. A sheet of
throughput mode: A1 the command line, ``Record size = 64 kBytes``, ``Output is in kBytes/sec``, and a row for
each test with one figure from C on for each number of processes, which only the command line tells. The unit
of auto mode is told by the command line alone (``-O``, ``-N``). ``-+u`` adds reports of CPU use.

What a file may take: BIFF2 has 16,384 rows of 256 columns; an .xlsx file may unpack to 64 MiB, and its sheets
are read to row 65,536 and column 256.

Source: outputs of 3.430 and 3.489; iozone ``iozone.c``, read at 3.414 (units, ``-+n``).
"""

import io
import re
import struct
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from azbenchlib.formats._iozone_tests import (
    KIB_PER_S,
    OPS_PER_S,
    Cell,
    Command,
    Figures,
    add_figures,
    number,
    process_counts,
    size_kib,
    test_of,
)
from azbenchlib.formats.base import Records, Source
from azbenchlib.units import MIB

BIFF2 = "\t\0\x04\0\x02\0\x10\0"  # BOF, 4 bytes, version 2, a worksheet
ZIP = "PK\x03\x04"
PARTS = ("[Content_Types].xml", "docProps/", "xl/w")  # one of them stands first in an .xlsx file
EOF, INTEGER, NUMBER, LABEL = 0x0A, 0x02, 0x03, 0x04
CELLS = {INTEGER: 9, NUMBER: 15, LABEL: 8}  # bytes of the records of cells; a LABEL has those of its text too
MOST_ROWS_BIFF2, MOST_ROWS, MOST_COLUMNS = 2**14, 2**16, 2**8
MOST_UNPACKED = 64 * MIB  # of an .xlsx file
MOST_MEMBERS = 1000
DOCTYPES = tuple("<!DOCTYPE".encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be"))

_RECORD_SIZE = re.compile(r"Record size = (\d+) [kK]Bytes")
_CPU = "CPU utilization report"

Rows = list[Sequence[Any]]


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
            records.finding("warning", code, message, "Left out")
        if not sheet.figures.values:
            message = f"{source.path}: sheet '{title}' has no report as iozone writes it"
            records.finding("info", "sheet_not_read", message, "Its figures are in no table")
        add_figures(records, source, sheet.figures)
        filled = filled or bool(sheet.figures.values)
    if not filled:
        records.finding("warning", "no_figures", f"{source.path}: no figure of iozone stands in this file")
    return records


def _biff2(source: Source, records: Records) -> Iterator[tuple[str, Rows]]:
    """Title and rows of the one sheet of a BIFF2 stream."""
    import xlrd  # here, for it takes a tenth of a second that no other format needs

    data, whole = _whole_records(source.data)
    if not whole:
        message = f"{source.path}: the spreadsheet is damaged or cut; its whole records were read"
        records.finding("error", "broken_sheet", message, "Figures may be missing; write it again")
    book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), ragged_rows=True)
    sheet = book.sheet_by_index(0)
    yield sheet.name, [sheet.row_values(row) for row in range(sheet.nrows)]


def _whole_records(data: bytes) -> tuple[bytes, bool]:
    """A stream of the records that hold cells and are whole, and whether these were all."""
    kept, at, whole = [BIFF2.encode()], len(BIFF2), data.startswith(BIFF2.encode())
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        body = data[at + 4 : at + 4 + length]
        if code == EOF or len(body) < length:
            break
        if code in CELLS and _is_cell(code, body):
            # three bytes tell how a cell looks: iozone leaves them 0, and xlrd knows no others by themselves
            kept.append(_record(code, body[:4] + bytes(3) + (_text(body) if code == LABEL else body[7:])))
        else:
            whole = False
        at += 4 + length
    ended = data[at : at + 2] == struct.pack("<H", EOF)
    return b"".join([*kept, struct.pack("<HH", EOF, 0)]), whole and ended


def _record(code: int, body: bytes) -> bytes:
    return struct.pack("<HH", code, len(body)) + body


def _text(body: bytes) -> bytes:
    """A label's text behind its length.

    iozone writes 255 characters of a longer command line and lets the one byte of the length run over, so
    that it says 12 for 268. The text itself ends with a zero byte (seen in outputs of 3.489).
    """
    text = body[CELLS[LABEL] :].split(b"\0")[0][:255]
    return bytes([len(text)]) + text if len(text) > body[7] else body[7:]


def _is_cell(code: int, body: bytes) -> bool:
    """Whether a record's body is a cell that lies where BIFF2 can have one."""
    if code == LABEL:
        whole = len(body) >= CELLS[LABEL] and len(body) >= CELLS[LABEL] + body[7]
    else:
        whole = len(body) == CELLS[code]
    if not whole:
        return False
    row, column = struct.unpack_from("<HH", body)
    return row < MOST_ROWS_BIFF2 and column < MOST_COLUMNS


def _xlsx(source: Source, records: Records) -> Iterator[tuple[str, Rows]]:
    """Title and rows of the sheets of an .xlsx file."""
    import openpyxl  # here, for it takes half a second that no other format needs

    try:
        if obstacle := _obstacle(source.data):
            message = f"{source.path}: {obstacle}"
            records.finding("error", "broken_sheet", message, "Save the sheets in a file of their own")
            return
        with warnings.catch_warnings():  # of styles and the like, which are not read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
            for sheet in book.worksheets:
                sheet.reset_dimensions()
                rows = sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
                yield sheet.title, [_trimmed(row) for row in rows]
    except Exception as error:  # damage can show as any error of zipfile, zlib, expat or openpyxl
        message = f"{source.path}: the .xlsx file cannot be read ({type(error).__name__}: {str(error)[:200]})"
        records.finding("error", "broken_sheet", message, "Save it again")


def _obstacle(data: bytes) -> str:
    """Why an .xlsx file must not be unpacked; empty: it may."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > MOST_UNPACKED or len(members) > MOST_MEMBERS:
            return (
                f"{len(members):,} parts that unpack to {size / MIB:,.0f} MiB are too much; at most "
                f"{MOST_MEMBERS:,} and {MOST_UNPACKED / MIB:.0f} MiB"
            )
        for member in members:
            part = archive.read(member)  # zipfile stops at the size that it told
            if any(doctype in part for doctype in DOCTYPES):
                return f"part '{member.filename[:80]}' declares a document type, which no spreadsheet needs"
    return ""


def _trimmed(row: Sequence[Any]) -> Sequence[Any]:
    """A row without the empty cells at its end."""
    last = next((place for place in range(len(row), 0, -1) if row[place - 1] is not None), 0)
    return row[:last]


class _Sheet:
    """One sheet on its way into the tables."""

    def __init__(self, doc: int, rows: Rows) -> None:
        first = str(rows[0][0]) if rows and rows[0] else ""
        command = Command(first if "iozone" in first.split(" ")[0] else None)
        self.figures = Figures(doc, command, command.unit, run={"tool_version": None})
        self.complaints: dict[str, list[str]] = defaultdict(list)  # by code of the finding
        self.report: tuple[str, bool] | None = None  # test, and whether it is of CPU use
        self.throughput = False
        self.record_sizes: list[int | None] = []
        self.record_bytes: int | None = None
        for row in rows:
            if any(cell not in (None, "") for cell in row):
                self._row(row[0], row[1:])

    def _row(self, head: Any, rest: Sequence[Any]) -> None:
        if not isinstance(head, str) or not head:
            self._numbers(head, rest)
        elif head.startswith("Throughput report"):
            self.throughput = True
        elif size := _RECORD_SIZE.match(head):
            self.record_bytes = size_kib(size[1])
        elif head.startswith("Output is in "):
            self.figures.unit = OPS_PER_S if "op" in head else KIB_PER_S
        elif self.throughput and (test := test_of(head)):
            self._throughput(test, rest[1:])
        elif not any(value not in (None, "") for value in rest):
            cpu = _CPU in head
            test = test_of(head.partition("CPU")[0] if cpu else head)
            self.report, self.record_sizes = ((test, cpu) if test else None), []

    def _numbers(self, head: Any, values: Sequence[Any]) -> None:
        """The sizes above a report, or one of its rows."""
        if self.report and head in (None, ""):
            self.record_sizes = [size_kib(value) for value in values]
        elif self.report and (file_bytes := size_kib(head)):
            test, cpu = self.report
            for size, value in zip(self.record_sizes, values, strict=False):
                if size and value not in (None, ""):
                    into = self.figures.cpu_pct if cpu else self.figures.values
                    self._figure(into, Cell(test, file_bytes, size), value)

    def _throughput(self, test: str, values: Sequence[Any]) -> None:
        """The figures of a test, one a number of processes."""
        counts = process_counts(self.figures.command, len(values))
        file_bytes = self.figures.command.size_bytes("s")
        for jobs, value in zip(counts, values, strict=True):
            if value in (None, ""):
                continue
            if jobs is None:
                self.complaints["figure_not_read"].append(f"{test}: for how many processes is not told")
            else:
                self._figure(self.figures.values, Cell(test, file_bytes, self.record_bytes, jobs), value)

    def _figure(self, into: dict[Cell, float], cell: Cell, value: Any) -> None:
        figure = number(value)
        if figure is None:
            self.complaints["figure_not_read"].append(f"{cell}: '{str(value)[:80]}' is no such figure")
        elif cell in into:
            self.complaints["figure_twice"].append(f"{cell}: is there twice; the first counts")
        else:
            into[cell] = figure
