"""Cells of spreadsheet files: BIFF2 streams and .xlsx files, in bounded memory.

Both are read cell by cell, and only what is kept takes memory: a file of 88 KB can unpack to millions of
cells. Of an .xlsx file only the names of its sheets, its shared texts and its cells are read; formulas count
with the value that was saved with them. Excel keeps a cell's text in ``sharedStrings.xml`` and the number of
it in the cell (ECMA-376, part 1, 18.3 and 18.4, 2016).
"""

import io
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from xml.parsers import expat

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB
from azbenchlib.formats._xml import PIECE, RefusedError, parse

EOF, INTEGER, NUMBER, LABEL = 0x0A, 0x02, 0x03, 0x04
CELLS = {INTEGER: 9, NUMBER: 15, LABEL: 8}  # bytes of the records of cells; a LABEL has those of its text too
_MOST_ROWS, _MOST_COLUMNS = 2**14, 2**8  # as BIFF2 has them
MOST_PLACES = 1_000_000  # of a file, from a row's first to its last cell; iozone's largest sheet has 5,000
_MOST_ELEMENTS = 1_000_000  # of an .xlsx file, of whatever kind
MOST_UNPACKED = 64 * MIB  # of an .xlsx file
MOST_RATIO, LEAST_UNPACKED = 100, MIB  # a file packs sheets to a tenth; one of these bytes is always allowed
MOST_MEMBERS = 1000
MOST_TEXTS, _LONGEST_TEXT = 100_000, 32_767  # a cell of Excel holds no longer text

_PLACE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_DAMAGE = (
    *(expat.ExpatError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, EOFError, KeyError, ValueError, RuntimeError),  # an unknown compression, a password
)

Value = float | str | None
Row = list[Value]
Attributes = Mapping[str, str]


class Room:
    """How much the sheets of a file take."""

    def __init__(self) -> None:
        self._n_places = 0

    def take(self, n_places: int) -> None:
        """Count places of cells.

        Raises
        ------
        RefusedError
            When there are too many of them.
        """
        self._n_places += n_places
        if self._n_places > MOST_PLACES:
            raise RefusedError(f"more than {MOST_PLACES:,} places for cells are too much")


class Grid:
    """The cells of a sheet."""

    def __init__(self, room: Room) -> None:
        self._rows: dict[int, Row] = {}
        self._room = room

    def put(self, row: int, column: int, value: Value) -> None:
        """Keep a cell, with its row and column from 0.

        Raises
        ------
        RefusedError
            When the file has no room for it.
        """
        cells = self._rows.setdefault(row, [])
        if column >= len(cells):
            self._room.take(column + 1 - len(cells))
            cells += [None] * (column + 1 - len(cells))
        cells[column] = value

    def rows(self) -> Iterator[Row]:
        """The first row, and below it all that have a cell, each up to its last cell."""
        for number in sorted({0, *self._rows}):
            yield self._rows.get(number, [])


def biff2(data: bytes, head: bytes) -> tuple[Grid, bool]:
    """The cells of a BIFF2 stream behind its head, and whether it is whole."""
    grid, at, whole = Grid(Room()), len(head), data.startswith(head)
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        body = data[at + 4 : at + 4 + length]
        if code == EOF or len(body) < length:
            break
        if code in CELLS and _is_cell(code, body):
            row, column = struct.unpack_from("<HH", body)
            grid.put(row, column, _value(code, body))
        else:
            whole = False
        at += 4 + length
    return grid, whole and data[at : at + 2] == struct.pack("<H", EOF)


def _value(code: int, body: bytes) -> Value:
    """What a cell holds.

    iozone writes 255 characters of a longer command line and lets the one byte of the length run over, so
    that it says 12 for 268. The text itself ends with a zero byte (seen in outputs of 3.489).
    """
    if code == LABEL:
        text = body[CELLS[LABEL] :]
        return text[: max(body[7], len(text.split(b"\0")[0][:255]))].decode("cp1252", errors="replace")
    form = "<d" if code == NUMBER else "<H"
    return float(struct.unpack_from(form, body, 7)[0])


def _is_cell(code: int, body: bytes) -> bool:
    """Whether a record's body is a cell that lies where BIFF2 can have one."""
    if code == LABEL:
        whole = len(body) >= CELLS[LABEL] and len(body) >= CELLS[LABEL] + body[7]
    else:
        whole = len(body) == CELLS[code]
    if not whole:
        return False
    row, column = struct.unpack_from("<HH", body)
    return row < _MOST_ROWS and column < _MOST_COLUMNS


class Workbook:
    """An .xlsx file.

    Parameters
    ----------
    data : bytes
        The file.

    Raises
    ------
    InputError
        When it is damaged, or would unpack to too much.
    """

    def __init__(self, data: bytes) -> None:
        self._n_elements, self._room = 0, Room()
        with _told():
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            members = self._archive.infolist()
            size = sum(member.file_size for member in members)
            most = min(MOST_UNPACKED, max(LEAST_UNPACKED, MOST_RATIO * len(data)))
            if size > most or len(members) > MOST_MEMBERS:
                raise RefusedError(
                    f"{len(members):,} parts that unpack to {size / MIB:,.1f} MiB are too much; at most "
                    f"{MOST_MEMBERS:,} parts and {most / MIB:,.1f} MiB"
                )
            self._names = {member.filename for member in members}
            self._texts = self._shared_texts()

    def sheets(self) -> Iterator[tuple[str, Iterator[Row]]]:
        """Title and rows of each sheet that holds cells.

        Raises
        ------
        InputError
            When it is damaged, or there are too many cells.
        """
        with _told():
            listed = self._listed()
        for title, part in listed:
            with _told():
                grid = self._grid(part)
            yield title, grid.rows()

    def _listed(self) -> list[tuple[str, str]]:
        """Title and part of each sheet of cells, in their order."""
        parts: dict[str, str] = {}
        titles: list[tuple[str, str]] = []

        def of_relations(name: str, told: Attributes) -> None:
            if name == "Relationship" and told.get("Type", "").endswith("/worksheet"):
                parts[told.get("Id", "")] = posixpath.normpath(posixpath.join("/xl", told.get("Target", "")))[
                    1:
                ]

        def of_book(name: str, told: Attributes) -> None:
            if name == "sheet":
                titles.append((told.get("name", ""), told.get("id", "")))

        self._parse("xl/workbook.xml", of_book)
        self._parse("xl/_rels/workbook.xml.rels", of_relations)
        return [(title, parts[relation]) for title, relation in titles if relation in parts]

    def _shared_texts(self) -> list[str]:
        """The texts that cells name by number."""
        texts: list[str] = []
        if "xl/sharedStrings.xml" not in self._names:
            return texts

        def start(name: str, _: Attributes) -> None:
            if name == "si":
                texts.append("")
            if len(texts) > MOST_TEXTS:
                raise RefusedError(f"more than {MOST_TEXTS:,} texts are too much")

        def end(name: str, text: str) -> None:
            if name == "t" and texts and len(texts[-1]) < _LONGEST_TEXT:
                texts[-1] = (texts[-1] + text)[:_LONGEST_TEXT]

        self._parse("xl/sharedStrings.xml", start, end)
        return texts

    def _grid(self, part: str) -> Grid:
        """The cells of a sheet."""
        cells = _Cells(self._texts, self._room)
        self._parse(part, cells.start, cells.end)
        return cells.grid

    def _parse(
        self,
        part: str,
        start: Callable[[str, Attributes], None],
        end: Callable[[str, str], None] = lambda _, __: None,
    ) -> None:
        """Tell of the elements of a part, without prefixes: each with its attributes, then with its text."""
        texts = [""]

        def started(name: str, told: Attributes) -> None:
            self._n_elements += 1
            if self._n_elements > _MOST_ELEMENTS:
                raise RefusedError(f"more than {_MOST_ELEMENTS:,} elements are too much")
            texts[0] = ""
            start(name.rpartition(":")[2], {key.rpartition(":")[2]: value for key, value in told.items()})

        def text(part: str) -> None:
            if len(texts[0]) < _LONGEST_TEXT:
                texts[0] += part

        def ended(name: str) -> None:
            end(name.rpartition(":")[2], texts[0])
            texts[0] = ""

        with self._archive.open(part) as file:
            parse(iter(lambda: file.read(PIECE), b""), started, ended, text)


class _Cells:
    """The cells of a sheet of an .xlsx file on their way into a grid."""

    def __init__(self, texts: list[str], room: Room) -> None:
        self.grid, self._texts = Grid(room), texts
        self._row, self._column, self._kind = 0, -1, "n"
        self._value: Value = None

    def start(self, name: str, told: Attributes) -> None:
        """A row or a cell begins; one that does not tell its place stands behind the last."""
        if name == "row":
            number = told.get("r", "")
            self._row = int(number) - 1 if re.fullmatch("[1-9][0-9]{0,6}", number) else self._row + 1
            self._column = -1
        elif name == "c":
            self._column, self._kind, self._value = self._column + 1, told.get("t", "n"), None
            if place := _PLACE.fullmatch(told.get("r", "")):
                self._row, self._column = int(place[2]) - 1, _column(place[1])

    def end(self, name: str, text: str) -> None:
        """What a cell holds, or its end."""
        if name == "v":
            self._value = self._of_kind(text)
        elif name == "t" and self._kind == "inlineStr":
            self._value = text
        elif name == "c" and self._row < _MOST_ROWS and self._column < _MOST_COLUMNS:
            self.grid.put(self._row, self._column, self._value)

    def _of_kind(self, text: str) -> Value:
        if self._kind == "s":
            number = int(text) if re.fullmatch("[0-9]{1,6}", text) else len(self._texts)
            return self._texts[number] if number < len(self._texts) else None
        if self._kind != "n":
            return text
        try:
            return float(text)
        except ValueError:
            return text


def _column(letters: str) -> int:
    """The column that letters name: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


@contextmanager
def _told() -> Iterator[None]:
    """Tell of damage in a sentence; it can show as any error of the archive, its compression or its XML."""
    try:
        yield
    except RefusedError as error:
        raise InputError(f"the .xlsx file was not read: {error}") from error
    except _DAMAGE as error:
        told = f"{type(error).__name__}: {str(error)[:200]}"
        raise InputError(f"the .xlsx file cannot be read ({told})") from error
