"""The journal: what it says, and what becomes of it and of results when something is damaged."""

import json
from pathlib import Path

import pytest
from test_run_loop import Shelf

from azbenchlib.campaign import measure, outputs
from azbenchlib.campaign.journal import JOURNAL_FILE, Journal, JournalEvent
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.files import sha256


def events(folder: Path) -> list[tuple[str, str]]:
    return [(event["event"], event.get("run", "")) for event in Journal(folder).events()]


def test_it_tells_what_happened_in_order(tmp_path: Path) -> None:
    with pytest.raises(AzbenchError):
        measure(Shelf(["a", "b"], fails="b"), tmp_path / "ds", design="Twice.")
    folder = measure(Shelf(["a", "b"]), tmp_path / "ds", design="Twice.")
    assert events(folder) == [
        (JournalEvent.PLANNED, ""),
        (JournalEvent.BEGUN, "shelf/a"),
        (JournalEvent.KEPT, "shelf/a"),
        (JournalEvent.BEGUN, "shelf/b"),
        (JournalEvent.FAILED, "shelf/b"),
        (JournalEvent.PLANNED, ""),
        (JournalEvent.BEGUN, "shelf/b"),
        (JournalEvent.KEPT, "shelf/b"),
        (JournalEvent.FINISHED, ""),
    ]
    first = Journal(folder).events()[0]
    assert first["design"] == "Twice." and [run["run"] for run in first["runs"]] == ["shelf/a", "shelf/b"]
    raw = folder / "raw" / "shelf"
    assert Journal(folder).kept()["shelf/b"] == {name: sha256(raw / name) for name in ("b.json", "b.log")}
    assert "Twice." in manifest.load(folder).notes


def test_half_a_line_is_passed_over_and_not_continued(tmp_path: Path) -> None:
    mine = Journal(tmp_path)
    mine.add("begun", run="a")
    with mine.path.open("a") as file:
        file.write('{"event": "kept", "ru')
    mine.add("begun", run="b")
    assert [event["run"] for event in mine.events()] == ["a", "b"]
    assert len(mine.path.read_text().splitlines()) == 3


def test_a_result_that_was_changed_is_put_aside_and_measured_again(tmp_path: Path) -> None:
    folder = measure(Shelf(["a", "b"]), tmp_path / "ds")
    before = (folder / "raw" / "shelf" / "b.json").read_bytes()
    (folder / "raw" / "shelf" / "b.json").write_bytes(before.replace(b"randrw", b"random"))
    again = Shelf(["a", "b"])
    measure(again, tmp_path / "ds")
    assert again.events == ["begin", "prepare b", "release NoneType"]
    assert (folder / "raw" / "shelf" / "b.json").read_bytes() == before
    (kept,) = (folder / outputs.FAILED).iterdir()
    assert b"random" in (kept / "b.json").read_bytes()
    assert (JournalEvent.DAMAGED, "shelf/b") in events(folder)
    assert any("b.json is not as it was kept" in note for note in manifest.load(folder).notes)


def test_a_result_that_the_journal_does_not_know_is_taken_into_it(tmp_path: Path) -> None:
    """As after a kill between the renaming and the line."""
    with pytest.raises(AzbenchError):
        measure(Shelf(["a", "b"], fails="b"), tmp_path / "ds")
    path = tmp_path / "ds" / JOURNAL_FILE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if json.loads(line)["event"] != JournalEvent.KEPT))
    measure(Shelf(["a", "b"]), tmp_path / "ds")
    kept = [run for event, run in events(tmp_path / "ds") if event == JournalEvent.KEPT]
    assert kept == ["shelf/a", "shelf/b"]


def test_what_is_no_journal_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).mkdir()
    with pytest.raises(InputError, match=r"journal\.jsonl: cannot be read: is no regular file"):
        Journal(tmp_path).events()
