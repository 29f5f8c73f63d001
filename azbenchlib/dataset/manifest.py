"""The manifest of a dataset: what was measured, on what, with which commands, from which files.

``manifest.json`` is the file form of the tables setups and disks, with the source, the tools and the
hashes of the raw files beside them. Written by a rename, so it is whole or absent. It may come from anyone:
it names files of its own dataset only, and neither a link nor a pipe makes azbench read anything else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
)

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import fault_of_file, fault_of_name, leads_out, read_bounded, write_atomically
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.privacy import masked
from azbenchlib.core.units import MIB
from azbenchlib.dataset.files import regular_files, sha256
from azbenchlib.dataset.names import MANIFEST_FILE as MANIFEST_FILE
from azbenchlib.dataset.names import RAW as RAW
from azbenchlib.model.disk_row import OF_SETUP, DiskRow

LARGEST_MANIFEST = 8 * MIB  # of the file: the hashes of some 50,000 raw files
MOST_SETUPS, _MOST_DISKS, MOST_FILES = 10_000, 1_000, 100_000  # so that no manifest takes gigabytes


def _disk_row(entry: Any) -> Any:
    return DiskRow.from_row(entry) if isinstance(entry, Mapping) else entry


ManifestDisk = Annotated[DiskRow, BeforeValidator(_disk_row), PlainSerializer(DiskRow.to_row)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ManifestSetup(_Strict):
    """A row of the table setups, with the rows of the table disks that belong to it."""

    setup_id: str
    label: str | None = None
    environment: str
    region: str | None = None
    zone: str | None = None
    vm_size: str | None = None
    ram_bytes: int | None = None
    os: str | None = None
    kernel: str | None = None
    time_scale: float | None = None
    credit_s: float | None = None
    as_of: str | None = None
    disks: list[ManifestDisk] = Field(default_factory=list, max_length=_MOST_DISKS)
    folder: str | None = None  # whose files were measured on it, such as raw/zone-1/data; None: all, or told

    @field_validator("folder")
    @classmethod
    def _inside(cls, folder: str | None) -> str | None:
        if folder:
            _check_name(folder)
        return folder


class Publication(_Strict):
    """Where published figures come from."""

    title: str
    kind: str  # such as "blog post in Czech"
    published: str  # as far as it is known: 2017-04-13, mid-2020
    file: str  # the name that source_file rows use
    sha256: str

    @field_validator("file")
    @classmethod
    def _inside(cls, file: str) -> str:
        _check_name(file)
        return file


class Command(_Strict):
    """A command line or a job file, exactly as it ran."""

    title: str
    text: str

    def masked(self) -> "Command":
        """The same without home folders, ids and secrets."""
        return Command(title=masked(self.title), text=masked(self.text))


class SearchPoint(_Strict):
    """A run that a search made: what it was, and the two figures that matter; of the disk at full speed."""

    workload: str
    queue_depth: int
    iops: float
    lat_us: float  # the percentile that the condition is about


class SearchCurve(_Strict):
    """The way of a search for the deepest queue at which a percentile of the latency stays below a limit."""

    where: str  # setup and disk, as the raw files' folder is called; empty: there is one
    percentile: float
    limit_us: float
    answer: str | None = None  # the workload that was found; None: none meets the condition
    points: list[SearchPoint] = Field(default_factory=list, max_length=10_000)


class Manifest(_Strict):
    """What a dataset folder holds."""

    name: str
    title: str
    about: str
    measured: str  # when, as far as it is known
    units: str = "Base units: bytes, seconds, microseconds for latency; MB/s is 10⁶ B/s, MiB/s is 2²⁰ B/s."
    setups: list[ManifestSetup] = Field(max_length=MOST_SETUPS)
    group_by: GroupBy | None = None  # which runs were made on one setup, where nothing else tells
    commands: list[Command] = Field(default_factory=list)
    tools: dict[str, str] = Field(default_factory=dict)  # name -> version, "not stated" where it is not
    sources: list[Publication] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)  # what a reader must know before trusting a figure
    identity: dict[str, str] | None = None  # in which subscription, by whom; only where that was asked for
    searches: list[SearchCurve] = Field(default_factory=list)
    raw: dict[str, str] = Field(default_factory=dict, max_length=MOST_FILES)  # path in the folder -> sha256

    @field_validator("setups")
    @classmethod
    def _once(cls, setups: list[ManifestSetup]) -> list[ManifestSetup]:
        for name, count in Counter(setup.setup_id for setup in setups).items():
            if count > 1:
                raise ValueError(f"setup_id '{name}' is there {count} times")
        return setups

    @field_validator("raw")
    @classmethod
    def _inside(cls, raw: dict[str, str]) -> dict[str, str]:
        for name in raw:
            _check_name(name)
        return raw

    def masked(self) -> "Manifest":
        """The same without what tells who measured, and where (:mod:`azbenchlib.core.privacy`).

        Names of setups, disks and files stay.
        """
        return self.model_copy(
            update={
                "about": masked(self.about),
                "commands": [command.masked() for command in self.commands],
                "notes": [masked(note) for note in self.notes],
            }
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables setups and disks."""
        return tables(self.setups)


def tables(setups: Sequence[ManifestSetup]) -> dict[str, pd.DataFrame]:
    """The tables setups and disks of these setups."""
    rows = [setup.model_dump(exclude={"disks", "folder"}) for setup in setups]
    disks = [{OF_SETUP: setup.setup_id, **disk.to_row()} for setup in setups for disk in setup.disks]
    return {"setups": schema.frame("setups", rows), "disks": schema.frame("disks", disks)}


def load(folder: Path) -> Manifest:
    """The manifest of a dataset folder.

    Raises
    ------
    InputError
        When there is none, it breaks the form, or it names what is no file of this dataset; the sentence
        names the file and the first fault.
    """
    path = folder / MANIFEST_FILE
    try:
        found = Manifest.model_validate_json(read_bounded(path, folder, LARGEST_MANIFEST))
        found.tables()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file; a dataset folder holds {MANIFEST_FILE} and {RAW}/"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{path}: {place}: {first['msg']}") from error
    _check_files(path, found)
    return found


def _check_name(name: str) -> None:
    if fault := fault_of_name(name):
        raise ValueError(
            f"'{name}' {fault}; a manifest names files of its dataset only, relative to its folder"
        )


def _check_files(path: Path, found: Manifest) -> None:
    """Refuse a raw file that is something else, or lies elsewhere; one that is missing is a finding later."""
    if leads_out(path.parent / RAW, path.parent):
        raise InputError(
            f"{path.parent / RAW}: is a link that leads out of the dataset; copy the files there"
        )
    for name in found.raw:
        if fault := fault_of_file(path.parent / name, path.parent):
            raise InputError(f"{path}: raw: '{name}' {fault}; a manifest names files of its dataset only")


def save(folder: Path, manifest: Manifest) -> Path:
    """Write the manifest, with the hash of every file under ``raw/``; whole or not at all."""
    hashes = {path.relative_to(folder).as_posix(): sha256(path) for path in regular_files(folder / RAW)}
    text = manifest.model_copy(update={"raw": hashes}).model_dump_json(indent=1, exclude_none=True)
    return write_atomically(folder / MANIFEST_FILE, text.encode() + b"\n")
