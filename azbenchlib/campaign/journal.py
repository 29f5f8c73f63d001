"""The journal of a dataset folder: what was begun, kept, left out and interrupted, as it happened.

Lines of JSON that are only ever added, each on the disk before the next step. A run is kept when its last
file was renamed into ``raw/``; the journal says so afterwards, so after a kill in between, the file is there
and the line is added when the campaign is taken up again. A line that a power cut left half is passed over.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.campaign.planning import plan
from azbenchlib.core import privacy
from azbenchlib.core.documents import decoded, first_fault
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import append, fault_of_name, flush, read_bounded
from azbenchlib.core.units import MIB
from azbenchlib.dataset.files import sha256

JOURNAL_FILE = "journal.jsonl"
_SENTENCES = ("why", "said")  # which may tell who measured where
_LARGEST = 64 * MIB
_LONGEST_TEXT, _MOST_RUNS, _LONGEST_S = 100_000, 1_000_000, 1e9


def _moment(text: str) -> str:
    """Refuse what is no moment; none may be stated."""
    if text:
        try:
            datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValueError("Input should be a moment in ISO 8601") from None
    return text


def _plain_name(name: str) -> str:
    """Refuse what is no name of a file in the folder of a run."""
    if "/" in name or fault_of_name(name):
        raise ValueError("Input should be the name of a file, without a folder")
    return name


_Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
_FileName = Annotated[_Text, AfterValidator(_plain_name)]


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


class _PlannedRun(BaseModel):
    """A run of a plan."""

    model_config = ConfigDict(extra="ignore", strict=True)

    run: _Text
    title: _Text = ""
    expected_s: Annotated[float, Field(ge=0, le=_LONGEST_S, allow_inf_nan=False)] = 0.0


class _Event(BaseModel):
    """What a line of a journal may tell."""

    model_config = ConfigDict(extra="ignore", strict=True)

    event: _Text
    at: Annotated[_Text, AfterValidator(_moment)] = ""
    run: _Text = ""
    runs: Annotated[list[_PlannedRun], Field(max_length=_MOST_RUNS)] = []
    files: Annotated[dict[_FileName, _Text], Field(max_length=_MOST_RUNS)] = {}
    why: _Text = ""
    said: _Text = ""
    design: _Text = ""


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

        Raises an InputError when the file cannot be read, or a line tells what no journal tells.
        """
        try:
            text = read_bounded(self.path, self.folder, _LARGEST).decode(errors="replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from error
        events = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                event = _parsed(line)
            except ValidationError as error:
                raise InputError(
                    f"{self.path}: line {number}: {first_fault(error)}; this is no journal of this version"
                ) from error
            if event:
                events.append(event)
        return events

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


def failures(events: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Why runs failed, by run; the latest failure of each."""
    failed = (event for event in events if event["event"] == JournalEvent.FAILED)
    return {str(event.get("run")): str(event.get("why")) for event in failed}


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
    """Return an event; None where the line is none, as one that a power cut left half.

    Raises a ValidationError when it is whole and of another shape.
    """
    try:
        content = decoded(line)
    except ValueError:
        return None
    if not isinstance(content, dict) or not isinstance(content.get("event"), str):
        return None
    _Event.model_validate(content)
    return content
