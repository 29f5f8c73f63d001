"""The first sentence of a comparison: the answer, the largest change, how many figures have each answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from azbenchlib.analysis.compare.by_workload import kind_of
from azbenchlib.analysis.compare.cells import ComparedFigure, JudgedRule, Shift
from azbenchlib.analysis.compare.comparison import ComparisonResult
from azbenchlib.analysis.compare.metrics import Metric
from azbenchlib.analysis.compare.terms import CompareTerms
from azbenchlib.analysis.compare.words import (
    figure_name,
    interval_text,
    percent,
    runs_text,
    spread_known,
    times,
)

_WORTH_NAMING = 0.01  # of a change, as a logarithm
_NAMED = 3  # figures that a condition names
_ASIDE = (Shift.WORSE, Shift.BETTER, Shift.NOT_WORSE, Shift.UNDECIDED)


@dataclass(frozen=True)
class HeadlineFigure:
    """A value in a sentence, by the name that it has there."""

    name: str
    value: float
    text: str


Piece = str | HeadlineFigure


def headline(comparison: ComparisonResult, exit_code: int) -> list[Piece]:
    """Return the sentence in pieces: words, and figures.

    Parameters
    ----------
    comparison : ComparisonResult
    exit_code : int
        Of `azbench compare`; named where it tells of what is undecided though the answer is another one.
    """
    terms, pairs = comparison.terms, comparison.pairs
    figures = [one for pair in pairs for one in pair.figures]
    lost = sum(len(pair.lost) for pair in pairs)
    parts: list[list[Piece]] = []
    if terms.rules:
        parts.append([_of_rules([one for pair in pairs for one in pair.rules])])
    if terms.judges_margin:
        parts.append(_of_figures(figures, terms))
    if lost:
        parts.append([f"{lost} workload{'s' if lost > 1 else ''} of the baseline without a partner"])
    code = f" (exit code {exit_code})" if exit_code == 3 and comparison.result is Shift.BETTER else ""
    joined = chain.from_iterable(["; ", *part] for part in parts)
    return [f"{comparison.result.value.capitalize()}: ", *list(joined)[1:], f"{code}."]


def result_sentence(comparison: ComparisonResult, exit_code: int) -> str:
    """Return the sentence as text."""
    return "".join(one if isinstance(one, str) else one.text for one in headline(comparison, exit_code))


def _of_figures(figures: Sequence[ComparedFigure], terms: CompareTerms) -> list[Piece]:
    n = Counter(one.answer for one in figures)
    first = kind_of(figures)
    total, margin = len(figures), percent(terms.margin)
    mine = [one for one in figures if one.answer is first]
    if first is Shift.NOT_WORSE:
        return ["all ", _count(first, total), f" figures not worse by more than {margin}"]
    aside: list[Piece] = []
    for kind in _ASIDE:
        if kind is not first and (n[kind] or (first, kind) == (Shift.BETTER, Shift.WORSE)):
            aside += [", ", _count(kind, n[kind]), f" {kind.value}"]
    of: list[Piece] = [_count(first, n[first]), f" of {total} figures {first.value}"]
    if first is Shift.UNDECIDED:
        return [*_largest_open(mine), *of, _to_settle(mine), *aside]
    return [*_largest(mine, terms), *of, f" by more than {margin}", *aside]


def _count(kind: Shift, n: int) -> HeadlineFigure:
    return HeadlineFigure(f"figures {kind.value}", n, f"{n:,}" if n else "none")


def _largest(figures: Sequence[ComparedFigure], terms: CompareTerms) -> list[Piece]:
    """The largest change; of those that differ by less than the margin, first a rate."""
    most = max(one.change for one in figures)
    alike = [one for one in figures if one.change >= most - Metric("iops").log_margin(terms.margin)]
    one = max(alike, key=lambda one: (one.evidence.metric.percentile is None, one.change))
    interval = interval_text(one)
    within = "" if not interval else f" {interval}" if interval.startswith("[") else f" ({interval})"
    return [*_named(one), f"{within}; "]


def _largest_open(figures: Sequence[ComparedFigure]) -> list[Piece]:
    """The largest change among the undecided, where there is one worth naming."""
    one = max(figures, key=lambda one: one.change)
    if one.change < _WORTH_NAMING:
        return []
    return [*_named(one), " is different, but not repeated; " if one.is_unrepeated else " at the most; "]


def _named(one: ComparedFigure) -> list[Piece]:
    ratio = HeadlineFigure("largest change", one.ratio or 0.0, times(one.ratio))
    return [f"{one.evidence.workload.name}: {one.evidence.metric.title} ", ratio]


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
    """What would settle the undecided figures, in brackets."""
    least = [one.runs_at_least for one in figures if one.runs_at_least is not None]
    needed = [one.runs_needed for one in figures if one.runs_needed is not None]
    if len(needed) == len(figures):
        return f" ({runs_text(max(needed))} of each side, all together, settle them)"
    if not least:
        return ""
    runs = f"{runs_text(max(least))} of each side, all together, are"
    if not spread_known(figures):
        return f" ({runs} the least that can answer)"
    which = "" if len(least) == len(figures) else f" for {len(least)} of them"
    return f" (at least {runs} needed{which})"
