"""Reader of the summaries that scripts around fio print: ``kubestr fio``, dbench, kbench and yabs.sh.

They hold a part of what fio measured, often rounded, and leave out options that their script always gives;
these are taken from the script. Each job is a run of its own, for the scripts run one after another. What a
summary does not tell is NA: throughput where it has IOPS, the distribution of latencies, run times, times of
day. The output of fio itself is better, where it was kept; where it stands in the same file, it is read and
the summary is not. A summary of bench.sh has rates of ``dd`` alone, and is no measurement of a disk.

Source: that of each script is named in its module.
"""

import json
import re
from collections.abc import Iterator, Sequence

from azbenchlib.core.findings import ERROR, Code, job_label
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._options import FioWorkload
from azbenchlib.formats.fio._text_lines import plain, split
from azbenchlib.formats.fio.summaries import dbench, kbench, kubestr, yabs
from azbenchlib.formats.fio.summaries._job import SummaryJob
from azbenchlib.formats.source import Source

# Script, how its summary begins, how it is read, and the file that has more.
_SCRIPTS = (
    ("kubestr", kubestr.KUBESTR_SIGN, kubestr.find, "run kubestr fio with -o json, and read its JSON"),
    ("dbench", dbench.DBENCH_SIGN, dbench.find, "read the whole log of its pod, which holds fio's text"),
    (
        "kbench",
        kbench.KBENCH_SIGN,
        kbench.find,
        "read test_device-iops.json, -bandwidth.json and -latency.json",
    ),
    ("yabs.sh", yabs.YABS_SIGN, yabs.find, "run fio itself with --output-format=json+"),
)
_BENCH_SH = re.compile(r"^[ \t]{0,20}I/O Speed\(1st run\) {0,20}:", re.IGNORECASE | re.MULTILINE)
_YABS_JSON = re.compile(r'"iops_rw"\s{0,9}:\s{0,9}\d')
_OF_FIO = ("(groupid=", '"jobname"', ";fio-")  # outputs of fio itself


def sniff(opening: str) -> bool:
    """Whether a summary is in the opening of a file, and no output of fio itself."""
    if any(sign in opening for sign in _OF_FIO):
        return False
    signs = (sign for _, sign, _, _ in _SCRIPTS)
    if any(sign in opening for sign in signs) and any(True for _ in _found(opening)):
        return True
    return bool(_YABS_JSON.search(opening) or _BENCH_SH.search(opening))


def read_fio_summary(source: Source) -> Records:
    """All jobs of the summaries in a file.

    Parameters
    ----------
    source : Source
        The file. It may be a page around summaries.

    Returns
    -------
    Records
        Rows of runs, results, latency (µs) and findings.
    """
    records = Records(source)
    place = 0
    for script, advice, jobs in [*_found(source.text), *_found_json(source.text)]:
        for job in jobs:
            _add(records, source, job, place)
            place += 1
        message = f"{source.path}: a summary of {script}; options that it leaves out are those of its script"
        records.finding(Code.SCRIPT_SUMMARY, message, f"Better {advice}")
    if not place:
        message = f"{source.path}: a summary without a rate of fio's; dd's tell nothing of random I/O"
        records.finding(Code.NO_FIGURES, message, "Measure with fio, and read its JSON", severity=ERROR)
    return records


def _found(text: str) -> Iterator[tuple[str, str, list[SummaryJob]]]:
    """Script, advice and jobs of each kind of summary in a text."""
    signs = [entry for entry in _SCRIPTS if entry[1] in text]
    lines: Sequence[str] = [plain(line) for line in split(text)] if signs else ()
    for script, _, find, advice in signs:
        if jobs := list(find(lines)):
            yield script, advice, jobs


def _found_json(text: str) -> Iterator[tuple[str, str, list[SummaryJob]]]:
    """The same, of the JSON of yabs.sh."""
    if not _YABS_JSON.search(text):
        return
    try:
        jobs = list(yabs.find_json(json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return
    if jobs:
        yield "yabs.sh", _SCRIPTS[-1][-1], jobs


def _add(records: Records, source: Source, job: SummaryJob, place: int) -> None:
    """Rows of a job."""
    run_id, label = source.run_id(0, place), job_label(source.path, job.name)
    workload = FioWorkload(job.options, False, 1)
    records.add(
        "runs",
        run_id=run_id,
        level="job",
        tool="fio",
        job=job.name,
        job_index=place,
        source_path=source.path,
        source_sha256=source.sha256,
        source_doc=0,
        **{**workload.columns, **job.columns},
    )
    for ddir, result in job.results.items():
        records.add_result(label, ddir, run_id=run_id, **result)
    for ddir, mean in job.lat_us.items():
        records.add("latency", run_id=run_id, ddir=ddir, lat_kind="lat", lat_mean_us=mean)
    if workload.unread:
        message = f"{label}: option not understood: {', '.join(workload.unread)}"
        records.finding(Code.OPTION_NOT_READ, message, run_id=run_id)
    if job.rounded:
        records.finding(Code.ROUNDED_IOPS, f"{label}: IOPS are rounded to three digits", run_id=run_id)
