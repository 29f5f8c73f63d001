"""A comparison as plain data, for JSON."""

from __future__ import annotations

from typing import Any

from azbenchlib.analysis.compare.by_workload import WorkloadFigures, by_workload
from azbenchlib.analysis.compare.cells import ComparedFigure, JudgedRule
from azbenchlib.analysis.compare.comparison import ComparedPair, ComparisonResult
from azbenchlib.analysis.compare.headline import result_sentence
from azbenchlib.analysis.compare.ratio import INTERVAL_ALPHA


def record(comparison: ComparisonResult, exit_code: int) -> dict[str, Any]:
    """A comparison; what is not known is None."""
    terms = comparison.terms
    return {
        "result": comparison.result.value,
        "exit_code": exit_code,
        "sentence": result_sentence(comparison, exit_code),
        "margin": terms.margin,
        "confidence": terms.confidence,
        "interval_confidence": 1 - INTERVAL_ALPHA,
        "within_run": terms.within_run,
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _pair(pair: ComparedPair) -> dict[str, Any]:
    return {
        "old": pair.a,
        "new": pair.b,
        "least_runs": pair.least_runs,
        "workloads": [_workload(one) for one in by_workload(pair)],
        "figures": [_figure(one) for one in pair.figures],
        "conditions": [_condition(one) for one in pair.rules],
        "differences": [{"fact": one.fact, "old": one.a, "new": one.b} for one in pair.differences],
        "only_old": list(pair.lost),
        "only_new": list(pair.added),
    }


def _workload(one: WorkloadFigures) -> dict[str, Any]:
    ratios = {figure.evidence.metric.name: figure.ratio for figure in one.figures}
    return {"workload": one.name, "answer": one.kind.value, "ratios": ratios}


def _figure(one: ComparedFigure) -> dict[str, Any]:
    evidence = one.evidence
    a, b = one.medians
    more, least = one.more_runs, one.more_at_least
    return {
        "workload": evidence.workload.name,
        "metric": evidence.metric.name,
        "unit": evidence.metric.unit,
        "lat_kind": evidence.lat_kind or None,
        "old": {"median": a, "runs": list(evidence.a)},
        "new": {"median": b, "runs": list(evidence.b)},
        "ratio": one.ratio,
        "ratio_low": one.interval[0] if one.interval else None,
        "ratio_high": one.interval[1] if one.interval else None,
        "interval_covers": evidence.scope.value or None,
        "method": one.estimate.method.value if one.estimate else None,
        "p_value": one.p_value,
        "p_better": one.p_better,
        "answer": one.answer.value,
        "why": one.why or None,
        "runs_needed": one.runs_needed,
        "more_runs": {"old": more[0], "new": more[1]} if more else None,
        "runs_at_least": one.runs_at_least,
        "more_at_least": {"old": least[0], "new": least[1]} if least else None,
    }


def _condition(one: JudgedRule) -> dict[str, Any]:
    return {
        "condition": one.rule.text,
        "workload": one.figure.evidence.workload.name if one.figure else None,
        "holds": {"worse": True, "not worse": False}.get(one.answer.value),
    }
