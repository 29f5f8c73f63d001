"""Where several outputs of fio stand in one file: which of them counts, and whether the others agree.

``--output-format=terse,json,normal`` tells of every job three times. JSON counts before terse lines, and
these before normal text; a job that only one of them tells of is read from that one.
"""

from collections.abc import Mapping, Sequence

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio import _terse_jobs as _fio_terse_jobs
from azbenchlib.formats.fio import _text_jobs as _fio_text_jobs
from azbenchlib.formats.fio._beside import with_options_beside
from azbenchlib.formats.fio._jobs import (
    FioJob,
    combined,
    jobs_of,
    matched,
    report_differences,
)
from azbenchlib.formats.fio._rows import write_documents
from azbenchlib.formats.source import Source

Documents = list[list[FioJob]]


def terse_and_text(
    records: Records, source: Source, lines: Sequence[str]
) -> tuple[Documents, _fio_text_jobs.TextReport]:
    """The jobs of terse lines and of normal text among these lines, every job once.

    Returns
    -------
    documents
        Terse ones first, with what only the text tells of their jobs; then what only the text tells of.
    report
        What the text besides the terse lines says.
    """
    terse = _fio_terse_jobs.find_jobs(lines)
    text = _fio_text_jobs.find_jobs(terse.rest)
    if terse.broken:
        first = source.line(terse.broken[0])
        message = f"{source.path}: {len(terse.broken)} terse lines are broken, the first is line {first}"
        records.finding(Code.BROKEN_LINES, message, "Directions that are whole were kept", severity=ERROR)
    exact = [job for document in terse.documents for job in document]
    pairs, alone = matched([job for document in text.documents for job in document], exact)
    report_differences(records, source, pairs)
    merged = {id(job): combined(rough, job) for rough, job in pairs}
    opened = {(opening.name, opening.group_id): opening for opening in reversed(text.openings)}
    documents = [
        [merged.get(id(job)) or _announced(job, opened) for job in document] for document in terse.documents
    ]
    return [*documents, *_remaining(text, alone)], text


def read_beside_json(records: Records, source: Source, lines: Sequence[str], first: int) -> None:
    """Check text and terse lines around JSON against it, and read the jobs that JSON does not tell of.

    Parameters
    ----------
    records : Records
        With the rows made of JSON.
    lines : sequence of str
        The lines around the JSON; at least one.
    first : int
        Number of the first document that is not JSON.
    """
    for find in (_fio_terse_jobs.find_jobs, _fio_text_jobs.find_jobs):
        report = find(lines)
        rough = [job for document in report.documents for job in document]
        if not rough:
            continue
        pairs, alone = matched(rough, jobs_of(records.frames()))
        report_differences(records, source, pairs)
        left = _remaining(report, alone)
        write_documents(records, source, with_options_beside(left), first)
        first += len(left)


def _announced(job: FioJob, opened: Mapping[tuple[str, int | None], FioJob]) -> FioJob:
    """A terse job with the options that the first opening line of its name and group shows."""
    opening = opened.get((job.name, job.group_id))
    return combined(opening, job) if opening else job


def _remaining(
    report: _fio_text_jobs.TextReport | _fio_terse_jobs.TerseReport, alone: Sequence[FioJob]
) -> Documents:
    """The documents of a report without the jobs that are told of elsewhere."""
    kept = {id(job) for job in alone}
    documents = [[job for job in document if id(job) in kept] for document in report.documents]
    return [document for document in documents if document]
