"""A dataset of a report: its tables, what its figures are, and what is documented of its disks."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from readback import money
from readback.figures import Figure, spaced
from readback.naming import SET, Names, Tables
from readback.reckoning import Fact, Figures, Unit, facts, measured, rates_of, units

ELSEWHERE = "westeurope"  # the prices that count where no region is stated

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def once(
    function: Callable[Concatenate["Known", Asked], Answer],
) -> Callable[Concatenate["Known", Asked], Answer]:
    """Of a dataset, the same is reckoned once, however many figures of the page ask for it."""

    @wraps(function)
    def answered(part: "Known", *asked: Asked.args, **more: Asked.kwargs) -> Answer:
        key = function.__name__, *asked, *more.items()
        if key not in part.answers:
            part.answers[key] = function(part, *asked, **more)
        return part.answers[key]

    return answered


@dataclass(eq=False)
class Known:
    """A dataset of the report, and what its figures are."""

    manifest: dict[str, Any]
    tables: Tables
    root: Path
    facts: list[Fact] = field(default_factory=list)  # empty: as reckoned from the tables
    verbatim: set[str] = field(default_factory=set)
    answers: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = Names(self.tables)
        self.units = units(self.tables)
        for unit in self.units:
            if unit.setup.startswith(SET):
                n_files = float(unit.setup.rpartition(" ")[2])
                self.names.sets.setdefault(n_files, set()).add(unit.setup)
        self.facts = self.facts or facts(self.tables, self.units)
        self.verbatim |= {spaced(text) for text in _strings(self.manifest)}
        for column in ("message", "advice"):
            self.verbatim |= {spaced(text) for text in self.tables["findings"][column].dropna()}

    @cached_property
    def measured(self) -> list[Unit]:
        """What ran at once and gave some figure."""
        rows = measured(self.tables)
        return [unit for unit in self.units if rows & set(unit.rows)]

    def rates(self, unit: Unit) -> dict[tuple[str, str | None], tuple[float, str]]:
        """Rates of a unit and their bounds by kind and direction; all directions under None."""
        return rates_of(unit, self._figures)

    @cached_property
    def _figures(self) -> Figures:
        return Figures(self.tables)

    @cached_property
    def sizes(self) -> set[float]:
        """Bytes of disks, memory, files and I/Os."""
        columns = (
            ("disks", "size_bytes"),
            ("setups", "ram_bytes"),
            ("runs", "working_set_bytes"),
            ("runs", "bs_bytes"),
        )
        return {float(value) for table, name in columns for value in self.tables[table][name].dropna()}

    @property
    def documented(self) -> dict[str, set[float]]:
        """All limits of the VM sizes and disks, by kind."""
        return documented(self)

    def disks(self, setup: str) -> list[dict[str, Any]]:
        rows = self.tables["disks"]
        mine = rows[rows["setup_id"] == setup].to_dict(orient="records")
        return [{key: value for key, value in row.items() if not pd.isna(value)} for row in mine]

    def setup(self, name: str) -> dict[str, Any]:
        rows = self.tables["setups"]
        found = rows[rows["setup_id"] == name].to_dict(orient="records")
        return {key: value for key, value in found[0].items() if not pd.isna(value)} if found else {}

    @once
    def month(self, setup: str) -> tuple[float, float] | None:
        """What a setup costs, and its disks."""
        row = self.setup(setup)
        region = str(row.get("region", ELSEWHERE))
        return money.setup_month(self.root, row.get("vm_size"), self.disks(setup), region)


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, str):
        yield value


@once
def limit_stands(part: Known, source: str, limit: Figure, setups: frozenset[str] | None) -> bool:
    """Whether the source of a limit has it: a row of the catalogue, or the setup as it is stated."""
    cited = re.match(r"(Standard_\S+) (?:(\w+), |\(([\w, ]+)\): )([\w@.-]+)", source)
    column = "iops" if limit.kind == "iops" else "bytes_per_s"
    if cited:
        columns = [name for name in (cited[2] or cited[3]).split(", ") if column in name]
        values: set[float] = set()
        for rows in money.documented(part.root):
            mine = rows[(rows["size"] == cited[1]) & (rows["source_id"] == cited[4].rstrip(","))]
            for name in set(columns) & set(rows.columns):
                values |= set(mine[name].dropna().astype(float))
        return any(limit.shows(value) for value in values)
    known = bought(part, limit.kind, setups)
    return any(limit.shows(value) for value in known)


@once
def bought(part: Known, kind: str, setups: frozenset[str] | None = None) -> set[float]:
    """Rates that disks are sold with: as stated, and by their tier, of one and of all of a kind."""
    column = {"iops": "iops", "bytes_per_s": "bytes_per_s"}.get(kind)
    if column is None:
        return set()
    found: set[float] = set()
    for row in part.tables["disks"].to_dict(orient="records"):
        if setups is not None and row["setup_id"] not in setups:
            continue
        count = 1 if pd.isna(row["count"]) else int(row["count"])
        values, name_of_tier = [row[f"provisioned_{column}"]], money.tier_of(part.root, row)
        values += [
            tier[name]
            for tier in money.tiers(part.root)
            if tier["name"] == name_of_tier
            for name in (column, f"burst_{column}")
        ]
        for value in values:
            if not pd.isna(value) and str(value):
                found |= {float(value), float(value) * count}
    return found


@once
def documented(part: Known, setups: frozenset[str] | None = None) -> dict[str, set[float]]:
    """Limits of the VM sizes and disks of a dataset, or of some of its setups, by kind."""
    rows = part.tables["setups"]
    sizes = set(rows.loc[rows["setup_id"].isin(setups or rows["setup_id"]), "vm_size"].dropna())
    found: dict[str, set[float]] = {kind: set(bought(part, kind, setups)) for kind in ("iops", "bytes_per_s")}
    for every in money.documented(part.root):
        rows = every[every["size"].isin(sizes)]
        for column in rows.columns:
            kind = "iops" if "iops" in column else "bytes_per_s" if "bytes_per_s" in column else ""
            if kind:
                found[kind] |= set(pd.to_numeric(rows[column], errors="coerce").dropna())
    return found


def shows(figure: Figure, fact: Fact) -> bool:
    """Whether a number is how a fact reads, with its bound."""
    if figure.bound != fact.bound and figure.bound != "=":
        return False
    return figure.shows(fact.value) or abs(figure.base - fact.value) <= fact.within * fact.value
