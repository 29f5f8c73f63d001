"""Counters that grow from the start of a system become rates: by what they grew between readings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from azbenchlib.formats._telemetry import DeviceReport

# Columns whose counter is a sum of latencies in µs -> the counter of the I/Os that had them.
_MEANS = {"lat_us": "iops", "read_lat_us": "read_iops", "write_lat_us": "write_iops"}


@dataclass(frozen=True, kw_only=True)
class CounterReading:
    """The counters of a host at one moment.

    Parameters
    ----------
    host : str or None
    at_s : float
        Seconds since 1970 by `clock`.
    clock : {"utc", "local"}
    devices : mapping of str to mapping
        By device and column of the table demand: I/Os, bytes, sums of latencies in µs, busy time in s × 100,
        sums of outstanding I/Os × s.
    """

    host: str | None
    at_s: float
    clock: str
    devices: Mapping[str, Mapping[str, float]]


def reports_between(readings: Sequence[CounterReading]) -> list[DeviceReport]:
    """A report for each two readings of a host that follow each other.

    A device whose counters fell was taken out and put in again, or the system was started anew: between these
    two readings nothing is known of it.
    """
    found: list[DeviceReport] = []
    before: dict[str | None, CounterReading] = {}
    for reading in sorted(readings, key=lambda one: one.at_s):
        last = before.get(reading.host)
        if last is not None and reading.at_s > last.at_s:
            devices = dict(_grown(last, reading))
            found.append(
                DeviceReport(
                    host=reading.host,
                    end_s=reading.at_s,
                    clock=reading.clock,
                    interval_s=reading.at_s - last.at_s,
                    devices=devices,
                )
            )
        before[reading.host] = reading
    return [report for report in found if report.devices]


def _grown(earlier: CounterReading, later: CounterReading) -> Iterator[tuple[str, dict[str, float]]]:
    seconds = later.at_s - earlier.at_s
    for device, counters in later.devices.items():
        old = earlier.devices.get(device, {})
        grown = {name: counters[name] - old[name] for name in counters if name in old}
        if grown and min(grown.values()) >= 0:
            means = {name: grown.get(ios, 0.0) for name, ios in _MEANS.items() if name in grown}
            yield (
                device,
                {
                    name: more / means[name] if name in means else more / seconds
                    for name, more in grown.items()
                    if means.get(name) != 0
                },
            )
