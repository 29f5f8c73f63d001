"""Which devices an Azure VM's disks are, and which whole disks a file system or a device lies on.

Found in ``/dev/disk/azure`` and ``/sys``; ``root`` is the folder that holds ``dev`` and ``sys``.
"""

import http.client
import os
import re
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from azbenchlib.azure.documents import ImdsCompute
from azbenchlib.campaign import host
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB, SECTOR_BYTES
from azbenchlib.model.disk_row import stripe_text

IMDS_VARIABLE = "AZBENCH_IMDS"  # names another metadata service, to be asked on any machine

# Address, path, header, the fields and the statuses that pass: MicrosoftDocs/azure-compute-docs
# articles/virtual-machines/instance-metadata-service.md@1dc6d3b8, which lists versions up to 2025-04-07. The
# throttles of disks are told since version 2021-05-01; older versions stay.
ADDRESS = "http://169.254.169.254"
QUESTION = "/metadata/instance/compute?api-version=2021-12-13"
PASSING = (410, 429, 500)
_TIMEOUT_S = 1.0
_LARGEST_ANSWER = MIB
PAUSES_S = (1.0, 2.0)  # before it is asked again; five requests a second are allowed


def metadata(address: str) -> ImdsCompute | None:
    """Return what a service tells of this VM; None where nothing answers in time.

    Raises an InputError when the address is none, or what answers is not the metadata service of a VM.
    """
    host, port = _place(address)
    try:
        for pause_s in (*PAUSES_S, None):
            status, body = _ask(host, port)
            if status not in PASSING or pause_s is None:
                break
            time.sleep(pause_s)
    except (OSError, http.client.HTTPException):
        return None
    if status != http.HTTPStatus.OK:
        raise InputError(f"{address}: the metadata service answered {status}, not 200; try again later")
    return described(body, address)


def described(body: bytes, address: str) -> ImdsCompute:
    """Return what an answer tells.

    Raises an InputError when it is not that of the metadata service of a VM.
    """
    try:
        told = decoded(body)
    except ValueError:
        told = None
    compute = ImdsCompute.parse(
        told if isinstance(told, dict) else {}, f"{address}: what it tells of this VM"
    )
    if not compute.size:
        raise InputError(f"{address}: answered without a vmSize, so it is not the metadata service of a VM")
    return compute


def _place(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "http" or not host:
        raise InputError(f"{IMDS_VARIABLE} '{address}': must be an address such as {ADDRESS}")
    return host, port or http.client.HTTP_PORT


def _ask(host: str, port: int) -> tuple[int, bytes]:
    """Status and body. http.client knows no proxies and follows no redirects, as the service demands."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", QUESTION, headers={"Metadata": "true"})
        answer = connection.getresponse()
        return answer.status, answer.read(_LARGEST_ANSWER)
    finally:
        connection.close()


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
