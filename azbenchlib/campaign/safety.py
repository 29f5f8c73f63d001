"""Refusals: what a measurement may not touch without a sentence that names it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from azbenchlib.campaign.host import device_bytes
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import GIB, MIB, format_size

RESERVE_SHARE = 0.1  # of a file system; a full one harms everything else that lives on it
RESERVE_BYTES = GIB  # ... but no more than this
_LOOKED_AT = MIB  # start of a device that must be zeros for it to count as empty


def check_target(target: Path, needed_bytes: int, allow: str = "") -> None:
    """Refuse a target that could lose data or run out of space.

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
    real = target.resolve()
    if not real.exists():
        raise UnsafeTargetError(f"{target}: does not exist; make the directory first")
    if real.is_block_device():
        _check_device(real, needed_bytes, allow)
    elif real.is_dir():
        _check_directory(real, needed_bytes, allow)
    else:
        raise UnsafeTargetError(
            f"{target}: exists and is neither a directory nor a block device, so measuring could destroy it; "
            "give a directory, and a new file is made there"
        )


def words_for_device(device: Path, in_use: bool) -> str:
    """The sentence that permits overwriting a device."""
    return f"overwrite {'mounted ' if in_use else ''}{device.resolve()}"


def words_for_directory(directory: Path) -> str:
    """The sentence that permits filling a file system."""
    return f"fill {directory.resolve()}"


def _check_directory(directory: Path, needed_bytes: int, allow: str) -> None:
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UnsafeTargetError(f"{directory}: is not writable; choose a directory that is")
    stats = os.statvfs(directory)
    free = stats.f_bavail * stats.f_frsize
    reserve = min(RESERVE_BYTES, int(stats.f_blocks * stats.f_frsize * RESERVE_SHARE))
    words = words_for_directory(directory)
    if free < needed_bytes + reserve and allow != words:
        raise UnsafeTargetError(
            f"{directory}: has {format_size(free)} free, and {format_size(needed_bytes)} of data with "
            f"{format_size(reserve)} in reserve are needed; measure less, "
            f"or permit it with the words '{words}'"
        )


def _check_device(device: Path, needed_bytes: int, allow: str) -> None:
    in_use = _in_use(device)
    holds = None if in_use else _content(device)
    words = words_for_device(device, bool(in_use))
    if (in_use or holds) and allow != words:
        raise UnsafeTargetError(
            f"{device}: {in_use or holds}, and measuring would overwrite it; choose another target, "
            f"or permit it with the words '{words}'"
        )
    size = device_bytes(device)
    if size < needed_bytes:
        raise UnsafeTargetError(
            f"{device}: has {format_size(size)}, and {format_size(needed_bytes)} are needed; measure less"
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
