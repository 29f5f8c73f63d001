"""The verbs on a lake: `azbench collect` and `azbench query`."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from azbenchlib.cli.options.measuring_options import DaskOption, LogUnitOption, PercentilesOption
from azbenchlib.cli.options.setup_options import OutputsArgument, PrintFormat, PrintOption
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show, show_rows
from azbenchlib.cli.printing.console import print_json, say, working
from azbenchlib.cli.printing.log_windows import numbers
from azbenchlib.core.errors import InputError

_ADDRESS = "a folder, or an address such as abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"


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
    log_unit: LogUnitOption = None,
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
    percentiles: PercentilesOption[str | None] = None,
    by: Annotated[
        str, typer.Option(help="With --percentiles: columns of histograms and runs that are kept apart.")
    ] = "setup_id,ddir,lat_kind",
    dask: DaskOption = None,
    format_: FormatOption = OutputFormat.text,
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
    from azbenchlib.answers.query import QueryAnswer
    from azbenchlib.lake.lake import Lake

    with working("Reading"):
        if percentiles is None:
            found = Lake(lake).query(str(select))
        else:
            groups = [name.strip() for name in by.split(",") if name.strip()]
            found = Lake(lake).percentiles(groups, numbers(percentiles), dask=dask)
    answer = QueryAnswer(found)
    if format_ in (OutputFormat.text, OutputFormat.md):
        show_rows(answer.document, format_)
    else:
        show(answer, format_)
