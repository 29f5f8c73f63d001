"""A time span of diskspd's text output: what was read of it, and its way into the tables."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from azbenchlib.formats.base import Records
from azbenchlib.formats.diskspd._options import Targets, path_and_size
from azbenchlib.formats.diskspd._tables import DiskspdTarget, Measured, Row, started_at
from azbenchlib.formats.source import Source

Shares = dict[float, dict[str, float | None]]  # percentile -> direction -> ms


@dataclass(kw_only=True)
class Span:
    """What one time span was asked to do, and what it gave."""

    seconds: dict[str, float | None] = field(default_factory=dict)
    targets: list[DiskspdTarget] = field(default_factory=list)
    runtime_s: float | None = None
    cpu: dict[str, float | None] = field(default_factory=dict)
    rows: dict[tuple[str | None, str], dict[str, Measured]] = field(default_factory=dict)
    percentiles: dict[str | None, Shares] = field(default_factory=dict)  # by path; None: of all targets
    paths: set[str] = field(default_factory=set)  # of the targets in `rows`
    sections: set[str] = field(default_factory=set)
    has_results: bool = False


@dataclass(kw_only=True)
class SpanOutput:
    """One output of diskspd: its time spans by number, and what it says of the machine."""

    first_doc: int = 0
    spans: dict[int, Span] = field(default_factory=dict)
    waiting: deque[int] = field(default_factory=deque)  # time spans that were asked for
    machine: dict[str, str | None] = field(default_factory=dict)
    heads: set[str] = field(default_factory=set)
    has_results: bool = False  # whether the part with figures has begun

    def next_span(self) -> int | None:
        """The next time span that was asked for and has no results yet."""
        while self.waiting and self.spans[self.waiting[0]].has_results:
            self.waiting.popleft()
        return self.waiting[0] if self.waiting else None


class Rows:
    """A time span on its way into the tables."""

    def __init__(self, records: Records, source: Source, output: SpanOutput, number: int, span: Span) -> None:
        self.records, self.source, self.number, self.span = records, source, number, span
        self.doc = output.first_doc + number - 1
        self.targets = Targets(span.targets)
        self.shared: dict[str, Any] = {
            "host": output.machine.get("computer name"),
            "started_at": started_at(output.machine.get("start time") or ""),
            "ramp_s": span.seconds.get("warm up time"),
            "runtime_limit_s": span.seconds.get("duration"),
        }

    def add(self) -> None:
        """Add all runs of the time span."""
        files = [file for thread, file in self.span.rows if thread is not None]
        driven = Counter(path_and_size(file)[0] for file in files)  # by how many threads
        for place, ((thread, file), directions) in enumerate(self.span.rows.items()):
            path = path_and_size(file)[0]
            if thread is None:
                self._total(place, directions)
            else:
                own = self.span.percentiles.get(path, {}) if driven[path] == 1 else {}
                self._thread(place, thread, file, directions, own)
        several = {path_and_size(file)[0]: file for file in files}
        for place, (path, file) in enumerate(several.items(), start=len(self.span.rows)):
            if path in self.span.percentiles and driven[path] > 1:
                self._target(place, path, file)

    def _total(self, place: int, directions: dict[str, Measured]) -> None:
        row = Row(self.records, self.source, self.doc, None)
        cpu = {"usr_cpu_pct": self.span.cpu.get("User"), "sys_cpu_pct": self.span.cpu.get("Kernel")}
        target = self.targets.all_in_one(file for _, file in self.span.rows if file)
        row.run(target, None, place, **self.shared, **cpu)
        self._fill(row, directions, self.span.percentiles.get(None, {}))

    def _thread(
        self, place: int, thread: str, file: str, directions: dict[str, Measured], shares: Shares
    ) -> None:
        row = Row(self.records, self.source, self.doc, f"{thread}:{file}")
        row.run(self.targets.of(file), f"thread {thread}", place, **self.shared)
        self._fill(row, directions, shares)

    def _target(self, place: int, path: str, file: str) -> None:
        """Add what all threads of a target have together: their percentiles."""
        row = Row(self.records, self.source, self.doc, f"target:{path}", level="group")
        row.run(self.targets.of(file), path, place, **self.shared)
        self._fill(row, {}, self.span.percentiles[path])

    def _fill(self, row: Row, directions: dict[str, Measured], shares: Shares) -> None:
        for name, figures in directions.items():
            row.result(name, figures, self.span.runtime_s)
        for percentile, values in shares.items():
            row.percentile(percentile, values)
        row.end()
