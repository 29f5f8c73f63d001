"""Refusals: what a measurement may not touch without a sentence that names it."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePath

from azbenchlib.campaign.host import device_bytes
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import GIB, MIB, format_size

RESERVE_SHARE = 0.1  # of a file system; a full one harms everything else that lives on it
RESERVE_BYTES = GIB  # ... but no more than this
_LOOKED_AT = MIB  # start of a device that must be zeros for it to count as empty


@dataclass(frozen=True, kw_only=True)
class TargetFacts:
    """What is known of a target before it is touched, on this machine or on another one.

    `kind` is ``directory``, ``device``, ``other`` or empty: nothing is there. `real` is the path with all
    links followed. Of a directory: whether it is `writable`, and its `free_bytes` of `total_bytes`; of a
    device: why it counts as in use, what it holds (both empty: nothing), and its size as `total_bytes`.
    """

    path: str
    real: str
    kind: str
    writable: bool = False
    free_bytes: int = 0
    total_bytes: int = 0
    in_use: str = ""
    holds: str = ""


def check_target(target: Path, needed_bytes: int, allow: str = "") -> None:
    """Refuse a target on this machine that could lose data or run out of space.

    Parameters
    ----------
    target : Path
        A directory to make a file in, or a block device to overwrite. Links are followed.
    needed_bytes : int
        How much will be written.
    allow : str
        The words that permit what is otherwise refused; each refusal names them.

    Raises
    ------
    UnsafeTargetError
        What, why, and the words that permit it.
    """
    judge(_facts(target), needed_bytes, allow)


def judge(target: TargetFacts, needed_bytes: int, allow: str = "") -> None:
    """Refuse a target by what is known of it; as :func:`check_target`."""
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


def _facts(target: Path) -> TargetFacts:
    """What is known of a target on this machine."""
    real = target.resolve()
    path = str(real)
    if real.is_block_device():
        in_use = _in_use(real)
        return TargetFacts(
            path=path,
            real=path,
            kind="device",
            total_bytes=device_bytes(real),
            in_use=in_use,
            holds="" if in_use else _content(real),
        )
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


def _in_use(device: Path) -> str:
    """Why a device counts as in use: mounted, swapped to, part of a RAID or volume group; or empty."""
    try:
        # Without O_CREAT, O_EXCL on a block device fails with EBUSY when the system uses it, itself or a
        # part of it, in whichever mount namespace. Source: open(2), O_EXCL.
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return f"is in use or cannot be looked at ({error.strerror})"
    return ""


def _content(device: Path) -> str:
    """What a device holds, or why that cannot be told; empty: nothing.

    wipefs knows file systems, partition tables, swap, RAID and LVM. Data that it does not know, such as
    a database that uses the bare device, shows in bytes that are not zero.
    """
    wipefs = shutil.which("wipefs", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if wipefs is None:
        return "cannot be looked at without the program wipefs (util-linux)"
    command = [wipefs, "--no-act", "--json", str(device)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        # Older versions print nothing where there is nothing.
        found = json.loads(answer.stdout or '{"signatures": []}')
        signatures = None if answer.returncode else found["signatures"]
        with device.open("rb") as file:
            blank = not any(file.read(_LOOKED_AT))
    except (ValueError, KeyError, OSError):
        signatures = None
    if signatures is None:
        return "cannot be looked at, so it may hold data"
    if signatures:
        return "holds " + ", ".join(sorted({entry["type"] for entry in signatures}))
    return "" if blank else "holds data of a kind that wipefs does not know"
