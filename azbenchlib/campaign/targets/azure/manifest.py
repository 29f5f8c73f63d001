"""What a measurement in Azure has to remember: its plan, the run under way, the manifest of its dataset."""

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.retries import AT_START, Patience
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files import spec
from azbenchlib.campaign.files.spec import Experiment, whole_setup, with_one_disk
from azbenchlib.campaign.host import ram_bytes
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets.azure import commands, guest, steps
from azbenchlib.campaign.targets.azure.commands import RUN_PREFIX
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Prepare, Step
from azbenchlib.campaign.targets.base import MeasurementRun
from azbenchlib.core import privacy
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.manifest import Command, Manifest, ManifestSetup


class CloudPlan(StoredPlan):
    """What is measured in Azure, and what has to be remembered about it."""

    experiment: Experiment
    started: str
    subscription: str = ""  # id of the one in which it was begun; none is kept when all is done
    groups: list[str] = Field(default_factory=list)  # resource groups with what was made, the latest one last
    deletions: list[str] = Field(default_factory=list)  # of the groups, those that Azure deletes by itself
    # Of the groups that are the user's: what the names of the run's things in them begin with.
    prefixes: dict[str, Annotated[str, Field(pattern=f"^{RUN_PREFIX}$")]] = Field(default_factory=dict)
    facts: dict[str, dict[str, str]] = Field(default_factory=dict)  # setup -> what its VM said of itself
    versions: dict[str, str] = Field(default_factory=dict)  # of tools, by name
    tenant: str = ""  # of the subscription; none is kept when all is done
    made_for: list[str] = Field(default_factory=list)  # setups for which the latest group was made
    steps_done: int = 0  # in it, of those that measure nothing
    chosen: dict[str, dict[str, str]] = Field(default_factory=dict)  # setup -> what it got instead
    windows: dict[str, list[str]] = Field(default_factory=dict)  # setup -> VM, and since when and until when
    expires: str = ""  # when the latest group may be deleted by anybody
    token: str = Field(default_factory=lambda: secrets.token_hex(8))  # by which the run knows its own disks
    identity: dict[str, str] = Field(default_factory=dict)  # for the dataset; empty: not asked for

    def prefix(self, group: str) -> str:
        """What the names of the run's things in a group begin with; empty: the group is the run's own."""
        return self.prefixes.get(group, "")

    def forget(self, group: str) -> None:
        """Note that nothing of the run is left in a group."""
        self.groups = [name for name in self.groups if name != group]
        self.note_deletion(group, False)
        self.prefixes.pop(group, None)

    def note_deletion(self, group: str, accepted: bool) -> None:
        """Note whether Azure has accepted to delete a group."""
        self.deletions = [name for name in self.deletions if name != group] + [group] * accepted

    def forget_who(self) -> None:
        """Keep no id of a subscription or a tenant: nothing is left there, and a dataset tells nobody's."""
        self.subscription = self.tenant = ""
        there, subnet = self.experiment, self.experiment.subnet
        setups = tuple(map(_without_ids, there.setups))
        told = {"setups": setups, "subnet": subnet and privacy.masked(subnet)}
        self.experiment = there.model_copy(update=told)

    @property
    def actual(self) -> Experiment:
        """The measurement file with the sizes, zones and controllers that were chosen."""
        setups = tuple(
            setup.model_copy(update=self.chosen.get(setup.name, {})) for setup in self.experiment.setups
        )
        return self.experiment.model_copy(update={"setups": setups})

    def same_as(self, other: Self) -> bool:
        """Whether both are of one region, and what they have in common is the same in both.

        A file may gain and lose setups and workloads between runs.
        """
        mine, others = self.experiment, other.experiment
        if mine.region != others.region:
            return False
        had = {setup.name: setup for setup in mine.setups}
        both = [(had[setup.name], setup) for setup in others.setups if setup.name in had]
        return bool(both) and all(_agree(one, two) for one, two in both)

    def taken_up(self, asked: Self) -> Self:
        """The plan of an earlier run with the setups and workloads that are asked for now."""
        return self.model_copy(update={"experiment": asked.experiment})

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.experiment.title}' in Azure"


class ExistingPlan(CloudPlan):
    """What is measured on a VM that is there already; `vm` is a hash of its id."""

    vm: str
    scripts: list[str] = Field(default_factory=list)  # run-commands of ours that Azure keeps at the VM
    luns: dict[str, int] = Field(default_factory=dict)  # data disk -> where it is attached
    probed: bool = False  # then all workloads that there were to choose from must be the same

    def same_as(self, other: Self) -> bool:
        """Whether both are of one VM, and what they have in common is the same in both."""
        mine, others = ([one.tasks for one in plan.experiment.setups] for plan in (self, other))
        alike = self.probed == other.probed and (mine == others or not self.probed)
        return self.vm == other.vm and alike and super().same_as(other)

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.experiment.title}' on a VM that is there already"


PLANS: tuple[type[CloudPlan], ...] = (CloudPlan, ExistingPlan)


def _without_ids(setup: spec.SetupSpec) -> spec.SetupSpec:
    return setup.model_copy(update={"image": privacy.masked(setup.image)})


def _agree(one: spec.SetupSpec, two: spec.SetupSpec) -> bool:
    """Whether two setups of a name are the same but for workloads that only one of them has."""
    named = [{task.workload.name: task for task in setup.tasks} for setup in (one, two)]
    first, second = (
        _without_ids(setup).model_copy(update={"tasks": (), "label": None, "repeats": 1})
        for setup in (one, two)
    )
    common = named[0].keys() & named[1].keys()
    return first == second and all(named[0][name] == named[1][name] for name in common)


def make_manifest(name: str, todo: CloudPlan, told: Sequence[Step]) -> Manifest:
    """The manifest of a finished measurement."""
    experiment = todo.actual
    measures = [step for step in told if isinstance(step, Measure)]
    tools = {"fio": "not stated"}
    for tool in ("fio", *sorted({step.workload.tool for step in measures})):
        found = sorted({facts[tool] for facts in todo.facts.values() if tool in facts})
        tools[tool] = ", ".join(found) or "not stated"
    return Manifest(
        name=name,
        title=experiment.title,
        about=experiment.about or f"Workloads in Azure: {len(measures)}.",
        measured=plan.day(todo.started),
        setups=_setups(todo, measures),
        commands=_commands(told),
        tools={**tools, **todo.versions},
        identity=todo.identity or None,
        notes=[*todo.notes, *_bought(experiment)],
    )


def _bought(experiment: Experiment) -> list[str]:
    """What was bought of disks that no column tells."""
    disks = {name: disk for setup in experiment.setups for name, disk in setup.disks.items()}
    notes = []
    for name, disk in disks.items():
        told = ["Performance Plus"] if disk.performance_plus else []
        told += ["the Write Accelerator"] if disk.write_accelerator else []
        told += [f"sectors of {disk.sector} B"] if disk.sector else []
        notes += [f"Disk {name} has {', '.join(told)}."] if told else []
    return notes


def _setups(todo: CloudPlan, measures: Sequence[Measure]) -> list[ManifestSetup]:
    """One setup a VM and disk that was driven, each with the folder of its outputs."""
    driven = {step.folder: step for step in measures}
    several = len(driven) > len({step.setup.name for step in measures})
    return [with_one_disk(_measured(todo, step.setup), step.disk, several) for step in driven.values()]


def _measured(todo: CloudPlan, setup: spec.SetupSpec) -> ManifestSetup:
    """The setup with what its VM said of itself."""
    facts = todo.facts.get(setup.name, {})
    luns = _luns(todo)
    whole = whole_setup(todo.actual, setup)
    disks = [
        replace(row, lun=found[0]) if len(found := luns.get((setup.name, row.disk or ""), ())) == 1 else row
        for row in whole.disks
    ]
    told = {
        "disks": disks,
        "ram_bytes": ram_bytes(facts.get("ram_kib", "")),
        "os": facts.get("os", setup.image),
        "kernel": facts.get("kernel"),
        "as_of": todo.started[:10],
    }
    return whole.model_copy(update=told)


def _luns(todo: CloudPlan) -> dict[tuple[str, str], tuple[int, ...]]:
    """Where the data disks of each setup are attached, by setup and disk; one that stays keeps its LUNs."""
    experiment = todo.actual
    if isinstance(todo, ExistingPlan):
        return {(one.name, disk): (lun,) for one in experiment.setups for disk, lun in todo.luns.items()}
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    now: dict[str, tuple[int, ...]] = {}
    for step in steps.planned(experiment):
        if isinstance(step, Prepare):
            now[step.disk] = step.luns
        elif isinstance(step, Measure) and step.disk in now:
            found[step.setup.name, step.disk] = now[step.disk]
    return found


def _commands(told: Sequence[Step]) -> list[Command]:
    """What az and the tools were told, each once; scripts on the VM are told by what they run."""
    found: dict[str, Command] = {}
    for step in told:
        if isinstance(step, Call):
            text = commands.text(step.argv)
            found.setdefault(text, Command(title=f"az: {step.title}", text=text))
        elif isinstance(step, Measure):
            for argv in guest.commands(step):
                text = shlex.join(argv)
                found.setdefault(text, Command(title=f"{step.workload.tool}: {step.title}", text=text))
    return list(found.values())


AZ_LOG = "az.log.jsonl"  # in the dataset folder: every call of az

AzureRun = MeasurementRun[CloudPlan, Measure]


def measures_of(experiment: Experiment) -> list[Measure]:
    """What is measured, in order."""
    return [step for step in steps.planned(experiment) if isinstance(step, Measure)]


def noted_run(folder: Path, noted: CloudPlan, progress: Progress = quiet) -> AzureRun:
    """The run that the plan of a folder notes, to look at what it left; nothing is measured in it."""
    return AzureRun(
        folder=folder,
        plan=noted,
        measurements=measures_of(noted.experiment),
        progress=progress,
        interrupts=Interrupts(),
        stopping=Stopping.of(noted.experiment),
    )


def remaining(run: AzureRun) -> Experiment | None:
    """The setups in which something is still to be measured; None where nothing is."""
    open_ = {step.setup.name for step in run.measurements if not run.done(step)}
    left = tuple(setup for setup in run.plan.experiment.setups if setup.name in open_)
    return run.plan.experiment.model_copy(update={"setups": left}) if left else None


def made_for(todo: CloudPlan) -> Experiment:
    """The setups for which the latest group was made, as far as the file still has them."""
    there = {setup.name: setup for setup in todo.actual.setups}
    setups = tuple(there[name] for name in todo.made_for if name in there)
    return todo.experiment.model_copy(update={"setups": setups})


def all_deleted(run: AzureRun, unnoted: str = "") -> str:
    """The last words where nothing is left; `unnoted`: what is deleted and could not be noted."""
    done = sum(map(run.done, run.measurements))
    return (
        f"Nothing is left in Azure{unnoted}; {done} of {len(run.measurements)} workloads are kept in "
        f"{run.folder}, and the same command goes on from there"
    )


def found_az(run: MeasurementRun[Any, Measure]) -> Az:
    """The az of this machine, whose calls are logged in the folder of the run; it retries, and tells why."""
    return Az.find(run.folder / AZ_LOG).patiently(Patience(limits_s=AT_START, tell=run.tell))


def enter_subscription(run: AzureRun, az: Az) -> Az:
    """The az of the subscription in which the run was begun, whichever it is set to by now.

    Raises an AzError when az is not logged in; an InputError when the account does not have that
    subscription.
    """
    begun_in, tenant = run.plan.subscription, run.plan.tenant
    try:
        run.plan.subscription, run.plan.tenant = orphans.subscription(az.within(begun_in))
    except AzError as error:
        if error.code != "SubscriptionNotFound":
            raise
        raise InputError(
            f"{run.folder / plan.PLAN_FILE}: the run was begun in the subscription {begun_in}, which the "
            "account that is logged in does not have; log in with one that has it: `az login`"
        ) from error
    if tenant not in ("", run.plan.tenant):
        raise InputError(
            f"{run.folder / plan.PLAN_FILE}: the run was begun in the tenant {tenant}, and its subscription "
            f"is now of {run.plan.tenant}; log in as then: `az login --tenant {tenant}`"
        )
    return az.within(run.plan.subscription)


def note_identity(plan: CloudPlan, az: Az, asked: bool) -> None:
    """Keep who measured in which subscription for the dataset, only where that is asked for."""
    plan.identity = orphans.identity(az) if asked else {}
