"""Lesson 4: disks below a VM, each with limits of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

from azbenchlib.core.units import KIB, MB
from azbenchlib.lessons.answers import IN_IOPS, IN_MB_PER_S, AnswerUnit
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.model import VM, Load, Setup, deliver
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.limits import Delivered
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import Cap

CATALOGUE_DAY = "2026-09-09"  # whose limits the lessons take
_SIZES = ("D4s_v3", "D8s_v3", "D16s_v3", "D4s_v5", "D8s_v5", "E8ds_v5", "E16ds_v5")
_TIERS = ("P10", "P15", "P20", "P30", "P40")


@cache
def striped(size: str, tier: str, count: int) -> Setup:
    """Disks of a tier, striped, on a VM size, with the limits and default bursts of the catalogue."""
    name = f"{tier}x{count}" if count > 1 else tier
    return resolve(Setup(VM(size=size), parse_disks([name])), CATALOGUE_DAY)


def driven(setup: Setup, bs_bytes: int, full: bool = False) -> Delivered:
    """All its volumes, as hard as they go: with full credits, or with spent ones."""
    loads = [Load(volume=volume.name, bs_bytes=bs_bytes) for volume in setup.volumes()]
    return deliver(setup, loads, bursting=full)


def _limits(cap: Cap, full: bool) -> str:
    iops, rate = cap.limit("iops", bursting=full) or 0.0, cap.limit("bytes_per_s", bursting=full) or 0.0
    return f"{iops:,.0f} IOPS and {rate / MB:,g} MB/s"


def _working(setup: Setup, kib: int, unit: AnswerUnit, full: bool) -> str:
    """The four limits in the unit of the question."""
    parts = []
    for times, cap in ((f"{setup.disks[0].count} × ", setup.disks[0].cap), ("", setup.vm.uncached)):
        iops, rate = cap.limit("iops", bursting=full) or 0.0, cap.limit("bytes_per_s", bursting=full) or 0.0
        as_iops, as_rate = f"{times}{iops:,.0f}", f"{times}{rate / MB:,g}"
        parts += (
            [as_iops, f"{as_rate} × 1,000,000 ÷ ({kib} × 1,024)"]
            if unit is IN_IOPS
            else [f"{as_iops} × {kib} × 1,024 ÷ 1,000,000", as_rate]
        )
    return "the lowest of " + "; ".join(parts)


def _variants(setup: Setup, bs_bytes: int, full: bool) -> dict[str, Delivered]:
    """What comes out if one looks at a part of the limits only, or at another state of the credits."""
    (disk,) = setup.disks
    alone = replace(disk, count=1, striped=False)
    through_cache = replace(setup, vm=replace(setup.vm, uncached=setup.vm.cached))
    return {
        "all": driven(setup, bs_bytes, full),
        "one": driven(Setup(VM(), (alone,)), bs_bytes, full),
        "disks": driven(replace(setup, vm=VM()), bs_bytes, full),
        "cached": driven(through_cache, bs_bytes, full),
        "other state": driven(setup, bs_bytes, not full),
    }


def _wrong(found: dict[str, float], single: Misconception, full: bool) -> list[Misconception]:
    candidates = [
        Misconception(
            "one disk for the stripe",
            found["one"],
            "A stripe adds up the limits of its disks; that is the limit of a single one.",
        ),
        Misconception(
            "disk limits for VM limits",
            found["disks"],
            "So much the disks allow together. All of it also passes the VM, which has limits of its own.",
        ),
        Misconception(
            "cached limits for uncached ones",
            found["cached"],
            "Host caching is off, so nothing passes through the cache and its limits.",
        ),
        single,
        Misconception(
            "disk and VM limits added",
            found["all"] + found["disks"],
            "Limits on one path are not added: all of the I/O passes both, and the lower one binds.",
        ),
        Misconception(
            "base limits with full credits" if full else "burst limits with spent credits",
            found["other state"],
            "Disks and VM have two limits each: one while there are credits, and a lower one after that. "
            "Which of them holds in the state of the question?",
        ),
    ]
    return telling(found["all"], candidates)


def of_a_stripe(setup: Setup, kib: int, unit: AnswerUnit, *, full: bool = False) -> Exercise:
    """What disks below a VM reach, in IOPS or MB/s."""
    (disk,) = setup.disks
    vm = setup.vm
    quantity, other = ("iops", IN_MB_PER_S.name) if unit is IN_IOPS else ("bytes_per_s", IN_IOPS.name)
    found = {name: getattr(got, quantity) or 0.0 for name, got in _variants(setup, kib * KIB, full).items()}
    single = Misconception(
        f"the {unit.name} of the VM alone",
        vm.uncached.limit(quantity, bursting=full) or 0.0,
        f"The VM also limits {other}, and the disks limit both. Write every limit as {unit.name} at this "
        "block size.",
    )
    size = (vm.size or "").removeprefix("Standard_")
    whose = "disks and VM" if disk.cap.burst_iops else f"the VM (a {disk.tier} has none)"
    state = f"the burst credits of {whose} are {'full' if full else 'spent'}"
    of_disks, of_vm = _limits(disk.cap, full), _limits(vm.uncached, full)
    return Exercise(
        question=f"{disk.count} disks {disk.tier} are striped on a VM of the size {size}, and {state}. Each "
        f"disk then allows {of_disks}, and the VM {of_vm} to its disks without a cache, or "
        f"{_limits(vm.cached, full)} through the host cache. Host caching and on-demand bursting are off. "
        f"How many {unit.name} does the stripe reach in blocks of {kib} KiB?",
        unit=unit,
        right=found["all"],
        misconceptions=_wrong(found, single, full),
        hint="There are four limits: IOPS and MB/s of all disks together, and of the VM. The lowest one "
        "binds.",
        law="The lowest of four limits, all of them at this block size: IOPS and MB/s of all disks, and of "
        "the VM",
        working=_working(setup, kib, unit, full),
    )


def _drawn(draw: Random, unit: AnswerUnit) -> Exercise:
    size, tier, count = draw.choice(_SIZES), draw.choice(_TIERS), draw.randrange(2, 9)
    kib = draw.choice((4, 8, 16, 32, 64, 128))
    return of_a_stripe(striped(size, tier, count), kib, unit, full=draw.random() < 0.5)


def rate_of_a_stripe(draw: Random) -> Exercise:
    """IOPS of a stripe under a VM."""
    return _drawn(draw, IN_IOPS)


def throughput_of_a_stripe(draw: Random) -> Exercise:
    """MB/s of a stripe under a VM."""
    return _drawn(draw, IN_MB_PER_S)


NESTED = {"rate": rate_of_a_stripe, "throughput": throughput_of_a_stripe}
