"""Measurements in real time: made again where others used this machine meanwhile, or else told.

A figure that is right is right, whatever else this machine did. One that is wrong is a failure at once,
unless the measurement was disturbed: others used the processors or the disks, the hypervisor or the quota of
a container took the processors away, or what was measured says itself that it was late. It is then made
again, in a moment without other measurements of this test run, as quiet as one is to be had soon. What was
disturbed each time is an expected failure, with its reason in the summary of pytest: nothing is known of what
was to be tested.
"""

import fcntl
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Generic, Self, TypeVar

import pytest

T = TypeVar("T")
TRIES = 3
OTHERS = 0.05  # of all processors, or of the time: with less, a measurement counts as undisturbed
OTHERS_BYTES_PER_S = 4e6  # read and written by others on the disks of this machine
PATIENCE_S = 20.0  # with others on this machine, before it is measured again nevertheless
LOOK_S = 1.0  # how long this machine is looked at to tell whether it is quiet
_TICKS = os.sysconf("SC_CLK_TCK")
_CORES = os.cpu_count() or 1
_SECTOR = 512  # bytes, in /proc/diskstats and in what getrusage tells of blocks
# Where the throttling of a container by its quota is counted: the file, its key, how many are a second
# (docs.kernel.org: cgroup-v2 "cpu.stat", sched-bwc).
_QUOTAS = (
    (Path("/sys/fs/cgroup/cpu.stat"), "throttled_usec", 1e6),
    (Path("/sys/fs/cgroup/cpu/cpu.stat"), "throttled_time", 1e9),
)


@dataclass(frozen=True)
class Usage:
    """What this machine has done so far, and what of it this process and its descendants.

    Parameters
    ----------
    at_s : float
        On the monotonic clock.
    cpu_s, own_cpu_s : float
        Seconds that processors were not idle, stolen ones among them; of these, for us.
    throttled_s : float
        For which the quota of our container held us back.
    disk_bytes, own_disk_bytes : float
        Read and written on block devices.
    """

    at_s: float
    cpu_s: float
    own_cpu_s: float
    throttled_s: float
    disk_bytes: float
    own_disk_bytes: float

    @classmethod
    def now(cls) -> Self:
        """Return what the kernel has counted until now."""
        at_s, idle_s = time.monotonic(), _idle_s()
        done = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return cls(
            at_s=at_s,
            cpu_s=_CORES * at_s - idle_s,
            own_cpu_s=sum(one.ru_utime + one.ru_stime for one in done) + _living_s(),
            throttled_s=_throttled_s(),
            disk_bytes=_disk_bytes(),
            own_disk_bytes=_SECTOR * sum(one.ru_inblock + one.ru_oublock for one in done),
        )

    def disturbance(self, begin: Self) -> str:
        """Return by what a measurement since `begin` was disturbed, in words; empty where by nothing."""
        lasted_s = max(self.at_s - begin.at_s, 1e-9)
        cpu = (self.cpu_s - begin.cpu_s) - (self.own_cpu_s - begin.own_cpu_s)
        throttled = (self.throttled_s - begin.throttled_s) / lasted_s
        moved = (self.disk_bytes - begin.disk_bytes) - (self.own_disk_bytes - begin.own_disk_bytes)
        reasons = []
        if (share := cpu / lasted_s / _CORES) > OTHERS:
            reasons.append(f"others used {share:.0%} of the processors")
        if throttled > OTHERS:
            reasons.append(f"the quota of the container held it back {throttled:.0%} of the time")
        if (rate := moved / lasted_s) > OTHERS_BYTES_PER_S:
            reasons.append(f"others moved {rate / 1e6:.0f} MB/s on the disks")
        return ", ".join(reasons)


class Measurement(Generic[T]):
    """Something that is measured in real time, when it is first looked at.

    Several tests may look at one: what is measured again for one of them is what the next ones see.

    Parameters
    ----------
    measure : callable
        Measures, and returns what it found.
    told : callable, optional
        What the result itself says of a busy machine, in words; empty where nothing.
    """

    _patience_s: ClassVar = PATIENCE_S  # of all together

    def __init__(self, measure: Callable[[], T], told: Callable[[T], str] = lambda _: "") -> None:
        self._measure, self._told = measure, told
        self._results: list[T] = []
        self._disturbance = ""

    def check(self, holds: Callable[[T], object]) -> T:
        """Return the result for which `holds` raises no AssertionError.

        Raises
        ------
        AssertionError
            Of `holds`, when the measurement was not disturbed.
        """
        if not self._results:
            self._once()
        while True:
            try:
                holds(self._results[-1])
            except AssertionError as error:
                if not self._disturbance:
                    raise
                if len(self._results) == TRIES:
                    wrong = str(error).partition("\n")[0]
                    pytest.xfail(f"this machine was too busy to measure ({self._disturbance}): {wrong}")
            else:
                return self._results[-1]
            with _to_itself():
                self._wait_for_quiet()
                self._once()

    def _once(self) -> None:
        assert _locks, "what measures in real time is marked as alone"
        begin = Usage.now()
        result = self._measure()
        outside = Usage.now().disturbance(begin)
        self._disturbance = ", ".join(filter(None, (outside, self._told(result))))
        self._results.append(result)

    def _wait_for_quiet(self) -> None:
        """Wait until others leave this machine alone, but not for long; ever less while it is in vain."""
        deadline = time.monotonic() + self._patience_s
        while time.monotonic() < deadline:
            begin = Usage.now()
            time.sleep(LOOK_S)
            if not Usage.now().disturbance(begin):
                Measurement._patience_s = PATIENCE_S
                return
        Measurement._patience_s /= 2


_locks: list[
    IO[str]
] = []  # a door, and the room behind it: who wants the room alone holds the door meanwhile


@contextmanager
def beside_others(folder: Path) -> Iterator[None]:
    """Others of this test run that are marked as alone run beside this one, unless one needs the machine.

    Parameters
    ----------
    folder : Path
        That all workers of a test run share.
    """
    with (folder / "measuring.door").open("w") as door, (folder / "measuring.room").open("w") as room:
        _locks[:] = door, room
        try:
            _enter(fcntl.LOCK_SH)
            yield
        finally:
            _locks.clear()


@contextmanager
def _to_itself() -> Iterator[None]:
    fcntl.flock(_locks[1], fcntl.LOCK_UN)  # two that want it wait at the door, and not for each other
    _enter(fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(_locks[1], fcntl.LOCK_SH)


def _enter(how: int) -> None:
    door, room = _locks
    fcntl.flock(door, fcntl.LOCK_EX)
    fcntl.flock(room, how)
    fcntl.flock(door, fcntl.LOCK_UN)


def _idle_s() -> float:
    """Seconds that all processors were idle since the start of this machine, waiting for disks among them."""
    _, _, _, _, idle, waiting, *_ = Path("/proc/stat").read_text().partition("\n")[0].split()
    return (int(idle) + int(waiting)) / _TICKS


def _living_s() -> float:
    """CPU seconds of all living descendants, and of what they have waited for."""
    rows: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        rows[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
    ours, more = set(), {os.getpid()}
    while more:
        ours |= more
        more = {pid for pid, (parent, _) in rows.items() if parent in ours} - ours
    return sum(rows[pid][1] for pid in ours - {os.getpid()})


def _throttled_s() -> float:
    for path, key, a_second in _QUOTAS:
        try:
            counted = dict(line.split() for line in path.read_text().splitlines())
        except OSError:
            continue
        return float(counted.get(key, 0)) / a_second
    return 0.0


def _disk_bytes() -> float:
    """Bytes read and written on whole devices that are made of no others."""
    try:
        rows = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    except OSError:
        return 0.0
    whole = {path.name for path in Path("/sys/block").glob("*") if (path / "device").exists()}
    return _SECTOR * float(sum(int(row[5]) + int(row[9]) for row in rows if row[2] in whole))
