"""The verbs that tell: `azbench report` and `azbench doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli import findings
from azbenchlib.cli.console import notes, say


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
    """Write report.html and report.pdf about a dataset, compared with others if several are named."""
    from azbenchlib.dataset import dataset
    from azbenchlib.report import build

    for name in datasets:
        findings.tell_of_files(dataset.Dataset.load(dataset.find_dataset(name)).tables)
    written = build.build(datasets, output, title=title, author=author, client=client)
    notes.print(f"HTML: {written.html}\nPDF:  {written.pdf}")


def doctor() -> None:
    """List what is missing on this machine, what does not work without it, and how to get it."""
    from azbenchlib.campaign.doctor import diagnose

    checks = diagnose()
    width = max(len(check.name) for check in checks)
    for check in checks:
        state = "ok" if check.ok else "MISSING" if check.needed else "absent"
        told = [check.found] if check.ok else [f"without it: {check.costs}", f"get it: {check.remedy}"]
        for i, text in enumerate(told):
            say(f"{'' if i else state:7} {'' if i else check.name:{width}}  {text}")
    if any(check.needed and not check.ok for check in checks):
        raise typer.Exit(2)
