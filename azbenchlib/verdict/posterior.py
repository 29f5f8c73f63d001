"""From the candidates to probabilities: prior × likelihood, over every path, and what ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.analysis.flow import Flow, mean_latency_us, occupancy, rates
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.limits import TIE_REL
from azbenchlib.model.setup import Setup
from azbenchlib.verdict import evidence, likelihoods
from azbenchlib.verdict.candidates import Route, Stage
from azbenchlib.verdict.labels import Label

# Weights before anything is measured; our judgement, calibrated on a simulator. The limits on a path
# share theirs. With one I/O outstanding, its latency sets the rate unless something stronger does.
_LIMITS, _LATENCY, LATENCY_QD1, _UNKNOWN, UNKNOWN_QD1 = 0.55, 0.25, 0.8, 0.05, 0.01
ABOVE, DEMAND = 0.05, 0.3
EXHAUSTION, EXHAUSTION_FALL = 0.002, 0.1  # the latter where the rate was seen to fall
CPU_NOT_KNOWN, CPU_BUSY, CPU_IDLE = 0.03, 0.5, 0.002
_FEW = 4  # outstanding I/Os a job at which a latency bound is still likely
BASE_THOUGH_BURST = 0.5  # chance that credits are gone where nothing is known of them
BASE_THOUGH_CREDITS = 0.05
CREDITS_SPENT = 0.02  # chance that a burst lasts longer than full credits
UNLIKELY = 0.05
LEAST = 1e-9  # a label with less is left out
_ROUNDING = 1e-9  # 64,000 × 8 KiB is 1.024 times 512 MB/s: exactly as far apart as may tie


@dataclass(frozen=True)
class Posterior:
    """Probability by label, largest first; the likeliest path; and the labels that tie at the top."""

    probability: dict[Label, float]
    route: Route
    top: tuple[Label, ...]

    @property
    def sure(self) -> float:
        """Probability of the labels at the top together."""
        return min(1.0, sum(self.probability[label] for label in self.top))

    @property
    def runner_up(self) -> Label | None:
        """The likeliest label that is not among them."""
        return next((label for label in self.probability if label not in self.top), None)


def posterior(setup: Setup, flow: Flow, found: Sequence[Route]) -> Posterior:
    """Probabilities of all labels for one flow.

    Parameters
    ----------
    setup : Setup
    flow : Flow
    found : sequence of Route
        The paths that it may have taken, with the limits on them.
    """
    mass: dict[Label, float] = {}
    by_route = []
    for route in found:
        parts = _limits(flow, route) | _others(setup, flow, route)
        by_route.append(route.weight * sum(parts.values()))
        for label, part in parts.items():
            mass[label] = mass.get(label, 0.0) + route.weight * part
    memory = evidence.buffered(flow.observation)
    mass = {label: part * (1 - memory) for label, part in mass.items()}
    for label, part in _anywhere(flow, found).items():
        mass[label] = mass.get(label, 0.0) + part
    total = math.fsum(mass.values())
    ranked = sorted(mass.items(), key=lambda item: (-round(item[1] / total, 12), item[0]))
    probability = {label: part / total for label, part in ranked if part / total > LEAST}
    scale = math.fsum(probability.values())
    probability = {label: part / scale for label, part in probability.items()}
    best = found[by_route.index(max(by_route))]
    return Posterior(probability, best, _ties(probability, best))


def _limits(flow: Flow, route: Route) -> dict[Label, float]:
    """Each limit at its base and its burst, while the others hold."""
    runtime = flow.observation.runtime_s
    weight = _LIMITS / max(1, len(route.stages)) * _throttle_evidence(flow)
    parts = {}
    for stage in route.stages:
        loose = likelihoods.loose_share(stage.soft, runtime)
        others = math.prod(_holds(other, flow) for other in route.stages if other is not stage)
        for level in stage.levels():
            likely = likelihoods.bound(level.use, loose) * _level(stage, level.label, flow)
            parts[level.label] = weight * likely * others
    return parts


def _holds(stage: Stage, flow: Flow) -> float:
    runtime = flow.observation.runtime_s
    return likelihoods.holds(stage.highest(runtime).use, likelihoods.loose_share(stage.soft, runtime))


def _level(stage: Stage, label: Label, flow: Flow) -> float:
    """Chance that the limit stood at this level: credits come and go."""
    if stage.burst is None:
        return 1.0
    if label == stage.base.label:
        return BASE_THOUGH_CREDITS if flow.credits else BASE_THOUGH_BURST
    spent = flow.observation.runtime_s is not None and flow.observation.runtime_s > stage.lasts_s
    return CREDITS_SPENT if spent and not flow.credits else 1.0


def _throttle_evidence(flow: Flow) -> float:
    """What Little's law, the shape of the latencies and the spread of samples say for any limit."""
    weight = 1.0
    share = occupancy(flow.observation)
    if share is not None and share < evidence.IDLE:
        weight *= UNLIKELY
    spread = evidence.variation(flow.observation) if len(flow.levels) < 2 else None
    if spread is not None:
        weight *= 3.0 if spread < evidence.STEADY_CV else 0.5 if spread > evidence.UNSTEADY_CV else 1.0
    return weight


def _others(setup: Setup, flow: Flow, route: Route) -> dict[Label, float]:
    """What sets a rate below all limits of a path."""
    seen = flow.observation
    below = math.prod(_holds(stage, flow) for stage in route.stages)
    one = seen.queue_depth is not None and seen.queue_depth <= 1
    parts = {
        Label.LATENCY_QD: _latency(setup, flow, route),
        Label.UNKNOWN: (UNKNOWN_QD1 if one else _UNKNOWN) * likelihoods.OPEN,
        Label.HOST_CPU: _cpu(flow) * likelihoods.OPEN,
        Label.WORKLOAD_DEMAND: _demand(flow),
    }
    if any(v.disk.caching == "ReadWrite" and not v.disk.local for v in flow.driven(setup)):
        parts[Label.CACHE_EXHAUSTION] = (EXHAUSTION_FALL if flow.fell else EXHAUSTION) * likelihoods.OPEN
    return {label: part * below for label, part in parts.items()}


def _latency(setup: Setup, flow: Flow, route: Route) -> float:
    seen, got = flow.observation, rates(flow.observation)
    depth = seen.queue_depth
    few = depth is not None and depth <= _FEW * seen.numjobs
    weight = LATENCY_QD1 if depth is not None and depth <= 1 else 2 * _LATENCY if few else _LATENCY
    share = occupancy(seen)
    if evidence.queued(seen) or (share is not None and share < evidence.IDLE):
        weight *= UNLIKELY
    latency = depth * US_PER_S / got.iops if depth and got.iops else None
    if latency is None:
        return weight / likelihoods.ANY_DEPTH
    disk = next((volume.disk for volume in flow.driven(setup)), None)
    read_share = 1.0 if seen.read_share is None else seen.read_share
    expected = likelihoods.expected_latency(setup.vm, disk, route.serves, read_share)
    if got.from_latency:
        latency = mean_latency_us(seen) or latency
    return weight * likelihoods.unloaded(latency, expected, route.serves, got.bs_bytes, seen.unloaded_us)


def _cpu(flow: Flow) -> float:
    used = flow.observation.cpu_pct
    if used is None:
        return CPU_NOT_KNOWN
    return CPU_BUSY if used > evidence.BUSY_PCT else CPU_IDLE


def _demand(flow: Flow) -> float:
    """The workload asked for no more: as it says, or as Little's law does."""
    got, seen = rates(flow.observation), flow.observation
    asked = ((got.iops, seen.rate_iops), (got.bytes_per_s, flow.demand_bytes_per_s))
    known = [likelihoods.demanded(rate, most) for rate, most in asked if rate and most]
    share = occupancy(seen)
    idle = likelihoods.OPEN if share is not None and share < evidence.IDLE else 0.0
    return DEMAND * max([idle, *known])


def _anywhere(flow: Flow, found: Sequence[Route]) -> dict[Label, float]:
    """What does not keep to the limits: the page cache, a stalled cache, figures that do not hold."""
    seen = flow.observation
    tightest = min(route.tightest(seen.runtime_s) for route in found)
    parts = {
        Label.PAGE_CACHE: evidence.buffered(seen) * likelihoods.OPEN,
        Label.ABOVE_DOCUMENTED_LIMIT: (1 - evidence.buffered(seen)) * ABOVE * likelihoods.beyond(tightest),
    }
    return {label: part for label, part in parts.items() if part}


def _ties(probability: dict[Label, float], route: Route) -> tuple[Label, ...]:
    """The top label, with those limits of the path whose values are as near as Azure's own figures are."""
    top = next(iter(probability))
    uses = {level.label: level.use for stage in route.stages for level in stage.levels()}
    if top not in uses:
        return (top,)
    near = math.log(1 + TIE_REL) + _ROUNDING
    tied = [
        label
        for label in probability
        if label in uses and uses[label] > 0 and abs(math.log(uses[label] / uses[top])) <= near
    ]
    return tuple(tied)
