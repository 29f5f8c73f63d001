"""One measurement at a time into a dataset folder."""

import errno
import io
import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from azbenchlib.campaign.planning import plan
from azbenchlib.core import file_locks, processes
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.files import open_regular
from azbenchlib.core.printable import one_line

# A process whose parent was killed notices and ends: a kernel looks once a second, the process of a VM hears
# it at once, and either takes longer on a busy machine. By judgement.
ENDING_S = 30.0
WAIT_S, PAUSE_S = 3.0, 0.1  # for one whose parent lives: it may be at its end, too
_PID = re.compile("[0-9]{1,9}")
_LONGEST_SIGN = 4096  # characters of what a process writes into the file
_NO_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)  # of file systems that have none


def untold(text: str) -> None:
    """Say nothing."""


@contextmanager
def held(dataset: Path, tell: Callable[[str], None] = untold) -> Iterator[None]:
    """Keep other processes from measuring into a folder.

    The lock ends with the process, however that ends. It lies beside the folder, which may be put in another
    one's place meanwhile. A process whose parent is gone is about to end, and is waited for.

    `tell` takes a line when such a process is waited for. Raises an InputError when another process measures
    into the folder, or one on another host may; an OutputError when the file cannot be written.
    """
    real = dataset.resolve()
    path = real.with_name(f".{real.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _locked(path, dataset, tell)
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
        with open_regular(real.with_name(f".{real.name}.lock")) as file:
            file_locks.lock(file.fileno(), shared=True)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def _locked(path: Path, dataset: Path, tell: Callable[[str], None]) -> IO[str]:
    """The file, locked, with who has it written into it."""
    begun, is_told = time.monotonic(), False
    while True:
        file = io.TextIOWrapper(open_regular(path, os.O_RDWR | os.O_CREAT, 0o666), encoding="utf-8")
        try:
            if _lock(file, path):
                _check_host(file, path, dataset)
                _sign(file)
                return file
            is_ending = _is_left_alone(_told(file))
            if time.monotonic() - begun > (ENDING_S if is_ending else WAIT_S):
                raise InputError(f"{dataset}: {_holder(file)} measures into it; {_way(file)}")
            if is_ending and not is_told:
                tell(
                    f"{_holder(file)} still measures into {dataset.name}, and what started it has ended; "
                    f"waiting up to {ENDING_S:g} s until it ends, too …"
                )
                is_told = True
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
    file.seek(0)
    file.truncate(0)
    own = {"pid": os.getpid(), "parent": os.getppid(), "host": socket.gethostname(), "since": plan.now()}
    json.dump(own, file)
    file.flush()


def _check_host(file: IO[str], path: Path, dataset: Path) -> None:
    """Refuse a lock of another host: whether its process lives cannot be seen from here."""
    host = _told(file).get("host", "")
    if host and host != socket.gethostname():
        raise InputError(
            f"{dataset}: {_holder(file)} measures into it, or was killed; if nothing runs there any more, "
            f"delete {path}"
        )


def _is_left_alone(told: Mapping[str, str]) -> bool:
    """Whether the parent of a process of this host is gone."""
    parent = told.get("parent", "")
    here = told.get("host") == socket.gethostname()
    return here and bool(_PID.fullmatch(parent)) and int(parent) > 1 and processes.is_gone(int(parent))


def _holder(file: IO[str]) -> str:
    told = _told(file)
    return f"process {told.get('pid', '?')} on {told.get('host', '?')} (since {told.get('since', '?')})"


def _way(file: IO[str]) -> str:
    return f"wait for it, end it with `kill {_told(file).get('pid', 'PID')}`, or name another folder"


def _told(file: IO[str]) -> dict[str, str]:
    file.seek(0)
    try:
        told = decoded(file.read(_LONGEST_SIGN))
    except ValueError:  # of one that was just made, or was cut off
        return {}
    return {key: one_line(str(value)) for key, value in told.items()} if isinstance(told, dict) else {}
