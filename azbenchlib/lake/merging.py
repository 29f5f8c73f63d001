"""Percentiles of the histograms of a lake, merged by DuckDB or by workers: the same figures either way.

Counts are whole numbers, so neither the order of a sum nor its division into parts changes anything. Workers
merge a part each, then the results a few at a time until one is left.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow.parquet as pq

from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NS_PER_US
from azbenchlib.lake import parts, sql
from azbenchlib.lake.batches import chunks
from azbenchlib.lake.parts import DAY, IS_COUNTED, PartRecord
from azbenchlib.lake.place import LakePlace
from azbenchlib.lake.workers import Item, Result, Workers
from azbenchlib.model.disk_row import OF_SETUP

if TYPE_CHECKING:
    import duckdb

_AT_ONCE = 8  # partial results that are merged into one
_KEY = list(schema.TABLES["bins"].key)
OF_BINS = ("run_id", "ddir", "lat_kind", DAY, OF_SETUP)
_TYPES = {name: column.dtype for name, column in schema.TABLES["runs"].columns.items()}


def by_duckdb(connection: duckdb.DuckDBPyConnection, by: Sequence[str]) -> pd.DataFrame:
    """The histograms of a lake, added up over all but the columns `by`: `by`, bin_ns, n."""
    return _typed(sql.merged_histograms(connection, by, _of_runs(by)), by)


def by_workers(
    place: LakePlace, there: Sequence[PartRecord], workers: Workers, by: Sequence[str]
) -> pd.DataFrame:
    """As :func:`by_duckdb`, each part by a worker, and the results of some parts again by one."""
    ids = Counter(run_id for found in _results(workers, partial(_run_ids, place), there) for run_id in found)
    shared = frozenset(run_id for run_id, count in ids.items() if count > 1)
    found = _results(workers, partial(_histograms, place, tuple(by), shared), there)
    again = pd.concat([_none(by), *(rows for _, rows in found)])
    sums = [sums for sums, _ in found] + [_summed(again.drop_duplicates(_KEY), by)]
    while len(sums) > 1:
        groups = list(chunks(sums, _AT_ONCE))
        sums = _results(workers, partial(_merged, tuple(by)), groups)
    return sums[0]


def percentiles_of(found: pd.DataFrame, by: Sequence[str], wanted: Sequence[float]) -> pd.DataFrame:
    """Percentiles of each histogram, by nearest rank.

    Parameters
    ----------
    found : DataFrame
        Columns `by`, ``bin_ns`` and ``n``.
    by : sequence of str
    wanted : sequence of float
        Above 0, at most 100.

    Returns
    -------
    DataFrame
        `by`, n, percentile, lat_us; sorted by `by`, what has no value last.
    """
    rows = found[found["n"] > 0].sort_values([*by, "bin_ns"], ignore_index=True)
    grouped = rows.groupby(list(by), dropna=False, sort=False) if by else [((), rows)] if len(rows) else []
    made = []
    for key, group in grouped:
        values = histogram.percentile(group["bin_ns"], group["n"], wanted) / NS_PER_US
        told = dict(zip(by, key, strict=True)) | {"n": group["n"].sum()}
        made += [told | {"percentile": p, "lat_us": us} for p, us in zip(wanted, values, strict=True)]
    columns = [*by, "n", "percentile", "lat_us"]
    return pd.DataFrame(made, columns=columns).astype(
        {name: _type(name) for name in by}
        | {"n": schema.INT, "percentile": schema.FLOAT, "lat_us": schema.FLOAT}
    )


def _results(workers: Workers, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The results of a task over items; what was lost is told."""
    found = []
    for _, result in workers.map(task, items):
        if result is None:
            raise InputError(
                "each process that merged a part of the lake was ended, perhaps for want of memory"
            )
        found.append(result)
    return found


def _run_ids(place: LakePlace, part: PartRecord) -> list[str]:
    ids: list[str] = []
    for data in place.read(parts.files_of(part, "runs")):
        ids += pq.read_table(io.BytesIO(data), columns=["run_id"])["run_id"].to_pylist()
    return ids


def _histograms(
    place: LakePlace, by: tuple[str, ...], shared: frozenset[str], part: PartRecord
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The histograms of a part, added up; and the rows of runs that other parts hold too."""
    rows = _rows(place, part, "bins", [*_KEY, "n", IS_COUNTED])
    rows = rows[rows[IS_COUNTED]]
    if of_runs := _of_runs(by):
        told = _rows(place, part, "runs", ["run_id", *of_runs])
        rows = rows.merge(told[["run_id", *of_runs]], on="run_id")
    again = rows["run_id"].isin(shared)
    columns = list(dict.fromkeys([*_KEY, *by, "n"]))
    return _summed(rows[~again], by), rows.loc[again, columns]


def _rows(place: LakePlace, part: PartRecord, table: str, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of a table in a part, with day and setup."""
    names = parts.files_of(part, table)
    found = []
    for name, data in zip(names, place.read(names), strict=True):
        rows = pq.read_table(io.BytesIO(data), columns=list(columns)).to_pandas()
        found.append(rows.assign(**parts.values_of(name)))
    return pd.concat(found) if found else pd.DataFrame(columns=[*columns, DAY, OF_SETUP])


def _merged(by: tuple[str, ...], some: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return _summed(pd.concat(some), by)


def _summed(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    return histogram.merge(_typed(rows, by), list(by))


def _none(by: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(columns=list(dict.fromkeys([*_KEY, *by, "n"])))


def _typed(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    types = {name: _type(name) for name in by} | {"bin_ns": schema.INT, "n": schema.INT}
    return rows[list(types)].astype(types)


def _type(name: str) -> str:
    return _TYPES.get(name, schema.TEXT)


def _of_runs(by: Sequence[str]) -> list[str]:
    """The columns that the table runs alone has."""
    return [name for name in by if name not in OF_BINS]
