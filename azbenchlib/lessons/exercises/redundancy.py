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
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.lessons.exercises.nested import CATALOGUE_DAY
from azbenchlib.lessons.exercises.queue import iops_at
from azbenchlib.model import VM, Setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks

_LIMITS = {"P30": 5_000, "P40": 7_500, "P50": 7_500}
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


def writes_over_zones(draw: Random) -> Exercise:
    """IOPS of few outstanding writes on a ZRS disk."""
    tier, depth = draw.choice(tuple(_LIMITS)), draw.choice((1, 2, 3, 4))
    lrs, zrs = (latency.percentiles(table, True)[_MEDIAN] for table in (_LRS, _ZRS))
    lrs, zrs = (round(us * draw.choice((0.8, 0.9, 1.0, 1.1, 1.25)), -2) for us in (lrs, zrs))
    limit = _LIMITS[tier]
    wrong = [
        Misconception(
            "the limit for the rate",
            float(limit),
            "LRS and ZRS have the same limit, and this program does not come near it.",
        ),
        Misconception(
            "ZRS as fast as LRS",
            iops_at(limit, lrs / US_PER_MS, depth),
            "A ZRS write is complete when it is in three zones, and that takes longer.",
        ),
        Misconception(
            "three writes for one",
            iops_at(limit, 3 * zrs / US_PER_MS, depth),
            "The three copies are written at the same time; the latency that is stated holds for all three.",
        ),
    ]
    question = (
        f"A database log keeps {depth} write{'s' if depth > 1 else ''} outstanding on a {tier} ({limit:,} "
        f"IOPS). A write takes {lrs / US_PER_MS:g} ms with LRS and {zrs / US_PER_MS:g} ms with ZRS. How many "
        "IOPS does it get with ZRS?"
    )
    return Exercise(
        question=question,
        unit=IN_IOPS,
        right=iops_at(limit, zrs / US_PER_MS, depth),
        misconceptions=wrong,
        hint="Little's law, with the latency of the redundancy in the question.",
    )


def price_of_zones(draw: Random) -> Exercise:
    """What ZRS disks cost in a month."""
    tier, count = draw.choice(("P10", "P15", "P20", "P30", "P40")), draw.choice((2, 3, 4, 5, 6, 8))
    one, zoned = total(monthly(tier)), total(monthly(tier, "ZRS"))
    wrong = [
        Misconception(
            "the price of LRS", count * one, "Three copies in three zones are more expensive than in one."
        ),
        Misconception("one disk", zoned, "Every disk of the stripe is on the bill."),
        Misconception(
            "three times the price",
            3 * count * one,
            "LRS keeps three copies too; ZRS puts them in different zones, and has a price of its own.",
        ),
    ]
    return Exercise(
        question=f"A {tier} costs {one:.2f} USD a month with LRS, and {zoned / one:.2f} times as much with "
        f"ZRS. What do {count} of them cost in a month with ZRS, in USD?",
        unit=IN_DOLLARS,
        right=count * zoned,
        misconceptions=wrong,
        hint="One disk with its redundancy first; then all of them.",
    )


def price_of_an_ultra_disk(draw: Random) -> Exercise:
    """What provisioned performance costs."""
    gib, iops, mbps = (
        draw.choice((128, 256, 512, 1024)),
        draw.choice((5_000, 10_000, 16_000)),
        draw.choice((200, 400, 600)),
    )
    lines = monthly(f"ultra:{gib}GiB/{iops}iops/{mbps}MBps")
    parts = sorted(float(line.amount) for line in lines)
    size = next(float(line.amount) for line in lines if "Capacity" in str(line.price.meter))
    units = "; ".join(f"{line.price.unit_price:f} USD an hour for each {_of(line)}" for line in lines)
    wrong = [
        Misconception("the size alone", size, "IOPS and MB/s are provisioned, and stand on the bill too."),
        Misconception(
            "a part left out",
            sum(parts[1:]),
            "There are three parts: size, IOPS and MB/s; one of them is missing.",
        ),
        Misconception(
            "paid by use",
            size + (sum(parts) - size) / 2,
            "What is provisioned is paid for every hour, used or not.",
        ),
        Misconception(
            "an hour for a month",
            sum(parts) / float(MONTH_HOURS),
            "The prices are by the hour; a month has 730.",
        ),
    ]
    return Exercise(
        question=f"An Ultra Disk of {gib:,} GiB has {iops:,} IOPS and {mbps} MB/s provisioned: {units}. It "
        "is used half of the time. What does it cost in a month of 730 hours, in USD?",
        unit=IN_DOLLARS,
        right=sum(parts),
        misconceptions=wrong,
        hint="Three parts, each a quantity times a price, for every hour of the month.",
    )


def _of(line: BillLine) -> str:
    meter = str(line.price.meter)
    return "GiB" if "Capacity" in meter else "IOPS" if "IOPS" in meter else "MB/s"


REDUNDANCY = {"zones": writes_over_zones, "price": price_of_zones, "ultra": price_of_an_ultra_disk}
