"""Which workloads of two sides are the same, whatever they ran on.

The same pattern, block sizes, depth, share of reads, rate limit, think time, syncs, random distribution, way
to verify and direction are one workload. What else tells workloads apart *within* a side (engine, target,
setup, …) tells them apart here too; what differs only *between* the sides is what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from azbenchlib.analysis import grouping
from azbenchlib.analysis.groups import distinct, numbered
from azbenchlib.analysis.repeats import ASKS_FOR_NONE, DIFFERENCES
from azbenchlib.analysis.setup_names import workload_text
from azbenchlib.core import schema
from azbenchlib.core.patterns import MIXED

Tables = Mapping[str, pd.DataFrame]
Key = tuple[tuple[str, str], ...]  # (column, its value as text)

# What always makes workloads different.
BASE = (
    *("rw", "bs_bytes", "bs_write_bytes", "queue_depth", "iodepth", "rwmix_read_pct", "rate_iops", "ddir"),
    *ASKS_FOR_NONE,
)
# What does so where one side has several of it.
EXTRA = ("setup", "tool", "host", "disks", "target", "working_set_bytes", "direct", "ioengine", "job")
_AND = " and "
_EPOCH = pd.Timestamp(0, tz="UTC")


@dataclass(frozen=True, kw_only=True)
class SideRuns:
    """The runs of one side.

    Attributes
    ----------
    runs : DataFrame
        Rows of an arrangement, with unit: the number of workload, direction and run (all that ran at once).
    units : DataFrame
        By unit: run_ids (tuple), ddir, the columns of :data:`BASE` and :data:`EXTRA` as text, bs_bytes.
    phased : int
        Runs in which the rate had phases, such as a burst and the base.
    """

    runs: pd.DataFrame
    units: pd.DataFrame
    phased: int = 0

    def starts_of(self, tables: Tables) -> pd.Series:
        """Return when each row of `runs` began, or else ended, in seconds since 1970; NA where not known."""
        runs = tables["runs"].drop_duplicates("run_id").set_index("run_id")
        texts = self.runs["run_id"].map(runs["started_at"].fillna(runs["ended_at"]))
        times = pd.to_datetime(texts, errors="coerce", utc=True, format="ISO8601")
        return (times - _EPOCH).dt.total_seconds()


@dataclass(frozen=True)
class ComparedWorkload:
    """A workload in one direction: its key and its name."""

    key: Key
    name: str


def side_runs(tables: Tables, setup: str | None = None) -> SideRuns:
    """All runs of a side that have a rate or a percentile.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    setup : str, optional
        Only those of this setup_id.
    """
    arrangement = grouping.arrange(tables)
    runs = arrangement.runs
    if setup is not None:
        runs = runs[(runs["setup_id"] == setup) & runs["stated"]]
    told = pd.DataFrame({name: _said(runs, name) for name in (*BASE, *EXTRA)}, index=runs.index)
    alone = [told[name] for name in BASE if name not in ("rate_iops", "iodepth", "rwmix_read_pct")]
    unit = numbered([*alone, runs["at_once"]])
    phased = len({*runs["at_once"]} & {*arrangement.phases})
    return SideRuns(runs=runs.assign(unit=unit), units=_units(runs, told, unit.tolist()), phased=phased)


def _units(runs: pd.DataFrame, told: pd.DataFrame, unit: Sequence[int]) -> pd.DataFrame:
    """A row a unit: what its rows say, each text once."""

    def of_each(values: pd.Series) -> list[list[Any]]:
        members: list[list[Any]] = [[] for _ in range(max(unit, default=-1) + 1)]
        for number, value in zip(unit, schema.plain_values(values), strict=True):
            members[number].append(value)
        return members

    texts = {
        name: pd.Series(
            [_AND.join(sorted({*some} - {""})) for some in of_each(told[name])], dtype=schema.TEXT
        )
        for name in told.columns
    }
    run_ids = [tuple(dict.fromkeys(some)) for some in of_each(runs["run_id"])]
    first = {
        f"{name}_value": pd.Series(
            [next((value for value in some if value is not None), None) for some in of_each(runs[name])],
            dtype=runs[name].dtype,
        )
        for name in ("rw", "bs_bytes", "queue_depth")
    }
    return pd.DataFrame({"unit": range(len(run_ids)), **texts, "run_ids": run_ids, **first})


def _said(runs: pd.DataFrame, name: str) -> pd.Series:
    """A column as text; empty where nothing is stated."""
    if name == "setup":
        return runs["setup_id"].where(runs["stated"], "").astype(schema.TEXT).fillna("")
    if name == "job":
        return _jobs(runs)
    said = ["" if value is None else _text(value) for value in schema.plain_values(runs[name])]
    text = pd.Series(said, index=runs.index, dtype=schema.TEXT)
    if name in ASKS_FOR_NONE:
        return text.where(text != ASKS_FOR_NONE[name], "")
    return text.where(runs["rw"].isin(MIXED), "") if name == "rwmix_read_pct" else text


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _jobs(runs: pd.DataFrame) -> pd.Series:
    """The job where a file on no stated setup has several of one workload, each of another name."""
    base = [runs[name] for name in ("source_path", *BASE) if name in runs.columns]
    known = runs["job"].astype(schema.TEXT).fillna("")
    n = distinct(runs["at_once"], base)
    return known.where(~runs["stated"] & (n > 1) & (distinct(known, base) == n), "")


def keyed(sides: Sequence[SideRuns]) -> list[pd.Series]:
    """The key of each unit of each side: what is always told apart, and what one of the sides tells apart."""
    every = pd.concat([side.units.assign(side=i) for i, side in enumerate(sides)], ignore_index=True)
    base = [every[name] for name in BASE]
    columns: dict[str, pd.Series] = {}
    for name in EXTRA:
        within = every[name].where(distinct(every[name], [*base, every["side"]]) > 1)
        columns[name] = distinct(within, base) > 0
    keys = [
        (*((name, row[name]) for name in BASE), *((name, row[name]) for name in EXTRA if columns[name][i]))
        for i, row in every.iterrows()
    ]
    series = pd.Series(keys, index=every.index, dtype=object)
    return [series[every["side"] == i].set_axis(side.units.index) for i, side in enumerate(sides)]


def named(sides: Sequence[SideRuns], keys: Sequence[pd.Series]) -> dict[Key, ComparedWorkload]:
    """A name for each key; it says what tells the workload from its namesakes."""
    facts: dict[Key, tuple[str, pd.Series]] = {}
    for side, own in zip(sides, keys, strict=True):
        for key, row in zip(own, (row for _, row in side.units.iterrows()), strict=True):
            text = workload_text(row["rw_value"], row["bs_bytes_value"], row["queue_depth_value"])
            facts.setdefault(key, (text, row))
    alike: dict[str, list[Key]] = {}
    for key, (text, _) in facts.items():
        alike.setdefault(text, []).append(key)
    return {
        key: ComparedWorkload(key, ", ".join([text, *_more(key, alike[text])]))
        for key, (text, _) in facts.items()
    }


def _more(key: Key, namesakes: Iterable[Key]) -> list[str]:
    """The words for what differs between namesakes, the direction last."""
    others = [dict(other) for other in namesakes]
    mine = dict(key)
    words = [
        _words(name, value)
        for name, value in key
        if name != "ddir" and value and any(other.get(name, "") != value for other in others)
    ]
    several = len({other["ddir"] for other in others}) > 1 or mine["rw"] in MIXED
    return words + ([grouping.DIRECTION_WORDS.get(mine["ddir"], "direction not stated")] if several else [])


def _words(name: str, value: str) -> str:
    form = DIFFERENCES.get(name)
    if name == "direct":
        return _AND.join("direct" if one == "True" else "buffered" for one in value.split(_AND))
    if name == "job":
        return f"job '{value}'"
    if form is None or _AND in value:
        return value
    if name in ("tool", "host", "disks", "target", "ioengine", "random_distribution", "verify"):
        return form(value)
    return form(float(value))
