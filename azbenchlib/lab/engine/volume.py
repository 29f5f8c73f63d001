"""One volume of the machine: what becomes of a request, without a host cache and with one."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from azbenchlib.lab.engine.cache import EmulatedCache, WriteBack, lines_of, whole_lines_of
from azbenchlib.lab.engine.token_buckets import WRITES, WRITES_BACK, At, EventQueue, LimiterChain, travel
from azbenchlib.lab.nbd import FLUSH, READ, TRIM, WRITE, ZERO

NAMES = {READ: "read", WRITE: "write", FLUSH: "flush", TRIM: "trim", ZERO: "zero"}

Sampler = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a volume is reached: the limits on the host (`near`), those from there to the disk (`far`), and
    what gives the latencies behind them, in seconds.
    """

    event_queue: EventQueue
    near: tuple[LimiterChain, ...]
    far: tuple[LimiterChain, ...]
    read_s: Sampler
    write_s: Sampler

    @property
    def whole(self) -> tuple[LimiterChain, ...]:
        """All limits, those of the host first."""
        return self.near + self.far


class EmulatedVolume:
    """A volume without a host cache.

    Attributes
    ----------
    passed_s : float
        When the request that was told last had passed all limits.

    Notes
    -----
    An I/O completes when all limits have let it pass, plus its latency. Our assumptions, undocumented: TRIM
    and ZERO count as a write of no bytes; FLUSH (and FUA) has nothing to wait for and costs nothing,
    because a write that completed is on the disk.
    """

    def __init__(self, size_bytes: int, way: Way) -> None:
        self.size_bytes = size_bytes
        self.chains = way.whole
        self.ios = dict.fromkeys(NAMES, 0)
        self.bytes = dict.fromkeys(NAMES, 0)
        self.hits = self.misses = self.stalls = 0
        self._way, self._event_queue = way, way.event_queue
        self._read_s, self._write_s = way.read_s, way.write_s
        self._straight = all(chain.scheduler is None and chain.ahead for chain in self.chains)
        self.passed_s = 0.0
        self._due: list[float] = []
        self._finished = 0

    def submit(self, op: int, offset: int, length: int, now: float, done: At, fua: bool = False) -> None:
        """Take a request that arrives now; `done` is told when it completes, once that is known."""
        self._note(op, length, now)
        if op == FLUSH:
            self._finish(done, now, now)
            return
        write = op != READ
        size = length if op <= WRITE else 0
        if not self._straight:
            travel(self._event_queue, self.chains, now, write, size, partial(self._served, write, done))
            return
        time = now
        for chain in self.chains:
            time = chain.admit(time, write, size)
        self._served(write, done, time)

    def outstanding(self, now: float) -> int:
        """How many requests are not complete."""
        self._forget_done(now)
        return sum(self.ios.values()) - self._finished

    def counted(self) -> int:
        """I/Os as the disk counts them against its IOPS, those of writing back included."""
        return self.chains[-1].counted

    def _note(self, op: int, length: int, now: float) -> None:
        self.ios[op] += 1
        self.bytes[op] += length
        self._forget_done(now)

    def _served(self, write: bool, done: At, passed: float) -> None:
        self._finish(done, passed + (self._write_s() if write else self._read_s()), passed)

    def _finish(self, done: At, due: float, passed: float) -> None:
        self.passed_s = passed
        heapq.heappush(self._due, due)
        done(due)

    def _forget_done(self, now: float) -> None:
        dues = self._due
        while dues and dues[0] <= now:
            heapq.heappop(dues)
            self._finished += 1


class ReadOnlyCachedVolume(EmulatedVolume):
    """A volume with host caching ReadOnly.

    Parameters
    ----------
    size_bytes : int
    way : Way
    cache : HostCache
        Shared by all cached volumes of the VM.
    start : int
        Where its bytes begin in the cache's numbering, a multiple of the line size.
    hit_s : callable
        Gives the latency of what the cache answers, in seconds.

    Notes
    -----
    Every request passes the VM's cached limit. A read that finds all its lines completes there; else it
    goes to the disk as a whole, and its lines are there when it completes. So do writes; of them only lines
    that they cover from end to end are there afterwards.
    """

    def __init__(self, size_bytes: int, way: Way, cache: EmulatedCache, start: int, hit_s: Sampler) -> None:
        super().__init__(size_bytes, way)
        self._cache, self._start, self._hit_s = cache, start, hit_s
        self._back: WriteBack | None = None

    def submit(self, op: int, offset: int, length: int, now: float, done: At, fua: bool = False) -> None:
        """Take a request that arrives now; `done` is told when it completes, once that is known."""
        self._note(op, length, now)
        self._cache.settle(now)
        offset += self._start
        if op == READ:
            self._read(offset, length, now, done)
        elif op == WRITE:
            self._write(offset, length, now, done, fua)
        elif op == FLUSH:
            self._flush(now, done)
        else:
            self._forget(lines_of(offset, length))
            travel(self._event_queue, self.chains, now, True, 0, partial(self._served, True, done))

    def _read(self, offset: int, length: int, now: float, done: At) -> None:
        lines = lines_of(offset, length)
        if self._cache.has(lines, self._back):
            self.hits += 1
            travel(self._event_queue, self._way.near, now, False, length, partial(self._answer, done))
        else:
            self.misses += 1
            self._to_disk(False, length, lines, now, done)

    def _write(self, offset: int, length: int, now: float, done: At, fua: bool) -> None:
        self._to_disk(True, length, whole_lines_of(offset, length), now, done)

    def _to_disk(self, write: bool, length: int, lines: range, now: float, done: At) -> None:
        then = partial(self._through, write, lines, done)
        travel(self._event_queue, self.chains, now, write, length, then)

    def _through(self, write: bool, lines: range, done: At, passed: float) -> None:
        due = passed + (self._write_s() if write else self._read_s())
        self._cache.arrive(due, lines, self._back)
        self._finish(done, due, passed)

    def _answer(self, done: At, passed: float) -> None:
        self._finish(done, passed + self._hit_s(), passed)

    def _flush(self, now: float, done: At) -> None:
        self._finish(done, now, now)

    def _forget(self, lines: range) -> None:
        self._cache.drop(lines)


class ReadWriteCachedVolume(ReadOnlyCachedVolume):
    """A volume with host caching ReadWrite.

    Parameters
    ----------
    most : float
        How many lines may be unwritten.

    Notes
    -----
    A write is complete in the cache and written back, oldest first, as fast as uncached limit and disk let
    it, one at a time waiting for these. A write that would make more than `most` lines unwritten waits
    until there is room. FLUSH waits for all that was accepted before it. A write with FUA, or of more than
    `most` lines, goes through to the disk.
    """

    def __init__(
        self, size_bytes: int, way: Way, cache: EmulatedCache, start: int, hit_s: Sampler, most: float
    ) -> None:
        super().__init__(size_bytes, way, cache, start, hit_s)
        self.back = self._back = WriteBack(cache, most)
        self._stalled: deque[tuple[int, int, At]] = deque()
        self._flushes: deque[tuple[int, At]] = deque()
        self._writing_back = False

    def _write(self, offset: int, length: int, now: float, done: At, fua: bool) -> None:
        lines = lines_of(offset, length)
        if fua or len(lines) > self.back.most:
            super()._write(offset, length, now, done, fua)
        elif self._room(lines, behind=bool(self._stalled)):
            self._accept(offset, length, now, done)
        else:
            self.stalls += 1
            self._stalled.append((offset, length, done))

    def _room(self, lines: range, behind: bool) -> bool:
        more = self.back.more(lines)
        return not more or (not behind and len(self.back) + more <= self.back.most)

    def _accept(self, offset: int, length: int, now: float, done: At) -> None:
        self.back.write(offset, length)
        travel(self._event_queue, self._way.near, now, True, length, partial(self._answer, done))
        if not self._writing_back:
            self._write_back(now)

    def _write_back(self, now: float) -> None:
        oldest = self.back.leave()
        self._writing_back = oldest is not None
        if oldest is not None:
            lines, size, stamp = oldest
            way = WRITES if self._stalled or self._flushes else WRITES_BACK
            travel(self._event_queue, self._way.far, now, way, size, partial(self._leaves, lines, stamp))

    def _leaves(self, lines: range, stamp: int, passed: float) -> None:
        self._event_queue.at(passed, partial(self._write_back, passed))
        due = passed + self._write_s()
        self._event_queue.at(due, partial(self._lands, lines, stamp, due))

    def _lands(self, lines: range, stamp: int, now: float) -> None:
        self.back.land(lines, stamp)
        self._go_on(now)

    def _go_on(self, now: float) -> None:
        """Answer the flushes that have what they wait for, and let in the writes for which there is room."""
        oldest = self.back.oldest() if self._flushes else math.inf
        while self._flushes and self._flushes[0][0] < oldest:
            self._finish(self._flushes.popleft()[1], now, now)
        while self._stalled and self._room(lines_of(*self._stalled[0][:2]), behind=False):
            offset, length, done = self._stalled.popleft()
            self._accept(offset, length, now, done)

    def _flush(self, now: float, done: At) -> None:
        if self.back.oldest() > self.back.stamp:
            self._finish(done, now, now)
        else:
            self._flushes.append((self.back.stamp, done))

    def _forget(self, lines: range) -> None:
        super()._forget(lines)
        self.back.drop(lines)
        self._go_on(self._event_queue.now)
