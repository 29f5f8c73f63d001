"""Several runs of one setup, at several block sizes and queue depths: evidence for each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from azbenchlib.analysis.flow import Flow, mean_latency_us, rates
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.setup import Setup
from azbenchlib.verdict.judgement import Judgement, OtherRows, Rows, judge_flows

SAME = 0.1  # latencies that differ by less at different depths are not of a queue


def judge_sweep(
    flows: Sequence[Flow], setup: Setup, *, rows: Rows | None = None, other_rows: OtherRows | None = None
) -> Judgement:
    """Judge runs one by one, with the unloaded latency that the lightest of them show.

    Returns
    -------
    Judgement
        That of the run which used a limit most; all of them in `points`, in order.
    """
    others = [flow.observation for flow in flows]
    points = [
        judge_flows([flow], setup, rows=rows, other_rows=other_rows, other_runs=others)
        for flow in with_unloaded(flows)
    ]
    top = max(points, key=lambda point: max(flow.load for flow in point.flows))
    return replace(top, points=tuple(points))


def with_unloaded(flows: Sequence[Flow]) -> list[Flow]:
    """The flows with the unloaded latency of their block size and mix, where the lightest runs show it.

    That is the latency with one I/O outstanding; or of the lightest run, if a deeper one has the same.
    """
    groups: dict[tuple[object, ...], list[Flow]] = defaultdict(list)
    for flow in flows:
        groups[_kind(flow)].append(flow)
    found = {kind: _unloaded(group) for kind, group in groups.items()}
    return [_calibrated(flow, found[_kind(flow)]) for flow in flows]


def _calibrated(flow: Flow, unloaded: tuple[float, bool] | None) -> Flow:
    if unloaded is None or flow.observation.unloaded_us:
        return flow
    latency, own = unloaded
    if not own and (flow.observation.queue_depth or 1) <= 1:
        return flow  # its own latency proves nothing of what set it
    return replace(flow, observation=replace(flow.observation, unloaded_us=latency))


def _kind(flow: Flow) -> tuple[object, ...]:
    seen = flow.observation
    return flow.volumes, seen.read_share, seen.bs_bytes, seen.bs_write_bytes, seen.direct, flow.cache_hit


def _unloaded(group: Sequence[Flow]) -> tuple[float, bool] | None:
    """The unloaded latency, and whether it also speaks of the run that it is from."""
    points = sorted(
        (flow.observation.queue_depth, latency)
        for flow in group
        if flow.observation.queue_depth and (latency := _latency(flow))
    )
    if len({depth for depth, _ in points}) < 2:
        return None
    (depth, lightest), *rest = points
    deeper = [latency for other, latency in rest if other > depth]
    same = bool(deeper) and abs(deeper[0] / lightest - 1) < SAME
    return (lightest, same) if depth <= 1 or same else None


def _latency(flow: Flow) -> float | None:
    got, depth = rates(flow.observation), flow.observation.queue_depth
    measured = mean_latency_us(flow.observation)
    return measured or (depth * US_PER_S / got.iops if depth and got.iops else None)
