"""A selector that wakes up to the microsecond.

On Linux, `epoll_wait` as Python calls it rounds a time-out up to the next millisecond; `select` on the
descriptor of the epoll does not. kqueue, which macOS and the BSDs have, is exact.
"""

import select
import selectors
import sys
from pathlib import Path

if sys.platform == "linux":

    class Selector(selectors.EpollSelector):
        """An epoll that is waited for with `select`."""

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """What is ready; `timeout` in seconds, None: for ever."""
            waits = timeout is None or timeout > 0
            if waits and not select.select([self.fileno()], [], [], timeout)[0]:
                return []
            return super().select(0)

else:
    Selector = selectors.DefaultSelector


def wake_promptly() -> None:
    """Ask Linux to wake this process on time instead of up to 50 µs later (timerslack; proc(5))."""
    slack = Path("/proc/self/timerslack_ns")
    if slack.exists():
        slack.write_text("1000")
