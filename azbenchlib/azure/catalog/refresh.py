"""Read the VM sizes of a region anew: `az vm list-skus` to a dated overlay in the user's data folder."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from pathlib import Path

from azbenchlib.azure import overlays
from azbenchlib.azure.az import Az
from azbenchlib.azure.catalog import lookup, regional, skus
from azbenchlib.azure.catalog.rows import LIMITS
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically

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
