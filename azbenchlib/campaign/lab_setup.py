"""What is emulated: a VM with its disks, and the workloads on them, from a measurement file or from words."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, Field

from azbenchlib import manifest, model
from azbenchlib.analyse.resolve import resolve
from azbenchlib.campaign.cloud_manifest import whole_setup
from azbenchlib.campaign.iozone import Iozone
from azbenchlib.campaign.jobfile import JobFile
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.workloads import Workload
from azbenchlib.errors import InputError
from azbenchlib.manifest import tables
from azbenchlib.model import described


class Task(BaseModel):
    """A workload on a disk."""

    disk: str
    workload: Workload | JobFile


class Emulated(BaseModel):
    """A VM with its disks, and what runs on them, one workload after the other."""

    setup: manifest.Setup
    tasks: list[Task]
    left_out: list[str] = Field(default_factory=list)  # workloads that need more than a disk

    def folder(self, task: Task) -> str:
        """Below ``raw/``: where the outputs of this setup and disk go."""
        return f"{self.setup.setup_id}/{task.disk}"

    def title(self, task: Task) -> str:
        """How progress and reports call a workload."""
        return f"{self.setup.setup_id}, {task.disk}: {task.workload.title}"

    def resolved(self, as_of: str) -> model.Setup:
        """The setup with the limits that were documented on a day.

        Raises
        ------
        InputError
            When the catalogue does not know them, or Azure would refuse the setup.
        """
        rows = tables([self.setup])
        return resolve(described.from_rows(rows["setups"].iloc[0].to_dict(), rows["disks"]), as_of)


def emulated(experiment: Experiment) -> list[Emulated]:
    """What a measurement file asks for, as it is emulated: what fio does; iozone needs a file system.

    Raises
    ------
    InputError
        When nothing is left.
    """
    found = []
    for setup in experiment.setups:
        driven = [(disk, task.workload) for task in setup.tasks for disk in setup.driven(task)]
        tasks = [Task(disk=disk, workload=work) for disk, work in driven if not isinstance(work, Iozone)]
        left_out = [work.name for _, work in driven if isinstance(work, Iozone)]
        told = {"environment": "lab", "os": None, "as_of": setup.as_of}
        whole = whole_setup(experiment, setup).model_copy(update=told)
        found.append(Emulated(setup=whole, tasks=tasks, left_out=list(dict.fromkeys(left_out))))
    if not any(one.tasks for one in found):
        raise InputError(
            "nothing to emulate: iozone needs a file system, and an emulated disk has none; take --target "
            "local or azure, or see `azbench lab mount`"
        )
    return found


def in_words(setup: model.Setup, workloads: Sequence[Workload | JobFile], name: str = "setup") -> Emulated:
    """Workloads on every disk of a setup, as the command line describes it."""
    disks = [_row(disk, name) for disk, name in zip(setup.disks, _names(setup.disks), strict=True)]
    rows = manifest.Setup(
        setup_id=name, environment="lab", vm_size=setup.vm.size, as_of=setup.as_of, disks=disks
    )
    tasks = [Task(disk=row["disk"], workload=work) for row in disks for work in workloads]
    return Emulated(setup=rows, tasks=tasks)


def _names(disks: Iterable[model.Disk]) -> list[str]:
    """Names that can be those of files: ``p4-none``; a number behind those that several have."""
    names = [re.sub(r"[^a-z0-9]+", "-", disk.name.lower()).strip("-") for disk in disks]
    return [
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


def _row(disk: model.Disk, name: str) -> dict[str, Any]:
    """A row of the table disks."""
    row = {
        "disk": name,
        "role": disk.role,
        "sku": disk.sku if not disk.local else f"local, {disk.place}",
        "tier": disk.tier,
        "size_bytes": None if disk.size_bytes is None else int(disk.size_bytes),
        "host_caching": None if disk.local else disk.caching,
        "provisioned_iops": disk.cap.iops,
        "provisioned_bytes_per_s": disk.cap.bytes_per_s,
        "count": disk.count,
        "stripe": "RAID 0" if disk.striped else None,
        "bursting": disk.bursting,
    }
    return {key: value for key, value in row.items() if value is not None}
