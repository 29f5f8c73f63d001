"""DuckDB over the files of a lake: a view a table, and percentiles of histograms by azbench's own rule.

Names of files and columns are quoted here; the query itself is the user's own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.core import extras, histogram, schema
from azbenchlib.core.errors import InputError, MissingToolError, OutputError
from azbenchlib.core.findings import Code
from azbenchlib.core.temporary import TMPDIR_ADVICE, temporary_folder
from azbenchlib.core.units import NS_PER_US
from azbenchlib.lake.parts import BY_RUN, DIVIDED_BY, IS_COUNTED, WITH_COUNTED
from azbenchlib.lake.place import Folder, ObjectStore
from azbenchlib.lake.recount import RECOUNTED_COLUMNS, recount

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

_SQL_TYPES = {schema.TEXT: "VARCHAR", schema.INT: "BIGINT", schema.FLOAT: "DOUBLE", schema.BOOL: "BOOLEAN"}
AS_COLLECTED = "as_collected"  # the schema of views that show what parts hold, also what is told again
_EVERY_RUN = "runs_of_all_parts"  # in that schema: the runs, as often as parts hold them
_MEMORY = "700MiB"  # for what DuckDB holds; the rest goes to a folder of its own, which is removed
# Runs with whole bins in one part, and bins of their histogram log in another.
_LOGGED_TOO = f"""
CREATE TEMP TABLE logged_too AS SELECT DISTINCT run_id FROM (
    SELECT run_id FROM {AS_COLLECTED}.bins SEMI JOIN shared USING (run_id) WHERE {IS_COUNTED}
    GROUP BY run_id, ddir, lat_kind HAVING count(t_s) BETWEEN 1 AND count(*) - 1
)
"""
_NOT_LOGGED_TOO = f"{IS_COUNTED} AND (t_s IS NULL OR run_id NOT IN (FROM logged_too))"
# Histograms of rows with bin_ns and n, added up where the other columns agree; a row a percentile.
_PERCENTILES_OF = f"""
CREATE MACRO percentiles_of(named, wanted) AS TABLE
WITH summed AS (SELECT * EXCLUDE (n), sum(n)::BIGINT AS n FROM query_table(named) GROUP BY ALL),
whole AS (
    SELECT * EXCLUDE (bin_ns, n), sum(n)::BIGINT AS n, list({{'bin_ns': bin_ns, 'n': n}}) AS counts
    FROM summed GROUP BY ALL
)
SELECT * EXCLUDE (counts), unnest(wanted)::DOUBLE AS percentile,
    unnest(percentiles_ns(counts, wanted::DOUBLE[])) / {NS_PER_US}.0 AS lat_us
FROM whole
"""


@contextmanager
def connected(
    place: Folder | ObjectStore, files: Mapping[str, Sequence[str]]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the views of a lake, which reads and writes nothing else.

    Parameters
    ----------
    place : Folder or ObjectStore
    files : mapping of str to sequence of str
        The Parquet files of each table.

    Raises
    ------
    MissingToolError
        When DuckDB is not installed.
    """
    try:
        import duckdb
        from duckdb import func
    except ImportError as error:
        raise MissingToolError(f"a query needs DuckDB; get it with: {extras.install('lake')}") from error
    with temporary_folder() as overflow:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": str(overflow),
            "preserve_insertion_order": False,
        }
        with duckdb.connect(config=settings) as connection:
            # it would go to standard output, into the answer
            connection.execute("SET enable_progress_bar = false")
            if isinstance(place, ObjectStore):
                connection.register_filesystem(place.filesystem)
            connection.create_function(
                "percentiles_ns",
                _percentiles_ns,
                ["STRUCT(bin_ns BIGINT, n BIGINT)[]", "DOUBLE[]"],
                "BIGINT[]",
                type=func.ARROW,
            )
            connection.execute(_PERCENTILES_OF)
            connection.execute(f"CREATE SCHEMA {AS_COLLECTED}")
            for table in schema.TABLES:
                _add_view(connection, table, [place.path(name) for name in files.get(table, ())])
            _count_once(connection)
            connection.execute(
                f"CREATE VIEW histograms AS SELECT * EXCLUDE ({IS_COUNTED}) FROM bins WHERE {IS_COUNTED}"
            )
            _lock(connection, place, overflow)
            yield connection


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pd.DataFrame:
    """The answer to a SELECT, in the dtypes of the schema: whole numbers stay whole beside missing ones.

    Raises
    ------
    InputError
        When it is not one statement that only reads, or DuckDB refuses it; with what DuckDB says.
    OutputError
        When what does not fit into memory has no room.
    """
    import duckdb

    try:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InputError("a query is one SELECT; a lake is changed by azbench collect alone")
        return _frame(_answered(connection, statements[0].query))
    except duckdb.OutOfMemoryException as error:
        raise OutputError(
            f"the query needs more than {_MEMORY} of memory, and {tempfile.gettempdir()} has no room for the "
            f"rest; {TMPDIR_ADVICE}"
        ) from error
    except duckdb.Error as error:
        raise InputError(f"the query cannot be carried out: {_first_sentence(error)}") from error


def merged_histograms(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str], of_runs: Sequence[str]
) -> pd.DataFrame:
    """All histograms, added up: the columns `by`, of which runs alone has `of_runs`; bin_ns, n."""
    told = ", ".join(map(identifier, ["run_id", *of_runs]))
    joined = f"JOIN (SELECT {told} FROM runs) USING (run_id)" if of_runs else ""
    columns = ", ".join(map(identifier, [*by, "bin_ns"]))
    query = f"SELECT {columns}, sum(n)::BIGINT AS n FROM histograms {joined} GROUP BY ALL"
    return _frame(_answered(connection, query))


def _answered(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """What DuckDB answers; an interrupt, of which it makes an error of its own, is one."""
    import duckdb

    try:
        return connection.sql(query).arrow().read_all()
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def _frame(answered: pa.Table) -> pd.DataFrame:
    """A table of Arrow: each column with a name of its own; sums of whole numbers, which DuckDB has with 38
    digits, as numbers of 64 bits, and other decimals as numbers too.
    """
    import pandas as pd
    import pyarrow as pa

    kinds = [_number(one.type) if pa.types.is_decimal(one.type) else one.type for one in answered.schema]
    names = _apart([one.name for one in answered.schema])
    answered = answered.rename_columns(names)
    with suppress(pa.ArrowInvalid):  # one that has more digits stays as it is
        answered = answered.cast(pa.schema(list(zip(names, kinds, strict=True))))
    dtypes = {pa.string(): pd.StringDtype(), pa.bool_(): pd.BooleanDtype(), pa.float64(): pd.Float64Dtype()}
    dtypes |= dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), pd.Int64Dtype())
    found: pd.DataFrame = answered.to_pandas(types_mapper=dtypes.get)
    return found


def _number(kind: pa.Decimal128Type) -> pa.DataType:
    import pyarrow as pa

    return pa.float64() if kind.scale else pa.int64()


def _apart(names: Sequence[str]) -> list[str]:
    """The names, those that are there again with a number, as DuckDB numbers them in subqueries."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name}_{n}" for n in count(1))
        found.append(
            name if name not in found else next(one for one in numbered if one not in (*found, *names))
        )
    return found


def identifier(name: str) -> str:
    """A name of a column, quoted."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """A text, quoted."""
    return "'" + text.replace("'", "''") + "'"


def _first_sentence(error: Exception) -> str:
    """What DuckDB says, without the picture of the query and without a traceback of ours."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("LINE ", "^", "At:", "File "))]
    ours = [line for line in told if "InputError:" in line]
    return ours[-1].split("InputError:")[-1].strip() if ours else " ".join(told[:3])


def _add_view(connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[str]) -> None:
    """A view of a table; a run that several parts hold is there once."""
    columns, added = _columns(table), f"CREATE VIEW {AS_COLLECTED}"
    if files:
        listed = ", ".join(map(text_literal, files))
        options = "hive_partitioning = true, hive_types_autocast = false, filename = true"
        rows = f"read_parquet([{listed}], {options}, union_by_name = true)"
        there = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
    else:
        empty = ", ".join(f"NULL::{kind} AS {name}" for name, kind in columns.items())
        rows, there = f"(SELECT {empty}, NULL::VARCHAR AS filename WHERE false)", {*columns}
    # parts that were collected before may lack columns
    names = ", ".join(name if name in there else f"NULL::{kind} AS {name}" for name, kind in columns.items())
    key = ", ".join(schema.TABLES[table].key)
    if table not in BY_RUN:
        view = f"SELECT DISTINCT ON ({key}) {names} FROM {rows} ORDER BY {key}, filename"
    elif table in ("findings", "published"):  # of which several may have one key
        view = f"SELECT DISTINCT {names} FROM {rows}"
    else:
        if table == "runs":
            connection.execute(f"{added}.{_EVERY_RUN} AS SELECT {names} FROM {rows}")
            connection.execute(
                f"CREATE TEMP TABLE shared AS SELECT run_id FROM {rows} GROUP BY run_id HAVING count(*) > 1"
            )
        view = f"SELECT {names} FROM {rows}"
        if _has_rows(connection, "shared"):
            once = f"SELECT DISTINCT ON ({key}) {names} FROM {rows} WHERE run_id IN (FROM shared)"
            view += f" WHERE run_id NOT IN (FROM shared) UNION ALL ({once} ORDER BY {key}, filename)"
    connection.execute(f"{added}.{table} AS {view}")


def _count_once(connection: duckdb.DuckDBPyConnection) -> None:
    """The views, in which each run counts once, whatever parts tell of it."""
    again = recount(_OfDuckDB(connection))
    for name, some in (("dropped", again.dropped), ("uncounted", again.uncounted), ("log_runs", again.logs)):
        _add_ids(connection, name, some)
    connection.execute(_LOGGED_TOO)
    for table in schema.TABLES:
        view = f"SELECT * FROM {AS_COLLECTED}.{table}"
        if table == "bins" and _has_rows(connection, "logged_too"):
            view = f"SELECT * REPLACE ({_NOT_LOGGED_TOO} AS {IS_COUNTED}) FROM ({view})"
        if table in WITH_COUNTED and (again.uncounted or again.logs):
            ids = "FROM uncounted" if table == "bins" else "FROM uncounted UNION ALL FROM log_runs"
            view = f"SELECT * REPLACE ({IS_COUNTED} AND run_id NOT IN ({ids}) AS {IS_COUNTED}) FROM ({view})"
        if table in BY_RUN and again.dropped:
            view = f"SELECT * FROM ({view}) AS every ANTI JOIN dropped USING (run_id)"
        connection.execute(f"CREATE VIEW {table} AS {view}")


def _has_rows(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None


def _add_ids(connection: duckdb.DuckDBPyConnection, name: str, ids: Collection[str]) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} (run_id VARCHAR)")
    if ids:
        connection.execute(f"INSERT INTO {name} SELECT unnest(?::VARCHAR[])", [sorted(ids)])


class _OfDuckDB:
    """What the views of a lake tell."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def runs(self) -> pd.DataFrame:
        columns = ", ".join(RECOUNTED_COLUMNS)
        return self._told(f"SELECT {columns} FROM {AS_COLLECTED}.runs ORDER BY run_id")

    def named(self) -> pd.DataFrame:
        others = f"FROM {AS_COLLECTED}.findings WHERE code = {text_literal(Code.COUNTED_ONCE)}"
        return self._told(
            f"SELECT run_id, job, numjobs, source_path FROM {AS_COLLECTED}.{_EVERY_RUN} "
            f"UNION ALL SELECT run_id, NULL, NULL, source_path {others} AND run_id IS NOT NULL"
        )

    def runs_with(self, code: Code) -> set[str]:
        rows = self._told(
            f"SELECT DISTINCT run_id FROM {AS_COLLECTED}.findings WHERE code = {text_literal(code)}"
        )
        return set(rows["run_id"].dropna())

    def rows(self, name: str, ids: Collection[str]) -> pd.DataFrame:
        _add_ids(self._connection, "wanted", ids)
        return self._told(f"SELECT * FROM {AS_COLLECTED}.{name} SEMI JOIN wanted USING (run_id)")

    def totals(self) -> dict[str, tuple[float, float]]:
        sums = ", ".join(f"coalesce(sum({name}), 0)::DOUBLE AS {name}" for name in ("ios", "runtime_s"))
        rows = self._told(f"SELECT run_id, {sums} FROM {AS_COLLECTED}.results GROUP BY run_id")
        return {run_id: (ios, s) for run_id, ios, s in rows.itertuples(index=False)}

    def _told(self, query: str) -> pd.DataFrame:
        return _frame(_answered(self._connection, query))


def _columns(table: str) -> dict[str, str]:
    """The columns of a view with their types."""
    told = {name: _SQL_TYPES[column.dtype] for name, column in schema.TABLES[table].columns.items()}
    counted = {IS_COUNTED: "BOOLEAN"} if table in WITH_COUNTED else {}
    return told | dict.fromkeys(DIVIDED_BY[table], "VARCHAR") | counted


def _lock(connection: duckdb.DuckDBPyConnection, place: Folder | ObjectStore, overflow: Path) -> None:
    """From here on, no query reads or writes other files, loads an extension or changes a setting."""
    allowed = ", ".join(text_literal(f"{one.rstrip('/')}/") for one in (place.path(""), str(overflow)))
    connection.execute(f"SET allowed_directories = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _percentiles_ns(counts: Any, wanted: Any) -> Any:
    """Nearest ranks of each histogram (arrays of Arrow), by :func:`azbenchlib.core.histogram.percentile`."""
    import pyarrow as pa

    found = []
    for own, percentiles in zip(counts, wanted, strict=True):
        bins = own.values
        n = bins.field("n")
        told = histogram.percentile(bins.field("bin_ns"), n, percentiles.as_py())
        found.append(told.tolist())
    return pa.array(found, pa.list_(pa.int64()))
