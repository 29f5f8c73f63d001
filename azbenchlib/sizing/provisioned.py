"""Premium SSD v2 and Ultra: the cheapest IOPS and MB/s with which a VM does, exactly.

Both are whole numbers, and more of either never throttles a load longer, so the least IOPS fall as the MB/s
rise. The search goes along this border from the least MB/s that can do up to where the MB/s alone cost as
much as the best that was found.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial

from azbenchlib.advisor.offers.disk_options import DiskOption, priced, provision, provisioned_disk
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure.catalog.rows import ProvisionedRules
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.units import MB
from azbenchlib.sizing.requirement import SizeRequirement

Enough = Callable[[DiskOption], bool]


class Provisioned:
    """Disks of one kind whose figures are chosen.

    Parameters
    ----------
    kind : DiskKind
    requirement : SizeRequirement
    market : Market
    """

    def __init__(self, kind: DiskKind, requirement: SizeRequirement, market: Market) -> None:
        self.kind, self.requirement, self.market = kind, requirement, market
        self.rules = next((rules for rules in market.rules if rules.sku == kind.sku), None)
        self._options: dict[tuple[int, int, int], DiskOption | None] = {}

    def of(self, count: int, iops: int, mbps: int) -> DiskOption | None:
        """So many disks with at least this much each; None: they cannot have it, or have no price."""
        key = (count, iops, mbps)
        if key not in self._options:
            self._options[key] = self._made(count, iops, mbps)
        return self._options[key]

    def _made(self, count: int, iops: int, mbps: int) -> DiskOption | None:
        if self.rules is None:
            return None
        demand = self.requirement.demand
        least = provision(self.rules, demand.size_bytes / count, iops, mbps * MB)
        if least is None:
            return None
        disk = provisioned_disk(self.kind, f"{self.rules.sku}_LRS", count, *least)
        option = priced(self.kind, disk, demand, self.market)
        return None if option.bill.missing else option

    def cheapest(self, count: int, enough: Enough, below: Decimal | None) -> DiskOption | None:
        """So many disks that do at the least price; None: there are none below a price.

        Parameters
        ----------
        count : int
        enough : callable
            Whether disks do; more of anything never does worse.
        below : Decimal, optional
            What costs as much is not wanted. None: any price.
        """
        if self.rules is None:
            return None
        most_iops, most_mbps = _most(self.rules)

        def does(iops: int, mbps: int) -> bool:
            option = self.of(count, iops, mbps)
            return option is None or enough(option)  # what cannot be had is no reason to want more

        least_mbps = _least(lambda mbps: does(most_iops, mbps), 1, most_mbps)
        least_iops = _least(lambda iops: does(iops, most_mbps), 1, most_iops)
        if least_mbps is None or least_iops is None:
            return None
        best, highest, is_border = None, most_iops, False
        for mbps in range(least_mbps, most_mbps + 1):
            floor = self.of(count, least_iops, mbps)
            if floor is None or (below is not None and floor.price >= below):
                break
            if is_border and not does(highest - 1, mbps):
                continue
            found = _least(partial(does, mbps=mbps), least_iops, highest)
            if found is None:
                continue
            highest, is_border = found, True
            option = self.of(count, found, mbps)
            if option is not None and enough(option) and (below is None or option.price < below):
                best, below = option, option.price
            if found == least_iops:
                break
        return best


def _most(rules: ProvisionedRules) -> tuple[int, int]:
    return int(rules.max_iops or 0), int((rules.max_bytes_per_s or 0) // MB)


def _least(does: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least whole number that does, where all above do too; None: not even the highest."""
    if high < low or not does(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if does(middle):
            high = middle
        else:
            low = middle + 1
    return low
