"""What a setup costs a month, from the rows of the price book and the rules of what is billed."""

import csv
import gzip
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd

DATA = Path("azbenchlib") / "azure" / "catalog" / "data"
MONTH_HOURS = 730
LOCAL = ("temp", "nvme", "ephemeral_os")
PRODUCTS = {
    "Premium": "Premium SSD Managed Disks",
    "StandardSSD": "Standard SSD Managed Disks",
    "Standard": "Standard HDD Managed Disks",
    "PremiumV2": "Azure Premium SSD v2",
    "UltraSSD": "Ultra Disks",
}
FREE = {"iops": 3000.0, "bytes_per_s": 125e6}  # of each Premium SSD v2
Row = Mapping[str, object]


Key = tuple[str, ...]


@cache
def _book(root: Path, region: str, kind: str) -> dict[Key, list[dict[str, str]]]:
    """The prices that hold in a region, by what they are for."""
    found: dict[Key, list[dict[str, str]]] = {}
    names = ("arm_sku", "price_type", "os") if kind == "vm" else ("product_name", "meter_name")
    path = root / DATA / "prices" / f"{region}.csv.gz"
    if not path.is_file():
        return found
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == kind and not row.get("valid_to"):
                found.setdefault(tuple(row[name].lower() for name in names), []).append(row)
    return found


@cache
def tiers(root: Path) -> list[dict[str, str]]:
    """The rows of the disk tiers."""
    with (root / DATA / "disk_tiers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def documented(root: Path) -> tuple[pd.DataFrame, ...]:
    """The tables of the limits of VM sizes."""
    return tuple(pd.read_csv(root / DATA / name, dtype=str) for name in ("vm_api.csv", "vm_pages.csv"))


def _newest(rows: list[dict[str, str]]) -> float | None:
    """The newest price, by the hour or month that it is for."""
    rows = sorted(rows, key=lambda row: row["as_of"])
    if not rows:
        return None
    price, unit = float(rows[-1]["unit_price"]), rows[-1]["unit_of_measure"].lower()
    return price * (1 if "month" in unit else MONTH_HOURS)


def vm_month(root: Path, size: str, region: str) -> float | None:
    """A Linux VM for a month, pay as you go."""
    return _newest(_book(root, region, "vm").get((size.lower(), "consumption", "linux"), []))


def _meter(root: Path, region: str, product: str, meter: str) -> float | None:
    return _newest(_book(root, region, "disk").get((product.lower(), meter.lower()), []))


def disk_month(root: Path, disk: Row, region: str) -> float | None:
    """A disk, or several of its kind, for a month; local ones cost nothing of their own."""
    if disk.get("role") in LOCAL:
        return 0.0
    if str(disk.get("sku", "")).partition("_")[0] not in PRODUCTS:
        return None
    kind, _, redundancy = str(disk["sku"]).partition("_")
    product, count = PRODUCTS[kind], float(str(_get(disk, "count", 1)))
    if kind in ("PremiumV2", "UltraSSD"):
        name = "Ultra" if kind == "UltraSSD" else "Premium"
        free = FREE if kind == "PremiumV2" else {}
        counted = {
            "Capacity": float(str(disk["size_bytes"])) / 2**30,
            "IOPS": max(0.0, float(str(_get(disk, "provisioned_iops", 0))) - free.get("iops", 0)),
            "Throughput (MBps)": max(
                0.0, float(str(_get(disk, "provisioned_bytes_per_s", 0))) - free.get("bytes_per_s", 0)
            )
            / 1e6,
        }
        prices = {
            what: _meter(root, region, product, f"{name} {redundancy} Provisioned {what}")
            for what, quantity in counted.items()
            if quantity
        }
        if any(price is None for price in prices.values()):
            return None
        return count * sum(counted[what] * (price or 0.0) for what, price in prices.items())
    price = _meter(root, region, product, f"{tier_of(root, disk)} {redundancy} Disk")
    return None if price is None else count * price


def _get(row: Row, name: str, default: object = None) -> object:
    value = row.get(name)
    return default if value is None or pd.isna(value) else value  # type: ignore[call-overload]


def tier_of(root: Path, disk: Row) -> str:
    """As stated, or the smallest of its kind that holds it."""
    if stated := _get(disk, "tier"):
        return str(stated)
    size = float(str(_get(disk, "size_bytes", math.inf)))
    kind = str(_get(disk, "sku", "")).partition("_")[0]
    fitting = [
        (int(row["size_bytes"]), row["name"])
        for row in tiers(root)
        if row["sku"] == kind and int(row["size_bytes"]) >= size
    ]
    return min(fitting)[1] if fitting else ""


def setup_month(root: Path, vm_size: str | None, disks: list[Row], region: str) -> tuple[float, float] | None:
    """VM and disks, and the disks alone; None where a price is missing."""
    vm = 0.0 if vm_size is None else vm_month(root, vm_size, region)
    each = [disk_month(root, disk, region) for disk in disks]
    if vm is None or any(price is None for price in each):
        return None
    total = sum(price or 0.0 for price in each)
    return vm + total, total


_DESIGN = re.compile(
    r"(?P<vm>[A-Za-z]\w*(?:-\w+)*) with (?:(?P<count>\d+) × )?(?P<disk>its [\w ]+ disk|its local NVMe|.+)$"
)
_BOUGHT = re.compile(
    r"(?P<kind>Premium SSD v2|Ultra Disk) \((?P<size>[\d.,]+) (?P<unit>GiB|TiB), (?P<iops>[\d,]+) IOPS, "
    r"(?P<mbps>[\d.,]+) MB/s(?: each)?\)"
)


def design(text: str) -> tuple[str, dict[str, object]]:
    """VM size and disk of a design in words: ``E8as_v5 with 2 × Premium SSD v2 (16 GiB, …)``."""
    match = _DESIGN.search(text)
    assert match, f"a design that cannot be read: {text}"
    disk: dict[str, object] = {"count": int(match["count"] or 1)}
    if bought := _BOUGHT.fullmatch(match["disk"]):
        scale = {"GiB": 2**30, "TiB": 2**40}[bought["unit"]]
        disk |= {
            "sku": "PremiumV2_LRS" if bought["kind"].endswith("v2") else "UltraSSD_LRS",
            "size_bytes": float(bought["size"].replace(",", "")) * scale,
            "provisioned_iops": float(bought["iops"].replace(",", "")),
            "provisioned_bytes_per_s": float(bought["mbps"].replace(",", "")) * 1e6,
        }
    elif match["disk"].startswith("its"):
        disk |= {"role": "nvme" if "NVMe" in match["disk"] else "temp"}
    else:
        tier, *more = match["disk"].split(" ")
        kind = {"P": "Premium", "E": "StandardSSD", "S": "Standard"}[tier[0]]
        disk |= {"tier": tier, "sku": f"{kind}_{'ZRS' if 'ZRS' in more else 'LRS'}"}
    return f"Standard_{match['vm']}", disk
