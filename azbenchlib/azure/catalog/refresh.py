"""Read the VM sizes of a region anew: `az vm list-skus` to a dated overlay in the user's data folder."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from azbenchlib.azure import overlays
from azbenchlib.azure.az import Az
from azbenchlib.azure.catalog import lookup, regional, skus
from azbenchlib.azure.catalog.rows import LIMITS
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


_REGION = re.compile(r"[a-z0-9]+")


def refresh(region: str, az: Az) -> Path:
    """Write what the API says today of every VM size in a region; lookups take it from then on.

    Parameters
    ----------
    region : str
        Azure's name, such as westeurope.
    az : Az

    Returns
    -------
    Path
        The overlay.

    Raises
    ------
    InputError
        When the region's name cannot be one, or the answer holds no VM size.
    AzError
        When az fails, for instance because nobody is logged in.
    OutputError
        When the overlay cannot be written.
    """
    if not _REGION.fullmatch(region):
        raise InputError(f"'{region}' is not a region's name; write it as westeurope")
    answer = az.json("vm", "list-skus", "--location", region, "--resource-type", "virtualMachines", "--all")
    name = f"{date.today().isoformat()}_{region}"
    rows = skus.parse(answer, f"{lookup.SIZES_OVERLAY_ID}-{name}")
    return _write(overlays.new("catalog", name), rows)


def _write(path: Path, rows: list[dict[str, str]]) -> Path:
    """The rows as a file that appears whole."""
    out = io.StringIO()
    columns = ("size", "source_id", "valid_from", "valid_to", "note", *skus.PROPERTIES, *skus.OFFER, *LIMITS)
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, out.getvalue().encode())
    lookup.forget()
    regional.forget()
    return path
