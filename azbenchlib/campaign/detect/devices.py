"""Which devices an Azure VM's disks are, and which whole disks a file system or a device lies on.

Found in ``/dev/disk/azure`` and ``/sys``; ``root`` is the folder that holds ``dev`` and ``sys``.
"""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from azbenchlib.campaign import host
from azbenchlib.core.units import SECTOR_BYTES
from azbenchlib.model.disk_row import stripe_text

# Links to the devices, in order of preference. Source: Azure/azure-vm-utils udev/80-azure-disk.rules@2fdf8dd1
# and doc/disk-identification.md@f6b3854b, which names those of WALinuxAgent (root, scsi1) too.
LINKS = Path("dev/disk/azure")
_BLOCK = Path("sys/class/block")
OS_LINKS = ("os", "root")
DATA_LINKS = ("data/by-lun/{}", "scsi1/lun{}")
LOCAL_MODEL = "Microsoft NVMe Direct Disk"  # the start of it


def local_nvme(root: Path) -> tuple[Path, ...]:
    """Local NVMe disks by the links of azure-vm-utils, else by their model."""
    links = [path for path in (root / LINKS / "local/by-index").glob("*") if path.name.isdecimal()]
    if links:
        ordered = sorted(links, key=lambda link: int(link.name))
        return tuple(root / "dev" / link.resolve().name for link in ordered)
    disks = (path for path in (root / _BLOCK).glob("nvme*") if re.fullmatch(r"nvme\d+n\d+", path.name))
    local = [disk.name for disk in disks if read(disk / "device/model").startswith(LOCAL_MODEL)]
    return tuple(root / "dev" / name for name in sorted(local))


def behind(root: Path, links: Iterable[str]) -> tuple[Path, ...]:
    """The device behind the first link that is there."""
    there = [link for link in (root / LINKS / name for name in links) if link.exists()]
    return tuple(root / "dev" / link.resolve().name for link in there[:1])


def size_bytes(devices: tuple[Path, ...], root: Path) -> int | None:
    """Bytes of the first device; None where there is none."""
    sectors = read(root / _BLOCK / devices[0].name / "size") if devices else ""
    return int(sectors) * SECTOR_BYTES if sectors else None


def devices_of(target: Path, root: Path) -> list[str]:
    """Kernel names of what a target lies on, by its device number: a mount may be said to be of /dev/root."""
    found = target.stat()
    number = found.st_rdev if stat.S_ISBLK(found.st_mode) else found.st_dev
    entry = root / f"sys/dev/block/{os.major(number)}:{os.minor(number)}"
    if entry.exists():
        return [entry.resolve().name]
    source = Path(host.mount_of(target).source).resolve().name
    folders = (root / "sys/fs/btrfs").glob("*/devices")  # Btrfs has no number, and may have several devices
    return next((sorted(p.name for p in at.iterdir()) for at in folders if (at / source).exists()), [])


def wholes(names: Iterable[str], root: Path) -> set[str]:
    """The whole disks at the bottom."""
    found: set[str] = set()
    for name in names:
        below = _below(name, root)
        found |= wholes(below, root) if below else {name}
    return found


def _below(name: str, root: Path) -> list[str]:
    """What a device is made from: the disk of a partition, the members of a RAID or a mapped device."""
    entry = (root / _BLOCK / name).resolve()
    if (entry / "partition").exists():
        return [entry.parent.name]
    return sorted(path.name for path in entry.glob("slaves/*"))


def stripe(name: str, root: Path) -> str | None:
    """How whole disks are striped below a device; None where they are not, or /sys does not tell (LVM)."""
    below = _below(name, root)
    if len(below) == 1:
        return stripe(below[0], root)
    md = root / _BLOCK / name / "md"
    if read(md / "level") != "raid0" or len(wholes(below, root)) != len(below):
        return None
    return stripe_text(int(read(md / "chunk_size")))


def read(path: Path) -> str:
    """A value that the kernel tells; empty where it does not."""
    return path.read_text().strip() if path.is_file() else ""
