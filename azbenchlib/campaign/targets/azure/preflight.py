"""What is asked of Azure before anything is created, so that a refusal costs nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Self

from pydantic import Field

from azbenchlib.azure import quota
from azbenchlib.azure.az import HOW_TO_GET, Az
from azbenchlib.azure.az_errors import GROUP_NOT_FOUND, AzError
from azbenchlib.azure.documents import AzDocument, AzSku, skus
from azbenchlib.azure.quota import Quota
from azbenchlib.campaign.files.disk_spec import PROVISIONED, DiskSpec
from azbenchlib.campaign.files.spec import Experiment, SetupSpec
from azbenchlib.campaign.targets.azure import commands, steps
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.core.errors import InputError
from azbenchlib.model import host_caching

REGISTERED = "Registered"
# What a run creates and deletes in any case in a group of the user's; docs/azure.md has all that it takes.
_KINDS = (
    "Compute/virtualMachines",
    "Compute/virtualMachines/runCommands",
    "Network/networkInterfaces",
)
GROUP_ACTIONS = (
    *(f"Microsoft.{kind}/{verb}" for kind in _KINDS for verb in ("write", "delete")),
    "Microsoft.Resources/deployments/write",
)
# The parameters that are used came over the years, the last of them with about this version, by judgement;
# the tests use 2.91.
OLDEST_AZ = (2, 60)
# Its `az vm run-command invoke` gives Azure no script, which runs a sample of its own instead and succeeds.
# Source: Azure/azure-cli#32258, 2025-10; the packages 2.77.0, 2.78.0 and 2.79.0 on PyPI.
WITHOUT_SCRIPTS = (2, 78)
# Source: Microsoft Learn, "Azure premium storage: design for high performance", disk caching, 2026: not for
# disks of 4 TiB and larger.
LARGEST_CACHED_GIB = 4095

Chosen = dict[str, dict[str, str]]


def check(az: Az, experiment: Experiment) -> Chosen:
    """Providers, features; whether the region has the sizes and disks in the zones; and what quota is left.

    Returns, by setup, what it gets instead of what the file says first. Raises an InputError for what is not
    to be had there, with what is.
    """
    for namespace in steps.PROVIDERS:
        if orphans.value_at(az.json(*commands.provider_show(namespace)), "registrationState") != REGISTERED:
            az.json(*commands.provider_register(namespace))
    for feature in steps.features(experiment):
        _check_feature(az, feature)
    region = Region.of(az, experiment)
    return {setup.name: region.choose(setup) for setup in experiment.setups}


def check_group(az: Az, group: str, tell: Callable[[str], None]) -> None:
    """Refuse a group of the user's that is not there or going, and one in which too little may be done.

    Rights are looked at as far as Azure tells them to this account.

    Raises an InputError with what is missing.
    """
    try:
        found = az.json(*commands.group_show(group))
    except AzError as error:
        if error.code != GROUP_NOT_FOUND:
            raise
        raise InputError(
            f"group '{group}': the subscription has no such resource group; create it, or leave group out",
            keys=("group",),
        ) from error
    state = orphans.value_at(found, "properties", "provisioningState")
    if state != "Succeeded" or orphans.is_tagged(found):
        why = f"is {state}" if state != "Succeeded" else "was made by a run of azbench, which deletes it"
        raise InputError(f"group '{group}': it {why}; name another one", keys=("group",))
    try:
        may = [
            _Permission.parse(one, "az rest")
            for one in az.json(*commands.permissions(str(found["id"])))["value"]
        ]
    except (AzError, InputError, TypeError, KeyError) as error:
        tell(f"what this account may do in {group} is not told, so it is tried: {error}")
        return
    if missing := [action for action in GROUP_ACTIONS if not _is_allowed(action, may)]:
        raise InputError(
            f"group '{group}': the account that is logged in lacks rights in it: {', '.join(missing)}; ask "
            "for the role Contributor for the group",
            keys=("group",),
        )


class _Permission(AzDocument):
    actions: Sequence[str] = ()
    not_actions: Sequence[str] = Field(default=(), alias="notActions")


def _is_allowed(action: str, permissions: Sequence[_Permission]) -> bool:
    """Whether any of the permissions grants an action; in their patterns, case does not matter."""

    def fits(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)

    return any(fits(one.actions) and not fits(one.not_actions) for one in permissions)


def version(az: Az) -> str:
    """The version of az, as it tells it itself."""
    return str(orphans.value_at(az.json("version"), "azure-cli") or "?")


def check_version(told: str) -> None:
    """Refuse an az that lacks parameters, or loses scripts; one that tells no numbers is taken.

    Raises an InputError with what it is and what is needed.
    """
    numbers = tuple(int(part) for part in re.findall("[0-9]{1,6}", told)[:2])
    if len(numbers) == 2 and numbers < OLDEST_AZ:
        wanted = ".".join(map(str, OLDEST_AZ))
        raise InputError(
            f"az {told} is too old; {wanted} or later is needed: `az upgrade`, or `{HOW_TO_GET}`"
        )
    if numbers == WITHOUT_SCRIPTS:
        raise InputError(
            f"az {told} gives VMs no scripts to run, a fault of that version; another one is needed: "
            f"`az upgrade`, or `{HOW_TO_GET}`"
        )


@dataclass(kw_only=True)
class Region:
    """What a region has, as far as it was asked for, and how much of it the subscription may still use."""

    az: Az
    name: str
    disks: Sequence[AzSku]
    usage: Mapping[str, Quota]  # by its name in lower case
    sizes: dict[str, Sequence[AzSku]] = field(default_factory=dict)

    @classmethod
    def of(cls, az: Az, experiment: Experiment) -> Self:
        """The region of an experiment."""
        disks = skus(az.json(*commands.list_disks(experiment.region)))
        used = quota.listed(az.json(*commands.list_usage(experiment.region)))
        return cls(az=az, name=experiment.region, disks=disks, usage=used)

    def choose(self, setup: SetupSpec, refused: Sequence[Mapping[str, str]] = ()) -> dict[str, str]:
        """The first of a setup's sizes and zones that is to be had, and was not refused.

        Raises an InputError where there is none: why not the first one.
        """
        first: InputError | None = None
        for choice in choices(setup):
            if choice in refused:
                continue
            try:
                return choice | self._check(setup.model_copy(update=choice))
            except InputError as error:
                first = first or error
        raise first or InputError(f"setup '{setup.name}': Azure has no room for any of its sizes and zones")

    def _check(self, setup: SetupSpec) -> dict[str, str]:
        """Refuse what is not to be had; the disk controller, where only one other than the default is."""
        if setup.vm not in self.sizes:
            self.sizes[setup.vm] = skus(self.az.json(*commands.list_sizes(self.name, setup.vm)))
        able = _check_size(setup, self.name, self.sizes[setup.vm], self.usage)
        for name, disk in setup.disks.items():
            if disk.role == "data":
                _check_disk(name, disk, setup, self.name, self.disks)
        only_nvme = "SCSI" not in able.get("DiskControllerTypes", "SCSI")
        return {"controller": "NVMe"} if only_nvme else {}


def choices(setup: SetupSpec) -> list[dict[str, str]]:
    """What a setup may get, in order: the file's own, which changes nothing, then the others."""
    others = [other.model_dump(exclude_none=True) for other in setup.otherwise]
    return [{}, *others]


def of_file(choice: Mapping[str, str]) -> dict[str, str]:
    """What of a choice the file names; the rest follows from it."""
    return {key: choice[key] for key in ("vm", "zone") if key in choice}


def _check_feature(az: Az, feature: str) -> None:
    state = orphans.value_at(az.json(*commands.feature_show(feature)), "properties", "state")
    if state == REGISTERED:
        return
    if state in ("NotRegistered", "Unregistered"):
        az.json(*commands.feature_register(feature))
    raise InputError(
        f"feature {feature}: is {state} in this subscription; it was requested now, which takes up to two "
        f"hours; start again when `az {' '.join(commands.feature_show(feature))}` says {REGISTERED}"
    )


def _check_size(
    setup: SetupSpec,
    region: str,
    offered: Sequence[AzSku],
    usage: Mapping[str, Quota],
) -> dict[str, str]:
    """Refuse a size that is not to be had, or cannot what is needed; its capabilities."""
    entry = next((entry for entry in offered if entry.name.lower() == setup.vm.lower()), None)
    where = f"setup '{setup.name}'"
    if entry is None:
        raise InputError(f"{where}: {region} does not offer the size {setup.vm}; take another size or region")
    zones = entry.zones
    if setup.zone and setup.zone not in zones:
        choice = f"zones {', '.join(zones)}" if zones else "no zones"
        raise InputError(
            f"{where}: {setup.vm} has {choice} in {region}, not zone {setup.zone}",
            keys=("setups", setup.name, "zone"),
        )
    if reason := entry.restriction(setup.zone):
        place = f"{region}, zone {setup.zone}" if setup.zone else region
        raise InputError(
            f"{where}: this subscription cannot have {setup.vm} in {place} ({reason}); "
            "take another size, zone or region"
        )
    able = entry.capabilities
    for fault in _unable(setup, able, entry.in_zone(setup.zone)):
        raise InputError(f"{where}: {setup.vm} {fault}")
    _check_quota(setup, entry.family, whole(able, "vCPUs", 0), usage)
    return able


def _check_quota(setup: SetupSpec, family: str, n_cores: int, usage: Mapping[str, Quota]) -> None:
    """Refuse a size for which the subscription has too few vCPUs left; VMs follow each other."""
    for one in quota.of_size(usage, family, setup.priority == "spot"):
        if n_cores > one.left:
            raise quota.NoQuotaError(
                f"setup '{setup.name}': {setup.vm} takes {n_cores} vCPUs, and of the quota {one.name} "
                f"{one.used} of {one.limit} are in use; {quota.MORE_QUOTA}, or name others with otherwise:"
            )


def _unable(setup: SetupSpec, able: Mapping[str, str], in_zone: Mapping[str, str]) -> list[str]:
    """What the setup needs and the size cannot."""
    disks = list(setup.disks.values())
    wanted = sum(disk.count for disk in disks if disk.role == "data")
    most = whole(able, "MaxDataDiskCount", wanted)
    premium = any(str(disk.sku).startswith("Premium") for disk in disks)
    ephemeral = any(disk.role == "ephemeral_os" for disk in disks)
    temp = any(disk.role == "temp" for disk in disks)
    fast = sum(disk.count for disk in disks if disk.write_accelerator)
    trusted = setup.security_type == "TrustedLaunch"
    where = f"in zone {setup.zone}" if setup.zone else "there"
    placements = able.get("SupportedEphemeralOSDiskPlacements", "")
    placement = next((disk.placement for disk in disks if disk.placement), None) or "CacheDisk"
    controllers = able.get("DiskControllerTypes", "SCSI")
    arm = able.get("CpuArchitectureType", "x64").lower() == "arm64"
    faults = {
        f"takes {most} data disks at most, not {wanted}": wanted > most,
        # Source: azure-compute-docs, linux/run-command-managed.md: "Linux Arm64: Not Supported", 2026.
        "is an Arm size, for which Azure has no managed run-commands; take an x64 size": arm,
        f"has no disk controller {setup.controller}, only {controllers}": (setup.controller or "")
        not in controllers,
        "has no write accelerator for so many disks; sizes of the M series have one": fast
        > whole(able, "MaxWriteAcceleratorDisksAllowed", 0),
        "takes no Premium disks": premium and able.get("PremiumIO") == "False",
        f"has no Ultra disks {where}": setup.has_ultra and in_zone.get("UltraSSDAvailable") != "True",
        "has no ephemeral OS disk": ephemeral and able.get("EphemeralOSDiskSupported") == "False",
        f"has no room for an ephemeral OS disk on its {placement}": ephemeral
        and bool(placements)
        and placement not in placements,
        "has no temp disk": temp and able.get("MaxResourceVolumeMB") == "0",
        "has no trusted launch; say security_type: Standard": trusted
        and able.get("TrustedLaunchDisabled") == "True",
    }
    return [fault for fault, holds in faults.items() if holds]


def _check_disk(name: str, disk: DiskSpec, setup: SetupSpec, region: str, offered: Sequence[AzSku]) -> None:
    if disk.caching not in (None, "None") and disk.size_gib > LARGEST_CACHED_GIB:
        raise InputError(
            f"disk '{name}': Azure caches disks of up to {LARGEST_CACHED_GIB} GiB; leave caching out, or "
            "take several smaller ones"
        )
    if disk.caching not in (None, "None") and (why := host_caching.denied_of(setup.vm)):
        raise InputError(f"disk '{name}': {why}; leave caching out, or take another size")
    found = [entry for entry in offered if entry.name == disk.sku]
    if not found:
        raise InputError(f"disk '{name}': {region} does not offer {disk.sku}")
    zones = {zone for entry in found for zone in entry.zones}
    zone = disk.zone or setup.zone
    if disk.sku in PROVISIONED and zone not in zones:
        choice = f"zones {', '.join(sorted(zones))}" if zones else "no zone"
        raise InputError(f"disk '{name}': {region} has {disk.sku} in {choice}, not in zone {zone}")


def whole(able: Mapping[str, str], name: str, missing: int) -> int:
    """A capability that is a whole number; `missing` where none is told."""
    text = able.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else missing


@dataclass(frozen=True, kw_only=True)
class QuotaLeft:
    """The vCPUs that a VM takes, and the quotas that it counts for; None: the region does not offer it."""

    region: str
    vm: str
    n_cores: int | None
    quotas: Sequence[Quota] = ()

    @property
    def sentence(self) -> str:
        """What a user reads."""
        if self.n_cores is None:
            return f"Quota: {self.region} does not offer {self.vm} to this subscription"
        left = ", ".join(f"of {one.name} {one.left} of {one.limit}" for one in self.quotas)
        too_few = any(one.left < self.n_cores for one in self.quotas)
        return (
            f"Quota: {self.vm} takes {self.n_cores} vCPUs; left in {self.region}: "
            f"{left or 'no quota is told'}{f': too few; {quota.MORE_QUOTA}' if too_few else ''}"
        )


def quota_left(region: str, vm: str, spot: bool) -> QuotaLeft:
    """Ask az what of a region's quota is in use, and which of it a size counts for.

    Raises an AzError when az fails, for instance because nobody is logged in.
    """
    az = Az.find()
    usage = quota.listed(az.json(*commands.list_usage(region)))
    offered = skus(az.json(*commands.list_sizes(region, vm)))
    entry = next((one for one in offered if one.name.lower() == vm.lower()), None)
    if entry is None:
        return QuotaLeft(region=region, vm=vm, n_cores=None)
    quotas = quota.of_size(usage, entry.family, spot)
    return QuotaLeft(region=region, vm=vm, n_cores=whole(entry.capabilities, "vCPUs", 0), quotas=quotas)
