"""The live log of a lab: lines of JSON that tell five times a second what the emulated VM and its disks do.

The first line names the log and its lab. The server holds a lock on it as long as it lives.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core.documents import decoded, first_fault
from azbenchlib.core.errors import InputError
from azbenchlib.core.file_locks import lock
from azbenchlib.core.files import is_own, open_regular
from azbenchlib.core.units import MIB, US_PER_S
from azbenchlib.model.labels import Label

LIVE_LOG = "lab.log"
_SPAN_S = 1.0  # real seconds that a rate is taken over
_MANY = 0.1  # of the requests: a limit that fewer had to wait for does not bind
_LONGEST_LINE, _LONGEST_NAME, _MOST, _LARGEST = MIB, 1000, 10_000, 1e18
_OTHER = "it is no live log of a lab of this version"
LAB_PREFIX = "azbench-lab-"  # of the temporary folders of labs


class LiveLog:
    """The log as its server writes it.

    Raises
    ------
    InputError
        When a living lab has its log in this folder, or what is there is no file of this user.
    """

    def __init__(self, folder: Path, header: dict[str, Any]) -> None:
        self.path = folder / LIVE_LOG
        try:
            opened = open_regular(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, own=True)
        except OSError as error:
            raise InputError(f"{self.path}: no live log can be written: {error.strerror}") from error
        self._file = io.TextIOWrapper(opened, encoding="utf-8")
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


_Name = Annotated[str, Field(max_length=_LONGEST_NAME)]
_Number = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]
_Count = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]

_Done = Annotated[list[_Count], Field(min_length=2, max_length=2)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Header(_Part):
    """The first line: whose log it is. `full_credits` is what each bucket held when the lab started."""

    azbench_lab: Literal[1]
    setup: _Name
    time_scale: Annotated[float, Field(gt=0, le=_LARGEST, allow_inf_nan=False)]
    full_credits: Annotated[dict[_Name, _Count], Field(max_length=_MOST)]
    volumes: Annotated[dict[_Name, _Count], Field(max_length=_MOST)] = {}


class LiveObject(_Part):
    """What a volume, or a limit of one, does at a moment; None: it has no such metric."""

    queue_depth: _Count | None = None
    cache_hit_ratio: _Count | None = None
    credits: _Number | None = None
    throttled_share: _Count | None = None


class Line(_Part):
    """The state at a moment: I/Os and bytes that were `done` by volume so far, and all objects by name."""

    unix_s: _Number
    t_s: _Number
    late_us: _Count | None
    late_p50_us: _Count | None = None
    done: Annotated[dict[_Name, _Done], Field(max_length=_MOST)]
    objects: Annotated[dict[_Name, LiveObject], Field(max_length=_MOST)]


@dataclass(frozen=True)
class State:
    """What a live log says now: its header, and its last lines (none: nothing was told yet)."""

    header: Header
    lines: tuple[Line, ...]

    def rates(self, volume: str) -> tuple[float, float]:
        """I/Os and bytes per emulated second, over the last real one; 0 where nothing passed."""
        last = self.lines[-1]
        span = [line for line in self.lines if line.unix_s >= last.unix_s - _SPAN_S]
        seconds = last.t_s - span[0].t_s
        if not seconds:
            return 0.0, 0.0
        now, before = last.done[volume], span[0].done.get(volume, [0.0, 0.0])
        iops, rate = ((new - old) / seconds for new, old in zip(now, before, strict=True))
        return iops, rate

    def binding_limits(self, volume: str) -> dict[Label, float]:
        """The limits of a volume and of the VM that many requests had to wait for: the share of them.

        The largest share is first.
        """
        found = {}
        for name, state in self.lines[-1].objects.items():
            owner, label = limit_of(name)
            if label and owner in (volume, "vm") and (state.throttled_share or 0.0) > _MANY:
                found[label] = state.throttled_share or 0.0
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def limit_of(name: str) -> tuple[str, Label | None]:
    """Whose an object of the log is, and which limit: ``data disk_iops``; None: it is no limit."""
    owner, _, label = name.rpartition(" ")
    return owner, Label.named(label)


def read(log: Path, tail_bytes: int | None = None) -> State:
    """The header and the lines of a live log, or only the last so many bytes of them.

    Raises
    ------
    InputError
        When it is none.
    """
    number = 1
    try:
        with open_regular(Path(os.path.realpath(log))) as file:
            header = Header.model_validate(decoded(file.readline(_LONGEST_LINE)))
            begin = file.tell()
            if tail_bytes is not None:
                file.seek(max(begin, os.fstat(file.fileno()).st_size - tail_bytes))
            if file.tell() > begin:
                file.readline()  # the rest of a line whose beginning is not there
            lines = []
            while (line := file.readline(_LONGEST_LINE)).endswith(b"\n"):
                number += 1
                lines.append(Line.model_validate(decoded(line)))
    except ValidationError as error:
        raise InputError(f"{log}: line {number}: {first_fault(error)}; {_OTHER}") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{log}: no live log of a lab: {why}") from error
    return State(header, tuple(lines))


def lateness_s(log: Path, begin_unix_s: float = 0.0) -> tuple[float, float]:
    """How late completions typically were from a moment on: p50 and p99 in real seconds.

    Each is the median over the lines of the log, so that a single stall does not count; NaN where nothing
    was completed. Much more than the floor of the lab means that this machine was too busy for what was
    measured to count.
    """
    late = [
        (line.late_p50_us, line.late_us)
        for line in read(log).lines
        if line.unix_s >= begin_unix_s and line.late_p50_us is not None and line.late_us is not None
    ]
    if not late:
        return math.nan, math.nan
    p50, p99 = (statistics.median(values) for values in zip(*late, strict=True))
    return p50 / US_PER_S, p99 / US_PER_S


def alive(log: Path, *, own: bool = False) -> bool:
    """Whether the server of this log is running; with `own`, that of a log of this user and no link."""
    try:
        with open_regular(log if own else Path(os.path.realpath(log)), own=own) as file:
            return not _locked(file.fileno(), shared=True)
    except OSError:
        return False


def running() -> list[Path]:
    """The logs of the labs of this user that run in temporary folders, the newest first.

    What others put there under such a name is not opened.
    """
    folders = [
        folder for folder in Path(tempfile.gettempdir()).glob(f"{LAB_PREFIX}*") if _is_own_folder(folder)
    ]
    logs = [log for folder in folders if alive(log := folder / LIVE_LOG, own=True)]
    return sorted(logs, key=lambda log: log.stat().st_mtime, reverse=True)


def _is_own_folder(path: Path) -> bool:
    """Whether it is a folder of this user, and no link to one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_own(status)


def _locked(descriptor: int, shared: bool = False) -> bool:
    """Take the lock if it is free; it ends with the file."""
    try:
        lock(descriptor, shared=shared)
    except BlockingIOError:
        return False
    return True
