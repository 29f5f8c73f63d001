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


def test_in_a_narrow_terminal_titles_take_two_lines_before_texts_do() -> None:
    columns = (
        TableColumn("base", "Bound by"),
        TableColumn("iops", "Most burst IOPS", AS_IOPS),
        TableColumn("burst", "Burst"),
    )
    rows = [TableRow(["VM cached MB/s, disk", 3500, "VM cached MB/s, burst"])]
    document = Document(None, [FigureTable(columns=columns, rows=rows)])
    assert terminal.text(document, 62).splitlines() == [
        "Bound by              Most burst IOPS  Burst",
        "VM cached MB/s, disk            3,500  VM cached MB/s, burst",
    ]
    assert terminal.text(document, 52).splitlines() == [
        "Bound by               Most  Burst",
        "                      burst",
        "                       IOPS",
        "VM cached MB/s, disk  3,500  VM cached MB/s, burst",
    ]
    shown = terminal.text(document, 40).splitlines()
    assert shown[-2:] == ["VM cached MB/s,  3,500  VM cached MB/s,", "disk                    burst"]


def test_words_stay_whole_as_long_as_they_can_and_those_of_the_first_column_longest() -> None:
    columns = (TableColumn("limit", "Limit"), TableColumn("valid", "Valid"), TableColumn("source", "Source"))
    cells = ["uncached_burst_bytes_per_s", "from 2024-08-01", "edsv4-series@1827cf35"]
    document = Document(None, [FigureTable(columns=columns, rows=[TableRow(cells)])])
    assert terminal.text(document, 61).splitlines()[1:] == [
        "uncached_burst_bytes_per_s  from        edsv4-series@1827cf35",
        "                            2024-08-01",
    ]
    assert terminal.text(document, 56).splitlines()[1:] == [
        "uncached_burst_bytes_per_s  from        edsv4-series@182",
        "                            2024-08-01  7cf35",
    ]


def test_where_texts_do_not_fit_figures_stay_whole() -> None:
    columns = [TableColumn(name, name) for name in ("host", "file", "why")] + [
        TableColumn(f"iops{n}", f"iops {n}", AS_IOPS) for n in range(4)
    ]
    cells = ["a-host-of-some-length", "a file of some length", "a reason", *[1_234_567.0] * 4]
    shown = terminal.text(Document(None, [FigureTable(columns=columns, rows=[TableRow(cells)])]), 66)
    assert shown.count("1,234,567") == 4 and max(map(len, shown.splitlines())) <= 66
