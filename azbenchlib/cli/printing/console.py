"""All that the command line prints goes through here, and no name in foreign data commands the terminal.

Notes on what is done go to stderr, so that stdout is the result alone. What is to be copied from it, such as
a job file, is printed as it is: no terminal wraps, pads or indents it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.core.files import write_atomically
from azbenchlib.core.printable import cell, cells, json_text, printable

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.cli.printing.rich_console import Console


JSON_VERSION = 1  # of what --format json prints; changes when a field changes its name or its meaning
_PATIENCE_S = 1.0  # after which it is said what takes so long


class _Notes:
    """What is said on stderr; rich, which takes a tenth of the time of a short command, is loaded only for a
    terminal or for what has a style.
    """

    @cached_property
    def console(self) -> Console:
        """Where it is said."""
        from azbenchlib.cli.printing.rich_console import Console

        return Console(stderr=True, highlight=False, soft_wrap=True)

    def print(self, *objects: Any, **settings: Any) -> None:
        """As rich does: a plain sentence that no terminal shows has neither colours nor a width."""
        if self._is_shown() or not all(isinstance(one, str) for one in objects):
            self.console.print(*objects, **settings)
        else:
            self._write(" ".join(objects))

    def sentence(self, text: str) -> None:
        """What nobody copies: a terminal gets it wrapped at words, everything else in one line."""
        if self._is_shown():
            self.console.print(text, soft_wrap=not self.console.is_terminal)
        else:
            self._write(text)

    def _is_shown(self) -> bool:
        """Whether a terminal shows it, or there is no stream, which rich minds."""
        return sys.stderr is None or sys.stderr.isatty()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")


notes = _Notes()


@contextmanager
def working(what: str) -> Iterator[None]:
    """What is being done, with the seconds that it takes, on a terminal's stderr, from the second second on;
    silent elsewhere.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    shown = Progress(*columns, console=notes.console, transient=True)
    shown.add_task(what, total=None)
    later = Timer(_PATIENCE_S, shown.start)
    later.start()
    try:
        yield
    finally:
        later.cancel()
        later.join()
        shown.stop()


def say(text: str) -> None:
    """Print a line, or lines, of a result, as they are at any width, with a line feed at the end."""
    sys.stdout.write(f"{printable(text.rstrip())}\n")


def print_json(document: Mapping[str, object]) -> None:
    """Print a result as one line of JSON: an object that begins with its version."""
    sys.stdout.write(f"{versioned(document)}\n")


def versioned(document: Mapping[str, object]) -> str:
    """A result as JSON, with the version of its form; the same for every verb."""
    return json_text({"version": JSON_VERSION, **document})


def print_table(table: pd.DataFrame) -> None:
    """Print a table as CSV, with no cell that a spreadsheet takes for a formula."""
    cells(table).to_csv(sys.stdout, index=False)


def print_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print rows as CSV, as :func:`print_table` does; cells of other columns are left out."""
    writer = csv.DictWriter(sys.stdout, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: cell(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    )


def write_job(path: Path, job: str) -> None:
    """Write a fio job file, whole or not at all, and say so.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    notes.print(f"Job: {write_atomically(path, job.encode())}")
