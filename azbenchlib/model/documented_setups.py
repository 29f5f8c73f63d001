"""What an unknown disk may be, from the catalogue: disks, stripes, VM paths, host caches, local disks.

Each is a place that an I/O passes, with its limits; what several places in a row let pass is the smaller
limit of each quantity. Sources of the paths: :mod:`azbenchlib.model.io_path`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.azure.catalog.rows import TierRow
from azbenchlib.core.errors import InputError
from azbenchlib.model import rules
from azbenchlib.model.fill_from_catalogue import vm_of
from azbenchlib.model.setup import VM, Cap, Disk
from azbenchlib.model.unloaded_latency import expected_us, table_of

MOST_STRIPED = 8  # disks of a volume that are thought of; our choice
Latency = tuple[float, float]  # median in µs, and the spread of its logarithm


@dataclass(frozen=True, kw_only=True)
class DocumentedPlace:
    """Something with limits of its own: disks, or the path of VM sizes that have the same.

    Parameters
    ----------
    names : tuple of str
        Tiers, SKUs or VM sizes that have these limits, the first one first.
    kind : {"disk", "burst", "on_demand_burst", "provisioned", "vm", "vm_burst", "cache", "temp", "nvme"}
    iops, bytes_per_s : float
        Of reads; of provisioned disks the largest.
    write_iops, write_bytes_per_s : float, optional
        Where writes have limits of their own; infinite where none are documented.
    count : int
        Disks that are striped, or local NVMe devices.
    least_iops, least_bytes_per_s, most_bytes_per_io : float, optional
        Of provisioned disks: any limits from these up may be chosen, up to so many bytes per second for each
        I/O per second.
    unit_bytes : float
        Up to this size an I/O counts as one; infinite: any size does.
    read_us, write_us : tuple of float, optional
        Median unloaded latency, and the spread of its logarithm.
    soft : bool
        Whether such disks were measured above their limits.
    sizes : tuple of (float, float)
        Of each name: more bytes than the first and at most the second have this tier; infinite of others.
    """

    names: tuple[str, ...]
    kind: str
    iops: float
    bytes_per_s: float
    write_iops: float | None = None
    write_bytes_per_s: float | None = None
    count: int = 1
    least_iops: float | None = None
    least_bytes_per_s: float | None = None
    most_bytes_per_io: float = math.inf
    unit_bytes: float = math.inf
    read_us: Latency | None = None
    write_us: Latency | None = None
    soft: bool = False
    sizes: tuple[tuple[float, float], ...] = ()

    @property
    def writes(self) -> tuple[float, float]:
        """IOPS and bytes per second that writes may do."""
        return self.write_iops or self.iops, self.write_bytes_per_s or self.bytes_per_s

    @property
    def most(self) -> tuple[float, float]:
        """IOPS and bytes per second that reads may do."""
        return self.iops, self.bytes_per_s


@dataclass(frozen=True, kw_only=True)
class VmPath:
    """VM sizes that have the same limits to their remote disks, and the same of their cache.

    `remote` are the limits without and with the VM's burst, those that there are; `remote_v2` the same for
    Premium SSD v2 and Ultra Disk; `caches` those of the host cache, none where the size has none.
    """

    sizes: tuple[str, ...]
    remote: tuple[DocumentedPlace, ...]
    remote_v2: tuple[DocumentedPlace, ...]
    caches: tuple[DocumentedPlace, ...]


@dataclass(frozen=True, kw_only=True)
class Places:
    """All that the catalogue has on a day; `sizes` is how many VM sizes there are."""

    disks: tuple[DocumentedPlace, ...]
    provisioned: tuple[DocumentedPlace, ...]
    paths: tuple[VmPath, ...]
    local: tuple[DocumentedPlace, ...]
    sizes: int

    @property
    def plain(self) -> tuple[DocumentedPlace, ...]:
        """Single disks in tiers, without and with credits, and VM sizes by their uncached limits."""
        single = (one for one in self.disks if one.count == 1 and one.kind != "on_demand_burst")
        return *single, *(path.remote[0] for path in self.paths)


@lru_cache(maxsize=4)
def documented_places(as_of: str) -> Places:
    """Disks, stripes and the paths of VM sizes, those of the same limits together.

    Parameters
    ----------
    as_of : str
        ISO day.
    """
    vms = [vm_of(catalog.vm(size, as_of)) for size in catalog.vm_sizes()]
    return Places(
        disks=tuple(_striped(_joined(_tiers(as_of)))),
        provisioned=tuple(_provisioned(as_of)),
        paths=tuple(_paths(vms)),
        local=tuple(_joined(place for vm in vms for place in _local(vm))),
        sizes=len(vms),
    )


def _tiers(day: str) -> Iterator[DocumentedPlace]:
    rows = catalog.disk_tiers(day)
    for row in rows:
        smaller = [one.size_bytes for one in rows if one.sku == row.sku and one.size_bytes < row.size_bytes]
        sizes = ((float(max(smaller, default=0)), float(row.size_bytes)),)
        for kind, iops, rate in _tier_limits(row):
            if iops and rate:
                disk = Disk(name="", sku=f"{row.sku}_LRS", tier=row.name)
                yield replace(_managed(disk, row.name, kind, (iops, rate)), sizes=sizes)


def _tier_limits(row: TierRow) -> Iterator[tuple[str, float | None, float | None]]:
    yield "disk", row.iops, row.bytes_per_s
    yield "burst", row.burst_iops, row.burst_bytes_per_s
    yield "on_demand_burst", row.on_demand_burst_iops, row.on_demand_burst_bytes_per_s


def _managed(disk: Disk, name: str, kind: str, caps: tuple[float, float]) -> DocumentedPlace:
    known, table = disk.kind, table_of(VM(), disk)
    spread = known.latency_spread if known else disk_kinds.REMOTE_SPREAD
    return DocumentedPlace(
        names=(name,),
        kind=kind,
        iops=caps[0],
        bytes_per_s=caps[1],
        unit_bytes=float(disk.io_unit_bytes or math.inf),
        read_us=(expected_us(table, 1.0), spread),
        write_us=(expected_us(table, 0.0), spread),
        soft=bool(known and known.soft_limits),
    )


def _striped(disks: Iterable[DocumentedPlace]) -> Iterator[DocumentedPlace]:
    for disk in disks:
        for n in range(1, MOST_STRIPED + 1):
            yield replace(disk, iops=n * disk.iops, bytes_per_s=n * disk.bytes_per_s, count=n)


def _provisioned(day: str) -> Iterator[DocumentedPlace]:
    for sku in catalog.provisioned_skus():
        try:
            known = catalog.provisioned_rules(sku, day)
        except InputError:  # not on that day
            continue
        if known.max_iops and known.max_bytes_per_s:
            caps = known.max_iops, known.max_bytes_per_s
            yield replace(
                _managed(Disk(name="", sku=f"{sku}_LRS"), sku, "provisioned", caps),
                least_iops=known.min_iops or known.baseline_iops,
                least_bytes_per_s=known.min_bytes_per_s,
                most_bytes_per_io=known.max_bytes_per_s_per_iops or math.inf,
            )


def _paths(vms: Iterable[VM]) -> Iterator[VmPath]:
    """The ways to remote disks; one for all sizes that have the same."""
    alike: dict[Hashable, list[VM]] = defaultdict(list)
    for vm in vms:
        ways = (vm.uncached, vm.uncached_v2, vm.cached)
        alike[tuple(getattr(cap, name) for cap in ways for name in Cap.names())].append(vm)
    for some in alike.values():
        names, vm = tuple(str(one.size) for one in some), some[0]
        plain, second, cached = (
            tuple(_with_burst(names, cap)) for cap in (vm.uncached, vm.uncached_v2, vm.cached)
        )
        if plain:
            caches = tuple(replace(one, kind="cache") for one in cached)
            yield VmPath(sizes=names, remote=plain, remote_v2=second or plain, caches=caches)


def _with_burst(names: tuple[str, ...], cap: Cap) -> Iterator[DocumentedPlace]:
    """The limits without the burst, and those with it where there is one."""
    for kind, bursting in (("vm", False), ("vm_burst", True)):
        iops, rate = (cap.limit(quantity, bursting) for quantity in ("iops", "bytes_per_s"))
        bursts = cap.bursts("iops") or cap.bursts("bytes_per_s")
        if iops and rate and (bursts or not bursting):
            yield DocumentedPlace(
                names=names,
                kind=kind,
                iops=iops,
                bytes_per_s=rate,
                write_iops=cap.write_iops,
                write_bytes_per_s=cap.write_bytes_per_s,
            )


def _local(vm: VM) -> Iterator[DocumentedPlace]:
    """Temp disk and local NVMe of a VM size, and the NVMe devices of it in stripes."""
    names = (str(vm.size),)
    temp = vm.temp if vm.temp else vm.cached
    if vm.has_temp and temp.iops and temp.bytes_per_s:
        yield _on_host(names, "temp", temp)
    devices = vm.nvme_count or 1
    if vm.nvme.iops and vm.nvme.bytes_per_s:
        for n in {1, devices}:
            yield replace(_on_host(names, "nvme", vm.nvme.times(n / devices)), count=n)


def _on_host(names: tuple[str, ...], kind: str, cap: Cap) -> DocumentedPlace:
    return DocumentedPlace(
        names=names,
        kind=kind,
        iops=cap.iops or math.inf,
        bytes_per_s=cap.bytes_per_s or math.inf,
        write_iops=cap.write_iops,
        write_bytes_per_s=cap.write_bytes_per_s,
    )


def _joined(places: Iterable[DocumentedPlace]) -> Iterator[DocumentedPlace]:
    """One place for all that differ in their names alone."""
    alike: dict[DocumentedPlace, list[DocumentedPlace]] = defaultdict(list)
    for one in places:
        alike[replace(one, names=(), sizes=())].append(one)
    for same, some in alike.items():
        names = tuple(name for one in some for name in one.names)
        yield replace(same, names=names, sizes=tuple(sizes for one in some for sizes in one.sizes))


def is_cacheable(disk: DocumentedPlace) -> bool:
    """Whether a disk may have host caching, by its kind and its size."""
    kind = disk_kinds.of_tier(disk.names[0])
    return kind is not None and kind.cacheable and disk.sizes[0][1] < rules.CACHE_BELOW_BYTES
