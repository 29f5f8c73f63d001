"""What the description of a setup leaves open: the setup once for each value that an open fact may have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.model.rules import CACHE_BELOW_BYTES
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import likelihoods

CACHING_FACT, DEVICES_FACT, PLACE_FACT = "the host caching", "the number of NVMe devices", "the disk"
BURSTING_FACT = "whether on-demand bursting is on"
PROVISIONED_FACT, TIER_FACT = "what the disk is provisioned with", "the tier of the disk"

# Weights of what is not stated, before the rates are looked at; our judgement. Azure's defaults are None for
# data disks and ReadWrite for OS disks; who measures a data disk without a word on caching mostly left it so.
_CACHING = {
    "data": {"None": 0.72, "ReadOnly": 0.23, "ReadWrite": 0.05},
    "os": {"None": 0.1, "ReadOnly": 0.2, "ReadWrite": 0.7},
}
_ONE_DEVICE = 0.5
_ON_DEMAND = 0.05  # it is paid for, and off unless it is switched on
SOFT_HELD = 1.75  # times their limit: what Standard disks were seen to give
FAR_BEYOND = 2.0  # limits ÷ what was measured, from which on they bind nothing
_DISK_BINDS = 0.5  # of a disk of which no figure is known
_PLACES = {
    "a disk without host caching": (0.55, Disk(name="disk")),
    "a disk with ReadOnly caching": (0.2, Disk(name="disk", caching="ReadOnly")),
    "a disk with ReadWrite caching": (0.05, Disk(name="disk", caching="ReadWrite")),
    "the temp disk": (0.15, Disk(name="temp", role="temp")),
    "local NVMe": (0.15, Disk(name="nvme", role="nvme", unstated=("count",))),
}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A setup with nothing open, its weight, and the value of each open fact in it.

    `binds` is what has a limit near the rate, of which no figure is known; `holds` what has one above it.
    """

    setup: Setup
    weight: float
    facts: tuple[tuple[str, str], ...] = ()
    binds: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()


def readings(setup: Setup, flow: Flow) -> list[Reading]:
    """Every reading of a setup; itself alone where nothing that matters to the flow is open."""
    found = [Reading(setup=setup, weight=1.0)]
    if not setup.disks and setup.vm.stated:
        found = list(_places(found[0]))
    for more in (_cachings, _devices, _figures, _on_demand):
        found = [made for reading in found for made in more(reading, flow)]
    return found


def _places(reading: Reading) -> Iterator[Reading]:
    """Where the I/O went, of a VM whose disks are not described."""
    known = {name: place for name, place in _PLACES.items() if _limits(reading.setup.vm, place[1])}
    total = sum(weight for weight, _ in known.values())
    for name, (weight, disk) in known.items():
        placed = replace(reading.setup, disks=(disk,))
        yield Reading(setup=placed, weight=weight / total, facts=((PLACE_FACT, name),))
    if not known:
        yield reading


def _limits(vm: VM, disk: Disk) -> bool:
    """Whether a limit of the VM is documented for a disk like this."""
    if disk.role == "temp":
        return vm.has_temp and bool(vm.temp or vm.cached)
    if disk.role == "nvme":
        return bool(vm.nvme.iops or vm.nvme.bytes_per_s)
    return bool(vm.cached if disk.caching != "None" else vm.uncached)


def _cachings(reading: Reading, flow: Flow) -> Iterator[Reading]:
    """The driven disks with each host caching that they may have, all with the same."""
    driven = [volume.disk for volume in flow.driven(reading.setup)]
    doubtful = [disk for disk in driven if "caching" in disk.unstated and _cacheable(disk)]
    if not doubtful:
        yield reading
        return
    names = {disk.name for disk in doubtful}
    for caching, weight in _CACHING.get(doubtful[0].role, _CACHING["data"]).items():
        disks = tuple(
            replace(disk, caching=caching) if disk.name in names else disk for disk in reading.setup.disks
        )
        yield replace(
            reading,
            setup=replace(reading.setup, disks=disks),
            weight=reading.weight * weight,
            facts=(*reading.facts, (CACHING_FACT, caching)),
        )


def _cacheable(disk: Disk) -> bool:
    """Whether Azure allows host caching of a disk, as far as is known."""
    small = disk.size_bytes is None or disk.size_bytes < CACHE_BELOW_BYTES
    return not disk.local and small and (disk.kind is None or disk.kind.cacheable)


def _devices(reading: Reading, flow: Flow) -> Iterator[Reading]:
    """One local NVMe device, or all that the VM has."""
    driven = {v.disk.name: v.disk for v in flow.driven(reading.setup) if v.disk.place == "nvme"}
    doubtful = {name for name, disk in driven.items() if "count" in disk.unstated}
    every = reading.setup.vm.nvme_count
    if not doubtful or every is None or every < 2:
        yield reading
        return
    one = (*reading.facts, (DEVICES_FACT, "one"))
    yield replace(reading, weight=reading.weight * _ONE_DEVICE, facts=one)
    disks = tuple(
        replace(disk, count=every, striped=True) if disk.name in doubtful else disk
        for disk in reading.setup.disks
    )
    yield replace(
        reading,
        setup=replace(reading.setup, disks=disks),
        weight=reading.weight * (1 - _ONE_DEVICE),
        facts=(*reading.facts, (DEVICES_FACT, f"all {every}")),
    )


def _figures(reading: Reading, flow: Flow) -> Iterator[Reading]:
    """The limits of a disk of which no figure is known: near the rate, or above it."""
    driven = [volume.disk for volume in flow.driven(reading.setup)]
    doubtful = [disk for disk in driven if "cap" in disk.unstated and not disk.local]
    if not doubtful:
        yield reading
        return
    if doubtful[0].tier_caps:
        yield from _tiers(reading, flow, doubtful)
        return
    fact = PROVISIONED_FACT if doubtful[0].provisioned else TIER_FACT
    disk = frozenset({"disk"})
    above, near = ((*reading.facts, (fact, value)) for value in ("more", "about this rate"))
    yield replace(reading, weight=reading.weight * (1 - _DISK_BINDS), facts=above, holds=disk)
    yield replace(reading, weight=reading.weight * _DISK_BINDS, facts=near, binds=disk)


def _tiers(reading: Reading, flow: Flow, doubtful: list[Disk]) -> Iterator[Reading]:
    """The disks with each tier that allows what was measured; those that are far beyond it are one."""
    uses = {name: _use(cap, flow, reading.setup) for name, cap in doubtful[0].tier_caps}
    soft = doubtful[0].kind is not None and doubtful[0].kind.soft_limits
    most = (SOFT_HELD if soft else likelihoods.HARD) if doubtful[0].caching == "None" else math.inf
    able = [name for name, use in uses.items() if use < most] or [min(uses, key=lambda name: uses[name])]
    larger = [name for name in able if uses[name] < 1 / FAR_BEYOND]
    names = {disk.name for disk in doubtful}
    for name, cap in doubtful[0].tier_caps:
        if name not in able or name in larger[1:]:
            continue
        disks = tuple(replace(disk, cap=cap) if disk.name in names else disk for disk in reading.setup.disks)
        yield replace(
            reading,
            setup=replace(reading.setup, disks=disks),
            weight=reading.weight * (len(larger) if name in larger else 1) / len(able),
            facts=(*reading.facts, (TIER_FACT, "a larger one" if name in larger else name)),
        )


def _use(cap: Cap, flow: Flow, setup: Setup) -> float:
    """What was measured ÷ the most that disks of these limits allow, if all of it reached them."""
    got, volumes = rates(flow.observation), flow.driven(setup)
    unit = volumes[0].disk.io_unit_bytes
    counted = math.ceil(got.bs_bytes / unit) if unit and got.bs_bytes else 1
    members = sum(volume.members for volume in volumes)
    measured = (
        ((got.iops or 0.0) * counted, cap.burst_iops or cap.iops),
        (got.bytes_per_s or 0.0, cap.burst_bytes_per_s or cap.bytes_per_s),
    )
    return max(rate / members / limit if limit else 0.0 for rate, limit in measured)


def _on_demand(reading: Reading, flow: Flow) -> Iterator[Reading]:
    """On-demand bursting, off or on, of disks that gave more than their base."""
    driven = [volume.disk for volume in flow.driven(reading.setup)]
    names = {disk.name for disk in driven if disk.on_demand_cap}
    if not names or not _above_base(flow, reading.setup):
        yield reading
        return
    off, on = ((*reading.facts, (BURSTING_FACT, value)) for value in ("off", "on"))
    yield replace(reading, weight=reading.weight * (1 - _ON_DEMAND), facts=off)
    disks = tuple(
        replace(disk, cap=disk.on_demand_cap, bursting=True) if disk.name in names else disk
        for disk in reading.setup.disks
    )
    yield replace(
        reading,
        setup=replace(reading.setup, disks=disks),
        weight=reading.weight * _ON_DEMAND,
        facts=on,
    )


def _above_base(flow: Flow, setup: Setup) -> bool:
    """Whether more was measured than the disks have without a burst."""
    got, caps = rates(flow.observation), [volume.cap for volume in flow.driven(setup)]
    measured = ((got.iops, "iops"), (got.bytes_per_s, "bytes_per_s"))
    return any(
        rate is not None and rate > likelihoods.HARD * sum(cap.limit(quantity) or 0.0 for cap in caps)
        for rate, quantity in measured
    )
