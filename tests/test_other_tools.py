"""docs/other-tools.md and the program that writes its table: the same questions, answers that still hold."""

import shutil
import sys
from pathlib import Path

import other_tools
import page_part
import performance
import pytest


def page_rows() -> list[list[str]]:
    """The cells of the table of the page."""
    lines = page_part.read(other_tools.PAGE, other_tools.PROGRAM).splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]


@pytest.mark.fio
@pytest.mark.long  # each question of the page is answered anew
def test_the_page_has_the_questions_of_the_program_and_answers_that_hold(tmp_path: Path) -> None:
    if not performance.FIO_TOOLS.is_dir():
        pytest.skip("fio's own tools are not on this machine")
    programs = other_tools.Programs(sys.executable, "fio-plot is not run here", tmp_path)
    tasks = list(other_tools.tasks(programs, tmp_path))
    header, _, *rows = page_rows()
    assert header == list(other_tools.COLUMNS)
    asked = [(task.what, f"`{task.program}`") for task in tasks]
    if not shutil.which("fio_jsonplus_clat2csv"):
        rows = [row for row in rows if row[2] != "`fio_jsonplus_clat2csv`"]
    assert [(row[0], row[2]) for row in rows] == asked
    for task, row in zip(tasks, rows, strict=True):
        assert row[4] == row[1]  # what the page says of azbench
        ours, _ = other_tools.answer(task.ours, task.our_answer, tmp_path)
        assert ours == task.right, task.what
        if task.program.startswith("fiologparser.py"):  # its input is the same each time
            theirs, _ = other_tools.answer(task.theirs, task.their_answer, tmp_path)
            assert (task.right, theirs) == (row[1], row[3])


def test_a_part_of_a_page_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    begin, end = page_part.marks("benchmarks/one.py")
    page.write_text(f"before\n{begin}\n{end}\nafter {begin.strip()[:9]}\n")
    for text in ("a table", "another\n\ntable"):
        page_part.write(page, "benchmarks/one.py", text)
        assert page_part.read(page, "benchmarks/one.py") == text
        assert page.read_text() == f"before\n{begin}\n{text}\n\n{end}\nafter {begin.strip()[:9]}\n"
