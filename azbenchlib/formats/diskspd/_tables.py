"""What diskspd's text and XML outputs share: a target's options, and a row's way into the tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.core.units import MS_PER_S, US_PER_MS
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_DIRECTIONS = {"Read": "read", "Write": "write", "Total": "mixed"}
LARGEST_EXACT = 2**53  # up to here a float holds every whole number
_AT_ONCE = 0  # the group of all rows of a time span: its threads and targets ran at the same time
MOST_THREADS = 2**31  # and outstanding operations: more are damage

_START = "%Y/%m/%d %H:%M:%S UTC"


@dataclass(frozen=True, kw_only=True)
class DiskspdTarget:
    """Options of a target; None: not told.

    Limits of the rate (``-g``) are those of each thread; 0: none. A pause (``-j``) is made behind each burst
    (``-i``) of so many I/Os. Source: microsoft/diskspd, wiki, Command line and parameters, 2026-11.
    """

    path: str | None = None
    bs_bytes: int | None = None
    random: bool | None = None
    write_pct: float | None = None
    depth: int | None = None
    threads: int | None = None
    direct: bool | None = None
    size_bytes: int | None = None
    most_iops: float | None = None
    most_bytes_per_ms: float | None = None
    pause_ms: float | None = None
    burst: int | None = None

    def columns(self, of_thread: bool) -> dict[str, Any]:
        """Columns of the table of runs."""
        threads = 1 if of_thread else self.threads
        return {
            "target": self.path,
            "rw": self._pattern(),
            "rwmix_read_pct": None if self.write_pct in (None, 0, 100) else 100 - (self.write_pct or 0),
            "bs_bytes": self.bs_bytes,
            "iodepth": self.depth,
            "numjobs": self.threads,
            "queue_depth": None if self.depth is None or threads is None else self.depth * threads,
            "direct": self.direct,
            "working_set_bytes": self.size_bytes,
            "rate_iops": self._most_iops(),
            "rate_bytes_per_s": self.most_bytes_per_ms * MS_PER_S if self.most_bytes_per_ms else None,
            "thinktime_us": self._pause_us(),
        }

    def _most_iops(self) -> float | None:
        if self.most_iops or not (self.most_bytes_per_ms and self.bs_bytes):
            return self.most_iops or None
        return self.most_bytes_per_ms * MS_PER_S / self.bs_bytes

    def _pause_us(self) -> float | None:
        if self.pause_ms is None or self.burst is None:
            return None
        return self.pause_ms * US_PER_MS if self.burst else 0.0

    def _pattern(self) -> str | None:
        if self.random is None or self.write_pct is None:
            return None
        word = {0.0: "read", 100.0: "write"}.get(self.write_pct, "rw")
        return f"rand{word}" if self.random else "readwrite" if word == "rw" else word


def common(targets: Sequence[DiskspdTarget]) -> DiskspdTarget:
    """What all targets say alike."""
    if not targets:
        return DiskspdTarget()
    first = targets[0]
    differing = {name for name in vars(first) for other in targets if vars(other)[name] != vars(first)[name]}
    # several targets are driven at once: what each has of its own adds up, and no row tells the sum
    own = {"depth", "threads", "size_bytes"} if len(targets) > 1 else set()
    return replace(first, **dict.fromkeys(differing | own))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Figures of one direction, of a thread or in total; None: not told."""

    io_bytes: int | None
    ios: int | None
    bw_bytes_per_s: float | None
    iops: float | None
    iops_stddev: float | None = None
    lat_mean_ms: float | None = None
    lat_stddev_ms: float | None = None


class Row:
    """A run on its way into the tables: a time span's total, a thread of it, or all threads of a target."""

    def __init__(
        self, records: Records, source: Source, span: int, thread: str | None, level: str = ""
    ) -> None:
        self.records, self.source, self.span, self.thread = records, source, span, thread
        self.level = level or ("all" if thread is None else "job")
        self.run_id = source.run_id(span, "total" if thread is None else thread)
        self.moments: dict[str, dict[str, float | None]] = {}

    def run(self, target: DiskspdTarget, job: str | None, place: int, **columns: Any) -> None:
        """Add the run itself; `place` counts the runs of the time span."""
        self.records.add(
            "runs",
            run_id=self.run_id,
            level=self.level,
            tool="diskspd",
            job=job,
            job_index=place,
            group_id=_AT_ONCE,
            source_path=self.source.path,
            source_sha256=self.source.sha256,
            source_doc=self.span,
            **target.columns(self.level == "job"),
            **columns,
        )

    def result(self, name: str, figures: Measured, runtime_s: float | None) -> None:
        """Add the figures of a direction, unless it moved nothing."""
        if not figures.ios and not figures.io_bytes:
            return
        self.records.add_result(
            self.source.path,
            _DIRECTIONS[name],
            run_id=self.run_id,
            ios=figures.ios,
            io_bytes=figures.io_bytes,
            runtime_s=runtime_s,
            iops=figures.iops,
            iops_stddev=figures.iops_stddev,
            bw_bytes_per_s=figures.bw_bytes_per_s,
        )
        moments = {"mean": figures.lat_mean_ms, "stddev": figures.lat_stddev_ms}
        if figures.lat_mean_ms is not None:
            self._moments(name).update(moments, n=figures.ios)

    def _moments(self, name: str) -> dict[str, float | None]:
        return self.moments.setdefault(name, {})

    def percentile(self, percentile: float, values_ms: Mapping[str, float | None]) -> None:
        """Add a line of the table of percentiles: latency in ms of each direction."""
        for name, value in values_ms.items():
            if value is None:
                continue
            row = {"run_id": self.run_id, "ddir": _DIRECTIONS[name], "lat_kind": "lat"}
            self.records.add("percentiles", **row, percentile=percentile, lat_us=us(value))
            if percentile in (0, 100):
                self._moments(name)["min" if percentile == 0 else "max"] = value

    def samples(self, ddir: str, t_s: np.ndarray, iops: np.ndarray) -> None:
        """Add the IOPS of a direction in each interval, by the end of it."""
        told = {"seq": np.arange(len(iops)), "t_s": t_s, "value": iops}
        self.records.add_frame(
            "samples", pd.DataFrame({"run_id": self.run_id, "ddir": ddir, "metric": "iops", **told})
        )

    def end(self) -> None:
        """Add the moments of the latency, which are told in two places."""
        for name, moments in self.moments.items():
            self.records.add(
                "latency",
                run_id=self.run_id,
                ddir=_DIRECTIONS[name],
                lat_kind="lat",
                n=moments.pop("n", None),
                **{f"lat_{key}_us": None if value is None else us(value) for key, value in moments.items()},
            )


def us(value_ms: float) -> float:
    """Microseconds of a printed number of milliseconds, which has three digits after the point."""
    return round(value_ms * US_PER_MS, 3)


def real(text: str | None, high: float = LARGEST_EXACT) -> float | None:
    """The number that a text holds, from 0 on; None for N/A and for damage."""
    try:
        value = float((text or "").strip().removesuffix("%"))
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= high else None


def whole(text: str | None, high: float = LARGEST_EXACT) -> int | None:
    """The whole number that a text holds."""
    value = real(text, high)
    return None if value is None or value != int(value) else int(value)


def started_at(text: str) -> str | None:
    """Start such as ``2026/06/22 22:16:45 UTC`` in ISO 8601."""
    try:
        return datetime.strptime(text, _START).replace(tzinfo=UTC).isoformat()
    except ValueError:
        return None
