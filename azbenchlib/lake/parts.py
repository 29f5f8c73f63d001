"""The files of a lake: what they are called, and which of them count.

A *part* is what one collector wrote at once: Parquet files, one a table, day and setup, and a record that
lists them, written last. Files are named by their content and none is ever changed, so writers cannot disturb
each other; what one of them left without a record counts for nothing. ::

    lake.json                                             that it is a lake
    parts/ID.json                                         the record of a part
    tables/bins/day=2026-11-22/setup_id=vm-a/HASH.parquet

A part whose outputs are all in another one is superseded by it, as when a log joined its run later. What
outputs two parts share beyond that, two collectors read at the same time; the reader takes it once.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, unquote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, ValidationError

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.dataset.names import LAKE_FILE, LAKE_KEY
from azbenchlib.lake.place import LakePlace
from azbenchlib.model.disk_row import OF_SETUP

LAKE_VERSION = 1
RECORDS, TABLES_OF_LAKE = "parts", "tables"
DAY, IS_COUNTED = "day", "counted"
BY_RUN = tuple(name for name, table in schema.TABLES.items() if "run_id" in table.columns)
WITH_COUNTED = ("runs", "results", "latency", "percentiles", "bins")
_LONGEST_NAME = 200  # bytes of a setup in the name of a folder; file systems allow 255
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # how Hive, DuckDB and Arrow call the folder of what has no value
# By which columns the rows of a table are divided into files. Facts of a setup hold on any day.
DIVIDED_BY = {
    name: (OF_SETUP,) if OF_SETUP in table.key else (DAY, OF_SETUP) for name, table in schema.TABLES.items()
}
_ARROW = {
    schema.TEXT: pa.string(),
    schema.INT: pa.int64(),
    schema.FLOAT: pa.float64(),
    schema.BOOL: pa.bool_(),
}


class PartRecord(BaseModel):
    """What a part holds.

    Attributes
    ----------
    sources : list of str
        The sha256 of each output in it, and of the manifests of datasets.
    files : list of str
        Its Parquet files, by their names in the lake.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[str]
    files: list[str]


def found_lake(place: LakePlace) -> None:
    """Make a place a lake, where it is none.

    Raises
    ------
    OutputError
        When other things lie there, or it cannot be written.
    InputError
        When it is the lake of another version of azbench.
    """
    there = place.names()
    if LAKE_FILE in there:
        check_lake(place)
    elif there:
        raise OutputError(f"{place.address}: holds {there[0]} and is no lake; name an empty or a new folder")
    else:
        place.write(LAKE_FILE, f'{{"{LAKE_KEY}": {LAKE_VERSION}}}\n'.encode())


def check_lake(place: LakePlace) -> None:
    """Refuse what is no lake, or one of another version.

    Raises
    ------
    InputError
        With what it is instead.
    """
    if LAKE_FILE not in place.names():
        raise InputError(f"{place.address}: is no lake; make one with: azbench collect DIR -o LAKE")
    try:
        version = json.loads(place.read([LAKE_FILE])[0])[LAKE_KEY]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{place.address}/{LAKE_FILE}: does not tell the version of the lake") from None
    if version != LAKE_VERSION:
        raise InputError(
            f"{place.address}: is a lake of version {version!r}; this azbench reads {LAKE_VERSION}"
        )


def write_part(place: LakePlace, tables: Mapping[str, pd.DataFrame], sources: Sequence[str]) -> None:
    """Write a part, its record last.

    Parameters
    ----------
    place : LakePlace
        A lake.
    tables : mapping of str to DataFrame
        Tables of the schema, with the columns that divide each, as far as they are known, and ``counted``.
    sources : sequence of str
        The sha256 of each output in it.

    Raises
    ------
    InputError
        When the name of a setup is too long for a folder.
    OutputError
        When it cannot be written.
    """
    files = dict(encoded(tables))
    for name, data in files.items():
        place.write(name, data)
    record = PartRecord(sources=sorted(set(sources)), files=sorted(files)).model_dump_json().encode()
    place.write(f"{RECORDS}/{_named(record)}.json", record)


def encoded(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, bytes]]:
    """The Parquet files of a part, each with its name in the lake; as of :func:`write_part`."""
    for table, rows in tables.items():
        keys = list(DIVIDED_BY[table])
        known = rows.assign(**{key: pd.NA for key in keys if key not in rows})
        for values, own in known.groupby(keys, dropna=False, sort=True):
            folders = "/".join(_folder(key, value) for key, value in zip(keys, values, strict=True))
            data = _encoded(table, own.drop(columns=keys))
            yield f"{TABLES_OF_LAKE}/{table}/{folders}/{_named(data)}.parquet", data


def parts_of(place: LakePlace) -> list[PartRecord]:
    """The parts that count, in a fixed order.

    Raises
    ------
    InputError
        When the place is no lake, or a record is damaged.
    """
    check_lake(place)
    names = [f"{RECORDS}/{name}" for name in place.names(RECORDS) if name.endswith(".json")]
    found = []
    for name, data in zip(names, place.read(names), strict=True):
        try:
            found.append(PartRecord.model_validate_json(data))
        except ValidationError as error:
            raise InputError(
                f"{place.address}/{name}: is no record of a part: {error.errors()[0]['msg']}"
            ) from error
    return _without_superseded(found)


def collected(parts: Sequence[PartRecord]) -> set[str]:
    """The sha256 of every output in these parts."""
    return {source for part in parts for source in part.sources}


def known_setups(place: LakePlace, parts: Sequence[PartRecord]) -> dict[str, str]:
    """What is told of each setup of a lake, by its folder: a hash of its rows of setups and disks."""
    told: dict[str, list[pd.DataFrame]] = defaultdict(list)
    for table in ("setups", "disks"):
        names = sorted({name for part in parts for name in files_of(part, table)})
        for name, data in zip(names, place.read(names), strict=True):
            told[name.split("/")[2]].append(pq.read_table(io.BytesIO(data)).to_pandas())
    return {folder: facts_hash(rows) for folder, rows in told.items()}


def setup_folder(setup_id: str) -> str:
    """The name of the folder of a setup."""
    return _folder(OF_SETUP, setup_id)


def facts_hash(tables: Sequence[pd.DataFrame]) -> str:
    """A hash of what rows tell, whatever the order of tables and rows, and whichever columns are empty."""
    rows = [record for table in tables for record in schema.records(table)]
    facts = [
        {name: value for name, value in row.items() if value is not None and name != OF_SETUP} for row in rows
    ]
    return _named("\n".join(sorted({json.dumps(fact, sort_keys=True) for fact in facts})).encode())


def files_of(part: PartRecord, table: str) -> list[str]:
    """The files of a table in a part."""
    return [name for name in part.files if name.split("/")[1] == table]


def values_of(name: str) -> dict[str, str | None]:
    """Day and setup of the rows in a file, which the names of its folders tell."""
    pairs = (folder.split("=", 1) for folder in name.split("/")[2:-1])
    return {key: None if text == _NO_VALUE else unquote(text) for key, text in pairs}


def _without_superseded(parts: Sequence[PartRecord]) -> list[PartRecord]:
    """The parts but those whose outputs are all in another; of two with the same, the first."""
    with_source: dict[str, list[int]] = defaultdict(list)
    for place, part in enumerate(parts):
        for source in part.sources:
            with_source[source].append(place)
    sets = [set(part.sources) for part in parts]

    def superseded(place: int) -> bool:
        others = with_source[parts[place].sources[0]] if parts[place].sources else ()
        return any(
            sets[place] < sets[other] or (sets[place] == sets[other] and other < place)
            for other in others
            if other != place
        )

    return [part for place, part in enumerate(parts) if not superseded(place)]


def _folder(key: str, value: object) -> str:
    """A folder as Hive names it: the column and the value."""
    text = _NO_VALUE if pd.isna(value) else quote(str(value), safe=" ")
    if len(text) > _LONGEST_NAME:
        raise InputError(
            f"{key} '{str(value)[:40]}…': is too long for the name of a folder in a lake; at most "
            f"{_LONGEST_NAME} bytes fit"
        )
    return f"{key}={text}"


def _encoded(table: str, rows: pd.DataFrame) -> bytes:
    """Rows as a Parquet file: the same bytes for the same rows."""
    columns = schema.TABLES[table].columns
    types = {name: _ARROW[column.dtype] for name, column in columns.items()} | {IS_COUNTED: pa.bool_()}
    wanted = pa.schema([(name, types[str(name)]) for name in rows])
    buffer = io.BytesIO()
    pq.write_table(
        pa.Table.from_pandas(rows, schema=wanted, preserve_index=False).replace_schema_metadata(None),
        buffer,
        compression="zstd",
    )
    return buffer.getvalue()


def _named(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
