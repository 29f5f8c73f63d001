"""What every reader gets and gives: a source of bytes in, records per table out."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib import schema


@dataclass(frozen=True)
class Source:
    """One raw file: the name it goes by and its bytes, untouched."""

    path: str
    data: bytes

    @classmethod
    def of(cls, path: Path) -> "Source":
        """The file at `path`, called by that path."""
        return cls(str(path), path.read_bytes())

    @cached_property
    def sha256(self) -> str:
        """Hash of the content."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        """The content as text; bytes that are no UTF-8 are replaced, a byte order mark is honoured."""
        for mark, encoding in (
            (b"\xff\xfe", "utf-16"),
            (b"\xfe\xff", "utf-16"),
            (b"\xef\xbb\xbf", "utf-8-sig"),
        ):
            if self.data.startswith(mark):
                return self.data.decode(encoding, errors="replace")
        return self.data.decode("utf-8", errors="replace")

    def run_id(self, doc: int, place: int | str) -> str:
        """Name of a run: the same for the same content, document and place, wherever the file lies."""
        return hashlib.sha256(f"{self.sha256}:{doc}:{place}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Beside:
    """What the file beside a log tells of it: the run that it belongs to, and the tool's version."""

    run_id: str
    tool_version: str


class Records:
    """Rows under way: one list a table."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def add(self, table: str, **row: Any) -> None:
        """One row; values that are None or left out become NA."""
        self._rows[table].append(row)

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
        return {table: schema.frame(table, self._rows[table]) for table in schema.TABLES}
