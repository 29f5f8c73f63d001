"""What Azure refuses: caching, the number of disks, and the dated rules of Ultra and Premium SSD v2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB, TIB, format_count, format_size
from azbenchlib.model.setup import Disk, Setup

if TYPE_CHECKING:
    from azbenchlib.azure.catalog.rows import ProvisionedRules

CACHE_BELOW_BYTES = 4 * TIB
_CACHE_SIZE_SOURCE = "azure-compute-docs premium-storage-performance.md@01e1fb7d, 2021-06-29"


@dataclass(frozen=True)
class Range:
    """From `low` to `high`, both allowed."""

    low: float
    high: float


def iops_range(rules: ProvisionedRules, size_bytes: float) -> Range:
    """IOPS that a disk of this size may have; they follow the size that is billed."""
    gib = _billed(rules, size_bytes) / GIB
    low = max(_first(rules.baseline_iops, rules.min_iops, 0), (rules.min_iops_per_gib or 0) * gib)
    by_size = math.inf if rules.max_iops_per_gib is None else rules.max_iops_per_gib * gib
    high = min(_first(rules.max_iops, math.inf), max(by_size, rules.baseline_iops or 0))
    return Range(min(low, high), high)


def _billed(rules: ProvisionedRules, size_bytes: float) -> float:
    """The size that Azure bills: where no step is stated, the next of 4 to 512 GiB, then whole TiB.

    Source: disks-types.md of 2022-06-17 to 2025-01-21 (catalogue, disk-types-2022-06 to disk-types-2025-01).
    """
    if rules.size_step_bytes is not None:
        return size_bytes
    smallest = rules.min_size_bytes or GIB
    if size_bytes > TIB / 2:
        return math.ceil(size_bytes / TIB) * TIB
    return max(smallest, GIB * 2.0 ** math.ceil(math.log2(size_bytes / GIB)))


def bytes_per_s_range(rules: ProvisionedRules, iops: float) -> Range:
    """Bytes per second that a disk with so many IOPS may have."""
    per_io = rules.max_bytes_per_s_per_iops
    least = _first(rules.baseline_bytes_per_s, rules.min_bytes_per_s, 0)
    low = max(least, (rules.min_bytes_per_s_per_iops or 0) * iops)
    high = min(_first(rules.max_bytes_per_s, math.inf), math.inf if per_io is None else per_io * iops)
    return Range(min(low, high), high)


def check(setup: Setup, provisioned: Mapping[str, ProvisionedRules] | None = None) -> Setup:
    """The same setup, if Azure accepts it.

    Parameters
    ----------
    setup : Setup
    provisioned : mapping of str to ProvisionedRules, optional
        The catalogue's rules of the date, by SKU (such as UltraSSD_LRS); others are not checked.

    Raises
    ------
    InputError
        With the rule that is broken and its source.
    """
    for disk in setup.disks:
        check_disk(disk, provisioned or {})
    return check_count(setup)


def check_disk(disk: Disk, provisioned: Mapping[str, ProvisionedRules]) -> None:
    """Refuse a disk that Azure does not have."""
    check_caching(disk)
    if disk.role == "os" and disk.kind and disk.kind.no_os_source:
        raise InputError(f"disk '{disk.name}': {disk.sku} cannot be an OS disk ({disk.kind.no_os_source})")
    if rules := provisioned.get(disk.sku or ""):
        check_provisioned(disk, rules)


def check_count(setup: Setup) -> Setup:
    """The same setup, if the VM takes so many data disks."""
    data = sum(disk.count for disk in setup.disks if disk.role == "data")
    most = setup.vm.max_data_disks
    if most is not None and data > most:
        raise InputError(
            f"{data} data disks on {setup.vm.size or 'this VM'}: it takes at most {most} "
            "(resource-SKU API, MaxDataDiskCount)"
        )
    return setup


def check_caching(disk: Disk) -> None:
    """Refuse host caching where Azure does."""
    if disk.caching == "None" or disk.local:
        return
    if disk.kind and (source := disk.kind.no_caching_source):
        raise InputError(f"disk '{disk.name}': {disk.sku} has no host caching; use None ({source})")
    if disk.size_bytes is not None and disk.size_bytes >= CACHE_BELOW_BYTES:
        raise InputError(
            f"disk '{disk.name}': no host caching for a disk of {format_size(disk.size_bytes)}; "
            f"it must be smaller than {format_size(CACHE_BELOW_BYTES)} ({_CACHE_SIZE_SOURCE})"
        )


def check_provisioned(disk: Disk, rules: ProvisionedRules) -> None:
    """Refuse an Ultra Disk or a Premium SSD v2 outside the rules of the date."""
    size, iops, rate = disk.size_bytes, disk.cap.iops, disk.cap.bytes_per_s
    since = f", from {rules.valid_from}" if rules.valid_from else ""
    source = f"rules for {rules.sku}{since}: {rules.source_id}"
    sizes = Range(_first(rules.min_size_bytes, 0), _first(rules.max_size_bytes, math.inf))
    if size is not None:
        _within(f"disk '{disk.name}': size", size, sizes, format_size, source)
    if size is not None and iops is not None:
        what = f"disk '{disk.name}' of {format_size(size)}: IOPS"
        _within(what, iops, iops_range(rules, size), format_count, source)
    if iops is not None and rate is not None:
        what = f"disk '{disk.name}' with {format_count(iops)} IOPS: MB/s"
        _within(what, rate, bytes_per_s_range(rules, iops), mbps_text, source)


def mbps_text(bytes_per_s: float) -> str:
    """MB/s in full: the bound itself is what counts."""
    return f"{bytes_per_s / MB:,.10g}"


def _within(what: str, value: float, allowed: Range, text: Callable[[float], str], source: str) -> None:
    if not allowed.low <= value <= allowed.high:
        raise InputError(
            f"{what} {text(value)} is not between {text(allowed.low)} and {text(allowed.high)} ({source})"
        )


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)
