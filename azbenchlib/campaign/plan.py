"""The plan of a dataset folder: written before the first workload, so that a run can be taken up again."""

import dataclasses
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from azbenchlib import manifest
from azbenchlib.campaign import machine
from azbenchlib.campaign.fio import Fio
from azbenchlib.campaign.targets import local
from azbenchlib.campaign.workloads import Workload
from azbenchlib.errors import InputError

FILE = "plan.json"


class Plan(BaseModel):
    """What is measured into a folder, with what, and what has to be said about it."""

    model_config = ConfigDict(extra="forbid")

    target: Path
    fio: str
    workloads: list[Workload]
    started: str
    notes: list[str]

    @property
    def size_bytes(self) -> int:
        """How much data the workloads touch at most."""
        return max(workload.size_bytes for workload in self.workloads)

    def same_as(self, other: "Plan") -> bool:
        """Whether results of both may stand in one dataset."""
        return (self.target, self.fio, self.workloads) == (other.target, other.fio, other.workloads)


def make(target: Path, workloads: Sequence[Workload], fio: Fio) -> Plan:
    """The workloads as they can run here, with a note for each thing that had to be changed."""
    direct = local.direct_works(target)
    notes = []
    resolved = []
    for asked in workloads:
        engine = fio.engine(asked.ioengine)
        resolved.append(dataclasses.replace(asked, ioengine=engine, direct=asked.direct and direct))
        if engine != asked.ioengine:
            notes.append(f"This fio has no {asked.ioengine}: {engine} was used.")
        if asked.direct and not direct:
            notes.append(
                "The file system refuses O_DIRECT: the page cache was used, so figures may be of memory."
            )
    if not target.is_block_device() and machine.mount_of(target).fstype in machine.MEMORY_FILE_SYSTEMS:
        notes.append("The directory lies in memory: the figures are not those of a disk.")
    return Plan(
        target=target,
        fio=fio.version,
        workloads=resolved,
        started=now(),
        notes=list(dict.fromkeys(notes)),
    )


def load(folder: Path) -> Plan | None:
    """The plan of a folder; None where there is none.

    Raises
    ------
    InputError
        When the file is there and is no plan.
    """
    path = folder / FILE
    try:
        return Plan.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise InputError(f"{path}: is not a plan; name another folder for the dataset") from error


def save(folder: Path, plan: Plan) -> None:
    """Write the plan; whole or not at all."""
    manifest.write_atomically(folder / FILE, plan.model_dump_json(indent=1).encode() + b"\n")


def workspace(dataset: Path, plan: Plan, fresh: bool) -> tuple[Path, Plan, bool]:
    """The folder to measure into, the plan that holds there, and whether an earlier run is taken up.

    Raises
    ------
    InputError
        When the folder holds something else than a run of this plan.
    """
    found = load(dataset)
    if not fresh:
        if found and plan.same_as(found):
            return dataset, found, True
        if _occupied(dataset):
            what = f"measurements of another plan ({_brief(found)})" if found else "other files"
            way = "or pass fresh=True to replace it" if found else "or an empty one"
            raise InputError(f"{dataset}: holds {what}; name another folder, {way}")
        return dataset, plan, False
    if _occupied(dataset) and not found:
        raise InputError(f"{dataset}: is not a folder of measurements, so it is not replaced; name another")
    beside = dataset.with_name(f".{dataset.name}.fresh")
    begun = load(beside)
    if begun and plan.same_as(begun):
        return beside, begun, True
    shutil.rmtree(beside, ignore_errors=True)
    return beside, plan, False


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


def _brief(plan: Plan) -> str:
    count = len(plan.workloads)
    return f"{count} workload{'s' if count != 1 else ''} on {plan.target} with {plan.fio}"
