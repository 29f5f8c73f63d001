"""Histories of loads replayed by fio on emulated disks: seconds throttled, predicted and measured.

    .venv/bin/python benchmarks/size_in_the_lab.py [HISTORIES] [SECONDS] [FIRST]

Each history is an hour of random loads on a random setup: reads and writes of random sizes, disks with and
without credits, the limits of a VM. It takes two minutes of real time each, or as many SECONDS as are said;
nothing else should run. A load that nothing throttles is shown and not counted. FIRST is the number of the
first history.
"""

import sys
from itertools import count
from random import Random

import numpy as np

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.campaign.lab_replay.lab_check import LASTS_S, check_in_lab
from azbenchlib.core.units import GIB, KIB
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.sizing.busiest import LabCheck
from azbenchlib.sizing.design import Design
from azbenchlib.sizing.requirement import requirement
from azbenchlib.sizing.search import SizeSearch

MINUTES = 60


def an_hour(dice: np.random.Generator) -> LoadHistory:
    """Minutes of a load that doubles and halves, with a peak of some minutes."""
    iops = dice.uniform(300, 3_000) * np.exp(np.cumsum(dice.normal(0, 0.15, MINUTES)))
    first, length = dice.integers(5, 30), dice.integers(4, 20)
    iops[first : first + length] *= dice.uniform(1.5, 4)
    share, sizes = dice.uniform(0.3, 1.0), dice.choice([4, 8, 16, 32, 64], 2) * KIB
    ones = np.ones(MINUTES)
    return LoadHistory(
        t_s=np.arange(MINUTES) * 60.0,
        interval_s=60.0 * ones,
        read_iops=iops * share,
        write_iops=iops * (1 - share),
        read_bytes_per_s=iops * share * sizes[0],
        write_bytes_per_s=iops * (1 - share) * sizes[1],
    )


def a_design(seed: int) -> Design | None:
    """What is throttled for some minutes of an hour: the best of what costs less than enough."""
    history = an_hour(np.random.default_rng(seed))
    allowed_s = Random(seed).uniform(0, 900)  # noqa: S311
    there = market("westeurope")
    asked = requirement(history, allowed_s, None, 8, {"size_bytes": 64 * GIB, "latency": "premium"})
    search = SizeSearch(asked, there)
    best = search.cheapest()
    return (best and search.next_cheaper(best)) or best or search.least_throttled()


def line(check: LabCheck) -> str:
    """What was predicted and measured."""
    off = f"{check.measured_s / check.predicted_s - 1:+.1%}" if check.predicted_s else "nothing throttles it"
    design = check.design
    return (
        f"{design.vm} with {design.setup.disks[0].name}: predicted {check.predicted_s:,.0f} s, "
        f"measured {check.measured_s:,.0f} s ({off}){', this machine was busy' if check.busy else ''}"
    )


def main(histories: int = 5, seconds: float = LASTS_S, first: int = 0) -> None:
    throttled = 0
    for seed in count(first):
        if throttled >= histories:
            return
        if design := a_design(seed):
            check = check_in_lab(design, seconds)
            throttled += check.predicted_s > 0
            print(f"{seed}: {line(check)}", flush=True)
        else:
            print(f"{seed}: nothing fits", flush=True)


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float, int), sys.argv[1:], strict=False)))
