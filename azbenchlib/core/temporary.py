"""Temporary folders: private, gone at the end, and named where they have no room."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azbenchlib.core.errors import OutputError

PREFIX = "azbench-"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_PROBE_BYTES = 64 * 1024
TMPDIR_ADVICE = "TMPDIR=DIR names another folder for temporary files"


@contextmanager
def temporary_folder(prefix: str = PREFIX) -> Iterator[Path]:
    """Make a folder that is there within a ``with``.

    Raises
    ------
    OutputError
        When it cannot be made, or what is done in it ends because it has no room.
    """
    with new_folder(prefix) as home, told_when_full(Path(home)):
        yield Path(home)


def new_folder(prefix: str = PREFIX) -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is there until it is cleaned up.

    Raises
    ------
    OutputError
        When it cannot be made.
    """
    try:
        return tempfile.TemporaryDirectory(prefix=prefix)
    except OSError as error:
        raise OutputError(
            f"no temporary folder can be made: {error.strerror or error}; {TMPDIR_ADVICE}"
        ) from error


@contextmanager
def told_when_full(folder: Path) -> Iterator[None]:
    """Let an error that comes of a full file system name the temporary folder, where that is the full one.

    Raises
    ------
    OutputError
        In the place of such an error, of whatever kind.
    """
    try:
        yield
    except Exception as error:
        if _speaks_of_room(error) and not _has_room(folder):
            raise OutputError(
                f"{folder.parent}: no room for temporary files: {os.strerror(errno.ENOSPC)}; {TMPDIR_ADVICE}"
            ) from error
        raise


def advice(error: OSError) -> str:
    """Return what to do where temporary files may have no room; empty for other errors."""
    if error.errno not in NO_ROOM:
        return ""
    home = tempfile.gettempdir()
    return TMPDIR_ADVICE if error.filename is None or str(error.filename).startswith(home) else ""


def _speaks_of_room(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, is about a full file system; other tools have it in words."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return True
        if any(os.strerror(number) in str(error) for number in NO_ROOM):
            return True
        error = error.__cause__ or error.__context__
    return False


def _has_room(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError:
        return False
    return True
