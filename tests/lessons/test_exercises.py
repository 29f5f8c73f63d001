"""Endless exercises: two hundred of each lesson, every right form accepted, every misconception named."""

import math
import random
import re
from collections.abc import Mapping, Sequence

import pytest
from wrong_answers import KNOWN

from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.lessons.answers import CHOICE, AnswerUnit, parse_answer, shown
from azbenchlib.lessons.check import (
    LEAST_MISCONCEPTIONS,
    TOLERANCE,
    Distractor,
    Exercise,
    Misconception,
    WrongAnswerError,
    choice,
    draw,
)
from azbenchlib.lessons.course import entry_of, open_lesson
from azbenchlib.lessons.exercises.queue import rate_below_the_knee
from azbenchlib.lessons.shipped import COURSE, LessonEntry

SEEDS = range(200)
SEEDED = random.Random(1)  # noqa: S311  not for secrets
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
    """A number as people write it, or the letter of an answer."""
    if unit.kind == CHOICE:
        letter = shown(value, unit)
        return [
            letter,
            letter.lower(),
            f"{letter}.",
            f"({letter.lower()})",
            f" answer {letter}",
            f"Option {letter}:",
        ]
    plain = value / unit.size
    found = [f"{plain!r}", f"{plain:,.4f}", f"about {plain:.4f}", f" {plain / 1000:.8f}k", f"{plain:.5e}"]
    found += [f"{plain:.4f} {unit.name}", f"{plain:,.4f}{unit.name}", f"{plain:.4f}".replace(".", ",")]
    return found + [
        f"{value / size:.8f} {name}" for name, size in OTHER_UNITS[unit.kind].items() if value > size / 100
    ]


def exercises(entry: LessonEntry) -> list[Exercise]:
    return [draw(entry.name, entry.load().makers, seed) for seed in SEEDS]


def numeric(drawn: Sequence[Exercise]) -> list[Exercise]:
    return [one for one in drawn if not one.options]


def said(exercise: Exercise, text: str) -> WrongAnswerError:
    with pytest.raises(WrongAnswerError) as wrong:
        exercise.check(text)
    return wrong.value


def gives_away(exercise: Exercise, sentence: str) -> bool:
    """Whether a number in a sentence is the answer and not in the question; or its text."""
    if exercise.options:
        return exercise.options[round(exercise.right) - 1] in sentence
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
                assert exercise.check(text) == f"Right. {exercise.solution}", (where, text)
        for planted in exercise.misconceptions:
            for text in forms(planted.answer, exercise.unit)[:4]:
                error = said(exercise, text)
                assert error.misconception is planted, (where, text)
                assert planted.name in str(error) and not gives_away(exercise, str(error)), where


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
@pytest.mark.sampled(3)
def test_no_answer_that_is_wrong_by_a_thousand_is_right(entry: LessonEntry) -> None:
    for exercise in numeric(exercises(entry)):
        right = exercise.right / exercise.unit.size
        for value in (right / 1000, right * 1000):
            for text in {f"{value:.3f}", f"{value:.0f}", f"{value:,.0f}", f"{value:,.3f}", f"{value:.6g}"}:
                typed = parse_answer(text, exercise.unit)
                if not typed.readings[0] or (exercise.unit.kind == "share" and value < 1):
                    continue  # 0.25 % may be meant as a quarter
                with pytest.raises(AzbenchError) as wrong:
                    exercise.check(text)
                if isinstance(wrong.value, InputError):
                    assert f"do you mean {typed.digits} or {typed.swapped}?" in str(wrong.value)


def test_what_can_be_read_in_two_ways_is_asked_back_and_then_understood() -> None:
    exercise = rate_below_the_knee(5_000, 1.3, 6)
    with pytest.raises(InputError) as asked:
        exercise.check("4.615")
    ways = re.search(
        r"do you mean 4.615 or 4,615\?.*; type (\S+) for the larger number, (\S+) for", str(asked.value)
    )
    assert ways and exercise.check(ways[1]).startswith("Right.")
    assert "1,000 times too small" in str(said(exercise, ways[2]))


@pytest.mark.parametrize(
    ("exercise", "right", "wrong"), KNOWN, ids=lambda value: getattr(value, "question", "")[:40]
)
def test_wrong_answers_of_students_are_named_rightly(
    exercise: Exercise, right: Sequence[str], wrong: Mapping[str, str | None]
) -> None:
    assert exercise.clear
    for text in right:
        assert exercise.check(text).startswith("Right."), text
    for text, name in wrong.items():
        sentence = str(said(exercise, text))
        assert (name in sentence) if name else sentence == f"Not yet. {exercise.hint}", (text, sentence)


def test_most_wrong_answers_of_students_are_named() -> None:
    names = [name for _, _, wrong in KNOWN for name in wrong.values()]
    assert sum(name is not None for name in names) >= 0.8 * len(names)


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
@pytest.mark.sampled(3)
def test_what_is_wrong_for_no_known_reason_gets_a_hint(entry: LessonEntry) -> None:
    named = total = 0
    for exercise in numeric(exercises(entry)[:50]):
        for i in range(20):  # numbers that nobody calculates
            guess = exercise.right * (1.1 + i * 0.1370117) / exercise.unit.size
            try:
                sentence = exercise.check(f"{guess:.4g}")
            except WrongAnswerError as error:
                named, total = named + (error.misconception is not None), total + 1
                assert exercise.hint in str(error) or error.misconception in exercise.misconceptions
                assert not gives_away(exercise, str(error).replace(f"{guess:,.4g}", ""))
            else:
                pytest.fail(f"{guess} of {exercise.question}: {sentence}")
    assert named <= 0.06 * total


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
def test_help_comes_in_three_steps_that_do_not_give_the_answer(entry: LessonEntry) -> None:
    for exercise in exercises(entry)[:50]:
        assert len(set(exercise.steps)) == 3 and "=" not in exercise.working
        assert not gives_away(exercise, exercise.hint)
        so = "so the answer is" if exercise.options else "that is"
        assert exercise.solution.endswith(f"; {so} {exercise.answer}.")
        assert exercise.answer.startswith(shown(exercise.right, exercise.unit))


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
def test_seeds_make_different_exercises_and_always_the_same_ones(entry: LessonEntry) -> None:
    first = exercises(entry)
    assert [one.question for one in first] == [one.question for one in exercises(entry)]
    makers = entry.load().makers
    drawn = [draw(entry.name, makers, seed) for seed in range(1, 301)]
    assert len({(one.question, one.excerpt, frozenset(one.options)) for one in drawn}) >= 290
    kinds = {tuple(wrong.name for wrong in one.misconceptions) for one in first}
    assert len(kinds) >= len(entry.load().makers)


def test_a_letter_that_no_answer_has_is_told() -> None:
    wrong = [Distractor(text, f"not {text}", "Think again.") for text in ("one", "two", "three")]
    found = choice(SEEDED, "?", "four", wrong, hint="Which?", law="Four is four", working="4")
    letter = found.answer[0]
    assert (
        found.clear
        and found.check(letter.lower()) == f"Right. Four is four. Here: 4; so the answer is {letter}: four."
    )
    for text, sentence in (
        ("E", "'E': the answers end with D"),
        ("4", "'4' is not one of the answers; write its"),
    ):
        with pytest.raises(InputError, match=sentence):
            found.check(text)
    other = next(one for one in "ABCD" if one != letter)
    name = found.options["ABCD".index(other)]
    assert str(said(found, other)) == f"Not yet: not {name}. Think again."


def test_answers_that_cannot_be_told_apart_are_drawn_again() -> None:
    unit = AnswerUnit("iops", "IOPS")

    def make(_: random.Random) -> Exercise:
        wrong = [Misconception("near", right, "") for right in (101.0, 150.0, 200.0)]
        return Exercise(
            question="?", unit=unit, right=100.0, misconceptions=wrong, hint="", law="", working=""
        )

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
