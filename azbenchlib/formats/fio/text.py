"""Reader of fio's normal output, from fio 2.0 to 3.41, alone or quoted in a page.

Every line has its own unit:

=================== ====================================== ==============================================
line                fio 2.0 to 2.14                        fio 2.15 and later
=================== ====================================== ==============================================
direction           ``read : io=34364KB, bw=34227KB/s,``   ``read: IOPS=6761, BW=26.4MiB/s (27.7MB/s)``
                    ``iops=8556, runt=  1004msec``         ``(26.4MiB/1001msec)``
``KB``, ``MB``      2**10, 2**20 bytes (``kb_base``)       10**3, 10**6 bytes
``KiB``, ``MiB``    2**10, 2**20 bytes                     2**10, 2**20 bytes
``k`` of counts     10**3                                  10**3
slat, clat, lat     ``(usec)`` or ``(msec)``, per line     also ``(nsec)``, per line
percentiles         ``(usec)`` or ``(msec)``, own line     also ``(nsec)``, own line
I/Os                ``issued : total=r=8591/w=8021/d=0``   ``issued rwts: total=7140,7180,0,0``
=================== ====================================== ==============================================

So ``lat (msec): min=3, max=12, avg= 4.03`` is 4,030 µs. Rates are printed with three or four digits, the
number of I/Os, the block size and the run time in full: rates are made of these where what is printed is
what they would be printed as, and kept as printed where it is not, which is a finding. Where the number of
I/Os is missing, rounded IOPS are a finding.

Traps that are dealt with: ``READ:`` in capitals sums up a group that was told of before; lines like
``lat (usec) : 10=0.01%`` are shares, too coarse for bins; percentiles of ``sync`` and of priorities are not
those of clat; ``mixed`` of ``unified_rw_reporting=both`` shows no bandwidth; a group (``group_reporting``)
has level ``group``, "All clients" level ``all``; ``--status-interval`` reports several times on the same
processes: the last report counts, and the differences are rates over time; reports that were pasted below
one another are runs of their own, as the times at which they were printed, process numbers and groups tell;
a carry is lost in the rounding of some versions (3.16: ``29.0MiB/s (31.4MB/s)`` of 29.96), so the larger
figure counts; progress lines are no results; a page may quote a direction's line without its job. Disk
statistics tell the devices' I/Os of all jobs that ran at once.

Reports of several hosts are one run, which ends with "All clients"; nothing tells whose report it is.

Options are those of the opening line, which does not tell them all: ``direct`` is not among them. A command
line such as ``$ sudo fio --name=a --direct=1``, also one that goes on in further lines, or a job file that
was printed before the output (``cat job.fio``) tells more of them, for the outputs that follow it until the
next command line; a finding says which. What the output tells counts; where the pattern or the job's name is
another one, nothing is taken.

Source: fio ``stat.c`` (``show_thread_status_normal``, ``show_ddir_status``), ``init.c``, ``client.c`` and
``lib/num2str.c``, read at tags 2.0.7 to 3.41; outputs of 2.0.13 to 3.41.
"""

import re

from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio import _text_lines as lines
from azbenchlib.formats.fio._beside import with_options_beside
from azbenchlib.formats.fio._jobs import ERROR_LINE, report_complaints
from azbenchlib.formats.fio._json_documents import shows_document
from azbenchlib.formats.fio._mixed import terse_and_text
from azbenchlib.formats.fio._rows import write_documents
from azbenchlib.formats.fio._terse_jobs import fields_of
from azbenchlib.formats.source import Source

_SIGNATURES = (lines.HEADER, lines.OPENING, lines.TEXT_RATES, lines.OLD_RATES, lines.PROGRESS)
_COMPLAINT = re.compile(r"fio: (?:pid=|file:|\S+: )")


def sniff(opening: str) -> bool:
    """Whether a line of fio's normal output is in the opening of a file, and no JSON or terse output."""
    found = lines.split(opening)
    if not any(map(_is_of_fio, filter(None, found))):
        return False
    return not shows_document(opening) and not any(map(fields_of, found))


def _is_of_fio(line: str) -> bool:
    line = lines.plain(line)
    if not line:
        return False
    if any(pattern.match(line) for pattern in _SIGNATURES):
        return True
    return bool(_COMPLAINT.match(line) and ERROR_LINE.match(line))


def read_fio_text(source: Source) -> Records:
    """All jobs that normal output in a file tells of.

    Parameters
    ----------
    source : Source
        The file. It may be a page around outputs, or damaged; what is whole is read.

    Returns
    -------
    Records
        Rows of runs, results, latency (µs), percentiles (µs) and findings. A job without I/O has a row in
        runs alone.
    """
    records = Records(source)
    documents, text = terse_and_text(records, source, lines.split(source.text))
    report_complaints(records, source, text.rest)
    write_documents(records, source, with_options_beside(documents), 0)
    if not documents and text.progress:
        message = f"{source.path}: {text.progress} lines of fio's progress and no result"
        advice = "Their rates are of a moment and mean nothing for the run; look for the end of the output"
        records.finding(Code.ETA_ONLY, message, advice)
    elif not documents:
        records.finding(Code.NO_FIO_JOB, f"{source.path}: no job can be read from this file")
    return records
