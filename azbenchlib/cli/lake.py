"""The verbs on a lake: `azbench collect` and `azbench query`."""

from __future__ import annotations

import os
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.cli.options.setup_options import OutputsArgument, PrintFormat, PrintOption
from azbenchlib.cli.printing.console import notes, print_json, print_table, say, working
from azbenchlib.cli.printing.log_windows import numbers
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import one_line

if TYPE_CHECKING:
    import pandas as pd


class TableFormat(StrEnum):
    """How a table is printed."""

    table = "table"
    csv = "csv"
    json = "json"


_ADDRESS = "a folder, or an address such as abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Let the workers of this Dask scheduler do it, such as tcp://host:8786.",
    ),
]


def collect(
    paths: OutputsArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="LAKE", help=f"The lake, which is made if needed: {_ADDRESS}."
        ),
    ],
    setup: Annotated[
        str | None,
        typer.Option(help="What to call the setup of outputs that state none. Datasets state theirs."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="How many processes read; default: one for each core.", min=1)
    ] = None,
    dask: DaskOption = None,
    log_unit: Annotated[
        str | None,
        typer.Option(help="Unit of latencies in fio logs without an output beside them: us or ns."),
    ] = None,
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Add outputs to a lake: Parquet files by day and setup, for `azbench query`.

    Each output is added once, by its content. Two collectors may work at the same time, and one that was
    ended is started again.
    """
    from azbenchlib.dataset.names import sorted_out

    sorted_out(paths)  # a wrong name is told before anything is loaded
    from azbenchlib.cli.printing import findings
    from azbenchlib.lake.lake import Lake

    with working("Collecting"):
        count = processes or os.cpu_count() or 1
        found = Lake(output).collect(*paths, processes=count, dask=dask, setup_id=setup, log_unit=log_unit)
    findings.tell(found.findings, with_info=not found.runs)
    if format_ is PrintFormat.json:
        counts = ("outputs", "runs", "telemetry_rows", "there_already")
        print_json({"lake": output, **{name: getattr(found, name) for name in counts}})
    else:
        telemetry = f" and {found.telemetry_rows:,} rows of telemetry" if found.telemetry_rows else ""
        say(
            f"{output}: {found.outputs:,} outputs with {found.runs:,} runs{telemetry} added, "
            f"{found.there_already:,} outputs were there already"
        )
    if not found.outputs and not found.there_already:
        raise typer.Exit(2)


def query(
    lake: Annotated[str, typer.Argument(help=f"The lake: {_ADDRESS}.")],
    select: Annotated[
        str | None,
        typer.Argument(
            help="A SELECT in SQL of DuckDB. Views: runs, results, latency, percentiles, bins, samples, …, "
            "and histograms, the bins that count each I/O once; day and setup_id in each."
        ),
    ] = None,
    percentiles: Annotated[
        str | None,
        typer.Option(help="Instead of a SELECT: percentiles of the merged histograms, such as 50,99,99.9."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="With --percentiles: columns of histograms and runs that are kept apart.")
    ] = "setup_id,ddir,lat_kind",
    dask: DaskOption = None,
    format_: Annotated[TableFormat, typer.Option("--format", help="What to print.")] = TableFormat.table,
) -> None:
    """Answer a question over all runs in a lake, with SQL or as latency percentiles.

    In a SELECT, percentiles_of('NAME', [50, 99]) merges the histograms of a view or of a WITH query that
    agree in all columns but bin_ns and n.
    """
    if (select is None) == (percentiles is None):
        raise InputError("give either a SELECT, or --percentiles such as 50,99")
    if select is not None and dask is not None:
        raise InputError(
            "--dask merges histograms, so it goes with --percentiles; a SELECT runs on this machine"
        )
    from azbenchlib.lake.lake import Lake

    with working("Reading"):
        if percentiles is None:
            found = Lake(lake).query(str(select))
        else:
            groups = [name.strip() for name in by.split(",") if name.strip()]
            found = Lake(lake).percentiles(groups, numbers(percentiles), dask=dask)
    _print(found, format_)


def _print(found: pd.DataFrame, form: TableFormat) -> None:
    from azbenchlib.core import schema

    if form is TableFormat.json:
        rows = [{name: _plain(value) for name, value in row.items()} for row in schema.records(found)]
        print_json({"columns": [str(name) for name in found.columns], "rows": rows})
    elif form is TableFormat.csv:
        print_table(found)
    else:
        _print_rows(found)
        if not len(found):
            notes.print("No row answers that.")


def _plain(value: Any) -> Any:
    """A value as JSON has it; days and the like as text."""
    if hasattr(value, "tolist"):  # an array of numpy
        return [_plain(one) for one in value.tolist()]
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    is_plain = value is None or isinstance(value, bool | int | str)
    return value if is_plain or (isinstance(value, float) and isfinite(value)) else str(value)


def _print_rows(found: pd.DataFrame) -> None:
    from pandas.api.types import is_numeric_dtype
    from rich.table import Table

    from azbenchlib.core import schema

    table = Table(box=None, pad_edge=False)
    for name, dtype in found.dtypes.items():
        table.add_column(str(name), justify="right" if is_numeric_dtype(dtype) else "left", overflow="fold")
    for row in schema.records(found):
        table.add_row(*("" if value is None else _shown(value) for value in row.values()))
    Console(highlight=False).print(table)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    return (
        f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool)
        else one_line(str(_plain(value)))
    )
