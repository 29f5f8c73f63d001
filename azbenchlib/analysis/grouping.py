"""Which runs belong side by side: series (what is compared) and facets (what is kept apart).

A dataset with several setups compares setups and keeps workloads apart; a dataset with one setup
compares loads (block size and queue depth) and keeps patterns apart, or, where it sweeps the queue depth
or the sizes of iozone, compares patterns and keeps loads apart. Where the setup is not stated, each
file is a series; many files of one workload are one. Rows that ran at once become one: their rates add up,
and their percentiles come from merged bins, from the row that sums them, or not at all. Repeats on one stated
setup, and files of one workload, give their median.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from azbenchlib.analysis import concurrency, file_sets, repeats, setup_names
from azbenchlib.analysis.clusters import repeats_apart
from azbenchlib.analysis.groups import distinct
from azbenchlib.analysis.mix import of_load, verified
from azbenchlib.analysis.over_time import sustained
from azbenchlib.analysis.over_time.phases import lasting
from azbenchlib.analysis.over_time.sustained import Phases
from azbenchlib.analysis.percentiles import merged
from azbenchlib.analysis.repeats import RATE_COLUMNS
from azbenchlib.analysis.sweeps import on_surface, sweeps, swept_folders
from azbenchlib.core import schema
from azbenchlib.core.patterns import MIXED
from azbenchlib.core.units import MB

TIMED_KINDS = ("clat", "lat")  # the first is preferred
LATENCY_LOGS = ("clat_us", "lat_us")
SI = {"IOPS": 1, "MB/s": MB}  # units of published rates that need no interpretation
KEYS = ["series", "facet", "ddir"]
RUN_COLUMNS = [
    *("run_id", "setup_id", "job", "rw", "bs_bytes", "queue_depth", "source_sha256", "source_doc"),
    *("group_id", "source_path", *repeats.WORKLOAD),
]
CURVE = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
DIRECTION_WORDS = {"read": "reads", "write": "writes", "trim": "trims", "mixed": "all directions"}
_IN_SETS = "files of one workload"  # a series until their workloads are told apart
LIKE_FIRST = ("rw", "bs_bytes", "queue_depth", "direct")


@dataclass(frozen=True)
class Arrangement:
    """Series and facets of a dataset.

    Attributes
    ----------
    by : str
        ``setup``, ``load`` or ``pattern``: what a series is. A file whose setup is not stated counts as a
        setup, and so do many files of one workload together.
    series : DataFrame
        Columns key, label, short, detail; in the order of the dataset.
    runs : DataFrame
        One row a run and direction: series, facet (with the direction, where the workload has several),
        workload (without), whole (all that ran at once), ddir, iops, bw_bytes_per_s, their bounds, at_once
        (the same for all rows that were measured at the same time), stated (whether the setup is), in_set
        (whether its series is a set of files), in_folder (of a set whose files are all those of a folder,
        the folder), level (of repeats whose rates lie in several groups, the number of the group, 0 for the
        lowest), repeats_of (the same as whole for all groups of them), and the workload's columns of the
        table runs.
    phases : mapping of str to sequence of Segment
        The phases of what had some, such as a burst and the base, by at_once.
    """

    by: str
    series: pd.DataFrame
    runs: pd.DataFrame
    phases: Mapping[str, Phases] = field(default_factory=dict)


def arrange(tables: Mapping[str, pd.DataFrame]) -> Arrangement:
    """Arrange all runs that have a rate or percentiles."""
    runs = measured_runs(tables)
    stated = repeats.is_stated(tables, runs)
    unstated = runs[~stated]
    files = swept_folders(unstated).fillna(unstated["source_path"].fillna(""))
    place = runs["setup_id"].where(stated, setup_names.NO_SETUP + ": " + files.reindex(runs.index))
    runs = runs.assign(
        setup_id=runs["setup_id"].fillna(setup_names.NO_SETUP),
        at_once=runs["at_once"] + " on " + place,  # figures of two setups are never added up
        queue_depth=_depth_together(runs),
        stated=stated,
    )
    is_swept = (sweeps(runs) | on_surface(runs)).any()
    by = "setup" if place.nunique() > 1 else "pattern" if is_swept else "load"
    runs = runs if by == "setup" else in_order_of_load(runs)
    number = file_sets.together(runs)
    runs = runs.assign(in_set=number >= 0, in_folder=file_sets.folders(runs, number))
    full = _texts(map(setup_names.workload_text, runs["rw"], runs["bs_bytes"], runs["queue_depth"]))
    if by == "setup":
        runs = runs.assign(series=place.mask(runs["in_set"], _IN_SETS + runs["in_folder"]), workload=full)
    else:
        load = _texts(map(setup_names.load_text, runs["bs_bytes"], runs["queue_depth"]))
        pattern = _texts(setup_names.pattern_text(rw) for rw in runs["rw"])
        series, workload = (load, pattern) if by == "load" else (pattern, load)
        runs = runs.assign(series=series, workload=workload)
    apart = repeats.differences(_of_sets(runs) if runs["in_set"].any() else runs)
    runs["workload"] = runs["workload"] + apart
    runs = runs.assign(apart=apart, whole=_whole(runs, full + apart))
    by_run = sustained.by_run(tables)
    at_once = zip(runs["at_once"], runs["run_id"], strict=True)
    phases = {name: by_run[run_id] for name, run_id in at_once if run_id in by_run}
    runs = _levels_apart(runs, phases)
    sets = "set " + number.astype("string") + " level " + runs["level"].astype("string") + runs["in_folder"]
    runs["series"] = runs["series"].mask(runs["in_set"], sets)
    named = _named(tables, runs) if by == "setup" else _named_by_load(runs)
    return Arrangement(by, named, runs.assign(facet=_directed(runs)), phases)


def _levels_apart(runs: pd.DataFrame, phases: Mapping[str, Phases]) -> pd.DataFrame:
    """The rows with the names of repeats at several levels told apart, with the columns level, repeats_of."""
    apart = repeats_apart(runs, {name: lasting(some).mean for name, some in phases.items()})
    names = {name: runs[name] + apart["near"] for name in ("workload", "whole")}
    return runs.assign(**names, level=apart["level"], repeats_of=runs["whole"])


def in_order_of_load(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows by block size and queue depth, those of the pattern that is first in the outputs first."""
    pattern = pd.Series(pd.factorize(runs["rw"])[0], index=runs.index)
    order = runs.assign(pattern=pattern).sort_values(["pattern", "bs_bytes", "queue_depth"], kind="stable")
    return runs.loc[order.index].reset_index(drop=True)


def _of_sets(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs, those of a set of files as they are told apart: not by where they ran, nor each by itself."""
    hidden = {name: runs[name].mask(runs["in_set"]) for name in file_sets.NO_WORKLOAD}
    return runs.assign(stated=runs["stated"] | runs["in_set"], **hidden)


def _named_by_load(runs: pd.DataFrame) -> pd.DataFrame:
    keys = runs["series"].drop_duplicates().tolist()
    return pd.DataFrame({"key": keys, "label": keys, "short": keys, "detail": ""})


def _named(tables: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> pd.DataFrame:
    """What each setup is called; a file, or a set of files, where the setup is not stated."""
    first = runs.drop_duplicates("series")
    known, sets = first[first["stated"]], first[first["in_set"]]
    files = first[~first["stated"] & ~first["in_set"]]
    by_setup = setup_names.setup_labels(tables["setups"], tables["disks"], known["series"].tolist())
    paths = dict(zip(files["series"], files["source_path"].fillna(""), strict=True))
    by_file = setup_names.file_labels(paths)
    counts = runs.groupby("series")["source_path"].nunique()
    told = {row.series: (row.whole, int(counts[row.series]), row.in_folder) for row in sets.itertuples()}
    named = pd.concat([part for part in (by_setup, by_file, setup_names.set_labels(told)) if len(part)])
    return named.set_index("key").reindex(first["series"].tolist()).rename_axis("key").reset_index()


def _whole(runs: pd.DataFrame, full: pd.Series) -> pd.Series:
    """The workload of all rows that ran at once: its name, or the names of several with a plus between."""
    several = (distinct(runs["workload"], [runs["at_once"]]) > 1) | (
        distinct(runs["series"], [runs["at_once"]]) > 1
    )
    return runs["workload"].mask(several, repeats.joined(full, runs["at_once"], " + "))


def _directed(runs: pd.DataFrame) -> pd.Series:
    """The workloads, with the direction where one has several: half of a mixed load is not the whole."""
    several = distinct(runs["ddir"], [runs["series"], runs["workload"]]) > 1
    several |= runs["rw"].isin(MIXED) & (runs["ddir"] != "mixed").fillna(False)
    direction = runs["ddir"].map(DIRECTION_WORDS).fillna("direction not stated")
    return runs["workload"].mask(several, runs["workload"] + ", " + direction)


def _texts(texts: Iterable[str]) -> pd.Series:
    """A column of text, also where there is no row to tell the dtype by."""
    return pd.Series(list(texts), dtype=schema.TEXT)


def measured_runs(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a run and direction with what it delivered; sums of other rows and interim states left out.

    A published rate that is a mere bound, or whose direction is not stated, is taken from the table
    published; its bound says so. A run of which only a latency of an open kind was published is kept. Reads
    that verify what a run wrote are left out.
    """
    runs = tables["runs"][concurrency.counted(tables)]
    rated = tables["results"][["run_id", "ddir", "ios", *RATE_COLUMNS]]
    logged = tables["samples"][tables["samples"]["metric"].isin(LATENCY_LOGS)]
    parts = [table[["run_id", "ddir"]] for table in (tables["percentiles"], tables["bins"], logged)]
    timed = pd.concat(parts).drop_duplicates()
    rows = of_load(rated.merge(timed, on=["run_id", "ddir"], how="outer"), verified(runs, rated))
    rows = _with_published(rows, tables["published"])
    known = runs[RUN_COLUMNS].assign(at_once=concurrency.at_once(runs)).reset_index(names="place")
    full = known.merge(rows, on="run_id").sort_values(["place", "ddir"], ignore_index=True)
    rates = full[list(RATE_COLUMNS)].notna().any(axis=1)
    apart = set(full.loc[(full["ddir"] != "mixed") & rates, "run_id"])
    return (
        full[(full["ddir"] != "mixed") | ~full["run_id"].isin(apart)]
        .drop(columns="place")
        .reset_index(drop=True)
    )


def _depth_together(runs: pd.DataFrame) -> pd.Series:
    """Outstanding I/Os of all jobs of one workload that ran together."""
    workload = ["setup_id", "ddir", "rw", "bs_bytes", "queue_depth", "at_once"]
    depths = runs["queue_depth"].groupby([runs[name] for name in workload], dropna=False)
    return depths.transform("sum", min_count=1)


def _with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Add what stands only in the table published: bounds, bounded rates, latencies of an open kind."""
    if published.empty:
        exact = pd.Series("=", index=rows.index, dtype="string")
        return rows.assign(**dict.fromkeys(RATE_COLUMNS.values(), exact))
    names = {"iops": "iops", "bandwidth": "bw_bytes_per_s", "latency": "latency"}
    known = published["measured"].fillna(False) & published["value"].notna()
    some = published[known & published["quantity"].isin(list(names)) & ~published["unit"].isin(["ratio"])]
    some = some.drop_duplicates(["run_id", "quantity"], keep=False)  # two of a kind are a range, no rate
    some = some.assign(
        name=some["quantity"].map(names), si=some["value"] * some["unit"].map(SI).astype("Float64")
    )
    columns = [*RATE_COLUMNS, "latency"]
    values = some.pivot(index="run_id", columns="name", values="si").reindex(columns=columns)
    bounds = some.pivot(index="run_id", columns="name", values="bound").reindex(columns=columns)
    full = rows.set_index("run_id")
    extra = values.loc[~values.index.isin(full.index), list(RATE_COLUMNS)]
    full = pd.concat([full, extra]) if len(extra) else full
    for rate, bound in RATE_COLUMNS.items():
        full[bound] = bounds[rate].astype("string").reindex(full.index).fillna("=")
    return full.reset_index()


def rates(arrangement: Arrangement) -> pd.DataFrame:
    """One rate for every series, facet and direction.

    What ran at once adds up; repeats give their median.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, rw, bs_bytes, queue_depth, iops, bw_bytes_per_s, iops_bound,
        bw_bound, n_runs (rows of the table runs in it), repeats, and the range of these: iops_low,
        iops_high, bw_low, bw_high. Where a run had phases, phases tells them, and the rate is that of
        the last.
    """
    added = repeats.added(arrangement.runs, KEYS, LIKE_FIRST)
    return sustained.pooled(sustained.with_phases(added, arrangement.phases), KEYS, LIKE_FIRST)


def curves(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], wanted: Sequence[float] = CURVE
) -> pd.DataFrame:
    """One percentile curve for every series, facet and direction that has one.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
    wanted : sequence of float
        Percentiles that are made of bins.

    Returns
    -------
    DataFrame
        Columns series, facet, ddir, lat_kind, percentile, lat_us, n; completion latency where the tool
        gave it. Several runs of one workload are merged from their bins; without bins they are left out.
    """
    here = _timed(arrangement.runs, tables)[["run_id", "ddir", "lat_kind", "series", "facet", "group"]]
    of_run = ["run_id", "ddir", "lat_kind"]
    counts = here.merge(tables["latency"], on=of_run).groupby("group")["n"].sum(min_count=1)
    size = here.groupby("group")["run_id"].transform("size")
    told = here[size == 1].merge(tables["percentiles"], on=of_run)
    rest = here[~here["group"].isin(told["group"])]
    parts = [told]
    for group, bins in rest.merge(tables["bins"], on=of_run).groupby("group"):
        if bins["run_id"].nunique() == (rest["group"] == group).sum():
            parts.append(merged(bins, wanted, by=(*KEYS, "lat_kind")).assign(group=group))
    every = pd.concat([part[[*KEYS, "lat_kind", "percentile", "lat_us", "group"]] for part in parts])
    every = every.assign(n=every["group"].map(counts)).sort_values("group", kind="stable")
    dtypes = dict.fromkeys([*KEYS, "lat_kind"], schema.TEXT)
    dtypes |= {"percentile": schema.FLOAT, "lat_us": schema.FLOAT, "n": schema.INT}
    return every.drop(columns="group").reset_index(drop=True).astype(dtypes)


def _timed(runs: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of each series, facet and direction (a group) of which all tell one kind of latency.

    Where they have no bins to merge, but a row that sums them has percentiles, it stands for all of them.
    """
    told = [
        tables[name][["run_id", "ddir", "lat_kind"]].drop_duplicates() for name in ("percentiles", "bins")
    ]
    kinds = pd.concat([kind[kind["lat_kind"].isin(TIMED_KINDS)].sort_values("lat_kind") for kind in told])
    kinds = kinds.drop_duplicates(["run_id", "ddir"])
    wholes = concurrency.sums(tables)
    binned = set(tables["bins"]["run_id"].unique())
    rows = runs.merge(kinds, on=["run_id", "ddir"], how="left")
    rows = rows.assign(group=rows.groupby(KEYS, dropna=False, sort=False).ngroup())
    stand_ins = []
    for number, group in rows.groupby("group") if wholes else ():
        whole = wholes.get((frozenset(group["run_id"]), str(group["ddir"].iloc[0])))
        told_apart = len(group) == 1 and group["lat_kind"].notna().all()
        if whole is not None and not told_apart and not binned.issuperset(group["run_id"]):
            one = group.head(1).drop(columns="lat_kind").assign(run_id=whole)
            stand_ins.append(one.merge(kinds, on=["run_id", "ddir"]))
            rows = rows[rows["group"] != number]
    rows = pd.concat([rows, *stand_ins]) if stand_ins else rows
    found = rows.groupby("group")["lat_kind"]
    return rows[(found.transform("count") == found.transform("size")) & (found.transform("nunique") == 1)]
