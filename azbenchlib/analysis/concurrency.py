"""Which rows of the table runs were measured at the same time, and which only sum others: the one definition.

Rows of one document and group (fio's reporting group, the threads of a diskspd time span, the workers of an
IOMeter test) ran at once, on however many hosts, and their rates add up. A row without a group, such as an
experiment of a publication, ran alone. So did the same group in another document: an output that was
appended, or another file.

A row of level ``group``, ``host`` or ``all`` sums rows of a finer level of its document. It is left out
where those are there; where they are not, or less than it sums (an output may be cut), it is itself the
measurement.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from azbenchlib.core.findings import Code

Tables = Mapping[str, pd.DataFrame]

TOGETHER_COLUMNS = ("source_sha256", "source_doc", "group_id")
NEEDED = ("document", "source_doc", "group_id")  # without one of these, nothing says what ran beside a row
ROUNDED = 0.01  # printed figures are rounded; what differs by more is not all there
# What a row of a level has in common with the rows that it sums, beside its document.
_SCOPES = {"group": ["group_id", "host"], "host": ["host"], "all": []}
_DOCUMENT = ["document", "source_doc"]


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
    runs = _with_document(tables["runs"])
    moved = _moved(tables).reindex(runs["run_id"]).set_axis(runs.index)
    findings = tables["findings"]
    interim = runs["run_id"].isin(findings.loc[findings["code"] == Code.INTERIM_DOCUMENT, "run_id"])
    single = ~interim & ~runs["run_id"].duplicated()
    counts = single & (runs["level"] == "job")
    for level, scope in _SCOPES.items():
        own = single & (runs["level"] == level)
        if own.any():
            keys = [runs[name] for name in (*_DOCUMENT, *scope)]
            needed = _lacks(own, counts & moved["measured"], moved, keys)
            counts = (counts & ~needed) | (own & needed)
    return counts


def _lacks(own: pd.Series, parts: pd.Series, moved: pd.DataFrame, keys: list[pd.Series]) -> pd.Series:
    """Which rows share their scope with sums of which the parts are not there, or not all of them."""

    def over(rows: pd.Series, how: str) -> pd.Series:
        return rows.groupby(keys, dropna=False).transform(how)

    both = (own | parts) & moved["measured"]
    unknown = over(both & moved["ios"].isna(), "any")
    amount = moved["ios"].mask(unknown, moved["iops"])
    there, whole = (over(amount.where(rows).fillna(0.0), "sum") for rows in (parts, own))
    return over(own, "any") & (~over(parts, "any") | (whole > there * (1 + ROUNDED)))


def _moved(tables: Tables) -> pd.DataFrame:
    """What each run did in all its directions, by run_id: measured (at all), ios, iops (NA: not told)."""
    results = tables["results"]
    rows = results[counts_once(results)]
    done = rows.groupby("run_id")[["ios", "iops"]].sum(skipna=False).astype("Float64")
    timed = pd.Index(tables["percentiles"]["run_id"].unique())
    return (
        done.reindex(done.index.union(timed))
        .assign(measured=True)
        .reindex(tables["runs"]["run_id"].unique())
        .fillna({"measured": False})
        .astype({"measured": bool})
    )


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
    known = _with_document(runs)
    columns = ["document" if name == "source_sha256" else name for name in together]
    numbers = known.groupby(columns, dropna=False, sort=False).ngroup() if columns else 0
    names = pd.Series(numbers, index=runs.index).map("together {}".format).astype("string")
    alone = known[[name for name in columns if name in NEEDED]].isna().any(axis=1)
    return names.mask(alone, known["run_id"].astype("string"))


def sums(tables: Tables) -> dict[tuple[frozenset[str], str], str]:
    """Rows that sum others and tell percentiles of them, which the others may not.

    Returns
    -------
    dict
        The run_ids that a row sums, as far as they moved something in a direction, and that direction: the
        run_id of the row that has the percentiles of all their I/Os.
    """
    single = counted(tables)
    runs = _with_document(tables["runs"])
    moved = tables["results"][["run_id", "ddir"]].merge(runs[single], on="run_id")
    told = pd.concat([tables[name][["run_id", "ddir"]] for name in ("percentiles", "bins")]).drop_duplicates()
    wholes = told.merge(runs[~single], on="run_id")
    found: dict[tuple[frozenset[str], str], str] = {}
    for level, scope in _SCOPES.items():
        keys = [*_DOCUMENT, *scope, "ddir"]
        pairs = wholes[wholes["level"] == level].merge(moved, on=keys, suffixes=("", "_part"))
        for (run_id, ddir), group in pairs.groupby(["run_id", "ddir"], sort=False):
            found.setdefault((frozenset(group["run_id_part"]), str(ddir)), str(run_id))
    return found


def _with_document(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with the content that each is from; its path where no hash of it is known."""
    document = runs["source_sha256"].fillna(runs["source_path"])
    return runs.assign(document=document, level=runs["level"].fillna("job"))
