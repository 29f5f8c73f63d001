"""A comparison in words: the sentence of the result, the rows of its table, and the remarks beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from azbenchlib.analysis.compare.cells import ComparedFigure, Scope, Shift
from azbenchlib.analysis.compare.comparison import ComparedPair, CompareTerms, ComparisonResult, JudgedRule
from azbenchlib.analysis.compare.more_runs import MOST_RUNS
from azbenchlib.core.units import NBSP

_FAR = 1000
_LEAST = "are the least that can answer"
_WORTH_NAMING = 0.01  # of a change, as a logarithm
_NAMED = 3  # figures that the first sentence names
_ORDER = (Shift.WORSE, Shift.UNDECIDED, Shift.NOT_WORSE)
_CONDITION = {
    Shift.WORSE: "holds",
    Shift.NOT_WORSE: "does not hold",
    Shift.UNDECIDED: "is undecided",
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


def result_sentence(comparison: ComparisonResult) -> str:
    """The first line: the answer, with what makes it so."""
    terms = comparison.terms
    figures = [one for pair in comparison.pairs for one in pair.figures]
    lost = sum(len(pair.lost) for pair in comparison.pairs)
    parts = []
    if terms.rules:
        parts.append(_of_rules([one for pair in comparison.pairs for one in pair.rules]))
    if terms.judges_margin:
        begins = comparison.result is Shift.UNDECIDED and not parts
        parts.append(_of_figures(figures, terms, begins))
    if lost:
        parts.append(f"{lost} workload{'s' if lost > 1 else ''} of the baseline without a partner")
    return f"{comparison.result.value.capitalize()}: {'; '.join(parts)}."


def _of_figures(figures: Sequence[ComparedFigure], terms: CompareTerms, is_named: bool) -> str:
    """How many figures have each answer; `is_named`: after the word undecided, which is not repeated."""
    n = Counter(one.answer for one in figures)
    worse, undecided = n[Shift.WORSE], n[Shift.UNDECIDED]
    margin = percent(terms.margin)
    texts = []
    if worse:
        first = sorted((one for one in figures if one.answer is Shift.WORSE), key=_change, reverse=True)
        named = ", ".join(f"{figure_name(one)} {times(one.ratio)}" for one in first[:_NAMED])
        more = f" and {worse - _NAMED} more" if worse > _NAMED else ""
        texts.append(f"{worse} of {len(figures)} figures by more than {margin} ({named}{more})")
    if undecided:
        largest = "" if worse else _largest(figures)
        which = f"{undecided} of {len(figures)} figures{'' if is_named else ' undecided'}"
        texts.append(f"{which}{_to_settle(figures)}{largest}")
    if n[Shift.NOT_WORSE]:
        every = "all " if n[Shift.NOT_WORSE] == len(figures) else ""
        texts.append(f"{every}{n[Shift.NOT_WORSE]} figures not worse by more than {margin}")
    return "; ".join(texts)


def _of_rules(judged: Sequence[JudgedRule]) -> str:
    texts = []
    for rule in dict.fromkeys(one.rule for one in judged):
        mine = [one for one in judged if one.rule == rule]
        failed = [one.figure for one in mine if one.answer is Shift.WORSE and one.figure]
        unsure = sum(one.answer is Shift.UNDECIDED for one in mine)
        if failed:
            named = ", ".join(f"{figure_name(one)} {times(one.ratio)}" for one in failed[:_NAMED])
            more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
            texts.append(f"{rule.text} holds for {named}{more}")
        elif unsure:
            texts.append(f"{rule.text} is undecided for {unsure} of {len(mine)} figures")
        else:
            texts.append(f"{rule.text} holds for none of {len(mine)} figures")
    return "; ".join(texts)


def _to_settle(figures: Sequence[ComparedFigure]) -> str:
    open_ = [one for one in figures if one.answer is Shift.UNDECIDED]
    known = [one.runs_needed for one in open_ if one.runs_needed is not None]
    if not known:
        return ""
    which = "" if len(known) == len(open_) else f"{len(known)} of them "
    what = f"would settle {which or 'them'}".rstrip() if _spread_known(open_) else _LEAST
    return f" ({runs_text(max(known))} of each side, all together, {what})"


def _spread_known(figures: Sequence[ComparedFigure]) -> bool:
    """Whether a number of runs is more than the least that can answer: repeats tell how runs differ."""
    return all(len(one.evidence.a) > 1 < len(one.evidence.b) for one in figures)


def _largest(figures: Sequence[ComparedFigure]) -> str:
    """The largest change among the undecided; nothing where none is beyond a hundredth."""
    open_ = [one for one in figures if one.answer is Shift.UNDECIDED and one.ratio]
    if not open_:
        return ""
    first = max(open_, key=lambda one: abs(_change(one)))
    if abs(_change(first)) < _WORTH_NAMING:
        return ""
    return f", the largest change in {figure_name(first)} {times(first.ratio)}"


def _change(one: ComparedFigure) -> float:
    return one.evidence.metric.worsening(one.ratio) if one.ratio else -inf


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
    """The answer; of what is undecided, how many more runs settle it."""
    if one.answer is not Shift.UNDECIDED:
        return one.answer.value
    more = one.more_runs
    if more is None:
        spread_known = one.evidence.scope == Scope.RUNS
        return f"undecided, over {MOST_RUNS} runs" if spread_known else f"undecided: {one.why}"
    return f"undecided, {_more_text(more)}"


def _more_text(more: tuple[int, int]) -> str:
    """``3 more of each``, ``2 more old and 3 more new``."""
    a, b = more
    if a == b:
        return f"{a} more of each"
    return " and ".join(f"{n} more {who}" for n, who in ((a, "old"), (b, "new")) if n)


def _alike(pair: ComparedPair) -> list[ComparedFigure]:
    """The undecided figures where there are several and the same is to be said of all; else none."""
    open_ = [one for one in pair.figures if one.answer is Shift.UNDECIDED]
    return open_ if len(open_) > 1 and len(set(map(answer_text, open_))) == 1 else []


def _said_once(pair: ComparedPair) -> list[str]:
    """How many more runs settle the undecided figures, where no cell of the table says so."""
    alike = _alike(pair)
    if not alike:
        return []
    more = alike[0].more_runs
    if more is None:  # why that is so is told beside
        many = f"Undecided ({len(alike)}): over {MOST_RUNS} runs of each side would be needed."
        return [many] if alike[0].evidence.scope == Scope.RUNS else []
    what = "would settle each" if _spread_known(alike) else _LEAST
    runs = f"{more[0]} more run{'s' if more[0] > 1 else ''} of each side"
    return [f"Undecided ({len(alike)}): {runs if more[0] == more[1] else f'{_more_text(more)} runs'} {what}."]


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


def by_workload(pair: ComparedPair) -> dict[str, list[ComparedRow]]:
    """The figures as text, by workload: those with something worse first, then the undecided. What is to be
    said of each undecided one is among the :func:`remarks` where it is the same for all.
    """
    found: dict[str, list[ComparedRow]] = {}
    short = Shift.UNDECIDED.value if _alike(pair) else ""
    for one in pair.figures:
        text = short if short and one.answer is Shift.UNDECIDED else answer_text(one)
        found.setdefault(one.evidence.workload.name, []).append(_row(one, text))
    worst = {name: min(_ORDER.index(row.kind) for row in rows) for name, rows in found.items()}
    return dict(sorted(found.items(), key=lambda item: worst[item[0]]))


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
    found += _said_once(pair)
    if any(_needs_too_many(one) for one in pair.figures):
        found.append(
            f"Where over {MOST_RUNS} runs would be needed, runs differ too much for this margin: take longer "
            "runs, a machine that does nothing else, or a larger margin."
        )
    few = [one for one in pair.figures if min(len(one.evidence.a), len(one.evidence.b)) < pair.least_runs]
    if few and not comparison.terms.within_run:
        found.append(
            f"Nothing is called worse with fewer than {runs_text(pair.least_runs)} a side: a disk in one of "
            "two states, such as with and without burst credits, could differ as much by chance."
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


def _needs_too_many(one: ComparedFigure) -> bool:
    undecided = one.answer is Shift.UNDECIDED and one.evidence.scope == Scope.RUNS
    return undecided and one.more_runs is None


def method(comparison: ComparisonResult) -> str:
    """How the table is to be read."""
    terms = comparison.terms
    return (
        f"Medians of runs (their number); ratio new ÷ old of geometric means, with "
        f"{percent(terms.confidence)} interval; margin {percent(terms.margin)}."
    )
