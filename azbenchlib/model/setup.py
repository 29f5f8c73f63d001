"""What is measured, in numbers: a VM, its disks, and the volumes that they form.

Everything here is plain numbers; None means "not documented" and never limits anything. Catalogue rows
are turned into these by :mod:`azbenchlib.model.fill_from_catalogue`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.choices import HOST_CACHING, ROLES
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB

# On-demand bursting is for Premium SSD above this size. Source: includes/managed-disks-bursting-2.md@2e4af987
# (2025-01-14).
ON_DEMAND_ABOVE_BYTES = 512 * GIB
# Where an ephemeral OS disk may lie, by the name of the API (`diffDiskSettings`, 2024-03-01) in lower case
PLACEMENT_OF = {"cachedisk": "cache", "resourcedisk": "temp", "nvmedisk": "nvme"}
PLACEMENTS = tuple(PLACEMENT_OF.values())


class BurstKind(StrEnum):
    """What a limit above the base rests on."""

    CREDITS = "credits"  # of the disk: full ones last 30 minutes of the whole burst
    ON_DEMAND = "on demand"  # of the disk, switched on and paid for: it lasts as long as the load
    VM_CREDITS = "VM credits"  # of the VM on one path, whatever its disks have
    NOT_KNOWN = "not known"  # there may be one, of the VM, to a figure that is on no page at hand


@dataclass(frozen=True, kw_only=True)
class Cap:
    """What one thing may do per second: a disk, or a VM on one path.

    Parameters
    ----------
    iops, bytes_per_s : float, optional
        The base limits (of reads, where writes have their own). None: not documented.
    burst_iops, burst_bytes_per_s : float, optional
        What it may do above the base. None: no burst.
    write_iops, write_bytes_per_s : float, optional
        Where writes have limits of their own (temp disks of old sizes, local NVMe); infinite where only
        those of reads are documented.
    burst_kind : BurstKind
        What the burst rests on, where there is one.
    other_figures : tuple of (str, float)
        By the names of these fields, figures that are in print for the same limits and differ.
    """

    iops: float | None = None
    bytes_per_s: float | None = None
    burst_iops: float | None = None
    burst_bytes_per_s: float | None = None
    write_iops: float | None = None
    write_bytes_per_s: float | None = None
    burst_kind: BurstKind = BurstKind.CREDITS
    other_figures: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for name, value in self._figures().items():
            if value is not None and not value > 0:
                raise InputError(f"{name}: {value} is not a limit; it must be above 0, or absent")

    @classmethod
    def of(cls, *values: float | None) -> Cap:
        """A cap from values in the order of its fields; those that are left out are not documented."""
        given: dict[str, Any] = dict(zip(cls.names(), values, strict=False))
        return cls(**given)

    @staticmethod
    @cache
    def names() -> tuple[str, ...]:
        """The fields that hold figures, in their order."""
        return tuple(field.name for field in fields(Cap) if field.default is None)

    def __bool__(self) -> bool:
        return any(value is not None for value in self._figures().values())

    def limit(self, quantity: str, bursting: bool = False, write: bool = False) -> float | None:
        """The limit of ``iops`` or ``bytes_per_s``, with credits or without; a burst below the base does not
        lower it, and one on demand is there all the time.
        """
        base: float | None = getattr(self, quantity)
        own: float | None = getattr(self, f"write_{quantity}") if write else None
        if own is not None:
            return own
        burst = self._burst(quantity) if bursting or self.burst_kind == BurstKind.ON_DEMAND else None
        return base if burst is None else max(base or 0.0, burst)

    def bursts(self, quantity: str) -> bool:
        """Whether the burst limit of ``iops`` or ``bytes_per_s`` is above the base."""
        base: float | None = getattr(self, quantity)
        return (self._burst(quantity) or 0) > (base or 0)

    def spends_credits(self, quantity: str) -> bool:
        """Whether more than the base of ``iops`` or ``bytes_per_s`` takes credits, which run out."""
        return self.burst_kind != BurstKind.ON_DEMAND and self.bursts(quantity)

    def times(self, n: float) -> Cap:
        """The limits of `n` of these together."""
        figures = self._figures().items()
        more: dict[str, Any] = {name: value * n for name, value in figures if value is not None}
        others = tuple((name, value * n) for name, value in self.other_figures)
        return replace(self, **more, other_figures=others)

    def times_as_high(self, quantity: str, burst: bool = False) -> tuple[float, ...]:
        """The other figures in print of one limit, ÷ the one that counts."""
        name = f"burst_{quantity}" if burst else quantity
        value = getattr(self, name)
        return tuple(other / value for key, other in self.other_figures if key == name) if value else ()

    def _figures(self) -> dict[str, float | None]:
        return {name: getattr(self, name) for name in self.names()}

    def _burst(self, quantity: str) -> float | None:
        value: float | None = getattr(self, f"burst_{quantity}")
        return value


NO_CAP = Cap()  # nothing is documented


@dataclass(frozen=True, kw_only=True)
class VM:
    """The limits of a VM size.

    Parameters
    ----------
    size : str, optional
        Such as Standard_E8ds_v4.
    uncached : Cap
        To managed disks, over the network.
    uncached_v2 : Cap
        The same for Ultra and Premium SSD v2, where it is stated apart; else `uncached` holds.
    cached : Cap
        To the host's SSD: hits, misses and writes of cached disks, and the temp disk with them.
    temp : Cap
        Of the temp disk, where it is stated apart; else `cached` holds, and is shared.
    has_temp : bool
        Whether it may have a temp disk.
    nvme : Cap
        Of all local NVMe devices together.
    nvme_count : int, optional
        How many there are. None: they count as one.
    cache_bytes : float, optional
        Size of the host cache.
    max_data_disks : int, optional
    """

    size: str | None = None
    uncached: Cap = NO_CAP
    uncached_v2: Cap = NO_CAP
    cached: Cap = NO_CAP
    temp: Cap = NO_CAP
    has_temp: bool = True
    nvme: Cap = NO_CAP
    nvme_count: int | None = None
    cache_bytes: float | None = None
    max_data_disks: int | None = None

    @property
    def temp_shares_cache(self) -> bool:
        """Whether temp and cached disks have one limit in common: a temp limit of its own is none, and one
        that repeats the cached limit is the same.
        """
        same = (self.temp.iops, self.temp.bytes_per_s) == (self.cached.iops, self.cached.bytes_per_s)
        return same or not self.temp

    @property
    def stated(self) -> bool:
        """Whether any number is known."""
        caps = (self.uncached, self.uncached_v2, self.cached, self.temp, self.nvme)
        return any(caps) or self.max_data_disks is not None


@dataclass(frozen=True, kw_only=True)
class Disk:
    """One disk, or several of a kind.

    Parameters
    ----------
    name : str
        Unique in the setup.
    role : {"os", "data", "temp", "nvme", "ephemeral_os"}
    sku, tier : str, optional
        Such as Premium_LRS and P30.
    size_bytes : float, optional
        Of each.
    caching : {"None", "ReadOnly", "ReadWrite"}
        Azure host caching.
    cap : Cap
        Limits of each.
    on_demand_cap : Cap
        Limits of each with on-demand bursting, where it is not stated whether that is on.
    tier_caps : tuple of (str, Cap)
        Limits of each by tier, the smallest first, where neither tier nor size is stated.
    count : int
        How many.
    striped : bool
        Whether they are joined into one volume; else each is a volume of its own.
    cache_hit : float, optional
        Share of reads that the host cache serves, 0 to 1. None: not known.
    bursting : bool, optional
        Whether the disk may burst: on demand, where its kind and size have that. None: by its tier's default.
    placement : {"cache", "temp", "nvme"}
        Where an ephemeral OS disk lies.
    unstated : tuple of str
        Fields that the description leaves open, ``caching``, ``count`` or ``cap``: their value here is a
        default, or no figure.
    in_azure : bool
        Whether Azure has documented limits and host caching for it. That of another machine has neither, and
        its `sku` says in words what it is.
    """

    name: str
    role: str = "data"
    sku: str | None = None
    tier: str | None = None
    size_bytes: float | None = None
    caching: str = "None"
    cap: Cap = NO_CAP
    on_demand_cap: Cap = NO_CAP
    tier_caps: tuple[tuple[str, Cap], ...] = ()
    count: int = 1
    striped: bool = False
    cache_hit: float | None = None
    bursting: bool | None = None
    placement: str = "cache"
    unstated: tuple[str, ...] = ()
    in_azure: bool = True

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("role", self.role, ROLES),
            ("caching", self.caching, HOST_CACHING),
            ("placement", self.placement, PLACEMENTS),
        ):
            if value not in choices:
                raise InputError(f"disk '{self.name}': {name} '{value}' is not one of: {', '.join(choices)}")
        if self.count < 1:
            raise InputError(f"disk '{self.name}': count {self.count} is not at least 1")
        if self.cache_hit is not None and not 0 <= self.cache_hit <= 1:
            raise InputError(f"disk '{self.name}': cache hit {self.cache_hit} is not between 0 and 1")

    @property
    def local(self) -> bool:
        """Whether it lies on the host, not in Azure Storage."""
        return self.role in ("temp", "nvme", "ephemeral_os")

    @property
    def kind(self) -> DiskKind | None:
        """What is known of disks like it; None: of an ephemeral OS disk, and where the SKU is not known."""
        if self.local:
            return None if self.role == "ephemeral_os" else disk_kinds.get(self.role)
        return disk_kinds.of_sku(self.sku)

    @property
    def provisioned(self) -> bool:
        """Whether its IOPS and MB/s are chosen and paid for."""
        return self.kind is not None and self.kind.provisioned

    @property
    def bursts_on_demand(self) -> bool:
        """Whether on-demand bursting is on, which is paid; bursting on credits is free."""
        large = self.size_bytes is not None and self.size_bytes > ON_DEMAND_ABOVE_BYTES
        return self.bursting is True and self.kind is not None and self.kind.on_demand_bursting and large

    @property
    def place(self) -> str:
        """``remote`` for a managed disk, else where it lies: ``cache``, ``temp`` or ``nvme``."""
        if not self.local:
            return "remote"
        return self.placement if self.role == "ephemeral_os" else self.role

    @property
    def io_unit_bytes(self) -> int | None:
        """Up to this size an I/O counts as one against the disk's IOPS. None: any size does."""
        return self.kind.io_unit_bytes if self.kind else None


@dataclass(frozen=True)
class Volume:
    """What a workload drives: one disk, or several striped; `cap` is that of all `members` together."""

    name: str
    disk: Disk
    members: int
    cap: Cap


@dataclass(frozen=True)
class Setup:
    """A VM with its disks. `as_of` is the ISO day whose limits they are.

    Raises
    ------
    InputError
        When two disks have the same name.
    """

    vm: VM = field(default_factory=VM)
    disks: tuple[Disk, ...] = ()
    as_of: str | None = None

    def __post_init__(self) -> None:
        names = [disk.name for disk in self.disks]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"disk '{name}' is there {names.count(name)} times; names must differ")

    @property
    def has_credits(self) -> bool:
        """Whether any limit of it bursts on credits, which can run out."""
        remote = any(not disk.local for disk in self.disks)
        caps = [volume.cap for volume in self.volumes()]
        caps += [self.vm.uncached, self.vm.uncached_v2] if remote else []
        caps += [self.vm.cached] if any(disk.caching != "None" or disk.local for disk in self.disks) else []
        return any(cap.spends_credits(quantity) for cap in caps for quantity in ("iops", "bytes_per_s"))

    def volumes(self) -> tuple[Volume, ...]:
        """The volumes: one a stripe, and one a disk that is not striped (``data``, or ``data-1`` …)."""
        return self._volumes

    @cached_property
    def _volumes(self) -> tuple[Volume, ...]:
        found: list[Volume] = []
        for disk in self.disks:
            cap = disk.cap if disk.bursting is not False else _base(disk.cap)
            if disk.striped or disk.count == 1:
                found.append(Volume(disk.name, disk, disk.count, cap.times(disk.count)))
            else:
                found += [Volume(f"{disk.name}-{i}", disk, 1, cap) for i in range(1, disk.count + 1)]
        return tuple(found)


def _base(cap: Cap) -> Cap:
    return replace(cap, burst_iops=None, burst_bytes_per_s=None)
