"""Azure's facts: VM sizes, disk tiers and the rules of provisioned disks; each row dated and sourced.

Three kinds of statement, in order of precedence: what the caller states (`VmRow.stating`); the
resource-SKU API (a refresh of the user's own, else the snapshot of 2026-08-17, which stands for earlier
years too unless a dated page says that the limit changed); the documentation page of the era.
"""

from azbenchlib.catalog.lookup import (
    PROVISIONED_SKUS,
    disk_tier,
    provisioned_rules,
    source,
    tier_for,
    tier_names,
    vm,
    vm_sizes,
)
from azbenchlib.catalog.rows import LIMITS, OVER_NVME, Limit, ProvisionedRules, Source, TierRow, VmRow

__all__ = [
    "LIMITS",
    "OVER_NVME",
    "PROVISIONED_SKUS",
    "Limit",
    "ProvisionedRules",
    "Source",
    "TierRow",
    "VmRow",
    "disk_tier",
    "provisioned_rules",
    "source",
    "tier_for",
    "tier_names",
    "vm",
    "vm_sizes",
]
