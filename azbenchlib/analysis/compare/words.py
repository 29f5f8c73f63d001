"""A comparison in words: the rows of its table, and the remarks beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.analysis.compare.by_workload import WorkloadFigures
from azbenchlib.analysis.compare.cells import ComparedFigure, JudgedRule, Scope, Shift
from azbenchlib.analysis.compare.comparison import ComparedPair, ComparisonResult
from azbenchlib.analysis.compare.judging import DRIFT
from azbenchlib.analysis.compare.more_runs import MOST_RUNS
from azbenchlib.analysis.compare.ratio import INTERVAL_ALPHA, Method
from azbenchlib.analysis.compare.run_order import INTERLEAVE
from azbenchlib.core.units import NBSP, format_count

_FAR = 1000
_CONDITION = {
    Shift.WORSE: "holds",
    Shift.NOT_WORSE: "does not hold",
    Shift.UNDECIDED: "is undecided",
}
_METHODS = {
    Method.TREND_REMOVED: "Judged with the trend over time taken out ({n}): the sides ran in turns.",
    Method.RANKS: "Judged by ranks ({n}), as some runs are far from the others; the ratio is that of typical "
    "runs.",
}
ONE_RUN_NOTE = (
    "An interval in brackets is from single runs: it tells how well each run knows its own figure, not how "
    "much runs differ, which is usually more."
)


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """A row of the table, as text."""

    workload: str
    metric: str
    a: str
    b: str
    ratio: str
    interval: str
    answer: str
    kind: Shift


def percent(share: float) -> str:
    """``5 %``."""
    return f"{100 * share:.6g}{NBSP}%"


def runs_text(n: int) -> str:
    """``1 run``, ``5 runs``."""
    return f"{n:,}{NBSP}run{'' if n == 1 else 's'}"


def spread_known(figures: Sequence[ComparedFigure]) -> bool:
    """Whether a number of runs is more than the least that can answer: repeats tell how runs differ."""
    return all(len(one.evidence.a) > 1 < len(one.evidence.b) for one in figures)


def figure_name(one: ComparedFigure) -> str:
    """``p99 of 4 KiB random reads, 8 outstanding``."""
    return f"{one.evidence.metric.title} of {one.evidence.workload.name}"


def times(ratio: float | None) -> str:
    """``×1.034``; nothing where there is none."""
    if ratio is None:
        return ""
    if ratio == 0 or 1e-3 <= ratio < 1e4:
        return f"×{ratio:.3f}" if ratio < 10 else f"×{ratio:,.1f}"
    return f"×{ratio:.2g}"


def answer_text(one: ComparedFigure) -> str:
    """The answer; of what is undecided, what would settle it."""
    if one.answer is not Shift.UNDECIDED:
        return one.answer.value
    if one.why == DRIFT:
        return f"undecided, {INTERLEAVE}"
    if one.more_at_least is None:
        over = one.evidence.scope == Scope.RUNS
        return f"undecided, over {MOST_RUNS} runs" if over else f"undecided: {one.why}"
    if one.more_runs is None:
        return f"undecided, at least {_more_text(one.more_at_least)}"
    a, b = one.more_at_least, one.more_runs
    few = f"{a[0]} to " if a[0] == a[1] < b[0] == b[1] else ""
    return f"undecided, {few}{_more_text(b)}"


def _more_text(more: tuple[int, int]) -> str:
    """``3 more of each``, ``2 more old and 3 more new``."""
    a, b = more
    if a == b:
        return f"{a} more of each"
    return " and ".join(f"{n} more {who}" for n, who in ((a, "old"), (b, "new")) if n)


def _alike(pair: ComparedPair) -> list[ComparedFigure]:
    """The undecided figures where the same is to be said of all; else none."""
    open_ = [one for one in pair.figures if one.answer is Shift.UNDECIDED]
    return open_ if len(set(map(answer_text, open_))) == 1 else []


def _said_once(pair: ComparedPair) -> list[str]:
    """What would settle the undecided figures, where no cell of the tables says so."""
    alike = _alike(pair)
    if not alike or alike[0].why == DRIFT:  # which tells it
        return []
    first, many = alike[0], f"Undecided ({len(alike)})"
    more = first.more_runs or first.more_at_least
    if more is None:  # why that is so is told beside
        over = f"{many}: over {MOST_RUNS} runs of each side would be needed."
        return [over] if first.evidence.scope == Scope.RUNS else []
    same = f"{more[0]} more run{'s' if more[0] > 1 else ''} of each side"
    runs = same if more[0] == more[1] else f"{_more_text(more)} runs"
    if not spread_known(alike):
        return [f"{many}: {runs} are the least that can answer."]
    return [f"{many}: {runs} settle each." if first.more_runs else f"{many}: at least {runs} are needed."]


def _how_sure(pair: ComparedPair) -> list[str]:
    """What the numbers of further runs mean."""
    known = [one for one in pair.figures if one.runs_at_least and spread_known([one])]
    said = {
        True: "The largest number of more runs that is named settles a figure with 95 % probability, even if "
        "one run in ten stalls; fewer often do.",
        False: 'Of "at least", no number is promised: so few runs may not have met a state of the disk that '
        "shows in one of ten, and the change may be as large as the margin.",
    }
    return [text for promised, text in said.items() if promised in {bool(one.runs_needed) for one in known}]


def interval_text(one: ComparedFigure) -> str:
    """``0.981 to 1.012``; in brackets where it is of single runs."""
    if one.interval is None:
        return ""
    text = " to ".join(_end_text(value) for value in one.interval)
    return f"[{text}]" if one.evidence.scope == Scope.ONE_RUN else text


def _end_text(value: float) -> str:
    """An end of an interval; beyond a factor of 1,000 the figure says nothing more."""
    if value < 1 / _FAR:
        return f"below {1 / _FAR}"
    return f"above {_FAR:,}" if value > _FAR else times(value).removeprefix("×")


def rows(pair: ComparedPair, workload: WorkloadFigures) -> list[ComparedRow]:
    """The figures of a workload as text. What would settle an undecided one is among the :func:`remarks`
    where it is the same for all.
    """
    short = Shift.UNDECIDED.value if _alike(pair) else ""
    return [
        _row(one, short if short and one.answer is Shift.UNDECIDED else answer_text(one))
        for one in workload.figures
    ]


def _row(one: ComparedFigure, answer: str) -> ComparedRow:
    metric = one.evidence.metric
    a, b = ("" if value is None else metric.shown(value) for value in one.medians)
    return ComparedRow(
        workload=one.evidence.workload.name,
        metric=metric.title,
        a=_with_runs(a, len(one.evidence.a)),
        b=_with_runs(b, len(one.evidence.b)),
        ratio=times(one.ratio),
        interval=interval_text(one),
        answer=answer,
        kind=one.answer,
    )


def _with_runs(text: str, n: int) -> str:
    return f"{text} ({n})" if text else ""


def remarks(comparison: ComparisonResult, pair: ComparedPair) -> list[str]:
    """What is to be known beside the table, a sentence each."""
    found = []
    reasons = Counter(one.why for one in pair.figures if one.answer is Shift.UNDECIDED and one.why)
    found += [f"Differs: {one.sentence}." for one in pair.differences]
    found += [f"{one.rule.text} {_CONDITION[one.answer]} for {_whose(one)}." for one in pair.rules]
    found += [f"Undecided ({n}): {why}." for why, n in reasons.items()]
    found += _said_once(pair) + _how_sure(pair)
    found += _ways(pair)
    if any(_needs_too_many(one) for one in pair.figures):
        found.append(
            f"Where over {MOST_RUNS} runs would be needed, runs differ too much for this margin: take longer "
            "runs, a machine that does nothing else, or a larger margin."
        )
    few = [one for one in pair.figures if min(len(one.evidence.a), len(one.evidence.b)) < pair.least_runs]
    if few and not comparison.terms.within_run:
        found.append(
            f"Nothing is called worse or better with fewer than {runs_text(pair.least_runs)} a side: a disk "
            "in one of two states, such as with and without burst credits, could differ as much by chance."
        )
    found += [
        f"In {runs_text(n)} of {name} the rate had phases, such as a burst and the base; the figure is the "
        "mean over the whole run, and depends on the run time and on the credits at its start."
        for name, n in zip((pair.a, pair.b), pair.phased, strict=True)
        if n
    ]
    if any(one.evidence.scope == Scope.ONE_RUN for one in pair.figures):
        found.append(ONE_RUN_NOTE)
    found += [f"Only {pair.a} has: {name}." for name in pair.lost]
    found += [f"Only {pair.b} has: {name}." for name in pair.added]
    return found


def _whose(judged: JudgedRule) -> str:
    return figure_name(judged.figure) if judged.figure else "any workload, as none has this metric"


def _ways(pair: ComparedPair) -> list[str]:
    """How figures were judged where that is not the usual way, and rates that the jobs themselves limit."""
    decided = [one for one in pair.figures if one.answer is not Shift.UNDECIDED and one.estimate]
    methods = Counter(one.estimate.method for one in decided if one.estimate)
    told = {method: text.format(n=methods[method]) for method, text in _METHODS.items() if methods[method]}
    limits = {
        one.evidence.workload.name: rate
        for one in pair.figures
        if (rate := dict(one.evidence.workload.key).get("rate_iops"))
    }
    return [*told.values(), *(_limited(name, rate) for name, rate in limits.items())]


def _limited(name: str, rate: str) -> str:
    said = " and ".join(format_count(float(one)) for one in rate.split(" and "))
    return f"{name}: the jobs limit their rate to {said} IOPS, so it does not tell what the disk could do."


def _needs_too_many(one: ComparedFigure) -> bool:
    undecided = one.answer is Shift.UNDECIDED and one.evidence.scope == Scope.RUNS
    return undecided and one.more_at_least is None and one.why != DRIFT


def method(comparison: ComparisonResult) -> str:
    """How the table is to be read."""
    terms = comparison.terms
    return (
        f"Medians of runs (their number); ratio new ÷ old of geometric means, with "
        f"{percent(1 - INTERVAL_ALPHA)} interval; margin {percent(terms.margin)}. Not worse: that interval "
        "shows no change to the worse by more than the margin. Worse, better: with "
        f"{percent(terms.confidence)} confidence over all figures together."
    )
