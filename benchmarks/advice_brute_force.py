"""The cheapest configuration against plain Python on random small catalogues: every VM with every disk.

    .venv/bin/python benchmarks/advice_brute_force.py [CATALOGUES]

With restrictions, zones, families, retirement, hours of the VM, ways to pay and licences
(tests/support/small_market.py). It stops at the first that differs.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import small_market

from azbenchlib.advisor.search import Candidate, search
from azbenchlib.advisor.verify import limits
from azbenchlib.advisor.volumes import cheapest_volumes

KINDS = ("premium", "premium_v2", "ultra", "standard_ssd", "standard_hdd", "nvme", "temp")
WANTED = (*KINDS, "cached", "on demand", "hours", "windows", "reserved", "restricted", "zone")
CATALOGUES = 500


def compare(seeds: Iterable[int]) -> Counter[str]:
    """What was among the answers, and how often.

    Raises
    ------
    AssertionError
        With the seed of a catalogue of which the two ways differ.
    """
    won: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        there, demand = small_market.market(random), small_market.demand(random)
        slow, found = small_market.cheapest(demand, there), search(demand, there).cheapest()
        if slow is None or found is None:
            if slow is not None or found is not None:
                raise AssertionError(f"catalogue {seed}: {slow} and {found and found.setup}")
            won["none"] += 1
            continue
        same = math.isclose(float(found.price), float(slow[0]), abs_tol=1e-6) and _key(found) in slow[1]
        billed = math.isclose(float(found.bill.total or 0), float(found.price), abs_tol=1e-9)
        carried = all(one.fits for one in limits(found.setup, demand))
        if not (same and billed and carried):
            raise AssertionError(f"catalogue {seed}: {slow} and {_key(found)} for {found.price}")
        won.update(_told(found, demand.zone))
    return won


def compare_volumes(seeds: Iterable[int]) -> Counter[str]:
    """The same of two volumes on one VM, without peaks and local disks."""
    won: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        there = small_market.market(random)
        wanted = [
            replace(small_market.demand(random), peak=None, persistent=True, vm="*", zone=None)
            for _ in range(2)
        ]
        wanted = [replace(one, latency="premium") if one.latency == "local" else one for one in wanted]
        wanted[1] = replace(wanted[1], choice=wanted[0].choice, architecture=wanted[0].architecture)
        slow = small_market.cheapest_volumes(wanted, there)
        found = cheapest_volumes(dict(zip("ab", wanted, strict=True)), there)
        if slow is None or found is None:
            if slow is not None or found is not None:
                raise AssertionError(f"catalogue {seed}: {slow} and {found and found.setup}")
            won["none"] += 1
            continue
        same = math.isclose(float(found.price), float(slow[0]), abs_tol=1e-6)
        if not (same and found.delivers()):
            raise AssertionError(f"catalogue {seed}: {slow} and {found.setup} for {found.price}")
        won.update(["answers", *(option.kind.key for option in found.options.values())])
        won["cached"] += any(option.disk.caching != "None" for option in found.options.values())
    return won


def _told(found: Candidate, zone: str | None) -> Iterable[str]:
    """What of the configuration, and of its market, was put to the test."""
    market = found.market
    yield "answers"
    yield found.option.kind.key
    seen = {
        "cached": found.option.disk.caching != "None",
        "on demand": found.option.on_demand,
        "hours": market.vm_hours is not None,
        "windows": market.os == "windows",
        "reserved": market.pay == small_market.RESERVED,
        "restricted": any(one.gone for one in market.vms),
        "zone": zone is not None and found.vm_size.offer is not None,
    }
    yield from (name for name, there in seen.items() if there)


def _key(candidate: Candidate) -> tuple[Any, ...]:
    disk, option = candidate.option.disk, candidate.option
    size = candidate.setup.vm.size
    if disk.local:
        return size, option.kind.key
    redundancy = (disk.sku or "").partition("_")[2]
    return size, option.kind.key, disk.tier, redundancy, disk.count, disk.caching != "None", option.on_demand


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else CATALOGUES
    found = compare(range(many))
    print(f"{many} catalogues, all equal: " + ", ".join(f"{found[name]} {name}" for name in sorted(found)))
    found = compare_volumes(range(many))
    print(f"{many} with two volumes, too: " + ", ".join(f"{found[name]} {name}" for name in sorted(found)))
