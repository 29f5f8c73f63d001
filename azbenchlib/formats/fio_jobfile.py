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

from azbenchlib.formats._fio_options import DISTINCTIVE, Workload, merged
from azbenchlib.formats.base import DESCRIPTION, LONGEST_LINE, Records, Source

INCLUDED = "included"  # code of the finding that names a file which was read for an include
GLOBAL = "global"
MOST_INCLUDES = 50  # more are a file that includes itself
LARGEST_INCLUDE = 1 << 20  # bytes
SHOWN = 5  # so many examples stand in one finding

_SECTION = re.compile(r"\[([^\]\n][^\n]*)\]$")
_INCLUDE = re.compile(r"include\s+(\S.*)")
_VARIABLE = re.compile(r"\$\{?\w+\}?|\{\{.*\}\}")
_COMMENT = re.compile(r"[;#].*")

Options = dict[str, str]


def sniff(opening: str) -> bool:
    """Whether the file begins with a section, and a line in it is an option that fio alone has."""
    lines = [stripped for line in opening.splitlines() if (stripped := _COMMENT.sub("", line).strip())]
    if not lines or not _SECTION.match(lines[0]) or lines[0].startswith("[{"):
        return False
    return any(line.partition("=")[0].strip() in DISTINCTIVE for line in lines)


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


class _Reader:
    """A job file on its way into the table of runs."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.place = 0
        self.included: list[str] = []  # hashes of the files that stand in for an include

    def read(self) -> Records:
        shared: Options = {}
        name, own = None, Options()
        for line in list(self._lines(self.source)):
            section = _SECTION.match(line)
            if section is None and name is None:
                self._finding("option_without_section", f"'{line[:80]}' stands before the first section")
            elif section is None:
                key, _, value = line.partition("=")
                own = merged(own, {key.strip(): value.strip()})
            else:
                shared = self._end(name, own, shared)
                name, own = section[1], {}
        self._end(name, own, shared)
        return self.records

    def _end(self, name: str | None, own: Options, shared: Options) -> Options:
        """What is shared after a section: a job is added to the table, a [global] to what is shared."""
        if name is None:
            return shared
        if name.startswith(GLOBAL):
            return merged(shared, own)
        self._job(own.get("name") or name, merged(shared, own))
        self.place += 1
        return shared

    def _job(self, name: str, options: Options) -> None:
        run_id = self.source.run_id(0, ":".join([str(self.place), *self.included]))
        workload = Workload(options, True, 1)
        if "time_based" not in options:
            workload.columns["time_based"] = False
        self.records.add(
            "runs",
            run_id=run_id,
            level="job",
            tool="fio",
            job=name,
            job_index=self.place,
            source_path=self.source.path,
            source_sha256=self.source.sha256,
            source_doc=0,
            **workload.columns,
        )
        label = f"{self.source.path}: job '{name}'"
        message = f"{label} is a description of a run; nothing was measured"
        self.records.finding("info", DESCRIPTION, message, "Run it, and read its json+", run_id)
        if workload.unread:
            message = f"{label}: option not understood: {', '.join(workload.unread[:SHOWN])}"
            advice = "The columns made from it are NA"
            self.records.finding("warning", "option_not_read", message, advice, run_id)
        unresolved = [f"{key}={value}" for key, value in options.items() if _VARIABLE.search(value)]
        if unresolved:
            message = f"{label}: left as typed: {', '.join(unresolved[:SHOWN])}"
            self.records.finding("info", "variable_not_resolved", message, run_id=run_id)
        if workload.block_size_varies:
            self.records.finding(
                "info", "block_size_varies", f"{label}: block sizes from a range or a list", run_id=run_id
            )

    def _lines(self, source: Source) -> Iterator[str]:
        """Sections and options, without comments, included files in their place."""
        for raw in source.text.splitlines():
            line = _COMMENT.sub("", raw[:LONGEST_LINE]).strip()
            if include := _INCLUDE.fullmatch(line):
                yield from self._include(source, include[1])
            elif source is not self.source and line.startswith("["):
                self._finding("include_with_section", f"'{source.path}' is included and holds '{line[:80]}'")
            elif line:
                yield line

    def _include(self, source: Source, name: str) -> Iterator[str]:
        file = source.beside(name)
        if file is None or file.size_bytes > LARGEST_INCLUDE or len(self.included) >= MOST_INCLUDES:
            what = f"include {name[:200]}: no file of at most 1 MiB in the folder of the job file"
            self._finding("include_not_read", what, "Put it beside the job file")
        else:
            self.included.append(file.sha256)
            message = f"{file.path}: included by {self.source.path}"
            self.records.add(
                "findings", source_path=file.path, severity="info", code=INCLUDED, message=message
            )
            yield from self._lines(file)

    def _finding(self, code: str, what: str, advice: str = "") -> None:
        self.records.finding("warning", code, f"{self.source.path}: {what}", advice)
