"""What everybody on a machine can see of its processes: their words."""

import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOOKS, PAUSE_S = 4, 0.03  # a process gets its words some moments after it is forked


def processes() -> list[tuple[int, int, str]]:
    """Return process id, that of the parent, and the command line of everything that runs."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [(int(row[0]), int(row[1]), row[2]) for row in rows if len(row) == 3]


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
            there = {path.name for path in Path("/proc").glob("[0-9]*")}
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
