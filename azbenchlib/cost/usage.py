"""What Azure counts for a setup: meters and quantities, before any price.

:mod:`azbenchlib.cost.bill` puts prices to it. Sources of the rules: azure-compute-docs
articles/virtual-machines/disks-understand-billing.md and disks-types.md@18c531ec (2026-08-11).
Not counted: shared disks' mounts, confidential encryption, instant-access snapshots, the network, licences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.catalog.rows import TierRow
from azbenchlib.azure.disk_kinds import Billing, DiskKind
from azbenchlib.azure.prices.rows import PAYG, Meter
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, TIB, format_count, format_mbps, format_size
from azbenchlib.cost.operations import BURST_UNIT, HDD_CAPS, HDD_UNIT_BYTES, Burst, burst_units, transactions
from azbenchlib.cost.payments import payment_doubts, reservable, vm_meters
from azbenchlib.model.setup import ON_DEMAND_ABOVE_BYTES, Disk, Setup

# Below 4 TiB the highest performance tier is P50. Source: disks-change-performance.md.
HIGHEST_TIER_BYTES = 4 * TIB
# One Ultra Disk size after another, each billed at the next, until 1 GiB steps came (on an unknown day
# between 2025-01-21 and 2026-08-11). Source: disks-types.md of 2024-08-12 and 2025-01-21.
ULTRA_SIZES_UNTIL = "2026-08-11"
VCPU_FEE = "Ultra LRS Reservation per vCPU Provisioned"  # of VMs that are made ready for Ultra Disks


class Charge(NamedTuple):
    """So much of one meter.

    Parameters
    ----------
    meter : Meter
    quantity : Decimal
        Of things that are there all the time (disks, GiB, IOPS, MB/s, VMs), or of operations in the whole
        period.
    what : str
        Whose it is: a disk's name, or the VM's size.
    """

    meter: Meter
    quantity: Decimal
    what: str


@dataclass(frozen=True, kw_only=True)
class Use:
    """How the setup is paid for and used.

    Parameters
    ----------
    pay : str
        Of the VM: one of `azbenchlib.azure.prices.rows.PAYMENTS`.
    disk_pay : {"Consumption", "Reservation1Y"}
        Of the disks that can be reserved; others are paid as they go.
    os : {"linux", "windows", "windows-hybrid"}
        Of the VM; with Azure Hybrid Benefit Windows costs what Linux does.
    vm_hours : Decimal, optional
        How many hours of the period the VM runs, and its disks do I/O. None: all.
    vcpus : int, optional
        Of the VM; of a constrained size (E32-8s_v3) the full ones, 32.
    ultra_enabled : bool
        Whether the VM is made ready for Ultra Disks: a fee a vCPU as long as none is attached.
    ios_per_s : float, optional
        I/Os of each Standard disk, on average over the period. None: their transactions are not counted.
    bs_bytes : int
        Size of these I/Os.
    transaction_cap : int, optional
        Most transactions of a Standard SSD that are billed in an hour. None: none is known.
    bursts : tuple of Burst
        Of each disk that bursts on demand, in the whole period.
    snapshot_bytes : float
        Used size of all snapshots together.
    snapshot_sku : str
        Standard_LRS, Standard_ZRS, Premium_LRS and so on.
    """

    pay: str = PAYG
    disk_pay: str = PAYG
    os: str = "linux"
    vm_hours: Decimal | None = None
    vcpus: int | None = None
    ultra_enabled: bool = False
    ios_per_s: float | None = None
    bs_bytes: int = 4 * KIB
    transaction_cap: int | None = None
    bursts: tuple[Burst, ...] = ()
    snapshot_bytes: float = 0.0
    snapshot_sku: str = "Standard_LRS"


def charges(setup: Setup, region: str, hours: Decimal, use: Use | None = None) -> list[Charge]:
    """What Azure counts for a setup in a period.

    Parameters
    ----------
    setup : Setup
        With the numbers of the catalogue: tiers, sizes, provisioned IOPS and bytes per second.
    region : str
        Such as westeurope.
    hours : Decimal
        The period.
    use : Use, optional

    Returns
    -------
    list of Charge
        The VM first. Local disks (temp, NVMe, ephemeral OS) cost nothing of their own.

    Raises
    ------
    InputError
        For a disk that cannot be billed as it is described.
    """
    used = use or Use()
    found = _vm(setup, used)
    for disk in setup.disks:
        if not disk.local:
            found += _disk(disk, setup, region, hours, used)
    if used.snapshot_bytes:
        _, billing, redundancy = _billing(used.snapshot_sku, "snapshot")
        meter = Meter(billing.product, f"{billing.snapshots}{redundancy} Snapshots")
        found.append(Charge(meter, _gib(used.snapshot_bytes), "snapshots"))
    return found


def doubts(setup: Setup, use: Use | None = None) -> list[str]:
    """What the charges leave out or may overstate, in sentences."""
    used, said = use or Use(), []
    for disk in setup.disks:
        if "cap" in disk.unstated:
            rate = (
                f"{format_count(disk.cap.iops or 0)} IOPS and {format_mbps(disk.cap.bytes_per_s or 0)} MB/s"
            )
            said.append(f"{disk.name} is priced with {rate}: what it is provisioned with is not stated")
    standard = [disk for disk in setup.disks if _operations_tier(disk)]
    if standard and used.ios_per_s is None:
        said.append(f"transactions of {_names(standard)} are not counted: the I/Os per second are not given")
    said += payment_doubts(setup, used.pay, used.disk_pay)
    ssd = [disk for disk in standard if disk.kind and capped(disk.kind)]
    if ssd and used.ios_per_s and used.transaction_cap is None:
        said.append(
            f"Azure bills the transactions of {_names(ssd)} up to a cap an hour that is not known here: "
            "this is the most"
        )
    plain = [disk for disk in standard if disk.kind is disk_kinds.STANDARD_HDD and disk.tier not in HDD_CAPS]
    if plain and used.ios_per_s and used.bs_bytes > HDD_UNIT_BYTES:
        said.append(
            f"transactions of {_names(plain)} may be billed otherwise: they are counted as I/Os (Azure "
            "Storage Blog, 2026-03-10), and the page of disk types of 2026-08-11 counts units of "
            f"{format_size(HDD_UNIT_BYTES)}, up to a cap an hour that it does not print"
        )
    bursting = [disk for disk in setup.disks if disk.bursts_on_demand]
    if bursting and not used.bursts:
        said.append(f"burst transactions of {_names(bursting)} are not counted: no burst is given")
    return said


def check_bursts(setup: Setup, given: bool) -> None:
    """Refuse bursting on demand where Azure has none, and bursts that no disk can take.

    Parameters
    ----------
    setup : Setup
    given : bool
        Whether bursts are given.

    Raises
    ------
    InputError
        With the disk and the rule.
    """
    for disk in setup.disks:
        if disk.bursting is True and not disk.bursts_on_demand and not disk.local:
            above = format_size(ON_DEMAND_ABOVE_BYTES)
            raise InputError(
                f"disk '{disk.name}': on-demand bursting is for Premium SSD above {above}; smaller ones "
                "burst on credits, free of charge: leave out :burst"
            )
    if given and not any(disk.bursts_on_demand for disk in setup.disks):
        raise InputError("--burst is billed of disks that burst on demand, and none does: write P30:burst")


def ultra_vcpus(setup: Setup, use: Use) -> int:
    """The full vCPUs for which Ultra Disk's reservation is paid: while no Ultra Disk is attached."""
    attached = any(disk.kind is disk_kinds.ULTRA for disk in setup.disks)
    if not use.ultra_enabled or attached:
        return 0
    if use.vcpus is None:
        raise InputError(
            f"the vCPUs of {setup.vm.size or 'the VM'} are not known; its Ultra Disk fee is by the vCPU"
        )
    return use.vcpus


def check_tier(disk: Disk, named: TierRow, by_size: TierRow) -> None:
    """Refuse a tier that a disk of this size cannot have.

    Parameters
    ----------
    disk : Disk
    named : TierRow
        The tier that it is said to have: it is what is billed.
    by_size : TierRow
        The smallest tier of its SKU that holds it.
    """
    if named.size_bytes == by_size.size_bytes:
        return
    size = format_size(disk.size_bytes or 0)
    if named.size_bytes < by_size.size_bytes:
        raise InputError(
            f"disk '{disk.name}': {size} do not fit in a {named.name}; it takes a {by_size.name}"
        )
    if not any(kind.sku == named.sku and kind.performance_tiers for kind in disk_kinds.kinds()):
        having = " and ".join(kind.label for kind in disk_kinds.kinds() if kind.performance_tiers)
        raise InputError(
            f"disk '{disk.name}': a {named.sku} disk of {size} has the tier {by_size.name}; "
            f"only {having} has performance tiers"
        )
    if by_size.size_bytes <= HIGHEST_TIER_BYTES < named.size_bytes:
        raise InputError(
            f"disk '{disk.name}': a disk of {size} can have the performance tiers {by_size.name} to P50, "
            f"not {named.name}"
        )


def _vm(setup: Setup, use: Use) -> list[Charge]:
    size = setup.vm.size
    if size is None:
        return []
    found = [Charge(meter, Decimal(1), size) for meter in vm_meters(size, use.pay, use.os)]
    if vcpus := ultra_vcpus(setup, use):
        meter = Meter(disk_kinds.ULTRA.product, VCPU_FEE)
        found.append(Charge(meter, Decimal(vcpus), size))
    return found


def _disk(disk: Disk, setup: Setup, region: str, hours: Decimal, use: Use) -> list[Charge]:
    kind, billing, redundancy = _billing(disk.sku, disk.name)
    if kind.tiered:
        return _tiered(disk, billing, redundancy, region, hours, use)
    size = disk.size_bytes
    if size is None:
        raise InputError(f"disk '{disk.name}': an {kind.sku} needs a size to be billed, such as 128GiB")
    if kind is disk_kinds.ULTRA:
        size = ultra_size(size, setup.as_of)
    iops = max(0, (disk.cap.iops or 0) - billing.free_iops)
    rate = max(0, (disk.cap.bytes_per_s or 0) - billing.free_bytes_per_s)
    name = f"{billing.meters} {redundancy}"
    counted = (
        ("Capacity", _gib(size)),
        ("IOPS", Decimal(str(iops))),
        ("Throughput (MBps)", Decimal(str(rate)) / MB),
    )
    return [
        Charge(Meter(billing.product, f"{name} Provisioned {meter}"), quantity * disk.count, disk.name)
        for meter, quantity in counted
        if quantity
    ]


def ultra_size(size_bytes: float, as_of: str | None) -> float:
    """Billed bytes of an Ultra Disk on a day: as provisioned, of old the next of the fixed sizes."""
    if as_of is None or as_of >= ULTRA_SIZES_UNTIL:
        return size_bytes
    gib = math.ceil(size_bytes / GIB)
    fixed = max(4, 2 ** math.ceil(math.log2(gib)))
    return (fixed if gib <= KIB else math.ceil(gib / KIB) * KIB) * GIB


def _tiered(
    disk: Disk, billing: Billing, redundancy: str, region: str, hours: Decimal, use: Use
) -> list[Charge]:
    if disk.tier is None:
        raise InputError(f"disk '{disk.name}': give its tier, such as P30, or its size")
    product, each = billing.product, Decimal(disk.count)
    paid = use.disk_pay if reservable(disk) else PAYG
    found = [Charge(Meter(product, f"{disk.tier} {redundancy} Disk", paid), each, disk.name)]
    if billing.operations_tier and use.ios_per_s:
        meter = Meter(product, f"{billing.operations_tier} {redundancy} Disk Operations")
        an_hour = transactions(disk.tier, region, use.ios_per_s, use.bs_bytes, use.transaction_cap)
        found.append(Charge(meter, an_hour * (use.vm_hours or hours) * each, disk.name))
    if disk.bursts_on_demand:
        found.append(Charge(Meter(product, f"{redundancy} Burst Enablement"), each, disk.name))
        if packs := burst_units(use.bursts, disk.cap.iops or 0, disk.cap.bytes_per_s or 0):
            meter = Meter(product, f"{redundancy} Burst Transactions")
            found.append(Charge(meter, packs * BURST_UNIT * each, disk.name))
    return found


def _operations_tier(disk: Disk) -> str | None:
    billing = disk.kind.billing if disk.kind else None
    return billing.operations_tier if billing else None


def capped(kind: DiskKind) -> bool:
    """Whether Azure bills its transactions up to a cap that is not documented."""
    return kind.billing is not None and kind.billing.operations_unit_bytes is not None


def _billing(sku: str | None, name: str) -> tuple[DiskKind, Billing, str]:
    """Kind, its meters, and the redundancy as these spell it."""
    kind, redundancy = disk_kinds.of_sku(sku), (sku or "").partition("_")[2]
    if kind is None or kind.billing is None or redundancy not in ("LRS", "ZRS"):
        choices = ", ".join(f"{kind.sku}_LRS" for kind in disk_kinds.managed())
        raise InputError(
            f"'{name}': the SKU '{sku}' has no known meters; it is one of {choices} or the same with ZRS"
        )
    return kind, kind.billing, redundancy


def _gib(size_bytes: float) -> Decimal:
    return Decimal(str(size_bytes)) / GIB


def _names(disks: Sequence[Disk]) -> str:
    return ", ".join(disk.name for disk in disks)
