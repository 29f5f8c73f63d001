"""Reader of diskspd's text output (``-Rtext``, the default).

For each time span: a table of CPU use; tables ``Total IO``, ``Read IO`` and ``Write IO`` with a row for each
thread and target and a ``total:``; with ``-L`` latencies in ms and their percentiles. What old versions call
MB/s are MiB/s. The figures are taken as printed, with two or three digits after the point. A direction that
moved nothing is a row of zeros, which are no measurement. A total has the options that all targets share.

The total is a run of level ``all``, and ``mixed`` of it sums both directions; a thread is a run of level
``job``. A file may be UTF-16 or in a Chinese code page: PowerShell and cmd redirect so.

Source: diskspd ``ResultParser.cpp``, and outputs of 2.0.21 and 2.2.0.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from azbenchlib.errors import InputError
from azbenchlib.formats._diskspd_tables import (
    MOST,
    MOST_THREADS,
    Measured,
    Row,
    Target,
    common,
    real,
    started_at,
    whole,
)
from azbenchlib.formats.base import LONGEST_LINE, Records, Source
from azbenchlib.units import MIB, parse_size

PERCENTILES = {"min": 0.0, "max": 100.0} | {f"{n}-nines": 100 - 100 / 10**n for n in range(3, 10)}
CODE_PAGE = "gb18030"  # covers GBK and GB2312
SHOWN = 5  # so many examples stand in one finding

_OPENINGS = re.compile(r"^(?:Results for timespan \d+:|Input parameters:\s*$|Total IO\s*$)", re.MULTILINE)
_SPAN = re.compile(r"^Results for timespan (\d{1,6}):")
_SPAN_OPTIONS = re.compile(r"^\s+timespan:\s+(\d{1,6})")
_SECTION = re.compile(r"^(Total|Read|Write) IO\s*$")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_FILE = re.compile(r"(.*?)(?: \((\S+)\))?$")
_COMPLAINT = re.compile(r"^(?:error\b|could not|failed\b|there has been an error)", re.IGNORECASE)
_MIX = re.compile(r"performing mix test \(read/write ratio: (\d+)/(\d+)\)")


def sniff(opening: str) -> bool:
    """Whether a heading of diskspd's stands in the opening of a file."""
    return len(set(_OPENINGS.findall(opening))) > 1


def read_diskspd_text(source: Source) -> Records:
    """All time spans of a file.

    Parameters
    ----------
    source : Source
        The file.

    Returns
    -------
    Records
        Rows of runs (``source_doc`` counts the time spans), results (bytes/s, 1/s), latency, percentiles (µs)
        and findings.
    """
    return _Reader(source).read()


def _text(source: Source) -> str:
    text = source.text
    return source.data.decode(CODE_PAGE, errors="replace") if "\ufffd" in text else text


@dataclass
class _Span:
    """What one time span was asked to do, and what it gave."""

    seconds: dict[str, float | None] = field(default_factory=dict)
    targets: list[Target] = field(default_factory=list)
    runtime_s: float | None = None
    cpu: dict[str, float | None] = field(default_factory=dict)
    rows: dict[tuple[str | None, str], dict[str, Measured]] = field(default_factory=dict)
    percentiles: dict[float, dict[str, float | None]] = field(default_factory=dict)
    has_results: bool = False


class _Reader:
    """A file on its way into the tables, line by line."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.spans: dict[int, _Span] = {}
        self.span = _Span()
        self.machine: dict[str, str | None] = {}
        self.section: str | None = None
        self.columns: list[str] = []  # of the table under way
        self.title = ""  # the line before a table of percentiles
        self.unread: list[str] = []

    def read(self) -> Records:
        for line in _text(self.source).splitlines():
            self._take(line[:LONGEST_LINE])
        for number, span in self.spans.items():
            if span.has_results:
                self._add(number - 1, span)
        path = self.source.path
        if not any(span.rows for span in self.spans.values()):
            self.records.finding("error", "no_figures", f"{path}: no figure of diskspd can be read")
        if self.unread:
            shown = "; ".join(line.strip()[:120] for line in self.unread[:SHOWN])
            message = f"{path}: {len(self.unread)} lines of tables are not whole: {shown}"
            self.records.finding("warning", "row_not_read", message, "Left out")
        return self.records

    def _take(self, line: str) -> None:
        if match := _SPAN.match(line) or _SPAN_OPTIONS.match(line):
            self.span = self.spans.setdefault(max(1, int(match[1])), _Span())
            self.span.has_results |= line.startswith("Results")
            self.section, self.columns = None, []
        elif match := _SECTION.match(line):
            if not self.spans:  # the tables alone, cut out of an output
                self.span = self.spans[1] = _Span(has_results=True)
            self.section, self.columns = match[1], []
        elif "|" in line:
            self._table(line)
        elif line.startswith("total:") or (line.strip() and not line.startswith(("-", "*"))):
            self.title = line.strip().lower()
            self._said(line.strip())

    def _said(self, line: str) -> None:
        """A line outside the tables."""
        key, colon, value = (part.strip() for part in line.partition(":"))
        if colon and key == "path":
            self.span.targets.append(Target(path=value.strip("'")))
        elif colon and key in ("duration", "warm up time"):
            self.span.seconds[key] = real(value.removesuffix("s"))
        elif colon and key == "actual test time":
            self.span.runtime_s = real(value.removesuffix("s"))
        elif colon and key in ("computer name", "start time"):
            self.machine[key] = value
        elif _COMPLAINT.match(line):
            self.records.finding("error", "diskspd_message", f"{self.source.path}: '{line[:200]}'")
        elif self.span.targets and not self.span.has_results:
            told = _option(line, key, value)
            self.span.targets[-1] = replace(self.span.targets[-1], **told)

    def _table(self, line: str) -> None:
        """A line of a table, or its header."""
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] == "%-ile" or "CPU" in cells[:5] or cells[0] == "thread":
            self.columns = cells
            self.section = None if cells[0] != "thread" else self.section
        elif self.columns[:1] == ["%-ile"]:
            self._percentile(line, cells)
        elif self.columns and self.columns[0] != "thread":
            if cells[0] == "avg.":  # fewer cells than its header, for those that name the CPU are one
                self.span.cpu = dict(zip(self.columns[-4:], map(real, cells[1:]), strict=False))
        elif self.columns and self.section:
            self._figures(line)

    def _figures(self, line: str) -> None:
        """A thread's row of a table of figures, or the total."""
        is_total = line.startswith("total:")
        cells = line.replace("total:", "total|", 1) if is_total else line
        values = dict(
            zip(self.columns, (c.strip() for c in cells.split("|", len(self.columns) - 1)), strict=False)
        )
        megabytes, rate = real(values.get("MiB/s", values.get("MB/s"))), real(values.get("I/O per s"))
        figures = Measured(
            io_bytes=whole(values.get("bytes")),
            ios=whole(values.get("I/Os")),
            bw_bytes_per_s=None if megabytes is None else megabytes * MIB,
            iops=rate,
            iops_stddev=real(values.get("IopsStdDev")),
            lat_mean_ms=real(values.get("AvgLat")),
            lat_stddev_ms=real(values.get("LatStdDev")),
        )
        known = [figures.io_bytes, figures.ios, figures.bw_bytes_per_s, figures.iops]
        expected = len(self.columns) - (1 if is_total else 0)
        if None in known or len(values) < expected or (not is_total and not values["thread"].isdigit()):
            self.unread.append(line)
            return
        key = (None, "") if is_total else (values["thread"], values.get("file", ""))
        row = self.span.rows.setdefault(key, {})
        if self.section in row:
            self.unread.append(line)
        row.setdefault(str(self.section), figures)

    def _percentile(self, line: str, cells: list[str]) -> None:
        """A line of the table of percentiles; those of the whole time span count."""
        ordinal = _ORDINAL.fullmatch(cells[0])
        percentile = float(ordinal[1]) if ordinal else PERCENTILES.get(cells[0])
        names = [name.split(" ")[0] for name in self.columns[1:]]
        values = {name: real(cell) for name, cell in zip(names, cells[1:], strict=False)}
        if (
            percentile is None
            or len(cells) != len(self.columns)
            or not values.keys() <= {"Read", "Write", "Total"}
        ):
            self.unread.append(line)
        elif self.title.startswith("total"):
            self.span.percentiles.setdefault(percentile, values)

    def _add(self, doc: int, span: _Span) -> None:
        """All runs of a time span."""
        machine = self.machine
        shared: dict[str, Any] = {
            "host": machine.get("computer name"),
            "started_at": started_at(machine.get("start time") or ""),
            "ramp_s": span.seconds.get("warm up time"),
            "runtime_limit_s": span.seconds.get("duration"),
        }
        for place, ((thread, file), directions) in enumerate(span.rows.items()):
            row = Row(self.records, self.source, doc, None if thread is None else f"{thread}:{file}")
            target = common(_sized(span.targets, span.rows)) if thread is None else _of(span.targets, file)
            cpu = {"usr_cpu_pct": span.cpu.get("User"), "sys_cpu_pct": span.cpu.get("Kernel")}
            row.run(
                target,
                None if thread is None else f"thread {thread}",
                place,
                **shared,
                **(cpu if thread is None else {}),
            )
            for name, figures in directions.items():
                row.result(name, figures, span.runtime_s)
            if thread is None:
                for percentile, values in span.percentiles.items():
                    row.percentile(percentile, values)
            row.end()
        if (None, "") not in span.rows:
            message = f"{self.source.path}: time span {doc + 1} has no total"
            self.records.finding("warning", "not_complete", message, "Run it again to the end")


def _option(line: str, key: str, value: str) -> dict[str, Any]:
    """What a line says about a target."""
    if key == "block size":
        return {"bs_bytes": _size(value)}
    if key in ("number of outstanding I/O operations", "number of outstanding I/O operations per thread"):
        return {"depth": whole(value, MOST_THREADS)}
    if key == "threads per file":
        return {"threads": whole(value, MOST_THREADS)}
    if mix := _MIX.match(line):
        return {"write_pct": real(mix[2], high=100)}
    said: dict[str, dict[str, Any]] = {
        "performing write test": {"write_pct": 100.0},
        "performing read test": {"write_pct": 0.0},
        "using random I/O": {"random": True},
        "using sequential I/O": {"random": False},
        "using interlocked sequential I/O": {"random": False},
        "software cache disabled": {"direct": True},
        "using software cache": {"direct": False},
        "using software and hardware write cache": {"direct": False},
    }
    return next((told for start, told in said.items() if line.startswith(start)), {})


def _size(text: str) -> int | None:
    try:
        size = parse_size(text)
    except InputError:
        return None
    return size if size <= MOST else None


def _of(targets: list[Target], file: str) -> Target:
    """The target that a thread's row names, with its size."""
    match = _FILE.match(file)
    path, size = (match[1], match[2]) if match else (file, None)
    found = [target for target in targets if target.path == path]
    target = common(found) if found else Target(path=path or None)
    return replace(target, size_bytes=_size(size) if size else None)


def _sized(targets: list[Target], rows: dict[tuple[str | None, str], Any]) -> list[Target]:
    """The targets, each with the size that the rows tell."""
    files = {_FILE.match(file)[1]: file for _, file in rows if file}  # type: ignore[index]
    return [_of([target], files[target.path]) if target.path in files else target for target in targets]
