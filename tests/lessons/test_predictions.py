"""Wrong predictions are diagnosed as wrong answers are, and no lesson gives its answer away."""

import re
from pathlib import Path

import nbformat
import pytest

from azbenchlib.lessons.course import COURSE, LessonEntry, open_lesson
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


@EACH
def test_the_answer_stands_nowhere_above_its_question(entry: LessonEntry) -> None:
    one = open_lesson(entry.name)
    cells = nbformat.read(execute.find_notebook(f"lessons/{entry.notebook}"), as_version=4).cells
    above: list[str] = []
    for cell in cells:
        if "lesson.predict()" in cell.source:
            break
        above.append(cell.source if cell.cell_type == "markdown" else "")
    numbers = [
        float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", " ".join([*above, one.question]))
    ]
    right = one.expected(one.knob.start) / one.unit.size
    if (
        entry.name == "throttle"
    ):  # that the median is the latency of the question is what this lesson is about
        numbers.remove(2.5)
    assert not [n for n in numbers if abs(n / right - 1) < 0.03]
