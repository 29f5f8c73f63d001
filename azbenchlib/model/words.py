"""What an advice says beside its figures: names, sentences, and the record of a design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from azbenchlib.model.demand import LARGE_BS, V2, Demand
from azbenchlib.model.market import Market
from azbenchlib.model.near_miss import NearMiss
from azbenchlib.model.recheck import Limit
from azbenchlib.model.setup import Disk
from azbenchlib.model.verification import latency_s, outstanding
from azbenchlib.units import MS_PER_S, format_count, format_mbps, format_size

if TYPE_CHECKING:
    from azbenchlib.model.design import Design

KIND_NAMES = {
    "nvme": "local NVMe disks",
    "temp": "the temp disk",
    "premium_v2": "Premium SSD v2",
    "ultra": "Ultra Disk",
    "premium": "Premium SSD",
    "standard_ssd": "Standard SSD",
    "standard_hdd": "Standard HDD",
}
NOT_MODELLED = (
    "the OS disk, snapshots, backup, network and licences; discounts and agreements",
    "whether a size is still sold, is free in a zone and within your quota",
    "performance plus, shared disks, encryption at host",
    "whether the VM's CPU is enough to issue the I/O; B sizes have it in bursts",
)


def assumptions(demand: Demand, market: Market, kinds: Sequence[str]) -> tuple[str, ...]:
    """What an answer takes for granted, in sentences."""
    iops, size = demand.steady
    block = format_size(demand.block)
    found = [f"{format_count(iops)} IOPS are I/Os of {block}, {demand.read_share:.0%} reads"]
    if len(demand.moments()) > 1:
        found.append(f"{format_mbps(size)} MB/s are I/Os of {format_size(LARGE_BS)}, at another moment")
    spare = f"every limit of IOPS and MB/s is at least {demand.headroom:g} times what is wanted"
    found.append(spare if demand.headroom > 1 else "no limit needs headroom above what is wanted")
    if demand.cache_hit:
        found.append(f"a ReadOnly host cache serves {demand.cache_hit:.0%} of the reads; writes count twice")
    else:
        found.append("no read is taken to be served by a host cache, so caching gains nothing")
    depth, each = outstanding(kinds[0], demand), latency_s(kinds[0]) * MS_PER_S
    found.append(
        f"the application keeps {format_count(depth)} I/Os outstanding (at {each:g} ms each); "
        "with fewer it cannot use the rates"
    )
    if demand.peak:
        found.append(
            "credits come back between two peaks; each peak finds no more than what came back, and it lasts "
            "for the peak with this headroom"
        )
    else:
        found.append("the load runs all the time: credits are not counted on")
    if {"standard_ssd", "standard_hdd"} & set(kinds):
        found.append(
            "transactions are billed for the load as long as it runs; a cap of Standard SSD is not known"
        )
    if set(V2) & set(kinds):
        found.append("Premium SSD v2 and Ultra are offered in the VM's zone and for its size")
    found.append(f"limits of {market.as_of}, of the SCSI interface where a size has both")
    return (*found, *_left_out(market))


def _left_out(market: Market) -> Iterator[str]:
    """How many sizes do not compete, and why, in one line; none where all do."""
    there = market.left_out
    reasons = [
        f"{format_count(number)} {why}"
        for number, why in (
            (there.size, "are not in the catalogue"),
            (there.disks, "have no documented number of data disks (these compete with local disks alone)"),
            (there.limits, "have no documented limit (so do these)"),
        )
        if number
    ]
    if reasons:
        yield f"of {format_count(there.priced)} VM sizes with a price some are left out: {'; '.join(reasons)}"


def amount(one: Limit, value: float) -> str:
    """A figure of a limit with its unit."""
    if one.unit == "credit_s":
        return f"{value / 60:,.1f} min credits"
    forms = {
        "iops": lambda: f"{format_count(round(value, 3))} IOPS",
        "bytes_per_s": lambda: f"{format_mbps(value)} MB/s",
        "bytes": lambda: format_size(value),
        "disks": lambda: f"{value:.0f} data disks",
    }
    return forms[one.unit]()


def broken(miss: NearMiss) -> str:
    """What is in the way of a cheaper design, the worst of it in figures."""
    worst = miss.worst
    wanted = amount(worst, worst.wanted * worst.enough)
    more = f"; {', '.join(one.label for one in miss.broken[1:])} too" if len(miss.broken) > 1 else ""
    short = f"{1 / worst.shortfall - 1:+.0%}"
    same = "; it costs the same" if miss.same_price else ""
    return f"{worst.label} {amount(worst, worst.limit)} of {wanted} ({short}){more}{same}"


def missed(miss: NearMiss, currency: str) -> str:
    """A cheaper design and what is in its way, in a sentence."""
    choice = miss.choice
    what = f"{choice.setup.vm.size} with {disk_text(choice.option.disk)}, {choice.price:,.2f} {currency}"
    return f"{what}: {broken(miss)}"


def disk_text(disk: Disk) -> str:
    """The disks as `--disk` takes them, and whether they are zone-redundant, which it cannot say."""
    return f"{disk.name} ZRS" if (disk.sku or "").endswith("ZRS") else disk.name


def described(design: Design) -> str:
    """The disks of a design in words."""
    disk = design.setup.disks[0]
    many = f"{disk.count} × " if disk.count > 1 else ""
    size = format_size(disk.size_bytes or 0)
    if disk.local:
        return f"{many}{KIND_NAMES[design.kind]} of {size}: what is on them is lost when the VM stops"
    if design.kind in V2:
        rates = f"{format_count(disk.cap.iops or 0)} IOPS, {format_mbps(disk.cap.bytes_per_s or 0)} MB/s"
        return f"{many}{KIND_NAMES[design.kind]} of {size}, {rates} each{_striped(disk)}"
    caching = f"{disk.caching} caching" if disk.caching != "None" else "no host caching"
    paid = ", on-demand bursting" if disk.bursting else ""
    name = f"{KIND_NAMES[design.kind]} {disk.tier} {design.redundancy} of {size}"
    return f"{many}{name}, {caching}{paid}{_striped(disk)}"


def _striped(disk: Disk) -> str:
    return ", striped" if disk.striped else ""


def record(design: Design) -> dict[str, object]:
    """A design as a row of a table."""
    market = design.choice.market
    return {
        "vm": design.vm,
        "disks": design.disks,
        "caching": design.caching,
        "price_per_month": design.price,
        "currency": market.currency,
        "binding_limit": design.binding,
        "headroom": design.headroom,
        "why_not_cheaper": [missed(miss, market.currency) for miss in design.why_not_cheaper],
        "labels": list(design.labels),
        "kind": design.kind,
        "redundancy": design.redundancy,
        "region": market.region,
        "hours": market.hours,
        "pay": market.pay,
        "bursts": design.bursts,
        "prices_as_of": sorted({line.price.as_of for line in design.bill.lines}),
        "lines": design.bill.records(),
        "fio_job": design.fio_job,
    }
