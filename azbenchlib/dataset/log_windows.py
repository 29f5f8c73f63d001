"""Latency percentiles of each window of time, from fio's logs of any length: exact, and in flat memory.

Logs of single I/Os give them to the last ns, histogram logs to their bin. All jobs are taken together, and so
are the two kinds of logs. Where only logs are named, no large library is loaded.
"""

from __future__ import annotations

import filecmp
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from azbenchlib.analysis.over_time import windows
from azbenchlib.analysis.over_time.windows import Completions, Window
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.histogram import shares
from azbenchlib.core.units import MS_PER_S, NS_PER_US
from azbenchlib.dataset.files import files_at
from azbenchlib.dataset.log_names import LOG_NAME, Log
from azbenchlib.dataset.names import RAW, STDIN, sorted_out
from azbenchlib.formats.fio.logs import hist_lines, log_lines
from azbenchlib.formats.fio.logs.hist_lines import HistBins, HistLayout
from azbenchlib.formats.fio.logs.log_lines import LogColumns
from azbenchlib.formats.source import Source

HIST = "clat_hist"
_TIME = re.compile(r"[ \t]*([0-9]{1,15}),")


@dataclass(frozen=True, kw_only=True)
class Windowed:
    """Percentiles by window.

    Attributes
    ----------
    width_s : float
    kinds : tuple of str
        The kinds of latency that there are.
    rows : list of dict
        ``t_s``, when a window begins, an int where that is a whole second; ``ddir``; ``lat_kind``; ``n``; and
        a column a percentile, in µs.
    findings : tuple of Finding
    """

    width_s: float
    kinds: tuple[str, ...]
    rows: list[dict[str, Any]]
    findings: tuple[Finding, ...]


@dataclass(kw_only=True)
class _Named:
    """What was named, sorted, and what is to be said of it."""

    logs: list[Log] = field(default_factory=list)
    outputs: list[Path] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def say(self, code: Code, path: str | Path, what: str, advice: str | None = None) -> None:
        """Keep a finding about a file."""
        self.findings.append(Finding.of(code, f"{path}: {what}", advice, source_path=str(path)))


@dataclass(frozen=True, kw_only=True)
class _Single:
    """A log of single I/Os; gone through, it gives latencies in ns."""

    log: Log
    start_ms: int
    ns: int
    damaged: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Completions]:
        blocks = log_lines.blocks(Source.of(Path(self.log.path)), sizes=False)
        for block in _noting_damage(blocks, self.damaged):
            latency = block.value if self.ns == 1 else block.value * self.ns
            yield Completions(t_ms=block.t_ms - self.start_ms, code=block.code, latency=latency)


@dataclass(frozen=True, kw_only=True)
class _Hist:
    """A histogram log. When its I/Os ended within their interval is not known: in its middle, it is taken."""

    log: Log
    start_ms: int
    layout: HistLayout
    damaged: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Completions]:
        source = Source.of(Path(self.log.path))
        half = hist_lines.interval_ms(source.opening) / 2
        for block in _noting_damage(hist_lines.blocks(source, self.layout), self.damaged):
            middle = np.maximum(block.t_ms - self.start_ms - half, 0)
            yield Completions(t_ms=middle, code=block.code, latency=block.bin_ns, count=block.n)


Block = TypeVar("Block", LogColumns, HistBins)


def _noting_damage(blocks: Iterable[Block], damaged: list[int]) -> Iterator[Block]:
    """The blocks; the numbers of their damaged lines, from 1, are put into `damaged`."""
    damaged.clear()
    before = 0
    for block in blocks:
        damaged += [before + place + 1 for place in block.damaged]
        before += block.n_lines
        yield block


def read_windows(
    names: Sequence[str | Path], width_ms: int, percentiles: Sequence[float], log_unit: str | None = None
) -> Windowed:
    """Read the percentiles of each window, direction and kind of latency.

    Parameters
    ----------
    names : sequence of str or path-like
        Logs, folders that hold some, datasets. Outputs beside a log tell the unit of its latencies.
    width_ms : int
        Of a window, at least 1; the first begins at 0.
    percentiles : sequence of float
        Above 0, at most 100.
    log_unit : {"us", "ns"}, optional
        Unit of latencies where no output tells it.

    Raises
    ------
    InputError
        When nothing that is named is a latency log with percentiles, a percentile is out of range, or there
        is no such file.
    """
    shares(percentiles)  # one that is out of range is told before anything is read
    named = _sorted(names)
    logs = _opened(named, log_unit)
    rows: list[dict[str, Any]] = []
    kinds = [kind for kind in log_lines.FIO_LATENCIES if kind in logs]
    for kind in kinds:
        found = windows.by_window(logs[kind], width_ms, percentiles)
        rows += [_row(window, width_ms, percentiles, kind) for window in found]
        _report_damage(named, logs[kind])
    if not rows:
        raise InputError(_nothing(names, named))
    rows.sort(key=lambda row: row["t_s"])
    width_s = width_ms / MS_PER_S
    return Windowed(width_s=width_s, kinds=tuple(kinds), rows=rows, findings=tuple(named.findings))


def _row(window: Window, width_ms: int, percentiles: Sequence[float], kind: str) -> dict[str, Any]:
    told = {f"p{p:.10g}_us": ns / NS_PER_US for p, ns in zip(percentiles, window.latencies, strict=True)}
    begins_ms = window.place * width_ms
    t_s = begins_ms / MS_PER_S if begins_ms % MS_PER_S else begins_ms // MS_PER_S
    return {"t_s": t_s, "ddir": log_lines.FIO_DDIRS[window.code], "lat_kind": kind, "n": window.n, **told}


def _sorted(names: Sequence[str | Path]) -> _Named:
    """All files that are named, each once: logs, other outputs, and what cannot be read."""
    named = _Named()
    datasets, loose = sorted_out(names)
    if STDIN in loose.values():
        raise InputError("standard input has no name that tells which latency a log has; give the log's file")
    for folder in datasets.values():
        _check_real_time(folder)
    places = [folder / RAW for folder in datasets.values()] + [Path(name) for name in loose.values()]
    files = {file: why for place in places for file, why in files_at(place).items()}
    seen: dict[int, list[Path]] = defaultdict(list)
    for file, obstacle in files.items():
        size = 0 if obstacle else file.stat().st_size
        if obstacle:
            named.say(Code.NOT_READ, file, f"not read: {obstacle.why}")
        elif LOG_NAME.match(file.name) or log_lines.kind_of(str(file)):
            if size and _is_twice(file, seen[size]):
                named.say(Code.COUNTED_ONCE, file, "the same content as another file; counted once")
            elif size:
                seen[size].append(file)
                _sort_log(named, file)
        else:
            named.outputs.append(file)
    return named


def _check_real_time(folder: Path) -> None:
    from azbenchlib.dataset.manifest import load  # loads pandas

    if (load(folder).tables()["setups"]["time_scale"].fillna(1) != 1).any():
        raise InputError(
            f"{folder}: measured in dilated time, so its logs run in another time; read it without --window"
        )


def _is_twice(file: Path, same_size: Sequence[Path]) -> bool:
    return any(filecmp.cmp(file, other, shallow=False) for other in same_size)


def _sort_log(named: _Named, file: Path) -> None:
    """Keep a log that has latencies of single I/Os or bins; say why another is left out."""
    opening = Source.of(file).opening
    name = LOG_NAME.match(file.name)
    kind = name["kind"] if name else log_lines.kind_of(str(file))
    log = Log.named(str(file), "") or Log.bare(str(file), str(kind))
    if (kind == HIST and hist_lines.sniff(opening)) or (
        kind in log_lines.FIO_LATENCIES and log_lines.sniff(opening)
    ):
        if kind in log_lines.FIO_LATENCIES and log_lines.averaged(opening):
            what = "its values are averages over time (log_avg_msec), which have no percentiles; left out"
            named.say(
                Code.LOG_AVERAGED, file, what, "Log each I/O, or write a histogram log (write_hist_log)"
            )
        else:
            named.logs.append(log)
    elif kind in (HIST, *log_lines.FIO_LATENCIES):
        named.say(Code.NOT_RECOGNISED, file, "named as a log of latencies, and holds none")


def _opened(named: _Named, log_unit: str | None) -> dict[str, list[_Single | _Hist]]:
    """The logs by kind of latency; of a job with both, the log of single I/Os."""
    single = [log for log in named.logs if log.kind != HIST]
    exact = [log for log in single if log.kind == "clat"]
    hist = [log for log in named.logs if log.kind == HIST and not any(log.is_with(one) for one in exact)]
    start_ms = _start_ms(named, [*single, *hist])
    units = _in_us(named, single, log_unit)
    found: dict[str, list[_Single | _Hist]] = defaultdict(list)
    for log in single:
        if units[log] is None:
            named.findings.append(log_lines.unit_assumed(log.path))
        found[log.kind].append(_Single(log=log, start_ms=start_ms[log], ns=NS_PER_US if units[log] else 1))
    for log in hist:
        layout = hist_lines.layout(Source.of(Path(log.path)))
        if layout is None:
            named.say(Code.HIST_LAYOUT_UNKNOWN, log.path, "no line with the bins of a known fio")
        else:
            found["clat"].append(_Hist(log=log, start_ms=start_ms[log], layout=layout))
    return found


def _start_ms(named: _Named, logs: Sequence[Log]) -> dict[Log, int]:
    """What each log's times count from: 0, or the first of all times of the clock on the wall."""
    first = {log: _first_ms(log) for log in logs}
    wall = {log: ms for log, ms in first.items() if ms > log_lines.EPOCH_MS}
    begin = min(wall.values(), default=0)
    if wall:
        what = f"times are of the clock on the wall; counted here from {log_lines.wall_clock(begin)}"
        named.say(Code.LOG_EPOCH_TIME, next(iter(wall)).path, what)
    return {log: begin if log in wall else 0 for log in logs}


def _first_ms(log: Log) -> int:
    """The time of the first line that has one."""
    lines = Source.of(Path(log.path)).opening.splitlines()
    return next((int(found[1]) for line in lines if (found := _TIME.match(line))), 0)


def _in_us(named: _Named, logs: Sequence[Log], log_unit: str | None) -> Mapping[Log, bool | None]:
    """Whether the latencies of each log are in µs; None: neither the outputs beside it nor the user tell."""
    if not named.outputs:
        return {log: log_lines.in_us(None, log_unit) for log in logs}
    from azbenchlib.dataset.log_matching import Kin  # these load pandas
    from azbenchlib.dataset.read import read_files

    runs = read_files([(file, str(file)) for file in named.outputs], log_unit, bins=False)["runs"]
    kin = Kin(runs, logs, log_unit)
    return {log: log_lines.in_us(kin.beside(log).tool_version, log_unit) for log in logs}


def _report_damage(named: _Named, logs: Sequence[_Single | _Hist]) -> None:
    for log in logs:
        if log.damaged:
            what = f"{len(log.damaged)} broken lines left out, the first is line {log.damaged[0]}"
            named.say(Code.BROKEN_LINES, log.log.path, what)


def _nothing(names: Sequence[str | Path], named: _Named) -> str:
    told = "; ".join(finding.message for finding in named.findings)
    what = "latency logs of fio are needed (write_lat_log without log_avg_msec, or write_hist_log)"
    return f"{', '.join(map(str, names))}: no log has percentiles by window; {told or what}"
