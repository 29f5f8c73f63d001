"""What `az vm list-skus` says: the sizes and kinds of disk the fake region has. Add a row to add one."""

import re
from dataclasses import dataclass

from .routing import Json

GIB, MIB = 2**30, 2**20
# region -> zones
REGIONS = {
    "northeurope": ["1", "2", "3"],
    "westeurope": ["1", "2", "3"],
    "eastus2": ["1", "2", "3"],
    "westus": [],
}


@dataclass(frozen=True)
class Size:
    """A VM size; `cache_gib` 0 with a temporary disk means that the OS disk may lie on that alone."""

    name: str
    vcpus: int
    vcpus_available: int
    memory_gib: int
    max_data_disks: int
    temp_mib: int
    cache_gib: int
    cached_iops: int
    cached_bytes_per_s: int
    uncached_iops: int
    uncached_bytes_per_s: int
    nvme_count: int = 0
    nvme_mib: int = 0
    ultra: bool = True
    controllers: str = "SCSI"
    architecture: str = "x64"

    def capabilities(self) -> Json:
        placements = "ResourceDisk,CacheDisk" if self.cache_gib else "ResourceDisk"
        known: Json = {
            "MaxResourceVolumeMB": self.temp_mib,
            "vCPUs": self.vcpus,
            "vCPUsAvailable": self.vcpus_available,
            "MemoryGB": self.memory_gib,
            "MaxDataDiskCount": self.max_data_disks,
            "CpuArchitectureType": self.architecture,
            "HyperVGenerations": "V1,V2",
            "PremiumIO": True,
            "DiskControllerTypes": self.controllers,
            "CombinedTempDiskAndCachedIOPS": self.cached_iops,
            "CombinedTempDiskAndCachedReadBytesPerSecond": self.cached_bytes_per_s,
            "CombinedTempDiskAndCachedWriteBytesPerSecond": self.cached_bytes_per_s,
            "UncachedDiskIOPS": self.uncached_iops,
            "UncachedDiskBytesPerSecond": self.uncached_bytes_per_s,
            "EphemeralOSDiskSupported": self.temp_mib > 0,
        }
        if self.temp_mib:
            known["SupportedEphemeralOSDiskPlacements"] = placements
        if self.cache_gib:
            known["CachedDiskBytes"] = self.cache_gib * GIB
        if self.nvme_count:
            known["NvmeDiskSizeInMiB"] = self.nvme_count * self.nvme_mib
        return known


# `az vm list-skus` of 2026-08-17 as published by github.com/flexera-public/policy_templates (MIT),
# data/azure/azure_compute_instance_types.json
SIZES = [
    Size("Standard_E8as_v4", 8, 8, 64, 16, 131072, 200, 16000, 131072000, 12800, 192000000),
    Size("Standard_E8ds_v4", 8, 8, 64, 16, 307200, 200, 77000, 484442112, 12800, 192000000),
    Size("Standard_E8ds_v5", 8, 8, 64, 16, 307200, 0, 38000, 500000000, 12800, 290000000),
    Size("Standard_D4as_v4", 4, 4, 16, 8, 32768, 100, 8000, 65536000, 6400, 96000000),
    Size("Standard_D4as_v5", 4, 4, 16, 8, 0, 0, 19000, 250000000, 6400, 144000000),
    Size("Standard_D4ads_v5", 4, 4, 16, 8, 153600, 0, 19000, 250000000, 6400, 144000000),
    Size(
        "Standard_L8s_v3", 8, 8, 64, 16, 81920, 0, 4000, 80000000, 12800, 290000000, 1, 1831054, ultra=False
    ),
    Size(
        "Standard_L16s_v3",
        16,
        16,
        128,
        32,
        163840,
        0,
        8000,
        160000000,
        25600,
        600000000,
        2,
        1831054,
        ultra=False,
    ),
    Size("Standard_E32-8s_v3", 32, 8, 256, 32, 524288, 800, 64000, 524288000, 51200, 768000000),
    Size("Standard_E32-8s_v5", 32, 8, 256, 32, 0, 0, 150000, 2000000000, 51200, 865000000),
    Size("Standard_D2s_v3", 2, 2, 8, 4, 16384, 50, 4000, 32768000, 3200, 48000000),
    Size("Standard_D2s_v6", 2, 2, 8, 4, 0, 0, 3750, 106000000, 4000, 90000000, controllers="NVMe"),
    Size("Standard_D2ps_v5", 2, 2, 8, 4, 0, 0, 9000, 125000000, 3750, 85000000, architecture="Arm64"),
    Size("Standard_D2ads_v5", 2, 2, 8, 4, 76800, 0, 9000, 125000000, 3750, 82000000),
]
# name, size letter, tier, MaxSizeGiB, only in regions with zones
DISKS = [
    ("Standard_LRS", "S", "Standard", 32767, False),
    ("StandardSSD_LRS", "E", "Standard", 32767, False),
    ("StandardSSD_ZRS", "E", "Standard", 32767, True),
    ("Premium_LRS", "P", "Premium", 32767, False),
    ("Premium_ZRS", "P", "Premium", 32767, True),
    ("PremiumV2_LRS", "P", "Premium", 65536, True),
    ("UltraSSD_LRS", "U", "Ultra", 65536, False),
]


def _sku(
    kind: str, name: str, size: str, tier: str, region: str, capabilities: Json, ultra: bool = False
) -> Json:
    zones = REGIONS[region]
    ultra_true = [{"name": "UltraSSDAvailable", "value": "True"}]
    return {
        "resourceType": kind,
        "name": name,
        "size": size,
        "tier": tier,
        "family": family(name) if kind == "virtualMachines" else None,
        "locations": [region],
        "locationInfo": [
            {
                "location": region,
                "zones": list(zones),
                "zoneDetails": [{"Name": list(zones), "capabilities": ultra_true}] if ultra and zones else [],
            }
        ],
        "capabilities": [{"name": key, "value": str(value)} for key, value in capabilities.items()]
        + (ultra_true if ultra and not zones else []),
        "restrictions": [],
    }


def family(size: str) -> str:
    """The quota that a size counts for: of ``Standard_D2s_v3``, ``standardDSv3Family``."""
    letters = re.sub(r"^Standard_|\d+(?=[a-z]*_)|-\d+", "", size)
    return f"standard{letters.replace('_', '').upper().replace('V', 'v')}Family"


def all_skus() -> list[Json]:
    """Make a fresh list; a test may change its own."""
    machines = [
        _sku(
            "virtualMachines",
            size.name,
            size.name.split("_", 1)[1],
            "Standard",
            region,
            size.capabilities(),
            size.ultra,
        )
        for size in SIZES
        for region in REGIONS
    ]
    disks = [
        _sku("disks", name, size, tier, region, {"MinSizeGiB": 1, "MaxSizeGiB": most})
        for name, size, tier, most, zonal in DISKS
        for region, zones in REGIONS.items()
        if zones or not zonal
    ]
    return machines + disks


def restrict(sku: Json, *zones: str) -> None:
    """Take a size or kind of disk away from this subscription: in those zones, or in the whole region."""
    (region,) = sku["locations"]
    info = {"locations": [region], "zones": list(zones)} if zones else {"locations": [region]}
    sku["restrictions"].append(
        {
            "type": "Zone" if zones else "Location",
            "values": [region],
            "restrictionInfo": info,
            "reasonCode": "NotAvailableForSubscription",
        }
    )


def capability(sku: Json, name: str) -> str:
    """Give a capability's value, or an empty string."""
    return next((c["value"] for c in sku["capabilities"] if c["name"] == name), "")


def is_restricted(sku: Json, zone: str | None) -> bool:
    """Tell whether the subscription may not use it there."""
    return any(
        r["type"] == "Location" or zone in r["restrictionInfo"].get("zones", []) for r in sku["restrictions"]
    )


def has_ultra(sku: Json, zone: str | None) -> bool:
    """Tell whether the size can have Ultra disks in this zone (None: without a zone)."""
    if zone is None:
        return capability(sku, "UltraSSDAvailable") == "True"
    details = sku["locationInfo"][0]["zoneDetails"]
    return any(zone in d["Name"] and d["capabilities"][0]["value"] == "True" for d in details)
