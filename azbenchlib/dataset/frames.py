"""Runs that are a DataFrame already: a row a run and direction, such as an overview or an own table."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.nearest import choices
from azbenchlib.core.patterns import direction_of

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)_us")
_NOT_TAKEN = ("setup_id", "setup", "disks", "file", "state")  # of an overview; a frame tells no setup
_RUN = tuple(name for name in schema.TABLES["runs"].columns if name not in _NOT_TAKEN)
_RESULTS = tuple(name for name in schema.TABLES["results"].columns if name not in ("run_id", "ddir"))
_LATENCY = tuple(
    name for name in schema.TABLES["latency"].columns if name not in ("run_id", "ddir", "lat_kind")
)
_KNOWN = (*_RUN, "ddir", "lat_kind", *_RESULTS, *_LATENCY)

Row = dict[str, Any]


def tables_of(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of runs that stand in one frame.

    Parameters
    ----------
    frame : DataFrame
        A row a run and direction, with columns of the tables runs, results and latency, and percentiles such
        as ``p50_us`` and ``p99.9_us``. ``rw`` is needed, ``lat_kind`` where there are latencies; ``ddir`` is
        that of `rw` where it is left out. Rows of other directions or kinds of latency that agree in all that
        the table runs has are one run. Of an overview, rows with a `state`, of runs that were under way, are
        not taken: later rows have all of it; nor are the names of setups, for a frame does not tell what
        these are.

    Returns
    -------
    dict of str to DataFrame
        All tables of the schema.

    Raises
    ------
    InputError
        For a column that is unknown or there twice, a row without what is needed, and a value that does not
        fit its column.
    """
    percentiles = _percentiles(frame)
    finished = frame[frame["state"].isna()] if "state" in frame else frame
    rows = [_stated(row) for row in finished.to_dict(orient="records")]
    for place, row in zip(finished.index, rows, strict=True):
        _check(row, percentiles, place)
    runs: dict[str, Row] = {}
    records: dict[str, dict[tuple[Any, ...], Row]] = {"results": {}, "latency": {}, "percentiles": {}}
    for place, run_id, row in zip(finished.index, _run_ids(rows), rows, strict=True):
        named = {"level": "job", "job": f"row {place}", **_picked(row, _RUN), "run_id": run_id}
        runs.setdefault(run_id, named)
        for table, record in _records(row, run_id, percentiles):
            key = tuple(record.get(name) for name in ("ddir", "lat_kind", "percentile"))
            if records[table].setdefault((run_id, *key), record) != record:
                raise InputError(f"row {place} of the frame: an earlier row of its run has other {table}")
    tables = {name: list(rows.values()) for name, rows in records.items()} | {"runs": list(runs.values())}
    return {name: schema.frame(name, tables.get(name, ())) for name in schema.TABLES}


def _records(row: Row, run_id: str, percentiles: Mapping[str, float]) -> Iterator[tuple[str, Row]]:
    """Yield what a row has for each table but that of the runs; rows of one run may say the same twice."""
    key = {"run_id": run_id, "ddir": row["ddir"]}
    if figures := _picked(row, _RESULTS):
        yield "results", key | figures
    if figures := _picked(row, _LATENCY):
        yield "latency", key | {"lat_kind": row["lat_kind"]} | figures
    for name, percentile in percentiles.items():
        if name in row:
            figure = {"lat_kind": row["lat_kind"], "percentile": percentile, "lat_us": row[name]}
            yield "percentiles", key | figure


def _percentiles(frame: pd.DataFrame) -> dict[str, float]:
    """Return the columns with percentiles; all columns are known, and each is there once."""
    named = {name: match for name in map(str, frame.columns) if (match := _PERCENTILE.fullmatch(name))}
    counts = Counter(map(str, frame.columns))
    for name, n in counts.items():
        if n > 1:
            raise InputError(f"column {name} is there {n} times")
        if name not in (*_KNOWN, *_NOT_TAKEN, *named):
            raise InputError(f"column '{name[:60]}' is unknown; {choices(name.lower(), (*_KNOWN, 'p99_us'))}")
    return {name: float(match[1]) for name, match in named.items()}


def _stated(row: Mapping[Any, Any]) -> Row:
    """Return what a row states: no missing value, no name of a setup, and its direction."""
    stated = {
        str(name): value.isoformat() if isinstance(value, pd.Timestamp) else value
        for name, value in row.items()
        if name not in _NOT_TAKEN and not _is_missing(value)
    }
    if "ddir" not in stated and (direction := direction_of(str(stated.get("rw", "")))):
        stated["ddir"] = direction
    return stated


def _is_missing(value: Any) -> bool:
    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _check(row: Row, percentiles: Mapping[str, float], place: Any) -> None:
    latencies = [name for name in row if name in percentiles or name in _LATENCY]
    is_sum = row.get("level", "job") != "job"
    lacks = ["rw"] if "rw" not in row and not is_sum else ["ddir"] if "ddir" not in row else []
    lacks += ["lat_kind"] if latencies and "lat_kind" not in row else []
    if lacks:
        meaning = {"rw": "a pattern of fio such as randread", "ddir": "read, write, trim or mixed"}
        said = meaning.get(lacks[0], f"clat, lat or slat, of {latencies[0]}" if latencies else "")
        raise InputError(f"row {place} of the frame has no {lacks[0]} ({said})")
    if not latencies and not any(name in row for name in _RESULTS):
        raise InputError(f"row {place} of the frame has no figure, such as iops, bw_bytes_per_s or p99_us")


def _run_ids(rows: Sequence[Row]) -> list[str]:
    """Return the run of each row: rows of other directions or latencies that agree in all else are one.

    The same rows in the same order give the same ids, as the same output does.
    """
    repeats: Counter[str] = Counter()
    members: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        run = _text(_picked(row, _RUN))
        part = f"{run} {row['ddir']} {row.get('lat_kind')}"
        members[f"{repeats[part]} {run}"].append(i)
        repeats[part] += 1
    ids = [""] * len(rows)
    for name, places in members.items():
        content = " ".join([name, *(_text(rows[i]) for i in places)])
        made = hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        for i in places:
            ids[i] = str(rows[i].get("run_id", made))
    return ids


def _text(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def _picked(row: Row, names: Sequence[str]) -> Row:
    return {name: row[name] for name in names if name in row}
