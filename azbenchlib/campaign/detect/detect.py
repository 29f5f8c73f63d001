"""What this Azure VM is: its size, region and zone, its disks, and which device each disk is.

The instance metadata service tells what Azure knows, ``/dev/disk/azure`` and ``/sys`` which devices the
disks are. Names of the VM, its group and its disks are not kept, nor is any identifier.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from azbenchlib.azure import catalog
from azbenchlib.azure.documents import ImdsCompute, ImdsDisk
from azbenchlib.campaign import host
from azbenchlib.campaign.detect import devices
from azbenchlib.campaign.files.disk_spec import PROVISIONED
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow

ROOT = Path("/")
DATA_NAME = "data-{}"  # of a data disk, by its LUN
# Only Azure's machines bear it; a Hyper-V machine elsewhere has the same vendor.
# Source: canonical/cloud-init cloudinit/sources/azure/identity.py, ChassisAssetTag.
ASSET_TAG = "7783-7084-3265-9085-8269-3286-77"


@dataclass(frozen=True)
class Detected:
    """An Azure VM, and the devices of each of its disks by the disk's name; empty where none was found."""

    setup: ManifestSetup
    devices: Mapping[str, tuple[Path, ...]]


def detect(root: Path = ROOT, address: str = "") -> Detected | None:
    """Say which Azure VM this machine is; None, without any connection, where it is not one.

    Parameters
    ----------
    root : Path
        The folder that holds ``dev`` and ``sys``.
    address : str
        Of a metadata service to ask whatever the machine says of itself; else that of the environment
        variable ``AZBENCH_IMDS``; else Azure's own, on a machine with Azure's asset tag.

    Returns
    -------
    Detected or None
        None too where no metadata service answers. Disks are called ``os``, ``temp``, ``nvme`` and
        ``data-LUN``. The tier is that of the size: the service does not tell of a higher one that was
        chosen, of on-demand bursting, or what was bought of a Premium SSD v2.

    Raises
    ------
    InputError
        When the address is none, or what answers is not the metadata service of a VM.
    """
    address = address or os.environ.get(devices.IMDS_VARIABLE, "")
    if not address and devices.read(root / "sys/class/dmi/id/chassis_asset_tag") != ASSET_TAG:
        return None
    told = devices.metadata(address or devices.ADDRESS)
    return None if told is None else _detected(told, root)


def describe(target: Path, root: Path = ROOT, address: str = "") -> ManifestSetup:
    """Describe this machine with what a measurement on a target drives; neither names nor users are in it.

    Parameters
    ----------
    target : Path
        An existing directory or block device.
    root, address
        As for :func:`detect`.

    Returns
    -------
    Setup
        On an Azure VM the VM with the disks that the target lies on; where those cannot be told, with the
        file system or device as :func:`machine.describe` sees it, as anywhere else.
    """
    here = host.describe(target)
    found = detect(root, address)
    if found is None:
        return here
    return found.setup.model_copy(update={"disks": driven(found, target, root) or here.disks})


def driven(found: Detected, target: Path, root: Path = ROOT) -> list[DiskRow]:
    """The disks that a directory or a block device lies on, as rows of the table disks.

    Followed through partitions, device mapper (LVM, encryption) and RAID. Equal disks in a RAID 0 are one row
    with their count and the stripe; in any other union each disk has its row. Empty where a device below the
    target is none of the VM's disks, or unknown.
    """
    names = devices.devices_of(target, root)
    wholes = devices.wholes(names, root)
    rows, known = [], 0
    for row in found.setup.disks:
        count = sum(device.name in wholes for device in found.devices[row.disk])
        known += count
        if count:
            rows.append(replace(row, count=count))
    if known < len(wholes):
        return []
    stripe = devices.stripe(names[0], root) if len(names) == 1 else None
    return _striped(rows, stripe) if stripe else rows


def tier_name(sku: str | None, size: int | None, as_of: str) -> str | None:
    """Say the tier of a size; none for Ultra and Premium v2, or a SKU that the catalogue does not know."""
    try:
        return catalog.tier_for(sku, size, as_of).name if sku and size else None
    except InputError:
        return None


def _detected(told: ImdsCompute, root: Path) -> Detected:
    as_of = datetime.now(UTC).date().isoformat()
    disks = [*_managed(told, as_of, root), *_local(told, root)]
    here = host.describe(ROOT)  # memory, system and kernel
    setup = here.model_copy(
        update={
            "label": None,
            "environment": "azure",
            "region": told.location,
            "zone": told.zone,
            "vm_size": told.size,
            "as_of": as_of,
            "disks": [row for row, _ in disks],
        }
    )
    return Detected(setup, {row.disk: behind for row, behind in disks})


_Found = tuple[DiskRow, tuple[Path, ...]]  # with its devices


def _managed(told: ImdsCompute, as_of: str, root: Path) -> list[_Found]:
    """The OS disk and the data disks."""
    found: list[_Found] = []
    if system := told.storage.os_disk:
        row = _row("os", "os", system, as_of)
        if system.local.option:
            row = replace(row, role="ephemeral_os", sku=None, tier=None)  # on the host, not in Azure Storage
        found.append((row, devices.behind(root, devices.OS_LINKS)))
    for disk in told.storage.data_disks:
        row = replace(_row(DATA_NAME.format(disk.lun), "data", disk, as_of), lun=disk.lun)
        found.append((row, devices.behind(root, [link.format(disk.lun) for link in devices.DATA_LINKS])))
    return found


def _row(name: str, role: str, told: ImdsDisk, as_of: str) -> DiskRow:
    sku, size = told.managed.sku, (told.size_gib or 0) * GIB or None
    return DiskRow(
        disk=name,
        role=role,
        sku=sku,
        tier=tier_name(sku, size, as_of),
        size_bytes=size,
        host_caching=told.caching,
        provisioned_iops=told.iops_throttle or None,
        provisioned_bytes_per_s=told.bytes_throttle or None,
    )


def _local(told: ImdsCompute, root: Path) -> list[_Found]:
    """The temp disk and the local NVMe disks, with the size of each that the kernel tells.

    The service's ``resourceDisk.size`` says no more than that there is a temp disk: documented in kB,
    published answers have 16384 of a D2s_v3 with 16 GiB and 34816 of a B1ls with 4 GiB. Where there are
    links, they say it.
    """
    temp, nvme = devices.behind(root, ["resource"]), devices.local_nvme(root)
    size = told.storage.resource_disk.size
    found: list[_Found] = []
    if temp or (size and not (root / devices.LINKS).is_dir()):
        row = DiskRow(disk="temp", role="temp", size_bytes=devices.size_bytes(temp, root))
        found.append((row, temp))
    if nvme:
        each = devices.size_bytes(nvme, root)
        found.append((DiskRow(disk="nvme", role="nvme", size_bytes=each, count=len(nvme)), nvme))
    return found


def _striped(rows: list[DiskRow], stripe: str) -> list[DiskRow]:
    """Equal disks as one row with their number."""
    name = rows[0].disk if len(rows) == 1 else "stripe"
    total = sum(row.count or 1 for row in rows)
    kinds = {replace(row, disk=name, lun=None, count=total, stripe=stripe) for row in rows}
    return list(kinds) if len(kinds) == 1 else [replace(row, stripe=stripe) for row in rows]


# What a measurement file says of each role; the others come with the VM as they are.
_KEYS = {"data": ("sku", "size", "iops", "mbps", "caching"), "os": ("sku", "size", "caching")}
_INTRODUCTION = """\
# This VM as its metadata service describes it. It does not tell of a performance tier above that of the
# size, nor of the IOPS and MB/s of a Premium SSD v2: add what applies. The workload is an example; all keys
# are in docs/measurement-file.md.
"""
_EXAMPLE = {"randread-4k": {"rw": "randread", "bs": "4k", "iodepth": 32, "size": "4g", "runtime": 60}}


def measurement_file(found: Detected) -> str:
    """The text of the file, with an example of a workload."""
    machine = found.setup
    head = {
        "title": f"Disks of a {machine.vm_size}",
        "region": machine.region,
        **({"zone": machine.zone} if machine.zone else {}),
        "vm": machine.vm_size,
        "disks": {row.disk: disk_entry(row) for row in machine.disks},
        "workloads": _EXAMPLE,
    }
    return _INTRODUCTION + yaml.safe_dump(head, sort_keys=False)


def disk_entry(row: DiskRow) -> dict[str, Any]:
    """A disk as :class:`azbenchlib.campaign.files.disk_spec.DiskSpec` takes it."""
    bought = row.sku in PROVISIONED  # of the others, Azure tells the limits of the tier
    values = {
        "sku": row.sku,
        "size": row.size_bytes and f"{row.size_bytes // GIB}GiB",
        "iops": row.provisioned_iops if bought else None,
        "mbps": round((row.provisioned_bytes_per_s or 0) / MB) or None if bought else None,
        "caching": None if bought else row.host_caching,  # they have none to choose
    }
    known = {key: values[key] for key in _KEYS.get(row.role or "", ()) if values[key] is not None}
    count = {"count": row.count} if (row.count or 1) > 1 else {}
    return {"role": row.role, **known, **count}
