"""iozone as a workload: every test at every record and file size, each over the whole file.

The data is written once before anything is measured, so that the disk has given room for it and reads find
data; the file is kept (``-w``) for the next workload. Every file and record size then begins with iozone's
own test 0, which empties the file and writes it anew: `write` is the writing of a new file, and `rewrite` and
all that follow find their blocks in place.

Source of the options: ``iozone -h`` and iozone(1), 3.489, 2020.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, ClassVar

from azbenchlib.campaign.doctor import IOZONE_APT, install
from azbenchlib.campaign.workloads import base
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.campaign.workloads.grid import check_job_name, yes_or_no
from azbenchlib.core.errors import InputError, MissingToolError
from azbenchlib.core.units import GIB, KIB, MIB, fio_size_text, format_size, parse_size

_DATA = "azbench.iozone-data"
_KEYS = ("tests", "records", "file_sizes", "direct", "threads")
# Tests by name: iozone's number, and how many passes over the data it makes.
PASSES = {
    "write": (0, 2),
    "read": (1, 2),
    "random": (2, 2),
    "backward": (3, 1),
    "record_rewrite": (4, 1),
    "stride": (5, 1),
    "fwrite": (6, 2),
    "fread": (7, 2),
}
BUFFERED = ("fwrite", "fread")  # they go through the buffers of stdio, which -I does not bypass
AUTO = tuple(4 * KIB * 2**power for power in range(13))  # 4 KiB to 16 MiB, as iozone -a takes them
LARGEST_FILE = 512 * GIB
# The slowest disk that Azure has, Standard HDD up to 8 TiB: what a run lasts at most.
# Source: Microsoft Learn, "Azure managed disk types", 2026.
SLOWEST_IOPS, SLOWEST_BYTES_PER_S = 500, 60_000_000
REHEARSED_BYTES = 4 * MIB  # iozone goes over all of its data, so a rehearsal takes little of it

_VERSION = re.compile(r"Revision:\s*([\d.]+)")


@dataclass(frozen=True, kw_only=True)
class Iozone(Work):
    """A run of iozone, in auto mode or with several processes side by side.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``; the raw files are called by it.
    tests : tuple of str
        Names in :data:`PASSES`; `write` is always among them, for iozone has nothing to read without.
    records : tuple of int
        Record sizes in bytes, whole KiB.
    file_sizes : tuple of int
        In bytes, whole KiB; of each process, where there are several.
    direct : bool
        Whether to bypass the page cache (``-I``).
    threads : int, optional
        Processes side by side, each with a file of its own (``-t``): one record and one file size then.

    Raises
    ------
    InputError
        When a value cannot be run; the sentence names it and what it may be.
    """

    tool: ClassVar[str] = "iozone"
    own_data: ClassVar[bool] = True
    name: str
    tests: tuple[str, ...]
    records: tuple[int, ...]
    file_sizes: tuple[int, ...]
    direct: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        check_job_name(self.name)
        _check_tests(self.tests, self.direct)
        for key in ("records", "file_sizes"):
            sizes = getattr(self, key)
            if not sizes or len(set(sizes)) < len(sizes):
                raise InputError(f"{key}: must be a list of sizes, each once")
            for size in sizes:
                if not 0 < size <= LARGEST_FILE or size % KIB:
                    raise InputError(
                        f"{key}: {format_size(size)} is not whole KiB, up to 512 GiB", keys=(key,)
                    )
        if min(self.records) > min(self.file_sizes):
            raise InputError(
                f"a file of {format_size(min(self.file_sizes))} holds no record of "
                f"{format_size(min(self.records))}; make file_sizes larger or records smaller"
            )
        if self.threads is not None:
            self._check_threads(self.threads)

    def _check_threads(self, threads: Any) -> None:
        if not isinstance(threads, int) or isinstance(threads, bool) or not 1 <= threads <= 256:
            raise InputError(
                f"threads '{shown(str(threads))}' must be a whole number from 1 to 256", keys=("threads",)
            )
        if len(self.records) > 1 or len(self.file_sizes) > 1:
            raise InputError("with threads, iozone takes one size in records and one in file_sizes")

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> "Iozone":
        """A workload from the key ``iozone`` of a measurement file.

        ``file_sizes`` is needed; ``tests`` (write, read, random), ``records`` (auto: 4 KiB to 16 MiB, as far
        as they fit), ``direct`` (true) and ``threads`` (none) have defaults. Raises an InputError when one is
        missing or cannot be run.
        """
        if unknown := [key for key in given if key not in _KEYS]:
            raise InputError(
                f"iozone: no key '{shown(unknown[0])}'; the keys are: {', '.join(_KEYS)}", keys=(unknown[0],)
            )
        if "file_sizes" not in given:
            raise InputError("iozone: file_sizes is missing, such as [1GiB]")
        files = _sizes(given["file_sizes"], "file_sizes")
        records = given.get("records", "auto")
        largest = max(files, default=0)
        fitting = (
            tuple(size for size in AUTO if size <= largest)
            if records == "auto"
            else _sizes(records, "records")
        )
        tests = tuple(map(str, _list(given.get("tests", ("write", "read", "random")))))
        direct, threads = yes_or_no("direct", given.get("direct", True)), given.get("threads")
        return cls(name=name, tests=tests, records=fitting, file_sizes=files, direct=direct, threads=threads)

    @property
    def title(self) -> str:
        """How progress and reports call it: ``iozone write, read, 13 record sizes, file of 1 GiB``."""
        records = _counted("record size", self.records, "records of")
        files = _counted("file size", self.file_sizes, "file of")
        jobs = f", {self.threads} processes" if self.threads else ""
        return f"iozone {', '.join(self.tests)}, {records}, {files}{jobs}{base.which(self.name)}"

    @property
    def output(self) -> str:
        """What iozone prints, with the reports of -R at the end."""
        return f"{self.name}.txt"

    @property
    def own_bytes(self) -> int:
        """The largest file, once for every process."""
        return max(self.file_sizes) * (self.threads or 1)

    @property
    def max_duration_s(self) -> float:
        """How long it takes on the slowest disk that Azure has, with the writing of the data."""
        passes = sum(PASSES[test][1] for test in {"write", *self.tests})
        seconds = _seconds(self.own_bytes, MIB)
        for file in self.file_sizes:
            for record in self.records:
                if record <= file:
                    seconds += passes * _seconds(file * (self.threads or 1), record)
        return seconds

    @property
    def duration_s(self) -> None:
        """It ends when all is read and written, and nobody knows when that is."""
        return None

    def facts(self) -> dict[str, object]:
        """What a table of workloads says of it."""
        one = {"bs_bytes": self.records[0]} if len(self.records) == 1 else {}
        facts = {"rw": ", ".join(self.tests), "iodepth": 1, "numjobs": self.threads or 1}
        return {**facts, **one, "size_bytes": max(self.file_sizes)}

    def shortened(self, runtime_s: float, size_bytes: int) -> "Iozone":
        """The same on so little data that it is soon done; records that do not fit are left out."""
        most = min(size_bytes, REHEARSED_BYTES)
        files = tuple(dict.fromkeys(min(size, most) for size in self.file_sizes))
        records = tuple(size for size in self.records if size <= max(files)) or (max(files),)
        return replace(self, file_sizes=files, records=records)

    def commands(self, data: PurePath, out: PurePath, shared_bytes: int) -> list[list[str]]:
        """The iozone that writes the data once, and the one that measures, in the folder of its outputs."""
        file = fio_size_text(max(self.file_sizes))
        record = fio_size_text(min(MIB, max(self.file_sizes)))
        direct = ["-I"] if self.direct else []
        where = self._where(data)
        once = ["iozone", "-i", "0", "-+n", "-w", "-e", *direct, "-r", record, "-s", file, *where]
        numbers = [str(number) for test, (number, _) in PASSES.items() if test in {"write", *self.tests}]
        return [
            once,
            [
                *("iozone", "-R", "-b", f"{self.name}.xls", "-w"),
                *([] if self.threads else ["-z"]),  # small records of large files too
                *direct,
                *(word for number in numbers for word in ("-i", number)),
                *(word for size in self.records for word in ("-r", fio_size_text(size))),
                *(word for size in self.file_sizes for word in ("-s", fio_size_text(size))),
                *where,
            ],
        ]

    def _where(self, data: PurePath) -> list[str]:
        if not self.threads:
            return ["-f", str(data / _DATA)]
        files = [str(data / f"{_DATA}-{number}") for number in range(1, self.threads + 1)]
        return ["-t", str(self.threads), "-F", *files]

    def adapt_to_host(self, choose_engine: Callable[[str], str], direct: bool) -> tuple["Iozone", list[str]]:
        """The same, buffered where direct I/O is refused."""
        if direct or not self.direct:
            return self, []
        return replace(self, direct=False), [
            "The file system refuses O_DIRECT: iozone ran without -I, so figures may be of memory."
        ]


@dataclass(frozen=True)
class IozoneProgram:
    """An installed iozone: where, and its version."""

    path: str
    version: str


def find() -> IozoneProgram:
    """The iozone that the search path leads to.

    Raises a MissingToolError when there is none.
    """
    path = shutil.which("iozone")
    if path is None:
        raise MissingToolError(f"a workload needs iozone; get it with: {install('iozone', apt=IOZONE_APT)}")
    answer = subprocess.run([path, "-v"], capture_output=True, text=True, check=False)  # noqa: S603
    version = _VERSION.search(answer.stdout)
    return IozoneProgram(path, version[1] if version else "not stated")


def _check_tests(tests: Sequence[str], direct: bool) -> None:
    if not tests or len(set(tests)) < len(tests):
        raise InputError("tests: must be a list of tests, each once")
    if unknown := [test for test in tests if test not in PASSES]:
        raise InputError(
            f"test '{shown(unknown[0])}' is unknown; the choices are: {', '.join(PASSES)}",
            keys=("tests",),
        )
    if direct and (buffered := [test for test in tests if test in BUFFERED]):
        raise InputError(
            f"test '{buffered[0]}' goes through the buffers of stdio, which -I does not bypass; leave it "
            "out, or say direct: false and know that memory is measured"
        )


def _seconds(n_bytes: int, record: int) -> float:
    """How long the slowest disk takes for so much data."""
    return max(n_bytes / record / SLOWEST_IOPS, n_bytes / SLOWEST_BYTES_PER_S)


def _list(given: Any) -> Sequence[Any]:
    return given if isinstance(given, list | tuple) else [given]


def _sizes(given: Any, key: str) -> tuple[int, ...]:
    try:
        return tuple(size if type(size) is int else parse_size(str(size)) for size in _list(given))
    except InputError as error:
        raise InputError(f"{key}: {error}", keys=(key,)) from error


def _counted(what: str, sizes: Sequence[int], one: str) -> str:
    return f"{one} {format_size(sizes[0])}" if len(sizes) == 1 else f"{len(sizes)} {what}s"
