"""What is emulated and measured: setups with their workloads, and what has to be remembered about it."""

import re
from collections.abc import Container, Iterable, Sequence
from typing import Self

from pydantic import BaseModel, Field

from azbenchlib import model
from azbenchlib.campaign.files.setups import whole_setup
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.targets.lab import jobs
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.fill_from_catalogue import resolve


class EmulatedTask(BaseModel):
    """A workload on a disk."""

    disk: str
    workload: Workload | JobFile


class EmulatedSetup(BaseModel):
    """A VM with its disks, and what runs on them, one workload after the other."""

    setup: manifest.ManifestSetup
    tasks: list[EmulatedTask]
    left_out: list[str] = Field(default_factory=list)  # workloads that need more than a disk

    def folder(self, task: EmulatedTask) -> str:
        """Below ``raw/``: where the outputs of this setup and disk go."""
        return f"{self.setup.setup_id}/{task.disk}"

    def title(self, task: EmulatedTask) -> str:
        """How progress and reports call a workload."""
        return f"{self.setup.setup_id}, {task.disk}: {task.workload.title}"

    def resolved(self, as_of: str) -> model.Setup:
        """The setup with the limits that were documented on a day.

        Raises an InputError when the catalogue does not know them, or Azure would refuse the setup.
        """
        disks = tuple(row.to_disk() for row in self.setup.disks)
        return resolve(model.Setup(model.VM(size=self.setup.vm_size), disks, self.setup.as_of), as_of)


class LabPlan(StoredPlan):
    """What is measured on emulated disks, and what has to be remembered about it."""

    title: str
    about: str
    emulated: list[EmulatedSetup]
    longest_s: float
    asked_credit_s: float | None = None
    asked_cache_bytes: float | None = None
    asked_scale: int | None = None
    fio: str
    started: str
    credit_s: dict[str, float] = Field(default_factory=dict)  # setup -> how long its credits last
    late_s: dict[str, dict[str, float]] = Field(default_factory=dict)  # setup -> run -> lateness, if worth it
    time_scale: dict[str, int] = Field(default_factory=dict)  # setup -> how much slower than the disk it runs

    def only(self, names: Container[str]) -> Self:
        """The same with some of the workloads."""
        some = [
            one.model_copy(update={"tasks": [task for task in one.tasks if task.workload.name in names]})
            for one in self.emulated
        ]
        return self.model_copy(update={"emulated": some})

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads, as long, on the same setups, equally dilated."""
        names = ("emulated", "longest_s", "asked_credit_s", "asked_cache_bytes", "asked_scale")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.title}' on emulated disks"

    def place(self, one: EmulatedSetup, uri: str, size_bytes: int) -> jobs.Place:
        """Where workloads of a setup run."""
        return jobs.Place(uri, size_bytes, self.time_scale[one.setup.setup_id], self.longest_s)


def emulated(experiment: Experiment) -> list[EmulatedSetup]:
    """What a measurement file asks for, as it is emulated: what fio does; iozone needs a file system.

    Raises an InputError when nothing is left.
    """
    found = []
    for setup in experiment.setups:
        driven = [(disk, task.workload) for task in setup.tasks for disk in setup.driven(task)]
        tasks = [
            EmulatedTask(disk=disk, workload=work) for disk, work in driven if not isinstance(work, Iozone)
        ]
        left_out = [work.name for _, work in driven if isinstance(work, Iozone)]
        told = {"environment": "lab", "os": None, "as_of": setup.as_of}
        whole = whole_setup(experiment, setup).model_copy(update=told)
        found.append(EmulatedSetup(setup=whole, tasks=tasks, left_out=list(dict.fromkeys(left_out))))
    if not any(one.tasks for one in found):
        raise InputError(
            "nothing to emulate: iozone needs a file system, and an emulated disk has none; take --target "
            "local or azure, or see `azbench lab mount`"
        )
    return found


def in_words(setup: model.Setup, workloads: Sequence[Workload | JobFile], name: str = "") -> EmulatedSetup:
    """Workloads on every disk of a setup, as the command line describes it; its VM and disks are its name."""
    names = _names(setup.disks)
    disks = [DiskRow.from_disk(*pair) for pair in zip(setup.disks, names, strict=True)]
    size = _slug((setup.vm.size or "").removeprefix("Standard_"))
    rows = manifest.ManifestSetup(
        setup_id=name or "-".join(filter(None, [size, *names])),
        environment="lab",
        vm_size=setup.vm.size,
        as_of=setup.as_of,
        disks=disks,
    )
    tasks = [EmulatedTask(disk=row.disk, workload=work) for row in disks for work in workloads]
    return EmulatedSetup(setup=rows, tasks=tasks)


def _names(disks: Iterable[model.Disk]) -> list[str]:
    """Names that can be those of files: ``p4-none``; a number behind those that several have."""
    names = [_slug(disk.name) for disk in disks]
    return [
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
