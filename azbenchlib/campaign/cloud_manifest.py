"""What a measurement in Azure has to remember, and the manifest of its dataset."""

import shlex
from collections.abc import Sequence
from typing import Any, Self

import pandas as pd
from pydantic import Field

from azbenchlib.campaign import plan, spec
from azbenchlib.campaign.cloud_plan import Call, Measure, Step
from azbenchlib.campaign.plan import StoredPlan
from azbenchlib.campaign.spec import Disk, Experiment
from azbenchlib.campaign.targets import azure, guest
from azbenchlib.manifest import RAW, Command, Manifest, Setup, tables
from azbenchlib.units import KIB, MB, format_size


class CloudPlan(StoredPlan):
    """What is measured in Azure, and what has to be remembered about it."""

    experiment: Experiment
    started: str
    groups: list[str] = Field(default_factory=list)  # resource groups that were created, the latest one last
    facts: dict[str, dict[str, str]] = Field(default_factory=dict)  # setup -> what its VM said of itself
    versions: dict[str, str] = Field(default_factory=dict)  # of tools, by name
    notes: list[str] = Field(default_factory=list)

    def same_as(self, other: Self) -> bool:
        """Whether both are of the same experiment."""
        return self.experiment == other.experiment

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.experiment.title}' in Azure"


def make_manifest(name: str, todo: CloudPlan, steps: Sequence[Step]) -> Manifest:
    """The manifest of a finished measurement."""
    experiment = todo.experiment
    measures = [step for step in steps if isinstance(step, Measure)]
    tools = {"fio": "not stated"}
    for tool in ("fio", *sorted({step.workload.tool for step in measures})):
        found = sorted({facts[tool] for facts in todo.facts.values() if tool in facts})
        tools[tool] = ", ".join(found) or "not stated"
    return Manifest(
        name=name,
        title=experiment.title,
        about=experiment.about or f"Workloads in Azure, one after the other: {len(measures)}.",
        measured=plan.day(todo.started),
        setups=_setups(todo, measures),
        commands=_commands(steps),
        tools={**tools, **todo.versions},
        notes=todo.notes,
    )


def planned(experiment: Experiment) -> dict[str, pd.DataFrame]:
    """The tables setups and disks of what a measurement file asks for, each setup with all its disks."""
    return tables([whole_setup(experiment, setup) for setup in experiment.setups])


def whole_setup(experiment: Experiment, setup: spec.Setup) -> Setup:
    """A setup of a measurement file with all the disks that are to be attached."""
    return Setup(
        setup_id=setup.name,
        label=setup.label,
        environment="azure",
        region=experiment.region,
        zone=setup.zone,
        vm_size=setup.vm,
        os=setup.image,
        disks=[_disk(name, disk) for name, disk in setup.disks.items() if disk.attach == "granted"],
    )


def with_one_disk(setup: Setup, disk: str, several: bool) -> Setup:
    """The part of a setup whose outputs are those of one disk; `several`: its name is needed to tell."""
    name = f"{setup.setup_id}-{disk}" if several else setup.setup_id
    label = f"{setup.label}, {disk}" if several and setup.label else setup.label
    mine = [row for row in setup.disks if row["disk"] == disk]
    folder = f"{RAW}/{setup.setup_id}/{disk}"
    return setup.model_copy(update={"setup_id": name, "label": label, "disks": mine, "folder": folder})


def _setups(todo: CloudPlan, measures: Sequence[Measure]) -> list[Setup]:
    """One setup a VM and disk that was driven, each with the folder of its outputs."""
    driven = {step.folder: step for step in measures}
    several = len(driven) > len({step.setup.name for step in measures})
    return [with_one_disk(_measured(todo, step.setup), step.disk, several) for step in driven.values()]


def _measured(todo: CloudPlan, setup: spec.Setup) -> Setup:
    """The setup with what its VM said of itself."""
    facts = todo.facts.get(setup.name, {})
    told = {
        "ram_bytes": int(facts["ram_kib"]) * KIB if "ram_kib" in facts else None,
        "os": facts.get("os", setup.image),
        "kernel": facts.get("kernel"),
        "as_of": todo.started[:10],
    }
    return whole_setup(todo.experiment, setup).model_copy(update=told)


def _disk(name: str, disk: Disk) -> dict[str, Any]:
    off = "None" if disk.role == "data" else None
    row = {
        "disk": name,
        "role": disk.role,
        "sku": disk.sku,
        "tier": disk.tier,
        "size_bytes": disk.size,
        "host_caching": disk.caching or off,
        "provisioned_iops": disk.iops,
        "provisioned_bytes_per_s": disk.mbps and disk.mbps * MB,
        "count": disk.count,
        "stripe": f"RAID 0, chunks of {format_size(disk.stripe)}" if disk.count > 1 else None,
        "zone": disk.zone,
    }
    return {key: value for key, value in row.items() if value is not None}


def _commands(steps: Sequence[Step]) -> list[Command]:
    """What az and the tools were told, each once; scripts on the VM are told by what they run."""
    found: dict[str, Command] = {}
    for step in steps:
        if isinstance(step, Call):
            text = azure.text(step.argv)
            found.setdefault(text, Command(title=f"az: {step.title}", text=text))
        elif isinstance(step, Measure):
            for argv in guest.commands(step):
                text = shlex.join(argv)
                found.setdefault(text, Command(title=f"{step.workload.tool}: {step.title}", text=text))
    return list(found.values())
