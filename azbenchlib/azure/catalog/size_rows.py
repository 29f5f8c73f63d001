"""The rows of each VM size: read a file at once, parsed a size at a time.

A size with a lowered vCPU count (E32-8s_v5) has the rows of its parent (E32s_v5) too, with the parent's
memory and limits: of what the resource-SKU API reads, the parent's rows count where it has none of its own.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from azbenchlib.azure.catalog.files import DATA, Rows

RETIRED_FILE = "vm_retired.csv"
# In order of precedence; the first has the snapshot of the resource-SKU API.
SIZE_FILES = (
    "vm_api.csv",
    "vm_constrained.csv",
    "vm_page_properties.csv",
    "vm_pages.csv",
    "vm_caching.csv",
    "vm_retirements.csv",
    RETIRED_FILE,
)
_PARENT = "parent"


class SizeRows(Mapping[str, Rows]):
    """Rows by key of the size, in order of precedence, each with the columns that it fills.

    Parameters
    ----------
    readings : iterable of Rows
        Readings of the API beside the shipped files, the one that counts most first.
    key : callable
        The key of a size's name.
    """

    def __init__(self, readings: Iterable[Rows], key: Callable[[str], str]) -> None:
        self._key = key
        self._read: dict[str, Rows] = defaultdict(list)
        for row in (row for rows in readings for row in rows):
            self._read[key(row["size"])].append({column: cell for column, cell in row.items() if cell})
        self._files = [_file(DATA / name, key) for name in SIZE_FILES]
        self._keys = dict.fromkeys([*self._read, *(known for file in self._files for known in file.lines)])
        self._parsed: dict[str, tuple[Rows, Rows]] = {}

    def __getitem__(self, key: str) -> Rows:
        """The rows of a size."""
        readings, others = self._of(key)
        return readings + others

    def __iter__(self) -> Iterator[str]:
        """Every key, in the order in which the files have them."""
        return iter(self._keys)

    def __len__(self) -> int:
        """How many sizes there are."""
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        """Whether a size is known; parses nothing."""
        return key in self._keys

    def _of(self, key: str) -> tuple[Rows, Rows]:
        """What readings of the API state of a size, and what everything else does."""
        if key not in self._parsed:
            self._parsed[key] = self._parse(key)
        return self._parsed[key]

    def _parse(self, key: str) -> tuple[Rows, Rows]:
        if key not in self._keys:
            raise KeyError(key)
        api, *files = self._files
        readings = [*self._read.get(key, ()), *_rows(api, key)]
        others = [row for file in files if key in file.lines for row in _rows(file, key)]
        parent = next((row[_PARENT] for row in others if _PARENT in row), None)
        if parent is not None:
            inherited, more = self._of(self._key(parent))
            others = others + ([] if readings else inherited) + more
        return readings, others


class _File(NamedTuple):
    """The columns of a shipped file, and its lines by the size that each of them begins with."""

    columns: list[str]
    lines: Mapping[str, list[str]]


def _rows(file: _File, key: str) -> Rows:
    return [
        {column: cell for column, cell in zip(file.columns, _cells(line), strict=True) if cell}
        for line in file.lines.get(key, ())
    ]


def _cells(line: str) -> list[str]:
    return next(csv.reader((line,))) if '"' in line else line.split(",")


@cache
def _file(path: Path, key: Callable[[str], str]) -> _File:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for size, of_size in groupby(lines, lambda line: line.partition(",")[0]):
        found.setdefault(key(size), []).extend(of_size)
    return _File(header.split(","), found)
