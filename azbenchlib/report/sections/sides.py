"""Folders that were named side by side, compared with the first of them: the answer of `azbench compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azbenchlib.analysis.compare import ComparedSide, CompareTerms, compare
from azbenchlib.answers.blocks import Block
from azbenchlib.answers.comparison import Compared
from azbenchlib.answers.document import Document, Section
from azbenchlib.answers.document import Part as DocumentPart
from azbenchlib.answers.html import block
from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_MOST = 4  # sides that a page compares


def comparison(part: Part, place: str) -> Block | None:
    """Return the answer and a row a workload; None unless a few folders were named that measured the same."""
    sides = [
        ComparedSide(name=entry.name, tables=part.dataset.tables, setup=key)
        for key, entry in part.entries.items()
    ]
    if part.manifest.group_by is not GroupBy.folder or not 1 < len(sides) <= _MOST:
        return None
    try:
        answer = Compared(compare(sides, CompareTerms()), exit_code=0)
    except InputError:  # the first has no workload in common with another
        return None
    tables = [table for table in answer.document.tables() if table.columns[0].name == "workload"]
    headline = answer.document.headline
    title = f"{', '.join(side.name for side in sides[1:])} compared with {sides[0].name}"
    parts: list[DocumentPart] = [*([headline] if headline else []), *tables]
    return block(Document(None, [Section(title, parts)]), place=f"{place}-compared")
