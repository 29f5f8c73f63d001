"""A journal that no azbench of this version wrote is refused; a lock is neither followed nor waited for."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.campaign import lock, status
from azbenchlib.campaign.journal import JOURNAL_FILE, Journal
from azbenchlib.core.errors import InputError, OutputError

PLANNED = {"event": "planned", "at": "2026-11-20T10:00:00Z", "runs": [{"run": "a", "title": "A"}]}


def written(folder: Path, *events: Any) -> Path:
    (folder / JOURNAL_FILE).write_text("".join(json.dumps(event) + "\n" for event in events))
    return folder


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        (PLANNED | {"runs": 7}, "runs 7: Input should be a valid list"),
        (PLANNED | {"runs": [7]}, r"runs\.0 7: Input should be"),
        (PLANNED | {"runs": [{"run": ["a"]}]}, r"runs\.0\.run: Input should be a valid string"),
        (PLANNED | {"runs": [{"run": "a", "expected_s": "30"}]}, r'expected_s "30": Input should be'),
        (PLANNED | {"runs": [{"run": "a", "expected_s": 1e300}]}, r"expected_s 1e\+300: Input should be"),
        ({"event": "begun", "run": {"a": 1}}, "run: Input should be a valid string"),
        ({"event": "kept", "run": "a", "files": ["x"]}, "files: Input should be a valid dictionary"),
        ({"event": "kept", "run": "a", "files": {"../x": "0"}}, "Input should be the name of a file"),
        ({"event": "kept", "run": "a", "at": "9999-12-31T23:59:59-14:00"}, "Input should be a moment"),
        ({"event": "kept", "run": "a", "at": 5}, "at 5: Input should be"),
    ],
)
def test_an_event_of_another_shape_names_line_field_and_value(tmp_path: Path, event: Any, fault: str) -> None:
    folder = written(tmp_path, PLANNED, event)
    with pytest.raises(
        InputError, match=rf"{JOURNAL_FILE}: line 2: .*{fault}.*this is no journal of this version"
    ):
        status.of(folder)


def test_a_line_that_is_no_json_is_passed_over(tmp_path: Path) -> None:
    for line in (
        '{"event": "kept", "ru',
        "[" * 100_000,
        '{"event": ' + "9" * 5000,
        '{"event": "\\ud800"}',
        "7",
    ):
        (tmp_path / JOURNAL_FILE).write_text(f"{json.dumps(PLANNED)}\n{line}\n")
        assert [event["event"] for event in Journal(tmp_path).events()] == ["planned"]
        assert status.of(tmp_path).total == 1


def test_a_lock_that_is_a_pipe_or_a_link_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    folder = tmp_path / "ds"
    folder.mkdir()
    written(folder, PLANNED)
    place = tmp_path / ".ds.lock"
    os.mkfifo(place)
    assert status.of(folder).state == "stopped"
    with pytest.raises(OutputError, match="is no regular file"), lock.held(folder):
        pass
    place.unlink()
    other = tmp_path / "other"
    other.write_text("theirs")
    place.symlink_to(other)
    with pytest.raises(OutputError), lock.held(folder):
        pass
    assert other.read_text() == "theirs" and not lock.is_held(folder)
