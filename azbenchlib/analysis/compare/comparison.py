"""Sides compared: each workload of the first, the baseline, against the same one of each other side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

import pandas as pd

from azbenchlib.analysis.compare import matching
from azbenchlib.analysis.compare.cells import ComparedFigure, Evidence, Scope, Shift
from azbenchlib.analysis.compare.differences import Difference, differences
from azbenchlib.analysis.compare.evidence import evidence, side_figures
from azbenchlib.analysis.compare.metrics import DEFAULT_METRICS, Metric, parse_metrics
from azbenchlib.analysis.compare.more_runs import Question, runs_needed
from azbenchlib.analysis.compare.ratio import FEWEST_RUNS, holm, least_runs, two_states
from azbenchlib.analysis.compare.rules import FailRule
from azbenchlib.core.errors import InputError

Tables = Mapping[str, pd.DataFrame]
DEFAULT_MARGIN, DEFAULT_CONFIDENCE = 0.05, 0.99
_LISTED = 4  # workloads that a sentence names


@dataclass(frozen=True, kw_only=True)
class ComparedSide:
    """A side as it is given.

    Attributes
    ----------
    name : str
        What the user calls it.
    tables : mapping of str to DataFrame
    setup : str or None
        Only the runs of this setup_id; None: all.
    """

    name: str
    tables: Tables
    setup: str | None = None


@dataclass(frozen=True, kw_only=True)
class CompareTerms:
    """How sides are compared.

    Attributes
    ----------
    margin : float
        Relative change to the worse that does not count; 0 to below 1.
    confidence : float
        Of all answers "worse" together, and of each interval; above 0.5, below 1.
    metrics : tuple of Metric
        Empty: those of :data:`DEFAULT_METRICS` that there are.
    rules : tuple of FailRule
        Conditions of the user's own.
    judges_margin : bool
        Whether the answers about the margin count in the result, beside the conditions.
    within_run : bool
        Whether a single run a side may be judged, by what it tells of itself.

    Raises
    ------
    InputError
        For a number outside its range.
    """

    margin: float = DEFAULT_MARGIN
    confidence: float = DEFAULT_CONFIDENCE
    metrics: tuple[Metric, ...] = ()
    rules: tuple[FailRule, ...] = ()
    judges_margin: bool = True
    within_run: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 1:
            raise InputError(f"margin {self.margin:g} is not from 0 to below 1 (100 %)")
        if not 0.5 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence:g} is not above 0.5 (50 %) and below 1 (100 %)")

    @property
    def alpha(self) -> float:
        """Two-sided error; half of it is the family-wise error of "worse"."""
        return 1 - self.confidence


@dataclass(frozen=True)
class JudgedRule:
    """A condition and a figure: whether the condition is shown to hold (worse), shown not to, or neither."""

    rule: FailRule
    figure: ComparedFigure | None
    answer: Shift


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """The baseline and one other side.

    Attributes
    ----------
    a, b : str
        Their names.
    figures : tuple of ComparedFigure
    lost, added : tuple of str
        Workloads that only the baseline has, and those that only the other side has.
    differences : tuple of Difference
    rules : tuple of JudgedRule
    phased : tuple of int
        Runs of each side in which the rate had phases, such as a burst and the base.
    least_runs : int
        Runs a side below which nothing can be worse: two states of a disk could explain it.
    """

    a: str
    b: str
    figures: tuple[ComparedFigure, ...]
    lost: tuple[str, ...]
    added: tuple[str, ...]
    differences: tuple[Difference, ...]
    rules: tuple[JudgedRule, ...] = ()
    phased: tuple[int, int] = (0, 0)
    least_runs: int = FEWEST_RUNS


@dataclass(frozen=True)
class ComparisonResult:
    """All pairs, and the terms on which they were compared."""

    terms: CompareTerms
    pairs: tuple[ComparedPair, ...] = field(default=())

    @property
    def answers(self) -> list[Shift]:
        """Everything that counts in the result: figures, conditions, and workloads that were lost."""
        found = [one.answer for pair in self.pairs for one in pair.rules]
        if self.terms.judges_margin:
            found += [one.answer for pair in self.pairs for one in pair.figures]
        return found + [Shift.UNDECIDED for pair in self.pairs for _ in pair.lost]

    @property
    def result(self) -> Shift:
        """Worse where anything is, else undecided where anything is."""
        answers = set(self.answers)
        return next(
            (one for one in (Shift.WORSE, Shift.UNDECIDED) if one in answers),
            Shift.NOT_WORSE,
        )


@dataclass(frozen=True, kw_only=True)
class _Open:
    """A pair before its figures are judged."""

    a: ComparedSide
    b: ComparedSide
    evidence: list[Evidence]
    lost: list[str]
    added: list[str]
    differences: list[Difference]
    phased: tuple[int, int]
    workloads: int


def compare(sides: Sequence[ComparedSide], terms: CompareTerms | None = None) -> ComparisonResult:
    """Compare each further side with the first.

    Parameters
    ----------
    sides : sequence of ComparedSide
        At least two; the first is the baseline.
    terms : CompareTerms, optional

    Returns
    -------
    ComparisonResult
        Figures in the order of the baseline's workloads.

    Raises
    ------
    InputError
        For fewer than two sides, a run that stands on two of them, a side without a run, sides that have no
        workload in common, or no figure of one.

    Notes
    -----
    "Worse" is Welch's test on logarithms against the margin, adjusted by Holm over all figures of all pairs;
    and too few runs to exclude a disk of two states are no evidence. "Not worse" is an interval of the ratio
    that lies within the margin: it needs no adjustment, as the comparison passes only if every figure does.
    """
    terms = terms or CompareTerms()
    if len(sides) < 2:
        raise InputError("a comparison needs two sides: a baseline, and what is compared with it")
    opened = [_open(sides[0], other, terms) for other in sides[1:]]
    every = [one for pair in opened for one in pair.evidence]
    if not every:
        raise InputError(
            f"{sides[0].name} and {sides[1].name} have no figure in common: "
            f"{', '.join(metric.name for metric in _metrics(terms))}"
        )
    workloads = sum(pair.workloads for pair in opened)
    judged = iter(figures_judged(every, terms, workloads))
    pairs = []
    for pair in opened:
        pairs.append(
            ComparedPair(
                a=pair.a.name,
                b=pair.b.name,
                figures=tuple(next(judged) for _ in pair.evidence),
                lost=tuple(pair.lost),
                added=tuple(pair.added),
                differences=tuple(pair.differences),
                phased=pair.phased,
                least_runs=least_runs(workloads, terms.alpha),
            )
        )
    return ComparisonResult(terms, tuple(_with_rules(pairs, terms, workloads)))


def figures_judged(
    every: Sequence[Evidence], terms: CompareTerms, workloads: int, *, plan: bool = True
) -> list[ComparedFigure]:
    """The answers about figures that are judged together, in their order.

    Parameters
    ----------
    every : sequence of Evidence
    terms : CompareTerms
    workloads : int
        How many workloads they are of, without their directions.
    plan : bool
        Whether to tell how many runs would settle what is undecided.
    """
    p_values = _adjusted([_p_value(one, terms) for one in every])
    judged = [_answered(one, p, terms, workloads) for one, p in zip(every, p_values, strict=True)]
    if not plan:
        return judged
    return [
        replace(one, runs_needed=_needed(one.evidence, terms, len(every), workloads))
        if one.answer is Shift.UNDECIDED
        else one
        for one in judged
    ]


def _metrics(terms: CompareTerms) -> tuple[Metric, ...]:
    """What is compared: the metrics that were named or are usual, and those of the conditions."""
    named = terms.metrics or parse_metrics(DEFAULT_METRICS)
    return tuple(dict.fromkeys([*named, *(rule.metric for rule in terms.rules)]))


def _open(a: ComparedSide, b: ComparedSide, terms: CompareTerms) -> _Open:
    runs = [_runs_of(side) for side in (a, b)]
    shared = {*runs[0].runs["run_id"]} & {*runs[1].runs["run_id"]}
    if shared:
        n = len({*runs[0].runs["run_id"]} | {*runs[1].runs["run_id"]})
        raise InputError(
            f"{a.name} and {b.name}: {len(shared)} of {n} runs are on both sides; "
            "compare runs with others, such as those before and after a change"
        )
    keys = matching.keyed(runs)
    names = matching.named(runs, keys)
    own = [dict.fromkeys(one) for one in keys]
    common = [names[key] for key in own[0] if key in own[1]]
    if not common:
        raise InputError(_no_common(a, b, [[names[key].name for key in one] for one in own], runs))
    metrics = _metrics(terms)
    old, new = (
        side_figures(side.tables, some, key, metrics)
        for side, some, key in zip((a, b), runs, keys, strict=True)
    )
    found = evidence(old, new, common, metrics, every=bool(terms.metrics), alpha=terms.alpha)
    return _Open(
        a=a,
        b=b,
        evidence=list(found),
        lost=[names[key].name for key in own[0] if key not in own[1]],
        added=[names[key].name for key in own[1] if key not in own[0]],
        differences=differences(a.tables, b.tables, *runs),
        phased=(runs[0].phased, runs[1].phased),
        workloads=len({tuple(part for part in one.key if part[0] != "ddir") for one in common}),
    )


def _runs_of(side: ComparedSide) -> matching.SideRuns:
    found = matching.side_runs(side.tables, side.setup)
    if found.units.empty:
        raise InputError(f"{side.name}: no run with a rate or a percentile; there is nothing to compare")
    return found


def _no_common(
    a: ComparedSide, b: ComparedSide, names: Sequence[Sequence[str]], runs: Sequence[matching.SideRuns]
) -> str:
    told = [f"{side.name} has {_listed(own)}" for side, own in zip((a, b), names, strict=True)]
    setups = [sorted({*one.units["setup"]} - {""}) for one in runs]
    several = [
        f"{side.name} has several setups; choose one with {side.name}/SETUP: {', '.join(own)}"
        for side, own in zip((a, b), setups, strict=True)
        if len(own) > 1
    ]
    return f"{a.name} and {b.name} have no workload in common: {'. '.join([*told, *several])}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{'; '.join(names[:_LISTED])}{more}"


def _p_value(one: Evidence, terms: CompareTerms) -> float | None:
    """Of "worse by more than the margin", before it is adjusted; None where nothing can be said."""
    if one.estimate is None or not _counts(one, terms):
        return None
    log_margin = one.metric.sign * one.metric.log_margin(terms.margin)
    return one.estimate.p_beyond(log_margin, one.metric.sign)


def _counts(one: Evidence, terms: CompareTerms) -> bool:
    """Whether an estimate may be judged: it is from enough runs, or the user wants one run to be enough."""
    if one.scope == Scope.ONE_RUN:
        return terms.within_run
    return one.scope == Scope.RUNS and min(len(one.a), len(one.b)) >= FEWEST_RUNS


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjustment over all figures; those of which nothing can be said count too."""
    adjusted = holm([1.0 if p is None else p for p in p_values])
    return [None if p is None else new for p, new in zip(p_values, adjusted, strict=True)]


def _excludes_two_states(one: Evidence, terms: CompareTerms, workloads: int) -> bool:
    return one.scope == Scope.ONE_RUN or workloads * two_states(len(one.a), len(one.b)) <= terms.alpha


def _answered(one: Evidence, p_value: float | None, terms: CompareTerms, workloads: int) -> ComparedFigure:
    """The answer about a figure, without what would settle it."""
    interval = one.estimate.interval(terms.alpha) if one.estimate else None
    answer, why = Shift.UNDECIDED, one.why
    if p_value is not None and interval is not None:
        end = interval[1] if one.metric.sign > 0 else interval[0]
        inside = one.metric.worsening(end) <= one.metric.log_margin(terms.margin)
        beyond = p_value <= terms.alpha / 2
        if beyond and _excludes_two_states(one, terms, workloads):
            answer, why = Shift.WORSE, ""
        elif inside:
            answer, why = Shift.NOT_WORSE, ""
        elif beyond:
            why = "so few runs may have met two states of the disk, such as with and without burst credits"
        else:
            why = "the interval includes both a change within the margin and one beyond it"
    elif one.scope == Scope.RUNS:
        why = f"fewer than {FEWEST_RUNS} runs a side"
    return ComparedFigure(
        evidence=one, answer=answer, interval=interval, p_value=p_value, runs_needed=None, why=why
    )


def _needed(one: Evidence, terms: CompareTerms, family: int, workloads: int) -> int | None:
    """How many runs a side settle it; at the least those without which nothing can be worse."""
    least = least_runs(workloads, terms.alpha)
    if not (one.a and one.b) or min(*one.a, *one.b) <= 0:
        return None
    if min(len(one.a), len(one.b)) < 2:
        return max(least, len(one.a), len(one.b)) if one.scope != Scope.RUNS else None
    return runs_needed(
        Question(
            a=[log(value) for value in one.a],
            b=[log(value) for value in one.b],
            sign=one.metric.sign,
            margin=one.metric.log_margin(terms.margin),
            slack=one.estimate.slack if one.estimate else 0.0,
            alpha=terms.alpha / 2,
            family=family,
            least=least,
        )
    )


def _with_rules(pairs: Sequence[ComparedPair], terms: CompareTerms, workloads: int) -> list[ComparedPair]:
    """The pairs with the conditions judged, adjusted by Holm over all of them."""
    cases: list[tuple[int, FailRule, ComparedFigure | None]] = []
    for i, pair in enumerate(pairs):
        for rule in terms.rules:
            mine = [one for one in pair.figures if one.evidence.metric == rule.metric]
            cases += [(i, rule, one) for one in mine] or [(i, rule, None)]
    raw = [
        one.evidence.estimate.p_beyond(rule.log_bound, rule.sign)
        if one and one.evidence.estimate and _counts(one.evidence, terms)
        else None
        for _, rule, one in cases
    ]
    found: list[list[JudgedRule]] = [[] for _ in pairs]
    for (i, rule, one), p_value in zip(cases, _adjusted(raw) if raw else [], strict=True):
        found[i].append(JudgedRule(rule, one, _rule_answer(rule, one, p_value, terms, workloads)))
    return [replace(pair, rules=tuple(own)) for pair, own in zip(pairs, found, strict=True)]


def _rule_answer(
    rule: FailRule, one: ComparedFigure | None, p_value: float | None, terms: CompareTerms, workloads: int
) -> Shift:
    if one is None or p_value is None or one.interval is None:
        return Shift.UNDECIDED
    if p_value <= terms.alpha / 2 and _excludes_two_states(one.evidence, terms, workloads):
        return Shift.WORSE
    low, high = one.interval
    outside = high <= 1 + rule.bound if rule.sign > 0 else low >= 1 + rule.bound
    return Shift.NOT_WORSE if outside else Shift.UNDECIDED
