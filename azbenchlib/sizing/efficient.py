"""Of VM sizes and disks those that nothing undercuts: no other costs no more and has no smaller limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import Floats, VmSize
from azbenchlib.model.io_path import QUANTITIES
from azbenchlib.model.setup import Cap

_PATHS = ("uncached", "uncached_v2", "cached")
_NONE = -1.0  # a limit that is not documented is no use and stands for none


def efficient_vms(market: Market, suiting: Sequence[int]) -> list[int]:
    """The places of VM sizes that nothing undercuts, the cheapest first, of equal prices the larger.

    Parameters
    ----------
    market : Market
    suiting : sequence of int
        Places of those that may be taken; those without a price are left out.
    """
    priced = [i for i in suiting if not math.isnan(market.vm_prices[i])]
    ordered = sorted(priced, key=lambda i: (vm_price(market, i), market.vms[i].larger_first))
    merits = np.array([_merits(market.vms[i]) for i in ordered])
    return [ordered[i] for i in _not_undercut(merits)]


def vm_price(market: Market, vm_index: int) -> Decimal:
    """What a VM costs alone."""
    return market.vm_bill(vm_index).total or Decimal(0)


def efficient_options(options: Sequence[DiskOption]) -> list[DiskOption]:
    """The disks that nothing undercuts, the cheapest first; cached and uncached ones apart."""
    found = []
    for caching in ("None", "ReadOnly"):
        some = [option for option in options if option.disk.caching == caching]
        for separate in (False, True):
            alike = [option for option in some if option.kind.separate_vm_limits is separate]
            ordered = sorted(alike, key=lambda one: (one.price, one.disk.count, one.disk.name))
            merits = np.array([_merits_of_disk(option) for option in ordered])
            found += [ordered[i] for i in _not_undercut(merits)]
    return sorted(found, key=lambda one: (one.price, one.disk.count, one.disk.name))


def _not_undercut(merits: Floats) -> list[int]:
    """The rows, ordered by price, of which no one before is as good in everything."""
    kept: list[int] = []
    for i in range(len(merits)):
        if not kept or not (merits[kept] >= merits[i]).all(axis=1).any():
            kept.append(i)
    return kept


def documented(cap: Cap) -> bool:
    """Whether both limits are documented, those of writes too."""
    writes = (cap.limit(quantity, write=True) for quantity in QUANTITIES)
    return None not in (cap.iops, cap.bytes_per_s) and all(w is not None and w < math.inf for w in writes)


def _merits(vm_size: VmSize) -> list[float]:
    vm = vm_size.vm
    found = [float(vm.max_data_disks or 0), float(vm_size.premium_io), float(vm_size.caching)]
    for path in _PATHS:
        cap: Cap = getattr(vm, path)
        if path == "uncached_v2":
            cap = cap or vm.uncached
        found += _of_cap(cap) if documented(cap) else [_NONE] * 6
    return found


def _merits_of_disk(option: DiskOption) -> list[float]:
    disk = option.disk
    unit = disk.io_unit_bytes or math.inf
    needs_premium_io = option.kind.needs_premium_io
    return [-float(disk.count), unit, float(not needs_premium_io), *_of_cap(disk.cap.times(disk.count))]


def _of_cap(cap: Cap) -> list[float]:
    limits = [
        cap.limit(quantity, bursting, write)
        for quantity in QUANTITIES
        for bursting, write in ((False, False), (True, False), (False, True))
    ]
    return [_NONE if limit is None else float(limit) for limit in limits]
