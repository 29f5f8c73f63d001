"""One fio job as terse or normal output tells of it, on its way into the tables.

Every figure keeps how far its printing can have moved it, so what two outputs of one run say can be
compared; where they tell of the same job, the more exact one counts.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas as pd

from azbenchlib import schema
from azbenchlib.formats._fio_options import Workload
from azbenchlib.formats.base import Records, Source

SUM_OF_CLIENTS = "All clients"
QUOTE_LENGTH = 200
SHOWN = 5  # so many examples stand in one finding
COMPARED = 100  # so many jobs of one name are compared at most, to stay linear in long files

# fio's own lines on what went wrong, in any output
ERROR_LINE = re.compile(
    r"fio: (?!terminating on|this platform).*(?:err=|error|fail|not |unable|requires|bad)"
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


@dataclass(frozen=True)
class Job:
    """What one printed job says.

    `jobs` is how many fio added up in it, `members` of how many it is one or the sum (None: not told);
    `serial` tells it from others of its name; `options` are None where the output does not show them.
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
    notes: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def identity(self) -> tuple[Any, ...]:
        """Who it is, in another report on the same run."""
        return self.name, self.group_id, self.serial

    @property
    def directions(self) -> list[str]:
        """The directions that did something."""
        found = {key.ddir for key in self.figures if key.table != "runs"}
        return [ddir for ddir in schema.DDIRS if ddir in found]

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
        records.finding("error", "fio_error_line", message, "Mend the cause and run again")
    return [line for line in kept if line not in errors]


def write_documents(records: Records, source: Source, documents: Sequence[Sequence[Job]], first: int) -> None:
    """Add the rows of all jobs; the documents are numbered from `first` on."""
    for number, jobs in enumerate(documents):
        rows = Counter((job.name, job.group_id) for job in jobs)
        interim = number + 1 < len(documents) and is_superseded(jobs, documents[number + 1])
        for place, job in enumerate(jobs):
            run_id = source.run_id(first + number, place)
            _Writer(records, source, job, run_id).write(first + number, place, rows[job.name, job.group_id])
            if interim:
                records.finding(
                    "info",
                    "interim_document",
                    f"{source.path}: document {first + number + 1} of {first + len(documents)} shows a run "
                    "under way",
                    "Use the last document of the run",
                    run_id,
                )


def is_superseded(earlier: Sequence[Job], later: Sequence[Job]) -> bool:
    """Whether the later document tells of the same jobs again, which went on meanwhile."""
    same = [job.identity for job in earlier] == [job.identity for job in later]
    return bool(earlier) and same and all(map(went_on, earlier, later))


def went_on(before: Job, after: Job) -> bool:
    """Whether nothing that only grows has shrunk."""
    return all(
        (before.value(column, ddir) or 0) <= (after.value(column, ddir) or 0)
        for ddir in before.directions
        for column in ("ios", "io_bytes", "runtime_s")
    )


class _Writer:
    """Rows and findings of one job."""

    def __init__(self, records: Records, source: Source, job: Job, run_id: str) -> None:
        self.records, self.source, self.job, self.run_id = records, source, job, run_id
        self.label = f"{source.path}: job '{job.name}'"

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
        workload = Workload(options, False, rows)
        if workload.unread:
            message = f"{self.label}: option not understood: {', '.join(workload.unread[:SHOWN])}"
            self._finding("warning", "option_not_read", message, "The columns made from it are NA")
        if workload.block_size_varies:
            self._finding("info", "block_size_varies", f"{self.label}: block sizes from a range or a list")
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
                row["errors"] = whose
            self.records.add(place.table, **row)

    def _report(self) -> None:
        for severity, code, message, advice in self.job.notes:
            self._finding(severity, code, f"{self.label}: {message}", advice)
        if not self.job.directions:
            self._finding("warning", "no_io", f"{self.label}: no I/O at all")
        if self.job.failed and self.job.failed[0]:
            failed, first = self.job.failed
            message = f"{self.label}: {failed} I/Os failed, the first with error {first}"
            self._finding("warning", "io_errors", message)
        if error := self.job.error:
            meaning = os.strerror(error) if 0 < error < 2**15 else "no known error"
            message = f"{self.label} failed with error {error} ({meaning}); its results are partial"
            self._finding("error", "job_failed", message, "Mend the cause and run again")

    def _finding(self, severity: str, code: str, message: str, advice: str = "") -> None:
        self.records.finding(severity, code, message, advice, self.run_id)


# ---- two outputs of one run ---------------------------------------------------------------------------


def jobs_of(tables: dict[str, pd.DataFrame]) -> list[Job]:
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
    return [Job(run["job"] or "", run["group_id"], figures=figures[run["run_id"]]) for run in runs]


def matched(rough: Sequence[Job], exact: Sequence[Job]) -> tuple[list[tuple[Job, Job]], list[Job]]:
    """Pairs of jobs that two outputs tell of, and the jobs that only the first one tells of.

    Jobs of one name and group belong together where their figures agree, and else in their order.
    """
    free: dict[tuple[str, int | None], list[Job]] = defaultdict(list)
    for job in exact:
        free[job.name, job.group_id].append(job)
    pairs, doubtful, alone = [], [], []
    for job in rough:
        candidates = free[job.name, job.group_id]
        agreeing = next((other for other in candidates[:COMPARED] if not any(differences(job, other))), None)
        if agreeing is None:
            doubtful.append(job)
        else:
            _take(candidates, agreeing)
            pairs.append((job, agreeing))
    for job in doubtful:
        if candidates := free[job.name, job.group_id]:
            pairs.append((job, candidates.pop(0)))
        else:
            alone.append(job)
    return pairs, alone


def _take(jobs: list[Job], one: Job) -> None:
    """Remove this very job, not one that is equal to it."""
    del jobs[next(place for place, job in enumerate(jobs) if job is one)]


def differences(rough: Job, exact: Job) -> Iterator[str]:
    """Figures of which two outputs say what no rounding explains."""
    for key, (value, slack) in rough.figures.items():
        other = exact.figures.get(key)
        if other and abs(value - other.value) > slack + other.slack + 1e-9 * abs(value):
            what = " ".join(str(part) for part in (key.ddir, key.kind, key.percentile) if part is not None)
            yield f"{what} {key.column} {value:.10g} and {other.value:.10g}"


def report_differences(records: Records, source: Source, pairs: Iterable[tuple[Job, Job]]) -> None:
    """A finding for each pair that does not agree."""
    for rough, exact in pairs:
        found = list(differences(rough, exact))
        if found:
            more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            message = f"{source.path}: job '{rough.name}': outputs of one run differ: "
            message += "; ".join(found[:SHOWN]) + more
            records.finding("warning", "text_differs", message, "The more exact output counts")


def combined(rough: Job, exact: Job) -> Job:
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
    )
