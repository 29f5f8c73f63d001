"""Blind disks: emulated ones of random hidden settings, which a probe must find out.

.venv/bin/python benchmarks/probe_blind_disks.py [DISKS] [SEED] [KEPT]

The emulator (:mod:`azbenchlib.lab.engine`) lets single I/Os through token buckets, one by one, in emulated
time; it shares nothing with the probe's own model but the hidden settings. Ranges are wider than Azure's.
Prints how far what was found is from what was hidden, and how often the 95 % intervals hold it. The seed is
drawn unless it is given. Each disk is a line of the file KEPT; the same command goes on where it was stopped.
A disk takes some 10 s of CPU.
"""

from __future__ import annotations

import math
import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt
from probe_results import Outcome, Result
from probe_results import count as count_disks

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, MB, US_PER_S
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import READ, WRITE, Machine, Options
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.model.unloaded_latency import quantile_us
from azbenchlib.probing.median import median_error
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.runs import ProbeRun, Shown
from azbenchlib.probing.session import Probe

Latencies = npt.NDArray[np.float64]  # µs
NAME = "data"
UNITS_BYTES = (16 * KIB, 64 * KIB, 256 * KIB, None)
MOST_IOS = 15_000  # of a run: enough for a rate within 0.1 % and a median within 1 %
MOST_PACED_IOS = 4_000
MOST_CAPPED_IOS = 100_000  # ... of one that takes less than `LEAST_S` for these
LEAST_S = 0.2
TRIALS_S = (0.01, 0.1, 1.0, 10.0)
SETTLES = 0.2  # share of a run that is left out: what a pause had saved up passes at once


@dataclass(frozen=True, kw_only=True)
class BlindDisk(Disk):
    """A disk that counts I/Os in a unit of its own."""

    unit_bytes: int | None = None

    @property
    def io_unit_bytes(self) -> int | None:
        return self.unit_bytes


@dataclass(kw_only=True)
class Emulated(ABC):
    """A volume of an emulated VM that runs are made on, in emulated time."""

    volume: str = NAME
    working_set_bytes: int | None = None
    emulated_s: float = 0.0
    _machine: Machine = field(init=False)
    _now: float = field(default=0.0, init=False)
    _seeds: Iterator[int] = field(default_factory=lambda: count(1), init=False)

    def __post_init__(self) -> None:
        self._machine = self.machine()

    @abstractmethod
    def machine(self) -> Machine:
        """Full of credits and with an empty cache."""

    def measure(self, run: ProbeRun) -> Shown:
        """A run, in emulated time; short where it has I/Os enough."""
        self._now += 1.0
        return self._paced(run) if run.rate_iops else self._driven(run)

    def _driven(self, run: ProbeRun) -> Shown:
        job = SimulatedJob(
            volume=self.volume,
            queue_depth=run.depth,
            bs_bytes=run.bs_bytes,
            read_share=run.read_share,
            working_set_bytes=self.working_set_bytes,
        )
        per_s = self._tried(job)
        seconds = min(run.seconds, max(LEAST_S, MOST_IOS / per_s), MOST_CAPPED_IOS / per_s)
        ios = simulate(self._machine, job, seconds, start=self._now, seed=next(self._seeds))
        self._now += seconds + self._drained(run.depth, per_s)
        self.emulated_s += seconds
        settled = ios[ios["t_s"] > SETTLES * seconds]
        if settled.empty:
            raise InputError(f"no I/O of {run.title} ended")
        took = {ddir: rows.to_numpy() for ddir, rows in settled.groupby("ddir")["lat_us"]}
        length = (1 - SETTLES) * seconds
        told = medians(took.get("read"), took.get("write"))
        return Shown(run=run, iops=len(settled) / length, seconds=length, **told)

    def _tried(self, job: SimulatedJob) -> float:
        """I/Os per second, roughly: of as short a trial as shows some."""
        seconds = 0.0
        for seconds in TRIALS_S:
            trial = simulate(self._machine, job, seconds, start=self._now, seed=next(self._seeds))
            self._now += seconds
            if len(trial) > 2 * job.queue_depth:
                break
        per_s = max(len(trial), 1) / seconds
        self._now += self._drained(job.queue_depth, per_s)
        return per_s

    def _drained(self, depth: int, per_s: float) -> float:
        """Seconds after which nothing is outstanding."""
        return 1.0 + 2 * depth / per_s

    def _paced(self, run: ProbeRun) -> Shown:
        """One I/O after the other, when the rate has it due, or later where the one before took longer."""
        took: dict[int, list[float]] = {READ: [], WRITE: []}
        rng = np.random.default_rng(next(self._seeds))
        start = self._now
        ios = 0
        while self._now < start + run.seconds and ios < MOST_PACED_IOS:
            op = READ if rng.random() < run.read_share else WRITE
            begun, ended = self._now, self._answered(op, run.bs_bytes)
            took[op].append(ended - begun)
            ios += 1
            self._now = max(start + ios / run.rate_iops, ended)
        length = self._now - start
        self._now += 10
        reads_us, writes_us = (np.array(took[op]) * US_PER_S for op in (READ, WRITE))
        return Shown(run=run, iops=ios / length, seconds=length, **medians(reads_us, writes_us))

    def _answered(self, op: int, size: int) -> float:
        """The emulated time at which an I/O that begins now is done."""
        done: list[float] = []
        self._machine.submit(self.volume, op, 0, size, self._now, done.append)
        while not done and (event := self._machine.next_event()) is not None:
            self._machine.advance(event)
        return done[0]


@dataclass(kw_only=True)
class Blind(Emulated):
    """An emulated disk and what is hidden of it."""

    cap: Cap
    unit_bytes: int | None
    table: str

    def machine(self) -> Machine:
        """A VM without limits that has the disk."""
        disk = BlindDisk(name=NAME, cap=self.cap, unit_bytes=self.unit_bytes)
        return Machine(Setup(VM(), (disk,)), Options(latency={NAME: self.table}))

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Blind:
        iops = float(np.exp(rng.uniform(math.log(100), math.log(20_000))))
        rate = float(np.clip(iops * np.exp(rng.uniform(math.log(12), math.log(500))) * KIB, 3 * MB, 4e9))
        own = rng.random() < 0.4
        tables = [name for name in latency.names() if name != latency.NONE]
        return cls(
            cap=Cap(
                iops=iops,
                bytes_per_s=rate,
                write_iops=iops * float(rng.uniform(0.3, 1.3)) if own else None,
                write_bytes_per_s=rate * float(rng.uniform(0.3, 1.3)) if own else None,
            ),
            unit_bytes=UNITS_BYTES[int(rng.integers(len(UNITS_BYTES)))],
            table=tables[int(rng.integers(len(tables)))],
        )

    def true(self, key: str) -> float | None:
        """What a figure of a portrait should be; None: another figure."""
        way, _, what = key.partition("_")
        if what in ("iops", "bytes_per_s"):
            return self.cap.limit(what, write=way == "write")
        if what == "p50_us_4k":
            return quantile_us(self.table, way == "write", 50.0)
        return None


def medians(reads_us: Latencies | None, writes_us: Latencies | None) -> dict[str, float | None]:
    """The medians of latencies, and their errors."""
    told: dict[str, float | None] = {}
    for way, took in (("read", reads_us), ("write", writes_us)):
        some = took is not None and took.size > 0
        told[f"{way}_p50_us"] = float(np.median(took)) if some else None
        told[f"{way}_p50_error"] = median_error(took) if some else None
    return told


def outcomes(blind: Blind, found: Portrait) -> list[Outcome]:
    """Each figure of which the truth is known."""
    told = []
    for figure in found.figures:
        true = blind.true(figure.key)
        if true is None:
            continue
        error = abs((figure.value or figure.low) / true - 1)
        told.append(
            Outcome(
                key=figure.key,
                state=figure.state,
                error=error,
                # what was reached may be above a cap by the rate's own error
                held=figure.low <= true * 1.005
                if figure.value is None
                else figure.low <= true <= figure.high,
            )
        )
    return told


def probed(blind: Blind, seed: int) -> tuple[Probe, Portrait]:
    """A disk probed to the end."""
    session = Probe(seed=seed)
    while chosen := session.next():
        session.tell(blind.measure(chosen.run))
    return session, session.portrait()


def result(number: int, seed: int) -> Result:
    """One of the disks of a seed."""
    blind = Blind.drawn(np.random.default_rng([seed, number]))
    session, found = probed(blind, seed + number)
    true = float(blind.unit_bytes or math.inf)
    return Result(
        disk=number,
        runs=len(session.shown),
        spent_s=session.spent_s,
        outcomes=tuple(outcomes(blind, found)),
        unit_known=found.unit_bytes is not None,
        unit_wrong=found.unit_bytes not in (None, true) or found.largest_single_bytes > true,
    )


def main(disks: int, seed: int, kept: Path) -> None:
    print(f"seed {seed}, kept in {kept}", flush=True)
    count_disks(partial(result, seed=seed), range(disks), kept)


if __name__ == "__main__":
    drawn = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(32)
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 100,
        drawn,
        Path(sys.argv[3] if len(sys.argv) > 3 else f"probe-blind-disks-{drawn}.jsonl"),
    )
