"""What repeats what: runs of one stated setup and of the same workload, each at a time of its own.

Only repeats are taken together, as their median. What was measured on a setup that nobody stated is compared
with nothing: there the file stands for the setup, and each of its runs stands for itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from azbenchlib.analysis.groups import distinct
from azbenchlib.core.patterns import MIXED
from azbenchlib.core.units import format_count, format_size, format_us

RATE_COLUMNS = {
    "iops": "iops_bound",
    "bw_bytes_per_s": "bw_bound",
}  # and the column of each that tells its bound
# Columns of the table setups that do not tell one setup from another.
_NO_FACTS = ("setup_id", "environment", "time_scale", "credit_s", "as_of")
# What a workload has that asks for none of it: of no other kind than one of which nothing is stated.
ASKS_FOR_NONE = {
    "thinktime_us": "0",
    "fsync": "0",
    "fdatasync": "0",
    "random_distribution": "random",
    "verify": "none",
}
# What makes workloads different that have the same pattern, block size and load, and how it reads.
DIFFERENCES: dict[str, Callable[[Any], str]] = {
    "tool": str,
    "host": "on {}".format,
    "disks": "on {}".format,
    "target": "{}".format,
    "rwmix_read_pct": "{:g} % reads".format,
    "bs_write_bytes": lambda size: f"writes of {format_size(size)}",
    "working_set_bytes": lambda size: f"{format_size(size)} of data",
    "direct": lambda direct: "direct" if direct else "buffered",
    "ioengine": str,
    "iodepth": "iodepth {:g} a job".format,
    "rate_iops": lambda rate: f"held to {format_count(rate)} IOPS",
    "thinktime_us": lambda us: f"{format_us(us)} of think time" if us else "",
    "fsync": lambda writes: _synced("fsync", writes),
    "fdatasync": lambda writes: _synced("fdatasync", writes),
    "random_distribution": lambda name: "" if name == ASKS_FOR_NONE["random_distribution"] else str(name),
    "verify": lambda way: "" if way == ASKS_FOR_NONE["verify"] else f"verified by {way}",
}
WORKLOAD = tuple(DIFFERENCES)


def _synced(call: str, writes: float) -> str:
    return (
        "" if not writes else f"{call} after each write" if writes == 1 else f"{call} every {writes:g} writes"
    )


def is_stated(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> pd.Series:
    """Which runs were measured on a setup of which something is known.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    runs : DataFrame
        With the column setup_id.

    Returns
    -------
    Series of bool
        False where there is no setup_id, or one of which the tables setups and disks tell nothing.
    """
    setups = tables["setups"]
    facts = setups.drop(columns=list(_NO_FACTS), errors="ignore").notna().any(axis=1)
    empty = set(setups.loc[~facts, "setup_id"]) - set(tables["disks"]["setup_id"])
    return runs["setup_id"].notna() & ~runs["setup_id"].isin(empty)


def differences(runs: pd.DataFrame) -> pd.Series:
    """What to add to the names of workloads so that only repeats have the same name.

    Parameters
    ----------
    runs : DataFrame
        With series, workload (its name as far as it goes), at_once, stated, job, rw and the columns of
        :data:`WORKLOAD`.

    Returns
    -------
    Series of str
        Whatever differs between those that share a name, with a comma before; else nothing.
    """
    more = pd.Series("", index=runs.index, dtype="string")
    alike = [runs["series"], runs["workload"]]
    for column, words in DIFFERENCES.items():
        if column != "rwmix_read_pct" and runs[column].nunique(dropna=False) < 2:
            continue  # what all say tells nothing apart
        said = runs[column].map(words, na_action="ignore").astype("string").fillna("")
        if column == "rwmix_read_pct":
            said = said.where(runs["rw"].isin(MIXED), "")
        if said.nunique() < 2:
            continue
        together = _together(said, [*alike, runs["at_once"]])
        differ = distinct(together, alike) > 1
        more = more + (", " + together).where(differ & (together != ""), "")
    return more + _which(runs, runs["workload"] + more)


def _together(said: pd.Series, keys: Sequence[pd.Series]) -> pd.Series:
    """What rows that ran at once say, joined."""
    group = said.groupby(list(keys), dropna=False).ngroup()
    told = said[said != ""].sort_values()
    return joined(told, group, " and ").fillna("")


def joined(said: pd.Series, group: pd.Series, between: str) -> pd.Series:
    """What the rows of a group say, each text once, in the order of `said`.

    Parameters
    ----------
    said : Series of str
        Of some or all rows.
    group : Series
        The group of each row.
    between : str
        What stands between two texts.

    Returns
    -------
    Series of str
        As long as `group`; NA for the rows of a group that says nothing.
    """
    pairs = pd.DataFrame({"group": group.reindex(said.index), "said": said}).drop_duplicates()
    first = pairs.drop_duplicates("group").set_index("group")["said"]
    several = pairs[pairs.duplicated("group", keep=False)].groupby("group")["said"].agg(between.join)
    texts = {**first.to_dict(), **several.to_dict()}
    return group.map(texts).astype("string")


def _which(runs: pd.DataFrame, text: pd.Series) -> pd.Series:
    """The job, or the number, of each run that would have a namesake on a setup that is not stated."""
    if runs["stated"].all():
        return pd.Series("", index=runs.index, dtype="string")
    own = pd.DataFrame(
        {"series": runs["series"], "text": text, "at_once": runs["at_once"], "job": runs["job"]}
    )
    first = own[~runs["stated"]].drop_duplicates(["series", "text", "at_once"])
    groups = first.groupby(["series", "text"], dropna=False)
    n, number = groups["at_once"].transform("size"), groups.cumcount() + 1
    numbered = "run " + number.astype("string") + " of " + n.astype("string")
    by_job = groups["job"].transform("nunique") == n
    named = numbered.mask(by_job, "job '" + first["job"].astype("string") + "'").where(n > 1)
    found = own.merge(first.assign(which=", " + named), on=["series", "text", "at_once"], how="left")
    return found["which"].set_axis(runs.index).astype("string").fillna("")


def added(runs: pd.DataFrame, keys: Sequence[str], carried: Sequence[str]) -> pd.DataFrame:
    """One row for all rows that ran at once, their rates added; NA where one of them is not known.

    Parameters
    ----------
    runs : DataFrame
        Of an arrangement.
    keys : sequence of str
        Columns that are kept apart.
    carried : sequence of str
        Columns that are taken from the first.

    Returns
    -------
    DataFrame
        `keys`, at_once, `carried`, n_runs (rows of the table runs), iops, bw_bytes_per_s and their bounds.
    """
    groups = runs.groupby([*keys, "at_once"], dropna=False, sort=False, observed=True)
    first = groups.agg({**dict.fromkeys(carried, "first"), "run_id": "nunique"})
    table = first.rename(columns={"run_id": "n_runs"})
    for bound in RATE_COLUMNS.values():
        table[bound] = common_bound(groups[bound])
    rated = runs[runs[list(RATE_COLUMNS)].notna().any(axis=1)]  # a latency alone says nothing of a rate
    sums = rated.groupby([*keys, "at_once"], dropna=False, sort=False)[list(RATE_COLUMNS)].sum(skipna=False)
    return table.join(sums).reset_index()


def pooled(rows: pd.DataFrame, keys: Sequence[str], carried: Sequence[str]) -> pd.DataFrame:
    """Repeats as one row each: the median of their rates, how many there are, and their range.

    Parameters
    ----------
    rows : DataFrame
        A row for all that ran at once: `keys`, `carried`, n_runs (rows summed), iops, bw_bytes_per_s and
        their bounds.
    keys : sequence of str
        Rows that agree in these are repeats.
    carried : sequence of str
        Columns that are taken from the first.

    Returns
    -------
    DataFrame
        The same columns, and repeats, iops_low, iops_high, bw_low, bw_high. A bound that the repeats do not
        share is ``~``.
    """
    groups = rows.groupby(list(keys), dropna=False, sort=False)
    table = groups.agg({**dict.fromkeys(carried, "first"), "n_runs": "sum"})
    table["repeats"] = groups.size()
    for rate, bound in RATE_COLUMNS.items():
        table[rate], low = groups[rate].median(), bound.replace("_bound", "_low")
        table[low], table[low.replace("low", "high")] = groups[rate].min(), groups[rate].max()
        table[bound] = common_bound(groups[bound])
    return table.reset_index()


def common_bound(groups: Any) -> pd.Series:
    """The bound that all rows of each group share; ``~`` where they differ."""
    return groups.first().where(groups.nunique() <= 1, "~")
