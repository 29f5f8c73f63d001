"""The command line: thin verbs over the library. Only here are errors turned into exit codes.

Exit codes: 0 done, 2 something that the caller can mend (one sentence on stderr), 130 interrupted
(typer's doing).
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from typing import Annotated, NoReturn, TextIO

import typer

from azbenchlib.cli.printing.console import notes, say, take_any_character
from azbenchlib.cli.verbs import VerbGroup
from azbenchlib.core import extras
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.printable import one_line

app = typer.Typer(
    cls=VerbGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="Measure Azure disks, read benchmark outputs exactly, hand over a report.",
)
# Modules and catalogues are made of thousands of objects that stay. Looking among them for circles that can
# be thrown away, each time that 700 are made, takes an eighth of the time of a short command.
_MADE_BETWEEN_COLLECTIONS = 50_000


def _version(wanted: bool) -> None:
    if wanted:
        from azbenchlib import __version__  # takes a while to be found out

        say(f"azbench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a verb; an error of the library, or of the system, becomes one sentence and an exit code."""
    _start_lightly()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        take_any_character(stream)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # else an output that takes nothing fails after the last chance to tell
    except AzbenchError as error:
        _refuse(one_line(str(error)), error.exit_code)
    except ModuleNotFoundError as error:
        if (sentence := extras.lacking(error.name or "")) is None:
            raise
        _refuse(sentence)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        _give_up(sys.stdout)
        sys.exit(0)
    except OSError as error:
        _refuse(_system_error(error))


def _start_lightly() -> None:
    """Leave out what no verb needs and takes a third of the time of a short command."""
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
    atexit.register(_end_lightly)


def _end_lightly() -> None:
    """Look for no circles in all that the interpreter throws away, unless somebody counts what is left."""
    if "duckdb" not in sys.modules:  # nanobind, which binds it, would print what was not thrown away
        gc.freeze()


_TAKES_NOTHING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def _refuse(sentence: str, exit_code: int = 2) -> NoReturn:
    try:
        notes.print(f"azbench: {sentence}")
    except OSError:  # nobody can be told
        _give_up(sys.stderr)
    sys.exit(exit_code)


def _system_error(error: OSError) -> str:
    """What the operating system refused, with the file where it names one."""
    why = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {why}"
    if error.errno in _TAKES_NOTHING:  # files that azbench writes are named
        _give_up(sys.stdout)
        return f"standard output cannot be written: {why}"
    return f"reading or writing failed: {why}"


def _give_up(stream: TextIO) -> None:
    """Throw away what a stream did not take, so that the interpreter does not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _open_closed_streams() -> None:
    """Give a number to a stream that the caller closed, or the next file that is opened would get it.

    What is written to standard output then fails and is told; what is written to stderr is nobody's.
    """
    if sys.stdout is None:
        sys.stdout = _stand_in(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _stand_in(2, os.O_WRONLY)


def _stand_in(number: int, how: int) -> TextIO:
    opened = os.open(os.devnull, how)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return open(number, "w", encoding="utf-8", closefd=False)
