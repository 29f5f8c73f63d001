"""Reader of fio's terse output (``--minimal``, ``--output-format=terse``), versions 2 to 5.

One line a job, ``;`` between the fields, no quoting:

=============================== =========== =========== =========== ===========
what                            v2          v3          v4          v5
=============================== =========== =========== =========== ===========
fio's version                   –           2nd field   2nd field   2nd field
directions                      r, w, t     r, w        r, w, t     r, w, t
fields of a direction           41          41          41          47
fields without disks            161         121         162         180
fields of a disk                –           9           9           9
=============================== =========== =========== =========== ===========

========================= ==================================================================
quantity                  unit, in every version
========================= ==================================================================
bytes moved               KiB, truncated
bandwidth                 KiB/s, truncated
IOPS                      1/s, truncated
run time                  ms
slat, clat, lat           µs, in fio 3 too; least and most truncated, six digits of the mean
percentiles               µs, truncated; of clat
CPU                       %
========================= ==================================================================

Traps that are dealt with: names and descriptions with ``;`` shift the fields, so they are counted from the
first percentile, which comes after 12 numbers; version 3 has no trim, though the job may have trimmed, and
version 2 of fio 2.0 has none either; with ``unified_rw_reporting`` there is one block of ``mixed``, or a
further one (``both``); v5 has the samples of bandwidth and IOPS; ``0%=0`` pads the percentiles; a direction
without I/O is all zeros; progress stands in the same line before it; "All clients" sums the lines before
it, and its percentiles are padding alone; a client's disks stand in a line of their own; the description of
v2 too; ``--status-interval`` repeats the lines, which are told from further jobs of one name (``numjobs``)
by what only grows. With ``lat_percentiles=1`` fio puts the percentiles of lat in the place of those of
clat, which a line tells only where one is longer than the longest clat; the number of I/Os is not there,
so IOPS stay cut to whole ones, while the throughput is that of bytes and run time.

Source: fio ``stat.c`` (``show_thread_status_terse_all``, ``show_ddir_status_terse``) and HOWTO, "Terse
output", read at tags 2.0.7 to 3.41, and outputs of 2.1.11, 2.14, 2.21, 3.0, 3.16, 3.28, 3.33, 3.38, 3.41.
"""

from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._beside import with_options_beside
from azbenchlib.formats.fio._jobs import report_complaints
from azbenchlib.formats.fio._json_documents import shows_document
from azbenchlib.formats.fio._mixed import terse_and_text
from azbenchlib.formats.fio._rows import write_documents
from azbenchlib.formats.fio._terse_jobs import fields_of
from azbenchlib.formats.fio._text_lines import split
from azbenchlib.formats.source import Source


def sniff(opening: str) -> bool:
    """Whether there is a terse line in the opening of a file, and no fio JSON."""
    return any(map(fields_of, split(opening))) and not shows_document(opening)


def read_fio_terse(source: Source) -> Records:
    """All jobs of the terse lines of a file, and of normal output beside them.

    Parameters
    ----------
    source : Source
        The file. It may be damaged; what is whole is read, and the rest becomes findings.

    Returns
    -------
    Records
        Rows of runs, results, latency (µs), percentiles (µs) and findings. Where normal text tells of the
        same job, the terse line counts, and the text adds what only it has: the options, trims, I/Os.
    """
    records = Records(source)
    documents, text = terse_and_text(records, source, split(source.text))
    report_complaints(records, source, text.rest)
    write_documents(records, source, with_options_beside(documents), 0)
    if not documents:
        records.finding(Code.NO_FIO_JOB, f"{source.path}: no job can be read from this file")
    return records
