"""From a setup to chains: the limits that :mod:`azbenchlib.model.io_path` names, each with its buckets."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azbenchlib.lab.engine.token_buckets import (
    EventQueue,
    FairShareScheduler,
    LimiterChain,
    TokenBucket,
    TokenMeter,
)
from azbenchlib.model.io_path import QUANTITIES, Leg, Load, legs
from azbenchlib.model.setup import Setup, Volume

Pool = tuple[str, str]


@dataclass(frozen=True)
class Credits:
    """The credits of one limit: which (owner and label), their bucket, and how many a second of it are."""

    name: str
    bucket: TokenBucket
    per_s: float


@dataclass(frozen=True)
class Paths:
    """The chains of each volume, VM first, and every credit bucket. `near` is the host's, `far` the rest."""

    near: dict[str, tuple[LimiterChain, ...]]
    far: dict[str, tuple[LimiterChain, ...]]
    credits: tuple[Credits, ...]


def lay(
    setup: Setup, event_queue: EventQueue, credit_s: float, tick_s: float, burst_tolerance_s: float
) -> Paths:
    """The chains of a setup, with full buckets.

    Parameters
    ----------
    setup : Setup
    event_queue : EventQueue
        Where shared limits note when the next I/O may pass.
    credit_s : float
        Seconds that a full bucket of credits lasts at the largest burst.
    tick_s : float
        See :class:`LimiterChain`.
    burst_tolerance_s : float
        What a limit lets pass at once after a pause, in seconds of it.
    """
    ways = {volume.name: (volume, _legs(setup, volume)) for volume in setup.volumes()}
    users: dict[Pool, list[Leg]] = defaultdict(list)
    for _, way in ways.values():
        for leg in way:
            users[leg.pool].append(leg)
    tanks = {
        (pool, quantity): _tanks(quantity, users[pool], credit_s, max(burst_tolerance_s, tick_s))
        for pool in users
        for quantity in QUANTITIES
    }
    schedulers = {pool: FairShareScheduler(event_queue) if len(users[pool]) > 1 else None for pool in users}
    near: dict[str, tuple[LimiterChain, ...]] = {}
    far: dict[str, tuple[LimiterChain, ...]] = {}
    for name, (volume, way) in ways.items():
        chains = [_chain(volume, leg, tanks, schedulers[leg.pool], tick_s) for leg in way]
        hosted = sum(leg.pool[0] == "vm" and leg.pool[1] != "remote" for leg in way)
        near[name], far[name] = tuple(chains[:hosted]), tuple(chains[hosted:])
    return Paths(near, far, tuple(_credits(users, tanks)))


def _legs(setup: Setup, volume: Volume) -> list[Leg]:
    """All limits on the volume's longest way: a miss, and a write that goes to the disk.

    The VM's come first: a disk that is slow must not hold what its neighbours need.
    """
    every = Load(volume=volume.name, read_share=0.5, bs_bytes=1.0, cache_hit=0.0, destaged=True)
    return sorted(legs(setup.vm, volume, every), key=lambda leg: leg.pool[0] == "disk")


def _tanks(
    quantity: str, users: Sequence[Leg], credit_s: float, burst_tolerance_s: float
) -> tuple[TokenBucket | None, TokenBucket]:
    """The buckets of one limit: credits (where there is a burst) under the largest rate.

    Credits gain the base rate and pay for every I/O, and hold (burst − base) × `credit_s`: what two nested
    buckets of these rates let through is Azure's credit model.
    """
    limits = [(leg.cap.limit(quantity), leg.cap.limit(quantity, True)) for leg in users]
    most = max((burst / base for base, burst in limits if base and burst and base < math.inf), default=1.0)
    return TokenBucket((most - 1) * credit_s) if most > 1 else None, TokenBucket(burst_tolerance_s)


def _chain(
    volume: Volume,
    leg: Leg,
    tanks: dict[tuple[Pool, str], tuple[TokenBucket | None, TokenBucket]],
    scheduler: FairShareScheduler | None,
    tick_s: float,
) -> LimiterChain:
    meters: dict[bool, list[TokenMeter]] = {False: [], True: []}
    for quantity in QUANTITIES:
        for bucket, bursting in zip(tanks[leg.pool, quantity], (False, True), strict=True):
            for write, found in meters.items():
                limit = leg.cap.limit(quantity, bursting, write)
                if bucket is not None and limit is not None and math.isfinite(limit):
                    cost = (1 / limit, 0.0) if quantity == "iops" else (0.0, 1 / limit)
                    found.append(TokenMeter(bucket, *cost, leg.label(quantity, bursting)))
    unit = volume.disk.io_unit_bytes if leg.scope == "disk" else None
    destages = volume.disk.caching == "ReadWrite" and leg.pool != ("vm", "local")
    owner = owner_of(leg)
    return LimiterChain(
        owner,
        meters[False],
        meters[True],
        unit or math.inf,
        tick_s,
        scheduler,
        not destages and scheduler is None,
    )


def owner_of(leg: Leg) -> str:
    """Whose limit it is: ``vm`` or the volume's name."""
    return "vm" if leg.pool[0] == "vm" else leg.pool[1]


def _credits(
    users: dict[Pool, list[Leg]], tanks: dict[tuple[Pool, str], tuple[TokenBucket | None, TokenBucket]]
) -> Iterator[Credits]:
    for (pool, quantity), (bucket, _) in tanks.items():
        for leg in users[pool]:
            base = leg.cap.limit(quantity)
            if bucket is not None and base and leg.cap.spends_credits(quantity):
                yield Credits(f"{owner_of(leg)} {leg.label(quantity, True)}", bucket, base)
