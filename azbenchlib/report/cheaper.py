"""What would deliver for less what was measured, on a VM with as many vCPUs and as much memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pandas as pd

from azbenchlib.analyse.delivered import data_bytes
from azbenchlib.analyse.labels import CACHE_WORDS, ROLE_WORDS
from azbenchlib.analyse.market import market
from azbenchlib.analyse.priced import Priced
from azbenchlib.model.demand import Demand
from azbenchlib.model.flows import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.market import Market
from azbenchlib.model.search import Choice, search
from azbenchlib.model.setup import Disk, Setup
from azbenchlib.units import NBSP, format_count, format_mbps, format_size

LEAST_SAVED = 0.01  # of the price; below, it is the same
# A disk may give a few per cent more than its documented limit: throttled runs of shipped datasets lie up to
# 4 % above it. What lies within 5 % is the limit.
ABOVE_LIMIT = 1.05


@dataclass(frozen=True)
class Cheaper:
    """A design that costs less than a measured setup; `saved` is the share of the price."""

    series: str
    vm: str
    disks: str
    price: float
    currency: str
    saved: float


def cheaper(rates: pd.DataFrame, found: Mapping[str, Priced]) -> tuple[list[Cheaper], list[str]]:
    """For each row of rates the cheapest design that delivers as much, if it costs less.

    Parameters
    ----------
    rates : DataFrame
        Columns series, setup_id, rw, bs_bytes, iops, bw_bytes_per_s.
    found : mapping of str to Priced
        By setup_id.

    Returns
    -------
    designs : list of Cheaper
    none : list of str
        The series for which nothing costs less. A series whose size or price is not known is in neither.
    """
    at = cache(market)
    designs: list[Cheaper] = []
    none: list[str] = []
    for row in rates.to_dict(orient="records"):
        one = found.get(row["setup_id"])
        if one is None or not one.total:
            continue
        there = at(one.region)
        demand = _demand(row, one.setup, there)
        if demand is None:
            continue
        best, total = search(demand, there).cheapest(), float(one.total)
        if best is None or float(best.price) > total * (1 - LEAST_SAVED):
            none.append(row["series"])
        else:
            designs.append(_told(row["series"], best, there, total))
    return designs, none


def _told(series: str, best: Choice, there: Market, total: float) -> Cheaper:
    disk, price = best.setup.disks[0], float(best.price)
    vm = (best.setup.vm.size or "").removeprefix("Standard_")
    return Cheaper(series, vm, disk_words(disk), price, there.currency, 1 - price / total)


def disk_words(disk: Disk) -> str:
    """``5 × P15``, ``2 × Premium SSD v2 (16 GiB, 3,000 IOPS, 125 MB/s)``, ``its temp disk``."""
    if disk.local:
        return f"its {ROLE_WORDS[disk.role][0]}"
    count = f"{disk.count}{NBSP}×{NBSP}" if disk.count > 1 else ""
    if disk.tier:
        caching = "" if disk.caching == "None" else f" with {CACHE_WORDS[disk.caching]}"
        zones = " ZRS" if (disk.sku or "").endswith("_ZRS") else ""
        return f"{count}{disk.tier}{zones}{caching}"
    figures = (
        format_size(disk.size_bytes or 0),
        f"{format_count(disk.cap.iops or 0)} IOPS",
        f"{format_mbps(disk.cap.bytes_per_s or 0)} MB/s",
    )
    kind = "Premium SSD v2" if (disk.sku or "").startswith("PremiumV2_") else "Ultra Disk"
    return f"{count}{kind} ({', '.join(figures)}{' each' if disk.count > 1 else ''})"


def _demand(row: Mapping[str, object], setup: Setup, there: Market) -> Demand | None:
    """The measured rates as a demand, on disks as durable and of the same class of latency."""
    offer = next((one for one in there.vms if one.size.lower() == (setup.vm.size or "").lower()), None)
    size = data_bytes(setup.disks)
    iops, rate, bs = (_known(row[name]) for name in ("iops", "bw_bytes_per_s", "bs_bytes"))
    if offer is None or not size or not (iops or rate):
        return None
    rw = str(row["rw"])
    read_share = 1.0 if rw.endswith("read") else 0.0 if rw.endswith("write") else 0.5
    part = _documented(setup, iops, rate, bs, read_share)
    return Demand(
        size_bytes=size,
        iops=iops and iops * part,
        bytes_per_s=rate and rate * part,
        bs_bytes=bs,
        read_share=read_share,
        latency=_latency(setup),
        redundancy="ZRS" if any((disk.sku or "").endswith("ZRS") for disk in setup.disks) else "LRS",
        persistent=not any(disk.local for disk in setup.disks),
        headroom=1.0,
        vcpus=offer.vcpus,
        memory_bytes=offer.memory_bytes,
        architecture=offer.architecture,
    )


def _documented(
    setup: Setup, iops: float | None, rate: float | None, bs_bytes: float | None, read_share: float
) -> float:
    """The part of the measured rate that the setup is documented to deliver; 1 unless a little is missing.

    Disks give a few per cent more than their limit; the same disk must do for what it did.
    """
    volumes = setup.volumes()
    if len(volumes) != 1:
        return 1.0
    if bs_bytes is None:
        load = Load(volumes[0].name, read_share, **({"iops": iops} if iops else {"bytes_per_s": rate}))
    else:
        load = Load(volumes[0].name, read_share, bs_bytes)
    got = deliver(setup, [load])
    pairs = [(got.iops, iops), (got.bytes_per_s, rate)]
    part = min((limit / seen for limit, seen in pairs if limit and seen), default=1.0)
    return part if 1 / ABOVE_LIMIT <= part < 1 else 1.0


def _latency(setup: Setup) -> str:
    """The class that is promised of the fastest disk; a cache promises none."""
    if any(disk.local for disk in setup.disks):
        return "local"
    if any(disk.v2 for disk in setup.disks):
        return "submillisecond"
    return "premium" if any((disk.sku or "").startswith("Premium_") for disk in setup.disks) else "any"


def _known(value: object) -> float | None:
    return None if pd.isna(value) else float(value)  # type: ignore[arg-type]
