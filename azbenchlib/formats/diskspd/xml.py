"""Reader of diskspd's XML output (``-Rxml``).

A ``TimeSpan`` holds counters for each thread and target and, for all of them, CPU use and the latencies in
ms. There are no totals and no rates: the total here sums the counters, and rates are counters by the measured
time. A counter of a direction that moved nothing is no measurement.

The total is a run of level ``all``, and ``mixed`` of it sums both directions; a thread's target is a run of
level ``job``, and all of a time span ran at once, so they have one group. A time span counts only when its
end is there, for a part would sum to less. Documents that were appended to one file are read one by one. The
file is read without a document type, and thus without entities; one that declares a document type is refused.
The IOPS of each interval (``-D``; by default each second) are samples, of the total and of each target of a
thread, the last one only where it is whole.

Source: diskspd ``XmlResultParser.cpp``, and an output of 2.0.21.
"""

from array import array
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.core.units import MS_PER_S
from azbenchlib.formats._xml import PIECE, RefusedError, parse
from azbenchlib.formats.base import Records
from azbenchlib.formats.diskspd._options import Targets
from azbenchlib.formats.diskspd._tables import (
    LARGEST_EXACT,
    MOST_THREADS,
    DiskspdTarget,
    Measured,
    Row,
    common,
    real,
    started_at,
    whole,
)
from azbenchlib.formats.source import Source

ROOT_END = "</Results>"
_MOST_ELEMENTS = 500_000  # that are kept; 1,000 threads with ten targets each have 200,000
_LONGEST_TEXT = 64 * 1024  # of an element
_MOST_INTERVALS = 2_000_000  # of all targets; a day of 20 threads, each second
_WHOLE = 0.9  # of an interval: what is shorter is the rest of the run
SHORTEST_S = 1e-3  # of a time span; diskspd itself tells no results of one that is shorter than 0.1 µs

# name of a direction -> what its counters and latencies are called
COUNTERS = {
    "Total": ("BytesCount", "IOCount"),
    "Read": ("ReadBytes", "ReadCount"),
    "Write": ("WriteBytes", "WriteCount"),
}
LATENCIES = {
    "Total": ("AverageTotalMilliseconds", "AverageLatencyMilliseconds", "LatencyStdev"),
    "Read": ("AverageReadMilliseconds", "AverageReadLatencyMilliseconds", "ReadLatencyStdev"),
    "Write": ("AverageWriteMilliseconds", "AverageWriteLatencyMilliseconds", "WriteLatencyStdev"),
}
STDDEVS = {"Total": "IopsStdDev", "Read": "ReadIopsStdDev", "Write": "WriteIopsStdDev"}


_OPTIONS = (
    *("Path", "BlockSize", "Random", "RandomAccess", "WriteRatio", "RequestCount", "ThreadsPerFile"),
    *("FileSize", "DisableOSCache", "Duration", "Warmup", "Throughput", "ThinkTime", "BurstSize"),
)
KEPT = frozenset(
    {"Results", "System", "ComputerName", "Tool", "Version", "RunTime", "Profile", "TimeSpans", "TimeSpan"}
    | {"Targets", "Target", "TestTimeSeconds", "CpuUtilization", "Average", "UserPercent", "KernelPercent"}
    | {"Thread", "Id", "Latency", "Bucket", "Percentile", "Iops", *_OPTIONS, *STDDEVS.values()}
    | {name for names in (*COUNTERS.values(), *LATENCIES.values()) for name in names}
    | {f"{name}Milliseconds" for name in COUNTERS}
)


def sniff(opening: str) -> bool:
    """Whether the file is a document of diskspd's results."""
    start = opening.lstrip()
    return start.startswith("<") and "<Results>" in start and ("<Profile>" in start or "<TimeSpan>" in start)


def read_diskspd_xml(source: Source) -> Records:
    """All time spans of a file.

    Parameters
    ----------
    source : Source
        The file; of one that breaks off, the time spans that are whole.

    Returns
    -------
    Records
        Rows of runs (``source_doc`` counts the time spans), results (bytes/s, 1/s), latency, percentiles
        (µs), samples (1/s) and findings.
    """
    records, doc = Records(source), 0
    broken: list[str] = []
    timeless = 0
    for text in _documents(source.text):
        document = _Document()
        try:
            document.read(text.encode())
        except (expat.ExpatError, RefusedError, ValueError) as error:
            broken.append(f"{error}; {len(document.spans)} whole time spans were read")
        if document.n_intervals > _MOST_INTERVALS:
            document.intervals.clear()
            told, most = f"{document.n_intervals:,}", f"{_MOST_INTERVALS:,}"
            message = f"{source.path}: {told} intervals; at most {most} are read"
            records.finding(Code.INTERVALS_LEFT_OUT, message)
        asked = document.system_and_profile
        options = asked["Profile"].findall("TimeSpans/TimeSpan") if "Profile" in asked else []
        for place, span in enumerate(document.spans):
            own = options[place] if place < len(options) else Element("TimeSpan")
            reader = _Span(records, source, doc, span, own, asked.get("System", Element("System")))
            reader.add(document.intervals)
            timeless += reader.runtime_s is None
            doc += 1
    _report(records, source.path, broken, timeless, doc)
    return records


def _documents(text: str) -> Iterator[str]:
    """The documents in a text, each up to its end."""
    *whole, rest = text.split(ROOT_END)
    for place, part in enumerate([*(part + ROOT_END for part in whole), rest]):
        if place == 0 or "<Results" in part:  # else it is what stands behind the last
            yield part[max(0, part.find("<")) :]


def _report(records: Records, path: str, broken: list[str], timeless: int, n_spans: int) -> None:
    if broken:
        of = f" in {len(broken)} of its documents" if len(broken) > 1 else ""
        message = f"{path}: broken XML{of} ({broken[0]})"
        records.finding(Code.BROKEN_XML, message)
    if timeless:
        message = f"{path}: {timeless} time spans tell no measured time, so their rates are missing"
        records.finding(Code.NO_RUNTIME, message)
    if not n_spans:
        records.finding(Code.NO_FIGURES, f"{path}: no figure of diskspd can be read", severity=ERROR)


class _Document:
    """A document on its way into elements; what is whole stays when the rest is broken."""

    def __init__(self) -> None:
        self.spans: list[Element] = []
        self.system_and_profile: dict[str, Element] = {}
        self.intervals: Intervals = {}
        self._builder, self._open = TreeBuilder(), ["", ""]  # names of the elements around the present one
        self._left_out = self._n_kept = self._n_text = self.n_intervals = 0
        self._series = array("d")

    def read(self, data: bytes) -> None:
        """Read a document.

        Raises
        ------
        ExpatError, ValueError, RefusedError
            When it is broken, or has what no output of diskspd has.
        """
        pieces = (data[at : at + PIECE] for at in range(0, len(data), PIECE))
        parse(pieces, self._start, self._end, self._text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        interval = name == "Bucket" and self._open[-1] == "Iops"
        if interval and not self._left_out:
            self._add_interval(attributes)
        if self._left_out or name not in KEPT or interval:
            self._left_out += 1
            return
        self._n_kept, self._n_text = self._n_kept + 1, 0
        if self._n_kept > _MOST_ELEMENTS:
            raise RefusedError(f"more than {_MOST_ELEMENTS:,} figures")
        self._open.append(name)
        unit = attributes.get("unit", "") if name == "Throughput" else ""
        element = self._builder.start(name, {"unit": unit} if unit else {})
        if name == "Iops":
            self._series = self.intervals.setdefault(element, array("d"))

    def _add_interval(self, attributes: dict[str, str]) -> None:
        """Its end in ms, and reads and writes per second in it."""
        told = [real(attributes.get(name)) for name in _INTERVAL]
        self.n_intervals += 1
        if None not in told and self.n_intervals <= _MOST_INTERVALS:
            self._series.extend(value for value in told if value is not None)

    def _text(self, text: str) -> None:
        if self._left_out:
            return
        self._n_text += len(text)
        if self._n_text <= _LONGEST_TEXT:
            self._builder.data(text)

    def _end(self, name: str) -> None:
        if self._left_out:
            self._left_out -= 1
            return
        element = self._builder.end(name)
        self._open.pop()
        if len(self._open) == 3 and name == "TimeSpan":
            self.spans.append(element)
        elif len(self._open) == 3:
            self.system_and_profile[name] = element


class _Span:
    """One time span on its way into the tables."""

    def __init__(
        self, records: Records, source: Source, doc: int, span: Element, options: Element, system: Element
    ) -> None:
        self.records, self.source, self.doc, self.span = records, source, doc, span
        runtime_s = real(span.findtext("TestTimeSeconds"))
        self.runtime_s = runtime_s if runtime_s and runtime_s >= SHORTEST_S else None
        self.targets = Targets([_target(target) for target in options.findall("Targets/Target")])
        self.version = system.findtext("Tool/Version")
        self.shared = {
            "tool_version": self.version,
            "host": system.findtext("ComputerName"),
            "started_at": started_at(system.findtext("RunTime") or ""),
            "ramp_s": real(options.findtext("Warmup")),
            "runtime_limit_s": real(options.findtext("Duration")),
        }

    def add(self, intervals: "Intervals") -> None:
        """Add the total, and each target of each thread."""
        counters = [
            (thread.findtext("Id") or "", target)
            for thread in self.span.findall("Thread")
            for target in thread.findall("Target")
        ]
        self._total([target for _, target in counters], intervals)
        for place, (thread, target) in enumerate(counters, start=1):
            row = Row(self.records, self.source, self.doc, f"{thread}:{place}")
            asked = self.targets.at(target.findtext("Path"))
            row.run(asked, f"thread {thread}", place, **self.shared)
            for name in COUNTERS:
                row.result(name, self._measured(name, [target], target, target.find("Iops")), self.runtime_s)
            self._samples(row, target, intervals)
            row.end()

    def _total(self, targets: list[Element], intervals: "Intervals") -> None:
        row = Row(self.records, self.source, self.doc, None)
        cpu = self.span.find("CpuUtilization/Average")
        row.run(
            common(self.targets.listed),
            None,
            0,
            usr_cpu_pct=None if cpu is None else real(cpu.findtext("UserPercent")),
            sys_cpu_pct=None if cpu is None else real(cpu.findtext("KernelPercent")),
            **self.shared,
        )
        latency = self.span.find("Latency")
        for name in COUNTERS:
            row.result(name, self._measured(name, targets, latency, self.span.find("Iops")), self.runtime_s)
        for bucket in () if latency is None else latency.findall("Bucket"):
            percentile = real(bucket.findtext("Percentile"), high=100)
            if percentile is not None:
                row.percentile(
                    percentile, {name: real(bucket.findtext(f"{name}Milliseconds")) for name in COUNTERS}
                )
        self._samples(row, self.span, intervals)
        row.end()

    def _samples(self, row: Row, of: Element, intervals: "Intervals") -> None:
        """Add the rates of each interval, of the directions that did something."""
        rates = of.find("Iops")
        series = np.array(() if rates is None else intervals.get(rates, ())).reshape(-1, len(_INTERVAL))
        if len(series) and self.runtime_s:
            width_s = series[0, 0] / MS_PER_S
            series = series[series[:, 0] / MS_PER_S <= self.runtime_s + (1 - _WHOLE) * width_s]
        for ddir, values in zip(("read", "write"), series.T[1:], strict=True):
            if values.any():
                row.samples(ddir, series[:, 0] / MS_PER_S, values)

    def _measured(
        self, name: str, targets: list[Element], latency: Element | None, rates: Element | None
    ) -> Measured:
        """Figures of a direction, its counters summed over `targets`."""
        bytes_name, ios_name = COUNTERS[name]
        moved = _sum(whole(target.findtext(bytes_name)) for target in targets)
        ios = _sum(whole(target.findtext(ios_name)) for target in targets)
        text: Callable[[str], str | None] = latency.findtext if latency is not None else lambda _: None
        total_name, target_name, stddev_name = LATENCIES[name]
        return Measured(
            io_bytes=moved,
            ios=ios,
            bw_bytes_per_s=moved / self.runtime_s if moved is not None and self.runtime_s else None,
            iops=ios / self.runtime_s if ios is not None and self.runtime_s else None,
            iops_stddev=None if rates is None else real(rates.findtext(STDDEVS[name])),
            lat_mean_ms=real(text(total_name) or text(target_name)),
            lat_stddev_ms=real(text(stddev_name)),
        )


def _sum(counts: Any) -> int | None:
    """The sum, unless a part of it is missing."""
    numbers = list(counts)
    total = sum(numbers) if numbers and None not in numbers else None
    return total if total is None or total <= LARGEST_EXACT else None


_INTERVAL = ("SampleMillisecond", "Read", "Write")  # attributes: the end of an interval, and its IOPS
Intervals = dict[Element, "array[float]"]  # by the element that has them


def _target(element: Element) -> DiskspdTarget:
    """Options of a target, as the profile tells them."""
    text = element.findtext
    random = element.find("Random") is not None or text("RandomAccess") == "true"
    limit = element.find("Throughput")
    in_iops = limit is not None and limit.get("unit") == "IOPS"
    cached = {"true": True, "false": False}.get(text("DisableOSCache") or "")
    return DiskspdTarget(
        path=text("Path"),
        bs_bytes=whole(text("BlockSize")),
        random=random,
        write_pct=real(text("WriteRatio"), high=100),
        depth=whole(text("RequestCount"), MOST_THREADS),
        threads=whole(text("ThreadsPerFile"), MOST_THREADS),
        direct=cached,
        size_bytes=whole(text("FileSize")) or None,
        most_iops=real(text("Throughput")) if in_iops else None,
        most_bytes_per_ms=None if in_iops else real(text("Throughput")),
        pause_ms=real(text("ThinkTime")),
        burst=whole(text("BurstSize")),
    )
