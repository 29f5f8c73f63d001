"""The slow way to the cheapest design: every VM with every disk in the order of prices, each replayed.

No part of the search is used here: no bound, no design left out; the replay is, which has its own reference.
"""

from collections.abc import Iterator
from fractions import Fraction

from azbenchlib.advisor.offers.disk_options import priced, redundancies, tier_disk, tier_size
from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure import disk_kinds
from azbenchlib.azure.catalog.rows import ProvisionedRules
from azbenchlib.azure.prices.rows import Meter
from azbenchlib.core.units import GIB, MB
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.model.passed_limits import passed_limits
from azbenchlib.model.replay import replay_for_good
from azbenchlib.sizing.requirement import SizeRequirement

Priced = tuple[Fraction, str, Disk]


def cheapest_price(requirement: SizeRequirement, there: Market) -> Fraction | None:
    """What the cheapest design costs that throttles no longer than it may; None: none does."""
    demand = requirement.demand
    suits = there.vm_sizes.suits(demand)
    bills = [there.vm_bill(i) for i in range(len(there.vms))]
    vms = [
        (Fraction(bill.total), vm_size)
        for vm_size, bill, fits in zip(there.vms, bills, suits, strict=True)
        if fits and not bill.missing
    ]
    disks = list(_disks(requirement, there))
    pairs = [
        (vm_price + price, vm_size, kind, disk)
        for vm_price, vm_size in vms
        for price, kind, disk in disks
        if disk.count <= (vm_size.vm.max_data_disks or 0) and _takes(vm_size, kind, disk)
    ]
    known: dict[object, bool] = {}
    for price, vm_size, kind, disk in sorted(pairs, key=lambda pair: pair[0]):
        vm = vm_size.vm
        key = (vm.uncached, vm.uncached_v2, vm.cached, kind, disk.cap, disk.count, disk.caching)
        if key not in known:
            known[key] = _does(requirement, Setup(vm, (disk,)))
        if known[key]:
            return price
    return None


def _does(requirement: SizeRequirement, setup: Setup) -> bool:
    limits = passed_limits(setup, requirement.history, requirement.demand.cache_hit)
    return replay_for_good(limits, requirement.history).seconds <= requirement.throttled_s


def _takes(vm_size, kind: str, disk: Disk) -> bool:
    v2 = kind in ("premium_v2", "ultra")
    if not kind.startswith("standard") and not vm_size.premium_io:
        return False
    paths = [vm_size.vm.uncached_v2 if v2 and vm_size.vm.uncached_v2 else vm_size.vm.uncached]
    if disk.caching != "None":
        if not vm_size.caching:
            return False
        paths.append(vm_size.vm.cached)
    return all(_known(cap) for cap in paths)


def _known(cap: Cap) -> bool:
    own = (cap.write_iops, cap.write_bytes_per_s)
    return None not in (cap.iops, cap.bytes_per_s) and float("inf") not in own


def _disks(requirement: SizeRequirement, there: Market) -> Iterator[Priced]:  # noqa: C901
    demand = requirement.demand
    for row in there.tiers:
        kind = disk_kinds.of_sku(f"{row.sku}_LRS")
        if kind not in demand.kinds:
            continue
        for count in range(1, (requirement.most_disks or 4) + 1):
            for cached in (False, True):
                if tier_size(row, cached) * count >= demand.size_bytes:
                    for redundancy in redundancies(kind, demand):
                        disk = tier_disk(row, count, cached, redundancy)
                        option = priced(kind, disk, demand, there)
                        if not option.bill.missing:
                            yield Fraction(option.price), kind.key, disk
    for rules in there.rules:
        kind = disk_kinds.of_sku(f"{rules.sku}_LRS")
        if kind in demand.kinds:
            for count in range(1, (requirement.most_disks or 4) + 1):
                yield from _of_rules(requirement, there, rules, count)


def _of_rules(
    requirement: SizeRequirement, there: Market, rules: ProvisionedRules, count: int
) -> Iterator[Priced]:
    ultra = rules.sku == "UltraSSD"
    product, name = ("Ultra Disks", "Ultra") if ultra else ("Azure Premium SSD v2", "Premium")
    free_iops, free_rate = (0, 0) if ultra else (3_000, 125)
    prices = [
        there.prices.get(Meter(product, f"{name} LRS Provisioned {what}"))
        for what in ("Capacity", "IOPS", "Throughput (MBps)")
    ]
    for gib in range(rules.min_size_bytes // GIB, rules.max_size_bytes // GIB + 1):
        if gib * GIB * count < requirement.demand.size_bytes:
            continue
        for iops in range(rules.min_iops, rules.max_iops + 1):
            if iops < (rules.min_iops_per_gib or 0) * gib:
                continue
            if iops > free_iops and iops > rules.max_iops_per_gib * gib:
                continue
            for mbps in range(rules.min_bytes_per_s // MB, rules.max_bytes_per_s // MB + 1):
                if mbps * MB > iops * rules.max_bytes_per_s_per_iops:
                    continue
                wants = (gib, max(0, iops - free_iops), max(0, mbps - free_rate))
                if any(price is None and many for price, many in zip(prices, wants, strict=True)):
                    continue
                each = sum(
                    Fraction(price.unit_price) * many
                    for price, many in zip(prices, wants, strict=True)
                    if price is not None
                )
                cap = Cap(iops=iops, bytes_per_s=mbps * MB)
                yield (
                    each * count,
                    "ultra" if ultra else "premium_v2",
                    Disk(name="data", sku=f"{rules.sku}_LRS", cap=cap, count=count, striped=count > 1),
                )
