"""A VM that is there already, with a disk that holds its owner's data and an empty one."""

from .disks import block_bytes, image_name
from .identity import SUBSCRIPTION
from .login import Azure
from .machines import create_machine
from .routing import Json, Request

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs"
VM = f"{GROUP}/providers/Microsoft.Compute/virtualMachines/production"
LUN = "/dev/disk/azure/scsi1/lun"
LOOK = f"""find /data /srv /azbench /var/lib/azbench -printf '%p %s %m %u\\n' 2>&1
ls /var/lib; cksum /data/theirs; head -c 1M {LUN}1 | cksum"""


def run_there(azure: Azure, script: str) -> str:
    """What a script says that the owner of the VM runs on it."""
    body = {"commandId": "RunShellScript", "script": [script]}
    operation = azure.arm.answer(Request("POST", f"{VM}/runCommand", {}, body, "")).body
    return operation["value"][0]["message"]


def make_vm(azure: Azure) -> None:
    """The VM, whose first data disk is mounted at /data."""
    arm = azure.arm
    arm.put(GROUP, {"location": "westeurope", "tags": {}})
    properties = {
        "hardwareProfile": {"vmSize": "Standard_D2s_v3"},
        "storageProfile": {"osDisk": {"createOption": "FromImage", "deleteOption": "Delete"}},
        "networkProfile": {"networkInterfaces": []},
        "osProfile": {},
    }
    create_machine(arm, VM, {"location": "westeurope", "zones": ["1"], "properties": properties})
    for lun, (name, gib) in enumerate((("data_disk", 64), ("other_disk", 32))):
        attach(azure, lun, name, gib)
    run_there(azure, f"mkfs.ext4 -q {LUN}0 && mkdir /data && mount {LUN}0 /data && echo theirs >/data/theirs")


def attach(azure: Azure, lun: int, name: str, gib: int) -> Json:
    """A new disk at the VM."""
    arm, told = azure.arm, {"creationData": {"createOption": "Empty"}, "diskSizeGB": gib}
    body = {"location": "westeurope", "sku": {"name": "Premium_LRS"}, "zones": ["1"], "properties": told}
    path = f"{GROUP}/providers/Microsoft.Compute/disks/{name}"
    arm.answer(Request("PUT", path, {}, body, ""))
    disk = arm.get(path)
    arm.machines[VM.lower()].attach(lun, image_name(disk), block_bytes(disk))
    entry = {"lun": lun, "name": name, "caching": "None", "diskSizeGB": gib, "createOption": "Attach"}
    entry["managedDisk"] = {"id": path, "storageAccountType": "Premium_LRS"}
    arm.get(VM)["properties"]["storageProfile"]["dataDisks"].append(entry)
    return disk
