"""Carry an experiment out in Azure: create, measure, collect, take down."""

import getpass
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from azbenchlib import manifest
from azbenchlib.az import Az, AzError
from azbenchlib.campaign import cloud_plan, leftovers, outputs, plan, preflight
from azbenchlib.campaign.cloud_manifest import CloudPlan, make_manifest
from azbenchlib.campaign.cloud_plan import Call, Measure, Prepare, Release, Rest, Step
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.targets import azure, guest
from azbenchlib.campaign.targets.vm import Vm
from azbenchlib.errors import AzbenchError, InputError
from azbenchlib.manifest import Manifest

LOG = "az.log.jsonl"  # in the dataset folder: every call of az
LEAST_H, MOST_H = 2, 23  # a VM that nobody deletes stops by itself after a time between
SPARE = 2  # so many times as long as the workloads alone
# What says nothing of whether Azure takes what was asked.
_NO_ANSWER = ("NotLoggedIn", "AuthorizationFailed", "TooManyRequests", "InternalServerError", "")


def run_azure(
    experiment: Experiment,
    dataset: Path | str,
    *,
    owner: str = "",
    progress: Progress = quiet,
    fresh: bool = False,
) -> Path:
    """Create what an experiment needs in Azure, measure, collect, and delete all of it.

    Everything lies in one resource group, which is deleted at the end, at an error and at an interrupt.
    Workloads whose outputs are in the folder are not run again, so an interrupted run is taken up.

    Parameters
    ----------
    experiment : Experiment
        A measurement file, read.
    dataset : path-like
        The folder to write: ``manifest.json``, ``plan.json``, ``raw/``, ``tables/`` and the log of az.
    owner : str
        Tag of the resource group; empty: this user's name. It stays out of the dataset.
    progress : callable
        Called with the number of workloads done, of all, and a line of text.
    fresh : bool
        Measure anew beside an earlier dataset of this name and put the result in its place.

    Returns
    -------
    Path
        The dataset folder.

    Raises
    ------
    MissingToolError
        When there is no az.
    InputError
        When the folder holds something else, or Azure does not offer what is asked for.
    AzbenchError
        When a step failed; or when something could not be deleted: the sentence names it.
    """
    dataset = Path(dataset).absolute()
    hours = _hours(experiment)
    list(cloud_plan.steps(experiment, "group", {}, "0000"))  # what cannot be planned is refused at once
    asked = CloudPlan(experiment=experiment, started=plan.now())
    folder, todo, _ = plan.workspace(dataset, asked, fresh)
    run = _Run(folder, todo, Az.find(folder / LOG), progress)

    def measure() -> Manifest:
        if left := run.remaining():
            _measure(run, left, owner or getpass.getuser(), hours)
        return make_manifest(dataset.name, todo, _steps(experiment))

    return plan.complete(folder, dataset, measure, run.tell)


@dataclass
class _Run:
    """A measurement under way."""

    folder: Path
    plan: CloudPlan
    az: Az
    progress: Progress

    @property
    def raw(self) -> Path:
        return self.folder / manifest.RAW

    @property
    def measures(self) -> list[Measure]:
        return [step for step in _steps(self.plan.experiment) if isinstance(step, Measure)]

    def output(self, step: Measure) -> Path:
        return self.raw / step.folder / step.workload.output

    def done(self, step: Measure) -> bool:
        return outputs.came_to(self.output(step)) is not None

    def remaining(self) -> Experiment | None:
        """The setups in which something is still to be measured."""
        open_ = {step.setup.name for step in self.measures if not self.done(step)}
        left = tuple(setup for setup in self.plan.experiment.setups if setup.name in open_)
        return self.plan.experiment.model_copy(update={"setups": left}) if left else None

    def tell(self, text: str) -> None:
        measures = self.measures
        self.progress(sum(map(self.done, measures)), len(measures), text)

    def note(self, text: str) -> None:
        if text not in self.plan.notes:
            self.plan.notes.append(text)
        plan.save(self.folder, self.plan)


def _measure(run: _Run, experiment: Experiment, owner: str, hours: int) -> None:
    """Everything that is still to be measured, in a resource group of its own."""
    run.folder.mkdir(parents=True, exist_ok=True)
    plan.save(run.folder, run.plan)
    run.tell("asking Azure whether it has all that is needed …")
    preflight.check(run.az, experiment)
    for group in run.plan.groups:  # of a run that was killed
        if fault := leftovers.delete(run.az, group, run.tell):
            raise AzbenchError(fault)
    now = datetime.now(UTC)
    group = cloud_plan.group_name(experiment.title, now.isoformat(), secrets.token_hex(2))
    ends = now + timedelta(hours=hours)
    tags = {
        "tool": "azbench",
        "owner": owner,
        "campaign": cloud_plan.slug(experiment.title),
        "expires": ends.isoformat(timespec="seconds"),
    }
    run.plan.groups.append(group)
    plan.save(run.folder, run.plan)
    run.plan.versions["az"] = run.az.json("version")["azure-cli"]
    with _taken_down(run, group):
        for step in cloud_plan.steps(experiment, group, tags, f"{ends:%H%M}"):
            _do(run, group, step)
    run.plan.groups.remove(group)
    plan.save(run.folder, run.plan)


@contextmanager
def _taken_down(run: _Run, group: str) -> Iterator[None]:
    """Delete the group at the end, whatever happened; what could not be deleted is shouted."""
    fault: BaseException | None = None
    try:
        yield
    except BaseException as error:
        fault = error
    try:
        run.tell(f"deleting {group} …")
        left = leftovers.delete(run.az, group, run.tell)
    except BaseException as error:
        left = leftovers.shout(group, f"the deletion was not confirmed: {error or type(error).__name__}")
        fault = fault or error
    if left:
        run.tell(left)
        raise AzbenchError(f"{fault}. {left}" if fault and str(fault) else left) from fault
    if isinstance(fault, AzbenchError):
        kept = sum(map(run.done, run.measures))
        raise AzbenchError(
            f"{fault}. Nothing is left in Azure; {kept} of {len(run.measures)} workloads are kept in "
            f"{run.folder}, and the same command goes on from there"
        ) from fault
    if fault:
        raise fault


def _do(run: _Run, group: str, step: Step) -> None:
    if isinstance(step, Call):
        run.tell(f"{step.title} …")
        _call(run, group, step)
    elif isinstance(step, Rest):
        run.tell(f"{step.title} …")
        time.sleep(step.seconds)
    elif isinstance(step, Prepare):
        run.tell(f"{step.title} …")
        facts = guest.facts(Vm(run.az, group, step.vm).run(step.title, guest.prepare(step), guest.PREPARE_S))
        run.plan.facts[step.setup.name] = facts
        plan.save(run.folder, run.plan)
    elif isinstance(step, Release):
        run.tell(f"{step.title} …")
        Vm(run.az, group, step.vm).run(step.title, guest.release(step), guest.PREPARE_S)
    elif not run.done(step):
        _run_workload(run, group, step)


def _call(run: _Run, group: str, step: Call) -> None:
    """A call of az; where a refusal is expected, what came is noted either way."""
    try:
        run.az.json(*step.argv)
    except AzError as error:
        if step.refusal is None or error.code in _NO_ANSWER:
            raise
        setup, disk = step.refusal
        run.note(f"Setup {setup}: Azure refused to attach {disk}, as expected. {error}")
        run.tell(f"refused, as expected: {error}")
        return
    if step.refusal:
        setup, disk = step.refusal
        run.note(f"Setup {setup}: Azure attached {disk}, although a refusal was expected.")
        run.az.json(*_undone(step.argv))


def _undone(attach: list[str]) -> list[str]:
    """The command that detaches what another attached."""
    value = dict(pairwise(attach))
    return azure.disk_detach(value["--resource-group"], value["--vm-name"], value["--name"])


def _run_workload(run: _Run, group: str, step: Measure) -> None:
    run.tell(f"{step.title} …")
    part = run.raw / f".part-{step.setup.name}-{step.disk}-{step.workload.name}"
    vm = Vm(run.az, group, step.vm)
    status, said = vm.measure(step, part)
    found = outputs.came_to(part / step.workload.output)
    if status or found is None:
        kept = outputs.keep_failed(part, run.folder, part.name.removeprefix(".part-"))
        fault = f"{step.title}: {step.workload.tool} ended with status {status}: {said or 'it did no I/O'}"
        run.note(f"{plan.now()}: {fault}")
        raise AzbenchError(f"{fault}; what it left is in {kept}")
    outputs.keep(part, run.output(step).parent, step.workload.output)
    run.tell(f"{step.title}: {found}")


def _steps(experiment: Experiment) -> list[Step]:
    return cloud_plan.steps(experiment, "GROUP", {"tool": "azbench"}, "HHMM")


def _hours(experiment: Experiment) -> int:
    """How long the whole may take, in hours, before the VM stops by itself."""
    measures = [step for step in _steps(experiment) if isinstance(step, Measure)]
    seconds = sum(step.workload.lasts_s for step in measures)
    seconds += sum(setup.rest for setup in experiment.setups)
    hours = max(LEAST_H, -(-int(seconds * SPARE) // 3600) + 1)
    if hours > MOST_H:
        raise InputError(
            f"the workloads last {seconds / 3600:.0f} hours, and VMs stop by themselves within a day; "
            "split the measurement file"
        )
    return hours
