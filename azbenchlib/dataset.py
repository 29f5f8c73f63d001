"""Dataset: the tables of one or many runs, with the manifest that says what was measured.

A dataset folder holds ``manifest.json``, ``raw/`` (untouched outputs) and ``tables/`` (Parquet, which
can always be made again from ``raw/``).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from azbenchlib import __version__, manifest, schema
from azbenchlib.analyse import checks, slow_motion
from azbenchlib.errors import InputError
from azbenchlib.formats.base import Records, Source
from azbenchlib.manifest import Manifest
from azbenchlib.reading import Tables, count_once, files_at, read_files, stack

TABLES = "tables"
STAMP = "from.json"  # what the Parquet files were made from


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
        loose: dict[Path, str] = {}
        datasets = []
        for path in map(Path, paths):
            if (path / manifest.FILE).is_file():
                datasets.append(_read_dataset_folder(path, log_unit))
            else:
                loose |= files_at(path)
        # in one go, for a log may lie in another of the paths than its JSON
        good = [(file, str(file)) for file, why in loose.items() if not why]
        left_out = {file: why for file, why in loose.items() if why}
        files = [cls(_checked(read_files(good, log_unit, left_out)))] if loose else []
        return cls.merge([*files, *datasets])

    @classmethod
    def load(cls, folder: Path | str) -> "Dataset":
        """Open a dataset folder: from its Parquet files where they are made from the same raw files.

        Raises
        ------
        InputError
            When the folder has no manifest or no raw files.
        """
        folder = Path(folder)
        found = manifest.load(folder)
        if _stamp(folder) == _read_stamp(folder):
            with suppress(OSError, ValueError, InputError):  # a table is missing or damaged: make it again
                return cls({name: _read_table(folder, name) for name in schema.TABLES}, found)
        return _read_dataset_folder(folder)

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
        write_tables(self.tables, folder / TABLES, "parquet")
        manifest.write_atomically(folder / TABLES / STAMP, json.dumps(_stamp(folder), indent=1).encode())
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

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """
    written = []
    for name, table in tables.items():
        data = table.to_parquet(index=False) if kind == "parquet" else table.to_csv(index=False).encode()
        written.append(manifest.write_atomically(folder / f"{name}.{kind}", data))
    return written


def resolve(name: str, homes: Iterable[Path]) -> Path:
    """The folder of a dataset given by path or by name.

    Parameters
    ----------
    name : str
        A folder, or the name of a dataset in one of `homes`.
    homes : iterable of Path
        Folders that hold datasets; the first match wins.

    Raises
    ------
    InputError
        When there is none; the sentence lists the names there are.
    """
    if Path(name).is_dir():
        return Path(name)
    homes = list(homes)
    for home in homes:
        if (home / name / manifest.FILE).is_file():
            return home / name
    known = sorted({entry.parent.name for home in homes for entry in home.glob(f"*/{manifest.FILE}")})
    raise InputError(
        f"no dataset '{name}': no such folder, and the known names are {', '.join(known) or 'none'}"
    )


def _read_table(folder: Path, name: str) -> pd.DataFrame:
    return schema.conform(name, pd.read_parquet(folder / TABLES / f"{name}.parquet"))


def _read_dataset_folder(folder: Path, log_unit: str | None = None) -> Dataset:
    found = manifest.load(folder)
    files = [(file, file.relative_to(folder).as_posix()) for file in manifest.files(folder / manifest.RAW)]
    if not files:
        raise InputError(f"{folder / manifest.RAW}: no raw output; a dataset needs at least one")
    tables = read_files(files, log_unit)
    tables |= found.tables()
    tables["runs"] = _on_their_setups(tables["runs"], found)
    changed = _changed_since(folder, found)
    tables["findings"] = stack("findings", [tables["findings"], changed])
    return Dataset(slow_motion.undo(_checked(tables)), found)  # the checks are for what the tool reported


def _checked(tables: Tables) -> Tables:
    """The tables with what there is to doubt."""
    doubts = checks.check(tables)
    return tables | {"findings": stack("findings", [tables["findings"], doubts])}


def _on_their_setups(runs: pd.DataFrame, found: Manifest) -> pd.DataFrame:
    """The runs with the setup they were measured on, and the disks they drove, where the manifest tells."""
    for setup in found.setups:
        within = runs["source_path"].str.startswith(f"{setup.folder}/") if setup.folder else None
        mine = within if within is not None else runs["setup_id"].isna() & (len(found.setups) == 1)
        disks = ",".join(str(disk["disk"]) for disk in setup.disks) if setup.folder else pd.NA
        runs = runs.assign(
            setup_id=runs["setup_id"].mask(mine, setup.setup_id),
            disks=runs["disks"].mask(mine & runs["disks"].isna(), disks),
        )
    return runs


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


def _changed_since(folder: Path, found: Manifest) -> pd.DataFrame:
    """A finding for each raw file that is not what the manifest recorded."""
    records = Records(Source(str(folder / manifest.FILE), b""))
    for name, recorded in found.raw.items():
        path = folder / name
        if not path.is_file():
            records.finding("error", "raw_missing", f"{path}: listed in the manifest, but not there")
        elif manifest.sha256(path) != recorded:
            records.finding("warning", "raw_changed", f"{path}: changed since the manifest was written")
    return records.frames()["findings"]


def _stamp(folder: Path) -> dict[str, object]:
    raw = folder / manifest.RAW
    return {
        "azbench": __version__,
        "manifest": manifest.sha256(folder / manifest.FILE),
        "raw": {file.relative_to(raw).as_posix(): manifest.sha256(file) for file in manifest.files(raw)},
    }


def _read_stamp(folder: Path) -> object:
    try:
        return json.loads((folder / TABLES / STAMP).read_bytes())
    except (OSError, ValueError):
        return None
