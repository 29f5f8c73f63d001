"""Locks on open files, which end with the process that holds them: who is locked lives.

A system without flock(2), which is Windows, is a system whose files have no locks.
"""

import errno
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

AVAILABLE = fcntl is not None


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file for as long as it is open.

    Parameters
    ----------
    descriptor : int
        The open file.
    shared : bool
        Whether others may hold it as well.
    wait : bool
        Whether to wait for whoever holds it.

    Raises
    ------
    BlockingIOError
        When somebody else holds it, and that is not waited for.
    OSError
        When this file, or all files of this system, cannot be locked.
    """
    if fcntl is None:
        raise OSError(errno.ENOTSUP, "files of this system have no locks")
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)


def close_and_remove(file: IO[str], path: Path) -> None:
    """Remove a file that is locked, and let it go.

    Where there are locks it loses its name first, or somebody could lock a file that then is gone. Windows,
    which has none, removes no open file.
    """
    if AVAILABLE:
        path.unlink(missing_ok=True)
    file.close()
    if not AVAILABLE:
        path.unlink(missing_ok=True)
