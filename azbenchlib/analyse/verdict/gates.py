"""Validity gates: what of a run makes a verdict doubtful or impossible, and what it says about the causes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.analyse.observation import Observation
from azbenchlib.analyse.verdict.candidates import Route
from azbenchlib.analyse.verdict.flow import Flow, block_size, occupancy, rates
from azbenchlib.analyse.verdict.likelihoods import HARD
from azbenchlib.units import US_PER_S, format_count, format_size, format_us

SHORT_S = 30
TIMES_RAM = 2
SHOWN = 4  # levels in one finding
LITTLE = 0.05
IDLE = 0.8  # below this share of the load asked for, neither a limit nor the latency sets the rate
RATE_TOLERANCE = 0.01
BUSY_PCT = 85
STALL_S = 1.0
STALL_SHARE = 0.1  # of the run
STALL_TIMES = 50  # longer than nearly all others
QUEUED = 4.0  # mean ÷ low percentile above which I/Os wait in a queue
STEADY_CV, UNSTEADY_CV = 0.01, 0.03


@dataclass(frozen=True)
class Finding:
    """A doubt with its figures, and what to do next."""

    severity: str
    code: str
    message: str
    advice: str = ""


def gates(flow: Flow, found: list[Route]) -> list[Finding]:
    """All doubts of a flow."""
    inspected = (_cached_in_memory, _short, _rates, _little, _off_limits, _burst, _stalls, _derived, _levels)
    return [finding for gate in inspected for finding in gate(flow, found)]


def buffered(observation: Observation) -> float:
    """Chance that the page cache answered, before the rates are looked at; our judgement."""
    if observation.direct:
        return 0.0
    if observation.direct is None:
        return 0.01
    span, ram = observation.working_set_bytes, observation.ram_bytes
    if not span or not ram:
        return 0.9
    return 0.97 if span <= ram else 0.6 if span < TIMES_RAM * ram else 0.1


def stalled(observation: Observation) -> bool:
    """Whether a single I/O took a good part of the run, though nearly all others were fast."""
    longest = observation.percentiles.get(100)
    rest = [us for percentile, us in observation.percentiles.items() if percentile < 100]
    if not longest or not rest or longest < STALL_S * US_PER_S:
        return False
    part = longest / US_PER_S / observation.runtime_s if observation.runtime_s else 1.0
    return longest > STALL_TIMES * max(rest) and part >= STALL_SHARE


def queued(observation: Observation) -> bool:
    """Whether most I/Os took far longer than the fastest: they waited behind each other."""
    if (observation.queue_depth or 0) <= 1 or not observation.percentiles:
        return False
    low = observation.percentiles[min(observation.percentiles)]
    mean = observation.mean_us
    if mean is None and observation.iops and observation.queue_depth:
        mean = observation.queue_depth * US_PER_S / observation.iops
    return bool(mean and mean > QUEUED * low)


def variation(observation: Observation) -> float | None:
    """Coefficient of variation of the rate after the first ten seconds; None where samples are too few."""
    if observation.samples is None:
        return None
    from azbenchlib.analyse import steady  # its libraries take a second to import

    found = steady.variation(*observation.samples)
    return found.cv if found else None


def _cached_in_memory(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    seen = flow.observation
    if buffered(seen) > 0.5:
        span = f" on {format_size(seen.working_set_bytes)}" if seen.working_set_bytes else ""
        yield Finding(
            "warning",
            "page_cache_suspected",
            f"buffered I/O{span}: the page cache of the operating system may have answered",
            "Run again with direct=1",
        )


def _short(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    runtime = flow.observation.runtime_s
    if runtime is not None and runtime < SHORT_S:
        what = f"the run took {format_us(runtime * US_PER_S)}; limits are held loosely in short runs"
        yield Finding("warning", "too_short", what, "Run again with --time_based --runtime=60")
    elif flow.observation.time_based is False:
        yield Finding("info", "ended_by_size", "the run ended by its size, so jobs may have ended one by one")


def _rates(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    seen, size = flow.observation, block_size(flow.observation)
    if not (seen.iops and seen.bw_bytes_per_s and size):
        return
    if abs(seen.iops * size / seen.bw_bytes_per_s - 1) > RATE_TOLERANCE:
        what = f"{format_count(seen.iops)} IOPS of {format_size(size)} are not the throughput given"
        yield Finding("warning", "rate_mismatch", what, "Look up block size and units in the original output")


def _little(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    share = occupancy(flow.observation)
    if share is not None and abs(share - 1) > LITTLE:
        what = f"by Little's law {share:.0%} of the I/Os asked for were outstanding"
        advice = "Look for a rate limit, think time, flushes or CPU" if share < 1 else "Check the queue depth"
        yield Finding("warning", "load_mismatch", what, advice)


def _off_limits(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    lasted = flow.settled.observation.runtime_s
    if not any(route.stages for route in found):
        yield Finding(
            "info",
            "no_documented_limit",
            "no limit is documented for this I/O on this setup",
            "Find the plateau: double the queue depth until the rate stays",
        )
    elif all(route.stages and route.tightest(lasted) > HARD for route in found):
        use = min(route.tightest(lasted) for route in found)
        what = f"{use:.2f} times the documented limit: that figure does not hold here"
        yield Finding("warning", "above_documented_limit", what, "Check VM size, disk, caching and the date")


def _burst(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    """Where credits carried the run: how long they last, and that the base was not seen."""
    best = max(found, key=lambda route: route.weight)
    for stage in best.stages:
        runtime = flow.observation.runtime_s
        if stage.burst is None or math.isinf(stage.lasts_s) or stage.base.use <= HARD:
            continue
        lasts = f"{stage.lasts_s / 60:,.0f} min" if stage.lasts_s >= 120 else f"{stage.lasts_s:.0f} s"
        seen = f"this run of {runtime:.0f} s" if runtime else "this run"
        if runtime is None or runtime < stage.lasts_s:
            what = (
                f"burst: full credits last {lasts} at this rate, so {seen} cannot show the base of "
                f"{_amount(stage.base.value, stage.quantity)}"
            )
            yield Finding("info", "base_not_seen", what, f"Run longer than {lasts} to see it")
            return


def _stalls(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    if stalled(flow.observation):
        longest = format_us(flow.observation.percentiles[100])
        what = f"one I/O took {longest}: the mean describes neither phase, and percentiles hide the stall"
        yield Finding("warning", "stall", what, "Run again with rate_process=poisson and a rate limit")


def _derived(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    got = rates(flow.observation)
    if got.from_latency and got.iops:
        what = f"no rate was reported; {format_count(got.iops)} IOPS follow from latency and queue depth"
        yield Finding("info", "rate_from_latency", what)


def _levels(flow: Flow, found: list[Route]) -> Iterator[Finding]:
    levels = flow.levels
    if len(levels) > 1:
        steps = ", ".join(f"{level.mean:,.0f} from {level.start_s:.0f} s" for level in levels[:SHOWN])
        more = ", …" if len(levels) > SHOWN else ""
        what = f"the rate has {len(levels)} levels (IOPS: {steps}{more}); the longest of them is judged"
        yield Finding("info", "several_levels", what, "Credits or a cache came to their end on the way")


def _amount(value: float, quantity: str) -> str:
    return f"{value:,.0f} IOPS" if quantity == "iops" else f"{value / 1e6:,.0f} MB/s"
