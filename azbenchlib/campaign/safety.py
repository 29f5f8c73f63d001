"""Refusals: what a measurement may not touch without a sentence that names it."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from azbenchlib.campaign.host import device_bytes
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import GIB, format_size

RESERVE_SHARE = 0.1  # of a file system; a full one harms everything else that lives on it
RESERVE_BYTES = GIB  # ... but no more than this
MARK_BYTES = 4096  # at the end of a device, for the mark of a campaign; as in device_guard.sh


@dataclass(frozen=True, kw_only=True)
class TargetFacts:
    """What is known of a target before it is touched, on this machine or on another one.

    `kind` is ``directory``, ``device``, ``other`` or empty: nothing is there. `real` is the path with all
    links followed. Of a directory: whether it is `writable`, and its `free_bytes` of `total_bytes`; of a
    device: its size as `total_bytes`; and, after the guard looked at it, why it counts as in use, what it
    holds or why that is not known (both empty: nothing), and whether it is `ours`: it has the mark of this
    campaign.
    """

    path: str
    real: str
    kind: str
    writable: bool = False
    free_bytes: int = 0
    total_bytes: int = 0
    in_use: str = ""
    holds: str = ""
    ours: bool = False


def judge(target: TargetFacts, needed_bytes: int, allow: str = "") -> None:
    """Refuse a target that could lose data or run out of space, by what is known of it.

    Raises an UnsafeTargetError: what, why, and the words that permit it when they come as `allow`.
    """
    if not target.kind:
        device = PurePath(target.path).is_relative_to("/dev")
        advice = "lsblk lists the block devices" if device else "make the directory first"
        raise UnsafeTargetError(f"{target.path}: does not exist; {advice}")
    if target.kind == "device":
        _check_device(target, needed_bytes, allow)
    elif target.kind == "directory":
        _check_directory(target, needed_bytes, allow)
    else:
        raise UnsafeTargetError(
            f"{target.path}: exists and is neither a directory nor a block device, so measuring could "
            "destroy it; give a directory, and a new file is made there"
        )


def words_for_device(device: PurePath, in_use: bool) -> str:
    """The sentence that permits overwriting a device; all links in its path are followed already."""
    return f"overwrite {'mounted ' if in_use else ''}{device}"


def words_for_directory(directory: PurePath) -> str:
    """The sentence that permits filling a file system."""
    return f"fill {directory}"


def is_permitted(device: TargetFacts, allow: str) -> bool:
    """Whether the words were given that permit overwriting a device, whatever it holds."""
    real = PurePath(device.real)
    return allow in (words_for_device(real, in_use) for in_use in (False, True))


def look(target: Path) -> TargetFacts:
    """What is known of a target on this machine at a glance: not what a device holds, nor who uses it."""
    real = target.resolve()
    path = str(real)
    if real.is_block_device():
        return TargetFacts(path=path, real=path, kind="device", total_bytes=device_bytes(real))
    if real.is_dir():
        stats = os.statvfs(real)
        return TargetFacts(
            path=path,
            real=path,
            kind="directory",
            writable=os.access(real, os.W_OK | os.X_OK),
            free_bytes=stats.f_bavail * stats.f_frsize,
            total_bytes=stats.f_blocks * stats.f_frsize,
        )
    return TargetFacts(path=str(target), real=path, kind="other" if real.exists() else "")


def _check_directory(target: TargetFacts, needed_bytes: int, allow: str) -> None:
    if not target.writable:
        raise UnsafeTargetError(f"{target.path}: is not writable; choose a directory that is")
    reserve = min(RESERVE_BYTES, int(target.total_bytes * RESERVE_SHARE))
    words = words_for_directory(PurePath(target.real))
    if target.free_bytes < needed_bytes + reserve and allow != words:
        raise UnsafeTargetError(
            f"{target.path}: has {format_size(target.free_bytes)} free, and {format_size(needed_bytes)} of "
            f"data with {format_size(reserve)} in reserve are needed; measure less, "
            f"or permit it with the words '{words}'"
        )


def _check_device(target: TargetFacts, needed_bytes: int, allow: str) -> None:
    words = words_for_device(PurePath(target.real), bool(target.in_use))
    if (target.in_use or target.holds) and allow != words:
        raise UnsafeTargetError(
            f"{target.path}: {target.in_use or target.holds}, and measuring would overwrite it; choose "
            f"another target, or permit it with the words '{words}'"
        )
    if target.total_bytes < needed_bytes:
        raise UnsafeTargetError(
            f"{target.path}: has {format_size(target.total_bytes)}, and {format_size(needed_bytes)} are "
            "needed; measure less"
        )
    if target.total_bytes < needed_bytes + MARK_BYTES and needed_bytes and not is_permitted(target, allow):
        raise UnsafeTargetError(
            f"{target.path}: has {format_size(target.total_bytes)}, of which the last "
            f"{format_size(MARK_BYTES)} are for the mark by which an interrupted campaign knows its data; "
            f"measure less, or do without the mark by the words '{words}'"
        )
