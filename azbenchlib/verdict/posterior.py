"""From the candidates to probabilities: prior × likelihood, over every path, and what ties."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from azbenchlib.analysis.flow import Flow, mean_latency_us, occupancy, rates
from azbenchlib.core.units import KIB, US_PER_S
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import TIE_REL
from azbenchlib.verdict import evidence, likelihoods, monitor
from azbenchlib.verdict.candidates import Route, Stage
from azbenchlib.verdict.text import BOUND, PROBABLY

# Weights before anything is measured; our judgement, calibrated on a simulator. The limits on a path
# share theirs. With one I/O outstanding or a few, their latency sets the rate unless something stronger does.
_LIMITS, _UNKNOWN, UNKNOWN_QD1 = 0.8, 0.05, 0.02
_LATENCY, _LATENCY_FEW, LATENCY_QD1 = 0.25, 0.65, 0.8
ABOVE, DEMAND = 0.05, 0.3
DEMAND_UNSEEN = 0.01  # where no latency is known, by which a workload that pauses would show
PAUSES = 0.3  # of the chance of an unknown cause where the queue is not full, as any limit would make it
WAITS_IN_SUBMISSION = (
    0.04  # chance that jobs submit one I/O at a time whatever their iodepth, where slat is not known
)
EXHAUSTION, EXHAUSTION_FALL = 0.002, 0.1  # the latter where the rate was seen to fall
CACHE_FILLED = 0.25  # where what was written fills the cache: as likely as the latency
# Of a job that uses a whole core, no time is left in which it could wait for a disk.
CPU_NOT_KNOWN, CPU_FULL, CPU_BUSY, CPU_IDLE = 0.1, 2.0, 0.5, 0.002
# Where nothing is documented of a limit on the path, it may bind. Its figure is not known, so that most of
# its weight goes to the unknown cause, and the rest to its name.
UNDOCUMENTED, UNDOCUMENTED_ALL, NAMED = 0.3, 0.8, 0.1
UNSTATED = 0.6  # where the limit has a figure that the description of the setup leaves out, and is near
UNDOCUMENTED_QD1 = 0.2  # of the former with one I/O outstanding, or a depth that is not known
# Of the logarithm of the block size in bytes from which on MB/s limits are met before IOPS limits: 7 KiB of
# small VMs to 200 KiB of small Premium SSD.
CROSSOVER = NormalDist(math.log(32 * KIB), 1.0)
_FEW = 4  # outstanding I/Os a job, up to which these are a few
MAY_BURST = 0.6  # chance that a VM bursts of which no page tells
LOOSE_BASE = 0.08  # share of bases that are held loosely below a burst: what a pause leaves is credits there
BASE_THOUGH_BURST = 0.5  # chance that credits are gone where nothing is known of them
BASE_THOUGH_CREDITS = 0.05
CREDITS_FULL, CREDITS_SOME = 0.5, 0.1  # chances at the start of a run
CREDITS_SPENT = 0.02  # chance that a burst lasts longer than full credits
UNLIKELY = 0.05
LEAST = 1e-9  # a label with less is left out
PARTLY_CACHED = 0.5  # chance that buffered I/O is served in part by the page cache
OPEN_DOUBT = 0.01  # where the setup is not stated whole: what fits may fit by chance; by the simulator
SAME_CAUSE = 0.4  # of the chance of a second name for what is named first; by the simulator
LIKELY_PATH = 0.1  # of the probability of a label: paths with less are left out of what it predicts
SETTLES = 0.01  # so much more probability of the likeliest label makes it worth stating a fact
Facts = tuple[tuple[str, str], ...]  # what a reading of the setup takes open facts for
_ROUNDING = 1e-9  # 64,000 × 8 KiB is 1.024 times 512 MB/s: exactly as far apart as may tie


@dataclass(frozen=True)
class OpenFact:
    """What the description of the setup does not say and would help most, and what binds by its value."""

    name: str
    means: dict[str, Label]


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Probability by label, largest first; the likeliest path; the labels that tie at the top; and the fact
    that is not stated and would settle most. `routes` has the paths that are likely under each label, the
    likeliest first.
    """

    probability: dict[Label, float]
    route: Route
    top: tuple[Label, ...]
    open_fact: OpenFact | None = None
    routes: Mapping[Label, tuple[Route, ...]] = field(default_factory=dict)

    @property
    def sure(self) -> float:
        """Probability of the labels at the top together."""
        return min(1.0, sum(self.probability[label] for label in self.top))

    @property
    def named(self) -> tuple[Label, ...]:
        """The labels that the verdict's sentence names."""
        return (*self.top, *([self.runner_up] if self.runner_up and self.sure < BOUND else []))

    @property
    def runner_up(self) -> Label | None:
        """The likeliest label that is not among them."""
        return next((label for label in self.probability if label not in self.top), None)


def posterior(flow: Flow, found: Sequence[Route]) -> Posterior:
    """Probabilities of all labels for one flow.

    Parameters
    ----------
    flow : Flow
    found : sequence of Route
        The paths that it may have taken, with the limits on them.
    """
    passed = _passed(flow, found)
    outrun = _outrun(found)
    by_route = [_masses(flow, route, passed[route.facts], outrun.get(route.facts, 0.0)) for route in found]
    mass = _sum(by_route)
    total = math.fsum(mass.values())
    ranked = sorted(mass.items(), key=lambda item: (-round(item[1] / total, 12), item[0]))
    probability = {label: part / total for label, part in ranked if part / total > LEAST}
    scale = math.fsum(probability.values())
    probability = {label: part / scale for label, part in probability.items()}
    if any(route.facts for route in found):
        probability = _doubted(probability)
    probability = _by_first_name(probability, found)
    sums = [sum(parts.values()) for parts in by_route]
    best = found[sums.index(max(sums))]
    fact = _open_fact(found, by_route)
    return Posterior(
        probability=probability,
        route=best,
        top=_ties(probability, best),
        open_fact=fact,
        routes=_by_label(found, by_route),
    )


def _by_label(
    found: Sequence[Route], by_route: Sequence[dict[Label, float]]
) -> dict[Label, tuple[Route, ...]]:
    """The paths that have a good part of the probability of each label, the likeliest first."""
    ways: dict[Label, list[tuple[float, int]]] = {}
    for i, masses in enumerate(by_route):
        for label, mass in masses.items():
            ways.setdefault(label, []).append((-mass, i))
    return {label: tuple(found[i] for i in _likely(sorted(parts))) for label, parts in ways.items()}


def _likely(ways: Sequence[tuple[float, int]]) -> list[int]:
    """The places of the paths that count: of many alike, all that are half as likely as the likeliest."""
    most, every = -ways[0][0], -math.fsum(mass for mass, _ in ways)
    return [i for mass, i in ways if -mass >= min(LIKELY_PATH * every, most / 2)]


def _doubted(probability: dict[Label, float]) -> dict[Label, float]:
    """The probabilities, a little of the first going to the others in their proportion."""
    first, *others = probability
    given = OPEN_DOUBT * probability[first]
    rest = math.fsum(probability[label] for label in others)
    if not rest:
        return probability
    return {first: probability[first] - given} | {
        label: probability[label] * (1 + given / rest) for label in others
    }


def _by_first_name(probability: dict[Label, float], found: Sequence[Route]) -> dict[Label, float]:
    """The probabilities, a part of those of other names for the same cause going to the first.

    A limit of which no figure is documented is an unknown cause too, and a workload that pauses has the rate
    that its pauses and the latency of its I/Os make. Where one label is probable, nothing is moved.
    """
    first = next(iter(probability))
    if probability[first] >= PROBABLY or first not in (Label.UNKNOWN, Label.WORKLOAD_DEMAND):
        return probability
    documented = {stage.base.label for route in found for stage in route.stages}
    same = (
        {Label.LATENCY_QD}
        if first is Label.WORKLOAD_DEMAND
        else {label for label in probability if label.is_limit and label.base not in documented}
    )
    kept = {label: part * (1 - SAME_CAUSE * (label in same)) for label, part in probability.items()}
    kept[first] += 1 - math.fsum(kept.values())
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


def _passed(flow: Flow, found: Sequence[Route]) -> dict[Facts, float]:
    """How far each reading of the setup lets the limits be passed: by the path that allows most."""
    uses: dict[Facts, float] = {}
    for route in found:
        use = route.tightest(flow.observation.credit_time_s)
        uses[route.facts] = min(use, uses.get(route.facts, math.inf))
    return uses


def _outrun(found: Sequence[Route]) -> dict[Facts, float]:
    """How many times what the disks take was written, by reading of the setup: where the cache serves most of
    the reads.
    """
    uses: dict[Facts, float] = {}
    for route in found:
        if route.path.destaged:
            behind = [stage.base.use for stage in route.stages if stage.scope in ("disk", "vm_uncached")]
            use = max(behind, default=0.0)
            uses[route.facts] = min(use, uses.get(route.facts, math.inf))
    return uses


def _masses(flow: Flow, route: Route, passed: float, outrun: float) -> dict[Label, float]:
    """Prior × likelihood of each label on one path; `passed` is the least use of limits on any path,
    `outrun` how many times what the disks take was written.
    """
    memory = evidence.buffered(flow.observation)
    held = _limits(flow, route) | _others(flow, route, outrun)
    parts = {label: part * (1 - memory) for label, part in held.items()} | _anywhere(flow, passed)
    volumes = flow.driven(route.setup)
    return {
        label: route.weight * part * monitor.consumption(label, flow.observation, volumes)
        for label, part in parts.items()
    }


def _sum(parts: Sequence[dict[Label, float]]) -> dict[Label, float]:
    total: dict[Label, float] = {}
    for part in parts:
        for label, mass in part.items():
            total[label] = total.get(label, 0.0) + mass
    return total


def _open_fact(found: Sequence[Route], by_route: Sequence[dict[Label, float]]) -> OpenFact | None:
    """The open fact whose value would make the likeliest label most likely, if it helps at all."""
    whole = _sum(by_route)
    best, gained = None, SETTLES * math.fsum(whole.values())
    for name in dict.fromkeys(name for route in found for name, _ in route.facts):
        by_value: dict[str, list[dict[Label, float]]] = {}
        for route, mass in zip(found, by_route, strict=True):
            by_value.setdefault(dict(route.facts).get(name, ""), []).append(mass)
        known = {value: _sum(masses) for value, masses in by_value.items() if value}
        gain = math.fsum(max(mass.values()) for mass in known.values()) - max(whole.values())
        if gain > gained:
            least = SETTLES * math.fsum(whole.values())
            means = {
                value: max(mass, key=lambda label: (mass[label], label))
                for value, mass in known.items()
                if math.fsum(mass.values()) > least
            }
            best, gained = OpenFact(name, means), gain
    return best


def _limits(flow: Flow, route: Route) -> dict[Label, float]:
    """Each limit at its base and its burst, while the others hold."""
    seen = flow.observation
    weight = _LIMITS / max(1, len(route.stages)) * _throttle_evidence(flow)
    flat = UNLIKELY if evidence.flat(seen) and route.serves != "nvme" else 1.0
    parts = {}
    for stage in route.stages:
        loose = likelihoods.loose_share(stage.soft, seen.runtime_s)
        base_loose = min(loose, LOOSE_BASE) if stage.burst else loose
        others = math.prod(_holds(other, flow) for other in route.stages if other is not stage)
        for level in stage.levels():
            ramping = likelihoods.ramping_share(level.label.burst, seen.runtime_s, seen.ramp_s)
            loosely = base_loose if level is stage.base else loose
            likely = likelihoods.bound_of(level.others, level.use, loosely, stage.quantity, ramping)
            parts[level.label] = weight * flat * likely * _level(stage, level.label, flow) * others
        if stage.open_burst:
            likely = likelihoods.open_burst(stage.base.least_use, stage.quantity)
            parts[stage.open_burst] = weight * flat * MAY_BURST * likely * others
        for label, chance in _ran_out(stage, flow, loose).items():
            parts[label] += weight * flat * chance * others
    return parts


def _ran_out(stage: Stage, flow: Flow, loose: float) -> dict[Label, float]:
    """Chances of the mean rate if credits, full ones or some, ran out during the run, by what held longer."""
    runtime = flow.observation.credit_time_s
    if stage.burst is None or not runtime or math.isinf(stage.lasts_s) or flow.levels or stage.burst.use >= 1:
        return {}
    full = stage.emptied(runtime)
    found = {full.label: CREDITS_FULL * likelihoods.bound(full.use, loose, stage.quantity)} if full else {}
    measured, base = stage.base.use * stage.base.value, stage.base.value
    at_burst = (measured - base) / (stage.burst.value - base)
    longer = stage.burst.label if at_burst >= 0.5 else stage.base.label
    some = likelihoods.charged(runtime / stage.lasts_s, stage.base.use)
    return found | {longer: found.get(longer, 0.0) + CREDITS_SOME * some}


def _holds(stage: Stage, flow: Flow) -> float:
    loose = likelihoods.loose_share(stage.soft, flow.observation.runtime_s)
    highest = stage.highest(flow.observation.credit_time_s)
    uses = [highest.use / factor for factor in (1.0, *highest.others)]
    by_figure = sum(likelihoods.holds(use, loose, stage.quantity) for use in uses) / len(uses)
    if not stage.open_burst:
        return by_figure
    return max(by_figure, MAY_BURST * likelihoods.open_burst_holds(highest.least_use, stage.quantity))


def _level(stage: Stage, label: Label, flow: Flow) -> float:
    """Chance that the limit stood at this level: credits come and go."""
    if stage.burst is None:
        return 1.0
    if label == stage.base.label:
        share = BASE_THOUGH_CREDITS if flow.credits else BASE_THOUGH_BURST
    else:
        lasted = flow.observation.credit_time_s
        spent = lasted is not None and lasted > stage.lasts_s
        share = CREDITS_SPENT if spent and not flow.credits else 1.0
    return monitor.credit_chance(label, flow.observation, share)


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


def _others(flow: Flow, route: Route, outrun: float) -> dict[Label, float]:
    """What sets a rate below all limits of a path."""
    below = math.prod(_holds(stage, flow) for stage in route.stages)
    waits = _waits(flow, route)
    parts = {
        Label.LATENCY_QD: _latency(flow, route),
        Label.UNKNOWN: _unknown(flow, route) * likelihoods.OPEN * waits,
        Label.HOST_CPU: _cpu(flow),
        Label.WORKLOAD_DEMAND: _demand(flow),
        Label.CACHE_EXHAUSTION: _exhaustion(flow, route, outrun),
    }
    for label, chance in _undocumented(flow, route).items():
        parts[label] = parts.get(label, 0.0) + chance * likelihoods.OPEN * waits
    return {label: part * below for label, part in parts.items() if part}


def _exhaustion(flow: Flow, route: Route, outrun: float) -> float:
    """Chance that a full ReadWrite cache sets the rate: most of it where so much was written as fills it."""
    seen, moved = flow.observation, rates(flow.observation).bytes_per_s
    volumes = flow.driven(route.setup)
    if not any(volume.disk.caching == "ReadWrite" and not volume.disk.local for volume in volumes):
        return 0.0
    open_to_all = (EXHAUSTION_FALL if flow.fell else EXHAUSTION) * likelihoods.OPEN
    cache = route.setup.vm.cache_bytes
    if flow.levels or not (cache and moved and seen.runtime_s) or seen.read_share is None:
        return open_to_all
    written = moved * (1 - seen.read_share) * seen.runtime_s
    return open_to_all + CACHE_FILLED * likelihoods.filled(outrun, written, cache)


def _unknown(flow: Flow, route: Route) -> float:
    """Chance of a cause that has no name here."""
    depth, share = evidence.effective_depth(flow.observation), occupancy(flow.observation)
    chance = UNKNOWN_QD1 if depth is not None and depth <= 1 else _UNKNOWN
    return PAUSES * chance if share is not None and share < evidence.IDLE else chance


def _undocumented(flow: Flow, route: Route) -> dict[Label, float]:
    """Chances of the limits on the path of which no figure is known: where one is near the rate, its name;
    where nothing is documented of it, mostly the unknown cause.
    """
    scopes = _scopes(flow, route) - {stage.scope for stage in route.stages} - route.holds
    depth = evidence.effective_depth(flow.observation)
    if not scopes or (depth is None and not route.binds):
        return {}
    deep = depth is not None and depth > 1
    alone = 1.0 if deep else 0.0 if route.serves == "nvme" else UNDOCUMENTED_QD1
    each = alone * (UNDOCUMENTED if route.stages else UNDOCUMENTED_ALL) / len(scopes)
    size = rates(flow.observation).bs_bytes
    small = 0.5 if size is None else 1 - CROSSOVER.cdf(math.log(size))
    found = {Label.UNKNOWN: (1 - NAMED) * each * len(scopes - route.binds)}
    for scope in scopes:
        chance = alone * UNSTATED if scope in route.binds else NAMED * each
        for quantity, share in (("iops", small), ("mbps", 1 - small)):
            found[Label(f"{scope}_{quantity}")] = chance * share
    return found


def _scopes(flow: Flow, route: Route) -> set[str]:
    """What the limits on a path belong to: a managed disk and its VM, or what is local."""
    disk = next((volume.disk for volume in flow.driven(route.setup)), None)
    if disk is not None and disk.local:
        return {"vm_cached" if disk.place == "cache" else disk.place}
    if route.serves == "local":
        return {"vm_cached"}
    return {"disk", "vm_uncached"} | ({"vm_cached"} if disk and disk.caching != "None" else set())


def _latency(flow: Flow, route: Route) -> float:
    """Chance that the latency sets the rate, at the depth that is asked for or one I/O a job."""
    seen, got = flow.observation, rates(flow.observation)
    depth = evidence.effective_depth(seen)
    few = depth is not None and depth <= _FEW * seen.numjobs
    weight = LATENCY_QD1 if depth is not None and depth <= 1 else _LATENCY_FEW if few else _LATENCY
    share = occupancy(seen)
    synchronous = depth != seen.queue_depth
    paused = share is not None and share < evidence.IDLE
    if evidence.stalled(seen) or ((evidence.queued(seen) or paused) and not synchronous):
        weight *= UNLIKELY
    each = _each_us(flow)
    if each is None:
        return weight / likelihoods.ANY_DEPTH
    spread = _unloaded(flow, route)
    latency = (mean_latency_us(seen) or each) if got.from_latency else each
    likely = spread.pdf(math.log(latency))
    if seen.slat_us is None and depth and depth > seen.numjobs:
        alone = spread.pdf(math.log(latency * seen.numjobs / depth))
        return (1 - WAITS_IN_SUBMISSION) * weight * likely + WAITS_IN_SUBMISSION * LATENCY_QD1 * alone
    return weight * likely


def _each_us(flow: Flow) -> float | None:
    """Time in µs that the rate leaves to each outstanding I/O. None: depth or rate is not known."""
    depth, iops = evidence.effective_depth(flow.observation), rates(flow.observation).iops
    return depth * US_PER_S / iops if depth and iops else None


def _unloaded(flow: Flow, route: Route) -> NormalDist:
    """Spread of the logarithm of the latency in µs that an I/O takes on a path when nothing holds it up."""
    seen = flow.observation
    disk = next((volume.disk for volume in flow.driven(route.setup)), None)
    read_share = 1.0 if seen.read_share is None else seen.read_share
    expected = likelihoods.expected_latency(route.setup.vm, disk, route.serves, read_share)
    return likelihoods.unloaded(expected, route.serves, rates(seen).bs_bytes, seen.unloaded_us)


def _waits(flow: Flow, route: Route) -> float:
    """Chance that the unloaded latency is shorter than what the rate leaves to each I/O. Whatever holds the
    I/Os up adds to it.
    """
    each = _each_us(flow)
    return 1.0 if each is None else _unloaded(flow, route).cdf(math.log(each))


def _cpu(flow: Flow) -> float:
    used = flow.observation.cpu_pct
    if used is None:
        iops = rates(flow.observation).iops
        return CPU_NOT_KNOWN * likelihoods.cpu_bound(iops, flow.observation.numjobs) if iops else 0.0
    busy = CPU_FULL if used > evidence.FULL_PCT else CPU_BUSY if used > evidence.BUSY_PCT else CPU_IDLE
    return busy * likelihoods.OPEN


def _demand(flow: Flow) -> float:
    """The workload asked for no more: as it says, or as Little's law does."""
    got, seen = rates(flow.observation), flow.observation
    asked = ((got.iops, seen.rate_iops), (got.bytes_per_s, flow.demand_bytes_per_s))
    known = [likelihoods.demanded(rate, most) for rate, most in asked if rate and most]
    share = occupancy(seen)
    idle = likelihoods.OPEN if share is not None and share < evidence.IDLE else 0.0
    unseen = DEMAND_UNSEEN * likelihoods.OPEN if mean_latency_us(seen) is None else 0.0
    return max(DEMAND * max([idle, *known]), unseen)


def _anywhere(flow: Flow, passed: float) -> dict[Label, float]:
    """What does not keep to the limits of a path: the page cache, figures that do not hold. Buffered I/O
    passes a limit by the part that the page cache serves.
    """
    seen = flow.observation
    memory, beyond = evidence.buffered(seen), likelihoods.beyond(passed)
    partly = PARTLY_CACHED * beyond if seen.direct is False else 0.0
    parts = {
        Label.PAGE_CACHE: memory * likelihoods.OPEN * _from_memory(flow) + (1 - memory) * partly,
        Label.ABOVE_DOCUMENTED_LIMIT: (1 - memory) * ABOVE * beyond,
    }
    return {label: part for label, part in parts.items() if part}


def _from_memory(flow: Flow) -> float:
    """Chance that memory serves I/Os no faster than these, of which a job has one at a time; where the
    workload pauses, their latency tells.
    """
    seen, got = flow.observation, rates(flow.observation)
    times = [mean_latency_us(seen), seen.numjobs * US_PER_S / got.iops if got.iops else None]
    each_us = min(filter(None, times), default=None)
    return 1.0 if each_us is None else likelihoods.from_memory(each_us, got.bs_bytes)


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
