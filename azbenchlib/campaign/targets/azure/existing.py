"""A VM of Azure that is there already: measured by run-commands alone, in a folder that goes again."""

import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.documents import AzAttachedDisk, AzVm
from azbenchlib.azure.retries import WHILE_MEASURING, Patience
from azbenchlib.campaign import lock
from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.targets.azure import commands, guest, money, preflight, steps
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.campaign.targets.azure.ending import orphans, teardown
from azbenchlib.campaign.targets.azure.manifest import (
    AzureRun,
    ExistingPlan,
    found_az,
    make_manifest,
    measures_of,
    note_identity,
)
from azbenchlib.campaign.targets.azure.outcome import Batch
from azbenchlib.campaign.targets.azure.steps import Call, Measure
from azbenchlib.campaign.targets.azure.vm import Vm, is_running
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset.manifest import Manifest

# Its resource id; no parameter of a notebook says it, for it tells the subscription.
VM_ID_VARIABLE = "AZBENCH_VM_ID"
_ID = re.compile(
    r"/subscriptions/(?P<subscription>[0-9A-Za-z-]{1,64})/resourceGroups/(?P<group>[A-Za-z0-9_.()-]{1,90})"
    r"/providers/Microsoft\.Compute/virtualMachines/(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]{0,63})",
    re.IGNORECASE,
)


ExistingRun = MeasurementRun[ExistingPlan, Measure]


@dataclass(kw_only=True)
class ExistingVmTarget(Target[ExistingPlan, Measure]):
    """Measure on a VM of Azure that is there already, on the disks that it has.

    A disk with a file system is measured in a folder of our own on it, which is removed at the end; a bare
    one only where it holds nothing, or the words of the refusal are given.
    """

    goes_on_unheard: ClassVar[bool] = True  # or a closed terminal would keep it from removing its folder
    goes_on_after_failure: ClassVar[bool] = True
    experiment: Experiment  # a measurement file with one setup, which says what the VM and its disks are
    vm_id: str  # resource id of the VM
    allow_unsafe: str = ""  # the words that permit a disk which would be refused; the refusal names them
    max_hours: float = 0.0  # at which it ends; 0: no limit
    show_identity: bool = False  # whether the dataset tells the subscription, the tenant and the user
    # Whether results may come through a storage account, in a resource group that is made for it and deleted
    # at the end
    results_group: bool = False
    # Where data disks are attached that are not to be looked for by their names and kinds
    luns: Mapping[str, int] = field(default_factory=dict)
    _cloud: Cloud | None = field(default=None, init=False)  # the group for the results
    _vm: Vm | None = field(default=None, init=False)
    _used: set[str] = field(default_factory=set, init=False)  # disks that are ready
    _budget: money.Budget = field(default_factory=money.Budget, init=False)

    @classmethod
    def of(cls, request: Request, vm_id: str = "") -> Self:
        """The setup of a measurement file, on the VM."""
        if request.max_cost:
            raise InputError("max_cost is for VMs that azbench creates; this one costs what it cost before")
        return cls(
            experiment=request.needed_experiment("azure"),
            vm_id=vm_id,
            allow_unsafe=request.allow_unsafe,
            max_hours=request.max_hours,
            show_identity=request.show_identity,
            results_group=request.results_group,
        )

    def make_plan(self, dataset: Path) -> ExistingPlan:
        """What is to be measured; what an existing VM cannot do is refused before Azure is asked."""
        place(self.vm_id)
        if len(self.experiment.setups) != 1:
            raise InputError(
                f"an existing VM is one setup, and the file has {len(self.experiment.setups)}; "
                "leave `setups` out, or keep one of them"
            )
        if self.experiment.group:
            raise InputError(
                "group is for what azbench creates, and on a VM that is there already it creates nothing; "
                "leave group out",
                keys=("group",),
            )
        (setup,) = self.experiment.setups
        for name, disk in setup.disks.items():
            if disk.count > 1:
                raise InputError(
                    f"disk '{name}': no stripe is made on a VM that is not ours; leave count out"
                )
        digest = hashlib.sha256(self.vm_id.lower().encode()).hexdigest()[:16]
        return ExistingPlan(experiment=self.experiment, started=plan.now(), vm=digest)

    def measurements(self, plan: ExistingPlan) -> Sequence[Measure]:
        """Every workload on every disk that it drives."""
        return measures_of(plan.experiment)

    @contextmanager
    def exclusively(
        self, dataset: Path, asked: ExistingPlan, fresh: bool, progress: Progress
    ) -> Iterator[Interrupts]:
        """Lock the folder, take interrupts, and delete groups for results that earlier runs left."""
        with lock.held(dataset, self.telling(asked, progress)), Interrupts() as interrupts:
            teardown.delete_earlier(asked, dataset, fresh, progress)
            yield interrupts

    def check(self, run: ExistingRun, resumed: bool) -> None:
        """Ask Azure whether the VM runs and is what the file says."""
        if all(map(run.done, run.measurements)):
            return
        run.save()  # before az writes into the folder: without a plan, no run is taken up there
        run.tell("asking Azure whether the VM is what the plan says …")
        at = place(self.vm_id)
        az = found_az(run).within(at["subscription"])
        note_identity(run.plan, az, self.show_identity)
        shown = az.json(*commands.vm_show(at["group"], at["name"]))
        run.plan.luns = found_disks(self.experiment, shown, self.luns)
        if not is_running(az, at["group"], at["name"]):
            raise InputError(f"the VM {at['name']} does not run; start it, then start again")
        run.plan.versions["az"] = preflight.version(az)
        preflight.check_version(run.plan.versions["az"])
        self._budget = money.Budget(max_hours=self.max_hours)
        self._budget.end(az)
        patient = az.patiently(Patience(limits_s=WHILE_MEASURING, tell=run.tell))
        self._vm = Vm(patient, at["group"], at["name"], run.plan.scripts)
        if self.results_group:
            run.plan.subscription = at["subscription"]
            now = datetime.now(UTC)
            group = steps.group_name(self.experiment.title, now.isoformat(), secrets.token_hex(2))
            ends = now + timedelta(hours=1, seconds=2 * money.seconds(self.experiment))
            run.plan.expires = ends.isoformat(timespec="seconds")
            run.plan.groups.append(group)
            run.save()
            run_of_group = cast(AzureRun, run)  # as far as a group is concerned
            self._cloud = Cloud(run=run_of_group, az=patient, group=group, budget=self._budget)

    def begin(self, run: ExistingRun) -> None:
        """Ask the VM what it is, and whether it has the tools; nothing is installed."""
        if self._vm:
            said = self._vm.run("inspect the VM", guest.inspect(), guest.PREPARE_S)
            run.plan.facts[self.experiment.setups[0].name] = guest.facts(said)
            run.save()
        if self._vm and self._cloud:
            tags = orphans.group_tags(steps.slug(self.experiment.title), "", run.plan.expires)
            made = commands.group_create(self._cloud.group, self.experiment.region, tags)
            self._cloud.make(Call("resource group for the results", made))
            region = self.experiment.region
            self._cloud.open_container(region, FEWEST_FOR_CONTAINER, may_attach=False)

    def prepare(self, run: ExistingRun, one: Measure) -> None:
        """Have a folder of our own on the disk, or the bare disk, where that can harm nothing."""
        if one.disk not in self._used:
            run.tell(f"look at {one.disk} …")
            planned = [step for step in self.measurements(run.plan) if step.disk == one.disk]
            needed = sum(step.workload.own_bytes for step in planned)
            lun, needed = run.plan.luns.get(one.disk), needed + one.data_bytes
            script = guest.use(one, lun, needed, self.allow_unsafe, run.plan.token)
            self._there.run(f"disk '{one.disk}'", script, guest.PREPARE_S)
            self._used.add(one.disk)
            run.save()

    def measure(self, run: ExistingRun, one: Measure, part: Path) -> tuple[int, str]:
        """Have a workload run on the VM, and fetch its outputs."""
        check = self._cloud.renew if self._cloud else self._budget.check_spent
        kept = list(run.plan.scripts)

        def between() -> None:
            if run.plan.scripts != kept:  # or a run that is killed would leave its script at the VM
                kept[:] = run.plan.scripts
                run.save()
            check()

        container = self._cloud.container if self._cloud else None
        return Batch(vm=self._there, steps=[one], container=container, between=between).fetch(one, part)

    def release(self, run: ExistingRun, fault: BaseException | None) -> None:
        """End what still runs, remove our folder and scripts from the VM, delete the group for results."""
        if self._vm:
            self._vm.az.end.forget()
        try:
            self._leave(run, fault)
        except BaseException as error:
            if not self._cloud:
                raise
            run.tell(str(error))
            fault = error
        if self._cloud:
            teardown.release(self._cloud, fault)

    def _leave(self, run: ExistingRun, fault: BaseException | None) -> None:
        if self._vm:
            run.tell(f"{'interrupted; ' * isinstance(fault, KeyboardInterrupt)}removing our folder …")
            left = _left(self._vm)
            if left and not isinstance(fault, KeyboardInterrupt):
                raise AzbenchError(f"{fault}. {left}" if fault else left) from fault
            if isinstance(fault, KeyboardInterrupt):
                raise KeyboardInterrupt(f"interrupted. {left or 'Nothing is left on the VM'}") from fault
        if fault:
            raise fault

    def manifest(self, run: ExistingRun, name: str) -> Manifest:
        """The manifest of a finished run."""
        run.plan.forget_who()
        run.save()
        return make_manifest(name, run.plan, [step for step in run.measurements if run.made(step)])

    @property
    def _there(self) -> Vm:
        if self._vm is None:
            raise InputError("nothing is to be measured any more, so the VM was not asked")
        return self._vm


def place(vm_id: str) -> re.Match[str]:
    """Subscription, group and name of a VM.

    Raises an InputError when that is no resource id of a VM.
    """
    found = _ID.fullmatch(vm_id)
    if not found:
        raise InputError(
            f"--vm-id '{vm_id}': must be a resource id, as `az vm show --query id` tells it: "
            "/subscriptions/…/resourceGroups/…/providers/Microsoft.Compute/virtualMachines/NAME"
        )
    return found


def _left(vm: Vm) -> str:
    """Remove our folder and our scripts; what is left, in words."""
    try:
        vm.run("remove our folder", guest.leave(), guest.PREPARE_S)
        vm.forget()
    except AzbenchError as error:
        return (
            f"THE FOLDER /var/lib/azbench IS STILL ON THE VM {vm.name} ({error}); the same command removes it"
        )
    return ""


def found_disks(experiment: Experiment, shown: Any, luns: Mapping[str, int] | None = None) -> dict[str, int]:
    """The LUN of every data disk of the file: the one of that name, else the first that is of its kind.

    `shown` is what ``az vm show`` tells, and `luns` where disks are, as far as that is known. Raises an
    AzError when that is no VM; an InputError when the VM or its disks are not what the file says.
    """
    (setup,) = experiment.setups
    vm = shown_vm(shown)
    there = vm.storage.data_disks
    stated = (("vm", setup.vm, vm.hardware.size), ("region", experiment.region, vm.location))
    for what, said, is_ in stated:
        if said.lower() != str(is_).lower():
            raise InputError(f"{what}: the file says {said}, and the VM is {is_}")
    found: dict[str, int] = {}
    for name, disk in setup.disks.items():
        if disk.role != "data":
            continue
        free = [one for one in there if one.lun not in found.values() and _is_kind(disk, one)]
        free = [one for one in free if one.lun == (luns or {}).get(name, one.lun)]
        named = [one.lun for one in free if (one.name or "").lower() == name]
        lun = next(iter([*named, *(one.lun for one in free)]), None)
        if lun is None:
            told = ", ".join(f"LUN {one.lun}: {kind_of(one)}" for one in there)
            raise InputError(
                f"disk '{name}': the VM has no {disk.sku} of {disk.size_gib} GiB with host caching "
                f"{disk.caching or 'None'} (left); it has {told or 'no data disk'}"
            )
        found[name] = lun
    return found


def shown_vm(shown: Any) -> AzVm:
    """Return the VM that ``az vm show`` tells.

    Raises an AzError when that is no VM.
    """
    try:
        vm = AzVm.parse(shown, "az vm show")
    except InputError as error:
        raise AzError(f"az vm show: its answer describes no VM: {error}") from None
    if not vm.hardware.size or not vm.location or any(disk.lun is None for disk in vm.storage.data_disks):
        raise AzError("az vm show: its answer describes no VM")
    return vm


def kind_of(attached: AzAttachedDisk) -> str:
    """What a data disk is, in words."""
    return f"{attached.managed.sku}, {attached.size_gib or None} GiB, {attached.caching or 'None'}"


def _is_kind(disk: DiskSpec, attached: AzAttachedDisk) -> bool:
    """Whether an attached disk is what the file says, as far as Azure tells."""
    return (
        attached.managed.sku in (None, disk.sku)
        and attached.size_gib in (None, 0, disk.size_gib)
        and (attached.caching or "None") == (disk.caching or "None")
    )
