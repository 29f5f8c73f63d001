"""Documented limits and prices of a drawn dataset, from the files of the catalogue and of the price book."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from functools import cache

import pandas as pd
from drawn_datasets import ROOT, Drawn, Row
from readback import figures, money
from said_figures import RATES, Said, Tally, clusters, matching, rates

REGION = "westeurope"  # of prices, where none is stated
IO_UNIT = 256 * 1024  # bytes


@cache
def _tiers() -> dict[str, dict[str, str]]:
    """The rows of Premium SSD that hold today, by tier."""
    return {row["name"]: row for row in money.tiers(ROOT) if row["sku"] == "Premium" and not row["valid_to"]}


@cache
def documented_of_vm(size: str) -> dict[str, frozenset[float]]:
    """All limits of a VM size that its rows print, those of bursts under names with burst."""
    known: dict[str, set[float]] = {}
    for table in money.documented(ROOT):
        rows = table[table["size"] == size]
        for column in rows.columns:
            if re.match(r"uncached_.*(iops|bytes_per_s)", column) and "v2" not in column:
                known.setdefault(column, set()).update(pd.to_numeric(rows[column]).dropna())
    return {name: frozenset(values) for name, values in known.items()}


def limits_of(drawn: Drawn, burst: bool = True) -> dict[str, set[float]]:
    """IOPS and bytes/s that are documented of the disk and the VM size of a dataset."""
    found: dict[str, set[float]] = {kind: set() for kind in RATES}
    for kind in RATES if drawn.vm else ():
        tier = _tiers()[drawn.disk]
        bursts = [f"burst_{kind}", f"on_demand_burst_{kind}"] if burst else []
        found[kind] |= {float(tier[name]) for name in (kind, *bursts) if tier[name]}
        for name, values in documented_of_vm(drawn.vm).items():
            if kind in name and (burst or "burst" not in name):
                found[kind] |= values
    return found


def counted(drawn: Drawn, row: Row, limit: float, kind: str) -> float:
    """What a run uses of a limit: of a disk's IOPS an I/O takes one for each 256 KiB.

    Source: MicrosoftDocs/azure-compute-docs articles/virtual-machines/disks-types.md@18c531ec (2026-08-11).
    """
    if kind != "iops":
        return row.total * row.bs / limit
    tier = _tiers()[drawn.disk]
    of_disk = {tier[name] for name in ("iops", "burst_iops", "on_demand_burst_iops") if tier[name]}
    return row.total * (math.ceil(row.bs / IO_UNIT) if limit in map(float, of_disk) else 1) / limit


def tier_rates(kind: str) -> set[float]:
    """The rates of all disks that are sold by tiers."""
    cells = [row[name] for row in money.tiers(ROOT) for name in (kind, f"burst_{kind}")]
    return {float(cell) for cell in cells if cell}


def check_change(tally: Tally, drawn: Drawn, said: Said, _: re.Match[str]) -> None:
    """``A P40 gives up to 7,500 IOPS, for USD 136 more a month``: more than the disk has, at its price."""
    told = re.match(r"An? (P\d+|\w+) gives? up to (.+?)(?:, |:| without)", said.text)
    if told is None or not told[1].startswith("P"):
        tally.checked["not read"] += 1
        tally.unread.append(str(said))
        return
    old, new = _tiers()[drawn.disk], _tiers()[told[1]]
    for figure in figures.find(told[2]):
        known = [float(new[figure.kind]), *limits_of(drawn)[figure.kind]]
        if figure.kind == "iops":  # or its MB/s, in I/Os of the runs
            known += [float(new["bytes_per_s"]) / row.bs for row in drawn.rows]
        right = any(abs(figure.base - one) <= 0.5 for one in known) and figure.base <= float(new[figure.kind])
        tally.check("rate of a change", right, said, known)
        tally.check("gain of a change", figure.base > float(old[figure.kind]), said, old[figure.kind])
    before, after = (
        money.disk_month(ROOT, {"sku": "Premium_LRS", "tier": tier}, REGION) or 0.0
        for tier in (drawn.disk, told[1])
    )
    shown = re.search(r"USD ([\d,.]*\d) more", said.text)
    if shown:
        (figure,) = figures.find(shown[1])
        tally.check("price of a change", figure.shows(after - before), said, after - before)
    if shown := re.search(r"\(([\d,.]*\d) instead of ([\d,.]*\d)\)", said.text):
        for text, known in zip(shown.groups(), (after, before), strict=True):
            (figure,) = figures.find(text)
            tally.check("price of a disk", figure.shows(known), said, known)


def check_price(tally: Tally, drawn: Drawn, said: Said) -> None:
    """Price of VM and disk a month, and of 1,000 IOPS or 100 MB/s of what was measured."""
    vm = money.vm_month(ROOT, drawn.vm, REGION)
    disk = money.disk_month(ROOT, {"sku": "Premium_LRS", "tier": drawn.disk}, REGION)
    if vm is None or disk is None:
        return
    text = said.text if said.place == "price" else f"USD {said.text} {said.place.removeprefix('price USD')}"
    rows = matching(drawn.rows, said.about, drawn.named)
    if total := re.search(r"USD ([\d,.]*\d) a month", text):
        (figure,) = figures.find(total[1])
        tally.check("price a month", figure.shows(vm + disk), said, vm + disk)
    elif re.search("disks only", text):
        (figure,) = figures.find(said.text)
        tally.check("price of a disk", figure.shows(disk), said, disk)
    for amount, what in re.findall(
        r"USD ([\d,.]*\d)(?: \([^)]*\))? (?:to .*)?for (1,000 IOPS|100 MB/s)", text
    ):
        kind, per = ("iops", 1e3) if "IOPS" in what else ("bytes_per_s", 1e8)
        known = [(vm + disk) * per / rate for rate in _bases(rows, kind)]
        (figure,) = figures.find(amount)
        tally.check("price of a rate", any(map(figure.shows, known)), said, known[:6])


def _bases(rows: Sequence[Row], kind: str) -> list[float]:
    """Rates that a price may be divided by: of runs, and medians of repeats."""
    medians = [statistics.median(rates(some, kind)) for some in clusters(rows)]
    return [*rates(rows, kind), *medians]
