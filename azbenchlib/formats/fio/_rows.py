"""The rows and findings of fio's jobs: one way into the tables, whatever output they are told in."""

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any

from azbenchlib.core.findings import WARNING, Code, Severity, job_label
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._exact_rates import with_exact_rates
from azbenchlib.formats.fio._intervals import add_intervals, chains, state_of
from azbenchlib.formats.fio._jobs import SHOWN, SUM_OF_CLIENTS, FioJob, Key, is_superseded
from azbenchlib.formats.fio._options import FioWorkload
from azbenchlib.formats.source import Source


def write_documents(
    records: Records, source: Source, documents: Sequence[Sequence[FioJob]], first: int
) -> None:
    """Add the rows of all jobs; the documents are numbered from `first` on."""
    superseded = [*starmap(is_superseded, pairwise(documents)), False]
    exact = [[with_exact_rates(job) for job in jobs] for jobs in documents]
    for chain in chains(superseded[: len(documents)]):
        for place, states in enumerate(zip(*(map(state_of, exact[number]) for number in chain), strict=True)):
            add_intervals(records, source.run_id(first + chain[-1], place), states)
    for number, jobs in enumerate(exact):
        rows = Counter((job.name, job.group_id) for job in jobs)
        surely = all(job.serial for job in jobs)  # terse lines have no clock and no process
        if not any(superseded):  # in status reports, all jobs repeat
            _report_repeats(records, source, jobs)
        for place, job in enumerate(jobs):
            written = JobRows(records, source, source.run_id(first + number, place), job.name)
            _write(written, job, first + number, place, rows[job.name, job.group_id])
            if superseded[number]:
                written.report_interim(first + number, first + len(documents), surely)


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


def errors_of_each(failed: int | None, n_active: int) -> int | None:
    """The I/Os of a direction that failed, of those of a job.

    fio counts them per job: whose they are is clear where there are none, or one direction did I/O.
    """
    return failed if failed == 0 or n_active == 1 else None


class JobRows:
    """One job on its way into the tables: what each output gives a row or a finding for.

    Attributes
    ----------
    label : str
        What findings call the job.
    """

    def __init__(self, records: Records, source: Source, run_id: str, name: str) -> None:
        self.records, self.source, self.run_id = records, source, run_id
        self.label = job_label(source.path, name)

    def identity(self, name: str | None, document: int, place: int) -> dict[str, Any]:
        """Columns of the run of the job, which stands at `place` in `document`."""
        return {
            "run_id": self.run_id,
            "tool": "fio",
            "job": name,
            "job_index": place,
            "source_path": self.source.path,
            "source_sha256": self.source.sha256,
            "source_doc": document,
        }

    def report_options(self, workload: FioWorkload) -> None:
        """Report the options that were not understood, and block sizes that are not one."""
        if workload.unread:
            message = f"{self.label}: option not understood: {', '.join(workload.unread[:SHOWN])}"
            self.finding(Code.OPTION_NOT_READ, message)
        if workload.block_size_varies:
            self.finding(Code.BLOCK_SIZE_VARIES, f"{self.label}: block sizes from a range or a list")

    def report_outcome(self, is_idle: bool, failed: int | None, first: int | None, error: int | None) -> None:
        """Report a job without I/O, I/Os that failed and the error of the first, and a job that failed."""
        if is_idle:
            self.finding(Code.NO_IO, f"{self.label}: no I/O at all")
        if failed:
            message = f"{self.label}: {failed} I/Os failed, the first with error {first}"
            self.finding(Code.IO_ERRORS, message)
        if error:
            meaning = os.strerror(error) if 0 < error < 2**15 else "no known error"
            message = f"{self.label} failed with error {error} ({meaning}); its results are partial"
            self.finding(Code.JOB_FAILED, message)

    def report_interim(self, number: int, n_documents: int, is_sure: bool = True) -> None:
        """Report that a document, from 0, shows the run under way; or is taken for that."""
        which = f"{self.source.path}: document {number + 1} of {n_documents}"
        if is_sure:
            self.finding(Code.INTERIM_DOCUMENT, f"{which} shows a run under way")
        else:
            message = f"{which} is taken for the run of the next one under way: its counters only grew"
            advice = "Use the last document of the run; if these are two runs, put each in a file of its own"
            self.finding(Code.INTERIM_DOCUMENT, message, advice, WARNING)

    def finding(
        self, code: Code, message: str, advice: str | None = None, severity: Severity | None = None
    ) -> None:
        """A finding on the job."""
        self.records.finding(code, message, advice, run_id=self.run_id, severity=severity)


def _write(rows: JobRows, job: FioJob, document: int, place: int, alike: int) -> None:
    """Add a printed job; `alike` jobs of the document have its name and group."""
    level = "all" if job.name == SUM_OF_CLIENTS else "group" if job.jobs > 1 else "job"
    rows.records.add(
        "runs",
        **rows.identity(job.name, document, place),
        level=level,
        tool_version=job.version,
        host=job.host,
        group_id=job.group_id,
        error=job.error,
        **({} if level == "all" else _workload(rows, job, alike)),
        **{key.column: figure.value for key, figure in job.figures.items() if key.table == "runs"},
    )
    failed, first = job.failed or (None, None)
    _measured(rows, job, failed)
    for code, message in job.notes:
        rows.finding(code, f"{rows.label}: {message}")
    is_cut = any(code is Code.REPORT_CUT for code, _ in job.notes)
    rows.report_outcome(not (job.directions or is_cut), failed, first, job.error)


def _workload(rows: JobRows, job: FioJob, alike: int) -> dict[str, Any]:
    """Columns from the options that the output shows."""
    members = job.members or (job.jobs if job.jobs > 1 else None)
    options = dict(job.options or {})
    if members:
        options["numjobs"] = str(members)
    if job.jobs > 1:
        options["group_reporting"] = "1"
    workload = FioWorkload(options, False, alike)
    rows.report_options(workload)
    return workload.columns


def _measured(rows: JobRows, job: FioJob, failed: int | None) -> None:
    places: dict[Key, dict[str, float]] = defaultdict(dict)
    for key, figure in job.figures.items():
        if key.table != "runs":
            places[key._replace(column="")][key.column] = figure.value
    for place, values in places.items():
        row: dict[str, Any] = dict(values)
        if place.kind is not None:
            row["lat_kind"] = place.kind
        if place.percentile is not None:
            row["percentile"] = place.percentile
        if place.table == "results":
            errors = errors_of_each(failed, len(job.directions))
            rows.records.add_result(rows.label, place.ddir, run_id=rows.run_id, errors=errors, **row)
        else:
            rows.records.add(place.table, run_id=rows.run_id, ddir=place.ddir, **row)
