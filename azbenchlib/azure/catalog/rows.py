"""What the catalogue hands out: frozen rows in base units, each with its dates and its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

NO_CACHE_SIZE = "the API states no cache size for this VM size: may not apply to cached disks"  # a note
_STATED = "stated"  # source_id of a value that the caller gave
# How the source_ids of the resource-SKU API begin: what is shipped of it, and what the user read anew.
SNAPSHOT_ID, READINGS_ID = "sku-api", "az-list-skus"

# Of an Ultra Disk or a Premium SSD v2, where a page prints limits of their own, `uncached_v2_…`.
_UNCACHED = tuple(
    f"uncached{kind}_{quantity}"
    for kind in ("", "_burst", "_v2", "_v2_burst")
    for quantity in ("iops", "bytes_per_s")
)
# The first page that prints VM bursts is that of the Lsv2 series; the others followed, in all regions, later.
# Source: azure-docs articles/virtual-machines/lsv2-series.md@017654d1, and csigueros/azure-docs.es-es
# includes/managed-disks-bursting-2.md@57f10ec3.
VM_BURST_FIRST, VM_BURST_SINCE = "2020-02-03", "2021-06-02"
OVER_NVME = "_over_nvme"  # suffix: the limit over the NVMe interface, of a size that also offers SCSI
LIMITS = (
    *_UNCACHED,
    *(name + OVER_NVME for name in _UNCACHED),
    "cached_iops",
    "cached_bytes_per_s",
    "cached_write_bytes_per_s",
    "cached_burst_iops",
    "cached_burst_bytes_per_s",
    "cache_bytes",
    "temp_bytes",
    "temp_iops",
    "temp_bytes_per_s",
    "temp_write_iops",
    "temp_write_bytes_per_s",
    "nvme_count",
    "nvme_bytes",
    "nvme_read_iops",
    "nvme_write_iops",
    "nvme_read_bytes_per_s",
    "nvme_write_bytes_per_s",
)
_UNITS = {"iops": "1/s", "bytes_per_s": "B/s", "bytes": "B", "count": "1"}


@cache
def unit_of(name: str) -> str:
    """Unit of a limit by its name: ``1/s``, ``B/s``, ``B``, or ``1`` for a count."""
    return next(unit for end, unit in _UNITS.items() if name.removesuffix(OVER_NVME).endswith(end))


def holds(valid_from: str | None, valid_to: str | None, day: str) -> bool:
    """Whether an ISO day lies in a half-open span; None is open."""
    return (valid_from is None or valid_from <= day) and (valid_to is None or day < valid_to)


@dataclass(frozen=True, kw_only=True)
class CatalogSource:
    """Where figures come from."""

    source_id: str
    what: str
    repository: str
    path: str
    commit: str
    date: str  # ISO day that the source bears itself
    licence: str  # of the source

    @property
    def cited(self) -> str:
        """The page or document, its commit and its date, as a sentence has them."""
        repository, page = PurePosixPath(self.repository).name, PurePosixPath(self.path).name
        commit = f"@{self.commit[:8]}" if self.commit else ""
        return f"{' '.join(filter(None, (repository, page)))}{commit}, {self.date}"


class Limit(NamedTuple):
    """One statement of one source about a VM size; there are some eighteen thousand."""

    name: str  # one of `LIMITS`
    value: float  # in `unit`; bytes per second as the source gives them, MB/s of a page times 10**6
    unit: str  # 1/s, B/s, B or 1
    # valid_from, valid_to: ISO days, half-open; None: no change is known before, or since
    valid_from: str | None
    valid_to: str | None
    source_id: str  # of `sources.csv`; ``stated`` for what the caller gave
    note: str = ""  # what makes it uncertain; empty: nothing
    # ISO day of the oldest page at hand, where its figure is taken for the days before it
    page_day: str | None = None

    @property
    def from_api(self) -> bool:
        """Whether the resource-SKU API states it."""
        return self.source_id.startswith((SNAPSHOT_ID, READINGS_ID))

    @property
    def from_page(self) -> bool:
        """Whether a documentation page states it."""
        return not self.from_api and self.source_id != _STATED

    def holds(self, day: str) -> bool:
        """Whether the statement is in force on an ISO day."""
        return holds(self.valid_from, self.valid_to, day)


class BurstDocumented(Enum):
    """Whether bursts of a VM's uncached limits are documented for a day.

    Attributes
    ----------
    PRINTED
        A page prints them.
    NONE
        A page prints uncached limits without a burst, the size takes no Premium storage, or no VM burst at
        all on that day.
    NOT_KNOWN
        No page at hand prints an uncached limit of the size: it may burst, to a figure that is not known.
    """

    PRINTED = "printed"
    NONE = "none"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, kw_only=True)
class VmRow:
    """A VM size with everything that is stated about its limits.

    Notes
    -----
    ``cached_*`` is one limit for the cache and the temp disk together, unless ``temp_*`` limits the temp
    disk on its own. ``…_write_…`` is there only where writes differ. ``nvme_read_iops`` and its like are
    those of all local NVMe disks together; ``nvme_bytes`` is the size of each.
    """

    size: str  # as Azure spells it
    # vcpus, vcpus_available: real ones, and what the guest sees of them (a constrained size such as
    # E32-8s_v3: 32 and 8)
    vcpus: int | None
    memory_bytes: int | None
    max_data_disks: int | None
    # In order of precedence: the caller's, the resource-SKU API (newest reading first), the pages (newest
    # first)
    limits: tuple[Limit, ...]
    as_of: str  # ISO day that the row was asked for
    vcpus_available: int | None = None
    premium_io: bool | None = None
    # Host caching of data disks: True where a cache size is stated or a page says that it is supported, False
    # where a page says that it is not, None where neither is known
    caching: bool | None = None
    caching_source: str | None = None  # the source_id of what says so
    ephemeral_os: bool | None = None
    # ephemeral_placements, interface: such as ResourceDisk, CacheDisk, NvmeDisk; and SCSI, NVMe. Empty: not
    # stated
    ephemeral_placements: tuple[str, ...] = ()
    interface: tuple[str, ...] = ()
    architecture: str | None = None  # x64 or arm64
    gpus: int | None = None
    # Whether the API says that it takes Ultra Disks, in some region. None: it says nothing
    ultra_ssd: bool | None = None
    retires_on: str | None = None  # ISO day from which Azure no longer runs it; None: none is announced
    retirement_source: str | None = None  # the source_id of what says so
    # Of a size with a lowered vCPU count: the size that has all its vCPUs, and the same limits
    parent: str | None = None

    @property
    def cached_limit_documented(self) -> bool:
        """Whether a cached limit is stated that holds for cached disks: the API fills the field for every
        size, also where it states no cache.
        """
        cached = self.best("cached_iops")
        return self.caching is not False and cached is not None and cached.note != NO_CACHE_SIZE

    def best(self, name: str, as_of: str | None = None) -> Limit | None:
        """The statement that counts on a day (default: the row's own); None where nothing is known."""
        if as_of is None:
            return self.in_force.get(name)
        return next((limit for limit in self._of(as_of) if limit.name == name), None)

    @cached_property
    def in_force(self) -> Mapping[str, Limit]:
        """The statements that count on the row's own day, by name."""
        return {name: limits[0] for name, limits in self._by_name.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Limit]]:
        """All statements in force on the row's own day."""
        found: dict[str, list[Limit]] = {}
        for limit in self._of(self.as_of):
            found.setdefault(limit.name, []).append(limit)
        return found

    def _of(self, day: str) -> Iterator[Limit]:
        """The statements in force on a day, what counts most first; at last those of pages of later days."""
        yield from (limit for limit in self.limits if limit.holds(day))
        if any(limit.valid_from and limit.valid_from > day for limit in self.limits):
            yield from (limit for limit in self._before_pages if limit.holds(day))

    @cached_property
    def _before_pages(self) -> tuple[Limit, ...]:
        """What the oldest page at hand prints, for the days before it.

        A page that is not at hand is no evidence that a limit did not hold. Where an older page prints
        another figure, or none in the same table, that is what counts.
        """
        dated = [limit for limit in self.limits if limit.from_page and limit.valid_from]
        remote, local = (
            [limit for limit in dated if limit.name.startswith("uncached") is kind] for kind in (True, False)
        )
        return (*_before_oldest(remote), *_before_oldest(local))

    def conflicts(self, name: str, as_of: str | None = None) -> tuple[Limit, ...]:
        """The statements, of any era, with another value than `best`; each bears its dates."""
        best = self.best(name, as_of)
        others = (limit for limit in self.limits if limit.name == name)
        return tuple(limit for limit in others if best is None or limit.value != best.value)

    def figures(self, name: str) -> tuple[Limit, ...]:
        """The statements in force on the row's day that differ in their value, what counts most first.

        Where a page and the API print two figures for one limit, both are here: neither is *the* limit.
        """
        values: dict[float, Limit] = {}
        for limit in self._by_name.get(name, ()):
            values.setdefault(limit.value, limit)
        return tuple(values.values())

    @property
    def taken_back(self) -> tuple[Limit, ...]:
        """The limits in force on the row's day that stand on a page of a later day only."""
        return tuple(limit for limit in self.in_force.values() if limit.page_day)

    @property
    def pages_only(self) -> bool:
        """Whether documentation pages alone know it: no reading of the resource-SKU API lists it."""
        return not any(limit.from_api for limit in self.limits)

    @cached_property
    def burst(self) -> BurstDocumented:
        """Whether bursts of the uncached limits are documented for the row's day."""
        printed = {limit.name.removesuffix(OVER_NVME) for limit in self._of(self.as_of) if limit.from_page}
        if printed & {"uncached_burst_iops", "uncached_burst_bytes_per_s"}:
            return BurstDocumented.PRINTED
        none = bool(printed & {"uncached_iops", "uncached_bytes_per_s"})
        none = none or self.premium_io is False or self.as_of < VM_BURST_FIRST
        return BurstDocumented.NONE if none else BurstDocumented.NOT_KNOWN

    def stating(self, values: Mapping[str, float]) -> VmRow:
        """The row with values of the caller's own, which go before all others."""
        own = tuple(
            Limit(name=name, value=v, unit=unit_of(name), valid_from=None, valid_to=None, source_id=_STATED)
            for name, v in values.items()
        )
        return replace(self, limits=own + self.limits)


def _before_oldest(limits: Sequence[Limit]) -> Iterator[Limit]:
    """The figures of the oldest page among the limits of one table, for the days before it; no VM burst
    before VMs began to burst.
    """
    oldest = min((limit.valid_from for limit in limits if limit.valid_from), default="")
    for limit in limits:
        since = VM_BURST_SINCE if "_burst_" in limit.name else ""
        if limit.valid_from == oldest > since:
            yield limit._replace(valid_from=since or None, valid_to=oldest, page_day=oldest)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a region has of a VM size, for the subscription that asked."""

    # Those that it can have: without the restricted ones. Empty: the region has none for it
    zones: tuple[str, ...] = ()
    ultra_zones: tuple[str, ...] = ()  # those of them with Ultra Disks
    ultra: bool = False  # whether it takes Ultra Disks anywhere in the region
    # Why the subscription cannot have it, in Azure's words, such as NotAvailableForSubscription; empty: it
    # can
    restriction: str = ""


@dataclass(frozen=True, eq=False)
class RegionalOffer:
    """What `az vm list-skus` said of a region on a day (ISO): each size that it has, in lower case."""

    region: str
    day: str
    sizes: Mapping[str, Offer]


@dataclass(frozen=True, kw_only=True)
class TierRow:
    """What a fixed-size disk tier may do, in one era."""

    name: str  # such as P30
    sku: str  # without the redundancy: Premium, StandardSSD or Standard
    size_bytes: int  # largest disk of the tier
    # iops, bytes_per_s: base; MB/s of the page times 10**6
    iops: int
    bytes_per_s: int
    # burst_iops, burst_bytes_per_s, burst_s: credit bursting and how long full credits last; None: none in
    # that era
    burst_iops: int | None
    burst_bytes_per_s: int | None
    burst_s: int | None
    # on_demand_burst_iops, on_demand_burst_bytes_per_s: only when enabled on the disk
    on_demand_burst_iops: int | None
    on_demand_burst_bytes_per_s: int | None
    # plus_iops, plus_bytes_per_s: base with performance plus enabled
    plus_iops: int | None
    plus_bytes_per_s: int | None
    # valid_from, valid_to: ISO days, half-open; None: open
    valid_from: str | None
    valid_to: str | None
    source_id: str
    note: str = ""

    def holds(self, day: str) -> bool:
        """Whether the row is in force on an ISO day."""
        return holds(self.valid_from, self.valid_to, day)


@dataclass(frozen=True, kw_only=True)
class ProvisionedRules:
    """What may be provisioned on an Ultra Disk or a Premium SSD v2, in one era. None: not stated."""

    sku: str  # UltraSSD or PremiumV2
    min_size_bytes: int | None
    max_size_bytes: int | None
    size_step_bytes: int | None
    # min_iops, max_iops: of any disk
    min_iops: int | None
    max_iops: int | None
    # min_iops_per_gib, max_iops_per_gib: of the size; the larger of this minimum and `min_iops` counts, and
    # the larger of this maximum and `baseline_iops`
    min_iops_per_gib: float | None
    max_iops_per_gib: float | None
    # min_bytes_per_s, max_bytes_per_s: of any disk
    min_bytes_per_s: int | None
    max_bytes_per_s: int | None
    # min_bytes_per_s_per_iops, max_bytes_per_s_per_iops: of the provisioned IOPS
    min_bytes_per_s_per_iops: float | None
    max_bytes_per_s_per_iops: float | None
    # baseline_iops, baseline_bytes_per_s: included in the capacity; less cannot be had
    baseline_iops: int | None
    baseline_bytes_per_s: int | None
    changes_per_24h: int | None
    # valid_from, valid_to: ISO days, half-open; None: open
    valid_from: str | None
    valid_to: str | None
    source_id: str
    note: str = ""

    def holds(self, day: str) -> bool:
        """Whether the rules are in force on an ISO day."""
        return holds(self.valid_from, self.valid_to, day)
