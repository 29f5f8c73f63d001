"""Runs that may be made next: under which conditions, what they take, and what a person does for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import KIB, S_PER_MIN, fio_size_text, format_size
from azbenchlib.model.setup import Volume
from azbenchlib.verdict.candidates import Route, Stage

NEXT_RUN_S, NEXT_RAMP_S = 60, 10
_CHANGE_S = 300  # to change a disk's caching, about; our judgement
_ADD_DISK_S = 3600  # what ordering, attaching and paying for a disk is worth in time; our judgement
_MOST_S = 4 * 3600  # that a next run may take, or wait
_LEAST_REST_S = 300
_SPENT_AND_MORE_S = 300  # beyond the time that full credits last
_FILLING_S = 900
_DEPTHS = (2.0, 0.5, 0.25, 4.0, 0.125, 1 / 32)  # times that of the run
_SIZES = tuple(KIB << n for n in (2, 3, 4, 5, 6, 8, 10))
_MOST_DEPTH = 2048
_BEYOND_CACHE = 4  # times the cache: at most a quarter of the reads hits
SAME_LOAD = math.log(1.5)  # loads that are nearer to each other are no other experiment


class CreditState(StrEnum):
    """What is left of burst credits when a run begins."""

    AS_BEFORE = "as before"
    SPENT = "spent"
    FULL = "full"


class Change(StrEnum):
    """What an experiment changes of the run."""

    DEPTH = "queue depth"
    JOBS = "jobs"
    SIZE = "block size"
    NO_PAUSES = "no pauses"
    DIRECT = "direct I/O"
    READS = "reads"
    SPEND = "credits spent"
    REST = "rest before"
    FILL = "cache filled"
    WARM = "cache warm"
    BEYOND = "span beyond the cache"
    UNCACHED = "host caching off"
    MORE_DISKS = "another disk"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The conditions of a run, as far as they decide its rate.

    `bs_bytes` is the mean of reads and writes. None for `queue_depth`: not known; for `hit`: as it was.
    `pauses` are the workload's own, `filled` is a ReadWrite cache, `disks` is how many times as many.
    """

    read_share: float
    bs_bytes: float
    queue_depth: float | None
    numjobs: int
    rate_iops: float | None
    direct: bool
    pauses: bool = True
    credits: CreditState = CreditState.AS_BEFORE
    filled: bool = False
    hit: float | None = None
    uncached: bool = False
    disks: int = 1

    @property
    def on_same_path(self) -> bool:
        """Whether the I/O goes where that of the run went."""
        return self.hit is None and not self.uncached and not self.filled


@dataclass(frozen=True, kw_only=True)
class CandidateRun:
    """A run that may be made next: `action` is what to do, `costs_s` how long it takes.

    `before_s` is how long to rest or to run before what is measured, `span_bytes` another span of the data;
    `shows` is what it shows, where that is not which of two hypotheses holds.
    """

    kind: Change
    action: str
    trial: Trial
    costs_s: float = NEXT_RUN_S + NEXT_RAMP_S
    before_s: float = 0.0
    span_bytes: float | None = None
    shows: str = ""

    @property
    def changes_setup(self) -> bool:
        """Whether it takes more than another job: no other run of the setup shows its result."""
        return self.kind in (Change.UNCACHED, Change.MORE_DISKS)


def trial_of(seen: Observation) -> Trial | None:
    """The conditions of a run; None where its block size is not known."""
    size = rates(seen).bs_bytes
    if not size:
        return None
    return Trial(
        read_share=1.0 if seen.read_share is None else seen.read_share,
        bs_bytes=size,
        queue_depth=seen.queue_depth,
        numjobs=max(1, seen.numjobs),
        rate_iops=seen.rate_iops,
        direct=bool(seen.direct),
    )


def experiments(flow: Flow, was: Trial, routes: tuple[Route, ...]) -> Iterator[CandidateRun]:
    """Every experiment that may be made after a run, those of a minute first.

    Parameters
    ----------
    flow : Flow
    was : Trial
        The conditions of the run.
    routes : tuple of Route
        The likeliest path under each hypothesis.
    """
    if not was.direct:
        yield bypassing(was)
    if was.pauses:
        what = "its rate limit" if was.rate_iops else "think time"
        free = replace(was, pauses=False, rate_iops=None)
        yield CandidateRun(kind=Change.NO_PAUSES, action=f"run the same without {what}", trial=free)
    yield from _jobs(was)
    yield from _depths(was)
    yield from _sizes(was)
    cached = any(volume.disk.caching != "None" for route in routes for volume in flow.driven(route.setup))
    if was.read_share < 1 and not cached:
        action = "read where the run wrote" if was.read_share == 0 else "run the reads alone"
        yield CandidateRun(kind=Change.READS, action=action, trial=replace(was, read_share=1.0))
    yield from _credits(flow, was, routes)
    yield from _caches(flow, was, routes)


def bypassing(was: Trial) -> CandidateRun:
    """The same run past the page cache."""
    trial = replace(was, direct=True)
    return CandidateRun(
        kind=Change.DIRECT, action="run with direct=1", trial=trial, shows="what the disk does"
    )


def _depths(was: Trial) -> Iterator[CandidateRun]:
    if was.queue_depth is None:
        return
    each, jobs = was.queue_depth / was.numjobs, was.numjobs
    for times in _DEPTHS:
        depth = max(1.0, round(was.queue_depth * times))
        fewer = min(jobs, int(depth)) if times < 1 or each > 1 else round(jobs * times)
        depth = max(1.0, depth // fewer) * fewer
        if depth > _MOST_DEPTH or abs(math.log(depth / was.queue_depth)) < SAME_LOAD:
            continue
        verb = {2.0: "double the queue depth to", 0.5: "halve the queue depth to"}.get(
            depth / was.queue_depth, "run at a queue depth of"
        )
        trial = replace(was, queue_depth=depth, numjobs=fewer)
        yield CandidateRun(kind=Change.DEPTH, action=f"{verb} {depth:,.0f}", trial=trial)
    if each > 1 and 2 * was.queue_depth <= _MOST_DEPTH:
        more = replace(was, queue_depth=2 * was.queue_depth, numjobs=2 * jobs)
        yield CandidateRun(
            kind=Change.DEPTH, action=f"run {2 * jobs} such jobs instead of {jobs}", trial=more
        )


def _jobs(was: Trial) -> Iterator[CandidateRun]:
    """The same load from twice or four times the jobs: more CPUs issue it."""
    if was.queue_depth is None:
        return
    for times in (2, 4):
        jobs = times * was.numjobs
        if jobs <= was.queue_depth:
            trial = replace(was, numjobs=jobs, queue_depth=was.queue_depth // jobs * jobs)
            yield CandidateRun(kind=Change.JOBS, action=f"spread the same load over {jobs} jobs", trial=trial)


def _sizes(was: Trial) -> Iterator[CandidateRun]:
    """Other block sizes, the nearest first; smaller ones also at greater depths, which the rate may need."""
    nearest = sorted(_SIZES, key=lambda size: abs(math.log(size / was.bs_bytes)))
    others = [size for size in nearest if abs(math.log(size / was.bs_bytes)) >= SAME_LOAD]
    for times in (1, 2, 4):
        for size in others if times == 1 else [size for size in others if size < was.bs_bytes]:
            trial = _deeper(replace(was, bs_bytes=float(size)), times)
            if trial is not None:
                action = f"run at bs={fio_size_text(size)}{_and_depth(trial, times)}"
                yield CandidateRun(kind=Change.SIZE, action=action, trial=trial)


def _deeper(trial: Trial, times: int) -> Trial | None:
    """The same at so many times the depth, by more jobs where each has one I/O; None: that is too much."""
    if times == 1:
        return trial
    depth = (trial.queue_depth or math.inf) * times
    if depth > _MOST_DEPTH:
        return None
    jobs = trial.numjobs * (times if trial.queue_depth == trial.numjobs else 1)
    return replace(trial, queue_depth=depth, numjobs=jobs)


def _and_depth(trial: Trial, times: int) -> str:
    return "" if times == 1 else f" and a queue depth of {trial.queue_depth:,.0f}"


def _credits(flow: Flow, was: Trial, routes: tuple[Route, ...]) -> Iterator[CandidateRun]:
    """A run until the credits are spent, and one after they came back."""
    cut = flow.observation.credits_cut
    stages = [stage for route in routes for stage in route.stages if stage.burst]
    lasts = [stage.lasts_s / cut for stage in stages if math.isfinite(stage.lasts_s)]
    if lasts and (flow.observation.runtime_s or 0) < max(lasts) < _MOST_S:
        yield spending(was, max(lasts))
    rests = [_rest_s(stage) / cut for stage in stages]
    if rests and min(rests) < _MOST_S:
        rest_s = _whole_minutes(max(_LEAST_REST_S / cut, max(rest for rest in rests if rest < _MOST_S)))
        owner = "disk" if any(stage.scope == "disk" for stage in stages) else "VM"
        for times in (1, 2):
            trial = _deeper(replace(was, credits=CreditState.FULL), times)
            if trial is not None:
                rest = f"let the {owner} rest for {_minutes(rest_s)}, until credits are back, and run"
                yield CandidateRun(
                    kind=Change.REST,
                    action=f"{rest} again"
                    if times == 1
                    else f"{rest} at a queue depth of {trial.queue_depth:,.0f}",
                    trial=trial,
                    costs_s=rest_s + NEXT_RUN_S + NEXT_RAMP_S,
                    before_s=rest_s,
                )


def spending(was: Trial, lasts_s: float) -> CandidateRun:
    """A run that goes on until full credits are spent, and after that is measured."""
    before_s = _whole_minutes(lasts_s + _SPENT_AND_MORE_S)
    return CandidateRun(
        kind=Change.SPEND,
        action=f"run for {_minutes(before_s)}, until the credits are spent",
        shows="the base behind the burst",
        trial=replace(was, credits=CreditState.SPENT),
        costs_s=before_s + NEXT_RUN_S + NEXT_RAMP_S,
        before_s=before_s,
    )


def _rest_s(stage: Stage) -> float:
    """How long to rest for the credits of twice a run at the burst."""
    burst = stage.burst.value if stage.burst else 0.0
    return 2 * (NEXT_RUN_S + NEXT_RAMP_S) * max(0.0, burst / stage.base.value - 1)


def _caches(flow: Flow, was: Trial, routes: tuple[Route, ...]) -> Iterator[CandidateRun]:
    """What a host cache makes of a run, and what another disk does."""
    volumes = [volume for route in routes for volume in flow.driven(route.setup)]
    cached = [v for v in volumes if not v.disk.local and v.disk.caching != "None"]
    cache_bytes = next((r.setup.vm.cache_bytes for r in routes if r.setup.vm.cache_bytes), None)
    if cached:
        yield from _spans(flow, was, cache_bytes)
        if was.read_share < 1 and any(v.disk.caching == "ReadWrite" for v in cached):
            fill_s = _whole_minutes(max(_FILLING_S, flow.observation.runtime_s or 0))
            yield CandidateRun(
                kind=Change.FILL,
                action=f"run for {_minutes(fill_s)}, past the size of the cache",
                trial=replace(was, filled=True),
                costs_s=fill_s + NEXT_RUN_S + NEXT_RAMP_S,
                before_s=fill_s,
            )
        yield CandidateRun(
            kind=Change.UNCACHED,
            action="turn host caching off and run again",
            trial=replace(was, uncached=True),
            costs_s=_CHANGE_S + NEXT_RUN_S,
        )
    if volumes and not any(volume.disk.local for volume in volumes):
        yield _on_more_disks(was, volumes)


def _on_more_disks(was: Trial, volumes: list[Volume]) -> CandidateRun:
    several = len({volume.name for volume in volumes}) > 1 or any(volume.members > 1 for volume in volumes)
    action = (
        "add as many disks of the same kind and run on all of them"
        if several
        else "add a disk of the same kind and run on both"
    )
    depth = None if was.queue_depth is None else 2 * was.queue_depth
    jobs = 2 * was.numjobs if was.queue_depth == was.numjobs else was.numjobs
    trial = replace(was, disks=2, queue_depth=depth, numjobs=jobs)
    return CandidateRun(kind=Change.MORE_DISKS, action=action, trial=trial, costs_s=_ADD_DISK_S + NEXT_RUN_S)


def _spans(flow: Flow, was: Trial, cache_bytes: float | None) -> Iterator[CandidateRun]:
    """Reads of a warm cache, and of a span that it does not hold."""
    span, moved = flow.observation.working_set_bytes, rates(flow.observation).bytes_per_s
    if not cache_bytes or was.read_share == 0:
        return
    if span and span <= cache_bytes and moved and span / moved < _MOST_S:
        warm_s = span / moved
        yield CandidateRun(
            kind=Change.WARM,
            action=f"read all {format_size(span)} once, so that the host cache holds them, and run again",
            trial=replace(was, hit=1.0),
            costs_s=warm_s + NEXT_RUN_S + NEXT_RAMP_S,
            before_s=warm_s,
        )
    larger = _BEYOND_CACHE * cache_bytes
    yield CandidateRun(
        kind=Change.BEYOND,
        action=f"read a span of {format_size(larger)}, larger than the cache",
        trial=replace(was, hit=1 / _BEYOND_CACHE),
        span_bytes=larger,
    )


def _whole_minutes(seconds: float) -> float:
    return math.ceil(seconds / S_PER_MIN) * S_PER_MIN


def _minutes(seconds: float) -> str:
    return f"{seconds / S_PER_MIN:.0f} min"
