"""The closed loop, one tick of the token buckets after the other, all setups side by side.

In a tick, so many I/Os are served as the outstanding ones can make (queue depth × tick ÷ latency), the
workload wants, the CPU can issue, and every bucket on the way has tokens for. What is over stays
outstanding: no backlog grows, and Little's law holds. Tokens that a tick leaves are lost, but for credits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.hidden import BURST_S, RESOURCES, UNLIMITED, Array, Hidden

SAMPLE_S = 0.5
MEMORY = 0.9  # of the drift of latency, from tick to tick
BURST_NOISE = 0.1  # a tick's tokens while a burst lasts vary by so much
REFILLED = 0.95  # a full write cache takes writes again below this
# Why no more was served in a tick: a bucket at its base or its burst limit, or one of these.
CAUSES = (*RESOURCES, *(f"burst {name}" for name in RESOURCES), "latency", "demand", "cpu", "plateau", "full")
LATENCY, DEMAND, CPU, PLATEAU, FULL = range(12, 17)


@dataclass(frozen=True)
class Course:
    """What happened in each run.

    `served` is I/Os, shape (n,); `by_cause` I/Os and `time_by_cause` seconds, shape (n, len(CAUSES));
    `series` the IOPS of every half second, shape (n, longest run).
    """

    served: Array
    by_cause: Array
    time_by_cause: Array
    series: npt.NDArray[np.float32]


def run(setups: Hidden, rng: np.random.Generator, at_once: int = 2000) -> Course:
    """EmulatedVolume the setups; longest runs together, so that arrays stay short."""
    order = np.argsort(-setups.runtime_s / setups.tick_s, kind="stable")
    width = int(np.ceil(setups.runtime_s.max() / SAMPLE_S)) + 2
    n, causes = len(setups), len(CAUSES)
    course = Course(
        np.zeros(n), np.zeros((n, causes)), np.zeros((n, causes)), np.zeros((n, width), np.float32)
    )
    for start in range(0, n, at_once):
        index = order[start : start + at_once]
        part = _Batch(setups.take(index), rng)
        part.run()
        course.served[index] = part.by_cause.sum(axis=1)
        course.by_cause[index] = part.by_cause
        course.time_by_cause[index] = part.time_by_cause
        course.series[index, : part.series.shape[1]] = part.series / SAMPLE_S
    return course


class _Batch:
    """Setups in the order of falling number of ticks: those that still run are always the first ones."""

    def __init__(self, setups: Hidden, rng: np.random.Generator) -> None:
        self.rng, self.tick = rng, setups.tick_s
        self.ticks = np.maximum(1, np.rint(setups.runtime_s / setups.tick_s)).astype(int)
        self.wants = {full: setups.wants(setups.hit, full) for full in (False, True)}
        self.natural = {full: self._natural(setups, full) for full in (False, True)}
        self.base = setups.base * self.tick[:, None]
        self.burst = setups.burst * self.tick[:, None]
        self.capacity = (setups.burst - setups.base) * BURST_S
        self.left = self.capacity * setups.credits
        self.start = np.maximum(1e-9, np.where(setups.ramp_s > 0, 0.0, setups.start_s) / self.tick)
        self.drift, self.drifted = setups.drift, np.zeros(len(setups))
        cpu = setups.numjobs / setups.cpu_s
        self.others = np.stack([setups.rate_iops, cpu, setups.plateau_iops], axis=1) * self.tick[:, None]
        absorbs = (setups.path == 2) & (setups.read_share < 1) & setups.direct
        self.room = np.where(absorbs, setups.cache_bytes * 0.5, np.inf)
        self.written = (1 - setups.read_share) * setups.bs_write_bytes
        self.drain = self.written * self._drained(setups) * self.tick
        self.dirty, self.full = np.zeros(len(setups)), np.zeros(len(setups), bool)
        self.by_cause = np.zeros((len(setups), len(CAUSES)))
        self.time_by_cause = np.zeros((len(setups), len(CAUSES)))
        self.series = np.zeros((len(setups), int(np.ceil(setups.runtime_s.max() / SAMPLE_S)) + 2), np.float32)

    def _natural(self, setups: Hidden, full: bool) -> Array:
        """I/Os that the outstanding ones make in a tick when nothing throttles them."""
        each = setups.latency(full, setups.depth) + setups.think_s
        return setups.depth * self.tick / each

    @staticmethod
    def _drained(setups: Hidden) -> Array:
        """I/Os per second, the full mix, that the disk and the way to it take from a full write cache."""
        wants = setups.wants(1.0, True)[:, :4]
        each = np.divide(setups.base[:, :4], wants, out=np.full_like(wants, UNLIMITED), where=wants > 0)
        return each.min(axis=1)

    def run(self) -> None:
        running = np.searchsorted(-self.ticks, -np.arange(self.ticks[0]), side="left")
        for tick, m in enumerate(running):
            self._step(tick, int(m))

    def _step(self, tick: int, m: int) -> None:
        noise = self.rng.standard_normal((2, m), np.float32)
        self.drifted[:m] = MEMORY * self.drifted[:m] + np.sqrt(1 - MEMORY**2) * noise[0]
        full = self.full[:m]
        wants, natural = self.wants[False][:m], self.natural[False][:m]
        if full.any():
            wants = np.where(full[:, None], self.wants[True][:m], wants)
            natural = np.where(full, self.natural[True][:m], natural)
        base = self.base[:m]
        bursting = self.left[:m] > self.burst[:m] - base  # a tick at the burst needs credits for all of it
        level = np.where(bursting, self.burst[:m] * (1 + BURST_NOISE * noise[1])[:, None], base)
        rooms = np.divide(level, wants, out=np.full_like(level, UNLIMITED), where=wants > 0)
        tightest = rooms.argmin(axis=1)
        rows = np.arange(m)
        offered = natural * np.exp(self.drift[:m] * self.drifted[:m])
        most = np.column_stack([rooms[rows, tightest], offered, self.others[:m]])
        why = most.argmin(axis=1)
        served = np.maximum(most[rows, why], 0.0) * np.minimum(1.0, (tick + 0.5) / self.start[:m])
        by_bucket = why == 0
        cause = np.where(by_bucket, tightest + len(RESOURCES) * bursting[rows, tightest], LATENCY - 1 + why)
        cause = np.where(by_bucket & full, FULL, cause)
        self.by_cause[rows, cause] += served
        self.time_by_cause[rows, cause] += self.tick[:m]
        used = wants * served[:, None]
        self.left[:m] = np.clip(self.left[:m] + base - used, 0.0, self.capacity[:m])
        self._fill_cache(served, m)
        self._note(tick, served, m, rows)

    def _fill_cache(self, served: Array, m: int) -> None:
        """Writes wait in a ReadWrite cache until the disk has taken them; a full one holds them up."""
        room = self.room[:m]
        self.dirty[:m] = np.clip(self.dirty[:m] + served * self.written[:m] - self.drain[:m], 0.0, room)
        again = np.where(self.full[:m], REFILLED, 1.0)
        self.full[:m] = self.dirty[:m] >= again * room

    def _note(self, tick: int, served: Array, m: int, rows: npt.NDArray[np.int64]) -> None:
        """Add to the half seconds that the tick lies in."""
        begin, end = tick * self.tick[:m], (tick + 1) * self.tick[:m]
        first = (begin / SAMPLE_S).astype(int)
        early = np.clip((first + 1) * SAMPLE_S - begin, 0, self.tick[:m]) / self.tick[:m]
        self.series[rows, first] += served * early
        self.series[rows, (end / SAMPLE_S).astype(int)] += served * (1 - early)
