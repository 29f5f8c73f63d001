"""The ceilings of a setup: the most that it delivers at each block size, and where the limit changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import Delivered, deliver
from azbenchlib.model.setup import Setup, Volume

ALL_VOLUMES = "all volumes"


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """The most that a volume, or all of them together, delivers at one block size.

    `path` says which of the documented paths: ``uncached``, ``temp``, ``cache hit`` … ``level`` is
    ``base`` or ``burst``. `crossover_bytes` is the block size where the IOPS limit gives way to the MB/s
    limit; None: there is no such one. None for the rates: no limit is documented.
    """

    scope: str
    path: str
    level: str
    bs_bytes: int
    iops: float | None
    bytes_per_s: float | None
    binding: tuple[Label, ...]
    crossover_bytes: float | None


@dataclass(frozen=True)
class Path:
    """One way that the I/O of a setup may take, where that is not decided by the setup alone."""

    name: str
    cache_hit: float | None = None
    destaged: bool = False


def ceilings(setup: Setup, block_sizes: Sequence[int], read_share: float = 1.0) -> list[Ceiling]:
    """The ceilings of every volume alone and of all together.

    Parameters
    ----------
    setup : Setup
    block_sizes : sequence of int
        Bytes.
    read_share : float
        0 to 1; writes are the rest.

    Returns
    -------
    list of Ceiling
        One a scope, path, level (base; burst, where that is more) and block size.

    Raises
    ------
    InputError
        When the setup has no disk, or the share is outside 0 to 1.
    """
    volumes = setup.volumes()
    if not volumes:
        raise InputError("the setup has no disk; add one, such as --disk P30 or --disk temp")
    scopes: list[tuple[str, tuple[Volume, ...]]] = [(volume.name, (volume,)) for volume in volumes]
    if len(volumes) > 1:
        scopes.append((ALL_VOLUMES, volumes))
    found: list[Ceiling] = []
    for scope, members in scopes:
        for path in paths(members, read_share):
            base = list(_rows(setup, scope, members, path, "base", block_sizes, read_share))
            burst = list(_rows(setup, scope, members, path, "burst", block_sizes, read_share))
            found += base
            if any(
                more.binding != row.binding or more.iops != row.iops
                for row, more in zip(base, burst, strict=True)
            ):
                found += burst
    return found


def paths(volumes: Sequence[Volume], read_share: float) -> list[Path]:
    """The paths that the I/O of these volumes may take: with a host cache, hits and misses, and writes
    that end in the cache or go on to the disk; one only where nothing is open.
    """
    cached = [v.disk for v in volumes if not v.disk.local and v.disk.caching != "None"]
    if not cached:
        places = {"remote": "uncached", "cache": "host cache"}
        names = (places.get(volume.disk.place, volume.disk.place) for volume in volumes)
        return [Path(" + ".join(dict.fromkeys(names)))]
    open_hits = read_share > 0 and any(disk.cache_hit is None for disk in cached)
    hits = (
        [("cache hit", 1.0), ("cache miss", 0.0)] if open_hits else [("cached" if read_share else "", None)]
    )
    lazy = read_share < 1 and any(disk.caching == "ReadWrite" for disk in cached)
    through = "write to cache and disk" if read_share < 1 else ""
    writes = [("write in cache", False), (through, True)] if lazy else [(through, False)]
    return [
        Path(", ".join(filter(None, (read, write))), hit, destaged)
        for read, hit in hits
        for write, destaged in writes
    ]


def crossover(
    setup: Setup, volumes: Sequence[Volume], path: Path, read_share: float, bursting: bool
) -> float | None:
    """The block size in bytes at which the IOPS limit gives way to the MB/s limit.

    None where either is not documented, or where several volumes turn one after the other.
    """
    iops = _driven(setup, volumes, path, read_share, bursting, iops=math.inf).iops
    size = _driven(setup, volumes, path, read_share, bursting, bytes_per_s=math.inf).bytes_per_s
    if not iops or not size:
        return None
    there = _driven(setup, volumes, path, read_share, bursting, bs_bytes=size / iops).iops
    return size / iops if there is not None and math.isclose(there, iops, rel_tol=1e-6) else None


def _rows(
    setup: Setup,
    scope: str,
    volumes: Sequence[Volume],
    path: Path,
    level: str,
    block_sizes: Sequence[int],
    read_share: float,
) -> Iterator[Ceiling]:
    bursting = level == "burst"
    where = crossover(setup, volumes, path, read_share, bursting)
    for size in block_sizes:
        got = _driven(setup, volumes, path, read_share, bursting, bs_bytes=size)
        yield Ceiling(
            scope=scope,
            path=path.name,
            level=level,
            bs_bytes=size,
            iops=got.iops,
            bytes_per_s=got.bytes_per_s,
            binding=got.binding,
            crossover_bytes=where,
        )


def _driven(
    setup: Setup, volumes: Sequence[Volume], path: Path, read_share: float, bursting: bool, **asked: float
) -> Delivered:
    """All these volumes driven as hard as they go."""
    loads = [
        Load(
            volume=volume.name,
            read_share=read_share,
            cache_hit=_hit(volume, path),
            destaged=path.destaged,
            **asked,
        )
        for volume in volumes
    ]
    return deliver(setup, loads, bursting=bursting)


def _hit(volume: Volume, path: Path) -> float | None:
    """A known hit ratio stands; where it is open, the path decides."""
    return volume.disk.cache_hit if volume.disk.cache_hit is not None else path.cache_hit
