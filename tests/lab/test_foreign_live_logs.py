"""Live logs that no lab of this version and of this user writes: a sentence, and nobody is waited for."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.cli.printing import lab_view
from azbenchlib.core.errors import InputError
from azbenchlib.core.file_locks import lock
from azbenchlib.dataset import lab_outputs
from azbenchlib.lab.server import live_log

HEADER: dict[str, Any] = {
    "azbench_lab": 1,
    "setup": "x",
    "time_scale": 1,
    "full_credits": {"a disk_iops": 5.0},
}
LINE: dict[str, Any] = {
    "unix_s": 1.0,
    "t_s": 1.0,
    "late_us": None,
    "late_p50_us": None,
    "done": {"a": [1, 4096]},
    "objects": {"a": {"queue_depth": 1}},
}
OTHER_USER = 65534


@pytest.mark.parametrize(
    ("header", "line", "fault"),
    [
        ({"azbench_lab": 1}, {"unix_s": 1}, "line 1: setup: Field required"),
        (HEADER | {"azbench_lab": "1"}, LINE, 'line 1: azbench_lab "1": Input should be 1'),
        (HEADER | {"time_scale": 0}, LINE, "time_scale 0: Input should be greater than 0"),
        (HEADER | {"full_credits": [1]}, LINE, "full_credits: Input should be a valid dictionary"),
        (HEADER | {"full_credits": {"a": float("nan")}}, LINE, "Input should be a finite number"),
        (HEADER, {"unix_s": 1}, "line 2: t_s: Field required"),
        (HEADER, LINE | {"late_us": "5"}, 'late_us "5": Input should be a valid number'),
        (HEADER, LINE | {"done": {"a": [1]}}, r"done\.a: List should have at least 2"),
        (HEADER, LINE | {"done": {"a": 5}}, r"done\.a 5: Input should be a valid list"),
        (HEADER, LINE | {"objects": []}, "objects: Input should be a valid dictionary"),
        (HEADER, LINE | {"objects": {"a": {"credits": 10**400}}}, r"credits"),
        (HEADER, [], "line 2: Input should be a valid dictionary"),
    ],
)
def test_a_log_of_another_version_is_refused_in_a_sentence(
    tmp_path: Path, header: Any, line: Any, fault: str
) -> None:
    log = tmp_path / live_log.LIVE_LOG
    log.write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n")
    with pytest.raises(
        InputError, match=f"{live_log.LIVE_LOG}: .*{fault}.*no live log of a lab of this version"
    ):
        lab_view.follow(log)


def test_a_line_without_end_and_depth_without_end_are_refused(tmp_path: Path) -> None:
    log = tmp_path / live_log.LIVE_LOG
    for data in (b"x" * (3 << 20), b"[" * 100_000, b"\x00", b""):
        log.write_bytes(data)
        with pytest.raises(InputError, match="no live log of a lab"):
            live_log.read(log)


def test_levels_above_the_full_credits_and_below_zero_are_shown(tmp_path: Path) -> None:
    for level in (-5.0, 1e17):
        line = LINE | {"objects": {"a disk_iops": {"credits": level}}}
        (tmp_path / "lab.log").write_text(f"{json.dumps(HEADER)}\n{json.dumps(line)}\n")
        lab_view.view(live_log.read(tmp_path / "lab.log"))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / live_log.LIVE_LOG
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no live log of a lab: is no regular file"):
        live_log.read(pipe)
    assert not live_log.alive(pipe)
    os.mkfifo(tmp_path / "out_lab.log")
    assert lab_outputs.slowness(tmp_path / "out.json") is None
    with pytest.raises(InputError, match="no live log can be written: is no regular file"):
        live_log.LiveLog(tmp_path, {})


def test_a_new_log_goes_through_no_link_and_is_for_its_user_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / live_log.LIVE_LOG).symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError, match="no live log can be written"):
        live_log.LiveLog(tmp_path, {})
    assert (tmp_path / "theirs").read_text() == "kept"
    (tmp_path / live_log.LIVE_LOG).unlink()
    live_log.LiveLog(tmp_path, HEADER).close()
    assert (tmp_path / live_log.LIVE_LOG).stat().st_mode & 0o077 == 0
    assert live_log.read(tmp_path / live_log.LIVE_LOG).header.setup == "x"


def running_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What is taken for a running lab of ours among what others put among temporary files, and our own."""
    monkeypatch.setattr(live_log.tempfile, "gettempdir", lambda: str(tmp_path))
    for name in ("own", "pipe", "link", "theirs"):
        (tmp_path / f"{live_log.LAB_PREFIX}{name}").mkdir()
    own = tmp_path / f"{live_log.LAB_PREFIX}own" / live_log.LIVE_LOG
    own.write_text(json.dumps(HEADER) + "\n")
    os.mkfifo(tmp_path / f"{live_log.LAB_PREFIX}pipe" / live_log.LIVE_LOG)
    (tmp_path / f"{live_log.LAB_PREFIX}link" / live_log.LIVE_LOG).symlink_to(own)
    (tmp_path / f"{live_log.LAB_PREFIX}folder").symlink_to(own.parent)
    theirs = tmp_path / f"{live_log.LAB_PREFIX}theirs" / live_log.LIVE_LOG
    theirs.write_text(json.dumps(HEADER) + "\n")
    if os.geteuid() == 0:  # only root can give a file away; that it is no link and no pipe holds for all
        os.chown(theirs, OTHER_USER, OTHER_USER)
    else:
        theirs.unlink()
    with own.open("rb") as server, (theirs if theirs.exists() else own).open("rb") as other:
        lock(server.fileno())
        if theirs.exists():
            lock(other.fileno())
        return live_log.running()


def test_only_own_regular_files_are_taken_for_logs_of_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / f"{live_log.LAB_PREFIX}own" / live_log.LIVE_LOG
    assert running_logs(tmp_path, monkeypatch) == [own]
