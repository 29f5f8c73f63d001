"""Options that stand beside an output of fio: in a command line, or in a job file that was printed.

They hold for the outputs that follow, until the next command line. What the output itself tells counts; where
its pattern is another one, they are of another run and nothing is taken from them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from azbenchlib.core.findings import Code
from azbenchlib.core.patterns import DIRECTIONS
from azbenchlib.formats.fio._command_lines import (
    JOB_FILE,
    LONGEST_CALL,
    Stated,
    Typed,
    agreed,
    base_name,
    call_in,
    read_call,
    read_sections,
)
from azbenchlib.formats.fio._jobs import QUOTE_LENGTH, SUM_OF_CLIENTS, FioJob, Key, OptionsBeside
from azbenchlib.formats.fio._options import USED, FioWorkload
from azbenchlib.formats.fio._text_lines import plain
from azbenchlib.formats.fio.job_lines import JobLine, lex

_CONTINUED = ("\\", " `", " ^")  # at the end of a line in a shell, PowerShell and cmd
_MOST_CALLS = 20  # command lines in a row that are kept
_MOST_SECTION_LINES = 2000
_SURELY = 20  # so many I/Os have a mean size that no short one at the end of a file explains
_LARGER, _SMALLER = 1.05, 0.7  # times a block size; the last one of a file may be cut short
_LONGER, _TO_END_S = 1.2, 5  # a run of a limited time may take so many times as long, and a while to end
# Column, and the options that it is made of.
_MADE_OF = {
    "bs_bytes": ("bs", "bsrange", "bssplit"),
    "bs_write_bytes": ("bs", "bsrange", "bssplit"),
    "ioengine": ("ioengine",),
    "iodepth": ("iodepth",),
}


class StatedBefore:
    """What command lines and job files said in the lines so far."""

    def __init__(self) -> None:
        self.begins = False  # whether the line that was read last ends what is above it
        self._last: list[Stated] = []  # those since the last report, or those that it followed
        self._by_name: dict[str, OptionsBeside | None] = {}
        self._reported = False
        self._call: str | None = None  # a command line that goes on in the next line
        self._sections: list[JobLine] = []
        self._printed: Stated | None = None
        self._printed_lines: list[JobLine] = []
        self._printed_name = self._next_name = ""

    def read(self, line: str) -> None:
        """Take a line as it stands in the file into account."""
        self.begins = False
        if self._sections or line.lstrip()[:1] == "[":
            self._job_line(line)
        if self._call is not None:
            self._arguments(self._call + " " + plain(line))
        elif "fio" in line or "FIO" in line:
            stripped = plain(line)
            arguments = call_in(stripped)
            if arguments is not None:
                self._arguments(arguments)
        if "cat " in line:
            name = line.rpartition("cat ")[2].strip()
            self._next_name = "" if " " in name else base_name(name)

    def of(self, name: str) -> OptionsBeside | None:
        """What was said of a job that is reported now."""
        self._reported = True
        if name not in self._by_name:
            self._by_name[name] = self._of(name)
        return self._by_name[name]

    def _of(self, name: str) -> OptionsBeside | None:
        found = [(stated, options) for stated in self._last if (options := stated.of(name)) is not None]
        options = agreed([typed for _, typed in found])
        return OptionsBeside(found[-1][0].what, options) if options else None

    @property
    def only_name(self) -> str:
        """The name of the only job that the last command line has."""
        return self._last[-1].only_name if self._last else ""

    def _arguments(self, text: str) -> None:
        """The arguments of a command line, as far as they were read."""
        if text.endswith(_CONTINUED) and len(text) < LONGEST_CALL:
            self._call = text[:-1]
            return
        self._call = None
        stated = read_call(text)
        if stated is None:
            return
        if stated.files and not stated.jobs and self._printed and self._printed_name in ("", *stated.files):
            stated = read_sections(self._printed_lines, stated.shared) or stated
        self._begin(stated)

    def _begin(self, stated: Stated) -> None:
        self.begins = True
        if self._reported:
            self._last, self._reported = [], False
        self._last = [*self._last[-_MOST_CALLS:], stated]
        self._by_name = {}

    def _job_line(self, line: str) -> None:
        """A line that may be of a job file that was printed."""
        found = lex(line[:LONGEST_CALL])
        is_option = found.option.replace("_", "").isalnum() and " " not in found.option
        if (found.section or (self._sections and is_option)) and len(self._sections) < _MOST_SECTION_LINES:
            self._sections.append(found)
        elif found.bare:
            stated = read_sections(self._sections, {})
            if stated:
                self._printed, self._printed_lines = stated, self._sections
                self._printed_name, self._next_name = self._next_name, ""
                self._begin(stated)
            self._sections = []


def with_options_beside(documents: Sequence[Sequence[FioJob]]) -> list[list[FioJob]]:
    """The jobs of documents with the options that stand beside them, and findings on these."""
    found = []
    for jobs in documents:
        rows = Counter((job.name, job.group_id) for job in jobs)
        found.append([_with_options(job, rows[job.name, job.group_id]) for job in jobs])
    return found


def _with_options(job: FioJob, rows: int) -> FioJob:
    """A job with the options beside it; `rows` jobs of its document have its name and group."""
    if job.beside is None or job.name == SUM_OF_CLIENTS:
        return job
    told = job.options or {}
    typed = {name: text for name, text in job.beside.options.items() if name in USED}
    where = f"the {job.beside.what} beside the output"
    if why := _other_pattern(job, typed):
        return _noted(job, Code.OPTIONS_BESIDE_DIFFER, f"{where} is of another run, for {why}")
    wrong = dict(_contradictions(job, typed, rows))
    taken = {name: text for name, text in typed.items() if name not in wrong and name not in told}
    if "bs" in told or "bsrange" in told:
        taken = {name: text for name, text in taken.items() if name not in ("bs", "bsrange", "bssplit")}
    if rows > 1 and job.jobs == 1:
        taken.pop("group_reporting", None)
    if taken:
        job = replace(job, options={**taken, **told})
        shown = " ".join(_shown(name, text, job.beside) for name, text in taken.items())
        message = f"{where} says what the output leaves out: {shown[:QUOTE_LENGTH]}"
        job = _noted(job, Code.OPTIONS_BESIDE, message)
    for name, had in wrong.items():
        message = f"{where} says {_shown(name, typed[name], job.beside)}, the output {had}"
        job = _noted(job, Code.OPTIONS_BESIDE_DIFFER, message)
    return job


def _shown(name: str, text: str, beside: OptionsBeside | None) -> str:
    """An option as it is typed there."""
    dashes = "" if beside and beside.what == JOB_FILE else "--"
    return f"{dashes}{name}={text}" if text else f"{dashes}{name}"


def _noted(job: FioJob, code: Code, message: str) -> FioJob:
    return replace(job, notes=(*job.notes, (code, message)))


def _other_pattern(job: FioJob, typed: Typed) -> str:
    """Why the options are not those of this job, by its pattern."""
    said = FioWorkload(typed, False, 1)
    rw = said.columns["rw"]
    had = FioWorkload(job.options or {}, False, 1).columns["rw"]
    if rw is None:
        return ""
    if had is not None and had != rw:
        return f"it says rw={rw}, and the output rw={had}"
    done = {ddir for ddir in job.directions if ddir != "mixed"}
    if had is None and said.directions and done - said.directions:
        return f"it says rw={rw}, and the job did {' and '.join(sorted(done))}"
    return ""


def _contradictions(job: FioJob, typed: Typed, rows: int) -> Iterator[tuple[str, str]]:
    """Options that the output contradicts, with what it tells."""
    said = FioWorkload(typed, False, rows).columns
    had = FioWorkload(job.options or {}, False, rows).columns
    for column, names in _MADE_OF.items():
        if said.get(column) is not None and had.get(column) not in (None, said[column]):
            for name in islice((name for name in names if name in typed), 1):
                yield name, str(had[column])
    if "ramp_time" not in typed and "bs" in typed and (mean := _other_size(job, said)):
        yield "bs", f"{mean:.0f} B for an I/O"
    limit_s = said.get("runtime_limit_s")
    if limit_s and job.seconds > limit_s * _LONGER + _TO_END_S:
        yield "runtime", f"{job.seconds:.0f} s"
    jobs = said.get("numjobs")
    if jobs is not None and not _fits(job, jobs, rows):
        yield "numjobs", str(job.members or max(job.jobs, rows))


def _fits(job: FioJob, jobs: int, rows: int) -> bool:
    """Whether a number of jobs can be that of a job of which the output has so many rows."""
    if job.serial is None or job.serial[1] < 0:  # nothing tells how many jobs a row sums
        return rows in (1, jobs)
    return jobs == (job.members or max(job.jobs, rows))


def _other_size(job: FioJob, said: dict[str, object]) -> float | None:
    """The mean size of an I/O where it is not that which the options say."""
    for ddir in DIRECTIONS["rw"]:
        size = said.get("bs_write_bytes") if ddir == "write" else None
        size = size or said.get("bs_bytes")
        ios, moved = (job.figures.get(Key("results", ddir, name)) for name in ("ios", "io_bytes"))
        if not isinstance(size, int) or not ios or not moved or not ios.value:
            continue
        least, most = ((moved.value + sign * moved.slack) / ios.value for sign in (-1, 1))
        if least > size * _LARGER or (ios.value > _SURELY and most < size * _SMALLER):
            return moved.value / ios.value
    return None
