"""Write the price snapshot of azbenchlib/azure/catalog/data from collected facts; same input, same bytes.

.venv/bin/python scripts/make_prices.py FACTS
"""

import csv
import gzip
import io
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, fields
from decimal import Decimal
from pathlib import Path

from azbenchlib.azure.catalog.rows import CatalogSource
from azbenchlib.azure.prices.book import PRICE_COLUMNS
from azbenchlib.azure.prices.rows import PAYG, RESERVED_YEARS, SAVINGS_PLANS, SPOT

DATA = Path(__file__).resolve().parents[1] / "azbenchlib" / "azure" / "catalog" / "data"
Row = dict[str, str]
PRICE_TYPES = (PAYG, SPOT, *RESERVED_YEARS, *SAVINGS_PLANS)
WINDOWS_TYPES = (PAYG, SPOT)  # the others are the prices of Linux with the licence added
WHAT = {  # source: what it is, as of which day it was read
    "flexera_md": "managed disks, 60 regions; meter names made from its keys",
    "radar": "storage and VMs of five European regions",
    "karpenter": "Linux VMs by the hour, 57 regions",
    "sstybel_calc": "VMs of polandcentral, also reserved and spot, as a price an hour",
}
# karpenter gives Windows prices for some sizes of these series: of its rows that another source has too,
# 209 are that source's Windows price to the last digit, all of them of these series (218 differ at all).
MIXED_UP = re.compile(r"Standard_(B\d+\w*_v2|[DE]\d+(-\d+)?ad?s_v5)")
PREVIEW_ID = "ultra-preview-2019"
PREVIEW = CatalogSource(
    source_id=PREVIEW_ID,
    what="Ultra Disk preview prices as a publication of September 2019 prints them, East US 2",
    repository="",
    path="datasets/ultra-disk-2019",
    commit="",
    date="2019-09-01",
    licence="figures only",
)
PREVIEW_UNTIL = "2019-10-01"  # how long they held is not known; the month of the publication
PREVIEW_PRICES = {  # meter, unit: USD
    ("Ultra LRS Provisioned Capacity", "1 GiB/Hour"): "0.000082",
    ("Ultra LRS Provisioned IOPS", "1/Hour"): "0.000034",
    ("Ultra LRS Provisioned Throughput (MBps)", "1/Hour"): "0.000685",
    ("Ultra LRS Reservation per vCPU Provisioned", "1/Hour"): "0.003",
}


def read(path: Path) -> list[Row]:
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
    return list(csv.DictReader(io.StringIO(text)))


def preview() -> list[Row]:
    same = {
        "kind": "disk", "region": "eastus2", "product_name": "Ultra Disks", "sku_name": "Ultra LRS",
        "redundancy": "LRS", "price_type": PAYG, "currency": "USD", "as_of": PREVIEW.date,
        "source_id": PREVIEW_ID, "valid_to": PREVIEW_UNTIL,
    }  # fmt: skip
    return [
        same | {"meter_name": meter, "unit_of_measure": per, "unit_price": price}
        for (meter, per), price in PREVIEW_PRICES.items()
    ]


def vms(facts: Path) -> list[Row]:
    """Pay as you go and spot, of Linux also reserved and savings plans; without prices of zero, expired sizes
    and Windows prices that are said to be of Linux.
    """
    several = [
        row
        for row in read(facts / "prices_vm.csv.gz")
        if row["price_type"] in PRICE_TYPES and row["arm_sku"] and "Expired" not in row["meter_name"]
    ]
    others = [row for row in several if row["source_id"] != "karpenter"]
    everywhere = read(facts / "prices_vm_linux_ondemand_all_regions.csv.gz")
    doubtful = windows_prices(everywhere, others)
    rows = [row for row in everywhere if (row["region"], row["arm_sku"]) not in doubtful]
    rows += agreeing(row for row in others if row["os"] == "linux" or row["price_type"] in WINDOWS_TYPES)
    print(f"{len(doubtful)} VM prices left out: they are Windows prices", file=sys.stderr)
    return [{**row, "kind": "vm"} for row in rows if Decimal(row["unit_price"]) > 0]


def agreeing(rows: Iterable[Row]) -> list[Row]:
    """Without those of which one source has two prices: nothing tells which one counts."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in ("region", "arm_sku", "price_type", "os", "source_id"))].append(row)
    return [same[0] for same in found.values() if len({row["unit_price"] for row in same}) == 1]


def windows_prices(everywhere: Iterable[Row], others: Iterable[Row]) -> set[tuple[str, str]]:
    """Region and size of the Linux prices that fit better as Windows prices.

    Windows costs the same surcharge in every region. A row is one of Windows when its price less the
    surcharge, compared with what the size costs elsewhere, is nearer to the region's level than its price
    itself. Of the 6,093 rows whose two prices another source has, this tells all 209 from all 5,884.
    """
    prices: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: {"linux": {}, "windows": {}})
    for row in others:
        if row["price_type"] == PAYG:
            prices[row["arm_sku"]][row["os"]].setdefault(row["region"], float(row["unit_price"]))
    usual = {size: statistics.median(of["linux"].values()) for size, of in prices.items() if of["linux"]}
    surcharge = {
        size: statistics.median(of["windows"][place] - of["linux"][place] for place in both)
        for size, of in prices.items()
        if (both := of["windows"].keys() & of["linux"].keys())
    }
    rows = [row for row in everywhere if float(row["unit_price"]) > 0 and row["arm_sku"] in usual]
    ratios: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        ratios[row["region"]].append(float(row["unit_price"]) / usual[row["arm_sku"]])
    found = set()
    for row in rows:
        size, price = row["arm_sku"], float(row["unit_price"])
        if MIXED_UP.fullmatch(size) and surcharge.get(size, 0) > 0:
            level = statistics.median(ratios[row["region"]]) * usual[size]
            if abs(price - surcharge[size] - level) < abs(price - level):
                found.add((row["region"], size))
    return found


def packed(rows: Iterable[Row], columns: tuple[str, ...]) -> bytes:
    """CSV of the rows in order, gzipped; without the time of day, so that it does not change by itself."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    keys = ("region", "kind", "product_name", "arm_sku", "meter_name", "price_type", "as_of", "os")
    writer.writerows(sorted(rows, key=lambda row: [row.get(name, "") for name in keys]))
    return gzip.compress(out.getvalue().encode(), compresslevel=9, mtime=0)


def sources(facts: Path) -> bytes:
    found = {row["source_id"]: row for row in read(facts / "sources.csv")}
    rows = [
        CatalogSource(
            source_id=name,
            what=what,
            repository=row["repo"],
            path=row["path"],
            commit=row["commit"],
            date=row["as_of"],
            licence=row["licence"],
        )
        for name, what in WHAT.items()
        for row in (found[name],)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(CatalogSource))
    writer.writerows(astuple(row) for row in [*rows, PREVIEW])
    return out.getvalue().encode()


def make(facts: Path) -> dict[Path, bytes]:
    """Each file and what is in it; a region is a file, for a question is about one."""
    regions: dict[str, list[Row]] = defaultdict(list)
    for row in (*read(facts / "prices_disk.csv"), *preview(), *vms(facts)):
        regions[row["region"]].append(row)
    books = {
        DATA / "prices" / f"{region}.csv.gz": packed(rows, (*PRICE_COLUMNS, "valid_to"))
        for region, rows in regions.items()
    }
    return {**books, DATA / "prices_sources.csv": sources(facts)}


if __name__ == "__main__":
    for path, content in make(Path(sys.argv[1])).items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
