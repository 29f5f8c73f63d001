"""The lessons that can be opened: those of azbench, and those of a folder that the user named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from azbenchlib.core.errors import InputError
from azbenchlib.lessons.shipped import COURSE, LessonEntry

if TYPE_CHECKING:
    from azbenchlib.lessons.lesson import Lesson

COURSE_FOLDER = "AZBENCH_COURSE"  # environment variable that tells kernels which folder the user named


def entries() -> Sequence[LessonEntry]:
    """The lessons of azbench, and those of the folder that the user named.

    Raises
    ------
    InputError
        When that folder has no lessons, or has what is none.
    """
    folder = os.environ.get(COURSE_FOLDER)
    if not folder:
        return COURSE
    from azbenchlib.lessons.own_course import own_entries  # loads what only lessons of one's own need

    return (*COURSE, *own_entries(Path(folder)))


def open_lesson(
    name: str, *, seed: int = 1, quick: bool = False, prediction: str = "", answer: str = ""
) -> Lesson:
    """A lesson, ready for the cells of its notebook.

    Parameters
    ----------
    name : str
        Such as ``units``.
    seed : int
        Of the exercise and of the emulation.
    quick : bool
        Whether to measure for a few seconds only.
    prediction, answer : str
        What is typed in advance, for a run that nobody attends; empty: not given.

    Raises
    ------
    InputError
        When there is no such lesson, or it has exercises alone.
    """
    from azbenchlib.lessons.lesson import Lesson  # loads matplotlib

    found = entry_of(name).load()
    if not issubclass(found, Lesson):
        raise InputError(f"lesson '{name}' has exercises alone: entry_of('{name}').load()(seed=1) opens it")
    return found(seed=seed, quick=quick, prediction=prediction, answer=answer)


def entry_of(name: str) -> LessonEntry:
    """The lesson of that name; InputError where there is none."""
    known = entries()
    found = next((entry for entry in known if entry.name == name), None)
    if found is None:
        names = [entry.name for entry in known]
        raise InputError(f"no lesson '{name}'; there are: {', '.join(names)}")
    return found
