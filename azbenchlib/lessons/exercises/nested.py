"""Lesson 4: disks below a VM, each with limits of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

from azbenchlib.core.units import KIB
from azbenchlib.lessons.answers import IN_IOPS, IN_MB_PER_S, AnswerUnit
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.model import VM, Load, Setup, deliver
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.limits import Delivered
from azbenchlib.model.notation import parse_disks

CATALOGUE_DAY = "2026-09-09"  # whose limits the lessons take
_SIZES = ("D4s_v3", "D8s_v3", "D16s_v3", "D4s_v5", "D8s_v5", "E8ds_v5", "E16ds_v5")
_TIERS = ("P10", "P15", "P20", "P30", "P40")


@cache
def striped(size: str, tier: str, count: int) -> Setup:
    """Disks of a tier, striped, on a VM size, with the limits of the catalogue."""
    name = f"{tier}x{count}" if count > 1 else tier
    return resolve(Setup(VM(size=size), parse_disks([f"{name}:noburst"])), CATALOGUE_DAY)


def driven(setup: Setup, bs_bytes: int) -> Delivered:
    """All its volumes, as hard as they go, without bursts."""
    loads = [Load(volume=volume.name, bs_bytes=bs_bytes) for volume in setup.volumes()]
    return deliver(setup, loads, bursting=False)


def _drawn(draw: Random) -> tuple[Setup, str, int]:
    """A setup, how it is written, and a block size in KiB."""
    size, tier, count = draw.choice(_SIZES), draw.choice(_TIERS), draw.choice((2, 3, 4, 6, 8))
    setup = striped(size, tier, count)
    (disk,) = setup.disks
    vm, cap = setup.vm.uncached, disk.cap
    text = (
        f"{count} disks {tier} ({cap.iops:,.0f} IOPS and {(cap.bytes_per_s or 0) / 1e6:g} MB/s each) are "
        f"striped on a VM of the size {size}, which allows {vm.iops:,.0f} IOPS and "
        f"{(vm.bytes_per_s or 0) / 1e6:g} MB/s to its disks without a cache, and {setup.vm.cached.iops:,.0f} "
        f"IOPS and {(setup.vm.cached.bytes_per_s or 0) / 1e6:g} MB/s through the host cache. Host caching is "
        "off."
    )
    return setup, text, draw.choice((4, 8, 16, 64, 128))


def _variants(setup: Setup, bs_bytes: int) -> dict[str, Delivered]:
    """What comes out if one looks at a part of the limits only."""
    (disk,) = setup.disks
    alone = replace(disk, count=1, striped=False)
    return {
        "all": driven(setup, bs_bytes),
        "one": driven(Setup(VM(), (alone,)), bs_bytes),
        "disks": driven(replace(setup, vm=VM()), bs_bytes),
        "cached": driven(replace(setup, vm=replace(setup.vm, uncached=setup.vm.cached)), bs_bytes),
    }


def _wrong(found: dict[str, float], single: tuple[str, float, str]) -> list[Misconception]:
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
        Misconception(*single),
        Misconception(
            "disk and VM limits added",
            found["all"] + found["disks"],
            "Limits on one path are not added: all of the I/O passes both, and the lower one binds.",
        ),
    ]
    return telling(found["all"], candidates)


def _of_a_stripe(draw: Random, unit: AnswerUnit, quantity: str, other: str) -> Exercise:
    """One quantity of a stripe under a VM, which limits the other one too; limits have both by one name."""
    setup, text, kib = _drawn(draw)
    found = {name: getattr(got, quantity) or 0.0 for name, got in _variants(setup, kib * KIB).items()}
    single = (
        f"the {unit.name} of the VM alone",
        getattr(setup.vm.uncached, quantity) or 0.0,
        f"The VM also limits {other}, and the disks limit both. Write every limit as {unit.name} at this "
        "block size.",
    )
    return Exercise(
        question=f"{text} How many {unit.name} does it reach in blocks of {kib} KiB?",
        unit=unit,
        right=found["all"],
        misconceptions=_wrong(found, single),
        hint="There are four limits: IOPS and MB/s of all disks together, and of the VM. The lowest one "
        "binds.",
    )


def rate_of_a_stripe(draw: Random) -> Exercise:
    """IOPS of a stripe under a VM."""
    return _of_a_stripe(draw, IN_IOPS, "iops", IN_MB_PER_S.name)


def throughput_of_a_stripe(draw: Random) -> Exercise:
    """MB/s of a stripe under a VM."""
    return _of_a_stripe(draw, IN_MB_PER_S, "bytes_per_s", IN_IOPS.name)


NESTED = {"rate": rate_of_a_stripe, "throughput": throughput_of_a_stripe}
