"""The verb that reads: `azbench read`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli.options.measuring_options import LogUnitOption, PercentilesOption
from azbenchlib.cli.options.setup_options import OutputsArgument
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import NamedFormat, parser_of, show_rows
from azbenchlib.cli.printing.console import notes, print_json, print_table, working
from azbenchlib.core.errors import InputError


class ReadFormat(NamedFormat):
    """What `azbench read` prints or writes: what every verb does, and Parquet."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
    parquet = "parquet"


def read(
    paths: OutputsArgument,
    format_: Annotated[
        ReadFormat,
        typer.Option(
            "--format",
            parser=parser_of(ReadFormat),
            metavar=f"[{'|'.join(ReadFormat)}]",
            help="What to print or write; table is another word for text, markdown for md.",
        ),
    ] = ReadFormat.text,
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
    log_unit: LogUnitOption = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Read latency logs of any length: a row a window of this length, such as 1s, and direction. "
            "t_s is the begin of the window; jobs are taken together."
        ),
    ] = None,
    percentiles: PercentilesOption[str] = "50,95,99,99.9",
) -> None:
    """Read benchmark outputs into tables. JSON is one object: table name to a list of records.

    The exit code is 2 if a file is damaged and gives no run; each is named with the reason, and what
    could be read is printed or written.
    """
    if window is not None:
        if output is not None or wide or format_ is ReadFormat.parquet:
            raise InputError(
                "--window prints one table, as text, json, csv or md; leave out --output and --wide"
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
    if wide and format_ in (ReadFormat.json, ReadFormat.parquet):
        raise InputError(f"--wide prints one table, as text, csv or md, not {format_}")
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
        from azbenchlib.answers.reading import overview_document

        show_rows(overview_document(found, wide), format_)
    if incomplete:
        raise typer.Exit(2)
