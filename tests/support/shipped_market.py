"""Parts of the shipped catalogue as small markets: some sixty VM sizes of a region, every kind of disk.

Every family may be bought and no size is preferred, so that the slow way of `small_market` needs to know
nothing of the names of sizes.
"""

from dataclasses import replace
from functools import cache
from random import Random

from azbenchlib.advisor.demands.demand import Demand, Peak
from azbenchlib.advisor.offers import load_market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import VmChoice
from azbenchlib.advisor.offers.vm_sizes import VmSizes
from azbenchlib.core.units import GIB, KIB, MB

SIZES = 60
REGIONS = ("westeurope", "eastus", "germanywestcentral")
AS_OF = "2026-11-20"
LATENCIES = ("any", "ssd", "premium", "submillisecond", "local")


@cache
def _whole(region: str) -> Market:
    return load_market.market(region, as_of=AS_OF)


def market(random: Random) -> Market:
    """Sixty sizes of a region that have a price, drawn at random, with all disks that it sells."""
    whole = _whole(random.choice(REGIONS))
    priced = [one for one in whole.vms if one.size.lower() in whole.priced_sizes]
    return replace(whole, vm_sizes=VmSizes(tuple(random.sample(priced, min(SIZES, len(priced))))))


def demand(random: Random) -> Demand:
    """What servers ask for: from a hundred IOPS to what only the largest sizes carry."""
    iops = random.choice([None, round(10 ** random.uniform(2, 5.2))])
    rate = None if iops and random.random() < 0.5 else round(10 ** random.uniform(1, 3.4)) * MB
    peak = None
    if random.random() < 0.3:
        seconds = random.choice([60, 600, 1800])
        more = random.uniform(1, 4)
        peak = Peak(
            seconds,
            seconds * random.choice([3, 20, 100]),
            round((iops or 1000) * more),
            random.choice([None, round((rate or 100 * MB) * more)]),
        )
    return Demand(
        size_bytes=round(10 ** random.uniform(0.5, 4.5)) * GIB,
        iops=iops,
        bytes_per_s=rate,
        bs_bytes=random.choice([None, 4 * KIB, 8 * KIB, 64 * KIB, 300 * KIB] if iops else [None, 300 * KIB]),
        read_share=random.choice([0, 0.25, 0.7, 1]),
        cache_hit=random.choice([0, 0.5, 1]),
        latency=random.choice([*LATENCIES, *LATENCIES[:4]]),
        redundancy=random.choice(["LRS", "LRS", "LRS", "ZRS"]),
        persistent=random.random() < 0.6,
        headroom=random.choice([1, 1.2]),
        peak=peak,
        vcpus=random.choice([None, None, 4, 16]),
        memory_bytes=random.choice([None, None, 16 * GIB, 128 * GIB]),
        vm="*",
        choice=VmChoice(arm=True, burstable=True, any_family=True),
        most_disks=random.choice([2, 64, 64]),
        zone=random.choice([None, None, None, "1", "3"]),
        memory_per_vcpu_bytes=random.choice([None, None, None, 4 * GIB]),
    )
