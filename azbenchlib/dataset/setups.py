"""Setups for runs whose outputs tell none: what the user says of them, and which of them belong together."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis import repeats, setup_names
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.units import format_count
from azbenchlib.dataset.read import Tables
from azbenchlib.formats.packed import stack
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.setup import Setup

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest, ManifestSetup

GIVEN_ID = "stated"  # setup_id of what the user says
_MOST_NAMED = 12  # setups that a sentence names
_WORKLOAD = ("rw", "bs_bytes", "queue_depth")
_LACKS = {
    GroupBy.folder: "all outputs lie in one folder",
    GroupBy.host: "no output names its host, as fio does in client/server runs",
    GroupBy.job: "no run has a job name",
}


@dataclass(frozen=True)
class Assumed:
    """What the user says of the setup of outputs that tell none: VM and disks, and the Azure region."""

    setup: Setup | None = None
    region: str | None = None

    def as_manifest(self) -> ManifestSetup | None:
        """The setup as a manifest has it; None where only a region is given, or nothing."""
        if self.setup is None:
            return None
        from azbenchlib.dataset.manifest import ManifestSetup  # loads pydantic

        return ManifestSetup(
            setup_id=GIVEN_ID,
            environment="azure",
            region=self.region,
            vm_size=self.setup.vm.size,
            as_of=self.setup.as_of,
            disks=[DiskRow.from_disk(disk, disk.name) for disk in self.setup.disks],
        )


def check_needed(parts: Sequence[Tables], assumed: Assumed, by: GroupBy | None) -> None:
    """Refuse what is said of setups where every one is stated: nothing that is stated is overridden.

    Parameters
    ----------
    parts : sequence of dict of str to DataFrame
        The tables of everything that was named.
    assumed : Assumed
        What is said of setups that are not stated.
    by : GroupBy, optional
        How their runs are to be grouped.

    Raises
    ------
    InputError
        With the setups that are stated.
    """
    stated = [name for part in parts for name in part["runs"]["setup_id"].dropna().unique()]
    told = f"the setup of every run is stated already ({', '.join(stated[:_MOST_NAMED]) or 'none'})"
    if any(_unstated(part).any() for part in parts) or not any(len(part["runs"]) for part in parts):
        return
    if assumed.setup is not None:
        raise InputError(f"{told}; a VM and disks can be given for outputs that state none")
    if by is not None:
        raise InputError(f"{told}; only runs whose setup is not stated can be grouped by {by}")
    if assumed.region is not None and not any(part["setups"]["region"].isna().any() for part in parts):
        regions = ", ".join(dict.fromkeys(r for part in parts for r in part["setups"]["region"]))
        raise InputError(f"the region of every setup is stated already: {regions}")


def settled(tables: Tables, assumed: Assumed, by: GroupBy | None = None) -> Tables:
    """The tables with a setup for each run that had none of which anything is known.

    Parameters
    ----------
    tables : dict of str to DataFrame
    assumed : Assumed
        What is said of those setups. What the data tell is kept.
    by : GroupBy, optional
        Which of those runs were made on one setup. None: all, where a setup is given, else those of a file
        at most, which are no repeats of each other.

    Raises
    ------
    InputError
        When nothing tells the groups apart.
    """
    open_ = _unstated(tables)
    if (given := assumed.as_manifest()) and open_.any():
        tables = _with_facts(tables, open_, given)
    if assumed.region is not None:  # of every setup that states none
        region = tables["setups"]["region"].fillna(assumed.region)
        tables = tables | {"setups": tables["setups"].assign(region=region)}
    wanted = by or (GroupBy.setup if given else GroupBy.path)
    return _split(tables, open_, wanted, bool(given)) if open_.any() else tables


def side_by_side(tables: Tables, named: Sequence[str], assumed: Assumed) -> GroupBy | None:
    """Return how runs are grouped of which several folders are named and a setup is given.

    Each folder is a setup of its own where two of them measured one workload: who names them side by side
    compares them.
    """
    if assumed.setup is None or sum(Path(name).is_dir() for name in named) < 2:
        return None
    runs = tables["runs"][_unstated(tables)]
    folders = _folders(runs).groupby([runs[name] for name in _WORKLOAD], dropna=False).nunique()
    return GroupBy.folder if (folders > 1).any() else None


def split_as_stated(tables: Tables, found: Manifest) -> Tables:
    """The tables with the setups that a manifest groups its runs into."""
    if found.group_by is None:
        return tables
    only = found.setups[0].setup_id if len(found.setups) == 1 else None
    ids = tables["runs"]["setup_id"]
    open_ = _unstated(tables) | (ids == only).fillna(False).astype(bool) if only else _unstated(tables)
    return _split(tables, open_, found.group_by, only is not None) if open_.any() else tables


def _unstated(tables: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Which rows of the table runs have no setup of which anything is known."""
    return ~repeats.is_stated(tables, tables["runs"]).astype(bool)


def _with_facts(tables: Tables, open_: pd.Series, given: ManifestSetup) -> Tables:
    """The runs on the given setup; on one that is told in part, such as a lab's, with what is given."""
    from azbenchlib.dataset import manifest  # loads pydantic

    runs, known = tables["runs"], tables["setups"]
    facts = manifest.tables([given])
    in_part = list(runs.loc[open_, "setup_id"].dropna().unique())
    renamed = {name: f"{GIVEN_ID}, {name}" for name in in_part}
    rows = [_row(known, name) for name in in_part]
    said = {name: value for name, value in given.model_dump(exclude={"disks", "folder"}).items() if value}
    new = [said | row | {"setup_id": renamed[str(row["setup_id"])]} for row in rows]
    ids = runs["setup_id"].map(renamed).astype(schema.TEXT)
    if runs.loc[open_, "setup_id"].isna().any():
        new.append(said)
    disks = [
        facts["disks"].assign(setup_id=str(row["setup_id"])).astype(facts["disks"].dtypes) for row in new
    ]
    return tables | {
        "setups": stack("setups", [known, schema.frame("setups", new)]),
        "disks": stack("disks", [tables["disks"], *disks]),
        "runs": runs.assign(setup_id=runs["setup_id"].mask(open_, ids.fillna(GIVEN_ID))),
    }


def _split(tables: Tables, open_: pd.Series, by: GroupBy, given: bool) -> Tables:
    """The runs of each group on a setup of their own, which is called like the group.

    A run that tells no group keeps its setup. By path without a setup, nothing is stated of a file, and each
    of its runs stands for itself.
    """
    if (by is GroupBy.path and not given) or (by is GroupBy.setup and given):
        return tables
    runs = tables["runs"]
    names = _NAMES[by](runs)
    open_ = open_ & names.notna()
    if not open_.any():
        raise InputError(f"the runs cannot be grouped by {by}: {_LACKS.get(by, 'nothing tells them apart')}")
    known = tables["setups"]
    new, disks, ids = [], [tables["disks"]], runs["setup_id"].copy()
    taken = set(known["setup_id"]) - set(runs.loc[open_, "setup_id"].dropna())
    for (old, name), rows in runs[open_].groupby([runs["setup_id"], names], dropna=False, sort=False):
        before = _row(known, old)
        new_id = str(name) if pd.isna(old) or old == GIVEN_ID else f"{old}, {name}"
        while new_id in taken:
            new_id += "'"
        taken.add(new_id)
        new.append({"environment": "other"} | before | {"setup_id": new_id, "label": str(name)})
        mine = tables["disks"][(tables["disks"]["setup_id"] == old).fillna(False)]
        disks.append(mine.assign(setup_id=new_id).astype(mine.dtypes))
        ids[rows.index] = new_id
    used = known[known["setup_id"].isin(ids) | ~known["setup_id"].isin(runs.loc[open_, "setup_id"])]
    kept = {"setups": stack("setups", [used, schema.frame("setups", new)]), "disks": stack("disks", disks)}
    kept["disks"] = kept["disks"][kept["disks"]["setup_id"].isin(kept["setups"]["setup_id"])]
    return tables | kept | {"runs": runs.assign(setup_id=ids)}


def _row(setups: pd.DataFrame, name: Any) -> dict[str, Any]:
    """What is known of a setup, by column."""
    rows = setups[(setups["setup_id"] == name).fillna(False)]
    return {} if rows.empty else {key: value for key, value in rows.iloc[0].items() if not pd.isna(value)}


def _paths(runs: pd.DataFrame) -> pd.Series:
    paths = runs["source_path"].dropna().unique()
    told = setup_names.file_labels({path: path for path in paths}).set_index("key")["label"]
    return runs["source_path"].map(told).astype(schema.TEXT)


def _folders(runs: pd.DataFrame) -> pd.Series:
    """The first folder below the one that all files share."""
    paths = runs["source_path"].dropna().map(lambda path: str(PurePath(path).parent))
    shared = len(PurePath(os.path.commonpath(list(paths.unique()))).parts) if len(paths) else 0
    below = paths.map(lambda path: next(iter(PurePath(path).parts[shared:]), None))
    return below.reindex(runs.index).astype(schema.TEXT)


_NAMES: dict[GroupBy, Callable[[pd.DataFrame], pd.Series]] = {
    GroupBy.path: _paths,
    GroupBy.folder: _folders,
    GroupBy.host: lambda runs: "host " + runs["host"],
    GroupBy.job: lambda runs: "job " + runs["job"],
    GroupBy.setup: lambda runs: pd.Series("one setup, not stated", index=runs.index, dtype=schema.TEXT),
}


def hosts_told(tables: Mapping[str, pd.DataFrame]) -> str:
    """How many files and hosts there are, where runs could be grouped by host; else empty."""
    runs = tables["runs"][_unstated(tables)]
    hosts, files = runs["host"].nunique(), runs["source_path"].nunique()
    if not hosts or files <= hosts or runs["host"].isna().any():
        return ""
    return f"{format_count(files)} files of {format_count(hosts)} host{'s' if hosts > 1 else ''}"
