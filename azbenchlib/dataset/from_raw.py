"""Raw outputs become tables: those of a dataset folder, on its setups, and those given by themselves."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.analysis.over_time import time_dilation
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.dataset import lab_outputs
from azbenchlib.dataset.files import Obstacle, files_at, regular_files, sha256
from azbenchlib.dataset.names import MANIFEST_FILE, RAW
from azbenchlib.dataset.read import Tables, read_files, without_collections
from azbenchlib.dataset.stored import Stored
from azbenchlib.formats.base import Records
from azbenchlib.formats.packed import stack
from azbenchlib.formats.source import Source

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest, ManifestSetup


@without_collections()
def read_folder(folder: Path, log_unit: str | None = None, bins: bool = True) -> tuple[Tables, Manifest]:
    """The tables of the raw files of a dataset folder, and its manifest.

    Parameters
    ----------
    folder : Path
        With a manifest.
    log_unit : {"us", "ns"}, optional
        Unit of the latencies in fio logs that no output of their run lies beside.
    bins : bool
        As of :func:`azbenchlib.dataset.read.read_files`.

    Raises
    ------
    InputError
        When the manifest is missing or wrong, or there is no raw file.
    """
    from azbenchlib.dataset import manifest, setups  # load pydantic and the model, which outputs do without

    found = manifest.load(folder)
    raw = folder / RAW
    if not any(regular_files(raw)):
        raise InputError(f"{raw}: no raw output; a dataset needs at least one")
    files = {file.relative_to(folder).as_posix(): (file, why) for file, why in files_at(raw).items()}
    good = [(file, name) for name, (file, why) in files.items() if why is None]
    left_out = {Path(name): why for name, (_, why) in files.items() if why}
    tables = read_files(good, log_unit, left_out, bins)
    tables |= found.tables()
    tables["runs"] = _on_their_setups(tables["runs"], found)
    tables = lab_outputs.dilated(tables, {name: file for file, name in good})
    tables = setups.split_as_stated(tables, found)
    there = Stored.of(folder)
    changed = _changed_since(folder, found, there.now["raw"])
    tables["findings"] = stack("findings", [tables["findings"], changed])
    made = at_full_speed(tables) | {"findings": findings_of(tables)}
    made["findings"] = stack("findings", [made["findings"], there.doubts(made)])
    return made, found


def read_loose(
    files: Sequence[tuple[Path, str]],
    log_unit: str | None,
    left_out: Mapping[Path, Obstacle],
    bins: bool = True,
) -> Tables:
    """The tables of files that are given by themselves; those of a lab at full speed, where it is known.

    Parameters are those of :func:`read_reported`.
    """
    reported = read_reported(files, log_unit, left_out, bins)
    return at_full_speed(reported) | {"findings": findings_of(reported)}


@without_collections()
def read_reported(
    files: Sequence[tuple[Path, str]],
    log_unit: str | None,
    left_out: Mapping[Path, Obstacle],
    bins: bool = True,
) -> Tables:
    """The tables of files that are given by themselves, with figures as the tools reported them, and the
    findings of the readers alone.

    Parameters
    ----------
    files : sequence of (Path, str)
        Where each is, and the name it goes by.
    log_unit : {"us", "ns"}, optional
        As of :func:`read_folder`.
    left_out : mapping of Path to Obstacle
        Files that are not read, and why; each is a finding.
    bins : bool
        As of :func:`azbenchlib.dataset.read.read_files`.
    """
    read = lab_outputs.in_datasets(read_files(files, log_unit, left_out, bins), _on_their_setups)
    return lab_outputs.dilated(read, {name: file for file, name in files})


def at_full_speed(reported: Tables) -> Tables:
    """The tables as the disks would have given them: those of a lab are under time dilation as reported."""
    return time_dilation.undo(reported)


@without_collections()
def findings_of(reported: Tables) -> pd.DataFrame:
    """What the readers found, and what there is to doubt in the figures as they were reported."""
    from azbenchlib.verdict import checks  # takes as long as a hundred outputs, which may not need it

    return stack("findings", [reported["findings"], checks.check(reported)])


def _on_their_setups(runs: pd.DataFrame, found: Manifest) -> pd.DataFrame:
    """The runs with the setup they were measured on, and the disks they drove, where the manifest tells."""
    folders = _setup_folders(found)
    disks = {name: ",".join(disk.disk for disk in setup.disks) for name, setup in folders.items()}
    own = _deepest_folders(runs["source_path"], folders)
    ids = setups_by_path(runs["source_path"], found).fillna(runs["setup_id"])
    if len(found.setups) == 1 and not folders:
        ids = ids.fillna(found.setups[0].setup_id)
    return runs.assign(setup_id=ids, disks=runs["disks"].fillna(own.map(disks).astype(schema.TEXT)))


def setups_by_path(paths: pd.Series, found: Manifest) -> pd.Series:
    """The setup of each raw file of a dataset, as far as the folder tells in which it lies.

    Parameters
    ----------
    paths : Series
        The column `source_path` of a table.
    found : Manifest
        That of the dataset.
    """
    folders = _setup_folders(found)

    def first_below(path: str) -> str | None:
        """Of a file about several disks of a VM, which lies above the outputs of each."""
        home = PurePosixPath(path).parent
        below = [name for name in folders if PurePosixPath(name).is_relative_to(home) and len(home.parts) > 1]
        return folders[below[0]].setup_id if below else None

    by_folder = {name: setup.setup_id for name, setup in folders.items()}
    ids = _deepest_folders(paths, folders).map(by_folder).astype(schema.TEXT)
    return ids.fillna(paths.map(first_below, na_action="ignore").astype(schema.TEXT))


def _setup_folders(found: Manifest) -> dict[str, ManifestSetup]:
    """The setups that have a folder of their own, by its path."""
    return {setup.folder: setup for setup in found.setups if setup.folder}


def _deepest_folders(paths: pd.Series, folders: Container[str]) -> pd.Series:
    """The innermost of these folders in which each file lies."""

    def deepest(path: str) -> str | None:
        return next((name for name in map(str, PurePosixPath(path).parents) if name in folders), None)

    return paths.map(deepest, na_action="ignore")


def _changed_since(folder: Path, found: Manifest, now: Mapping[str, str]) -> pd.DataFrame:
    """A finding for each raw file that is not what the manifest recorded; `now`: hash by path below raw/."""
    records = Records(Source(str(folder / MANIFEST_FILE), b""))
    for name, recorded in found.raw.items():
        path = folder / name
        if not path.is_file():
            records.finding(Code.RAW_MISSING, f"{path}: listed in the manifest, but not there")
        elif (now.get(name.removeprefix(f"{RAW}/")) or sha256(path)) != recorded:
            records.finding(Code.RAW_CHANGED, f"{path}: changed since the manifest was written")
    return records.frames()["findings"]
