"""A history as single I/Os, each with its time, as fio replays them.

fio's ``rate_iops`` cannot change within a job, so each I/O stands in an I/O log (``read_iolog``) of version
2, whose ``wait`` is a time since the start of fio, in ms: fio 3.33 waits until then, and not at all where it
is later already, so that what had to wait is made up for. Source: fio ``iolog.c`` (``read_iolog_get``), and
measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.core.units import GIB, MS_PER_S
from azbenchlib.model.load_history import LoadHistory, Series

FILE = "data"  # what the log calls the volume
LEAD_S = 2.0  # before the first I/O, for fio to start and to connect
_HOT = 64  # places that the host cache serves reads from
_WRITTEN_BYTES = GIB // 4  # of the volume, that writes go to: what is written takes room on this machine
_PARTS = 3  # of a volume: for hits, for writes, and for reads of what no cache has

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """I/Os in their order, shape (n,) each."""

    due_s: Series  # real seconds since the first interval began
    reads: npt.NDArray[np.bool_]  # whether it is a read
    hits: npt.NDArray[np.bool_]  # and one that the host cache serves
    bs_bytes: Ints

    def __len__(self) -> int:
        return len(self.due_s)


def schedule(history: LoadHistory, lasts_s: float, per_s: float, cache_hit: float = 0.0) -> Schedule:
    """Single I/Os that come evenly within each interval, of the mean size of its reads or writes.

    All of it takes `lasts_s` real seconds. For each I/O per second of the history, `per_s` are issued a real
    second: 0.5 issues half as many. `cache_hit` is the share of the reads that a host cache serves.
    """
    lengths_s = history.interval_s * (lasts_s / history.duration_s)
    reads, writes = (
        _one_way(lengths_s, iops * per_s, rate * per_s)
        for iops, rate in (
            (history.read_iops, history.read_bytes_per_s),
            (history.write_iops, history.write_bytes_per_s),
        )
    )
    due_s = np.concatenate([reads[0], writes[0]])
    order = np.argsort(due_s, kind="stable")
    places = np.arange(len(reads[0])) + 1
    hits = np.floor(places * cache_hit) > np.floor((places - 1) * cache_hit)
    return Schedule(
        due_s=due_s[order],
        reads=(np.arange(len(due_s)) < len(reads[0]))[order],
        hits=np.concatenate([hits, np.zeros(len(writes[0]), dtype=bool)])[order],
        bs_bytes=np.concatenate([reads[1], writes[1]])[order],
    )


def _one_way(lengths_s: Series, per_s: Series, bytes_per_s: Series) -> tuple[Series, Ints]:
    """Times and sizes of the I/Os of one direction: each is in the middle of what it stands for."""
    until = np.cumsum(per_s * lengths_s)
    middles = np.arange(int(until[-1] + 0.5)) + 0.5
    due_s = np.interp(middles, np.concatenate([[0.0], until]), np.concatenate([[0.0], np.cumsum(lengths_s)]))
    sizes = np.divide(bytes_per_s, per_s, out=np.ones_like(per_s), where=per_s > 0)
    places = np.minimum(np.searchsorted(until, middles), len(until) - 1)
    return due_s, np.maximum(1, np.round(sizes)).astype(np.int64)[places]


def iolog(io_schedule: Schedule, size_bytes: int) -> Iterator[str]:
    """The lines of fio's I/O log, on a volume of so many bytes.

    Reads that are no hits go to places that were never read, as far as there are any.
    """
    yield "fio version 2 iolog"
    yield from (f"{FILE} {action}" for action in ("add", "open"))
    ways = np.where(io_schedule.reads, np.where(io_schedule.hits, 0, 2), 1)
    offsets = np.zeros(len(io_schedule), dtype=np.int64)
    part = size_bytes // _PARTS
    for way, most in enumerate((None, min(part, _WRITTEN_BYTES), part)):
        own = ways == way
        sizes = io_schedule.bs_bytes[own]
        if len(sizes):
            largest = int(sizes.max())
            room = _HOT * largest if most is None else most
            slots = max(1, min(room, part) // largest)
            offsets[own] = way * part + np.arange(len(sizes)) % slots * largest
    due_ms = ((io_schedule.due_s + LEAD_S) * MS_PER_S).astype(np.int64).tolist()
    last = None
    rows = zip(
        due_ms, io_schedule.reads.tolist(), offsets.tolist(), io_schedule.bs_bytes.tolist(), strict=True
    )
    for due, read, offset, size in rows:
        if due != last:
            yield f"{FILE} wait {due} 0"
            last = due
        yield f"{FILE} {'read' if read else 'write'} {offset} {size}"
    yield f"{FILE} close"
