"""The catalogue's disks and VM sizes of a day, as what an unknown disk may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.core.errors import InputError


@dataclass(frozen=True, kw_only=True)
class DocumentedLimits:
    """What documents say of a disk, or of a VM's path to its disks.

    Parameters
    ----------
    name : str
        Such as ``P30``, or a VM size.
    kind : {"disk", "burst", "provisioned", "vm"}
        ``burst``: the limits of a disk as long as it has credits.
    iops, bytes_per_s : float
        Of provisioned disks, the largest.
    least_iops, least_bytes_per_s : float, optional
        Of provisioned disks: any limits from these up may be chosen.
    soft : bool
        Whether such disks were measured above their limits.
    also : int
        How many others have the same limits.
    """

    name: str
    kind: str
    iops: float
    bytes_per_s: float
    least_iops: float | None = None
    least_bytes_per_s: float | None = None
    soft: bool = False
    also: int = 0


def documented(as_of: str) -> list[DocumentedLimits]:
    """All disk tiers, provisioned disks and VM sizes with stated limits.

    Parameters
    ----------
    as_of : str
        ISO day.
    """
    return [*documented_tiers(as_of), *_provisioned(as_of), *_machines(as_of)]


def documented_tiers(day: str) -> Iterator[DocumentedLimits]:
    """The disk tiers alone, each with its base and its burst."""
    for row in catalog.disk_tiers(day):
        for kind, iops, rate in (
            ("disk", row.iops, row.bytes_per_s),
            ("burst", row.burst_iops, row.burst_bytes_per_s),
        ):
            if iops and rate:
                known = disk_kinds.of_sku(f"{row.sku}_LRS")
                yield DocumentedLimits(
                    name=row.name,
                    kind=kind,
                    iops=iops,
                    bytes_per_s=rate,
                    soft=bool(known and known.soft_limits),
                )


def _provisioned(day: str) -> Iterator[DocumentedLimits]:
    for sku in catalog.provisioned_skus():
        try:
            rules = catalog.provisioned_rules(sku, day)
        except InputError:  # not on that day
            continue
        if rules.max_iops and rules.max_bytes_per_s:
            yield DocumentedLimits(
                name=sku,
                kind="provisioned",
                iops=rules.max_iops,
                bytes_per_s=rules.max_bytes_per_s,
                least_iops=rules.min_iops or rules.baseline_iops,
                least_bytes_per_s=rules.min_bytes_per_s,
            )


def _machines(day: str) -> Iterator[DocumentedLimits]:
    """VM sizes by their uncached limits; one for all that have the same."""
    alike: dict[tuple[float, float], list[str]] = defaultdict(list)
    for size in catalog.vm_sizes():
        row = catalog.vm(size, day)
        iops, rate = (row.best(f"uncached_{quantity}") for quantity in ("iops", "bytes_per_s"))
        if iops and rate and iops.value and rate.value:
            alike[iops.value, rate.value].append(size)
    for caps, sizes in alike.items():
        yield DocumentedLimits(
            name=sizes[0], kind="vm", iops=caps[0], bytes_per_s=caps[1], also=len(sizes) - 1
        )
