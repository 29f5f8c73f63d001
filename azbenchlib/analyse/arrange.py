"""Which runs belong side by side: series (what is compared) and facets (what is kept apart).

A dataset with several setups compares setups and keeps workloads apart; a dataset with one setup
compares loads (block size and queue depth) and keeps patterns apart. Repeats and parallel jobs of one
workload become one row: rates of jobs that ran together add up, repeats give their median, and
percentiles come from merged bins or not at all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from azbenchlib import schema
from azbenchlib.analyse import labels
from azbenchlib.analyse.levels import no_sum
from azbenchlib.analyse.percentiles import merged
from azbenchlib.units import MB

RATES = ("iops", "bw_bytes_per_s")
LATENCY_LOGS = ("clat_us", "lat_us")
SI = {"IOPS": 1, "MB/s": MB}  # units of published rates that need no interpretation
KEYS = ["series", "facet", "ddir"]
NO_SETUP = "setup not stated"
TOGETHER = ["source_sha256", "source_doc", "group", "host"]  # jobs that ran at the same time
RUN_COLUMNS = ["run_id", "setup_id", "job", "rw", "bs_bytes", "queue_depth", "direct", "source_sha256"]
CURVE = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)


@dataclass(frozen=True)
class Arrangement:
    """Series and facets of a dataset.

    Attributes
    ----------
    by : str
        ``setup`` or ``load``: what a series is.
    series : DataFrame
        Columns key, label, short, detail; in the order of the dataset.
    runs : DataFrame
        One row a run and direction: series, facet, ddir, iops, bw_bytes_per_s, their bounds, and the
        workload's columns of the table runs.
    """

    by: str
    series: pd.DataFrame
    runs: pd.DataFrame


def arrange(tables: Mapping[str, pd.DataFrame]) -> Arrangement:
    """Arrange all runs that have a rate or percentiles."""
    runs = measured_runs(tables)
    runs = runs.assign(setup_id=runs["setup_id"].fillna(NO_SETUP), queue_depth=_depth_together(runs))
    setups = list(dict.fromkeys(runs["setup_id"]))
    load = _texts(labels.load_text(row.bs_bytes, row.queue_depth) for row in runs.itertuples())
    if len(setups) > 1:
        facet = _texts(labels.workload_text(r.rw, r.bs_bytes, r.queue_depth) for r in runs.itertuples())
        named = labels.setup_labels(tables["setups"], tables["disks"], setups)
        return Arrangement("setup", named, runs.assign(series=runs["setup_id"], facet=_directed(runs, facet)))
    keys = list(dict.fromkeys(load))
    named = pd.DataFrame({"key": keys, "label": keys, "short": keys, "detail": ""})
    facet = _texts(labels.pattern_text(rw) for rw in runs["rw"])
    return Arrangement("load", named, runs.assign(series=load, facet=_directed(runs, facet)))


def _directed(runs: pd.DataFrame, facet: pd.Series) -> pd.Series:
    """The facets, with the direction where a run has several: half of a mixed load is not the whole."""
    several = runs["run_id"].duplicated(keep=False)
    return facet.mask(several, facet + ", " + runs["ddir"] + "s")


def _texts(texts: Iterable[str]) -> pd.Series:
    """A column of text, also where there is no row to tell the dtype by."""
    return pd.Series(list(texts), dtype=schema.TEXT)


def measured_runs(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a run and direction with what it delivered; sums of other rows and interim states left out.

    A published rate that is a mere bound, or whose direction is not stated, is taken from the table
    published; its bound says so. A run of which only a latency of an open kind was published is kept.
    """
    findings = tables["findings"]
    interim = findings.loc[findings["code"] == "interim_document", "run_id"]
    runs = tables["runs"]
    runs = runs[no_sum(runs) & ~runs["run_id"].isin(interim)]
    rated = tables["results"][["run_id", "ddir", "ios", *RATES]]
    logged = tables["samples"][tables["samples"]["metric"].isin(LATENCY_LOGS)]
    parts = [table[["run_id", "ddir"]] for table in (tables["percentiles"], tables["bins"], logged)]
    timed = pd.concat(parts).drop_duplicates()
    rows = rated.merge(timed, on=["run_id", "ddir"], how="outer")
    rows = _with_published(rows, tables["published"])
    keep = [*RUN_COLUMNS, "group_id", "source_doc", "host", "source_path"]
    known = runs[keep].reset_index(names="place")
    # a publication's experiments share a document, but did not run together
    known["group"] = known["group_id"].astype("string").fillna(known["run_id"])
    full = known.merge(rows, on="run_id").sort_values(["place", "ddir"], ignore_index=True)
    both = full["run_id"].map(full[full["ddir"] != "mixed"]["run_id"].value_counts()).fillna(0)
    return full[~((full["ddir"] == "mixed") & (both > 0))].drop(columns="place").reset_index(drop=True)


def _depth_together(runs: pd.DataFrame) -> pd.Series:
    """Outstanding I/Os of all jobs of one workload that ran together."""
    workload = ["setup_id", "ddir", "rw", "bs_bytes", "queue_depth", *TOGETHER]
    depths = runs["queue_depth"].groupby([runs[name] for name in workload], dropna=False)
    return depths.transform("sum", min_count=1)


def _with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Add what stands only in the table published: bounds, bounded rates, latencies of an open kind."""
    names = {"iops": "iops", "bandwidth": "bw_bytes_per_s", "latency": "latency"}
    known = published["measured"].fillna(False) & published["value"].notna()
    some = published[known & published["quantity"].isin(list(names)) & ~published["unit"].isin(["ratio"])]
    some = some.drop_duplicates(["run_id", "quantity"], keep=False)  # two of a kind are a range, no rate
    some = some.assign(
        name=some["quantity"].map(names), si=some["value"] * some["unit"].map(SI).astype("Float64")
    )
    columns = [*RATES, "latency"]
    values = some.pivot(index="run_id", columns="name", values="si").reindex(columns=columns)
    bounds = some.pivot(index="run_id", columns="name", values="bound").reindex(columns=columns)
    full = rows.set_index("run_id")
    extra = values.loc[~values.index.isin(full.index), list(RATES)]
    full = pd.concat([full, extra]) if len(extra) else full
    for rate, bound in zip(RATES, ("iops_bound", "bw_bound"), strict=True):
        full[bound] = bounds[rate].astype("string").reindex(full.index).fillna("=")
    return full.reset_index()


def rates(arrangement: Arrangement) -> pd.DataFrame:
    """One rate for every series, facet and direction.

    Jobs that ran together (same document, group and host) add up; repeats give their median.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, rw, bs_bytes, queue_depth, iops, bw_bytes_per_s, iops_bound,
        bw_bound, n_runs.
    """
    runs = arrangement.runs
    first = dict.fromkeys(("rw", "bs_bytes", "queue_depth", "direct", "iops_bound", "bw_bound"), "first")
    grouped = runs.groupby([*KEYS, *TOGETHER], dropna=False, sort=False, observed=True)
    at_once = grouped.agg({**first, "run_id": "count"}).rename(columns={"run_id": "n_runs"})
    for name in RATES:
        at_once[name] = grouped[name].sum(min_count=1)
    repeats = at_once.reset_index().groupby(KEYS, dropna=False, sort=False)
    return repeats.agg({**first, "n_runs": "sum", **dict.fromkeys(RATES, "median")}).reset_index()


def curves(arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One percentile curve for every series, facet and direction that has one.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, lat_kind, percentile, lat_us, n; completion latency where the tool
        gave it. Several runs of one workload are merged from their bins; without bins they are left out.
    """
    told = [
        tables[name][["run_id", "ddir", "lat_kind"]].drop_duplicates() for name in ("percentiles", "bins")
    ]
    kinds = pd.concat([kind[kind["lat_kind"].isin(["clat", "lat"])].sort_values("lat_kind") for kind in told])
    rows = arrangement.runs.merge(kinds.drop_duplicates(["run_id", "ddir"]), on=["run_id", "ddir"])
    parts = []
    for _, group in rows.groupby(KEYS, dropna=False, sort=False):
        here = group[["run_id", "ddir", "lat_kind", "series", "facet"]]
        counts = here.merge(tables["latency"], on=["run_id", "ddir", "lat_kind"])["n"].sum(min_count=1)
        curve = here.merge(tables["percentiles"], on=["run_id", "ddir", "lat_kind"])
        if len(here) > 1 or curve.empty:
            bins = here.merge(tables["bins"], on=["run_id", "ddir", "lat_kind"])
            if bins["run_id"].nunique() < len(here):
                continue
            curve = merged(bins, CURVE, by=(*KEYS, "lat_kind"))
        parts.append(curve.assign(n=counts)[[*KEYS, "lat_kind", "percentile", "lat_us", "n"]])
    dtypes = dict.fromkeys([*KEYS, "lat_kind"], schema.TEXT)
    dtypes |= {"percentile": schema.FLOAT, "lat_us": schema.FLOAT, "n": schema.INT}
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(dtypes))).astype(
        dtypes
    )
