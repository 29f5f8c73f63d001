"""The manifest of outputs that came without one: what can be told of them by looking at them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.privacy import without_homes
from azbenchlib.dataset.files import sha256
from azbenchlib.dataset.names import RAW, STDIN_NAME
from azbenchlib.dataset.read import Tables
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model.disk_row import OF_SETUP, DiskRow

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest, ManifestSetup

_NOT_STATED = "not stated"
_MOST_NAMED = 12  # files that one note names
_LEFT_OUT = (Code.NOT_READ, Code.NOT_RECOGNISED, Code.EMPTY_FILE)
_GROUPED = {
    GroupBy.path: "Each file counts as a setup of its own",
    GroupBy.folder: "All runs of a folder count as made on one setup, and those of one workload as repeats",
    GroupBy.host: "All runs of a host count as made on one setup, and those of one workload as repeats",
    GroupBy.job: "All runs of a job count as made on one setup, and those of one workload as repeats",
    GroupBy.setup: "All runs count as made on one setup, and those of one workload as repeats",
}


def derived(
    tables: Tables, files: Mapping[str, Path], named: Sequence[str], assumed: Assumed, by: GroupBy | None
) -> Manifest:
    """The manifest of outputs.

    Parameters
    ----------
    tables : dict of str to DataFrame
        What was read of them.
    files : mapping of str to Path
        Where each file lies that was read, by its `source_path`.
    named : sequence of str
        The files and folders that the user named.
    assumed : Assumed
        What the user says of their setup.
    by : GroupBy, optional
        How the user groups them.

    Raises
    ------
    InputError
        When they are more files than a manifest lists.
    """
    from azbenchlib.dataset.manifest import MOST_FILES, Manifest  # loads pydantic

    if len(files) > MOST_FILES:
        raise InputError(
            f"{named[0]}: {len(files):,} files are too many for one dataset; {MOST_FILES:,} may be"
        )
    runs = tables["runs"]
    kept = worth_keeping(tables, files)
    setups = [given] if (given := assumed.as_manifest()) else _setups(tables)
    count = runs["source_path"].nunique()
    return Manifest(
        name=name_of(named, files),
        title=without_homes(_title(runs, files, named)),
        about=without_homes(
            f"Outputs as they were found{_within(named)}: {_amount(count, 'file')} with "
            f"{_amount(len(runs), 'run')}."
        ),
        measured=_measured(days_of(runs)),
        setups=setups,
        group_by=by,
        tools=_tools(runs),
        notes=[without_homes(note) for note in _notes(tables, bool(given), by)],
        raw={name: sha256(files[path]) for path, name in raw_names(kept).items()},
    )


def worth_keeping(tables: Tables, files: Mapping[str, Path]) -> dict[str, Path]:
    """The files that are benchmark outputs, or belong to some."""
    findings = tables["findings"]
    others = set(findings.loc[findings["code"].isin(_LEFT_OUT), "source_path"].dropna())
    return {path: file for path, file in files.items() if path not in others}


def raw_names(files: Mapping[str, Path]) -> dict[str, str]:
    """Where each file goes below ``raw/``, by `source_path`: as they lie beside each other."""
    if not files:
        return {}
    places = {path: file.parent.resolve() / file.name for path, file in files.items()}
    home = Path(os.path.commonpath([place.parent for place in places.values()]))
    if home == Path(home.anchor):  # they have nothing in common, and what is above them is nobody's business
        numbers = {parent: i for i, parent in enumerate(sorted({p.parent for p in places.values()}), 1)}
        return {path: f"{RAW}/{numbers[place.parent]}/{place.name}" for path, place in places.items()}
    return {path: f"{RAW}/{place.relative_to(home).as_posix()}" for path, place in places.items()}


def name_of(named: Sequence[str], files: Mapping[str, Path]) -> str:
    """A name for the dataset, which can be that of a folder: after what was named first."""
    first = Path(named[0])
    if named[0] == STDIN_NAME:
        return STDIN_NAME
    if len(files) > 1 and not first.is_dir():
        first = first.parent
    text = first.resolve().name if first.is_dir() else first.stem
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.")[:80] or "outputs"


def _title(runs: pd.DataFrame, files: Mapping[str, Path], named: Sequence[str]) -> str:
    *others, last = list(dict.fromkeys(runs["tool"].dropna())) or ["benchmark"]
    tools = f"{', '.join(others)} and {last}" if others else last
    if named[0] == STDIN_NAME and len(named) == 1:
        return f"{tools} output from standard input"
    if len(files) == 1:
        return f"{tools} output {PurePath(next(iter(files))).name}"
    return f"{tools} outputs{_within(named)}"


def _within(named: Sequence[str]) -> str:
    """`` in FOLDER``: the name of the folder that holds what the user named, however it was named."""
    given = [Path(name).resolve() for name in named]
    inside = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in given]))
    is_meant = any(path.is_dir() for path in given) or inside != Path.cwd()
    return f" in {inside.name}" if is_meant and inside.name and inside != Path.home() else ""


def days_of(runs: pd.DataFrame) -> pd.Series:
    """The day in UTC, ISO 8601, on which each run began, or was written; NA where neither is told."""
    moments = runs["started_at"].fillna(runs["ended_at"])
    told = pd.to_datetime(moments, errors="coerce", utc=True, format="ISO8601")
    return told.dt.strftime("%Y-%m-%d").astype(schema.TEXT)


def _measured(days: pd.Series) -> str:
    """The day of the runs, or the first and the last."""
    told = sorted(days.dropna().unique())
    if not told:
        return "day not stated"
    known = told[0] if len(told) == 1 else f"{told[0]} to {told[-1]}"
    return f"{known}, as far as is stated" if days.isna().any() else known


def _tools(runs: pd.DataFrame) -> dict[str, str]:
    """The versions of each tool."""
    known = runs.dropna(subset=["tool"])
    return {
        str(tool): ", ".join(_versions(str(tool), rows["tool_version"].dropna())) or _NOT_STATED
        for tool, rows in known.groupby("tool", sort=False)
    }


def _versions(tool: str, told: pd.Series) -> list[str]:
    return sorted({str(version).removeprefix(f"{tool}-") for version in told})


def _setups(tables: Tables) -> list[ManifestSetup]:
    """The setups that the outputs tell."""
    from azbenchlib.dataset.manifest import ManifestSetup

    used = tables["setups"][tables["setups"]["setup_id"].isin(tables["runs"]["setup_id"])]
    found = []
    for _, row in used.iterrows():
        disks = tables["disks"][tables["disks"][OF_SETUP] == row["setup_id"]]
        facts = {name: value for name, value in row.items() if not pd.isna(value)}
        known = [DiskRow.from_row(disk) for disk in schema.records(disks)]
        found.append(ManifestSetup(**facts, disks=known))
    return found


def _notes(tables: Tables, given: bool, by: GroupBy | None) -> list[str]:
    """What is to be known before a figure is trusted."""
    notes = []
    if given:
        notes.append("The outputs do not tell their setup: it is what was stated when they were opened.")
    if by is not None:
        notes.append(f"{_GROUPED[by]}: that was stated or named so when the outputs were opened.")
    findings = tables["findings"]
    for code, what in ((Code.NOT_READ, "could not be read"), (Code.NOT_RECOGNISED, "are of no known format")):
        paths = list(dict.fromkeys(findings.loc[findings["code"] == code, "source_path"].dropna()))
        if paths:
            more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
            named = ", ".join(paths[:_MOST_NAMED])
            notes.append(f"Left out, for they {what}: {named}{more}.")
    return notes


def _amount(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
