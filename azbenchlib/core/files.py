"""Files that outlast a power cut, and files that are what they seem: all that is written goes through here.

Renaming alone orders nothing on the disk: after a power cut the new name may stand for an empty file. So the
content is flushed before the rename and the folder after it, and only then is anything called finished.
"""

import errno
import glob
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from azbenchlib.core import file_locks
from azbenchlib.core.errors import OutputError

# What fsync answers for a folder where the file system has nothing to flush. Source: fsync(2) of Linux.
_NOTHING_TO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)


def _flags(*names: str) -> int:
    """Flags of open(2), as far as this system has them; bytes are bytes where it tells text from them."""
    return sum(getattr(os, name, 0) for name in (*names, "O_CLOEXEC", "O_BINARY"))


# What is there now need not be what was looked at: no link is followed, no pipe waited for.
_UNTRUSTED = _flags("O_NOFOLLOW", "O_NONBLOCK")
_WRITING = os.O_WRONLY | os.O_RDWR


def write_atomically(path: Path, data: bytes) -> Path:
    """Write beside the target, flush, rename over it: a reader sees the old file or the whole new one.

    When it returns, the file is on the disk under its name. What earlier writers of this path left behind
    that were killed is removed.

    Raises
    ------
    OutputError
        When the folder cannot be made or written.
    """
    part = None
    try:
        make_folder(path.parent)
        remove_abandoned(path)
        descriptor, part = _new_part(path)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if file_locks.AVAILABLE:  # as long as it is open and locked, nobody takes it for abandoned
                part.replace(path)
        if not file_locks.AVAILABLE:  # Windows renames no open file, and there nobody removes what is left
            part.replace(path)
        flush(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        if part:
            with suppress(OSError):
                part.unlink()
    return path


def write_together(folder: Path, contents: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write several files of a folder, all or none: none has its name before all of them are on the disk.

    Raises
    ------
    OutputError
        When the folder cannot be made or written; what was there before is there still.
    """
    from tempfile import TemporaryDirectory  # most commands need none

    try:
        make_folder(folder)
        with TemporaryDirectory(prefix=".", suffix=".part", dir=folder) as beside:
            names = []
            for name, data in contents:
                names.append(name)
                with Path(beside, name).open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            for name in names:
                Path(beside, name).replace(folder / name)
        flush(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return [folder / name for name in names]


def append(path: Path, line: str) -> None:
    """Add a line to a file of our own and flush it; neither through a link nor into a pipe.

    Raises
    ------
    OSError
        When that cannot be.
    """
    make_folder(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _UNTRUSTED, 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise OSError(errno.EPERM, "is a pipe")
        file.write(line)
        file.flush()
        os.fsync(descriptor)


def make_folder(folder: Path) -> Path:
    """Make a folder with those above it, each of them on the disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        flush(folder.parent)
    return folder


def move(source: Path, target: Path) -> None:
    """Flush a file and rename it; the caller flushes the folder when all of its files are there."""
    flush(source)
    source.replace(target)


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder; without effect where the file system offers none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _flags("O_NONBLOCK"))
    except PermissionError:  # a folder that may be written and not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOTHING_TO_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _new_part(path: Path) -> tuple[int, Path]:
    """A new file beside `path`; its lock says that somebody writes it."""
    while True:
        part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flags(), 0o666)
        with suppress(OSError):  # a file system without locks
            file_locks.lock(descriptor, wait=True)
        if os.fstat(descriptor).st_nlink:
            return descriptor, part
        os.close(descriptor)  # taken for abandoned before it was locked


def remove_abandoned(path: Path) -> None:
    """Remove what writers of `path` left beside it that no longer live."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            descriptor = os.open(part, os.O_RDONLY | _UNTRUSTED)
            try:
                file_locks.lock(descriptor)
                part.unlink()
            finally:
                os.close(descriptor)


def leads_out(path: Path, home: Path) -> bool:
    """Whether a path ends outside of a folder when all links in it are followed."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home))


def fault_of_name(name: str) -> str:
    """Why a name cannot be that of a file in a folder, such as ``raw/out.json``; empty where it can."""
    if not name or "\0" in name:
        return "is no name of a file"
    if name.startswith("/"):
        return "is an absolute path"
    return "leads out of the folder" if ".." in name.split("/") else ""


def fault_of_file(path: Path, home: Path) -> str:
    """Why a path may not be read as a file of a folder; empty where it may, or nothing is there."""
    if leads_out(path, home):
        return "is a link that leads out of the folder"
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"cannot be reached: {error.strerror}"
    return "" if stat.S_ISREG(mode) else "is no regular file"


def read_bounded(path: Path, home: Path, most_bytes: int) -> bytes:
    """The content of a regular file within a folder.

    Parameters
    ----------
    path, home : Path
        The file, and the folder that it must lie in when all links are followed.
    most_bytes : int
        A larger file is refused.

    Raises
    ------
    OSError
        When it is not there, lies elsewhere, is a pipe or a device, or is too large; `strerror` says which.
    """
    if fault := fault_of_file(path, home):
        raise OSError(errno.EPERM, fault)
    return read_regular(path, most_bytes)


def read_regular(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file, wherever links lead.

    Raises
    ------
    OSError
        When it is not there, is a pipe or a device, or is too large; `strerror` says which.
    """
    with open_regular(Path(os.path.realpath(path))) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"is larger than {most_bytes:,} B")
    return data


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600, *, own: bool = False) -> BinaryIO:
    """Open a regular file; neither is a link followed nor a pipe waited for.

    Parameters
    ----------
    path : Path
    flags, mode : int
        Of open(2); a new file is for its owner alone, unless the mode says else.
    own : bool
        Whether it must belong to the user of this process.

    Raises
    ------
    OSError
        When it is not there, is something else, or belongs to somebody else; `strerror` says which.
    """
    descriptor = os.open(path, flags | _UNTRUSTED, mode)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EPERM, "is no regular file")
        if own and not is_own(status):
            raise OSError(errno.EPERM, "belongs to another user")
        return os.fdopen(descriptor, "rb" if flags & _WRITING == 0 else "r+b")
    except BaseException:
        os.close(descriptor)
        raise


def is_own(status: os.stat_result) -> bool:
    """Whether what was looked at belongs to the user of this process; on Windows it always does."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
