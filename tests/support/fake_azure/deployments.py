"""Template deployments, as far as `az vm create` uses them."""

import re
import uuid
from typing import TYPE_CHECKING, Any

from .disks import zone_of
from .faults import invalid_template
from .groups import put_network
from .machines import create_machine
from .operations import now
from .routing import GROUP, Answer, ArmError, Json, Request, not_emulated, route
from .skus import is_restricted

if TYPE_CHECKING:
    from .arm import Arm

DEPLOYMENT = GROUP + "/providers/Microsoft.Resources/deployments/{name}"


def _resolve(value: Any, known: dict[str, Json]) -> Any:
    """Replace `[parameters('x')]` and `[variables('x')]` all the way down."""
    if isinstance(value, dict):
        return {key: _resolve(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, known) for item in value]
    if isinstance(value, str) and value.startswith("["):
        found = re.fullmatch(r"\[(parameters|variables)\('(\w+)'\)\]", value)
        if found is None:
            raise not_emulated(f"the template expression {value}")
        return known[found[1]][found[2]]
    return value


def _resources(body: Json) -> list[Json]:
    properties = body["properties"]
    template = properties["template"]
    known: dict[str, Json] = {
        "parameters": {k: v["value"] for k, v in (properties.get("parameters") or {}).items()}
    }
    known["variables"] = _resolve(template.get("variables", {}), known)
    resources = [_resolve(resource, known) for resource in template["resources"]]
    return sorted(resources, key=lambda r: len(r.get("dependsOn") or []))


def _preflight(arm: "Arm", resources: list[Json]) -> None:
    """Refuse a size that is not to be had before anything is made."""
    for resource in resources:
        if resource["type"].lower() != "microsoft.compute/virtualmachines":
            continue
        size, location = resource["properties"]["hardwareProfile"]["vmSize"], resource["location"].lower()
        sku, zone = arm.sku(size, location), zone_of(resource)
        if sku is None or is_restricted(sku, zone) or (zone and zone not in sku["locationInfo"][0]["zones"]):
            text = (
                "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: "
                f"{size}' is currently not available in location '{location}'. Please try another size or "
                "deploy to a different location or different zone."
            )
            raise invalid_template("SkuNotAvailable", text)


def _make(arm: "Arm", group: str, resource: Json, command: str) -> Json:
    path = f"{group}/providers/{resource['type']}/{resource['name']}"
    if resource["type"].lower() == "microsoft.compute/virtualmachines":
        return {"id": create_machine(arm, path, resource, command)["id"]}
    return {"id": put_network(arm, path, resource)["id"]}


def _failed(reason: ArmError) -> ArmError:
    """Wrap a resource's failure as deep as Azure does."""
    state = (
        "The resource write operation failed to complete successfully, because it reached terminal "
        "provisioning state 'Failed'."
    )
    inner = {"code": "ResourceDeploymentFailure", "message": state, "details": [reason.error]}
    text = "At least one resource deployment operation failed. Please list deployment operations for details."
    return ArmError("DeploymentFailed", text, 409, [inner])


def _named(group: str, resource: Json) -> Json:
    kind, name = resource["type"], resource["name"]
    return {"id": f"{group}/providers/{kind}/{name}", "resourceType": kind, "resourceName": name}


@route("PUT", DEPLOYMENT)
def deploy(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    resources = _resources(request.body)
    _preflight(arm, resources)
    group = request.path.partition("/providers/")[0]
    deployment = arm.put(request.path, {"properties": {"mode": "Incremental"}})
    deployment["properties"]["dependencies"] = [
        {"dependsOn": [], **_named(group, one)} for one in resources if one.get("dependsOn")
    ]
    properties = deployment["properties"]
    properties["provisioningState"] = "Accepted"
    properties |= {"parameters": {}, "outputs": {}, "templateHash": "0", "providers": []}
    properties |= {"timestamp": now(), "duration": "PT0.1S", "correlationId": str(uuid.uuid4())}

    def work() -> Json:
        with arm.lock:
            try:
                properties["outputResources"] = [_make(arm, group, r, request.command) for r in resources]
            except ArmError as refusal:
                properties["provisioningState"] = "Failed"
                raise _failed(refusal) from refusal
            properties["provisioningState"] = "Succeeded"
        return deployment

    return Answer(deployment, 201, operation=arm.start(work), until="Accepted")


@route("POST", DEPLOYMENT + "/validate")
def validate(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    _preflight(arm, _resources(request.body))
    return Answer({"properties": {"provisioningState": "Succeeded"}})


@route("GET", GROUP + "/providers/Microsoft.Resources/deployments/")  # so az asks for it
def list_deployments(arm: "Arm", request: Request, **_: str) -> Answer:
    return Answer({"value": arm.below(request.path)})


@route("GET", DEPLOYMENT)
def show(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    return Answer(arm.get(request.path))
