"""A directory or a block device of this machine: the data that workloads share, and who may touch it."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from azbenchlib.core import privacy
from azbenchlib.core.errors import OutputError, UnsafeTargetError
from azbenchlib.core.file_locks import lock

DATA_FILE = "azbench.fio-data"
JOBS_FOLDER = "azbench.fio-jobs"  # where job files keep their data
_POLL_S = 0.1


def data_path(target: Path) -> Path:
    """What fio drives: the device itself, or one file in the directory."""
    return target if target.is_block_device() else target / DATA_FILE


def told_path(data: Path) -> PurePath:
    """What the tools are told of where data is: they write it into their outputs.

    A path that tells whose it is stays out of those: a link in the folder that a tool is started in leads
    there.
    """
    return PurePath(data.name) if privacy.tells(data) else data


@contextmanager
def within_reach(target: Path, part: Path) -> Iterator[None]:
    """Have links meanwhile in a folder to data that the tools are not told the whole path of."""
    places = (data_path(target), target / JOBS_FOLDER)
    links = {part / data.name: data for data in places if privacy.tells(data)}
    for link, data in links.items():
        link.symlink_to(data)
    try:
        yield
    finally:
        for link in links:
            link.unlink(missing_ok=True)


def direct_works(target: Path) -> bool:
    """Whether the page cache can be bypassed: some file systems refuse O_DIRECT."""
    if target.is_block_device():
        return True
    import fcntl  # Linux has it, and no other system is measured on

    with tempfile.TemporaryFile(dir=target) as file:
        flags = fcntl.fcntl(file, fcntl.F_GETFL)
        try:
            fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_DIRECT)
        except OSError:
            return False
    return True


def make_empty(folder: Path) -> None:
    """Make the folder in which job files keep their data; what an interrupted run left in it is removed.

    Raises an UnsafeTargetError when its name belongs to something else, such as a link that leads to data of
    others; an OutputError when it cannot be made.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UnsafeTargetError(
            f"{folder}: is no folder, and job files keep their data in one of this name; remove it"
        )
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error


@contextmanager
def held(target: Path, size_bytes: int, wait_s: float) -> Iterator[int]:
    """Hold the target for us alone; in a directory, the data file exists meanwhile and is gone afterwards.

    `target` was already found safe. A fio that an interrupted run left behind is waited for. Yields a
    descriptor of the data with an exclusive lock, for fio to inherit.

    Raises an UnsafeTargetError when another measurement holds it; an OutputError when the file cannot be
    made, for example for want of space.
    """
    path = data_path(target)
    try:
        file = _locked(path, time.monotonic() + wait_s)
    except OSError as error:
        raise OutputError(f"{path}: cannot be made or opened: {error.strerror}") from error
    try:
        if path != target and size_bytes:
            _allocate(file, path, size_bytes)
        yield file
    finally:
        if path != target:
            path.unlink(missing_ok=True)
        os.close(file)


def _locked(path: Path, deadline: float) -> int:
    """Open and lock; what was removed while we waited is opened anew."""
    # of a device, a lock needs no more than reading, and who has it open for writing counts as its user
    flags = os.O_RDONLY if path.is_block_device() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    while True:
        file = os.open(path, flags, 0o600)
        try:
            lock(file)
            if os.fstat(file).st_nlink:
                return file
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(file)
                raise UnsafeTargetError(
                    f"{path}: another measurement is using it; wait until that has ended"
                ) from None
            time.sleep(_POLL_S)
        os.close(file)


def _allocate(file: int, path: Path, size_bytes: int) -> None:
    """Give the file its full size at once: fio would else replace it, and the lock with it."""
    try:
        os.ftruncate(file, 0)
        os.posix_fallocate(file, 0, size_bytes)
    except OSError as error:
        raise OutputError(f"{path}: {size_bytes} B cannot be allocated: {error.strerror}") from error
