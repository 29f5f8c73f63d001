"""Dataset: the tables of one or many runs, with the manifest that says what was measured.

A dataset folder holds ``manifest.json``, ``raw/`` (untouched outputs) and ``tables/`` (Parquet, which
can always be made again from ``raw/``).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from azbenchlib import __version__, formats, manifest, schema
from azbenchlib.errors import InputError
from azbenchlib.formats.base import Beside, Records, Source
from azbenchlib.manifest import Manifest

TABLES = "tables"
STAMP = "from.json"  # what the Parquet files were made from
# fio names its logs <prefix>_<type>[.<job number from 1>].log. Source: fio HOWTO, write_lat_log.
LOG_NAME = re.compile(r"^(?P<stem>.+)_(?:bw|iops|slat|clat|lat)(?:\.(?P<job>\d+))?\.log$")

Tables = dict[str, pd.DataFrame]


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
    def read(cls, *paths: Path | str) -> "Dataset":
        """Read raw outputs: files, folders of them, or dataset folders.

        Parameters
        ----------
        paths : path-like
            At least one.

        Returns
        -------
        Dataset
            What was wrong with a file stands in ``findings``; the good part of it is there.

        Raises
        ------
        InputError
            When a path does not exist, or a folder holds no file.
        """
        loose: dict[Path, None] = {}
        datasets = []
        for path in map(Path, paths):
            if (path / manifest.FILE).is_file():
                datasets.append(_read_dataset_folder(path))
            else:
                loose |= dict.fromkeys(_files_at(path))
        # in one go, for a log may lie in another of the paths than its JSON
        files = [cls(_read_files([(file, str(file)) for file in loose]))] if loose else []
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
        tables = {name: _stack(name, [part[name] for part in parts]) for name in schema.TABLES}
        manifests = [part.manifest for part in datasets if part.manifest]
        return cls(_count_once(tables), manifests[0] if len(manifests) == 1 else None)


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


def _files_at(path: Path) -> list[Path]:
    """The file itself, or all files of a folder."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder")
    files = list(manifest.files(path))
    if not files:
        raise InputError(
            f"{path}: the folder holds no file; benchmark outputs are needed, such as fio's JSON"
        )
    return files


def _read_table(folder: Path, name: str) -> pd.DataFrame:
    return schema.conform(name, pd.read_parquet(folder / TABLES / f"{name}.parquet"))


def _read_dataset_folder(folder: Path) -> Dataset:
    found = manifest.load(folder)
    files = [(file, file.relative_to(folder).as_posix()) for file in manifest.files(folder / manifest.RAW)]
    if not files:
        raise InputError(f"{folder / manifest.RAW}: no raw output; a dataset needs at least one")
    tables = _read_files(files)
    tables |= found.tables()
    if len(found.setups) == 1:
        only = found.setups[0].setup_id
        tables["runs"] = tables["runs"].assign(setup_id=tables["runs"]["setup_id"].fillna(only))
    changed = _changed_since(folder, found)
    tables["findings"] = _stack("findings", [tables["findings"], changed])
    return Dataset(tables, found)


def _read_files(files: Sequence[tuple[Path, str]]) -> Tables:
    """Read files in order; those that lean on a JSON beside them come after it."""
    sources = [_source(file, shown) for file, shown in files]
    parts: list[Tables] = []
    later = []
    for source in sources:
        fmt = formats.recognise(source)
        if fmt is not None and fmt.needs_beside:
            later.append(source)
        else:
            parts.append(formats.read(source))
    runs = _stack("runs", [part["runs"] for part in parts])
    parts += [formats.read(source, _beside(source, runs)) for source in later]
    return _count_once({name: _stack(name, [part[name] for part in parts]) for name in schema.TABLES})


def _source(file: Path, shown: str) -> Source:
    try:
        return Source(shown, file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error


def _beside(log: Source, runs: pd.DataFrame) -> Beside | None:
    """The job that a log belongs to: same folder, the JSON's name is the log's prefix."""
    path = Path(log.path)
    match = LOG_NAME.match(path.name)
    if not match:
        return None
    stems = runs["source_path"].map(lambda other: str(Path(other).with_suffix("")))
    index = int(match["job"] or 1) - 1
    mine = runs[(stems == str(path.with_name(match["stem"]))) & (runs["job_index"] == index)]
    if mine.empty:
        return None
    last = mine.sort_values("source_doc").iloc[-1]
    return Beside(str(last["run_id"]), str(last["tool_version"]))


def _stack(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else schema.empty(name)


def _count_once(tables: Tables) -> Tables:
    """Drop rows of runs that are there twice (the same file in two places), and say so."""
    runs = tables["runs"]
    twice = runs[runs.duplicated("run_id")]
    notes = schema.frame(
        "findings",
        [
            {
                "run_id": run.run_id,
                "source_path": run.source_path,
                "severity": "info",
                "code": "counted_once",
                "message": f"{run.source_path}: the same content as another file; counted once",
            }
            for run in twice.itertuples()
        ],
    )
    # findings and printed figures may share a key and yet differ
    whole = ("findings", "published")
    single = {
        name: table.drop_duplicates(
            None if name in whole else list(schema.TABLES[name].key), ignore_index=True
        )
        for name, table in tables.items()
    }
    return single | {"findings": _stack("findings", [single["findings"], notes])}


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
