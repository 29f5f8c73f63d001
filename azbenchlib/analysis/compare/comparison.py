"""Sides compared: each workload of the first, the baseline, against the same one of each other side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from azbenchlib.analysis.compare import matching
from azbenchlib.analysis.compare.cells import ComparedFigure, Evidence, JudgedRule, Shift
from azbenchlib.analysis.compare.differences import Difference, differences
from azbenchlib.analysis.compare.evidence import evidence, side_figures
from azbenchlib.analysis.compare.judging import figures_judged, rules_judged
from azbenchlib.analysis.compare.metrics import DEFAULT_METRICS, Metric, parse_metrics
from azbenchlib.analysis.compare.ratio import FEWEST_RUNS, least_runs
from azbenchlib.analysis.compare.rules import FailRule
from azbenchlib.analysis.compare.terms import CompareTerms
from azbenchlib.core.errors import InputError

Tables = Mapping[str, pd.DataFrame]
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
        Runs a side below which nothing can be worse or better: two states of a disk could explain it.
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
        """Worse where anything is, else better, else undecided where anything is."""
        answers = set(self.answers)
        return next(
            (one for one in (Shift.WORSE, Shift.BETTER, Shift.UNDECIDED) if one in answers),
            Shift.NOT_WORSE,
        )

    @property
    def is_undecided(self) -> bool:
        """Whether nothing is worse, and not everything is shown to be not worse."""
        return Shift.WORSE not in self.answers and Shift.UNDECIDED in self.answers


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
    too few runs to exclude a disk of two states are no evidence. "Better" is the same on the other side.
    Where there are enough runs, a test by ranks stands beside it, for runs that stall; a trend over time is
    taken out of sides that ran in turns. "Not worse" is a 95 % interval of the ratio that lies within the
    margin: it needs no adjustment, as the comparison passes only if every figure does.
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


def _with_rules(pairs: Sequence[ComparedPair], terms: CompareTerms, workloads: int) -> list[ComparedPair]:
    """The pairs with the conditions judged, all together."""
    cases: list[tuple[int, FailRule, ComparedFigure | None]] = []
    for i, pair in enumerate(pairs):
        for rule in terms.rules:
            mine = [one for one in pair.figures if one.evidence.metric == rule.metric]
            cases += [(i, rule, one) for one in mine] or [(i, rule, None)]
    judged = rules_judged([(rule, one) for _, rule, one in cases], terms, workloads)
    own: list[list[JudgedRule]] = [[] for _ in pairs]
    for (i, *_), one in zip(cases, judged, strict=True):
        own[i].append(one)
    return [replace(pair, rules=tuple(some)) for pair, some in zip(pairs, own, strict=True)]


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
    found = evidence(old, new, common, metrics, every=bool(terms.metrics))
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
