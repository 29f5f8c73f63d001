"""The resource group of a run, in which the steps of its experiment are carried out one by one."""

import re
import time
from dataclasses import dataclass
from itertools import pairwise

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import NOT_LOGGED_IN, AzError
from azbenchlib.campaign.targets.azure import commands, guest
from azbenchlib.campaign.targets.azure.state import AzureRun
from azbenchlib.campaign.targets.azure.steps import Call, Prepare, Release, Rest, Step
from azbenchlib.campaign.targets.azure.vm import Vm

# With these Azure refuses a resource group before it makes it; for some it would refuse its deletion, too.
_NOT_MADE = (
    *(NOT_LOGGED_IN, "AuthorizationFailed", "LinkedAuthorizationFailed", "RequestDisallowedByPolicy"),
    *("LocationNotAvailableForResourceGroup", "InvalidResourceGroup", "SubscriptionNotFound"),
)
# How Azure refuses to attach a disk to a VM of another zone. Source: jenkins-infra/azure#1406, 2026. Both
# codes come with status 400; what is in the way for the moment has other ones.
_REFUSALS, _ZONES = ("BadRequest", "InvalidParameter"), re.compile(r"\bzones?\b", re.IGNORECASE)


@dataclass
class Cloud:
    """The resource group of a run, and the az that reaches it."""

    run: AzureRun
    az: Az
    group: str

    @property
    def noted(self) -> bool:
        """Whether the plan notes the group as one that may be there."""
        return self.group in self.run.plan.groups

    def vm(self, name: str) -> Vm:
        """A VM in the group."""
        return Vm(self.az, self.group, name)

    def make(self, step: Call) -> None:
        """Create the group; where Azure refuses before it makes one, none is noted any more."""
        try:
            self.do(step)
        except AzError as error:
            if error.code in _NOT_MADE:
                self.run.plan.groups.remove(self.group)
            raise

    def do(self, step: Step) -> None:
        """Carry a step out that measures nothing."""
        self.run.tell(f"{step.title} …")
        if isinstance(step, Call):
            self._call(step)
        elif isinstance(step, Rest):
            time.sleep(step.seconds)
        elif isinstance(step, Prepare):
            said = self.vm(step.vm).run(step.title, guest.prepare(step), guest.PREPARE_S)
            self.run.plan.facts[step.setup.name] = guest.facts(said)
            self.run.save()
        elif isinstance(step, Release):
            self.vm(step.vm).run(step.title, guest.release(step), guest.PREPARE_S)

    def _call(self, step: Call) -> None:
        """A call of az; where a refusal is expected, what came is noted either way."""
        try:
            self.az.json(*step.argv)
        except AzError as error:
            if step.refusal is None or error.code not in _REFUSALS or not _ZONES.search(error.message):
                if self._is_done(step.argv):  # by a call whose answer was lost
                    return
                raise
            setup, disk = step.refusal
            self.run.note(f"Setup {setup}: Azure refused to attach {disk}, as expected. {error}")
            self.run.tell(f"refused, as expected: {error}")
            return
        if step.refusal:
            setup, disk = step.refusal
            self.run.note(f"Setup {setup}: Azure attached {disk}, although a refusal was expected.")
            self.az.json(*_undone(step.argv))

    def _is_done(self, argv: list[str]) -> bool:
        """Whether a disk is attached, or detached, as a command says that failed; its answer may be lost."""
        if argv[:2] != ["vm", "disk"]:
            return False
        value = dict(pairwise(argv))
        try:
            shown = self.az.json(*commands.vm_show(self.group, value["--vm-name"]))
            disks = shown["storageProfile"]["dataDisks"]
            luns = {disk["name"].lower(): str(disk["lun"]) for disk in disks}
        except (AzError, TypeError, KeyError):
            return False
        return luns.get(value["--name"].lower()) == (value["--lun"] if argv[2] == "attach" else None)


def _undone(attach: list[str]) -> list[str]:
    """The command that detaches what another attached."""
    value = dict(pairwise(attach))
    return commands.disk_detach(value["--resource-group"], value["--vm-name"], value["--name"])
