"""What the figures of a run say about the causes, beside its rate: the page cache, stalls, queues, spread."""

from __future__ import annotations

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import US_PER_S
from azbenchlib.verdict.checks.run_checks import TIMES_RAM

# Tools that bypass the page cache without being told to, and those that do not unless they are told to.
DIRECT_TOOLS = ("iotune", "iometer", "orion", "crystaldiskmark", "atto")
BUFFERED_TOOLS = ("sysbench", "dd", "iozone", "bonnie++")
_PAGE_CACHE = {"direct": 0.0, "buffered": 0.05, "not known": 0.01}

IDLE = 0.8  # below this share of the requested load, neither a limit nor the latency sets the rate
RATE_KEPT = 0.97  # of a rate limit that the workload sets itself: a run this near to it was held by it
BUSY_PCT, FULL_PCT = 85, 97  # of one core; from the former on the CPU may bind, from the latter on it does
STALL_S = 1.0
STALL_SHARE = 0.1  # of the run
STALL_TIMES = 50  # longer than nearly all others
QUEUED = 4.0  # mean ÷ low percentile above which I/Os wait in a queue
STEADY_CV, UNSTEADY_CV = 0.01, 0.03
SUBMITTING = 0.85  # share of a job's time in submission from which on it waits there for each I/O
ONE_EACH = 0.05  # outstanding I/Os a job are one if they differ from it by less
FLAT_RATIO = 2.0  # slow ÷ fast percentile below which the I/Os did not wait for tokens
FAST_PERCENTILE, SLOW_PERCENTILE = 10, 95
LEAST_TICK_US = 25_000  # a throttle's tokens come in ticks of 30 ms or more: who misses one waits longer


def buffered(observation: Observation) -> float:
    """Chance that the page cache answered, before the rates are looked at; our judgement."""
    if observation.direct:
        return 0.0
    if observation.direct is None:
        tool = (observation.tool or "").lower()
        kinds = {"direct": tool in DIRECT_TOOLS, "buffered": tool in BUFFERED_TOOLS, "not known": True}
        return _PAGE_CACHE[next(kind for kind, fits in kinds.items() if fits)]
    span, ram = observation.working_set_bytes, observation.ram_bytes
    if not span or not ram:
        return 0.9
    return 0.9 if span <= ram else 0.75 if span < TIMES_RAM * ram else 0.1


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
    first = min(observation.percentiles)
    low = observation.percentiles[
        max((p for p in observation.percentiles if p <= FAST_PERCENTILE), default=first)
    ]
    mean = observation.mean_us
    if mean is None and observation.iops and observation.queue_depth:
        mean = observation.queue_depth * US_PER_S / observation.iops
    return bool(mean and mean > QUEUED * low)


def effective_depth(observation: Observation) -> float | None:
    """I/Os outstanding at once. A job that spends its time in submission has one, whatever iodepth says; so
    has one whose latency leaves room for one, by Little's law, as with a synchronous ioengine.
    """
    slat, iops, depth = observation.slat_us, observation.iops, observation.queue_depth
    jobs = observation.numjobs
    if slat and iops and depth and slat * iops / US_PER_S >= SUBMITTING * jobs:
        return min(depth, float(jobs))
    if iops and observation.mean_us and depth and depth > jobs:
        outstanding = iops * observation.mean_us / US_PER_S
        return float(jobs) if abs(outstanding / jobs - 1) < ONE_EACH else depth
    return depth


def flat(observation: Observation) -> bool:
    """Whether all I/Os took about the same time, shorter than a throttle's tick: nothing throttled them."""
    fast = [us for percentile, us in observation.percentiles.items() if percentile <= FAST_PERCENTILE]
    slow = [us for percentile, us in observation.percentiles.items() if SLOW_PERCENTILE <= percentile <= 99]
    if not fast or not slow or (observation.queue_depth or 0) <= 1:
        return False
    return max(slow) < min(LEAST_TICK_US, FLAT_RATIO * min(fast))


def variation(observation: Observation) -> float | None:
    """Coefficient of variation of the rate after the first ten seconds; None where samples are too few."""
    if observation.samples is None:
        return None
    from azbenchlib.analysis.over_time import steady  # its libraries take a second to import

    settle_s = steady.SETTLE_S / observation.credits_cut
    found = steady.variation(*observation.samples, settle_s=settle_s)
    return found.cv if found else None
