"""What everybody on a machine can see of its processes: their words."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOOKS, PAUSE_S = 12, 0.01  # a process gets its words some moments after it is forked


def processes() -> list[tuple[int, int, str]]:
    """Return process id, that of the parent, and the command line of everything that runs."""
    return [row for place in Path("/proc").glob("[0-9]*") for row in _row(place)]


def _row(place: Path) -> Iterator[tuple[int, int, str]]:
    """Of one process, unless it has ended; a kernel's own and one that nobody waited for have no words."""
    with suppress(OSError):
        words = (place / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
        parent = int((place / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        yield int(place.name), parent, words


def fio_in(folder: Path, workload: str) -> set[int]:
    """Return the ids of every fio that runs this workload in a folder, whatever else this machine does."""
    ours = set()
    for pid, _, args in processes():
        if args.startswith("fio ") and f"--name={workload}" in args:
            with suppress(OSError):  # it has ended
                if Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder):
                    ours.add(pid)
    return ours


def pending(pid: int, number: signal.Signals) -> bool:
    """Return whether a process has not taken a signal yet that it got."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


@contextmanager
def words_seen() -> Iterator[set[str]]:
    """The words of all processes that are there meanwhile, a line each."""
    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        looked: Counter[str] = Counter()
        while not over.is_set():
            there = {name for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208  paths take long
            for name in (name for name in there if looked[name] < LOOKS):
                with suppress(OSError):
                    seen.add(Path("/proc", name, "cmdline").read_bytes().decode(errors="replace"))
            looked = Counter({name: looked[name] + 1 for name in there})
            time.sleep(PAUSE_S)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()
