"""The cheapest configuration against plain Python: every VM with every disk.

    .venv/bin/python benchmarks/advice_brute_force.py [CATALOGUES] [--shipped] [--from N]

On random small catalogues, with restrictions, zones, families, retirement, hours of the VM, ways to pay and
licences (tests/support/small_market.py); with --shipped on sixty sizes of the shipped catalogue at a time,
with every kind of disk (tests/support/shipped_market.py). It stops at the first that differs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import shipped_market
import small_market

from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import Candidate, search
from azbenchlib.advisor.verify import limits
from azbenchlib.advisor.volumes import recommended_volumes

KINDS = ("premium", "premium_v2", "ultra", "standard_ssd", "standard_hdd", "nvme", "temp")
WANTED = (*KINDS, "cached", "on demand", "hours", "windows", "reserved", "restricted", "zone")
CATALOGUES = 500


def compare(seeds: Iterable[int], source: ModuleType = small_market) -> Counter[str]:
    """What was among the answers, and how often; `source` draws a market and a demand.

    Raises
    ------
    AssertionError
        With the seed of a catalogue of which the two ways differ.
    """
    won: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)  # noqa: S311
        there, demand = source.market(random), source.demand(random)
        demand = replace(demand, strictly_cheapest=seed % 3 == 0)
        slow, found = small_market.recommended(demand, there), search(demand, there).recommended()
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


def compare_volumes(seeds: Iterable[int], is_os: bool = False) -> Counter[str]:
    """The same of two volumes on one VM, without peaks and local disks; the second may be the OS disk."""
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
        if is_os:
            there = small_market.with_ephemeral(random, there)
            wanted[1] = small_market.os_disk(random, wanted[1])
        slow = small_market.recommended_volumes(wanted, there)
        if is_os:
            _same_in_one_answer(seed, *wanted, there)
        found = recommended_volumes(dict(zip("ab", wanted, strict=True)), there)
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


def _same_in_one_answer(seed: int, data: Demand, of_os: Demand, there: Market) -> None:
    """Refuse an answer to a demand with its OS disk that is not what the slow way finds for both.

    What is wanted of the VM is that of the data.
    """
    of_vm = {name: getattr(data, name) for name in ("vcpus", "memory_bytes", "memory_per_vcpu_bytes")}
    both = [data, replace(of_os, **of_vm)]
    slow, demand = small_market.recommended_volumes(both, there), replace(data, os_disk=of_os)
    found = search(demand, there).recommended()
    if (slow is None) != (found is None):
        raise AssertionError(f"catalogue {seed}: {slow} and {found and found.setup}")
    if slow is not None and found is not None:
        prices = float(found.price), float(found.bill.total or 0)
        same = all(math.isclose(float(slow[0]), price, abs_tol=1e-6) for price in prices)
        if not (same and all(one.fits for one in limits(found.setup, demand))):
            raise AssertionError(f"catalogue {seed}: {slow} and {found.setup} for {found.price}")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("catalogues", type=int, nargs="?", default=CATALOGUES)
    parser.add_argument("--shipped", action="store_true", help="parts of the shipped catalogue")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.catalogues)
    found = compare(seeds, shipped_market if args.shipped else small_market)
    print(f"{args.catalogues} catalogues, all equal: " + _counted(found))
    if not args.shipped:
        found = compare_volumes(seeds)
        print(f"{args.catalogues} with two volumes, too: " + _counted(found))
        found = compare_volumes(seeds, is_os=True)
        print(f"{args.catalogues} with an OS disk, too: " + _counted(found))


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{found[name]} {name}" for name in sorted(found))


if __name__ == "__main__":
    main()
