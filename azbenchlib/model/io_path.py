"""Which limits one I/O passes: the paths from a volume to what serves it.

Sources: MicrosoftDocs/azure-compute-docs articles/virtual-machines/disks-performance.md@fe259248
(2026-09-09) for the paths and the separate cached and uncached budgets; dv3-dsv3-series.md of azure-docs
@080d504c (2020-02-03) for the temp disk sharing the cached budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import VM, Cap, Volume

QUANTITIES = {"iops": "iops", "bytes_per_s": "mbps"}  # and what labels call them


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a workload asks of one volume. Its reads, writes and cache hits keep their proportions.

    Parameters
    ----------
    volume : str
        Name of the volume.
    read_share : float
        0 to 1.
    bs_bytes : float, optional
        Block size. None: only the quantity that is asked for is known; the other is left out.
    iops, bytes_per_s : float, optional
        What is asked for. None for both: as much as it gets.
    cache_hit : float, optional
        Share of reads that the host cache serves. None: as the disk says, or 0.
    destaged : bool
        Whether writes into a ReadWrite cache also wait for the disk, as they do once the cache is full of
        unwritten data; else they are complete when they are in the cache.

    Raises
    ------
    InputError
        For a share outside 0 to 1, or a load whose amount is not known.
    """

    volume: str
    read_share: float = 1.0
    bs_bytes: float | None = None
    iops: float | None = None
    bytes_per_s: float | None = None
    cache_hit: float | None = None
    destaged: bool = False

    def __post_init__(self) -> None:
        for name, value in (("read share", self.read_share), ("cache hit", self.cache_hit)):
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"load on '{self.volume}': {name} {value} is not between 0 and 1")
        if self.bs_bytes is None and self.iops is None and self.bytes_per_s is None:
            raise InputError(f"load on '{self.volume}': give a block size, IOPS or bytes per second")
        for name, value in (("IOPS", self.iops), ("bytes per second", self.bytes_per_s)):
            if value is not None and not value >= 0:
                raise InputError(f"load on '{self.volume}': {name} {value} is not 0 or more")
        if self.bs_bytes is not None and not 0 < self.bs_bytes < math.inf:
            raise InputError(f"load on '{self.volume}': block size {self.bs_bytes} is not above 0")

    @property
    def step(self) -> tuple[float, float]:
        """I/Os and bytes in one unit of this load: an I/O with its bytes, or just the one that is known."""
        if self.bs_bytes is not None:
            return 1.0, float(self.bs_bytes)
        if self.iops and self.bytes_per_s and math.isfinite(self.iops + self.bytes_per_s):
            return 1.0, self.bytes_per_s / self.iops
        return (1.0, 0.0) if self.iops is not None else (0.0, 1.0)

    @property
    def asked(self) -> float:
        """Units per second that are asked for."""
        amounts = zip((self.iops, self.bytes_per_s), self.step, strict=True)
        return min((rate / size for rate, size in amounts if rate is not None and size), default=math.inf)


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One limit on the way of a load.

    Parameters
    ----------
    pool : (str, str)
        Who shares it: ``("vm", "remote")``, ``("vm", "local")``, ``("vm", "temp")``,
        ``("disk", VOLUME)``, ``("nvme", VOLUME)``.
    scope : str
        Of its labels: ``disk``, ``vm_uncached``, ``vm_cached``, ``temp``, ``nvme``.
    cap : Cap
    reads, writes : float
        Shares of the load's I/Os that pass it as a read or as a write.
    counted : float
        What one of its I/Os counts against the IOPS.
    """

    pool: tuple[str, str]
    scope: str
    cap: Cap
    reads: float
    writes: float
    counted: float = 1.0

    def label(self, quantity: str, bursting: bool) -> Label:
        """The label of this limit; temp and NVMe limits have no burst of their own, and where bursting needs
        no credits the burst limit is the only one.
        """
        above = bursting or not self.cap.spends_credits(quantity)
        bursts = above and self.scope not in ("temp", "nvme") and self.cap.bursts(quantity)
        return Label.of(self.scope, QUANTITIES[quantity], bursts)

    def per_step(self, quantity: str, step: tuple[float, float]) -> float:
        """IOPS or bytes per second that one unit of the load takes of this limit."""
        ios, size = step
        return (self.reads + self.writes) * (ios * self.counted if quantity == "iops" else size)

    def share_per_step(self, quantity: str, step: tuple[float, float], bursting: bool) -> float:
        """Share of this limit that one unit of the load takes; 0 where the limit is not documented.

        Where reads and writes, or Premium SSD and Ultra, have limits of their own, they are taken to share
        what is behind them: r/R + w/W ≤ 1, which is one common limit where R and W are the same. Our
        reading: the documents state each alone.
        """
        ios, size = step
        each = ios * self.counted if quantity == "iops" else size
        total = 0.0
        for share, write in ((self.reads, False), (self.writes, True)):
            limit = self.cap.limit(quantity, bursting, write)
            total += share * each / limit if limit is not None else 0.0
        return total


def legs(vm: VM, volume: Volume, load: Load) -> Iterator[Leg]:
    """The limits that a load passes on its way, by Azure's documented paths.

    Notes
    -----
    No cache: the disk, then the VM's uncached limit. Any I/O of a cached disk counts against the VM's
    cached limit; read misses and ReadOnly writes also against disk and uncached limit; ReadWrite writes
    against those only when they are destaged. Cached and uncached budgets are separate.
    """
    reads, writes = load.read_share, 1 - load.read_share
    disk = volume.disk
    if disk.place == "nvme":
        part = volume.members / (vm.nvme_count or volume.members)
        yield Leg(
            pool=("nvme", volume.name), scope="nvme", cap=vm.nvme.times(part), reads=reads, writes=writes
        )
    elif disk.place == "temp":
        pool = "local" if vm.temp_shares_cache else "temp"
        yield Leg(pool=("vm", pool), scope="temp", cap=vm.temp or vm.cached, reads=reads, writes=writes)
    elif disk.place == "cache":
        yield Leg(pool=("vm", "local"), scope="vm_cached", cap=vm.cached, reads=reads, writes=writes)
    else:
        if disk.caching != "None":
            yield Leg(pool=("vm", "local"), scope="vm_cached", cap=vm.cached, reads=reads, writes=writes)
            hit = load.cache_hit if load.cache_hit is not None else disk.cache_hit or 0.0
            reads *= 1 - hit
            if disk.caching == "ReadWrite" and not load.destaged:
                writes = 0.0
        separate = disk.kind is not None and disk.kind.separate_vm_limits
        uncached = vm.uncached_v2 if separate and vm.uncached_v2 else vm.uncached
        counted = _counted(volume, load)
        yield Leg(
            pool=("disk", volume.name),
            scope="disk",
            cap=volume.cap,
            reads=reads,
            writes=writes,
            counted=counted,
        )
        yield Leg(pool=("vm", "remote"), scope="vm_uncached", cap=uncached, reads=reads, writes=writes)


def _counted(volume: Volume, load: Load) -> float:
    """How many I/Os the disk counts for one of this load."""
    unit, (ios, size) = volume.disk.io_unit_bytes, load.step
    return max(1, math.ceil(size / unit)) if unit and ios and size else 1.0
