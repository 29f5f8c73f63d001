"""Whether recorded disks held the load back: what a system asks of faster ones is more, and not known.

Azure Monitor tells it of each disk and of the VM, as the share of a limit that was used. Elsewhere a disk
holds the load back while I/Os wait in line and take as long as no SSD does that has room: the same rates are
the demand of a system that is content, or all that its disks gave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from azbenchlib.core.units import US_PER_S, format_span, format_us
from azbenchlib.formats.azure_monitor import TOOL
from azbenchlib.model.load_history import Series

# Mean over an interval, waiting included. SSDs of Azure are documented with single-digit ms at most. Source:
# Microsoft Learn, "Azure managed disk types", 2026-08-11.
_LATENCY_US = 10_000.0
_QUEUE = 4.0  # I/Os that wait or are served, at least: one at a time may be slow on a busy network
_BUSY_PCT = 99.0  # of the time with I/Os outstanding; a pause shows that nothing has to wait
_CONSUMED_PCT = 95.0  # of a limit, as a mean over a minute
_MOST = 3  # that are named
_CONSUMED = {"iops_consumed_pct": "IOPS", "bw_consumed_pct": "MB/s"}


@dataclass(frozen=True, kw_only=True)
class HeldBack:
    """A disk, or a VM, that was at its limit while it was recorded.

    Parameters
    ----------
    host, device : str
    seconds, of_s : float
        How long it was, and of how long.
    lat_us, queue_depth : float, optional
        Means over that time. None: told as `limit`.
    limit : str, optional
        The quantity of which Azure Monitor tells that it was used up.
    """

    host: str
    device: str
    seconds: float
    of_s: float
    lat_us: float | None = None
    queue_depth: float | None = None
    limit: str | None = None


def held_back(tables: Mapping[str, pd.DataFrame], counted: pd.DataFrame) -> tuple[HeldBack, ...]:
    """Disks that held the load back in some of the intervals.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `runs` and `samples`, for what Azure Monitor tells.
    counted : DataFrame
        Rows of the table demand of the devices that count, each with its interval.
    """
    rows = counted[counted["tool"] != TOOL]
    by_device = rows.groupby(["host", "device"], sort=False)
    waited = (one for (host, device), own in by_device if (one := _waited(str(host), str(device), own)))
    return (*waited, *_consumed(tables))


def _waited(host: str, device: str, rows: pd.DataFrame) -> HeldBack | None:
    """Of one device: by its latency, its queue, and how long it was busy."""
    lengths, busy = (_values(rows, name) for name in ("interval_s", "busy_pct"))
    iops = _sum(_values(rows, "iops"), _values(rows, "read_iops"), _values(rows, "write_iops"))
    latency = _latency(rows)
    queue = np.where(np.isnan(depth := _values(rows, "queue_depth")), iops * latency / US_PER_S, depth)
    held = (iops > 0) & (latency >= _LATENCY_US) & (queue >= _QUEUE) & ~(busy < _BUSY_PCT)
    if not held.any():
        return None
    return HeldBack(
        host=host,
        device=device,
        seconds=float(lengths[held].sum()),
        of_s=float(lengths.sum()),
        lat_us=float(np.average(latency[held], weights=(iops * lengths)[held])),
        queue_depth=float(np.average(queue[held], weights=lengths[held])),
    )


def _latency(rows: pd.DataFrame) -> Series:
    """The mean of all I/Os; of reads and writes by their rates, where it is told of these."""
    of_all, parts, rates = _values(rows, "lat_us"), [], []
    for part in ("read", "write"):
        rate = np.nan_to_num(_values(rows, f"{part}_iops"))
        rates.append(rate)
        parts.append(np.where(rate > 0, _values(rows, f"{part}_lat_us"), 0.0) * rate)
    total = sum(rates)
    weighted = np.divide(sum(parts), total, out=np.full(len(rows), np.nan), where=total > 0)
    return np.where(np.isnan(of_all), weighted, of_all)


def _sum(of_all: Series, reads: Series, writes: Series) -> Series:
    return np.where(np.isnan(of_all), np.nan_to_num(reads) + np.nan_to_num(writes), of_all)


def _values(rows: pd.DataFrame, name: str) -> Series:
    values: Series = rows[name].to_numpy(dtype=float, na_value=np.nan)
    return values


def _consumed(tables: Mapping[str, pd.DataFrame]) -> Iterator[HeldBack]:
    """Disks and paths of a VM of which Azure Monitor tells that a limit was used up."""
    samples = tables["samples"]
    samples = samples[samples["metric"].isin(list(_CONSUMED)) & samples["value"].notna()]
    runs = tables["runs"].set_index("run_id")["host"].to_dict()
    for (run, what, metric), own in samples.groupby(["run_id", "object", "metric"], sort=False):
        moments = np.sort(own["t_s"].to_numpy(dtype=float))
        length = float(np.median(np.diff(moments))) if len(moments) > 1 else 60.0
        high = int((own["value"] >= _CONSUMED_PCT).sum())
        if high:
            host = runs.get(run)
            yield HeldBack(
                host="" if pd.isna(host) else str(host),
                device=str(what),
                seconds=high * length,
                of_s=len(moments) * length,
                limit=_CONSUMED[str(metric)],
            )


def sentence(several: Sequence[HeldBack]) -> str:
    """What held the load back for longest, and what to do; empty where nothing did."""
    if not several:
        return ""
    longest = sorted(several, key=lambda one: -one.seconds)
    clauses = [_clause(one) for one in longest[:_MOST]]
    more = [f"{len(longest) - _MOST} more limits were reached"] if len(longest) > _MOST else []
    return (
        f"{'; '.join((*clauses, *more))}. The load on a faster design is higher than recorded, and nobody "
        "knows by how much: allow for it with --growth, or record on a faster disk"
    )


def _clause(one: HeldBack) -> str:
    name = f"{one.device} of {one.host}" if one.host else one.device
    time = f"for {format_span(one.seconds)} of {format_span(one.of_s)}"
    if one.limit is not None:
        return f"{name} used up its {one.limit} {time}"
    waited = f"{one.queue_depth:,.0f} I/Os were outstanding and took {format_us(one.lat_us or 0.0)}"
    return f"{name} held the load back {time}: {waited}"
