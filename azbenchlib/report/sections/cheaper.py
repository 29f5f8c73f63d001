"""What would deliver for less what was measured, in words."""

from __future__ import annotations

from azbenchlib.advisor.reasons.cheaper import Cheaper
from azbenchlib.analysis.setup_names import CACHE_WORDS, ROLE_WORDS
from azbenchlib.core.units import NBSP, format_count, format_mbps, format_money, format_size
from azbenchlib.model.setup import Disk


def design_words(one: Cheaper) -> str:
    """VM, disks, price and what is saved."""
    return (
        f"{vm_words(one)} with {disk_words(one.candidate.setup.disks[0])}: {one.currency}{NBSP}"
        f"{format_money(float(one.candidate.price))} a month, {100 * one.saved:.0f}{NBSP}% less"
    )


def vm_words(one: Cheaper) -> str:
    """The VM size without its prefix."""
    return (one.candidate.setup.vm.size or "").removeprefix("Standard_")


def disk_words(disk: Disk) -> str:
    """``5 × P15``, ``2 × Premium SSD v2 (16 GiB, 3,000 IOPS, 125 MB/s)``, ``its temp disk``."""
    if disk.local:
        return f"its {ROLE_WORDS[disk.role][0]}"
    count = f"{disk.count}{NBSP}×{NBSP}" if disk.count > 1 else ""
    if disk.tier:
        caching = "" if disk.caching == "None" else f" with {CACHE_WORDS[disk.caching]}"
        zones = " ZRS" if (disk.sku or "").endswith("_ZRS") else ""
        return f"{count}{disk.tier}{zones}{caching}"
    figures = (
        format_size(disk.size_bytes or 0),
        f"{format_count(disk.cap.iops or 0)} IOPS",
        f"{format_mbps(disk.cap.bytes_per_s or 0)} MB/s",
    )
    kind = disk.kind.label if disk.kind else disk.name
    return f"{count}{kind} ({', '.join(figures)}{' each' if disk.count > 1 else ''})"
