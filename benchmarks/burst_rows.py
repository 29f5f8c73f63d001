"""Verdicts of runs at a VM's documented burst, for sizes and days drawn from the catalogue's page rows.

    .venv/bin/python benchmarks/burst_rows.py [--sizes 200] [--seed 1] [--over 1.01] [--before FOLDER]

Each run is one minute of reads on uncached Premium SSD that can do half as much again. The burst has to be
named; "above the documented limit" must not be likely. With `--before`, the folder of an earlier
`vm_pages.csv`, only sizes are drawn of which it has no row.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog import Limit, VmRow
from azbenchlib.core.units import KIB, MB
from azbenchlib.model.labels import Label
from azbenchlib.verdict.cases.judge import judge_case

BLOCKS = {"iops": 4 * KIB, "bytes_per_s": 256 * KIB}  # that ask for either quantity alone
ABOVE_LIKELY = 0.5


class Draw(NamedTuple):
    """One size, its burst in IOPS or bytes per second, and a day on which a page prints it."""

    row: VmRow
    burst: Limit
    day: str


def draws(sizes: int, random: Random, known: set[str]) -> Iterator[Draw]:
    """So many sizes, each of them once, with one of the days of one of its rows."""
    rows = [row for row in catalog.every_vm() if row.size not in known and _bursts(row)]
    for row in random.sample(rows, min(sizes, len(rows))):
        burst = random.choice(_bursts(row))
        first, end = (date.fromisoformat(day) for day in (str(burst.valid_from), burst.valid_to or row.as_of))
        yield Draw(row, burst, (first + timedelta(random.randrange((end - first).days))).isoformat())


def _bursts(row: VmRow) -> list[Limit]:
    names = ("uncached_burst_iops", "uncached_burst_bytes_per_s")
    return [one for one in row.limits if one.name in names and (one.valid_from or row.as_of) < row.as_of]


def case_of(draw: Draw, over: float) -> Mapping[str, Any]:
    """A published measurement of the burst, on as many of the largest Premium SSDs as carry it."""
    quantity = draw.burst.name.removeprefix("uncached_burst_")
    tier = catalog.disk_tier("P80", draw.day)
    count = math.ceil(1.5 * draw.burst.value / getattr(tier, quantity))
    rate = over * draw.burst.value
    observed = {"iops": rate} if quantity == "iops" else {"mbps": rate / MB}
    return {
        "id": draw.row.size,
        "kind": "measurement",
        "as_of": draw.day,
        "vm": {"size": draw.row.size},
        "disks": [{"role": "data", "tier": "P80", "cache": "None", "count": count}],
        "job": {
            "tool": "fio",
            "rw": "randread",
            "bs_kib": BLOCKS[quantity] // KIB,
            "qd_total": 64 * count,
            "jobs": count,
            "runtime_s": 60,
            "direct": True,
        },
        "demand": None,
        "observed": observed,
    }


def right_labels(draw: Draw) -> set[Label]:
    """The burst; the base too, where it is as high."""
    label = Label.VM_UNCACHED_BURST_IOPS if draw.burst.name.endswith("iops") else Label.VM_UNCACHED_BURST_MBPS
    base = catalog.vm(draw.row.size, draw.day).best(draw.burst.name.replace("_burst", ""))
    same = base is not None and base.value >= draw.burst.value * 0.99
    return {label, Label(label.base)} if same else {label}


def main() -> None:
    """Print each miss, and how many there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--over", type=float, default=1.01, help="The rate, by the burst.")
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    known: set[str] = set()
    if options.before:
        with (options.before / "vm_pages.csv").open(encoding="utf-8", newline="") as file:
            known = {row["size"] for row in csv.DictReader(file)}
    named = above = total = 0
    for draw in draws(options.sizes, Random(options.seed), known):  # noqa: S311
        case = case_of(draw, options.over)
        found = judge_case(case)
        wanted, total = right_labels(draw), total + 1
        likely = found.probability >= ABOVE_LIKELY and Label.ABOVE_DOCUMENTED_LIMIT in found.binding
        named, above = named + (found.binding[0] in wanted), above + likely
        if found.binding[0] not in wanted:
            print(draw.row.size, draw.day, draw.burst, [str(one) for one in found.binding], found.probability)
    print(f"{named} of {total} bursts named, {above} called above the limit at {ABOVE_LIKELY:.0%} or more")


if __name__ == "__main__":
    main()
