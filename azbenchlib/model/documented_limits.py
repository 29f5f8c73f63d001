"""The catalogue's disks and VM sizes of a day, as what an unknown disk may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.errors import InputError
from azbenchlib.model.setup import VM, Disk
from azbenchlib.model.unloaded_latency import expected_us, table_of


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
    unit_bytes : float, optional
        Up to this size an I/O counts as one. None: any size does.
    read_us, write_us : tuple of float, optional
        Median unloaded latency, and the spread of its logarithm.
    soft : bool
        Whether such disks were measured above their limits.
    sizes : tuple of float, optional
        Bytes: more than the first and at most the second has this tier.
    also : int
        How many others have the same limits.
    """

    name: str
    kind: str
    iops: float
    bytes_per_s: float
    least_iops: float | None = None
    least_bytes_per_s: float | None = None
    unit_bytes: float | None = None
    read_us: tuple[float, float] | None = None
    write_us: tuple[float, float] | None = None
    soft: bool = False
    sizes: tuple[float, float] | None = None
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
    rows = catalog.disk_tiers(day)
    for row in rows:
        smaller = [one.size_bytes for one in rows if one.sku == row.sku and one.size_bytes < row.size_bytes]
        sizes = (float(max(smaller, default=0)), float(row.size_bytes))
        for kind, iops, rate in (
            ("disk", row.iops, row.bytes_per_s),
            ("burst", row.burst_iops, row.burst_bytes_per_s),
        ):
            if iops and rate:
                yield _limits(row.name, kind, (iops, rate), Disk(name="", sku=row.sku, tier=row.name), sizes)


def _provisioned(day: str) -> Iterator[DocumentedLimits]:
    for sku in catalog.provisioned_skus():
        try:
            rules = catalog.provisioned_rules(sku, day)
        except InputError:  # not on that day
            continue
        if rules.max_iops and rules.max_bytes_per_s:
            yield _limits(
                sku,
                "provisioned",
                (rules.max_iops, rules.max_bytes_per_s),
                Disk(name="", sku=sku),
                least=(rules.min_iops or rules.baseline_iops, rules.min_bytes_per_s),
            )


def _limits(
    name: str,
    kind: str,
    caps: tuple[float, float],
    disk: Disk,
    sizes: tuple[float, float] | None = None,
    least: tuple[float | None, float | None] = (None, None),
) -> DocumentedLimits:
    known: DiskKind | None = disk.kind
    table, spread = table_of(VM(), disk), known.latency_spread if known else disk_kinds.REMOTE_SPREAD
    return DocumentedLimits(
        name=name,
        kind=kind,
        iops=caps[0],
        bytes_per_s=caps[1],
        least_iops=least[0],
        least_bytes_per_s=least[1],
        unit_bytes=disk.io_unit_bytes,
        read_us=(expected_us(table, 1.0), spread),
        write_us=(expected_us(table, 0.0), spread),
        soft=bool(known and known.soft_limits),
        sizes=sizes,
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
            name=sizes[0], kind="vm", iops=caps[0], bytes_per_s=caps[1], unit_bytes=None, also=len(sizes) - 1
        )
