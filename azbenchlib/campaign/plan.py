"""The plan of a dataset folder: written before the first workload, so that a run can be taken up again."""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from azbenchlib import manifest
from azbenchlib.campaign import machine
from azbenchlib.campaign.fio import Fio
from azbenchlib.campaign.kinds import AnyWorkload
from azbenchlib.campaign.targets import local
from azbenchlib.dataset import Dataset
from azbenchlib.errors import InputError
from azbenchlib.manifest import Manifest

FILE = "plan.json"


class StoredPlan(BaseModel, ABC):
    """What is measured into a folder; by it an interrupted run is taken up."""

    model_config = ConfigDict(extra="forbid")

    @property
    @abstractmethod
    def brief(self) -> str:
        """In a few words."""

    @abstractmethod
    def same_as(self, other: Self) -> bool:
        """Whether results of both may stand in one dataset."""


class Plan(StoredPlan):
    """What is measured on this machine, with what, and what has to be said about it."""

    target: Path
    fio: str
    workloads: list[AnyWorkload]
    started: str
    notes: list[str]
    iozone: str = ""

    @property
    def size_bytes(self) -> int:
        """How much data the workloads share: what the largest touches; some make their own."""
        return max((work.shared_bytes for work in self.workloads), default=0)

    @property
    def jobs_bytes(self) -> int:
        """How much data a workload makes of its own at most."""
        return max((work.own_bytes for work in self.workloads), default=0)

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        mine, its = ((plan.target, plan.fio, plan.iozone, plan.workloads) for plan in (self, other))
        return mine == its

    @property
    def brief(self) -> str:
        """In a few words."""
        count = len(self.workloads)
        return f"{count} workload{'s' if count != 1 else ''} on {self.target} with {self.fio}"


AnyPlan = TypeVar("AnyPlan", bound=StoredPlan)


def make(target: Path, workloads: Sequence[AnyWorkload], fio: Fio, iozone: str = "") -> Plan:
    """The workloads as they can run here, with a note for each thing that had to be changed."""
    direct, device = local.direct_works(target), target.is_block_device()
    notes = []
    resolved: list[AnyWorkload] = []
    for asked in workloads:
        work, changed = asked.here(fio.engine, direct)
        resolved.append(work.fits(str(target) if device else ".", device))
        notes += changed
    if not device and machine.mount_of(target).fstype in machine.MEMORY_FILE_SYSTEMS:
        notes.append("The directory lies in memory: the figures are not those of a disk.")
    return Plan(
        target=target,
        fio=fio.version,
        workloads=resolved,
        started=now(),
        notes=list(dict.fromkeys(notes)),
        iozone=iozone,
    )


def load(folder: Path, kind: type[AnyPlan]) -> AnyPlan | None:
    """The plan of a folder; None where there is none.

    Raises
    ------
    InputError
        When the file is there and is no plan of this kind.
    """
    path = folder / FILE
    try:
        return kind.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(
            f"{path}: is not a plan of this kind of measurement; name another folder for the dataset"
        ) from error


def save(folder: Path, plan: StoredPlan) -> None:
    """Write the plan; whole or not at all."""
    manifest.write_atomically(folder / FILE, plan.model_dump_json(indent=1).encode() + b"\n")


def workspace(dataset: Path, plan: AnyPlan, fresh: bool) -> tuple[Path, AnyPlan, bool]:
    """The folder to measure into, the plan that holds there, and whether an earlier run is taken up.

    Raises
    ------
    InputError
        When the folder holds something else than a run of this plan.
    """
    found = load(dataset, type(plan))
    if not fresh:
        if found and plan.same_as(found):
            return dataset, found, True
        if _occupied(dataset):
            what = f"measurements of another plan ({found.brief})" if found else "other files"
            way = "or pass fresh=True to replace it" if found else "or an empty one"
            raise InputError(f"{dataset}: holds {what}; name another folder, {way}")
        return dataset, plan, False
    if _occupied(dataset) and not found:
        raise InputError(f"{dataset}: is not a folder of measurements, so it is not replaced; name another")
    beside = dataset.with_name(f".{dataset.name}.fresh")
    begun = load(beside, type(plan))
    if begun and plan.same_as(begun):
        return beside, begun, True
    shutil.rmtree(beside, ignore_errors=True)
    return beside, plan, False


def complete(
    folder: Path, dataset: Path, measure: Callable[[], Manifest], say: Callable[[str], None]
) -> Path:
    """Measure into the folder of a plan unless that is done, make a dataset of it, and put it in its place.

    Parameters
    ----------
    folder : Path
        As :func:`workspace` gave it.
    dataset : Path
        Where it belongs.
    measure : callable
        Measures what is still to be measured; gives the manifest.
    say : callable
        Is told where there is nothing to do.

    Returns
    -------
    Path
        `dataset`.
    """
    if (folder / manifest.FILE).is_file():
        say("already measured; fresh=True measures anew")
    else:
        manifest.save(folder, measure())
        Dataset.load(folder).save(folder)
    if folder != dataset:
        swap(folder, dataset)
    return dataset


def swap(beside: Path, dataset: Path) -> None:
    """Put the new folder in the place of the old one."""
    old = dataset.with_name(f".{dataset.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if dataset.exists():
        dataset.rename(old)
    beside.rename(dataset)
    shutil.rmtree(old, ignore_errors=True)


def now() -> str:
    """The present moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def day(moment: str) -> str:
    """The day of an ISO 8601 moment in words: ``20 November 2026``."""
    when = datetime.fromisoformat(moment)
    return f"{when.day} {when:%B %Y}"


def _occupied(path: Path) -> bool:
    return path.exists() and (not path.is_dir() or any(path.iterdir()))
