"""Endless exercises: two hundred of each lesson, every right form accepted, every misconception named."""

import math
import random
import re

import pytest

from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.lessons.answers import AnswerUnit
from azbenchlib.lessons.check import (
    LEAST_MISCONCEPTIONS,
    TOLERANCE,
    Exercise,
    Misconception,
    WrongAnswerError,
    draw,
)
from azbenchlib.lessons.course import COURSE, LessonEntry, entry_of, open_lesson

SEEDS = range(200)
# Of each kind of quantity: other units, and how many of the base unit they are.
OTHER_UNITS = {
    "iops": {"IOPS": 1, "kIOPS": 1e3, "I/Os per second": 1},
    "bytes": {"MB/s": 1e6, "GB/s": 1e9, "MiB/s": 2**20, "KiB/s": 1024, "Mbit/s": 125_000},
    "time": {"ms": 1e3, "µs": 1, "s": 1e6, "min": 6e7, "h": 3.6e9},
    "money": {"USD": 1, "USD/month": 1, "$": 1},
    "count": {"I/Os": 1},
    "share": {"%": 0.01, "percent": 0.01},
}


def forms(value: float, unit: AnswerUnit) -> list[str]:
    """A number as people write it."""
    plain = value / unit.size
    found = [f"{plain!r}", f"{plain:,.4f}", f"about {plain:.4f}", f" {plain / 1000:.8f}k", f"{plain:.5e}"]
    found += [f"{plain:.4f} {unit.name}", f"{plain:,.4f}{unit.name}", f"{plain:.4f}".replace(".", ",")]
    return found + [
        f"{value / size:.8f} {name}" for name, size in OTHER_UNITS[unit.kind].items() if value > size / 100
    ]


def exercises(entry: LessonEntry) -> list[Exercise]:
    return [draw(entry.name, entry.load().makers, seed) for seed in SEEDS]


def said(exercise: Exercise, text: str) -> WrongAnswerError:
    with pytest.raises(WrongAnswerError) as wrong:
        exercise.check(text)
    return wrong.value


def gives_away(exercise: Exercise, sentence: str) -> bool:
    """Whether a number in a sentence is the answer, and was not in the question."""
    numbers = {float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", sentence)}
    known = {float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*(?:\.\d+)?", exercise.question)}
    right = exercise.right / exercise.unit.size
    return any(math.isclose(number, right, rel_tol=TOLERANCE) for number in numbers - known)


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
@pytest.mark.sampled(3)
def test_two_hundred_exercises_are_judged_without_a_wrong_mark(entry: LessonEntry) -> None:
    for exercise in exercises(entry):
        where = f"seed {exercise.seed}: {exercise.question}"
        assert len(exercise.misconceptions) >= LEAST_MISCONCEPTIONS, where
        for right in (exercise.right, *exercise.also_right):
            for text in forms(right, exercise.unit):
                assert exercise.check(text) == "Right.", (where, text)
        for planted in exercise.misconceptions:
            for text in forms(planted.answer, exercise.unit)[:4]:
                error = said(exercise, text)
                assert error.misconception is planted, (where, text)
                assert planted.name in str(error) and not gives_away(exercise, str(error)), where


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
def test_what_is_wrong_for_no_known_reason_gets_a_hint(entry: LessonEntry) -> None:
    for exercise in exercises(entry)[:50]:
        known = [exercise.right, *exercise.also_right, *(one.answer for one in exercise.misconceptions)]
        guesses = (exercise.right * (1.5 + i / 7) for i in range(50))
        guess = next(one for one in guesses if all(abs(one / each - 1) > 0.03 for each in known))
        error = said(exercise, f"{guess / exercise.unit.size:.6f}")
        assert error.misconception is None and exercise.hint in str(error)
        assert not gives_away(exercise, str(error))


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
def test_seeds_make_different_exercises_and_always_the_same_ones(entry: LessonEntry) -> None:
    first = exercises(entry)
    assert [one.question for one in first] == [one.question for one in exercises(entry)]
    assert len({one.question for one in first}) > len(SEEDS) / 3
    kinds = {tuple(wrong.name for wrong in one.misconceptions) for one in first}
    assert len(kinds) >= len(entry.load().makers)


def test_answers_that_cannot_be_told_apart_are_drawn_again() -> None:
    unit = AnswerUnit("iops", "IOPS")

    def make(_: random.Random) -> Exercise:
        wrong = [Misconception("near", right, "") for right in (101.0, 150.0, 200.0)]
        return Exercise(question="?", unit=unit, right=100.0, misconceptions=wrong, hint="")

    with pytest.raises(AzbenchError, match="no exercise with answers that differ"):
        draw("made up", {"one": make}, 1)


def test_a_rounded_answer_is_right_and_one_beside_it_is_not() -> None:
    exercise = draw("units", entry_of("units").load().makers, 0)
    assert exercise.check(str(exercise.right * 1.0099))
    assert said(exercise, str(exercise.right * 1.011)).misconception is None


def test_wrong_names_and_seeds_are_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="no lesson 'unit'; there are: units, queue"):
        open_lesson("unit")
    with pytest.raises(InputError, match="seed -1: it must be 0 or more"):
        open_lesson("units").exercise_of(-1)
    with pytest.raises(InputError, match="'lots' is not a number"):
        open_lesson("units", prediction="lots")
