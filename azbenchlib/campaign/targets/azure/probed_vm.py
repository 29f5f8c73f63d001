"""A probe of one disk of a VM of Azure that is there already: what Azure tells of both is the setup."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.documents import AzAttachedDisk, AzDisk, AzVm
from azbenchlib.azure.retries import AT_START, Patience
from azbenchlib.campaign.detect.detect import DATA_NAME, disk_entry
from azbenchlib.campaign.files.disk_spec import PROVISIONED
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.stated_probe import ProbeRequest
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.existing import (
    VM_ID_VARIABLE,
    ExistingRun,
    ExistingVmTarget,
    kind_of,
    place,
    shown_vm,
)
from azbenchlib.campaign.targets.azure.manifest import ExistingPlan
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.documents import first_fault
from azbenchlib.core.errors import InputError
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.from_azure import from_az

NEEDS_VM = (
    "target 'azure': a probe needs a VM that is there already; name it with --vm-id, as `az vm show --query "
    "id` tells it, or probe the disk from within its VM, as ssh:USER@HOST"
)
NOT_SHOWN = (
    "The rights do not suffice for az disk show, so it is not known whether the disk has a performance tier "
    "above that of its size, on-demand bursting, Performance Plus, or provisioned IOPS and MB/s."
)
# By run-commands of half a minute: the start, and three or four pieces of the results of a run of 10 s.
OVERHEAD = "each run takes about {} more in Azure than fio's time, which alone --minutes counts"
BY_PIECES, BY_CONTAINER = "two minutes", "half a minute"
OF_THE_SIZE = ("temp", "nvme")  # they come with some VM sizes; az vm show does not tell of them
_DISK_ID = re.compile(r".*/resourceGroups/([^/]+)/providers/Microsoft\.Compute/disks/([^/]+)", re.IGNORECASE)


@dataclass(kw_only=True)
class ProbedVmTarget(ExistingVmTarget):
    """Probe a disk of a VM of Azure that is there already; a run that failed ends it.

    `notes`: what could not be asked.
    """

    goes_on_after_failure: ClassVar[bool] = False  # the next run follows from what this one showed
    notes: Sequence[str] = field(default=())

    def make_plan(self, dataset: Path) -> ExistingPlan:
        """All runs that there are to choose from."""
        plan = super().make_plan(dataset)
        return plan.model_copy(update={"probed": True, "notes": [*self.notes]})

    def begin(self, run: ExistingRun) -> None:
        """Say how long it takes beside fio."""
        run.tell(OVERHEAD.format(BY_CONTAINER if self.results_group else BY_PIECES))
        super().begin(run)


@dataclass(frozen=True, kw_only=True)
class AttachedDisk:
    """A disk of a VM as it can be named."""

    name: str  # in the dataset, which tells no names of Azure
    words: tuple[str, ...]  # that name it, in lower case; the first is the one to tell
    what: str  # for people
    entry: AzAttachedDisk = field(default_factory=AzAttachedDisk)  # of the storage profile
    lun: int | None = None  # of a data disk

    @property
    def disk_id(self) -> str:
        """Of a managed disk; empty where there is none."""
        return "" if self.entry.local.option else self.entry.managed.id or ""

    def __str__(self) -> str:
        return f"{self.words[0]} ({self.what})"


def probed_vm(
    asked: ProbeRequest, workloads: Sequence[Workload | JobFile], progress: Progress
) -> ProbedVmTarget:
    """The target for a disk of a VM, which Azure is asked about.

    `workloads`: all that a probe may choose from; `progress` is told what is asked.

    Raises an InputError when there is no such VM id or disk, or a disk must be named; an AzError when Azure
    does not tell.
    """
    vm_id = asked.vm_id or os.environ.get(VM_ID_VARIABLE, "")
    if not vm_id:
        raise InputError(NEEDS_VM)
    at = place(vm_id)

    def tell(text: str) -> None:
        progress(0, len(workloads), text)

    tell("asking Azure what the VM and its disk are …")
    az = Az.find().within(at["subscription"]).patiently(Patience(limits_s=AT_START, tell=tell))
    shown = az.json(*commands.vm_show(at["group"], at["name"]))
    chosen = chosen_disk(shown, asked.disk)
    told = _disk_shown(az, chosen.disk_id)
    return ProbedVmTarget(
        experiment=experiment_of(shown, told, chosen, workloads, asked.raw),
        vm_id=vm_id,
        results_group=asked.results_group,
        allow_unsafe=asked.allow_unsafe,
        luns={} if chosen.lun is None else {chosen.name: chosen.lun},
        notes=[NOT_SHOWN] if chosen.disk_id and not told else [],
    )


def chosen_disk(shown: Any, asked: str) -> AttachedDisk:
    """The disk of a VM that was asked for; where nothing was, the only data disk.

    Raises an AzError when that is no VM; an InputError when it is none of the VM, or must be named; with
    those that there are.
    """
    there = attached_disks(shown)
    data = [one for one in there if one.lun is not None]
    fits = [one for one in there if asked.lower() in one.words] if asked else data
    if len(fits) == 1:
        return fits[0]
    why = f"--disk '{asked}': is {'more than one disk' if fits else 'no disk'} of the VM"
    why = why if asked else f"--disk is needed, for the VM has {len(data) or 'no'} data disks"
    raise InputError(f"{why}; the choices are: {', '.join(map(str, there))}")


def attached_disks(shown: Any) -> list[AttachedDisk]:
    """The disks of a VM as ``az vm show`` tells it, and those that it may have besides.

    Raises an AzError when that is no VM.
    """
    storage = shown_vm(shown).storage
    system = storage.os_disk or AzAttachedDisk()
    found = [AttachedDisk(name="os", words=("os",), what="a folder on it", entry=system)]
    for entry in storage.data_disks:
        lun, name = entry.lun, entry.name or ""
        words, what = (f"lun{lun}", name.lower()), f"{name}: {kind_of(entry)}"
        found.append(AttachedDisk(name=DATA_NAME.format(lun), words=words, what=what, entry=entry, lun=lun))
    return found + [
        AttachedDisk(name=name, words=(name,), what="where the size has one") for name in OF_THE_SIZE
    ]


def experiment_of(
    shown: Any,
    told: AzDisk | None,
    chosen: AttachedDisk,
    workloads: Sequence[Workload | JobFile],
    raw: bool,
) -> Experiment:
    """Workloads on a disk of a VM; `told` is what ``az disk show`` tells of it, None: not known.

    Raises an InputError when no measurement file could say so, as of a disk whose kind is not known.
    """
    vm = shown_vm(shown)
    size, region = str(vm.hardware.size), str(vm.location)
    setup = {
        "name": "vm",
        "vm": size,
        "zone": next(iter(vm.zones), None),
        "disks": {chosen.name: {**_entry(vm, told, chosen), "raw": raw}},
        "tasks": [{"workload": work} for work in workloads],
    }
    title = f"Probe of disk {chosen.name} of a {size} in Azure"
    try:
        return Experiment.model_validate({"title": title, "region": region.lower(), "setups": [setup]})
    except ValidationError as error:
        raise InputError(
            f"--disk '{chosen.words[0]}': what Azure tells of it cannot be probed: {first_fault(error)}"
        ) from error


def _disk_shown(az: Az, disk_id: str) -> AzDisk | None:
    """What Azure tells of a managed disk; None where there is none, or the rights do not suffice."""
    match = _DISK_ID.fullmatch(disk_id)
    if not match:
        return None
    try:
        return AzDisk.parse(az.json(*commands.disk_show(match[1], match[2])), "az disk show")
    except AzError as error:
        if error.code != "AuthorizationFailed":
            raise
        return None


def _entry(vm: AzVm, told: AzDisk | None, chosen: AttachedDisk) -> dict[str, Any]:
    """The disk as a measurement file would say it."""
    if chosen.name in OF_THE_SIZE:
        return {"role": chosen.name}
    part = {"os_disk": chosen.entry} if chosen.lun is None else {"data_disks": [chosen.entry]}
    storage = vm.storage.model_copy(update={"os_disk": None, "data_disks": [], **part})
    known = [told.model_copy(update={"name": chosen.entry.name})] if told else []
    (disk,) = from_az(vm.model_copy(update={"storage": storage}), known).disks
    kind, made = disk_kinds.of_sku(disk.sku), (told or AzDisk()).creation
    return {
        **disk_entry(DiskRow.from_disk(disk, chosen.name)),
        "tier": disk.tier if kind and kind.performance_tiers else None,
        "bursting": disk.bursting is True,
        "performance_plus": made.performance_plus,
        "sector": made.sector if disk.sku in PROVISIONED else None,
        "write_accelerator": chosen.entry.write_accelerator,
    }
