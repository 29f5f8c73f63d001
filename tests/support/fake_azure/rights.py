"""Who may do what: the user of az by a custom role, a VM by the roles that were assigned to it."""

from typing import TYPE_CHECKING

from .identity import PRINCIPAL
from .operations import now
from .roles import check_role
from .routing import GROUP, SUBSCRIPTION, Answer, ArmError, Request, not_emulated, route

if TYPE_CHECKING:
    from .arm import Arm

ASSIGNMENT = GROUP + "/providers/Microsoft.Authorization/roleAssignments/{name}"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
TOKEN = "Bearer vm-identity-"  # noqa: S105  how the header of a VM's own request begins; its principal follows


@route("PUT", ASSIGNMENT)
def assign(arm: "Arm", request: Request, group: str, name: str) -> Answer:
    given = request.body["properties"]
    if not given["roleDefinitionId"].endswith(f"/roleDefinitions/{CONTRIBUTOR}"):
        raise not_emulated(f"the role {given['roleDefinitionId']}")
    scope = request.path.partition("/providers/")[0]
    told = {
        "scope": scope,
        "createdOn": now(),
        "updatedOn": now(),
        "createdBy": PRINCIPAL,
        "updatedBy": PRINCIPAL,
    }
    made = arm.put(request.path, {"properties": {**given, **told}})
    return Answer(made, 201)


@route("PUT", SUBSCRIPTION + "/providers/Microsoft.Authorization/roleDefinitions/{name}")
def define(arm: "Arm", request: Request, name: str) -> Answer:
    return Answer(arm.put(request.path, request.body), 201)


@route("GET", GROUP + "/providers/Microsoft.Authorization/permissions")
def permissions(arm: "Arm", request: Request, group: str) -> Answer:
    """What the user of az may do there, as everywhere."""
    may = {"actions": sorted(arm.actions), "notActions": arm.not_actions}
    return Answer({"value": [{**may, "dataActions": [], "notDataActions": []}]})


def check_rights(arm: "Arm", request: Request) -> None:
    """Refuse what a VM asks for without a role there, and what the role of the user of az does not have."""
    if not request.caller.startswith(TOKEN):
        check_role(arm, request)
        return
    principal = request.caller.removeprefix(TOKEN)
    assigned = [one["properties"] for key, one in arm.resources.items() if "/roleassignments/" in key]
    scopes = [one["scope"].lower() for one in assigned if one["principalId"] == principal]
    if not any(f"{request.path.lower()}/".startswith(f"{scope}/") for scope in scopes):
        what = f"to perform this action over scope '{request.path}'"
        text = f"The client '{principal}' does not have authorization {what}."
        raise ArmError("AuthorizationFailed", text, 403)
