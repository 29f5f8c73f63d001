"""What every kind of workload tells of itself, whichever tool it runs; the defaults are those of fio."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import PurePath
from typing import ClassVar, Self

from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.core.errors import InputError

_REPEAT = re.compile(r"(.+)-r([1-9][0-9]{0,5})")
_WARM_UP = re.compile(r"(.+)-warm([1-9][0-9]{0,5})")


def of_repeat(name: str, number: int) -> str:
    """The name of a repeat of a workload; they count from 1."""
    return f"{name}-r{number}"


def of_warm_up(name: str, number: int) -> str:
    """The name of a run of a workload before those that count; they count from 1."""
    return f"{name}-warm{number}"


def repeat_of(name: str) -> tuple[str, int]:
    """The workload that a name is a repeat of, and which; the name itself and 0 where it is none."""
    return _parted(_REPEAT, name)


def warm_up_of(name: str) -> tuple[str, int]:
    """The workload that a name is a warm-up of, and which; the name itself and 0 where it is none."""
    return _parted(_WARM_UP, name)


def workload_of(name: str) -> str:
    """The workload that a run is one of."""
    return repeat_of(warm_up_of(name)[0])[0]


def which(name: str) -> str:
    """What a title adds for a repeat or a warm-up: ``, repeat 2``; empty for what is neither."""
    if warm_up := warm_up_of(name)[1]:
        return f", warm-up {warm_up}"
    number = repeat_of(name)[1]
    return f", repeat {number}" if number else ""


def _parted(form: re.Pattern[str], name: str) -> tuple[str, int]:
    match = form.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


class Work(ABC):
    """One process of a benchmark tool, or several that belong together.

    Attributes
    ----------
    tool : str
        The program that it runs.
    own_data : bool
        Whether it keeps data of its own; else it shares one file, or the device, with the others.
    runs_in_data_dir : bool
        Whether it is started in the folder of its data; else in that of its outputs.
    name : str
        The raw files are called by it.
    """

    tool: ClassVar[str] = "fio"
    own_data: ClassVar[bool] = False
    runs_in_data_dir: ClassVar[bool] = False
    name: str

    @property
    @abstractmethod
    def title(self) -> str:
        """How progress and reports call it."""

    @property
    @abstractmethod
    def max_duration_s(self) -> float:
        """How long it takes; at most, where that is not known beforehand."""

    @property
    def duration_s(self) -> float | None:
        """How long it takes, where that is known beforehand."""
        return self.max_duration_s

    @property
    def size_unknown(self) -> str:
        """Why nobody can tell how much data of its own it makes; empty: :attr:`own_bytes`."""
        return ""

    @property
    def limits(self) -> RunLimits:
        """At what a run of it is ended."""
        return RunLimits(seconds=self.duration_s, data_bytes=self.own_bytes or self.shared_bytes)

    @property
    def output(self) -> str:
        """The file that, where it is whole, tells that all of the outputs are there."""
        return f"{self.name}.json"

    @property
    def shared_bytes(self) -> int:
        """How much of the shared data it touches."""
        return 0

    @property
    def own_bytes(self) -> int:
        """How much data of its own it makes."""
        return 0

    @property
    def inputs(self) -> dict[str, str]:
        """Files that it needs beside its outputs: name and text."""
        return {}

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """What a table of workloads says of it."""

    @abstractmethod
    def shortened(self, runtime_s: float, size_bytes: int) -> Self:
        """The same for at most so long, on at most so much data."""

    @abstractmethod
    def commands(self, data: PurePath, out: PurePath, shared_bytes: int) -> list[list[str]]:
        """Its command lines, as argument lists: first those that write its data, last the one that measures.

        `data` is what it drives: the shared file or device, or the folder of its own data; `out` is the
        folder of its outputs.
        """

    def fits(self, folder: str, device: bool) -> Self:
        """The same, where its data can lie in a folder.

        Raises an InputError when it needs another place; `device`: there is no folder but a bare device.
        """
        if self.own_data and device:
            raise InputError(f"workload '{self.name}': needs a file system, and {folder} is a bare device")
        return self

    def rebased(self, folder: str, elsewhere: str) -> Self:
        """The same with its data in another folder."""
        return self

    def adapt_to_host(self, choose_engine: Callable[[str], str], direct: bool) -> tuple[Self, list[str]]:
        """As it can run on this machine, and what had to be changed.

        `choose_engine`: from the I/O engine of fio that is wanted to the one that is there; `direct`: whether
        the page cache can be bypassed.
        """
        return self, []
