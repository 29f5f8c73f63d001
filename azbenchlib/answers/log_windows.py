"""Percentiles of latency by window of time, for people; no large library is loaded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azbenchlib.answers.document import Document, FigureTable, TableColumn, TableRow
from azbenchlib.answers.figures import AS_MICROSECONDS, FigureUnit
from azbenchlib.core.units import format_count

if TYPE_CHECKING:
    from azbenchlib.dataset.log_windows import Windowed

_WINDOWS = {
    "t_s": TableColumn("t_s", "From (s)", FigureUnit("s", "{:g}".format)),
    "ddir": TableColumn("ddir", "Direction"),
    "lat_kind": TableColumn("lat_kind", "Latency"),
    "n": TableColumn("n", "I/Os", FigureUnit("count", format_count)),
}


def windows_document(found: Windowed) -> Document:
    """Return a line a window and direction, with its percentiles."""
    several = len(found.kinds) > 1
    names = [name for name in found.rows[0] if name != "lat_kind" or several]
    columns = [
        _WINDOWS.get(name, TableColumn(name, name.removesuffix("_us"), AS_MICROSECONDS)) for name in names
    ]
    rows = [TableRow([row[name] for name in names]) for row in found.rows]
    return Document(None, [FigureTable(columns=columns, rows=rows)])
