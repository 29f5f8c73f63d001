"""Each run once, whichever files, forms and states tell of it: what was read becomes what counts.

Rows of one run_id are one run (:mod:`azbenchlib.formats.identity`); forms and states of one are found by
:mod:`azbenchlib.analysis.same_runs`, logs that lie apart by :mod:`azbenchlib.analysis.logs_apart`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from azbenchlib.analysis import concurrency, logs_apart, same_runs
from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Finding
from azbenchlib.formats.packed import stack

Tables = dict[str, pd.DataFrame]
_NAMED = 5  # of the files that tell of one run


def count_once(tables: Tables) -> Tables:
    """Keep one row a run, mark states of a run under way, give logs to their run; and say so."""
    tables, files = _without_copies(tables)
    tables, forms = _without_forms(tables)
    return _with_logs(_with_states(_told(tables, files, forms)))


def _without_copies(tables: Tables) -> tuple[Tables, dict[str, list[str]]]:
    """The tables with the rows of each run once, and the files of each run that is there several times."""
    runs = tables["runs"]
    shared = runs.duplicated("run_id", keep=False)
    if not shared.any():
        return {name: _once(name, table, set()) for name, table in tables.items()}, {}
    # of a document and its beginning, all rows are to be of the whole one
    sizes = runs.groupby(["source_sha256", "source_path", "source_doc"], dropna=False)["run_id"].transform(
        "size"
    )
    first = runs.assign(size=-sizes).sort_values("size", kind="stable").drop_duplicates("run_id")
    files = {
        run_id: list(rows["source_path"].dropna())
        for run_id, rows in runs[shared].groupby("run_id", sort=False)
    }
    tables = tables | {"runs": runs.loc[sorted(first.index)].reset_index(drop=True)}
    return {name: _once(name, table, set(files)) for name, table in tables.items()}, files


def other_forms(tables: Tables) -> dict[str, str]:
    """The run that counts, by the run_id of each other form of it; the tables may have copies."""
    runs = _finished(tables).drop_duplicates("run_id")
    return same_runs.same_runs(runs, same_runs.RunFigures.of(tables))


def _without_forms(tables: Tables) -> tuple[Tables, dict[str, tuple[str, str]]]:
    """The tables without other forms of a run that is there; by its run_id, the run and file of each."""
    again = other_forms(tables)
    if not again:
        return tables, {}
    runs = tables["runs"]
    places = dict(zip(runs["run_id"], runs["source_path"].fillna(""), strict=True))
    forms = {run_id: (kept, places[run_id]) for run_id, kept in again.items()}
    tables = _with_logs_of(tables, again)
    return {name: without(table, set(again)) for name, table in tables.items()}, forms


def _finished(tables: Tables) -> pd.DataFrame:
    """The rows of runs that are not known to be under way."""
    known = concurrency.interim(tables["findings"])
    return tables["runs"][~tables["runs"]["run_id"].isin(known)] if known else tables["runs"]


def _told(tables: Tables, files: dict[str, list[str]], forms: dict[str, tuple[str, str]]) -> Tables:
    """The tables with a finding on each run and each file but the one that counts which tells of it.

    Parameters
    ----------
    tables : dict of str to DataFrame
    files : dict of str to list of str
        The files of runs that are there as they stand in several, by run_id.
    forms : dict of str to (str, str)
        The run and the file of each other form, by its run_id.
    """
    if not files and not forms:
        return tables
    places = dict(zip(tables["runs"]["run_id"], tables["runs"]["source_path"].fillna(""), strict=True))
    others: dict[str, dict[str, None]] = defaultdict(dict)  # by the run that counts
    for run_id, paths in files.items():
        kept = forms[run_id][0] if run_id in forms else run_id
        others[kept] |= dict.fromkeys(path for path in paths if path != places[kept])
        others[kept] = others[kept] or {places[kept]: None}  # twice in that file
    for kept, path in forms.values():
        others[kept] |= {path: None}
    by_file: dict[str, dict[str, None]] = defaultdict(dict)
    for kept, again in others.items():
        by_file[places[kept]] |= again
    said = {
        kept: _same_run(kept, [path for path in paths if path != kept]) for kept, paths in by_file.items()
    }
    notes = [
        Finding.of(Code.COUNTED_ONCE, said[places[kept]], source_path=path, run_id=kept).row()
        for kept, paths in others.items()
        for path in paths
    ]
    return tables | {"findings": stack("findings", [tables["findings"], schema.frame("findings", notes)])}


def _with_states(tables: Tables) -> Tables:
    """The tables with findings on the rows that show a run of another file under way."""
    runs = _finished(tables)
    under_way = same_runs.states_under_way(runs, same_runs.RunFigures.of(tables))
    if not under_way:
        return tables
    shown = runs.loc[runs["run_id"].isin(under_way), ["run_id", "source_path"]]
    notes = [_under_way(run_id, path) for run_id, path in shown.itertuples(index=False)]
    return tables | {"findings": stack("findings", [tables["findings"], schema.frame("findings", notes)])}


def _with_logs(tables: Tables) -> Tables:
    """Give the logs that lie apart from their run to it."""
    with_results = set(tables["results"]["run_id"].unique())
    if with_results.issuperset(tables["runs"]["run_id"]):  # as nearly always: no run is of logs alone
        return tables
    findings, figures = tables["findings"], same_runs.RunFigures.of(tables)
    named = pd.concat([tables["runs"], findings[findings["code"] == Code.COUNTED_ONCE]])
    run_of = logs_apart.owners(tables["runs"], with_results, named, figures.rows, figures)
    if not run_of:
        return tables
    tables = _with_logs_of(tables, run_of)
    named = findings.assign(run_id=findings["run_id"].replace(run_of))
    return tables | {"runs": without(tables["runs"], set(run_of)).reset_index(drop=True), "findings": named}


def _with_logs_of(tables: Tables, run_of: Mapping[str, str]) -> Tables:
    """The tables with what logs tell of some runs told of others; what these have already is a copy."""
    if not run_of:
        return tables
    changed = {}
    for name in ("samples", "bins"):
        rows = tables[name].assign(teller=tables[name]["run_id"])
        joins = rows["run_id"].isin(run_of) & rows["t_s"].notna()
        joining = rows[joins].assign(run_id=rows.loc[joins, "run_id"].replace(dict(run_of)))
        both = pd.concat([rows[~joins], joining], ignore_index=True)
        both = finest(both) if name == "samples" else both
        both = both.drop(columns="teller").drop_duplicates(list(schema.TABLES[name].key))
        changed[name] = both.reset_index(drop=True)
    return tables | changed


def finest(samples: pd.DataFrame) -> pd.DataFrame:
    """Of the series of one run, direction and metric the one with the most entries: a log, not its beginning.

    Rates between reports on a run under way have other times than its log, and the two are not mixed.
    """
    keys = ["run_id", "ddir", "metric"]
    n = samples.groupby([*keys, "teller"], dropna=False)["seq"].transform("size")
    most = samples.assign(n=n).sort_values("n", ascending=False, kind="stable").drop_duplicates(keys)
    kept = pd.MultiIndex.from_frame(most[[*keys, "teller"]])
    return samples[pd.MultiIndex.from_frame(samples[[*keys, "teller"]]).isin(kept)]


def _same_run(kept: str, others: Sequence[str]) -> str:
    """What is said of the files that tell of the same runs."""
    files = [kept, *others]
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    where = (
        f"in {len(files)} files: {', '.join(files[:_NAMED])}{more}" if others else f"more than once in {kept}"
    )
    return f"the same run is {where}; it is counted once, as {kept} tells it"


def _under_way(run_id: str, path: str) -> dict[str, Any]:
    message = f"{path}: shows a run under way, of which another file tells more"
    return Finding.of(Code.INTERIM_DOCUMENT, message, source_path=path, run_id=run_id).row()


def _once(name: str, table: pd.DataFrame, again: set[str]) -> pd.DataFrame:
    """The rows of a table, those of runs that are there twice once."""
    if name == "findings" or "run_id" not in table:
        keys = None if name == "findings" else list(schema.TABLES[name].key)
        return table.drop_duplicates(keys, ignore_index=True) if len(table) > 1 else table
    if not again:
        return table
    rows = table[table["run_id"].isin(again)]
    # printed figures may share a key and yet differ
    surplus = rows.index[rows.duplicated(None if name == "published" else list(schema.TABLES[name].key))]
    return table.drop(index=surplus).reset_index(drop=True) if len(surplus) else table


def without(table: pd.DataFrame, ids: set[str]) -> pd.DataFrame:
    """The rows of a table but those of some runs."""
    return table[~table["run_id"].isin(ids)] if "run_id" in table else table


def same_content(run_id: str | None, path: str) -> dict[str, Any]:
    """The row of the finding that a file tells what another one tells."""
    message = f"{path}: the same content as another file; counted once"
    return Finding.of(Code.COUNTED_ONCE, message, source_path=path, run_id=run_id).row()
