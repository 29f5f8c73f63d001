"""Azure as a target: all that an experiment needs is created, and deleted at the end."""

import getpass
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar, Self

from azbenchlib.azure.az import Az
from azbenchlib.azure.retries import AT_START, WHILE_MEASURING, Patience
from azbenchlib.campaign import lock, plan
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.targets.azure import preflight, steps, teardown
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.guest import place
from azbenchlib.campaign.targets.azure.manifest import CloudPlan, make_manifest
from azbenchlib.campaign.targets.azure.state import (
    AZ_LOG,
    AzureRun,
    enter_subscription,
    measures_of,
    remaining,
    steps_of,
)
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Step
from azbenchlib.campaign.targets.base import Request, Target
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import make_folder
from azbenchlib.dataset.manifest import Manifest

LEAST_H, MOST_H = 2, 23  # a VM that nobody deletes stops by itself after a time between
SPARE = 2  # so many times as long as the workloads alone


@dataclass(kw_only=True)
class AzureTarget(Target[CloudPlan, Measure]):
    """Measure in Azure: create what an experiment needs, measure, collect, and delete all of it.

    Everything lies in one resource group, which is deleted at the end, at an error and at an interrupt
    (Ctrl-C, a polite end, a closed terminal); a second interrupt ends the waiting for the deletion, not the
    deletion. Groups that an earlier run into the folder left are deleted first. An interrupted run is taken
    up in the subscription in which it was begun.

    Parameters
    ----------
    experiment : Experiment
        A measurement file, read.
    owner : str
        Tag of the resource group; empty: this user's name. It stays out of the dataset.
    """

    goes_on_unheard: ClassVar[bool] = True  # or a closed terminal would keep it from deleting what it made
    experiment: Experiment
    owner: str = ""
    _cloud: Cloud | None = field(default=None, init=False)
    _steps: Iterator[Step] = field(default_factory=lambda: iter(()), init=False)  # still to be carried out
    _step: Measure = field(init=False)  # the latest workload, on the VM that is there now

    @classmethod
    def of(cls, request: Request) -> Self:
        """The setups of a measurement file, created."""
        return cls(experiment=request.needed_experiment("azure"))

    def make_plan(self, dataset: Path) -> CloudPlan:
        """What is to be measured; what cannot be carried out is refused before Azure is asked."""
        _hours(self.experiment)
        return CloudPlan(experiment=self.experiment, started=plan.now())

    def measurements(self, plan: CloudPlan) -> Sequence[Measure]:
        """Every workload on every disk that it drives."""
        return measures_of(plan.experiment)

    @contextmanager
    def exclusively(
        self, dataset: Path, asked: CloudPlan, fresh: bool, progress: Progress
    ) -> Iterator[Interrupts]:
        """Lock the folder, take interrupts, and delete what earlier runs into it left."""
        with lock.held(dataset), Interrupts() as interrupts:
            teardown.delete_earlier(asked, dataset, fresh, progress)
            yield interrupts

    def check(self, run: AzureRun, resumed: bool) -> None:
        """Ask Azure whether it has all that is needed, and note the group that is about to be created."""
        left = remaining(run)
        if left is None:
            return
        az = Az.find(run.folder / AZ_LOG).patiently(Patience(limits_s=AT_START, tell=run.tell))
        make_folder(run.folder)
        run.tell("asking Azure whether it has all that is needed …")
        az = enter_subscription(run, az)
        run.save()
        preflight.check(az, left)
        run.plan.versions["az"] = az.json("version")["azure-cli"]
        now = datetime.now(UTC)
        group = steps.group_name(left.title, now.isoformat(), secrets.token_hex(2))
        ends = now + timedelta(hours=_hours(self.experiment))
        tags = {
            "tool": "azbench",
            "owner": self.owner or getpass.getuser(),
            "campaign": steps.slug(left.title),
            "expires": ends.isoformat(timespec="seconds"),
        }
        run.plan.groups.append(group)
        self._cloud = Cloud(run, az.patiently(Patience(limits_s=WHILE_MEASURING, tell=run.tell)), group)
        self._steps = iter(steps.steps(left, group, tags, f"{ends:%H%M}"))

    def begin(self, run: AzureRun) -> None:
        """Create the resource group."""
        if self._cloud and isinstance(first := next(self._steps), Call):
            self._cloud.make(first)

    def prepare(self, run: AzureRun, one: Measure) -> None:
        """Carry the steps out that lead to a workload; workloads among them are done already."""
        while not isinstance(step := next(self._steps), Measure) or place(step) != place(one):
            if not isinstance(step, Measure):
                self._there.do(step)
        self._step = step

    def measure(self, run: AzureRun, one: Measure, part: Path) -> tuple[int, str]:
        """Run a workload on its VM, and fetch its outputs."""
        return self._there.vm(self._step.vm).measure(self._step, part)

    def release(self, run: AzureRun, fault: BaseException | None) -> None:
        """Delete the resource group, and say what is left, where anything is."""
        if self._cloud:
            teardown.release(self._cloud, fault)
        elif fault:
            raise fault

    def last_words(self, run: AzureRun) -> str:
        """What is left in Azure."""
        return teardown.interrupted(run)

    def manifest(self, run: AzureRun, name: str) -> Manifest:
        """The manifest of a finished run."""
        run.plan.subscription = ""  # nothing is left there, and a dataset tells nobody's ids
        run.save()
        return make_manifest(name, run.plan, steps_of(run.plan.experiment))

    @property
    def _there(self) -> Cloud:
        if self._cloud is None:
            raise InputError("nothing is to be measured in Azure any more, so nothing was created there")
        return self._cloud


def _hours(experiment: Experiment) -> int:
    """How long the whole may take, in hours, before the VM stops by itself."""
    seconds = sum(step.workload.max_duration_s for step in measures_of(experiment))
    seconds += sum(setup.rest for setup in experiment.setups)
    hours = max(LEAST_H, -(-int(seconds * SPARE) // 3600) + 1)
    if hours > MOST_H:
        raise InputError(
            f"the workloads last {seconds / 3600:.0f} hours, and VMs stop by themselves within a day; "
            "split the measurement file"
        )
    return hours
