"""What a student has predicted and solved: a small file of the user's, which no unattended run touches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core.files import write_atomically
from azbenchlib.core.locations import user_folder

PROGRESS_FILE = "lessons.json"


class LessonProgress(BaseModel):
    """How far one lesson is: the prediction as it was typed, whether it was measured, which seeds are "
    "solved.
    """

    model_config = ConfigDict(extra="ignore")

    prediction: str = ""
    measured: bool = False
    solved: list[int] = Field(default_factory=list)

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.solved:
            return "done"
        return "measured" if self.measured else "predicted" if self.prediction else "not begun"


def load_progress() -> dict[str, LessonProgress]:
    """By name of the lesson; empty where nothing is kept, or what is kept cannot be read."""
    path = _path()
    try:
        kept: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path else {}
        return {str(name): LessonProgress.model_validate(one) for name, one in kept.items()}
    except (OSError, ValueError, ValidationError, AttributeError, RecursionError):
        return {}


def keep_progress(lesson: str, **changes: Any) -> None:
    """Note what has changed for one lesson; nothing is kept where the user has no folder for it.

    Raises
    ------
    OutputError
        When the file cannot be written.
    """
    path = _path()
    if path is None:
        return
    kept = load_progress()
    kept[lesson] = kept.get(lesson, LessonProgress()).model_copy(update=changes)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: one.model_dump() for name, one in kept.items()}, indent=1)
    write_atomically(path, f"{text}\n".encode())


def _path() -> Path | None:
    home = user_folder("data")
    return home / PROGRESS_FILE if home else None
