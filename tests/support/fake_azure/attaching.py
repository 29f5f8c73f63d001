"""Data disks put into machines and taken out."""

from typing import TYPE_CHECKING

from .disks import CACHELESS, block_bytes, check_unread, image_name, zone_of
from .machines import MACHINE, is_ultra_enabled, sku_of
from .routing import Answer, ArmError, Json, Request, not_emulated, route
from .skus import capability
from .vm import GuestError

if TYPE_CHECKING:
    from .arm import Arm


@route("PUT", MACHINE)
def update(arm: "Arm", request: Request, **_: str) -> Answer:
    """Take a machine's changed description; only its data disks may have changed."""
    machine = arm.get(request.path)
    disks = machine["properties"]["storageProfile"]["dataDisks"]
    wanted = [
        d for d in request.body["properties"]["storageProfile"]["dataDisks"] if not d.get("toBeDetached")
    ]
    kept = {_disk_id(entry) for entry in wanted}
    if len(kept) < len(wanted):
        raise ArmError("InvalidParameter", "A Lun is used by more than one data disk.")
    had = {_disk_id(entry) for entry in disks}
    new = [entry for entry in wanted if _disk_id(entry) not in had]
    old = [entry for entry in disks if _disk_id(entry) not in kept]
    if not new and not old:
        raise not_emulated("this change of a machine")
    for entry in old:
        _detach(arm, machine, entry)
    for entry in new:
        _attach(arm, machine, entry)
    machine["etag"] = f'"{int(machine["etag"].strip(chr(34))) + 1}"'
    return Answer(machine, 200, operation=arm.start(lambda: machine))


def _disk_id(entry: Json) -> str:
    return entry["managedDisk"]["id"].lower()


def _attach(arm: "Arm", machine: Json, entry: Json) -> None:
    disk = arm.get(entry["managedDisk"]["id"])
    caching = entry.get("caching") or "None"
    _check(machine, disk, entry["lun"], caching, sku_of(arm, machine))
    vm = arm.machines.get(machine["id"].lower())
    if vm:
        vm.attach(entry["lun"], image_name(disk), block_bytes(disk))
    disk["managedBy"] = machine["id"]
    disk["properties"]["diskState"] = "Attached"
    machine["properties"]["storageProfile"]["dataDisks"].append(
        {
            "lun": entry["lun"],
            "name": disk["name"],
            "createOption": "Attach",
            "caching": caching,
            "deleteOption": entry.get("deleteOption") or "Detach",
            "diskSizeGB": disk["properties"]["diskSizeGB"],
            "managedDisk": {"id": disk["id"], "storageAccountType": disk["sku"]["name"]},
            "toBeDetached": False,
        }
    )


def _check(machine: Json, disk: Json, lun: int, caching: str, sku: Json) -> None:
    kind, name = disk["sku"]["name"], disk["name"]
    zone, disk_zone = zone_of(machine), zone_of(disk)
    disks = machine["properties"]["storageProfile"]["dataDisks"]
    check_unread(disk)
    most = int(capability(sku, "MaxDataDiskCount"))
    if not kind.endswith("_ZRS") and disk_zone != zone:
        # as met with in 2026, https://github.com/jenkins-infra/azure/pull/1406
        why = f"in the same zone as the VM. VM zone: '{zone or ''}'. Disk zone: '{disk_zone or ''}'"
        raise ArmError(
            "BadRequest", f"Disk {disk['id']} cannot be attached to the VM because it is not {why}."
        )
    if disk.get("managedBy"):
        text = f"Disk '{name}' cannot be attached as the disk is already owned by VM '{disk['managedBy']}'."
        raise ArmError("ConflictingUserInput", text, 409)
    if any(d["lun"] == lun for d in disks):
        raise ArmError("InvalidParameter", f"Lun '{lun}' is used by more than one data disk.")
    if len(disks) >= most:
        text = f"The maximum number of data disks allowed to be attached to a VM of this size is {most}."
        raise ArmError("OperationNotAllowed", text, 409)
    if kind == "UltraSSD_LRS" and not is_ultra_enabled(machine):
        text = (
            f"StorageAccountType {kind} can be used only when additionalCapabilities.ultraSSDEnabled is set."
        )
        raise ArmError("InvalidParameter", text)
    if kind in CACHELESS and caching != "None":
        raise ArmError("InvalidParameter", f"Only 'None' is a valid caching for disks of type {kind}.")


def _detach(arm: "Arm", machine: Json, entry: Json) -> None:
    disk = arm.get(entry["managedDisk"]["id"])
    vm = arm.machines.get(machine["id"].lower())
    try:
        if vm:
            vm.detach(entry["lun"], image_name(disk))
    except GuestError as error:
        raise not_emulated(f"the detaching of a disk in use: {error}") from error
    machine["properties"]["storageProfile"]["dataDisks"].remove(entry)
    disk.pop("managedBy")
    disk["properties"]["diskState"] = "Unattached"
