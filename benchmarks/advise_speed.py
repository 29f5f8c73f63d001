"""How long advice takes in one region, over every VM size and every set of disks, once it is loaded.

    taskset -c 0 .venv/bin/python benchmarks/advise_speed.py [QUESTIONS]

Targets, on one core: a question below one second, 1,000 of them below a minute. A question is answered in
full: the configurations with bills, limits and fio jobs. How the winner changes with prices and
demand is timed apart.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from random import Random
from statistics import median

from azbenchlib.advisor.advise import advise
from azbenchlib.advisor.demand import MOST_DISKS, Demand, Peak
from azbenchlib.advisor.load_market import market
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, TIB

ONE_S, THOUSAND_S = 1.0, 60.0
FIRST = Demand(size_bytes=2 * TIB, iops=24_000, bytes_per_s=600 * MB, bs_bytes=8 * KIB)
CACHINGS = 3


def question(random: Random) -> Demand:
    """What somebody might ask."""
    peak = random.choice([None, None, Peak(600, 3_600, random.randint(5_000, 60_000))])
    return Demand(
        size_bytes=random.randint(32, 16_000) * GIB,
        iops=random.randint(100, 60_000),
        bytes_per_s=random.choice([None, random.randint(10, 1_500) * MB]),
        bs_bytes=random.choice([4 * KIB, 8 * KIB, 64 * KIB]),
        read_share=random.choice([0.5, 0.7, 1.0]),
        latency=random.choice(["any", "premium", "submillisecond"]),
        redundancy=random.choice(["LRS", "LRS", "ZRS"]),
        persistent=random.random() < 0.8,
        cache_hit=random.choice([0.0, 0.0, 0.8]),
        peak=peak,
        vcpus=random.choice([None, 8]),
    )


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    start = time.perf_counter()
    there = market("westeurope")
    sizes = sum(not bill.missing for bill in there.vm_bills)
    print(f"loaded in {time.perf_counter() - start:.2f} s: {sizes} priced VM sizes, {len(there.tiers)} tiers")
    configurations = sizes * (len(there.tiers) + len(there.rules)) * MOST_DISKS * CACHINGS
    print(f"{configurations:,} configurations, without redundancy, bursting and what is provisioned")

    start = time.perf_counter()
    answer = advise(FIRST, there)
    answer.records()
    first = time.perf_counter() - start
    changes = len(answer.sensitivity)
    whole = time.perf_counter() - start
    print(f"one question: {first:.3f} s, with {changes} changes of price {whole:.3f} s ({ONE_S} s)")

    took, met = [], 0
    random = Random(20)  # noqa: S311
    start = time.perf_counter()
    for _ in range(many):
        before = time.perf_counter()
        with suppress(InputError):
            met += bool(advise(question(random), there).records())
        took.append(time.perf_counter() - before)
    total = time.perf_counter() - start
    print(
        f"{many:,} questions, {met:,} of them met: {total:.1f} s ({THOUSAND_S} s for 1,000); "
        f"median {median(took):.3f} s, longest {max(took):.3f} s"
    )


if __name__ == "__main__":
    main()
