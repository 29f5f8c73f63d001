"""Which devices of a host count: each byte once, though reports list partitions and what lies on disks too.

Names tell most of it. Where they do not, figures do: what lies on disks has done what these have done
together. Of an array that keeps copies (RAID 1 and 10) the array counts, not its disks, for the load of the
application is what is asked for, and disks of Azure keep copies of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import combinations

import numpy as np
import pandas as pd

from azbenchlib.core.errors import InputError
from azbenchlib.formats.azure_monitor import TOOL as AZURE_MONITOR
from azbenchlib.formats.device_names import (
    DYNAMIC_MAJORS,
    EXTENDED_MAJOR,
    Devices,
    disk_of,
    is_array,
    major_of,
    may_keep_copies,
    numbers_of,
    sorted_by_role,
)
from azbenchlib.sizing.device_loads import Bytes, DeviceLoads

_SEPARATE = ("fio", AZURE_MONITOR)  # tools whose devices are jobs and disks, of which none repeats another
_MOST_COPIES = 4
_IMAGE = re.compile(r"_[rm]image_\d{1,4}$")  # of a volume of RAID 1, by lvmraid(7)
_MOST_GROUPED = 10  # disks of which each two and three are tried
_MINORS_OF_A_DISK = 16  # of virtio disks, whose major number is dynamic. Source: virtio_blk.c, PART_BITS


class Reason(StrEnum):
    """Why a device does not count."""

    PARTITION = "partition"
    LIES_ON = "lies on others"
    COPIES = "holds a copy"
    NO_DISK = "no disk"
    TOTAL = "total"
    NOT_CHOSEN = "not chosen"
    IDLE = "idle"
    UNCLEAR = "cannot be told"


@dataclass(frozen=True, kw_only=True)
class UncountedDevice:
    """A device that does not count.

    Parameters
    ----------
    device : str
    reason : Reason
    on : tuple of str
        The devices that have its load; empty: not known which.
    """

    device: str
    reason: Reason
    on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DeviceChoice:
    """The devices of one host.

    Parameters
    ----------
    counted : tuple of str
        Those that are added up.
    left_out : tuple of UncountedDevice
        All others.
    """

    counted: tuple[str, ...]
    left_out: tuple[UncountedDevice, ...] = ()

    def left_out_for(self, reason: Reason) -> tuple[UncountedDevice, ...]:
        """Those that are left out for one reason."""
        return tuple(one for one in self.left_out if one.reason is reason)


def choose(host: str, rows: pd.DataFrame, patterns: Sequence[str] = ()) -> DeviceChoice:
    """The devices of a host that count.

    Parameters
    ----------
    host : str
        Its name, for messages.
    rows : DataFrame
        Its rows of the table demand; all intervals have a begin and a length.
    patterns : sequence of str
        Names or patterns that were chosen; none: each byte counts once.

    Raises
    ------
    InputError
        When there is no such device.
    """
    names = list(dict.fromkeys(rows["device"]))
    if patterns:
        counted = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
        others = [
            UncountedDevice(device=name, reason=Reason.NOT_CHOSEN) for name in names if name not in counted
        ]
        choice = DeviceChoice(counted=tuple(counted), left_out=tuple(others))
    elif rows["tool"].isin(_SEPARATE).all():
        choice = DeviceChoice(counted=tuple(names))
    else:
        choice = _by_role(names, rows)
    if not choice.counted:
        stated = f"--device {' --device '.join(patterns)}: " if patterns else ""
        raise InputError(f"{stated}no such disk of {host}; there are: {', '.join(names)}")
    return choice


def _by_role(names: Sequence[str], rows: pd.DataFrame) -> DeviceChoice:
    roles = sorted_by_role(names)
    found = _Counting(roles)
    only_mapped = (
        len(roles.disks) > 1 and not roles.undecided and sorted_by_role(["sda", *roles.disks]).stacked
    )
    if roles.stacked or roles.undecided or only_mapped:
        found.decide(DeviceLoads.of(rows))
    order = {name: i for i, name in enumerate(names)}
    return DeviceChoice(
        counted=tuple(sorted(found.counted, key=order.__getitem__)),
        left_out=tuple(sorted(found.left_out.values(), key=lambda one: order[one.device])),
    )


class _Counting:
    """The devices of a host while it is decided which of them count: at first, those that names decide."""

    def __init__(self, roles: Devices) -> None:
        self.counted = list(roles.disks)
        self.left_out: dict[str, UncountedDevice] = {}
        self._roles = roles
        for name in roles.partitions:
            disk = disk_of(name, (*roles.disks, *roles.stacked, *roles.undecided))
            self._leave([name], Reason.PARTITION, [disk] if disk else [])
        self._leave(roles.no_disks, Reason.NO_DISK)
        self._leave([name for name in roles.totals if name not in self.counted], Reason.TOTAL)

    def decide(self, loads: DeviceLoads) -> None:
        """Decide about the others by their figures."""
        self._loads = loads
        self._confirmed: set[str] = set()  # disks of which something has the sum
        self._take_disks()
        self._disks = list(self.counted)  # arrays take their place
        self._decide_arrays([name for name in self._roles.stacked if is_array(name)])
        pending = [name for name in self._pending() if not self._is_on_counted(name)]
        for name in pending:
            if major_of(name) in DYNAMIC_MAJORS and loads.exceeds(loads.of_device(name), self.counted):
                self.counted.append(name)  # of no disk that is listed; those after it may lie on it
            else:
                self._is_on_counted(name)
        self._decide_together()
        self._decide_by_driver()
        self._decide_within([name for name in self.counted if self._may_be_part(name)])
        for name in self._pending():
            self._leave([name], Reason.IDLE if loads.is_idle(name) else self._by_name(name))

    def _leave(self, names: Sequence[str], reason: Reason, on: Sequence[str] = ()) -> None:
        self.left_out |= {name: UncountedDevice(device=name, reason=reason, on=tuple(on)) for name in names}

    def _pending(self) -> list[str]:
        every = (*self._roles.stacked, *self._roles.undecided)
        return [name for name in every if name not in self.left_out and name not in self.counted]

    def _take_disks(self) -> None:
        """Count what is taken for a disk until figures tell otherwise."""
        undecided = self._roles.undecided
        self.counted += [name for name in undecided if major_of(name) == EXTENDED_MAJOR]
        if self.counted or not undecided:
            return
        # A disk is listed before what lies on it, and all devices of a driver have its number.
        first = major_of(undecided[0])
        same = [name for name in undecided if major_of(name) == first]
        whole = [name for name in same if _is_whole(name)]
        self.counted += whole if len(same) < len(undecided) and whole else same

    def _decide_arrays(self, arrays: Sequence[str]) -> None:
        """Arrays lie on several disks each; those that keep copies count in their place."""
        loads = self._loads
        members: dict[str, tuple[str, ...]] = {}
        for name in arrays:
            free = [disk for disk in self.counted if disk not in sum(members.values(), ())]
            members[name] = loads.parts_of(loads.of_device(name), free, at_least=2)
        for name, parts in members.items():
            free = [disk for disk in self.counted if disk not in sum(members.values(), ())]
            load = loads.of_device(name)
            copies = self._copies_beside(load, parts, free) if parts else self._copies(load, free)
            if copies:
                self._count_instead([name], copies)
            else:
                parts = parts or loads.parts_of(load, self.counted)
                self._lies_on([name], parts)
        several = [name for name in arrays if name not in self.left_out and name not in self.counted]
        load = loads.of_all(several)
        if len(several) > 1 and (copies := self._copies(load, self.counted)):
            self._count_instead(several, copies)

    def _copies(self, load: Bytes, disks: Sequence[str]) -> tuple[str, ...]:
        """The disks that hold copies: writes go to several of them, a read comes from one."""
        if not self._loads.has_directions or not load[1].any():
            return ()
        for n in range(2, _MOST_COPIES + 1):
            target = load * np.array([[1], [n]])
            if copies := self._loads.parts_of(target, disks, at_least=n):
                return copies
        return ()

    def _copies_beside(self, load: Bytes, parts: Sequence[str], free: Sequence[str]) -> tuple[str, ...]:
        """Such disks where some of them have already done all: the others did the same as these."""
        loads = self._loads
        first = loads.of_device(parts[0])
        same = [name for name in free if loads.is_sum(first, [name], at_once=True)]
        copies = self._copies(load, [*parts, *same]) if same else ()
        return copies if len(copies) > len(parts) else ()

    def _count_instead(self, names: Sequence[str], disks: Sequence[str]) -> None:
        self.counted = [name for name in self.counted if name not in disks] + list(names)
        self._leave(disks, Reason.COPIES, names)

    def _lies_on(self, names: Sequence[str], parts: Sequence[str]) -> bool:
        if not (names and parts):
            return False
        self._leave(names, Reason.LIES_ON, parts)
        self._confirmed |= set(parts) if len(parts) > 1 else set()
        return True

    def _is_on_counted(self, name: str) -> bool:
        """Whether a device has done what some have that count, or keeps copies on them, or is idle."""
        loads = self._loads
        load = loads.of_device(name)
        upper = [one for one in self.left_out.values() if one.reason is Reason.LIES_ON]
        used = {disk for one in upper for disk in one.on}
        free = [disk for disk in self.counted if disk not in used]
        parts = loads.parts_of(load, free) or loads.parts_of(load, self.counted)
        if loads.varies(name) and may_keep_copies(name):
            others = [disk for disk in free if disk not in parts]
            copies = (
                self._copies_beside(load, parts, others)
                if parts
                else self._copies(load, [*free, *(self._with_images() - set(free))])
            )
            if copies:
                self._count_instead([name], copies)
                return True
        parts = parts or loads.parts_of(load, self._disks) or loads.parts_of(load, self._in_parts())
        return self._lies_on([name], parts)

    def _with_images(self) -> set[str]:
        """The disks on which images of mirrored volumes lie; of other names, they may be those of a cache."""
        images = (one for one in self.left_out.values() if _IMAGE.search(one.device))
        return {disk for one in images for disk in one.on if disk in self.counted}

    def _in_parts(self) -> list[str]:
        """The partitions, and the disks that have none in the report."""
        whole = {disk for one in self.left_out.values() if one.reason is Reason.PARTITION for disk in one.on}
        return [*self._roles.partitions, *(disk for disk in self._disks if disk not in whole)]

    def _decide_together(self) -> None:
        """Several devices that together have done what one disk has, or several have, lie on these."""
        loads = self._loads
        for disks in self._groups_of_disks():
            free = [name for name in self._pending() if not loads.is_idle(name)]
            if not free:
                return
            self._lies_on(loads.parts_of(loads.of_all(disks), free), disks)

    def _groups_of_disks(self) -> Iterator[Sequence[str]]:
        """Single disks, those of which nothing has the load yet in twos and threes, and all of these."""
        busy = [name for name in self.counted if not self._loads.is_idle(name)]
        yield from ([name] for name in busy)
        for n in (2, 3, None):
            upper = [one for one in self.left_out.values() if one.reason is Reason.LIES_ON]
            used = {disk for one in upper for disk in one.on}
            unused = [name for name in busy if name not in used]
            if n is None:
                yield from (unused, busy)
            elif n < len(unused) <= _MOST_GROUPED:
                yield from combinations(unused, n)

    def _decide_by_driver(self) -> None:
        """What holds for one device of a driver holds for all."""
        for name in self._pending():
            if (driver := self._driver(name)) is None:
                continue
            upper = [one.device for one in self.left_out.values() if one.reason is Reason.LIES_ON]
            are_stacked = any(self._driver(one) == driver for one in upper)
            disks = [one for one in self.counted if self._driver(one) == driver]
            if are_stacked and not disks:
                self._leave([name], Reason.LIES_ON)
            elif disks and not are_stacked and all(_is_whole(one) for one in (name, *disks)):
                self.counted.append(name)

    def _driver(self, name: str) -> int | str | None:
        """What a dynamic number stands for, or a name that no driver gives: that is of the device mapper."""
        major = major_of(name)
        if major is None:
            return "device mapper" if name in self._roles.undecided else None
        return major if major in DYNAMIC_MAJORS else None

    def _may_be_part(self, name: str) -> bool:
        """Whether a device that counts may still be a part of another one: its name does not tell."""
        return (
            name in (*self._roles.stacked, *self._roles.undecided)
            or name not in sorted_by_role(["sda", name]).disks
        )

    def _decide_within(self, names: Sequence[str]) -> None:
        """Partitions, and devices of the device mapper on others, among those of one kind."""
        loads = self._loads
        for base in names:
            later = names[names.index(base) + 1 :]
            free = [name for name in later if name in self.counted and name not in self._confirmed]
            if base not in self.counted:
                continue
            parts = loads.parts_of(loads.of_device(base), free, at_once=True)
            is_partition = major_of(base) == EXTENDED_MAJOR
            surely = Reason.PARTITION if is_partition else Reason.LIES_ON
            self.counted = [name for name in self.counted if name not in parts]
            self._leave(parts, surely if loads.varies(base) else Reason.UNCLEAR, [base])

    def _by_name(self, name: str) -> Reason:
        """Why a device does not count whose figures tell nothing."""
        if name not in self._roles.stacked or is_array(name):
            return Reason.UNCLEAR
        more = self._loads.exceeds(self._loads.of_device(name), self._disks)
        return Reason.UNCLEAR if more else Reason.LIES_ON


def _is_whole(name: str) -> bool:
    """Whether this is no partition of a virtio disk by its number."""
    numbers = numbers_of(name)
    return numbers is not None and numbers[1] % _MINORS_OF_A_DISK == 0
