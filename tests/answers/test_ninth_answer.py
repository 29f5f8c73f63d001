"""An answer that is written once, here, appears on every surface; a wording changed there changes in all."""

import json
from functools import cached_property
from html import unescape
from typing import Any

import nbformat
import pytest
from matplotlib.axes import Axes

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.blocks import MIME
from azbenchlib.answers.document import (
    Bar,
    Bars,
    CodeBlock,
    Document,
    Drawing,
    Facts,
    FigureTable,
    Listing,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import AS_IOPS, AS_MICROSECONDS, AS_SHARE, Figure
from azbenchlib.cli.printing.answer_output import OutputFormat, show
from azbenchlib.core.errors import InputError
from azbenchlib.report import page

LIMIT = Figure(5000, AS_IOPS, "facts/disks.csv of 2026-08-22")
NAME = "host <b>a|b</b>"  # a name that another person chose


class Ninth(Answer):
    """How steady a disk is."""

    def __init__(self, wording: str = "The disk is steady: {rate} of {limit}") -> None:
        self.result = {"iops": 4998.0}
        self.wording = wording

    @cached_property
    def document(self) -> Document:
        """What it says."""
        rate = Figure(self.result["iops"], AS_IOPS)
        columns = (TableColumn("host", "Host"), TableColumn("p99_us", "p99", AS_MICROSECONDS))
        return Document(
            Sentence(self.wording, {"rate": rate, "limit": LIMIT}, Tone.SURE),
            (
                Bars((Bar("disk IOPS", Figure(0.9996, AS_SHARE), LIMIT, binds=True),)),
                FigureTable(
                    columns=columns, rows=(TableRow((NAME, 250.0), "first"), TableRow(("c", None), "second"))
                ),
                Facts((("Limit", LIMIT),)),
                Section("Doubts", (Sentence("The run was short", tone=Tone.DOUBT),), "of one run"),
                Listing("Assumptions", (Sentence("the clock is right"),)),
                CodeBlock("[job]\nrw=randread", "The next run"),
                Drawing(self.draw, "a line that rises"),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        return {"iops": self.result["iops"]}

    def draw(self, axes: Axes) -> None:
        axes.plot([0, 1], [0, 4998])


def surfaces(answer: Ninth, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    show(answer, OutputFormat.text)
    terminal = capsys.readouterr().out
    show(answer, OutputFormat.md)
    markdown = capsys.readouterr().out
    bundle = answer._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", bundle)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])
    return {
        "terminal": terminal,
        "markdown": markdown.replace("\\", ""),
        "notebook": unescape(bundle["text/html"].replace("<wbr>", "")).replace("\u00a0", " "),
        "report": unescape(page.to_html(notebook, "A page").replace("<wbr>", "")).replace("\u00a0", " "),
    }


SAID = (
    *("4,998 IOPS of 5,000 IOPS", "disk IOPS", "250 µs", "not known", "first", "second", "Limit", "Doubts"),
    *("of one run", "The run was short", "Assumptions", "the clock is right", "rw=randread", "The next run"),
)


def test_an_answer_is_written_once_and_appears_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in surfaces(Ninth(), capsys).items():
        plain = text.replace("\u00a0", " ")
        assert [said for said in SAID if said not in plain] == [], name
    show(Ninth(), OutputFormat.json)
    assert json.loads(capsys.readouterr().out)["iops"] == 4998.0
    show(Ninth(), OutputFormat.csv)
    assert capsys.readouterr().out == f"group,host,p99_us\nfirst,{NAME},250.0\nsecond,c,\n"


def test_a_wording_that_changes_in_one_place_changes_in_all(capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in surfaces(Ninth("A steadiness of {rate}"), capsys).items():
        assert "A steadiness of 4,998 IOPS" in text.replace("\u00a0", " "), name
        assert "The disk is steady" not in text, name


def test_a_foreign_name_is_neither_markup_nor_a_cell() -> None:
    answer = Ninth()
    html = answer._repr_mimebundle_()
    for form in (MIME, "text/html"):
        assert "<b>a|b</b>" not in html[form] and "&lt;b&gt;" in html[form]
    (row,) = (line for line in answer.to_markdown().splitlines() if "250" in line)
    assert row.replace("\\|", "").count("|") == 3 and "\\<b\\>" in row


def test_figures_keep_value_unit_and_source() -> None:
    figures = Ninth().figures.set_index("name")
    assert figures.loc["rate", "value"] == 4998.0 and figures.loc["rate", "unit"] == "iops"
    assert figures.loc["disk IOPS", "source"] == LIMIT.source
    cell = figures.loc[f"first, {NAME}: p99"]
    assert (cell["value"], cell["unit"]) == (250.0, "us")


def test_a_notebook_gets_little_and_the_repr_is_short() -> None:
    answer = Ninth()
    assert len(repr(answer).splitlines()) == 10 and "more lines" in repr(answer)
    assert sum(map(len, answer._repr_mimebundle_().values())) < 60_000
    assert answer.plot().lines[0].get_ydata()[1] == 4998


def test_an_answer_without_a_figure_says_so() -> None:
    class Bare(Ninth):
        draw = Answer.draw

    with pytest.raises(InputError, match=r"a Bare has no figure of its own; \.to_frame\(\) has"):
        Bare().plot()
