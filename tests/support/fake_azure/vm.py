"""An emulated VM, seen from its host: a private world in which run-command scripts really execute.

The root is this machine's, under an overlay on the VM's own OS disk; disks are sparse files of their full
declared size behind loop devices. Everything but the files ends with `Vm.stop`, and with this process however
that ends.
"""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
GUEST = Path(__file__).with_name("guest.py")
NEEDED = ("unshare", "mount", "umount", "pivot_root", "mkfs.ext4")
UNSHARE = [
    "unshare",
    "--mount",
    "--pid",
    "--net",
    "--ipc",
    "--uts",
    "--fork",
    "--kill-child",
    "--propagation",
    "private",
]
PARTITION_START = 1024**2
SECTOR = 512
# cloud-init 23.4 and newer: failed modules make `status: error`, with exit code 1
# https://docs.cloud-init.io/en/latest/explanation/failure_states.html (read 2026-11-20)
CLOUD_INIT_DONE, CLOUD_INIT_ERROR = "status: done\n", "status: error\n"
EMULATED_CLOUD_CONFIG = {"package_update", "packages", "bootcmd"}


class GuestError(Exception):
    """The VM could not do what it was told."""


@dataclass(frozen=True)
class Network:
    """What a VM reaches of the outside: the server at a port, by a socket among the images."""

    name: str
    port: int
    certificate: str


@dataclass(frozen=True)
class Hardware:
    """What a VM of some size has, beside its data disks; a `temp_bytes` of 0 is no temporary disk."""

    temp_bytes: int = 0
    nvme_bytes: Sequence[int] = ()
    controller: str = "SCSI"

    def link(self, lun: int) -> str:
        """Where the data disk shows below /dev/disk/azure."""
        return f"scsi1/lun{lun}" if self.controller == "SCSI" else f"data/by-lun/{lun}"


def make_image(path: Path, size_bytes: int) -> None:
    """Make an empty disk; it takes room as it fills."""
    with path.open("xb") as file:
        file.truncate(size_bytes)


def make_os_disk(path: Path, size_bytes: int) -> None:
    make_image(path, size_bytes)
    _make_ext4(path)


def make_temp_disk(path: Path, size_bytes: int) -> None:
    """Make a disk of one partition with an ext4 in it, as Azure hands a temporary disk over."""
    make_image(path, size_bytes)
    inside = size_bytes - PARTITION_START
    entry = struct.pack("<B3sB3sII", 0, b"", 0x83, b"", PARTITION_START // SECTOR, inside // SECTOR)
    with path.open("r+b") as file:
        file.write(bytes(446) + entry.ljust(64, b"\0") + b"\x55\xaa")
    _make_ext4(path, "-E", f"offset={PARTITION_START}", size_kib=inside // 1024)


def _make_ext4(path: Path, *options: str, size_kib: int | None = None) -> None:
    command = ["mkfs.ext4", "-q", "-F", "-J", "size=16", *options, str(path)]
    subprocess.run(command + ([f"{size_kib}k"] if size_kib else []), check=True, capture_output=True)


def images_in_use(folder: Path) -> set[str]:
    """Give the names of the files of a folder that are behind loop devices, deleted ones included."""
    found = set()
    for device in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            file = Path(device.read_text().strip().removesuffix(" (deleted)"))
        except OSError:  # freed while we looked
            continue
        # the kernel tells a path from the root of its file system, which may be only the end of ours
        if str(folder.resolve() / file.name).endswith(str(file)):
            found.add(file.name)
    return found


def wait_until_free(folder: Path, names: Collection[str]) -> None:
    """Wait until the kernel has let go of images, which it does shortly after their last user."""
    for _ in range(500):
        left = images_in_use(folder) & set(names)
        if not left:
            return
        time.sleep(0.01)
    raise GuestError(f"{', '.join(left)}: still in use")


def _reach(network: Network | None) -> dict[str, Any]:
    if not network or not network.port:
        return {"port": 0, "certificate": ""}
    return {"port": network.port, "certificate": Path(network.certificate).read_text()}


class Vm:
    """A running VM over the disk images in one folder; its OS disk must be there."""

    def __init__(
        self,
        name: str,
        images: Path,
        os_image: str,
        hardware: Hardware,
        cloud_init: str,
        network: Network | None = None,
        token: str = "",
    ) -> None:
        self.name, self.hardware = name, hardware
        self._images, self._log, self._lock = images, images / f"{name}.log", threading.Lock()
        self._local = self._make_local_disks()
        self._in_use = [os_image, *self._local]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*UNSHARE, sys.executable, "-Es", str(GUEST), str(images)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is for the tests, not for their VMs
            )
        temp, nvme = self._local[: hardware.temp_bytes > 0], self._local[hardware.temp_bytes > 0 :]
        disks = {"os": os_image, "temp": temp, "temp_start": PARTITION_START, "nvme": nvme}
        try:
            self._say(
                name=name, **disks, cloud_init=cloud_init, hidden=[str(ROOT)], token=token, **_reach(network)
            )
        except GuestError:
            self.stop()
            raise

    def _make_local_disks(self) -> list[str]:
        sizes = [self.hardware.temp_bytes] if self.hardware.temp_bytes else []
        names = [f"{uuid.uuid4()}.local" for _ in [*sizes, *self.hardware.nvme_bytes]]
        for name, size in zip(names, sizes, strict=False):
            make_temp_disk(self._images / name, size)
        for name, size in zip(names[len(sizes) :], self.hardware.nvme_bytes, strict=True):
            make_image(self._images / name, size)
        return names

    def _say(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except (BrokenPipeError, ValueError):
                line = ""
        if not line:
            raise GuestError(f"{self.name} is gone; its last words: {self._log.read_text()[-500:]}")
        answer = json.loads(line)
        if "problem" in answer:
            raise GuestError(f"{self.name}: {answer['problem']}")
        return answer

    def attach(self, lun: int, image: str, block_bytes: int) -> None:
        link = self.hardware.link(lun)
        self._say(do="attach", lun=lun, link=link, image=image, block_bytes=block_bytes)
        self._in_use.append(image)

    def detach(self, lun: int, image: str) -> None:
        """Take a disk out, but not one that is still mounted: what was written last would be lost."""
        self._say(do="detach", lun=lun, link=self.hardware.link(lun))
        wait_until_free(self._images, [image])
        self._in_use.remove(image)

    def run(
        self, name: str, script: str, timeout_s: float, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a script; one of the same name makes place for it."""
        self._say(do="run", name=name, script=script, timeout_s=timeout_s, environment=environment or {})

    def status(self, name: str) -> dict[str, Any]:
        """State, exit code, and the last 4,096 bytes of each output, of a script."""
        return self._say(do="status", name=name)

    def kill(self, name: str) -> None:
        self._say(do="kill", name=name)

    def stop(self) -> None:
        """End the VM, its processes and mounts; what is on its local disks is lost, as it is in Azure."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()
        wait_until_free(self._images, self._in_use)
        for name in self._local:
            (self._images / name).unlink(missing_ok=True)  # may be stopped already


@cache
def available() -> str:
    """Why no VM can be emulated on this machine; an empty string if one can."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        make_os_disk(Path(folder, "os"), 64 * 1024**2)
        try:
            Vm("trial", Path(folder), "os", Hardware(), CLOUD_INIT_DONE).stop()
        except GuestError as error:
            return f"namespaces, loop devices or overlay mounts are not allowed here: {error}"
    return ""


def cloud_init_status(custom_data: bytes) -> str:
    """What cloud-init would say of this cloud-config: an error if a package is not here already."""
    if not custom_data:
        return CLOUD_INIT_DONE
    config = yaml.safe_load(custom_data)
    if not custom_data.startswith(b"#cloud-config\n") or not set(config) <= EMULATED_CLOUD_CONFIG:
        raise GuestError(
            f"only #cloud-config with {sorted(EMULATED_CLOUD_CONFIG)} is emulated: {custom_data!r}"
        )
    installed = all(_is_installed(package) for package in config.get("packages", []))
    return CLOUD_INIT_DONE if installed else CLOUD_INIT_ERROR


def _is_installed(package: str) -> bool:
    if package == "mdadm":  # the VM has one of its own
        return True
    command = {"iozone3": "iozone", "nvme-cli": "nvme", "xfsprogs": "mkfs.xfs"}.get(package, package)
    return shutil.which(command) is not None
