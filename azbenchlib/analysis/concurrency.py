"""Which rows of the table runs were measured at the same time, and which only sum others: the one definition.

Rows of one document and group (fio's reporting group, the threads of a diskspd time span, the workers of an
IOMeter test) ran at once, on however many hosts, and their rates add up. A row without a group, such as an
experiment of a publication, ran alone. So did the same group in another document: an output that was
appended, or another file.

A row of level ``group``, ``host`` or ``all`` sums rows of a finer level of its document. It is left out
where those are there; where they are not, or less than it sums (an output may be cut), it is itself the
measurement.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.core.units import sum_known

Tables = Mapping[str, pd.DataFrame]
Row = Mapping[str, Any]

TOGETHER_COLUMNS = ("source_sha256", "source_doc", "group_id")
NEEDED = ("document", "source_doc", "group_id")  # without one of these, nothing says what ran beside a row
ROUNDED = 0.01  # printed figures are rounded; what differs by more is not all there
# What a row of a level has in common with the rows that it sums, beside its document.
_SCOPES = {"group": ("group_id", "host"), "host": ("host",), "all": ()}
_DOCUMENT = ("document", "source_doc")
_PLACE = ("run_id", "level", "source_sha256", "source_path", "source_doc", "group_id", "host")


def counted(tables: Tables) -> pd.Series:
    """Which rows of the table runs are measurements that no other row repeats.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        All tables of a dataset.

    Returns
    -------
    Series of bool
        One a row of runs. False for sums of rows that are there, for interim states of a run, and for all but
        the first row of a run.
    """
    rows = _places(tables["runs"])
    return pd.Series(_counted(tables, rows), index=tables["runs"].index, dtype=bool)


def _counted(tables: Tables, rows: Sequence[Row]) -> list[bool]:
    single = _single(tables, rows)
    counts = [one and row["level"] == "job" for one, row in zip(single, rows, strict=True)]
    if all(row["level"] == "job" for row in rows):
        return counts
    moved = _moved(tables)
    for level, scope in _SCOPES.items():
        for group in _groups(rows, (*_DOCUMENT, *scope)).values():
            own = [i for i in group if single[i] and rows[i]["level"] == level]
            parts = [i for i in group if counts[i]]
            done = {i: known for i in group if (known := moved.get(rows[i]["run_id"]))}
            if own and _lack([done[i] for i in own if i in done], [done[i] for i in parts if i in done]):
                for i in group:
                    counts[i] = i in own
    return counts


def _single(tables: Tables, rows: Sequence[Row]) -> list[bool]:
    """Which rows are the first of their run, and no interim state."""
    seen = interim(tables["findings"])
    found = []
    for row in rows:
        found.append(row["run_id"] not in seen)
        seen.add(row["run_id"])
    return found


def interim(findings: pd.DataFrame) -> set[str]:
    """The runs that are known to be shown under way, of which another row tells the end."""
    return set(findings.loc[findings["code"] == Code.INTERIM_DOCUMENT, "run_id"]) if len(findings) else set()


_Moved = tuple[float | None, float | None]  # I/Os and IOPS in all directions; None: not told of each


def _lack(own: Sequence[_Moved], parts: Sequence[_Moved]) -> bool:
    """Whether the parts of sums are not there, or not all of them."""
    by_rate = any(ios is None for ios, _ in (*own, *parts))
    whole, there = (sum(moved[by_rate] or 0.0 for moved in some) for some in (own, parts))
    return not parts or whole > there * (1 + ROUNDED)


def _moved(tables: Tables) -> dict[str, _Moved]:
    """What each run did that was measured at all, by run_id."""
    done: dict[str, list[Row]] = {run_id: [] for run_id in tables["percentiles"]["run_id"].unique()}
    results = tables["results"]
    for row in schema.records(results.loc[counts_once(results), ["run_id", "ios", "iops"]]):
        done.setdefault(row["run_id"], []).append(row)
    return {
        run_id: (sum_known([row["ios"] for row in rows]), sum_known([row["iops"] for row in rows]))
        for run_id, rows in done.items()
    }


def counts_once(rows: pd.DataFrame) -> pd.Series:
    """Which rows of a table with run_id and ddir sum no others: mixed only where a run has nothing else."""
    mixed = rows["ddir"] == "mixed"
    if not mixed.any():
        return ~mixed
    return ~(mixed & rows["run_id"].isin(rows.loc[~mixed, "run_id"].unique()))


def at_once(runs: pd.DataFrame, together: Sequence[str] = TOGETHER_COLUMNS) -> pd.Series:
    """A name for all rows that were measured at the same time, the same for each of them.

    Parameters
    ----------
    runs : DataFrame
        Rows of the table runs.
    together : sequence of str
        Columns in which rows agree that ran at once.

    Returns
    -------
    Series of str
        The run_id where a row ran alone, for want of a group or a document.
    """
    columns = ["document" if name == "source_sha256" else name for name in together]
    rows = _places(runs, together)
    names = [str(row["run_id"]) for row in rows]
    for number, group in enumerate(_groups(rows, columns).values() if columns else [range(len(rows))]):
        for i in group:
            if all(rows[i][name] is not None for name in columns if name in NEEDED):
                names[i] = f"together {number}"
    return pd.Series(names, index=runs.index, dtype="string")


def sums(tables: Tables) -> dict[tuple[frozenset[str], str], str]:
    """Rows that sum others and tell percentiles of them, which the others may not.

    Returns
    -------
    dict
        The run_ids that a row sums, as far as they moved something in a direction, and that direction: the
        run_id of the row that has the percentiles of all their I/Os.
    """
    rows = _places(tables["runs"])
    single = _counted(tables, rows)
    whole = [row for row, one in zip(rows, single, strict=True) if not one]
    if not whole:
        return {}
    moved = _ddirs(tables["results"])
    told = _ddirs(pd.concat([tables[name][["run_id", "ddir"]] for name in ("percentiles", "bins")]))
    found: dict[tuple[frozenset[str], str], str] = {}
    for level, scope in _SCOPES.items():
        keys = (*_DOCUMENT, *scope)
        parts = _groups(rows, keys)
        for row in whole:
            if row["level"] == level:
                group = {rows[i]["run_id"] for i in parts[_key(row, keys)] if single[i]}
                for ddir in told.get(row["run_id"], ()):
                    summed = frozenset(run_id for run_id in group if ddir in moved.get(run_id, ()))
                    if summed:
                        found.setdefault((summed, ddir), row["run_id"])
    return found


def _ddirs(table: pd.DataFrame) -> dict[str, list[str]]:
    """The directions of each run in a table, in order."""
    found: dict[str, list[str]] = defaultdict(list)
    pairs = table[["run_id", "ddir"]].drop_duplicates()
    for run_id, ddir in zip(pairs["run_id"], pairs["ddir"], strict=True):
        found[run_id].append(ddir)
    return found


def _groups(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """The places of rows that agree in these columns, in order; what is not known agrees too."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        found[_key(row, names)].append(i)
    return found


def _key(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _places(runs: pd.DataFrame, more: Sequence[str] = ()) -> list[Row]:
    """Where each run stands, with the content that it is from; its path where no hash of it is known."""
    names = [name for name in dict.fromkeys((*_PLACE, *more)) if name in runs]
    rows = schema.records(runs[names])
    return [
        {**row, "document": row["source_sha256"] or row["source_path"], "level": row.get("level") or "job"}
        for row in rows
    ]
