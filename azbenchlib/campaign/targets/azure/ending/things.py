"""What runs left, in groups of their own and in groups of the user's: found, told and deleted.

A group of its own goes whole, as `orphans` beside this module deletes it. In a group of the user's, a run
deletes exactly what it made, each thing by its own command: what has its tag, or its prefix in its name.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import GROUP_NOT_FOUND, AzError
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.commands import RUN, RUN_PREFIX
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.ending.orphans import Deleted, Deletion, OrphanedGroup, Tell
from azbenchlib.core.errors import AzbenchError

VM, SCHEDULE = "microsoft.compute/virtualmachines", "microsoft.devtestlab/schedules"
OF_A_VM = "shutdown-computevm-"  # how the schedule of its automatic shutdown is called, before its own name
# How each kind is deleted, in the order in which that is possible. Source: `az COMMAND --help`, 2.91.
DELETED_BY = {
    VM: ("vm delete", "--yes"),
    SCHEDULE: ("vm auto-shutdown", "--off"),
    "microsoft.network/networkinterfaces": ("network nic delete", ""),
    "microsoft.compute/disks": ("disk delete", "--yes"),
    "microsoft.network/virtualnetworks": ("network vnet delete", ""),
    "microsoft.network/natgateways": ("network nat gateway delete", ""),
    "microsoft.network/publicipaddresses": ("network public-ip delete", ""),
    "microsoft.storage/storageaccounts": ("storage account delete", "--yes"),
}
_UNDER_WAY = ("Accepted", "Created", "Creating", "Running")  # deployments; the others ended


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A resource in a group; `kind` in lower case."""

    group: str
    name: str
    kind: str
    region: str
    tags: dict[str, str]

    @property
    def run(self) -> str:
        """The prefix of the run whose tag it has; else empty."""
        return self.tags.get(RUN, "")

    @property
    def deletion(self) -> list[str]:
        """The command that deletes it.

        Raises an AzbenchError when no run makes a thing of this kind.
        """
        if self.kind not in DELETED_BY:
            raise AzbenchError(f"{self.name} is of the kind {self.kind}, which azbench makes none of")
        command, option = DELETED_BY[self.kind]
        name = self.name.removeprefix(OF_A_VM) if self.kind == SCHEDULE else self.name
        return [*command.split(), "--name", name, "--resource-group", self.group, *option.split()]


def own(az: Az, group: str, prefix: str) -> list[Thing]:
    """What a run made in a group of the user's, in the order in which it is deleted; none where it is gone.

    Raises an AzError when Azure cannot be asked; an AzbenchError when the prefix is none of a run: a folder
    of measurements may be somebody else's.
    """
    if not re.fullmatch(RUN_PREFIX, prefix):
        raise AzbenchError(f"'{prefix}' is noted as what the names of a run's things begin with, and is not")
    try:
        found = _listed(az.json(*commands.things_in(group)))
    except AzError as error:
        if error.code == GROUP_NOT_FOUND:
            return []
        raise
    mine = [one for one in found if prefix in (one.run, *_beginnings(one.name, len(prefix)))]
    order = [*DELETED_BY]
    return sorted(mine, key=lambda one: order.index(one.kind) if one.kind in order else len(order))


def _beginnings(name: str, length: int) -> tuple[str, str]:
    return name.lower()[:length], name.lower().removeprefix(OF_A_VM)[:length]


def find(az: Az) -> list[OrphanedGroup]:
    """Every group in the subscription that azbench created, and every other one with things of a run."""
    found = orphans.find(az)
    try:
        groups = {one.group for one in _listed(az.json(*commands.things_with(RUN)))}  # without their tags
    except AzError as error:
        if error.code != "AuthorizationFailed":
            raise
        return found  # an account that may not list things has made none in a group of the user's
    listed = [one for group in sorted(groups) for one in _listed(az.json(*commands.things_in(group)))]
    things = sorted((one for one in listed if re.fullmatch(RUN_PREFIX, one.run)), key=_of_run)
    return [*found, *(_left(list(these)) for _, these in groupby(things, key=_of_run))]


def _of_run(thing: Thing) -> tuple[str, str]:
    return thing.group, thing.run


def _left(things: Sequence[Thing]) -> OrphanedGroup:
    """What a run left in a group of the user's; the latest of their tags counts."""
    first, now = things[0], datetime.now(UTC)
    newest = max(things, key=lambda one: one.tags.get("expires", ""))
    return OrphanedGroup(
        group=first.group,
        region=first.region,
        owner=newest.tags.get("owner", ""),
        campaign=newest.tags.get("campaign", ""),
        expires=newest.tags.get("expires", ""),
        state=f"{len(things)} things of a run in a group that is not azbench's",
        held=any(orphans.is_leased(one.tags, now) for one in things),
        prefix=first.run,
    )


def check_is_own(az: Az, group: str, prefix: str) -> bool:
    """Refuse what another run holds, and a group that no run made; whether there is anything that stays.

    Raises an AzbenchError when another run that may be alive holds it, or the whole group would go and no run
    made it; an AzError when Azure cannot be asked.
    """
    if not prefix:
        found = orphans.check_is_own(az, group)
        return found is not None and orphans.state_of(found) != orphans.DELETING
    things = own(az, group, prefix)
    if any(orphans.is_leased(one.tags, datetime.now(UTC)) for one in things):
        raise AzbenchError(
            f"what a run made in the resource group {group} is held by another run of this measurement, "
            "which renews its lease; wait for its end, or measure into another folder"
        )
    return bool(things)


def warning(az: Az, group: str, prefix: str, why: str) -> str:
    """What to say of what is still there."""
    if not prefix:
        return orphans.warning(az, group, why)
    option = f" --subscription {az.subscription}" if az.subscription else ""
    return (
        f"WHAT THE RUN MADE IN THE RESOURCE GROUP {group} IS STILL IN AZURE AND COSTS MONEY ({why}); its "
        f"names begin with {prefix}; delete it with `azbench cleanup --group {group}/{prefix} --yes{option}`"
    )


def delete(
    az: Az,
    group: str,
    prefix: str,
    tell: Tell,
    interrupts: Interrupts | None = None,
    note: Callable[[bool], None] = lambda accepted: None,
) -> Deleted:
    """Delete what a run made, and wait until it is gone: its group, or its things in one of the user's.

    As :class:`.Deletion`; an interrupt ends the waiting after the deletion of the VMs was asked for.
    """
    interrupts = interrupts or Interrupts()
    if not prefix:
        return Deletion(az=az, group=group, tell=tell, interrupts=interrupts, note=note).carry_out()
    return _OfThings(az=az, group=group, prefix=prefix, tell=tell, interrupts=interrupts).carry_out()


@dataclass(kw_only=True)
class _OfThings(Deletion):
    """The deletion of what a run made in a group of the user's."""

    prefix: str

    @property
    def stopped(self) -> str:
        return self.warning("the waiting for its deletion was interrupted")

    def warning(self, why: str) -> str:
        return warning(self.az, self.group, self.prefix, why)

    @property
    def what(self) -> str:
        return f"what the run made in {self.group}"

    def ask(self) -> None:
        """Ask Azure to delete the VMs, on which the rest depends and which cost the most."""
        for thing in own(self.az, self.group, self.prefix):
            if thing.kind == VM:
                self.az.json(*thing.deletion, "--no-wait")

    def watch(self, deadline: float) -> str:
        """Delete the rest, until nothing is listed twice; empty when all is gone, else why it is not."""
        look, n_empty = orphans.FIRST_LOOK_S, 0
        while True:
            under_way = self._is_being_made()
            things = own(self.az, self.group, self.prefix)
            n_empty = 0 if things or under_way else n_empty + 1
            if n_empty == 2:
                return ""
            for thing in things:
                self.az.json(*thing.deletion)
            if time.monotonic() + look > deadline:
                return "it is still being made or deleted"
            time.sleep(orphans.SURE_S if n_empty else look)
            look = min(orphans.LONGEST_LOOK_S, look * 1.5)

    def _is_being_made(self) -> bool:
        """Whether a deployment is under way that may yet make a VM of the run, for nobody waits for it."""
        try:
            found = self.az.json(*commands.deployments(self.group))
        except AzError as error:
            if error.code == GROUP_NOT_FOUND:
                return False
            raise
        return any(
            self.prefix in json.dumps(one).lower()
            and orphans.value_at(one, "properties", "provisioningState") in _UNDER_WAY
            for one in found or []
        )


def _listed(answer: Any) -> list[Thing]:
    """Resources as az lists them.

    Raises an AzError when the answer is none of Azure's.
    """
    if not isinstance(answer, list) or not all(isinstance(one, dict) for one in answer):
        raise AzError("az resource list: its answer is no list of resources; is the network in order?")
    return [*_things(answer)]


def _things(answer: Sequence[dict[str, Any]]) -> Iterator[Thing]:
    for one in answer:
        place = re.search(r"/resourceGroups/([^/]+)/", str(one.get("id")), re.IGNORECASE)
        if place and one.get("name") and one.get("type"):
            yield Thing(
                group=place[1],
                name=str(one["name"]),
                kind=str(one["type"]).lower(),
                region=str(one.get("location") or ""),
                tags={str(name): str(value) for name, value in (one.get("tags") or {}).items()},
            )
