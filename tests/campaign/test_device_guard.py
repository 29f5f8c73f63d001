"""What the guard of devices says of real loop devices, whatever lies on them and wherever it lies."""

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loop_devices import content, loop_device, put

from azbenchlib.campaign import device_guard, safety
from azbenchlib.campaign.device_guard import check_target, look
from azbenchlib.campaign.journal import Journal
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import GIB, KIB, MIB

SIZE = 64 * MIB
TOKEN = "4f1c0ffee4f1c0ff"  # noqa: S105  of a campaign; no secret


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """A loop device of 64 MiB of zeros."""
    with loop_device(tmp_path / "image", SIZE) as made:
        yield made


def ext4(device: Path, *options: str) -> None:
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4 (e2fsprogs) to put a file system on a loop device")
    subprocess.run(["mkfs.ext4", "-q", "-F", *options], check=True, capture_output=True)


def ext4_without_its_first_mib(device: Path) -> None:
    ext4(device, "-b", "1024", str(device))
    put(device, 0, bytes(MIB))


def swap(device: Path) -> None:
    subprocess.run(["mkswap", device], capture_output=True, check=True)


def lvm(device: Path) -> None:
    label = b"LABELONE" + struct.pack("<QII8s", 1, 0, 32, b"LVM2 001") + b"0123456789abcdef" * 2
    put(device, 512, label.ljust(512, b"\0"))


def gpt_backup(device: Path) -> None:
    put(device, -512, (b"EFI PART" + struct.pack("<II", 0x10000, 92)).ljust(512, b"\0"))


def partition_table(device: Path) -> None:
    entry = struct.pack("<B3sB3sII", 0x80, b"\0\1\1", 0x83, b"\0\1\1", 2048, 4096)
    put(device, 446, entry.ljust(64, b"\0") + b"\x55\xaa")


KINDS: dict[str, Callable[[Path], object]] = {
    "zeros first, then data": lambda device: put(device, 2 * MIB, os.urandom(40 * MIB)),
    "ext4": lambda device: ext4(device, str(device)),
    "ext4 without its first MiB": ext4_without_its_first_mib,
    "a file system at an offset": lambda device: ext4(device, "-E", f"offset={20 * MIB}", str(device), "16m"),
    "swap": swap,
    "LVM physical volume": lvm,
    "RAID member, superblock 1.0 at the end": lambda device: put(
        device, -8 * KIB, struct.pack("<III", 0xA92B4EFC, 1, 0) + bytes(4) + os.urandom(16)
    ),
    "RAID member, superblock 1.2": lambda device: put(
        device, 4 * KIB, struct.pack("<III", 0xA92B4EFC, 1, 0) + bytes(4) + os.urandom(16)
    ),
    "LUKS header": lambda device: put(device, 0, b"LUKS\xba\xbe\0\1aes\0"),
    "second LUKS2 header": lambda device: put(device, 16 * KIB, b"SKUL\xba\xbe\0\2"),
    "LUKS header at the end": lambda device: put(device, -MIB, b"LUKS\xba\xbe\0\2"),
    "ZFS label at the end": lambda device: put(device, -128 * KIB, struct.pack("<Q", 0x00BAB10C)),
    "BitLocker": lambda device: put(device, 0, b"\xeb\x58\x90-FVE-FS-\0\2\x08\0\0"),
    "second superblock of btrfs": lambda device: put(device, 64 * KIB + 64, b"_BHRfS_M"),
    "partition table": partition_table,
    "second GPT at the end": gpt_backup,
    "random bytes in the middle": lambda device: put(device, 31 * MIB + 17, os.urandom(4096)),
    "one byte": lambda device: put(device, 48 * MIB + 4097, b"\x01"),
    "the last byte": lambda device: put(device, -1, b"\x80"),
    "the same byte everywhere": lambda device: put(device, 0, b"\xff" * SIZE),
    "data of a database, page by page": lambda device: [
        put(device, page * MIB, b"page".ljust(8192, b"\0")) for page in range(3, 60, 7)
    ],
    "text that begins as a mark": lambda device: put(device, -4096, b"azbench-mark 1 token"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(8)
def test_whatever_lies_on_a_device_is_refused_and_left_as_it_is(kind: str, device: Path) -> None:
    KINDS[kind](device)
    before = content(device)
    with pytest.raises(UnsafeTargetError, match=rf"{device}: holds .*the words 'overwrite {device}'"):
        check_target(device, MIB)
    assert content(device) == before
    check_target(device, MIB, f"overwrite {device}")


def test_a_blank_device_is_taken_and_nothing_is_written_by_looking(device: Path) -> None:
    before = content(device)
    check_target(device, SIZE - 4 * KIB)
    assert content(device) == before


@pytest.mark.parametrize("offset", [0, 3 * GIB + 12345, 4 * GIB - 1])
def test_one_byte_of_a_larger_device_is_found(offset: int, tmp_path: Path) -> None:
    with loop_device(tmp_path / "image", 4 * GIB) as device:
        put(device, offset, b"x")
        with pytest.raises(UnsafeTargetError, match=f"at byte {offset},"):
            check_target(device, MIB)


def test_what_is_too_large_to_be_read_needs_the_words(tmp_path: Path) -> None:
    with loop_device(tmp_path / "image", 12_000 * GIB) as device:
        said = r"in 5 minutes: [0-9]+ [MG]iB of 12000 GiB .* the rest may, .*the words 'overwrite "
        with pytest.raises(UnsafeTargetError, match=said):
            check_target(device, MIB)
        check_target(device, MIB, f"overwrite {device}")
        new = device_guard._run("device_refusal", str(device), "token", "new", "")
        assert new.stdout == b""  # the campaign that created it knows that it is blank
        put(device, 5_000 * GIB, b"x" * 64 * MIB)  # where XFS has a copy, so no random place needs to meet it
        put(device, 3_000 * GIB, b"x")
        with pytest.raises(UnsafeTargetError, match=r"holds data of a kind .* at byte \d+,"):
            check_target(device, MIB)


@pytest.mark.parametrize("mode", ["r+b", "wb"])
def test_a_device_that_another_process_has_open_for_writing_is_in_use(mode: str, device: Path) -> None:
    code = f"import sys; f = open(sys.argv[1], '{mode}', buffering=0); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        words = f"overwrite mounted {device}"
        with pytest.raises(UnsafeTargetError, match=rf"process {other.pid} .*open for writing, .*'{words}'"):
            check_target(device, MIB)
        check_target(device, MIB, words)
        other.communicate(b"")
    check_target(device, MIB)


def test_a_device_under_another_loop_device_is_in_use(device: Path) -> None:
    with loop_device(device, 0), pytest.raises(UnsafeTargetError, match="is in use: "):
        check_target(device, MIB)


def test_a_device_that_the_kernel_does_not_let_go_of_is_in_use(device: Path) -> None:
    """As of a file system that keeps it without a mount: whoever has it alone shows nowhere else."""
    file = os.open(device, os.O_RDONLY | os.O_EXCL)
    try:
        with pytest.raises(UnsafeTargetError, match="is in use: the system does not let go of it"):
            check_target(device, MIB)
    finally:
        os.close(file)


def test_the_mark_of_a_campaign_counts_for_itself_on_its_device_alone(device: Path, tmp_path: Path) -> None:
    device_guard.mark(device, TOKEN, Journal(tmp_path / "ds"))
    put(device, 0, os.urandom(MIB))  # what fio has written
    assert look(device, "", TOKEN).ours and not look(device, "", TOKEN).holds
    for other in ("", "another", TOKEN[:-1]):
        assert "of another campaign of azbench" in look(device, "", other).holds
    before = content(device)
    with pytest.raises(UnsafeTargetError, match="was marked by another campaign meanwhile"):
        device_guard.mark(device, "another", Journal(tmp_path / "other"))
    assert content(device) == before
    shutil.copy(tmp_path / "image", tmp_path / "copy")
    with loop_device(tmp_path / "copy", 0) as copied:
        assert not look(copied, "", TOKEN).ours
        assert "or of another device" in look(copied, "", TOKEN).holds
    os.truncate(tmp_path / "image", SIZE + MIB)
    subprocess.run(["losetup", "--set-capacity", device], check=True)
    assert look(device, "", TOKEN).holds  # it is larger than it was


def test_a_file_system_that_was_made_on_a_marked_device_is_none_of_ours(device: Path, tmp_path: Path) -> None:
    device_guard.mark(device, TOKEN, Journal(tmp_path / "ds"))
    ext4(device, str(device), f"{SIZE // KIB - 4}k")
    assert look(device, "", TOKEN).holds == "holds ext4"


def test_a_device_that_is_written_to_its_end_has_no_room_for_the_mark(device: Path) -> None:
    with pytest.raises(UnsafeTargetError, match=r"last 4\u00a0KiB are for the mark .*'overwrite /dev/loop"):
        check_target(device, SIZE)
    check_target(device, SIZE, f"overwrite {device}")


def test_without_a_tool_to_look_with_nothing_counts_as_blank(
    device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for tool in ("cat", "readlink", "find", "stat", "ls", "awk", "sed", "dd", "tr"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(device_guard, "_GUARD", ())  # which adds the system's folders
    with pytest.raises(UnsafeTargetError, match="cannot be looked at without the program wipefs"):
        check_target(device, MIB)


def test_a_target_on_which_nobody_looked_is_refused() -> None:
    silent = device_guard.with_facts(
        safety.TargetFacts(path="/dev/x", real="/dev/x", kind="device", total_bytes=SIZE), {}
    )
    with pytest.raises(UnsafeTargetError, match="cannot be looked at, so it may hold data"):
        safety.judge(silent, MIB)


@pytest.mark.parametrize("breaks", ["dd", "cmp", "wipefs", "blockdev", "od", "find", "perl", "sha256sum"])
@pytest.mark.sampled(3)
def test_a_look_that_breaks_off_shows_nothing_blank(
    breaks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever tool fails or is killed meanwhile: what was not seen to be blank is not."""
    (tmp_path / "bin").mkdir()
    for how, body in (
        ("fails", "exit 1"),
        ("is killed", "kill -9 $$"),
        ("kills the script", "kill -9 $PPID"),
    ):
        tool = tmp_path / "bin" / breaks
        tool.write_text(f"#!/bin/sh\n{body}\n")
        tool.chmod(0o755)
        monkeypatch.setattr(device_guard, "_GUARD", (f"PATH={tmp_path / 'bin'}:$PATH:/usr/sbin:/sbin",))
        image = tmp_path / how
        with loop_device(image, SIZE) as device:
            if breaks == "find" and how != "kills the script":
                continue  # it fails wherever a process ends meanwhile
            if breaks == "sha256sum":
                assert not look(device, "", TOKEN).ours
                continue
            with pytest.raises(UnsafeTargetError):
                check_target(device, MIB)
