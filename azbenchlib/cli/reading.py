"""The verb that reads: `azbench read`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options.setup_options import OutputsArgument
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.console import notes, print_json, print_table, working
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset


_MOST_LOOKED_AT = 500  # runs, of which it takes no time to tell what they look like


class ReadFormat(StrEnum):
    """What `azbench read` prints."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def read(
    paths: OutputsArgument,
    format_: Annotated[
        ReadFormat, typer.Option("--format", help="What to print or write.")
    ] = ReadFormat.table,
    table: Annotated[str, typer.Option(help="Which table --format csv prints.")] = "results",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for one file a table (csv, parquet).")
    ] = None,
    wide: Annotated[
        bool,
        typer.Option(
            "--wide",
            help="One row a run and direction, with its file, setup, rates and percentiles to p99.9.",
        ),
    ] = False,
    log_unit: Annotated[
        str | None,
        typer.Option(help="Unit of latencies in fio logs without an output beside them: us or ns."),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Read latency logs of any length: a row a window of this length, such as 1s, and direction. "
            "t_s is the begin of the window; jobs are taken together."
        ),
    ] = None,
    percentiles: Annotated[
        str, typer.Option(help="With --window: the percentiles of each window.")
    ] = "50,95,99,99.9",
) -> None:
    """Read benchmark outputs into tables. JSON is one object: table name to a list of records.

    The exit code is 2 if a file is damaged and gives no run; each is named with the reason, and what
    could be read is printed or written.
    """
    if window is not None:
        if output is not None or wide or format_ is ReadFormat.parquet:
            raise InputError(
                "--window prints one table, as table, csv or json; leave out --output and --wide"
            )
        from azbenchlib.cli.printing import log_windows

        log_windows.show(paths, window, percentiles, log_unit, format_)
    else:
        _read_tables(paths, format_, table, output, wide, log_unit)


def _read_tables(
    paths: Sequence[str],
    format_: ReadFormat,
    table: str,
    output: Path | None,
    wide: bool,
    log_unit: str | None,
) -> None:
    from azbenchlib.dataset.names import check_names

    check_names(paths)  # a wrong name is told before anything is loaded
    from azbenchlib.core import schema

    if table not in schema.TABLES:
        raise InputError(f"--table: no table '{table}'; there are: {', '.join(schema.TABLES)}")
    if format_ is ReadFormat.parquet and output is None:
        raise InputError("--format parquet needs a folder: add --output DIR")
    if wide and format_ not in (ReadFormat.table, ReadFormat.csv):
        raise InputError(f"--wide prints one table, as table or csv, not {format_}")
    from azbenchlib.analysis.summary import overview
    from azbenchlib.dataset import dataset
    from azbenchlib.dataset.dataset import Dataset

    # a line a run of the overview may be merged from bins; a table is printed as it is
    all_of_it = wide or output is not None or format_ is not ReadFormat.csv
    with working("Reading"):
        found = Dataset.read(*paths, log_unit=log_unit, bins=all_of_it or table == "bins")
    findings.tell_all(found.tables)
    incomplete = findings.is_nothing(found.tables) or findings.exit_code([found.tables])
    if wide and format_ is ReadFormat.csv and output is None:
        print_table(overview(found.tables))
    elif output is not None:
        kind = "parquet" if format_ is ReadFormat.parquet else "csv"
        written = dataset.write_tables(found.tables, output, kind)
        notes.print(f"{len(written)} tables in {output}")
    elif format_ is ReadFormat.json:
        print_json(schema.plain(found.tables))
    elif format_ is ReadFormat.csv:
        print_table(found.tables[table])
    else:
        _show(found, wide)
    if incomplete:
        raise typer.Exit(2)


def _tell_of_setups(found: Dataset) -> None:
    """Where no setup is stated: what the rates look like, and what names the limit."""
    runs = found.tables["runs"]
    if len(runs) > _MOST_LOOKED_AT:
        return
    from azbenchlib.verdict.run_verdicts import looks

    likely = looks(found.tables)
    if likely is not None:
        like = f" The rates look like {likely[0]}." if len(likely) == 1 else ""
        notes.print(
            f"No setup is stated.{like} Add --vm and --disk to azbench verdict to learn which limit binds."
        )


def _show(found: Dataset, wide: bool) -> None:
    """What was read, for people."""
    from azbenchlib.cli.printing.read_view import print_overview, print_telemetry

    if len(found.tables["runs"]):
        print_overview(found, wide)
        _tell_of_setups(found)
    if len(found.tables["demand"]):
        print_telemetry(found)
