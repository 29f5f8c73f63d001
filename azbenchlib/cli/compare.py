"""The verb that compares: `azbench compare`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.console import notes, versioned, working
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically

if TYPE_CHECKING:
    from azbenchlib.analysis.compare import CompareTerms, ComparisonResult
    from azbenchlib.analysis.compare.words import ComparedRow

WORSE, UNDECIDED = 1, 3  # exit codes; 2 is the usage
_FILE_WIDTH = 160  # characters, where no terminal tells
_RIGHT = (1, 2, 3)  # columns of figures
_STYLES = {"worse": "bold red", "undecided": "yellow", "not worse": ""}


class CompareFormat(StrEnum):
    """What `azbench compare` prints."""

    text = "text"
    markdown = "markdown"
    json = "json"
    junit = "junit"


class Undecided(StrEnum):
    """What the exit code is where something is undecided."""

    fails = "fails"
    ok = "ok"


def compare(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD NEW",
            help="The baseline, then what is compared with it: datasets (name or folder), outputs, folders "
            "of outputs; /SETUP behind a dataset chooses one of its setups.",
        ),
    ],
    margin: Annotated[
        str | None, typer.Option(help="Shift to the worse that does not count; default 5%.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="iops, bw, p50, p99.9, …; repeatable. Default: the usual ones.")
    ] = None,
    confidence: Annotated[str, typer.Option(help="Of all answers together.")] = "99%",
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help='A condition of your own, such as "p99 > +10%"; repeatable.'),
    ] = None,
    undecided: Annotated[
        Undecided, typer.Option(help="Whether an undecided comparison has exit code 3 or 0.")
    ] = Undecided.fails,
    within_run: Annotated[
        bool, typer.Option("--within-run", help="Judge single runs too, as if runs did not differ.")
    ] = False,
    format_: Annotated[
        CompareFormat, typer.Option("--format", help="What to print or write.")
    ] = CompareFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: print.")
    ] = None,
) -> None:
    """Compare runs with a baseline: worse by more than a margin, not worse, or undecided.

    Exit codes: 0 not worse, 1 worse (or a condition holds), 3 undecided, 2 something that you can mend, such
    as a damaged output where the others are not worse. With --fail-if only the conditions count, unless
    --margin is given too.
    """
    terms = _terms(margin, metric or [], confidence, fail_if or [], within_run)
    from azbenchlib.analysis.compare import compare as compared
    from azbenchlib.dataset.compared import load_side

    if len(sides) < 2:
        raise InputError(
            f"'{sides[0]}' alone cannot be compared; name a baseline and what is compared with it"
        )
    with working("Reading"):
        opened = [load_side(name) for name in sides]
    for side in opened:
        findings.tell_of_files(side.tables)
    with working("Comparing"):
        found = compared(opened, terms)
    code = _exit_code(found, undecided) or findings.exit_code(side.tables for side in opened)
    if format_ is CompareFormat.text and output is None and sys.stdout.isatty():
        _print(found, Console(highlight=False))
    else:
        _hand_over(_document(found, format_, code), output)
    if code:
        raise typer.Exit(code)


def _terms(
    margin: str | None, metrics: list[str], confidence: str, rules: list[str], within_run: bool
) -> CompareTerms:
    from azbenchlib.analysis.compare import CompareTerms
    from azbenchlib.analysis.compare.comparison import DEFAULT_MARGIN
    from azbenchlib.analysis.compare.metrics import parse_metric
    from azbenchlib.analysis.compare.rules import parse_rule, parse_share

    return CompareTerms(
        margin=DEFAULT_MARGIN if margin is None else parse_share(margin, "--margin"),
        confidence=parse_share(confidence, "--confidence"),
        metrics=tuple(dict.fromkeys(map(parse_metric, metrics))),
        rules=tuple(dict.fromkeys(map(parse_rule, rules))),
        judges_margin=margin is not None or not rules,
        within_run=within_run,
    )


def _exit_code(found: ComparisonResult, undecided: Undecided) -> int:
    from azbenchlib.analysis.compare import Shift

    if found.result is Shift.WORSE:
        return WORSE
    return UNDECIDED if found.result is Shift.UNDECIDED and undecided is Undecided.fails else 0


def _document(found: ComparisonResult, format_: CompareFormat, code: int) -> bytes:
    from azbenchlib.analysis.compare.to_json import record
    from azbenchlib.analysis.compare.to_junit import junit
    from azbenchlib.analysis.compare.to_markdown import markdown

    forms: dict[CompareFormat, Callable[[], bytes]] = {
        CompareFormat.text: lambda: _as_text(found).encode(),
        CompareFormat.markdown: lambda: markdown(found).encode(),
        CompareFormat.json: lambda: f"{versioned(record(found, code))}\n".encode(),
        CompareFormat.junit: lambda: junit(found),
    }
    return forms[format_]()


def _hand_over(document: bytes, output: Path | None) -> None:
    """Print a document, or write it, whole or not at all, and say where."""
    if output is None:
        sys.stdout.write(document.decode())
        return
    notes.print(f"Comparison: {write_atomically(output, document)}")


def _as_text(found: ComparisonResult) -> str:
    console = Console(highlight=False, width=_FILE_WIDTH, no_color=True)
    with console.capture() as captured:
        _print(found, console)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _print(found: ComparisonResult, console: Console) -> None:
    from azbenchlib.analysis.compare import words

    console.print(Text(words.result_sentence(found), style="bold"))
    for pair in found.pairs:
        console.print()
        console.print(Text(f"old: {pair.a}\nnew: {pair.b}"))
        _print_figures(words.by_workload(pair), found.terms.judges_margin, console)
        for sentence in words.remarks(found, pair):
            console.print(Text(sentence))
    console.print(Text(words.method(found), style="dim"))


def _print_figures(figures: Mapping[str, Sequence[ComparedRow]], judged: bool, console: Console) -> None:
    """The workloads as lines of their own, and below each its figures, in columns of one width."""
    head = ("", "Old", "New", "Ratio", "Interval", "Answer")
    cells = {name: [_cells(row) for row in rows] for name, rows in figures.items()}
    every = [head, *(row for rows in cells.values() for row in rows)]
    widths = [max(cell_len(row[i]) for row in every) for i in range(len(head) - 1)]
    console.print(_table([head], widths, [""]))
    for name, rows in cells.items():
        console.print(Text(name, style="bold"))
        styles = [_STYLES[row.kind.value] if judged else "" for row in figures[name]]
        console.print(_table(rows, widths, styles))


def _cells(row: ComparedRow) -> tuple[str, ...]:
    return (f"  {row.metric}", row.a, row.b, row.ratio, row.interval, row.answer)


def _table(rows: Sequence[Sequence[str]], widths: Sequence[int], styles: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for i, width in enumerate(widths):
        table.add_column(justify="right" if i in _RIGHT else "left", no_wrap=True, width=width)
    table.add_column()
    for row, style in zip(rows, styles, strict=True):
        table.add_row(*map(Text, row[:-1]), Text(row[-1], style=style))
    return table
