"""The manifest of a dataset: what was measured, on what, with which commands, from which files.

``manifest.json`` is the file form of the tables setups and disks, with the source, the tools and the
hashes of the raw files beside them. Written by a rename, so it is whole or absent.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from azbenchlib import schema
from azbenchlib.errors import InputError, OutputError

FILE = "manifest.json"
RAW = "raw"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Setup(_Strict):
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
    disks: list[dict[str, Any]] = Field(default_factory=list)
    folder: str | None = None  # whose files were measured on it, such as raw/zone-1/data; None: all, or told


class Publication(_Strict):
    """Where published figures come from."""

    title: str
    kind: str  # such as "blog post in Czech"
    published: str  # as far as it is known: 2017-04-13, mid-2020
    file: str  # the name that source_file rows use
    sha256: str


class Command(_Strict):
    """A command line or a job file, exactly as it ran."""

    title: str
    text: str


class Manifest(_Strict):
    """What a dataset folder holds."""

    name: str
    title: str
    about: str
    measured: str  # when, as far as it is known
    units: str = "Base units: bytes, seconds, microseconds for latency; MB/s is 10⁶ B/s, MiB/s is 2²⁰ B/s."
    setups: list[Setup]
    commands: list[Command] = Field(default_factory=list)
    tools: dict[str, str] = Field(default_factory=dict)  # name -> version, "not stated" where it is not
    sources: list[Publication] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)  # what a reader must know before trusting a figure
    raw: dict[str, str] = Field(default_factory=dict)  # path in the folder -> sha256

    @field_validator("setups")
    @classmethod
    def _once(cls, setups: list[Setup]) -> list[Setup]:
        names = [setup.setup_id for setup in setups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"setup_id '{name}' is there {names.count(name)} times")
        return setups

    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables setups and disks."""
        return tables(self.setups)


def tables(setups: Sequence[Setup]) -> dict[str, pd.DataFrame]:
    """The tables setups and disks of these setups."""
    rows = [setup.model_dump(exclude={"disks", "folder"}) for setup in setups]
    disks = [{"setup_id": setup.setup_id, **disk} for setup in setups for disk in setup.disks]
    return {"setups": schema.frame("setups", rows), "disks": schema.frame("disks", disks)}


def load(folder: Path) -> Manifest:
    """The manifest of a dataset folder.

    Raises
    ------
    InputError
        When there is none, or it breaks the form; the sentence names the file and the first fault.
    """
    path = folder / FILE
    try:
        found = Manifest.model_validate_json(path.read_bytes())
        found.tables()
        return found
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; a dataset folder holds {FILE} and {RAW}/") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{path}: {place}: {first['msg']}") from error


def save(folder: Path, manifest: Manifest) -> Path:
    """Write the manifest, with the hash of every file under ``raw/``; whole or not at all."""
    hashes = {path.relative_to(folder).as_posix(): sha256(path) for path in files(folder / RAW)}
    text = manifest.model_copy(update={"raw": hashes}).model_dump_json(indent=1, exclude_none=True)
    return write_atomically(folder / FILE, text.encode() + b"\n")


def files(folder: Path) -> Iterator[Path]:
    """Files below a folder in a fixed order; hidden ones and links to folders are left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = (Path(place) / name for name in sorted(names) if not name.startswith("."))
        yield from (path for path in here if path.is_file())  # no dangling link, no pipe


def sha256(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, data: bytes) -> Path:
    """Write beside the target, then rename over it: a reader sees the old file or the whole new one.

    Raises
    ------
    OutputError
        When the folder cannot be made or written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return path
