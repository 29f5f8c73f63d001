"""The lessons of azbench: what each is called, how long it takes, and where its parts are."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azbenchlib.lessons.practice import Practice


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

    def load(self) -> type[Practice]:
        """Its class."""
        module, _, name = self.home.partition(":")
        found: type[Practice] = getattr(import_module(f"azbenchlib.lessons.experiments.{module}"), name)
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
    _entry(9, "flush", "ReadWrite caching, flush and loss", 15, "flush:FlushLesson"),
    _entry(10, "reading", "Reading what fio says", 20, "reading:ReadingLesson"),
    _entry(11, "repeats", "Repeats, intervals and “undecided”", 20, "repeats:RepeatsLesson"),
    _entry(12, "cases", "The case book: find the error", 25, "cases:CasesLesson"),
)
