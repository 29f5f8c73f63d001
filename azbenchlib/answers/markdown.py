"""A document as Markdown, for issues, wikis and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import groupby

from azbenchlib.answers.document import (
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

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~@&])")  # those that begin something in GitHub's Markdown
_FENCE = re.compile(r"`{3,}")
_TOP = 2  # level of the headings of sections; the page around them has the first


def markdown(document: Document) -> str:
    """Return the document; what is foreign in it is escaped, so that it neither formats nor links."""
    lines = [f"**{_escaped(document.headline.text)}**"] if document.headline else []
    blocks = [*lines, *_blocks(document.parts, _TOP)]
    return "\n\n".join(blocks) + "\n"


def _blocks(parts: Sequence[Part], level: int) -> Iterator[str]:
    for part in parts:
        yield from _written(part, level)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", printable(text)).replace("\n", " ").replace("://", r":\//")


@singledispatch
def _written(part: object, level: int) -> Iterator[str]:
    raise TypeError(f"no part of a document: {type(part).__name__}")


@_written.register
def _(part: Sentence, level: int) -> Iterator[str]:
    words = _escaped(part.text)
    yield f"**{words}**" if part.tone is Tone.STRONG else words


@_written.register
def _(part: Drawing, level: int) -> Iterator[str]:
    yield from ()


@_written.register
def _(part: Section, level: int) -> Iterator[str]:
    beside = f" ({_escaped(part.beside)})" if part.beside else ""
    yield f"{'#' * level} {_escaped(part.title)}{beside}"
    yield from _blocks(part.parts, level + 1)


@_written.register
def _(part: CodeBlock, level: int) -> Iterator[str]:
    if part.title:
        yield f"**{_escaped(part.title)}**"
    longest = max((len(fence) for fence in _FENCE.findall(part.text)), default=2)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{part.language}\n{printable(part.text).rstrip()}\n{fence}"


@_written.register
def _(part: Facts, level: int) -> Iterator[str]:
    if part.title:
        yield f"**{_escaped(part.title)}**"
    yield "\n".join(f"- {_escaped(name)}: {_escaped(str(value))}" for name, value in part.rows)


@_written.register
def _(part: Bars, level: int) -> Iterator[str]:
    rows = [
        (_escaped(bar.name), f"{'**' * bar.binds}{bar.share}{'**' * bar.binds}", _escaped(str(bar.of)))
        for bar in part.bars
    ]
    yield _table(("Limit", "Used", "Of"), "-rr", rows)


@_written.register
def _(part: Listing, level: int) -> Iterator[str]:
    if part.title:
        yield f"**{_escaped(part.title)}**"
    yield "\n".join(f"- {_escaped(sentence.text)}" for sentence in part.sentences)


@_written.register
def _(part: FigureTable, level: int) -> Iterator[str]:
    if part.title:
        yield f"**{_escaped(part.title)}**"
    titles = [_escaped(column.title) for column in part.columns]
    sides = "".join("r" if column.unit else "-" for column in part.columns)
    for group, rows in groupby(part.rows, key=lambda row: row.group):
        if group:
            yield f"*{_escaped(group)}*"
        cells = [
            [_escaped(column.text(cell)) for column, cell in zip(part.columns, row.cells, strict=True)]
            for row in rows
        ]
        yield _table(titles, sides, cells)
    if part.note:
        yield _escaped(part.note)


def _table(titles: Sequence[str], sides: str, rows: Sequence[Sequence[str]]) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, rule, *rows))
