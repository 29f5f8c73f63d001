"""Other processes of this machine: whether they live, since when, and what those do that are started here."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SAFE_PATH = "PYTHONSAFEPATH"  # with it, Python imports nothing of the current folder. Source: Python 3.11
_PR_SET_PDEATHSIG = 1  # source: prctl(2), linux/prctl.h
_ENDED = "ZX"  # states of proc(5): ended, and not waited for yet by whoever is to do that


def began(pid: int) -> str:
    """When a process was started, in ticks since this machine was; empty where that is unknown or it is gone.

    A process that has ended stays in the list until its parent asks for its status. Where that is the first
    process of a container, this can take seconds.
    """
    with suppress(OSError, IndexError):
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if told[0] in _ENDED else told[19]
    return ""


def is_gone(pid: int) -> bool:
    """Whether there is no such process any more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # of another user
        return False
    return Path("/proc/self/stat").exists() and not began(pid)


@contextmanager
def without_current_folder() -> Iterator[None]:
    """Have processes of Python that are started meanwhile import nothing of the current folder.

    The command line says so for all of its processes; a program that uses azbench as a library has others
    of its own, which are none of our business.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before


def end_with_parent() -> None:
    """Have this process, which multiprocessing started, end as soon as its parent has, however that ended.

    A thread waits for the parent. It cannot end a process that is stopped or deep in a library, so Linux is
    asked to do it as well; there, the end of the thread that started this process counts as its parent's.
    """
    import ctypes  # what most processes can do without
    from multiprocessing import parent_process

    def end_after() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=end_after, daemon=True).start()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
