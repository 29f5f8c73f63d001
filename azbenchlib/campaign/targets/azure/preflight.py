"""What is asked of Azure before anything is created, so that a refusal costs nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.campaign.spec import PROVISIONED, DiskSpec, Experiment, SetupSpec
from azbenchlib.campaign.targets.azure import commands, steps
from azbenchlib.core.errors import InputError

REGISTERED = "Registered"


def check(az: Az, experiment: Experiment) -> None:
    """Providers, features; and whether the region has the sizes and disks in the zones.

    Raises
    ------
    InputError
        For what is not to be had there, with what is.
    """
    for namespace in steps.PROVIDERS:
        if az.json(*commands.provider_show(namespace)).get("registrationState") != REGISTERED:
            az.json(*commands.provider_register(namespace))
    for feature in steps.features(experiment):
        _check_feature(az, feature)
    offered = {
        size: az.json(*commands.list_sizes(experiment.region, size))
        for size in dict.fromkeys(setup.vm for setup in experiment.setups)
    }
    disks = az.json(*commands.list_disks(experiment.region))
    for setup in experiment.setups:
        _check_size(setup, experiment.region, offered[setup.vm])
        for name, disk in setup.disks.items():
            if disk.role == "data":
                _check_disk(name, disk, setup, experiment.region, disks)


def _check_feature(az: Az, feature: str) -> None:
    state = az.json(*commands.feature_show(feature))["properties"]["state"]
    if state == REGISTERED:
        return
    if state in ("NotRegistered", "Unregistered"):
        az.json(*commands.feature_register(feature))
    raise InputError(
        f"feature {feature}: is {state} in this subscription; it was requested now, which takes up to two "
        f"hours; start again when `az {' '.join(commands.feature_show(feature))}` says {REGISTERED}"
    )


def _check_size(setup: SetupSpec, region: str, offered: Sequence[Mapping[str, Any]]) -> None:
    entry = next((entry for entry in offered if entry["name"].lower() == setup.vm.lower()), None)
    where = f"setup '{setup.name}'"
    if entry is None:
        raise InputError(f"{where}: {region} does not offer the size {setup.vm}; take another size or region")
    zones = _zones(entry)
    if setup.zone and setup.zone not in zones:
        choice = f"zones {', '.join(zones)}" if zones else "no zones"
        raise InputError(f"{where}: {setup.vm} has {choice} in {region}, not zone {setup.zone}")
    if reason := _restriction(entry, setup.zone):
        place = f"{region}, zone {setup.zone}" if setup.zone else region
        raise InputError(
            f"{where}: this subscription cannot have {setup.vm} in {place} ({reason}); "
            "take another size, zone or region"
        )
    able = {entry["name"]: entry["value"] for entry in entry.get("capabilities") or []}
    for fault in _unable(setup, able, _zone_capabilities(entry, setup.zone)):
        raise InputError(f"{where}: {setup.vm} {fault}")


def _unable(setup: SetupSpec, able: Mapping[str, str], in_zone: Mapping[str, str]) -> list[str]:
    """What the setup needs and the size cannot."""
    disks = list(setup.disks.values())
    wanted = sum(disk.count for disk in disks if disk.role == "data")
    most = int(able.get("MaxDataDiskCount", wanted))
    premium = any(str(disk.sku).startswith("Premium") for disk in disks)
    ultra = any(disk.sku == "UltraSSD_LRS" for disk in disks)
    ephemeral = any(disk.role == "ephemeral_os" for disk in disks)
    temp = any(disk.role == "temp" for disk in disks)
    trusted = setup.security_type == "TrustedLaunch"
    where = f"in zone {setup.zone}" if setup.zone else "there"
    faults = {
        f"takes {most} data disks at most, not {wanted}": wanted > most,
        "takes no Premium disks": premium and able.get("PremiumIO") == "False",
        f"has no Ultra disks {where}": ultra and in_zone.get("UltraSSDAvailable") != "True",
        "has no ephemeral OS disk": ephemeral and able.get("EphemeralOSDiskSupported") == "False",
        "has no temp disk": temp and able.get("MaxResourceVolumeMB") == "0",
        "has no trusted launch; say security_type: Standard": trusted
        and able.get("TrustedLaunchDisabled") == "True",
    }
    return [fault for fault, holds in faults.items() if holds]


def _check_disk(
    name: str, disk: DiskSpec, setup: SetupSpec, region: str, offered: Sequence[Mapping[str, Any]]
) -> None:
    found = [entry for entry in offered if entry["name"] == disk.sku]
    if not found:
        raise InputError(f"disk '{name}': {region} does not offer {disk.sku}")
    zones = {zone for entry in found for zone in _zones(entry)}
    zone = disk.zone or setup.zone
    if disk.sku in PROVISIONED and zone not in zones:
        choice = f"zones {', '.join(sorted(zones))}" if zones else "no zone"
        raise InputError(f"disk '{name}': {region} has {disk.sku} in {choice}, not in zone {zone}")


def _zones(entry: Mapping[str, Any]) -> list[str]:
    return sorted({zone for info in entry.get("locationInfo") or [] for zone in info.get("zones") or []})


def _restriction(entry: Mapping[str, Any], zone: str | None) -> str:
    """Why the subscription cannot have it; empty where it can."""
    for restriction in entry.get("restrictions") or []:
        closed = (restriction.get("restrictionInfo") or {}).get("zones") or []
        if restriction.get("type") != "Zone" or zone in closed:
            return str(restriction.get("reasonCode") or "restricted")
    return ""


def _zone_capabilities(entry: Mapping[str, Any], zone: str | None) -> dict[str, str]:
    """Capabilities that a size has in a zone; without one, those that it has in the region."""
    found = {able["name"]: able["value"] for able in entry.get("capabilities") or []} if not zone else {}
    for info in entry.get("locationInfo") or []:
        for detail in info.get("zoneDetails") or []:
            if zone in (detail.get("name") or detail.get("Name") or []):
                found |= {able["name"]: able["value"] for able in detail.get("capabilities") or []}
    return found
