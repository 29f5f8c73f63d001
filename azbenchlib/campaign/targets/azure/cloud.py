"""The resource group of a run, in which the steps of its experiment are carried out one by one."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import NOT_LOGGED_IN, AzError
from azbenchlib.azure.retries import AT_START, Patience
from azbenchlib.campaign.targets.azure import commands, container, guest, money
from azbenchlib.campaign.targets.azure.commands import PLAIN, Naming
from azbenchlib.campaign.targets.azure.container import (
    FEWEST_FOR_DISK,
    LONGEST_UNFETCHED_S,
    Container,
    ResultsDisk,
)
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.manifest import AzureRun
from azbenchlib.campaign.targets.azure.money import Budget
from azbenchlib.campaign.targets.azure.outcome import Batch
from azbenchlib.campaign.targets.azure.steps import Call, Guard, Measure, Prepare, Release, Rest, Step
from azbenchlib.campaign.targets.azure.vm import RUNNING, Vm
from azbenchlib.core.files import make_folder, write_atomically
from azbenchlib.core.privacy import masked

# With these Azure refuses a resource group before it makes it; for some it would refuse its deletion, too.
_NOT_MADE = (
    *(NOT_LOGGED_IN, "AuthorizationFailed", "LinkedAuthorizationFailed", "RequestDisallowedByPolicy"),
    *("LocationNotAvailableForResourceGroup", "InvalidResourceGroup", "SubscriptionNotFound"),
)
# How Azure refuses to attach a disk to a VM of another zone. Source: jenkins-infra/azure#1406, 2026. Both
# codes come with status 400; what is in the way for the moment has other ones.
_REFUSALS, _ZONES = ("BadRequest", "InvalidParameter"), re.compile(r"\bzones?\b", re.IGNORECASE)


# Until a VM stops itself, while its run is alive: the network may be away for two hours, and the VM deletes
# the group of a dead run half an hour before.
LEAST_LEFT_S = 10800
SLICE_S = 60.0  # of a rest, between looks at the lease
LAG_S, MONITOR_PAUSE_S = 300.0, 15.0  # until the figures of a minute are there, and between looks
_CLOSE_S = 120.0  # so long before the end the last figure may be
METRIC_FILES = {"vm": commands.VM_METRICS, "disks": commands.DISK_METRICS}


@dataclass(kw_only=True)
class Cloud:
    """The resource group of a run, and the az that reaches it."""

    run: AzureRun
    az: Az
    group: str
    naming: Naming = PLAIN
    container: Container | None = None
    disk: ResultsDisk | None = None  # by which the results come where there is no container
    budget: Budget = field(default_factory=Budget)
    _vms: dict[str, Vm] = field(default_factory=dict, repr=False)
    _latest: str = field(default="", repr=False)  # VM that was used
    _renewed: float = field(default_factory=time.monotonic, repr=False)

    @property
    def noted(self) -> bool:
        """Whether the plan notes the group as one that may be there."""
        return self.group in self.run.plan.groups

    def vm(self, name: str) -> Vm:
        """A VM in the group."""
        self._latest = name
        return self._vms.setdefault(name, Vm(self.az, self.group, name))

    def is_stopped(self, name: str) -> bool:
        """Whether Azure says that a VM does not run, or is not there any more."""
        az = self.az.patiently(Patience(limits_s=AT_START, tell=self.run.tell))  # it was there for long
        try:
            codes = az.json(*commands.vm_state(self.group, name))
        except AzError as error:
            return error.code == "ResourceNotFound"
        return isinstance(codes, list) and RUNNING not in codes

    def batch(self, steps: Sequence[Measure]) -> Batch:
        """Workloads on one VM: all at once where there is a container for what they bring.

        Where it comes by a disk, those of an hour; else the first.
        """
        vm, disk = self.vm(steps[0].vm), None
        if not self.container:
            taken = _of_an_hour(steps) if self.disk and not self.disk.refused else steps[:1]
            disk = self.disk if len(taken) >= FEWEST_FOR_DISK else None
            steps = taken if disk else steps[:1]
        return Batch(vm=vm, steps=steps, container=self.container, disk=disk, between=self.renew)

    def open_container(self, region: str, n_workloads: int, *, may_attach: bool = True) -> None:
        """Have a container for what workloads bring.

        Where Azure has none for us, it comes by a disk, if one may be attached to the VM; else in pieces.
        """
        if n_workloads < container.FEWEST_FOR_CONTAINER:
            return
        self.run.tell("storage for the results …")
        try:
            self.container = container.make(self.az, self.group, region, self.naming)
        except AzError as error:
            if error.code == NOT_LOGGED_IN:
                raise
            if may_attach:
                self.disk = ResultsDisk(az=self.az, group=self.group, naming=self.naming, tell=self.run.tell)
            how = "by a disk when a script has ended" if may_attach else "in pieces, which takes longer"
            self.run.tell(f"no storage for the results, so they come {how}: {error}")

    def renew(self) -> None:
        """Renew the lease on the group where it is time, and end the run where it took all that it may."""
        self.budget.check_spent()
        if time.monotonic() - self._renewed > orphans.RENEW_S:
            self._renewed = time.monotonic()
            self.hold()

    def hold(self) -> None:
        """Take the lease, and put the VM's own end off while the run is alive; a refusal is told, no more."""
        now = datetime.now(UTC)
        calls = self._tagged(orphans.lease_tags(now))
        ends = datetime.fromisoformat(self.run.plan.expires) if self.run.plan.expires else None
        if ends and self._latest and ends - now < timedelta(seconds=LEAST_LEFT_S):
            ends = now + timedelta(seconds=2 * LEAST_LEFT_S)
            self.run.plan.expires = ends.isoformat(timespec="seconds")
            calls.append(commands.auto_shutdown(self.group, self._latest, f"{ends:%H%M}"))
            calls += self._tagged({"expires": self.run.plan.expires})
        try:
            for argv in calls:
                self.az.json(*argv)
        except AzError as error:
            self.run.tell(f"the lease on {self.group} could not be renewed: {error}")

    def _tagged(self, tags: Mapping[str, str]) -> list[list[str]]:
        """Change tags of the group; of one that is not the run's own, those of the VM that is there."""
        if not self.naming.prefix:
            return [commands.group_tag(self.group, name, value) for name, value in tags.items()]
        vm = f"{commands.group_id(self.az.subscription, self.group)}/{commands.VM_TYPE}/{self._latest}"
        return [commands.thing_tag(vm, tags)] if self._latest else []

    def make(self, step: Call) -> None:
        """Create the group; where Azure refuses before it makes one, none is noted any more."""
        try:
            self.do(step)
        except AzError as error:
            if error.code in _NOT_MADE:
                self.run.plan.forget(self.group)
            raise

    def do(self, step: Step) -> None:
        """Carry a step out that measures nothing."""
        self._carry_out(step)
        self.run.plan.steps_done += 1
        self.run.save()

    def replace(self, name: str, steps: Sequence[Step], n_before: int) -> None:
        """Have another VM in the place of one that Azure took back, by the steps that it takes.

        `n_before`: how many steps were done before there was a VM of this name. Where this run is killed
        meanwhile, no other one takes the half-made VM for a whole one.
        """
        n_done, self.run.plan.steps_done = self.run.plan.steps_done, n_before
        self.run.save()
        self._vms.pop(name, None)
        self.az.json(*commands.vm_delete(self.group, name))  # what may be left of it
        for step in steps:
            self._carry_out(step)
        self.run.plan.steps_done = n_done
        self.run.save()

    def _carry_out(self, step: Step) -> None:
        self.run.tell(f"{step.title} …")
        self.renew()
        if isinstance(step, Call):
            self._call(step)
        elif isinstance(step, Guard):
            self._guard(step)
        elif isinstance(step, Rest):
            self.rest(step.seconds)
        elif isinstance(step, Prepare):
            said = self.vm(step.vm).run(step.title, guest.prepare(step, self.run.plan.token), guest.PREPARE_S)
            self.run.plan.facts[step.setup.name] = guest.facts(said)
        elif isinstance(step, Release):
            self.vm(step.vm).run(step.title, guest.release(step), guest.PREPARE_S)

    def _guard(self, step: Guard) -> None:
        """Give the VM the right to delete the group, and have it do so when nobody else does."""
        try:
            shown = self.az.json(*commands.vm_show(self.group, step.vm))
            self._note_image(step.vm, shown)
            if self.run.plan.experiment.outbound == "none":
                raise AzError("it has no way to the outside")
            if not step.is_own_group:
                raise AzError("it is not the run's own")
            principal, scope = shown["identity"]["principalId"], shown["id"].partition("/providers/")[0]
            self.az.json(*commands.role_assign(principal, scope))
            manager = str(self.az.within("").json(*commands.resource_manager()))  # of no subscription
            self.vm(step.vm).start(guest.guard(manager, scope), guest.PREPARE_S)
        except (AzError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, AzError) and error.code == NOT_LOGGED_IN:
                raise
            why = error if isinstance(error, AzError) else "Azure tells no identity of it"
            self.run.tell(
                f"{step.vm} cannot delete the group by itself ({why}); left alone, it stops itself, and its "
                "disks stay until `azbench cleanup --yes`"
            )

    def _note_image(self, vm: str, shown: Any) -> None:
        """Note which version of its image a VM was made of: the file may say latest."""
        profile = shown.get("storageProfile") if isinstance(shown, dict) else None
        image = (profile.get("imageReference") if isinstance(profile, dict) else None) or {}
        version = image.get("exactVersion")
        if version:
            urn = ":".join(str(image.get(part)) for part in ("publisher", "offer", "sku"))
            self.run.note(f"{vm} was made of the image {urn}:{version}.")

    def note_window(self, step: Measure) -> None:
        """Note when a setup is measured on which VM, where a workload lasts long enough."""
        if step.workload.max_duration_s >= money.MONITORED_S:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            begun = self.run.plan.windows.get(step.setup.name, [step.vm, now])[1]
            self.run.plan.windows[step.setup.name] = [step.vm, begun, now]

    def collect_metrics(self) -> None:
        """Ask for the metrics of all setups that were measured and not asked for yet; a refusal is told."""
        for setup, (vm, begun, ended) in list(self.run.plan.windows.items()):
            try:
                self._collect_setup(setup, vm, (begun, ended))
            except AzError as error:
                self.run.tell(f"Azure Monitor was not read: {error}")
            del self.run.plan.windows[setup]
        self.run.save()

    def _collect_setup(self, setup: str, vm: str, window: tuple[str, str]) -> None:
        """The metrics of a setup into ``raw/SETUP/``, when all of them are there or their time is over."""
        self.run.tell(f"{setup}: Azure Monitor …")
        resource = self.az.json(*commands.vm_show(self.group, vm))
        resource_id = str(resource["id"]) if isinstance(resource, dict) and "id" in resource else ""
        if not resource_id:
            raise AzError("az vm show: its answer names no VM")
        minute = datetime.fromisoformat(window[0]).replace(second=0)
        ends = datetime.fromisoformat(window[1])
        deadline = time.monotonic() + LAG_S
        for name, metrics in METRIC_FILES.items():
            argv = commands.metrics(
                resource_id, metrics, minute, ends + timedelta(minutes=1), name == "disks"
            )
            while True:
                answer = self.az.json(*argv)
                if _reaches(answer, ends) or time.monotonic() > deadline:
                    break
                time.sleep(MONITOR_PAUSE_S)  # in all much less than the lease lasts
            file = self.run.raw / setup / f"azure-monitor-{name}.json"
            make_folder(file.parent)
            write_atomically(file, masked(json.dumps(answer, indent=1)).encode() + b"\n")

    def rest(self, seconds: float) -> None:
        """Wait, and renew the lease meanwhile."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, SLICE_S))
            self.renew()

    def _call(self, step: Call) -> None:
        """A call of az; where a refusal is expected, what came is noted either way."""
        try:
            self.az.json(*self._put_off(step.argv))
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

    def _put_off(self, argv: list[str]) -> list[str]:
        """A command as it is; of the automatic shutdown, with the end that the run has put off meanwhile."""
        if argv[:2] != ["vm", "auto-shutdown"] or not self.run.plan.expires:
            return argv
        ends = datetime.fromisoformat(self.run.plan.expires)
        return commands.auto_shutdown(self.group, dict(pairwise(argv))["--name"], f"{ends:%H%M}")

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


def _of_an_hour(steps: Sequence[Measure]) -> Sequence[Measure]:
    """The first workloads, as long as they last an hour at most together."""
    ends = accumulate(step.workload.max_duration_s for step in steps)
    return steps[: sum(1 for end in ends if end <= LONGEST_UNFETCHED_S)]


def _undone(attach: list[str]) -> list[str]:
    """The command that detaches what another attached."""
    value = dict(pairwise(attach))
    return commands.disk_detach(value["--resource-group"], value["--vm-name"], value["--name"])


def _reaches(answer: Any, ends: datetime) -> bool:
    """Whether an answer has a figure of the last minutes."""
    latest = datetime.min.replace(tzinfo=UTC)
    try:
        for metric in answer["value"]:
            for series in metric["timeseries"]:
                for point in series["data"]:
                    if point.get("average") is not None:
                        latest = max(latest, datetime.fromisoformat(point["timeStamp"]))
    except (TypeError, KeyError, ValueError, AttributeError):
        raise AzError("az monitor metrics list: its answer tells no metrics") from None
    return latest >= ends - timedelta(seconds=_CLOSE_S)
