"""The disks and VM sizes that may stand in the place of those of a setup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from azbenchlib.advisor.offers.disk_options import provision, tier_size
from azbenchlib.advisor.offers.load_market import not_sold
from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.azure.catalog.rows import ProvisionedRules, VmRow
from azbenchlib.azure.disk_kinds import ULTRA, DiskKind
from azbenchlib.core.errors import InputError
from azbenchlib.cost.priced_setups import resolved
from azbenchlib.model.fill_from_catalogue import tier_cap
from azbenchlib.model.setup import NO_CAP, VM, Cap, Disk, Setup


@dataclass(frozen=True, kw_only=True)
class PartOffers:
    """What may replace a part of a setup.

    Parameters
    ----------
    stated, full : Setup
        Without the limits of its parts, and with them.
    day : str
        ISO day whose limits count.
    region : str
        Where the parts are bought.
    bought : str
        ISO day of that.
    """

    stated: Setup
    full: Setup
    day: str
    region: str
    bought: str

    def vms(self) -> Iterator[Setup]:
        """The setup on larger sizes of its series that take the disks, and can be bought."""
        mine, asked = catalog.vm(self.full.vm.size or "", self.day), catalog.offers(self.region)
        for row in catalog.same_series(mine.size, self.day):
            today = replace(row, as_of=self.bought)
            if row.size == mine.size or not_sold(today, asked) or not _is_as_large(row, mine):
                continue
            try:
                yield resolved(_on(self.stated, self.full.vm, row), self.day)
            except InputError:
                continue  # it does not take these disks

    def tiers(self, disk: Disk) -> Iterator[Disk]:
        """Disks of tiers that hold as much, are as redundant and promise the same latency."""
        redundancy = (disk.sku or "").partition("_")[2]
        for row in catalog.disk_tiers(self.day):
            kind = disk_kinds.of_sku(f"{row.sku}_{redundancy}")
            size = tier_size(row, disk.caching != "None")
            if (
                kind is None
                or disk.provisioned
                or not self._serves(kind, disk)
                or size < (disk.size_bytes or 0)
            ):
                continue
            larger = replace(
                disk,
                sku=f"{row.sku}_{redundancy}",
                tier=row.name,
                size_bytes=size,
                on_demand_cap=NO_CAP,
                bursting=disk.bursting if disk.bursts_on_demand or not disk.bursting else None,
            )
            yield replace(larger, cap=tier_cap(row, larger.bursts_on_demand))

    def provisioned(
        self, kinds: Sequence[DiskKind], disk: Disk, wanted: tuple[float, float]
    ) -> Iterator[Disk]:
        """As many disks of a provisioned kind, each as large and with so many IOPS and bytes per second."""
        for kind in kinds:
            of_day = _rules(kind, self.bought)
            if of_day is None or not self._serves(kind, disk):
                continue
            iops = min(wanted[0], of_day.max_iops or wanted[0])
            rate = min(wanted[1], of_day.max_bytes_per_s or wanted[1])
            least = provision(of_day, disk.size_bytes or 0, iops, rate)
            if least is not None:
                size, iops, rate = least
                yield replace(
                    disk,
                    sku=f"{of_day.sku}_LRS",
                    tier=None,
                    size_bytes=size,
                    cap=Cap(iops=iops, bytes_per_s=rate),
                    on_demand_cap=NO_CAP,
                    bursting=None,
                )

    def _serves(self, kind: DiskKind, disk: Disk) -> bool:
        """Whether a kind does for what a disk is, and the VM takes it."""
        if disk.kind is None or not kind.serves(disk.kind.latency_class):
            return False
        if (disk.sku or "").partition("_")[2] not in kind.redundancies:
            return False
        if kind is disk.kind or not self.full.vm.size:
            return True
        row = catalog.vm(self.full.vm.size, self.day)
        takes_ultra = kind is not ULTRA or row.ultra_ssd is True
        return takes_ultra and (row.premium_io is True or not kind.needs_premium_io)


def provisioned_kinds(disk: Disk) -> list[DiskKind]:
    """Kinds whose IOPS and MB/s are provisioned, for a data disk without host caching."""
    if disk.caching != "None" or disk.role != "data":
        return []
    return [kind for kind in disk_kinds.managed() if kind.provisioned]


def _is_as_large(row: VmRow, mine: VmRow) -> bool:
    pairs = (
        (row.vcpus_available or row.vcpus, mine.vcpus_available or mine.vcpus),
        (row.memory_bytes, mine.memory_bytes),
    )
    return all((other or 0) >= (own or 0) for other, own in pairs)


def _on(stated: Setup, before: VM, row: VmRow) -> Setup:
    """The setup on another size; who has striped all local NVMe disks does so there too."""
    count = row.best("nvme_count")
    disks = [
        replace(disk, count=int(count.value), striped=count.value > 1)
        if disk.place == "nvme"
        and count
        and disk.count == (before.nvme_count or 1)
        and (disk.striped or disk.count == 1)
        else disk
        for disk in stated.disks
    ]
    return replace(stated, vm=VM(size=row.size), disks=tuple(disks))


def _rules(kind: DiskKind, day: str) -> ProvisionedRules | None:
    try:
        return catalog.provisioned_rules(f"{kind.sku}_LRS", day)
    except InputError:
        return None
