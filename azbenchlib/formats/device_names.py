"""Which of the devices that a tool reports are disks, and which repeat the load of others.

Source: sysstat iostat.c and man page (partitions, dm- and md devices are reported beside their disks); Linux
Documentation/admin-guide/devices.txt for the names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

_STACKED = re.compile(r"(?:dm-|md|bcache|drbd|zd)\d+(?:p\d+)?|mapper/.+|md_d\d+")
_NO_DISK = re.compile(r"(?:loop|ram|zram|sr|fd|mtdblock)\d+")
_TOTALS = ("_Total", "ALL", "total")
_PARTITIONS = (re.compile(r"(.*[a-z])\d{1,3}"), re.compile(r"(.*\d)p\d{1,3}"))  # sda1; nvme0n1p1


@dataclass(frozen=True, kw_only=True)
class Devices:
    """Names of devices: those whose loads add up to that of the host, and those that repeat it."""

    disks: tuple[str, ...]
    partitions: tuple[str, ...]
    stacked: tuple[str, ...]


def sorted_by_role(names: Iterable[str]) -> Devices:
    """The devices by what they are, each in the order in which they came.

    Parameters
    ----------
    names : iterable of str
        As a tool reports them, on one host.

    Returns
    -------
    Devices
        Loop devices, optical drives and totals are in none; devices of the device mapper count as disks where
        there are no others.
    """
    known = [name for name in dict.fromkeys(names) if not _NO_DISK.fullmatch(name)]
    plain = [name for name in known if name not in _TOTALS]
    stacked = [name for name in plain if _STACKED.fullmatch(name)]
    partitions = [name for name in plain if name not in stacked and _is_partition(name, plain)]
    disks = [name for name in plain if name not in (*stacked, *partitions)]
    if not disks:
        disks, stacked = (stacked, []) if stacked else (known, [])
    return Devices(disks=tuple(disks), partitions=tuple(partitions), stacked=tuple(stacked))


def _is_partition(name: str, names: Collection[str]) -> bool:
    return any((found := form.fullmatch(name)) and found[1] in names for form in _PARTITIONS)
