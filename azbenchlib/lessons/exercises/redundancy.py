"""Lesson 8: what redundancy over zones costs, in time and in money."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from random import Random

from azbenchlib.azure.catalog import latency
from azbenchlib.azure.prices.book import PriceBook, book
from azbenchlib.azure.prices.rows import MONTH_HOURS
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.units import US_PER_MS
from azbenchlib.cost.bill import BillLine, bill
from azbenchlib.cost.usage import charges
from azbenchlib.lessons.answers import IN_DOLLARS, IN_IOPS
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.lessons.exercises.nested import CATALOGUE_DAY
from azbenchlib.lessons.exercises.queue import iops_at
from azbenchlib.model import VM, Setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks

_LIMITS = {"P30": 5_000, "P40": 7_500, "P50": 7_500}
_PRICED = ("P10", "P15", "P20", "P30", "P40", "P50")
_LRS, _ZRS, _MEDIAN = "premium-large", "premium-zrs", 50.0


@cache
def prices() -> PriceBook:
    """Of the region that the lesson calculates in."""
    return book(DEFAULT_REGION)


@cache
def monthly(disk: str, redundancy: str = "LRS") -> tuple[BillLine, ...]:
    """What a disk costs in a month, meter by meter.

    Raises
    ------
    AzbenchError
        When a price is missing.
    """
    disks = parse_disks([disk])
    setup = resolve(Setup(VM(), disks), CATALOGUE_DAY)
    sku = f"{(setup.disks[0].sku or '').partition('_')[0]}_{redundancy}"
    setup = replace(setup, disks=(replace(setup.disks[0], sku=sku),))
    found = bill(charges(setup, DEFAULT_REGION, MONTH_HOURS), prices().prices, MONTH_HOURS)
    if found.total is None:
        raise AzbenchError(f"no price in {DEFAULT_REGION} for {', '.join(map(str, found.missing))}")
    return found.lines


def total(lines: tuple[BillLine, ...]) -> float:
    """The sum of bill lines in their currency."""
    return float(sum((line.amount for line in lines), Decimal(0)))


def writes_over_zones(tier: str, depth: int, lrs: float, zrs: float) -> Exercise:
    """IOPS of few outstanding writes on a ZRS disk, with latencies in ms."""
    limit = _LIMITS[tier]
    right = iops_at(limit, zrs, depth)
    wrong = [
        Misconception(
            "the limit for the rate",
            float(limit),
            "LRS and ZRS have the same limit, and this program does not come near it.",
        ),
        Misconception(
            "ZRS as fast as LRS",
            iops_at(limit, lrs, depth),
            "A ZRS write is complete when it is in three zones, and that takes longer.",
        ),
        Misconception(
            "one write at a time",
            iops_at(limit, zrs, 1),
            "That is the rate of a single write after the other. How many are under way at once?",
        ),
        Misconception(
            "three writes for one",
            iops_at(limit, 3 * zrs, depth),
            "The three copies are written at the same time; the latency that is stated holds for all three.",
        ),
        Misconception(
            "both latencies added",
            iops_at(limit, lrs + zrs, depth),
            "The latency of ZRS is that of the whole write; none of LRS comes on top.",
        ),
        Misconception(
            "the limit shared by the copies",
            limit / 3,
            "The limit counts a write once, however many copies are kept; and this program does not come "
            "near it.",
        ),
    ]
    return Exercise(
        question=f"A database log keeps {depth} write{'s' if depth > 1 else ''} outstanding on a {tier} "
        f"({limit:,} IOPS). A write takes {lrs:g} ms with LRS and {zrs:g} ms with ZRS. How many IOPS does "
        "it get with ZRS?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Little's law, with the latency of the redundancy in the question.",
        law="Little's law: rate = outstanding ÷ latency in seconds, and never more than the limit",
        working=f"the lower one of {limit:,} and {depth} ÷ ({zrs:g} ÷ 1,000)",
    )


def price_of_zones(*disks: tuple[str, int]) -> Exercise:
    """What ZRS disks cost in a month: tiers, and how many of each."""
    prices = [(count, total(monthly(tier)), total(monthly(tier, "ZRS"))) for tier, count in disks]
    lrs, zrs = (sum(row[0] * row[i] for row in prices) for i in (1, 2))
    times = zrs / lrs
    wrong = [
        Misconception("the price of LRS", lrs, "Three copies in three zones are more expensive than in one."),
        Misconception(
            "one of each", sum(row[2] for row in prices), "Every disk of the stripe is on the bill."
        ),
        Misconception(
            "three times the price",
            3 * lrs,
            "LRS keeps three copies too; ZRS puts them in different zones, and has a price of its own.",
        ),
        Misconception("LRS and ZRS added", lrs + zrs, "A disk is of one redundancy, and has one price."),
    ]
    each = " and ".join(
        f"a {tier} costs {row[1]:.2f} USD" for (tier, _), row in zip(disks, prices, strict=True)
    )
    all_of = " and ".join(f"{count} {tier}" for tier, count in disks)
    parts = " + ".join(f"{count} × {one:.2f}" for count, one, _ in prices)
    return Exercise(
        question=f"With LRS, {each} a month; with ZRS, {times:.2f} times as much. What do {all_of} cost "
        "together in a month with ZRS, in USD?",
        unit=IN_DOLLARS,
        right=zrs,
        misconceptions=telling(zrs, wrong),
        hint="All disks with LRS first; then how many times as much they cost with ZRS.",
        law="Cost = the sum of number × price with LRS, times the factor of ZRS",
        working=f"({parts}) × {times:.2f}",
    )


def price_of_an_ultra_disk(gib: int, iops: int, mbps: int) -> Exercise:
    """What provisioned performance costs."""
    lines = monthly(f"ultra:{gib}GiB/{iops}iops/{mbps}MBps")
    parts = sorted(float(line.amount) for line in lines)
    right = sum(parts)
    size = next(float(line.amount) for line in lines if "Capacity" in str(line.price.meter))
    units = "; ".join(f"{line.price.unit_price:f} USD an hour for each {_of(line)}" for line in lines)
    numbers = {"GiB": gib, "IOPS": iops, "MB/s": mbps}
    working = " + ".join(f"{numbers[_of(line)]:,} × {line.price.unit_price:f}" for line in lines)
    wrong = [
        Misconception("the size alone", size, "IOPS and MB/s are provisioned, and stand on the bill too."),
        Misconception(
            "a part left out",
            sum(parts[1:]),
            "There are three parts: size, IOPS and MB/s; one of them is missing.",
        ),
        Misconception(
            "paid by use",
            size + (right - size) / 2,
            "What is provisioned is paid for every hour, used or not.",
        ),
        Misconception(
            "half of the time for half of the money",
            right / 2,
            "What is provisioned is paid for every hour, used or not.",
        ),
        Misconception(
            "an hour for a month",
            right / float(MONTH_HOURS),
            "The prices are by the hour; a month has 730.",
        ),
    ]
    return Exercise(
        question=f"An Ultra Disk of {gib:,} GiB has {iops:,} IOPS and {mbps} MB/s provisioned: {units}. It "
        "is used half of the time. What does it cost in a month of 730 hours, in USD?",
        unit=IN_DOLLARS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Three parts, each a quantity times a price, for every hour of the month.",
        law="Cost = (GiB × their price + IOPS × their price + MB/s × their price) × hours of the month",
        working=f"({working}) × {MONTH_HOURS}",
    )


def _zones(draw: Random) -> Exercise:
    tier, depth = draw.choice(tuple(_LIMITS)), draw.choice((1, 2, 3, 4))
    measured = (latency.percentiles(table, True)[_MEDIAN] for table in (_LRS, _ZRS))
    lrs, zrs = (round(us * draw.randrange(60, 160) / 100, -2) / US_PER_MS for us in measured)
    return writes_over_zones(tier, depth, lrs, zrs)


def _price(draw: Random) -> Exercise:
    first, second = draw.sample(_PRICED, 2)
    return price_of_zones((first, draw.randrange(2, 9)), (second, draw.randrange(2, 9)))


def _ultra(draw: Random) -> Exercise:
    return price_of_an_ultra_disk(
        draw.choice((128, 256, 512, 1024)), draw.randrange(4_000, 20_001, 500), draw.randrange(100, 801, 25)
    )


def _of(line: BillLine) -> str:
    meter = str(line.price.meter)
    return "GiB" if "Capacity" in meter else "IOPS" if "IOPS" in meter else "MB/s"


REDUNDANCY = {"zones": _zones, "price": _price, "ultra": _ultra}
