"""Reader of Azure Monitor's metrics of VMs: ``az monitor metrics list``, as JSON or table, and REST answers.

An answer may be whole, or its ``value`` alone (``--query value``); batches hold an answer for each resource
(``values`` of metrics:getBatch, ``responses`` of the portal's); a file may hold several, one below the other.
Answers of one resource are one run, of several resources a run each.

Each metric has a series for each value of its dimension, ``LUN`` for data disks; each point is the mean over
the interval that begins at its time (a sum, for the two metrics of bytes of the whole VM). What is read:

======================================== ============================================== ================
name in Azure                            metric of samples                              object
======================================== ============================================== ================
Data Disk … Operations/Sec, Bytes/sec    iops, bw_bytes_per_s, by direction             LUN n
OS Disk …, Temp Disk …                   the same                                       OS disk …
Disk Read Operations/Sec, Disk … Bytes   the same                                       VM
Composite Disk … (of a disk resource)    the same                                       disk
… Queue Depth; … Latency                 queue_depth; disk_lat_us                       as above
… IOPS Consumed Percentage               iops_consumed_pct                              as above, VM cached …
… Bandwidth Consumed Percentage          bw_consumed_pct                                as above
… Used Burst IO Credits Percentage       iops_credits_used_pct                          as above
… Used Burst BPS Credits Percentage      bw_credits_used_pct                            as above
======================================== ============================================== ================

Traps that are dealt with: names of dimensions come back in lower case; ``VM Remote`` and ``VM Local`` are
what REST calls the uncached and the cached path; a minute without a figure is a point without a value; the
interval of the answer can be another than was requested, and without the answer around them the points tell
it; a series that is not split by LUN is the mean over
the disks, so its object is ``data disks``. Rates of reads count what the host cache served, percentages do
not. A percentage may be a little above 100.

Source: MicrosoftDocs/azure-monitor-docs, microsoft-compute-virtualmachines-metrics.md, 2026-07-31;
Azure/azure-rest-api-specs, Microsoft.Insights 2024-02-01, GetMetric.json and metricBatch.json; azure-cli,
monitor/transformers.py (the table), read 2026-11.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Severity
from azbenchlib.core.units import US_PER_MS
from azbenchlib.formats._azure_table import has_table, metrics_of_table
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
    ("composite disk ", "disk"),
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
_BEGIN = re.compile(r"^[ \t>]{0,99}[\[{]", re.MULTILINE)  # of a document; those within another are skipped
_DEEPEST = 100  # characters before a document
_MOST_DAMAGED = 20  # documents that are tried
_OF_PROVIDER = re.compile(r"/providers/microsoft\.insights/", re.IGNORECASE)
_MINUTE_S = 60.0
_INTERVAL = re.compile(r"PT(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,5})S)?")
_VALUES = ("average", "total", "maximum", "minimum")  # the first that a point has counts
_MOST_NAMED = 5
_CUT_AT = 10  # series that Azure gives where a filter is set and --top is not


def sniff(opening: str) -> bool:
    """Whether an answer of Azure Monitor stands in it."""
    as_json = "timeseries" in opening and "metadatavalues" in opening and _BEGIN.search(opening)
    return bool(as_json or (_MARK.search(opening) and _BEGIN.search(opening)) or has_table(opening))


def read_azure_monitor(source: Source) -> Records:
    """The samples of Azure Monitor.

    Parameters
    ----------
    source : Source
        JSON, or the table that az shows.

    Returns
    -------
    Records
        One row of runs for each resource, which tells when the samples begin; samples with `object` naming
        the LUN or the VM, t_s in s from then on; and findings.
    """
    records = Records(source)
    reader = _Reader(records)
    documents, n_damaged = _documents(source.text)
    for metric, resource, interval_s in (part for one in documents for part in _metrics(one, "", None)):
        reader.take(metric, resource, interval_s)
    for metric in metrics_of_table(source.text):
        reader.take(metric, "", None)
    if n_damaged and reader.points:
        message = f"{source.path}: {n_damaged} answers of Azure Monitor are not whole; the others were read"
        records.finding(Code.BROKEN_JSON, message, "Ask again", severity=Severity.WARNING)
    elif n_damaged or not reader.has_metrics:
        records.finding(Code.BROKEN_JSON, f"{source.path}: is no whole answer of Azure Monitor", "Ask again")
    reader.finish()
    return records


def _documents(text: str) -> tuple[list[Any], int]:
    """The JSON documents of a text that are whole, and how many are not."""
    found: list[Any] = []
    n_damaged, place, deepest, parse = 0, 0, _DEEPEST, json.JSONDecoder().raw_decode
    for begin in _BEGIN.finditer(text):
        indent = begin.end() - begin.start()
        if begin.start() < place or indent > deepest or n_damaged == _MOST_DAMAGED:  # a part of another one
            continue
        try:
            place = begin.end() - 1
            while text.startswith(("{", "["), place):  # one right behind the other
                content, place = parse(text, place)
                found.append(content)
        except (ValueError, RecursionError):
            n_damaged, deepest = n_damaged + 1, indent
    return found, n_damaged


def _metrics(part: Any, resource: str, interval_s: float | None) -> Iterator[tuple[Any, str, float | None]]:
    """Each metric of a document, with the resource and the interval that the answer around it tells."""
    if isinstance(part, list):
        for one in part:
            if not isinstance(one, list):
                yield from _metrics(one, resource, interval_s)
    elif isinstance(part, dict) and "timeseries" in part:
        yield part, resource or _resource(part.get("id")), interval_s
    elif isinstance(part, dict) and isinstance(part.get("value"), list):
        own, length = _resource(part.get("resourceid")), _seconds(part.get("interval"))
        for one in part["value"]:
            yield one, own or resource or _resource(_object(one).get("id")), length
    elif isinstance(part, dict):
        for name in ("values", "responses"):
            yield from _metrics(_listed(part, name), resource, interval_s)
        if isinstance(part.get("content"), dict) and "content" not in part["content"]:
            yield from _metrics(part["content"], resource, interval_s)


class _Reader:
    """Answers on their way into the table of samples."""

    def __init__(self, records: Records) -> None:
        self.records = records
        # resource -> object, metric and direction -> interval -> moment -> value
        self.points: dict[str, dict[tuple[str, str, str | None], dict[float, dict[float, float]]]] = {}
        self.has_metrics = False
        self.left_out: list[str] = []
        self.cut: list[str] = []
        self.broken = 0

    def take(self, metric: Any, resource: str, interval_s: float | None) -> None:
        """The points of one metric."""
        self.has_metrics = True
        length = interval_s or _usual_step(metric)
        for owner, kind, ddir, moment, value in self._points(metric, length):
            series = self.points.setdefault(resource, {}).setdefault((owner, kind, ddir), {})
            series.setdefault(length, {})[moment] = value

    def finish(self) -> None:
        """Make rows of all points; of one figure in several intervals the shortest counts."""
        longer = 0
        for doc, (resource, series) in enumerate(self.points.items()):
            shortest = {key: min(lengths) for key, lengths in series.items()}
            longer += sum(len(lengths) - 1 for lengths in series.values())
            rows = [
                (*key, moment, value)
                for key, lengths in series.items()
                for moment, value in sorted(lengths[shortest[key]].items())
            ]
            self._add(doc, resource if len(self.points) > 1 else None, rows, max(shortest.values()))
        if longer:
            path = self.records.source.path
            message = (
                f"{path}: {longer} series are there with a shorter interval, too; the longer one left out"
            )
            self.records.finding(Code.ROW_NOT_READ, message)
        self._report()

    def _add(
        self, doc: int, host: str | None, rows: list[tuple[str, str, str | None, float, float]], length: float
    ) -> None:
        """The samples of a resource, the times counted from the first of them."""
        source, places = self.records.source, Counter[tuple[str, str | None]]()
        run_id, moments = source.run_id(doc, "monitor"), [moment for *_, moment, _ in rows]
        begun = min(moments)
        self.records.add(
            "runs",
            run_id=run_id,
            level="job",
            tool=TOOL,
            job=TOOL,
            host=host,
            started_at=_iso(begun),
            ended_at=_iso(max(moments) + length),
            source_path=source.path,
            source_sha256=source.sha256,
            source_doc=doc,
        )
        for owner, metric, ddir, moment, value in rows:
            stated = {"run_id": run_id, "metric": metric, "ddir": ddir, "object": owner, "value": value}
            self.records.add("samples", t_s=moment - begun, seq=places[metric, ddir], **stated)
            places[metric, ddir] += 1

    def _points(self, metric: Any, interval_s: float) -> Iterator[tuple[str, str, str | None, float, float]]:
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
        per_s = 1 / interval_s if rest.endswith(" bytes") else 1.0
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
                values = [point[name] for name in _VALUES if point.get(name) is not None]
                if (seconds := _moment(point)) is None:
                    raise ValueError
                if values:
                    yield seconds, _number(values[0])
            except (TypeError, KeyError, ValueError, AttributeError):
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


def _object(part: Any) -> dict[str, Any]:
    return part if isinstance(part, dict) else {}


def _resource(name: Any) -> str:
    """The name of the resource that an id speaks of: the last part of its path, without the provider's."""
    path = _OF_PROVIDER.split(name, maxsplit=1)[0] if isinstance(name, str) else ""
    return path.rpartition("/")[2][:255].encode("utf-8", "replace").decode()


def _usual_step(metric: Any) -> float:
    """The shortest time between two points of a series; a minute where there are no two."""
    steps = []
    for series in _listed(metric, "timeseries"):
        moments = sorted(
            {moment for point in _listed(series, "data") if (moment := _moment(point)) is not None}
        )
        steps += [later - earlier for earlier, later in pairwise(moments)]
    return min(steps, default=_MINUTE_S)


def _moment(point: Any) -> float | None:
    """Seconds since 1970 at which a point begins; times without a zone are in UTC."""
    try:
        moment = datetime.fromisoformat(str(_object(point)["timeStamp"]))
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None
    return seconds if is_moment(seconds) else None


def _listed(part: Any, name: str) -> list[Any]:
    found = part.get(name) if isinstance(part, dict) else None
    return found if isinstance(found, list) else []


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not 0 <= value <= schema.LARGEST_VALUE / US_PER_MS:  # nor is NaN; an integer may exceed all floats
        raise ValueError
    return float(value)


def _seconds(interval: Any) -> float | None:
    """An ISO 8601 duration; None where it is none."""
    found = _INTERVAL.fullmatch(interval) if isinstance(interval, str) else None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return float(3600 * hours + 60 * minutes + seconds) or None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
