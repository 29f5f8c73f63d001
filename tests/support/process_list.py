"""What everybody on a machine can see of its processes: their words."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOOKS, PAUSE_S = 4, 0.03  # a process gets its words some moments after it is forked


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
