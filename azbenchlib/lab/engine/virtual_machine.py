"""The emulated VM with its disks: it is told what arrives, and tells when that completes.

Times are emulated seconds from any origin and never go back. There is no clock in here: the server, or
:mod:`azbenchlib.lab.engine.simulate`, says what time it is. Valid for what the documented limits and the
published latencies explain; it says how Azure would be if it kept to them, not how Azure is.
"""

from __future__ import annotations

import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.cache import LINE_BYTES, EmulatedCache
from azbenchlib.lab.engine.limiters import lay
from azbenchlib.lab.engine.token_buckets import READS, WRITES, EventQueue
from azbenchlib.lab.engine.volume import (
    NAMES,
    EmulatedVolume,
    ReadOnlyCachedVolume,
    ReadWriteCachedVolume,
    Way,
)
from azbenchlib.lab.nbd import FLUSH, READ, TRIM, WRITE, ZERO
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Setup, Volume
from azbenchlib.model.unloaded_latency import table_of

__all__ = ["FLUSH", "READ", "TRIM", "WRITE", "ZERO", "Machine", "Options"]

# Longer than most machines' scheduling jitter, too little to be seen in a rate of seconds; our choice.
BURST_TOLERANCE_S = 0.01
DEFAULT_BYTES = 32 * GIB  # of a volume whose size is not stated; our choice
_APART = 1 << 50  # bytes between the volumes in the numbering of the cache's lines


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to emulate.

    Parameters
    ----------
    credit_s : float
        Seconds that full credits last at the largest burst; Azure's are 1,800.
    tick_s : float
        I/Os that must wait pass at multiples of this. 0: as soon as they may.
    burst_tolerance_s : float
        What a limit lets pass at once after a pause, in seconds of it: enough that an emulation which wakes
        up late loses nothing.
    cache_bytes : float, optional
        Size of the host cache: one for all cached volumes, with one least-recently-used order. None: the
        VM size's own; where that is not known it never fills.
    dirty_share : float
        Share of the cache that may hold what the disks do not have yet, evenly split over the ReadWrite
        volumes; more than that stalls their writes. Undocumented; our assumption.
    seed : int
        Of the latencies.
    latency : mapping of str to str
        Latency table by volume (see :func:`azbenchlib.lab.engine.latency.names`), else the one of its kind of
        disk; under ``host-cache`` that of all hits.

    Raises
    ------
    InputError
        For a number outside its range.
    """

    credit_s: float = BURST_S
    tick_s: float = 0.0
    burst_tolerance_s: float = BURST_TOLERANCE_S
    cache_bytes: float | None = None
    dirty_share: float = 0.5
    seed: int = 1
    latency: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("credit_s", "tick_s", "burst_tolerance_s"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise InputError(f"lab: {name} {value} is not 0 or more")
        if self.cache_bytes is not None and not self.cache_bytes >= LINE_BYTES:
            raise InputError(f"lab: a cache of {self.cache_bytes} bytes; it must hold at least {LINE_BYTES}")
        if not 0 < self.dirty_share <= 1:
            raise InputError(f"lab: dirty_share {self.dirty_share} is not above 0 and at most 1")


class Machine:
    """A VM with its disks, full of credits and with an empty cache.

    Parameters
    ----------
    setup : Setup
        With the numbers filled in (:func:`azbenchlib.model.fill_from_catalogue.resolve`); what is not known
        does not limit.
    options : Options

    Raises
    ------
    InputError
        For a setup without disks, or an option that names a volume or latency table that there is not.

    Attributes
    ----------
    volumes : dict of str to EmulatedVolume
        By name; each has ``size_bytes``.
    """

    def __init__(self, setup: Setup, options: Options = Options()) -> None:
        volumes = setup.volumes()
        _check(volumes, options)
        self._event_queue = EventQueue()
        self._paths = lay(
            setup, self._event_queue, options.credit_s, options.tick_s, options.burst_tolerance_s
        )
        size = setup.vm.cache_bytes if options.cache_bytes is None else options.cache_bytes
        self.cache = EmulatedCache(math.inf if size is None else size // LINE_BYTES)
        back = sum(_caching(volume) == "ReadWrite" for volume in volumes)
        most = max(1.0, self.cache.lines * options.dirty_share / max(back, 1))
        self.volumes = {
            volume.name: self._drive(setup, volume, i, options, most) for i, volume in enumerate(volumes)
        }
        self._seen = self._count()

    def submit(
        self,
        volume: str,
        op: int,
        offset: int,
        length: int,
        now: float,
        done: Callable[[float], None],
        fua: bool = False,
    ) -> None:
        """Take a request that arrives now.

        Parameters
        ----------
        volume : str
        op : int
            READ, WRITE, FLUSH, TRIM or ZERO.
        offset, length : int
            Bytes; need not be aligned.
        now : float
            Emulated seconds.
        done : callable
            Is told the emulated time of completion, once, as soon as that is known: in here, or in a later
            `submit` or `advance`.
        fua : bool
            Whether the write must be on the disk when it completes.
        """
        event_queue = self._event_queue
        if event_queue.events and event_queue.events[0][0] <= now:
            event_queue.run(now)
        event_queue.now = now
        self.volumes[volume].submit(op, offset, length, now, done, fua)

    def advance(self, now: float) -> float | None:
        """Do what is due up to `now`. The time at which to call again at the latest; None: no need to."""
        return self._event_queue.run(now)

    def next_event(self) -> float | None:
        """The time at which to call `advance` at the latest; None: no need to."""
        return self._event_queue.events[0][0] if self._event_queue.events else None

    def live(self, now: float) -> dict[str, dict[str, float]]:
        """What can be watched, by object and metric.

        Returns
        -------
        dict
            For a volume ``queue_depth`` (I/Os outstanding now) and ``cache_hit_ratio`` (of reads since the
            previous call); for a limit (``data disk_iops``, ``vm vm_uncached_burst_mbps``)
            ``throttled_share`` (of requests since the previous call, those that had to wait for it; what a
            cache writes back while it has room is nobody's request) and, where it bursts, ``credits`` (I/Os
            or bytes left). What had no request since then has no share.
        """
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for name, volume in self.volumes.items():
            found[name]["queue_depth"] = volume.outstanding(now)
        for stock in self._paths.credits:
            found[stock.name]["credits"] = stock.bucket.level_s(now) * stock.per_s
        counts = self._count()
        for (name, metric), (part, whole) in counts.items():
            part_before, whole_before = self._seen[name, metric]
            if whole > whole_before:
                found[name][metric] = (part - part_before) / (whole - whole_before)
        self._seen = counts
        return dict(found)

    def totals(self) -> dict[str, dict[str, float]]:
        """Exact counters of each volume since the start.

        Returns
        -------
        dict
            By volume: ``read_ios``, ``read_bytes`` (and so for write, flush, trim, zero), ``hits`` and
            ``misses`` of reads, ``stalls`` (writes that waited for room in the cache), ``counted_ios``
            (as the disk counts them against its IOPS, with those that write back).
        """
        found: dict[str, dict[str, float]] = {}
        for name, volume in self.volumes.items():
            found[name] = {f"{NAMES[op]}_ios": n for op, n in volume.ios.items()}
            found[name] |= {f"{NAMES[op]}_bytes": n for op, n in volume.bytes.items()}
            found[name] |= {"hits": volume.hits, "misses": volume.misses, "stalls": volume.stalls}
            found[name]["counted_ios"] = volume.counted()
        return found

    def _drive(self, setup: Setup, volume: Volume, i: int, options: Options, most: float) -> EmulatedVolume:
        name = volume.name
        table = options.latency.get(name) or table_of(setup.vm, volume.disk)
        seed = options.seed + zlib.crc32(name.encode())
        read_s, write_s = (latency.sampler(table, write, seed + write) for write in (False, True))
        way = Way(
            event_queue=self._event_queue,
            near=self._paths.near[name],
            far=self._paths.far[name],
            read_s=read_s,
            write_s=write_s,
        )
        size = int(volume.disk.size_bytes or DEFAULT_BYTES) * volume.members
        if _caching(volume) == "None":
            return EmulatedVolume(size, way)
        hits = options.latency.get(HOST_CACHE, HOST_CACHE)
        cached = (size, way, self.cache, i * _APART, latency.sampler(hits, True, seed + 2))
        return (
            ReadOnlyCachedVolume(*cached)
            if _caching(volume) == "ReadOnly"
            else ReadWriteCachedVolume(*cached, most)
        )

    def _count(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Parts and wholes of the shares, since the start."""
        counts: dict[tuple[str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for name, volume in self.volumes.items():
            if isinstance(volume, ReadOnlyCachedVolume):
                counts[name, "cache_hit_ratio"] = (volume.hits, volume.hits + volume.misses)
            for chain in volume.chains:
                waits: dict[Label, int] = defaultdict(int)
                for meter in (*chain.ways[READS], *chain.ways[WRITES]):
                    waits[meter.label] += meter.waits
                for label, n in waits.items():
                    key = (f"{chain.owner} {label}", "throttled_share")
                    counts[key] = (counts[key][0] + n, counts[key][1] + chain.passed)
        return counts


def _caching(volume: Volume) -> str:
    """Host caching of a volume; what lies on the host has none."""
    return "None" if volume.disk.local else volume.disk.caching


def _check(volumes: tuple[Volume, ...], options: Options) -> None:
    names = [volume.name for volume in volumes]
    if not names:
        raise InputError("lab: a setup without disks; give at least one")
    for name in options.latency:
        if name not in (*names, HOST_CACHE):
            accepted = ", ".join([*names, HOST_CACHE])
            raise InputError(f"lab: latency of '{name}', which is no volume; there are: {accepted}")
