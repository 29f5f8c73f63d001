"""What Microsoft's pages print wrong, and what the catalogue has in its place.

Used by make_catalog.py. The collected list says of each figure what is printed, what is likely, and whether
the collected row has the printed one (`printed`), another (`changed: …`), or none (`changed: left empty`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

Row = dict[str, str]
_PRINTED, _EMPTY = "printed", "changed: left empty"
Errors = Mapping[tuple[str, str], Sequence[Row]]


def by_page(errors: Iterable[Row]) -> Errors:
    """The errors by size and page."""
    found: dict[tuple[str, str], list[Row]] = {}
    for error in errors:
        found.setdefault((error["name"], _page(error)), []).append(error)
    return found


def mended(row: Row, errors: Errors) -> tuple[Row, dict[str, str]]:
    """The row with the likely figures, and by column a note of what the page prints.

    Where the collected row has no figure, because none is sure, there is none here either.
    """
    changed, notes = dict(row), {}
    for error in errors.get((row["name"], _page(row)), ()):
        field = error["field"]
        if error["cell"] != _EMPTY:
            changed[field] = error["likely"]
            notes[field] = f"likely; the page prints {int(float(error['printed'])):,}"
    return changed, notes


def section(errors: Iterable[Row]) -> Iterator[str]:
    """Lines of SOURCES.md: every error, with what the catalogue has."""
    yield from (
        "",
        "## What the pages print wrong",
        "",
        "The catalogue has the likely figure, with a note, or none.",
        "",
        "| size | column | printed | in the catalogue | why | page |",
        "|---|---|---|---|---|---|",
    )
    for error in errors:
        has = "none" if error["cell"] == _EMPTY else error["likely"]
        cells = (error["name"], error["field"], error["printed"], has, error["why"], _page(error))
        yield f"| {' | '.join(cells)} |"


def _page(row: Mapping[str, str]) -> str:
    return f"{Path(row['source_path']).stem}@{row['source_commit'][:8]}"
