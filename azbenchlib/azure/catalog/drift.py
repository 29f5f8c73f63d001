"""The user's table of what disks did beside what documents say: a CSV file in the folder of the catalogue."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from azbenchlib.azure import overlays
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically

# Of one measurement there is one row; a later one with these columns the same takes its place.
DRIFT_IDENTITY = ("measured_on", "place", "name", "kind", "key", "dataset")
DRIFT_COLUMNS = (*DRIFT_IDENTITY, "documented", "measured", "low", "high")
DRIFT_NUMBERS = DRIFT_COLUMNS[len(DRIFT_IDENTITY) :]
DRIFT_TABLE = "drift"


def read_drift() -> list[dict[str, str]]:
    """The rows that the user kept, oldest measurement first.

    Raises
    ------
    InputError
        When the file has other columns, or something else than a number in one of numbers.
    """
    place = overlays.folder("catalog")
    path = place / f"{DRIFT_TABLE}.csv" if place else None
    if path is None or not path.is_file():
        return []
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        for row in rows:
            if tuple(row) != DRIFT_COLUMNS or not all(float(row[name]) > 0 for name in DRIFT_NUMBERS):
                raise ValueError
    except (ValueError, TypeError, csv.Error) as error:
        raise InputError(
            f"{path}: is no drift table; its columns are {', '.join(DRIFT_COLUMNS)}, of which "
            f"{', '.join(DRIFT_NUMBERS)} are numbers above 0"
        ) from error
    return sorted(rows, key=lambda row: row["measured_on"])


def keep_drift(rows: Iterable[dict[str, str]]) -> Path:
    """Add rows to the table, in the place of what is known of the same measurement.

    Raises
    ------
    InputError
        As `read_drift` does.
    OutputError
        When the user has no home folder, or it cannot be written.
    """
    path = overlays.new("catalog", DRIFT_TABLE)
    known = {tuple(row[name] for name in DRIFT_IDENTITY): row for row in (*read_drift(), *rows)}
    text = io.StringIO()
    writer = csv.DictWriter(text, DRIFT_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(known.values())
    return write_atomically(path, text.getvalue().encode())
