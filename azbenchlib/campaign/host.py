"""Describe this machine for the manifest, without its name or its users."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow

SETUP_ID = "this-machine"
DISK = "dir"
MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")

# One line of it: id, parent, major:minor, root, mount point, options, optional fields, -, type, source.
# Source: proc_pid_mountinfo(5).
MOUNTINFO = Path("/proc/self/mountinfo")
SYSFS = Path("/sys/class/block")

# What a kernel name of a block device stands for. Source: Linux Documentation/admin-guide/devices.txt
_KINDS = {
    "vd": "virtio disk",
    "sd": "SCSI disk",
    "nvme": "NVMe disk",
    "xvd": "Xen disk",
    "loop": "loop device",
    "dm-": "device mapper",
    "md": "RAID",
    "nbd": "network block device",
    "zram": "memory",
}


@dataclass(frozen=True)
class Mount:
    """A mounted file system: where, its type, what it is made from."""

    point: Path
    fstype: str
    source: str


def mounts() -> list[Mount]:
    """All mounts that this process sees, in the order they were made."""
    found = []
    for line in MOUNTINFO.read_text().splitlines():
        before, _, after = line.partition(" - ")
        fstype, source = after.split()[:2]
        found.append(Mount(Path(_unescape(before.split()[4])), fstype, _unescape(source)))
    return found


def mount_of(path: Path) -> Mount:
    """The file system that a path lies on; in a chroot, the kernel does not tell that of the root."""
    real = path.resolve()
    root = Mount(Path("/"), "unknown file system", "")
    within = [root, *(mount for mount in mounts() if real.is_relative_to(mount.point))]
    deepest = max(len(mount.point.parts) for mount in within)
    return [mount for mount in within if len(mount.point.parts) == deepest][-1]  # the last one covers others


def answers_from_memory(target: Path) -> bool:
    """Whether memory answers for a directory or a block device.

    Its file system lies in memory, or it is a loop device that reaches its file through the page cache,
    whatever its users ask for.

    Source: losetup(8), ``--direct-io``; the kernel's drivers/block/loop.c shows it as ``loop/dio`` in sysfs.
    """
    device = target.resolve()
    if not target.is_block_device():
        mount = mount_of(target)
        if mount.fstype in MEMORY_FILE_SYSTEMS:
            return True
        device = Path(mount.source)
    loop = _whole(device) / "loop"
    if not loop.is_dir():
        return False
    behind = Path(_read(loop / "backing_file")).parent
    return _read(loop / "dio") != "1" or (behind.is_dir() and answers_from_memory(behind))


def describe(target: Path) -> ManifestSetup:
    """Describe this machine with one disk: the file system of a directory, or a block device.

    Parameters
    ----------
    target : Path
        An existing directory or block device.

    Returns
    -------
    Setup
        Environment ``local``; neither the machine's name nor a user's is in it.
    """
    if target.is_block_device():
        kind = sku = _device(target)
        size = device_bytes(target)
    else:
        mount = mount_of(target)
        kind = mount.fstype
        sku = f"{kind} on {_device(Path(mount.source))}" if mount.source.startswith("/dev/") else kind
        stats = os.statvfs(target)
        size = stats.f_blocks * stats.f_frsize
    return ManifestSetup(
        setup_id=SETUP_ID,
        label=f"This machine, {kind}",
        environment="local",
        ram_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        os=_os_name(),
        kernel=platform.release(),
        disks=[DiskRow(disk=DISK, role="data", sku=sku, size_bytes=size)],
    )


def device_bytes(device: Path) -> int:
    """Size of a block device in bytes."""
    with device.open("rb") as file:
        return file.seek(0, os.SEEK_END)


def _device(device: Path) -> str:
    """``virtio disk /dev/vda1``; with the model where the kernel knows it."""
    real = device.resolve()  # /dev/mapper names may hold the machine's name, /dev/dm-0 does not
    model = _read(_whole(real) / "device" / "model")
    kind = next((text for start, text in _KINDS.items() if real.name.startswith(start)), "block device")
    return f"{kind} {real}" + (f" ({model})" if model else "")


def _whole(device: Path) -> Path:
    """What the kernel tells of a block device, or of the disk that it is a partition of."""
    entry = (SYSFS / device.name).resolve()
    return entry.parent if (entry / "partition").exists() else entry


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def _read(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""


def _unescape(text: str) -> str:
    r"""Undo the kernel's ``\040`` for a space, and so on."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
