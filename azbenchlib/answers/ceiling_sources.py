"""Where the limits that bind a ceiling are documented."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from azbenchlib.azure import catalog
from azbenchlib.model.ceilings import ALL_VOLUMES
from azbenchlib.model.fill_from_catalogue import statements

if TYPE_CHECKING:
    from azbenchlib.azure.catalog import Limit
    from azbenchlib.model import Ceiling, Disk, Setup
    from azbenchlib.model.labels import Label
    from azbenchlib.model.setup_ceilings import SetupCeilings

_STATED = "as stated"
_SEPARATE = "uncached_v2"  # the limits of Ultra Disk and Premium SSD v2, where they have their own
_PATHS = {
    "vm_uncached": ("uncached",),
    "vm_cached": ("cached",),
    "temp": ("temp", "cached"),
    "nvme": ("nvme_read", "nvme_write"),
}
_QUANTITIES = {"iops": "iops", "mbps": "bytes_per_s"}


class CeilingSources:
    """The sources of a setup's limits, each with its day.

    Parameters
    ----------
    result : SetupCeilings
    """

    def __init__(self, result: SetupCeilings) -> None:
        self._setup = result.setup
        self._vm_is_stated = result.stated.vm.stated
        self._of_vm = {limit.name: limit.source_id for limit in vm_statements(result.setup)}
        pairs = zip(result.setup.disks, result.stated.disks, strict=True)
        self._stated_disks = {disk.name for disk, described in pairs if described.cap}

    def of(self, row: Ceiling) -> tuple[tuple[str, str], ...]:
        """Return the source and the name of each limit that binds, as far as there is one."""
        volumes = [volume for volume in self._setup.volumes() if row.scope in (volume.name, ALL_VOLUMES)]
        disks = [volume.disk for volume in volumes]
        pairs = [pair for label in row.binding if label.is_limit for pair in self._pairs(label, disks)]
        return tuple(dict.fromkeys((source, name) for source, name in pairs if source))

    def _pairs(self, label: Label, disks: Sequence[Disk]) -> Iterator[tuple[str, str]]:
        if label.scope != "disk":
            yield self._vm_source(label, disks), label.display_name
            return
        for disk in disks:
            of = f" of {disk.tier}" if disk.tier else ""
            yield self._disk_source(disk), f"{label.display_name}{of}"

    def _disk_source(self, disk: Disk) -> str:
        if disk.name in self._stated_disks:
            return _STATED
        return _cited(catalog.disk_tier(disk.tier, self._setup.as_of).source_id) if disk.tier else ""

    def _vm_source(self, label: Label, disks: Sequence[Disk]) -> str:
        if self._vm_is_stated:
            return _STATED
        paths = _PATHS[label.scope or ""]
        if label.scope == "vm_uncached" and any(d.kind and d.kind.separate_vm_limits for d in disks):
            paths = (_SEPARATE, *paths)
        quantity = f"{'burst_' if label.burst else ''}{_QUANTITIES[label.quantity or '']}"
        known = (self._of_vm[name] for path in paths if (name := f"{path}_{quantity}") in self._of_vm)
        return _cited(source) if (source := next(known, "")) else ""


def by_source(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line a source: its day, and the limits that it has."""
    names: dict[str, dict[str, None]] = {}
    for source, name in pairs:
        names.setdefault(source, {})[name] = None
    return [f"{source}: {', '.join(limits)}" for source, limits in names.items()]


def vm_statements(setup: Setup) -> list[Limit]:
    """Return what the catalogue states of the VM size; nothing where there is none."""
    return statements(setup.vm.size, setup.as_of) if setup.vm.size and setup.as_of else []


@cache
def _cited(source_id: str) -> str:
    return f"{source_id} of {catalog.source(source_id).date}"
