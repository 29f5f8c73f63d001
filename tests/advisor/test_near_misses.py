"""The cheaper configurations that are named beside an answer: the same as if each were looked at."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest

from azbenchlib.advisor.advise import recommended
from azbenchlib.advisor.configuration import Configuration
from azbenchlib.advisor.demands.demand import Demand, Peak
from azbenchlib.advisor.offers.disk_options import (
    FULL,
    DiskOption,
    priced,
    redundancies,
    tier_disk,
    tier_lacks,
)
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.search import Candidate, Group
from azbenchlib.advisor.verify import limits
from azbenchlib.core.units import GIB, KIB, MB

DAY = "2026-11-20"
OF_A_GROUP, SHOWN, FAR = 8, 4, 2.0


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@cache
def europe() -> Market:
    return market("westeurope", as_of=DAY)


def some_demand(random: Random) -> Demand:
    """Half of them with a peak, for whose credits the search and the check count apart."""
    return Demand(
        size_bytes=random.randint(32, 16_000) * GIB,
        iops=random.randint(100, 60_000),
        bytes_per_s=random.choice([None, random.randint(10, 1_500) * MB]),
        bs_bytes=random.choice([4, 8, 64]) * KIB,
        read_share=random.choice([0.5, 0.7, 1.0]),
        latency=random.choice(["any", "premium", "submillisecond"]),
        redundancy=random.choice(["LRS", "LRS", "ZRS"]),
        cache_hit=random.choice([0.0, 0.8]),
        peak=random.choice([None, Peak(600, 3_600, random.randint(5_000, 60_000))]),
        vm=random.choice(["*", "Standard_E*", "Standard_D*_v5"]),
        most_disks=random.choice([8, 64]),
    )


def too_few(group: Group, demand: Demand) -> Iterator[tuple[DiskOption, float]]:
    """What would do, and one disk fewer of every tier, with how many times as much would be enough."""
    yield from ((option, 1.0) for option in group.steps)
    if not group.kind.provisioned:
        for row, lack in zip(*tier_lacks(group.kind, group.cached, demand, group.market), strict=True):
            few = min(int((lack > FULL).sum()), demand.most_disks)
            if few and np.isfinite(lack[few - 1]):
                disk = tier_disk(row, few, group.cached, redundancies(group.kind, demand)[0])
                yield priced(group.kind, disk, demand, group.market), float(lack[few - 1])


def looked_at(group: Group, best: Configuration) -> list[Candidate]:
    """Of one kind of disk the cheaper configurations that lack least, by the arithmetic of the search."""
    found = []
    for option, lack in too_few(group, best.demand):
        prices = float(option.price) + group.market.vm_prices
        worst = np.maximum(
            np.maximum(lack, option.disk.count / np.maximum(group.slots, 1e-9)), group.utilisation
        )
        cheaper = group.suits & (prices < float(best.candidate.price)) & (not option.bill.missing)
        for vm_index in np.flatnonzero(cheaper & (worst > FULL) & np.isfinite(worst)):
            found.append((float(worst[vm_index]), Candidate(group.market, int(vm_index), option)))
    return [candidate for _, candidate in sorted(found, key=lambda one: one[0])[:OF_A_GROUP]]


def with_a_cache(best: Configuration) -> list[Candidate]:
    """What is named of the same configuration with a host cache, which another test looks at."""
    return [
        miss.candidate
        for miss in best.why_not_cheaper
        if miss.same_price and miss.candidate.vm_index == best.candidate.vm_index
    ]


def one_by_one(best: Configuration) -> list[tuple[str, str, float]]:
    """What is to be named: VM, disks and shortfall."""
    groups = [group for group in best.found.groups if not group.kind.local]
    asked = [*with_a_cache(best), *(one for group in groups for one in looked_at(group, best))]
    misses = [(limits(one.setup, best.demand)[0], one) for one in asked]
    nearest: dict[tuple[str, str], tuple[str, str, float]] = {}
    for worst, one in sorted(misses, key=lambda miss: (miss[0].shortfall, miss[1].order)):
        if not worst.fits:
            told = one.vm_size.size, one.option.disk.name, worst.shortfall
            nearest.setdefault((one.option.kind.key, worst.label), told)
    near = [told for told in nearest.values() if told[2] <= FAR]
    return near[:SHOWN] or list(nearest.values())[:1]


def test_those_are_named_that_lack_least_of_all() -> None:
    random = Random(11)  # noqa: S311
    compared = 0
    for _ in range(60):
        best = recommended(some_demand(random), europe())
        if best is not None:
            told = [
                (miss.candidate.vm_size.size, miss.candidate.option.disk.name, miss.worst.shortfall)
                for miss in best.why_not_cheaper
            ]
            assert told == one_by_one(best), best.demand
            compared += len(told)
    assert compared > 60
