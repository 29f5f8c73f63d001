"""The journal of a dataset folder: what was begun, kept, left out and interrupted, as it happened.

Lines of JSON that are only ever added, each on the disk before the next step. A run is kept when its last
file was renamed into ``raw/``; the journal says so afterwards, so after a kill in between, the file is there
and the line is added when the campaign is taken up again. A line that a power cut left half is passed over.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from azbenchlib.campaign.planning import plan
from azbenchlib.core import privacy
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import append, flush, read_bounded
from azbenchlib.core.units import MIB
from azbenchlib.dataset.files import sha256

JOURNAL_FILE = "journal.jsonl"
_SENTENCES = ("why", "said")  # which may tell who measured where
_LARGEST = 64 * MIB


class JournalEvent(StrEnum):
    """What can happen."""

    PLANNED = "planned"
    BEGUN = "begun"
    KEPT = "kept"
    FAILED = "failed"
    LEFT_OUT = "left out"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"
    DAMAGED = "damaged"
    MARKED = "marked"


@dataclass(frozen=True)
class Journal:
    """The journal of a folder."""

    folder: Path

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder / JOURNAL_FILE

    def add(self, event: str, **facts: Any) -> None:
        """Write down what happened now; it is on the disk when this returns."""
        masked = {key: privacy.masked(facts[key]) for key in _SENTENCES if key in facts}
        line = json.dumps({"event": event, "at": plan.now(), **facts, **masked}, ensure_ascii=False)
        new = not self.path.exists()
        append(self.path, f"{'' if self._ends_whole() else chr(10)}{line}\n")
        if new:
            flush(self.folder)

    def events(self) -> list[dict[str, Any]]:
        """All that is written down, in order.

        Raises
        ------
        InputError
            When the file cannot be read.
        """
        try:
            text = read_bounded(self.path, self.folder, _LARGEST).decode(errors="replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        return [event for line in text.splitlines() if (event := _parsed(line))]

    def kept(self) -> dict[str, dict[str, str]]:
        """The runs that were kept: from each to the hashes of its files, by name."""
        return kept(self.events())

    def _ends_whole(self) -> bool:
        try:
            with self.path.open("rb") as file:
                file.seek(-1, 2)
                return file.read(1) == b"\n"
        except (FileNotFoundError, OSError):
            return True


def kept(events: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The runs that were kept by what happened: from each to the hashes of its files, by name."""
    found: dict[str, dict[str, str]] = {}
    for event in events:
        run, files = event.get("run"), event.get("files")
        if event["event"] == JournalEvent.KEPT and isinstance(run, str) and isinstance(files, dict):
            found[run] = files
        elif event["event"] == JournalEvent.DAMAGED:
            found.pop(str(run), None)
    return found


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """The sha256 of files, by name."""
    return {path.name: sha256(path) for path in sorted(files)}


def damage(folder: Path, files: Mapping[str, str]) -> str:
    """The first file of a run that is not there or not as it was kept; empty: all are."""
    for name, known in files.items():
        path = folder / name
        if not path.is_file() or sha256(path) != known:
            return name
    return ""


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
