"""Runs of two phases: a burst until its credits are spent, and the base afterwards. Their mean is no rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.core.units import format_count, format_mbps, format_span
from azbenchlib.model.credits import Bucket
from azbenchlib.model.labels import Label
from azbenchlib.verdict.candidates import Route, Stage
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
        How long each lasted.
    burst_use, base_use : float
        Rate ÷ limit in each.
    mean : float
        Of the whole run, in IOPS or bytes per second.
    sampled : bool
        Whether the rate over time shows them; else they follow from mean and length, by the model of credits.
    """

    stage: Stage
    burst_s: float
    base_s: float
    burst_use: float
    base_use: float
    mean: float
    sampled: bool

    def in_words(self) -> str:
        """Such as: 3,500 IOPS for 30 min, then 120; their mean, 1,843, is no rate."""
        burst, base = (self.stage.burst or self.stage.base).value, self.stage.base.value
        if self.sampled:
            burst, base = burst * self.burst_use, base * self.base_use
        iops = self.stage.quantity == "iops"
        high, low, mean = (
            format_count(round(rate)) if iops else format_mbps(rate) for rate in (burst, base, self.mean)
        )
        said = f"{high} {'IOPS' if iops else 'MB/s'} for {format_span(self.burst_s)}, then {low}"
        return f"{said}; {'their' if self.sampled else 'the measured'} mean, {mean}, is no rate"

    def use_of(self, label: Label) -> float | None:
        """Rate ÷ limit in the phase that a limit held; None: it is another limit."""
        if self.stage.burst and label == self.stage.burst.label:
            return self.burst_use
        return self.base_use if label == self.stage.base.label else None


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
            found = _sampled(flow, stage) if flow.levels else _of_mean(flow, stage)
            if found:
                return found
    return None


def _sampled(flow: Flow, stage: Stage) -> TwoPhases | None:
    """The first level at the burst with the next one at the base."""
    judged, whole = flow.settled.observation.iops, flow.observation.iops
    if not judged or not whole or stage.burst is None:
        return None
    uses = [(stage.burst.use * one.mean / judged, stage.base.use * one.mean / judged) for one in flow.levels]
    high = next((i for i, (burst, _) in enumerate(uses) if _fits(burst)), None)
    if high is None:
        return None
    low = next((i for i, (_, base) in enumerate(uses) if i > high and _fits(base)), None)
    if low is None:
        return None
    first, last = flow.levels[high], flow.levels[low]
    return TwoPhases(
        stage=stage,
        burst_s=last.start_s - first.start_s,
        base_s=last.end_s - last.start_s,
        burst_use=uses[high][0],
        base_use=uses[low][1],
        mean=stage.base.use * stage.base.value * whole / judged,
        sampled=True,
    )


def _fits(use: float) -> bool:
    return _AT_LEVEL[0] <= use <= _AT_LEVEL[1]


def _of_mean(flow: Flow, stage: Stage) -> TwoPhases | None:
    """What the credits let through in a run whose mean lies between the burst and the base."""
    seen = flow.observation
    burst, base = stage.burst, stage.base
    between = burst is not None and base.use > HARD and burst.use < _BELOW_BURST
    if not between or burst is None or not seen.runtime_s or rates(seen).from_latency:
        return None
    mean = base.use * base.value
    burst_s = seen.runtime_s * (mean - base.value) / (burst.value - base.value)
    full_s = Bucket(base.value, burst.value).time_to_empty() / seen.credits_cut
    if burst_s > full_s * LOOSEST or not math.isfinite(full_s):
        return None
    spent_s = min(burst_s, full_s)
    expected = (spent_s * burst.value + (seen.runtime_s - spent_s) * base.value) / seen.runtime_s
    return TwoPhases(
        stage=stage,
        burst_s=spent_s,
        base_s=seen.runtime_s - spent_s,
        burst_use=mean / expected,
        base_use=mean / expected,
        mean=mean,
        sampled=False,
    )
