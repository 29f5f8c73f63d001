"""The checks of a flow against the limits on the paths that it may have taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import MB, format_count, format_us
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import BurstKind
from azbenchlib.verdict.candidates import Route, Stage
from azbenchlib.verdict.checks.run_checks import check_run
from azbenchlib.verdict.evidence import stalled
from azbenchlib.verdict.likelihoods import HARD

_NOT_HELD = (Label.ABOVE_DOCUMENTED_LIMIT, Label.PAGE_CACHE)  # of these no limit is the cause
_SHOWN = 4  # levels in one finding

FlowCheck = Callable[[Flow, Sequence[Route]], Iterator[Finding]]


def check_flow(flow: Flow, routes: Sequence[Route]) -> list[Finding]:
    """All findings about a flow: as a run, and by the limits on its paths."""
    checks: tuple[FlowCheck, ...] = (_documented, _stall, _derived_rate, _levels)
    return [*check_run(flow.observation), *(found for check in checks for found in check(flow, routes))]


def _documented(flow: Flow, routes: Sequence[Route]) -> Iterator[Finding]:
    lasted = flow.settled.observation.credit_time_s
    if not any(route.stages for route in routes):
        yield Finding.of(Code.NO_DOCUMENTED_LIMIT, "no limit is documented for this I/O on this setup")
    elif all(route.stages and route.tightest(lasted) > HARD for route in routes):
        use = min(route.tightest(lasted) for route in routes)
        what = f"{use:.2f} times what the documented limits allow: one of these figures does not hold here"
        yield Finding.of(Code.ABOVE_DOCUMENTED_LIMIT, what)


def doubtful_figures(route: Route, named: Sequence[Label], rows: Mapping[str, str]) -> Iterator[Finding]:
    """Where a limit that is named has two figures in print, or a burst of which none is known.

    Parameters
    ----------
    route : Route
    named : sequence of Label
        By the verdict.
    rows : mapping of str to str
        Where each limit is documented, by label.
    """
    differing = [level.label for stage in route.stages for level in stage.levels() if level.others]
    for label in differing:
        if label in named and label in rows:
            yield Finding.of(
                Code.FIGURES_DIFFER, f"{label.display_name} has two documented figures: {rows[label]}"
            )
    for stage in route.stages:
        if stage.open_burst and stage.base.use > HARD:
            what = (
                f"no page at hand tells whether the VM bursts above "
                f"{stage.base.label.phrase(_amount(stage.base.value, stage.quantity))}, or how far"
            )
            yield Finding.of(Code.BURST_NOT_KNOWN, what)
            return


def base_not_told(flow: Flow, stage: Stage, possible: Sequence[Route] = ()) -> Finding:
    """That credits carried the run: how long full ones last, and that the base was not seen.

    Where the base depends on what is not stated, `possible` has the paths that are likely.
    """
    same = [stage, *(one for route in possible for one in route.stages if _is_burst_of(one, stage))]
    lowest, highest = (pick(one.base.value for one in same) for pick in (min, max))
    base = f" of {_amount(highest, stage.quantity)}"
    if lowest < highest:
        fewest = _amount(lowest, stage.quantity).split()[0]
        base = f", {fewest} to {_amount(highest, stage.quantity)} depending on what is not stated"
    runtime, lasts_s = flow.observation.runtime_s, stage.lasts_s / flow.observation.credits_cut
    lasts = f"{lasts_s / 60:,.0f} min" if lasts_s >= 120 else f"{lasts_s:.0f} s"
    seen = f"this run of {runtime:.0f} s" if runtime else "this run"
    whose = "of the VM" if stage.burst_kind == BurstKind.VM_CREDITS else "of the disk"
    what = f"burst: full credits {whose} last {lasts} at this rate, so {seen} cannot show the base{base}"
    return Finding.of(Code.BASE_NOT_SEEN, what, f"Run longer than {lasts} to see it")


def _is_burst_of(one: Stage, other: Stage) -> bool:
    """Whether two stages burst to the same limit."""
    return bool(one.burst and other.burst and one.burst.label == other.burst.label)


def base_not_seen(flow: Flow, route: Route, named: Sequence[Label]) -> Stage | None:
    """The limit that is named, where credits carried the run over its base and it ended before full ones
    are spent; the first such limit where no limit is named.

    Parameters
    ----------
    flow : Flow
        As it was measured: a run whose rate fell to the base has seen it, whatever rate is judged.
    route : Route
        Of the settled flow.
    named : sequence of Label

    Returns
    -------
    Stage or None
    """
    runtime = flow.observation.credit_time_s
    for stage in route.stages:
        if stage.burst is None or math.isinf(stage.lasts_s) or stage.base.use <= HARD:
            continue
        if stage.burst.label not in named and (named[0].is_limit or named[0] in _NOT_HELD):
            continue
        if (runtime is None or runtime < stage.lasts_s) and not _fell_to_base(flow, stage):
            return stage
    return None


def _fell_to_base(flow: Flow, stage: Stage) -> bool:
    """Whether the sampled rate was above the base, and at or below it afterwards."""
    judged = flow.settled.observation.iops
    if not judged:
        return False
    uses = [stage.base.use * level.mean / judged for level in flow.levels]
    above = next((i for i, use in enumerate(uses) if use > HARD), len(uses))
    return any(use <= HARD for use in uses[above:])


def _stall(flow: Flow, routes: Sequence[Route]) -> Iterator[Finding]:
    if stalled(flow.observation):
        longest = format_us(flow.observation.percentiles[100])
        what = f"one I/O took {longest}: the mean and the percentiles do not show this stall"
        yield Finding.of(Code.STALL, what)


def _derived_rate(flow: Flow, routes: Sequence[Route]) -> Iterator[Finding]:
    got = rates(flow.observation)
    if got.from_latency and got.iops:
        what = f"no rate was reported; {format_count(got.iops)} IOPS follow from latency and queue depth"
        yield Finding.of(Code.RATE_FROM_LATENCY, what)


def _levels(flow: Flow, routes: Sequence[Route]) -> Iterator[Finding]:
    levels = flow.levels
    if len(levels) > 1:
        steps = ", ".join(f"{level.mean:,.0f} from {level.start_s:.0f} s" for level in levels[:_SHOWN])
        more = ", …" if len(levels) > _SHOWN else ""
        what = f"the rate has {len(levels)} levels (IOPS: {steps}{more}); the longest of them is judged"
        yield Finding.of(Code.SEVERAL_LEVELS, what)


def _amount(value: float, quantity: str) -> str:
    return f"{value:,.0f} IOPS" if quantity == "iops" else f"{value / MB:,.0f} MB/s"
