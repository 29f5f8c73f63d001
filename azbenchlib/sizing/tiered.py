"""Disks of tiers as one volume: every tier with every number of disks."""

from __future__ import annotations

from collections.abc import Iterator

from azbenchlib.advisor.offers.disk_options import (
    DiskOption,
    priced,
    redundancies,
    tier_disk,
    tier_size,
)
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.sizing.requirement import SizeRequirement


def tiered(kind: DiskKind, requirement: SizeRequirement, market: Market, most: int) -> Iterator[DiskOption]:
    """Every number of disks of every tier of a kind that has room for the data, and whose price is known.

    Cached only where reads are served by a cache: without, caching is one limit more and costs the same.
    Performance tiers need no place of their own, as in :mod:`azbenchlib.advisor.offers.disk_options`.

    Parameters
    ----------
    kind : DiskKind
    requirement : SizeRequirement
    market : Market
    most : int
        Number of disks.
    """
    demand = requirement.demand
    for row in market.tiers_of(kind.sku):
        if row.iops is None or row.bytes_per_s is None:
            continue
        for cached in (False, True) if kind.cacheable and demand.cache_hit else (False,):
            size = tier_size(row, cached)
            for count in range(1, most + 1):
                if size * count < demand.size_bytes:
                    continue
                for redundancy in redundancies(kind, demand):
                    option = priced(kind, tier_disk(row, count, cached, redundancy), demand, market)
                    if not option.bill.missing:
                        yield option
