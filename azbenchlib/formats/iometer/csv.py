"""Reader of IOMeter's ``results.csv``, by its headers of 2004 to 2014; no real file was at hand.

Lines that begin with ``'`` head sections: the test, the version, the time stamp, the access specifications,
the results. A file can hold many tests, each with its own header. The rows of a test are a hierarchy: ALL
sums the managers, a MANAGER its workers, a WORKER its disks, which are the runs of level ``job``; the others
have level ``all``, ``host`` and ``group``, and so has a PROCESSOR, which tells CPU use alone. All rows of a
test ran at once, so they have one group. A disk's access specification is that of its worker.

``MBps`` alone, and ``MiBps (Binary)``, ``MBps (Binary)`` of later versions, count MiB/s; ``MBps (Decimal)``
10⁶ B/s. Response times are in ms. Names are not quoted, so a row whose names hold commas has more cells than
its header: figures are counted from the end, and when they do not add up, the row is taken to end in a comma.
Left aside: time stamps (they have no time zone), transactions, connections, raw counters, and the 21 latency
bins of 1.1.0, which no table can hold.

Source: labels and their order in IOMeter's ``ManagerList.cpp`` and ``GalileoView.cpp``, of 2004 to 1.1.0, and
headers of 1.1.0 above masked figures.
"""

import math
import re
from typing import Any

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.core.units import MB, MIB, US_PER_MS
from azbenchlib.formats.base import Records
from azbenchlib.formats.iometer._specs import LINES, NAME, Spec, number, spec_named, whole
from azbenchlib.formats.source import LONGEST_LINE, Source

TEST = "'Test Type,Test Description"
_HEADER = "'Target Type,Target Name,"
_LEVELS = {"ALL": "all", "MANAGER": "host", "PROCESSOR": "group", "WORKER": "group", "DISK": "job"}
_NAMED = 3  # cells of a row before its figures: type, name, access specification
_DIRECTIONS = {"mixed": "", "read": "Read ", "write": "Write "}
_RATES = {"MiBps (Binary)": MIB, "MBps (Binary)": MIB, "MBps": MIB, "MBps (Decimal)": MB}  # the exact first
MOVED = {"read": "Bytes Read", "write": "Bytes Written"}
_AT_ONCE = 0  # the group of all rows of a test: its managers, workers and disks ran at the same time
MOST_COMMAS = 20  # in the name of an access specification
_SHOWN = 5  # so many examples stand in one finding

_SECTIONS = re.compile(r"^'(?:Test Type,Test Description|Target Type,Target Name,)", re.MULTILINE)


def sniff(opening: str) -> bool:
    """Whether the head of a test or of its results stands in the opening of a file."""
    return bool(_SECTIONS.search(opening))


def read_iometer_csv(source: Source) -> Records:
    """All tests of a file.

    Parameters
    ----------
    source : Source
        The file.

    Returns
    -------
    Records
        Rows of runs (``source_doc`` counts the tests), results (bytes/s, 1/s), latency (µs) and findings.
    """
    return _Reader(source).read()


class _Reader:
    """A file on its way into the tables, line by line."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.section = ""  # the last line that begins with '
        self.version: str | None = None
        self.specs: dict[str, Spec] = {}
        self.spec: Spec | None = None  # the one under way
        self.header: list[str] = []
        self.doc, self.place, self.read_any = -1, 0, False
        self.host: str | None = None
        self.worker_spec = ""
        self.unread: list[str] = []

    def read(self) -> Records:
        for raw in self.source.text.splitlines():
            line = raw[:LONGEST_LINE].strip()
            if line.startswith("'"):
                self._head(line)
            elif line:
                self._line(line)
        path = self.source.path
        if self.unread:
            shown = "; ".join(line[:120] for line in self.unread[:_SHOWN])
            message = f"{path}: {len(self.unread)} lines are not as IOMeter writes them: {shown}"
            self.records.finding(Code.ROW_NOT_READ, message, "Left out")
        if not self.read_any:
            self.records.finding(Code.NO_FIGURES, f"{path}: no figure of IOMeter can be read", severity=ERROR)
        return self.records

    def _head(self, line: str) -> None:
        self.section = line
        if line.startswith(_HEADER):
            self.header = [name.strip() for name in line[1:].rstrip(",").split(",")]
            self.doc, self.place = self.doc + 1, 0
            self.host, self.worker_spec = None, ""
        elif line.startswith(TEST):  # nothing of a test that stands above counts for this one
            self.specs, self.spec, self.version, self.header = {}, None, None, []
        elif line == "'Access specifications":
            self.specs, self.spec = {}, None

    def _line(self, line: str) -> None:
        if self.section == "'Version":
            self.version = line
        elif self.section == NAME:
            self.spec = spec_named(line)
            self.specs[self.spec.name] = self.spec
        elif self.section == LINES and self.spec and not self.spec.add_line(line):
            self.unread.append(line)
        elif self.section.startswith(_HEADER):
            self._row(line)

    def _row(self, line: str) -> None:
        """A row of results."""
        cells = line.split(",")
        figures = self.header[_NAMED:]
        kind = cells[0]
        if kind not in _LEVELS or len(cells) < len(self.header) or not figures:
            self.unread.append(line)
            return
        values = dict(zip(figures, cells[-len(figures) :], strict=True))
        if len(cells) > len(self.header) and not cells[-1].strip() and not _adds_up(values):
            cells.pop()  # the line ends in a comma, and not in an empty cell
            values = dict(zip(figures, cells[-len(figures) :], strict=True))
        if len(cells) > len(self.header) and values.get("IOps", "").strip() and not _adds_up(values):
            self.unread.append(line)
            return
        name, spec = self._names(cells[1 : -len(figures)])
        if kind == "MANAGER":
            self.host = name
        elif kind == "WORKER":
            self.worker_spec = spec
        elif kind == "DISK":
            spec = spec or self.worker_spec
        self._add(kind, name, self.specs.get(spec, Spec(spec)), values)

    def _names(self, cells: list[str]) -> tuple[str, str]:
        """Name and access specification of a row, whose commas are told apart by the known specifications."""
        text = ",".join(cells).strip()
        # the longest end of the text that is a specification; no line takes longer than its length
        starts = range(max(1, len(cells) - MOST_COMMAS), len(cells))
        ends = (",".join(cells[start:]).strip() for start in starts)
        spec = next((end for end in ends if end in self.specs), cells[-1].strip())
        return text.removesuffix(spec).rstrip().removesuffix(","), spec

    def _add(self, kind: str, name: str, spec: Spec, values: dict[str, str]) -> None:
        run_id = self.source.run_id(self.doc, self.place)
        depth = whole(values.get("Queue Depth"))
        told: dict[str, Any] = spec.columns() if spec.name else {}
        self.records.add(
            "runs",
            run_id=run_id,
            level=_LEVELS[kind],
            tool="iometer",
            tool_version=self.version,
            job_index=self.place,
            group_id=_AT_ONCE,
            host=None if kind == "ALL" else self.host,
            target=name if kind == "DISK" else None,
            iodepth=depth,
            queue_depth=depth if kind == "DISK" else None,
            usr_cpu_pct=number(values.get("% User Time")),
            sys_cpu_pct=number(values.get("% Privileged Time")),
            source_path=self.source.path,
            source_sha256=self.source.sha256,
            source_doc=self.doc,
            **told,
        )
        self.place += 1
        for ddir, prefix in _DIRECTIONS.items():
            if number(values.get(f"{prefix}IOps")):  # a direction without I/O is all zeros
                self._direction(run_id, ddir, prefix, values)
                self.read_any = True

    def _direction(self, run_id: str, ddir: str, prefix: str, values: dict[str, str]) -> None:
        rates = ((number(values.get(prefix + name)), unit) for name, unit in _RATES.items())
        ios = whole(values.get(f"{prefix}I/Os"))
        self.records.add_result(
            self.records.source.path,
            ddir,
            run_id=run_id,
            ios=ios,
            io_bytes=whole(values.get(MOVED.get(ddir, ""))),
            iops=number(values.get(f"{prefix}IOps")),
            bw_bytes_per_s=next((rate * unit for rate, unit in rates if rate is not None), None),
            errors=whole(values.get(f"{prefix}Errors")),
        )
        mean, most = (number(values.get(f"{word} {prefix}Response Time")) for word in ("Average", "Maximum"))
        if mean is not None or most is not None:
            self.records.add(
                "latency",
                run_id=run_id,
                ddir=ddir,
                lat_kind="lat",
                n=ios,
                lat_mean_us=None if mean is None else mean * US_PER_MS,
                lat_max_us=None if most is None else most * US_PER_MS,
            )


def _adds_up(values: dict[str, str]) -> bool:
    """Whether the I/Os per second are those of reads and writes: then the figures stand in their columns."""
    total, read, write = (number(values.get(f"{prefix}IOps")) for prefix in _DIRECTIONS.values())
    if total is None or read is None or write is None:
        return False
    return math.isclose(total, read + write, rel_tol=0.01)
