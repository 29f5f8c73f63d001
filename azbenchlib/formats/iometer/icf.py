"""Reader of IOMeter's configuration (``.icf``): what a run was asked to do; nothing was measured yet.

A line that begins with ``'`` names what the lines after it hold. A row is made for each target of each worker
and each access specification that is assigned to it; without managers, for each specification. A worker that
names no target has one row a specification. A configuration that was appended to another begins with a part
that was there before.

Source: labels in IOMeter's ``PageSetup.cpp`` and ``ManagerList.cpp``, and a configuration of 1998.10.08.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from azbenchlib.core.findings import ERROR, Code
from azbenchlib.core.units import SECTOR_BYTES
from azbenchlib.formats.base import Records
from azbenchlib.formats.iometer._specs import LINES, NAME, Spec, number, spec_named, whole
from azbenchlib.formats.source import LONGEST_LINE, Source

RUN_TIME, RAMP = "' hours minutes seconds", "'Ramp Up Time (s)"
_MOST_ROWS = 10_000  # more workers, targets and specifications than any laboratory has

_SECTIONS = re.compile(r"^'(?:TEST SETUP|ACCESS SPECIFICATIONS|MANAGER LIST) =+", re.MULTILINE)
_PART = re.compile(r"'([A-Z ]+) =+$")


def sniff(opening: str) -> bool:
    """Whether the head of a part of a configuration stands in the opening of a file."""
    return bool(_SECTIONS.search(opening))


def read_iometer_icf(source: Source) -> Records:
    """The runs that a configuration describes.

    Parameters
    ----------
    source : Source
        The configuration.

    Returns
    -------
    Records
        Rows of runs without results, and findings.
    """
    return _Reader(source).read()


@dataclass(kw_only=True)
class _Worker:
    host: str | None
    depth: int | None = None
    sectors: int | None = None
    specs: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


class _Reader:
    """A configuration on its way into the table of runs."""

    def __init__(self, source: Source) -> None:
        self.source, self.records = source, Records(source)
        self.doc, self.unread = 0, list[str]()
        self.part: str | None = None  # that is under way
        self.cut: list[str] = []  # parts without an end
        self._begin()

    def _begin(self) -> None:
        """A configuration begins."""
        self.parts: set[str] = set()
        self.specs: dict[str, Spec] = {}
        self.spec: Spec | None = None
        self.workers: list[_Worker] = []
        self.host: str | None = None
        self.runtime_s: float | None = None
        self.ramp_s: float | None = None

    def read(self) -> Records:
        section = ""
        for raw in self.source.text.splitlines():
            line = raw[:LONGEST_LINE].strip()
            if line.startswith("'"):
                section = " ".join(line.split())
                self._heading(section)
            elif line and not self._setup(section, line):
                self._manager(section, line)
        self._end_part("")
        self._add()
        self._report()
        return self.records

    def _heading(self, section: str) -> None:
        """The head or the end of a part."""
        if match := _PART.match(section):
            self._end_part("")
            if match[1] in self.parts:
                self._add()
                self.doc += 1
                self._begin()
            self.part = match[1]
            self.parts.add(match[1])
        elif section.startswith("'END "):
            self._end_part(section.removeprefix("'END ").upper())

    def _end_part(self, name: str) -> None:
        if self.part and self.part != name:
            self.cut.append(self.part)
        self.part = None

    def _setup(self, section: str, line: str) -> bool:
        """A line of the test's setup or of its access specifications; whether it was one."""
        if section == RUN_TIME:
            parts = [number(part) for part in line.split()]
            if len(parts) == 3 and None not in parts:
                self.runtime_s = sum(
                    part * unit for part, unit in zip(parts, (3600, 60, 1), strict=True) if part
                )
        elif section == RAMP:
            self.ramp_s = number(line)
        elif section == NAME:
            self.spec = spec_named(line)
            self.specs[self.spec.name] = self.spec
        elif section == LINES:
            if self.spec and not self.spec.add_line(line):
                self.unread.append(line)
        else:
            return False
        return True

    def _manager(self, section: str, line: str) -> None:
        """A line of the list of managers."""
        if section == "'Manager ID, manager name":
            self.host = line.partition(",")[2].strip() or None
        elif section == "'Worker":
            self.workers.append(_Worker(host=self.host))
        elif not self.workers:
            return
        elif section.startswith("'Number of outstanding IOs"):
            self.workers[-1].depth = whole(line.partition(",")[0])
        elif section.startswith("'Disk maximum size"):
            self.workers[-1].sectors = whole(line.partition(",")[0])
        elif section == "'Assigned access specs":
            self.workers[-1].specs.append(line)
        elif section == "'Target":
            self.workers[-1].targets.append(line)

    def _rows(self) -> Iterator[tuple[_Worker, Spec, str | None]]:
        if not self.workers:
            yield from ((_Worker(host=None), spec, None) for spec in self.specs.values())
        for worker in self.workers:
            for name in worker.specs:
                targets: list[str | None] = [*worker.targets] or [None]
                for target in targets:
                    yield worker, self.specs.get(name, Spec(name)), target

    def _add(self) -> None:
        path = self.source.path
        for place, (worker, spec, target) in enumerate(self._rows()):
            if place == _MOST_ROWS:
                message = f"{path}: more than {_MOST_ROWS:,} descriptions; the others are left out"
                self.records.finding(Code.TOO_MANY, message)
                break
            run_id = self.source.run_id(self.doc, place)
            self.records.add(
                "runs",
                run_id=run_id,
                level="job",
                tool="iometer",
                job_index=place,
                host=worker.host,
                target=target,
                iodepth=worker.depth,
                queue_depth=worker.depth,
                working_set_bytes=worker.sectors * SECTOR_BYTES if worker.sectors else None,  # 0: all of it
                ramp_s=self.ramp_s,
                runtime_limit_s=self.runtime_s or None,  # 0: until it is stopped
                source_path=path,
                source_sha256=self.source.sha256,
                source_doc=self.doc,
                **spec.columns(),
            )
            message = f"{path}: '{spec.name}' is a description of a run; nothing was measured"
            self.records.finding(
                Code.JOB_DESCRIPTION, message, "Run it, and read its results.csv", run_id=run_id
            )

    def _report(self) -> None:
        path = self.source.path
        if self.cut:
            message = f"{path}: the part '{self.cut[0]}' has no end; the configuration is cut"
            self.records.finding(Code.NOT_COMPLETE, message, "Save it again from IOMeter", severity=ERROR)
        if self.unread:
            message = f"{path}: {len(self.unread)} lines are no access specification: {self.unread[0][:120]}"
            self.records.finding(Code.ROW_NOT_READ, message, "Left out")
