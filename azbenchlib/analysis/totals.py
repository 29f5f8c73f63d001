"""What everything that ran at once delivered: all directions of all its jobs together."""

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.mix import read_share
from azbenchlib.analysis.over_time import sustained
from azbenchlib.core import schema

_KEYS = ["series", "facet"]
_APART = ["read", "write", "trim"]
_SHARED = ["rw", "bs_bytes", "direct"]  # NA where the rows that ran at once do not share them
FACTS = [*_SHARED, "ddir", "queue_depth", "read_share", "workloads"]


def totals(arrangement: Arrangement) -> pd.DataFrame:
    """One rate for everything that ran at once; repeats give their median.

    Returns
    -------
    DataFrame
        Columns as of :func:`~azbenchlib.analysis.grouping.rates`; facet is the whole workload, workloads how
        many different ones it holds, ddir ``mixed`` where it has several directions. queue_depth is that of
        all; rw, bs_bytes and direct are NA where they are not the same throughout. read_share is measured,
        stated or the default of the pattern. Where a run had phases, such as a burst and the base, the rate
        is that of the last one, and phases tells them; else that is empty.
    """
    return sustained.pooled(each(arrangement), _KEYS, FACTS)


def each(arrangement: Arrangement) -> pd.DataFrame:
    """One rate for everything that ran at once, each repeat for itself.

    Returns
    -------
    DataFrame
        Columns as of :func:`totals` without the ranges, and at_once.
    """
    runs = arrangement.runs
    groups = runs.groupby("at_once", sort=False)
    rows = runs.assign(facet=runs["whole"], series=groups["series"].transform("first"))
    table = repeats.added(rows, _KEYS, []).merge(_facts(runs), on="at_once")
    return sustained.with_phases(table, arrangement.phases)


def _facts(runs: pd.DataFrame) -> pd.DataFrame:
    """What holds of all rows that ran at once: the columns of :data:`FACTS`, by at_once."""
    groups = runs.groupby("at_once", sort=False)
    first, several = groups[[*_SHARED, "ddir"]].first(), groups[[*_SHARED, "ddir"]].nunique(dropna=False) > 1
    facts = first.mask(several)
    facts["ddir"] = first["ddir"].mask(several["ddir"], "mixed")
    facts["bs_bytes"] = facts["bs_bytes"].mask(groups["bs_write_bytes"].count() > 0)
    apart = runs.drop_duplicates(["at_once", "workload"]).groupby("at_once", sort=False)
    facts["queue_depth"] = apart["queue_depth"].sum(skipna=False)
    facts["workloads"] = apart.size()
    facts["read_share"] = _reads(runs)
    return facts.reset_index()


def _reads(runs: pd.DataFrame) -> pd.Series:
    """The share of reads of all that ran at once, weighted by rate where it is several runs."""
    known = runs.groupby("run_id")["iops"].transform("count") == runs.groupby("run_id")["iops"].transform(
        "size"
    )
    rate = runs["iops"].where(known, runs["bw_bytes_per_s"])
    each = runs.assign(
        rate=rate, reads=rate.where(runs["ddir"] == "read", 0.0), apart=runs["ddir"].isin(_APART)
    )
    one = each.groupby("run_id", sort=False)
    table = one[["rate", "reads"]].sum(skipna=False).join(one[["at_once", "rw", "rwmix_read_pct"]].first())
    reads = table["reads"].where(one["apart"].all())
    told = zip(table["rw"], table["rwmix_read_pct"], reads, table["rate"], strict=True)
    table["share"] = pd.array([read_share(*row) for row in told], dtype=schema.FLOAT)
    groups = table.assign(part=table["share"] * table["rate"]).groupby("at_once", sort=False)
    sums = groups[["part", "rate"]].sum(skipna=False)
    alike = groups["share"].nunique(dropna=False) == 1
    return groups["share"].first().where(alike, (sums["part"] / sums["rate"]).where(sums["rate"] > 0))
