"""The verbs that measure: `azbench run`, `azbench plan` and `azbench cleanup`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli.console import notes
from azbenchlib.errors import AzbenchError

FILE = Annotated[
    Path | None,
    typer.Argument(
        help="Measurement file (YAML), such as campaigns/ultra-disk.yaml; none: a few disks, or on this "
        "machine a small grid."
    ),
]


def run(
    file: FILE = None,
    target: Annotated[
        str,
        typer.Option(help="Where to measure: lab (emulated disks), local (this machine) or azure."),
    ] = "lab",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Dataset folder to write; an unfinished one is resumed."),
    ] = None,
    quick: Annotated[
        bool, typer.Option(help="A rehearsal: at most 3 s and 256 MiB a workload, no rests.")
    ] = False,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value for 01_measure.ipynb; repeatable."),
    ] = None,
) -> None:
    """Measure through the notebook 01_measure.ipynb: emulated disks, this machine, or Azure.

    In Azure everything is created in one resource group, which is deleted at the end, also after an error
    or an interrupt.
    """
    from azbenchlib.report import execute

    unnamed = "emulated-disks" if target == "lab" else "this-machine"
    folder = output or Path("datasets") / (file.stem if file else unnamed)
    given = execute.parse_parameters(parameter or [])
    parameters = {"dataset": str(folder), "target": target, "quick": quick, **given}
    if file:
        parameters["file"] = str(file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end is an interrupt
    try:
        notebook = execute.find_notebook("01_measure")
        execute.run_notebook(notebook, parameters, folder / "measure.ipynb", progress=True)
    except KeyboardInterrupt:
        notes.print("azbench: interrupted; what is finished is kept, the same command goes on from there")
        raise
    notes.print(f"Dataset: {folder}", markup=False)


def plan(
    file: Annotated[Path, typer.Argument(help="Measurement file (YAML).")],
    quick: Annotated[bool, typer.Option(help="Of the rehearsal.")] = False,
) -> None:
    """Print what a measurement file would create and run in Azure, command by command; nothing is done."""
    from azbenchlib.campaign import experiment, listing

    todo = experiment.load(file, quick)
    for line in listing.lines(todo):
        typer.echo(line)


def cleanup(
    yes: Annotated[bool, typer.Option("--yes", help="Delete what is listed.")] = False,
    group: Annotated[str, typer.Option(help="Only this resource group.")] = "",
) -> None:
    """List what runs of azbench left in the Azure subscription, and delete it with --yes.

    A run that goes on at this moment is listed too: see when it expires.
    """
    from azbenchlib.az import Az
    from azbenchlib.campaign import leftovers

    az = Az.find()
    found = [left for left in leftovers.find(az) if group in ("", left.group)]
    if not found:
        notes.print("Nothing of azbench is in this subscription.")
        return
    for left in found:
        about = [left.region, f"owner {left.owner}", f"expires {left.expires}", left.state]
        typer.echo(f"{left.group}  ({', '.join(about)})")
    if not yes:
        notes.print("Delete them with `azbench cleanup --yes`, or one with --group NAME --yes.")
        return
    faults = [
        leftovers.delete(az, left.group, lambda text: notes.print(text, markup=False)) for left in found
    ]
    if wrong := [fault for fault in faults if fault]:
        raise AzbenchError("; ".join(wrong))
    notes.print(f"Deleted: {len(found)}.")
