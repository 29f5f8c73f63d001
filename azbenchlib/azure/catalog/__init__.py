"""Azure's facts: VM sizes, disk tiers and the rules of provisioned disks; each row dated and sourced.

Three kinds of statement, in order of precedence: what the caller states (`VmRow.stating`); the
resource-SKU API (a refresh of the user's own, else the snapshot of 2026-08-17, which stands for earlier
years too unless a dated page says that the limit changed); the documentation page of the era.
Whether the host caches data disks also stands on the page of each series (`vm_caching.csv`); what the API
states goes before it.
"""

from azbenchlib.azure.catalog.lookup import (
    disk_tier,
    disk_tiers,
    every_vm,
    provisioned_rules,
    provisioned_skus,
    same_series,
    source,
    tier_for,
    vm,
    vm_sizes,
)
from azbenchlib.azure.catalog.regional import offers
from azbenchlib.azure.catalog.rows import (
    LIMITS,
    OVER_NVME,
    BurstDocumented,
    CatalogSource,
    Limit,
    Offer,
    ProvisionedRules,
    RegionalOffer,
    TierRow,
    VmRow,
)

__all__ = [
    "LIMITS",
    "OVER_NVME",
    "BurstDocumented",
    "CatalogSource",
    "Limit",
    "Offer",
    "ProvisionedRules",
    "RegionalOffer",
    "TierRow",
    "VmRow",
    "disk_tier",
    "disk_tiers",
    "every_vm",
    "offers",
    "provisioned_rules",
    "provisioned_skus",
    "same_series",
    "source",
    "tier_for",
    "vm",
    "vm_sizes",
]
