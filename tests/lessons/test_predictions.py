"""Wrong predictions are diagnosed as wrong answers are, and no lesson gives its answer away."""

import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from markupsafe import escape

from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.export import IN_JUPYTERLAB, as_page
from azbenchlib.lessons.lesson import LessonResult
from azbenchlib.lessons.shipped import COURSE, LessonEntry
from azbenchlib.report import execute

EACH = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
TEACHING = Path(__file__).parents[2] / "docs" / "teaching.md"
# What is behind the prediction that docs/teaching.md calls the most frequent one.
BEHIND = {
    "units": "the IOPS limit alone",
    "queue": "the limit for the rate",
    "throttle": "the mean for the median",
    "nested": "disk limits for VM limits",
    "burst": "thirty minutes for every burst",
    "caches": "rates averaged instead of times",
    "tails": "the mean of two percentiles",
    "redundancy": "the limit for the rate",
    "flush": "a flush that costs nothing",
    "reading": "the disk for one job",
    "repeats": "the spread of runs for that of their mean",
    "cases": "the limit for the rate",
}


@EACH
def test_the_typical_wrong_prediction_is_named(entry: LessonEntry) -> None:
    row = re.search(rf"^\| {entry.number} .*\| ([\d,]+)[^|]*\|$", TEACHING.read_text(), re.MULTILINE)
    assert row
    one = open_lesson(entry.name, prediction=row[1])
    posed = one.posed()
    assert posed.clear and posed.right == pytest.approx(one.expected(one.knob.start))
    assert f"Probably behind it: {BEHIND[entry.name]}. " in one.diagnosed(posed)


@EACH
def test_a_right_prediction_has_no_misconception(entry: LessonEntry) -> None:
    right = open_lesson(entry.name).posed()
    for factor in (0.97, 1.0, 1.03):
        one = open_lesson(entry.name, prediction=f"{right.right / right.unit.size * factor:.6f}")
        assert one.diagnosed(right).endswith("is what the model says.")


def cells_of(entry: LessonEntry) -> list[nbformat.NotebookNode]:
    notebook = nbformat.read(execute.find_notebook(f"lessons/{entry.notebook}"), as_version=4)
    return list(notebook.cells)


@EACH
def test_what_explains_comes_folded_after_prediction_and_measurement(entry: LessonEntry) -> None:
    cells = cells_of(entry)
    named = [
        found[0]
        for cell in cells
        for found in [re.search(r"^## .*|^lesson\.\w+\(\)", cell.source, re.MULTILINE)]
        if found
    ]
    if "lesson.picture()" in named:
        assert named.pop(5) == "lesson.picture()"  # folded with what explains
    assert named[:7] == [
        *("## Predict", "lesson.predict()", "## Measure", "lesson.measure()"),
        *("## Why", "## Turn it", "lesson.explore()"),
    ]
    assert named.index("lesson.exercise()") < named.index("## Where somebody got it wrong")
    why = next(i for i, cell in enumerate(cells) if cell.source == "## Why")
    assert cells[why].metadata["jp-MarkdownHeadingCollapsed"]  # JupyterLab hides what follows the heading
    assert len(cells[why + 1].source.strip().split("\n\n")) == 2


@EACH
def test_a_page_folds_the_explanation(entry: LessonEntry) -> None:
    notebook = nbformat.read(execute.find_notebook(f"lessons/{entry.notebook}"), as_version=4)
    why = next(i for i, cell in enumerate(notebook.cells) if cell.source == "## Why")
    first = notebook.cells[why + 1].source.split("\n\n")[0].split("(")[0][:40]
    before, _, after = as_page(notebook, entry.title).partition("Open it when you have looked")
    assert before.rstrip().endswith("<details><summary>")
    folded, _, rest = after.partition("</details>")
    assert first in folded and first not in before + rest


@EACH
def test_the_model_is_not_shown_before_the_measurement(
    entry: LessonEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/nowhere")
    one = open_lesson(entry.name, prediction="7", quick=True)
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    figure, turned = "<figure", one.explore()
    assert not one.settled and not any(figure in part.value for part in turned.children[1:])
    one.measured[one.knob.start] = LessonResult(points=[], table=pd.DataFrame(), value=1.0)
    assert one.settled


@EACH
def test_a_page_names_nothing_that_it_does_not_have(entry: LessonEntry) -> None:
    one = open_lesson(entry.name)
    text = " ".join(
        cell.source
        for cell in cells_of(entry)
        if cell.cell_type == "markdown" and IN_JUPYTERLAB not in cell.metadata.get("tags", [])
    )
    shown = [block.html.replace("\xa0", " ") for block in (one.predict(), one.explore(), one.exercise())]
    assert not re.search(r"\b(?:buttons?|sliders?|menus?|press\w*|Run All|unattended|attends)\b", text)
    assert not re.search(r"\b(?:buttons?|sliders?|menus?|press\w*|open the notebook)\b", " ".join(shown))
    assert shown[1].startswith("<details")  # the table of settings holds the answer
    exercise = one.exercise_of(1)
    folded = re.findall(r"<details.*?</details>", shown[2], re.DOTALL)
    assert len(folded) == 4 and str(escape(exercise.solution)) in folded[-1]
    assert str(escape(exercise.solution)) not in shown[2].partition("<details")[0]


@EACH
def test_the_answer_stands_nowhere_above_its_question(entry: LessonEntry) -> None:
    one = open_lesson(entry.name)
    cells = cells_of(entry)
    measured = next(i for i, cell in enumerate(cells) if "lesson.measure()" in cell.source)
    above = [cell.source for cell in cells[:measured] if cell.cell_type == "markdown"]
    numbers = [
        float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", " ".join([*above, one.question]))
    ]
    right = one.expected(one.knob.start) / one.unit.size
    if (
        entry.name == "throttle"
    ):  # that the median is the latency of the question is what this lesson is about
        numbers.remove(2.5)
    assert not [n for n in numbers if abs(n / right - 1) < 0.03]
