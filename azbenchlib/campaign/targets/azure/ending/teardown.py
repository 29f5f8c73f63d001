"""How a run in Azure ends: its group deleted, and the last words on what is left."""

from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign import lock
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.ending import orphans, things
from azbenchlib.campaign.targets.azure.manifest import (
    AZ_LOG,
    PLANS,
    AzureRun,
    CloudPlan,
    all_deleted,
    enter_subscription,
    found_az,
    made_for,
    noted_run,
    remaining,
)
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Step
from azbenchlib.campaign.targets.azure.vm import is_running
from azbenchlib.core.errors import AzbenchError, InputError, OutputError
from azbenchlib.dataset import manifest


def release(cloud: Cloud, fault: BaseException | None) -> None:
    """Delete the group of a run, and end as the run ended; the last words tell what is left.

    A group that is no longer noted was never made.
    """
    deleted, unnoted = _delete(cloud, fault) if cloud.noted else orphans.Deleted(), ""
    if not deleted.left:
        cloud.run.plan.forget(cloud.group)
        unnoted = _unnoted(cloud, fault)
    _end(cloud.run, fault, deleted, unnoted)


def release_vms(run: AzureRun, fault: BaseException | None, said: str) -> None:
    """End as the run of several VMs at a time ended; `said`: the last words of them all.

    Each has deleted its group, or noted it; where its disk was full, its last words alone tell that it did.
    """
    left = left_by_vms(run.folder)
    gone = [group for group in left if _deleted_unnoted(group) in said]
    warnings = "; ".join(warning for group, warning in left.items() if group not in gone)
    _end(run, fault, orphans.Deleted(warnings), "".join(map(_deleted_unnoted, gone)))


def _delete(cloud: Cloud, fault: BaseException | None) -> orphans.Deleted:
    run, prefix = cloud.run, cloud.run.plan.prefix(cloud.group)
    what = f"what the run made in {cloud.group}" if prefix else cloud.group
    run.tell(f"{'interrupted; ' * isinstance(fault, KeyboardInterrupt)}deleting {what} …")
    try:
        return _deleted(cloud)
    except BaseException as error:
        why = f"the deletion was not confirmed: {_words(error)}"
        left = things.warning(cloud.az, cloud.group, prefix, why)
        raise AzbenchError(f"{_words(fault)}. {left}" if fault else left) from error


def _deleted(cloud: Cloud) -> orphans.Deleted:
    """Delete, and note meanwhile whether Azure does it by itself, as far as this machine's disk has room."""
    run, group = cloud.run, cloud.group

    def note(accepted: bool) -> None:
        run.plan.note_deletion(group, accepted)
        with suppress(OutputError):
            run.save()

    return things.delete(cloud.az, group, run.plan.prefix(group), run.tell, run.interrupts, note)


def _unnoted(cloud: Cloud, fault: BaseException | None) -> str:
    """Note that a group is gone; what to say of it where a full disk forbids that.

    Raises an OutputError where there is no earlier fault: then that is it.
    """
    try:
        cloud.run.save()
        return ""
    except OutputError as error:
        told = _deleted_unnoted(cloud.group)
        if fault is None:
            raise OutputError(f"{error}. Nothing is left in Azure{told}") from error
        return told


def _deleted_unnoted(group: str) -> str:
    """What to say of a group that is deleted, and that a plan still notes."""
    return f" ({group} is deleted, which could not be noted)"


def _end(run: AzureRun, fault: BaseException | None, deleted: orphans.Deleted, unnoted: str) -> None:
    """End as the run ended, with what is left in Azure; `unnoted`: what was deleted and is noted as there."""
    if fault is None and not deleted.left:
        return
    words = deleted.left or all_deleted(run, unnoted)
    if deleted.interrupted or isinstance(fault, KeyboardInterrupt):
        raise KeyboardInterrupt(f"interrupted. {words}") from fault
    if fault is None or isinstance(fault, AzbenchError):
        raise AzbenchError(f"{_words(fault)}. {words}" if fault else words) from fault
    run.tell(words)
    raise fault


def _words(error: BaseException | None) -> str:
    return str(error) or type(error).__name__


def delete_earlier(
    asked: CloudPlan, dataset: Path, fresh: bool, progress: Progress, apart: Container[str] | None = None
) -> None:
    """Delete the resource groups of earlier runs into this folder, which were killed or could not do it.

    The one in which the latest run can be taken up stays. Before, what VMs measured that were measured at a
    time is joined in the folder. `apart` has the names of the VMs that are measured at a time now, whose own
    runs see to their groups; None: the VMs follow each other.

    Raises an AzbenchError when one of the groups is still there; it stays noted. An InputError where a run
    was begun and its plan, which noted them, is gone.
    """
    for folder in (dataset, plan.beside(dataset)) if fresh else (dataset,):
        found = plan.load(folder, type(asked))
        if found is None and (folder / AZ_LOG).is_file():
            raise InputError(
                f"{folder}: {plan.PLAN_FILE} is gone, without which no run goes on here; `azbench cleanup` "
                "lists what it may have left in Azure; name another folder"
            )
        if not found or not (fresh or found.same_as(asked)):
            continue
        _delete_noted(asked, folder, found, progress, may_go_on=not fresh and apart is None)
        for own in folders.there(folder):
            of_vm = plan.load(own, CloudPlan)
            if of_vm and (fresh or own.name not in (apart or ())):
                _delete_noted(asked, own, of_vm, progress, may_go_on=False)
                folders.drop(own)


def _delete_noted(
    asked: CloudPlan, folder: Path, found: CloudPlan, progress: Progress, *, may_go_on: bool
) -> None:
    """Delete the groups that the plan of a folder notes, but for one in which the run can be taken up."""
    if not found.groups:
        return
    run = noted_run(folder, found, progress)
    az = enter_subscription(run, found_az(run))
    for group in list(found.groups):
        if may_go_on and group == found.groups[-1] and _can_go_on(found, asked, folder, az):
            continue
        what = f"what is in {group}" if found.prefix(group) else group
        run.tell(f"deleting {what}, which an earlier run left …")
        _forget_deleted(Cloud(run=run, az=az, group=group))
    if (folder / manifest.MANIFEST_FILE).is_file():  # all is done, and a dataset tells nobody's ids
        found.forget_who()
        run.save()


def _can_go_on(found: CloudPlan, asked: CloudPlan, folder: Path, az: Az) -> bool:
    """Whether the latest group of an earlier run has a VM on which the run can be taken up.

    Raises an AzbenchError when the group is none that a run made, or another run holds it.
    """
    group = found.groups[-1]
    todo = found.taken_up(asked)
    had = made_for(todo)
    prefix = found.prefix(group)
    if (todo.experiment.group or "") != (group if prefix else ""):
        return False  # it is to be measured elsewhere
    others = [step for step in steps.steps(had, group, {}, "", prefix) if not isinstance(step, Measure)]
    names = [value["--name"] for value in map(_created_vm, others[: found.steps_done]) if value]
    left = remaining(noted_run(folder, todo))
    if left is None or not names or len(had.setups) < len(found.made_for):
        return False
    made = {setup.name for setup in left.setups} <= {*found.made_for}
    if not made or not things.check_is_own(az, group, prefix):
        return False
    try:
        return is_running(az, group, names[-1])
    except AzError:
        return False


def _created_vm(step: Step) -> dict[str, str] | None:
    if isinstance(step, Call) and step.argv[:2] == ["vm", "create"]:
        return dict(pairwise(step.argv))
    return None


def _forget_deleted(cloud: Cloud) -> None:
    """Delete a group, and forget it if it is truly gone.

    Raises an AzbenchError when it is still there, or is none that a run made; a KeyboardInterrupt when the
    waiting was interrupted.
    """
    prefix = cloud.run.plan.prefix(cloud.group)
    things.check_is_own(cloud.az, cloud.group, prefix)
    deleted = _deleted(cloud)
    if deleted.interrupted:
        raise KeyboardInterrupt(deleted.left)
    if deleted.left:
        raise AzbenchError(deleted.left)
    cloud.run.plan.forget(cloud.group)
    cloud.run.save()


def interrupted(run: AzureRun) -> str:
    """What to say of an interrupt outside of the measuring, also where nothing was made yet."""
    groups = [*_warnings(run.plan, "it may have been made").values(), *left_by_vms(run.folder).values()]
    return f"interrupted. {'; '.join(groups) or all_deleted(run)}"


def noted(dataset: Path, tell: Callable[[str], None] = lock.untold) -> dict[str, str]:
    """The resource groups that a dataset folder notes as not deleted, with what to say of each.

    Those of a run that goes on in another process are not among them, nor those of a VM whose process does.
    `tell` takes a line when one is waited for that is about to end.
    """
    found: dict[str, str] = {}
    for folder in (dataset, plan.beside(dataset)):
        for kind in PLANS:
            found |= _noted_unheld(folder, kind, [dataset], tell)
        for own in folders.there(folder):
            found |= _noted_unheld(own, CloudPlan, [dataset, own], tell)
    return found


def _noted_unheld(
    place: Path, kind: type[CloudPlan], locked: Sequence[Path], tell: Callable[[str], None]
) -> dict[str, str]:
    """What the plan of a folder notes, where no other process measures into any of `locked`."""
    with suppress(InputError), ExitStack() as locks:  # of another kind of measurement, or in use
        told = plan.load(place, kind)
        if told and told.groups:
            for folder in locked:
                locks.enter_context(lock.held(folder, tell))
            return _warnings(told, "as noted")
    return {}


def _warnings(told: CloudPlan, why: str) -> dict[str, str]:
    """What to say of each group that a plan notes."""
    az = Az(path="az", subscription=told.subscription)
    return {
        group: orphans.going(az, group)
        if group in told.deletions
        else things.warning(az, group, told.prefix(group), why)
        for group in told.groups
    }


def left_by_vms(folder: Path) -> dict[str, str]:
    """The groups that are noted of VMs which are measured at a time, with what to say of each."""
    plans = (plan.load(own, CloudPlan) for own in folders.there(folder))
    return {group: said for told in plans if told for group, said in _warnings(told, "as noted").items()}
