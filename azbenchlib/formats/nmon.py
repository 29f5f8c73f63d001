"""Reader of nmon's files (``nmon -f``, ``-F``), of Linux and of AIX.

The first line of a section names the disks (``DISKREAD,Disk Read KB/s HOST,sda,…``); many disks take several
sections (``DISKREAD1``). A line of a snapshot has a figure for each of them (``DISKREAD,T0001,0.4,…``), and
``ZZZZ,T0001,00:23:37,27-NOV-2026`` says when that was; sorted files have these at their end. KB are 1024
bytes. Transfers are the sum of reads and writes; newer versions and AIX tell them apart, too. The first
snapshot is of the time since nmon began. Times are local.

Source: nmon for Linux 16n and its outputs; those of AIX's topas_nmon that others published; 2026-11.
"""

import re
from dataclasses import dataclass, field

from azbenchlib.core.findings import Code
from azbenchlib.core.units import KIB, MIB
from azbenchlib.formats._clock import Clock
from azbenchlib.formats._telemetry import DeviceReport, add_reports, number, processors
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_SNIFF = re.compile(r"^(?:AAA,progname,\w{0,20}nmon|DISKREAD,Disk Read KB/s |ZZZZ,T\d{4,9},\d)", re.MULTILINE)
_SECTION = re.compile(r"(?P<name>DISK[A-Z]{2,10}?)\d{0,3}")
_SNAPSHOT = re.compile(r"T\d{4,9}")
_MEMORY = ("memtotal", "Real total(MB)")  # of Linux, of AIX
# Section -> column of the table demand, factor.
_SECTIONS = {
    "DISKREAD": ("read_bytes_per_s", KIB),
    "DISKWRITE": ("write_bytes_per_s", KIB),
    "DISKXFER": ("iops", 1),
    "DISKREADS": ("read_iops", 1),
    "DISKWRITES": ("write_iops", 1),
    "DISKRIO": ("read_iops", 1),
    "DISKWIO": ("write_iops", 1),
    "DISKBUSY": ("busy_pct", 1),
}


@dataclass(kw_only=True)
class _Capture:
    """What one file of nmon tells, before times and figures are put together."""

    facts: dict[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)  # by snapshot
    disks: dict[str, list[str]] = field(default_factory=dict)  # by section
    figures: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)  # by snapshot and disk
    memory_columns: list[str] = field(default_factory=list)
    memory_bytes: float | None = None
    damaged: int = 0


def sniff(opening: str) -> bool:
    """Whether lines of nmon stand in it."""
    return _SNIFF.search(opening) is not None


def read_nmon(source: Source) -> Records:
    """The demand that nmon recorded.

    Parameters
    ----------
    source : Source
        One file of nmon, or several below each other.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    captures = [_Capture()]
    for line in source.text.splitlines():
        last = captures[-1]
        if line.startswith("AAA,progname,") and (last.figures or "progname" in last.facts):
            captures.append(_Capture())
        _take(captures[-1], line.split(","))
    damaged = sum(capture.damaged for capture in captures)
    if damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {damaged} damaged lines of disks left out")
    reports = [report for capture in captures for report in _reports(capture)]
    if not any(report.devices for report in reports):
        records.finding(Code.NO_FIGURES, f"{source.path}: nmon tells of no disk in it")
    add_reports(records, "nmon", reports)
    return records


def _take(capture: _Capture, cells: list[str]) -> None:
    """The next line."""
    if cells[0] == "AAA" and len(cells) > 2:
        capture.facts[cells[1]] = cells[2]
    elif cells[0] == "MEM":
        _take_memory(capture, cells)
    elif cells[0] == "ZZZZ" and len(cells) > 3:
        capture.times[cells[1]] = f"{cells[3].strip()} {cells[2]}"
    elif (section := _SECTION.fullmatch(cells[0])) and section["name"] in _SECTIONS and len(cells) > 1:
        if not _SNAPSHOT.fullmatch(cells[1]):
            capture.disks[cells[0]] = [name.strip() for name in cells[2:] if name.strip()]
            return
        names = capture.disks.get(cells[0], [])
        column, factor = _SECTIONS[section["name"]]
        capture.damaged += len(cells) - 2 < len(names)
        for name, cell in zip(names, cells[2:] if len(cells) - 2 >= len(names) else (), strict=False):
            if (value := number(cell)) is not None and value >= 0:
                capture.figures.setdefault(cells[1], {}).setdefault(name, {})[column] = value * factor


def _take_memory(capture: _Capture, cells: list[str]) -> None:
    """A line of memory: the names of its columns, or their values in MiB."""
    if len(cells) > 1 and not _SNAPSHOT.fullmatch(cells[1]):
        capture.memory_columns = cells
        return
    for name, cell in zip(capture.memory_columns, cells, strict=False):
        if name in _MEMORY and (total := number(cell)) is not None and total > 0:
            capture.memory_bytes = total * MIB


def _reports(capture: _Capture) -> list[DeviceReport]:
    """The snapshots in their order, behind a report that tells when nmon began."""
    clock, host = Clock(""), capture.facts.get("host") or None
    cpus = processors(capture.facts.get("cpus", ""))
    date, time = (capture.facts.get(name, "").strip() for name in ("date", "time"))
    begun = clock.stamp(f"{date} {time.replace('.', ':')}")
    found = [DeviceReport(host=host, end_s=begun[0], clock=begun[1], is_first=True)] if begun else []
    for snapshot, devices in sorted(capture.figures.items()):
        stamp = clock.stamp(capture.times.get(snapshot, ""))
        if stamp is not None:
            found.append(
                DeviceReport(
                    host=host,
                    cpus=cpus,
                    memory_bytes=capture.memory_bytes,
                    end_s=stamp[0],
                    clock=stamp[1],
                    devices=devices,
                )
            )
    return found
