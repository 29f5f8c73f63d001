"""Where each limit of a setup is documented, and what else is in print about it."""

from __future__ import annotations

from functools import cache
from itertools import product

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import VmRow
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import format_count, format_mbps
from azbenchlib.model import host_caching, size_remarks
from azbenchlib.model.fill_from_catalogue import differ, known_parts
from azbenchlib.model.setup import Disk, Setup

_NAMES = {"iops": "iops", "mbps": "bytes_per_s"}
_PATHS = {"vm_uncached": "uncached", "vm_cached": "cached", "temp": "temp", "nvme": "nvme_read"}
AS_STATED = "as stated"


def rows(setup: Setup, stated: Setup) -> dict[str, str]:
    """The row that each limit comes from, by label such as ``disk_iops`` or ``vm_uncached_burst_iops``.

    Parameters
    ----------
    setup : Setup
        With the limits filled in.
    stated : Setup
        As it was described before.
    """
    found = {}
    vm = _vm(setup)
    for stem, path in _PATHS.items():
        for burst, (quantity, name) in product(("", "burst_"), _NAMES.items()):
            label = f"{stem}_{burst}{quantity}"
            if stated.vm.stated:
                found[label] = AS_STATED
            elif row := _vm_row(vm, setup, f"{path}_{burst}{name}") or (
                _vm_row(vm, setup, f"cached_{burst}{name}") if stem == "temp" else None
            ):
                found[label] = row
    for disk, full in zip(stated.disks, setup.disks, strict=True):
        for burst, (quantity, name) in product(("", "burst_"), _NAMES.items()):
            if row := AS_STATED if disk.cap else _disk_row(full, setup, f"{burst}{name}"):
                found[f"disk_{burst}{quantity}"] = row
    return found


def resolved(stated: Setup, day: str) -> tuple[Setup, tuple[Finding, ...]]:
    """The setup with the catalogue's figures, part by part, with a finding where it lacks some. Host caching
    that the size does not support is left out.
    """
    remark = host_caching.remark(stated, day)
    doubts = size_remarks.findings(stated, day)
    doubts += (Finding.of(Code.HOST_CACHING_DOUBTFUL, remark),) if remark else ()
    full, lacking = known_parts(host_caching.without_denied(stated, day), day)
    return full, (*doubts, *((Finding.of(Code.LIMITS_NOT_KNOWN, "; ".join(lacking)),) if lacking else ()))


def other_rows(setup: Setup) -> dict[str, list[tuple[float, str]]]:
    """Other figures in print of the VM's limits, by base label: values, and where they stand."""
    vm = _vm(setup)
    if vm is None:
        return {}
    found: dict[str, list[tuple[float, str]]] = {}
    for stem, path in _PATHS.items():
        for quantity, name in _NAMES.items():
            found[f"{stem}_{quantity}"] = [
                (limit.value, f"{limit.value:,.0f} in {limit.source_id}")
                for limit in vm.limits
                if limit.name == f"{path}_{name}"
            ]
    return found


def _vm(setup: Setup) -> VmRow | None:
    """The VM size in the catalogue; None where it is not stated, or not known there."""
    if not setup.vm.size:
        return None
    try:
        return catalog.vm(setup.vm.size, setup.as_of)
    except InputError:
        return None


def _disk_row(disk: Disk, setup: Setup, name: str) -> str | None:
    """The figure of a tier; None where the disk has none, or its tier is not known there."""
    try:
        tier = catalog.disk_tier(disk.tier, setup.as_of) if disk.tier else None
    except InputError:
        return None
    columns = [name, f"on_demand_{name}"] if name.startswith("burst_") else [name]
    known = [column for column in columns if tier and getattr(tier, column) is not None]
    return f"{disk.tier} {known[0]}, {_cited(tier.source_id)}" if tier and known else None


@cache
def _cited(source_id: str) -> str:
    """A source with its own day, unless its name has it."""
    day = catalog.source(source_id).date
    return source_id if day in source_id else f"{source_id} of {day}"


def _vm_row(vm: VmRow | None, setup: Setup, name: str) -> str | None:
    best = vm.best(name) if vm else None
    if vm is None or best is None:
        return None
    form = format_count if best.unit == "1/s" else format_mbps
    unit = "IOPS" if best.unit == "1/s" else "MB/s"
    others = [limit for limit in vm.figures(name) if differ(limit.value, best.value)]
    if not others:
        return f"{setup.vm.size} {best.name}, {_cited(best.source_id)}"
    texts = [f"{form(limit.value)} {unit} in {_cited(limit.source_id)}" for limit in (best, *others)]
    return f"{setup.vm.size} {best.name}, {' and '.join(texts)}"
