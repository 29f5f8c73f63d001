"""Runs of two phases: a burst until its credits are spent, and the base afterwards. Their mean is no rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.core.units import format_count, format_mbps, format_span
from azbenchlib.model.credits import Bucket
from azbenchlib.model.labels import Label
from azbenchlib.verdict.candidates import Level, Route, Stage
from azbenchlib.verdict.likelihoods import HARD, LOOSEST

_AT_LEVEL = (0.9, LOOSEST)  # measured ÷ limit of a phase that the limit held
_BELOW_BURST = 0.9  # measured ÷ burst limit, up to which a mean is of two phases


@dataclass(frozen=True, kw_only=True)
class TwoPhases:
    """A burst and the base after it, of one limit.

    Parameters
    ----------
    stage : Stage
    burst_s, base_s : float
        How long each lasted, in the time of Azure where credits last shorter than there.
    burst_ratio, base_ratio : float
        Rate of each ÷ the rate that was judged.
    mean : float
        Of the whole run, in IOPS or bytes per second.
    sampled : bool
        Whether the rate over time shows them; else they follow from mean and length, by the model of credits.
    """

    stage: Stage
    burst_s: float
    base_s: float
    burst_ratio: float
    base_ratio: float
    mean: float
    sampled: bool

    def in_words(self) -> str:
        """Such as: 3,500 IOPS for 30 min, then 120; their mean, 1,843, is no rate."""
        levels = (self.stage.burst or self.stage.base, self.stage.base)
        burst, base = (
            level.value * (self.use_of(self.stage, level) if self.sampled else 1) for level in levels
        )
        iops = self.stage.quantity == "iops"
        high, low, mean = (
            format_count(round(rate)) if iops else format_mbps(rate) for rate in (burst, base, self.mean)
        )
        said = f"{high} {'IOPS' if iops else 'MB/s'} for {format_span(self.burst_s)}, then {low}"
        return f"{said}; {'their' if self.sampled else 'the measured'} mean, {mean}, is no rate"

    def use_of(self, stage: Stage, level: Level) -> float:
        """Rate ÷ limit: of a base that bursts in the phase after the burst, of all others in the burst."""
        after = stage.burst is not None and level is stage.base
        return level.use * (self.base_ratio if after else self.burst_ratio)


def two_phases(flow: Flow, route: Route, named: Sequence[Label]) -> TwoPhases | None:
    """The phases of a run that spent the credits of a limit which is named.

    Parameters
    ----------
    flow : Flow
        As it was measured.
    route : Route
        Of the settled flow.
    named : sequence of Label
        What the verdict names.
    """
    for stage in route.stages:
        if stage.burst is not None and {stage.base.label, stage.burst.label} & set(named):
            found = _sampled(flow, stage) if flow.levels else _of_mean(flow, stage, route)
            if found:
                return found
    return None


def _sampled(flow: Flow, stage: Stage) -> TwoPhases | None:
    """The first level at the burst with the next one at the base."""
    judged, whole = flow.settled.observation.iops, flow.observation.iops
    if not judged or not whole or stage.burst is None:
        return None
    ratios = [level.mean / judged for level in flow.levels]
    high = next((i for i, ratio in enumerate(ratios) if _fits(stage.burst.use * ratio)), None)
    if high is None:
        return None
    low = next((i for i, ratio in enumerate(ratios) if i > high and _fits(stage.base.use * ratio)), None)
    if low is None:
        return None
    first, last, cut = flow.levels[high], flow.levels[low], flow.observation.credits_cut
    return TwoPhases(
        stage=stage,
        burst_s=(last.start_s - first.start_s) * cut,
        base_s=(last.end_s - last.start_s) * cut,
        burst_ratio=ratios[high],
        base_ratio=ratios[low],
        mean=stage.base.use * stage.base.value * whole / judged,
        sampled=True,
    )


def _fits(use: float) -> bool:
    return _AT_LEVEL[0] <= use <= _AT_LEVEL[1]


def _of_mean(flow: Flow, stage: Stage, route: Route) -> TwoPhases | None:
    """What the credits let through in a run whose mean lies between the burst and the base; None where
    another limit would have held such a burst.
    """
    seen = flow.observation
    burst, base = stage.burst, stage.base
    between = burst is not None and base.use > HARD and burst.use < _BELOW_BURST
    if not between or burst is None or not seen.runtime_s or rates(seen).from_latency:
        return None
    mean, runtime_s = base.use * base.value, seen.runtime_s * seen.credits_cut
    burst_s = runtime_s * (mean - base.value) / (burst.value - base.value)
    full_s = Bucket(base.value, burst.value).time_to_empty()
    if burst_s > full_s * LOOSEST or not math.isfinite(full_s):
        return None
    spent_s = min(burst_s, full_s)
    expected = (spent_s * burst.value + (runtime_s - spent_s) * base.value) / runtime_s
    others = (other.highest(seen.credit_time_s) for other in route.stages if other is not stage)
    if any(level.least_use * burst.value / expected > HARD for level in others):
        return None
    return TwoPhases(
        stage=stage,
        burst_s=spent_s,
        base_s=runtime_s - spent_s,
        burst_ratio=burst.value / expected,
        base_ratio=base.value / expected,
        mean=mean,
        sampled=False,
    )
