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

import numpy as np
import pandas as pd

from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

DAT_TESTS = {"wol": "write", "rwol": "rewrite", "rol": "read", "rrol": "reread"}
_HEAD = r"Offset in [kK][bB]ytes +Latency in microseconds +Transfer size in bytes"
_HEADER = re.compile(_HEAD)

_NAME = re.compile(r"(?:^|[^a-z])(r?wol|r?rol)\.dat$", re.IGNORECASE)
_LINE = re.compile(
    rf"^ *(\d{{1,18}}) +(-?\d{{1,15}}) +(\d{{1,18}})\r?$|^[ \t]*({_HEAD})[ \t]*\r?$", re.MULTILINE | re.ASCII
)
_TIMES = re.compile(r"^System time +[\d.]+ User time ", re.MULTILINE)


def sniff(opening: str) -> bool:
    """Whether the file begins with the header of such a file."""
    return bool(_HEADER.match(opening.lstrip()))


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
        message = f"{source.path}: the name does not tell the test; one of: {', '.join(DAT_TESTS)}, with .dat"
        records.finding(Code.TEST_UNKNOWN, message)
        return records
    test = DAT_TESTS[name[1].lower()]
    _Reader(records, source, test).read()
    return records


class _Reader:
    """A file on its way into the tables, some megabytes of lines at a time."""

    def __init__(self, records: Records, source: Source, test: str) -> None:
        self.records, self.source, self.test = records, source, test
        self.run_ids: list[str] = []  # one a header
        self.sizes: list[set[int]] = []  # of the operations of a run
        self.n_rows: list[int] = []
        self.n_other = self.n_below = 0  # lines that are no operation, latencies below zero

    def read(self) -> None:
        """Add the operations below each header, then the runs."""
        for block in self.source.blocks():
            self._operations(block)
        for doc, run_id in enumerate(self.run_ids):
            sizes = self.sizes[doc]
            self.records.add(
                "runs",
                run_id=run_id,
                level="job",
                tool="iozone",
                job=self.test,
                job_index=0,
                rw=self.test,
                bs_bytes=next(iter(sizes)) if len(sizes) == 1 else None,
                source_path=self.source.path,
                source_sha256=self.source.sha256,
                source_doc=doc,
            )
        self._report()

    def _operations(self, block: str) -> None:
        """Add the samples in a piece of text."""
        found = _LINE.findall(block)
        below = len(self.run_ids) + np.cumsum([bool(head) for *_, head in found], dtype=np.int64)
        self._headers(sum(bool(head) for *_, head in found))
        n_lines = sum(map(bool, map(str.strip, block.splitlines())))
        self.n_other += n_lines - len(found) - len(_TIMES.findall(block))
        rows = np.array([row[:3] for row in found if not row[3]], dtype="S18").reshape(-1, 3).astype(np.int64)
        docs = below[[not row[3] for row in found]] - 1
        rows, docs = rows[docs >= 0], docs[docs >= 0]  # what stands above the first header is of no run
        us, size = rows[:, 1], rows[:, 2]
        self.n_below += int((us < 0).sum())
        data = pd.DataFrame({"doc": docs, "value": us, "bs_bytes": size})
        data["seq"] = data.groupby("doc").cumcount() + np.array(self.n_rows, dtype=np.int64)[docs]
        for doc, n in zip(*np.unique(docs, return_counts=True), strict=True):
            self.n_rows[doc] += int(n)
        for doc, value in data[["doc", "bs_bytes"]].drop_duplicates().groupby("doc").head(2).to_numpy():
            self.sizes[doc].add(int(value))
        data["run_id"] = np.array(self.run_ids, dtype=object)[docs]
        ddir = "write" if "write" in self.test else "read"
        data = data.drop(columns="doc").assign(ddir=ddir, metric="lat_us")[us >= 0]
        if len(data):
            self.records.add_frame("samples", data)

    def _headers(self, n: int) -> None:
        """Count the runs that begin."""
        first = len(self.run_ids)
        self.run_ids += [self.source.run_id(doc, self.test) for doc in range(first, first + n)]
        self.sizes += [set() for _ in range(n)]
        self.n_rows += [0] * n

    def _report(self) -> None:
        path = self.source.path
        if self.n_other:
            message = f"{path}: {self.n_other:,} lines are no operation"
            self.records.finding(Code.ROW_NOT_READ, message, "Their operations are missing")
        if self.n_below:
            message = f"{path}: {self.n_below:,} latencies are below zero"
            self.records.finding(Code.NEGATIVE_LATENCY, message)
        if empty := self.n_rows.count(0):
            message = f"{path}: {empty:,} of {len(self.n_rows):,} runs have no operation"
            self.records.finding(Code.NO_FIGURES, message)
