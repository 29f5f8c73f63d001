"""What holds I/Os back: buckets in virtual time, the chains that lead through them, and fair turns.

A bucket holds *seconds of its limit*: an I/O takes 1 ÷ (I/Os per second) or its bytes ÷ (bytes per second)
of it. So reads and writes with limits of their own share one bucket as r/R + w/W ≤ 1, as
:mod:`azbenchlib.model.io_path` has it. Each bucket is one number, the time at which it will be full again,
and costs O(1) an I/O: the generic cell rate algorithm (ITU-T I.371, 2004, annex A), here as a shaper.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from azbenchlib.model.labels import Label

At = Callable[[float], None]  # is told an emulated time
# What an I/O is to a chain. Nobody waits for what a cache writes back while it has room, so that it waits is
# not counted.
READS, WRITES, WRITES_BACK = 0, 1, 2


class EventQueue:
    """What happens later, in emulated seconds; `now` is the time of what is happening."""

    __slots__ = ("_order", "events", "now")

    def __init__(self) -> None:
        self.now = -math.inf
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def at(self, time: float, call: Callable[[], None]) -> None:
        """Do this then; what is due at one time happens in the order in which it was asked for."""
        heapq.heappush(self.events, (time, next(self._order), call))

    def run(self, now: float) -> float | None:
        """Do what is due up to `now`; the time of what comes next, or None."""
        events = self.events
        while events and events[0][0] <= now:
            self.now, _, call = heapq.heappop(events)
            call()
        self.now = max(self.now, now)
        return events[0][0] if events else None


class TokenBucket:
    """A limit with `full_s` seconds of it in store; full at the start."""

    __slots__ = ("full_at", "full_s")

    def __init__(self, full_s: float) -> None:
        self.full_s = full_s
        self.full_at = -math.inf

    def ready(self) -> float:
        """The earliest time at which the next I/O may pass: when the bucket is not below empty."""
        return self.full_at - self.full_s

    def take(self, now: float, cost_s: float) -> float:
        """Take this much for an I/O that arrives now; the time from which it may pass."""
        full_at = self.full_at
        self.full_at = (full_at if full_at > now else now) + cost_s
        return full_at - self.full_s

    def level_s(self, now: float) -> float:
        """What is in store, 0 to `full_s`; what waiting I/Os will take counts as taken."""
        return min(self.full_s, max(0.0, self.full_s - (self.full_at - now)))


class TokenMeter:
    """What an I/O of one direction takes of one bucket; `waits` counts those that it held back."""

    __slots__ = ("bucket", "label", "per_byte", "per_io", "waits")

    def __init__(self, bucket: TokenBucket, per_io: float, per_byte: float, label: Label) -> None:
        self.bucket, self.per_io, self.per_byte, self.label = bucket, per_io, per_byte, label
        self.waits = 0


class LimiterChain:
    """One volume's way through the limits of one pool.

    Parameters
    ----------
    owner : str
        ``vm``, or the volume whose limits these are.
    reads, writes : sequence of Meter
        What a read and what a write takes. A limit that is not documented has no meter.
    unit_bytes : float
        Up to this size an I/O counts as one, a larger one as multiples.
    tick_s : float
        I/Os that must wait pass at multiples of this; 0: as soon as they may.
    scheduler : FairShareScheduler, optional
        Where several volumes share these limits.
    ahead : bool
        Whether I/Os that arrive later may be let in now, because all of them arrive in order.
    """

    __slots__ = (
        "ahead",
        "counted",
        "needs",
        "owner",
        "passed",
        "queue",
        "scheduler",
        "tick_s",
        "unit_bytes",
        "ways",
    )

    def __init__(
        self,
        owner: str,
        reads: Sequence[TokenMeter],
        writes: Sequence[TokenMeter],
        unit_bytes: float = math.inf,
        tick_s: float = 0.0,
        scheduler: FairShareScheduler | None = None,
        ahead: bool = True,
    ) -> None:
        back = [TokenMeter(meter.bucket, meter.per_io, meter.per_byte, meter.label) for meter in writes]
        self.owner, self.ways = owner, (tuple(reads), tuple(writes), tuple(back))
        self.needs = [frozenset(meter.bucket for meter in way) for way in self.ways]
        self.unit_bytes, self.tick_s, self.scheduler, self.ahead = unit_bytes, tick_s, scheduler, ahead
        self.queue: deque[tuple[float, int, int, At]] = deque()
        self.passed = self.counted = 0

    def admit(self, now: float, way: int, size: int) -> float:
        """Let an I/O in that arrives now; when it passes. Each bucket hands out as soon as it can."""
        ios = 1 if size <= self.unit_bytes else math.ceil(size / self.unit_bytes)
        self.passed += way != WRITES_BACK
        self.counted += ios
        passes, held = now, None
        for meter in self.ways[way]:
            ready = meter.bucket.take(now, ios * meter.per_io + size * meter.per_byte)
            if ready > passes:
                passes, held = ready, meter
        if held is None:
            return now
        held.waits += 1
        return self.on_tick(passes)

    def ready(self, way: int) -> tuple[float, TokenMeter | None]:
        """When the next I/O of this kind may pass, and what holds it until then."""
        when, held = -math.inf, None
        for meter in self.ways[way]:
            ready = meter.bucket.ready()
            if ready > when:
                when, held = ready, meter
        return when, held

    def held_by(self, bucket: TokenBucket, way: int) -> None:
        """Count an I/O that had to wait for a bucket."""
        for meter in self.ways[way]:
            if meter.bucket is bucket:
                meter.waits += 1

    def on_tick(self, time: float) -> float:
        """The first tick at or after this time."""
        if not self.tick_s:
            return time
        return max(time, math.ceil(time / self.tick_s) * self.tick_s)


class FairShareScheduler:
    """Limits that several volumes share: a queue each, and one I/O of each in turn.

    So each gets the same number of I/Os per second, but those that want less: max-min fairness, as
    :func:`azbenchlib.model.limits.deliver` has it. (First come, first served would share by queue depth.)
    """

    def __init__(self, event_queue: EventQueue) -> None:
        self._event_queue = event_queue
        self._turns: deque[LimiterChain] = deque()
        self._held: TokenBucket | None = None
        self._wake = math.inf  # when the next I/O may pass
        self._serving = False

    def enter(self, chain: LimiterChain, way: int, size: int, then: At) -> None:
        """Let an I/O in that arrives now; `then` is told when it passes, at that time."""
        chain.queue.append((self._event_queue.now, way, size, then))
        if len(chain.queue) == 1:
            self._turns.append(chain)
            if not self._serving and chain.ready(way)[0] < self._wake:
                self._serve()

    def _woken(self, time: float) -> None:
        if time == self._wake:  # else somebody came who could pass before
            self._serve()

    def _serve(self) -> None:
        self._serving, self._wake = True, math.inf
        now = self._event_queue.now
        while self._turns:
            chain, ready, held = self._first(now)
            if ready > now:
                self._held = None if held is None else held.bucket
                self._wake = chain.on_tick(ready)
                self._event_queue.at(self._wake, partial(self._woken, self._wake))
                break
            self._turns.remove(chain)
            arrived, way, size, then = chain.queue.popleft()
            if chain.queue:
                self._turns.append(chain)
            if arrived < now and self._held is not None:
                chain.held_by(self._held, way)
            then(chain.admit(now, way, size))
        self._serving = False

    def _first(self, now: float) -> tuple[LimiterChain, float, TokenMeter | None]:
        """Whose turn it is of those that may pass now, or else who may pass first; when, and what holds it.

        They differ where not all need the same limits: Ultra Disk has some that Premium SSD has not.
        """
        found: list[tuple[LimiterChain, float, TokenMeter | None]] = []
        seen = set()
        for chain in self._turns:
            way = chain.queue[0][1]
            if chain.needs[way] not in seen:
                seen.add(chain.needs[way])
                ready, held = chain.ready(way)
                if ready <= now:
                    return chain, ready, held
                found.append((chain, ready, held))
        return min(found, key=lambda of: of[1])


def travel(
    event_queue: EventQueue, chains: Sequence[LimiterChain], time: float, way: int, size: int, then: At
) -> None:
    """Take an I/O that arrives at `time` through all chains; `then` is told when it has passed the last.

    What is shared is entered when the I/O is there, not reserved for later: others come first meanwhile.
    """
    for i, chain in enumerate(chains):
        if time > event_queue.now and not chain.ahead:
            event_queue.at(time, partial(travel, event_queue, chains[i:], time, way, size, then))
            return
        if chain.scheduler is None:
            time = chain.admit(time, way, size)
        else:
            rest = partial(_onward, event_queue, chains[i + 1 :], way, size, then)
            chain.scheduler.enter(chain, way, size, rest)
            return
    then(time)


def _onward(
    event_queue: EventQueue, chains: Sequence[LimiterChain], way: int, size: int, then: At, time: float
) -> None:
    travel(event_queue, chains, time, way, size, then)
