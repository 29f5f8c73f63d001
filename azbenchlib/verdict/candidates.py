"""The limits that a flow may have met, on every path that it may have taken, and how far it used each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from azbenchlib.analysis.flow import Flow, Rates, rates
from azbenchlib.analysis.observation import Observation
from azbenchlib.model.ceilings import Path, paths
from azbenchlib.model.credits import Bucket
from azbenchlib.model.io_path import QUANTITIES, Load, legs
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import deliver, rounded
from azbenchlib.model.setup import BurstKind, Cap, Setup, Volume
from azbenchlib.verdict.readings import readings

# Times their base: what nearly all VMs burst to at most, of the thousand of which a page tells. Half of them
# burst to no more than 1.3 times their IOPS, and 1.7 times their MB/s.
BURST_AT_MOST = {"iops": 6.0, "bytes_per_s": 14.0}
_SAME_COUNT = 0.1  # of the logarithm of the device's I/Os ÷ the workload's


@dataclass(frozen=True)
class Level:
    """A limit at its base or its burst: its value for this mix of I/Os, measured ÷ value, and other figures
    that are in print ÷ this one.
    """

    label: Label
    value: float
    use: float
    others: tuple[float, ...] = ()

    @property
    def least_use(self) -> float:
        """Measured ÷ the highest figure in print."""
        return self.use / max((1.0, *self.others))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One documented limit on a path. `burst` is None where there is none, no credits, or where it takes no
    credits: an on-demand burst is the only level, and stands in `base`.

    `lasts_s` is how long full credits last at the measured rate; infinite below the base. `counted` is as how
    many an I/O of the workload counts: disks count large ones as several, the kernel merges and splits them.
    """

    scope: str
    quantity: str
    burst_kind: BurstKind
    base: Level
    burst: Level | None
    lasts_s: float
    soft: bool
    counted: float

    @property
    def open_burst(self) -> Label | None:
        """The burst limit whose figure is not known; None: there is none, or its figure is known."""
        is_open = self.burst_kind == BurstKind.NOT_KNOWN and self.burst is None
        return self.base.label.above if is_open else None

    def levels(self) -> tuple[Level, ...]:
        """Base, and burst where there is one."""
        return (self.base, self.burst) if self.burst else (self.base,)

    def highest(self, runtime_s: float | None) -> Level:
        """The most that this limit allowed a run of this length, on average over it."""
        return self.emptied(runtime_s) or self.burst or self.base

    def passed(self, runtime_s: float | None) -> float:
        """Measured ÷ the most that the limit may have allowed, by any figure in print or one not known."""
        return self.highest(runtime_s).least_use / (BURST_AT_MOST[self.quantity] if self.open_burst else 1.0)

    def emptied(self, runtime_s: float | None) -> Level | None:
        """What full credits allowed a run that outlasts them, on average, by the name of what held the longer
        part of it. None: no burst, no rate above the base, or a shorter run.
        """
        if self.burst is None or runtime_s is None or math.isinf(self.lasts_s):
            return None
        bucket = Bucket(self.base.value, self.burst.value)
        burst_s = bucket.time_to_empty()
        if runtime_s <= burst_s:
            return None
        longer = self.burst if 2 * burst_s >= runtime_s else self.base
        mean = self.base.value + bucket.capacity / runtime_s
        return Level(longer.label, mean, self.base.use * self.base.value / mean)


@dataclass(frozen=True, kw_only=True)
class Route:
    """A path with its prior weight, the limits on it, and what serves the I/O: remote, local or nvme.

    `setup` is the reading of the setup that the path is in, `facts` what that reading takes open facts for,
    `binds` and `holds` what has limits near the rate, or above it, of which no figure is known.
    """

    path: Path
    weight: float
    stages: tuple[Stage, ...]
    serves: str
    setup: Setup
    facts: tuple[tuple[str, str], ...] = ()
    binds: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()

    def tightest(self, runtime_s: float | None) -> float:
        """The largest use of the limits at the most that they allow; 0 where none is documented."""
        return max((stage.passed(runtime_s) for stage in self.stages), default=0.0)


def routes(setup: Setup, flow: Flow, beside: Sequence[Flow] = ()) -> list[Route]:
    """Every path that a flow may have taken; `beside` it others used the same limits."""
    return [
        replace(
            route,
            weight=reading.weight * route.weight,
            facts=reading.facts,
            binds=reading.binds,
            holds=reading.holds,
        )
        for reading in readings(setup, flow)
        for route in _routes(reading.setup, flow, beside)
    ]


def _routes(setup: Setup, flow: Flow, beside: Sequence[Flow]) -> list[Route]:
    """The paths in a setup that leaves nothing open but what the I/O did there."""
    volumes = flow.driven(setup)
    got = rates(flow.observation)
    if not volumes or (got.iops is None and got.bytes_per_s is None):
        return [Route(path=Path("not known"), weight=1.0, stages=(), serves="remote", setup=setup)]
    found: list[Route] = []
    for read_share in _shares(flow):
        for path in _paths(flow, volumes, read_share, setup.vm.cache_bytes):
            stages = _stages(setup, flow, path, read_share, beside)
            weight = _weight(flow, setup, path, read_share) / len(_shares(flow))
            serves = _serves(volumes, path, read_share)
            found.append(Route(path=path, weight=weight, stages=stages, serves=serves, setup=setup))
    return found


def _shares(flow: Flow) -> tuple[float, ...]:
    """The share of reads; both directions where it is not known."""
    share = flow.observation.read_share
    return (1.0, 0.0) if share is None else (share,)


def _paths(flow: Flow, volumes: Sequence[Volume], read_share: float, cache_bytes: float | None) -> list[Path]:
    """The open paths: a warm cache, or a cold one. A known hit ratio closes them."""
    found = paths(volumes, read_share)
    if all(path.cache_hit is None for path in found):
        return found
    if flow.cache_hit is not None:
        return [_hitting(path, flow.cache_hit) for path in found if path.cache_hit]
    span, cache = flow.observation.working_set_bytes, cache_bytes
    warm = min(1.0, cache / span) if span and cache else 1.0
    return [_hitting(path, warm) if path.cache_hit else path for path in found]


def _hitting(path: Path, hit: float) -> Path:
    """The same path with another share of hits."""
    name = "cache hit" if hit == 1 else "cache miss" if hit == 0 else f"{hit:.0%} cache hits"
    return Path(", ".join([name, *path.name.split(", ")[1:]]), hit, path.destaged)


def _weight(flow: Flow, setup: Setup, path: Path, read_share: float) -> float:
    """How likely the path is before the rates are looked at; our judgement, not measured."""
    weight = 1.0
    if path.cache_hit is not None and flow.cache_hit is None:
        warm = {True: 0.9, False: 0.1, None: 0.6}[flow.warmed]
        weight *= warm if path.cache_hit else 1 - warm
    disks = [volume.disk for volume in flow.driven(setup)]
    if read_share < 1 and any(disk.caching == "ReadWrite" and not disk.local for disk in disks):
        weight *= 0.3 if path.destaged else 0.7
    return weight


def _serves(volumes: Sequence[Volume], path: Path, read_share: float) -> str:
    """What answers most of the I/O."""
    disk = volumes[0].disk
    if disk.local:
        return "nvme" if disk.place == "nvme" else "local"
    if disk.caching == "None":
        return "remote"
    hit = path.cache_hit if path.cache_hit is not None else disk.cache_hit or 0.0
    in_cache = read_share * hit
    if disk.caching == "ReadWrite" and not path.destaged:
        in_cache += 1 - read_share
    return "local" if in_cache > 0.5 else "remote"


def _stages(
    setup: Setup, flow: Flow, path: Path, read_share: float, beside: Sequence[Flow]
) -> tuple[Stage, ...]:
    """The limits on one path; of volumes alike, the one that is used most."""
    volumes, got = flow.driven(setup), rates(flow.observation)
    loads = _loads(setup, volumes, got, path, read_share)
    for other in beside:
        share = other.observation.read_share if other.observation.read_share is not None else 1.0
        its = other.driven(setup)
        way = paths(its, share)[0]
        loads += [(load, False) for load, _ in _loads(setup, its, rates(other.observation), way, share)]
    merged = _device_ios(flow.observation, got)
    used: dict[tuple[str, str, Label, str], list[float]] = {}
    caps: dict[tuple[str, str, Label, str], Cap] = {}
    counted: dict[tuple[str, str, Label, str], float] = {}
    known = {volume.name: volume for volume in setup.volumes()}
    for load, own in loads:
        for leg in legs(setup.vm, known[load.volume], load):
            for quantity in QUANTITIES:
                more = _counted_more(leg.counted, merged) if own and quantity == "iops" else 1.0
                done = load.asked * more
                shares = [leg.share_per_step(quantity, load.step, b) * done for b in (False, True)]
                if shares[0] or shares[1]:
                    key = (leg.scope, quantity, leg.label(quantity, True), ":".join(leg.pool))
                    sums = used.setdefault(key, [0.0, 0.0, 0.0])
                    taken = leg.per_step(quantity, load.step) * done
                    sums[:] = [sums[0] + shares[0], sums[1] + shares[1], sums[2] + taken]
                    caps[key] = leg.cap
                    if own:
                        counted[key] = leg.counted * more if quantity == "iops" else 1.0
    soft = any(volume.disk.kind is not None and volume.disk.kind.soft_limits for volume in volumes)
    found: dict[tuple[str, str], Stage] = {}
    for key, each in counted.items():
        stage = _stage(key, used[key], caps[key], soft, flow.credits, each)
        before = found.get((stage.scope, stage.quantity))
        if before is None or stage.base.use > before.base.use:
            found[stage.scope, stage.quantity] = stage
    return tuple(sorted(found.values(), key=lambda stage: (-stage.base.use, stage.base.label)))


def _stage(
    key: tuple[str, str, Label, str],
    sums: Sequence[float],
    cap: Cap,
    soft: bool,
    credits_there: bool | None,
    counted: float,
) -> Stage:
    scope, quantity, label, _ = key
    base_use, burst_use, taken = sums
    value = rounded(taken / base_use) if base_use else math.inf
    by_credits = label.burst and burst_use < base_use
    base = Level(label.base if by_credits else label, value, base_use, cap.times_as_high(quantity))
    burst = None
    if by_credits and credits_there is not False:
        burst = Level(label, rounded(taken / burst_use), burst_use, cap.times_as_high(quantity, burst=True))
    lasts = Bucket(base.value, burst.value).time_to_empty(taken) if burst and base_use else math.inf
    return Stage(
        scope=scope,
        quantity=quantity,
        burst_kind=cap.burst_kind,
        base=base,
        burst=burst,
        lasts_s=lasts,
        soft=soft and scope == "disk" and not label.burst,
        counted=counted,
    )


def _device_ios(seen: Observation, got: Rates) -> float:
    """I/Os that the device did for one of the workload: the kernel merges small and splits large ones.

    Limits count the device's. A difference of some percent says no more than that the two are counted over
    another span of time, and the rate of the job is the more exact. Of buffered I/O the device sees another
    load.
    """
    if not (seen.device_iops and got.iops) or seen.direct is False:
        return 1.0
    ratio = seen.device_iops / got.iops
    return ratio if abs(math.log(ratio)) > _SAME_COUNT else 1.0


def _counted_more(counted: float, merged: float) -> float:
    """How many times what a limit counts for an I/O of the workload it counts for those of the device: what
    the kernel splits, a disk that counts in units would have split itself.
    """
    return max(counted, merged) / counted if counted > 1 else merged


def _loads(
    setup: Setup, volumes: Sequence[Volume], got: Rates, path: Path, read_share: float
) -> list[tuple[Load, bool]]:
    """The measured rate on its volumes: in the proportions in which the setup would serve them."""
    if got.iops is None and got.bytes_per_s is None:
        return []
    asked = {"iops": got.iops} if got.iops is not None else {"bytes_per_s": got.bytes_per_s}
    if not got.bs_bytes and got.iops is not None and got.bytes_per_s is not None:
        asked["bytes_per_s"] = got.bytes_per_s
    parts = _proportions(setup, volumes, got, path, read_share)
    return [
        (
            Load(
                volume=volume.name,
                read_share=read_share,
                bs_bytes=got.bs_bytes,
                **{name: value * part for name, value in asked.items() if value is not None},
                cache_hit=volume.disk.cache_hit if path.cache_hit is None else path.cache_hit,
                destaged=path.destaged,
            ),
            True,
        )
        for volume, part in zip(volumes, parts, strict=True)
    ]


def _proportions(
    setup: Setup, volumes: Sequence[Volume], got: Rates, path: Path, read_share: float
) -> list[float]:
    if len(volumes) == 1:
        return [1.0]
    name = "iops" if got.iops is not None else "bytes_per_s"
    wide = [
        Load(
            volume=v.name,
            read_share=read_share,
            bs_bytes=got.bs_bytes,
            cache_hit=path.cache_hit,
            destaged=path.destaged,
            **{name: math.inf},
        )
        for v in volumes
    ]
    served = [getattr(use, name) for use in deliver(setup, wide).volumes]
    if any(not part for part in served):
        return [1 / len(volumes)] * len(volumes)
    return [part / sum(served) for part in served]
