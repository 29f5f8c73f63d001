"""Exercises on repeats are judged as azbench compare judges, and planned runs are as many as it takes."""

import math
import re

import numpy as np
import pytest
from compared_runs import rates
from measuring import Measurement

from azbenchlib.analysis.compare import CompareTerms, Shift, compare
from azbenchlib.analysis.compare.evidence import of_values
from azbenchlib.analysis.compare.judging import DRIFT, figures_judged
from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.exercises import repeats
from azbenchlib.lessons.experiments.repeats import _setup
from azbenchlib.lessons.experiments.tables import notes
from azbenchlib.lessons.lesson import LessonResult

SAID = {
    Shift.WORSE: "Slower by more",
    Shift.BETTER: "Faster by more",
    Shift.NOT_WORSE: "If slower at all, then by less",
    Shift.UNDECIDED: "Undecided",
}


def exercises() -> list[Exercise]:
    return [open_lesson("repeats").exercise_of(seed) for seed in range(200)]


def numbers(pattern: str, exercise: Exercise) -> list[float]:
    found = re.search(pattern, exercise.question)
    assert found, exercise.question
    return [float(one.replace(",", "")) for one in found.groups()]


def answered(exercise: Exercise) -> Shift:
    """What azbench compare says of the runs that a student sees, read back from them as a dataset."""
    lines = [[float(n.replace(",", "")) for n in line.split()[1:]] for line in exercise.excerpt.splitlines()]
    result = compare([rates(name, values) for name, values in zip(("old", "new"), lines, strict=True)])
    (figure,) = result.pairs[0].figures
    low, high = numbers(r"interval from ([\d.]+) to ([\d.]+)\.", exercise)
    assert figure.interval == pytest.approx((low, high), abs=5.1e-4)
    return figure.answer


def test_statements_are_those_of_azbench_compare() -> None:
    asked = [one for one in exercises() if one.excerpt]
    answers = [answered(one) for one in asked]
    assert len(asked) == 50 and set(answers) == set(SAID)
    for one, answer in zip(asked, answers, strict=True):
        assert SAID[answer] in one.answer, one.question
        assert "Nothing has changed" in one.options and "Nothing has changed" not in one.answer


def test_planned_runs_and_reaches_are_those_of_simulated_comparisons() -> None:
    random = np.random.default_rng(1)
    for one in exercises():
        if "do you plan" in one.question:
            spread, change = numbers(r"differ by ([\d.]+) % .* costs ([\d.]+) %\.", one)
            for runs, is_enough in ((one.right, True), (one.right - 1, False)):
                assert (2 * spread * math.sqrt(2 / runs) <= change + 1e-9) == is_enough
        elif "standard errors to each side" in one.question:
            spread, runs = numbers(r"differ by ([\d.]+) % .* measure it (\d+) times", one)
            assert one.right == pytest.approx(repeats.half_width(int(runs), spread / 100))
    for runs, spread in ((4, 0.02), (16, 0.05)):
        before, after = random.normal(1, spread, (2, 4_000, runs))
        off = np.abs(after.mean(axis=1) - before.mean(axis=1))
        errors = np.sqrt((before.var(axis=1, ddof=1) + after.var(axis=1, ddof=1)) / runs)
        reached = repeats.half_width(runs, spread) / (spread * math.sqrt(2 / runs)) * errors
        assert (off > reached).mean() == pytest.approx(0.05, abs=0.012)  # so that 95 % of the intervals hold


def test_mistakes_are_those_that_azbench_compare_does_not_make() -> None:
    asked = [one for one in exercises() if one.question.endswith("What is the mistake?")]
    assert len({one.answer[3:] for one in asked}) == len(repeats._MISTAKES)
    for one in asked:
        if "One run a side" in one.answer:
            before, after = numbers(r"reached ([\d,]+) IOPS before an update and ([\d,]+) after", one)
            figure = repeats.judged([before], [after])
            assert figure.answer is Shift.UNDECIDED and "how much runs differ is not known" in figure.why
            assert "All runs of one side came first" not in " ".join(one.options)
        elif "No difference was shown" in one.answer or "includes 1" in one.question:
            low, high = numbers(r"interval from ([\d.]+) to ([\d.]+)\.", one)
            assert low < 0.95 and repeats.said_by_interval(low, high) is Shift.UNDECIDED


def test_a_trend_over_all_runs_is_no_change_where_one_side_came_first() -> None:
    falling = [2_500.0 - 40 * i + 3 * (i % 3) for i in range(16)]
    found = of_values(
        ComparedWorkload((), "reads"),
        parse_metric("iops"),
        "",
        tuple(falling[:8]),
        tuple(falling[8:]),
        starts=(range(8), range(8, 16)),
    )
    (figure,) = figures_judged([found], CompareTerms(), 1, plan=False)
    assert figure.answer is Shift.UNDECIDED and figure.why == DRIFT
    assert repeats.judged(falling[:8], falling[8:]).answer is Shift.WORSE  # as if it were not known


@pytest.mark.long
@pytest.mark.fio
@pytest.mark.alone
def test_runs_of_real_fio_differ_as_the_days_of_the_disk() -> None:
    lesson = open_lesson("repeats", quick=True, seed=3)

    def holds(result: LessonResult) -> None:
        limits = [disk.cap.iops or 0.0 for disk in _setup(16, 3).disks]
        assert result.ran[0].jobs["iops"].tolist() == pytest.approx(limits, rel=0.05)
        assert len(result.table) == 4 and result.value == pytest.approx(lesson.expected(4), rel=0.4)

    Measurement(lambda: lesson.run(4), lambda result: " ".join(notes(*result.ran))).check(holds)
