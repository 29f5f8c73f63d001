"""What is to be copied from a terminal is whole at any width, and a title at the top has nothing above it."""

import pytest

from azbenchlib.answers import terminal
from azbenchlib.answers.document import (
    CodeBlock,
    Document,
    FigureTable,
    Section,
    Sentence,
    TableColumn,
    TableRow,
)
from azbenchlib.answers.figures import AS_IOPS

JOB = f"[global]\nfilename={'x' * 150}\nname=a b c d e f g h i j k l m n o p"


@pytest.mark.parametrize("width", [20, 80])
def test_code_is_neither_wrapped_nor_cut(width: int) -> None:
    document = Document(None, [Section("Next", [Sentence("Run this."), CodeBlock(JOB)])])
    shown = terminal.text(document, width)
    assert shown.startswith("Next\n") and shown.endswith(f"\n\n{JOB}\n")


def test_a_title_below_something_has_an_empty_line_above_it() -> None:
    parts = [Section("First", [Sentence("a")]), Section("Second", [Sentence("b")])]
    assert terminal.text(Document(None, parts)) == "First\n  a\n\nSecond\n  b\n"
    assert terminal.text(Document(Sentence("All"), parts[:1])) == "All\n\nFirst\n  a\n"


def test_where_texts_do_not_fit_figures_stay_whole() -> None:
    columns = [TableColumn(name, name) for name in ("host", "file", "why")] + [
        TableColumn(f"iops{n}", f"iops {n}", AS_IOPS) for n in range(4)
    ]
    cells = ["a-host-of-some-length", "a file of some length", "a reason", *[1_234_567.0] * 4]
    shown = terminal.text(Document(None, [FigureTable(columns, [TableRow(cells)])]), 66)
    assert shown.count("1,234,567") == 4 and max(map(len, shown.splitlines())) <= 66
