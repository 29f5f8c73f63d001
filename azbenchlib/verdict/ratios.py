"""Setups that differ in their host caching alone, and yet in their rates by a factor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from azbenchlib.analysis.flow import rates
from azbenchlib.core.findings import Code, Finding
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Setup
from azbenchlib.verdict.text import PROBABLY

if TYPE_CHECKING:
    from azbenchlib.analysis.runs import Run
    from azbenchlib.verdict.run_verdicts import Judged

FACTOR = 3.0  # what no spread between runs explains
NOT_EXPLAINED = (Label.PAGE_CACHE, Label.UNKNOWN)  # verdicts that do not say what the disk did


def with_ratios(judged: Sequence[Judged]) -> list[Judged]:
    """The judgements, with a finding where the same test on the same disk with another host caching is at
    least three times as fast and the verdict does not explain it surely; medians over block
    sizes are compared.
    """
    by_kind: dict[tuple[object, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    kinds = [_kind(one.run, one.setup) for one in judged]
    for one, (kind, caching) in zip(judged, kinds, strict=True):
        moved = rates(one.run.flows[0].observation).bytes_per_s
        if kind is not None and moved:
            by_kind[kind][caching].append(moved)
    return [
        _with_ratio(one, by_kind[kind], caching) if kind is not None else one
        for one, (kind, caching) in zip(judged, kinds, strict=True)
    ]


def _with_ratio(judged: Judged, groups: Mapping[str, Sequence[float]], caching: str) -> Judged:
    judgement = judged.judgement
    unexplained = bool(judgement.binding) and (
        judgement.binding[0] in NOT_EXPLAINED or judgement.probability < PROBABLY
    )
    finding = _slower(groups, caching) if unexplained else None
    if finding is None:
        return judged
    return replace(judged, judgement=replace(judgement, findings=(*judgement.findings, finding)))


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
    return Finding.of(
        Code.CACHING_RATIO,
        f"{what}; these data do not tell the cause",
    )
