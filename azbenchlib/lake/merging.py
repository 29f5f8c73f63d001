"""Percentiles of the histograms of a lake, merged by DuckDB or by workers: the same figures either way.

Counts are whole numbers, so neither the order of a sum nor its division into parts changes anything. Workers
merge a part each, then the results a few at a time until one is left.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow.parquet as pq

from azbenchlib.analysis.percentiles import once
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import NS_PER_US
from azbenchlib.formats.packed import stack
from azbenchlib.lake import parts, sql
from azbenchlib.lake.batches import chunks
from azbenchlib.lake.parts import DAY, IS_COUNTED, PartRecord
from azbenchlib.lake.place import LakePlace
from azbenchlib.lake.recount import RECOUNTED_COLUMNS, recount
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
    told = _OfParts(place, there, workers)
    again = recount(told)
    ids = Counter(told.every_run["run_id"])
    shared = frozenset(run_id for run_id, count in ids.items() if count > 1)
    found = _results(
        workers, partial(_histograms, place, tuple(by), shared, again.dropped | again.uncounted), there
    )
    again = pd.concat([_none(by), *(rows for _, rows in found)])
    sums = [sums for sums, _ in found] + [_summed(once(again.drop_duplicates(_KEY, ignore_index=True)), by)]
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


class _OfParts:
    """What the parts of a lake tell, each read by a worker."""

    def __init__(self, place: LakePlace, there: Sequence[PartRecord], workers: Workers) -> None:
        self._place, self._there, self._workers = place, there, workers
        self.every_run = self._every("runs", list(RECOUNTED_COLUMNS), None)

    def runs(self) -> pd.DataFrame:
        return self.every_run.drop_duplicates("run_id").sort_values("run_id", ignore_index=True)

    def named(self) -> pd.DataFrame:
        columns = ["run_id", "source_path", "code"]
        findings = self._every("findings", columns, None)
        others = findings[(findings["code"] == Code.COUNTED_ONCE) & findings["run_id"].notna()]
        return pd.concat([self.every_run, others])[["run_id", "job", "numjobs", "source_path"]]

    def runs_with(self, code: Code) -> set[str]:
        rows = self._every("findings", ["run_id", "code"], None)
        return set(rows.loc[rows["code"] == code, "run_id"].dropna())

    def rows(self, name: str, ids: Collection[str]) -> pd.DataFrame:
        rows = self._every(name, list(schema.TABLES[name].columns), frozenset(ids))
        return rows.drop_duplicates(list(schema.TABLES[name].key), ignore_index=True)

    def totals(self) -> dict[str, tuple[float, float]]:
        rows = self._every("results", ["run_id", "ddir", "ios", "runtime_s"], None)
        rows = rows.drop_duplicates(["run_id", "ddir"])
        done = rows.groupby("run_id", sort=False)[["ios", "runtime_s"]].sum()
        return {run_id: (float(ios), float(s)) for run_id, ios, s in done.itertuples()}

    def _every(self, name: str, columns: list[str], ids: frozenset[str] | None) -> pd.DataFrame:
        task = partial(_rows_of, self._place, name, columns, ids)
        return stack(name, _results(self._workers, task, self._there))


def _rows_of(
    place: LakePlace, name: str, columns: list[str], ids: frozenset[str] | None, part: PartRecord
) -> pd.DataFrame:
    """Some columns of a table in a part, of some runs or of all."""
    rows = _rows(place, part, name, columns)
    rows = rows if ids is None else rows[rows["run_id"].isin(ids)]
    types = {column: schema.TABLES[name].columns[column].dtype for column in columns}
    return rows[columns].astype(types)


def _histograms(
    place: LakePlace, by: tuple[str, ...], shared: frozenset[str], left_out: frozenset[str], part: PartRecord
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The histograms of a part, added up; and the rows of runs that other parts hold too."""
    rows = _rows(place, part, "bins", [*_KEY, "n", IS_COUNTED])
    rows = rows[rows[IS_COUNTED] & ~rows["run_id"].isin(left_out)]
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
        file = pq.ParquetFile(io.BytesIO(data))
        there = [column for column in columns if column in file.schema_arrow.names]
        rows = file.read(there).to_pandas()
        rows = rows.reindex(columns=list(columns))  # parts that were collected before may lack some
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
