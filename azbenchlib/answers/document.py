"""The document of an answer: what it says, in the order in which a reader needs it, free of any surface.

A topic writes its wording once, here, as sentences with figures in them; :mod:`.terminal`, :mod:`.html` and
:mod:`.markdown` show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.figures import NOT_KNOWN, Figure, FigureUnit
from azbenchlib.core.units import bare_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TEXT_WIDTH = 100  # characters of a line where no terminal tells


class Tone(StrEnum):
    """How much weight a reader gives to what is said."""

    PLAIN = "plain"
    STRONG = "strong"
    SURE = "sure"
    PROBABLE = "probable"
    OPEN = "open"
    DOUBT = "doubt"
    BAD = "bad"
    FAINT = "faint"


@dataclass(frozen=True)
class Sentence:
    """Words with figures in them.

    Parameters
    ----------
    template : str
        As :meth:`str.format` takes it where there are figures; as it is where there are none.
    figures : mapping of str to Figure or str
        By the names in the template.
    tone : Tone
    """

    template: str
    figures: Mapping[str, Figure | str] = field(default_factory=dict)
    tone: Tone = Tone.PLAIN

    @property
    def text(self) -> str:
        """The words as a reader sees them."""
        return self.template.format_map(self.figures) if self.figures else self.template


def span(low: Figure, high: Figure) -> Sentence:
    """Return ``1.5 to 3 ms``, or one figure where both read the same."""
    if str(low) == str(high):
        return Sentence("{lowest}", {"lowest": low})
    first = replace(low, text=bare_first(str(low), str(high)))
    return Sentence("{lowest} to {highest}", {"lowest": first, "highest": high})


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for."""

    rows: Sequence[tuple[str, Figure | str]]
    title: str = ""


@dataclass(frozen=True)
class Bar:
    """One share of a limit: the bar, and what it is a share of."""

    name: str
    share: Figure
    of: Figure
    binds: bool = False


@dataclass(frozen=True)
class Bars:
    """Shares of limits below each other."""

    bars: Sequence[Bar]


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Parameters
    ----------
    name : str
        In frames and CSV.
    title : str
        For readers.
    unit : FigureUnit, optional
        None: text, at the left.
    """

    name: str
    title: str
    unit: FigureUnit | None = None

    def text(self, value: Any) -> str:
        """Return a cell as a reader sees it: a unit stands in its heading, or in the cell."""
        if isinstance(value, Figure | Sentence):
            return str(value) if isinstance(value, Figure) else value.text
        if self.unit is None:
            return "" if value is None else str(value)
        return NOT_KNOWN if value is None else self.unit.form(value)


@dataclass(frozen=True)
class TableRow:
    """A row: a cell a column (a value in the base unit, a text, a figure or a sentence), below its group."""

    cells: Sequence[Any]
    group: str = ""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, kw_only=True)
class FigureTable:
    """A table; where the group of rows changes, it is a heading of its own.

    Parameters
    ----------
    columns : sequence of TableColumn
    rows : sequence of TableRow
    title, note : str
        What stands above and below it.
    name : str
        Of the file that a page downloads it as, and of its place there.
    """

    columns: Sequence[TableColumn]
    rows: Sequence[TableRow]
    title: str = ""
    note: str = ""
    name: str = ""


@dataclass(frozen=True)
class Listing:
    """Sentences below a title, such as assumptions or next steps."""

    title: str
    sentences: Sequence[Sentence]


@dataclass(frozen=True)
class CodeBlock:
    """What is to be copied as it is, such as a job of fio."""

    text: str
    title: str = ""
    language: str = ""


@dataclass(frozen=True)
class Drawing:
    """A figure where a surface can draw: a function that draws on Axes, and what it shows in words."""

    draw: Callable[[Axes], None]
    words: str


@dataclass(frozen=True)
class Section:
    """Parts below a title, with what stands beside the title."""

    title: str
    parts: Sequence[Part]
    beside: str = ""


Part = Sentence | Facts | Bars | FigureTable | Listing | CodeBlock | Drawing | Section


@dataclass(frozen=True)
class Document:
    """An answer for readers: what it comes to, then what it rests on.

    Parameters
    ----------
    headline : Sentence, optional
        None: the parts speak for themselves.
    parts : sequence of Part
    """

    headline: Sentence | None
    parts: Sequence[Part] = ()

    def walk(self) -> Iterator[Part]:
        """Yield the headline and all parts, those of sections too, in their order."""
        yield from [self.headline] if self.headline else []
        yield from _walk(self.parts)

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield every figure with the name that it has here, behind the titles of its sections."""
        yield from _named([self.headline] if self.headline else [], "")
        yield from _named(self.parts, "")

    def tables(self) -> list[FigureTable]:
        """Return the tables in their order."""
        return [part for part in self.walk() if isinstance(part, FigureTable)]


def _walk(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, Section):
            yield from _walk(part.parts)


def _named(parts: Sequence[Part], before: str) -> Iterator[tuple[str, Figure]]:
    for part in parts:
        if isinstance(part, Section):
            yield from _named(part.parts, f"{before}{part.title}: ")
        else:
            yield from ((f"{before}{name}", figure) for name, figure in _figures(part))


def _figures(part: Part) -> Iterator[tuple[str, Figure]]:
    if isinstance(part, Sentence):
        named = list(part.figures.items())
    elif isinstance(part, Facts):
        named = list(part.rows)
    elif isinstance(part, Bars):
        named = [
            pair for bar in part.bars for pair in ((f"share of {bar.name}", bar.share), (bar.name, bar.of))
        ]
    elif isinstance(part, FigureTable):
        named = [pair for row in part.rows for pair in _cells(part.columns, row)]
    elif isinstance(part, Listing):
        named = [pair for sentence in part.sentences for pair in sentence.figures.items()]
    else:
        return
    yield from ((name, value) for name, value in named if isinstance(value, Figure))


def _cells(columns: Sequence[TableColumn], row: TableRow) -> Iterator[tuple[str, Any]]:
    about = ", ".join(str(cell) for cell in (row.group, row.cells[0] if row.cells else "") if cell)
    for column, cell in zip(columns, row.cells, strict=True):
        name = f"{about}: {column.title}"
        if isinstance(cell, Sentence):
            inside = cell.figures.items()
            yield from (
                (about if inner == about else f"{about}: {inner}", figure) for inner, figure in inside
            )
        elif isinstance(cell, Figure):
            yield name, cell
        elif column.unit is not None and cell is not None:
            yield name, Figure(cell, column.unit)
