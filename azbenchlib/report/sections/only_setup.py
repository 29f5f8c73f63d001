"""The setup of a report that is about one: VM, disks, host caching and region, and what of it is assumed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azbenchlib.analysis.setup_names import ROLE_WORDS
from azbenchlib.azure import disk_kinds
from azbenchlib.core import schema
from azbenchlib.core.units import NBSP, format_count, format_mbps, format_size
from azbenchlib.dataset.setups import GIVEN_ID
from azbenchlib.model.disk_row import OF_SETUP, DiskRow
from azbenchlib.model.notation import leaves_caching_open

if TYPE_CHECKING:
    from azbenchlib.report.part import Part

_MOST_DISKS = 3  # kinds of them


def only_setup(parts: Sequence[Part]) -> str:
    """``D8s_v5, P30 (caching not stated, None assumed), westeurope (assumed)``; empty where there is not one
    setup, or nobody stated it.
    """
    ids = {setup_id for part in parts for setup_id in part.setup_ids}
    if len(parts) != 1 or len(ids) != 1 or not parts[0].arrangement.runs["stated"].all():
        return ""
    part, (setup_id,) = parts[0], ids
    tables = part.dataset.tables
    setup = schema.records(tables["setups"][tables["setups"]["setup_id"] == setup_id])[0]
    rows = schema.records(tables["disks"][tables["disks"][OF_SETUP] == setup_id])
    disks = Counter(_disk(DiskRow.from_row(row), is_given=setup_id == GIVEN_ID) for row in rows)
    named = [f"{n}{NBSP}×{NBSP}{words}" if n > 1 else words for words, n in disks.items()]
    more = [f"{len(named) - _MOST_DISKS} more kinds of disks"] if len(named) > _MOST_DISKS else []
    priced = part.priced.get(setup_id)
    region = setup["region"] or (f"{priced.region} (assumed)" if priced else "")
    vm = str(setup["vm_size"] or "VM size not stated").removeprefix("Standard_")
    return ", ".join(
        filter(None, [vm, *named[:_MOST_DISKS], *more, str(region), "emulated" if part.emulated else ""])
    )


def _disk(row: DiskRow, is_given: bool) -> str:
    """A disk with its host caching, where it may have any."""
    kind = disk_kinds.of_sku(row.sku)
    role, _ = ROLE_WORDS.get(row.role or "", ("", ""))
    if kind is None or row.role not in (None, "data", "os"):
        return role or row.sku or row.disk
    size = format_size(row.size_bytes) if row.size_bytes else ""
    rates = [
        f"{format_count(row.provisioned_iops)}{NBSP}IOPS" if row.provisioned_iops else "",
        f"{format_mbps(row.provisioned_bytes_per_s)}{NBSP}MB/s" if row.provisioned_bytes_per_s else "",
    ]
    what = row.tier or " ".join(filter(None, [kind.label, size, *rates]))
    named = " ".join(filter(None, [role if row.role == "os" else "", what]))
    several = f"{row.count}{NBSP}×{NBSP}" if row.count and row.count > 1 else ""
    return f"{several}{named}{f' ({_caching(row, is_given)})' if kind.cacheable else ''}"


def _caching(row: DiskRow, is_given: bool) -> str:
    if row.host_caching is None or (is_given and leaves_caching_open(row.disk)):
        return "caching not stated, None assumed"
    return "no host caching" if row.host_caching == "None" else f"{row.host_caching} caching"
