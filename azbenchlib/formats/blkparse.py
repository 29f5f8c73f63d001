"""Reader of blkparse's text: what was requested of each disk, I/O by I/O, counted by the second.

A line is ``major,minor cpu sequence time pid action rwbs sector + sectors [process]``. I/Os count when they
are issued to the device (action ``D``), after the kernel has merged them; where the trace has none of
these, when they were queued (``Q``). The latency is from issue to completion (``C``), by disk and sector.
Discards and flushes without data are left out.

Source: blktrace, blkparse.1 and blkparse_fmt.c (1.3.0), and outputs of 1.3.0.
"""

import math
import re
from collections.abc import Sequence

from azbenchlib.core.findings import Code
from azbenchlib.core.units import SECTOR_BYTES, US_PER_S
from azbenchlib.formats._telemetry import DeviceReport, add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_LINE = re.compile(
    r" {0,9}(?P<device>\d{1,4},\d{1,7}) {1,20}\d{1,5} {1,20}\d{1,12} {1,20}(?P<time>\d{1,8}\.\d{9})"
    r" {1,20}\d{1,9} {1,9}(?P<action>[A-Z]{1,2}) {1,9}(?P<rwbs>[A-Z]{1,8})"
    r"(?: (?P<sector>\d{1,18}) \+ (?P<sectors>\d{1,9}))?"
)
_Place = tuple[str, int, str]  # a device, a second and a direction
_LONGEST_S = 31 * 86_400  # of a trace; a later time is damage
_MOST_ROWS = 1_000_000  # of all disks together; more are made only of what the trace itself holds


def sniff(opening: str) -> bool:
    """Whether it begins with an event of blkparse."""
    return _LINE.match(opening) is not None


def read_blkparse(source: Source) -> Records:
    """The demand that blktrace traced.

    Parameters
    ----------
    source : Source
        blkparse's default output.

    Returns
    -------
    Records
        Rows of demand, one a disk and second, and findings.
    """
    records = Records(source)
    trace = _Trace()
    for line in source.text.splitlines():
        found = _LINE.match(line)
        if found and found["sector"] is not None and float(found["time"]) < _LONGEST_S:
            trace.take(found)
        elif found is None and line[:20].strip()[:1].isdigit():
            trace.damaged += 1
    if trace.damaged:
        records.finding(Code.ROW_NOT_READ, f"{source.path}: {trace.damaged} lines of events left out")
    add_reports(records, "blkparse", trace.reports())
    return records


class _Trace:
    """Events on their way into seconds."""

    def __init__(self) -> None:
        self.damaged = 0
        # action -> device, second, direction -> I/Os and bytes
        self._counts: dict[str, dict[_Place, list[float]]] = {action: {} for action in "DQ"}
        self._issued: dict[tuple[str, str], tuple[float, int, str]] = {}
        # latencies: their sum in s, and how many
        self._waits: dict[_Place, list[float]] = {}
        self._last = 0.0

    def take(self, event: re.Match[str]) -> None:
        """The next event that has a sector."""
        device, time, action, kind = event["device"], float(event["time"]), event["action"], event["rwbs"]
        sectors = int(event["sectors"])
        ddir = "read" if "R" in kind else "write" if "W" in kind else ""
        if not ddir or not sectors or "D" in kind:
            return
        self._last = max(self._last, time)
        second = int(time)
        if action in self._counts:
            counted = self._counts[action].setdefault((device, second, ddir), [0.0, 0.0])
            counted[0] += 1
            counted[1] += sectors * SECTOR_BYTES
        if action == "D":
            self._issued[device, event["sector"]] = (time, second, ddir)
        elif action == "C" and (begun := self._issued.pop((device, event["sector"]), None)):
            waited = self._waits.setdefault((device, begun[1], begun[2]), [0.0, 0.0])
            waited[0] += max(0.0, time - begun[0])
            waited[1] += 1

    def reports(self) -> list[DeviceReport]:
        """One a second, from the begin of the trace to its end; a second without I/O of a disk has zeros.

        Where those would be too many, seconds without any I/O are left out.
        """
        counts = self._counts["D"] or self._counts["Q"]
        devices = list(dict.fromkeys(device for device, _, _ in counts))
        seconds: Sequence[int] = range(math.floor(self._last) + 1 if counts else 0)
        if len(seconds) * len(devices) > _MOST_ROWS:
            seconds = sorted({second for _, second, _ in counts})
        return [
            DeviceReport(
                host=None,
                end_s=second + 1.0,
                clock="elapsed",
                interval_s=1.0,
                devices={device: self._figures(counts, device, second) for device in devices},
            )
            for second in seconds
        ]

    def _figures(self, counts: dict[_Place, list[float]], device: str, second: int) -> dict[str, float]:
        found = {}
        for ddir in ("read", "write"):
            place = (device, second, ddir)
            found[f"{ddir}_iops"], found[f"{ddir}_bytes_per_s"] = counts.get(place, (0.0, 0.0))
            if waited := self._waits.get(place):
                found[f"{ddir}_lat_us"] = waited[0] / waited[1] * US_PER_S
        return found
