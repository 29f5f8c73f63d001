"""Azure as a target: all that an experiment needs is created, and deleted at the end."""

import secrets
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import ClassVar, Self

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.retries import WHILE_MEASURING, Patience
from azbenchlib.campaign import lock, outputs
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.targets.azure import commands, money, preflight, steps
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.commands import Naming, new_prefix
from azbenchlib.campaign.targets.azure.ending import orphans, teardown
from azbenchlib.campaign.targets.azure.guest import place
from azbenchlib.campaign.targets.azure.manifest import (
    AzureRun,
    CloudPlan,
    enter_subscription,
    found_az,
    made_for,
    make_manifest,
    measures_of,
    note_identity,
    noted_run,
    remaining,
)
from azbenchlib.campaign.targets.azure.outcome import Batch
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Step
from azbenchlib.campaign.targets.base import Request, Target
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset.manifest import Manifest

LEAST_H, MOST_H = 2, 23  # a VM that nobody deletes stops by itself after a time between
SPARE = 2  # so many times as long as is reckoned


@dataclass(kw_only=True)
class AzureTarget(Target[CloudPlan, Measure]):
    """Measure in Azure: create what an experiment needs, measure, collect, and delete all of it.

    Everything lies in one resource group, which is deleted at the end, at an error and at an interrupt
    (Ctrl-C, a polite end, a closed terminal); a second interrupt ends the waiting for the deletion, not the
    deletion. Of a group that the file names, exactly what the run made in it is deleted.
    A run that was killed is taken up on its VM where that still runs; other groups that an earlier
    run into the folder left are deleted first. A run is taken up in the subscription in which it was begun.

    Parameters
    ----------
    experiment : Experiment
        A measurement file, read.
    owner : str
        Tag of the resource group; empty: this user's name. It stays out of the dataset.
    max_cost, max_hours : float
        At which it ends; 0: no limit.
    show_identity : bool
        Whether the dataset tells the subscription, the tenant and the user.
    """

    goes_on_unheard: ClassVar[bool] = True  # or a closed terminal would keep it from deleting what it made
    goes_on_after_failure: ClassVar[bool] = True
    has_own_budget: ClassVar[bool] = True
    ends_run_in_hand: ClassVar[bool] = False  # a VM is paid for meanwhile; what it has measured is fetched
    experiment: Experiment
    owner: str = ""
    max_cost: float = 0.0
    max_hours: float = 0.0
    show_identity: bool = False
    _cloud: Cloud | None = field(default=None, init=False)
    _steps: list[Step] = field(default_factory=list, init=False)
    _steps_for: Callable[[], list[Step]] = field(default=list, init=False)  # by what is chosen now
    _refused: list[dict[str, str]] = field(default_factory=list, init=False)  # of the VM that is made
    _at: int = field(default=0, init=False)  # of the step that is the next
    _adopted: int = field(
        default=0, init=False
    )  # steps that an earlier run did, of those that measure nothing
    _batch: Batch | None = field(default=None, init=False)
    _evictions: int = field(default=0, init=False)  # of spot VMs, in this run

    @classmethod
    def of(cls, request: Request) -> Self:
        """The setups of a measurement file, created."""
        return cls(
            experiment=request.needed_experiment("azure"),
            max_cost=request.max_cost,
            max_hours=request.max_hours,
            show_identity=request.show_identity,
        )

    def make_plan(self, dataset: Path) -> CloudPlan:
        """What is to be measured; what cannot be carried out is refused before Azure is asked."""
        hours(self.experiment)
        money.Budget.of(self.experiment, self.max_cost, self.max_hours).check()
        return CloudPlan(experiment=self.experiment, started=plan.now())

    def measurements(self, plan: CloudPlan) -> Sequence[Measure]:
        """Every workload on every disk that it drives."""
        return measures_of(plan.experiment)

    @contextmanager
    def exclusively(
        self, dataset: Path, asked: CloudPlan, fresh: bool, progress: Progress
    ) -> Iterator[Interrupts]:
        """Lock the folder, take interrupts, and delete what earlier runs into it left."""
        tell = self.telling(asked, progress)
        with lock.held(dataset, tell), Interrupts() as interrupts:
            folders.join(dataset, fresh, tell)
            apart = None if fresh else self.apart(noted_run(dataset, asked))
            teardown.delete_earlier(asked, dataset, fresh, progress, apart)
            yield interrupts

    def apart(self, run: AzureRun) -> Mapping[str, Experiment] | None:
        """What is still to be measured by each of several VMs at a time; None: they follow each other."""
        return None

    def enter(self, run: AzureRun) -> Az:
        """The az of the run's subscription, which retries and tells why."""
        run.save()  # before az writes into the folder: without a plan, no run is taken up there
        az = enter_subscription(run, found_az(run))
        note_identity(run.plan, az, self.show_identity)
        return az

    def check(self, run: AzureRun, resumed: bool) -> None:
        """Ask Azure whether it has all that is needed, and note the group that is about to be created."""
        left = remaining(run)
        if left is None:
            return
        run.tell("asking Azure whether it has all that is needed …")
        az = self.enter(run)
        run.save()
        limits = money.Budget.of(left, self.max_cost, self.max_hours)
        limits.end(az)
        run.tell(f"it takes {limits.estimate.text}")
        run.plan.versions["az"] = preflight.version(az)
        preflight.check_version(run.plan.versions["az"])
        todo = run.plan
        if todo.groups:  # of an earlier run, whose VM is still there
            self._adopted, ends = todo.steps_done, datetime.fromisoformat(todo.expires)
        else:
            if left.group:
                preflight.check_group(az, left.group, run.tell)
            todo.chosen, todo.windows = preflight.check(az, left), {}
            ends = datetime.now(UTC) + timedelta(hours=hours(self.experiment))
            todo.made_for, todo.steps_done = [setup.name for setup in left.setups], 0
            todo.expires = ends.isoformat(timespec="seconds")
            now = datetime.now(UTC).isoformat()
            todo.groups.append(left.group or steps.group_name(left.title, now, secrets.token_hex(2)))
            if left.group:
                todo.prefixes[left.group] = new_prefix()
        group = todo.groups[-1]
        prefix = todo.prefix(group)
        tags = orphans.group_tags(steps.slug(left.title), self.owner, todo.expires)
        patient = az.patiently(Patience(limits_s=WHILE_MEASURING, tell=run.tell))
        naming = Naming(prefix=prefix, tags=tags)
        self._cloud = Cloud(run=run, az=patient, group=group, naming=naming, budget=limits)
        self._steps_for = lambda: steps.steps(made_for(todo), group, tags, f"{ends:%H%M}", prefix)
        self._steps = self._steps_for()
        for name, choice in todo.chosen.items():
            if {"vm", "zone"} & choice.keys():
                run.tell(
                    f"setup '{name}' gets {_worded(choice)}, since Azure cannot give what is first named"
                )

    def begin(self, run: AzureRun) -> None:
        """Create the resource group, or take that of an earlier run or of the file; storage for results."""
        if self._cloud is None:
            return
        first = self._steps[0]
        if self._adopted:
            run.tell(f"going on in {self._cloud.group}, where the VM of an earlier run is still there")
            self._cloud.hold()
        elif isinstance(first, Call) and not self.experiment.group:
            self._cloud.make(first)
            self._at = 1
        n_left = sum(not run.done(one) for one in run.measurements)
        self._cloud.open_container(self.experiment.region, n_left)

    def prepare(self, run: AzureRun, one: Measure) -> None:
        """Carry the steps out that lead to a workload; workloads among them are done already."""
        while not isinstance(step := self._steps[self._at], Measure) or place(step) != place(one):
            if not isinstance(step, Measure):
                if self._adopted:
                    self._adopted -= 1
                else:
                    if isinstance(step, Call) and step.argv[:2] == ["vm", "delete"]:
                        self._there.collect_metrics()
                    if not self._done(run, step):
                        continue  # with another VM in its place
                self._batch = None
            self._at += 1

    def _done(self, run: AzureRun, step: Step) -> bool:
        """Carry a step out; False: Azure had no room for a VM or took it back, and there is another one.

        Raises an AzbenchError where there is no other one.
        """
        try:
            self._there.do(step)
            self._refused.clear()
            return True
        except AzbenchError as error:
            if not isinstance(step, Call) or step.argv[:2] != ["vm", "create"] or not _no_room(error):
                self._replace_evicted(run, error)
                return False
            name = step.argv[step.argv.index("--name") + 1]
            mine = [one.setup.name for one in self._steps if isinstance(one, Measure) and one.vm == name]
            spec = next(setup for setup in run.plan.experiment.setups if setup.name == mine[0])
            self._refused.append({**run.plan.chosen.get(spec.name, {})})
            tried = [preflight.of_file(one) for one in self._refused]
            left = [choice for choice in preflight.choices(spec) if choice not in tried]
            if not left:
                raise
            run.tell(f"{error}; {_worded(left[0])} instead …")
        self._there.az.json(*commands.vm_delete(self._there.group, name))
        region = preflight.Region.of(self._there.az, run.plan.experiment)
        for setup in mine:
            run.plan.chosen[setup] = region.choose(spec, tried)
        run.save()
        self._steps = self._steps_for()
        return False

    def measure(self, run: AzureRun, one: Measure, part: Path) -> tuple[int, str]:
        """Have a workload run on its VM, with those after it, and fetch its outputs."""
        step = self._steps[self._at]
        if not isinstance(step, Measure):
            raise InputError(f"{one.title}: is not what the plan has next")
        if self._batch is None or step not in self._batch.steps:
            together = takewhile(lambda found: isinstance(found, Measure), self._steps[self._at :])
            open_ = [found for found in together if isinstance(found, Measure) and not run.done(found)]
            known = list(takewhile(lambda found: found == step or not run.waits(found), open_))
            self._batch = self._there.batch(known)
        self._there.note_window(step)
        try:
            fetched = self._batch.fetch(step, part)
        except AzbenchError as error:
            self._replace_evicted(run, error)
            return self.measure(run, one, part)
        self._there.note_window(step)
        return fetched

    def _replace_evicted(self, run: AzureRun, fault: AzbenchError) -> None:
        """Make another spot VM in the place of one that Azure took back; what is measured stays.

        Raises the fault where it is another one, or Azure took VMs back too often or has no room.
        """
        made = steps.place_of_vm(self._steps, self._at)
        if made is None or not steps.is_spot(self._steps[made]):
            raise fault
        name = steps.name_of(self._steps[made])
        if not self._there.is_stopped(name):
            raise fault
        self._batch = None
        n_before = sum(not isinstance(step, Measure) for step in self._steps[:made])
        while self._evictions < len(steps.EVICTION_PAUSES_S):
            pause = steps.EVICTION_PAUSES_S[self._evictions]
            self._evictions += 1
            run.tell(f"Azure took the spot VM {name} back; another one is made in {pause:g} s …")
            try:
                self._there.rest(pause)
                self._there.replace(name, steps.steps_again(self._steps, made, self._at), n_before)
                run.note(f"{plan.now()}: Azure took the spot VM {name} back; another one was made.")
                return
            except AzbenchError as error:
                if not _no_room(error) and not self._there.is_stopped(name):
                    raise
                fault = error
        times = "once" if self._evictions == 1 else f"{self._evictions} times"
        raise AzbenchError(f"Azure took the spot VM {name} back, {times} in this run: {fault}") from fault

    def result(self, run: AzureRun, one: Measure, output: Path) -> str | None:
        """What a whole output comes to, and what the run took so far."""
        found = outputs.came_to(output)
        return f"{found} (so far {self._cloud.budget.spent})" if found and self._cloud else found

    def release(self, run: AzureRun, fault: BaseException | None) -> None:
        """Delete the resource group, and say what is left, where anything is."""
        if self._cloud:
            self._cloud.az.end.forget()
            try:
                if fault and self._batch:
                    self._rescue(run, self._batch)
                if fault is None:
                    with run.interrupts.waiting():
                        self._cloud.collect_metrics()
            except BaseException as error:
                fault = error
            finally:
                teardown.release(self._cloud, fault)

    def _rescue(self, run: AzureRun, batch: Batch) -> None:
        """Keep what is measured and was not fetched yet, as far as that can be had at once."""
        try:
            for step in batch.steps:
                if run.done(step):
                    continue
                part = run.part(step.workload.name)
                if batch.rescued(step, part) == 0 and outputs.came_to(part / step.workload.output):
                    outputs.keep(part, run.output(step).parent, step.workload.output)
        except (AzbenchError, OSError, tarfile.TarError) as error:
            run.tell(f"what is in the storage could not be fetched: {error}")
        finally:
            for part in run.raw.glob(".part-*"):
                shutil.rmtree(part, ignore_errors=True)

    def last_words(self, run: AzureRun) -> str:
        """What is left in Azure."""
        return teardown.interrupted(run)

    def manifest(self, run: AzureRun, name: str) -> Manifest:
        """The manifest of a finished run."""
        run.plan.forget_who()
        run.save()
        planned = self.planned(run.plan.actual)
        told = [step for step in planned if not isinstance(step, Measure) or run.made(step)]
        return make_manifest(name, run.plan, told)

    def planned(self, experiment: Experiment) -> list[Step]:
        """What was created, changed and measured for an experiment."""
        return steps.planned(experiment)

    @property
    def _there(self) -> Cloud:
        if self._cloud is None:
            raise InputError("nothing is to be measured in Azure any more, so nothing was created there")
        return self._cloud


def _no_room(error: AzbenchError) -> bool:
    """Whether Azure has no room for a VM."""
    return isinstance(error, AzError) and error.no_room


def _worded(choice: dict[str, str]) -> str:
    """A size and a zone in words."""
    return ", ".join(f"zone {value}" if name == "zone" else value for name, value in choice.items())


def hours(experiment: Experiment) -> int:
    """How long the whole may take, in hours, before the VM stops by itself."""
    seconds = money.seconds(experiment)
    hours = max(LEAST_H, -(-int(seconds * SPARE) // 3600) + 1)
    if hours > MOST_H:
        raise InputError(
            f"the run lasts {seconds / 3600:.0f} hours, and VMs stop by themselves within a day; "
            "split the measurement file"
        )
    return hours
