"""Writing: whole or not at all, on the disk when it is said to be, nothing left behind by who was killed."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from azbenchlib.core import files
from azbenchlib.core.errors import OutputError


def test_writing_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    files.write_atomically(path, b"a long first version")
    with path.open("rb") as reader:
        files.write_atomically(path, b"short")
        assert reader.read() == b"a long first version"  # who reads it already sees no half
    assert path.read_bytes() == b"short"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "inside").mkdir(parents=True)
    with pytest.raises(OutputError, match="folder: cannot be written: Is a directory"):
        files.write_atomically(target, b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(OutputError, match="cannot be written"):
        files.write_atomically(tmp_path / "file" / "below", b"data")
    assert (tmp_path / "file").read_bytes() == b"mine"


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is flushed, renamed and made, in order; each is really done."""
    found: list[tuple[str, str]] = []
    fsync, replace, mkdir = os.fsync, os.replace, os.mkdir

    def flushed(descriptor: int) -> None:
        found.append(("flush", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        fsync(descriptor)

    def renamed(old: Path, new: Path) -> None:
        found.append(("rename", f"{old} {new}"))
        replace(old, new)

    def made(path: Path, *more: int) -> None:
        mkdir(path, *more)
        found.append(("make", str(path)))

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    monkeypatch.setattr(os, "mkdir", made)
    return found


def test_file_and_folders_are_flushed_in_the_order_that_keeps_them(
    tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    path = tmp_path / "a" / "b" / "file"
    files.write_atomically(path, b"data")
    (part,) = [text.split()[0] for kind, text in events if kind == "rename"]
    assert events == [
        ("make", str(tmp_path / "a")),
        ("flush", str(tmp_path)),
        ("make", str(tmp_path / "a" / "b")),
        ("flush", str(tmp_path / "a")),
        ("flush", part),
        ("rename", f"{part} {path}"),
        ("flush", str(tmp_path / "a" / "b")),
    ]


def test_a_file_that_cannot_be_flushed_is_not_called_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match="file: cannot be written: Input/output error"):
        files.write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_system_that_flushes_no_folder_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def refuse(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_dir():
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    assert files.write_atomically(tmp_path / "file", b"new").read_bytes() == b"new"


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from azbenchlib.core import files\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_atomically(Path(sys.argv[1]), b'half')"
    )
    path = tmp_path / "file [1]"
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    (left,) = tmp_path.iterdir()  # each removed its forerunner's
    assert left.name.startswith(".file [1].") and left.name.endswith(".part")
    files.write_atomically(path, b"whole")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_what_another_writer_is_at_work_on_is_left_alone(tmp_path: Path) -> None:
    part = tmp_path / ".file.0123.part"
    with part.open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        files.write_atomically(tmp_path / "file", b"mine")
        assert part.exists()
    files.write_atomically(tmp_path / "file", b"mine")
    assert not part.exists()


def test_many_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from azbenchlib.core import files\n"
        "for _ in range(200): files.write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 1000)"
    )
    path = tmp_path / "file"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert path.read_bytes() in {letter * 1000 for letter in (b"a", b"b", b"c")}
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("raw/a.json", ""),
        ("raw/..a", ""),
        ("raw/a b/ü…", ""),
        ("", "is no name of a file"),
        ("a\0", "is no name of a file"),
        ("/a", "is an absolute path"),
        ("a/..", "leads out of the folder"),
        ("../a", "leads out of the folder"),
    ],
)
def test_names_of_files_in_a_folder(name: str, fault: str) -> None:
    assert files.fault_of_name(name) == fault


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    assert files.read_bounded(path, tmp_path, 4) == b"1234"
    with pytest.raises(OSError, match="is larger than 3"):
        files.read_bounded(path, tmp_path, 3)
    with pytest.raises(FileNotFoundError):
        files.read_bounded(tmp_path / "gone", tmp_path, 3)
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="cannot be reached"):
        files.read_bounded(tmp_path / "round", tmp_path, 3)
