"""Names to numbers: a setup that names its VM size and disk tiers, filled in from the catalogue.

What the setup states itself stands. A VM of which any number is stated takes none from the catalogue;
a disk takes what it does not state (``az disk show`` tells the base limits, not the burst).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import BurstDocumented, Limit, ProvisionedRules, TierRow, VmRow
from azbenchlib.core.errors import InputError
from azbenchlib.model import host_caching, rules
from azbenchlib.model.limits import TIE_REL
from azbenchlib.model.setup import NO_CAP, VM, BurstKind, Cap, Disk, Setup


def resolve(setup: Setup, as_of: str, open_figures: bool = False) -> Setup:
    """The setup with the limits of its VM size and its disks, if Azure accepts it.

    Parameters
    ----------
    setup : Setup
        As a notation, JSON or a manifest describes it.
    as_of : str
        ISO day whose limits apply, where the setup itself has none.
    open_figures : bool
        Whether a provisioned disk whose IOPS and MB/s are not stated stays one whose limits are not known;
        else it has those that its size includes, and is refused where none are.

    Returns
    -------
    Setup

    Raises
    ------
    InputError
        For a size or tier that the catalogue does not know (with the nearest names), a disk whose limits
        cannot be known, or what Azure refuses (with the rule and its source).
    """
    day = setup.as_of or as_of
    vm = setup.vm
    if vm.size and not vm.stated:
        row = catalog.vm(vm.size, day)
        _check_local(setup, row)
        host_caching.check(setup, row)
        vm = vm_of(row)
    provisioned = {sku: catalog.provisioned_rules(sku, day) for sku in _provisioned_skus(setup)}
    disks = tuple(_disk(disk, day, provisioned, open_figures) for disk in setup.disks)
    full = Setup(vm, disks, day)
    return rules.check(full, provisioned)


def known_parts(setup: Setup, as_of: str) -> tuple[Setup, tuple[str, ...]]:
    """The setup with the limits that the catalogue has, part by part: what is not known of one part costs no
    other.

    Parameters
    ----------
    setup : Setup
    as_of : str
        ISO day whose limits apply, where the setup itself has none.

    Returns
    -------
    (Setup, tuple of str)
        A disk whose limits are not known has ``cap`` among what is `unstated` of it. Beside it what is not
        known, or what Azure would refuse, in sentences.
    """
    day = setup.as_of or as_of
    vm, lacking = _known_vm(setup, day)
    disks = []
    for disk in setup.disks:
        full, why = _known_disk(disk, day)
        disks.append(full)
        lacking += why
    known = Setup(vm, tuple(disks), day)
    try:
        rules.check_count(known)
    except InputError as error:
        lacking.append(str(error))
    return known, tuple(lacking)


def differ(figure: float, other: float) -> bool:
    """Whether two figures are more than one figure in decimal and in binary units."""
    return abs(math.log(figure / other)) > math.log(1 + TIE_REL)


def unknown_figures(setup: Setup) -> list[str]:
    """A sentence for each disk whose limits are open, with what would have to be stated."""
    return [
        f"disk '{disk.name}': its provisioned IOPS and MB/s are not stated"
        if disk.provisioned
        else f"disk '{disk.name}': neither its tier nor its size is stated"
        for disk in setup.disks
        if "cap" in disk.unstated
    ]


def _known_vm(setup: Setup, day: str) -> tuple[VM, list[str]]:
    """The VM with its limits, as far as the catalogue has them."""
    vm = setup.vm
    if not vm.size or vm.stated:
        return vm, []
    try:
        row = catalog.vm(vm.size, day)
    except InputError as error:
        return vm, [str(error)]
    full = vm_of(row)
    try:
        _check_local(setup, row)
    except InputError as error:
        return replace(full, cached=NO_CAP) if _lacks_temp(setup, row) else full, [str(error)]
    return full, []


def _known_disk(disk: Disk, day: str) -> tuple[Disk, list[str]]:
    """A disk with its limits, and what is not known of them or refused by Azure."""
    lacking = []
    try:
        rules.check_caching(disk)
    except InputError as error:
        disk, lacking = replace(disk, caching="None"), [str(error)]
    try:
        skus = [disk.sku] if disk.provisioned and disk.sku else []
        provisioned = {sku: catalog.provisioned_rules(sku, day) for sku in skus}
        disk = _disk(disk, day, provisioned, open_figures=True)
        rules.check_disk(disk, provisioned)
    except InputError as error:
        lacking.append(str(error))
    if _figures_open(disk):
        disk = replace(_open(disk), tier_caps=_tier_caps(disk, day))
        lacking += [] if lacking else unknown_figures(Setup(disks=(disk,)))
    return disk, lacking


def _figures_open(disk: Disk) -> bool:
    """Whether a disk has documented limits, or provisioned ones, that nothing states."""
    if disk.local or not disk.in_azure or (disk.sku and disk.kind is None):
        return False
    whole = disk.cap.iops is not None and disk.cap.bytes_per_s is not None
    return not (whole if disk.provisioned else disk.cap)


def _open(disk: Disk) -> Disk:
    return replace(disk, unstated=tuple(dict.fromkeys((*disk.unstated, "cap"))))


def _tier_caps(disk: Disk, day: str) -> tuple[tuple[str, Cap], ...]:
    """The limits of every tier that a disk may have, by what is stated of its kind."""
    if disk.kind is None or not disk.kind.tiered:
        return ()
    rows = [row for row in catalog.disk_tiers(day) if row.sku == disk.kind.sku]
    return tuple((row.name, tier_cap(row, disk.bursting is True)) for row in rows)


def statements(size: str, as_of: str) -> list[Limit]:
    """What the catalogue states of a VM size on a day, each with its source: the best of every name."""
    row = catalog.vm(size, as_of)
    found = (row.best(name) for name in catalog.LIMITS)
    return [limit for limit in found if limit is not None]


def vm_of(row: VmRow) -> VM:
    """The limits of a catalogue row on its day; those of the SCSI interface, where a size offers both."""
    stated = {name: limit.value for name, limit in row.in_force.items()}
    count = stated.get("nvme_count")
    return VM(
        size=row.size,
        uncached=_uncached(row, "uncached"),
        uncached_v2=_uncached(row, "uncached_v2"),
        cached=NO_CAP if row.caching is False else _cached(row),
        temp=_cap(stated, "temp"),
        has_temp=_has_temp(row),
        nvme=_nvme(stated),
        nvme_count=int(count) if count else None,
        cache_bytes=stated.get("cache_bytes"),
        max_data_disks=row.max_data_disks,
    )


def over_nvme(vm: VM, row: VmRow) -> VM:
    """The VM with the uncached limits of its NVMe interface, as far as they are documented apart."""

    def cap(path: str, scsi: Cap) -> Cap:
        kinds = [f"{kind}{quantity}" for kind in ("", "burst_") for quantity in ("iops", "bytes_per_s")]
        stated = {name: row.best(f"{path}_{name}{catalog.OVER_NVME}") for name in kinds}
        values: dict[str, Any] = {name: limit.value for name, limit in stated.items() if limit is not None}
        return replace(scsi, **values, other_figures=()) if values else scsi

    v2 = cap("uncached_v2", vm.uncached_v2)
    return replace(vm, uncached=cap("uncached", vm.uncached), uncached_v2=v2)


def _check_local(setup: Setup, row: VmRow) -> None:
    """Refuse a temp disk or local NVMe on a size that has none, as far as the catalogue knows."""
    if _lacks_temp(setup, row):
        local = "; it has local NVMe disks: nvme" if row.best("nvme_count") else ""
        raise InputError(f"{row.size} has no temp disk on {row.as_of} as far as the catalogue knows{local}")
    has_nvme = any(name.startswith("nvme_") for name in row.in_force)
    if any(disk.place == "nvme" for disk in setup.disks) and not has_nvme:
        local = "; it has a temp disk: temp" if _has_temp(row) else ""
        raise InputError(f"{row.size} has no local NVMe on {row.as_of} as far as the catalogue knows{local}")


def _lacks_temp(setup: Setup, row: VmRow) -> bool:
    """Whether a temp disk is stated of a size that has none."""
    return any(disk.place == "temp" for disk in setup.disks) and not _has_temp(row)


def _has_temp(row: VmRow) -> bool:
    return any(row.best(name) for name in ("temp_bytes", "temp_iops", "temp_bytes_per_s"))


def _cap(stated: Mapping[str, float], path: str) -> Cap:
    values = [stated.get(name) for name in _cap_names(path)]
    if values.count(None) == len(values):
        return NO_CAP
    cap = Cap.of(*values)
    return replace(cap, burst_kind=BurstKind.VM_CREDITS) if cap.burst_iops or cap.burst_bytes_per_s else cap


def _uncached(row: VmRow, path: str) -> Cap:
    """The limits to managed disks, with what is not known of their burst, and all figures in print."""
    cap = _cap({name: limit.value for name, limit in row.in_force.items()}, path)
    if cap and row.burst == BurstDocumented.NOT_KNOWN:
        cap = replace(cap, burst_kind=BurstKind.NOT_KNOWN)
    return replace(cap, other_figures=_others(row, path))


def _cached(row: VmRow) -> Cap:
    cap = _cap({name: limit.value for name, limit in row.in_force.items()}, "cached")
    return replace(cap, other_figures=_others(row, "cached"))


def _others(row: VmRow, path: str) -> tuple[tuple[str, float], ...]:
    """The figures of a path that are in print beside those that count, and differ by more than rounding."""
    found = []
    for name, field in zip(_cap_names(path), Cap.names(), strict=True):
        figures = [float(limit.value) for limit in row.figures(name)]
        found += [(field, other) for other in figures[1:] if differ(other, figures[0])]
    return tuple(found)


@cache
def _cap_names(path: str) -> tuple[str, ...]:
    kinds = ("", "burst_", "write_")
    return tuple(f"{path}_{kind}{quantity}" for kind in kinds for quantity in ("iops", "bytes_per_s"))


def _nvme(stated: Mapping[str, float]) -> Cap:
    """Reads and writes are documented each alone: what is stated of reads does not limit writes."""
    names = ("nvme_read_iops", "nvme_read_bytes_per_s", "nvme_write_iops", "nvme_write_bytes_per_s")
    iops, rate, write_iops, write_rate = (stated.get(name) for name in names)
    return Cap(
        iops=iops,
        bytes_per_s=rate,
        write_iops=write_iops or math.inf,
        write_bytes_per_s=write_rate or math.inf,
    )


def _provisioned_skus(setup: Setup) -> list[str]:
    return sorted({disk.sku for disk in setup.disks if disk.provisioned and disk.sku})


def _disk(disk: Disk, day: str, provisioned: dict[str, ProvisionedRules], open_figures: bool) -> Disk:
    if disk.local or not disk.in_azure:
        return disk
    if disk.provisioned and disk.sku:
        return (
            _open(disk) if open_figures and _figures_open(disk) else _provisioned(disk, provisioned[disk.sku])
        )
    if disk.tier:
        return _tiered(disk, catalog.disk_tier(disk.tier, day))
    if disk.sku and disk.size_bytes:
        return _tiered(disk, catalog.tier_for(disk.sku, int(disk.size_bytes), day))
    if disk.cap.iops or disk.cap.bytes_per_s:
        return disk
    raise InputError(f"disk '{disk.name}': give a tier, such as P30, or a SKU with a size")


def tier_cap(row: TierRow, on_demand: bool) -> Cap:
    """The limits of a disk of a tier: with on-demand bursting, where it was switched on and the tier has it,
    else with credits.
    """
    if on_demand and row.on_demand_burst_iops is not None:
        burst = row.on_demand_burst_iops, row.on_demand_burst_bytes_per_s
        return replace(Cap.of(row.iops, row.bytes_per_s, *burst), burst_kind=BurstKind.ON_DEMAND)
    return Cap.of(row.iops, row.bytes_per_s, row.burst_iops, row.burst_bytes_per_s)


def _tiered(disk: Disk, row: TierRow) -> Disk:
    """A disk of fixed tiers: what it states itself, and the rest of its tier."""
    named = replace(
        disk, tier=row.name, sku=disk.sku or f"{row.sku}_LRS", size_bytes=disk.size_bytes or row.size_bytes
    )
    stated: dict[str, Any] = {
        name: value for name in Cap.names() if (value := getattr(disk.cap, name)) is not None
    }
    cap, on_demand = (replace(tier_cap(row, on), **stated) for on in (named.bursts_on_demand, True))
    is_open = disk.bursting is None and replace(named, bursting=True).bursts_on_demand
    return replace(named, cap=cap, on_demand_cap=on_demand if is_open and on_demand != cap else NO_CAP)


def _provisioned(disk: Disk, of_day: ProvisionedRules) -> Disk:
    """An Ultra Disk or a Premium SSD v2; the latter has a baseline that need not be stated."""
    iops = disk.cap.iops or of_day.baseline_iops
    rate = disk.cap.bytes_per_s or of_day.baseline_bytes_per_s
    if iops and rate:
        full = replace(disk, cap=replace(disk.cap, iops=iops, bytes_per_s=rate))
        return full if full.cap == disk.cap else _open(full)
    if not iops:
        between = (
            f"IOPS between {_between(rules.iops_range(of_day, disk.size_bytes))}"
            if disk.size_bytes
            else "IOPS"
        )
        raise InputError(f"disk '{disk.name}': an {disk.sku} needs {between}, such as 10000iops")
    allowed = rules.bytes_per_s_range(of_day, iops)
    between = f"{rules.mbps_text(allowed.low)} and {rules.mbps_text(allowed.high)}"
    raise InputError(
        f"disk '{disk.name}': with {iops:,.0f} IOPS it needs MB/s between {between}, such as 50MBps"
    )


def _between(allowed: rules.Range) -> str:
    return f"{allowed.low:,.0f} and {allowed.high:,.0f}"
