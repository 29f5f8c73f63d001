"""Operations that go on after their request was accepted, at the addresses that each service gives them.

As in azure-cli's recordings of 2019 to 2026: test_run_command_v2, test_vm_disk_attach_detach,
test_disk_bursting, test_natgateway_basic, test_create_storage_account, test_resource_group. The headers are
as there; the time to wait, which Azure seldom tells, is short: without it az waits for 30 seconds.
"""

import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .routing import GROUP, SUBSCRIPTION, Answer, ArmError, Json, Operation, Request, route

if TYPE_CHECKING:
    from .arm import Arm

# What a new or changed resource says of itself until it is there.
CREATING, UPDATING = "Creating", "Updating"
LOCATION = SUBSCRIPTION + "/providers/{namespace}/locations/{location}"
ADDRESSES = (
    LOCATION + "/operations/{key}",
    LOCATION + "/DiskOperations/{key}",
    LOCATION + "/asyncoperations/{key}",
    SUBSCRIPTION + "/operationresults/{key}",
    GROUP + "/providers/Microsoft.Resources/deployments/{name}/operationStatuses/{key}",
)


def now() -> str:
    """The time as Azure writes it."""
    return datetime.now(UTC).isoformat()


def accepted(arm: "Arm", request: Request, answer: Answer, operation: Operation) -> Answer:
    """Answer that an operation has begun, with where to ask how it stands, and where for its result."""
    key = str(uuid.uuid4())
    arm.operations[key] = operation
    subscription = "/".join(request.path.split("/")[:3])
    found = re.search(r"/providers/([^/]+)/([^/]+)", request.path)
    version = f"api-version={request.query.get('api-version', '2024-11-01')}"
    status, result = answer.status, ""
    if found is None:  # a group, which is deleted
        result = f"{subscription}/operationresults/{key}?{version}"
        asked = ""
    elif found[1] == "Microsoft.Resources":
        asked = f"{request.path}/operationStatuses/{key}?{version}"
    else:
        where = arm.group(request.path)["location"].lower()
        place = f"{subscription}/providers/{found[1]}/locations/{where}"
        kind = {"disks": "DiskOperations", "storageAccounts": "asyncoperations"}.get(found[2], "operations")
        asked = "" if kind == "asyncoperations" else f"{place}/{kind}/{key}?{version}"
        result = f"{place}/{kind}/{key}?monitor=true&{version}" if status == 202 else ""
    headers = {"Azure-AsyncOperation": asked, "Location": result}
    told = {name: f"{arm.base}{url}" for name, url in headers.items() if url}
    body = answer.body if asked else None
    return Answer(_unfinished(body, answer.until), status, told | operation.retry_after | answer.headers)


def _unfinished(body: Any, state: str) -> Any:
    """A resource as it is told until it is there."""
    if not isinstance(body, dict) or not isinstance(body.get("properties"), dict):
        return body
    return {**body, "properties": {**body["properties"], "provisioningState": state}}


@route("GET", *ADDRESSES)
def operation(arm: "Arm", request: Request, key: str, namespace: str = "", **_: str) -> Answer:
    """Tell how an operation stands, or its result; if not prompt, only when asked twice."""
    found = arm.operations.get(key)
    if found is None:
        raise ArmError("NotFound", f"no operation {key}", 404)
    found.polls += 1
    busy = not found.done.is_set() or (found.polls == 1 and not (arm.prompt and found.retry_s == 1))
    if "monitor" in request.query or "/operationresults/" in request.path:
        asked = "&".join(f"{name}={value}" for name, value in request.query.items())
        again = found.retry_after | {"Location": f"{arm.base}{request.path}?{asked}"}
        if busy:
            return Answer(None, 202, again)
        return Answer({"error": found.error}, 409) if found.error else Answer(found.result)
    if namespace.lower() == "microsoft.compute":
        return Answer(_of_compute(key, found, busy), headers=found.retry_after)
    working = "InProgress" if namespace else "Running"
    state = working if busy else "Failed" if found.error else "Succeeded"
    return Answer(
        {"status": state, **({"error": found.error} if found.error and not busy else {})},
        headers=found.retry_after,
    )


def _of_compute(key: str, found: Operation, busy: bool) -> Json:
    told: Json = {"startTime": found.began}
    if busy:
        return told | {"status": "InProgress", "name": key}
    told["endTime"] = found.ended or now()
    if found.error:
        return told | {"status": "Failed", "error": found.error, "name": key}
    output = {"properties": {"output": found.result}} if found.result is not None else {}
    return told | {"status": "Succeeded", **output, "name": key}
