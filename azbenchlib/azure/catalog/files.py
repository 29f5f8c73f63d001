"""The files of the catalogue: those that are shipped, and rows of the user's own that are added to them."""

from __future__ import annotations

import csv
from functools import cache
from itertools import zip_longest
from pathlib import Path

from azbenchlib.azure import overlays
from azbenchlib.core.errors import InputError

DATA = Path(__file__).parent / "data"
Rows = list[dict[str, str]]


def own_file(name: str) -> Path | None:
    """The user's additions to a shipped file: one of the same name in its folder."""
    folder = overlays.folder("catalog")
    path = None if folder is None else folder / name
    return path if path is not None and path.is_file() else None


def rows_of(name: str) -> Rows:
    """The rows of a shipped file, then those that the user added to it.

    Raises
    ------
    InputError
        When the user's file has not the columns of the shipped one.
    """
    shipped, own = read(DATA / name), own_file(name)
    if own is None:
        return shipped
    added = read(own)
    columns = set(shipped[0])
    if any(set(row) != columns or None in row.values() for row in added):
        raise InputError(f"{own}: a row has not the columns of the shipped {name}: {', '.join(shipped[0])}")
    return shipped + added


@cache
def read(path: Path) -> Rows:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        return [dict(zip_longest(header, cells)) for cells in lines if cells]
