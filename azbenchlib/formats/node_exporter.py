"""Reader of the disk counters of Prometheus' node_exporter: its text, and answers of Prometheus to queries.

Text is what ``curl HOST:9100/metrics`` prints; several such outputs below each other are read by the time
that each states (``node_time_seconds``). JSON is the answer to a query of a range of the counters themselves,
such as ``{__name__=~"node_disk_.*_total"}``; several answers may follow each other. A rate is what a counter
grew by from one reading to the next, so one reading has none. What ``rate(…)`` returns has lost its name, and
is refused.

Source: node_exporter diskstats_common.go, Prometheus' HTTP API and its exposition format, read 2026-11.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from azbenchlib.core.findings import Code, Severity
from azbenchlib.core.units import MS_PER_S, US_PER_S
from azbenchlib.formats._cumulative import CounterReading, reports_between
from azbenchlib.formats._telemetry import add_reports, is_moment, number
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_TIME = "node_time_seconds"
_SNIFF = re.compile(
    r'^[ \t>]{0,99}node_disk_\w{1,60}\{|"resultType"\s{0,9}:\s{0,9}"(?:matrix|vector)"', re.MULTILINE
)
_LINE = re.compile(
    r"(?P<name>\w{1,99})(?:\{(?P<labels>[^{}\n]{0,999})\})?[ \t]{1,9}(?P<value>[-+.\w]{1,40})"
    r"(?:[ \t]{1,9}(?P<ms>\d{10,16}))?"
)
_LABEL = re.compile(r'\b(device|instance)="([^"]{1,255})"')
_ANSWER = re.compile(r'\{\s{0,99}"status"\s{0,9}:')
_MOST_DAMAGED = 20  # answers that are tried
_PERCENT = 100
# Counter -> column of the table demand, factor.
_COUNTERS = {
    "node_disk_reads_completed_total": ("read_iops", 1),
    "node_disk_writes_completed_total": ("write_iops", 1),
    "node_disk_read_bytes_total": ("read_bytes_per_s", 1),
    "node_disk_written_bytes_total": ("write_bytes_per_s", 1),
    "node_disk_read_time_seconds_total": ("read_lat_us", US_PER_S),
    "node_disk_write_time_seconds_total": ("write_lat_us", US_PER_S),
    "node_disk_io_time_seconds_total": ("busy_pct", _PERCENT),
    "node_disk_io_time_weighted_seconds_total": ("queue_depth", 1),
}

Devices = dict[str, dict[str, float]]


def sniff(opening: str) -> bool:
    """Whether counters of disks, or an answer of Prometheus, stand in it."""
    return _SNIFF.search(opening) is not None


def read_node_exporter(source: Source) -> Records:
    """The demand between the readings of counters.

    Parameters
    ----------
    source : Source
        Text of node_exporter, or JSON of Prometheus.

    Returns
    -------
    Records
        Rows of demand, and findings.
    """
    records = Records(source)
    readings = [*_of_text(source.text), *_of_answers(source.text)]
    reports = reports_between([reading for reading in readings if reading is not None])
    if not reports:
        what = "no counter of a disk with its name"
        if readings:
            what = "one reading of counters" if len(readings) == 1 else "no time beside the readings"
        message = f"{source.path}: Prometheus: there is {what}, so there are no rates"
        records.finding(Code.COUNTERS_ONCE, message, severity=Severity.WARNING)
    add_reports(records, "node_exporter", reports)
    return records


def _of_text(text: str) -> Iterator[CounterReading | None]:
    """Each output of node_exporter; one of a host ends where a counter comes again."""
    under_way: dict[str, Devices] = {}
    times: dict[str, float] = {}
    for line in text.splitlines() if "node_disk_" in text else ():
        found = _LINE.fullmatch(line.strip(" \t>"))
        value = number(found["value"]) if found else None
        if found is None or value is None:
            continue
        labels = dict(_LABEL.findall(found["labels"] or ""))
        host, counter = labels.get("instance", ""), _COUNTERS.get(found["name"])
        if found["name"] == _TIME:
            times[host] = value
        elif counter and "device" in labels:
            if counter[0] in under_way.get(host, {}).get(labels["device"], {}):
                yield _reading(host, times.pop(host, None), under_way.pop(host))
            devices = under_way.setdefault(host, {})
            devices.setdefault(labels["device"], {})[counter[0]] = value * counter[1]
            if found["ms"]:
                times[host] = float(found["ms"]) / MS_PER_S
    for host, devices in under_way.items():
        yield _reading(host, times.get(host), devices)


def _reading(host: str, at_s: float | None, devices: Devices) -> CounterReading | None:
    """The counters of one moment; None where that is not known."""
    if at_s is None or not is_moment(at_s):
        return None
    return CounterReading(host=host or None, at_s=at_s, clock="utc", devices=devices)


def _of_answers(text: str) -> Iterator[CounterReading | None]:
    """The readings of all answers, by host and time."""
    found: dict[tuple[str, float], Devices] = {}
    place = n_damaged = 0
    for begin in _ANSWER.finditer(text):
        if begin.start() >= place and n_damaged < _MOST_DAMAGED:
            try:
                answer, place = json.JSONDecoder().raw_decode(text, begin.start())
                for host, device, column, at_s, value in _samples(answer):
                    found.setdefault((host, at_s), {}).setdefault(device, {})[column] = value
            except (ValueError, RecursionError):
                n_damaged += 1
    for (host, at_s), devices in found.items():
        yield _reading(host, at_s, devices)


def _samples(answer: Any) -> Iterator[tuple[str, str, str, float, float]]:
    """Host, device, column, time and value of each point of an answer."""
    data = answer.get("data")
    for series in (data.get("result") if isinstance(data, dict) else None) or ():
        labels = series.get("metric") if isinstance(series, dict) else None
        if not isinstance(labels, dict) or labels.get("__name__") not in _COUNTERS or "device" not in labels:
            continue
        column, factor = _COUNTERS[labels["__name__"]]
        points = series.get("values") or [series.get("value")]
        for point in points if isinstance(points, list) else ():
            if isinstance(point, list) and len(point) == 2:
                at_s, value = number(str(point[0])), number(str(point[1]))
                if at_s is not None and value is not None:
                    yield str(labels.get("instance", "")), str(labels["device"]), column, at_s, value * factor
