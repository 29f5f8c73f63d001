"""What all readers of telemetry have in common: reports in their order become rows with a begin and a length.

A report tells of the time since the report before it. Where a tool states no interval, the time between two
reports is it; a longer pause than usual is time of which nothing is known, for no tool averages over it on
purpose. Clocks are corrected where they were set back by an hour.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Severity
from azbenchlib.core.units import S_PER_HOUR, format_span
from azbenchlib.formats.base import Records
from azbenchlib.formats.device_names import sorted_by_role

STAMP_S = (
    1.0  # times are printed in whole seconds: two reports may be so much nearer or farther than they were
)
LATEST_S = 7_258_118_400.0  # 2200-01-01: a later time, or one before 1970, is damaged
_LATENCIES = {"iops": "lat_us", "read_iops": "read_lat_us", "write_iops": "write_lat_us"}  # rate -> latency
_CPU_DIGITS = 5  # of the most processors that a host has
_NAMED = 5  # devices in a message
_PAUSE = 1.5  # of the usual interval; longer is a pause


@dataclass(kw_only=True)
class DeviceReport:
    """What one report tells.

    Parameters
    ----------
    host : str or None
    cpus : int or None
        Processors of the host. None: not stated.
    memory_bytes : float or None
        Memory of the host. None: not stated.
    end_s : float or None
        When it was made: s since 1970 by `clock`. None: not stated.
    clock : {"utc", "local", "elapsed"}
    interval_s : float or None
        Its length, where the tool states it.
    is_first : bool
        Whether the tool began with it: nothing tells how long it is. Without devices it is a begin alone.
    devices : dict of str to dict
        Columns of the table demand by device.
    """

    host: str | None
    end_s: float | None
    clock: str
    cpus: int | None = None
    memory_bytes: float | None = None
    interval_s: float | None = None
    is_first: bool = False
    devices: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Timed:
    """A report with the begin and the length of its interval; None: not known."""

    report: DeviceReport
    begun_s: float | None
    interval_s: float | None


def number(text: str) -> float | None:
    """A figure of a log: a comma may be its decimal point; None where it is none."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def processors(text: str) -> int | None:
    """A number of processors of a log; None where it is none."""
    bare = text.strip()
    return int(bare) or None if bare.isascii() and bare.isdigit() and len(bare) <= _CPU_DIGITS else None


def is_moment(seconds: float) -> bool:
    """Whether a time in s since 1970 may be that of a report."""
    return 0 <= seconds < LATEST_S


def add_reports(records: Records, tool: str, reports: Sequence[DeviceReport], doc: int = 0) -> None:
    """Rows of the table demand, and findings about times.

    Parameters
    ----------
    records : Records
        Where they go.
    tool : str
        Name of the tool.
    reports : sequence of DeviceReport
        In the order of the file.
    doc : int
        Which of the tools in the file it is.
    """
    columns: dict[str, list[object]] = {name: [] for name in schema.TABLES["demand"].columns}
    n_all = len(reports)
    reports = [report for report in reports if report.end_s is None or is_moment(report.end_s)]
    if n_all > len(reports):
        message = (
            f"{records.source.path}: {n_all - len(reports)} reports of a time before 1970 or after 2199 "
        )
        records.finding(Code.ROW_NOT_READ, f"{message}left out")
    telemetry_id = records.source.run_id(doc, "demand")
    for seq, timed in enumerate(_kept(records, reports)):
        report = timed.report
        for device, told in report.devices.items():
            row: Mapping[str, object] = {
                "telemetry_id": telemetry_id,
                "source_path": records.source.path,
                "tool": tool,
                "host": report.host,
                "host_cpus": report.cpus,
                "host_memory_bytes": report.memory_bytes,
                "device": device,
                "seq": seq,
                "clock": report.clock if timed.begun_s is not None else "elapsed",
                "t_s": timed.begun_s,
                "interval_s": timed.interval_s,
                **_measured(told),
            }
            for name, column in columns.items():
                column.append(row.get(name))
    _tell_of_devices(records, reports)
    if columns["seq"]:
        records.add_frame("demand", pd.DataFrame(columns, dtype=object))


def _tell_of_devices(records: Records, reports: Sequence[DeviceReport]) -> None:
    """Which of the devices repeat the load of others."""
    roles = sorted_by_role(name for report in reports for name in report.devices)
    for names, code, what in (
        (roles.partitions, Code.PARTITIONS_BESIDE_DISK, "partitions stand beside their disks"),
        (roles.stacked, Code.STACKED_DEVICES, "devices that lie on disks stand beside them"),
    ):
        if names:
            shown = f"{', '.join(names[:_NAMED])}{' …' if len(names) > _NAMED else ''}"
            records.finding(code, f"{records.source.path}: {what}: {shown}")


def _measured(told: Mapping[str, float]) -> dict[str, float]:
    """The figures without latencies of no I/O, which tools print as zero."""
    idle = {lat for rate, lat in _LATENCIES.items() if told.get(rate) == 0}
    return {name: value for name, value in told.items() if name not in idle}


def _kept(records: Records, reports: Sequence[DeviceReport]) -> Iterator[_Timed]:
    """The reports with their times, host by host in their order; those of no interval are left out."""
    path = records.source.path
    since_boot = [
        report for report in reports if report.is_first and report.interval_s is None and report.devices
    ]
    if since_boot:
        others = len(since_boot) < sum(bool(report.devices) for report in reports)
        message = (
            f"{path}: {len(since_boot)} of {len(reports)} reports may tell of the time since boot; left out"
        )
        records.finding(Code.SINCE_BOOT, message, severity=None if others else Severity.WARNING)
    by_host: dict[str | None, list[DeviceReport]] = {}
    for report in reports:
        by_host.setdefault(report.host, []).append(report)
    for host, told in by_host.items():
        if any(report.end_s is not None for report in told):
            yield from _with_times(records, host, told)
        else:
            kept = [report for report in told if not (report.is_first and report.interval_s is None)]
            if any(report.interval_s is None for report in kept):
                message = f"{path}: {len(kept)} reports have no time"
                records.finding(Code.INTERVAL_UNKNOWN, message)
            yield from (_Timed(report, None, report.interval_s) for report in kept)


def _with_times(records: Records, host: str | None, told: Sequence[DeviceReport]) -> Iterator[_Timed]:
    """The reports of one host that have a time."""
    dated = [report for report in told if report.end_s is not None]
    if others := sum(
        bool(report.devices) and report.end_s is None and not report.is_first for report in told
    ):
        message = (
            f"{records.source.path}: {others} reports without a time beside others that have one left out"
        )
        records.finding(Code.ROW_NOT_READ, message)
    ends = _forward(records, host, [report.end_s or 0.0 for report in dated])
    before: float | None = None  # the end of the report before
    missing = unknown = 0
    for report, end, last, usual in zip(dated, ends, [None, *ends], _usual_steps(dated, ends), strict=False):
        length = _length(report, None if last is None else end - last, usual)
        if length is None and report.devices and not report.is_first:
            unknown += 1
            yield _Timed(report, None, None)
        if length is None or length <= 0:
            before = end
            continue
        begun = end - length
        if before is not None and abs(begun - before) <= STAMP_S:
            begun = before
        elif before is not None and begun > before:
            missing += 1
        yield _Timed(report, begun, length)
        before = begun + length
    where = f" of {host}" if host else ""
    if unknown:
        message = (
            f"{records.source.path}: how long {unknown} of {len(dated)} reports{where} are is not stated"
        )
        records.finding(Code.INTERVAL_UNKNOWN, message)
    if missing:
        message = f"{records.source.path}: {missing} pauses between the reports{where}"
        records.finding(Code.INTERVALS_MISSING, message)


def _length(report: DeviceReport, step: float | None, usual: float | None) -> float | None:
    """How long a report is; `step`: since the report before it, `usual`: the usual one."""
    if report.interval_s is not None:
        return report.interval_s
    if report.is_first or step is None or usual is None:
        return None if report.is_first else usual
    regular = abs(step - usual) <= STAMP_S or step > usual * _PAUSE
    return usual if regular or step <= 0 else step


def _usual_steps(reports: Sequence[DeviceReport], ends: Sequence[float]) -> Iterator[float | None]:
    """The usual time between reports where each one is: of the capture that it belongs to, else of all."""
    steps: list[list[float]] = []  # of each capture, which a tool's first report begins
    for i, report in enumerate(reports):
        if report.is_first or not steps:
            steps.append([])
        elif (step := ends[i] - ends[i - 1]) > 0:
            steps[-1].append(step)
    usual = [median(some) if some else None for some in steps]
    of_all = median(every) if (every := [step for some in steps for step in some]) else None
    capture = -1
    for i, report in enumerate(reports):
        capture += report.is_first or not i
        yield of_all if usual[capture] is None else usual[capture]


def _forward(records: Records, host: str | None, ends: list[float]) -> list[float]:
    """The times without the steps back of a clock, where those are about an hour."""
    found, ahead, set_back = [], 0.0, 0
    usual = median([b - a for a, b in pairwise(ends)]) if len(ends) > 1 else 0.0
    for i, end in enumerate(ends):
        step = end - ends[i - 1] if i else usual
        if -S_PER_HOUR <= step <= 0 and abs(step + S_PER_HOUR - usual) <= max(STAMP_S, usual / 2):
            ahead += S_PER_HOUR
            set_back += 1
        found.append(end + ahead)
    if set_back:
        where = f" of {host}" if host else ""
        hour = format_span(S_PER_HOUR)
        often = "once" if set_back == 1 else f"{set_back} times"
        message = f"{records.source.path}: the clock{where} was set back by {hour}, {often}"
        records.finding(Code.CLOCK_SET_BACK, message)
    return found
