"""Other processes of this machine: whether they live, and since when."""

import os
from contextlib import suppress
from pathlib import Path

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
