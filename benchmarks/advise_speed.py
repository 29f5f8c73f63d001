"""How long advice takes: a command, one more question, a file of workloads, every region.

    taskset -c 0 .venv/bin/python benchmarks/advise_speed.py [QUESTIONS]

Seconds of CPU, and how many times those of `azbench --version`, for machines differ. Cold is a whole command;
warm is one more question in the same process. Of many questions each gets its cheapest configuration with
bill, limits, fio job and what fails that is cheaper, as in a file of workloads. How the winner changes with
prices and demand is timed apart.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from azbenchlib.advisor.advise import advise, recommended
from azbenchlib.advisor.demands.demand import Demand, Peak
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE, SERVER_DISKS
from azbenchlib.advisor.regions import over_regions
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.cost.payments import Payment

PROGRAM = str(Path(sys.executable).parent / "azbench")
ASKED = (
    "advise",
    "--iops",
    "24000",
    "--mbps",
    "600",
    "--size",
    "2TiB",
    "--bs",
    "8KiB",
    "--region",
    "westeurope",
)
FIRST = Demand(
    size_bytes=2 * TIB, iops=24_000, bytes_per_s=600 * MB, bs_bytes=8 * KIB, latency="ssd",
    choice=SERVER_CHOICE, most_disks=SERVER_DISKS,
)  # fmt: skip
COLD_TIMES = 3


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


def of_server(random: Random) -> Demand:
    """The same of a server."""
    return replace(question(random), choice=SERVER_CHOICE, most_disks=SERVER_DISKS)


def command(*arguments: str) -> float:
    """The least CPU of a whole command."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([PROGRAM, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(COLD_TIMES))


def cpu(task: Callable[[], object]) -> float:
    """The CPU of something done here."""
    start = time.process_time()
    task()
    return time.process_time() - start


def many_answers(many: int) -> None:
    """Each question's cheapest configuration, in full."""
    random, there = Random(20), market("westeurope")  # noqa: S311
    for _ in range(many):
        best = recommended(of_server(random), there)
        if best is not None:
            best.record()


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    version = command("--version")
    there = market("westeurope")
    advise(FIRST, there).records()
    answer = advise(replace(FIRST, iops=24_001), there)
    took = {
        "cold, text": command(*ASKED),
        "cold, JSON": command(*ASKED, "--format", "json"),
        "warm, the cheapest": cpu(lambda: recommended(replace(FIRST, iops=24_002), there)),
        "warm, alternatives too": cpu(lambda: advise(replace(FIRST, iops=24_003), there)),
        "sensitivity": cpu(lambda: answer.sensitivity),
        f"{many:,} questions": cpu(lambda: many_answers(many)),
        "the world": cpu(lambda: over_regions(FIRST, ["world"], Payment())),
    }
    print(f"azbench --version: {version:.2f} s")
    for what, seconds in took.items():
        print(f"{what}: {seconds:.3f} s, {seconds / version:.2f} times that")


if __name__ == "__main__":
    main()
