"""One fio job as terse or normal output tells of it, on its way into the tables.

Every figure keeps how far its printing can have moved it, so what two outputs of one run say can be
compared; where they tell of the same job, the more exact one counts.
"""

import os
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, starmap
from typing import Any, NamedTuple

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.findings import INFO, WARNING, Code, Severity, job_label
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._options import FioWorkload
from azbenchlib.formats.source import Source

SUM_OF_CLIENTS = "All clients"
QUOTE_LENGTH = 200
SHOWN = 5  # so many examples stand in one finding
COMPARED = 100  # so many jobs of one name are compared at most, to stay linear in long files

# fio's own lines on what went wrong, in any output
ERROR_LINE = re.compile(
    r"fio: (?!terminating on|this platform).*(?:err=|error|fail|not |unable|requires|bad|got signal=)"
    r"|verify: |.*: verify failed|.*: you need to specify|Bad option",
    re.IGNORECASE,
)


class Key(NamedTuple):
    """Where a figure stands in the tables of one run."""

    table: str
    ddir: str
    column: str
    kind: str | None = None
    percentile: float | None = None


class Figure(NamedTuple):
    """A value in the unit of its column, and how far from it the true one can be."""

    value: float
    slack: float = 0.0


class OptionsBeside(NamedTuple):
    """What a command line or a job file beside an output says: which of them, and the options as typed."""

    what: str
    options: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class FioJob:
    """What one printed job says.

    `jobs` is how many fio added up in it, `members` of how many it is one or the sum (None: not told);
    `serial` tells it from others of its name; `options` are None where the output does not show them; `start`
    counts the command lines above it, where it is a terse line; `printed_s` is when it was printed, in
    seconds of a clock whose zone is not told.
    """

    name: str
    group_id: int | None = None
    error: int | None = None
    jobs: int = 1
    serial: tuple[int, int] | None = None
    host: str | None = None
    version: str | None = None
    options: dict[str, str] | None = None
    members: int | None = None
    failed: tuple[int, int] | None = None
    figures: dict[Key, Figure] = field(default_factory=dict)
    notes: tuple[tuple[Code, str], ...] = ()
    start: int = 0
    printed_s: int | None = None
    beside: OptionsBeside | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """Who it is, in another report on the same run."""
        return self.name, self.group_id, self.serial, self.start

    @property
    def directions(self) -> list[str]:
        """The directions that did something."""
        found = {key.ddir for key in self.figures if key.table != "runs"}
        return [ddir for ddir in schema.DDIRS if ddir in found]

    @property
    def seconds(self) -> float:
        """How long its longest direction took; 0 where that is not told."""
        return max((self.value("runtime_s", ddir) or 0 for ddir in self.directions), default=0)

    def value(self, column: str, ddir: str) -> float | None:
        """A column of the results, where it is told."""
        figure = self.figures.get(Key("results", ddir, column))
        return None if figure is None else figure.value


def report_complaints(records: Records, source: Source, lines: Iterable[str]) -> list[str]:
    """A finding on fio's error lines among these; gives back the other lines."""
    kept = list(lines)
    errors = dict.fromkeys(line for line in kept if ERROR_LINE.match(line))
    if errors:
        quoted = "; ".join(f"'{line[:QUOTE_LENGTH]}'" for line in list(errors)[:SHOWN])
        more = f" and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        message = f"{source.path}: fio complained: {quoted}{more}"
        records.finding(Code.FIO_ERROR_LINE, message)
    return [line for line in kept if line not in errors]


def write_documents(
    records: Records, source: Source, documents: Sequence[Sequence[FioJob]], first: int
) -> None:
    """Add the rows of all jobs; the documents are numbered from `first` on."""
    superseded = [*starmap(is_superseded, pairwise(documents)), False]
    for number, jobs in enumerate(documents):
        rows = Counter((job.name, job.group_id) for job in jobs)
        surely = all(job.serial for job in jobs)  # terse lines have no clock and no process
        if not any(superseded):  # in status reports, all jobs repeat
            _report_repeats(records, source, jobs)
        for place, job in enumerate(jobs):
            run_id = source.run_id(first + number, place)
            _Writer(records, source, job, run_id).write(first + number, place, rows[job.name, job.group_id])
            if superseded[number]:
                which = f"{source.path}: document {first + number + 1} of {first + len(documents)}"
                message = f"{which} shows a run under way"
                if not surely:
                    message = (
                        f"{which} is taken for the run of the next one under way: its counters only grew"
                    )
                records.finding(
                    Code.INTERIM_DOCUMENT,
                    message,
                    "Use the last document of the run"
                    + ("" if surely else "; if these are two runs, put each in a file of its own"),
                    run_id=run_id,
                    severity=INFO if surely else WARNING,
                )


def _report_repeats(records: Records, source: Source, jobs: Sequence[FioJob]) -> None:
    """A finding on terse lines of one name, of which nothing tells whether they ran at once."""
    names = Counter(job.name for job in jobs if not job.serial and job.name != SUM_OF_CLIENTS)
    again = [f"'{name}' ({count})" for name, count in names.items() if count > 1]
    if again:
        more = f" and {len(again) - SHOWN} more" if len(again) > SHOWN else ""
        message = f"{source.path}: terse lines of one job, taken for jobs that ran at once (numjobs): "
        message += ", ".join(again[:SHOWN]) + more
        advice = "If they are of several runs, put each run in a file of its own, or use JSON"
        records.finding(Code.REPEATED_LINES, message, advice)


def is_superseded(earlier: Sequence[FioJob], later: Sequence[FioJob]) -> bool:
    """Whether the later document tells of the same jobs again, which went on meanwhile."""
    if not earlier or [job.identity for job in earlier] != [job.identity for job in later]:
        return False
    told_by_process = all(job.serial for job in earlier)
    return all(map(went_on if told_by_process else is_later, earlier, later))


def is_later(before: FioJob, after: FioJob) -> bool:
    """Whether this can be the same job later: the counters only grow, the extremes only widen."""
    for key, figure in before.figures.items():
        then = after.figures.get(key, figure)
        shrunk = key.column == "lat_max_us" and then.value < figure.value
        if shrunk or (key.column == "lat_min_us" and then.value > figure.value):
            return False
    return went_on(before, after)


def went_on(before: FioJob, after: FioJob) -> bool:
    """Whether nothing that only grows has shrunk."""
    return all(
        (before.value(column, ddir) or 0) <= (after.value(column, ddir) or 0)
        for ddir in before.directions
        for column in ("ios", "io_bytes", "runtime_s")
    )


class _Writer:
    """Rows and findings of one job."""

    def __init__(self, records: Records, source: Source, job: FioJob, run_id: str) -> None:
        self.records, self.source, self.job, self.run_id = records, source, job, run_id
        self.label = job_label(source.path, job.name)

    def write(self, document: int, place: int, rows: int) -> None:
        """All of it; `rows` jobs of the document have this one's name and group."""
        job = self.job
        level = "all" if job.name == SUM_OF_CLIENTS else "group" if job.jobs > 1 else "job"
        self.records.add(
            "runs",
            run_id=self.run_id,
            level=level,
            tool="fio",
            tool_version=job.version,
            job=job.name,
            job_index=place,
            host=job.host,
            group_id=job.group_id,
            error=job.error,
            source_path=self.source.path,
            source_sha256=self.source.sha256,
            source_doc=document,
            **self._workload(level, rows),
            **{key.column: figure.value for key, figure in job.figures.items() if key.table == "runs"},
        )
        self._measured()
        self._report()

    def _workload(self, level: str, rows: int) -> dict[str, Any]:
        """Columns from the options that the output shows; those of a sum are not told."""
        if level == "all":
            return {}
        members = self.job.members or (self.job.jobs if self.job.jobs > 1 else None)
        options = dict(self.job.options or {})
        if members:
            options["numjobs"] = str(members)
        if self.job.jobs > 1:
            options["group_reporting"] = "1"
        workload = FioWorkload(options, False, rows)
        if workload.unread:
            message = f"{self.label}: option not understood: {', '.join(workload.unread[:SHOWN])}"
            self._finding(Code.OPTION_NOT_READ, message)
        if workload.block_size_varies:
            self._finding(Code.BLOCK_SIZE_VARIES, f"{self.label}: block sizes from a range or a list")
        return workload.columns

    def _measured(self) -> None:
        rows: dict[Key, dict[str, float]] = defaultdict(dict)
        for key, figure in self.job.figures.items():
            if key.table != "runs":
                rows[key._replace(column="")][key.column] = figure.value
        errors = self.job.failed[0] if self.job.failed else None
        whose = errors if errors == 0 or len(self.job.directions) == 1 else None
        for place, values in rows.items():
            row: dict[str, Any] = {"run_id": self.run_id, "ddir": place.ddir, **values}
            if place.kind is not None:
                row["lat_kind"] = place.kind
            if place.percentile is not None:
                row["percentile"] = place.percentile
            if place.table == "results":
                self.records.add_result(self.label, errors=whose, **row)
            else:
                self.records.add(place.table, **row)

    def _report(self) -> None:
        for code, message in self.job.notes:
            self._finding(code, f"{self.label}: {message}")
        is_cut = any(code is Code.REPORT_CUT for code, _ in self.job.notes)
        if not self.job.directions and not is_cut:
            self._finding(Code.NO_IO, f"{self.label}: no I/O at all")
        if self.job.failed and self.job.failed[0]:
            failed, first = self.job.failed
            message = f"{self.label}: {failed} I/Os failed, the first with error {first}"
            self._finding(Code.IO_ERRORS, message)
        if error := self.job.error:
            meaning = os.strerror(error) if 0 < error < 2**15 else "no known error"
            message = f"{self.label} failed with error {error} ({meaning}); its results are partial"
            self._finding(Code.JOB_FAILED, message)

    def _finding(
        self, code: Code, message: str, advice: str | None = None, severity: Severity | None = None
    ) -> None:
        self.records.finding(code, message, advice, run_id=self.run_id, severity=severity)


# ---- two outputs of one run ---------------------------------------------------------------------------


def jobs_of(tables: dict[str, pd.DataFrame]) -> list[FioJob]:
    """The jobs that stand in tables already, to compare with."""
    figures: dict[str, dict[Key, Figure]] = defaultdict(dict)
    for table in ("results", "latency", "percentiles"):
        for row in schema.records(tables[table]):
            run_id, ddir = row.pop("run_id"), row.pop("ddir")
            kind, percentile = row.pop("lat_kind", None), row.pop("percentile", None)
            for column, value in row.items():
                if value is not None:
                    figures[run_id][Key(table, ddir, column, kind, percentile)] = Figure(value)
    runs = schema.records(tables["runs"])
    return [
        FioJob(name=run["job"] or "", group_id=run["group_id"], figures=figures[run["run_id"]])
        for run in runs
    ]


def matched(
    rough: Sequence[FioJob], exact: Sequence[FioJob]
) -> tuple[list[tuple[FioJob, FioJob]], list[FioJob]]:
    """Pairs of jobs that two outputs tell of, and the jobs that only the first one tells of.

    Jobs of one name and group belong together where their figures agree, and else where most of them do;
    others are of another run, whose output was appended to the file.
    """
    free: dict[tuple[str, int | None], deque[FioJob]] = defaultdict(deque)
    for job in exact:
        free[job.name, job.group_id].append(job)
    pairs: list[tuple[FioJob, FioJob]] = []
    left = list(rough)
    for belong in (_agree, _are_of_one_run):
        waiting, left = left, []
        for job in waiting:
            candidates = free[job.name, job.group_id]
            some = enumerate(islice(candidates, COMPARED))
            place = next((at for at, other in some if belong(job, other)), None)
            if place is None:
                left.append(job)
            else:
                pairs.append((job, candidates[place]))
                del candidates[place]
    return pairs, left


def _agree(rough: FioJob, exact: FioJob) -> bool:
    return bool(rough.figures or not exact.figures) and not any(differences(rough, exact))


def _are_of_one_run(rough: FioJob, exact: FioJob) -> bool:
    """Whether two outputs that differ somewhere can tell of one run.

    Of two runs of one job, which may have done equally many I/Os, most other figures differ.
    """
    shared = rough.figures.keys() & exact.figures.keys()
    return 2 * len(list(differences(rough, exact))) < len(shared)


def differences(rough: FioJob, exact: FioJob) -> Iterator[str]:
    """Figures of which two outputs say what no rounding explains."""
    for key, (value, slack) in rough.figures.items():
        other = exact.figures.get(key)
        if other and abs(value - other.value) > slack + other.slack + 1e-9 * abs(value):
            what = " ".join(str(part) for part in (key.ddir, key.kind, key.percentile) if part is not None)
            yield f"{what} {key.column} {value:.10g} and {other.value:.10g}"


def report_differences(records: Records, source: Source, pairs: Iterable[tuple[FioJob, FioJob]]) -> None:
    """A finding for each pair that does not agree."""
    for rough, exact in pairs:
        found = list(differences(rough, exact))
        if found:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            message = f"{source.path}: job '{rough.name}': outputs of one run differ: "
            message += "; ".join(found[:SHOWN]) + more
            records.finding(Code.TEXT_DIFFERS, message)


def combined(rough: FioJob, exact: FioJob) -> FioJob:
    """One job of two outputs: the exact one, and what only the rough one tells."""
    return replace(
        exact,
        jobs=rough.jobs,
        serial=rough.serial,
        host=rough.host,
        options=rough.options,
        members=rough.members,
        figures=rough.figures | exact.figures,
        notes=exact.notes,
        beside=exact.beside or rough.beside,
    )
