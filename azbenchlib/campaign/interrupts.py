"""What Ctrl-C, a polite end and a closed terminal do to a campaign.

Here and on the lab, the first Ctrl-C lets the run in hand end, and a second one ends it at once; a polite
end and a closed terminal end it at once. In Azure, where a VM is paid for meanwhile, all of them end it at
once. While it takes down what it made there, they never stop a deletion from being asked for, only the
waiting for it.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
SAME_S = 1.0  # signals this close together are one: a terminal and the process above may both pass it on


class Interrupts:
    """The interrupts of one run; without ``with``, or in another than the main thread, Python's own hold."""

    def __init__(self) -> None:
        self.came = 0  # since the taking down began
        self.noted = False  # whether the run in hand is the last one
        self._tell: Callable[[], None] | None = None  # while there is one
        self._ending = self._asking = self._waiting = False
        self._latest = -SAME_S
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            kept = {number: signal.getsignal(number) for number in SIGNALS}
            self._before = {number: old for number, old in kept.items() if old not in (signal.SIG_IGN, None)}
            for number in self._before:
                signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def run_in_hand(self, tell: Callable[[], None]) -> Iterator[None]:
        """While a run is to be brought to its end: the first Ctrl-C is told and noted, and ends what follows.

        Raises a KeyboardInterrupt at the end of the run, where one was noted; at once at the second.
        """
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None
        if self.noted:
            raise KeyboardInterrupt

    def end(self) -> None:
        """From here on there is only taking down."""
        self._ending = True

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While Azure is asked to delete: the first interrupt is noted, a second one stops that too."""
        self._asking = True
        try:
            yield
        finally:
            self._asking = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While nothing is done but wait: the first interrupt ends it, also one that was noted."""
        self._waiting = True
        try:
            if self.came:
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._latest < SAME_S:
            return
        self._latest = now
        self.came += self._ending
        if self._tell and not self.noted and number == signal.SIGINT:
            self.noted = True
            with suppress(RuntimeError, OSError):  # of a stream that is being written to
                self._tell()
            return
        if not self._ending or self._waiting or (self._asking and self.came > 1):
            raise KeyboardInterrupt
