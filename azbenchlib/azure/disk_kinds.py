"""The kinds of disks that Azure has: one registry, from which every other part takes what it knows of a kind.

A new kind is one :func:`register` with its rows of limits, latencies and prices, which are data. What differs
between disks of one kind (tiers, rules, their dates) is in :mod:`azbenchlib.azure.catalog`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, MB, SECTOR_BYTES

LATENCY_CLASSES = ("local", "submillisecond", "premium", "ssd", "any")  # the fastest first
# Share of a month that Microsoft promises a single VM to be reachable, with Premium SSD, Premium SSD v2 or
# Ultra for all disks. Source: SLA for Virtual Machines, as public repositories quote it, read 2026-11-29.
PREMIUM_SLA = 0.999
LOCAL_SPREAD, REMOTE_SPREAD = 1.2, 0.9  # see `DiskKind.latency_spread`


_TIER_NUMBER = re.compile(r"[A-Za-z]([0-9]{1,3})")


@dataclass(frozen=True, kw_only=True)
class Billing:
    """What the meters of a kind are called, and what they leave free."""

    product: str  # on the bill
    # What stands before the redundancy in the meters of provisioned disks, such as ``Ultra``
    meters: str = ""
    snapshots: str = ""  # the same in the meters of snapshots
    # The tier whose meter bills the transactions of all tiers. None: transactions are free
    operations_tier: str | None = None
    # An I/O is as many transactions as it has of these. None: by the rules of Standard HDD
    # (:mod:`azbenchlib.cost.operations`)
    operations_unit_bytes: int | None = None
    # free_iops, free_bytes_per_s: of each provisioned disk
    free_iops: int = 0
    free_bytes_per_s: int = 0


@dataclass(frozen=True, kw_only=True)
class LatencyTable:
    """A table of unloaded latencies (:mod:`azbenchlib.azure.catalog.latency`), and which disks it is for."""

    name: str
    redundancy: str | None = None  # only for disks of this redundancy
    least_tier: int = 0  # only for tiers from this number on
    vm_pattern: str = ""  # only on VM sizes, without ``Standard_``, that begin with this regular expression


@dataclass(frozen=True, kw_only=True)
class DiskKind:
    """A kind of disk."""

    key: str  # in tables, JSON and code
    label: str  # for people
    word: str  # in the notation of disks: the letter of its tiers (``p`` of P30), or a word such as ``ultra``
    # What people call it beside its label, word and SKU: letters and digits in lower case
    other_names: tuple[str, ...] = ()
    # Of Azure, without the redundancy. None: a local disk, which comes with the VM
    sku: str | None = None
    billing: Billing | None = None  # None: a local disk costs nothing of its own
    redundancies: tuple[str, ...] = ("LRS",)
    # What is promised: on the host, below 1 ms, below 10 ms, below 10 ms for 99 % of the time, nothing
    latency_class: str = "any"
    latency_tables: tuple[LatencyTable, ...]  # the first that fits a disk counts
    # Of the logarithm of unloaded latencies round the table's median, over VMs, regions and I/Os; our
    # judgement, calibrated on a simulator
    latency_spread: float = REMOTE_SPREAD
    # Whether its size decides its limits; else IOPS and MB/s are provisioned, or the VM's own
    tiered: bool = False
    performance_tiers: bool = False  # whether a disk may have the tier of a larger one
    on_demand_bursting: bool = False
    soft_limits: bool = False  # whether disks of this kind were measured above their documented limits
    separate_vm_limits: bool = False  # whether some VM sizes have limits of their own for it
    needs_premium_io: bool = True  # whether it takes a VM size with premium storage
    zonal: bool = False  # whether it attaches to VMs in a zone alone, where the region has zones
    single_vm_sla: float = PREMIUM_SLA
    # Up to this size an I/O counts as one against the disk's IOPS. None: any size does
    io_unit_bytes: int | None = None
    sector_bytes: int = SECTOR_BYTES
    # no_caching_source, no_os_source: who says that it has no host caching, and that it is no OS disk; empty:
    # it has, it may be one
    no_caching_source: str = ""
    no_os_source: str = ""
    # colour, striped_colour: of figures: one disk, and a stripe where that is a purchase option of its own
    colour: int = 0
    striped_colour: int | None = None

    @property
    def local(self) -> bool:
        """Whether it is on the host, not in Azure Storage."""
        return self.sku is None

    @property
    def provisioned(self) -> bool:
        """Whether its IOPS and MB/s are chosen and paid for."""
        return not (self.local or self.tiered)

    @property
    def cacheable(self) -> bool:
        """Whether it may have host caching."""
        return not (self.local or self.no_caching_source)

    @property
    def product(self) -> str:
        """Its product on the bill; empty of a local disk."""
        return self.billing.product if self.billing else ""

    def serves(self, latency_class: str) -> bool:
        """Whether it is at least as fast as a class promises."""
        return LATENCY_CLASSES.index(self.latency_class) <= LATENCY_CLASSES.index(latency_class)

    def skus(self) -> tuple[str, ...]:
        """Names of Azure, such as Premium_LRS and Premium_ZRS; none of a local disk."""
        return tuple(f"{self.sku}_{redundancy}" for redundancy in self.redundancies if self.sku)


_REGISTRY: dict[str, DiskKind] = {}
_BY_SKU: dict[str, DiskKind] = {}  # asked for every I/O path
_BY_WORD: dict[str, DiskKind] = {}  # asked for every price


def register(kind: DiskKind) -> DiskKind:
    """Add a kind of disk.

    Raises
    ------
    InputError
        When another kind has its key, its SKU or its word, or its latency class is none.
    """
    for other in _REGISTRY.values():
        for name in ("key", "sku", "word"):
            value = getattr(kind, name)
            if value is not None and value == getattr(other, name):
                raise InputError(f"disk kind '{kind.key}': '{other.key}' has the {name} '{value}' already")
    if kind.latency_class not in LATENCY_CLASSES:
        classes = ", ".join(LATENCY_CLASSES)
        raise InputError(
            f"disk kind '{kind.key}': latency class '{kind.latency_class}' is not one of: {classes}"
        )
    _REGISTRY[kind.key] = _BY_WORD[kind.word] = kind
    if kind.sku:
        _BY_SKU[kind.sku] = kind
    return kind


def remove(key: str) -> None:
    """Take a kind out again.

    Raises
    ------
    InputError
        When there is none.
    """
    kind = get(key)
    del _REGISTRY[kind.key]
    _BY_SKU.pop(kind.sku or "", None)
    _BY_WORD.pop(kind.word, None)


def get(key: str) -> DiskKind:
    """The kind of a key.

    Raises
    ------
    InputError
        When there is none.
    """
    if key not in _REGISTRY:
        raise InputError(f"disk kind '{key}' is not one of: {', '.join(_REGISTRY)}")
    return _REGISTRY[key]


def of_sku(sku: str | None) -> DiskKind | None:
    """The kind of a SKU such as Premium_ZRS; None: of none that is known."""
    bare, _, redundancy = (sku or "").partition("_")
    return _BY_SKU.get(bare) if redundancy else None


def of_tier(tier: str) -> DiskKind | None:
    """The kind of a tier such as E10; None: of none that is known."""
    letter = tier.rstrip("0123456789")
    if letter == tier:
        return None
    kind = _BY_WORD.get(letter.lower())
    return kind if kind and kind.tiered else None


def tier_number(tier: str | None) -> int:
    """Return the number of a tier, such as 30 of P30; 0 where it is none."""
    match = _TIER_NUMBER.fullmatch(tier or "")
    return int(match[1]) if match else 0


def kinds() -> Iterator[DiskKind]:
    """All of them."""
    yield from _REGISTRY.values()


def managed() -> Iterator[DiskKind]:
    """Those in Azure Storage."""
    return (kind for kind in kinds() if not kind.local)


def bare_skus(tiered: bool) -> tuple[str, ...]:
    """SKUs without the redundancy: of tiers, or of provisioned disks."""
    return tuple(kind.sku for kind in managed() if kind.tiered is tiered and kind.sku)


# Premium SSD, Standard SSD and Ultra count an I/O of up to 256 KiB as one and a larger one as multiples
# of 256 KiB. Source: MicrosoftDocs/azure-compute-docs articles/virtual-machines/disks-types.md@18c531ec
# (2026-08-11); for Ultra the text of 2019 (MicrosoftDocs/azure-docs includes/disks-types).
IO_UNIT_BYTES = 256 * KIB
# Latency classes: disks-types.md@18c531ec (2026-08-11): sub-millisecond for Ultra and Premium SSD v2,
# single-digit milliseconds for Premium SSD. Redundancies: disks-redundancy.md, "Limitations". Sectors (4 KiB
# by default on Premium SSD v2 and Ultra) and OS disks: disks-types.md@18c531ec.
_OS_SOURCE = "azure-compute-docs disks-types.md@18c531ec, 2026-08-11"
_V2_SECTOR_BYTES = 4 * KIB
# All sizes of a Standard kind are billed by the smallest's transactions: disks-understand-billing.md's
# examples. P30 and up take the latency that was published of a P30.
PREMIUM = register(
    DiskKind(
        key="premium",
        label="Premium SSD",
        word="p",
        other_names=("premium", "premiumdisk", "premiumssdv1", "pssd", "ssdpremium"),
        sku="Premium",
        billing=Billing(product="Premium SSD Managed Disks"),
        redundancies=("LRS", "ZRS"),
        latency_class="premium",
        latency_tables=(
            LatencyTable(name="premium-zrs", redundancy="ZRS"),
            LatencyTable(name="premium-large", least_tier=30),
            LatencyTable(name="premium"),
        ),
        latency_spread=0.7,
        tiered=True,
        performance_tiers=True,
        on_demand_bursting=True,
        io_unit_bytes=IO_UNIT_BYTES,
        colour=1,
        striped_colour=3,
    )
)
STANDARD_SSD = register(
    DiskKind(
        key="standard_ssd",
        label="Standard SSD",
        word="e",
        other_names=("stdssd", "standardssddisk", "ssdstandard"),
        sku="StandardSSD",
        billing=Billing(
            product="Standard SSD Managed Disks",
            snapshots="Snapshots ",
            operations_tier="E4",
            operations_unit_bytes=IO_UNIT_BYTES,
        ),
        redundancies=("LRS", "ZRS"),
        latency_class="ssd",
        latency_tables=(LatencyTable(name="standard-ssd"),),
        latency_spread=0.8,
        tiered=True,
        soft_limits=True,
        single_vm_sla=0.995,
        needs_premium_io=False,
        io_unit_bytes=IO_UNIT_BYTES,
        colour=0,
    )
)
STANDARD_HDD = register(
    DiskKind(
        key="standard_hdd",
        label="Standard HDD",
        word="s",
        other_names=("hdd", "stdhdd", "standardhdddisk", "hddstandard"),
        sku="Standard",
        billing=Billing(product="Standard HDD Managed Disks", operations_tier="S4"),
        latency_tables=(LatencyTable(name="standard-hdd"),),
        tiered=True,
        soft_limits=True,
        single_vm_sla=0.95,
        needs_premium_io=False,
        colour=5,
    )
)
PREMIUM_V2 = register(
    DiskKind(
        key="premium_v2",
        label="Premium SSD v2",
        word="pv2",
        other_names=("premiumv2", "premiumssdv2", "premium2", "pssdv2", "ssdv2", "premiumv2ssd"),
        sku="PremiumV2",
        # Free of each disk. Source: disks-types.md@18c531ec.
        billing=Billing(
            product="Azure Premium SSD v2", meters="Premium", free_iops=3_000, free_bytes_per_s=125 * MB
        ),
        latency_class="submillisecond",
        latency_tables=(LatencyTable(name="premium-v2"),),
        latency_spread=0.7,
        separate_vm_limits=True,
        zonal=True,
        sector_bytes=_V2_SECTOR_BYTES,
        no_caching_source="azure-compute-docs includes/disks-prem-v2-limitations.md@1690f62b, 2026-06-05",
        no_os_source=_OS_SOURCE,
        colour=2,
        striped_colour=5,
    )
)
ULTRA = register(
    DiskKind(
        key="ultra",
        label="Ultra Disk",
        word="ultra",
        other_names=("ultrassd", "ultradisks", "ultrassddisk"),
        sku="UltraSSD",
        billing=Billing(product="Ultra Disks", meters="Ultra"),
        latency_class="submillisecond",
        latency_tables=(LatencyTable(name="ultra"),),
        latency_spread=0.7,
        separate_vm_limits=True,
        zonal=True,
        io_unit_bytes=IO_UNIT_BYTES,
        sector_bytes=_V2_SECTOR_BYTES,
        no_caching_source=(
            "azure-docs includes/managed-disks-ultra-disks-GA-scope-and-limitations.md@017dab80, 2022-06-06"
        ),
        no_os_source=_OS_SOURCE,
        colour=4,
    )
)
NVME = register(
    DiskKind(
        key="nvme",
        label="local NVMe disks",
        word="nvme",
        other_names=("localnvme", "localnvmedisk", "nvmedisk", "nvmedisks", "localssd"),
        latency_class="local",
        latency_tables=(LatencyTable(name="nvme"),),
        latency_spread=LOCAL_SPREAD,
        needs_premium_io=False,
        colour=3,
    )
)
# Not among the kinds that a volume is looked for in: no data disk lies there.
EPHEMERAL_OS = DiskKind(
    key="ephemeral_os",
    label="ephemeral OS disk",
    word="ephemeral",
    latency_class="local",
    latency_tables=(LatencyTable(name="ephemeral"),),
    latency_spread=LOCAL_SPREAD,
    needs_premium_io=False,
)
TEMP = register(
    DiskKind(
        key="temp",
        label="the temp disk",
        word="temp",
        other_names=("tempdisk", "temporarydisk", "tempstorage", "temporarystorage", "resourcedisk"),
        latency_class="local",
        # AMD: vCPUs, then an a among the features, such as E8as_v4.
        latency_tables=(
            LatencyTable(name="temp-amd", vm_pattern=r"[A-Z]+\d+(?:-\d+)?a"),
            LatencyTable(name="temp"),
        ),
        latency_spread=LOCAL_SPREAD,
        needs_premium_io=False,
        colour=3,
    )
)
