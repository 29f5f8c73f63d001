"""Percentiles of each window of time, exact, of I/Os that come log by log, in memory for a few windows.

A window holds the I/Os that ended in it, of all logs and jobs together. Logs are read side by side, the one
that is furthest behind first, and a window is settled when all have passed it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from azbenchlib.core.histogram import Shares, ranks, shares

Column = npt.NDArray[np.float64 | np.int64 | np.uint8]
# A direction and a latency in one integer, which sorts three times as fast as two columns: in 32 bits where
# all latencies are short, else in 64.
_CODES = 4  # more than there are directions
_SHORT_BITS, _LONG_BITS = 30, 62
Columns = tuple[Column, ...]  # direction, latency and, where rows stand for several I/Os, how many


@dataclass(frozen=True, kw_only=True)
class Completions:
    """I/Os of one log, in any order: when they ended, in which direction, and how long they took.

    Parameters
    ----------
    t_ms, code, latency : ndarray, shape (n,)
        When; an index of the directions; a latency in any unit.
    count : ndarray of int64, shape (n,), optional
        How many I/Os each row stands for. None: one.
    """

    t_ms: npt.NDArray[np.float64 | np.int64]
    code: npt.NDArray[np.uint8]
    latency: npt.NDArray[np.float64 | np.int64]
    count: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True)
class Window:
    """One window and direction.

    Attributes
    ----------
    place : int
        Of the window: it begins at `place` times the width.
    code : int
    n : int
        I/Os.
    latencies : tuple of float
        A percentile each, in the order and unit that they were asked for.
    """

    place: int
    code: int
    n: int
    latencies: tuple[float, ...]


class _LateError(Exception):
    """I/Os of a window that is settled."""


def by_window(
    logs: Sequence[Iterable[Completions]], width_ms: int, percentiles: Sequence[float]
) -> list[Window]:
    """Percentiles by nearest rank, as fio's, of each window and direction that has an I/O.

    Parameters
    ----------
    logs : sequence of iterable of Completions
        Each may be gone through twice: where a log does not run forward in time, as that of several jobs in
        one file does not, all its I/Os are held at once.
    width_ms : int
        Of a window; the first begins at 0.
    percentiles : sequence of float
        Above 0, at most 100.

    Returns
    -------
    list of Window
        In the order of time and direction.

    Raises
    ------
    InputError
        When a percentile is out of range.
    """
    try:
        return _settled(logs, width_ms, percentiles, at_once=False)
    except _LateError:
        return _settled(logs, width_ms, percentiles, at_once=True)


def _settled(
    logs: Sequence[Iterable[Completions]], width_ms: int, percentiles: Sequence[float], *, at_once: bool
) -> list[Window]:
    held = _Held(percentiles)
    ahead: dict[int, tuple[float, Iterator[Completions]]] = {
        i: (-math.inf, iter(log)) for i, log in enumerate(logs)
    }
    found: list[Window] = []
    while ahead:
        behind = min(ahead, key=lambda i: ahead[i][0])
        part = next(ahead[behind][1], None)
        if part is None:
            del ahead[behind]
        elif part.t_ms.size:
            ahead[behind] = (held.add(part, width_ms), ahead[behind][1])
        passed = min((place for place, _ in ahead.values()), default=math.inf)
        if not (at_once and ahead):
            found += held.settle(passed)
    return found


class _Held:
    """The I/Os of the windows that are not settled."""

    def __init__(self, percentiles: Sequence[float]) -> None:
        self._shares = shares(percentiles)
        self._parts: dict[int, list[Columns]] = defaultdict(list)
        self._settled = -math.inf

    def add(self, part: Completions, width_ms: int) -> int:
        """Keep some I/Os; the last window that they reach.

        Raises
        ------
        _LateError
            When one belongs to a window that is settled.
        """
        t_ms, columns = part.t_ms, [part.code, part.latency] + ([] if part.count is None else [part.count])
        if (t_ms[1:] < t_ms[:-1]).any():
            order = np.argsort(t_ms, kind="stable")
            t_ms, columns = t_ms[order], [column[order] for column in columns]
        first, last = int(t_ms[0] // width_ms), int(t_ms[-1] // width_ms)
        if first < self._settled:
            raise _LateError
        places = np.arange(first, last + 1) if last - first < t_ms.size else np.unique(t_ms // width_ms)
        edges = [*np.searchsorted(t_ms, places * width_ms).tolist(), t_ms.size]
        for place, (begin, end) in zip(places.tolist(), pairwise(edges), strict=True):
            if begin < end:
                self._parts[int(place)].append(tuple(column[begin:end] for column in columns))
        return last

    def settle(self, passed: float) -> list[Window]:
        """The windows before one that all logs have reached."""
        self._settled = max(self._settled, passed)
        places = sorted(place for place in self._parts if place < passed)
        return [window for place in places for window in self._windows(place, self._parts.pop(place))]

    def _windows(self, place: int, parts: list[Columns]) -> Iterator[Window]:
        code, latency = (np.concatenate([part[i] for part in parts]) for i in range(2))
        count = _counts(parts)
        if count is None and _fits_a_key(code, latency):
            yield from self._single(place, code, latency)
            return
        for one in np.flatnonzero(np.bincount(code)).tolist():
            mine = code == one
            n, chosen = _chosen(latency[mine], None if count is None else count[mine], self._shares)
            yield Window(place=place, code=one, n=n, latencies=tuple(chosen.tolist()))

    def _single(self, place: int, code: Column, latency: Column) -> Iterator[Window]:
        """The windows of I/Os that stand for themselves: all directions are sorted at once."""
        bits = _SHORT_BITS if latency.max() < 1 << _SHORT_BITS else _LONG_BITS
        kind: type[np.uint32 | np.uint64] = np.uint32 if bits == _SHORT_BITS else np.uint64
        keys = np.left_shift(code.astype(kind), kind(bits)) | latency.astype(kind)
        keys.sort()
        edges = np.searchsorted(keys, np.arange(_CODES, dtype=np.uint64) << np.uint64(bits)).tolist()
        for one, (begin, end) in enumerate(pairwise([*edges, keys.size])):
            if begin < end:
                chosen = keys[begin + ranks(self._shares, end - begin) - 1] & kind((1 << bits) - 1)
                yield Window(place=place, code=one, n=end - begin, latencies=tuple(chosen.tolist()))


def _fits_a_key(code: Column, latency: Column) -> bool:
    """Whether direction and latency have room in one integer."""
    whole = np.issubdtype(latency.dtype, np.integer)
    return bool(whole and code.max() < _CODES and latency.min() >= 0 and latency.max() < 1 << _LONG_BITS)


def _counts(parts: list[Columns]) -> Column | None:
    """How many I/Os each row stands for; None: one, all of them."""
    if not any(len(part) > 2 for part in parts):
        return None
    return np.concatenate([part[2] if len(part) > 2 else np.ones(part[0].size, np.int64) for part in parts])


def _chosen(latency: Column, count: Column | None, wanted: Shares) -> tuple[int, Column]:
    """How many I/Os there are, and the latencies at the ranks of the percentiles."""
    if count is None:
        places = ranks(wanted, latency.size) - 1
        return latency.size, np.partition(latency, places)[places]
    order = np.argsort(latency)
    reached = np.cumsum(count[order])
    n = int(reached[-1])
    return n, latency[order][np.searchsorted(reached, ranks(wanted, n))]
