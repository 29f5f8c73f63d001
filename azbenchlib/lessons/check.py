"""Exercises from a seed, and the check that names the misconception behind a wrong answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.lessons.answers import AnswerUnit, parse_answer

TOLERANCE = 0.01  # of the right answer: what is rounded to two or three digits is right
_APART = 2.1  # tolerances between the right answer and each wrong one that is to be recognised
LEAST_MISCONCEPTIONS = 3  # that are recognised in each exercise
_MOST_DRAWS = 500


class WrongAnswerError(AzbenchError):
    """An answer that is a number and not the right one; `misconception` is None where none is recognised."""

    def __init__(self, sentence: str, misconception: Misconception | None) -> None:
        super().__init__(sentence)
        self.misconception = misconception


@dataclass(frozen=True)
class Misconception:
    """A way to go wrong.

    Parameters
    ----------
    name : str
        In a few words, such as ``MiB for MB``.
    answer : float
        What it leads to in this exercise, in base units.
    says : str
        Sentences for the student: what was confused, and what to think of; never the answer.
    """

    name: str
    answer: float
    says: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A question with its right answer, and the wrong ones that are recognised.

    Parameters
    ----------
    question : str
        Of one or two sentences.
    unit : AnswerUnit
        Of the answer.
    right : float
        In base units, as the model gives it.
    misconceptions : sequence of Misconception
        At least three.
    hint : str
        For an answer behind which nothing is recognised; never the answer.
    seed : int
    also_right : sequence of float
        Answers that are right too: a count of I/Os may be rounded up.
    """

    question: str
    unit: AnswerUnit
    right: float
    misconceptions: Sequence[Misconception]
    hint: str
    seed: int = 0
    also_right: Sequence[float] = ()

    @property
    def clear(self) -> bool:
        """Whether no two of its answers can be taken for each other."""
        answers = [self.right, *(wrong.answer for wrong in self.misconceptions)]
        enough = len(self.misconceptions) >= LEAST_MISCONCEPTIONS and all(value > 0 for value in answers)
        beside = itertools.product(self.also_right, answers[1:])
        pairs = itertools.chain(itertools.combinations(answers, 2), beside)
        return enough and all(_apart(a, b) for a, b in pairs)

    def check(self, text: str) -> str:
        """Praise for the right answer.

        Raises
        ------
        WrongAnswerError
            For a wrong one, with the misconception behind it where that is recognised.
        InputError
            For what is no number in a fitting unit.
        """
        readings = parse_answer(text, self.unit)
        if any(_near(value, right) for value in readings for right in (self.right, *self.also_right)):
            return "Right."
        for wrong in self.misconceptions:
            if any(_near(value, wrong.answer) for value in readings):
                raise WrongAnswerError(f"Not yet: {wrong.name}. {wrong.says}", wrong)
        raise WrongAnswerError(f"Not yet. {self.hint}", None)


Maker = Callable[[random.Random], Exercise]


def draw(lesson: str, makers: Mapping[str, Maker], seed: int) -> Exercise:
    """The exercise of a lesson that a seed stands for: always the same one.

    Parameters
    ----------
    lesson : str
        Name of the lesson; other lessons have other figures with the same seed.
    makers : mapping of str to callable
        The kinds of exercises that the lesson has; seeds go through them by turns.
    seed : int
        0 or more.

    Raises
    ------
    InputError
        For a negative seed.
    """
    if seed < 0:
        raise InputError(f"seed {seed}: it must be 0 or more")
    make = list(makers.values())[seed % len(makers)]
    for attempt in range(_MOST_DRAWS):
        found = make(random.Random(f"{lesson} {seed} {attempt}"))  # noqa: S311  not for secrets
        if found.clear:
            return Exercise(**{**vars(found), "seed": seed})
    raise AzbenchError(f"lesson '{lesson}': no exercise with answers that differ in {_MOST_DRAWS} draws")


def telling(right: float, candidates: Sequence[Misconception]) -> list[Misconception]:
    """Those of the misconceptions that lead astray here; some lead to the right answer by chance."""
    return [wrong for wrong in candidates if _apart(right, wrong.answer)]


def _apart(a: float, b: float) -> bool:
    return abs(a - b) > _APART * TOLERANCE * max(a, b)


def _near(value: float, wanted: float) -> bool:
    return abs(value - wanted) <= TOLERANCE * wanted * (1 + 1e-9)
