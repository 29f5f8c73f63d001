"""What a hypothesis says: the rate of a run under other conditions, if one thing bound the one before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from statistics import NormalDist
from typing import Any

from azbenchlib.analysis.flow import Flow, mean_latency_us, rates
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, BurstKind, Cap, Disk, Setup
from azbenchlib.verdict import evidence, likelihoods
from azbenchlib.verdict.candidates import Route, Stage
from azbenchlib.verdict.next_run.trials import CreditState, Trial
from azbenchlib.verdict.posterior import WAITS_IN_SUBMISSION

_TYPICAL = math.exp(likelihoods.FIRM.mean)  # what a limit allows ÷ its documented figure
_STRAYS = math.log(likelihoods.HARD)  # of the documented figure, up to which it is what is expected
_QUANTILES = (0.5, 0.03, 0.97)  # of the unloaded latency, where it is not known; the first is the typical one
_SIZE_COUNTS = dict(
    zip(_QUANTILES, (1.0, 0.0, 2.0), strict=True)
)  # how far the block size changes the latency
_ALMOST = 0.98  # of the latency that the rate leaves to each I/O, where the unloaded one must be shorter
_NEARLY_NONE = 1e-6
_OPEN_SHARE = 0.03  # of the chance: what is likelier is taken into account
_CAPS = {"disk": (), "vm_uncached": ("uncached", "uncached_v2"), "vm_cached": ("cached",), "nvme": ("nvme",)}
_Factors = tuple[float, float | None]  # of base and burst; None: no burst


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What a hypothesis leaves open: the unloaded latency, as a quantile; whether the credits of limits that
    do not bind are spent; whether a plateau is one of bytes; whether a workload keeps a rate of its own; and
    whether jobs submit one I/O at a time whatever their iodepth. `documented` limits stand at their printed
    figures, not at what runs show of them.
    """

    quantile: float
    spent: bool
    of_bytes: bool
    own_rate: bool
    one_each: bool
    documented: bool = False


class Hypothesis:
    """What one label says of a run: a world a path that its I/O may have taken.

    Parameters
    ----------
    label : Label
    flow : Flow
    paths : sequence of Route
        The likeliest first.
    was : Trial
        The conditions of the run.
    """

    def __init__(self, label: Label, flow: Flow, paths: Sequence[Route], was: Trial) -> None:
        self.label = label
        self.worlds = [World(label, flow, path, was) for path in paths]

    def rates(self, trial: Trial) -> tuple[float, ...]:
        """The IOPS that a trial may have, the typical one first; empty where they are not predicted."""
        each = [world.rates(trial) for world in self.worlds]
        return tuple(rate for rates in each for rate in rates) if all(each) else ()

    @property
    def documented(self) -> bool:
        """Whether a figure of the limit is documented, on a path that the I/O may have taken."""
        return any(world.stage is not None for world in self.worlds)

    def printed(self, trial: Trial) -> tuple[float, ...]:
        """The typical rate with limits at their documented figures, which a person can look up."""
        return self.worlds[0].printed(trial)


class World:
    """A setup as it would be if a label bound a run.

    Parameters
    ----------
    label : Label
    flow : Flow
        The run.
    route : Route
        A path of its I/O.
    was : Trial
        Its conditions.
    """

    def __init__(self, label: Label, flow: Flow, route: Route, was: Trial) -> None:
        self.label, self.flow, self.route, self.was = label, flow, route, was
        self.iops = rates(flow.observation).iops or 0.0
        self._limits: dict[tuple[object, ...], float] = {}
        self._spreads: dict[tuple[object, ...], NormalDist] = {}
        self.stage = _stage_of(label, route)
        unnamed = label in (Label.UNKNOWN, Label.ABOVE_DOCUMENTED_LIMIT)
        self.plateau = self.stage is None and (unnamed or label.is_limit)
        self.submits = self._submits()

    def rates(self, trial: Trial) -> tuple[float, ...]:
        """The IOPS of a trial in each scenario, the typical one first; empty: none is predicted."""
        if not self._predicts(trial):
            return ()
        return tuple(self._rate(trial, scenario) for scenario in self._scenarios)

    def printed(self, trial: Trial) -> tuple[float, ...]:
        """The IOPS of a trial in the typical scenario, with limits at their documented figures."""
        if not self._predicts(trial):
            return ()
        return (self._rate(trial, replace(self._scenarios[0], documented=True)),)

    def _predicts(self, trial: Trial) -> bool:
        label = self.label
        if label is Label.PAGE_CACHE:
            return trial.direct and not self.was.direct
        if label is Label.CACHE_EXHAUSTION:
            return trial.filled
        above = label is Label.ABOVE_DOCUMENTED_LIMIT
        if (above or label is Label.UNKNOWN) and not trial.on_same_path:
            return False
        if above and self.stage is None and not self._same_limits(trial):
            return False
        if self.was.queue_depth is None and label is Label.LATENCY_QD:
            return False
        return not (label is Label.UNKNOWN and trial.disks > 1 and not self.route.stages)

    def _same_limits(self, trial: Trial) -> bool:
        """Whether a limit that is not known allows a trial what it allowed the run."""
        same = (trial.bs_bytes, trial.read_share, trial.disks) == (self.was.bs_bytes, self.was.read_share, 1)
        return same and trial.credits is CreditState.AS_BEFORE and trial.on_same_path

    @cached_property
    def _scenarios(self) -> list[Scenario]:
        label = self.label
        open_credits = any(
            stage.burst and stage.base.use <= likelihoods.LOOSEST
            for stage in self.route.stages
            if stage is not self.stage
        )
        kinds: tuple[bool, ...] = (False, True) if self._undocumented else (False,)
        if label.is_limit:
            kinds = (label.quantity == "mbps",)
        own: tuple[bool, ...] = (False,)
        if label is Label.WORKLOAD_DEMAND:
            rate = self.flow.observation.rate_iops
            own = (False,) if rate and self.iops >= evidence.RATE_KEPT * rate else (False, True)
        spent = (False, True) if open_credits else (False,)
        every = product(spent, kinds if self.plateau else (False,), own, self.submits, _QUANTILES)
        return [
            Scenario(quantile=quantile, spent=gone, of_bytes=of_bytes, own_rate=own_rate, one_each=one_each)
            for gone, of_bytes, own_rate, one_each, quantile in every
        ]

    @property
    def _undocumented(self) -> bool:
        """Whether an unknown cause may be a limit of bytes of which nothing is documented."""
        stems = {stage.scope for stage in self.route.stages}
        remote = self.route.serves == "remote" and not {"disk", "vm_uncached"} <= stems
        return not stems or remote

    def _rate(self, trial: Trial, scenario: Scenario) -> float:
        most = [self._limit(trial, scenario), *self._own(trial, scenario)]
        most.append(self._by_cpu(trial, scenario.quantile))
        depth = _depth(trial, scenario.one_each)
        if depth is not None:
            most.append(depth * US_PER_S / self._latency_us(trial, scenario))
        if trial.rate_iops:
            most.append(trial.rate_iops)
        return min(most)

    # ---- limits ------------------------------------------------------------------------------------------

    def _limit(self, trial: Trial, scenario: Scenario) -> float:
        """What the limits allow, in proportion to the run: it had what was measured, of one that binds; else
        that or more.
        """
        allowed, was = self._delivered(trial, scenario), self._delivered(self.was, scenario)
        if self.label is Label.PAGE_CACHE or not math.isfinite(allowed) or not math.isfinite(was):
            return allowed
        times = self.iops / was if self.stage is not None else max(1.0, self.iops / was)
        return allowed * _as_printed(times, scenario)

    def _delivered(self, trial: Trial, scenario: Scenario) -> float:
        how = (trial.credits, trial.filled, trial.hit, trial.uncached, trial.disks)
        key = (trial.read_share, trial.bs_bytes, *how, scenario.spent, scenario.documented)
        if key not in self._limits:
            setup = self._setup(trial, scenario)
            mine = {volume.disk.name for volume in self.flow.driven(self.route.setup)}
            path = self.route.path
            loads = [
                Load(
                    volume=volume.name,
                    read_share=trial.read_share,
                    bs_bytes=trial.bs_bytes,
                    cache_hit=trial.hit if trial.hit is not None else path.cache_hit,
                    destaged=path.destaged or trial.filled,
                )
                for volume in setup.volumes()
                if volume.disk.name in mine
            ]
            if trial.disks == 1 and self.flow.volumes:
                loads = [load for load in loads if load.volume in self.flow.volumes]
            iops = deliver(setup, loads).iops
            self._limits[key] = math.inf if iops is None else iops
        return self._limits[key]

    def _setup(self, trial: Trial, scenario: Scenario) -> Setup:
        """The setup with the limits as this hypothesis has them."""
        factors = {
            (stage.scope, stage.quantity): _all_as_printed(
                self._factors(stage, trial, scenario.spent), scenario
            )
            for stage in self.route.stages
        }
        drops = scenario.spent or trial.credits is CreditState.SPENT
        every = _all_as_printed((_TYPICAL, None if drops else _TYPICAL), scenario)

        def moved(cap: Cap, stem: str) -> Cap:
            return _times(cap, {q: factors.get((stem, q), every) for q in ("iops", "bytes_per_s")})

        setup = self.route.setup
        mine = {volume.disk.name for volume in self.flow.driven(setup)}
        vm = setup.vm
        caps = {name: moved(getattr(vm, name), stem) for stem, names in _CAPS.items() for name in names}
        if vm.temp:
            caps["temp"] = moved(vm.temp, "temp")
        elif any(stage.scope == "temp" for stage in self.route.stages):
            caps["cached"] = moved(vm.cached, "temp")
        disks = tuple(
            self._disk(disk, moved(disk.cap, "disk"), trial) if disk.name in mine else disk
            for disk in setup.disks
        )
        return replace(setup, vm=_with_caps(vm, caps), disks=disks)

    @staticmethod
    def _disk(disk: Disk, cap: Cap, trial: Trial) -> Disk:
        changed = replace(disk, cap=cap)
        if trial.uncached:
            changed = replace(changed, caching="None")
        if trial.disks > 1:
            changed = replace(changed, count=trial.disks * disk.count, striped=True)
        return changed

    def _factors(self, stage: Stage, trial: Trial, spent: bool) -> _Factors:
        """What base and burst of a limit are, ÷ their documented figures."""
        burst = stage.burst
        if self.label is Label.PAGE_CACHE:  # the run says nothing of the limits
            return _TYPICAL, None if spent or burst is None else _TYPICAL
        if stage is not self.stage:
            drops = spent or trial.credits is CreditState.SPENT
            if burst is None or (drops and stage.base.use <= likelihoods.LOOSEST):
                return max(_TYPICAL, stage.base.use), None
            return _TYPICAL, None if trial.credits is CreditState.SPENT else max(_TYPICAL, burst.use)
        if self.label is Label.ABOVE_DOCUMENTED_LIMIT:
            return stage.base.use, None
        if self.label.burst and burst is not None:
            return _TYPICAL, None if trial.credits is CreditState.SPENT else burst.use
        return stage.base.use, _TYPICAL if burst is not None and trial.credits is CreditState.FULL else None

    # ---- latency, CPU, and what the workload does itself ---------------------------------------------------

    def _submits(self) -> tuple[bool, ...]:
        """Whether jobs submit one I/O at a time; both where that is open and would matter."""
        seen = self.flow.observation
        if self.was.queue_depth is None:
            return (False,)
        if evidence.effective_depth(seen) != seen.queue_depth:
            return (True,)
        if self.label is not Label.LATENCY_QD or seen.slat_us is not None:
            return (False,)
        spread = self._spread(self.route.serves, seen.unloaded_us)
        each, alone = (
            spread.pdf(math.log(depth * US_PER_S / self.iops))
            for depth in (self.was.queue_depth, self.was.numjobs)
        )
        each, alone = (1 - WAITS_IN_SUBMISSION) * each, WAITS_IN_SUBMISSION * alone
        if min(each, alone) > _OPEN_SHARE * (each + alone):
            return (alone > each, each >= alone)
        return (alone > each,)

    def _latency_us(self, trial: Trial, scenario: Scenario) -> float:
        """The latency of an I/O that nothing throttles, with the pauses of the workload."""
        seen, serves = self.flow.observation, self.route.serves
        if not trial.on_same_path or (self.label is Label.PAGE_CACHE and trial.direct):
            serves = "local" if trial.hit == 1 else "remote" if not trial.on_same_path else serves
            return math.exp(self._spread(serves, None, trial).inv_cdf(scenario.quantile))
        larger = self._spread(serves, None, trial).mean - self._spread(serves, None).mean
        larger *= _SIZE_COUNTS[scenario.quantile]
        depth = _depth(self.was, scenario.one_each) or 1.0
        each = depth * US_PER_S / self.iops
        return self._unloaded_us(each, seen.unloaded_us, trial.pauses, scenario) * math.exp(larger)

    def _unloaded_us(self, each: float, measured_us: float | None, pauses: bool, scenario: Scenario) -> float:
        """The unloaded latency of an I/O of the run, where the rate left it `each`."""
        if self.label is Label.LATENCY_QD:
            return each
        if self.label is Label.WORKLOAD_DEMAND:
            if pauses and not scenario.own_rate and self.was.rate_iops is None:
                return each
            mean = mean_latency_us(self.flow.observation)
            if mean and mean < evidence.IDLE * each:
                return mean
        return _shortened(self._spread(self.route.serves, measured_us), each, scenario.quantile)

    def _spread(self, serves: str, measured_us: float | None, trial: Trial | None = None) -> NormalDist:
        share, size = (trial or self.was).read_share, (trial or self.was).bs_bytes
        key = (serves, measured_us, share, size)
        if key not in self._spreads:
            disk = next((volume.disk for volume in self.flow.driven(self.route.setup)), None)
            expected = likelihoods.expected_latency(self.route.setup.vm, disk, serves, share)
            self._spreads[key] = likelihoods.unloaded(expected, serves, size, measured_us)
        return self._spreads[key]

    def _by_cpu(self, trial: Trial, quantile: float) -> float:
        """What the CPU of the jobs can issue."""
        each_us, used = self.was.numjobs * US_PER_S / self.iops, self.flow.observation.cpu_pct
        if self.label is not Label.HOST_CPU:
            median, sd = likelihoods.CPU_US
            each_us = (
                each_us * min(100.0, max(1.0, used)) / 100
                if used is not None
                else _shortened(NormalDist(math.log(median), sd), each_us, quantile)
            )
        return trial.numjobs * US_PER_S / each_us

    def _own(self, trial: Trial, scenario: Scenario) -> Iterator[float]:
        """A plateau, or the rate that the workload asks for."""
        label = self.label
        if self.plateau:
            times = self.was.bs_bytes / trial.bs_bytes if scenario.of_bytes else 1.0
            yield self.iops * times * (trial.disks if label.scope == "disk" else 1)
        if scenario.own_rate and trial.pauses:
            yield self.iops


def _stage_of(label: Label, route: Route) -> Stage | None:
    """The documented limit that binds if a label does; of a rate above limits, the only one passed."""
    if label is Label.ABOVE_DOCUMENTED_LIMIT:
        passed = [stage for stage in route.stages if stage.levels()[-1].use > likelihoods.LOOSEST]
        return passed[0] if len(passed) == 1 else None
    return next((stage for stage in route.stages if stage.base.label == label.base), None)


def _depth(trial: Trial, one_each: bool) -> float | None:
    return float(trial.numjobs) if one_each else trial.queue_depth


def _shortened(spread: NormalDist, longest: float, quantile: float) -> float:
    """A quantile of what is known to be shorter than `longest`; `spread` is of the logarithm."""
    shorter = spread.cdf(math.log(longest))
    if shorter < _NEARLY_NONE:
        return _ALMOST * longest
    return math.exp(spread.inv_cdf(min(quantile * shorter, 1 - _NEARLY_NONE)))


def _as_printed(factor: float, scenario: Scenario) -> float:
    """Times a documented figure: none, where that is to be shown and runs may stray so far from it."""
    return 1.0 if scenario.documented and abs(math.log(factor)) < _STRAYS else factor


def _all_as_printed(factors: _Factors, scenario: Scenario) -> _Factors:
    base, burst = factors
    return _as_printed(base, scenario), None if burst is None else _as_printed(burst, scenario)


def _times(cap: Cap, factors: dict[str, _Factors]) -> Cap:
    """A cap with other limits."""
    changed: dict[str, Any] = {}
    for quantity, (base, burst) in factors.items():
        if cap.burst_kind == BurstKind.ON_DEMAND:  # the only level that there is
            burst = base
        for name, factor in ((quantity, base), (f"write_{quantity}", base), (f"burst_{quantity}", burst)):
            value: float | None = getattr(cap, name)
            changed[name] = None if value is None or factor is None else value * factor
    return replace(cap, **changed)


def _with_caps(vm: VM, caps: dict[str, Cap]) -> VM:
    return replace(vm, **caps)  # type: ignore[arg-type]
