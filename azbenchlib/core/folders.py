"""What lies below a folder, however deep it goes."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def walk(
    folder: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Each folder with the names of the folders and of the other things in it, sorted.

    Like :func:`os.walk`, which calls itself for every level before Python 3.12: hidden names are left out,
    links to folders are listed and not followed, and the depth has no bound but the system's.

    Parameters
    ----------
    folder : Path
        Where to begin.
    onerror : callable, optional
        Gets the error of each folder that cannot be listed.
    """
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        inner: list[Path] = []
        try:
            with os.scandir(place) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.name.startswith("."):
                        continue
                    is_folder = _is_folder(entry)
                    (folders if is_folder else others).append(entry.name)
                    if is_folder and not entry.is_symlink():
                        inner.append(place / entry.name)
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield place, folders, others
        waiting += reversed(inner)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False
