"""What a hypothesis says: the rate of a run under other conditions, if one thing bound the run that was made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist

from azbenchlib.analysis.flow import Flow, mean_latency_us, rates
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import evidence, likelihoods
from azbenchlib.verdict.candidates import Route, Stage
from azbenchlib.verdict.labels import Label
from azbenchlib.verdict.next_run.trials import Credits, Trial
from azbenchlib.verdict.posterior import WAITS_IN_SUBMISSION

TYPICAL = math.exp(likelihoods.FIRM.mean)  # what a limit allows ÷ its documented figure
QUANTILES = (0.5, 0.05, 0.95)  # of the unloaded latency, where it is not known; the first is the typical one
_ALMOST = 0.98  # of the latency that the rate leaves to each I/O, where the unloaded one must be shorter
_NEARLY_NONE = 1e-6
RATE_KEPT = 0.97  # of a rate limit: a run this near to it was held by it
_PLATEAUS = (Label.UNKNOWN, Label.ABOVE_DOCUMENTED_LIMIT)
_CAPS = {"disk": (), "vm_uncached": ("uncached", "uncached_v2"), "vm_cached": ("cached",), "nvme": ("nvme",)}
_Factors = tuple[float, float | None]  # of base and burst; None: no burst


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What a hypothesis leaves open: the unloaded latency, as a quantile; whether the credits of limits that
    do not bind are spent; whether a plateau is one of bytes; whether a workload keeps a rate of its own.
    """

    quantile: float = QUANTILES[0]
    spent: bool = False
    of_bytes: bool = False
    own_rate: bool = False


class World:
    """A setup as it would be if a label bound a run.

    Parameters
    ----------
    label : Label
    flow : Flow
        The run.
    route : Route
        The likeliest path of its I/O, if the label bound it.
    was : Trial
        Its conditions.
    """

    def __init__(self, label: Label, flow: Flow, route: Route, was: Trial) -> None:
        self.label, self.flow, self.route, self.was = label, flow, route, was
        self.iops = rates(flow.observation).iops or 0.0
        self._limits: dict[tuple[object, ...], float] = {}
        self.stage = next((s for s in route.stages if s.base.label == label.base), None)
        self.synchronous = self._is_synchronous()
        self.each_us = self._each_us()

    def rates(self, trial: Trial) -> tuple[float, ...]:
        """The IOPS of a trial, one a scenario, the typical one first; empty where they are not predicted."""
        if not self._predicts(trial):
            return ()
        return tuple(self._rate(trial, scenario) for scenario in self._scenarios())

    def _predicts(self, trial: Trial) -> bool:
        label = self.label
        if label is Label.PAGE_CACHE:
            return trial.direct and not self.was.direct
        if label is Label.CACHE_EXHAUSTION:
            return trial.filled
        if label in _PLATEAUS and (trial.uncached or trial.hit is not None):
            return False
        if label is Label.ABOVE_DOCUMENTED_LIMIT and trial.credits is not Credits.AS_BEFORE:
            return False
        if self.each_us is None and label is Label.LATENCY_QD:
            return False
        return not (label is Label.UNKNOWN and trial.disks > 1 and not self.route.stages)

    def _scenarios(self) -> Iterator[Scenario]:
        label = self.label
        latency_known = label is Label.LATENCY_QD or self.each_us is None
        open_credits = any(
            stage.burst and stage.base.use <= 1 for stage in self.route.stages if stage is not self.stage
        )
        is_plateau = label in _PLATEAUS or (label.is_limit and self.stage is None)
        kinds = (False, True) if label is Label.ABOVE_DOCUMENTED_LIMIT or self._undocumented else (False,)
        if label.is_limit:
            kinds = (label.quantity == "mbps",)
        own = (False,)
        if label is Label.WORKLOAD_DEMAND:
            rate = self.flow.observation.rate_iops
            own = (False,) if rate and self.iops >= RATE_KEPT * rate else (False, True)
        for spent, of_bytes, own_rate, quantile in product(
            (False, True) if open_credits else (False,),
            kinds if is_plateau else (False,),
            own,
            QUANTILES[:1] if latency_known else QUANTILES,
        ):
            yield Scenario(quantile=quantile, spent=spent, of_bytes=of_bytes, own_rate=own_rate)

    @property
    def _undocumented(self) -> bool:
        """Whether an unknown cause may be a limit of bytes of which nothing is documented."""
        stems = {stage.stem for stage in self.route.stages}
        remote = self.route.serves == "remote" and not {"disk", "vm_uncached"} <= stems
        return not stems or remote

    def _rate(self, trial: Trial, scenario: Scenario) -> float:
        most = [self._limit(trial, scenario.spent), self._by_cpu(trial), *self._own(trial, scenario)]
        depth = self._depth(trial)
        if depth is not None and (each := self._latency_us(trial, scenario.quantile)):
            most.append(depth * US_PER_S / each)
        if trial.rate_iops:
            most.append(trial.rate_iops)
        return min(most)

    # ---- limits ------------------------------------------------------------------------------------------

    def _limit(self, trial: Trial, spent: bool) -> float:
        """What the limits allow; in proportion to what was measured, where one of them binds."""
        allowed = self._delivered(trial, spent)
        if self.stage is None or not math.isfinite(allowed):
            return allowed
        return allowed * self.iops / self._delivered(self.was, spent)

    def _delivered(self, trial: Trial, spent: bool) -> float:
        key = (trial.read_share, trial.bs_bytes, trial.credits, trial.filled, trial.hit, trial.uncached)
        key += (trial.disks, spent)
        if key not in self._limits:
            setup = self._setup(trial, spent)
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

    def _setup(self, trial: Trial, spent: bool) -> Setup:
        """The setup with the limits as this hypothesis has them."""
        factors = {(stage.stem, stage.quantity): self._factors(stage, trial, spent) for stage in self.route.stages}
        drops = spent or trial.credits is Credits.SPENT

        def moved(cap: Cap, stem: str) -> Cap:
            return _times(cap, {q: factors.get((stem, q)) for q in ("iops", "bytes_per_s")}, drops)

        setup = self.route.setup
        mine = {volume.disk.name for volume in self.flow.driven(setup)}
        vm = setup.vm
        caps = {name: moved(getattr(vm, name), stem) for stem, names in _CAPS.items() for name in names}
        if vm.temp:
            caps["temp"] = moved(vm.temp, "temp")
        elif any(stage.stem == "temp" for stage in self.route.stages):
            caps["cached"] = moved(vm.cached, "temp")
        disks = tuple(
            self._disk(disk, moved(disk.cap, "disk"), trial) if disk.name in mine else disk for disk in setup.disks
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
        if stage is not self.stage:
            if burst is None or ((spent or trial.credits is Credits.SPENT) and stage.base.use <= 1):
                return max(TYPICAL, stage.base.use), None
            return TYPICAL, None if trial.credits is Credits.SPENT else max(TYPICAL, burst.use)
        if self.label.burst and burst is not None:
            return TYPICAL, None if trial.credits is Credits.SPENT else burst.use
        return stage.base.use, TYPICAL if burst is not None and trial.credits is Credits.FULL else None

    # ---- latency, CPU, and what the workload does itself ---------------------------------------------------

    def _is_synchronous(self) -> bool:
        """Whether jobs submit one I/O at a time whatever their iodepth."""
        seen = self.flow.observation
        if self.was.queue_depth is None or not self.iops:
            return False
        if evidence.effective_depth(seen) != seen.queue_depth:
            return True
        if self.label is not Label.LATENCY_QD or seen.slat_us is not None:
            return False
        spread = self._spread(self.route.setup.vm, self.route.serves, seen.unloaded_us)
        each, alone = (
            math.log(depth * US_PER_S / self.iops) for depth in (self.was.queue_depth, self.was.numjobs)
        )
        return WAITS_IN_SUBMISSION * spread.pdf(alone) > spread.pdf(each)

    def _depth(self, trial: Trial) -> float | None:
        return float(trial.numjobs) if self.synchronous else trial.queue_depth

    def _each_us(self) -> float | None:
        depth = self._depth(self.was)
        return depth * US_PER_S / self.iops if depth and self.iops else None

    def _latency_us(self, trial: Trial, quantile: float) -> float | None:
        """The latency of an I/O that nothing throttles, with the pauses of the workload."""
        if self.each_us is None:
            return None
        seen, route = self.flow.observation, self.route
        if not trial.on_same_path or (self.label is Label.PAGE_CACHE and trial.direct):
            serves = "local" if trial.hit == 1 else route.serves if trial.direct and not trial.uncached else "remote"
            spread = self._spread(route.setup.vm, serves, None, trial)
            return math.exp(spread.inv_cdf(quantile))
        larger = self._spread(route.setup.vm, route.serves, None, trial).mean
        was = self._spread(route.setup.vm, route.serves, None).mean
        return self._unloaded_us(seen.unloaded_us, trial.pauses, quantile) * math.exp(larger - was)

    def _unloaded_us(self, measured_us: float | None, pauses: bool, quantile: float) -> float:
        each = self.each_us or math.inf
        if self.label is Label.LATENCY_QD:
            return each
        if self.label is Label.WORKLOAD_DEMAND:
            if pauses and self.flow.observation.rate_iops is None:
                return each
            if mean := mean_latency_us(self.flow.observation):
                return min(mean, each)
        spread = self._spread(self.route.setup.vm, self.route.serves, measured_us)
        shorter = spread.cdf(math.log(each))
        if shorter < _NEARLY_NONE:
            return _ALMOST * each
        return math.exp(spread.inv_cdf(min(quantile * shorter, 1 - _NEARLY_NONE)))

    def _spread(self, vm: VM, serves: str, measured_us: float | None, trial: Trial | None = None) -> NormalDist:
        trial = trial or self.was
        disk = next((volume.disk for volume in self.flow.driven(self.route.setup)), None)
        expected = likelihoods.expected_latency(vm, disk, serves, trial.read_share)
        return likelihoods.unloaded(expected, serves, trial.bs_bytes, measured_us)

    def _by_cpu(self, trial: Trial) -> float:
        """What the CPU of the jobs can issue."""
        each, used = self.iops / self.was.numjobs, self.flow.observation.cpu_pct
        if self.label is not Label.HOST_CPU:
            most = each * 100 / min(100.0, max(1.0, used)) if used else US_PER_S / likelihoods.CPU_US[0]
            each = max(each, most)
        return trial.numjobs * each

    def _own(self, trial: Trial, scenario: Scenario) -> Iterator[float]:
        """A plateau, or the rate that the workload asks for."""
        label = self.label
        if label in _PLATEAUS or (label.is_limit and self.stage is None):
            times = self.was.bs_bytes / trial.bs_bytes if scenario.of_bytes else 1.0
            yield self.iops * times * (trial.disks if label.scope == "disk" else 1)
        if scenario.own_rate and trial.pauses:
            yield self.iops


def _times(cap: Cap, factors: dict[str, _Factors | None], drops: bool) -> Cap:
    """A cap with other limits; where no factors are given, those of a limit that holds."""
    changed: dict[str, float | None] = {}
    for quantity, given in factors.items():
        base, burst = given or (TYPICAL, None if drops else TYPICAL)
        for name, factor in ((quantity, base), (f"write_{quantity}", base), (f"burst_{quantity}", burst)):
            value: float | None = getattr(cap, name)
            changed[name] = None if value is None or factor is None else value * factor
    return replace(cap, **changed)


def _with_caps(vm: VM, caps: dict[str, Cap]) -> VM:
    return replace(vm, **caps)  # type: ignore[arg-type]
