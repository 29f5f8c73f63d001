"""The answers about figures that are judged together: worse, better, not worse, or undecided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log1p

from azbenchlib.analysis.compare.cells import ComparedFigure, Evidence, JudgedRule, Scope, Shift
from azbenchlib.analysis.compare.more_runs import Question, runs_settling
from azbenchlib.analysis.compare.ranks import RankEstimate, by_ranks, least_p
from azbenchlib.analysis.compare.ratio import FEWEST_RUNS, Estimate, holm, least_runs, two_states
from azbenchlib.analysis.compare.rules import FailRule
from azbenchlib.analysis.compare.run_order import INTERLEAVE, SideDrift
from azbenchlib.analysis.compare.terms import CompareTerms

Tested = tuple[float, Estimate | RankEstimate]  # p-value of a change beyond a bound, and what gave it
_TOLERATES_DRIFT = 0.01  # margin below which a trend counts that is too small to show
DRIFT = (
    "the sides ran one after the other, and a trend over time could be the change; "
    f"measure them anew and {INTERLEAVE}"
)
_TWO_STATES = "so few runs may have met two states of the disk, such as with and without burst credits"
_BOTH = "the interval includes both a change within the margin and one beyond it"


def figures_judged(
    every: Sequence[Evidence], terms: CompareTerms, workloads: int, *, plan: bool = True
) -> list[ComparedFigure]:
    """Return the answers about figures that are judged together, in their order.

    Parameters
    ----------
    every : sequence of Evidence
    terms : CompareTerms
    workloads : int
        How many workloads they are of, without their directions.
    plan : bool
        Whether to tell how many runs would settle what is undecided.
    """
    worse, better = (
        _adjusted(
            _tested(
                one, log1p(way * one.metric.sign * terms.margin), way * one.metric.sign, terms, len(every)
            )
            for one in every
        )
        for way in (1, -1)
    )
    judged = [
        _answered(one, (down, up), terms, workloads)
        for one, down, up in zip(every, worse, better, strict=True)
    ]
    return [_planned(one, terms, len(every), workloads) for one in judged] if plan else judged


def rules_judged(
    cases: Sequence[tuple[FailRule, ComparedFigure | None]], terms: CompareTerms, workloads: int
) -> list[JudgedRule]:
    """Return whether conditions hold (worse), each for its figure, adjusted by Holm over all of them."""
    tests = _adjusted(
        _tested(one.evidence, rule.log_bound, rule.sign, terms, len(cases)) if one else None
        for rule, one in cases
    )
    return [
        JudgedRule(rule, one, _rule_answer(rule, one, test, terms, workloads))
        for (rule, one), test in zip(cases, tests, strict=True)
    ]


def _tested(one: Evidence, log_bound: float, sign: int, terms: CompareTerms, family: int) -> Tested | None:
    """The p-value of a ratio beyond a bound, before it is adjusted; None where nothing can be said.

    Notes
    -----
    The smaller one of Welch's test and of ranks, doubled, where there are enough runs for ranks to show
    anything; the larger one of both estimates where a trend over time may have made the change.
    """
    if one.estimate is None or not _counts(one, terms):
        return None
    p = one.estimate.p_beyond(log_bound, sign)
    if one.drift is not None and _drifts(one.drift, terms):
        return max(p, one.drift.estimate.p_beyond(log_bound, sign)), one.estimate
    if one.scope is not Scope.RUNS or 2 * family * least_p(len(one.a), len(one.b)) > terms.alpha / 2:
        return p, one.estimate
    ranks = by_ranks(one.a, one.b, one.estimate.slack)
    by_rank = ranks.p_beyond(log_bound, sign)
    return min(2 * min(p, by_rank), 1.0), ranks if by_rank < p else one.estimate


def _drifts(drift: SideDrift, terms: CompareTerms) -> bool:
    return drift.shows or terms.margin < _TOLERATES_DRIFT


def _counts(one: Evidence, terms: CompareTerms) -> bool:
    """Whether an estimate may be judged: it is from enough runs, or the user wants one run to be enough."""
    if one.scope == Scope.ONE_RUN:
        return terms.within_run
    return one.scope == Scope.RUNS and min(len(one.a), len(one.b)) >= FEWEST_RUNS


def _adjusted(tests: Iterable[Tested | None]) -> list[Tested | None]:
    """Holm's adjustment over all figures; those of which nothing can be said count too."""
    known = list(tests)
    adjusted = holm([1.0 if test is None else test[0] for test in known]) if known else []
    return [None if test is None else (p, test[1]) for test, p in zip(known, adjusted, strict=True)]


def _excludes_two_states(one: Evidence, terms: CompareTerms, workloads: int) -> bool:
    return one.scope == Scope.ONE_RUN or workloads * two_states(len(one.a), len(one.b)) <= terms.alpha


def _answered(
    one: Evidence, tests: tuple[Tested | None, Tested | None], terms: CompareTerms, workloads: int
) -> ComparedFigure:
    """The answer about a figure from the tests of worse and better, without what would settle it."""
    worse, better = tests
    estimate: Estimate | RankEstimate | None = one.estimate
    answer, why = Shift.UNDECIDED, one.why
    if worse is not None and better is not None and one.estimate is not None:
        (p, test), changed = min((worse, Shift.WORSE), (better, Shift.BETTER), key=lambda way: way[0][0])
        low, high = one.estimate.interval()
        end = high if one.metric.sign > 0 else low
        inside = one.metric.worsening(end) <= one.metric.log_margin(terms.margin)
        beyond = p <= terms.alpha / 2
        if beyond and _excludes_two_states(one, terms, workloads):
            answer, estimate, why = changed, test, ""
        elif not beyond and _may_be_drift(one, terms):
            why = DRIFT
        elif inside:
            answer, why = Shift.NOT_WORSE, ""
        else:
            why = _TWO_STATES if beyond else _BOTH
    elif one.scope == Scope.RUNS:
        why = f"fewer than {FEWEST_RUNS} runs a side"
    return ComparedFigure(
        evidence=one,
        answer=answer,
        estimate=estimate,
        interval=estimate.interval() if estimate else None,
        p_value=worse[0] if worse else None,
        p_better=better[0] if better else None,
        why=why,
    )


def _may_be_drift(one: Evidence, terms: CompareTerms) -> bool:
    """Whether a change shows that a trend over time may have made."""
    if one.drift is None or one.estimate is None or not _drifts(one.drift, terms):
        return False
    ways = (1, -1)
    return any(one.estimate.p_beyond(log1p(way * terms.margin), way) <= terms.alpha / 2 for way in ways)


def _planned(one: ComparedFigure, terms: CompareTerms, family: int, workloads: int) -> ComparedFigure:
    """A figure with how many runs a side settle it; at the least those without which nothing is decided."""
    evidence, least = one.evidence, least_runs(workloads, terms.alpha)
    a, b = len(evidence.a), len(evidence.b)
    if one.answer is not Shift.UNDECIDED or not (a and b) or min(*evidence.a, *evidence.b) <= 0:
        return one
    if min(a, b) < 2:
        return replace(one, runs_at_least=max(least, a, b)) if evidence.scope is not Scope.RUNS else one
    if (
        evidence.estimate is None or one.why == DRIFT
    ):  # of sides in turns, nothing is known of how they differ
        return one
    question = Question(
        runs=(a, b),
        estimate=evidence.estimate,
        sign=evidence.metric.sign,
        margin=terms.margin,
        alpha=terms.alpha / 2,
        family=family,
        least=least,
    )
    at_least, enough = runs_settling(question)
    return replace(one, runs_needed=enough, runs_at_least=at_least)


def _rule_answer(
    rule: FailRule, one: ComparedFigure | None, test: Tested | None, terms: CompareTerms, workloads: int
) -> Shift:
    if one is None or test is None or one.evidence.estimate is None:
        return Shift.UNDECIDED
    if test[0] <= terms.alpha / 2 and _excludes_two_states(one.evidence, terms, workloads):
        return Shift.WORSE
    low, high = one.evidence.estimate.interval()
    outside = high <= 1 + rule.bound if rule.sign > 0 else low >= 1 + rule.bound
    return Shift.NOT_WORSE if outside else Shift.UNDECIDED
