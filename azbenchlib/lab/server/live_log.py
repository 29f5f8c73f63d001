"""The live log of a lab: lines of JSON that tell five times a second what the emulated VM and its disks do.

The first line names the log and its lab. The server holds a lock on it as long as it lives.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.file_locks import lock
from azbenchlib.core.units import US_PER_S

LIVE_LOG = "lab.log"
_SPAN_S = 1.0  # real seconds that a rate is taken over
_MANY = 0.1  # of the requests: a limit that fewer had to wait for does not bind
PREFIX = "azbench-lab-"  # of the temporary folders of labs


class LiveLog:
    """The log as its server writes it.

    Raises
    ------
    InputError
        When a living lab has its log in this folder.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self.path = folder / LIVE_LOG
        self._file = self.path.open("a", encoding="utf-8")
        if not _locked(self._file.fileno()):
            raise InputError(f"{folder}: a lab is running there; stop it, or take another folder")
        os.fchmod(self._file.fileno(), 0o600)  # as the socket beside it: of this user alone
        self._file.truncate(0)
        self._write({"azbench_lab": 1, **header})

    def note(
        self,
        emulated_s: float,
        late_s: Sequence[float],
        objects: dict[str, dict[str, float]],
        done: dict[str, list[float]],
    ) -> None:
        """One line: the state, how late completions were since the last one, I/Os and bytes per volume."""
        late = sorted(late_s)
        p50, p99 = (
            round(late[int(q * (len(late) - 1))] * US_PER_S, 1) if late else None for q in (0.5, 0.99)
        )
        line = {"unix_s": round(time.time(), 3), "t_s": round(emulated_s, 6), "late_us": p99}
        self._write({**line, "late_p50_us": p50, "done": done, "objects": objects})

    def close(self) -> None:
        """Let go of it; what was written stays."""
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


@dataclass(frozen=True)
class State:
    """What a live log says now: its header, and its last lines (none: nothing was told yet)."""

    header: dict[str, Any]
    lines: tuple[dict[str, Any], ...]

    def rates(self, volume: str) -> tuple[float, float]:
        """I/Os and bytes per emulated second, over the last real one; 0 where nothing passed."""
        last = self.lines[-1]
        span = [line for line in self.lines if line["unix_s"] >= last["unix_s"] - _SPAN_S]
        seconds = last["t_s"] - span[0]["t_s"]
        if not seconds:
            return 0.0, 0.0
        now, before = last["done"][volume], span[0]["done"].get(volume, (0, 0))
        iops, rate = ((new - old) / seconds for new, old in zip(now, before, strict=True))
        return iops, rate

    def binding_limits(self, volume: str) -> dict[str, float]:
        """The limits of a volume and of the VM that many requests had to wait for: the share of them.

        The largest share is first.
        """
        found = {}
        for name, state in self.lines[-1]["objects"].items():
            owner, _, limit = name.rpartition(" ")
            if owner in (volume, "vm") and state.get("throttled_share", 0) > _MANY:
                found[limit] = state["throttled_share"]
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def read(log: Path, tail_bytes: int | None = None) -> State:
    """The header and the lines of a live log, or only the last so many bytes of them.

    Raises
    ------
    InputError
        When it is none.
    """
    try:
        with log.open("rb") as file:
            header = json.loads(file.readline())
            begin = file.tell()
            if tail_bytes is not None:
                file.seek(max(begin, os.fstat(file.fileno()).st_size - tail_bytes))
            if file.tell() > begin:
                file.readline()  # the rest of a line whose beginning is not there
            lines = [json.loads(line) for line in file if line.endswith(b"\n")]
        known = header["azbench_lab"] == 1
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{log}: no live log of a lab: {error}") from error
    if not known:
        raise InputError(f"{log}: a live log of version {header['azbench_lab']}; this azbench reads 1")
    return State(header, tuple(lines))


def lateness_s(log: Path, begin_unix_s: float = 0.0) -> tuple[float, float]:
    """How late completions typically were from a moment on: p50 and p99 in real seconds.

    Each is the median over the lines of the log, so that a single stall does not count; NaN where nothing
    was completed. Much more than the floor of the lab means that this machine was too busy for what was
    measured to count.
    """
    lines = [
        line for line in read(log).lines if line["unix_s"] >= begin_unix_s and line["late_us"] is not None
    ]
    if not lines:
        return math.nan, math.nan
    p50, p99 = (statistics.median(line[name] for line in lines) for name in ("late_p50_us", "late_us"))
    return p50 / US_PER_S, p99 / US_PER_S


def alive(log: Path) -> bool:
    """Whether the server of this log is running."""
    try:
        with log.open("rb") as file:
            return not _locked(file.fileno(), shared=True)
    except OSError:
        return False


def running() -> list[Path]:
    """The logs of the labs of this user that run in temporary folders, the newest first."""
    logs = [log for log in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LIVE_LOG}") if alive(log)]
    return sorted(logs, key=lambda log: log.stat().st_mtime, reverse=True)


def _locked(descriptor: int, shared: bool = False) -> bool:
    """Take the lock if it is free; it ends with the file."""
    try:
        lock(descriptor, shared=shared)
    except BlockingIOError:
        return False
    return True
