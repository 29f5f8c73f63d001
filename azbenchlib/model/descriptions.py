"""A setup as others describe it: the JSON of ``az vm show`` and ``az disk show``, and manifest rows.

Only what they state; what they leave out comes from the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.notation import with_names
from azbenchlib.model.setup import VM, Cap, Disk, Setup

_PLACEMENTS = {"cachedisk": "cache", "resourcedisk": "temp", "nvmedisk": "nvme"}  # diffDiskSettings


def from_az(vm: Mapping[str, Any] | None, disks: Sequence[Mapping[str, Any]] = ()) -> Setup:
    """The setup that ``az vm show`` and ``az disk show`` print.

    Parameters
    ----------
    vm : mapping, optional
        One VM. None: the disks alone, as data disks.
    disks : sequence of mapping
        Managed disks; those attached to the VM are recognised by name.

    Returns
    -------
    Setup
        With the provisioned IOPS and MB/s of each disk (MB/s is 10⁶; ``az disk show`` tells the base, not
        the burst).

    Raises
    ------
    InputError
        When a VM has no size.

    Notes
    -----
    The spelling of keys changed over the years (``diskIopsReadWrite``, ``diskIOPSReadWrite``; ``diskSizeGb``,
    ``diskSizeGB``), so case does not count; REST's ``properties`` are read like the rest.
    """
    shown = {disk.name: disk for disk in map(_az_disk, disks)}
    if vm is None:
        return Setup(disks=with_names(shown.values()))
    machine = _flat(vm)
    size = _flat(machine.get("hardwareprofile")).get("vmsize")
    if not size:
        raise InputError("the JSON of the VM has no hardwareProfile.vmSize; az vm show prints one")
    storage = _flat(machine.get("storageprofile"))
    attached = [("os", storage["osdisk"])] if storage.get("osdisk") else []
    attached += [("data", disk) for disk in storage.get("datadisks") or ()]
    found = [_attached(role, _flat(disk), shown) for role, disk in attached]
    return Setup(VM(size=str(size)), with_names(found))


def from_rows(setup: Mapping[str, Any], disks: pd.DataFrame) -> Setup:
    """The setup of one row of the table setups with its rows of the table disks.

    Parameters
    ----------
    setup : mapping
        Columns vm_size and as_of; either may be NA.
    disks : DataFrame
        The table disks; rows of other setups must be left out.
    """
    size, as_of = (None if pd.isna(setup.get(name)) else str(setup[name]) for name in ("vm_size", "as_of"))
    rows = map(DiskRow.from_row, schema.records(disks))
    return Setup(VM(size=size), tuple(row.to_disk() for row in rows), as_of)


def stated_setup(tables: Mapping[str, pd.DataFrame], name: str | None) -> Setup:
    """The setup as the dataset describes it; an empty one where it does not."""
    setups = tables["setups"]
    mine = setups[setups["setup_id"] == name] if name is not None else setups[:0]
    if mine.empty:
        return Setup()
    disks = tables["disks"]
    return from_rows(mine.iloc[0].to_dict(), disks[disks["setup_id"] == name])


def _az_disk(shown: Mapping[str, Any]) -> Disk:
    """A managed disk as ``az disk show`` prints it."""
    disk = _flat(shown)
    size = disk.get("disksizebytes") or (disk["disksizegb"] * GIB if disk.get("disksizegb") else None)
    return Disk(
        name=str(disk.get("name", "data")),
        sku=_flat(disk.get("sku")).get("name"),
        tier=disk.get("tier"),
        size_bytes=size,
        cap=_az_cap(disk),
        bursting=True if disk.get("burstingenabled") else None,
        unstated=("caching",),
    )


def _az_cap(disk: Mapping[str, Any]) -> Cap:
    mbps = disk.get("diskmbpsreadwrite")
    return Cap(iops=disk.get("diskiopsreadwrite"), bytes_per_s=mbps * MB if mbps is not None else None)


def _attached(role: str, entry: Mapping[str, Any], shown: Mapping[str, Disk]) -> Disk:
    """A disk of the VM's storage profile, with what ``az disk show`` says of it."""
    local = _flat(entry.get("diffdisksettings"))
    name = str(entry.get("name") or role)
    if local.get("option"):
        placement = _PLACEMENTS.get(str(local.get("placement", "")).lower(), "cache")
        return Disk(name=name, role="ephemeral_os", placement=placement)
    managed = _flat(entry.get("manageddisk"))
    gib = entry.get("disksizegb")
    known = shown.get(name) or Disk(
        name=name,
        sku=managed.get("storageaccounttype"),
        size_bytes=gib * GIB if gib else None,
        cap=_az_cap(entry),
    )
    caching = entry.get("caching")
    unstated = () if caching else ("caching",)
    return replace(known, role=role, caching=caching or "None", unstated=unstated)


def _flat(entry: Any) -> dict[str, Any]:
    """Keys in lower case, with what REST nests in ``properties`` beside the others; {} where it is none."""
    if not isinstance(entry, Mapping):
        return {}
    lower = {str(key).lower(): value for key, value in entry.items()}
    return lower | _flat(lower.pop("properties", None))
