"""The setups that an unknown disk may be, each with the caps that it would show and its share before any run.

A volume lies behind the path of a VM: of each quantity the smaller limit shows. The shares are our judgement;
`docs/probe.md` lists them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from azbenchlib.azure.disk_kinds import REMOTE_SPREAD
from azbenchlib.model.documented_setups import DocumentedPlace, Latency, Places, VmPath, is_cacheable
from azbenchlib.model.setup import VM, Disk
from azbenchlib.probing.hypotheses import Sharing
from azbenchlib.verdict.likelihoods import ANY_REMOTE, expected_latency

# How likely each is before any run; our judgement.
# A temp disk of a VM size is as likely as a disk with ReadWrite caching there, which may show the same.
WHERE = {"remote": 0.5, "read_only": 0.1, "read_write": 0.15, "temp": 0.08, "nvme": 0.1, "nothing": 0.07}
TIERED_SHARE, PROVISIONED_SHARES = 0.55, {"PremiumV2": 0.3, "UltraSSD": 0.15}  # of the remote disks
SINGLE_SHARE = 0.7  # of the disks in tiers; stripes share the rest
COPIED_SHARE = (
    0.5  # of the provisioned disks: they have the limits of a disk in tiers, or of a stripe of these
)
BEHIND_VM_SHARE = 0.5  # that the limits of a VM count at all
WRONG_SIZE = 0.05  # that a disk has a tier of another size, as a performance tier has
_SERVES = {"temp": "local", "nvme": "nvme"}
HIGHEST_RATIO, LOWEST_RATIO, LOWEST_SOFT_RATIO = (
    1.06,
    0.87,
    0.55,
)  # of documented ÷ measured: beyond these nothing fits


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A setup, by the places that its I/Os pass, and what it would show.

    Parameters
    ----------
    kind : str
        That of its disks or its VM's limits, or disk_and_vm, read_only, read_write, temp, nvme.
    disk : DocumentedPlace, optional
        The disks of the volume; None: the limits of the path hide which they are.
    path : DocumentedPlace, optional
        Of the VM.
    caps : tuple of float
        IOPS and bytes per second of reads, then of writes; infinite where nothing is documented.
    free : tuple of float
        Of each quantity the density of its logarithm, where any value may be chosen, else 0.
    same : bool
        Whether writes have the caps of reads.
    sharing : Sharing
    unit_bytes : float
    read_us, write_us : tuple of float, optional
        Median unloaded latency, and the spread of its logarithm.
    soft : bool
        Whether such disks were measured above their limits.
    share : float
        How likely it is before any run.
    """

    kind: str
    disk: DocumentedPlace | None = None
    path: DocumentedPlace | None = None
    caps: tuple[float, float, float, float]
    free: tuple[float, float] = (0.0, 0.0)
    same: bool = True
    sharing: Sharing = Sharing.TOGETHER
    unit_bytes: float = math.inf
    read_us: Latency | None = None
    write_us: Latency | None = None
    soft: bool = False
    share: float


@dataclass(frozen=True)
class Near:
    """Ranges in which four caps lie: IOPS and bytes per second of reads, then of writes."""

    low: Sequence[float]
    high: Sequence[float]

    def has(self, cap: int, value: float, soft: bool = False) -> bool:
        """Whether a documented value may be a cap; where none is documented (infinite), any may be."""
        lowest = LOWEST_SOFT_RATIO if soft else LOWEST_RATIO
        return math.isinf(value) or self.low[cap] * lowest <= value <= self.high[cap] * HIGHEST_RATIO

    def all(self, caps: Sequence[float], soft: bool = False) -> bool:
        """Whether documented values may be the caps."""
        return all(self.has(cap, value, soft) for cap, value in enumerate(caps))


def explanations(places: Places, near: Near, size_bytes: float | None = None) -> Iterator[Explanation]:
    """All setups whose caps are near.

    Parameters
    ----------
    places : Places
    near : Near
    size_bytes : float, optional
        Of the whole disk, where it is known.
    """
    shares = _Shares(places, size_bytes)
    yield from _remote(places, near, shares)
    for path in places.paths:
        for cache in path.caches:
            yield from _cached(path, cache, near, shares)
    yield from _on_host(places, near)


class _Shares:
    """How likely each disk and each VM path is, each as such before any run."""

    def __init__(self, places: Places, size_bytes: float | None) -> None:
        self._names = sum(len(one.names) for one in places.disks if one.count == 1)
        self._striped = max(one.count for one in places.disks) - 1
        self._sizes = places.sizes
        self.disks = [(disk, self._of_disk(disk, size_bytes)) for disk in places.disks]
        self.limits = [(disk, self._of_disk(disk, None)) for disk in places.disks]  # alone, of any size

    def _of_disk(self, disk: DocumentedPlace, size_bytes: float | None) -> float:
        """Of a volume of disks in tiers; with a known size, tiers of other sizes are less likely."""
        each = [
            1.0 if size_bytes is None or low < size_bytes / disk.count <= high else WRONG_SIZE
            for low, high in disk.sizes
        ]
        count = SINGLE_SHARE if disk.count == 1 else (1 - SINGLE_SHARE) / self._striped
        return TIERED_SHARE * count * sum(each) / self._names

    def of_path(self, path: VmPath, among: Sequence[DocumentedPlace]) -> float:
        """Of one of the limits, without or with its burst, of VM sizes that are alike."""
        return BEHIND_VM_SHARE * len(path.sizes) / self._sizes / len(among)


def _remote(places: Places, near: Near, shares: _Shares) -> Iterator[Explanation]:
    """Volumes of managed disks without host caching, as such or behind a VM."""
    for disk, share in shares.disks:
        if near.all(_both(*disk.most), disk.soft):
            yield _of_disk(disk.kind, disk, disk.most, WHERE["remote"] * share)
    for disk in places.provisioned:
        yield from _chosen(disk, near, shares)
    for path in places.paths:
        for vm in path.remote:
            yield from _behind(vm, near, shares, WHERE["remote"] * shares.of_path(path, path.remote))
        for vm in path.remote_v2:
            of_path = WHERE["remote"] * shares.of_path(path, path.remote_v2)
            for disk in places.provisioned:
                yield from _chosen_behind(disk, vm, near, of_path)


def _of_disk(
    kind: str,
    disk: DocumentedPlace,
    most: tuple[float, float],
    share: float,
    path: DocumentedPlace | None = None,
) -> Explanation:
    return Explanation(
        kind=kind,
        disk=disk,
        path=path,
        caps=_both(*most),
        unit_bytes=disk.unit_bytes,
        read_us=disk.read_us,
        write_us=disk.write_us,
        soft=disk.soft,
        share=share,
    )


def _both(iops: float, rate: float) -> tuple[float, float, float, float]:
    return iops, rate, iops, rate


def _chosen(disk: DocumentedPlace, near: Near, shares: _Shares) -> Iterator[Explanation]:
    """A provisioned disk: any limits that it may have, and those of disks in tiers."""
    share = WHERE["remote"] * PROVISIONED_SHARES.get(disk.names[0], 0.0)
    if _may_be(disk, near, 0) and _may_be(disk, near, 1) and _ratio_fits(disk, near):
        chosen = _of_disk("provisioned", disk, disk.most, share * (1 - COPIED_SHARE))
        yield replace(chosen, free=(_density(disk, 0), _density(disk, 1)))
    for other, of_other in shares.limits:
        allowed = all(_least(disk)[i] <= other.most[i] <= disk.most[i] for i in range(2))
        allowed = allowed and other.bytes_per_s <= disk.most_bytes_per_io * other.iops
        if allowed and near.all(_both(*other.most)):
            yield _of_disk("provisioned", disk, other.most, share * COPIED_SHARE * of_other / TIERED_SHARE)


def _least(disk: DocumentedPlace) -> tuple[float, float]:
    return disk.least_iops or 1.0, disk.least_bytes_per_s or 1.0


def _density(disk: DocumentedPlace, quantity: int) -> float:
    """Of the logarithm of a limit that may be chosen."""
    return 1 / math.log(disk.most[quantity] / _least(disk)[quantity])


def _may_be(disk: DocumentedPlace, near: Near, quantity: int) -> bool:
    highest, lowest = near.high[quantity] * HIGHEST_RATIO, near.low[quantity] * LOWEST_RATIO
    return _least(disk)[quantity] <= highest and disk.most[quantity] >= lowest


def _ratio_fits(disk: DocumentedPlace, near: Near) -> bool:
    return near.low[1] * LOWEST_RATIO <= disk.most_bytes_per_io * near.high[0]


def _behind(vm: DocumentedPlace, near: Near, shares: _Shares, share: float) -> Iterator[Explanation]:
    """A VM whose limits hide those of its disks, in both quantities or in one."""
    fits = [near.has(i, vm.most[i]) and near.has(i + 2, vm.most[i]) for i in range(2)]
    if all(fits):
        hidden = sum(
            one for disk, one in shares.disks if disk.iops > vm.iops and disk.bytes_per_s > vm.bytes_per_s
        )
        share_of_vm = share * (hidden + sum(PROVISIONED_SHARES.values()))
        kind = "vm" if vm.kind == "vm" else "vm_burst"
        latency = ANY_REMOTE[0], REMOTE_SPREAD
        found = Explanation(kind=kind, path=vm, caps=_both(*vm.most), share=share_of_vm)
        yield replace(found, read_us=latency, write_us=latency)
    for held in range(2):  # by the VM; the other one by the disk
        if not fits[held]:
            continue
        for disk, of_disk in shares.disks:
            is_first = vm.most[held] < disk.most[held] and disk.most[1 - held] < vm.most[1 - held]
            most = (vm.iops, disk.bytes_per_s) if held == 0 else (disk.iops, vm.bytes_per_s)
            if is_first and near.all(_both(*most), disk.soft):
                yield _of_disk("disk_and_vm", disk, most, share * of_disk, vm)


def _chosen_behind(
    disk: DocumentedPlace, vm: DocumentedPlace, near: Near, share: float
) -> Iterator[Explanation]:
    """A provisioned disk of which a VM holds one quantity; the other one is chosen, below the VM's limit."""
    for held in range(2):
        other = 1 - held
        below = near.low[other] * LOWEST_RATIO <= vm.most[other]
        if (
            near.has(held, vm.most[held])
            and near.has(held + 2, vm.most[held])
            and _may_be(disk, near, other)
            and below
        ):
            found = _of_disk(
                "disk_and_vm", disk, vm.most, share * PROVISIONED_SHARES.get(disk.names[0], 0.0), vm
            )
            free = (0.0, _density(disk, 1)) if held == 0 else (_density(disk, 0), 0.0)
            yield replace(found, free=free)


def _cached(path: VmPath, cache: DocumentedPlace, near: Near, shares: _Shares) -> Iterator[Explanation]:
    """Disks with host caching, whose cache holds all of the data: hits pass the cached limit alone."""
    if not (near.has(0, cache.iops) and near.has(1, cache.bytes_per_s)):
        return
    of_sizes = shares.of_path(path, path.caches) / BEHIND_VM_SHARE
    hit_us = expected_latency(VM(), Disk(name="", role="temp"), "local", 1.0)
    own = (*cache.most, *cache.writes)
    if near.all(own):
        yield Explanation(
            kind="read_write",
            path=cache,
            caps=own,
            same=cache.most == cache.writes,
            read_us=hit_us,
            write_us=hit_us,
            share=WHERE["read_write"] * of_sizes,
        )
    for vm in path.remote:
        for disk, of_disk in shares.disks:
            writes = tuple(map(min, disk.most, vm.most, cache.writes))
            caps = (cache.iops, cache.bytes_per_s, writes[0], writes[1])
            if near.all(caps, disk.soft) and is_cacheable(disk):
                yield Explanation(
                    kind="read_only",
                    disk=disk,
                    path=cache,
                    caps=caps,
                    same=False,
                    sharing=Sharing.BEHIND,
                    unit_bytes=disk.unit_bytes,
                    read_us=hit_us,
                    write_us=disk.write_us,
                    soft=disk.soft,
                    share=WHERE["read_only"] * of_sizes * of_disk / TIERED_SHARE / len(path.remote),
                )


def _on_host(places: Places, near: Near) -> Iterator[Explanation]:
    """Temp disks and local NVMe."""
    for place in places.local:
        caps = (*place.most, *place.writes)
        if near.all(caps):
            total = sum(len(one.names) for one in places.local if one.kind == place.kind)
            yield Explanation(
                kind=place.kind,
                disk=place,
                caps=caps,
                same=place.most == place.writes,
                read_us=expected_latency(VM(), Disk(name="", role=place.kind), _SERVES[place.kind], 1.0),
                write_us=expected_latency(VM(), Disk(name="", role=place.kind), _SERVES[place.kind], 0.0),
                share=WHERE[place.kind] * len(place.names) / total,
            )
