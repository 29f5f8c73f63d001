"""Lesson 11: what repeats tell, judged as azbench compare judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from scipy.special import stdtrit

from azbenchlib.analysis.compare import ComparedFigure, CompareTerms, Shift
from azbenchlib.analysis.compare.evidence import of_values
from azbenchlib.analysis.compare.judging import figures_judged
from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.lessons.answers import IN_PER_CENT, IN_RUNS
from azbenchlib.lessons.check import Distractor, Exercise, Misconception, choice, telling

_TAIL = 0.975  # of an interval of 95 %
STATED_MARGIN = 0.05
_PER_CENT = 100
_SAID = {
    Shift.WORSE: "Slower by more than 5 %",
    Shift.BETTER: "Faster by more than 5 %",
    Shift.NOT_WORSE: "If slower at all, then by less than 5 %",
    Shift.UNDECIDED: "Undecided: it may be slower by more than 5 %, and it may not",
}
_EQUAL = "Nothing has changed"
_WHY_NOT = {
    Shift.WORSE: ("a change beyond the margin, unshown", "Then all of the interval would lie below 0.95."),
    Shift.BETTER: ("a gain beyond the margin, unshown", "Then all of the interval would lie above 1.05."),
    Shift.NOT_WORSE: (
        "a loss beyond the margin, not excluded",
        "The lower end of the interval is the largest loss that these runs allow. Where is it?",
    ),
    Shift.UNDECIDED: (
        "an answer that is overlooked",
        "The interval lies on one side of 0.95, or of 1.05. On which one?",
    ),
}
_CHANGES = {
    Shift.WORSE: (-0.16, -0.08),
    Shift.BETTER: (0.08, 0.16),
    Shift.NOT_WORSE: (-0.02, 0.03),
    Shift.UNDECIDED: (-0.07, -0.01),
}


def half_width(runs: int, spread: float) -> float:
    """How far a 95 % interval of a ratio reaches to each side, as a share.

    Parameters
    ----------
    runs : int
        Of each of two sides.
    spread : float
        Standard deviation between runs, as a share of the mean; small.

    Notes
    -----
    Welch's interval where both sides have equally many runs and the same spread: t with 2 (n − 1) degrees of
    freedom, times spread × √(2 ÷ n).
    """
    return float(stdtrit(2 * (runs - 1), _TAIL)) * spread * math.sqrt(2 / runs)


def judged(before: Sequence[float], after: Sequence[float], margin: float = STATED_MARGIN) -> ComparedFigure:
    """What azbench compare says of rates, one a run."""
    workload = ComparedWorkload((), "reads")
    found = of_values(workload, parse_metric("iops"), "", tuple(before), tuple(after))
    (figure,) = figures_judged([found], CompareTerms(margin=margin), 1, plan=False)
    return figure


def reach_of_interval(spread: float, runs: int) -> Exercise:
    """From which change on an interval excludes that there is none; the spread in percent."""
    share, errors = spread / _PER_CENT, float(stdtrit(2 * (runs - 1), _TAIL))
    right = half_width(runs, share)
    wrong = [
        Misconception(
            "the spread of runs for that of their mean",
            share,
            "That is how much single runs differ. Means of several runs differ less.",
        ),
        Misconception(
            "one side for both",
            errors * share / math.sqrt(runs),
            "So far the mean of one side may be off. The other side may be off as well.",
        ),
        Misconception(
            "one standard error",
            share * math.sqrt(2 / runs),
            "That is the standard error of the difference. How many of them does the interval reach?",
        ),
        Misconception(
            "runs that do not help",
            errors * share * math.sqrt(2),
            "That holds for one run a side. How much less do means of several runs differ?",
        ),
        Misconception(
            "divided by the runs, not by their root",
            errors * share * 2 / runs,
            "Four times as many runs halve the error of a mean; they do not quarter it.",
        ),
    ]
    return Exercise(
        question=f"Runs of a disk differ by {spread:g} % from their mean (standard deviation). You measure "
        f"it {runs} times before an update and {runs} times after it. With so many runs a 95 % interval "
        f"reaches {errors:.2f} standard errors to each side. From which change on, in %, does it no longer "
        "include “no change”?",
        unit=IN_PER_CENT,
        right=right,
        misconceptions=telling(right, wrong),
        hint="What is the standard error of the mean of one side, and of the difference of two such means?",
        law="Reach = standard errors × spread × √(2 ÷ runs a side)",
        working=f"{errors:.2f} × {spread:g} % × √(2 ÷ {runs})",
    )


def runs_needed(spread: float, change: float) -> Exercise:
    """How many runs a side to plan; spread and change in percent."""
    exact = 8 * (spread / change) ** 2
    right = float(math.ceil(exact - 1e-9))
    wrong = [
        Misconception(
            "one side for both",
            exact / 2,
            "With so many runs the mean of one side is known well enough. The other side is uncertain as "
            "well.",
        ),
        Misconception(
            "without the square",
            8 * spread / change,
            "Errors of means become smaller with the root of the number of runs.",
        ),
        Misconception(
            "one standard error", exact / 4, "The interval reaches two standard errors to each side."
        ),
        Misconception(
            "both sides together", 2 * right, "That is the number of all runs. How many has a side?"
        ),
        Misconception(
            "four standard errors",
            exact * 4,
            "Two to each side: half of the interval counts, not all of it.",
        ),
    ]
    return Exercise(
        question=f"Runs of a disk differ by {spread:g} % from their mean (standard deviation). Somebody "
        f"fears that an update costs {change:g} %. Take two standard errors for half of a 95 % interval. "
        f"How many runs do you plan for each side, so that half of it is {change:g} % at most?",
        unit=IN_RUNS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Half of the interval is two standard errors of a difference of two means. How do these depend "
        "on the number of runs?",
        law="2 × spread × √(2 ÷ runs) is the change at most; so runs = 8 × (spread ÷ change)², rounded up",
        working=f"8 × ({spread:g} ÷ {change:g})², rounded up",
        also_right=(exact,),
    )


def statement(draw: Random, answer: Shift) -> Exercise:
    """Which statement the runs of two sides allow."""
    before, after, figure = _sides(draw, answer)
    low, high = figure.interval or (math.nan, math.nan)
    shown = "\n".join(
        f"{name}  {'  '.join(f'{value:6,.0f}' for value in values)}"
        for name, values in (("before", before), ("after ", after))
    )
    wrong = [Distractor(_SAID[one], *_WHY_NOT[one]) for one in _SAID if one is not answer]
    wrong.append(
        Distractor(
            _EQUAL,
            "no difference shown, so none there",
            "Runs never show that. They can show that a change is smaller than a margin.",
        )
    )
    return choice(
        draw,
        f"IOPS of {len(before)} runs before an update and {len(after)} after it, in turns. A change of 5 % "
        f"matters. The ratio after ÷ before is {figure.ratio:.3f}, with a 95 % interval from {low:.3f} to "
        f"{high:.3f}. What may you say?",
        _SAID[answer],
        wrong,
        hint="Where does the interval lie: below 0.95, above it, or on both sides of it?",
        law="Wholly below 0.95: slower by more than the margin. Wholly above 1.05: faster by more than it. "
        "Above 0.95: not slower by more. Else undecided",
        working=f"the interval reaches from {low:.3f} to {high:.3f}",
        excerpt=shown,
    )


def _sides(draw: Random, answer: Shift) -> tuple[list[float], list[float], ComparedFigure]:
    """Runs of which azbench gives that answer, and the interval clearly allows it."""
    while True:
        runs, mean = draw.randint(5, 8), draw.randrange(2_000, 20_000, 10)
        spread = draw.uniform(0.01, 0.06 if answer is Shift.UNDECIDED else 0.02)
        ratio = 1 + draw.uniform(*_CHANGES[answer])
        before, after = (
            [float(round(draw.gauss(mean * one, spread * mean))) for _ in range(runs)] for one in (1, ratio)
        )
        figure = judged(before, after)
        if figure.answer is answer and figure.interval and said_by_interval(*figure.interval) is answer:
            return before, after, figure


def said_by_interval(low: float, high: float) -> Shift:
    """What an interval alone allows, read with the margin."""
    if high < 1 - STATED_MARGIN:
        return Shift.WORSE
    if low > 1 + STATED_MARGIN:
        return Shift.BETTER
    return Shift.NOT_WORSE if low >= 1 - STATED_MARGIN else Shift.UNDECIDED


_MISTAKES = {
    "single": Distractor(
        "One run a side does not tell how much runs differ",
        "runs that were repeated",
        "There were several runs a side here.",
    ),
    "means of percentiles": Distractor(
        "The mean of percentiles is no percentile of all reads",
        "percentiles that nobody averaged",
        "Read again which figure was reported, and how it came about.",
    ),
    "pooled": Distractor(
        "The I/Os of a run were taken for repeats",
        "I/Os that nobody took for repeats",
        "Of what is the number of values that the interval is made of: runs, or I/Os?",
    ),
    "in a row": Distractor(
        "All runs of one side came first: a trend over time looks like a change",
        "an order that is not told, or is right",
        "When did each run take place? That is told where it matters.",
    ),
    "no proof": Distractor(
        "That no difference was shown does not show that there is none",
        "a conclusion that nobody drew",
        "Read the last sentence again: is it about a difference, or about there being none?",
    ),
    "best": Distractor(
        "The best run of each side was chosen",
        "runs that nobody chose",
        "Were all runs used, or some of them?",
    ),
}


def mistake(draw: Random, kind: str) -> Exercise:
    """What is wrong with a comparison."""
    told, working = _told(draw, kind)
    at_once = {kind, "in a row"} if kind == "single" else {kind}  # of two single runs one is the first
    others = draw.sample([one for one in _MISTAKES if one not in at_once], 3)
    return choice(
        draw,
        f"{told} What is the mistake?",
        _MISTAKES[kind].text,
        [_MISTAKES[one] for one in others],
        hint="How many runs has each side, when did they take place, which of them were used, and what was "
        "made of them?",
        law="A comparison needs several runs a side, in turns, all of them used, one figure of each; and it "
        "shows at most that a change is smaller than a margin",
        working=working,
    )


def _told(draw: Random, kind: str) -> tuple[str, str]:
    """A comparison with that mistake, and what is wrong in it."""
    iops, runs = draw.randrange(2_000, 20_000, 10), draw.randint(4, 9)
    gain = draw.randint(2, 6)
    faster = round(iops * (1 + gain / _PER_CENT))
    if kind == "single":
        told = (
            f"A disk reached {iops:,} IOPS before an update and {faster:,} after it, each in one run of "
            f"{draw.choice((1, 2, 5, 10))} minutes. So the update brought {gain} %."
        )
        return told, "one run before, one after, and nothing to hold the difference against"
    if kind == "means of percentiles":
        values = [draw.randrange(40, 200) / 10 for _ in range(runs)]
        listed = ", ".join(f"{value:g}" for value in values)
        told = (
            f"p99 of {runs} runs was {listed} ms. The report says: “p99 of all reads of these runs is "
            f"{sum(values) / runs:.1f} ms.”"
        )
        return (
            told,
            f"{sum(values) / runs:.1f} ms is the mean of {runs} numbers; p99 of all reads comes from all "
            "reads",
        )
    if kind == "pooled":
        n = f"{draw.randrange(100, 900, 10)},000"
        told = (
            f"fio ran {runs} times with each driver, in turns, {n} reads a run. The mean latency fell by "
            f"{gain} %, and an interval that was calculated from all latencies of each side, {runs} × {n} "
            "of them, is ±0.1 %."
        )
        return told, f"each side has {runs} values that are independent of each other, and not {runs} × {n}"
    if kind == "in a row":
        told = (
            f"On Monday {runs} runs with the old driver reached {iops:,} IOPS on the average, on Tuesday "
            f"{runs} runs with the new one {faster:,}. All runs were used, and the interval of the ratio "
            "excludes 1."
        )
        return told, "whatever differs between Monday and Tuesday differs between the sides"
    if kind == "no proof":
        reach = draw.randint(7, 15)
        told = (
            f"{runs} runs with each driver, in turns: the ratio new ÷ old is {1 - gain / 1_000:.3f}, its 95 "
            f"% interval from {1 - reach / _PER_CENT:.2f} to {1 + reach / _PER_CENT:.2f}. It includes 1, so "
            "both are equally fast."
        )
        return told, f"the interval also includes a loss of {reach} %"
    told = (
        f"Each driver had {runs} runs, in turns, “to be fair to both”. The old one reached {iops:,} IOPS in "
        f"its best run, the new one {faster:,} in its best. So the new one is {gain} % faster."
    )
    return told, "a best run is the luckiest one, and nothing tells how often it comes"


def _reach(draw: Random) -> Exercise:
    return reach_of_interval(draw.randrange(10, 60) / 10, draw.randint(3, 20))


def _needed(draw: Random) -> Exercise:
    return runs_needed(draw.randrange(20, 80) / 10, draw.randrange(10, 40) / 10)


def _statement(draw: Random) -> Exercise:
    return statement(draw, draw.choice(list(_SAID)))


def _mistake(draw: Random) -> Exercise:
    return mistake(draw, draw.choice(list(_MISTAKES)))


REPEATED = {"statement": _statement, "needed": _needed, "mistake": _mistake, "reach": _reach}
