"""A measurement in Azure under way: what is still to be done, and in which subscription."""

from pathlib import Path
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.retries import AT_START, Patience
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.manifest import CloudPlan
from azbenchlib.campaign.targets.azure.steps import Measure
from azbenchlib.campaign.targets.base import MeasurementRun
from azbenchlib.core.errors import InputError

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
