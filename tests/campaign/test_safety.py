"""What a measurement refuses to touch, on real directories and real loop devices."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loop_devices import loop_device

from azbenchlib.campaign import safety
from azbenchlib.campaign.device_guard import check_target
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import GIB, MIB


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """A loop device of 16 MiB of zeros."""
    with loop_device(tmp_path / "image", 16 * MIB) as made:
        yield made


def format_ext4(device: Path) -> None:
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4 (e2fsprogs) to put a file system on a loop device")
    subprocess.run(["mkfs.ext4", "-q", device], check=True)


def test_a_writable_directory_with_room_is_fine(tmp_path: Path) -> None:
    check_target(tmp_path, MIB)


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsafeTargetError, match="absent: does not exist; make the directory"):
        check_target(tmp_path / "absent", MIB)
    with pytest.raises(UnsafeTargetError, match="/dev/absent: does not exist; lsblk"):
        check_target(Path("/dev/absent"), MIB)


def test_a_file_is_refused_and_no_words_help(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("data")
    for allow in ("", f"overwrite {file}", f"fill {file}"):
        with pytest.raises(UnsafeTargetError, match="precious: exists"):
            check_target(file, MIB, allow)


def test_a_character_device_is_refused() -> None:
    with pytest.raises(UnsafeTargetError, match="neither a directory nor a block device"):
        check_target(Path("/dev/null"), MIB, "overwrite /dev/null")


def test_a_directory_without_room_names_the_words_that_permit_it(tmp_path: Path) -> None:
    stats = os.statvfs(tmp_path)
    needed = stats.f_bavail * stats.f_frsize  # all of it, so that nothing stays in reserve
    with pytest.raises(UnsafeTargetError, match="in reserve are needed") as refused:
        check_target(tmp_path, needed)
    words = safety.words_for_directory(tmp_path)
    assert f"'{words}'" in str(refused.value)
    check_target(tmp_path, needed, words)
    with pytest.raises(UnsafeTargetError):
        check_target(tmp_path, needed, "fill /somewhere/else")


def test_the_reserve_is_a_tenth_or_a_gibibyte(tmp_path: Path) -> None:
    stats = os.statvfs(tmp_path)
    free, size = stats.f_bavail * stats.f_frsize, stats.f_blocks * stats.f_frsize
    reserve = min(GIB, size // 10)
    if free < reserve + 200 * MIB:
        pytest.skip("the file system of the temporary directory is nearly full")
    slack = 100 * MIB  # others write meanwhile
    check_target(tmp_path, free - reserve - slack)
    with pytest.raises(UnsafeTargetError):
        check_target(tmp_path, free - reserve + slack)


def test_a_read_only_directory_is_refused() -> None:
    proc = Path("/proc/self")
    with pytest.raises(UnsafeTargetError, match="not writable"):
        check_target(proc, 0, f"fill {proc.resolve()}")


def test_a_device_must_be_large_enough(device: Path) -> None:
    check_target(device, 15 * MIB)
    with pytest.raises(UnsafeTargetError, match="has 16\u00a0MiB, and 17\u00a0MiB are needed"):
        check_target(device, 17 * MIB)


def test_a_device_with_a_file_system_needs_its_own_words(device: Path, tmp_path: Path) -> None:
    format_ext4(device)
    link = tmp_path / "link"
    link.symlink_to(device)
    for target in (device, link):
        for allow in ("", "overwrite", "overwrite /dev/other", f"overwrite {link}", f"overwrite {device}x"):
            with pytest.raises(UnsafeTargetError, match=f"{device}: holds ext4.*'overwrite {device}'"):
                check_target(target, MIB, allow)
        check_target(target, MIB, f"overwrite {device}")


def test_a_mounted_device_needs_stronger_words(device: Path, tmp_path: Path) -> None:
    format_ext4(device)
    point = tmp_path / "mounted"
    point.mkdir()
    mounted = subprocess.run(["mount", device, point], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr.strip()}")
    for allow in ("", f"overwrite {device}"):
        with pytest.raises(UnsafeTargetError, match=f"in use.*'overwrite mounted {device}'"):
            check_target(device, MIB, allow)
    check_target(device, MIB, f"overwrite mounted {device}")
