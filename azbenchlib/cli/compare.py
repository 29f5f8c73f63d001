"""The verb that compares: `azbench compare`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options.measuring_options import RequireOption, check_requirements
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import NamedFormat, OutputFormat, parser_of, show, write
from azbenchlib.cli.printing.console import notes, working
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.printable import plain

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.analysis.compare import ComparedSide, CompareTerms
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.answers.requirements import WithRequirements


class CompareFormat(NamedFormat):
    """What `azbench compare` prints: what every verb does, and test cases."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
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
        str | None, typer.Option(help="Change that does not count, either way; default 5%.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="iops, bw, p50, p99.9, …; repeatable. Default: the usual ones.")
    ] = None,
    confidence: Annotated[str, typer.Option(help="Of all answers worse and better, together.")] = "99%",
    fail_if: Annotated[
        list[str] | None,
        typer.Option(help='A condition of your own, such as "p99 > +10%"; repeatable.'),
    ] = None,
    require: RequireOption = None,
    undecided: Annotated[
        Undecided, typer.Option(help="Whether an undecided comparison has exit code 3 or 0.")
    ] = Undecided.fails,
    within_run: Annotated[
        bool, typer.Option("--within-run", help="Judge single runs too, as if runs did not differ.")
    ] = False,
    format_: Annotated[
        CompareFormat,
        typer.Option(
            "--format",
            parser=parser_of(CompareFormat),
            metavar=f"[{'|'.join(CompareFormat)}]",
            help="What to print or write; markdown is another word for md.",
        ),
    ] = CompareFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: print.")
    ] = None,
) -> None:
    """Compare runs with a baseline: worse or better by more than a margin, not worse, or undecided.

    Exit codes: 0 nothing worse or undecided, 1 worse (or a condition holds), 3 nothing worse but something
    undecided, 2 something that you can mend, such as a damaged output where the others are not worse. With
    --fail-if only the conditions count, unless --margin is given too. With --require it is also 1 if what is
    compared with the baseline does not meet a requirement, 3 if a figure was not measured.
    """
    check_requirements(require)
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
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.answers.requirements import RequirementsAnswer, WithRequirements

    code = 0 if found.is_undecided and undecided is Undecided.ok else Compared(found).exit_code
    required = RequirementsAnswer.of(list(map(_chosen, opened[1:])), require or [])
    code = 1 if 1 in (code, required.exit_code) else code or required.exit_code
    code = code or findings.exit_code(side.tables for side in opened)
    answer = Compared(found, code)
    _hand_over(WithRequirements(answer, required) if require else answer, format_, output)
    if code:
        raise typer.Exit(code)


def _chosen(side: ComparedSide) -> Mapping[str, pd.DataFrame]:
    """The tables of a side, of its setup where one is chosen."""
    from azbenchlib.dataset.chosen import of_setups

    return of_setups(dict(side.tables), [side.setup] if side.setup else [], side.name)


def _terms(
    margin: str | None, metrics: list[str], confidence: str, rules: list[str], within_run: bool
) -> CompareTerms:
    from azbenchlib.analysis.compare import CompareTerms
    from azbenchlib.analysis.compare.metrics import parse_metric
    from azbenchlib.analysis.compare.rules import parse_rule, parse_share
    from azbenchlib.analysis.compare.terms import DEFAULT_MARGIN

    return CompareTerms(
        margin=DEFAULT_MARGIN if margin is None else parse_share(margin, "--margin"),
        confidence=parse_share(confidence, "--confidence"),
        metrics=tuple(dict.fromkeys(map(parse_metric, metrics))),
        rules=tuple(dict.fromkeys(map(parse_rule, rules))),
        judges_margin=margin is not None or not rules,
        within_run=within_run,
    )


def _hand_over(answer: Compared | WithRequirements, format_: CompareFormat, output: Path | None) -> None:
    """Print an answer, or write it, whole or not at all, and say where."""
    if format_ is CompareFormat.junit:
        from azbenchlib.analysis.compare.to_junit import junit

        document = junit(answer.result)
        if output is None:
            sys.stdout.write(document.decode())
        else:
            notes.print(f"Comparison: {write_atomically(output, document)}")
    elif output is not None:
        write(answer, OutputFormat(format_), output, "Comparison")
    elif format_ is CompareFormat.text and not sys.stdout.isatty():
        sys.stdout.write(plain(answer.to_text()))  # as wide as its rows are
    else:
        show(answer, OutputFormat(format_))
