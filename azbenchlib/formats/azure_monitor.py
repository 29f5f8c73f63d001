"""Reader of Azure Monitor's metrics of a VM: ``az monitor metrics list --output json``, and the REST answer.

Each metric has a series for each value of its dimension, ``LUN`` for data disks; each point is the mean over
the interval that begins at its time (a sum, for the two metrics of bytes of the whole VM). What is read:

======================================== ============================================== ================
name in Azure                            metric of samples                              object
======================================== ============================================== ================
Data Disk … Operations/Sec, Bytes/sec    iops, bw_bytes_per_s, by direction             LUN n
OS Disk …, Temp Disk …                   the same                                       OS disk …
Disk Read Operations/Sec, Disk … Bytes   the same                                       VM
… Queue Depth; … Latency                 queue_depth; disk_lat_us                       as above
… IOPS Consumed Percentage               iops_consumed_pct                              as above, VM cached …
… Bandwidth Consumed Percentage          bw_consumed_pct                                as above
… Used Burst IO Credits Percentage       iops_credits_used_pct                          as above
… Used Burst BPS Credits Percentage      bw_credits_used_pct                            as above
======================================== ============================================== ================

Traps that are dealt with: names of dimensions come back in lower case; ``VM Remote`` and ``VM Local`` are
what REST calls the uncached and the cached path; a minute without a figure is a point without a value; the
interval of the answer can be another than was requested; a series that is not split by LUN is the mean over
the disks, so its object is ``data disks``. Rates of reads count what the host cache served, percentages do
not. A percentage may be a little above 100.

Source: MicrosoftDocs/azure-monitor-docs, microsoft-compute-virtualmachines-metrics.md, 2026-07-31;
Azure/azure-rest-api-specs, Microsoft.Insights 2024-02-01, GetMetric.json.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.core.units import US_PER_MS
from azbenchlib.formats._telemetry import is_moment
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

TOOL = "Azure Monitor"
_MARK = re.compile(r'"(?:id|type)"\s{0,9}:\s{0,9}"[^"\n]{0,2000}Microsoft\.Insights/metrics\b', re.IGNORECASE)
# Beginning of a name -> object; a data disk's is its LUN.
_OBJECTS = (
    ("premium data disk ", "data disks"),
    ("premium os disk ", "OS disk"),
    ("data disk ", "data disks"),
    ("os disk ", "OS disk"),
    ("temp disk ", "temp disk"),
    ("vm uncached ", "VM uncached"),
    ("vm remote ", "VM uncached"),
    ("vm cached ", "VM cached"),
    ("vm local ", "VM cached"),
    ("disk ", "VM"),
)
# The rest of a name -> metric, direction, factor.
_METRICS: dict[str, tuple[str, str | None, float]] = {
    "read operations/sec": ("iops", "read", 1),
    "write operations/sec": ("iops", "write", 1),
    "read bytes/sec": ("bw_bytes_per_s", "read", 1),
    "write bytes/sec": ("bw_bytes_per_s", "write", 1),
    "read bytes": ("bw_bytes_per_s", "read", 1),  # a sum, which is divided by the interval
    "write bytes": ("bw_bytes_per_s", "write", 1),
    "queue depth": ("queue_depth", None, 1),
    "latency": ("disk_lat_us", None, US_PER_MS),
    "iops consumed percentage": ("iops_consumed_pct", None, 1),
    "bandwidth consumed percentage": ("bw_consumed_pct", None, 1),
    "used burst io credits percentage": ("iops_credits_used_pct", None, 1),
    "used burst bps credits percentage": ("bw_credits_used_pct", None, 1),
    "cache read hit": ("cache_hit_ratio", "read", 0.01),
}
_INTERVAL = re.compile(r"PT(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,5})S)?")
_VALUES = ("average", "total", "maximum", "minimum")  # the first that a point has counts
_MOST_NAMED = 5
_CUT_AT = 10  # series that Azure gives where a filter is set and --top is not


def sniff(opening: str) -> bool:
    """Whether it is one JSON object that tells of metrics."""
    return opening.lstrip().startswith("{") and bool(_MARK.search(opening))


def read_azure_monitor(source: Source) -> Records:
    """The samples of Azure Monitor.

    Parameters
    ----------
    source : Source
        JSON.

    Returns
    -------
    Records
        One row of runs, which tells when the samples begin; samples with `object` naming the LUN or the VM,
        t_s in s from then on; and findings.
    """
    records = Records(source)
    try:
        content = json.loads(source.text)
        metrics = content["value"]
        if not isinstance(metrics, list):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        records.finding(Code.BROKEN_JSON, f"{source.path}: is no whole answer of Azure Monitor", "Ask again")
        return records
    _Reader(records, _seconds(content.get("interval"))).add(metrics)
    return records


class _Reader:
    """An answer on its way into the table of samples."""

    def __init__(self, records: Records, interval_s: float) -> None:
        self.records, self.interval_s = records, interval_s
        self.left_out: list[str] = []
        self.cut: list[str] = []
        self.broken = 0

    def add(self, metrics: list[Any]) -> None:
        """The samples of all metrics, the times counted from the first of them."""
        source = self.records.source
        points = [point for metric in metrics for point in self._points(metric)]
        if points:
            begun = min(moment for *_, moment, _ in points)
            run_id, places = source.run_id(0, "monitor"), Counter[tuple[str, str | None]]()
            last = max(moment for *_, moment, _ in points)
            self.records.add(
                "runs",
                run_id=run_id,
                level="job",
                tool=TOOL,
                job=TOOL,
                started_at=_iso(begun),
                ended_at=_iso(last + self.interval_s),
                source_path=source.path,
                source_sha256=source.sha256,
                source_doc=0,
            )
            for owner, metric, ddir, moment, value in points:
                told = {"run_id": run_id, "metric": metric, "ddir": ddir, "object": owner, "value": value}
                self.records.add("samples", t_s=moment - begun, seq=places[metric, ddir], **told)
                places[metric, ddir] += 1
        self._report()

    def _points(self, metric: Any) -> Iterator[tuple[str, str, str | None, float, float]]:
        """Object, metric, direction, moment and value of each point of a metric."""
        try:
            name = str(metric["name"]["value"])
            series = list(metric["timeseries"] or ())
        except (TypeError, KeyError):
            self.broken += 1
            return
        owner, rest = _owner(name.lower())
        if rest not in _METRICS:
            self.left_out.append(name)
            return
        kind, ddir, factor = _METRICS[rest]
        per_s = 1 / self.interval_s if rest.endswith(" bytes") else 1.0
        if len(series) == _CUT_AT:
            self.cut.append(name)
        for one in series:
            found = _lun(one)
            its = f"LUN {found}" if found is not None and owner == "data disks" else owner
            for moment, value in self._values(one):
                yield its, kind, ddir, moment, value * factor * per_s

    def _values(self, series: Any) -> Iterator[tuple[float, float]]:
        for point in _listed(series, "data"):
            try:
                moment = datetime.fromisoformat(str(point["timeStamp"]))
                aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                values = [point[name] for name in _VALUES if point.get(name) is not None]
                if not is_moment(seconds := aware.timestamp()):
                    raise ValueError
                if values:
                    yield seconds, _number(values[0])
            except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
                self.broken += 1

    def _report(self) -> None:
        path = self.records.source.path
        if self.broken:
            self.records.finding(
                Code.ROW_NOT_READ, f"{path}: {self.broken} damaged points or metrics left out"
            )
        if self.cut:
            message = f"{path}: {len(self.cut)} metrics have just {_CUT_AT} series, such as {self.cut[0]}"
            self.records.finding(Code.SERIES_CUT, message)
        if self.left_out:
            shown = ", ".join(self.left_out[:_MOST_NAMED])
            message = f"{path}: {len(self.left_out)} metrics are of no use here: {shown}"
            self.records.finding(Code.METRICS_LEFT_OUT, message)


def _owner(name: str) -> tuple[str, str]:
    """What a metric speaks of, and the rest of its name."""
    start, owner = next((pair for pair in _OBJECTS if name.startswith(pair[0])), ("", ""))
    return owner, name.removeprefix(start)


def _lun(series: Any) -> int | None:
    """The LUN that a series is of; None where it is split by none."""
    for entry in _listed(series, "metadatavalues"):
        try:
            if str(entry["name"]["value"]).lower() == "lun":
                return min(int(entry["value"]), 10**6)
        except (TypeError, KeyError, ValueError):
            continue
    return None


def _listed(part: Any, name: str) -> list[Any]:
    found = part.get(name) if isinstance(part, dict) else None
    return found if isinstance(found, list) else []


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    number = float(value)
    if not math.isfinite(number) or not 0 <= number <= schema.LARGEST_VALUE / US_PER_MS:
        raise ValueError
    return number


def _seconds(interval: Any) -> float:
    """An ISO 8601 duration; a minute where it is none."""
    found = _INTERVAL.fullmatch(interval) if isinstance(interval, str) else None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return float(3600 * hours + 60 * minutes + seconds) or 60.0


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
