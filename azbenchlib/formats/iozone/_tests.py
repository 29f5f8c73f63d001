"""What iozone's outputs share: the names of its tests, its command line, and a figure's way into the tables.

A figure is named by its test, its record and file size and the number of processes. iozone tells the same
figure in a row of text, in a report for Excel and in a spreadsheet; all become the same rows here.

Source: iozone ``iozone.c``, read at 3.414, and outputs of 3.327, 3.430, 3.465 and 3.489.
"""

import getopt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.patterns import OVER_STDIO
from azbenchlib.core.units import KIB, parse_size
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

# Tests in the order of a row's columns; those of -E stand last, the vector ones only where they are built in.
TESTS = (
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read"),
    *("record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread"),
    *("pwrite", "repwrite", "pread", "repread", "pwritev", "repwritev", "preadv", "repreadv"),
)
_MIXED = "random_mix"  # test 8 of throughput mode
RETESTS = frozenset(
    ("rewrite", "reread", "frewrite", "freread", "repwrite", "repread", "repwritev", "repreadv")
)
# Letters of a test in reports, sheets and throughput mode, where they are not those of its name.
SPELLED = {
    **{"writer": "write", "initialwrite": "write", "initialwriter": "write", "rewriter": "rewrite"},
    **{"reader": "read", "rereader": "reread", "randomreader": "random_read"},
    **{"randomwriter": "random_write", "reverseread": "backward_read", "reversereader": "backward_read"},
    **{"stridereader": "stride_read", "fwriter": "fwrite", "refwrite": "frewrite", "refwriter": "frewrite"},
    **{"freader": "fread", "refread": "freread", "refreader": "freread", "pwritewriter": "pwrite"},
    **{"repwritewriter": "repwrite", "preadreader": "pread", "repreadreader": "repread"},
    **{"mixedworkload": _MIXED},
}
SPELLED |= {name.replace("_", ""): name for name in TESTS}

KIB_PER_S, OPS_PER_S, US_PER_OP = "kBytes/sec", "ops/sec", "microseconds/op"
_MOST = 10**15  # a figure beyond it is damage: a petabyte, an exabyte per second, 30 years

# getopt string of iozone.c; "+" takes a letter, such as -+n
_OPTIONS = "QNIBDGCTOMREWovAxamwphcezKJ:j:k:V:r:t:s:f:F:d:l:u:U:S:L:H:+:P:i:b:X:Y:g:n:y:q:Z"
_LONGEST_SIZE = 40  # characters; Python turns no more than 4,300 digits into a number
_DEFAULT_KIB = {"s": "512", "r": "4"}
MOST_WORDS, LONGEST_WORD = 2000, 4096  # of a command line: getopt takes the square of both


def test_of(label: str) -> str | None:
    """The test that a label such as ``Re-writer Report`` or ``initial writers`` speaks of; None: of none."""
    letters = re.sub(r"[^a-z]", "", label.lower()).removesuffix("report")
    return SPELLED.get(letters) or SPELLED.get(letters.removesuffix("s"))


class CommandLine:
    """What a command line of iozone says about the run."""

    def __init__(self, text: str | None) -> None:
        self.text = text.strip() if text else ""
        self._options: dict[str, str] = {}
        words = [word[:LONGEST_WORD] for word in self.text.split(maxsplit=MOST_WORDS)[1:MOST_WORDS]]
        try:
            pairs, _ = getopt.gnu_getopt(words, _OPTIONS)
        except getopt.GetoptError:  # a cut or a foreign line: what cannot be read says nothing
            pairs = []
        for name, value in pairs:
            self._options["+" + value[:1] if name == "-+" else name[1:]] = value

    def __contains__(self, option: str) -> bool:
        return option in self._options

    @property
    def unit(self) -> str:
        """What the figures of the run count."""
        return OPS_PER_S if "O" in self else US_PER_OP if "N" in self else KIB_PER_S

    @property
    def direct(self) -> bool | None:
        """Whether it asked for O_DIRECT; None: there is no command line."""
        return "I" in self if self.text else None

    def text_of(self, option: str) -> str | None:
        """The value of an option."""
        return self._options.get(option)

    def count(self, option: str) -> int | None:
        """The whole number that an option has."""
        value = self._options.get(option, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 9 else None

    def size_bytes(self, option: str) -> int | None:
        """The size that -s or -r has: a bare number counts KiB."""
        value = self._options.get(option, _DEFAULT_KIB[option])
        if len(value) > _LONGEST_SIZE:
            return None
        try:
            size = parse_size(value + "k" if value.isdigit() else value)
        except InputError:
            return None
        return size if size <= _MOST else None


@dataclass(frozen=True, order=True)
class Cell:
    """What one figure was measured with."""

    rw: str
    file_bytes: int | None
    record_bytes: int | None
    numjobs: int = 1

    @property
    def ddir(self) -> str:
        """Direction of the test."""
        return "mixed" if self.rw == _MIXED else "write" if "write" in self.rw else "read"

    def __str__(self) -> str:
        sizes = [f"{n // KIB} kB" for n in (self.file_bytes, self.record_bytes) if n is not None]
        return ", ".join([self.rw, *sizes, *([f"{self.numjobs} processes"] if self.numjobs > 1 else [])])


@dataclass(kw_only=True)
class Figures:
    """The figures of one run of iozone.

    Attributes
    ----------
    doc : int
        Which document of its file it is.
    command : Command
        How it was called.
    unit : str
        What its figures count.
    values : dict
        Figure of each cell.
    cpu_pct : dict
        CPU use of a cell, in percent of one processor.
    run : mapping
        Columns of the table of runs that are the same for all cells.
    """

    doc: int
    command: CommandLine
    unit: str
    values: dict[Cell, float] = field(default_factory=dict)
    cpu_pct: dict[Cell, float] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)


def size_kib(text: Any) -> int | None:
    """Bytes of a size that is told in KiB; None for what is no size."""
    kib = number(text)
    return None if not kib or kib != int(kib) or kib > _MOST / KIB else int(kib) * KIB


def process_counts(command: CommandLine, n: int) -> list[int | None]:
    """Processes of each of `n` columns of a throughput report: that of -t, or from -l on; None: not told."""
    if "l" in command or "u" in command:
        first = command.count("l") or 1
        return [first + column for column in range(n)]
    return ([command.count("t")] + [None] * n)[:n]


def number(text: Any) -> float | None:
    """The number that a text or a cell of a sheet holds, from 0 to what can be measured."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and 0 <= value <= _MOST else None


def add_figures(records: Records, source: Source, figures: Figures) -> None:
    """Rows of runs, results and latency of all cells, and what is doubtful about them."""
    zeros = []
    for place, (cell, value) in enumerate(figures.values.items()):
        retest = cell.rw in RETESTS and "+n" in figures.command
        if value == 0 and retest:  # -+n leaves the retests out, and iozone prints a zero for them
            continue
        run_id = source.run_id(figures.doc, f"{cell.rw}:{cell.file_bytes}:{cell.record_bytes}:{cell.numjobs}")
        _add_run(records, source, figures, cell, run_id, place)
        if figures.unit == US_PER_OP:
            row = {"lat_kind": "lat", "lat_mean_us": value}
            records.add("latency", run_id=run_id, ddir=cell.ddir, **row)
        else:
            known = value or None  # whatever ran has a rate
            rate = {"iops": known} if figures.unit == OPS_PER_S else {"bw_bytes_per_s": known and known * KIB}
            records.add("results", run_id=run_id, ddir=cell.ddir, **rate)
        zeros += [cell] if value == 0 else []
    _report(records, source, figures, zeros)


def _add_run(records: Records, source: Source, figures: Figures, cell: Cell, run_id: str, place: int) -> None:
    command, touched = figures.command, (cell.file_bytes or 0) * cell.numjobs
    run = {"direct": command.direct, **figures.run}
    if cell.rw in OVER_STDIO and run["direct"]:
        run["direct"] = False
    depth = command.count("H") or command.count("k")
    records.add(
        "runs",
        run_id=run_id,
        level="job",
        tool="iozone",
        job=cell.rw,
        job_index=place,
        rw=cell.rw,
        bs_bytes=cell.record_bytes,
        working_set_bytes=touched if 0 < touched <= _MOST else None,
        numjobs=cell.numjobs,
        iodepth=depth or 1,
        queue_depth=(depth or 1) * cell.numjobs,
        usr_cpu_pct=figures.cpu_pct.get(cell) or None,  # "zero values should be ignored", says iozone
        source_path=source.path,
        source_sha256=source.sha256,
        source_doc=figures.doc,
        **{"target": command.text_of("f"), **run},
    )


def _report(records: Records, source: Source, figures: Figures, zeros: list[Cell]) -> None:
    if zeros and figures.unit == US_PER_OP:
        message = (
            f"{source.path}: {len(zeros)} mean{'s are' if len(zeros) > 1 else ' is'} 0 µs, such as {zeros[0]}"
        )
        records.finding(Code.BELOW_RESOLUTION, message)
    elif zeros:
        what = f"{len(zeros)} figure{'s are' if len(zeros) > 1 else ' is'}"
        message = f"{source.path}: {what} 0 {figures.unit}, such as {zeros[0]}"
        records.finding(Code.ZERO_RATE, message)
    if any(figures.cpu_pct.values()):
        message = f"{source.path}: iozone tells user and system CPU in one sum, which stands as usr_cpu_pct"
        records.finding(Code.CPU_IS_A_SUM, message)
