"""The command line: thin verbs over the library. Only here are errors turned into exit codes.

Exit codes, whoever reads the output and however long: 0 done, 1 worse (`compare` alone), 2 something that the
caller can mend (one sentence on stderr), 3 undecided (`compare`), 4 some workloads failed (`run`), 70 a fault
of azbench itself, 130 interrupted (typer's doing).
"""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

from azbenchlib.cli.printing import streams
from azbenchlib.cli.printing.console import notes, say
from azbenchlib.cli.verbs import VerbGroup
from azbenchlib.core import extras
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.name_forms import TakenForWarning
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
_show_warning = warnings.showwarning
OWN_FAULT = 70  # source: EX_SOFTWARE of sysexits.h


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
    streams.take_over()
    warnings.showwarning = _tell
    try:
        app()
    except SystemExit:  # as every verb ends
        if why := streams.fault_of_result():
            _refuse(f"standard output cannot be written: {why}")
        raise
    except AzbenchError as error:
        _refuse(one_line(str(error)), error.exit_code)
    except ModuleNotFoundError as error:
        if (sentence := extras.lacking(error.name or "")) is None:
            raise
        _refuse(sentence)
    except OSError as error:
        _refuse(one_line(_system_error(error)))
    except Exception as error:  # 1 would say "worse"
        if _is_interrupted(error):
            raise KeyboardInterrupt from error
        import traceback

        traceback.print_exc()
        sys.exit(OWN_FAULT)


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether an interrupt caused it: Python before 3.12 wraps what ``__set_name__`` of a class raises."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_interrupted(error.__cause__))


def _tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """A name that was taken for another one is a note; other warnings stay what they are."""
    if issubclass(category, TakenForWarning):
        notes.print(f"Note: {one_line(str(message))}")
    else:
        _show_warning(message, category, *place, **more)


def _start_lightly() -> None:
    """Leave out what no verb needs and takes a third of the time of a short command."""
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
    atexit.register(_end_lightly)


def _end_lightly() -> None:
    """Look for no circles in all that the interpreter throws away, unless somebody counts what is left."""
    if "duckdb" not in sys.modules:  # nanobind, which binds it, would print what was not thrown away
        gc.freeze()


def _refuse(sentence: str, exit_code: int = 2) -> NoReturn:
    notes.print(f"azbench: {sentence}")
    sys.exit(exit_code)


def _system_error(error: OSError) -> str:
    """What the operating system refused, with the file where it names one."""
    from azbenchlib.core.temporary import advice

    why = error.strerror or str(error)
    told = f"{error.filename}: {why}" if error.filename else f"reading or writing failed: {why}"
    return "; ".join(filter(None, (told, advice(error))))
