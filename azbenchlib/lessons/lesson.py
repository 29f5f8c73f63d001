"""What all lessons have in common: predict, measure, confront, and an exercise that is checked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from azbenchlib import plots
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lessons import progress
from azbenchlib.lessons.answers import AnswerUnit, parse_answer, shown
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.experiments import tables
from azbenchlib.lessons.measure import Ran
from azbenchlib.lessons.practice import Practice, attended
from azbenchlib.lessons.shown_run import shown_runs
from azbenchlib.plots.confronted import MEASURED, MODEL, PREDICTED, Chart, confronted

if TYPE_CHECKING:
    from ipywidgets import VBox

_HUNDRED = 100
_CLOSE = 0.05  # of the model: so near a prediction is called right
HOW = (
    "Lines are what the model calculates, filled markers what fio measured on the emulated disk, the hollow "
    "marker is your prediction."
)


@dataclass(frozen=True, kw_only=True)
class Knob:
    """What a student turns: a slider with a few values.

    Parameters
    ----------
    name : str
        Beside the slider.
    values : sequence of float
    text : callable
        Gives the text of a value.
    start : float
        The one that the question is about.
    """

    name: str
    values: Sequence[float]
    text: Callable[[float], str]
    start: float


@dataclass(frozen=True, kw_only=True)
class LessonResult:
    """What a measurement came to.

    Parameters
    ----------
    points : sequence of DataFrame
        One a chart: columns series, x, y.
    table : DataFrame
        Columns of texts, a row a run of fio.
    value : float
        What the question asks for, in base units; NaN where it was not met.
    ran : sequence of Ran
        The runs of fio, which show how they were made and what makes them doubtful.
    asked : sequence of str
        Names of the jobs that the answer is in.
    where : str
        Where in their output it is, in sentences.
    """

    points: Sequence[pd.DataFrame]
    table: pd.DataFrame
    value: float
    ran: Sequence[Ran] = ()
    asked: Sequence[str] = ()
    where: str = ""


@dataclass(frozen=True, kw_only=True)
class LessonFigure:
    """One figure of a lesson: its chart, its series, and what its title says."""

    chart: Chart
    series: Sequence[plots.Series]
    title: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A picture of why it is so, drawn from the model: what its title says, what it shows, how it is read."""

    title: str
    what: str
    how: Sequence[str]
    draw: Callable[[plots.Layout], plots.Drawn]


class Lesson(Practice, ABC):
    """A lesson with a prediction and a measurement; its notebook calls one method a cell.

    Parameters
    ----------
    seed : int
        Of the exercise and of the emulation.
    quick : bool
        Whether to measure for a few seconds only.
    prediction, answer : str
        What is typed in advance, for a run that nobody attends.

    Raises
    ------
    InputError
        For a prediction that is no number.
    """

    question: ClassVar[str]
    unit: ClassVar[AnswerUnit]
    knob: ClassVar[Knob]

    def __init__(self, *, seed: int = 1, quick: bool = False, prediction: str = "", answer: str = "") -> None:
        super().__init__(seed=seed, answer=answer)
        self.quick = quick
        self.prediction = ""
        self.predicted: float | None = None
        self.measured: dict[float, LessonResult] = {}
        self.latest: LessonResult | None = None
        self.is_unmeasurable = False  # as without fio, once that was tried
        if not prediction and attended():
            prediction = progress.load_progress().get(self.name, progress.LessonProgress()).prediction
        if prediction:
            self.keep(prediction)

    # -- what each lesson is

    @abstractmethod
    def views(self, knob: float) -> Sequence[LessonFigure]:
        """Its figures; a prediction stands in the first."""

    @abstractmethod
    def model(self, knob: float) -> Sequence[pd.DataFrame]:
        """What the model says, one table a figure: columns series, x, y."""

    @abstractmethod
    def run(self, knob: float) -> LessonResult:
        """Measure with real fio on an emulated disk, for a minute at most."""

    @abstractmethod
    def expected(self, knob: float) -> float:
        """What the model answers to the question, in base units."""

    @abstractmethod
    def posed(self) -> Exercise:
        """The question of the lesson with the misconceptions that lead to wrong predictions."""

    @abstractmethod
    def place(self, knob: float) -> tuple[str, float]:
        """Where a prediction stands in the first figure: series and x."""

    def latencies(self, knob: float) -> Sequence[tuple[str, str, bool]]:
        """Whose latencies its figures show: name, table of the catalogue, and whether they are of writes."""
        return ()

    def mechanism(self) -> Mechanism:
        """The picture that explains the answer."""
        raise InputError(f"lesson '{self.name}' has no picture of a mechanism")

    def drawn(self, value: float) -> float:
        """A value of the question as the y axis of the first figure has it."""
        return value

    # -- what the cells call

    def predict(self) -> Block | VBox:
        """The question that is answered before anything is measured."""
        if attended():
            from azbenchlib.lessons import widgets

            return widgets.prediction(self)
        return self.asked()

    def measure(self) -> Block | VBox:
        """Prediction, measurement and model in figures, and the table of what fio measured."""
        if attended():
            from azbenchlib.lessons import widgets

            return widgets.bench(self)
        self.measure_at(self.knob.start)
        return self._folded("What was measured", self.confront(self.knob.start))

    def explore(self) -> Block | VBox:
        """How the figures change with the slider; in a run that nobody attends, the values as a table."""
        if attended():
            from azbenchlib.lessons import widgets

            return widgets.explorer(self)
        rows = [
            {
                "name": self.knob.text(value),
                "sub": "",
                "entry": None,
                "cells": [self.shown(self.expected(value))],
            }
            for value in self.knob.values
        ]
        columns = [self.knob.name, f"Model, {self.unit.name}"]
        note = "What the model answers to the question, for other settings."
        table = render("table", id="explore", note=note, columns=columns, rows=rows, left=[])
        return self._folded("Other settings", table)

    def picture(self) -> Block:
        """The mechanism, as the model of the limits has it."""
        shown = self.mechanism()
        block = self._in_figure(shown, f"{self.name}-mechanism", shown.draw, shown.how)
        return self._folded("The mechanism", block)

    @property
    def dataset(self) -> Dataset:
        """What fio measured last, to go on with.

        Raises
        ------
        InputError
            When nothing was measured yet.
        """
        if self.latest is None:
            raise InputError(
                "nothing is measured yet: measure first, then lesson.dataset is what fio measured"
            )
        return Dataset.merge([one.dataset for one in self.latest.ran])

    # -- what cells and widgets share

    @property
    def settled(self) -> bool:
        """Whether the model may be shown: the question was answered and measured, or cannot be measured."""
        measured = bool(self.measured) or self.is_unmeasurable
        kept = attended() and progress.load_progress().get(self.name, progress.LessonProgress()).measured
        return self.predicted is not None and (measured or kept)

    def keep(self, text: str) -> None:
        """Keep a prediction.

        Raises
        ------
        InputError
            When it is no number.
        """
        self.predicted = parse_answer(text, self.unit).readings[0]
        self.prediction = text.strip()
        if attended():
            progress.keep_progress(self.name, prediction=self.prediction)

    def measure_at(self, knob: float) -> LessonResult:
        """Measure, and note that it was done."""
        self.measured[knob] = self.latest = found = self.run(knob)
        if attended():
            progress.keep_progress(self.name, measured=True)
        return found

    def asked(self) -> Block:
        """The question, and the prediction where there is one."""
        said = f"Your prediction: {self.prediction}." if self.prediction else "No prediction yet."
        return render("told", tone="", label="Predict first", sentences=[self.question, said])

    def confront(self, knob: float) -> Block:
        """The figures of a setting, with what is known of it: the model always, the rest where it is "
        "there.
        """
        found = self.measured.get(knob)
        model = self.model(knob)
        blocks = []
        for i, view in enumerate(self.views(knob)):
            parts = [model[i].assign(kind=MODEL)]
            parts += [found.points[i].assign(kind=MEASURED)] if found else []
            if i == 0 and self.predicted is not None and knob == self.knob.start:
                series, x = self.place(knob)
                y = self.drawn(self.predicted)
                parts.append(pd.DataFrame([{"series": series, "x": x, "y": y, "kind": PREDICTED}]))
            how = [HOW, *(tables.origin(*one) for one in self.latencies(knob))]
            blocks.append(self._figure(view, pd.concat(parts, ignore_index=True), i, how))
        block = sum(blocks[1:], blocks[0])
        if found is None:
            return block
        compared = self._compared(knob, found) + block + self._table(found)
        return compared + shown_runs(found.ran, found.asked, found.where) if found.ran else compared

    def shown(self, value: float) -> str:
        """A value in the unit of the question."""
        return shown(value, self.unit)

    def _with_unit(self, value: float) -> str:
        shown = self.shown(value)
        return shown if math.isinf(value) else f"{shown} {self.unit.name}"

    def _figure(self, view: LessonFigure, points: pd.DataFrame, i: int, how: Sequence[str]) -> Block:
        draw_it = partial(confronted, points, view.series, view.chart)
        return self._in_figure(view, f"{self.name}-{i}", draw_it, how, folded=i > 0)

    def _in_figure(
        self,
        said: LessonFigure | Mechanism,
        name: str,
        draw: Callable[[plots.Layout], plots.Drawn],
        how: Sequence[str],
        folded: bool = False,
    ) -> Block:
        values: dict[str, Any] = {"title": said.title, "what": said.what, "how": how, "group": None}
        values |= {"svg": safe(plots.both(draw, name)), "kind": "lesson", "folded": folded}
        return render("figure", id=f"{name}-figure", **values)

    def _compared(self, knob: float, found: LessonResult) -> Block:
        """Prediction, measurement and model in words."""
        right = self.expected(knob)
        told = [f"Measured: {self._with_unit(found.value)}. Model: {self._with_unit(right)}."]
        if self.predicted is not None and knob == self.knob.start:
            posed = self.posed()
            told = [self.diagnosed(posed), *told, f"How one gets there: {posed.solution}"]
        return render(
            "told", tone="", label="Prediction and measurement", sentences=[*told, *tables.notes(*found.ran)]
        )

    def diagnosed(self, posed: Exercise) -> str:
        """How a prediction compares with the model, and what is probably behind it."""
        typed = parse_answer(self.prediction, self.unit)
        near = _how_near(self.prediction, typed.readings[0], posed.right)
        if abs(typed.readings[0] / posed.right - 1) <= _CLOSE:
            return near
        wrong = posed.diagnosed(typed, within=_CLOSE)
        return f"{near} Probably behind it: {wrong.name}. {wrong.says}" if wrong else near

    def _folded(self, name: str, block: Block) -> Block:
        """What holds the answer, on a page whose reader has predicted nothing yet."""
        if self.prediction:
            return block
        title = f"{name}: open it when you have written down your prediction"
        return Block(render("reveal", title=title, content=safe(block.html)).html, lambda: block.data)

    def _table(self, found: LessonResult) -> Block:
        table = found.table
        rows = [
            {"name": str(row[0]), "sub": "", "entry": None, "cells": [str(cell) for cell in row[1:]]}
            for row in table.itertuples(index=False)
        ]
        note = "What fio measured, as the disk would give it at full speed."
        values = {"note": note, "columns": list(table.columns), "rows": rows, "left": []}
        return Block(render("table", id=f"{self.name}-runs", **values).html, lambda: table)

    @cached_property
    def scratch(self) -> dict[str, Any]:
        """What a lesson remembers between its measurements."""
        return {}


def _how_near(typed: str, predicted: float, right: float) -> str:
    """How a prediction compares with the model."""
    if right and abs(predicted / right - 1) <= _CLOSE:
        return f"Your prediction, {typed}, is what the model says."
    if not (right and predicted > 0):
        return f"Your prediction was {typed}."
    how = "too high" if predicted > right else "too low"
    times = max(predicted / right, right / predicted)
    by = f"{times:.1f} times" if times >= 2 else f"{abs(predicted / right - 1):.0%}".replace("%", " %")
    by = by if times < _HUNDRED else "more than a hundred times"
    return f"Your prediction, {typed}, was {by} {how}."
