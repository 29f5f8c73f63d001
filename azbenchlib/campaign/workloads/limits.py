"""At what a run of a benchmark is ended: its time is over, it makes no progress, free space runs out."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.campaign.workloads import guard
from azbenchlib.core.units import MIB, S_PER_MIN, format_size, format_span
from azbenchlib.formats.fio._options import seconds

MARGIN_S = 60.0  # how much longer than its run time a tool may take: to start, to flush, to write its output
STALLED_S = 30 * S_PER_MIN  # without any I/O, a run is ended whose end nobody knows; by judgement
# So slow may a disk be at least for the writing of data: a tenth of what the slowest one of Azure does, which
# is a Standard HDD (60 MB/s; Microsoft Learn, "Azure managed disk types", 2026), and less than a USB stick
# takes.
LEAST_BYTES_PER_S = 6_000_000
LOW_WATER_BYTES = 64 * MIB  # of free space: others that live on the file system need some
LOW_WATER_SHARE = 0.02  # of the file system, where that is less
_LOOK_AT_IO_S = 5.0  # between looks at the progress
_COUNTED = ("read_bytes", "write_bytes")  # of proc_pid_io(5); what passes by the page cache too is in _CALLS
_CALLS = ("rchar", "wchar")


def ended_after(seconds: float) -> str:
    """Say that a run was ended because its time was over."""
    return f"it was ended after {format_span(seconds)}, in which it should have ended by far"


def delay_s(text: str) -> float:
    """Return how long a job of fio may wait before it begins, in seconds; infinite where that cannot be read.

    `text`: value of ``startdelay``: a time or a range of times; empty: none.
    """
    if not text:
        return 0.0
    try:
        return max(map(seconds, re.split("[-,]", text)))
    except ValueError:
        return float("inf")


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Those of one run."""

    # How long it may take; None: nobody knows, so it may take as long as it does I/O
    seconds: float | None = None
    data_bytes: float = 0  # how much is written besides, such as data that is laid out: its time comes on top
    filled: Path | None = None  # a folder of the file system whose free space is watched

    @property
    def longest_s(self) -> float:
        """After which it is ended; infinite where it may last as long as it does I/O."""
        return float("inf") if self.seconds is None else self.seconds + self._spare_s + MARGIN_S

    @property
    def stalled_s(self) -> float:
        """So long may a run be without I/O that has no other end."""
        return STALLED_S + self._spare_s if self.seconds is None else float("inf")

    @property
    def _spare_s(self) -> float:
        return self.data_bytes / LEAST_BYTES_PER_S

    def begin(self, token: str, folder: Path) -> "Watch":
        """Watch a run that begins now: its processes have a token, its outputs go to a folder."""
        return Watch(limits=self, progress=lambda: _done(token, folder))


NO_LIMITS = RunLimits(seconds=float("inf"))


def low_water_bytes(total_bytes: int) -> int:
    """How much of a file system must stay free while a run is under way."""
    return min(LOW_WATER_BYTES, int(total_bytes * LOW_WATER_SHARE))


@dataclass(kw_only=True)
class Watch:
    """A run under way, and whether it reached a limit; `progress`: a count that grows while I/O is done."""

    limits: RunLimits
    progress: Callable[[], object]
    _begun: float = field(default_factory=time.monotonic)
    _looked: float = field(default_factory=time.monotonic)
    _moved: float = field(default_factory=time.monotonic)
    _last: object = None

    def reached(self) -> str:
        """Which limit was reached, in words; empty: none."""
        return self._over() or self._stalled() or self._full()

    def _over(self) -> str:
        limit_s = self.limits.longest_s
        if time.monotonic() - self._begun <= limit_s:
            return ""
        return ended_after(limit_s)

    def _stalled(self) -> str:
        now, limit_s = time.monotonic(), self.limits.stalled_s
        if now - self._looked < min(_LOOK_AT_IO_S, limit_s):
            return ""
        self._looked = now
        if limit_s < float("inf") and (done := self.progress()) != self._last:
            self._last, self._moved = done, now
        if now - self._moved <= limit_s:
            return ""
        return f"it was ended, for it did no I/O for {format_span(limit_s)}"

    def _full(self) -> str:
        if self.limits.filled is None:
            return ""
        stats = os.statvfs(self.limits.filled)
        free, least = stats.f_bavail * stats.f_frsize, low_water_bytes(stats.f_blocks * stats.f_frsize)
        if free >= least:
            return ""
        return (
            f"it was ended, for it left {format_size(free)} of free space in {self.limits.filled}, and "
            f"{format_size(least)} must stay free; measure less"
        )


def _done(token: str, folder: Path) -> tuple[tuple[int, ...], int]:
    """What the processes of a run have read and written, and how large their outputs are, in bytes.

    The first process of fio looks at the figures of the kernel again and again, which is no progress.
    """
    some = sorted(guard.processes(token))
    counts = [_io_of(pid, (*_COUNTED, *(_CALLS if pid != some[0] else ()))) for pid in some]
    sizes = 0
    for path in folder.iterdir():
        with suppress(OSError):
            sizes += path.stat().st_size
    return tuple(counts), sizes


def _io_of(pid: int, names: tuple[str, ...]) -> int:
    with suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        told = dict(line.split(": ", 1) for line in lines)
        return sum(int(told[name]) for name in names)
    return 0
