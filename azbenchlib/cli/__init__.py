"""The command line: thin verbs over the library. Only here are errors turned into exit codes.

Exit codes: 0 done, 2 something that the caller can mend (one sentence on stderr), 130 interrupted
(typer's doing).
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from azbenchlib import __version__
from azbenchlib.cli import advise, catalog, cost, lab, limits, measuring, reading, reporting, verdict
from azbenchlib.cli.console import notes
from azbenchlib.cli.setup import setup
from azbenchlib.errors import AzbenchError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure Azure disks, read benchmark outputs exactly, hand over a report.",
)
for verb in (
    reading.read,
    measuring.plan,
    measuring.run,
    measuring.cleanup,
    limits.limits,
    cost.cost,
    advise.advise,
    verdict.verdict,
    reporting.report,
    reporting.doctor,
):
    app.command()(verb)
app.add_typer(catalog.catalog, name="catalog")
app.add_typer(setup, name="setup")
app.add_typer(lab.app, name="lab")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"azbench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a verb; an error of the library becomes one sentence and exit code 2."""
    try:
        app()
    except AzbenchError as error:
        notes.print(f"azbench: {error}", markup=False)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
