"""Random bills of `azbench cost` against plain sums over the shipped price files.

    .venv/bin/python benchmarks/bills_by_hand.py [--bills 100] [--seed 0]

The sums know the files' columns and Azure's rules of billing alone (disks-understand-billing.md of
2025-10-28, disks-types.md of 2026-08-11, managed-disks-bursting-2.md of 2025-01-14): nothing of azbench's
meters, setups or tables. A bill for which a file has no price, or two of one day, is drawn again, and so is a
setup that is refused: more disks than the VM takes, a size that is in no catalogue. Exit code 1 where a bill
differs by more than half a cent.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from importlib import resources
from random import Random
from typing import NamedTuple

from typer.testing import CliRunner

from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

REGIONS = ("westeurope", "eastus", "northeurope", "germanywestcentral", "polandcentral", "australiaeast")
MONTH, YEAR = 730, 8_760  # hours
PREMIUM, SSD, HDD = (f"{kind} Managed Disks" for kind in ("Premium SSD", "Standard SSD", "Standard HDD"))
TIERS = ("4", "6", "10", "15", "20", "30", "40", "50", "60", "70", "80")
P30_IOPS, P30_MBPS = 5_000, 200  # of a P30, which bursts on demand
HALF_A_CENT = Fraction(1, 200)
SIXTEEN, UNIT = 16 * 1024, 256 * 1024
CAPS = {"4": 450_000, "6": 858_000, "70": 93_000_000, "80": 110_000_000}  # of Standard HDD, an hour


class NoPriceError(Exception):
    """A file has no price, or several of one day."""


class Prices:
    """The rows of one region, by product (or VM and system), meter and way to pay."""

    def __init__(self, region: str) -> None:
        self.region = region
        place = resources.files("azbenchlib") / "azure" / "catalog" / "data" / "prices" / f"{region}.csv.gz"
        today = date.today().isoformat()
        self._rows: dict[tuple[str, str, str], dict[str, set[tuple[str, str]]]] = {}
        for row in csv.DictReader(gzip.decompress(place.read_bytes()).decode().splitlines()):
            if row["currency"] != "USD" or row["as_of"] > today or (row["valid_to"] or "9999") <= today:
                continue
            of_vm = row["kind"] == "vm"
            key = (row["os"], row["arm_sku"]) if of_vm else (row["product_name"], row["meter_name"])
            days = self._rows.setdefault((*key, row["price_type"]), {})
            days.setdefault(row["as_of"], set()).add((row["unit_price"], row["unit_of_measure"]))

    def sizes(self) -> list[str]:
        """VM sizes with a price for Linux."""
        return sorted(meter for group, meter, pay in self._rows if group == "linux" and pay == "Consumption")

    def of(self, group: str, meter: str, hours: int, pay: str = "Consumption") -> Fraction:
        """The newest price of one unit for so many hours; of operations for one of them."""
        days = self._rows.get((group, meter, pay))
        if not days or len(days[max(days)]) > 1:
            raise NoPriceError(f"{group} {meter} {pay}")
        ((price, unit),) = days[max(days)]
        pack = 10_000 if unit.startswith("10K") else 1
        per_hours = {"Month": MONTH, "Hour": 1, "1 Year": YEAR, "3 Years": 3 * YEAR}
        length = next((many for word, many in per_hours.items() if unit.endswith(word)), None)
        if unit.startswith("10K"):
            length = None
        return Fraction(price) / pack * (Fraction(hours, length) if length else 1)


class Line(NamedTuple):
    """Options of the command line, and what they cost."""

    kind: str
    options: tuple[str, ...]
    price: Fraction


def vm(random: Random, prices: Prices, hours: int) -> Iterator[Line]:
    """A VM, paid in one of several ways, and how long it runs."""
    size = random.choice(prices.sizes())
    way = random.choice(("plain", "windows", "spot", "savings-1y", "1y", "part"))
    words = {"spot": "Spot", "savings-1y": "SavingsPlan1Y", "1y": "Reservation1Y"}
    running = random.randint(1, hours - 1) if way == "part" else hours
    system = "windows" if way == "windows" else "linux"
    price = prices.of(system, size, running, words.get(way, "Consumption"))
    options = {"windows": ("--os", way), "part": ("--vm-hours", str(running))}
    paid = ("--pay", way) if way in words else options.get(way, ())
    yield Line(f"VM {way}", ("--vm", size, *paid), price)


def premium(random: Random, prices: Prices, hours: int) -> Iterator[Line]:
    """Tiers of Premium SSD, zone-redundant ones too, and a P30 that bursts for money."""
    tier, count = random.choice(TIERS), random.randint(1, 9)
    redundancy = random.choice(("LRS", "ZRS"))
    each = prices.of(PREMIUM, f"P{tier} {redundancy} Disk", hours)
    name = f"P{tier}x{count}" + (":ZRS" if redundancy == "ZRS" else "")
    yield Line(f"Premium {redundancy}", ("--disk", name), each * count)
    if random.random() < 0.4:
        seconds, iops, mbps = random.randint(1, 5_000), random.randint(1, 30_000), random.randint(1, 1_000)
        above = seconds * max(iops - P30_IOPS, (mbps - P30_MBPS) * Fraction(1024, 256), 0)
        packs = math.ceil(Fraction(math.ceil(above), 10_000))
        each = prices.of(PREMIUM, "P30 LRS Disk", hours) + prices.of(PREMIUM, "LRS Burst Enablement", hours)
        each += prices.of(PREMIUM, "LRS Burst Transactions", hours) * packs * 10_000
        yield Line("burst", ("--disk", "P30:burst", "--burst", f"{seconds}:{iops}:{mbps}"), each)


def standard(random: Random, prices: Prices, hours: int, running: int) -> Iterator[Line]:
    """A Standard SSD and a Standard HDD with their transactions."""
    tier, iops, bs = random.choice(TIERS), random.randint(1, 900), 2 ** random.randint(9, 22)
    letter = random.choice("ES")
    product, cap = {"E": SSD, "S": HDD}[letter], math.inf
    units = math.ceil(Fraction(bs, UNIT)) if letter == "E" else 1
    if letter == "S" and tier in CAPS and prices.region not in ("eastus", "northeurope"):
        units, cap = math.ceil(Fraction(bs, SIXTEEN)), CAPS[tier]
        units = min(units, 16) if tier in ("70", "80") else units
    an_hour = min(iops * 3_600 * units, cap)
    each = prices.of(product, f"{letter}{tier} LRS Disk", hours)
    each += prices.of(product, f"{letter}{tier} LRS Disk Operations", hours) * int(an_hour) * running
    options = ("--disk", f"{letter}{tier}", "--iops", str(iops), "--bs", f"{bs}B")
    yield Line(f"Standard {letter}", options, each)


def provisioned(random: Random, prices: Prices, hours: int) -> Iterator[Line]:
    """Premium SSD v2 with what is free of it, and Ultra Disk."""
    gib, count = random.randint(64, 2_000), random.randint(1, 4)
    iops = random.randint(3_000, 25_000)
    mbps = random.randint(125, 700)
    word, product, meters, free_iops, free_mbps = random.choice(
        (
            ("pv2", "Azure Premium SSD v2", "Premium LRS", 3_000, 125),
            ("ultra", "Ultra Disks", "Ultra LRS", 0, 0),
        )
    )
    each = prices.of(product, f"{meters} Provisioned Capacity", hours) * gib
    if iops > free_iops:
        each += prices.of(product, f"{meters} Provisioned IOPS", hours) * (iops - free_iops)
    if mbps > free_mbps:
        each += prices.of(product, f"{meters} Provisioned Throughput (MBps)", hours) * (mbps - free_mbps)
    yield Line(word, ("--disk", f"{word}x{count}:{gib}GiB/{iops}iops/{mbps}MBps"), each * count)


def snapshots(random: Random, prices: Prices, hours: int) -> Iterator[Line]:
    """Snapshots of Standard HDD or Premium SSD."""
    gib = random.randint(1, 5_000)
    sku, product, redundancy = random.choice(
        (("Standard_LRS", HDD, "LRS"), ("Premium_LRS", PREMIUM, "LRS"), ("Standard_ZRS", HDD, "ZRS"))
    )
    price = prices.of(product, f"{redundancy} Snapshots", hours) * gib
    yield Line("snapshots", ("--snapshots", f"{gib}GiB", "--snapshot-sku", sku), price)


def drawn(random: Random, every: dict[str, Prices]) -> tuple[list[str], list[Line]]:
    """Options of one bill, and its lines."""
    prices = every[random.choice(REGIONS)]
    hours = random.choice((730, 100, 24, 8_760))
    lines = list(vm(random, prices, hours))
    running = hours
    if "--vm-hours" in lines[0].options:
        running = int(lines[0].options[-1])
    for part in (premium, provisioned, snapshots):
        if random.random() < 0.6:
            lines += part(random, prices, hours)
    if random.random() < 0.6:
        lines += standard(random, prices, hours, running)
    options = [option for line in lines for option in line.options]
    return ["cost", "--region", prices.region, "--hours", str(hours), *options, "--format", "json"], lines


def compare(bills: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Draw so many bills; return those that differ, in a line each, and what was compared, and how often."""
    every = {region: Prices(region) for region in REGIONS}
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    random = Random(seed)  # noqa: S311
    while counts["bills"] < bills:
        try:
            command, lines = drawn(random, every)
        except NoPriceError:
            counts["without a price"] += 1
            continue
        done = CliRunner().invoke(app, command)
        if isinstance(done.exception, InputError):
            counts["refused"] += 1
            continue
        total, expected = json.loads(done.stdout)["total"], sum(line.price for line in lines)
        if total is None or abs(total - expected) > HALF_A_CENT:
            wrong.append(f"{' '.join(command)}: {total} for {float(expected):.6f}")
        counts.update(["bills", *(line.kind for line in lines)])
    return wrong, counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    wrong, counts = compare(args.bills, args.seed)
    print("\n".join(wrong))
    print(f"{len(wrong)} of {args.bills} bills not equal; {dict(sorted(counts.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
