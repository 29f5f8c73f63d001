"""The verb that reads: `azbench read`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.cli import findings
from azbenchlib.cli.console import Console, notes, print_json, print_table
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset


class ReadFormat(StrEnum):
    """What `azbench read` prints."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def read(
    paths: Annotated[list[Path], typer.Argument(help="Outputs, folders of them, or dataset folders.")],
    format_: Annotated[
        ReadFormat, typer.Option("--format", help="What to print or write.")
    ] = ReadFormat.table,
    table: Annotated[str, typer.Option(help="Which table --format csv prints.")] = "results",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for one file a table (csv, parquet).")
    ] = None,
    log_unit: Annotated[
        str | None,
        typer.Option(help="Unit of latencies in fio logs without an output beside them: us or ns."),
    ] = None,
) -> None:
    """Read benchmark outputs into tables. JSON is one object: table name to a list of records.

    The exit code is 2 if no run could be read; each file is named with the reason.
    """
    from azbenchlib.core import schema
    from azbenchlib.dataset import dataset
    from azbenchlib.dataset.dataset import Dataset

    if table not in schema.TABLES:
        raise InputError(f"--table: no table '{table}'; there are: {', '.join(schema.TABLES)}")
    if format_ is ReadFormat.parquet and output is None:
        raise InputError("--format parquet needs a folder: add --output DIR")
    found = Dataset.read(*paths, log_unit=log_unit)
    findings.tell_all(found.tables)
    nothing = not len(found.tables["runs"])
    if output is not None:
        kind = "parquet" if format_ is ReadFormat.parquet else "csv"
        written = dataset.write_tables(found.tables, output, kind)
        notes.print(f"{len(written)} tables in {output}")
    elif format_ is ReadFormat.json:
        print_json({name: schema.records(rows) for name, rows in found.tables.items()})
    elif format_ is ReadFormat.csv:
        print_table(found.tables[table])
    elif not nothing:
        print_overview(found)
    if nothing:
        raise typer.Exit(2)


def print_overview(found: Dataset) -> None:
    """A line a job: what it ran and what it got."""
    import pandas as pd

    from azbenchlib.analysis import overview
    from azbenchlib.core.units import format_count, format_mbps, format_size, format_us

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
