"""Advice in words: assumptions, limits, rejected alternatives, and the record of a configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from azbenchlib.advisor.demands.demand import LARGE_BS, Demand
from azbenchlib.advisor.fio_job import latency_s, outstanding
from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.reasons.rejected import RejectedAlternative
from azbenchlib.advisor.verify import CheckedLimit
from azbenchlib.azure.prices.rows import PAYMENT_WORDS
from azbenchlib.core.units import MS_PER_S, format_count, format_mbps, format_size
from azbenchlib.model.setup import Disk, Setup

if TYPE_CHECKING:
    from azbenchlib.advisor.configuration import Configuration

NO_OS_DISK = "the OS disk: --os-disk adds it"
NOT_MODELLED = (
    "snapshots, backup, network, and licences of SQL Server and other software",
    "whether Azure has capacity for the size at that moment, and your quota of vCPUs",
    "performance plus, shared disks, encryption at host",
    "whether the VM's CPU is enough to issue the I/O",
)


def assumptions(demand: Demand, market: Market, setups: Sequence[Setup]) -> tuple[str, ...]:
    """What an answer assumes, in sentences."""
    iops, size = demand.steady
    rate = f"{format_count(iops)} IOPS" if demand.iops else f"{format_mbps(size)} MB/s"
    found = [f"{rate} are I/Os of {format_size(demand.block)}, {demand.read_share:.0%} reads"]
    if len(demand.moments()) > 1:
        found.append(f"{format_mbps(size)} MB/s are I/Os of {format_size(LARGE_BS)}, at another moment")
    spare = f"every limit of IOPS and MB/s is at least {demand.headroom:g} times the demand"
    found.append(spare if demand.headroom > 1 else "no limit needs headroom above the demand")
    if wanted := _of_vm(demand):
        found.append(f"the VM has at least {wanted}")
    if demand.cache_hit:
        found.append(f"a ReadOnly host cache serves {demand.cache_hit:.0%} of the reads; writes count twice")
        found += caching_known(market, {setup.vm.size for setup in setups})
    else:
        found.append("host-cache hits are assumed to be 0 %, so caching brings no gain (set --hit)")
    best = setups[0]
    depth = outstanding(best.vm, best.disks[0], demand)
    each = latency_s(best.vm, best.disks[0], demand) * MS_PER_S
    found.append(
        f"the application keeps {format_count(depth)} I/O{'s' if depth > 1 else ''} outstanding (99 of 100 "
        f"are done within {each:.2g} ms while nothing throttles them); with fewer it cannot use the rates"
    )
    if demand.peak and any(setup.has_credits for setup in setups):
        found.append(
            "credits come back between two peaks; each peak finds no more than what came back, and it lasts "
            "for the peak with this headroom"
        )
    elif not demand.peak:
        found.append("the load is continuous, so burst credits are not used")
    if demand.os_disk:
        found.append(_of_os_disk(demand.os_disk))
    found += _payment(market)
    kinds = [disk.kind for setup in setups for disk in setup.disks if disk.kind]
    if any(kind.billing and kind.billing.operations_tier for kind in kinds):
        found.append(
            "transactions are billed for the load as long as it runs; a cap of Standard SSD is not known"
        )
    if market.asked_on is None and any(kind.separate_vm_limits for kind in kinds):
        found.append("Premium SSD v2 and Ultra are offered in the VM's zone and for its size")
    interface = "NVMe" if market.with_nvme else "SCSI"
    found.append(f"limits of {market.as_of}, of the {interface} interface where a size has both")
    return (*found, *_left_out(market))


def caching_known(market: Market, chosen: Collection[str | None]) -> Iterator[str]:
    """On which VM sizes host caching counts, and why it does not on those that were chosen."""
    promised = sum(one.caching for one in market.vms)
    supported, denied = (
        sum(one.caching_supported is says and not one.caching for one in market.vms) for says in (True, False)
    )
    unknown = len(market.vms) - promised - supported - denied
    yield (
        f"host caching counts on the {format_count(promised)} of {format_count(len(market.vms))} VM sizes "
        f"with a documented cached limit; {format_count(supported)} others support it without one, "
        f"{format_count(denied)} do not support it, and of {format_count(unknown)} it is not known"
    )
    for one in market.vms:
        if one.size in chosen and one.caching_supported and not one.caching:
            yield f"{one.size} supports host caching, but no cached limit is documented, so no hit is counted"


def _of_os_disk(wanted: Demand) -> str:
    """What is taken of the I/Os of an OS disk."""
    if not wanted.has_rates:
        return "the OS disk's I/Os are not stated: none is counted in the limits of the VM"
    iops, rate = wanted.steady
    return (
        f"the OS disk's {format_count(iops)} IOPS and {format_mbps(rate)} MB/s come at the same time; they "
        "are in the limits of the VM"
    )


def _of_vm(demand: Demand) -> str:
    """What a demand wants of the VM's CPU and memory; empty: nothing."""
    vcpus, memory, each = demand.vcpus, demand.memory_bytes, demand.memory_per_vcpu_bytes
    wanted = [
        f"{format_count(vcpus)} vCPU{'s' if vcpus > 1 else ''}" if vcpus else "",
        f"{format_size(memory)} of memory" if memory else "",
        f"{format_size(each)} of memory for each vCPU" if each else "",
    ]
    return " and ".join(filter(None, wanted))


def _payment(market: Market) -> Iterator[str]:
    """How everything is paid."""
    yield f"prices: VM {PAYMENT_WORDS[market.pay]}, disks {PAYMENT_WORDS[market.disk_pay]}"
    if market.os == "windows":
        yield "the VM's price has the licence of Windows"
    elif market.os == "windows-hybrid":
        yield "Windows with licences of your own (Azure Hybrid Benefit) costs what Linux does"
    if market.running != market.hours:
        hours, running = (f"{value.normalize():f}" for value in (market.hours, market.running))
        yield f"the VM runs {running} of the month's {hours} hours; its disks are billed in all of them"
    if market.discount:
        yield f"{market.discount:.4%} are taken off every price".replace(".0000%", " %")


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
    if there.servers:
        names = ", ".join(name.removeprefix("standard_") for name in there.servers)
        yield f"price lists alone name these VM sizes for servers, no page and no list of limits: {names}"
    if reasons:
        yield f"of {format_count(there.priced)} VM sizes with a price some are left out: {'; '.join(reasons)}"


def amount(one: CheckedLimit, value: float) -> str:
    """A figure of a limit with its unit."""
    if one.unit == "credit_s":
        return f"{value / 60:,.1f} min credits"
    forms = {
        "iops": lambda: f"{format_count(round(value, 3))} IOPS",
        "bytes_per_s": lambda: f"{format_mbps(value)} MB/s",
        "bytes": lambda: format_size(value),
        "disks": lambda: f"{value:.0f} data disk{'s' if value != 1 else ''}",
    }
    return forms[one.unit]()


def broken(miss: RejectedAlternative) -> str:
    """What is in the way of a cheaper configuration, the worst of it in figures."""
    worst = miss.worst
    wanted = amount(worst, worst.wanted * worst.enough)
    others = [
        label.display_name
        for label in dict.fromkeys(one.label for one in miss.broken)
        if label != worst.label
    ]
    more = f"; {', '.join(others)} too" if others else ""
    short = f"{1 / worst.shortfall - 1:+.0%}"
    same = "; it costs the same" if miss.same_price else ""
    return f"{worst.label.display_name} {amount(worst, worst.limit)} of {wanted} ({short}){more}{same}"


def missed(miss: RejectedAlternative, currency: str) -> str:
    """A cheaper configuration and what is in its way, in a sentence."""
    candidate = miss.candidate
    disks = candidate.option.disk.name
    what = f"{candidate.setup.vm.size} with {disks}, {candidate.price:,.2f} {currency}"
    return f"{what}: {broken(miss)}"


def described(option: DiskOption) -> str:
    """Disks in words."""
    disk, kind = option.disk, option.kind
    many, each = (f"{disk.count} × ", " each") if disk.count > 1 else ("", "")
    size = format_size(disk.size_bytes or 0)
    if disk.role == "ephemeral_os":
        place = {"cache": "host cache", "temp": "temp disk", "nvme": "local NVMe disk"}[disk.placement]
        return f"ephemeral OS disk of {size} on the {place}, lost when the VM is resized or redeployed"
    if disk.local:
        lost = "what is on them is lost" if disk.count > 1 else "what is on it is lost"
        return f"{many}{kind.label} of {size}: {lost} when the VM stops"
    if kind.provisioned:
        rates = f"{format_count(disk.cap.iops or 0)} IOPS, {format_mbps(disk.cap.bytes_per_s or 0)} MB/s"
        return f"{many}{kind.label} of {size}, {rates}{each}{_striped(disk)}"
    caching = f"{disk.caching} caching" if disk.caching != "None" else "no host caching"
    paid = ", on-demand bursting" if disk.bursting else ""
    redundancy = (disk.sku or "").partition("_")[2]
    name = f"{kind.label} {disk.tier} {redundancy} of {size}"
    return f"{many}{name}, {caching}{paid}{_striped(disk)}"


def _striped(disk: Disk) -> str:
    return ", striped" if disk.striped else ""


def summary(configuration: Configuration) -> dict[str, object]:
    """A configuration as a short row of a table: what it is, and what it costs."""
    market, os_option = configuration.candidate.market, configuration.candidate.os_option
    return {
        "vm": configuration.vm,
        "disks": configuration.disks,
        "os_disk": os_option.disk.name if os_option else None,
        "caching": configuration.caching,
        "price_per_month": configuration.price,
        "price_bound": configuration.bound,
        "currency": market.currency,
        "binding_limit": configuration.binding,
        "headroom": configuration.headroom,
        "labels": list(configuration.labels),
        "recommended": configuration.is_recommended,
        "kind": configuration.kind.key,
        "redundancy": configuration.redundancy,
        "region": market.region,
        "hours": market.hours,
        "vm_hours": market.running,
        "pay": market.pay,
        "disk_pay": market.disk_pay,
        "os": market.os,
        "bursts": configuration.bursts,
        "prices_as_of": sorted({line.price.as_of for line in configuration.bill.lines}),
        "cautions": [caution.text for caution in configuration.cautions],
    }


def record(configuration: Configuration) -> dict[str, object]:
    """A configuration as a row of a table, with its bill, why nothing cheaper does, and its fio job."""
    currency = configuration.candidate.market.currency
    return summary(configuration) | {
        "why_not_cheaper": [missed(miss, currency) for miss in configuration.why_not_cheaper],
        "lines": configuration.bill.records(),
        "fio_job": configuration.fio_job,
    }
