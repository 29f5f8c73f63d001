"""How long a size takes: days at one minute over every design of a region, as a ratio to half as many days.

    .venv/bin/python benchmarks/size_speed.py [--days 30] [--region westeurope]

The history is made up: a wave a day, log-normal noise, and a night in which the load is four times as high.
CPU seconds and the most memory are printed for the days and for half of them, and the ratio of the two; then
for designs of more and more VM sizes and disks, with how many designs these are.
"""

import argparse
import resource
import time

import numpy as np

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.core.units import GIB, KIB, TIB
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.sizing.requirement import requirement
from azbenchlib.sizing.search import SizeSearch

A_DAY = 1440


def made_up(days: int) -> LoadHistory:
    dice = np.random.default_rng(1)
    minutes = np.arange(days * A_DAY)
    iops = (800 + 600 * np.sin(minutes / A_DAY * 2 * np.pi)) * dice.lognormal(0, 0.6, len(minutes))
    iops[130:170] *= 4
    ones = np.ones(len(minutes))
    return LoadHistory(
        t_s=minutes * 60.0,
        interval_s=60.0 * ones,
        read_iops=iops * 0.7,
        write_iops=iops * 0.3,
        read_bytes_per_s=iops * 0.7 * 16 * KIB,
        write_bytes_per_s=iops * 0.3 * 32 * KIB,
    )


def taken_s(days: int, region: str, throttled_s: float, vm: str = "*", most_disks: int = 8) -> float:
    there = market(region)
    wanted = {"size_bytes": TIB, "latency": "premium", "architecture": "x64", "vm": vm}
    asked = requirement(made_up(days), throttled_s, None, most_disks, wanted)
    started = time.process_time()
    search = SizeSearch(asked, there)
    best = search.cheapest()
    seconds = time.process_time() - started
    n_sizes = int(there.vm_sizes.suits(asked.demand).sum())
    n_designs = n_sizes * len(search._all_options)
    found = f"{best.vm} with {best.setup.disks[0].name}" if best else "nothing"
    print(
        f"{days} days, throttled for at most {throttled_s:,.0f} s, {n_designs:,} designs "
        f"({n_sizes} VM sizes): {seconds:.2f} s of CPU: {found}"
    )
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--region", default="westeurope")
    asked = parser.parse_args()
    for throttled_s in (0.0, 60.0, 3600.0):
        half = taken_s(asked.days // 2, asked.region, throttled_s)
        whole = taken_s(asked.days, asked.region, throttled_s)
        print(f"  twice the days take {whole / half:.2f} times as long")
    for vm, most_disks in (("Standard_E*", 2), ("Standard_E*", 8), ("*", 8), ("*", 32)):
        taken_s(asked.days, asked.region, 60.0, vm, most_disks)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    print(f"at most {most / GIB:.2f} GiB of memory")


if __name__ == "__main__":
    main()
