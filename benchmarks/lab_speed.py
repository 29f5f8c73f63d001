"""How many I/Os per second of real time the emulated machine takes, without any socket.

    .venv/bin/python benchmarks/lab_speed.py

Target: 70,000 a second for one volume with IOPS, bytes and VM limits. Also: four volumes that share the VM's
limit, hits and misses of a host cache, and what a line in the cache costs in memory.
"""

from __future__ import annotations

import time
import tracemalloc
from collections import deque
from dataclasses import replace
from statistics import median

from azbenchlib.core.units import GIB, KIB, MB, MIB
from azbenchlib.lab.engine.cache import LINE_BYTES, EmulatedCache, WriteBack
from azbenchlib.lab.engine.virtual_machine import READ, WRITE, Machine, Options
from azbenchlib.model.setup import VM, Cap, Disk, Setup

TARGET = 70_000
IOS = 100_000
VM8 = VM(
    size="any",
    uncached=Cap(iops=12800, bytes_per_s=192 * MB, burst_iops=16000, burst_bytes_per_s=400 * MB),
    cached=Cap(iops=77000, bytes_per_s=485 * MB),
)
P30 = Disk(
    name="data",
    sku="Premium_LRS",
    size_bytes=GIB,
    cap=Cap(iops=5000, bytes_per_s=200 * MB, burst_iops=30000, burst_bytes_per_s=1000 * MB),
)


def speed(disk: Disk, op: int, working_set: int, queue_depth: int = 64) -> float:
    """I/Os per second of real time in a closed loop with this many outstanding."""
    machine = Machine(Setup(VM8, (disk,)), Options(cache_bytes=64 * MIB))
    names = list(machine.volumes)
    due: deque[float] = deque()
    submit, advance, done = machine.submit, machine.advance, due.append
    now, blocks = 0.0, working_set // (4 * KIB)
    start = time.perf_counter()
    for i in range(IOS):
        submit(names[i % len(names)], op, i * 7919 % blocks * 4 * KIB, 4 * KIB, now, done)
        if i >= queue_depth:
            while not due:
                now = advance(now) or now
            now = max(now, due.popleft())
    return IOS / (time.perf_counter() - start)


def bytes_a_line(n: int = 200_000) -> tuple[float, float]:
    """Memory of a line that is as on disk, and of one that is not written yet."""
    cache, back = EmulatedCache(n), WriteBack(EmulatedCache(n), n)
    first = 10**9
    tracemalloc.start()
    cache.put(range(first, first + n))
    clean, _ = tracemalloc.get_traced_memory()
    for line in range(first, first + n):
        back.write(line * LINE_BYTES, LINE_BYTES)
    both, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return clean / n, (both - clean) / n


def main() -> None:
    cached = replace(P30, caching="ReadOnly")
    cases = {
        "one volume": (P30, READ, GIB),
        "four volumes, one VM limit": (replace(P30, count=4), READ, GIB),
        "cache hits": (cached, READ, 32 * MIB),
        "cache misses": (cached, READ, GIB),
        "writing back": (replace(P30, caching="ReadWrite"), WRITE, 32 * MIB),
    }
    for name, case in cases.items():
        got = median(speed(*case) for _ in range(3))
        print(f"{name:>28}: {got:9,.0f} I/Os per s, {got / TARGET:.2f} of the target")
    clean, unwritten = bytes_a_line()
    print(f"a cached line takes {clean:.0f} bytes, an unwritten one {unwritten:.0f}")


if __name__ == "__main__":
    main()
