"""Random small catalogues, and the slow way to the cheapest design: every VM with every disk, one by one.

Nothing of the search is used here: limits, credits and prices are written out again, in fractions.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from azbenchlib.advisor.demands.demand import Demand, Peak
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import VmChoice
from azbenchlib.advisor.offers.vm_sizes import VmSize, VmSizes
from azbenchlib.azure.catalog.rows import Offer, ProvisionedRules, TierRow
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.model import VM, Cap

HOURS = 730
UNIT = 256 * KIB
PACKS = {"10K": 10_000, "10K/Month": 10_000, "1M": 1_000_000}  # operations that a price is for
SMALL = 100  # values of a provisioned figure, up to which all are tried
PRODUCTS = {"Premium": "Premium SSD", "StandardSSD": "Standard SSD", "Standard": "Standard HDD"}
KINDS = {"Premium": "premium", "StandardSSD": "standard_ssd", "Standard": "standard_hdd"}
LETTERS = {"Premium": "P", "StandardSSD": "E", "Standard": "S"}
ORDER = ("any", "ssd", "premium", "submillisecond", "local")
REACH = {"Standard": 0, "StandardSSD": 1, "Premium": 2}  # of ORDER
HDD_CAPS = {"S4": 450_000, "S6": 858_000, "S70": 93_000_000, "S80": 110_000_000}  # transactions an hour
OLDEST = {"D": 5, "E": 5}  # version of a family for servers
RESERVED = "Reservation1Y"


def market(random: Random) -> Market:
    """Ten VM sizes or more, some tiers of each SKU, Premium SSD v2 and Ultra, a few prices missing."""
    sizes = tuple(_vm_size(random, i) for i in range(random.randint(10, 16)))
    tiers = tuple(_tier(random, sku, i) for sku in PRODUCTS for i in range(random.randint(1, 3)))
    rules = (_rules(random, "PremiumV2"), _rules(random, "UltraSSD"))
    prices = {}
    pay = random.choice(["Consumption", "Consumption", "Spot", RESERVED])
    for meter, unit in _meters(sizes, tiers):
        if random.random() < 0.93:
            amount = Decimal(random.randint(1, 60)) / (10 if "Hour" in unit else 1)
            if "Provisioned" in meter.name:
                amount /= 20
            prices[meter] = Price(
                meter=meter,
                name=meter.name,
                region="nowhere",
                currency="EUR",
                unit_price=amount,
                unit=unit,
                as_of="2026-01-01",
                source_id="test",
            )
    running = None if pay == RESERVED else random.choice([None, Decimal(100)])
    return Market(
        region="nowhere", as_of="2026-11-20", vm_sizes=VmSizes(sizes), tiers=tiers, rules=rules,
        prices=prices, pay=pay, vm_hours=running, disk_pay=random.choice(["Consumption"] * 2 + [RESERVED]),
        os=random.choice(["linux", "linux", "windows", "windows-hybrid"]),
    )  # fmt: skip


def _vm_size(random: Random, i: int) -> VmSize:
    def cap(writes: bool = False) -> Cap:
        base = (
            random.choice([None, *range(40, 300, 7), 4_000, 20_000]),
            random.choice(range(20, 150)) * MB,
        )
        burst: tuple[Any, ...] = ()
        if random.random() < 0.5 and base[0]:
            burst = (base[0] + random.randint(1, 200), base[1] + random.randint(1, 50) * MB)
        own = random.choice([None, random.randint(5, 60), math.inf]) if writes else None
        return Cap.of(*base, *(burst or (None, None)), own, own and own * MB)

    letter, vcpus, features = (
        random.choice(some) for some in (["D", "E", "E", "B", "NC"], "248", ("s", "ps"))
    )
    gone = random.random() < 0.1
    zones = random.choice([None, (), ("1",), ("1", "2"), ("1", "2")])
    return VmSize(
        retires_on=random.choice([None, None, None, "2028-11-15"]),
        gone="is restricted there" if gone else "",
        offer=None if zones is None else Offer(zones=zones),
        ultra=random.choice([None, True, False]),
        vm=VM(
            size=f"Standard_{letter}{vcpus}{i}{features}_v{random.randint(3, 7)}",
            uncached=cap(writes=random.random() < 0.3),
            uncached_v2=random.choice([Cap(), cap()]),
            cached=random.choice([Cap(), cap(writes=True)]),
            temp=random.choice([Cap(), cap(writes=True)]),
            nvme=cap(writes=True),
            nvme_count=random.choice([None, 1, 2]),
            max_data_disks=random.choice([None, 1, 2, 3, 4, 4]),
        ),
        vcpus=random.choice([None, 2, 4, 8]),
        memory_bytes=random.choice([None, 8 * GIB, 16 * GIB]),
        premium_io=random.random() < 0.8,
        caching=random.random() < 0.6,
        temp_bytes=random.choice([None, random.randint(1, 12) * GIB]),
        nvme_bytes=random.choice([None, random.randint(1, 12) * GIB]),
    )


def _tier(random: Random, sku: str, i: int) -> TierRow:
    size = random.choice([4 * GIB, 9 * GIB, 600 * GIB, 4 * TIB, 8 * TIB])
    iops, rate = random.randint(20, 150), random.randint(5, 40) * MB
    burst = (iops + random.randint(1, 90), rate + random.randint(1, 20) * MB, 1800)
    paid = sku == "Premium" and size > 512 * GIB
    name = f"{LETTERS[sku]}{(4, 10, 30)[i]}"
    credits = burst if random.random() < 0.5 and not paid else (None, None, None)
    on_demand = (iops + 60, rate + 20 * MB) if paid else (None, None)
    return TierRow(
        name=name, sku=sku, size_bytes=size, iops=iops, bytes_per_s=rate,
        burst_iops=credits[0], burst_bytes_per_s=credits[1], burst_s=credits[2],
        on_demand_burst_iops=on_demand[0], on_demand_burst_bytes_per_s=on_demand[1],
        plus_iops=None, plus_bytes_per_s=None, valid_from=None, valid_to=None, source_id="test",
    )  # fmt: skip


def _rules(random: Random, sku: str) -> ProvisionedRules:
    free = sku == "PremiumV2"
    return ProvisionedRules(
        sku=sku, min_size_bytes=random.randint(1, 3) * GIB, max_size_bytes=random.randint(4, 6) * GIB,
        size_step_bytes=GIB, min_iops=3_000 if free else random.randint(1, 3),
        max_iops=3_000 + random.randint(1, 12) if free else random.randint(10, 40),
        min_iops_per_gib=None if free else random.choice([None, 1]),
        max_iops_per_gib=random.choice([1_000, 1_001]) if free else random.randint(3, 9),
        min_bytes_per_s=125 * MB if free else MB,
        max_bytes_per_s=(125 if free else 1) * MB + random.randint(1, 12) * MB,
        min_bytes_per_s_per_iops=None, max_bytes_per_s_per_iops=50_000 if free else MB,
        baseline_iops=3_000 if free else None, baseline_bytes_per_s=125 * MB if free else None,
        changes_per_24h=None, valid_from=None, valid_to=None, source_id="test",
    )  # fmt: skip


def _meters(sizes: tuple[VmSize, ...], tiers: tuple[TierRow, ...]) -> Iterator[tuple[Meter, str]]:
    for vm_size, system in product(sizes, ("linux", "windows")):
        for price_type in ("Consumption", "Spot", RESERVED if system == "linux" else "Licence"):
            yield Meter.of_vm(vm_size.size, price_type, system), "1 Hour"
    for tier in tiers:
        for redundancy in ("LRS",) if tier.sku == "Standard" else ("LRS", "ZRS"):
            name = f"{PRODUCTS[tier.sku]} Managed Disks"
            yield Meter(name, f"{tier.name} {redundancy} Disk"), "1/Month"
            if tier.name == "P30":
                yield Meter(name, f"{tier.name} {redundancy} Disk", RESERVED), "1 Year"
            if tier.name[1:] == "4" and tier.sku != "Premium":
                yield Meter(name, f"{tier.name} {redundancy} Disk Operations"), "1M"
    for redundancy in ("LRS", "ZRS"):
        yield Meter("Premium SSD Managed Disks", f"{redundancy} Burst Enablement"), "1/Month"
        yield Meter("Premium SSD Managed Disks", f"{redundancy} Burst Transactions"), "1M"
    for product_name, name in (("Azure Premium SSD v2", "Premium"), ("Ultra Disks", "Ultra")):
        for what, unit in (
            ("Capacity", "1 GiB/Month"),
            ("IOPS", "1/Month"),
            ("Throughput (MBps)", "1/Month"),
        ):
            yield Meter(product_name, f"{name} LRS Provisioned {what}"), unit


def demand(random: Random) -> Demand:
    large = random.random() < 0.1  # so much that Premium SSD v2's free rates do not do
    iops = random.choice([None, random.randint(3_000, 12_000) if large else random.randint(1, 120)])
    rate = random.choice([None, random.randint(1, 40) * MB]) if iops else random.randint(1, 50) * MB
    peak = None
    if random.random() < 0.4:
        seconds = random.choice([60, 600, 1800])
        peak = Peak(seconds, seconds * random.choice([1.5, 3, 20]), random.randint(1, 180),
                    random.choice([None, random.randint(1, 60) * MB]))  # fmt: skip
    return Demand(
        size_bytes=random.randint(1, 16) * GIB,
        iops=iops,
        bytes_per_s=rate,
        bs_bytes=random.choice([None, 512, 4 * KIB, 256 * KIB, 300 * KIB] if iops else [None, 300 * KIB]),
        read_share=random.choice([0, 0.25, 0.7, 1]),
        cache_hit=random.choice([0, 0.5, 1]),
        latency=random.choice([*ORDER, *ORDER[:4], *ORDER[:4], "any"]),
        redundancy=random.choice(["LRS", "LRS", "LRS", "LRS", "ZRS"]),
        persistent=random.random() < 0.6,
        headroom=random.choice([1, 1.2]),
        peak=peak,
        vcpus=random.choice([None, None, None, 4]),
        memory_bytes=random.choice([None, None, None, 16 * GIB]),
        vm=random.choice([*"*****", "Standard_D*", "e*", "b*", "nc*"]),
        architecture=random.choice(["any", "any", "any", "x64", "arm64"]),
        choice=VmChoice(
            arm=random.random() < 0.7,
            burstable=random.random() < 0.7,
            any_family=random.random() < 0.7,
            families=random.choice([(), (), (), (), (), ("e",), ("D", "NC")]),
        ),
        most_disks=random.choice([2, 64, 64]),
        zone=random.choice([None, None, None, None, "1", "2"]),
        memory_per_vcpu_bytes=random.choice([*[None] * 9, 2 * GIB, 4 * GIB]),
    )


def _like(vm_size: VmSize, pattern: str) -> bool:
    start = pattern.lower().removeprefix("standard_").removesuffix("*")
    return vm_size.size.lower().startswith(f"standard_{start}")


def _family(vm_size: VmSize) -> str:
    return "NC" if vm_size.size[9] == "N" else vm_size.size[9]


def _chosen(wanted: Demand, there: Market) -> list[str]:
    """Names of the sizes that may be bought: conditions one after the other, as docs/advice.md tells them."""
    left = [one for one in there.vms if not one.gone and _like(one, wanted.vm)]
    choice, named = wanted.choice, wanted.vm != "*"
    if choice.families:
        families = [family.upper() for family in choice.families]
        left = [one for one in left if _family(one) in families]
    rules = [] if choice.arm else [lambda one: "ps_" not in one.size]
    if not choice.families:
        rules += [] if choice.burstable else [lambda one: _family(one) != "B"]
        rules += [] if choice.any_family else [_current]
    for rule in rules:
        met = [one for one in left if rule(one)]
        left = left if named and not met else met
    return [one.size for one in left]


def _current(vm_size: VmSize) -> bool:
    least = 2 if _family(vm_size) == "B" else OLDEST.get(_family(vm_size), 99)
    return int(vm_size.size[-1]) >= least and vm_size.retires_on is None


def _machine(vm_size: VmSize, there: Market) -> Fraction | None:
    """The price of a VM alone, its licence with it."""
    hours = Fraction(there.vm_hours or HOURS)
    windows = there.os == "windows"
    if windows and there.pay == RESERVED:
        kinds = [(RESERVED, "linux"), ("Licence", "windows")]
    else:
        kinds = [(there.pay, "windows" if windows else "linux")]
    prices = [there.prices.get(Meter.of_vm(vm_size.size, kind, system)) for kind, system in kinds]
    if None in prices:
        return None
    return sum((Fraction(price.unit_price) * hours for price in prices), Fraction(0))


WITHIN = Fraction(105, 100)  # of the least price: among these, the fewest disks are recommended
SAME = Fraction(1, 10**9)  # prices are floats: two disks and one of twice the price may differ by less


Designs = dict[tuple[Any, ...], Fraction]  # VM, kind, tier, redundancy, disks, cached, on demand: the price


def cheapest(
    wanted: Demand, there: Market, bursting: bool = True
) -> tuple[Fraction, set[tuple[Any, ...]]] | None:
    """The lowest price and all designs that have it."""
    found = _designs(wanted, there, bursting)
    return _cheapest(found) if found else None


def recommended(wanted: Demand, there: Market) -> tuple[Fraction, set[tuple[Any, ...]]] | None:
    """The same of those with the fewest disks that cost little more than the lowest price."""
    found = _designs(wanted, there)
    if not found:
        return None
    least, keys = _cheapest(found)
    if wanted.strictly_cheapest or all(len(key) == 2 for key in keys):  # local disks come with the VM
        return least, keys
    near = {key: price for key, price in found.items() if price <= least * WITHIN and len(key) > 2}
    fewest = min(key[4] for key in near)
    return _cheapest({key: price for key, price in near.items() if key[4] == fewest})


def _cheapest(found: Designs) -> tuple[Fraction, set[tuple[Any, ...]]]:
    least = min(found.values())
    return least, {key for key, price in found.items() if price <= least + SAME}


def _designs(wanted: Demand, there: Market, bursting: bool = True) -> Designs:
    """All designs that carry the demand, without those that cost much more than the cheapest."""
    found: Designs = {}
    disks = [disk for disk in _disks(wanted, there, bursting) if disk.price is not None]
    disks.sort(key=lambda disk: disk.price)
    names = _chosen(wanted, there)
    least: Fraction | float = math.inf
    for vm_size in there.vms:
        vm = _machine(vm_size, there)
        if vm is None or vm_size.size not in names or not _suits(vm_size, wanted):
            continue
        carried: dict[tuple[str, bool], bool] = {}
        for disk in disks:
            if vm + disk.price > least * WITHIN + SAME:
                break
            if disk.count > min(vm_size.vm.max_data_disks or 0, wanted.most_disks):
                continue
            way = (disk.kind, disk.cached)
            if way not in carried:
                carried[way] = _carries(vm_size, *way, wanted)
            if carried[way]:
                found[vm_size.size, *disk.key] = vm + disk.price
                least = min(least, vm + disk.price)
        for kind in _local(vm_size, wanted):
            found[vm_size.size, kind] = vm
            least = min(least, vm)
    return found


def recommended_volumes(wanted: list[Demand], there: Market) -> tuple[Fraction, set[tuple[Any, ...]]] | None:
    """The same for volumes side by side on one VM: every VM with every disks of each."""
    found: Designs = {}
    counts: dict[tuple[Any, ...], int] = {}
    disks = [[one for one in _disks(each, there, True) if one.price is not None] for each in wanted]
    for vm_size in there.vms:
        vm = _machine(vm_size, there)
        if vm is None or any(
            vm_size.size not in _chosen(each, there) or not _suits(vm_size, each) for each in wanted
        ):
            continue
        able = [
            [(one, shares) for one in some if (shares := _shares(vm_size, one, each)) is not None]
            + list(_ephemeral(vm_size, each))
            for some, each in zip(disks, wanted, strict=True)
        ]
        for several in product(*able):
            count = sum(
                one.count for (one, _), each in zip(several, wanted, strict=True) if not each.is_os_disk
            )
            taken = [sum(parts) for parts in zip(*(shares for _, shares in several), strict=True)]
            if count <= (vm_size.vm.max_data_disks or 0) and max(taken) <= 1 + 1e-9:
                key = (vm_size.size, *(one.key for one, _ in several))
                found[key], counts[key] = vm + sum(one.price for one, _ in several), count
    if not found:
        return None
    near = [key for key, price in found.items() if price <= min(found.values()) * WITHIN]
    fewest = min(counts[key] for key in near)
    return _cheapest({key: found[key] for key in near if counts[key] == fewest})


def _shares(vm_size: VmSize, disk: "_Disk", wanted: Demand) -> list[float] | None:
    """What a volume takes of the VM's uncached and cached IOPS and bytes; None: it cannot be there."""
    if disk.count > wanted.most_disks or not (disk.kind.startswith("standard") or vm_size.premium_io):
        return None
    if disk.kind == "ultra" and vm_size.offer and vm_size.ultra is False:
        return None
    v2 = disk.kind in ("premium_v2", "ultra")
    uncached = vm_size.vm.uncached_v2 if v2 and vm_size.vm.uncached_v2 else vm_size.vm.uncached
    if not disk.cached:
        remote = _share_of(wanted, uncached, 1)
        return None if remote is None else [*remote, 0.0, 0.0]
    local = _share_of(wanted, vm_size.vm.cached, 1) if vm_size.caching else None
    remote = _share_of(wanted, uncached, 1 - wanted.read_share * wanted.cache_hit)
    return None if local is None or remote is None else [*remote, *local]


def _ephemeral(vm_size: VmSize, wanted: Demand) -> Iterator[tuple["_Disk", list[float]]]:
    """The OS disk on the host, with what it takes of the VM's cached limit, which a temp disk may share."""
    if not wanted.is_os_disk or wanted.persistent or wanted.redundancy == "ZRS":
        return
    vm = vm_size.vm
    nvme = vm.nvme.times(Fraction(1, vm.nvme_count or 1))
    for place, room, cap in (
        ("cache", vm.cache_bytes, vm.cached),
        ("temp", vm_size.temp_bytes, vm.temp or vm.cached),
        ("nvme", vm_size.nvme_bytes, nvme),
    ):
        shares = _share_of(wanted, cap, 1)
        if place not in vm_size.ephemeral_placements or (room or 0) < wanted.size_bytes or shares is None:
            continue
        common = place == "cache" or (place == "temp" and vm.temp_shares_cache)
        if max(shares) <= 1 + 1e-9:
            key = ("ephemeral_os", place, "LRS", 1, False, False)
            yield _Disk(key, Fraction(0)), [0.0, 0.0, *(shares if common else (0.0, 0.0))]


def with_ephemeral(random: Random, there: Market) -> Market:
    """The same with VM sizes of which some may have an ephemeral OS disk."""
    sizes = tuple(
        replace(
            one,
            vm=replace(one.vm, cache_bytes=random.choice([None, random.randint(1, 12) * GIB])),
            ephemeral_placements=random.choice([(), ("cache",), ("cache", "temp"), ("temp",), ("nvme",)]),
        )
        for one in there.vms
    )
    return replace(there, vm_sizes=VmSizes(sizes))


def os_disk(random: Random, wanted: Demand) -> Demand:
    """An OS disk beside a volume, of rates or, of Premium SSD, without."""
    iops = random.choice([None, random.randint(1, 60)])
    return replace(
        wanted,
        is_os_disk=True,
        most_disks=1,
        size_bytes=random.choice([1, 4, 9, 600, 4_095]) * GIB,
        iops=iops,
        bytes_per_s=None,
        bs_bytes=None,
        latency=random.choice(["premium", "ssd", "any"]) if iops else "premium",
        redundancy=random.choice(["LRS", "LRS", "ZRS"]),
        persistent=random.random() < 0.4,
    )


def _share_of(wanted: Demand, cap: Cap, share: float) -> list[float] | None:
    writes, found = 1 - wanted.read_share, []
    for name, size in (("iops", False), ("bytes_per_s", True)):
        base, own = getattr(cap, name), getattr(cap, f"write_{name}")
        amounts = [iops * share * (bs if size else 1) for iops, bs in _loads(wanted, "steady")]
        if not max(amounts):
            found.append(0.0)
            continue
        if base is None or (own == math.inf and writes):
            return None
        if own is not None and writes:
            base = share / ((share - writes) / base + writes / own)
        found.append(max(amounts) * wanted.headroom / base)
    return found


class _Disk:
    """Disks that carry the demand, with their price; None: a price is missing."""

    def __init__(self, key: tuple[Any, ...], price: Fraction | None) -> None:
        self.key, self.price = key, price
        self.kind, _, _, self.count, self.cached, _ = key


def _rates(wanted: Demand) -> dict[str, tuple[float, float]]:
    """IOPS and bytes per second: steady, and in the peak."""
    block = wanted.bs_bytes or (4 * KIB if wanted.iops else UNIT)
    iops = wanted.iops or (wanted.bytes_per_s or 0) / block
    steady = (iops, max(wanted.bytes_per_s or 0, iops * block))
    peak = steady
    if wanted.peak:
        most = max(iops, wanted.peak.iops or 0)
        peak = (most, max(steady[1], wanted.peak.bytes_per_s or 0, most * block))
    return {"steady": steady, "peak": peak}


def _loads(wanted: Demand, when: str) -> list[tuple[float, float]]:
    """IOPS and size of an I/O, one after the other."""
    block = wanted.bs_bytes or (4 * KIB if wanted.iops else UNIT)
    iops, size = _rates(wanted)[when]
    more = [(size / UNIT, UNIT)] if size > iops * block * (1 + 1e-9) else []
    return [(iops, block), *more]


def _enough(wanted: Demand, base: Any, burst: Any, amount: Any) -> bool:
    """Whether one limit carries what `amount` makes of a load; bursting on credits that come back."""
    if base is None:
        return False
    steady, peak = (
        max(amount(*load) for load in _loads(wanted, when)) * wanted.headroom for when in ("steady", "peak")
    )
    if peak <= base * (1 + 1e-9):
        return True
    duty = wanted.peak
    if duty is None or burst is None or burst <= base or peak > burst * (1 + 1e-9) or steady > base:
        return False
    spent = (peak - base) * duty.seconds
    full = (burst - base) * 1800
    back = (base - steady) * (duty.period_s - duty.seconds)
    return spent <= full * (1 + 1e-9) and spent <= back * (1 + 1e-9)


def _through(wanted: Demand, cap: Cap, share: float) -> bool:
    """Whether a VM's limit carries the load; `share` of the I/Os pass it: all writes, and the rest reads."""
    writes = 1 - wanted.read_share
    for name, size in (("iops", False), ("bytes_per_s", True)):
        base, own = getattr(cap, name), getattr(cap, f"write_{name}")
        burst = getattr(cap, f"burst_{name}")
        if base is None or (own == math.inf and writes):
            return False
        if own is not None and writes:
            mixed = [share / ((share - writes) / one + writes / own) for one in (base, max(base, burst or 0))]
            base, burst = mixed
        if not _enough(wanted, base, burst, lambda n, bs, size=size: n * share * (bs if size else 1)):
            return False
    return True


def _carries(vm_size: VmSize, kind: str, cached: bool, wanted: Demand) -> bool:
    """Whether a VM carries the load to so few disks of a kind as it takes."""
    if kind == "ultra" and vm_size.offer and vm_size.ultra is False:
        return False
    if not kind.startswith("standard") and not vm_size.premium_io:
        return False
    v2 = kind in ("premium_v2", "ultra")
    uncached = vm_size.vm.uncached_v2 if v2 and vm_size.vm.uncached_v2 else vm_size.vm.uncached
    if not cached:
        return _through(wanted, uncached, 1)
    if not vm_size.caching or not _through(wanted, vm_size.vm.cached, 1):
        return False
    return _through(wanted, uncached, 1 - wanted.read_share * wanted.cache_hit)


def _local(vm_size: VmSize, wanted: Demand) -> Iterator[str]:
    if wanted.persistent or wanted.redundancy == "ZRS":
        return
    room = (vm_size.nvme_bytes or 0) * (vm_size.vm.nvme_count or 1)
    if room >= wanted.size_bytes and _through(wanted, vm_size.vm.nvme, 1):
        yield "nvme"
    temp = vm_size.vm.temp or vm_size.vm.cached
    if (vm_size.temp_bytes or 0) >= wanted.size_bytes and _through(wanted, temp, 1):
        yield "temp"


def _suits(vm_size: VmSize, wanted: Demand) -> bool:
    name = vm_size.size.lower()
    if wanted.zone and vm_size.offer and wanted.zone not in vm_size.offer.zones:
        return False
    if wanted.architecture != "any" and ("ps_" in name) != (wanted.architecture == "arm64"):
        return False
    vcpus, memory = vm_size.vcpus or 0, vm_size.memory_bytes or 0
    if wanted.memory_per_vcpu_bytes and (not vcpus or memory / vcpus < wanted.memory_per_vcpu_bytes):
        return False
    return vcpus >= (wanted.vcpus or 0) and memory >= (wanted.memory_bytes or 0)


def _disks(wanted: Demand, there: Market, bursting: bool) -> Iterator[_Disk]:
    counts = (
        [1]
        if wanted.is_os_disk
        else range(1, max((vm_size.vm.max_data_disks or 0 for vm_size in there.vms), default=0) + 1)
    )
    reach = ORDER.index(wanted.latency)
    for row, count, cached in product(there.tiers, counts, (False, True)):
        if reach <= REACH[row.sku]:
            for redundancy in ("LRS", "ZRS"):
                if wanted.redundancy == "ZRS" and (redundancy == "LRS" or row.sku == "Standard"):
                    continue
                yield from _of_tier(wanted, there, row, count, cached, redundancy, bursting)
    if reach <= 3 and wanted.redundancy == "LRS" and not wanted.is_os_disk:
        for rules, count in product(there.rules, counts):
            yield from _of_rules(wanted, there, rules, count)


def _of_tier(
    wanted: Demand, there: Market, row: TierRow, n: int, cached: bool, redundancy: str, bursting: bool
) -> Iterator[_Disk]:
    size = row.size_bytes
    if (cached or wanted.is_os_disk) and size >= 4 * TIB:
        size = 4095 * GIB if size == 4 * TIB else 0
    if size * n < wanted.size_bytes:
        return
    share = 1 - wanted.read_share * wanted.cache_hit if cached else 1
    units = UNIT if row.sku != "Standard" else math.inf

    def ios(iops: float, bs: float) -> float:
        return iops * share * max(1, math.ceil(bs / units)) / n

    def size_rate(iops: float, bs: float) -> float:
        return iops * share * bs / n

    key = (KINDS[row.sku], row.name, redundancy, n, cached)
    meters = f"{PRODUCTS[row.sku]} Managed Disks"
    each = _price(there, meters, f"{row.name} {redundancy} Disk")
    if there.disk_pay == RESERVED and row.name == "P30":  # of a year, for a twelfth of its hours
        paid = there.prices.get(Meter(meters, f"P30 {redundancy} Disk", RESERVED))
        each = None if paid is None else Fraction(paid.unit_price) * HOURS / 8760
    if _enough(wanted, row.iops, row.burst_iops, ios) and _enough(
        wanted, row.bytes_per_s, row.burst_bytes_per_s, size_rate
    ):
        yield _Disk((*key, False), _sum(n, each, _transactions(wanted, there, row, redundancy, share / n)))
    paid = row.on_demand_burst_iops and size > 512 * GIB and bursting
    if paid and all(
        max(amount(*load) for load in _loads(wanted, "peak")) * wanted.headroom <= limit * (1 + 1e-9)
        for amount, limit in ((ios, row.on_demand_burst_iops), (size_rate, row.on_demand_burst_bytes_per_s))
    ):
        duty = wanted.peak.seconds / wanted.peak.period_s if wanted.peak else 0
        above = 0.0
        for when, part in (("steady", 1 - duty), ("peak", duty)):
            loads = _loads(wanted, when)
            over = max(ios(*load) for load in loads) - row.iops
            more = (max(size_rate(*load) for load in loads) - row.bytes_per_s) / MB * 4
            above += float(there.vm_hours or HOURS) * 3600 * part * max(over, more, 0)
        packs = math.ceil(math.ceil(round(above, 6)) / 10_000)
        fee = _price(there, meters, f"{redundancy} Burst Enablement")
        burst = _price(there, meters, f"{redundancy} Burst Transactions", packs * 10_000)
        yield _Disk((*key, True), _sum(n, each, fee, burst if packs else Fraction(0)))


def _transactions(
    wanted: Demand, there: Market, row: TierRow, redundancy: str, share: float
) -> Fraction | None:
    """Of one Standard disk in the period, the load being there all the time."""
    if row.sku == "Premium":
        return Fraction(0)
    duty = wanted.peak.seconds / wanted.peak.period_s if wanted.peak else 0
    steady, peak = _rates(wanted)["steady"], _rates(wanted)["peak"]
    iops, size = (a + (b - a) * duty for a, b in zip(steady, peak, strict=True))
    block = wanted.bs_bytes or (4 * KIB if wanted.iops else UNIT)
    ways = [(iops, block), *([(size / UNIT, UNIT)] if size > iops * block else [])]
    most = Fraction(0)
    for ios, bs in ways:
        an_hour = Fraction(str(ios * share)) * 3600
        if row.sku == "StandardSSD":
            an_hour *= math.ceil(bs / UNIT)
        elif row.name in HDD_CAPS and there.region not in ("eastus", "northeurope"):
            units = math.ceil(bs / (16 * KIB))
            units = min(units, 16) if row.name in ("S70", "S80") else units
            an_hour = min(an_hour * units, HDD_CAPS[row.name])
        most = max(most, an_hour * Fraction(there.vm_hours or HOURS))
    name = f"{LETTERS[row.sku]}4 {redundancy} Disk Operations"
    return _price(there, f"{PRODUCTS[row.sku]} Managed Disks", name, most)


def _of_rules(wanted: Demand, there: Market, rules: ProvisionedRules, n: int) -> Iterator[_Disk]:
    """Every size, IOPS and MB/s that the rules allow, the free ones and a few above."""
    ultra = rules.sku == "UltraSSD"
    unit = UNIT if ultra else math.inf
    peak = _loads(wanted, "peak")
    iops = max(i * max(1, math.ceil(bs / unit)) for i, bs in peak) * wanted.headroom / n
    rate = max(i * bs for i, bs in peak) * wanted.headroom / n
    product_name, name = ("Ultra Disks", "Ultra") if ultra else ("Azure Premium SSD v2", "Premium")
    free_iops, free_rate = (0, 0) if ultra else (3_000, 125)
    prices = [
        _price(there, product_name, f"{name} LRS Provisioned {what}")
        for what in ("Capacity", "IOPS", "Throughput (MBps)")
    ]
    found = []
    for gib in _sizes(rules, wanted, n, iops, rate):
        for i in _iops(rules, gib, iops, rate):
            if i < iops * (1 - 1e-9) or i < (rules.min_iops_per_gib or 0) * gib:
                continue
            if i > free_iops and i > rules.max_iops_per_gib * gib:
                continue
            for m in _throughputs(rules, rate):
                if m * MB < rate * (1 - 1e-9) or m * MB > i * rules.max_bytes_per_s_per_iops:
                    continue
                wants = (gib, i - free_iops, m - free_rate)
                parts = [
                    None if price is None else price * many
                    for price, many in zip(prices, wants, strict=True)
                    if many
                ]
                found.append(_sum(n, *parts))
    if found:
        known = [price for price in found if price is not None]
        key = ("ultra" if ultra else "premium_v2", None, "LRS", n, False, False)
        yield _Disk(key, min(known, default=None))


def _sizes(rules: ProvisionedRules, wanted: Demand, n: int, iops: float, rate: float) -> range:
    """Sizes in GiB that hold the data: all, or of large disks those up to one that may have the rates."""
    least = max(rules.min_size_bytes // GIB, math.ceil(wanted.size_bytes / GIB / n))
    most = rules.max_size_bytes // GIB
    if most <= SMALL:
        return range(least, most + 1)
    able = math.ceil(_iops(rules, 0, iops, rate).start / rules.max_iops_per_gib)
    return range(least, min(most, max(least, able) + 2) + 1)


def _iops(rules: ProvisionedRules, gib: int, iops: float, rate: float) -> range:
    """IOPS that do: all, or of disks that may have many the least, and some above."""
    if rules.max_iops - rules.min_iops <= SMALL:
        return range(rules.min_iops, rules.max_iops + 1)
    bytes_per_s = max(rate * (1 - 1e-9), rules.min_bytes_per_s)
    by_rate = math.ceil(math.ceil(bytes_per_s / MB) * MB / rules.max_bytes_per_s_per_iops)
    by_size = math.ceil((rules.min_iops_per_gib or 0) * gib)
    least = max(rules.min_iops, math.ceil(iops * (1 - 1e-9)), by_rate, by_size)
    return range(least, min(rules.max_iops, least + 2) + 1)


def _throughputs(rules: ProvisionedRules, rate: float) -> range:
    """MB/s that do: all, or of disks that may have many the least, and some above."""
    least, most = rules.min_bytes_per_s // MB, rules.max_bytes_per_s // MB
    if most - least <= SMALL:
        return range(least, most + 1)
    least = max(least, math.ceil(rate * (1 - 1e-9) / MB))
    return range(least, min(most, least + 2) + 1)


def _sum(n: int, *parts: Fraction | None) -> Fraction | None:
    return None if None in parts else n * sum(part for part in parts if part is not None)


def _price(there: Market, product_name: str, name: str, many: Any = 1) -> Fraction | None:
    if not many:
        return Fraction(0)
    found = there.prices.get(Meter(product_name, name))
    if found is None:
        return None
    hours = HOURS if found.unit.endswith("/Hour") else 1
    return Fraction(found.unit_price) * Fraction(many) * hours / PACKS.get(found.unit, 1)
