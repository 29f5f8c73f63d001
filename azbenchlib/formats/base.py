"""What every reader gets and gives: a source of bytes in, records per table out."""

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding, Severity
from azbenchlib.core.units import MIB

_OPENING = 64 * 1024  # bytes that tell a format; no more is read of a file that nobody claims
LARGEST_SOURCE = 256 * MIB  # of a file that is read whole
LARGEST_LOG = 1024 * MIB  # some 45 million lines
_BLOCK = 4 * 1024 * 1024  # characters that a reader of long files holds at a time
LONGEST_LINE = 64 * 1024  # the longest line that any tool writes, a histogram log's, has some 40,000
LONGEST_MESSAGE = 2000  # characters of what a finding says
_CUT = "\0"  # ends what is left of a longer line, which no format takes for whole

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class Source:
    """One raw file: the name it goes by, and its content, which is read when it is asked for.

    Parameters
    ----------
    path : str
        The name it goes by.
    data : bytes, optional
        The content, where it is at hand.
    file : Path, optional
        Where the content is, and the files that it includes.
    """

    def __init__(self, path: str, data: bytes | None = None, file: Path | None = None) -> None:
        # bytes of a name that are no UTF-8 are shown escaped, so that every table and page can be written
        self.path = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self._data, self._file = data, file

    @classmethod
    def of(cls, path: Path) -> "Source":
        """The file at `path`, called by that path."""
        return cls(str(path), file=path)

    def _open(self) -> io.BufferedReader | io.BytesIO:
        # the kernel's own files say that they are empty, and reading some of them never ends
        if self._file is None or not self.size_bytes:
            return io.BytesIO(self._data or b"")
        return self._file.open("rb")

    @cached_property
    def data(self) -> bytes:
        """The bytes, untouched."""
        with self._open() as file:
            return file.read()

    @cached_property
    def size_bytes(self) -> int:
        """How long it is."""
        return len(self._data or b"") if self._file is None else self._file.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """Hash of the content."""
        with self._open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def _start(self) -> bytes:
        with self._open() as file:
            return file.read(_OPENING)

    @property
    def _encoding(self) -> str:
        return next((encoding for mark, encoding in _MARKS if self._start.startswith(mark)), "utf-8")

    @cached_property
    def opening(self) -> str:
        """The first 64 KiB as text, for telling the format."""
        return self._start.decode(self._encoding, errors="replace")

    @cached_property
    def text(self) -> str:
        """The content as text; bytes that are no UTF-8 are replaced, a byte order mark is honoured."""
        return self.data.decode(self._encoding, errors="replace")

    def blocks(self) -> Iterator[str]:
        """The content as text, some megabytes of whole lines at a time, each line ending in a newline.

        A line of more than 64 KiB is cut short and marked with a NUL, so memory is bounded for any file.
        """
        with io.TextIOWrapper(self._open(), self._encoding, errors="replace", newline=None) as file:
            rest, cutting = "", False
            while block := file.read(_BLOCK):
                if cutting:
                    _, end, block = block.partition("\n")
                    cutting = not end
                whole, end, rest = (rest + block).rpartition("\n")
                if whole or end:
                    yield whole + end
                if len(rest) > LONGEST_LINE:
                    yield rest[:LONGEST_LINE] + _CUT + "\n"
                    rest, cutting = "", True
            if rest:
                yield rest + "\n"

    def beside(self, name: str) -> "Source | None":
        """A file that this one names: only one in its own folder or a folder below, and no link out."""
        if self._file is None or not name or "\0" in name:
            return None
        home = self._file.parent.resolve()
        try:
            file = (home / name).resolve()
            if not file.is_relative_to(home) or not file.is_file():
                return None
        except (OSError, RuntimeError):  # too long a name, a loop of links
            return None
        return Source(str(Path(self.path).parent / name), file=file)

    def run_id(self, doc: int, place: int | str) -> str:
        """Name of a run: the same for the same content, document and place, wherever the file lies."""
        return hashlib.sha256(f"{self.sha256}:{doc}:{place}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Beside:
    """What the files beside a log tell of it.

    Attributes
    ----------
    run_id : str
        The run that it belongs to.
    tool_version : str or None
        Version that wrote it, where an output of the run tells.
    log_unit : {"us", "ns"} or None
        Unit of its latencies, where the user says it.
    """

    run_id: str
    tool_version: str | None = None
    log_unit: str | None = None


class Records:
    """Rows under way: one list a table; `source` is the file that they are read from."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._frames: dict[str, list[pd.DataFrame]] = defaultdict(list)

    def add(self, table: str, **row: Any) -> None:
        """One row; values that are None or left out become NA."""
        self._rows[table].append(row)

    def add_frame(self, table: str, data: pd.DataFrame) -> None:
        """Many rows at once; columns that are left out become NA, and so do values that do not fit."""
        try:
            self._frames[table].append(schema.conform(table, data))
        except InputError:
            self._frames[table].append(self._fitting(table, data))

    def finding(
        self,
        code: Code,
        message: str,
        advice: str | None = None,
        *,
        run_id: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        """What is wrong or doubtful, with the file's name filled in; see :meth:`Finding.of`."""
        found = Finding.of(code, message, advice, severity, source_path=self.source.path, run_id=run_id)
        self.add_finding(found)

    def add_finding(self, finding: Finding) -> None:
        """A row of the table findings, of a length that can be read, in text that can be written."""
        advice, message = _writable(finding.advice), _writable(finding.message)
        self.add("findings", **replace(finding, message=message, advice=advice).row())

    def frames(self) -> dict[str, pd.DataFrame]:
        """A frame for every table of the schema, empty ones included.

        A value that its column cannot hold is left out, and a finding names it.
        """
        return {table: self._frame(table) for table in schema.TABLES}  # findings come last

    def _frame(self, table: str) -> pd.DataFrame:
        parts = [part for part in self._frames[table] if len(part)]
        if self._rows[table] or not parts:
            try:
                parts.insert(0, schema.frame(table, self._rows[table]))
            except InputError:
                parts.insert(0, self._fitting(table, self._rows[table]))
                self._frames[table], self._rows[table] = list(parts), []
        return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)

    def _fitting(self, table: str, data: Iterable[Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
        """The rows without the values that no column holds; a finding names them."""
        rows, misfits = schema.fitting(table, data)
        for misfit in misfits:
            message = f"{self.source.path}: {misfit}; left out"
            self.finding(Code.VALUE_OUT_OF_RANGE, message)
        return rows


def _writable(text: str) -> str:
    """A sentence that can be written in UTF-8, of a length that can be read."""
    half = LONGEST_MESSAGE // 2
    short = text if len(text) <= LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"
    return short.encode("utf-8", "backslashreplace").decode()
