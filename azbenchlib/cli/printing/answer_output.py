"""One way in which every verb hands over its answer: `--format` and, where there is one, `--output`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self, TypeVar

import typer

from azbenchlib.cli.printing.console import notes, print_json, print_rows, print_table, versioned
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.printable import cells, plain

if TYPE_CHECKING:
    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.document import Document

Format = TypeVar("Format", bound=StrEnum)
_WIDEST = 10_000  # characters of a line that no terminal shows
_OTHER_NAMES = {"table": "text", "markdown": "md"}


class NamedFormat(StrEnum):
    """A format, which has the names that verbs had for it before, too."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        name = _OTHER_NAMES.get(str(value))
        return None if name is None else cls(name)


class OutputFormat(NamedFormat):
    """What every verb that answers can print."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"


def parser_of(formats: type[Format]) -> Callable[[str], Format]:
    """Return what makes a format of a word, and refuses what is none with a sentence."""

    def parsed(text: str) -> Format:
        try:
            return formats(text)
        except ValueError:
            raise InputError(f"--format '{text}' is not one of: {', '.join(formats)}") from None

    return parsed


FormatOption = Annotated[
    OutputFormat,
    typer.Option(
        "--format",
        parser=parser_of(OutputFormat),
        metavar=f"[{'|'.join(OutputFormat)}]",
        help="What to print; table is another word for text, markdown for md.",
    ),
]


def show(answer: Answer, format_: OutputFormat) -> None:
    """Print an answer."""
    if format_ is OutputFormat.json:
        print_json(plain(answer.to_dict()))
    elif format_ is OutputFormat.csv:
        rows = answer.csv_rows()
        print_rows(*rows) if rows else print_table(answer.to_frame())
    elif format_ is OutputFormat.md:
        sys.stdout.write(answer.to_markdown())
    else:
        _print(answer.document)


def show_rows(document: Document, format_: NamedFormat) -> None:
    """Print a document whose rows may be many, as text or Markdown; each is a line where no terminal is."""
    if format_ == OutputFormat.md:
        from azbenchlib.answers.markdown import markdown

        sys.stdout.write(markdown(document) if document.parts else "")
    elif sys.stdout.isatty():
        _print(document)
    else:
        from azbenchlib.answers import terminal

        sys.stdout.write(plain(terminal.text(document, _WIDEST)))


def write(answer: Answer, format_: OutputFormat, path: Path, what: str) -> None:
    """Write an answer to a file, whole or not at all, and say where."""
    texts = {
        OutputFormat.text: lambda: answer.to_text(),
        OutputFormat.md: lambda: answer.to_markdown(),
        OutputFormat.csv: lambda: cells(answer.to_frame()).to_csv(index=False),
        OutputFormat.json: lambda: f"{versioned(plain(answer.to_dict()))}\n",
    }
    notes.print(f"{what}: {write_atomically(path, texts[format_]().encode())}")


def _print(document: Document) -> None:
    from azbenchlib.answers import terminal
    from azbenchlib.cli.printing.rich_console import Console

    console = Console(highlight=False)
    terminal.print_on(console, document)
