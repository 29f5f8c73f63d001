"""Which rows of the table runs tell of one execution of fio: other forms of it, and states of it under way.

The name of a run is made of its content (:mod:`azbenchlib.formats.identity`), so rows of one name are one
run. Two more relations are between documents, for they need figures that several rows tell together:

- *Another form.* JSON, terse lines and normal text of one run share their job names, run times to the
  millisecond and numbers of I/Os; bytes and latencies agree within what printing does to them. They are one
  run only where the moments of their latencies agree in many digits (:data:`ENOUGH_DIGITS`), which no
  repeat does by chance, and where not two moments of the clock are told that differ.
- *A state under way* (``--status-interval``), in a file of its own: the same jobs with more I/Os and a longer
  run time, by as much as the clock went on meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise, starmap
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.units import KIB, MS_PER_S, NS_PER_US
from azbenchlib.formats.identity import ENOUGH_DIGITS, MOMENTS, digits

Tables = Mapping[str, pd.DataFrame]

_ROUNDED = 0.011  # of bytes: fio prints at least three digits (num2str.c, 3.41)
_MEAN_ROUNDED = 0.005  # two decimals of a unit of which there are at least two
_SHARE_ROUNDED = 0.011  # % of a processor, which normal output prints with two decimals
_CLOCK_SLACK_S = 0.25  # fio writes a state some 0.1 s after it
_WHOLE_SECONDS_S = 1.0  # what a moment of older versions is off by
_SURELY_LATER_S = 0.5  # by so much, jobs that run at once for one time do not differ
_LONGEST_TRAIL = 9  # zeros that end a number of nanoseconds: of whole seconds
_FIRST = ("read", "write", "mixed", "trim")  # directions; not every form of a run shows trims
_COUNTERS = ("ios", "io_bytes", "runtime_s")
# What does not change while a run goes on.
_OPTIONS = (
    *("tool_version", "started_at", "rw", "bs_bytes", "bs_write_bytes", "iodepth", "numjobs", "rate_iops"),
    *("runtime_limit_s", "time_based", "working_set_bytes", "ioengine", "direct", "target"),
)
COMPARED_COLUMNS = (
    *("run_id", "job", "job_index", "group_id", "error", "ended_at", "usr_cpu_pct", "sys_cpu_pct"),
    *("source_sha256", "source_path", "source_doc", *_OPTIONS),
)


@dataclass(kw_only=True, frozen=True)
class RunFigures:
    """Where the figures of runs are looked up, of which few are needed.

    Attributes
    ----------
    rows : callable
        Called with ``results`` or ``latency`` and ids of runs: the rows of that table that are theirs.
    totals : callable
        I/Os and seconds of all directions of every run, by run_id.
    """

    rows: Callable[[str, Collection[str]], pd.DataFrame]
    totals: Callable[[], Mapping[str, tuple[float, float]]]

    @classmethod
    def of(cls, tables: Tables) -> RunFigures:
        """Those of tables in memory."""

        def rows(name: str, ids: Collection[str]) -> pd.DataFrame:
            return tables[name][tables[name]["run_id"].isin(ids)]

        def totals() -> dict[str, tuple[float, float]]:
            done = tables["results"].groupby("run_id", sort=False)[["ios", "runtime_s"]].sum()
            return {run_id: (float(ios), float(s)) for run_id, ios, s in done.itertuples()}

        return cls(rows=rows, totals=totals)


@dataclass(kw_only=True, eq=False)
class _Run:
    """What a row tells, as far as several forms do."""

    run_id: str
    row: Mapping[str, Any]
    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # by direction
    latencies: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)  # and kind

    @property
    def moment(self) -> str | None:
        """When it began, or was written."""
        return self.row["started_at"] or self.row["ended_at"]


@dataclass(kw_only=True, eq=False)
class _Document:
    """The rows of one document."""

    runs: list[_Run]

    @property
    def names(self) -> tuple[str | None, ...]:
        """Its jobs."""
        return tuple(run.row["job"] for run in self.runs)

    @property
    def is_timed(self) -> bool:
        """Whether each row tells a moment of the clock."""
        return all(run.moment for run in self.runs)

    @property
    def rank(self) -> tuple[int, int]:
        """Which of two forms counts: the one with more rows, then JSON, terse lines, normal text."""
        rates = [rates for run in self.runs for rates in run.results.values()]
        counted = any(one["n"] is not None for run in self.runs for one in run.latencies.values())
        exact = 3 if self.is_timed or counted else 2 if all(one["ios"] is None for one in rates) else 1
        return len(self.runs), exact

    @property
    def mean_us(self) -> float:
        """A latency by which forms are looked up; not that of slat, which some forms lack."""
        for run in self.runs:
            for place in sorted(run.latencies, key=lambda place: (schema.DDIRS.index(place[0]), place[1])):
                if place[1] != "slat" and (mean := run.latencies[place]["lat_mean_us"]) is not None:
                    return float(mean)
        return 0.0


def same_runs(runs: pd.DataFrame, figures: RunFigures) -> dict[str, str]:
    """Rows that tell of a run in another form than the one that counts.

    Parameters
    ----------
    runs : DataFrame
        Rows of the table runs, each run_id once; without those that show a run under way.
    figures : RunFigures

    Returns
    -------
    dict of str to str
        The run_id of the row that counts, by that of the other one.
    """
    again: dict[str, str] = {}
    for group in _alike(_documents(runs), figures):
        kept: list[_Document] = []
        for document in sorted(group, key=lambda one: one.rank, reverse=True):
            pairs = next(filter(None, (_pairs(document, other) for other in _near(document, kept))), None)
            if pairs is None:
                insort(kept, document, key=lambda one: one.mean_us)
            else:
                again |= {own.run_id: other.run_id for own, other in pairs}
    return again


def states_under_way(runs: pd.DataFrame, figures: RunFigures) -> set[str]:
    """Rows that show a run of another document under way; parameters as of :func:`same_runs`."""
    by_names: dict[tuple[str | None, ...], list[_Document]] = defaultdict(list)
    for document in _documents(runs):
        if all(run.row["ended_at"] for run in document.runs):
            by_names[document.names].append(document)
    several = [some for some in by_names.values() if len(some) > 1]
    if not several:
        return set()
    totals, pairs = figures.totals(), []
    for some in several:
        for earlier, later in pairwise(sorted(some, key=lambda one: (_ended_s(one), _sums(one, totals)))):
            (ios, s), (then_ios, then_s) = (_sums(one, totals) for one in (earlier, later))
            waited_s = _ended_s(later) - _ended_s(earlier)
            if then_ios >= ios and then_s >= s and then_s - s >= waited_s - _slack_s(earlier):
                pairs.append((earlier, later))
    _fill([one for pair in pairs for one in pair], figures)
    return {run.run_id for earlier, later in pairs if _went_on(earlier, later) for run in earlier.runs}


def _documents(runs: pd.DataFrame) -> list[_Document]:
    """The documents of fio that have the name of a job in common with another one, without figures yet."""
    documents: dict[Any, list[_Run]] = defaultdict(list)
    wanted = _are_namesakes(runs)
    for row in schema.records(runs.loc[wanted, list(COMPARED_COLUMNS)]) if any(wanted) else ():
        place = _place(row["source_sha256"], row["source_path"], row["source_doc"])
        documents[place].append(_Run(run_id=row["run_id"], row=row))
    return [_Document(runs=sorted(some, key=_index)) for some in documents.values()]


def _are_namesakes(runs: pd.DataFrame) -> list[bool]:
    """Which rows are of such documents; few are, and their columns are many."""
    names = ("tool", "source_sha256", "source_path", "source_doc", "job")
    rows = list(zip(*(runs[name].to_numpy(object, na_value=None) for name in names), strict=True))
    places = [
        _place(sha256, path, doc) if tool == "fio" and doc is not None else None
        for tool, sha256, path, doc, _ in rows
    ]
    jobs: dict[Any, set[Any]] = defaultdict(set)
    for place, (*_, job) in zip(places, rows, strict=True):
        if place is not None:
            jobs[job].add(place)
    shared = set().union(*(some for some in jobs.values() if len(some) > 1))
    return [place in shared for place in places]


def _place(sha256: str | None, path: str | None, doc: int) -> tuple[str | None, int]:
    return sha256 or path, doc


def _index(run: _Run) -> int:
    return run.row["job_index"] or 0


def _alike(documents: Sequence[_Document], figures: RunFigures) -> Iterator[list[_Document]]:
    """The documents, with their figures, by the name and the run time of their first job; where some can be
    of one run.
    """
    by_name: dict[str | None, list[_Document]] = defaultdict(list)
    for document in documents:
        by_name[document.names[0]].append(document)
    some = [group for group in by_name.values() if _can_be_one(group)]
    if not some:
        return
    first = {one.runs[0].run_id for group in some for one in group}
    times: dict[str, dict[str, int | None]] = defaultdict(dict)
    for row in schema.records(figures.rows("results", first)[["run_id", "ddir", "runtime_s"]]):
        times[row["run_id"]][row["ddir"]] = _ms(row["runtime_s"])
    groups: list[list[_Document]] = []
    for group in some:
        by_time: dict[Any, list[_Document]] = defaultdict(list)
        for one in group:
            told = times[one.runs[0].run_id]
            by_time[next((told[ddir] for ddir in _FIRST if ddir in told), None)].append(one)
        groups += filter(_can_be_one, by_time.values())
    _fill([one for group in groups for one in group], figures)
    yield from groups


def _can_be_one(documents: Sequence[_Document]) -> bool:
    """Whether two of these may be of one run: those that tell different moments are not."""
    moments = [one.runs[0].moment for one in documents]
    return len(documents) > 1 and (None in moments or len(set(moments)) < len(moments))


def _fill(documents: Iterable[_Document], figures: RunFigures) -> None:
    """Give documents the figures of their rows."""
    runs = {run.run_id: run for one in documents for run in one.runs}
    if not runs:
        return
    for row in schema.records(figures.rows("results", runs)):
        runs[row["run_id"]].results[row["ddir"]] = row
    for row in schema.records(figures.rows("latency", runs)):
        runs[row["run_id"]].latencies[row["ddir"], row["lat_kind"]] = row


# ---- another form ---------------------------------------------------------------------------------------


def _near(document: _Document, sorted_: Sequence[_Document]) -> Sequence[_Document]:
    """Those of the documents, sorted by a latency, whose latency is the same but for printing."""
    low, high = (document.mean_us * (1 + sign * 2 * _MEAN_ROUNDED) for sign in (-1, 1))
    begin = bisect_left(sorted_, low - 1 / NS_PER_US, key=lambda one: one.mean_us)
    return sorted_[begin : bisect_right(sorted_, high + 1 / NS_PER_US, key=lambda one: one.mean_us)]


def _pairs(document: _Document, other: _Document) -> list[tuple[_Run, _Run]] | None:
    """Each row with that of the other document which tells of the same job; None: they are two runs."""
    rest = iter(other.runs)
    pairs, most = [], 0
    for run in document.runs:
        for one in rest:
            agreed = _agreed_digits(run, one)
            if agreed is not None:
                break
        else:
            return None
        pairs.append((run, one))
        most = max(most, agreed)
    return pairs if most >= ENOUGH_DIGITS else None


def _agreed_digits(run: _Run, other: _Run) -> int | None:
    """In how many digits the latencies of two rows agree; None: something of them differs."""
    if not _are_alike(run, other):
        return None
    exact = all(one["n"] is not None for each in (run, other) for one in each.latencies.values())
    shared = run.results.keys() & other.results.keys()
    if not all(_rates_agree(run.results[ddir], other.results[ddir], exact) for ddir in shared):
        return None
    agreed = 0
    for place in run.latencies.keys() & other.latencies.keys():
        for name in MOMENTS:
            mine, its = run.latencies[place][name], other.latencies[place][name]
            if mine is None or its is None:
                continue
            if abs(mine - its) > (0 if exact else _printed_us(name, mine, its)):
                return None
            agreed += min(digits(mine), digits(its))
    return agreed


def _are_alike(run: _Run, other: _Run) -> bool:
    """Whether they are called alike, and moved something in the same directions."""

    def differ(name: str, by: float | None = None) -> bool:
        mine, its = run.row[name], other.row[name]
        if mine is None or its is None:
            return False
        return bool(mine != its) if by is None else abs(mine - its) > by

    if any(map(differ, ("job", "tool_version", "group_id", "error", "started_at", "ended_at"))):
        return False
    if differ("usr_cpu_pct", _SHARE_ROUNDED) or differ("sys_cpu_pct", _SHARE_ROUNDED):
        return False
    return run.results.keys() == other.results.keys() or bool(run.results.keys() & other.results.keys())


def _rates_agree(mine: Mapping[str, Any], its: Mapping[str, Any], exact: bool) -> bool:
    """Whether run times and numbers of I/Os are the same, and other rates as far as they are printed."""
    if exact and any(mine[name] != its[name] for name in ("iops", "io_bytes")):
        return False
    if _ms(mine["runtime_s"]) != _ms(its["runtime_s"]):
        return False
    counted = None not in (mine["ios"], its["ios"])
    if counted and mine["ios"] != its["ios"]:
        return False
    sizes = mine["io_bytes"], its["io_bytes"]
    return None in sizes or abs(sizes[0] - sizes[1]) <= KIB + _ROUNDED * max(sizes)


def _printed_us(name: str, *values: float) -> float:
    """By how much printing can move one of these values from the other, in µs.

    The zeros that end a number of nanoseconds tell its unit; a mean has two decimals of that.
    """
    coarse = max(_last_digit_ns(value) for value in values) / NS_PER_US
    if name in ("lat_min_us", "lat_max_us"):
        return coarse
    return min(coarse, _MEAN_ROUNDED * max(values)) + 1 / NS_PER_US


def _last_digit_ns(value_us: float) -> float:
    """What one in the last digit of a latency is worth."""
    if not value_us:  # terse lines cut to whole microseconds
        return float(NS_PER_US)
    hundredths, zeros = round(value_us * NS_PER_US * 100), 0
    while hundredths and hundredths % 10 == 0 and zeros < _LONGEST_TRAIL:
        hundredths, zeros = hundredths // 10, zeros + 1
    return float(10**zeros / 100)


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * MS_PER_S)


# ---- a state under way ----------------------------------------------------------------------------------


def _ended_s(document: _Document) -> float:
    """When fio wrote it, in s since 1970."""
    return datetime.fromisoformat(document.runs[0].row["ended_at"]).timestamp()


def _slack_s(document: _Document) -> float:
    """By how much the clock and the run times of two states may differ."""
    is_whole = "." not in document.runs[0].row["ended_at"]
    return _CLOCK_SLACK_S + (_WHOLE_SECONDS_S if is_whole else 0.0)


def _sums(document: _Document, totals: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Its I/Os, and the seconds of all of its jobs and directions."""
    some = [totals.get(run.run_id, (0.0, 0.0)) for run in document.runs]
    return sum(ios for ios, _ in some), sum(s for _, s in some)


def _went_on(earlier: _Document, later: _Document) -> bool:
    """Whether the later document is of the same run: nothing shrank, and time went on as the clock did."""
    waited_s = _ended_s(later) - _ended_s(earlier)
    pairs = list(zip(earlier.runs, later.runs, strict=True))
    if not all(_can_be_later(run, then) for run, then in pairs):
        return False
    longer_s = max(_longest_s(then) - _longest_s(run) for run, then in pairs)
    slack_s = _slack_s(earlier)
    if not longer_s:  # reported again after the end; more I/Os in the same time are of another host
        return all(starmap(_is_same_state, pairs)) and sum(starmap(_shared_digits, pairs)) >= ENOUGH_DIGITS
    if abs(waited_s - longer_s) > slack_s:
        return False
    # else they may be two short runs, or two that ran at once
    went_on = longer_s > _SURELY_LATER_S and max(map(_longest_s, earlier.runs)) > slack_s
    began = all(run.row["started_at"] for run in earlier.runs)
    return began or went_on or sum(starmap(_shared_digits, pairs)) >= ENOUGH_DIGITS


def _is_same_state(run: _Run, then: _Run) -> bool:
    """Whether all counts are the same."""
    return all(
        then.results[ddir][name] == rates[name] for ddir, rates in run.results.items() for name in _COUNTERS
    )


def _can_be_later(run: _Run, then: _Run) -> bool:
    """Whether options are the same, and nothing that only grows shrank."""
    if any(run.row[name] != then.row[name] for name in _OPTIONS):
        return False
    for ddir, rates in run.results.items():
        new = then.results.get(ddir)
        if new is None or any((new[name] or 0) < (rates[name] or 0) for name in _COUNTERS):
            return False
        if new["iops"] != rates["iops"] and all(new[name] == rates[name] for name in _COUNTERS):
            return False
    for place, moments in run.latencies.items():
        new = then.latencies.get(place)
        if new is None or not _widened(moments, new):
            return False
        if moments["n"] == new["n"] and moments["lat_mean_us"] != new["lat_mean_us"]:
            return False
    return True


def _longest_s(run: _Run) -> float:
    return max((rates["runtime_s"] or 0.0 for rates in run.results.values()), default=0.0)


def _widened(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the extremes lie no nearer to each other than they did."""
    low, high = ((one["lat_min_us"], one["lat_max_us"]) for one in (before, after))
    return None in (*low, *high) or (high[0] <= low[0] and high[1] >= low[1])


def _shared_digits(run: _Run, then: _Run) -> int:
    """How many digits the extremes of latencies have that are the same in both."""
    return sum(
        digits(moments[name])
        for place, moments in run.latencies.items()
        for name in ("lat_min_us", "lat_max_us")
        if moments[name] == then.latencies[place][name]
    )
