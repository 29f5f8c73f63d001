"""One measurement at a time into a dataset folder."""

import errno
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from azbenchlib.campaign.planning import plan
from azbenchlib.core import file_locks
from azbenchlib.core.errors import InputError, OutputError

WAIT_S, PAUSE_S = 3.0, 0.1  # a kernel whose parent was killed notices within a second or two
_NO_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)  # of file systems that have none


@contextmanager
def held(dataset: Path) -> Iterator[None]:
    """Keep other processes from measuring into a folder.

    The lock ends with the process, however that ends. It lies beside the folder, which may be put in another
    one's place meanwhile.

    Raises
    ------
    InputError
        When another process measures into the folder; on another host: when one may.
    OutputError
        When the file cannot be written.
    """
    real = dataset.resolve()
    path = real.with_name(f".{real.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _locked(path, dataset)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        file_locks.close_and_remove(file, path)


def is_held(dataset: Path) -> bool:
    """Whether a process on this host measures into a folder now."""
    real = dataset.resolve()
    try:
        with real.with_name(f".{real.name}.lock").open("rb") as file:
            file_locks.lock(file.fileno(), shared=True)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def _locked(path: Path, dataset: Path) -> IO[str]:
    """The file, locked, with who has it written into it."""
    deadline = time.monotonic() + WAIT_S
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            if _lock(file, path):
                _check_host(file, path, dataset)
                _sign(file)
                return file
            if time.monotonic() > deadline:
                raise InputError(f"{dataset}: {_holder(file)} measures into it; {_way(file)}")
        except BaseException:
            file.close()
            raise
        file.close()
        time.sleep(PAUSE_S)


def _lock(file: IO[str], path: Path) -> bool:
    """Whether the file could be locked, and is still the one of that name."""
    try:
        file_locks.lock(file.fileno())
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return True
        if isinstance(error, BlockingIOError):
            return False
        raise
    return path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _sign(file: IO[str]) -> None:
    file.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": plan.now()}, file)
    file.flush()


def _check_host(file: IO[str], path: Path, dataset: Path) -> None:
    """Refuse a lock of another host: whether its process lives cannot be seen from here."""
    host = _told(file).get("host", "")
    if host and host != socket.gethostname():
        raise InputError(
            f"{dataset}: {_holder(file)} measures into it, or was killed; if nothing runs there any more, "
            f"delete {path}"
        )


def _holder(file: IO[str]) -> str:
    told = _told(file)
    return f"process {told.get('pid', '?')} on {told.get('host', '?')} (since {told.get('since', '?')})"


def _way(file: IO[str]) -> str:
    return f"wait for it, end it with `kill {_told(file).get('pid', 'PID')}`, or name another folder"


def _told(file: IO[str]) -> dict[str, str]:
    file.seek(0)
    try:
        told = json.load(file)
    except ValueError:  # of one that was just made, or was cut off
        return {}
    return told if isinstance(told, dict) else {}
