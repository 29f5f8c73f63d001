"""Verdicts of published cases: measurements are judged, worked examples are what the model delivers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from azbenchlib.analyse import cases
from azbenchlib.analyse.verdict.gates import Finding
from azbenchlib.analyse.verdict.judgement import FlowVerdict, Judgement, LimitRow, judge_flows
from azbenchlib.analyse.verdict.rows import other_rows, resolved, rows
from azbenchlib.analyse.verdict.sweep import judge_sweep
from azbenchlib.analyse.verdict.words import words
from azbenchlib.errors import InputError
from azbenchlib.model.limits import Delivered

# What reading a file of others can end in: keys that are missing, and values of another kind.
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
_PARTS: dict[str, Any] = {"vm": None, "disks": [], "job": {}, "demand": None, "observed": None}


def judge_case(case: cases.Case) -> Judgement:
    """The verdict on one case; a finding tells where there is none to give."""
    if case.get("kind") in cases.WITHOUT_STORAGE:
        what = f"a case of kind {case['kind']} tells nothing of what limits storage"
        return nothing([Finding("info", "no_storage_verdict", what)])
    try:
        whole = _whole(case)
        return _measured(whole) if whole["observed"] else _delivered(whole)
    except (InputError, *MALFORMED) as error:
        what = str(error) if isinstance(error, InputError) else f"the case cannot be read: {error!r}"
        return nothing([Finding("warning", "not_decidable", what)], ("unknown",))


def _whole(case: cases.Case) -> cases.Case:
    """The case with each of its parts, empty where it has none."""
    return {**case, **{name: case.get(name) or empty for name, empty in _PARTS.items()}}


def nothing(findings: Sequence[Finding], binding: tuple[str, ...] = ()) -> Judgement:
    """A judgement without a verdict, for the reasons that the findings tell."""
    sentence = f"No verdict: {findings[0].message}"
    return Judgement(binding, 0.0, False, None, {}, sentence, (), (), tuple(findings), None, None, None)


def _measured(case: cases.Case) -> Judgement:
    stated = cases.stated_setup(case)
    setup, findings = resolved(stated, cases.SNAPSHOT)
    where, others = rows(setup, stated), other_rows(setup)
    points = cases.sweep_of(case)
    flows = [cases.flows_of(point, setup) for point in points]
    if len(points) > 1:
        found = judge_sweep([part for flow in flows for part in flow], setup, rows=where, other_rows=others)
    elif "," in (case["job"].get("rw") or "") or len(flows[0]) == 1:
        found = judge_flows(flows[0], setup, rows=where, other_rows=others)
    else:  # reads and writes that were measured one after the other
        found = judge_sweep(flows[0], setup, rows=where, other_rows=others)
    return replace(found, findings=(*findings, *found.findings))


def _delivered(case: cases.Case) -> Judgement:
    got = cases.deliver_case(case)
    if not got.binding:
        raise InputError("the case has no disk and no target, so nothing is delivered")
    setup = cases.setup_of(case)
    where = rows(setup, cases.stated_setup(case))
    limits = _limit_rows(got, where, setup.as_of)
    findings = () if limits else (Finding("info", "no_documented_limit", "no limit is documented here"),)
    sentence = words(got.binding, 1.0, None, None)
    flow = FlowVerdict(
        "mixed",
        "model",
        got.binding,
        1.0,
        None,
        dict.fromkeys(got.binding[:1], 1.0),
        got.iops,
        got.bytes_per_s,
        limits,
        findings,
        None,
        sentence,
    )
    return Judgement(
        got.binding,
        1.0,
        flow.tie,
        None,
        flow.posterior,
        sentence,
        (flow,),
        limits,
        findings,
        None,
        got.iops,
        got.bytes_per_s,
    )


def _limit_rows(got: Delivered, where: dict[str, str], as_of: str | None) -> tuple[LimitRow, ...]:
    found: dict[str, LimitRow] = {}
    for use in got.limits:
        before = found.get(use.label)
        if before is None or use.utilisation > before.utilisation:
            row = where.get(use.label.replace("_burst", ""))
            found[use.label] = LimitRow(use.label, use.cap, use.utilisation, row, as_of)
    return tuple(sorted(found.values(), key=lambda row: (-row.utilisation, row.label)))
