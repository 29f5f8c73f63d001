"""Reader of fio job files: what a run was asked to do, one row a section; nothing was measured yet.

``[name]`` begins a job, ``[global]`` (or any name that begins so) options of all jobs after it: a later
``[global]`` adds to an earlier one and does not touch the jobs before it. A line is ``option=value`` or an
option alone; ``;`` and ``#`` begin a comment. ``include FILE`` puts the lines of another file, which must
not hold sections, in its place; here the file must lie in the folder of the job file or below.

Sizes, times and lists are read as in fio's JSON, which repeats the options as they were typed. Left as
typed, with a finding: ``${VARIABLE}``, ``$jobnum`` and the like, which only the shell or fio resolve.
What fio leaves at its default (4k, one job, reading) is filled in, for a job file tells all options.

A row is a description: it has no results. When the output of the job was read too, that row counts and
the description is left out.

Source: fio ``init.c`` (``__parse_jobs_ini``), HOWTO "Job file format", read at fio-3.41.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from azbenchlib.core.findings import WARNING, Code, Finding, Severity
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._options import DISTINCTIVE, FioOptions, FioWorkload, merged
from azbenchlib.formats.fio._rows import JobRows
from azbenchlib.formats.fio.job_lines import GLOBAL, JobLine, canonical, lex
from azbenchlib.formats.source import LONGEST_LINE, Source

MOST_INCLUDES = 50  # more are a file that includes itself
LARGEST_INCLUDE = 1 << 20  # bytes
MOST_JOBS = 4096  # REAL_MAX_JOBS of fio.h, read at fio-3.41; fio 3.33 refuses to run so many
_SHOWN = 5  # so many examples stand in one finding

_INCLUDE = re.compile(r"include\s+(\S.*)")
_VARIABLE = re.compile(r"\$\{?\w")

Typed = dict[str, str]


def sniff(opening: str) -> bool:
    """Whether the file begins with a section, and a line in it is an option that fio alone has."""
    lines = (line for text in opening.splitlines() if text.strip() and (line := lex(text)).bare)
    first = next(lines, None)
    if first is None or not first.section or first.section.startswith("{"):
        return False
    return any(line.option in DISTINCTIVE for line in lines)


def read_fio_jobfile(source: Source) -> Records:
    """The jobs that a job file describes.

    Parameters
    ----------
    source : Source
        The job file; what it includes is looked for beside it.

    Returns
    -------
    Records
        Rows of runs without results, and findings.
    """
    return _Reader(source).read()


@dataclass(frozen=True)
class _Section:
    """What holds for a job: the options that columns are made of, and some that only fio resolves."""

    options: FioOptions = field(default_factory=FioOptions)
    unresolved: Typed = field(default_factory=Typed)

    def and_then(self, own: Typed) -> "_Section":
        """Both sections in one; of the later one, fio takes kb_base first."""
        first = {name: own[name] for name in ("kb_base",) if name in own}
        kept = {name: value for name, value in self.unresolved.items() if name not in own}
        left = islice(((name, value) for name, value in own.items() if _is_variable(value)), _SHOWN)
        unresolved = dict(islice((kept | dict(left)).items(), _SHOWN))
        return _Section(merged(self.options, first | own), unresolved)


def _is_variable(value: str) -> bool:
    """Whether it holds something that the shell, fio or a template fills in."""
    start = value.find("{{")
    return _VARIABLE.search(value) is not None or value.find("}}", start + 2) > start >= 0


class _Reader:
    """A job file on its way into the table of runs."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.place = 0
        self.included: list[str] = []  # hashes of the files that stand in for an include

    def read(self) -> Records:
        shared = _Section()
        name, own = None, Typed()
        for line in self._lines(self.source):
            if line.section:
                shared = self._end(name, own, shared)
                name, own = line.section, Typed()
            elif name is None:
                self._finding(
                    Code.OPTION_WITHOUT_SECTION, f"'{line.bare[:80]}' stands before the first section"
                )
            else:
                own.pop(canonical(line.option), None)  # the latest is the last in order, too
                own[canonical(line.option)] = line.value
        self._end(name, own, shared)
        if not self.place:
            what = "no job is described; a job is a section that is not called [global]"
            self._finding(Code.NO_FIO_JOB, what, WARNING)
        return self.records

    def _end(self, name: str | None, own: Typed, shared: "_Section") -> "_Section":
        """What is shared after a section: a job is added to the table, a [global] to what is shared."""
        if name is None:
            return shared
        if name.startswith(GLOBAL):
            return shared.and_then(own)
        if self.place < MOST_JOBS:
            self._job(own.get("name") or name, shared.and_then(own))
        elif self.place == MOST_JOBS:
            what = (
                f"the sections after the {MOST_JOBS:,}th job are left out; fio takes no more jobs than that"
            )
            self._finding(Code.TOO_MANY_JOBS, what)
        self.place += 1
        return shared

    def _job(self, name: str, section: "_Section") -> None:
        run_id = self.source.run_id(0, ":".join([str(self.place), *self.included]))
        workload = FioWorkload(section.options, True, 1)
        if "time_based" not in section.options:
            workload.columns["time_based"] = False
        rows = JobRows(self.records, self.source, run_id, name)
        self.records.add("runs", **rows.identity(name, 0, self.place), level="job", **workload.columns)
        message = f"{rows.label} is a description of a run; nothing was measured"
        rows.finding(Code.JOB_DESCRIPTION, message, "Run it, and read its json+")
        rows.report_options(workload)
        if section.unresolved:
            typed = ", ".join(f"{key}={value}" for key, value in section.unresolved.items())
            rows.finding(Code.VARIABLE_NOT_RESOLVED, f"{rows.label}: left as typed: {typed}")

    def _lines(self, source: Source) -> Iterator[JobLine]:
        """Sections and options, without comments, included files in their place."""
        for raw in source.text.splitlines():
            line = lex(raw[:LONGEST_LINE])
            if include := _INCLUDE.fullmatch(line.bare):
                yield from self._include(source, include[1])
            elif source is not self.source and line.bare.startswith("["):
                what = f"'{source.path}' is included and holds '{line.bare[:80]}'"
                self._finding(Code.INCLUDE_WITH_SECTION, what)
            elif line.bare:
                yield line

    def _include(self, source: Source, name: str) -> Iterator[JobLine]:
        file = source.beside(name)
        if file is None or file.size_bytes > LARGEST_INCLUDE or len(self.included) >= MOST_INCLUDES:
            what = f"include {name[:200]}: no file of at most 1 MiB in the folder of the job file"
            self._finding(Code.INCLUDE_NOT_READ, what)
        else:
            self.included.append(file.sha256)
            message = f"{file.path}: included by {self.source.path}"
            self.records.add_finding(Finding.of(Code.INCLUDED, message, source_path=file.path))
            yield from self._lines(file)

    def _finding(self, code: Code, what: str, severity: Severity | None = None) -> None:
        self.records.finding(code, f"{self.source.path}: {what}", severity=severity)
