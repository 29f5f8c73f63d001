"""Taking down what was created in Azure, and finding what any run left."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from azbenchlib.az import NOT_FOUND, Az, AzError
from azbenchlib.campaign.targets import azure

TAG = "tool=azbench"
TRIES = 4
PATIENCE_S = 1800  # for a group to be gone; Azure takes some minutes
_GONE = ("ResourceGroupNotFound", "ResourceNotFound")

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Leftover:
    """A resource group that a run created: its region, tags and state."""

    group: str
    region: str
    owner: str
    campaign: str
    expires: str
    state: str

    @property
    def command(self) -> str:
        """How to delete it by hand."""
        return command(self.group)


def command(group: str) -> str:
    """The az command that deletes a group."""
    return f"az group delete --name {group} --yes"


def find(az: Az) -> list[Leftover]:
    """Every group in the subscription that azbench created."""
    found = []
    for group in az.json(*azure.group_list(TAG)):
        tags = group.get("tags") or {}
        state = (group.get("properties") or {}).get("provisioningState", "")
        owner, campaign, expires = (str(tags.get(name, "")) for name in ("owner", "campaign", "expires"))
        found.append(Leftover(group["name"], group.get("location", ""), owner, campaign, expires, state))
    return found


def delete(az: Az, group: str, tell: Tell) -> str:
    """Delete a group and wait until it is gone.

    Returns
    -------
    str
        Empty; or a sentence on what could not be deleted, with the command that does it.
    """
    fault = ""
    for attempt in range(TRIES):
        try:
            az.json(*azure.group_delete(group))
            fault = _remains(az, group)
        except AzError as error:
            fault = "" if _is_gone(error) else str(error)
        if not fault:
            return ""
        tell(f"{fault}; trying again …")
        time.sleep(2**attempt)
    return shout(group, fault)


def _remains(az: Az, group: str) -> str:
    """Wait while a group is being deleted; empty when it is gone, else why it is not."""
    deadline = time.monotonic() + PATIENCE_S
    wait_s = 1.0
    while time.monotonic() < deadline:
        try:
            state = az.json(*azure.group_show(group))["properties"]["provisioningState"]
        except AzError as error:
            if _is_gone(error):
                return ""
            raise
        if state != "Deleting":
            return f"its deletion ended, and it is {state}"
        time.sleep(wait_s)
        wait_s = min(15, wait_s * 1.5)
    return f"it is still being deleted after {PATIENCE_S // 60} minutes"


def _is_gone(error: AzError) -> bool:
    return error.status == NOT_FOUND or error.code in _GONE


def shout(group: str, why: str) -> str:
    """What to say of a group that is still there."""
    return (
        f"RESOURCE GROUP {group} IS STILL IN AZURE AND COSTS MONEY ({why}); "
        f"delete it with `{command(group)}` or `azbench cleanup --yes`"
    )
