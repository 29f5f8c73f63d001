"""What an hour of a run in Azure costs by the price book, and what of it the book has no price for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from azbenchlib.azure.prices.rows import PAYG, SPOT
from azbenchlib.campaign.files.setups import planned
from azbenchlib.campaign.files.spec import Experiment, SetupSpec
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.core.units import GIB, format_money
from azbenchlib.cost.priced_setups import Terms, price
from azbenchlib.model import VM, Disk, Setup
from azbenchlib.model.descriptions import stated_setup

# What az makes where it is told neither kind nor size: as large as the image, 30 GiB for the Linux images of
# the Marketplace, and Premium SSD on sizes that take it; the others get a cheaper kind. By judgement.
_OS_SKU, _OS_BYTES = "Premium_LRS", 32 * GIB
_NO_DISK_OF_AZURE = ("temp", "nvme", "ephemeral_os")


@dataclass(frozen=True, kw_only=True)
class HourlyPrices:
    """An hour of the dearest VM and of all managed disks of a measurement file.

    `vm` and `disks` are None where there is no price; `notes` say why, what was assumed, and by name what is
    not priced.
    """

    vm: Decimal | None = None
    disks: Decimal | None = None
    currency: str = ""
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """Of the VM and the disks; None where either has no price."""
        return None if self.vm is None or self.disks is None else self.vm + self.disks


def hourly(experiment: Experiment) -> HourlyPrices:
    """What an hour costs at most, by the newest prices of the region; a spot VM at the spot price."""
    tables = planned(experiment)
    vms: list[Decimal | None] = []
    each: dict[str, Decimal | None] = {}
    currency, notes, by_use = "", dict[str, None](), dict[str, None]()
    for setup in experiment.setups:
        sizes = dict.fromkeys([setup.vm, *(other.vm for other in setup.otherwise if other.vm)])
        for size in sizes:
            total, unit, said = _vm(experiment.region, size, setup.priority == "spot")
            vms.append(total)
            currency, notes = unit or currency, notes | dict.fromkeys(said)
        for disk in _disks(setup, stated_setup(tables, setup.name).disks):
            one = price(Setup(vm=VM(), disks=(disk,)), _terms(experiment.region))
            notes |= dict.fromkeys([one.why] if one.why else ())
            by_use |= dict.fromkeys([disk.name] if one.doubts else ())
            before = each.get(disk.name, Decimal(0))
            each[disk.name] = None if one.total is None or before is None else max(before, one.total)
    known = [one for one in vms if one is not None]
    return HourlyPrices(
        vm=None if None in vms else max(known, default=Decimal(0)),
        disks=None if None in each.values() else sum((one for one in each.values() if one), Decimal(0)),
        currency=currency,
        notes=(*notes, *_not_priced(experiment, list(by_use))),
    )


def _terms(region: str, pay: str = PAYG) -> Terms:
    return Terms(region=region, hours=Decimal(1), pay=pay)


def _vm(region: str, size: str, spot: bool) -> tuple[Decimal | None, str, list[str]]:
    """An hour of a size, its currency, and what is to be said of it."""
    stated = Setup(vm=VM(size=size))
    found = price(stated, _terms(region))
    unit = (found.bill.currency if found.bill else "") or ""
    if not spot or found.total is None:
        return found.total, unit, [found.why] if found.why else []
    cheaper = price(stated, _terms(region, SPOT)).total
    if cheaper is None:
        return found.total, unit, [f"{size}: no spot price is known there, so the regular one counts"]
    regular = f"{format_money(float(found.total))} {unit}"
    return cheaper, unit, [f"{size}: the spot price, which Azure changes, up to {regular} an hour"]


def _disks(setup: SetupSpec, stated: tuple[Disk, ...]) -> Iterator[Disk]:
    """The disks that are billed; the OS disk under one name, for a VM that follows another has one, too."""
    for disk in stated:
        if disk.role not in (*_NO_DISK_OF_AZURE, "os"):
            yield disk
    own = next((disk for disk in stated if disk.role in ("os", "ephemeral_os")), Disk(name="os", role="os"))
    if own.role == "os" and (own.size_bytes or not _has_own_image(setup)):
        size, sku = own.size_bytes or _OS_BYTES, own.sku or _OS_SKU
        yield replace(own, name="OS disk", sku=sku, size_bytes=size)


def _has_own_image(setup: SetupSpec) -> bool:
    return setup.image.startswith("/")


def _not_priced(experiment: Experiment, by_use: list[str]) -> list[str]:
    """What a run has that no price book knows, by name; `by_use`: disks whose I/Os are billed each."""
    n_results = sum(len(setup.driven(task)) for setup in experiment.setups for task in setup.tasks)
    nat = experiment.outbound == "nat" and not experiment.subnet
    named = {
        "the OS disk, which is as large as its image": any(
            _has_own_image(setup) and not any(disk.size or disk.role != "os" for disk in setup.os_disks)
            for setup in experiment.setups
        ),
        f"I/Os on {', '.join(by_use)}": bool(by_use),
        "the NAT gateway, its public address and what goes through it": nat,
        "the storage account for the results": n_results >= FEWEST_FOR_CONTAINER,
    }
    told = [name for name, holds in named.items() if holds]
    return [f"not priced: {'; '.join(told)}"] if told else []
