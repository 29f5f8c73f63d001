"""Exercises of a lesson, one a seed: asked, judged, and helped with in three steps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from markupsafe import Markup

from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.errors import InputError
from azbenchlib.lessons import progress
from azbenchlib.lessons.check import Exercise, Maker, WrongAnswerError, draw

if TYPE_CHECKING:
    from ipywidgets import VBox

_ON_A_PAGE = (
    "On a page nothing is checked: write down your answer, then open the help or the solution. Opened in "
    "JupyterLab (azbench learn), the lesson checks answers, and has as many other exercises as you want."
)


class Practice:
    """Exercises, endlessly many: a lesson without a measurement.

    Parameters
    ----------
    seed : int
        Of the exercise.
    answer : str
        What is typed in advance, for a run that nobody attends.
    """

    name: ClassVar[str]
    makers: ClassVar[Mapping[str, Maker]]

    def __init__(self, *, seed: int = 1, answer: str = "") -> None:
        self.seed, self.answer = seed, answer

    def exercise(self) -> Block | VBox:
        """An exercise of its own for each seed, and the verdict on an answer."""
        if attended():
            from azbenchlib.lessons import widgets

            return widgets.exercise(self)
        found = self.exercise_of(self.seed)
        asked = found.asked
        if self.answer:
            return asked + self.judged(found, self.answer)
        named = [f"Help {i} of {len(found.steps)}" for i in range(1, len(found.steps) + 1)]
        steps = zip([*named, "Solution"], [*found.steps, found.solution], strict=True)
        folded = [
            render("reveal", title=title, content=Markup("<p>{}</p>").format(said)) for title, said in steps
        ]
        return sum([*folded, render("told", tone="", label="", sentences=[_ON_A_PAGE])], asked)

    def exercise_of(self, seed: int) -> Exercise:
        """The exercise that a seed stands for."""
        return draw(self.name, self.makers, seed)

    def judged(self, exercise: Exercise, answer: str) -> Block:
        """The verdict on an answer, in words."""
        label = f"Your answer: {answer.strip()}"
        seen = self.helped.get(exercise.seed, 0) > len(exercise.steps)
        try:
            told = [exercise.check(answer)]
        except WrongAnswerError as error:
            return render("told", tone="wrong", label=label, sentences=[str(error)])
        except InputError as error:
            return render("told", tone="", label=label, sentences=[f"{error}."])
        if attended() and not seen:
            solved = progress.load_progress().get(self.name, progress.LessonProgress()).solved
            progress.keep_progress(self.name, solved=sorted({*solved, exercise.seed}))
        return render("told", tone="right", label=label, sentences=told)

    def help_with(self, exercise: Exercise) -> Block:
        """The next of three steps of help; after them the worked solution, which does not count as solved."""
        step = self.helped[exercise.seed] = self.helped.get(exercise.seed, 0) + 1
        if step <= len(exercise.steps):
            label, said = f"Help {step} of {len(exercise.steps)}", exercise.steps[step - 1]
        else:
            label = "Solution"
            said = f"{exercise.solution} Now try another one: its numbers are others, and solving it counts."
        return render("told", tone="", label=label, sentences=[said])

    @cached_property
    def helped(self) -> dict[int, int]:
        """How many steps of help were shown, by seed; one more where the solution was."""
        return {}


def attended() -> bool:
    """Whether somebody sits before the notebook: Jupyter's servers tell a kernel which one it belongs to."""
    return "JPY_SESSION_NAME" in os.environ
