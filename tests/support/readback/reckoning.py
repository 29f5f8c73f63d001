"""What the figures of a dataset are: sums, medians and ranks of the rows of its tables, and no more."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from readback.naming import FILE, SET, Tables, Topic, of_file
from readback.traces import Phases, burst_of

RATES = {"iops": "iops", "bw_bytes_per_s": "bytes_per_s"}
PRINTED = {"iops": ("iops", {"IOPS": 1.0}), "bandwidth": ("bytes_per_s", {"MB/s": 1e6, "MiB/s": 2.0**20})}
EXACT, BINNED = 0.0, 2 / 64  # a bin of fio's is 1/64 of its value, and its name may be that of its neighbour
SHIPPED_DAY = "9999"
LOAD = ("tool", "working_set_bytes", "direct", "ioengine", "iodepth", "rate_iops", "bs_write_bytes")
OF_UNIT = (
    *("run_id", "setup_id", "source_path", "job", "host", "target", "rw", "bs_bytes", "queue_depth"),
    *LOAD,
)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """A figure that the report may show.

    Parameters
    ----------
    kind : str
        iops, bytes_per_s or lat_us, in that unit.
    value : float
    topic : Topic
        What it is of. A direction is only there where a run has several and this is one of them.
    pooled : bool
        Whether it stands for all repeats; a run's own otherwise. Of a run without repeats there are both.
    n : int
        How many repeats.
    within : float
        How far, relative to the value, another right way of reckoning may come out.
    """

    kind: str
    value: float
    topic: Topic
    pooled: bool
    n: int = 1
    bound: str = "="
    low: float | None = None
    high: float | None = None
    within: float = EXACT
    mean: bool = False  # over a burst and the base after it: a rate that the disk never had
    only: str | None = None  # the one direction that was measured, which a text may name
    several: bool = False  # directions were measured, whatever the pattern says

    def is_of(self, topic: Topic) -> bool:
        """Whether a text on this topic can speak of it."""
        mine = self.topic
        if topic.setups is not None and not (mine.setups or frozenset()) & topic.setups:
            return False
        if topic.rw is not None and not (mine.rw or frozenset({""})) & topic.rw:
            return False
        if any(
            getattr(topic, name) is not None and getattr(topic, name) != getattr(mine, name)
            for name in ("bs", "depth", "working", "path")
        ):
            return False
        if topic.job != mine.job:
            return False
        return mine.ddir == _asked(topic, self) and mine.percentile == topic.percentile


def _asked(topic: Topic, fact: Fact) -> str | None:
    """The direction that a text asks for; where only that one was measured, it is all there is."""
    mine = fact.topic
    if topic.ddir is not None and topic.ddir == fact.only:
        return None
    only = {"read": {"read", "randread"}, "write": {"write", "randwrite"}, "trim": {"trim", "randtrim"}}
    if topic.ddir and mine.rw and mine.rw <= only[topic.ddir] and not fact.several:
        return None
    return topic.ddir


@dataclass
class Unit:
    """Rows of the same workload that ran at once."""

    setup: str
    rw: str
    bs: float | None
    rows: list[str]
    depth: float | None
    key: tuple[object, ...]
    files: set[str] = field(default_factory=set)
    runtime_s: float | None = None
    job: str | None = None  # what tells it from others of its file, where the setup is not stated
    engine: str = ""
    working: float | None = None
    path: str | None = None
    load: tuple[frozenset[object], ...] = ()  # what else makes it another workload than that of other files
    hosts: frozenset[str] = frozenset()

    def topic(self, ddir: str | None = None, percentile: float | None = None) -> Topic:
        rw = frozenset({self.rw})
        which = (self.job, self.working, self.path)
        return Topic(frozenset({self.setup}), rw, self.bs, self.depth, ddir, percentile, *which)


def own_rows(tables: Tables) -> pd.DataFrame:
    """Rows of the table runs that sum no others, of whole runs."""
    interim = tables["findings"].loc[tables["findings"]["code"] == "interim_document", "run_id"]
    runs = tables["runs"][~tables["runs"]["run_id"].isin(interim)]
    told = {*tables["results"]["run_id"], *tables["percentiles"]["run_id"]}
    level = runs["level"].fillna("job")
    rank = level.map({"job": 0, "group": 1, "host": 2, "all": 3}).where(runs["run_id"].isin(told), 9)
    finer = pd.Series(False, index=runs.index)
    scopes = {"group": ["group_id", "host"], "host": ["host"], "all": []}
    for name, scope in scopes.items():
        least = rank.groupby([runs[key] for key in ("source_path", "source_doc", *scope)], dropna=False)
        finer |= (level == name) & (least.transform("min") < rank)
    part = _in_part(runs, tables)
    return runs[(~finer & ~part) | (part & (level == "all"))]


def _in_part(runs: pd.DataFrame, tables: Tables) -> pd.Series:
    """Rows of documents whose single parts come to less than the sum that they print: some are left out."""
    results = tables["results"]
    whole = results["run_id"].isin(results.loc[results["ddir"] == "mixed", "run_id"])
    rates = results[(results["ddir"] == "mixed") | ~whole].groupby("run_id")["iops"].sum(min_count=1)
    own = runs["run_id"].map(rates).astype("Float64")
    place = [runs["source_path"], runs["source_doc"]]
    sums = own.where(runs["level"] == "all").groupby(place, dropna=False).transform("max")
    parts = own.where(runs["level"].fillna("job") == "job").groupby(place, dropna=False).transform("sum")
    return ((parts > 0) & (parts < 0.98 * sums)).fillna(False).astype(bool)


def units(tables: Tables) -> list[Unit]:
    """What ran at once, one workload each: jobs and hosts of one document and reporting group."""
    rows, some = own_rows(tables), measured(tables)
    alone = rows["group_id"].isna()
    keys = [
        rows[name].astype(object).where(~alone, rows["run_id"]).tolist()
        for name in ("source_path", "source_doc", "group_id")
    ]
    columns = rows[list(OF_UNIT)].astype(object)
    plain = columns.where(columns.notna(), None).to_dict(orient="records")
    found: dict[tuple[object, ...], dict[tuple[object, object], list[Row]]] = {}
    for key, row in zip(zip(*keys, strict=True), plain, strict=True):
        known = tuple(None if pd.isna(part) else part for part in key)
        found.setdefault(known, {}).setdefault((row["rw"], row["bs_bytes"]), []).append(row)
    made = [_unit(key, part) for key, at_once in found.items() for part in at_once.values()]
    _gathered([unit for unit in made if some & set(unit.rows)])
    return _told_apart(made, some)


def _unit(key: tuple[object, ...], rows: list[Row]) -> Unit:
    """Rows of one workload that ran at once, as one."""
    first = rows[0]
    every = {name: list(dict.fromkeys(row[name] for row in rows)) for name in OF_UNIT}
    known = {name: [value for value in values if value is not None] for name, values in every.items()}
    depths = [float(row["queue_depth"]) for row in rows if row["queue_depth"] is not None]
    return Unit(
        of_file(str(first["source_path"])) if first["setup_id"] is None else str(first["setup_id"]),
        first["rw"] or "",
        None if first["bs_bytes"] is None else float(first["bs_bytes"]),
        [str(row["run_id"]) for row in rows],
        sum(depths) if depths else None,
        key,
        set(map(str, every["source_path"])),
        job=str(known["job"][0]) if len(known["job"]) == 1 else None,
        engine=", ".join(map(str, known["ioengine"])),
        working=float(known["working_set_bytes"][0]) if len(known["working_set_bytes"]) == 1 else None,
        path=str(known["target"][0]) if len(known["target"]) == 1 else None,
        load=tuple(frozenset("" if value is None else value for value in every[name]) for name in LOAD),
        hosts=frozenset("" if value is None else value for value in every["host"]),
    )


def _gathered(made: list[Unit]) -> None:
    """Units without a stated setup that measured the same in more than six files become those of one set,
    unless a file has as many workloads.
    """
    at_once: dict[tuple[object, ...], list[Unit]] = {}
    for unit in made:
        if unit.setup.startswith(FILE):
            at_once.setdefault(unit.key, []).append(unit)
    alike: dict[frozenset[object], list[Unit]] = {}
    for group in at_once.values():
        if all(unit.rw and unit.bs is not None for unit in group):
            loads = frozenset((unit.rw, unit.bs, unit.depth, unit.load) for unit in group)
            alike.setdefault(loads, []).extend(group)
    files = {loads: {file for unit in group for file in unit.files} for loads, group in alike.items()}
    loads_of = Counter(file for some in files.values() for file in some)
    for number, (loads, group) in enumerate(alike.items()):
        mine = files[loads]
        if len(mine) > max(6, *(loads_of[file] for file in mine)):
            for unit in group:
                unit.setup, unit.path = f"{SET}{number} of {len(mine)}", None


def _told_apart(made: list[Unit], some: set[str]) -> list[Unit]:
    """Units of one file and workload by their engines, jobs, or numbers: without a stated setup each is its
    own. What measured nothing is not shown, and needs no name.
    """
    alike: dict[Topic, list[Unit]] = {}
    for unit in made:
        if some & set(unit.rows):
            alike.setdefault(replace(unit.topic(), job=None), []).append(unit)
        else:
            unit.job = None
    for group in alike.values():
        by_job = len({unit.job for unit in group}) == len(group)
        by_engine = len({unit.engine for unit in group}) == len(group) and all(u.engine for u in group)
        for n, unit in enumerate(group, start=1):
            if len(group) == 1 or not unit.setup.startswith(FILE) or unit.setup.startswith(SET):
                unit.job = None
            elif by_engine:
                unit.job = unit.engine
            elif not by_job:
                unit.job = f"run {n} of {len(group)}"
    return made


def measured(tables: Tables) -> set[str]:
    """Rows of which something was measured: a rate, a latency, a log, or a published figure of either."""
    printed = tables["published"]
    printed = printed[printed["quantity"].isin(["iops", "bandwidth", "latency"]) & printed["value"].notna()]
    printed = printed[printed["measured"].fillna(False) & printed["unit"].fillna("").ne("ratio")]
    printed = printed.drop_duplicates(["run_id", "quantity"], keep=False)  # two of a kind are a range
    told = [tables[name]["run_id"] for name in ("results", "percentiles", "bins")]
    logged = tables["samples"]
    told.append(logged.loc[logged["metric"].isin(["clat_us", "lat_us"]), "run_id"])
    return {str(run_id) for ids in (*told, printed["run_id"]) for run_id in ids}


def facts(tables: Tables, made: list[Unit]) -> list[Fact]:
    """Every rate and percentile that a report of these tables may show; `made` are their units."""
    figures, some = Figures(tables), measured(tables)
    made = [unit for unit in made if some & set(unit.rows)]
    figures.sums = _sums(tables, made, figures)
    figures.bursts = {id(unit): found for unit in made if (found := burst_of(unit, tables))}
    own = [fact for unit in made for fact in _one_way(_of_unit(unit, figures), [unit], figures)]
    groups: dict[Topic, list[Unit]] = {}
    for unit in made:
        groups.setdefault(unit.topic(), []).append(unit)
    pooled = [f for group in groups.values() for f in _one_way(_pooled(group, figures), group, figures)]
    return [*own, *pooled, *_together(made, figures)]


def _one_way(made: Iterable[Fact], group: list[Unit], figures: "Figures") -> Iterator[Fact]:
    """Facts, with the direction of which alone something was measured."""
    rows = [run_id for unit in group for run_id in unit.rows]
    ddirs = {ddir for run_id in rows for ddir in figures.ddirs.get(run_id, [])}
    ddirs |= {str(row["ddir"]) for run_id in rows for row in figures.results.get(run_id, [])}
    only = next(iter(ddirs)) if len(ddirs) == 1 else None
    for fact in made:
        yield replace(fact, only=only, several=len(ddirs - {"mixed"}) > 1)


class Figures:
    """Rows by run, and the units whose log shows a burst and its end."""

    def __init__(self, tables: Tables) -> None:
        self.bursts: dict[int, Phases] = {}
        self.sums: dict[frozenset[str], str] = {}  # the row that sums rows, and tells their percentiles
        writing = tables["runs"].loc[tables["runs"]["rw"].isin(["write", "randwrite"]), "run_id"]
        wrote = tables["results"].loc[tables["results"]["ddir"] == "write", "run_id"]
        self.verified = set(writing) & set(wrote)  # what such a run reads is what it wrote, after it
        self.results = _by_run(self._own(tables["results"]))
        told = self._own(tables["percentiles"])
        self.percentiles = dict(list(told.groupby(["run_id", "ddir"])))
        bins = self._own(tables["bins"])
        self.bins = dict(list(bins.groupby(["run_id", "ddir"])))
        printed = tables["published"]
        self.printed = _by_run(printed[printed["measured"].fillna(False) & printed["value"].notna()])
        self.ddirs: dict[str, list[str]] = {}
        for run_id, ddir in dict.fromkeys((*self.percentiles, *self.bins)):
            self.ddirs.setdefault(str(run_id), []).append(str(ddir))

    def _own(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Without reads that check what was written."""
        return rows[~(rows["run_id"].isin(self.verified) & (rows["ddir"] == "read"))]

    def fell(self, unit: Unit) -> bool:
        """Whether the mean of a unit is over a clear burst and the base after it."""
        found = self.bursts.get(id(unit))
        return found is not None and found.clear

    def rates(self, run_id: str) -> dict[tuple[str, str | None], tuple[float, str]]:
        """Rate and bound by kind and direction; all directions under None."""
        found: dict[tuple[str, str | None], tuple[float, str]] = {}
        rows = self.results.get(run_id, [])
        apart = [row for row in rows if row["ddir"] != "mixed"] or rows
        for column, kind in RATES.items():
            values = {str(row["ddir"]): float(row[column]) for row in apart if column in row}
            if values:
                found[kind, None] = (sum(values.values()), "=")
            if len(apart) > 1:
                found |= {(kind, ddir): (value, "=") for ddir, value in values.items()}
        return {**found, **self._printed(run_id, found)}

    def _printed(
        self, run_id: str, found: Mapping[tuple[str, str | None], tuple[float, str]]
    ) -> dict[tuple[str, str | None], tuple[float, str]]:
        """What stands in a publication, with its bound; two figures of a kind are a range, and no rate."""
        made: dict[tuple[str, str | None], tuple[float, str]] = {}
        rows = self.printed.get(run_id, [])
        for quantity, (kind, scales) in PRINTED.items():
            mine = [row for row in rows if row["quantity"] == quantity and row["unit"] in scales]
            if len(mine) == 1:
                value = float(mine[0]["value"]) * scales[str(mine[0]["unit"])]
                made[kind, None] = (found.get((kind, None), (value, "="))[0], str(mine[0]["bound"]))
        return made


def _by_run(rows: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Rows of each run as plain mappings without what is missing."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows.to_dict(orient="records"):
        plain = {str(name): value for name, value in row.items() if not pd.isna(value)}
        found.setdefault(str(plain["run_id"]), []).append(plain)
    return found


def _sums(tables: Tables, made: list[Unit], figures: Figures) -> dict[frozenset[str], str]:
    """Rows that sum all rows of their document and tell percentiles of them."""
    runs = tables["runs"].astype({"source_doc": object})
    own: dict[tuple[object, ...], set[str]] = {}
    for unit in made:
        own.setdefault(unit.key[:2], set()).update(unit.rows)
    found = {}
    for row in runs[runs["level"] == "all"].to_dict(orient="records"):
        members = own.get((row["source_path"], row["source_doc"]), set())
        if row["run_id"] in figures.ddirs and row["run_id"] not in members:
            found[frozenset(members)] = str(row["run_id"])
    return found


def rates_of(unit: Unit, figures: Figures) -> dict[tuple[str, str | None], tuple[float, str]]:
    """Summed over the rows that ran at once; a kind that one of them lacks is left out."""
    rows = [figures.rates(run_id) for run_id in unit.rows]
    kinds = dict.fromkeys(key for row in rows for key in row)
    return {
        key: (sum(row[key][0] for row in rows if key in row), next(row[key][1] for row in rows if key in row))
        for key in kinds
    }


def _of_unit(unit: Unit, figures: Figures) -> Iterator[Fact]:
    rates = rates_of(unit, figures)
    if found := figures.bursts.get(id(unit)):
        yield from _burst(unit, found, rates)
        rates = {} if found.clear else rates
    for (kind, ddir), (value, bound) in rates.items():
        yield Fact(kind, value, unit.topic(ddir), False, bound=bound)
    yield from _derived(unit, rates, figures)
    for percentile, ddir, value, within in _percentiles([unit], figures):
        yield Fact("lat_us", value, unit.topic(ddir, percentile), False, within=within)


def _burst(
    unit: Unit, found: Phases, rates: Mapping[tuple[str, str | None], tuple[float, str]]
) -> Iterator[Fact]:
    """Burst and base, each for itself, and how long each lasted: their mean is no rate of the disk."""
    for key, (value, _) in rates.items() if found.clear else ():
        for pooled in (True, False):
            yield Fact(key[0], value, unit.topic(key[1]), pooled, mean=True)
    for pooled in (True, False):
        for value, within in ((found.burst, found.spread[0]), (found.base, found.spread[1])):
            yield Fact("iops", value, unit.topic(), pooled, within=within)
            if unit.bs:
                yield Fact("bytes_per_s", value * unit.bs, unit.topic(), pooled, within=within)
        for lasted_s in (found.empty_s, found.after_s):
            late = 1.5 * found.interval_s / lasted_s
            yield Fact("time_us", 1e6 * lasted_s, unit.topic(), pooled, within=late)


def _derived(
    unit: Unit, rates: Mapping[tuple[str, str | None], tuple[float, str]], figures: Figures
) -> Iterator[Fact]:
    """The other rate where one is known: by the block size; by Little's law from the latency at a depth."""
    topic = unit.topic()
    iops, size = rates.get(("iops", None)), rates.get(("bytes_per_s", None))
    if unit.bs and iops and not size:
        yield Fact("bytes_per_s", iops[0] * unit.bs, topic, False, bound=iops[1])
    if unit.bs and size and not iops:
        yield Fact("iops", size[0] / unit.bs, topic, False, bound=size[1])
    if iops or size or not unit.depth:
        return
    for value, within in _from_latency(unit, figures):
        yield Fact("iops", value, topic, False, within=within)
        if unit.bs:
            yield Fact("bytes_per_s", value * unit.bs, topic, False, within=within)


def _from_latency(unit: Unit, figures: Figures) -> Iterator[tuple[float, float]]:
    """I/Os per second that follow from a latency, and how sure: between those of p95 and of p50."""
    points = {p: value for p, _, value, _ in _percentiles([unit], figures)}
    if 50.0 in points and 95.0 in points and unit.depth:
        most, least = unit.depth * 1e6 / points[50.0], unit.depth * 1e6 / points[95.0]
        yield (most + least) / 2, (most - least) / (most + least)
    for row in figures.printed.get(unit.rows[0], []):
        if row["quantity"] == "latency" and unit.depth:
            yield (
                unit.depth * 1e6 / (float(row["value"]) * {"ms": 1e3, "us": 1.0, "µs": 1.0}[row["unit"]]),
                EXACT,
            )


def _pooled(group: list[Unit], figures: Figures) -> Iterator[Fact]:
    """Of repeats on one stated setup the median, with their number and range; of one run its own."""
    each = [rates_of(unit, figures) for unit in group if not figures.fell(unit)]
    for key in dict.fromkeys(name for rates in each for name in rates):
        values = sorted(rates[key][0] for rates in each if key in rates)
        bound = next(rates[key][1] for rates in each if key in rates)
        middle = statistics.median(values)
        topic = group[0].topic(key[1])
        yield Fact(key[0], middle, topic, True, len(values), bound, values[0], values[-1])
    merged = list(_percentiles(group, figures))
    for percentile, ddir, value, within in merged:
        yield Fact("lat_us", value, group[0].topic(ddir, percentile), True, len(group), within=within)
    if not merged:
        jobs = [replace(group[0], rows=[row]) for row in group[0].rows]
        yield from _ranges(group if len(group) > 1 else jobs, figures)


def _ranges(group: list[Unit], figures: Figures) -> Iterator[Fact]:
    """The ends of a percentile that each file of a set, repeat or job has; of repeats the median too."""
    each: dict[tuple[float, str | None], list[float]] = {}
    for unit in group:
        for percentile, ddir, value, _ in _percentiles([unit], figures):
            each.setdefault((percentile, ddir), []).append(value)
    for (percentile, ddir), values in each.items():
        if len(values) == len(group):
            middle = [] if group[0].setup.startswith(SET) else [statistics.median(values)]
            for value in (min(values), max(values), *middle):
                yield Fact("lat_us", value, group[0].topic(ddir, percentile), True)


def _together(made: Iterable[Unit], figures: Figures) -> Iterator[Fact]:
    """What unlike workloads that ran at once delivered together."""
    at_once: dict[tuple[object, ...], list[Unit]] = {}
    for unit in made:
        at_once.setdefault(unit.key, []).append(unit)
    for group in at_once.values():
        if len(group) > 1:
            sums = [rates_of(unit, figures) for unit in group]
            depths = [unit.depth for unit in group if unit.depth is not None]
            rws = frozenset(unit.rw for unit in group)
            sizes = {unit.bs for unit in group}
            topic = Topic(
                frozenset({group[0].setup}),
                rws,
                sizes.pop() if len(sizes) == 1 else None,
                sum(depths) or None,
            )
            for kind in RATES.values():
                if all((kind, None) in rates for rates in sums):
                    value = sum(rates[kind, None][0] for rates in sums)
                    yield Fact(kind, value, topic, False)
                    yield Fact(kind, value, topic, True)


def _percentiles(group: list[Unit], figures: Figures) -> Iterator[tuple[float, str | None, float, float]]:
    """Percentile, direction (None: there is but one), µs, tolerance: the tool's own rows, or by rank from
    bins.
    """
    runs = [run_id for unit in group for run_id in unit.rows]
    ddirs = [ddir for run_id in runs for ddir in figures.ddirs.get(run_id, [])]
    if (len(runs) > 1 or not ddirs) and (whole := figures.sums.get(frozenset(runs))):
        runs, ddirs = [whole], figures.ddirs[whole]
    ddirs = [ddir for ddir in ddirs if ddir != "mixed"] or ddirs
    several = len(set(ddirs)) > 1
    for ddir in dict.fromkeys(ddirs):
        told = str(ddir) if several else None
        if len(runs) == 1 and (runs[0], ddir) in figures.percentiles:
            rows = figures.percentiles[runs[0], ddir]
            kind = "clat" if "clat" in set(rows["lat_kind"]) else "lat"
            for row in rows[rows["lat_kind"] == kind].itertuples():
                yield float(row.percentile), told, float(row.lat_us), EXACT
        elif all((run_id, ddir) in figures.bins for run_id in runs):
            yield from ((p, told, us, BINNED) for p, us in _ranked([figures.bins[r, ddir] for r in runs]))


def _ranked(tables: list[pd.DataFrame]) -> Iterator[tuple[float, float]]:
    """Percentiles by nearest rank over all I/Os of several histograms."""
    every = pd.concat([rows[rows["t_s"].isna()] if rows["t_s"].isna().any() else rows for rows in tables])
    kind = "clat" if "clat" in set(every["lat_kind"]) else "lat"
    counts = every[every["lat_kind"] == kind].groupby("bin_ns")["n"].sum().sort_index()
    total, seen = int(counts.sum()), counts.cumsum()
    for percentile in (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99):
        rank = max(1, math.ceil(total * percentile / 100 - 1e-9))
        yield float(percentile), float(seen.index[(seen >= rank).to_numpy()][0]) / 1000
