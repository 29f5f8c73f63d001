"""Reader of diskspd's XML output (``-Rxml``).

A ``TimeSpan`` holds counters for each thread and target and, for all of them, CPU use and the latencies in
ms. There are no totals and no rates: the total here sums the counters, and rates are counters by the measured
time. A counter of a direction that moved nothing is no measurement.

The total is a run of level ``all``, and ``mixed`` of it sums both directions; a thread's target is a run of
level ``job``. A time span counts only when its end is there, for a part would sum to less. The file is read
without a document type, and thus without entities; one that declares a document type is refused.

Source: diskspd ``XmlResultParser.cpp``, and an output of 2.0.21.
"""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

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
from azbenchlib.formats.base import Records, Source

MOST_DEPTH = 100  # of elements in each other; diskspd's own are 7 deep

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


class _RefusedError(Exception):
    """The document has what no output of diskspd has."""


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
        Rows of runs (``source_doc`` counts the time spans), results (bytes/s, 1/s), latency, percentiles (µs)
        and findings.
    """
    records = Records(source)
    document = _Document()
    try:
        document.read(source.data)
    except (expat.ExpatError, _RefusedError, ValueError) as error:
        message = f"{source.path}: broken XML ({error}); {len(document.spans)} whole time spans were read"
        records.finding("error", "broken_xml", message, "Run it again to the end")
    if not document.spans:
        records.finding("error", "no_figures", f"{source.path}: no figure of diskspd can be read")
    asked = document.system_and_profile
    options = asked["Profile"].findall("TimeSpans/TimeSpan") if "Profile" in asked else []
    for doc, span in enumerate(document.spans):
        own = options[doc] if doc < len(options) else Element("TimeSpan")
        _Span(records, source, doc, span, own, asked.get("System", Element("System"))).add()
    return records


class _Document:
    """A document on its way into elements; what is whole stays when the rest is broken."""

    def __init__(self) -> None:
        self.spans: list[Element] = []
        self.system_and_profile: dict[str, Element] = {}
        self._builder, self._depth = TreeBuilder(), 0

    def read(self, data: bytes) -> None:
        """Read a document.

        Raises
        ------
        ExpatError, ValueError
            When it is broken.
        _RefusedError
            When it declares a document type, or is nested too deep.
        """
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._builder.data
        parser.Parse(data, True)

    def _doctype(self, *_: Any) -> None:
        raise _RefusedError("it declares a document type, which diskspd does not")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise _RefusedError(f"more than {MOST_DEPTH} elements in each other")
        self._builder.start(name, attributes)

    def _end(self, name: str) -> None:
        element = self._builder.end(name)
        self._depth -= 1
        if self._depth == 1 and name == "TimeSpan":
            self.spans.append(element)
        elif self._depth == 1:
            self.system_and_profile[name] = element


class _Span:
    """One time span on its way into the tables."""

    def __init__(
        self, records: Records, source: Source, doc: int, span: Element, options: Element, system: Element
    ) -> None:
        self.records, self.source, self.doc, self.span = records, source, doc, span
        self.runtime_s = real(span.findtext("TestTimeSeconds"))
        self.targets = [_target(target) for target in options.findall("Targets/Target")]
        self.version = system.findtext("Tool/Version")
        self.shared = {
            "tool_version": self.version,
            "host": system.findtext("ComputerName"),
            "started_at": started_at(system.findtext("RunTime") or ""),
            "ramp_s": real(options.findtext("Warmup")),
            "runtime_limit_s": real(options.findtext("Duration")),
        }

    def add(self) -> None:
        """Add the total, and each target of each thread."""
        counters = [
            (thread.findtext("Id") or "", target)
            for thread in self.span.findall("Thread")
            for target in thread.findall("Target")
        ]
        self._total([target for _, target in counters])
        for place, (thread, target) in enumerate(counters, start=1):
            path = target.findtext("Path")
            row = Row(self.records, self.source, self.doc, f"{thread}:{place}")
            asked = common([own for own in self.targets if own.path == path])
            row.run(asked, f"thread {thread}", place, **self.shared)
            for name in COUNTERS:
                row.result(name, self._measured(name, [target], target, target.find("Iops")), self.runtime_s)
            row.end()

    def _total(self, targets: list[Element]) -> None:
        row = Row(self.records, self.source, self.doc, None)
        cpu = self.span.find("CpuUtilization/Average")
        row.run(
            common(self.targets),
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
        row.end()

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
    return total if total is None or total <= MOST else None


def _target(element: Element) -> Target:
    """Options of a target, as the profile tells them."""
    text = element.findtext
    random = element.find("Random") is not None or text("RandomAccess") == "true"
    cached = {"true": True, "false": False}.get(text("DisableOSCache") or "")
    return Target(
        path=text("Path"),
        bs_bytes=whole(text("BlockSize")),
        random=random,
        write_pct=real(text("WriteRatio"), high=100),
        depth=whole(text("RequestCount"), MOST_THREADS),
        threads=whole(text("ThreadsPerFile"), MOST_THREADS),
        direct=cached,
        size_bytes=whole(text("FileSize")) or None,
    )
