"""Reader of the files that iozone's ``-Q`` writes: the latency of every single operation.

``wol.dat`` (write), ``rwol.dat`` (rewrite), ``rol.dat`` (read) and ``rrol.dat`` (reread) hold a line for each
operation: its offset in KiB, its latency in µs and its size in bytes. The file's name alone tells the test,
nothing tells when an operation began. iozone appends, with a header for each of its runs. The latency is what
a clock of whole microseconds gave minus its resolution, so it can come out as ``-0``: that is 0. Left aside:
the offset, and the times at the end, which are of all operations together.

Source: iozone ``iozone.c``, read at 3.414, and outputs of 3.489.
"""

import re
from pathlib import PurePath

import pandas as pd

from azbenchlib.formats.base import Records, Source

TESTS = {"wol": "write", "rwol": "rewrite", "rol": "read", "rrol": "reread"}
HEADER = re.compile(r"Offset in [kK][bB]ytes +Latency in microseconds +Transfer size in bytes")

_NAME = re.compile(r"(?:^|[^a-z])(r?wol|r?rol)\.dat$", re.IGNORECASE)
_ROW = re.compile(r"^ *(\d{1,18}) +(-?\d{1,15}) +(\d{1,18})\r?$", re.MULTILINE)
_TIMES = re.compile(r"^System time +[\d.]+ User time ", re.MULTILINE)


def sniff(opening: str) -> bool:
    """Whether the file begins with the header of such a file."""
    return bool(HEADER.match(opening.lstrip()))


def read_iozone_dat(source: Source) -> Records:
    """All operations of a file.

    Parameters
    ----------
    source : Source
        The file, with the name that iozone gave it, or one that ends in it.

    Returns
    -------
    Records
        Rows of runs (one a header), samples (``lat_us``, without times) and findings.
    """
    records = Records(source)
    name = _NAME.search(PurePath(source.path.replace("\\", "/")).name)
    if name is None:
        message = f"{source.path}: the name does not tell the test; one of: {', '.join(TESTS)}, with .dat"
        records.finding("error", "test_unknown", message, "Give it the name that iozone gave it")
        return records
    test = TESTS[name[1].lower()]
    for doc, text in enumerate(HEADER.split(source.text)[1:]):
        _add_run(records, source, doc, test, text)
    return records


def _add_run(records: Records, source: Source, doc: int, test: str, text: str) -> None:
    rows = _ROW.findall(text)
    strange = sum(bool(line.strip()) for line in text.splitlines()) - len(rows) - len(_TIMES.findall(text))
    below = sum(latency.startswith("-") and int(latency) != 0 for _, latency, _ in rows)
    run_id = source.run_id(doc, test)
    sizes = {int(size) for *_, size in rows}
    records.add(
        "runs",
        run_id=run_id,
        level="job",
        tool="iozone",
        job=test,
        job_index=0,
        rw=test,
        bs_bytes=sizes.pop() if len(sizes) == 1 else None,
        source_path=source.path,
        source_sha256=source.sha256,
        source_doc=doc,
    )
    data = pd.DataFrame(
        {"value": [abs(int(us)) for _, us, _ in rows], "bs_bytes": [int(size) for *_, size in rows]}
    )
    kept = [int(us) >= 0 for _, us, _ in rows]
    ddir = "write" if "write" in test else "read"
    data = data.assign(run_id=run_id, ddir=ddir, metric="lat_us", seq=range(len(data)))[kept]
    if len(data):
        records.add_frame("samples", data)
    where = f"{source.path}: run {doc + 1}"
    if strange:
        message = f"{where}: {strange} lines are no operation"
        records.finding("warning", "row_not_read", message, "Their operations are missing", run_id)
    if below:
        message = f"{where}: {below} latencies are below zero"
        records.finding("warning", "negative_latency", message, "Left out; the clock was set back", run_id)
    if not rows:
        records.finding("warning", "no_figures", f"{where}: no operation", run_id=run_id)
