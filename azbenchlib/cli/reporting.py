"""The verbs that tell: `azbench report` and `azbench doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.console import notes


def report(
    datasets: Annotated[
        list[str], typer.Argument(help="Dataset folders or names; the first is the subject.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write; default reports/NAME.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the report; default the dataset's.")] = "",
    author: Annotated[str, typer.Option(help="Who made it.")] = "",
    client: Annotated[str, typer.Option(help="For whom.")] = "",
) -> None:
    """Write report.html and report.pdf for a dataset, beside others if several are named."""
    from azbenchlib.report import build

    written = build.build(datasets, output, title=title, author=author, client=client)
    notes.print(f"HTML: {written.html}\nPDF:  {written.pdf}", markup=False)


def doctor() -> None:
    """Say what is missing on this machine, what that costs, and how to get it."""
    from azbenchlib.doctor import diagnose

    checks = diagnose()
    table = Table(box=None, pad_edge=False, show_header=False)
    for check in checks:
        state = "ok" if check.ok else "MISSING" if check.needed else "absent"
        text = check.found if check.ok else f"without it: {check.costs}\nget it: {check.remedy}"
        table.add_row(state, check.name, Text(text))
    Console(highlight=False).print(table)
    if any(check.needed and not check.ok for check in checks):
        raise typer.Exit(2)
