"""Which of the devices that a tool reports are disks, and which repeat the load of others, by their names.

sar names a device by its numbers, ``dev8-16``, unless it is asked for names. Some drivers have fixed numbers;
those of the device mapper, virtio disks and zram come in the order in which drivers are loaded, and disks and
partitions of NVMe share one: what these are, figures alone may tell.

Source: sysstat iostat.c, sar.c (12.7) and their man pages (partitions, dm- and md devices are reported beside
their disks; -N, -j and -p print other names); Linux Documentation/admin-guide/devices.txt (2026-11-27) for
names and numbers; lvm(8) for names of logical volumes, multipath.conf(5) for those of multipath.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

# Names of the kernel, and those that -j prints.
_DISK = re.compile(
    r"(?:(?:sd|vd|xvd|dasd)[a-z]{1,3}|(?:hd|ubd|rssd)[a-z]|nvme\d+n\d+|mmcblk\d+|pmem\d+|nbd\d+|rbd\d+"
    r"|(?:cciss|ida|rd)[/!]c\d+d\d+)(?:p?\d{1,3})?|(?:scsi|ata|wwn|nvme|virtio|usb|pci|acpi|ccw)-.+"
)
_STACKED = re.compile(
    r"(?:dm-|md|bcache|drbd|zd)\d+(?:p\d+)?|md_d\d+(?:p\d+)?|(?:mapper|md|vx/r?dsk)/.+|(?:dm|md)-(?:name|uuid)-.+"
    r"|(?:hdiskpower|vpath|dlmfdrv)\d+|emcpower[a-z]{1,3}\d{0,3}"  # PowerPath, SDD and HDLM
)
# Names of the device mapper, beside names of the kernel: VG-LV and luks-UUID have a dash, as no disk has;
# multipath devices are mpatha, or are called by the WWID of a disk.
_MAPPED = re.compile(r"[^\s-].*-.+|mpath[a-z]{1,4}(?:p?\d+)?|[23][0-9a-f]{16}(?:[0-9a-f]{16})?(?:p?\d+)?")
_ARRAY = re.compile(r"md_?d?\d+|md/.+|md-(?:name|uuid)-.+")
_WITHOUT_COPIES = re.compile(r"(?:bcache|drbd|zd)\d+(?:p\d+)?|luks-.+|mpath[a-z]{1,4}(?:p?\d+)?")
_NO_DISK = re.compile(r"(?:loop|ram|zram|sr|scd|fd|mtdblock)\d+")
_TOTALS = ("_Total", "ALL", "total")
_PARTITIONS = tuple(  # sda1; nvme0n1p1; scsi-36002248-part1; a path of NVMe's multipathing
    re.compile(form) for form in (r"(.*[a-z])\d{1,3}", r"(.*\d)p\d{1,3}", r"(.+)-part\d{1,3}")
)
_PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")

_NUMBERED = re.compile(r"dev(\d{1,4})-(\d{1,8})|(\d{1,4}),(\d{1,8})")  # sar; blkparse
# Minor numbers of a disk and its partitions, by the major number of its driver.
_MINORS = {
    **dict.fromkeys((8, *range(65, 72), *range(128, 136)), 16),  # SCSI disks
    **dict.fromkeys((3, 22, 33, 34, 56, 57, 88, 89, 90, 91), 64),  # IDE disks
    **dict.fromkeys((*range(72, 80), *range(104, 112)), 16),  # Compaq's arrays
    **{94: 4, 179: 8, 202: 16},  # DASD, MMC, Xen
}
_STACKED_MAJORS = (9, 147, 199, 201, 230)  # md, DRBD, volumes and multipath of VxVM, volumes of ZFS
_NO_DISK_MAJORS = (1, 2, 7, 11, 31)  # RAM disks, floppy disks, loop, optical drives, flash
_ARRAY_MAJOR = 9
_MAJORS_WITHOUT_COPIES = (147, 201, 230)  # DRBD, multipath of VxVM, volumes of ZFS
EXTENDED_MAJOR = 259  # disks and partitions of NVMe, and of others that have many
DYNAMIC_MAJORS = range(234, 255)  # of drivers without a number of their own, from 254 downwards


@dataclass(frozen=True, kw_only=True)
class Devices:
    """Names of devices by what they are.

    Attributes
    ----------
    disks : tuple of str
        Their loads add up to that of the host.
    partitions : tuple of str
        Parts of these disks.
    stacked : tuple of str
        Of the device mapper, RAID and the like, which lie on disks.
    undecided : tuple of str
        Disks or devices that lie on disks: names do not tell.
    no_disks : tuple of str
        Loop devices, RAM disks and optical drives.
    totals : tuple of str
        Sums of the others.
    """

    disks: tuple[str, ...]
    partitions: tuple[str, ...]
    stacked: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    no_disks: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()


def sorted_by_role(names: Iterable[str]) -> Devices:
    """The devices by what they are, each in the order in which they came.

    Parameters
    ----------
    names : iterable of str
        As a tool reports them, on one host.

    Returns
    -------
    Devices
        Where there is no disk, what lies on disks counts as disks, and so do totals where there is nothing
        else.
    """
    every = dict.fromkeys(names)
    no_disks = [name for name in every if _is_no_disk(name)]
    totals = [name for name in every if name in _TOTALS]
    plain = dict.fromkeys(name for name in every if name not in _TOTALS and not _is_no_disk(name))
    is_linux = any(_is_of_linux(name) for name in plain)
    stacked = [name for name in plain if _is_stacked(name, is_linux)]
    others = plain.keys() - set(stacked)
    partitions = [name for name in plain if name in others and disk_of(name, plain) is not None]
    others -= set(partitions)
    disks = [name for name in plain if name in others and (_is_disk(name) or not is_linux)]
    undecided = [name for name in plain if name in others and is_linux and not _is_disk(name)]
    if not (disks or undecided):
        disks, stacked, totals = (stacked, [], totals) if stacked else (totals, [], [])
    return Devices(
        disks=tuple(disks),
        partitions=tuple(partitions),
        stacked=tuple(stacked),
        undecided=tuple(undecided),
        no_disks=tuple(no_disks),
        totals=tuple(totals),
    )


def numbers_of(name: str) -> tuple[int, int] | None:
    """Major and minor number of a device that is named by them; None for every other."""
    if (numbered := _NUMBERED.fullmatch(name)) is None:
        return None
    major, minor = (number for number in numbered.groups() if number is not None)
    return int(major), int(minor)


def major_of(name: str) -> int | None:
    """The major number of a device that is named by its numbers."""
    numbers = numbers_of(name)
    return None if numbers is None else numbers[0]


def is_array(name: str) -> bool:
    """Whether this is a device of Linux' software RAID."""
    return bool(_ARRAY.fullmatch(name)) or major_of(name) == _ARRAY_MAJOR


def may_keep_copies(name: str) -> bool:
    """Whether a device that lies on disks may write all to several of them."""
    return not _WITHOUT_COPIES.fullmatch(name) and major_of(name) not in _MAJORS_WITHOUT_COPIES


def disk_of(name: str, names: Collection[str]) -> str | None:
    """The disk among these that a device is a partition of, or a path to; None where it is neither."""
    if (numbers := numbers_of(name)) is not None:
        major, minor = numbers
        first = minor - minor % _MINORS.get(major, 1)
        whole = f"dev{major}-{first}" if name.startswith("dev") else f"{major},{first}"
        return whole if first != minor and whole in names else None
    if path := _PATH.fullmatch(name):
        return path[1] + path[2] if path[1] + path[2] in names else None
    parts = (form.fullmatch(name) for form in _PARTITIONS)
    return next((part[1] for part in parts if part and part[1] in names), None)


def _is_no_disk(name: str) -> bool:
    return bool(_NO_DISK.fullmatch(name)) or major_of(name) in _NO_DISK_MAJORS


def _is_disk(name: str) -> bool:
    return bool(_DISK.fullmatch(name)) or major_of(name) in _MINORS


def _is_stacked(name: str, is_linux: bool) -> bool:
    if (major := major_of(name)) is not None:
        return major in _STACKED_MAJORS
    mapped = is_linux and not _DISK.fullmatch(name) and _MAPPED.fullmatch(name)
    return bool(mapped or _STACKED.fullmatch(name))


def _is_of_linux(name: str) -> bool:
    """Whether only the kernel of Linux calls a device so."""
    return bool(_DISK.fullmatch(name) or _STACKED.fullmatch(name) or _NUMBERED.fullmatch(name))
