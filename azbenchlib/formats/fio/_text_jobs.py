"""The jobs that fio's normal output tells of, wherever it stands among other lines."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from azbenchlib.core.findings import Code
from azbenchlib.formats.fio import _text_lines as lines
from azbenchlib.formats.fio._beside import StatedBefore
from azbenchlib.formats.fio._command_lines import Typed, agreed
from azbenchlib.formats.fio._disk_util import with_devices
from azbenchlib.formats.fio._exact_rates import lost_carry
from azbenchlib.formats.fio._jobs import SUM_OF_CLIENTS, FioJob, Key, Printed
from azbenchlib.formats.fio._pasted_runs import separate_runs

_READ_WRITE_TRIM = ("read", "write", "trim")
_WITHOUT_RUN_TIME = ("io_bytes", "runtime_s")  # what is zero of a direction that fio prints no line of
_RUN_COLUMNS = ("usr_cpu_pct", "sys_cpu_pct")

_SIBLINGS = re.compile(r"\.{3}(?:[\s|$\\]|$)")  # jobs of the same options, whatever a table puts behind


@dataclass(frozen=True)
class TextReport:
    """What a text tells: jobs by document, and what else was seen in it."""

    documents: tuple[tuple[FioJob, ...], ...]
    openings: tuple[FioJob, ...]  # jobs that were announced, with their options
    progress: int  # lines of fio's progress
    rest: tuple[str, ...]  # lines that tell of no job


def find_jobs(text: Iterable[str]) -> TextReport:
    """All jobs of a text, in time linear in its length.

    Parameters
    ----------
    text : iterable of str
        Its lines.

    Returns
    -------
    Report
        A new document begins where fio was started again or reported on its jobs once more.
    """
    search = _Search()
    for line in text:
        search.look_beside(line)
        if stripped := lines.plain(line):
            search.read(stripped)
    return search.report()


@dataclass(kw_only=True)
class _Block:
    """A job's report while it is read."""

    job: FioJob
    figures: dict[Key, Printed] = field(default_factory=dict)
    notes: list[tuple[Code, str]] = field(default_factory=list)
    issued: list[int] = field(default_factory=list)
    failed: tuple[int, int] | None = None
    ddirs: list[str] = field(default_factory=list)
    idle: set[str] = field(default_factory=set)
    interrupted: bool = False
    sampled: bool = False  # whether latencies stand there without the line of their direction
    kind: tuple[str, str] | None = None  # latency and unit of the percentiles that follow

    def put(
        self, figure: Printed, table: str, column: str, kind: str | None = None, at: float | None = None
    ) -> None:
        """A figure of the direction that is being read."""
        self.figures[Key(table, self.ddirs[-1], column, kind, at)] = figure

    def finished(self) -> FioJob:
        """The job, with what stands below its directions put where it belongs."""
        busy = [ddir for ddir in self.ddirs if ddir not in self.idle]
        for ddir in busy:
            if ios := self._ios(ddir, busy):
                self.figures[Key("results", ddir, "ios")] = Printed(ios)
        missing = self._without_line()
        for ddir in missing:
            self.figures[Key("results", ddir, "ios")] = Printed(self.issued[_READ_WRITE_TRIM.index(ddir)])
        notes = self.notes
        if missing and (busy or self.sampled):
            what = f"the line with the rates of {' and '.join(missing)} is missing"
            notes = [*notes, (Code.REPORT_CUT, what)]
        elif missing:  # of a direction without a run time, fio prints the I/Os alone
            zeros = {Key("results", ddir, name): Printed(0) for ddir in missing for name in _WITHOUT_RUN_TIME}
            self.figures |= zeros
        elif not self.ddirs and (self.sampled or not self.issued):
            what = "the lines with its rates are missing; the text was cut, or lines were taken out of it"
            notes = [*notes, (Code.REPORT_CUT, what)]
        elif not self.issued:
            notes = [*notes, (Code.REPORT_CUT, "the end of its report is missing")]
        return replace(self.job, figures=self.figures, notes=tuple(notes), failed=self.failed)

    def _without_line(self) -> list[str]:
        """The directions that did I/O, and have no line."""
        if "mixed" in self.ddirs:
            return []
        counts = zip(_READ_WRITE_TRIM, self.issued, strict=False)
        return [ddir for ddir, ios in counts if ios and ddir not in self.ddirs]

    def _ios(self, ddir: str, busy: list[str]) -> int | None:
        if ddir == "mixed":
            return sum(self.issued[:3]) if busy == ["mixed"] else None
        place = _READ_WRITE_TRIM.index(ddir)
        return self.issued[place] if place < len(self.issued) else None


class _Search:
    """Goes through the lines and keeps what they say."""

    def __init__(self) -> None:
        self.documents: list[list[_Block]] = []
        self.device_ios: dict[int, int] = {}  # by document
        self.openings: list[FioJob] = []
        self.opened: dict[tuple[str, int | None], int] = {}  # the first of a name, and of a name and group
        self.known: set[tuple[object, ...]] = set()  # who is in the last document
        # options by host, of a name and group; None: of all jobs
        self.hosts: dict[tuple[str, int | None] | None, dict[str | None, Typed]] = defaultdict(dict)
        self.of_clients: list[bool] = []  # by document: whether several hosts worked at once
        self.version: str | None = None
        self.named = ""  # the job that was named last
        self.block: _Block | None = None
        self.closed = True  # whether the next job begins a new document
        self.started = True  # whether lines of a new start were seen since the last job
        self.progress = self.headless = self.starts = 0
        self.stated = StatedBefore()
        self.rest: list[str] = []
        self.handlers = (
            (lines.HEADER, self._header),
            (lines.TEXT_RATES, self._rates),
            (lines.OLD_RATES, self._old_rates),
            (lines.OPENING, self._opening),
            (lines.VERSION, self._version),
            (lines.STARTING, self._fresh_start),
            (lines.GROUP_SUMMARY, self._group_summary),
            (lines.PROGRESS, self._progress),
            (lines.DEVICE, self._device),
        )
        self.inner = (
            (lines.LATENCY, self._latency),
            (lines.PERCENTILES, self._percentiles),
            (lines.OTHER_PERCENTILES, self._other_percentiles),
            (lines.IOPS, self._iops),
            (lines.CPU, self._cpu),
            (lines.ISSUED, self._issued),
            (lines.ERRORS, self._errors),
        )

    def look_beside(self, line: str) -> None:
        """Take into account what a line, as it stands in the file, says beside the outputs."""
        self.stated.read(line)
        if self.stated.begins:
            version = self.version
            self._restart()
            self.version = version  # of fio on the same machine, as far as anything tells
            self.named = self.stated.only_name

    def read(self, line: str) -> None:
        """Take one line into account."""
        for pattern, handle in self.handlers:
            if match := pattern.match(line):
                handle(match)
                return
        if self.opened and _SIBLINGS.match(line):
            self.openings[-1] = replace(self.openings[-1], members=0)
            return
        if self.block is not None and not self.block.interrupted and self._inside(self.block, line):
            return
        self.rest.append(line)
        if self.block is not None and any(map(str.isalpha, line)):
            self.block.interrupted = True

    def _inside(self, block: _Block, line: str) -> bool:
        """Whether the line belongs to the report on the job at hand."""
        for pattern, handle in self.inner:
            if match := pattern.match(line):
                handle(block, match)
                return True
        if block.kind and block.ddirs:
            kind, unit = block.kind
            for percentile, number in lines.percentiles(line):
                block.put(lines.latency_us(number, unit, True), "percentiles", "lat_us", kind, percentile)
        return bool(lines.INNER.match(line)) and not line.startswith("fio:")

    # ---- lines that stand for themselves ---------------------------------------------------------------

    def _opening(self, match: re.Match[str]) -> None:
        self._fresh_start(match)
        options = {"rw": match["rw"], "ioengine": match["engine"], "iodepth": match["depth"]}
        self.named = match["name"]
        job = FioJob(
            name=match["name"],
            group_id=int(match["group"]),
            host=match["host"],
            options=options | lines.block_sizes(match["bs"]),
            members=1,
        )
        self.openings.append(job)
        for group in (job.group_id, None):
            self.opened.setdefault((job.name, group), len(self.openings) - 1)
        for key in (None, (job.name, job.group_id)):
            self.hosts[key][job.host] = job.options or {}

    def _version(self, match: re.Match[str]) -> None:
        self._fresh_start(match)
        self.version = match[1]

    def _fresh_start(self, _: re.Match[str]) -> None:
        self._restart()

    def _restart(self) -> None:
        """A new start of fio: what was announced before the last jobs is over."""
        if not self.started:
            self.opened, self.version = {}, None
            self.hosts.clear()
            self.starts += 1
        self.started = self.closed = True
        self.block = None

    def _progress(self, _: re.Match[str]) -> None:
        self.progress += 1

    def _device(self, match: re.Match[str]) -> None:
        """A line of the disk statistics, which close a report."""
        last = len(self.documents) - 1
        if self.closed and last >= 0:
            done = int(match["reads"]) + int(match["writes"])
            self.device_ios[last] = self.device_ios.get(last, 0) + done

    def _group_summary(self, _: re.Match[str]) -> None:
        """The end of a report; that of several hosts ends with the sum over them, or a new start."""
        summed = bool(self.documents) and self.documents[-1][-1].job.name == SUM_OF_CLIENTS
        self.closed, self.block = summed or len(self.hosts[None]) < 2, None

    # ---- jobs ------------------------------------------------------------------------------------------

    def _header(self, match: re.Match[str]) -> None:
        job = FioJob(
            name=match["name"],
            group_id=int(match["group"]),
            error=int(match["error"]),
            jobs=max(1, int(match["jobs"])),
            serial=(self.starts, int(match["pid"])),
            version=self.version,
            printed_s=lines.clock_s(match["printed"]),
        )
        self.named = job.name
        self._begin(job)

    def _begin(self, job: FioJob) -> _Block:
        opening = self._opening_of(job)
        if opening is not None:
            members = opening.members if job.jobs == 1 else job.jobs
            job = replace(job, host=opening.host, options=opening.options, members=members)
        by_host = self.hosts[job.name, job.group_id]
        if len(by_host) > 1:  # whose report it is, nothing tells
            job = replace(job, host=None, options=dict(agreed([*by_host.values()]) or {}))
        job = replace(job, beside=self.stated.of(job.name))
        known = job.identity in self.known
        if not self.documents or known or (self.closed and job.name != SUM_OF_CLIENTS):
            self.documents.append([])
            self.of_clients.append(len(self.hosts[None]) > 1)
            self.known = set()
        self.known.add(job.identity)
        block = self.block = _Block(job=job)
        self.documents[-1].append(block)
        self.closed = self.started = False
        return block

    def _opening_of(self, job: FioJob) -> FioJob | None:
        """What was announced of a job: by name and group, else by name."""
        place = self.opened.get((job.name, job.group_id), self.opened.get((job.name, None)))
        return None if place is None else self.openings[place]

    def _direction(self, ddir: str) -> _Block:
        """The block that a direction belongs to: pages may quote these lines without a header."""
        block = self.block
        if block is None or block.interrupted or ddir in block.ddirs:
            self.closed = True
            self.headless += 1
            block = self._begin(
                FioJob(name=self.named, serial=(self.starts, -self.headless), version=self.version)
            )
            note = "a direction without a job's header; its name is that of the job named last"
            block.notes.append((Code.NO_JOB_HEADER, note))
        block.ddirs.append(ddir)
        block.kind = None
        return block

    def _rates(self, match: re.Match[str]) -> None:
        self._results(lines.rates(match))

    def _old_rates(self, match: re.Match[str]) -> None:
        self._results(lines.old_rates(match))

    def _results(self, rates: lines.TextRates) -> None:
        """One row of results, unless nothing was done: fio prints zeros then."""
        block, ddir = self._direction(rates.ddir), rates.ddir
        rate, again, moved = rates.rate, rates.again, rates.moved
        if not rates.iops.value and not moved.value:
            block.idle.add(ddir)
            return
        if again and abs(rate.value - again.value) > rate.slack + again.slack:
            note = f"{ddir} BW is {rate.value:.4g} and {again.value:.4g} B/s in one line: fio lost a carry"
            block.notes.append((Code.ROUNDING_ERROR, note))
            rate = again if lost_carry(rate, again) else rate
        by_rate = Printed(rate.value * rates.seconds, rate.slack * rates.seconds)
        is_short = abs(by_rate.value - moved.value) > by_rate.slack + moved.slack
        moved = by_rate if is_short and lost_carry(moved, by_rate) else moved
        block.put(rates.iops, "results", "iops")
        block.put(rate, "results", "bw_bytes_per_s")
        block.put(Printed(round(moved.value), moved.slack), "results", "io_bytes")
        block.put(Printed(rates.seconds), "results", "runtime_s")

    # ---- lines inside of a job -------------------------------------------------------------------------

    def _latency(self, block: _Block, match: re.Match[str]) -> None:
        block.kind = None
        if not block.ddirs:
            block.sampled = True
            return
        kind, unit, *numbers, deviation = match.groups()
        least, most, mean = (numbers[at : at + 2] for at in (0, 2, 4))
        moments = {
            "lat_min_us": lines.latency_us(least, unit, True),
            "lat_mean_us": lines.latency_us(mean, unit, False),
            "lat_stddev_us": lines.latency_us((deviation, ""), unit, False),
            "lat_max_us": lines.latency_us(most, unit, True),
        }
        if any(figure.value for figure in moments.values()):
            for column, figure in moments.items():
                block.put(figure, "latency", column, kind)

    def _percentiles(self, block: _Block, match: re.Match[str]) -> None:
        block.kind = (match[1], match[2])

    def _other_percentiles(self, block: _Block, _: re.Match[str]) -> None:
        block.kind = None

    def _iops(self, block: _Block, match: re.Match[str]) -> None:
        if block.ddirs and block.ddirs[-1] not in block.idle and int(match[2]):
            block.put(Printed(float(match[1]), 0.01), "results", "iops_stddev")

    def _cpu(self, block: _Block, match: re.Match[str]) -> None:
        for column, number in zip(_RUN_COLUMNS, match.groups(), strict=True):
            block.figures[Key("runs", "", column)] = Printed(float(number), 0.01)

    def _issued(self, block: _Block, match: re.Match[str]) -> None:
        block.issued = lines.issued(match)

    def _errors(self, block: _Block, match: re.Match[str]) -> None:
        block.failed = (int(match[1]), int(match[2]))

    # ---- the whole -------------------------------------------------------------------------------------

    def report(self) -> TextReport:
        """All that was found."""
        documents: list[tuple[FioJob, ...]] = []
        for place, printed in enumerate(self.documents):
            jobs = [block.finished() for block in printed]
            runs = [[*range(len(jobs))]] if self.of_clients[place] else separate_runs(jobs)
            *before, last = (_members_counted([jobs[i] for i in run]) for run in runs)
            documents += [*before, with_devices(last, self.device_ios.get(place))]
        return TextReport(tuple(documents), tuple(self.openings), self.progress, tuple(self.rest))


def _members_counted(jobs: list[FioJob]) -> tuple[FioJob, ...]:
    """The jobs; those that are one of several of their name know of how many."""
    rows = Counter((job.name, job.group_id) for job in jobs)
    return tuple(
        job if job.members != 0 else replace(job, members=rows[job.name, job.group_id]) for job in jobs
    )
