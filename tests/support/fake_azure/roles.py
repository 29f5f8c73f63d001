"""What the user of az may do: the custom role that docs/azure.md gives, held against every request."""

import json
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .routing import ArmError, Json, Request

if TYPE_CHECKING:
    from .arm import Arm

DOCUMENT = Path(__file__).parents[3] / "docs" / "azure.md"
_VERBS = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete"}
# Azure calls it reading, though one posts the name.
_CHECK_NAME = (
    "Microsoft.Storage/checkNameAvailability/action",
    "Microsoft.Storage/checkNameAvailability/read",
)
# How a deletion of a group and the making of an account stand: no role has to name them, as the built-in role
# Storage Account Contributor shows, which makes accounts with the actions on these alone.
_TOLD_TO_ALL = (
    "Microsoft.Storage/locations/asyncoperations/read",
    "Microsoft.Resources/subscriptions/operationresults/read",
)
# They go with their group, by whomever that is deleted.
NOT_MANAGED = {"Microsoft.Resources/deployments/delete", "Microsoft.Authorization/roleAssignments/delete"}


@cache
def documented() -> tuple[frozenset[str], ...]:
    """Actions in the document: of the custom role, of use besides, for a VM and for a group already there."""
    blocks = re.findall(r"^```json\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    role, besides, group, vm = map(json.loads, blocks)
    return frozenset(role["Actions"]), frozenset(besides), frozenset(vm), frozenset(group)


def operation(method: str, path: str) -> str:
    """What Azure calls a request, such as Microsoft.Compute/disks/write; empty: everybody may ask for it."""
    parts = path.strip("/").split("/")
    if parts[0].lower() != "subscriptions" or len(parts) == 1:
        return ""
    verb = _VERBS.get(method, "action")
    if "/providers/" not in path:
        name = "/".join(["Microsoft.Resources/subscriptions", *parts[2:3], verb])
        return "" if name in _TOLD_TO_ALL else name
    is_feature = "/Microsoft.Features/" in path  # whose name has the provider's in it
    _, _, provided = path.partition("/providers/") if is_feature else path.rpartition("/providers/")
    namespace, *rest = provided.split("/")
    if not rest:
        return f"Microsoft.Resources/subscriptions/providers/{verb}"
    name = "/".join([namespace, *rest[::2], verb])
    return "" if name in _TOLD_TO_ALL else name.replace(*_CHECK_NAME)


def linked(path: str, body: Any) -> set[str]:
    """The operations by which what is put is joined with parts of networks that are there already."""
    if isinstance(body, list):
        return set().union(*(linked(path, item) for item in body))
    if not isinstance(body, dict):
        return set()
    found = set().union(*(linked(path, item) for item in body.values()))
    there = str(body.get("id") or "")
    if "/providers/Microsoft.Network/" in there and not there.lower().startswith(path.lower()):
        found.add(operation("POST", f"{there}/join"))
    return found


def needed(arm: "Arm", request: Request) -> set[str]:
    """The operations that a request takes.

    A deployment takes those of the resources in its template too; the end of a group, of what is in it.
    """
    asked = {operation(request.method, request.path)} - {""}
    if request.method == "PUT":
        asked |= linked(request.path, request.body)
    if request.method == "PUT" and "/deployments/" in request.path:
        resources: list[Json] = request.body["properties"]["template"]["resources"]
        asked |= {f"{one['type']}/write" for one in resources}
    if request.method == "DELETE" and "/providers/" not in request.path:
        within = (one for key, one in arm.resources.items() if key.startswith(f"{request.path.lower()}/"))
        asked |= {f"{one['type']}/delete" for one in within if one["type"].count("/") == 1}
    return asked - NOT_MANAGED


def check_role(arm: "Arm", request: Request) -> None:
    """Refuse what the user's role does not have; which of its actions were taken is noted."""
    for asked in needed(arm, request):
        having = {action for action in arm.actions if fnmatchcase(asked.lower(), action.lower())}
        if any(fnmatchcase(asked.lower(), action.lower()) for action in arm.not_actions):
            having = set()
        if not having:
            text = f"The client 'jane' does not have authorization to perform action '{asked}' over scope."
            raise ArmError("AuthorizationFailed", text, 403)
        arm.actions_used |= having
