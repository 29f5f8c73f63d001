"""Taking down what was created in Azure, and finding what any run left."""

import getpass
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import GROUP_NOT_FOUND, AzError
from azbenchlib.azure.retries import Patience
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.core import processes
from azbenchlib.core.errors import AzbenchError

LEASE_S, RENEW_S = 1800, 600
LEASE, HOLDER = "lease", "holder"  # tags: until when, and which process on which machine


def lease_tags(now: datetime) -> dict[str, str]:
    """The tags that this process holds a group with."""
    return {LEASE: lease_until(now), HOLDER: lease_holder(os.getpid())}


def group_tags(campaign: str, owner: str, expires: str) -> dict[str, str]:
    """All tags of a group that this process makes; `owner`: empty for the user of this machine."""
    told = {"tool": "azbench", "owner": owner or getpass.getuser(), "campaign": campaign, "expires": expires}
    return told | lease_tags(datetime.now(UTC))


def lease_until(now: datetime) -> str:
    """The end of a lease that begins now."""
    return (now + timedelta(seconds=LEASE_S)).isoformat(timespec="seconds")


def lease_holder(pid: int) -> str:
    """A process on this machine, without the machine's name."""
    return f"{_machine()}-{pid}-{processes.began(pid)}"


def is_leased(found: Mapping[str, str], now: datetime) -> bool:
    """Whether another process that may be alive holds a group with these tags."""
    try:
        ends = datetime.fromisoformat(found.get(LEASE, ""))
    except ValueError:
        return False
    if (ends if ends.tzinfo else ends.replace(tzinfo=UTC)) <= now:
        return False
    machine, _, process = found.get(HOLDER, "").partition("-")
    pid, _, began = process.partition("-")
    if machine != _machine() or not pid.isdigit():
        return True
    return int(pid) != os.getpid() and bool(began) and processes.began(int(pid)) == began


def _machine() -> str:
    return sha256(socket.gethostname().encode()).hexdigest()[:8]


TAG = "tool=azbench"
TAGS = ("tool", "owner", "campaign", "expires")  # all that a run puts on its group
DELETION_PATIENCE_S = 3600  # how long a deletion is tried and waited for
DELETE_TRIES = 4  # of a deletion that Azure refuses for a reason that does not pass by itself
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0  # between tries
FIRST_LOOK_S, LONGEST_LOOK_S = 1.0, 15.0  # between looks at a group that is being deleted
SLOW_S = 600.0  # of a deletion, after which it is told what is still in the group
SURE_S = 2.0  # a group that was just made may not be found everywhere yet
DELETING = "Deleting"  # the state of a group meanwhile
_MOST_NAMED = 5  # of what is still in a group
_UNDER_WAY = ("ResourceGroupBeingDeleted", "ResourceGroupDeletionInProgress")
_LASTING = (
    *("ScopeLocked", "AuthorizationFailed", "LinkedAuthorizationFailed", "RequestDisallowedByPolicy"),
    *(
        "DenyAssignmentAuthorizationFailed",
        "SubscriptionNotFound",
        "InvalidSubscriptionId",
        "ReadOnlyDisabledSubscription",
    ),
)

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class OrphanedGroup:
    """What a run left: a resource group, or its things in one of the user's; its region, tags and state."""

    group: str
    region: str
    owner: str
    campaign: str
    expires: str
    state: str
    held: bool = False  # by a lease of a run that may be alive
    prefix: str = ""  # of the run's things, where the group is not its own

    @property
    def where(self) -> str:
        """What tells it from others: the group, or the group and the prefix of the things in it."""
        return f"{self.group}/{self.prefix}" if self.prefix else self.group

    def expired(self, now: datetime) -> bool:
        """Whether the time is over that its run gave itself; of a tag that tells none, no."""
        try:
            ends = datetime.fromisoformat(self.expires)
        except ValueError:
            return False
        return (ends if ends.tzinfo else ends.replace(tzinfo=UTC)) <= now

    def kept_because(self, owner: str, now: datetime) -> str:
        """Why it is not taken down unasked; empty where its owner is this one and its time is over."""
        reasons = {
            f"it is not {owner}'s": self.owner != owner,
            "its run is alive: it renews its lease": self.held,
            "its run may go on: it has not expired": not self.held and not self.expired(now),
        }
        return ", and ".join(reason for reason, holds in reasons.items() if holds)


@dataclass(frozen=True)
class Deleted:
    """How a deletion ended: what is left, in words (empty: nothing), and whether it was interrupted."""

    left: str = ""
    interrupted: bool = False


def command(group: str, subscription: str = "") -> str:
    """The az command that deletes a group."""
    return f"az group delete --name {group} --yes" + (
        f" --subscription {subscription}" if subscription else ""
    )


def find(az: Az) -> list[OrphanedGroup]:
    """Every group in the subscription that azbench created; one without all of its tags is another's."""
    found, now = [], datetime.now(UTC)
    for group in _list(az.json(*commands.group_list(TAG))):
        if not is_tagged(group):
            continue
        tags = group["tags"]
        state = str(value_at(group, "properties", "provisioningState") or "state unknown")
        owner, campaign, expires = (str(tags[name]) for name in TAGS[1:])
        found.append(
            OrphanedGroup(
                group=str(group.get("name") or ""),
                region=str(group.get("location") or ""),
                owner=owner,
                campaign=campaign,
                expires=expires,
                state=state,
                held=is_leased(tags, now),
            )
        )
    return found


def value_at(answer: Any, *keys: str) -> Any:
    """What an answer of az has at some keys; None where it has not."""
    for key in keys:
        answer = answer.get(key) if isinstance(answer, dict) else None
    return answer


def is_tagged(group: Any) -> bool:
    """Whether a group carries all tags that a run puts on its own."""
    tags = group.get("tags") if isinstance(group, dict) else None
    return isinstance(tags, dict) and tags.get("tool") == "azbench" and all(name in tags for name in TAGS)


def check_is_own(az: Az, group: str) -> dict[str, Any] | None:
    """Refuse a group that no run made, whoever noted it, and one that another run holds; None: it is gone.

    A folder of measurements may be somebody else's, and name any group of this subscription.

    Raises an AzbenchError when the group is there without the tags of a run, or another run that may be alive
    holds it; an AzError when Azure cannot be asked.
    """
    try:
        found = az.json(*commands.group_show(group))
    except AzError as error:
        if error.code == GROUP_NOT_FOUND:
            return None
        raise
    if not is_tagged(found):
        raise AzbenchError(
            f"resource group {group} is noted as one of an earlier run, but it has no tags of azbench, so it "
            f"is not deleted; if it is yours to delete, use `{command(group, az.subscription)}`; or measure "
            "into another folder"
        )
    if is_leased(found["tags"], datetime.now(UTC)):
        raise AzbenchError(
            f"resource group {group} is held by another run of this measurement, which renewed its lease to "
            f"{found['tags'][LEASE]}; wait for its end, or measure into another folder"
        )
    return found


def subscription(az: Az) -> tuple[str, str]:
    """Ids of the subscription that az is set to, or of the one it was told, and of its tenant.

    Raises an AzError when az is not logged in, or the account does not have that subscription.
    """
    found = az.json(*commands.account_show())
    told = found.get("id") if isinstance(found, dict) else None
    if not isinstance(told, str) or not told:
        raise AzError("az account show: its answer names no subscription")
    return told, str(found.get("tenantId") or "")


def identity(az: Az) -> dict[str, str]:
    """Subscription, tenant and user of az, in the words of a report.

    Raises an AzError when az is not logged in.
    """
    found = az.json(*commands.account_show())
    told = found if isinstance(found, dict) else {}
    user = told.get("user")
    return {
        "Subscription": f"{told.get('name')} ({told.get('id')})",
        "Tenant": str(told.get("tenantId")),
        "Measured by": str(user.get("name") if isinstance(user, dict) else user),
    }


@dataclass(kw_only=True)
class Deletion:
    """The deletion of a group, until it is gone.

    What passes by itself, such as a network that is away, is waited for. An interrupt ends the waiting, after
    the deletion was asked for.
    """

    az: Az  # told the subscription that the group is in
    group: str
    tell: Tell  # is told once, in a line, what is in the way
    interrupts: Interrupts = field(default_factory=Interrupts)  # those of the run
    note: Callable[[bool], None] = lambda accepted: None  # is told whether Azure carries it out by itself
    patience_s: float = field(default_factory=lambda: DELETION_PATIENCE_S)  # how long it is tried
    accepted: bool = field(default=False, init=False)
    told: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.az = replace(self.az, must_log=False, patience=Patience())  # it has its own

    def carry_out(self) -> Deleted:
        """Delete; what is left is a sentence with what is in the way and the command that deletes it."""
        try:
            fault = self._until_gone()
        except KeyboardInterrupt:
            return Deleted(self.stopped, True)
        return Deleted(self.warning(fault) if fault else "")

    def warning(self, why: str) -> str:
        """What to say of what is still there."""
        return warning(self.az, self.group, why)

    @property
    def stopped(self) -> str:
        """What to say when the waiting is stopped."""
        if self.accepted:
            return going(self.az, self.group)
        return self.warning("its deletion was stopped before Azure had accepted it")

    @property
    def what(self) -> str:
        """What is deleted, in words."""
        return self.group

    def _until_gone(self) -> str:
        """Empty when the group is gone, else why it is not."""
        deadline = time.monotonic() + self.patience_s
        pause, lasting = FIRST_PAUSE_S, 0
        while True:
            try:
                with self.interrupts.asking():
                    self.ask()
                with self.interrupts.waiting():
                    fault = self.watch(deadline)
            except AzError as error:
                fault = str(error)
                lasting += error.code in _LASTING
            if not fault or lasting >= DELETE_TRIES or time.monotonic() + pause > deadline:
                return fault
            self._tell(fault, lasting, deadline - time.monotonic())
            with self.interrupts.waiting():
                time.sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)

    def ask(self) -> None:
        """Ask Azure to delete the group, which may be gone, or be under way to it."""
        try:
            self.az.json(*commands.group_delete(self.group))
        except AzError as error:
            if error.code == GROUP_NOT_FOUND:
                time.sleep(0 if self.accepted else SURE_S)
                return
            if error.code not in _UNDER_WAY:
                raise
        self._is_accepted(True)

    def _is_accepted(self, accepted: bool) -> None:
        self.accepted = accepted
        self.note(accepted)

    def watch(self, deadline: float) -> str:
        """Wait while a group is being deleted; empty when it is gone, else why it is not."""
        look, begun, told = FIRST_LOOK_S, time.monotonic(), False
        while True:
            try:
                state = state_of(self.az.json(*commands.group_show(self.group)))
            except AzError as error:
                if error.code == GROUP_NOT_FOUND:
                    return ""
                raise
            waited_s = time.monotonic() - begun
            if state != DELETING:
                kept = self._kept() if self.accepted else ""
                self._is_accepted(False)
                return f"its deletion ended, and it is {state}{kept}"
            fault = f"it is still being deleted after {_minutes(waited_s)}"
            if time.monotonic() + look > deadline:
                return fault + self._kept()
            if waited_s > SLOW_S and not told:
                told = True
                self.tell(f"{self.what}: {fault}{self._kept()}; Ctrl-C ends the waiting, not the deletion")
            time.sleep(look)
            look = min(LONGEST_LOOK_S, look * 1.5)

    def _kept(self) -> str:
        """What is still in the group, and what keeps a disk there, in words; empty: it is not known."""
        try:
            found = self.az.json(*commands.things_in(self.group)) or []
            read = self.az.json(*commands.disks_read(self.group)) or []
            names = [f"{one['name']} ({one['type']})" for one in found]
        except (AzError, KeyError, TypeError):
            return ""
        more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
        held = f"; a disk with an active SAS cannot be deleted: {', '.join(map(str, read))}" if read else ""
        return f", with {', '.join(names[:_MOST_NAMED] + more)} in it{held}" if names else ""

    def _tell(self, fault: str, lasting: int, left_s: float) -> None:
        """A line a reason: it may be the same one for an hour."""
        if fault == self.told:
            return
        self.told = fault
        rest = f"{DELETE_TRIES - lasting} times more" if lasting else f"for another {_minutes(left_s)}"
        self.tell(f"{self.what} is still there: {fault}. Trying again {rest}; Ctrl-C ends the waiting")


def going(az: Az, group: str) -> str:
    """What to say of a group that Azure deletes by itself."""
    option = f" --subscription {az.subscription}" if az.subscription else ""
    return (
        f"Azure has accepted the deletion of resource group {group} and carries it out by itself; "
        f"`azbench cleanup{option}` looks whether it is gone"
    )


def warning(az: Az, group: str, why: str) -> str:
    """What to say of a group that is still there."""
    option = f" --subscription {az.subscription}" if az.subscription else ""
    return (
        f"RESOURCE GROUP {group} IS STILL IN AZURE AND COSTS MONEY ({why}); delete it with "
        f"`{command(group, az.subscription)}` or `azbench cleanup --group {group} --yes{option}`"
    )


def state_of(answer: Any) -> str:
    """The state of a group as az tells it.

    Raises an AzbenchError when the answer is none of Azure's.
    """
    state = value_at(answer, "properties", "provisioningState")
    if not isinstance(state, str):
        raise AzError("az group show: its answer does not tell the state of the group")
    return state


def _list(answer: Any) -> list[dict[str, Any]]:
    """Groups as az lists them.

    Raises an AzbenchError when the answer is none of Azure's.
    """
    if not isinstance(answer, list) or not all(
        isinstance(group, dict) and "name" in group for group in answer
    ):
        raise AzbenchError("az group list: its answer is no list of groups; is the network in order?")
    return answer


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'s' if minutes > 1 else ''}"
