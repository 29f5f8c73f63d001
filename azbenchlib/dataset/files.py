"""Which files a path stands for, and why some of them are not read. No large library is loaded."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.core import folders
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import leads_out
from azbenchlib.core.findings import ERROR, INFO, Severity
from azbenchlib.dataset.names import LAKE_FILE, is_lake


@dataclass(frozen=True)
class Obstacle:
    """Why a file is not read, as the end of a sentence, and how much that matters."""

    why: str
    severity: Severity = ERROR


LINK_OUT = Obstacle("a link that leads out of the folder", INFO)
A_LAKE = Obstacle("a lake; ask it with: azbench query", INFO)
LOOP = Obstacle("a loop of links")


def files_at(path: Path) -> dict[Path, Obstacle | None]:
    """The file itself, or all files below a folder, each with why it is not read; None where it is.

    Hidden files and those of lakes are left out. Links are followed only to files within the folder.

    Raises
    ------
    InputError
        When there is no such file or folder, or the folder holds no file.
    """
    try:
        is_folder, is_there = path.is_dir(), path.is_symlink() or path.exists()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if is_folder:
        found = dict(_walk(path))
        if not found:
            raise InputError(
                f"{path}: the folder holds no file; benchmark outputs are needed, such as fio's JSON"
            )
        return found
    if not is_there:
        raise InputError(f"{path}: no such file or folder")
    return {path: _obstacle(path)}


def _walk(folder: Path) -> Iterator[tuple[Path, Obstacle | None]]:
    home = folder.resolve()
    closed: list[OSError] = []
    lakes: list[Path] = []
    for place, inner, names in folders.walk(folder, onerror=closed.append):
        if any(place.is_relative_to(lake) for lake in lakes):
            continue
        if LAKE_FILE in names and is_lake(place):
            lakes.append(place)
            yield place, A_LAKE
            continue
        yield from ((path, why) for name in inner if (why := _leads_astray(path := place / name, home)))
        for path in (place / name for name in names):
            yield path, None if _is_plain(path) else _leads_astray(path, home) or _obstacle(path)
    for error in closed:
        yield Path(str(error.filename)), Obstacle(error.strerror or str(error))


def _is_plain(path: Path) -> bool:
    """Whether it is a file and no link, as nearly all are."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _leads_astray(path: Path, home: Path) -> Obstacle | None:
    """Why a link is not followed; None for what is no link, or leads to something within the folder."""
    try:
        return None if not path.is_symlink() or path.resolve().is_relative_to(home) else LINK_OUT
    except (OSError, RuntimeError):  # RuntimeError: before Python 3.13, and where links are too many
        return LOOP


def _obstacle(path: Path) -> Obstacle | None:
    """Why a path cannot be read, as far as it can be told without opening it."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
        return None if is_file else Obstacle("a pipe, a socket or a device")
    except FileNotFoundError:
        return Obstacle("a link to nowhere")
    except OSError as error:
        return LOOP if error.errno == errno.ELOOP else Obstacle(error.strerror or str(error))


def regular_files(folder: Path) -> Iterator[Path]:
    """Files below a folder in a fixed order; hidden ones, links to folders and links out are left out."""
    for place, _, names in folders.walk(folder):
        here = (place / name for name in names)
        # no dangling link, no pipe
        yield from (path for path in here if path.is_file() and not _linked_out(path, folder))


def _linked_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and leads_out(path, folder)


def sha256(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
