"""Loop devices that end with their process; for `azure.guest`, by the standard library alone."""

import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

# linux/loop.h
LOOP_CONFIGURE, LOOP_CLEAR, LOOP_GET_FREE = 0x4C0A, 0x4C01, 0x4C82
AUTOCLEAR = 4
LOOP_CONFIG = struct.Struct("=II 5Q 4I 64s 64s 32s 2Q 8Q")


@dataclass
class Loop:
    """A block device over an image file; it ends with this process, or earlier by `close`."""

    device: Path
    fd: int

    def mounted_at(self) -> list[str]:
        lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [where for what, where, *_ in lines if what == str(self.device)]

    def close(self) -> None:
        fcntl.ioctl(self.fd, LOOP_CLEAR)
        os.close(self.fd)
        self.device.unlink()


@dataclass
class Loops:
    """Makes loop devices of the host's image files, which stay in reach when the host's root is not."""

    images: int
    control: int

    @classmethod
    def over(cls, folder: str) -> "Loops":
        node = Path("/dev/loop-control")
        os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(10, 237))
        made = cls(os.open(folder, os.O_PATH | os.O_CLOEXEC), os.open(node, os.O_RDWR | os.O_CLOEXEC))
        node.unlink()
        return made

    def new(self, name: str, block_bytes: int = 512, start: int = 0) -> Loop:
        image = os.open(name, os.O_RDWR | os.O_CLOEXEC, dir_fd=self.images)
        place = (0, 0, 0, start, 0)
        config = LOOP_CONFIG.pack(image, block_bytes, *place, 0, 0, 0, AUTOCLEAR, b"", b"", b"", *[0] * 10)
        try:
            for _ in range(50):
                number = fcntl.ioctl(self.control, LOOP_GET_FREE)
                loop = self._open(number)
                try:
                    fcntl.ioctl(loop.fd, LOOP_CONFIGURE, config)
                    return self._read_only(loop)
                except OSError as error:  # somebody else was quicker
                    os.close(loop.fd)
                    loop.device.unlink()
                    problem = error
        finally:
            os.close(image)
        raise OSError(f"no loop device for {name}: {problem}")

    @staticmethod
    def _read_only(loop: Loop) -> Loop:
        """Hold it with a descriptor that cannot write: the VM is to have no other writer than its own."""
        kept = Loop(loop.device, os.open(loop.device, os.O_RDONLY | os.O_CLOEXEC))
        os.close(loop.fd)
        return kept

    def _open(self, number: int) -> Loop:
        device = Path(f"/dev/loop{number}")
        os.mknod(device, stat.S_IFBLK | 0o660, os.makedev(7, number))
        return Loop(device, os.open(device, os.O_RDWR | os.O_CLOEXEC))
