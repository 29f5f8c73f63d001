"""Verdicts of published cases: measurements are judged, worked examples are what the model delivers."""

from __future__ import annotations

from dataclasses import replace

from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.model.ceilings import Path
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import Delivered
from azbenchlib.verdict.cases import read
from azbenchlib.verdict.cases.schema import parsed, unknown_keys
from azbenchlib.verdict.judgement import FlowVerdict, Judgement, LimitRow, judge_flows
from azbenchlib.verdict.limit_sources import other_rows, resolved, rows
from azbenchlib.verdict.sweep import judge_sweep
from azbenchlib.verdict.text import words


def judge_case(case: read.Case) -> Judgement:
    """The verdict on one case; a finding says why where there is none."""
    if case.get("kind") in read.WITHOUT_STORAGE:
        what = f"a case of kind {case['kind']} says nothing of what limits storage"
        return Judgement.undecided([Finding.of(Code.NO_STORAGE_VERDICT, what)])
    try:
        whole = parsed(case)
        found = _measured(whole) if whole["observed"] else _delivered(whole)
        unknown = [Finding.of(Code.UNKNOWN_CASE_KEY, text) for text in unknown_keys(case)]
        return replace(found, findings=(*unknown, *found.findings))
    except InputError as error:
        return Judgement.undecided([Finding.of(Code.NOT_DECIDABLE, str(error))], (Label.UNKNOWN,))


def _measured(case: read.Case) -> Judgement:
    stated = read.stated_setup(case)
    setup, findings = resolved(stated, read.SNAPSHOT)
    where, others = rows(setup, stated), other_rows(setup)
    points = [parsed(point) for point in read.sweep_of(case)]
    flows = [read.flows_of(point, setup) for point in points]
    if len(points) > 1:
        found = judge_sweep([part for flow in flows for part in flow], setup, rows=where, other_rows=others)
    elif "," in (case["job"].get("rw") or "") or len(flows[0]) == 1:
        found = judge_flows(flows[0], setup, rows=where, other_rows=others)
    else:  # reads and writes that were measured one after the other
        found = judge_sweep(flows[0], setup, rows=where, other_rows=others)
    return replace(found, findings=(*findings, *found.findings))


def _delivered(case: read.Case) -> Judgement:
    got = read.deliver_case(case)
    if not got.binding:
        raise InputError("the case has no disk and no target, so nothing is delivered")
    setup = read.setup_of(case)
    where = rows(setup, read.stated_setup(case))
    limits = _limit_rows(got, where, setup.as_of)
    findings = () if limits else (Finding.of(Code.NO_DOCUMENTED_LIMIT, "no limit is documented here", ""),)
    binding = tuple(map(Label, got.binding))
    sentence = words(binding, 1.0, None, None)
    flow = FlowVerdict(
        ddir="mixed",
        path=Path("model"),
        binding=binding,
        probability=1.0,
        posterior=dict.fromkeys(binding[:1], 1.0),
        words=sentence,
        iops=got.iops,
        bytes_per_s=got.bytes_per_s,
        limits=limits,
        findings=findings,
    )
    return Judgement.of([flow])


def _limit_rows(got: Delivered, where: dict[str, str], as_of: str | None) -> tuple[LimitRow, ...]:
    found: dict[str, LimitRow] = {}
    for use in got.limits:
        before = found.get(use.label)
        if before is None or use.utilisation > before.utilisation:
            label = use.label
            row = where.get(label.base)
            found[use.label] = LimitRow(
                label=label, value=use.cap, utilisation=use.utilisation, row=row, as_of=as_of
            )
    return tuple(sorted(found.values(), key=lambda row: (-row.utilisation, row.label)))
