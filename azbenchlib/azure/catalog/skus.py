"""A VM size as the resource-SKU API tells it: capabilities in, catalogue rows out.

The rows are what `vm_api.csv` holds and what `azbench catalog refresh` writes: text by column.
Source of the names: `az vm list-skus`, read on 2026-08-17.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from azbenchlib.azure import documents
from azbenchlib.azure.catalog.rows import NO_CACHE_SIZE
from azbenchlib.azure.documents import AzSku
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MIB

PROPERTIES = (
    "vcpus",
    "vcpus_available",
    "memory_bytes",
    "max_data_disks",
    "premium_io",
    "caching",
    "ephemeral_os",
    "ephemeral_placements",
    "interface",
    "architecture",
    "gpus",
    "ultra_ssd",
    "retires_on",
)
# Of a size in one region, for the subscription that asked: what a refresh writes beside the properties.
OFFER = ("zones", "restricted_zones", "ultra_zones", "restriction")
_PLAIN = {
    "vcpus": "vCPUs",
    "vcpus_available": "vCPUsAvailable",
    "max_data_disks": "MaxDataDiskCount",
    "premium_io": "PremiumIO",
    "ephemeral_os": "EphemeralOSDiskSupported",
    "ephemeral_placements": "SupportedEphemeralOSDiskPlacements",
    "interface": "DiskControllerTypes",
    "gpus": "GPUs",
    "ultra_ssd": "UltraSSDAvailable",
}
_ARCHITECTURES = {"x64": "x64", "Arm64": "arm64"}
_LEAST, _LARGEST = 1e-3, 1e18  # of any figure
_NEVER = "9999"  # year of a retirement that is not announced
_DAY_FORMS = ("%m/%d/%Y", "%m/%d/%Y %H:%M:%S")
_LIMITS = {  # column: capability, and what one of its unit is in ours
    "uncached_iops": ("UncachedDiskIOPS", 1),
    "uncached_bytes_per_s": ("UncachedDiskBytesPerSecond", 1),
    "cache_bytes": ("CachedDiskBytes", 1),
    "temp_bytes": ("MaxResourceVolumeMB", MIB),  # 307200 "MB" are the 300 GiB of the page
    "nvme_bytes": ("NvmeSizePerDiskInMiB", MIB),
    "nvme_read_iops": ("NvmeMaxReadIops", 1),
    "nvme_write_iops": ("NvmeMaxWriteIops", 1),
    "nvme_read_bytes_per_s": ("NvmeMaxReadBytesPerSecond", 1),
    "nvme_write_bytes_per_s": ("NvmeMaxWriteBytesPerSecond", 1),
}
_COMBINED = "CombinedTempDiskAndCached"

# "Premium Storage caching: Not Supported", or "supported except". Source: lsv2-series.md@017654d1,
# sizes-previous-gen.md@092fdbcf, sizes-b-series-burstable.md@0d051abb (azure-docs), and of
# azure-compute-docs lsv3-series.md@05e75b14, lasv3-series.md@261d65, bv1-series.md, lsv4-series.md@05e75b14,
# lasv4-series.md@0eeb19, laosv4-series.md@444e2b, laosv5-series.md@324cc6, dcsv3-series.md@075a26; read 2020
# to 2026. vm_caching.csv has the same sizes, a source each.
_NO_DATA_CACHE = re.compile(r"Standard_(L\d+s|L\d+a?s_v[23]|B\d+[lm]*s|L96a?s_v4|L32aos_v[45]|DC\d+s_v3)")


def caches_data_disks(size: str, cache_stated: bool) -> bool | None:
    """Whether the host caches data disks of a size; None where neither API nor page says."""
    if _NO_DATA_CACHE.fullmatch(size):
        return False
    return True if cache_stated else None


def rows(size: str, capabilities: Mapping[str, str], source_id: str) -> list[dict[str, str]]:
    """Catalogue rows of one size: what is sure, and apart from it what is doubtful, with a note.

    Parameters
    ----------
    size : str
        As Azure spells it.
    capabilities : mapping
        Capability to value, both as the API gives them; what is absent, empty or 0 is missing.
    source_id : str
        Written in each row.
    """
    known = {column: capabilities[name] for column, name in _PLAIN.items() if capabilities.get(name)}
    known |= _scaled(capabilities, {"memory_bytes": ("MemoryGB", GIB)} | _LIMITS)
    devices = (
        _number(capabilities.get("NvmeDiskSizeInMiB")),
        _number(capabilities.get("NvmeSizePerDiskInMiB")),
    )
    if devices[0] and devices[1]:
        known["nvme_count"] = str(round(devices[0] / devices[1]))
    known |= _sold(capabilities)
    caching = caches_data_disks(size, "cache_bytes" in known)
    if caching is not None:
        known["caching"] = str(caching)
    head = {"size": size, "source_id": source_id}
    # The API fills the combined limit even where there is neither a temp disk nor a cache.
    if caching:
        return [head | known | _combined(capabilities, "cached")]
    if "temp_bytes" in known:
        known |= _combined(capabilities, "temp")
    doubtful = _combined(capabilities, "cached") if caching is None else {}
    return [head | known] + ([head | doubtful | {"note": NO_CACHE_SIZE}] if doubtful else [])


def _sold(capabilities: Mapping[str, str]) -> dict[str, str]:
    """CPU architecture and day of retirement, as far as they are stated in a form that is known."""
    architecture = _ARCHITECTURES.get(capabilities.get("CpuArchitectureType", ""), "")
    found = {"architecture": architecture, "retires_on": _day(capabilities.get("RetirementDateUtc"))}
    return {name: value for name, value in found.items() if value}


def _day(text: str | None) -> str:
    """An ISO day of a date as the API prints it; empty: none, or one that never comes."""
    if not text or _NEVER in text:
        return ""
    for form in _DAY_FORMS:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


def parse(document: Any, source_id: str) -> list[dict[str, str]]:
    """Catalogue rows of every VM size in the answer of `az vm list-skus`, one size once.

    Each has what is offered of it in the region that was asked about: its zones, those that are restricted,
    those with Ultra Disks, and why the subscription cannot have it (empty: it can).

    Raises
    ------
    InputError
        When the answer is not a list of resource SKUs, or holds no VM size.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for sku in documents.skus(document):
        if sku.kind == "virtualMachines":
            made = rows(sku.name, sku.capabilities, source_id)
            offered = _offer(sku)
            found.setdefault(sku.name, [row | offered for row in made])
    if not found:
        raise InputError("az vm list-skus: no VM size in the answer; is the region's name right?")
    return [row for size in sorted(found) for row in found[size]]


def _offer(sku: AzSku) -> dict[str, str]:
    """Zones and restrictions of a size. Source: the schema of Microsoft.Compute/skus, 2021-07-01: a
    restriction of type Location takes the size away, one of type Zone takes zones away.
    """
    there = {zone for place in sku.places for detail in place.details for zone in detail.zones}
    ultra = {zone for zone in there if sku.in_zone(zone).get("UltraSSDAvailable") == "True"}
    taken = {zone for one in sku.restrictions if one.type == "Zone" for zone in one.info.zones}
    reasons = [one.reason for one in sku.restrictions if one.type != "Zone"]
    return {
        "zones": ",".join(sku.zones),
        "restricted_zones": ",".join(sorted(taken)),
        "ultra_zones": ",".join(sorted(ultra)),
        "restriction": ",".join(dict.fromkeys(reasons)),
    }


def _combined(capabilities: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The limit of cache and temp disk together; that of writes only where it differs."""
    given = _scaled(
        capabilities,
        {
            f"{prefix}_iops": (f"{_COMBINED}IOPS", 1),
            f"{prefix}_bytes_per_s": (f"{_COMBINED}ReadBytesPerSecond", 1),
            f"{prefix}_write_bytes_per_s": (f"{_COMBINED}WriteBytesPerSecond", 1),
        },
    )
    if given.get(f"{prefix}_write_bytes_per_s") == given.get(f"{prefix}_bytes_per_s"):
        given.pop(f"{prefix}_write_bytes_per_s", None)
    return given


def _scaled(capabilities: Mapping[str, str], wanted: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    values = {column: _number(capabilities.get(name)) * unit for column, (name, unit) in wanted.items()}
    return {column: str(round(value)) for column, value in values.items() if value}


def _number(text: str | None) -> float:
    """The figure, 0 where there is none that a size can have."""
    try:
        number = float(text or "0")
    except ValueError:
        return 0.0
    return number if _LEAST <= number <= _LARGEST else 0.0
