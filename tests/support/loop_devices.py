"""Loop devices of the tests' own: made, and let go of, over sparse files of theirs."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def loop_device(image: Path, n_bytes: int) -> Iterator[Path]:
    """A loop device over a file, which is made with so many zeros where it is not there."""
    if not image.exists():
        image.touch()
        os.truncate(image, n_bytes)
    made = subprocess.run(["losetup", "--show", "-f", image], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    path = Path(made.stdout.strip())
    try:
        yield path
    finally:
        subprocess.run(["umount", path], capture_output=True, check=False)
        subprocess.run(["losetup", "-d", path], check=True)


def content(device: Path) -> str:
    """A hash of all that is on a device."""
    subprocess.run(["blockdev", "--flushbufs", device], check=True)
    with device.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(device: Path, offset: int, data: bytes) -> None:
    """Write to a device; a negative offset counts from its end."""
    with device.open("r+b") as file:
        file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
