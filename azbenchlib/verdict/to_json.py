"""A judgement as plain data, for JSON. MB/s is 10⁶ B/s; limits in MB/s are too."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from azbenchlib.core.findings import Finding
from azbenchlib.core.units import MB
from azbenchlib.model.limits import rounded
from azbenchlib.verdict.judgement import FlowVerdict, Judgement, LimitRow


def record(name: str, judged: Judgement) -> dict[str, Any]:
    """One judgement by the name of its run or case."""
    return {
        "id": name,
        "binding": list(judged.binding),
        "tie": judged.tie,
        "probability": round(judged.probability, 4),
        "runner_up": judged.runner_up,
        "words": judged.words,
        "achieved": _achieved(judged),
        "flows": [_flow(flow) for flow in judged.flows],
        "points": [_point(point) for point in judged.points],
        "limits": [_limit(row) for row in judged.limits],
        "findings": [_finding(finding) for finding in judged.findings],
        "next_run": asdict(judged.next_run) if judged.next_run else None,
        "open_fact": judged.open_fact,
        "why_no_run": judged.why_no_run,
        "likely_setup": judged.likely_setup,
    }


def _achieved(judged: Judgement | FlowVerdict) -> dict[str, float | None]:
    moved = judged.bytes_per_s
    return {"iops": judged.iops, "mbps": None if moved is None else rounded(moved / MB)}


def _flow(flow: FlowVerdict) -> dict[str, Any]:
    return {
        "ddir": flow.ddir,
        "path": flow.path.name,
        "binding": list(flow.binding),
        "probability": round(flow.probability, 4),
        "runner_up": flow.runner_up,
        "achieved": _achieved(flow),
        "posterior": {label: round(part, 4) for label, part in flow.posterior.items()},
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity,
        "code": finding.code,
        "message": finding.message,
        "advice": finding.advice,
    }


def _point(point: Judgement) -> dict[str, Any]:
    return {
        "binding": list(point.binding),
        "tie": point.tie,
        "probability": round(point.probability, 4),
        "achieved": _achieved(point),
    }


def _limit(row: LimitRow) -> dict[str, Any]:
    scale = MB if row.label.quantity == "mbps" else 1
    return {**asdict(row), "value": rounded(row.value / scale), "utilisation": rounded(row.utilisation)}
