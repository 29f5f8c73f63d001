"""The list of lessons: what each is called, how long it takes, and where its parts are."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.lessons.lesson import Lesson


@dataclass(frozen=True, kw_only=True)
class LessonEntry:
    """One lesson of the course.

    Parameters
    ----------
    number : int
        Its place.
    name : str
        In parameters and files.
    title : str
    minutes : int
        With the exercise, for a student who reads it the first time.
    home : str
        Module in `experiments` and class, with a colon between.
    """

    number: int
    name: str
    title: str
    minutes: int
    home: str

    @property
    def notebook(self) -> str:
        """Name of its file, without the ending."""
        return f"{self.number:02}_{self.name}"

    def load(self) -> type[Lesson]:
        """Its class."""
        module, _, name = self.home.partition(":")
        found: type[Lesson] = getattr(import_module(f"azbenchlib.lessons.experiments.{module}"), name)
        return found


def _entry(number: int, name: str, title: str, minutes: int, home: str) -> LessonEntry:
    return LessonEntry(number=number, name=name, title=title, minutes=minutes, home=home)


COURSE = (
    _entry(1, "units", "Units and two limits", 12, "units:UnitsLesson"),
    _entry(2, "queue", "Queue depth and Little's law", 15, "queue:QueueLesson"),
    _entry(3, "throttle", "What a throttle looks like", 15, "throttle:ThrottleLesson"),
    _entry(4, "nested", "Disks below a VM", 15, "nested:NestedLesson"),
    _entry(5, "burst", "Bursts and credits", 15, "burst:BurstLesson"),
    _entry(6, "caches", "Three caches", 20, "caches:CachesLesson"),
    _entry(7, "tails", "Percentiles and tails", 15, "tails:TailsLesson"),
    _entry(8, "redundancy", "Zones, redundancy and money", 15, "redundancy:RedundancyLesson"),
)


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
        When there is no such lesson.
    """
    return entry_of(name).load()(seed=seed, quick=quick, prediction=prediction, answer=answer)


def entry_of(name: str) -> LessonEntry:
    """The lesson of that name; InputError where there is none."""
    found = next((entry for entry in COURSE if entry.name == name), None)
    if found is None:
        names = [entry.name for entry in COURSE]
        raise InputError(f"no lesson '{name}'; there are: {', '.join(names)}")
    return found
