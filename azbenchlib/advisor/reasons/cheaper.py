"""What would deliver for less what was measured, on a VM with as many vCPUs and as much memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import pandas as pd

from azbenchlib.advisor.demands.achieved import AchievedRates, data_bytes
from azbenchlib.advisor.demands.demand import MOST_DISKS, Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE, SERVER_DISKS
from azbenchlib.advisor.reasons.savings import LEAST_SAVED
from azbenchlib.advisor.search import Candidate, search
from azbenchlib.azure.disk_kinds import LATENCY_CLASSES
from azbenchlib.cost.payments import Payment
from azbenchlib.cost.priced_setups import Priced
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import Setup

# A disk may give a few per cent more than its documented limit: throttled runs of shipped datasets lie up to
# 4 % above it. What lies within 5 % is the limit.
ABOVE_LIMIT = 1.05


@dataclass(frozen=True)
class Cheaper:
    """A configuration that costs less than a measured setup; `saved` is the share of the price."""

    series: str
    candidate: Candidate
    currency: str
    saved: float


def cheaper(rates: pd.DataFrame, found: Mapping[str, Priced]) -> tuple[list[Cheaper], list[str]]:
    """For each row of rates the cheapest configuration that delivers as much, if it costs less.

    Parameters
    ----------
    rates : DataFrame
        Columns series, setup_id, bs_bytes, iops, bw_bytes_per_s (all directions together), read_share.
    found : mapping of str to Priced
        By setup_id.

    Returns
    -------
    configurations : list of Cheaper
    none : list of str
        The series for which nothing costs less. A series whose size or price is not known is in neither.
    """
    at = cache(_market)
    configurations: list[Cheaper] = []
    none: list[str] = []
    for row in rates.to_dict(orient="records"):
        one = found.get(row["setup_id"])
        if one is None or one.bill is None or not one.total:
            continue
        there = at(one.region, one.bill.currency)
        demand = demand_of(row, one.setup, there)
        if demand is None:
            continue
        best, total = search(demand, there).cheapest(), float(one.total)
        if best is None or float(best.price) > total * (1 - LEAST_SAVED):
            none.append(row["series"])
        else:
            configurations.append(Cheaper(row["series"], best, there.currency, 1 - float(best.price) / total))
    return configurations, none


def _market(region: str, currency: str) -> Market:
    return market(region, payment=Payment(currency=currency))


def demand_of(row: Mapping[str, object], setup: Setup, there: Market) -> Demand | None:
    """The measured rates as a demand, on disks as durable and of the same class of latency; None: the VM,
    the size or the rates are not known.

    Parameters
    ----------
    row : mapping of str to object
        One row of rates (:func:`cheaper`).
    setup : Setup
    there : Market
    """
    vm_size = next((one for one in there.vms if one.size.lower() == (setup.vm.size or "").lower()), None)
    iops, rate, bs, read_share = (
        _known(row[name]) for name in ("iops", "bw_bytes_per_s", "bs_bytes", "read_share")
    )
    rates = AchievedRates(
        iops=iops, bytes_per_s=rate, bs_bytes=bs, read_share=read_share, size_bytes=data_bytes(setup.disks)
    )
    if vm_size is None or not rates.size_bytes or not (iops or rate):
        return None
    demand = Demand(
        **rates.as_demand(),
        latency=_latency(setup),
        redundancy="ZRS" if any((disk.sku or "").endswith("ZRS") for disk in setup.disks) else "LRS",
        persistent=not any(disk.local for disk in setup.disks),
        headroom=1.0,
        vcpus=vm_size.vcpus,
        memory_bytes=vm_size.memory_bytes,
        architecture=vm_size.architecture,
        choice=replace(SERVER_CHOICE, arm=vm_size.architecture == "arm64", burstable=vm_size.name.burstable),
        most_disks=max(SERVER_DISKS, *(min(disk.count, MOST_DISKS) for disk in setup.disks)),
    )
    return demand.times(documented_part(setup, rates, demand.read_share))


def documented_part(setup: Setup, rates: AchievedRates, read_share: float) -> float:
    """The part of the measured rate that the setup is documented to deliver; 1 unless a little is missing.

    Disks give a few per cent more than their limit; the same disk must do for what it did.
    """
    volumes = setup.volumes()
    if len(volumes) != 1:
        return 1.0
    iops, rate = rates.iops, rates.bytes_per_s
    if rates.block is None:
        load = Load(
            volume=volumes[0].name,
            read_share=read_share,
            **({"iops": iops} if iops else {"bytes_per_s": rate}),
        )
    else:
        load = Load(volume=volumes[0].name, read_share=read_share, bs_bytes=rates.block)
    got = deliver(setup, [load])
    pairs = [(got.iops, iops), (got.bytes_per_s, rate)]
    part = min((limit / seen for limit, seen in pairs if limit and seen), default=1.0)
    return part if 1 / ABOVE_LIMIT <= part < 1 else 1.0


def _latency(setup: Setup) -> str:
    """The class that is promised of the fastest disk; a cache promises none."""
    if any(disk.local for disk in setup.disks):
        return "local"
    promised = {disk.kind.latency_class for disk in setup.disks if disk.kind}
    return next((name for name in LATENCY_CLASSES if name in promised), LATENCY_CLASSES[-1])


def _known(value: object) -> float | None:
    return None if pd.isna(value) else float(value)  # type: ignore[arg-type]
