"""The rows and findings of fio's jobs: one way into the tables, whatever output they are told in."""

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any

from azbenchlib.core.findings import INFO, WARNING, Code, Severity, job_label
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
