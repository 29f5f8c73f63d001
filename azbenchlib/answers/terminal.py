"""A document in a terminal, or as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from io import StringIO
from itertools import groupby
from typing import TypeGuard

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from azbenchlib.answers.document import (
    TEXT_WIDTH,
    Bars,
    CodeBlock,
    Document,
    Drawing,
    Facts,
    FigureTable,
    Listing,
    Part,
    Section,
    Sentence,
    Tone,
)
from azbenchlib.core.printable import printable

_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.SURE: "green",
    Tone.PROBABLE: "cyan",
    Tone.OPEN: "magenta",
    Tone.DOUBT: "yellow",
    Tone.BAD: "bold red",
    Tone.FAINT: "dim",
}
_LONGEST_BAR, _SHORTEST_BAR = 30, 8  # characters
_BESIDE_BARS = 60  # characters that the names and figures take
_BETWEEN, _SHORTEST_TEXT = 2, 12  # characters between columns of a table, and of its texts
_SHORTEST_WORD = 5  # characters of a text that leaves figures whole
_FULL = 1.2  # a bar is as long as this share


def shown(document: Document, width: int) -> Iterator[RenderableType]:
    """Yield what rich prints of a document, part by part."""
    if document.headline:
        yield _sentence(document.headline, default="bold")
    for place, renderable in enumerate(_parts(document.parts, width)):
        is_first = not place and not document.headline
        # a title has an empty line above it, but not where nothing is above it
        yield renderable[1:] if is_first and _begins_with_empty_line(renderable) else renderable


def print_on(console: Console, document: Document) -> None:
    """Print a document: what is to be copied is neither wrapped nor cut."""
    for renderable in shown(document, console.width):
        is_whole = isinstance(renderable, Text) and bool(renderable.no_wrap)
        console.print(renderable, soft_wrap=is_whole, crop=not isinstance(renderable, Group))


def text(document: Document, width: int = TEXT_WIDTH) -> str:
    """Return the document as plain text of at most so many characters a line, where tables fit it."""
    written = StringIO()
    console = Console(
        file=written,
        width=width,
        color_system=None,
        force_terminal=False,  # whatever FORCE_COLOR says, which kernels set
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,  # in a kernel, rich would show each part in the cell and write nothing
    )
    print_on(console, document)
    return "".join(f"{printable(line).rstrip()}\n" for line in written.getvalue().splitlines())


def _begins_with_empty_line(renderable: RenderableType) -> TypeGuard[Text]:
    return isinstance(renderable, Text) and renderable.plain.startswith("\n")


def _parts(parts: Sequence[Part], width: int) -> Iterator[RenderableType]:
    for part in parts:
        yield from _shown(part, width)


@singledispatch
def _shown(part: object, width: int) -> Iterator[RenderableType]:
    raise TypeError(f"no part of a document: {type(part).__name__}")


@_shown.register
def _(part: Sentence, width: int) -> Iterator[RenderableType]:
    yield _sentence(part)


@_shown.register
def _(part: Drawing, width: int) -> Iterator[RenderableType]:
    yield from ()


@_shown.register
def _(part: CodeBlock, width: int) -> Iterator[RenderableType]:
    if part.title:
        yield Text(f"\n{part.title}", style="bold")
    yield Text("")
    # in a group, for a console joins bare texts to one that wraps
    yield Group(Text(part.text.rstrip(), no_wrap=True, overflow="ignore"))


@_shown.register
def _(part: Section, width: int) -> Iterator[RenderableType]:
    title = Text(f"\n{part.title}", style="bold")
    yield title.append(f"  {part.beside}" if part.beside else "", style="not bold")
    for inner in part.parts:
        for renderable in _shown(inner, width - 2):
            yield renderable if isinstance(inner, CodeBlock) else Padding(renderable, (0, 0, 0, 2))


@_shown.register
def _(part: Facts, width: int) -> Iterator[RenderableType]:
    if part.title:
        yield Text(f"\n{part.title}", style="bold")
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(overflow="fold")
    for name, value in part.rows:
        grid.add_row(Text(name, style="dim"), Text(str(value)))
    yield grid


@_shown.register
def _(part: Bars, width: int) -> Iterator[RenderableType]:
    grid = Grid.grid(padding=(0, 1))
    for justify in ("left", "left", "right", "left"):
        grid.add_column(justify=justify, no_wrap=True)
    most = max(_SHORTEST_BAR, min(_LONGEST_BAR, width - _BESIDE_BARS))
    for bar in part.bars:
        share = float(bar.share.value or 0)
        length = max(1, round(most * min(share, _FULL) / _FULL))
        drawn = Text("█" * length, style="red" if bar.binds else "dim")
        drawn.append("░" * (round(most / _FULL) - length), style="dim")
        grid.add_row(Text(bar.name), drawn, Text(str(bar.share)), Text(f"of {bar.of}"))
    yield grid


@_shown.register
def _(part: Listing, width: int) -> Iterator[RenderableType]:
    if part.title:
        yield Text(f"\n{part.title}", style="bold")
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(overflow="fold")
    for sentence in part.sentences:
        grid.add_row(Text("·", style="dim"), _sentence(sentence))
    yield Padding(grid, (0, 0, 0, 2))


@_shown.register
def _(part: FigureTable, width: int) -> Iterator[RenderableType]:
    """The groups are lines of their own; all have columns of one width, and the last one takes the rest."""
    if part.title:
        yield Text(f"\n{part.title}", style="bold")
    indent = "  " if any(row.group for row in part.rows) else ""
    titles = tuple(column.title for column in part.columns)
    cells = [
        tuple(column.text(cell) for column, cell in zip(part.columns, row.cells, strict=True))
        for row in part.rows
    ]
    lines = [(f"{indent}{first}", *rest) for first, *rest in cells]
    widths = _widths(titles, lines, [column.unit is None for column in part.columns], width)
    yield _grid(part, [(titles, Tone.STRONG)], widths)
    rows = zip(part.rows, lines, strict=True)
    for group, members in groupby(rows, key=lambda pair: pair[0].group):
        if group:
            yield Text(group, style="bold")
        yield _grid(part, [(line, row.tone) for row, line in members], widths)
    if part.note:
        yield Text(part.note, style="dim")


def _widths(
    titles: Sequence[str], lines: Sequence[Sequence[str]], are_texts: Sequence[bool], width: int
) -> list[int]:
    """Return the widths of columns. Where they do not fit, titles fold, then the widest texts, between words
    as long as that is enough.
    """
    columns = list(zip(titles, *lines, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    if _excess(widths, width) <= 0:
        return widths
    widths = [max(map(cell_len, (*title.split(), *cells))) for title, *cells in columns]
    words = [
        max((cell_len(word) for cell in column for word in cell.split()), default=0) for column in columns
    ]
    _narrow(widths, words, [i for i, is_text in enumerate(are_texts) if is_text], width)
    # the first column names the row, so its words are the last that fold
    later = [i for i, is_text in enumerate(are_texts) if is_text and i]
    for least in (_SHORTEST_TEXT, _SHORTEST_WORD):
        for texts in (later, [0] if are_texts[0] else []):
            _narrow(widths, [least] * len(widths), texts, width)
    return widths


def _narrow(widths: list[int], least: Sequence[int], columns: Sequence[int], width: int) -> None:
    """Take what does not fit from the widest of some columns, each time anew."""
    for _ in range(_excess(widths, width)):
        wide = [i for i in columns if widths[i] > least[i]]
        if not wide:
            return
        widths[max(wide, key=lambda i: widths[i])] -= 1


def _excess(widths: Sequence[int], width: int) -> int:
    return sum(widths) + _BETWEEN * (len(widths) - 1) - width


def _grid(part: FigureTable, lines: Sequence[tuple[Sequence[str], Tone]], widths: Sequence[int]) -> Grid:
    grid = Grid(box=None, pad_edge=False, show_header=False)
    *before, last = widths
    for column, width in zip(part.columns, before, strict=False):
        grid.add_column(justify="right" if column.unit else "left", width=width, overflow="fold")
    grid.add_column(
        justify="right" if part.columns[-1].unit else "left",
        overflow="fold",
        min_width=last if part.columns[-1].unit else None,
    )
    for line, tone in lines:
        grid.add_row(*(Text(cell, style=_STYLES[tone]) for cell in line))
    return grid


def _sentence(sentence: Sentence, default: str = "") -> Text:
    sign = "! " if sentence.tone is Tone.DOUBT else ""
    return Text(f"{sign}{sentence.text}", style=_STYLES[sentence.tone] or default)
