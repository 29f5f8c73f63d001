"""How a measurement tells how far it is."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.printable import one_line


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
