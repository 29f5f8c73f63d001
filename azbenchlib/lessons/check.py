"""Exercises from a seed, and the check that names the misconception behind a wrong answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.lessons import diagnosis
from azbenchlib.lessons.answers import A_LETTER, AnswerUnit, TypedAnswer, parse_answer, shown

TOLERANCE = 0.01  # of the right answer: what is rounded to two or three digits is right
_APART = 2.1  # tolerances between two answers that are to be told apart
LEAST_MISCONCEPTIONS = 3  # that are recognised in each exercise
_SAME = 0.005  # of a misconception's answer: so near, an answer is taken to come from it
_ROUNDED = 0.05  # of the right answer: what was rounded by more is another answer
_EXACT = 1e-6
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
        Of one to four sentences; it states all that the answer depends on.
    unit : AnswerUnit
        Of the answer.
    right : float
        In base units, as the model gives it.
    misconceptions : sequence of Misconception
        At least three.
    hint, law : str
        The first two steps of help: what to think of, and the formula in words.
    working : str
        The formula with the numbers of the question and without the answer: the third step of help.
    seed : int
    also_right : sequence of float
        Answers that are right too: a count of I/Os may be rounded up.
    options : sequence of str
        The answers to choose from, where a letter is asked for; A is the first.
    excerpt : str
        Output of a program that the question is about, shown as it is.
    """

    question: str
    unit: AnswerUnit
    right: float
    misconceptions: Sequence[Misconception]
    hint: str
    law: str
    working: str
    seed: int = 0
    also_right: Sequence[float] = ()
    options: Sequence[str] = ()
    excerpt: str = ""

    @property
    def asked(self) -> Block:
        """The question, the output that it is about, and the answers to choose from."""
        return render(
            "asked",
            label=f"Exercise {self.seed}",
            question=self.question,
            excerpt=self.excerpt,
            options=self.options,
        )

    @property
    def answer(self) -> str:
        """The right answer as a text."""
        text = shown(self.right, self.unit)
        return (
            f"{text}: {self.options[round(self.right) - 1]}" if self.options else f"{text} {self.unit.name}"
        )

    @property
    def clear(self) -> bool:
        """Whether no two of its answers can be taken for each other."""
        answers = [self.right, *(wrong.answer for wrong in self.misconceptions)]
        enough = len(self.misconceptions) >= LEAST_MISCONCEPTIONS and all(value > 0 for value in answers)
        beside = itertools.product(self.also_right, answers[1:])
        with_right = itertools.chain(itertools.product(answers[:1], answers[1:]), beside)
        among_wrong = itertools.combinations(answers[1:], 2)
        return (
            enough
            and all(_apart(a, b) for a, b in with_right)
            and all(_apart(a, b, _SAME) for a, b in among_wrong)
        )

    @property
    def steps(self) -> tuple[str, str, str]:
        """Help in three steps, each of which says more than the one before; none of them gives the answer."""
        return self.hint, f"{self.law}.", f"With the numbers of this exercise: {self.working}."

    @property
    def solution(self) -> str:
        """How the answer comes about, with the numbers of the exercise."""
        so = "so the answer is" if self.options else "that is"
        return f"{self.law}. Here: {self.working}; {so} {self.answer}."

    def check(self, text: str) -> str:
        """Praise for the right answer, with the way to it.

        Raises
        ------
        WrongAnswerError
            For a wrong one, with the misconception behind it where that is recognised.
        InputError
            For what is no number in a fitting unit, and for what may be read in two ways, one of them right.
        """
        typed = parse_answer(text, self.unit)
        if self.options and typed.readings[0] > len(self.options):
            raise InputError(f"'{typed.digits}': the answers end with {shown(len(self.options), self.unit)}")
        if self._is_right(*typed.readings):
            return f"Right. {self.solution}"
        if typed.swapped and self._is_right(typed.other):
            raise InputError(typed.asked_back())
        wrong = self.diagnosed(typed)
        if wrong is not None:
            raise WrongAnswerError(f"Not yet: {wrong.name}. {wrong.says}".strip(), wrong)
        if any(
            abs(value - self.right) <= min(typed.off_of(value), _ROUNDED * self.right)
            for value in typed.readings
        ):
            raise WrongAnswerError("Not yet: that is rounded too much. Give one more digit.", None)
        raise WrongAnswerError(f"Not yet. {self.hint}", None)

    def diagnosed(self, typed: TypedAnswer, within: float = 0.0) -> Misconception | None:
        """What is probably behind a wrong answer.

        A misconception of the exercise comes first where it leads to all digits that were typed, then slips
        of units and simple formulas, then the misconception that leads nearest.

        Parameters
        ----------
        typed : TypedAnswer
        within : float
            How near to a misconception, as a share of it, an answer is taken to come from it at once.
        """
        found = typed.readings[0]
        near = sorted(
            (abs(value - wrong.answer) / wrong.answer, i)
            for i, wrong in enumerate(self.misconceptions)
            for value in typed.readings
        )
        best = self.misconceptions[near[0][1]] if near else None
        if best and near[0][0] <= max(min(typed.off / best.answer + _EXACT, _SAME), within):
            return best
        if self.options:
            return None
        for rule in (diagnosis.slip, diagnosis.formula):
            reason = rule(typed, self.question, self.unit, self.right)
            if reason:
                return Misconception(reason.name, found, f"{reason.says} {self.hint}".strip())
        return best if best and near[0][0] <= _SAME else None

    def _is_right(self, *readings: float) -> bool:
        return any(_near(value, right) for value in readings for right in (self.right, *self.also_right))


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


@dataclass(frozen=True)
class Distractor:
    """An answer to choose that is wrong.

    Parameters
    ----------
    text : str
        As it stands among the answers.
    name, says : str
        As those of a `Misconception`.
    """

    text: str
    name: str
    says: str


def choice(
    random: random.Random, question: str, right: str, wrong: Sequence[Distractor], **rest: Any
) -> Exercise:
    """An exercise with answers to choose from, in an order of its own.

    Parameters
    ----------
    random : Random
        Of the exercise.
    question, right : str
        What is asked, and the text of the right answer.
    wrong : sequence of Distractor
        At least three.
    **rest
        Of `Exercise`: hint, law, working, excerpt.
    """
    options = [right, *(one.text for one in wrong)]
    random.shuffle(options)
    places = {text: float(i) for i, text in enumerate(options, 1)}
    return Exercise(
        question=question,
        unit=A_LETTER,
        right=places[right],
        misconceptions=[Misconception(one.name, places[one.text], one.says) for one in wrong],
        options=options,
        **rest,
    )


def telling(right: float, candidates: Sequence[Misconception]) -> list[Misconception]:
    """Those of the misconceptions that lead astray here, each to another answer than those before it."""
    found: list[Misconception] = []
    for wrong in candidates:
        others = (one.answer for one in found)
        if (
            wrong.answer > 0
            and _apart(wrong.answer, right)
            and all(_apart(wrong.answer, each, _SAME) for each in others)
        ):
            found.append(wrong)
    return found


def _apart(a: float, b: float, tolerance: float = TOLERANCE) -> bool:
    return abs(a - b) > _APART * tolerance * max(a, b)


def _near(value: float, wanted: float) -> bool:
    return abs(value - wanted) <= TOLERANCE * wanted * (1 + 1e-9)
