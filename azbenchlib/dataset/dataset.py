"""Dataset: the tables of one or many runs, with the manifest that says what was measured.

A dataset folder holds ``manifest.json``, ``raw/`` (untouched outputs) and ``tables/`` (Parquet, which
can always be made again from ``raw/``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd

from azbenchlib.analysis import time_dilation
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.findings import Code
from azbenchlib.core.locations import dataset_folders
from azbenchlib.core.printable import cells
from azbenchlib.dataset import lab_outputs, manifest, stored
from azbenchlib.dataset.manifest import Manifest
from azbenchlib.dataset.read import Obstacle, Tables, count_once, files_at, read_files, stack
from azbenchlib.dataset.stored import STAMP, Stored
from azbenchlib.formats.base import Records, Source
from azbenchlib.verdict import checks

__all__ = ["STAMP", "Dataset", "find_dataset", "write_tables"]


@dataclass(frozen=True)
class Dataset:
    """All tables of the schema, and the manifest where there is one."""

    tables: Tables
    manifest: Manifest | None = None

    def __getattr__(self, name: str) -> pd.DataFrame:
        """A table by its name: ``dataset.results``."""
        if name in schema.TABLES:
            return self.tables[name]
        raise AttributeError(f"a dataset has no table {name}; it has: {', '.join(schema.TABLES)}")

    @classmethod
    def read(cls, *paths: Path | str, log_unit: str | None = None) -> "Dataset":
        """Read raw outputs: files, folders of them, or dataset folders.

        Parameters
        ----------
        paths : path-like
            At least one.
        log_unit : {"us", "ns"}, optional
            Unit of the latencies in fio logs that no output of their run lies beside.

        Returns
        -------
        Dataset
            What was wrong with a file stands in ``findings``; the good part of it is there.

        Raises
        ------
        InputError
            When a path does not exist, a folder holds no file, or `log_unit` is no unit of fio's logs.
        """
        loose: dict[Path, Obstacle | None] = {}
        datasets = []
        for path in map(Path, paths):
            if manifest.is_in(path):
                datasets.append(_read_dataset_folder(path, log_unit))
            else:
                loose |= files_at(path)
        # in one go, for a log may lie in another of the paths than its JSON
        good = [(file, str(file)) for file, why in loose.items() if why is None]
        left_out = {file: why for file, why in loose.items() if why}
        files = [cls(_read_loose(good, log_unit, left_out))] if loose else []
        return cls.merge([*files, *datasets])

    @classmethod
    def load(cls, folder: Path | str) -> "Dataset":
        """Open a dataset folder: from its Parquet files where azbench is known to have made them here.

        Other tables than those of its raw files are never taken: see :mod:`azbenchlib.dataset.stored`.

        Raises
        ------
        InputError
            When the folder has no manifest or no raw files.
        """
        folder = Path(folder)
        found = manifest.load(folder)
        tables = Stored.of(folder).tables()
        return _read_dataset_folder(folder) if tables is None else cls(tables, found)

    def save(self, folder: Path | str) -> Path:
        """Write manifest and tables; each file appears by rename, the stamp last.

        Raises
        ------
        InputError
            When the dataset has no manifest.
        OutputError
            When the folder cannot be written.
        """
        folder = Path(folder)
        if self.manifest is None:
            raise InputError("a dataset without a manifest cannot be saved; give it one, or print its tables")
        manifest.save(folder, self.manifest)
        findings = self.findings[
            self.findings["code"] != Code.TABLES_CHANGED
        ]  # those that are written are right
        stored.write(folder, self.tables | {"findings": findings})
        return folder

    @classmethod
    def merge(cls, datasets: Sequence["Dataset"]) -> "Dataset":
        """Put datasets together: rows are kept, a run that is there twice counts once.

        The manifest is kept where there is just one. Setups that share an id but come from different
        datasets get the dataset's name in front (with a number, where different datasets have one name).

        Raises
        ------
        InputError
            When there is no dataset.
        """
        if not datasets:
            raise InputError("nothing to read: at least one file, folder or dataset is needed")
        if len(datasets) == 1:
            return datasets[0]
        seen = pd.concat([part.setups[["setup_id"]] for part in datasets])["setup_id"]
        shared = set(seen[seen.duplicated()])
        named = zip(datasets, _distinct_names(datasets), strict=True)
        parts = [_rename_setups(part.tables, name, shared) for part, name in named]
        tables = {name: stack(name, [part[name] for part in parts]) for name in schema.TABLES}
        manifests = [part.manifest for part in datasets if part.manifest]
        return cls(count_once(tables), manifests[0] if len(manifests) == 1 else None)


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, kind: str) -> list[Path]:
    """Write one file a table, as ``parquet`` or ``csv``; each appears by rename.

    In CSV, a cell that a spreadsheet would take for a formula has an apostrophe in front, and control
    characters are made visible: see :func:`azbenchlib.core.printable.cell`.

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """
    written = []
    for name, table in tables.items():
        data = stored.encoded(table) if kind == "parquet" else cells(table).to_csv(index=False).encode()
        written.append(write_atomically(folder / f"{name}.{kind}", data))
    return written


def find_dataset(name: str, folders: Iterable[Path] | None = None) -> Path:
    """The folder of a dataset given by path or by name.

    Parameters
    ----------
    name : str
        A folder, or the name of a dataset in one of `folders`.
    folders : iterable of Path, optional
        Folders that hold datasets; the first match wins. None: :func:`dataset_folders`.

    Raises
    ------
    InputError
        When there is none; the sentence lists the names there are.
    """
    if Path(name).is_dir():
        return Path(name)
    searched = dataset_folders() if folders is None else list(folders)
    for folder in searched:
        if manifest.is_in(folder / name):
            return folder / name
    known = sorted(
        {entry.parent.name for folder in searched for entry in folder.glob(f"*/{manifest.MANIFEST_FILE}")}
    )
    raise InputError(
        f"no dataset '{name}': no such folder, and the known names are {', '.join(known) or 'none'}"
    )


def _read_dataset_folder(folder: Path, log_unit: str | None = None) -> Dataset:
    found = manifest.load(folder)
    raw = folder / manifest.RAW
    if not any(manifest.files(raw)):
        raise InputError(f"{raw}: no raw output; a dataset needs at least one")
    files = {file.relative_to(folder).as_posix(): (file, why) for file, why in files_at(raw).items()}
    good = [(file, name) for name, (file, why) in files.items() if why is None]
    left_out = {Path(name): why for name, (_, why) in files.items() if why}
    tables = read_files(good, log_unit, left_out)
    tables |= found.tables()
    tables["runs"] = _on_their_setups(tables["runs"], found)
    there = Stored.of(folder)
    changed = _changed_since(folder, found, there.now["raw"])
    tables["findings"] = stack("findings", [tables["findings"], changed])
    made = time_dilation.undo(_checked(tables))  # the checks are for what the tool reported
    made["findings"] = stack("findings", [made["findings"], there.doubts(made)])
    return Dataset(made, found)


def _read_loose(
    files: Sequence[tuple[Path, str]], log_unit: str | None, left_out: Mapping[Path, Obstacle]
) -> Tables:
    """The tables of files that are given by themselves; those of a lab at full speed, where it is known."""
    tables = lab_outputs.recognised(read_files(files, log_unit, left_out), _on_their_setups)
    return time_dilation.undo(_checked(tables))


def _checked(tables: Tables) -> Tables:
    """The tables with what there is to doubt."""
    doubts = checks.check(tables)
    return tables | {"findings": stack("findings", [tables["findings"], doubts])}


def _on_their_setups(runs: pd.DataFrame, found: Manifest) -> pd.DataFrame:
    """The runs with the setup they were measured on, and the disks they drove, where the manifest tells."""
    folders = {setup.folder: setup for setup in found.setups if setup.folder}
    disks = {name: ",".join(disk.disk for disk in setup.disks) for name, setup in folders.items()}

    def deepest(path: str) -> str | None:
        return next((name for name in map(str, PurePosixPath(path).parents) if name in folders), None)

    own = runs["source_path"].map(deepest, na_action="ignore")
    ids = own.map({name: setup.setup_id for name, setup in folders.items()}).astype(schema.TEXT)
    if len(found.setups) == 1 and not folders:
        runs = runs.assign(setup_id=runs["setup_id"].fillna(found.setups[0].setup_id))
    return runs.assign(
        setup_id=ids.fillna(runs["setup_id"]),
        disks=runs["disks"].fillna(own.map(disks).astype(schema.TEXT)),
    )


def _distinct_names(datasets: Sequence[Dataset]) -> list[str]:
    """What to call each dataset; copies of one are called the same, one without a manifest is nameless."""
    different: list[Manifest] = []
    names = []
    for found in (part.manifest for part in datasets):
        if found is None:
            names.append("")
            continue
        if found not in different:
            different.append(found)
        place = [other for other in different if other.name == found.name].index(found)
        names.append(f"{found.name}-{place + 1}" if place else found.name)
    return names


def _rename_setups(tables: Tables, name: str, shared: set[str]) -> Tables:
    if not name or not shared:
        return tables

    def renamed(table: pd.DataFrame) -> pd.DataFrame:
        ids = table["setup_id"]
        return table.assign(setup_id=ids.mask(ids.isin(shared), name + "/" + ids))

    return {key: renamed(table) if "setup_id" in table else table for key, table in tables.items()}


def _changed_since(folder: Path, found: Manifest, now: Mapping[str, str]) -> pd.DataFrame:
    """A finding for each raw file that is not what the manifest recorded; `now`: hash by path below raw/."""
    records = Records(Source(str(folder / manifest.MANIFEST_FILE), b""))
    for name, recorded in found.raw.items():
        path = folder / name
        if not path.is_file():
            records.finding(Code.RAW_MISSING, f"{path}: listed in the manifest, but not there")
        elif (now.get(name.removeprefix(f"{manifest.RAW}/")) or manifest.sha256(path)) != recorded:
            records.finding(Code.RAW_CHANGED, f"{path}: changed since the manifest was written")
    return records.frames()["findings"]
