"""A setup as Azure describes it: the JSON of ``az vm show`` and ``az disk show``.

Only what they state; what they leave out comes from the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from azbenchlib.azure.documents import AzAttachedDisk, AzDisk, AzVm
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.model.notation import with_names
from azbenchlib.model.setup import PLACEMENT_OF, VM, Cap, Disk, Setup


def from_az(vm: AzVm | Mapping[str, Any] | None, disks: Sequence[AzDisk | Mapping[str, Any]] = ()) -> Setup:
    """Return the setup that ``az vm show`` and ``az disk show`` print.

    Parameters
    ----------
    vm : AzVm or mapping, optional
        One VM. None: the disks alone, as data disks.
    disks : sequence of AzDisk or mapping
        Managed disks; those attached to the VM are recognised by name.

    Returns
    -------
    Setup
        With the provisioned IOPS and MB/s of each disk (MB/s is 10⁶; ``az disk show`` tells the base, not
        the burst).

    Raises
    ------
    InputError
        When a VM has no size, or what is given is of another shape than az prints.
    """
    described = (_managed(AzDisk.parse(disk, "az disk show")) for disk in disks)
    shown = {disk.name: disk for disk in described}
    if vm is None:
        return Setup(disks=with_names(shown.values()))
    machine = AzVm.parse(vm, "az vm show")
    if not machine.hardware.size:
        raise InputError("the JSON of the VM has no hardwareProfile.vmSize; az vm show prints one")
    system = machine.storage.os_disk
    attached = [] if system is None else [_attached("os", system, shown)]
    attached += [_attached("data", disk, shown) for disk in machine.storage.data_disks]
    return Setup(VM(size=machine.hardware.size), with_names(attached))


def _managed(disk: AzDisk) -> Disk:
    """Return a managed disk as ``az disk show`` prints it."""
    return Disk(
        name=disk.name or "data",
        sku=disk.sku.name,
        tier=disk.tier,
        size_bytes=disk.size_bytes or _bytes(disk.size_gib),
        cap=_cap(disk),
        bursting=True if disk.bursting else None,
        unstated=("caching",),
    )


def _bytes(gib: int | None) -> int | None:
    return gib * GIB if gib else None


def _cap(disk: AzDisk | AzAttachedDisk) -> Cap:
    return Cap(iops=disk.iops, bytes_per_s=None if disk.mbps is None else disk.mbps * MB)


def _attached(role: str, entry: AzAttachedDisk, shown: Mapping[str, Disk]) -> Disk:
    """Return a disk of the VM's storage profile, with what ``az disk show`` says of it."""
    name = entry.name or role
    if entry.local.option:
        placement = PLACEMENT_OF.get(entry.local.placement.lower(), "cache")
        return Disk(name=name, role="ephemeral_os", placement=placement)
    known = shown.get(name) or Disk(
        name=name, sku=entry.managed.sku, size_bytes=_bytes(entry.size_gib), cap=_cap(entry)
    )
    unstated = () if entry.caching else ("caching",)
    return replace(known, role=role, caching=entry.caching or "None", unstated=unstated)
