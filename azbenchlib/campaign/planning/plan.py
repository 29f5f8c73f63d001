"""The plan of a dataset folder: written before the first workload, so that a run can be taken up again."""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core import privacy
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import flush, leads_out, read_bounded, remove_abandoned, write_atomically
from azbenchlib.core.units import MIB
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest

PLAN_FILE = "plan.json"
_LARGEST = 16 * MIB


class StoredPlan(BaseModel, ABC):
    """What is measured into a folder; by it an interrupted run is taken up."""

    model_config = ConfigDict(extra="forbid")

    notes: list[str] = Field(default_factory=list)  # what a reader must know before trusting a figure

    @property
    @abstractmethod
    def brief(self) -> str:
        """In a few words."""

    @abstractmethod
    def same_as(self, other: Self) -> bool:
        """Whether results of both may stand in one dataset."""

    def only(self, names: Container[str]) -> Self:
        """The same with the workloads of these names alone, for a manifest of what was measured."""
        return self

    def taken_up(self, asked: Self) -> Self:
        """The plan of an earlier run, with what `asked` knows and a stored plan does not tell."""
        return self


AnyPlan = TypeVar("AnyPlan", bound=StoredPlan)


def load(folder: Path, kind: type[AnyPlan]) -> AnyPlan | None:
    """The plan of a folder; None where there is none.

    Raises an InputError when the file is there and is no plan of this kind.
    """
    path = folder / PLAN_FILE
    try:
        return kind.model_validate_json(read_bounded(path, folder, _LARGEST))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is not a plan of this kind of measurement; name another folder for the dataset"
        ) from error


def save(folder: Path, plan: StoredPlan) -> None:
    """Write the plan, whole or not at all; its notes do not tell who measured where."""
    told = plan.model_copy(update={"notes": privacy.everywhere(privacy.masked, plan.notes)})
    write_atomically(folder / PLAN_FILE, told.model_dump_json(indent=1).encode() + b"\n")


def workspace(dataset: Path, plan: AnyPlan, fresh: bool) -> tuple[Path, AnyPlan, bool]:
    """The folder to measure into, the plan that holds there, and whether an earlier run is taken up.

    Raises an InputError when the folder holds something else than a run of this plan.
    """
    found = load(dataset, type(plan))
    if not fresh:
        if found and plan.same_as(found):
            _check_own(dataset)
            return dataset, found.taken_up(plan), True
        remove_abandoned(dataset / PLAN_FILE)  # of a run that was killed while it wrote its first plan
        if _occupied(dataset):
            what = f"measurements of another plan ({found.brief})" if found else "other files"
            way = "or pass fresh=True to replace it" if found else "or an empty one"
            raise InputError(f"{dataset}: holds {what}; name another folder, {way}")
        return dataset, plan, False
    if _occupied(dataset) and not found:
        raise InputError(f"{dataset}: is not a folder of measurements, so it is not replaced; name another")
    new = beside(dataset)
    begun = load(new, type(plan))
    if begun and plan.same_as(begun):
        _check_own(new)
        return new, begun.taken_up(plan), True
    shutil.rmtree(new, ignore_errors=True)
    return new, plan, False


def _check_own(folder: Path) -> None:
    """Refuse to go on in a folder of which a part lies elsewhere: what is measured would be written there."""
    for place, folders, _ in os.walk(folder):
        for path in (Path(place) / name for name in folders):
            if path.is_symlink() and leads_out(path, folder):
                raise InputError(f"{path}: is a link that leads out of the dataset; remove it to go on")


def beside(dataset: Path) -> Path:
    """Where a dataset is measured anew, until it takes the place of the old one."""
    return dataset.with_name(f".{dataset.name}.fresh")


def complete(
    folder: Path,
    dataset: Path,
    measure: Callable[[], Manifest],
    say: Callable[[str], None],
    whole: bool = True,
) -> Path:
    """Measure into the folder of a plan unless that is done, make a dataset of it, and put it in its place.

    `folder` is as :func:`workspace` gave it, and `dataset` where it belongs, which is returned. `measure`
    measures what is still to be measured, and gives the manifest; `say` is told where there is nothing to do.
    `whole`: whether nothing is missing that the plan asks for, where there is a manifest.
    """
    if (folder / manifest.MANIFEST_FILE).is_file() and whole:
        say("already measured; fresh=True measures anew")
    else:
        manifest.save(folder, measure().masked())
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
    flush(dataset.parent)
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
