"""Emulated disks behind host caches of hidden sizes, which a staircase of working sets must find.

.venv/bin/python benchmarks/probe_caches.py [DISKS] [SEED]

The emulator (:mod:`azbenchlib.lab.engine`) serves single I/Os in emulated time. Caches hold 5 to 50 MiB, the
disks behind them do 100 to 20,000 IOPS, and the data is 64 MiB. Prints how many sizes were found within 10 %,
how often the 95 % intervals hold them, and how many working sets that took. The seed is drawn unless it is
given. A disk takes some seconds of CPU.
"""

from __future__ import annotations

import secrets
import sys
from itertools import count

import numpy as np

from azbenchlib.core.units import KIB, MB, MIB
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import READ, WRITE, Machine, Options
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.probing.cache import CacheRun, CacheShown, Staircase
from azbenchlib.probing.drain import DrainRun, DrainShown
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.runs import ProbeRun, Shown
from azbenchlib.probing.session import Probe

DATA_BYTES = 64 * MIB
WITHIN = 0.1


class Cached:
    """An emulated disk behind a host cache of so many bytes; None: without a cache."""

    def __init__(
        self, cache_bytes: float | None, iops: float = 5_000, caching: str = "ReadOnly", dirty: float = 0.5
    ) -> None:
        cap = Cap(iops=iops, bytes_per_s=40 * MB)
        disk = Disk(
            name="data", cap=cap, caching="None" if cache_bytes is None else caching, size_bytes=1 << 30
        )
        vm = VM(cached=Cap(iops=100_000, bytes_per_s=200 * MB))
        options = Options(cache_bytes=cache_bytes, dirty_share=dirty, latency={"data": "premium"})
        self._machine, self.now, self.seeds = Machine(Setup(vm, (disk,)), options), 0.0, count(1)

    def measure(self, run: CacheRun) -> CacheShown:
        self.now += 1.0
        if run.fill:
            for offset in range(0, run.set_bytes, run.bs_bytes):
                self._machine.submit("data", READ, offset, run.bs_bytes, self.now, lambda _due: None)
                self.now += 0.05
            passed = np.array([run.set_bytes / run.bs_bytes])
            return CacheShown(run=run, lat_us=np.zeros(1), n=passed)
        job = SimulatedJob(volume="data", bs_bytes=4 * KIB, working_set_bytes=run.set_bytes)
        ios = simulate(self._machine, job, run.seconds, start=self.now, seed=next(self.seeds))
        self.now += run.seconds + 1.0
        lat_us, n = np.unique(np.round(ios["lat_us"], -1), return_counts=True)
        return CacheShown(run=run, lat_us=lat_us, n=n.astype(float))

    def load(self, run: DrainRun) -> DrainShown:
        job = SimulatedJob(
            volume="data",
            bs_bytes=run.bs_bytes,
            queue_depth=run.depth,
            read_share=0.0,
            sequential=True,
            working_set_bytes=1024 * MIB,
        )
        volume, began = self._machine.volumes["data"], self.now
        before = volume.bytes[WRITE]
        simulate(self._machine, job, run.seconds, start=began, seed=next(self.seeds))
        self.now += run.seconds
        while volume.outstanding(self.now):  # as fio does, which waits for the last ones
            self.now += 0.02
            self._machine.advance(self.now)
        lasted_s = self.now - began
        rate = (volume.bytes[WRITE] - before) / lasted_s
        return DrainShown(run=run, rate=rate, began_s=began, lasted_s=lasted_s)


def climbed(disk: Cached, known: Portrait, size_bytes: int = DATA_BYTES) -> Staircase:
    """All working sets that are asked for, measured."""
    stairs = Staircase(size_bytes=size_bytes, seconds=2.0, fill_seconds=60.0)
    while run := stairs.next(known):
        stairs.tell(disk.measure(run))
    return stairs


def drawn(rng: np.random.Generator) -> tuple[float, float]:
    """Bytes of a cache, and IOPS of the disk behind it."""
    sizes, rates = np.log([5 * MIB, 50 * MIB]), np.log([100, 20_000])
    return float(np.exp(rng.uniform(*sizes))), float(np.exp(rng.uniform(*rates)))


def main(disks: int, seed: int) -> None:
    print(f"seed {seed}", flush=True)
    probe = Probe(chains=50, sweeps=1)  # whether memory answered is all that a staircase asks of it
    probe.tell(Shown(run=ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1), iops=500.0, read_p50_us=2e3))
    known, within, held, sets = probe.portrait(), 0, 0, 0
    for number in range(disks):
        cache_bytes, iops = drawn(np.random.default_rng([seed, number]))
        disk = Cached(cache_bytes, iops)
        disk.seeds = count(1_000 * number)
        stairs = climbed(disk, known)
        size = stairs.found(known).size
        if size:
            within += abs(size.value / cache_bytes - 1) <= WITHIN
            held += size.low <= cache_bytes <= size.high
        sets += len(stairs.measured)
    print(
        f"{disks} caches: {within} sizes within {WITHIN:.0%}, {held} in their 95 % interval, "
        f"{sets / disks:.1f} working sets on average"
    )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 80,
        int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(32),
    )
