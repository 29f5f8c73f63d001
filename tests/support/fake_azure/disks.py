"""Managed disks: resources with an image file on this machine."""

import base64
import secrets
import uuid
from typing import TYPE_CHECKING
from urllib.parse import quote

from azbenchlib.azure.catalog import lookup

from .operations import now
from .routing import COMPUTE, Answer, ArmError, Json, Request, not_emulated, route
from .skus import GIB
from .vm import make_image

if TYPE_CHECKING:
    from .arm import Arm

DISK = COMPUTE + "/disks/{disk}"
# test_disk_bursting, 2023, and test_vm_managed_disk, 2022: what Azure adds.
ADDED: Json = {
    "encryption": {"type": "EncryptionAtRestWithPlatformKey"},
    "networkAccessPolicy": "AllowAll",
    "publicNetworkAccess": "Enabled",
}
ESCAPED = b"\xfb\xef\xbe\xff\xff\xff"  # in base64 with each of the signs that are escaped in an address
TIERS = {
    **{"Standard": "Standard", "StandardSSD": "Standard"},
    **{"Premium": "Premium", "PremiumV2": "Premium", "UltraSSD": "Ultra"},
}
CACHELESS = (
    "UltraSSD_LRS",
    "PremiumV2_LRS",
)  # they also are zonal, and have sectors of 4,096 bytes unless asked


def block_bytes(disk: Json) -> int:
    """Give the logical sector size."""
    default = 4096 if disk["sku"]["name"] in CACHELESS else 512
    return disk["properties"]["creationData"].get("logicalSectorSize") or default


def image_name(disk: Json) -> str:
    """Give the name of the file that holds its contents."""
    return f"{disk['properties']['uniqueId']}.disk"


def zone_of(resource: Json) -> str | None:
    """Give the zone, or None for a regional or zone-redundant resource."""
    zones = resource.get("zones") or [None]
    return zones[0]


def _check(arm: "Arm", body: Json) -> None:
    name, region, zone = body["sku"]["name"], body["location"].lower(), zone_of(body)
    sku = arm.sku(name, region)
    if sku is None:
        raise ArmError(
            "BadRequest",
            f"SKU {name} is not supported for resource type Disk in this region. Region: {region}",
        )
    zones = sku["locationInfo"][0]["zones"]
    if zone and zone not in zones:
        raise ArmError(
            "InvalidAvailabilityZone",
            f"The zone(s) '{zone}' for resource 'Microsoft.Compute/disks' is not "
            f"supported. The supported zones for location '{region}' are '{', '.join(zones)}'",
        )
    if zone and name.endswith("_ZRS"):
        raise ArmError("BadRequest", f"Disks with account type {name} must not specify a zone.")
    if name in CACHELESS and zones and not zone:
        raise ArmError("InvalidParameter", f"{name} disks must specify a zone in region {region}.")


def _bought(sku: str, properties: Json) -> Json:
    """The limits of a disk, and of a Premium SSD its tier, which are told whether they were bought or not."""
    if sku in CACHELESS:
        return properties
    row = lookup.tier_for(sku, properties["diskSizeGB"] * GIB)
    row = lookup.disk_tier(properties["tier"]) if properties.get("tier") else row
    told = {"diskIOPSReadWrite": row.iops, "diskMBpsReadWrite": row.bytes_per_s // 10**6}
    return {**properties, **told, **({"tier": row.name} if sku.startswith("Premium") else {})}


@route("PUT PATCH", DISK)
def put_disk(arm: "Arm", request: Request, group: str, disk: str) -> Answer:
    old = arm.find(request.path)
    body = {**old, **request.body} if old else dict(request.body)
    properties = {
        **(old["properties"] if old else {}),
        **(body.get("properties") or {}),
        **(request.body.get("properties") or {}),
    }
    if not old:
        _check(arm, body)
        if properties["creationData"]["createOption"] != "Empty":
            raise not_emulated(f"a disk made with {properties['creationData']}")
        properties |= {
            "diskState": "Unattached",
            "uniqueId": str(uuid.uuid4()),
            "timeCreated": now(),
            **ADDED,
        }
        properties["diskSizeBytes"] = properties["diskSizeGB"] * GIB
    made = arm.put(request.path, {**body, "properties": _bought(body["sku"]["name"], properties)})
    made["sku"] = made["sku"] | {"tier": TIERS[made["sku"]["name"].partition("_")[0]]}
    if not old:
        make_image(arm.images / image_name(made), properties["diskSizeBytes"])
    return Answer(made, 202, operation=arm.start(lambda: made))


@route("GET", DISK)
def show_disk(arm: "Arm", request: Request, group: str, disk: str) -> Answer:
    return Answer(arm.get(request.path))


@route("GET", COMPUTE + "/disks")
def list_disks(arm: "Arm", request: Request, group: str) -> Answer:
    return Answer({"value": arm.below(request.path)})


@route("POST", DISK + "/beginGetAccess")
def grant_access(arm: "Arm", request: Request, group: str, disk: str) -> Answer:
    """Give an address by which a disk can be read; only one that is attached to no running VM."""
    found = arm.get(request.path.rpartition("/")[0])
    if request.body["access"] != "Read" or request.body["durationInSeconds"] <= 0:
        raise not_emulated(f"access by {request.body}")
    if found.get("managedBy"):
        raise ArmError("OperationNotAllowed", f"Disk {disk} is attached to a VM that runs.", 409)
    check_unread(found)
    account = f"md-{secrets.token_hex(6)}"
    sign = quote(base64.b64encode(ESCAPED + secrets.token_bytes(26)), safe="")
    signature = f"sv=2018-03-28&sr=b&si={uuid.uuid4()}&sig={sign}"
    arm.readable[account] = (signature, arm.images / image_name(found))
    found["properties"]["diskState"] = "ActiveSAS"
    answer = {"accessSAS": f"{arm.base}/{account}/container/abcd?{signature}"}
    return Answer(None, 202, operation=arm.start(lambda: answer))


@route("POST", DISK + "/endGetAccess")
def revoke_access(arm: "Arm", request: Request, group: str, disk: str) -> Answer:
    found = arm.get(request.path.rpartition("/")[0])
    image = arm.images / image_name(found)
    arm.readable = {account: at for account, at in arm.readable.items() if at[1] != image}
    if not found.get("managedBy"):
        found["properties"]["diskState"] = "Unattached"
    return Answer(None, 202, operation=arm.start(lambda: None))


def check_unread(disk: Json) -> None:
    """Refuse what Azure does not do with a disk while it can be read by an address."""
    if disk["properties"]["diskState"] == "ActiveSAS":
        text = f"There is an active shared access signature outstanding for disk {disk['name']}."
        raise ArmError("OperationNotAllowed", f"{text} Call EndGetAccess first.", 409)


@route("DELETE", DISK)
def delete_disk(arm: "Arm", request: Request, group: str, disk: str) -> Answer:
    found = arm.find(request.path)
    if found is None:
        return Answer(None, 204)
    check_unread(found)
    if found.get("managedBy"):
        raise ArmError("OperationNotAllowed", f"Disk {disk} is attached to VM {found['managedBy']}.", 409)
    del arm.resources[request.path.lower()]
    (arm.images / image_name(found)).unlink(missing_ok=True)
    return Answer(None, 202, operation=arm.start(lambda: None))
