"""The command line: thin verbs over the library. Only here are errors turned into exit codes.

Exit codes: 0 done, 2 something that the caller can mend (one sentence on stderr), 130 interrupted
(typer's doing).
"""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from azbenchlib import __version__
from azbenchlib.errors import AzbenchError, InputError

if TYPE_CHECKING:
    from azbenchlib.dataset import Dataset

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure Azure disks, read benchmark outputs exactly, hand over a report.",
)
notes = Console(stderr=True, highlight=False, soft_wrap=True)


class ReadFormat(StrEnum):
    """What `azbench read` prints."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


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


@app.command()
def read(
    paths: Annotated[list[Path], typer.Argument(help="Outputs, folders of them, or dataset folders.")],
    format_: Annotated[
        ReadFormat, typer.Option("--format", help="What to print or write.")
    ] = ReadFormat.table,
    table: Annotated[str, typer.Option(help="Which table --format csv prints.")] = "results",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for one file a table (csv, parquet).")
    ] = None,
) -> None:
    """Read benchmark outputs into tables. JSON is one object: table name to a list of records.

    Exit code 2 where nothing of a known format was found.
    """
    from azbenchlib import dataset, schema
    from azbenchlib.dataset import Dataset

    if table not in schema.TABLES:
        raise InputError(f"--table: no table '{table}'; there are: {', '.join(schema.TABLES)}")
    if format_ is ReadFormat.parquet and output is None:
        raise InputError("--format parquet needs a folder: add --output DIR")
    found = Dataset.read(*paths)
    _tell_findings(found)
    if output is not None:
        kind = "parquet" if format_ is ReadFormat.parquet else "csv"
        written = dataset.write_tables(found.tables, output, kind)
        notes.print(f"{len(written)} tables in {output}", markup=False)
    elif format_ is ReadFormat.json:
        json.dump(
            {name: schema.records(rows) for name, rows in found.tables.items()},
            sys.stdout,
            ensure_ascii=False,
            allow_nan=False,
        )
        sys.stdout.write("\n")
    elif format_ is ReadFormat.csv:
        found.tables[table].to_csv(sys.stdout, index=False)
    else:
        _print_overview(found)
    if (found.tables["findings"]["code"] == "not_recognised").any() and not len(found.tables["runs"]):
        raise typer.Exit(2)


@app.command()
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


@app.command()
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


@app.command()
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


def _tell_findings(found: Dataset) -> None:
    """Errors and warnings to stderr, each kind once per file."""
    findings = found.tables["findings"]
    serious = findings[findings["severity"] != "info"].drop_duplicates(["source_path", "code", "message"])
    for row in serious.fillna("").itertuples():
        notes.print(f"{row.severity}: {row.message}. {row.advice}".rstrip(". ") + ".", markup=False)


def _print_overview(found: Dataset) -> None:
    import pandas as pd

    from azbenchlib.analyse import overview
    from azbenchlib.units import format_count, format_mbps, format_size, format_us

    forms = {
        "bs_bytes": format_size,
        "queue_depth": format_count,
        "iops": format_count,
        "bw_bytes_per_s": format_mbps,
        "p50": format_us,
        "p99": format_us,
    }
    table = Table(box=None, pad_edge=False)
    for name in ("Job", "Pattern", "Direction"):
        table.add_column(name)
    for name in ("Block", "Depth", "IOPS", "MB/s", "p50", "p99"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in overview(found.tables).to_dict(orient="records"):
        job = row["job"] if row["level"] == "job" else f"{row['job']} ({row['level']})"
        cells = ["" if pd.isna(row[name]) else form(row[name]) for name, form in forms.items()]
        pattern = "" if pd.isna(row["rw"]) else row["rw"]
        table.add_row(Text(str(job)), Text(pattern), row["ddir"], *cells)
    Console(highlight=False).print(table)


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
