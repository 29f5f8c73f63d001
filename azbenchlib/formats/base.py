"""What every reader gets and gives: a source of bytes in, records per table out."""

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib import schema
from azbenchlib.units import MIB

DESCRIPTION = "job_description"  # code of the finding by which a description of a run is known
OPENING = 64 * 1024  # bytes that tell a format; no more is read of a file that nobody claims
LARGEST = 256 * MIB  # of a file that is read whole
LARGEST_LOG = 1024 * MIB  # some 45 million lines
BLOCK = 4 * 1024 * 1024  # characters that a reader of long files holds at a time
LONGEST_LINE = 64 * 1024  # the longest line that any tool writes, a histogram log's, has some 40,000
CUT = "\0"  # ends what is left of a longer line, which no format takes for whole

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
        self.path, self._data, self._file = path, data, file

    @classmethod
    def of(cls, path: Path) -> "Source":
        """The file at `path`, called by that path."""
        return cls(str(path), file=path)

    def _open(self) -> io.BufferedReader | io.BytesIO:
        return io.BytesIO(self._data or b"") if self._file is None else self._file.open("rb")

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
            return file.read(OPENING)

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
            while block := file.read(BLOCK):
                if cutting:
                    _, end, block = block.partition("\n")
                    cutting = not end
                whole, end, rest = (rest + block).rpartition("\n")
                if whole or end:
                    yield whole + end
                if len(rest) > LONGEST_LINE:
                    yield rest[:LONGEST_LINE] + CUT + "\n"
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
    """Rows under way: one list a table."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._frames: dict[str, list[pd.DataFrame]] = defaultdict(list)

    def add(self, table: str, **row: Any) -> None:
        """One row; values that are None or left out become NA."""
        self._rows[table].append(row)

    def add_frame(self, table: str, data: pd.DataFrame) -> None:
        """Many rows at once; columns that are left out become NA."""
        self._frames[table].append(schema.conform(table, data))

    def finding(
        self, severity: str, code: str, message: str, advice: str = "", run_id: str | None = None
    ) -> None:
        """What is wrong or doubtful, with the file's name filled in."""
        self.add(
            "findings",
            run_id=run_id,
            source_path=self._source.path,
            severity=severity,
            code=code,
            message=message,
            advice=advice or None,
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """A frame for every table of the schema, empty ones included."""
        return {table: self._frame(table) for table in schema.TABLES}

    def _frame(self, table: str) -> pd.DataFrame:
        parts = [part for part in self._frames[table] if len(part)]
        if self._rows[table] or not parts:
            parts.insert(0, schema.frame(table, self._rows[table]))
        return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
