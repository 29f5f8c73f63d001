"""Setups that differ in their host caching alone, and yet in their rates by a factor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from azbenchlib.analyse.verdict.flow import rates
from azbenchlib.analyse.verdict.gates import Finding
from azbenchlib.analyse.verdict.judgement import Judgement
from azbenchlib.model.setup import Setup

if TYPE_CHECKING:
    from azbenchlib.analyse.runs import Run

FACTOR = 3.0  # what no spread between runs explains
NOT_EXPLAINED = ("page_cache", "unknown")  # verdicts that do not say what the disk did


def with_ratios(
    judged: Sequence[tuple[Run, Judgement]], setups: Mapping[str | None, Setup]
) -> list[tuple[Run, Judgement]]:
    """The judgements, with a finding where the same test on the same disk with another host caching is at
    least three times as fast and the verdict does not explain it. Medians over block sizes are compared.
    """
    by_kind: dict[tuple[object, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    kinds = [_kind(run, setups[run.setup_id]) for run, _ in judged]
    for (run, _), (kind, caching) in zip(judged, kinds, strict=True):
        moved = rates(run.flows[0].observation).bytes_per_s
        if kind is not None and moved:
            by_kind[kind][caching].append(moved)
    found = []
    for (run, got), (kind, caching) in zip(judged, kinds, strict=True):
        unexplained = bool(got.binding) and got.binding[0] in NOT_EXPLAINED
        finding = _slower(by_kind[kind], caching) if kind is not None and unexplained else None
        found.append((run, replace(got, findings=(*got.findings, finding)) if finding else got))
    return found


def _kind(run: Run, setup: Setup) -> tuple[tuple[object, ...] | None, str]:
    """What must be the same for a comparison, and the caching that may differ."""
    remote = [disk for disk in setup.disks if not disk.local]
    if len(run.flows) != 1 or len(setup.disks) != 1 or not remote:
        return None, ""
    disk, seen = remote[0], run.flows[0].observation
    same = (disk.sku, disk.tier, disk.size_bytes, disk.role, setup.vm.size, run.test, seen.direct)
    return (*same, seen.queue_depth, seen.numjobs), disk.caching


def _slower(groups: Mapping[str, Sequence[float]], caching: str) -> Finding | None:
    mine = median(groups[caching]) if groups.get(caching) else 0.0
    others = {name: median(some) for name, some in groups.items() if name != caching}
    fastest = max(others, key=lambda name: others[name], default=None)
    if fastest is None or not mine or others[fastest] < FACTOR * mine:
        return None
    times = others[fastest] / mine
    what = (
        f"{times:.1f} times slower with host caching {caching} than with {fastest}, on the same kind of disk"
    )
    return Finding(
        "warning",
        "caching_ratio",
        f"{what}; these data do not tell the cause",
        "Run both again with direct I/O, in turns",
    )
