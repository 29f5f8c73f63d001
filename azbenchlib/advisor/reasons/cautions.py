"""What makes a configuration doubtful, or must be known before it is ordered, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from azbenchlib.advisor.offers.market import Market
from azbenchlib.azure.disk_kinds import EPHEMERAL_OS, PREMIUM_SLA, STANDARD_HDD, ULTRA, DiskKind
from azbenchlib.azure.prices.rows import SPOT
from azbenchlib.core.units import format_size
from azbenchlib.cost.bill import Bill
from azbenchlib.cost.usage import doubts

if TYPE_CHECKING:
    from azbenchlib.advisor.configuration import Configuration

OLD_PRICE_DAYS = 90  # our judgement: retail prices and reservations change several times a year


@dataclass(frozen=True)
class Caution:
    """One of them: in a few words, and in a sentence."""

    brief: str
    text: str


def cautions(one: Configuration) -> tuple[Caution, ...]:
    """What is to be known of a configuration before it is ordered."""
    return tuple(dict.fromkeys((*_of_vm(one), *_of_disks(one))))


def _of_vm(one: Configuration) -> Iterator[Caution]:
    market, vm_size = one.candidate.market, one.candidate.vm_size
    if market.pay == SPOT:
        text = "spot: Azure may evict the VM at any time, with 30 seconds of notice"
        yield Caution("eviction at any time (spot)", text)
    if vm_size.retires_on:
        yield Caution(f"retires on {vm_size.retires_on}", f"Azure retires {one.vm} on {vm_size.retires_on}")
    if vm_size.pages_only:
        text = f"{one.vm} is known by a documentation page alone: no list of what Azure offers has it"
        yield Caution("known by a documentation page alone", text)
    if vm_size.name.burstable:
        text = f"{one.vm} has a burstable CPU: at full load it falls back to a share of its vCPUs"
        yield Caution("burstable CPU", text)
    if vm_size.architecture == "arm64":
        text = f"{one.vm} has an Arm CPU: the operating system and all software must be built for it"
        yield Caution("Arm CPU", text)
    if vm_size.interface == ("NVMe",):
        text = f"{one.vm} takes disks over NVMe alone: the image must have the drivers"
        yield Caution("the image needs NVMe drivers", text)
    elif "NVMe" in vm_size.interface:
        interface, needs = ("NVMe", ": the image must have the drivers") if market.with_nvme else ("SCSI", "")
        text = f"{one.vm} takes disks over SCSI or NVMe; the limits here are those of {interface}{needs}"
        yield Caution(f"limits of {interface}", text)
    if market.asked_on is None:
        zone = f"zone {one.demand.zone} of " if one.demand.zone else ""
        yield Caution(
            f"not known whether it is offered to you{f' in zone {one.demand.zone}' if zone else ''}",
            f"whether {one.vm} is offered to you in {zone}{market.region} is not known: "
            f"`azbench catalog refresh --region {market.region}` asks Azure",
        )


def _of_disks(one: Configuration) -> Iterator[Caution]:
    kind, vm_size, market = one.kind, one.candidate.vm_size, one.candidate.market
    kinds = [option.kind for option in one.candidate.options]
    if kind is ULTRA and vm_size.ultra is not True:
        said = "says that it takes none" if vm_size.ultra is False else "does not say whether it does"
        text = f"a page prints limits of {one.vm} for Ultra Disks, but the resource-SKU API {said}"
        yield Caution("not sure that it takes Ultra Disks", text)
    if kind.soft_limits:
        text = f'the limits of {kind.label} are "up to" values: less may come'
        yield Caution(f'{kind.label} gives "up to" its limits', text)
    if kind is STANDARD_HDD and one.demand.small:
        block = format_size(one.demand.block)
        text = f"Standard HDD is for backup and infrequent access, not for I/Os of {block}"
        yield Caution("Standard HDD is not for small I/Os", text)
    least = min(kinds, key=lambda each: each.single_vm_sla)
    if least.single_vm_sla < PREMIUM_SLA:
        sla, best = (f"{share * 100:g}%" for share in (least.single_vm_sla, PREMIUM_SLA))
        text = (
            f"the SLA of a single VM with {least.label} is {sla}; {best} with Premium SSD as all of its disks"
        )
        yield Caution(f"SLA of a single VM {sla}", text)
    if kind.zonal and one.demand.zone is None:
        text = f"{kind.label} attaches to VMs in an availability zone alone, where the region has zones"
        yield Caution("the VM must be in an availability zone", text)
    if one.demand.is_os_disk or one.demand.os_disk:
        yield from _of_os_disk(kinds[-1])
    for option in one.candidate.options:
        use = replace(option.use, pay=market.pay, disk_pay=market.disk_pay, os=market.os)
        for text in doubts(replace(one.setup, disks=(option.disk,)), use):
            yield Caution(text.partition(":")[0], text)


def _of_os_disk(kind: DiskKind) -> Iterator[Caution]:
    """Yield what holds of an OS disk alone.

    Sources: azure-compute-docs ephemeral-os-disks.md@48af4dd8 (2025-10-08),
    managed-disks-overview.md@5db40702 (2025-04-01).
    """
    if kind is EPHEMERAL_OS:
        text = "a VM with an ephemeral OS disk cannot be deallocated, and the disk has no snapshot or backup"
        yield Caution("ephemeral OS disk: no deallocation, no backup", text)
        text = "Trusted Launch keeps 1 GiB of the place of an ephemeral OS disk for itself"
        yield Caution("1 GiB is for Trusted Launch", text)
    if kind is STANDARD_HDD:
        text = "Azure supports Standard HDD as OS disks until 2028-09-08"
        yield Caution("Standard HDD as OS disk until 2028-09-08", text)


def old_prices(bills: Bill, market: Market) -> Iterator[Caution]:
    """Which prices of a bill are old on the market's day; none where all are new."""
    today = date.fromisoformat(market.as_of)
    days = {line.price.as_of: (today - date.fromisoformat(line.price.as_of)).days for line in bills.lines}
    oldest = max(days, key=lambda day: days[day], default=None)
    if oldest is not None and days[oldest] > OLD_PRICE_DAYS:
        old = f"{days[oldest]} days old"
        refresh = f"`azbench catalog refresh --retail-prices --region {market.region}`"
        yield Caution(f"prices {old}", f"prices of {oldest} are {old}: {refresh} reads today's")
