"""Virtual machines: resources with an emulated VM behind them."""

import base64
import uuid
from typing import TYPE_CHECKING

from .disks import block_bytes, image_name, zone_of
from .identity import TENANT
from .operations import now
from .rights import TOKEN
from .routing import COMPUTE, Answer, ArmError, Json, Request, not_emulated, route
from .skus import GIB, MIB, capability, has_ultra
from .vm import Hardware, Vm, cloud_init_status, make_os_disk

if TYPE_CHECKING:
    from .arm import Arm

MACHINE = COMPUTE + "/virtualMachines/{vm}"
OS_DISK_GIB = 30
# test_run_command_v2, 2022, and test_vm_disk_attach_detach, 2026: what Azure adds.
OS_PROFILE: Json = {"secrets": [], "allowExtensionOperations": True, "requireGuestProvisionSignal": True}
LINUX: Json = {
    "provisionVMAgent": True,
    "patchSettings": {"patchMode": "ImageDefault", "assessmentMode": "ImageDefault"},
}
IMAGE_VERSION = "24.04.202511010"


def sku_of(arm: "Arm", machine: Json) -> Json:
    sku = arm.sku(machine["properties"]["hardwareProfile"]["vmSize"], machine["location"].lower())
    assert sku is not None, "checked when the machine was made"
    return sku


def is_ultra_enabled(machine: Json) -> bool:
    return bool((machine["properties"].get("additionalCapabilities") or {}).get("ultraSSDEnabled"))


def _check_new(machine: Json, sku: Json) -> None:
    os_disk = machine["properties"]["storageProfile"]["osDisk"]
    size = sku["name"]
    placement = (os_disk.get("diffDiskSettings") or {}).get("placement") or "CacheDisk"
    if os_disk.get("diffDiskSettings") and capability(sku, "EphemeralOSDiskSupported") != "True":
        raise ArmError("NotSupported", f"OS Ephemeral disk is not supported for VM size {size}.", 409)
    if os_disk.get("diffDiskSettings") and placement not in capability(
        sku, "SupportedEphemeralOSDiskPlacements"
    ):
        raise ArmError(
            "NotSupported",
            f"Ephemeral OS disk placement {placement} is not supported for VM size {size}.",
            409,
        )
    if is_ultra_enabled(machine) and not has_ultra(sku, zone_of(machine)):
        raise ArmError(
            "InvalidParameter",
            f"The VM size '{size}' cannot have the UltraSSD_LRS capability enabled in "
            f"zone '{zone_of(machine)}'.",
        )
    controller = machine["properties"]["storageProfile"].get("diskControllerType")
    if controller and controller not in capability(sku, "DiskControllerTypes"):
        raise ArmError(
            "InvalidParameter", f"The VM size '{size}' cannot boot with disk controller type '{controller}'."
        )


def _hardware(machine: Json, sku: Json) -> Hardware:
    storage = machine["properties"]["storageProfile"]
    temp_bytes = int(capability(sku, "MaxResourceVolumeMB")) * MIB
    if (storage["osDisk"].get("diffDiskSettings") or {}).get("placement") == "ResourceDisk":
        temp_bytes -= storage["osDisk"]["diskSizeGB"] * GIB
    nvme_mib, nvme_bytes = int(capability(sku, "NvmeDiskSizeInMiB") or 0), []
    if nvme_mib:
        each = 1831054  # MiB, of the Lsv3 sizes
        nvme_bytes = [each * MIB] * (nvme_mib // each)
    controllers = capability(sku, "DiskControllerTypes")
    default = "SCSI" if "SCSI" in controllers else "NVMe"
    return Hardware(temp_bytes, nvme_bytes, storage.get("diskControllerType") or default)


def create_machine(arm: "Arm", resource_id: str, body: Json, command: str = "") -> Json:
    """Make and boot a VM; a failure leaves a failed VM behind, as it does in Azure."""
    properties = body["properties"]
    if properties["storageProfile"].get("dataDisks"):
        raise not_emulated("data disks made with the VM")
    custom_data = properties["osProfile"].pop("customData", None) or ""  # Azure never shows it again
    arm.custom_data[resource_id.lower()] = base64.b64decode(custom_data)
    properties |= {"vmId": str(uuid.uuid4()), "timeCreated": now()}
    properties["osProfile"] |= OS_PROFILE
    if system := properties["osProfile"].get("linuxConfiguration"):
        system |= LINUX
    if "SystemAssigned" in (body.get("identity") or {}).get("type", ""):
        body["identity"] |= {"principalId": str(uuid.uuid4()), "tenantId": TENANT}
    image = properties["storageProfile"].get("imageReference") or {}
    if image.get("version") == "latest":
        image["exactVersion"] = IMAGE_VERSION
    machine = arm.put(resource_id, body) | {"etag": '"1"'}
    arm.resources[resource_id.lower()] = machine
    try:
        fault = arm.faults.strike("fail", "PUT", resource_id, command)
        if fault and fault.error:
            raise fault.error
        _check_new(machine, sku_of(arm, machine))
    except ArmError:
        machine["properties"]["provisioningState"] = "Failed"
        raise
    _make_os_disk(arm, machine)
    boot(arm, machine)
    return machine


def _make_os_disk(arm: "Arm", machine: Json) -> None:
    storage = machine["properties"]["storageProfile"]
    storage["dataDisks"] = []
    entry = storage["osDisk"] | {"createOption": "FromImage"}  # however it was spelt
    storage["osDisk"] = entry
    entry["diskSizeGB"] = (
        entry.pop("diskSizeGb", None) or OS_DISK_GIB
    )  # Azure does not mind az's own spelling
    entry["name"] = entry.get("name") or f"{machine['name']}_OsDisk_1_{uuid.uuid4().hex}"
    kind = (entry.get("managedDisk") or {}).get("storageAccountType") or "Premium_LRS"
    disk_id = machine["id"].rpartition("/virtualMachines/")[0] + f"/disks/{entry['name']}"
    entry |= {"osType": "Linux", "managedDisk": {"id": disk_id, "storageAccountType": kind}}
    properties = {
        "creationData": {"createOption": "FromImage"},
        "diskState": "Attached",
        "timeCreated": now(),
        "osType": "Linux",
        "diskSizeGB": entry["diskSizeGB"],
        "uniqueId": str(uuid.uuid4()),
    }
    shared = {"location": machine["location"], "zones": machine.get("zones"), "managedBy": machine["id"]}
    disk = arm.put(disk_id, {**shared, "sku": {"name": kind}, "properties": properties})
    make_os_disk(arm.images / image_name(disk), entry["diskSizeGB"] * GIB)


def boot(arm: "Arm", machine: Json, *, again: bool = False) -> None:
    """Start the emulated VM with what is attached; once more, its disks have other device names."""
    storage = machine["properties"]["storageProfile"]
    os_disk = arm.get(storage["osDisk"]["managedDisk"]["id"])
    hardware = _hardware(machine, sku_of(arm, machine))
    vm = Vm(
        machine["name"],
        arm.images,
        image_name(os_disk),
        hardware,
        cloud_init_status(arm.custom_data[machine["id"].lower()]),
        arm.network,
        (TOKEN + machine["identity"]["principalId"]).removeprefix("Bearer ")
        if machine.get("identity")
        else "",
    )
    arm.machines[machine["id"].lower()] = vm
    for entry in sorted(storage["dataDisks"], key=lambda entry: entry["lun"], reverse=again):
        disk = arm.get(entry["managedDisk"]["id"])
        vm.attach(entry["lun"], image_name(disk), block_bytes(disk))


def restart(arm: "Arm", path: str) -> None:
    """Start a VM anew while it works, as its host does after a fault: processes and mounts are gone."""
    with arm.lock:
        arm.machines.pop(path.lower()).stop()
        boot(arm, arm.get(path), again=True)


def remove_machine(arm: "Arm", key: str) -> None:
    """End a VM with all that is to go with it."""
    if key in arm.machines:
        arm.machines.pop(key).stop()
    properties = arm.resources.pop(key)["properties"]
    storage = properties["storageProfile"]
    for entry in [storage["osDisk"], *storage.get("dataDisks", [])]:
        disk = arm.find((entry.get("managedDisk") or {}).get("id", ""))
        if disk and entry.get("deleteOption") == "Delete":
            del arm.resources[disk["id"].lower()]
            (arm.images / image_name(disk)).unlink()
        elif disk:
            disk["properties"]["diskState"] = "Unattached"
            disk.pop("managedBy", None)
    for card in properties["networkProfile"]["networkInterfaces"]:
        if (card.get("properties") or {}).get("deleteOption") == "Delete":
            arm.resources.pop(card["id"].lower(), None)
    for command in arm.below(key + "/runCommands"):
        del arm.resources[command["id"].lower()]


@route("GET", MACHINE)
def show_machine(arm: "Arm", request: Request, **_: str) -> Answer:
    machine = arm.get(request.path)
    if request.query.get("$expand") == "instanceView":
        machine = {
            **machine,
            "properties": {**machine["properties"], "instanceView": _instance_view(arm, request.path)},
        }
    return Answer(machine)


def _instance_view(arm: "Arm", path: str) -> Json:
    power = "running" if path.lower() in arm.machines else "deallocated"
    return {
        "statuses": [
            {
                "code": "ProvisioningState/succeeded",
                "level": "Info",
                "displayStatus": "Provisioning succeeded",
                "time": now(),
            },
            {"code": f"PowerState/{power}", "level": "Info", "displayStatus": f"VM {power}"},
        ]
    }


@route("GET", MACHINE + "/instanceView")
def instance_view(arm: "Arm", request: Request, **_: str) -> Answer:
    path = request.path.rpartition("/")[0]
    arm.get(path)
    return Answer(_instance_view(arm, path))


@route("GET", COMPUTE + "/virtualMachines")
def list_machines(arm: "Arm", request: Request, **_: str) -> Answer:
    return Answer({"value": arm.below(request.path)})


@route("DELETE", MACHINE)
def delete_machine(arm: "Arm", request: Request, **_: str) -> Answer:
    key = request.path.lower()
    if key not in arm.resources:
        return Answer(None, 204)
    remove_machine(arm, key)
    return Answer(None, 202, operation=arm.start(lambda: None))


@route("POST", MACHINE + "/deallocate", MACHINE + "/powerOff")
def deallocate(arm: "Arm", request: Request, **_: str) -> Answer:
    path = request.path.rpartition("/")[0]
    arm.get(path)
    if path.lower() in arm.machines:
        arm.machines.pop(path.lower()).stop()
    return Answer(None, 202, operation=arm.start(lambda: None))


@route("POST", MACHINE + "/start")
def start(arm: "Arm", request: Request, **_: str) -> Answer:
    machine = arm.get(request.path.rpartition("/")[0])
    if machine["id"].lower() not in arm.machines:
        boot(arm, machine)
    return Answer(None, 202, operation=arm.start(lambda: None))
