"""What of a lab's log belongs to a workload: the lines written while it was measured."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.core.files import write_atomically
from azbenchlib.formats import lab_log


@dataclass(frozen=True)
class Mark:
    """A place in the log: its length in bytes at that moment."""

    log: Path
    offset: int

    @classmethod
    def now(cls, log: Path) -> "Mark":
        """The end of the log as it is."""
        return cls(log, log.stat().st_size if log.exists() else 0)


def keep(mark: Mark, start_unix_s: float, path: Path) -> None:
    """Write what was logged since a mark, from a moment on, as a log of its own.

    `start_unix_s` is when measuring began, by the clock on the wall; it becomes the log's zero.
    """
    with mark.log.open("rb") as file:
        file.seek(mark.offset)
        lines = file.read().decode(errors="replace").splitlines()
    kept = [line for line in lines if _moment(line) >= start_unix_s]
    head = f'{lab_log.MARK} "{lab_log.START}": {start_unix_s!r}}}'
    write_atomically(path, "\n".join([head, *kept, ""]).encode())


def _moment(line: str) -> float:
    """When a line was written; never, where it is not whole."""
    try:
        return float(json.loads(line)["unix_s"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return -math.inf
