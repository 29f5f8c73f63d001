"""The verbs that measure: `azbench run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli.console import notes


def run(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Dataset folder to write; an unfinished one is resumed.")
    ] = Path("datasets/this-machine"),
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value for 01_measure.ipynb; repeatable."),
    ] = None,
) -> None:
    """Measure a directory of this machine with fio, through the notebook 01_measure.ipynb."""
    from azbenchlib.report import execute

    notebook = execute.find_notebook("01_measure")
    given = execute.parse_parameters(parameter or [])
    parameters = {"dataset": str(output), **given}
    try:
        execute.run_notebook(notebook, parameters, output / "measure.ipynb", progress=True)
    except KeyboardInterrupt:
        notes.print("azbench: interrupted; what is finished is kept, the same command goes on from there")
        raise
    notes.print(f"Dataset: {output}", markup=False)
