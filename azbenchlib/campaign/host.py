"""Describe this machine for the manifest, without its name or its users."""

import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Self

from azbenchlib.core.units import KIB
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow

SETUP_ID = "this-machine"
DISK = "dir"
MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs")
MEMORY_NOTE = "The directory lies in memory: the figures are not those of a disk."

# One line of it: id, parent, major:minor, root, mount point, options, optional fields, -, type, source.
# Source: proc_pid_mountinfo(5).
MOUNTINFO = Path("/proc/self/mountinfo")
MEMINFO = Path("/proc/meminfo")
SYSFS = Path("/sys/class/block")
_MEM_TOTAL = re.compile(r"^MemTotal: *(\d+) kB$", re.MULTILINE)
_LOOP = re.compile(r"(loop\d+)(?:p\d+)?")  # a loop device, or a partition of one

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

    point: PurePosixPath
    fstype: str
    source: str


@dataclass(frozen=True)
class Loop:
    """What a loop device shows: the file behind it, and whether it bypasses the page cache to reach that.

    Source: losetup(8), ``--direct-io``; the kernel's drivers/block/loop.c shows both as ``loop/dio`` and
    ``loop/backing_file`` in sysfs.
    """

    bypasses: bool
    file: PurePosixPath


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Memory and file systems of a machine as its kernel tells them: this one, or one that scripts reach."""

    ram_bytes: int | None = None  # None: it was not told
    mounts: tuple[Mount, ...] = ()  # in the order in which they were made
    loops: Mapping[str, Loop] = field(default_factory=dict)  # by kernel name, such as ``loop7``

    @classmethod
    def told(cls, *, ram_kib: str = "", mounts: Iterable[str] = (), loops: Iterable[str] = ()) -> Self:
        """As texts tell it: MemTotal of ``/proc/meminfo``, lines of ``mountinfo``, and loop devices.

        Of each of these: kernel name, ``loop/dio`` and ``loop/backing_file``, with spaces between. A device
        that was taken apart meanwhile has no file, and is none.
        """
        each = [parts for line in loops if len(parts := line.split(" ", 2)) == 3 and parts[2]]
        return cls(
            ram_bytes=ram_bytes(ram_kib),
            mounts=tuple(_mount(line) for line in mounts),
            loops={name: Loop(dio == "1", PurePosixPath(file)) for name, dio, file in each},
        )

    @classmethod
    def here(cls) -> Self:
        """Those of this machine."""
        memory = _MEM_TOTAL.search(_read(MEMINFO))
        loops = (
            f"{loop.parent.name} {_read(loop / 'dio') or '0'} {_read(loop / 'backing_file')}"
            for loop in SYSFS.glob("loop*/loop")
        )
        return cls.told(
            ram_kib=memory[1] if memory else "",
            mounts=MOUNTINFO.read_text().splitlines(),
            loops=loops,
        )

    def mount_of(self, real: PurePosixPath) -> Mount:
        """The file system that a path without links lies on; in a chroot, the kernel does not tell that of
        the root.
        """
        root = Mount(PurePosixPath("/"), "unknown file system", "")
        within = [root, *(mount for mount in self.mounts if real.is_relative_to(mount.point))]
        deepest = max(len(mount.point.parts) for mount in within)
        return [mount for mount in within if len(mount.point.parts) == deepest][-1]  # it covers the others

    def answers_from_memory(self, real: PurePosixPath, *, device: bool) -> bool:
        """Whether memory answers for a directory or a block device, whose path has no links.

        Its file system lies in memory, or it is a loop device that reaches its file through the page cache,
        whatever its users ask for.
        """
        if not device:
            mount = self.mount_of(real)
            if mount.fstype in MEMORY_FILE_SYSTEMS:
                return True
            real = PurePosixPath(mount.source)
        name = _LOOP.fullmatch(real.name)
        loop = self.loops.get(name[1]) if name else None
        if loop is None:
            return False
        return not loop.bypasses or self.answers_from_memory(loop.file.parent, device=False)


def ram_bytes(kib: str) -> int | None:
    """Memory in bytes, as a machine tells it in KiB; None: it does not."""
    return int(kib) * KIB if kib.isdigit() else None


def mounts() -> list[Mount]:
    """All mounts that this process sees, in the order they were made."""
    return list(Storage.here().mounts)


def mount_of(path: Path) -> Mount:
    """The file system that a path of this machine lies on."""
    return Storage.here().mount_of(PurePosixPath(path.resolve()))


def answers_from_memory(target: Path) -> bool:
    """Whether memory answers for a directory or a block device of this machine."""
    real = PurePosixPath(target.resolve())
    return Storage.here().answers_from_memory(real, device=target.is_block_device())


def _mount(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    fstype, source = after.split(" ")[:2]
    return Mount(PurePosixPath(_unescape(before.split(" ")[4])), fstype, _unescape(source))


def describe(target: Path) -> ManifestSetup:
    """Describe this machine with one disk: the file system of a directory, or a block device.

    Neither the machine's name nor a user's is in it.
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
        ram_bytes=Storage.here().ram_bytes,
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
    """What the kernel tells in a file; empty: it does not, or not any more."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _unescape(text: str) -> str:
    r"""Undo the kernel's ``\040`` for a space, and so on."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
