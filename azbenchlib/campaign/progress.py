"""How a measurement tells how far it is, and how long it still lasts."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.printable import one_line
from azbenchlib.core.units import format_span


class Progress(Protocol):
    """What is called: with how many of how many workloads are done, and a line about the latest."""

    def __call__(self, done: int, total: int, text: str) -> None: ...


def quiet(done: int, total: int, text: str) -> None:
    """Say nothing."""


_at_once = partial(print, flush=True)


def show_progress(every: bool = False, say: Callable[[str], None] = _at_once) -> Progress:
    """A line a workload as it ends, in a notebook, a terminal or a log alike.

    Plain text: it arrives while the work goes on, under papermill too, and stays in the saved notebook,
    where a live widget would be gone. With `every`, each step is told as it begins, with the time since
    the start: in Azure a step can take minutes. `say` takes each line.
    """
    begun, shown = time.monotonic(), 0

    def show(done: int, total: int, text: str) -> None:
        nonlocal shown
        text = one_line(text)  # through a notebook's output, it comes to a terminal
        if every:
            minutes, seconds = divmod(int(time.monotonic() - begun), 60)
            say(f"{minutes:3d}:{seconds:02d}  {done}/{total}  {text}")
        elif done > shown or (done == 0 and shown == 0):
            say(f"{done}/{total} {text}")
        shown = done

    return show


def unheard(progress: Progress) -> Progress:
    """The same where nobody may be there any more to be told, as after a terminal was closed."""

    def tell(done: int, total: int, text: str) -> None:
        with suppress(OSError, AzbenchError):
            progress(done, total, text)

    return tell


@dataclass
class Pace:
    """The time that runs took, against what they were expected to take; all in seconds."""

    left_s: float  # of what is still to be measured
    _expected_s: float = field(default=0.0, init=False)
    _took_s: float = field(default=0.0, init=False)
    _latest: float = field(default_factory=time.monotonic, init=False)

    def done(self, expected_s: float) -> None:
        """Note that a run has ended, with all that had to be done before it."""
        now = time.monotonic()
        self._took_s, self._latest = self._took_s + now - self._latest, now
        self._expected_s += expected_s
        self.left_s = max(0.0, self.left_s - expected_s)

    @property
    def text(self) -> str:
        """What is left, in words."""
        ratio = self._took_s / self._expected_s if self._expected_s else 1.0
        return f"about {format_span(self.left_s * ratio)} left"
