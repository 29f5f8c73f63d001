"""The folders of VMs that are measured at a time, below the dataset: given what is there, and joined again.

Outputs are only ever renamed, and what is noted is written before what it came from is removed. So what a
kill left is joined when the next run begins, whatever that run is.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from azbenchlib.campaign import lock, outputs
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.journal import JOURNAL_FILE, Journal, JournalEvent
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.azure.manifest import AZ_LOG, AzureRun, CloudPlan
from azbenchlib.campaign.targets.base import WARM_UP
from azbenchlib.core.files import append, flush, make_folder
from azbenchlib.dataset import manifest

VMS = ".vms"  # in the dataset folder, while VMs are measured at a time
_OF_RUNS = (
    *(JournalEvent.BEGUN, JournalEvent.KEPT, JournalEvent.FAILED, JournalEvent.LEFT_OUT),
    JournalEvent.DAMAGED,
)


def there(folder: Path) -> list[Path]:
    """The folders of VMs in a dataset folder."""
    found = sorted((folder / VMS).iterdir()) if (folder / VMS).is_dir() else []
    return [path for path in found if path.is_dir() and not path.is_symlink()]


def hand_out(run: AzureRun, name: str, part: Experiment) -> Path:
    """The folder in which a VM is measured, with its plan and what was measured before."""
    folder = run.folder / VMS / name
    if plan.load(folder, CloudPlan) is None:
        started, tenant = run.plan.started, run.plan.tenant
        begun_in = run.plan.subscription
        made = CloudPlan(experiment=part, started=started, subscription=begun_in, tenant=tenant)
        plan.save(folder, made)
    for kept in (manifest.RAW, WARM_UP):
        for setup in part.setups:
            _move(run.folder / kept / setup.name, folder / kept / setup.name)
    return folder


def join(dataset: Path, fresh: bool, tell: Callable[[str], None] = lock.untold) -> None:
    """Join what an earlier run left apart, in a dataset folder and in the one that takes its place.

    `tell` takes a line when the process of a VM is waited for, which ends after a run that was killed.

    Raises an InputError when the process of a VM is still alive.
    """
    for folder in (dataset, plan.beside(dataset)) if fresh else (dataset,):
        if (folder / VMS).is_dir() and (todo := plan.load(folder, CloudPlan)):
            take_back(folder, todo, tell)


def take_back(folder: Path, todo: CloudPlan, tell: Callable[[str], None] = lock.untold) -> None:
    """Join what the VMs measured in the dataset folder; what still notes a resource group keeps its plan.

    `tell` is as for :func:`join`.

    Raises an InputError when the process of a VM is still alive.
    """
    for own in there(folder):
        with lock.held(own, tell):
            for kept in (manifest.RAW, WARM_UP, outputs.FAILED):
                for path in [*(own / kept).iterdir()] if (own / kept).is_dir() else []:
                    if not path.name.startswith("."):  # else a part of an output
                        _move(path, folder / kept / path.name)
            _take_journal(folder, own)
            _take_log(folder, own)
            _take_plan(folder, own, todo)
    _remove_if_empty(folder)


def drop(own: Path) -> None:
    """Remove the folder of a VM, of which all is joined and nothing is left in Azure."""
    shutil.rmtree(own)
    _remove_if_empty(own.parents[1])


def events(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What happened on the VMs since their journals were joined, with the name of each."""
    for own in there(folder):
        yield from ((own.name, event) for event in Journal(own).events() if event["event"] in _OF_RUNS)


def _move(source: Path, target: Path) -> None:
    """Rename; of a folder that is there already, what is in it."""
    if not target.exists() and source.exists():
        make_folder(target.parent)
        source.rename(target)
        flush(target.parent)
    elif source.is_dir():
        for path in [*source.iterdir()]:
            _move(path, target / path.name)


def _take_journal(folder: Path, own: Path) -> None:
    whole = Journal(folder)
    kept, known = whole.kept(), {json.dumps(event) for event in whole.events()}
    for event in Journal(own).events():
        is_old = event["event"] == JournalEvent.KEPT and kept.get(event.get("run", "")) == event.get("files")
        if event["event"] in _OF_RUNS and not is_old and json.dumps(event) not in known:
            whole.add(**event)
    (own / JOURNAL_FILE).unlink(missing_ok=True)


def _take_log(folder: Path, own: Path) -> None:
    if (own / AZ_LOG).is_file():
        append(folder / AZ_LOG, (own / AZ_LOG).read_text(encoding="utf-8"))
        (own / AZ_LOG).unlink()


def _take_plan(folder: Path, own: Path, todo: CloudPlan) -> None:
    found = plan.load(own, CloudPlan)
    if found:
        todo.facts |= found.facts
        todo.versions |= found.versions
        todo.chosen |= found.chosen
        todo.windows |= found.windows
        told = [note if note.startswith("Setup ") else f"Setup {own.name}: {note}" for note in found.notes]
        todo.notes += [note for note in told if note not in todo.notes]
        plan.save(folder, todo)
    if found and found.groups:
        (own / manifest.MANIFEST_FILE).unlink(missing_ok=True)  # it has no outputs now
    else:
        shutil.rmtree(own)


def _remove_if_empty(folder: Path) -> None:
    if (folder / VMS).is_dir() and not there(folder):
        shutil.rmtree(folder / VMS)
