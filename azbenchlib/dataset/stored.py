"""The tables of a dataset as Parquet files, and whether they may be taken for what its raw files give.

Nothing in a dataset folder can prove that: who changes a table can change the stamp beside it. So each user's
cache remembers the stamps of tables that azbench made of raw files here. Others are not even opened: the raw
files are read, and their tables, written out, must come to the same bytes. Then they are remembered too.
"""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from azbenchlib.core import locations, schema
from azbenchlib.core.errors import OutputError
from azbenchlib.core.files import fault_of_file, leads_out, read_bounded, write_atomically
from azbenchlib.core.findings import Code
from azbenchlib.core.units import MIB
from azbenchlib.dataset.files import regular_files, sha256
from azbenchlib.dataset.names import MANIFEST_FILE, RAW
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_TABLES = "tables"
STAMP = "from.json"  # what the Parquet files were made from
LARGEST_STAMP = 16 * MIB
MOST_REMEMBERED = 4096  # stamps in the user's cache, each an empty file
# The same tables are the same bytes for the same versions.
WRITER = f"pandas {pd.__version__}, pyarrow {pa.__version__}, numpy {np.__version__}"
# Of tables that had other columns, the raw files are read again.
STORED_COLUMNS = {name: list(table.columns) for name, table in schema.TABLES.items()}

Tables = dict[str, pd.DataFrame]
Stamp = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """The stored tables of a dataset folder, not opened yet.

    Attributes
    ----------
    folder : Path
        The dataset folder.
    now : dict
        What tables would be made of now, and by what: ``raw`` holds the hash of each raw file.
    stamp : dict or None
        What the stored tables were made of; None where any is missing, or it was something else than now.
    """

    folder: Path
    now: Stamp
    stamp: Stamp | None

    @classmethod
    def of(cls, folder: Path) -> "Stored":
        """Look at a dataset folder."""
        from azbenchlib import __version__  # is looked up in the files of all that is installed

        raw = folder / RAW
        now = {
            "azbench": __version__,
            "writer": WRITER,
            "columns": STORED_COLUMNS,
            "manifest": sha256(folder / MANIFEST_FILE),
            "raw": {file.relative_to(raw).as_posix(): sha256(file) for file in regular_files(raw)},
        }
        return cls(folder, now, _current_stamp(folder, now))

    def tables(self) -> Tables | None:
        """The tables; None where they are not known to be what the raw files give."""
        if self.stamp is None or not _remembered(self.stamp) or self._changed():
            return None
        return {name: self._table(name, self.stamp["tables"][name]) for name in schema.TABLES}

    def doubts(self, made: Tables) -> pd.DataFrame:
        """Findings: the stored tables that are not what the raw files give.

        Parameters
        ----------
        made : mapping of str to DataFrame
            The tables as they were just made of the raw files.

        Returns
        -------
        DataFrame
            A row of the table findings for each; none where the stored tables are merely old.
        """
        differing = self._changed()
        if self.stamp is not None and not differing and not _remembered(self.stamp):
            ours = {name: _described(encoded(made[name])) for name in schema.TABLES}
            differing = [name for name in schema.TABLES if ours[name] != self.stamp["tables"][name]]
            if not differing:
                _remember(self.stamp)
        records = Records(Source(f"{_TABLES}/{STAMP}", b""))
        for name in differing:
            message = (
                f"{_TABLES}/{name}.parquet: is not the table that the raw files give, so those were read"
            )
            records.finding(Code.TABLES_CHANGED, message, f"Remove the folder {_TABLES}/")
        return records.frames()["findings"]

    def _changed(self) -> list[str]:
        """The tables whose files are not what the stamp says; one of another length is not read."""
        return [] if self.stamp is None else [name for name in schema.TABLES if not self._is_as_stamped(name)]

    def _is_as_stamped(self, name: str) -> bool:
        path, told = _file(self.folder, name), self.stamp and self.stamp["tables"][name]
        if fault_of_file(path, self.folder) or not isinstance(told, dict):
            return False
        return path.stat().st_size == told.get("bytes") and sha256(path) == told.get("sha256")

    def _table(self, name: str, told: Stamp) -> pd.DataFrame:
        data = read_bounded(_file(self.folder, name), self.folder, told["bytes"])
        return schema.conform(name, pd.read_parquet(io.BytesIO(data)))


def write(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write the tables of a dataset folder, the stamp last, and remember that they are ours.

    Raises
    ------
    OutputError
        When the folder cannot be written, or its tables would lie outside of it.
    """
    place = folder / _TABLES
    if leads_out(place, folder):
        raise OutputError(f"{place}: is a link that leads out of the dataset; remove it")
    written = {}
    for name, table in tables.items():
        data = encoded(table)
        write_atomically(_file(folder, name), data)
        written[name] = _described(data)
    stamp = Stored.of(folder).now | {"tables": written}
    write_atomically(place / STAMP, json.dumps(stamp, indent=1).encode())
    _remember(stamp)


def encoded(table: pd.DataFrame) -> bytes:
    """A table as a Parquet file."""
    return bytes(table.to_parquet(index=False))


def _file(folder: Path, name: str) -> Path:
    return folder / _TABLES / f"{name}.parquet"


def _described(data: bytes) -> Stamp:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _current_stamp(folder: Path, now: Stamp) -> Stamp | None:
    """The stamp, where every table is there and was made of what is there now."""
    try:
        stamp = json.loads(read_bounded(folder / _TABLES / STAMP, folder, LARGEST_STAMP))
    except (OSError, ValueError, RecursionError):
        return None
    tables = stamp.get("tables") if isinstance(stamp, dict) else None
    if not isinstance(tables, dict) or list(tables) != list(schema.TABLES):
        return None
    whole = all(os.path.lexists(_file(folder, name)) for name in schema.TABLES)
    return stamp if whole and stamp == now | {"tables": tables} else None


def _memory(stamp: Stamp) -> Path | None:
    """Where it is remembered that a stamp is ours; None where this user has no home."""
    cache = locations.user_folder("cache")
    text = json.dumps(stamp, sort_keys=True)
    return cache and cache / "tables" / hashlib.sha256(text.encode()).hexdigest()


def _remembered(stamp: Stamp) -> bool:
    memory = _memory(stamp)
    return memory is not None and memory.is_file()


def _remember(stamp: Stamp) -> None:
    """Remember a stamp, and forget the oldest of too many; who has no cache reads raw files again."""
    memory = _memory(stamp)
    if memory is None:
        return
    try:
        memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        memory.touch()
        known = list(memory.parent.iterdir())
        if len(known) > MOST_REMEMBERED:
            by_age = sorted(known, key=lambda path: path.stat().st_mtime)
            for path in by_age[: MOST_REMEMBERED // 2]:
                path.unlink(missing_ok=True)
    except OSError:
        return
