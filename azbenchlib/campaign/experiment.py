"""One way to measure, whatever the target: a measurement file or a grid of workloads in, a dataset out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.campaign import measurement_file, runner
from azbenchlib.campaign.cloud import run_azure
from azbenchlib.campaign.kinds import AnyWorkload
from azbenchlib.campaign.lab import LONGEST_S, run_lab
from azbenchlib.campaign.lab_setup import emulated
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.workloads import matrix, table
from azbenchlib.errors import InputError
from azbenchlib.places import shipped
from azbenchlib.units import MIB

DEFAULT = "emulated-disks.yaml"  # of campaigns/: what is emulated where no file is named
TARGETS = ("lab", "local", "azure")
QUICK_S, QUICK_BYTES = 3, 256 * MIB  # of a rehearsal: long enough to see that all works


@dataclass(frozen=True)
class Todo:
    """What is to be measured: workloads, and the Azure setups to run them in where a file tells."""

    workloads: Sequence[AnyWorkload]
    experiment: Experiment | None = None

    def table(self) -> pd.DataFrame:
        """One row a workload, or one a setup and workload where a file tells setups."""
        if self.experiment is None:
            return table(self.workloads)
        parts = [
            table([task.workload for task in setup.tasks]).assign(
                setup=setup.name, vm=setup.vm, disks=[", ".join(setup.driven(task)) for task in setup.tasks]
            )
            for setup in self.experiment.setups
        ]
        whole = pd.concat(parts, ignore_index=True)
        front = ["setup", "vm", "disks"]
        return whole[[*front, *whole.columns.difference(front, sort=False)]]


def todo(file: Path | str, *, target: str = "local", quick: bool = False, **grid: Any) -> Todo:
    """A measurement file, or where none is named what there is to begin with on the target.

    Parameters
    ----------
    file : path-like
        Empty: the disks that azbench emulates by default, or for this machine the grid.
    target : {"lab", "local", "azure"}
        As for :func:`run`.
    quick : bool
        Whether to rehearse the file.
    **grid
        For :func:`~azbenchlib.campaign.matrix`.
    """
    if not str(file) and target == "lab":
        file = next(home / DEFAULT for home in shipped("campaigns") if (home / DEFAULT).is_file())
    return load(file, quick) if str(file) else Todo(matrix(**grid))


def load(file: Path | str, quick: bool = False) -> Todo:
    """A measurement file; `quick`: a rehearsal of a few seconds a workload on little data.

    Raises
    ------
    InputError
        Naming the file, the key and what is wrong with its value.
    """
    found = measurement_file.load(file)
    short = found.shortened(QUICK_S, QUICK_BYTES) if quick else found
    return Todo(short.workloads(), short)


def run(
    todo: Todo,
    dataset: Path | str,
    *,
    target: str = "local",
    directory: Path | str | None = None,
    title: str = "",
    progress: Progress = quiet,
    allow_unsafe: str = "",
    longest_s: float = LONGEST_S,
    fresh: bool = False,
) -> Path:
    """Measure into a dataset folder.

    Parameters
    ----------
    todo : Todo
        From :func:`todo` or :func:`load`.
    dataset : path-like
        The folder to write.
    target : {"lab", "local", "azure"}
        Emulated disks; this machine, where setups are left aside and each workload runs once; or Azure.
    directory, allow_unsafe
        As for :func:`~azbenchlib.campaign.run_local`.
    longest_s : float
        As for :func:`~azbenchlib.campaign.run_lab`.
    title : str
        Of the dataset; empty: the measurement file's.
    progress, fresh
        As for :func:`~azbenchlib.campaign.run_lab`.

    Returns
    -------
    Path
        The dataset folder.

    Raises
    ------
    InputError
        When the target is unknown, or another than this machine is asked for without a measurement file.
    AzbenchError
        As the three functions do.
    """
    named = title or (todo.experiment.title if todo.experiment else "Measured on this machine")
    if target == "local":
        return runner.run_local(
            directory,
            dataset,
            todo.workloads,
            title=named,
            progress=progress,
            allow_unsafe=allow_unsafe,
            fresh=fresh,
        )
    if target not in TARGETS:
        raise InputError(f"target '{target}' is unknown; the choices are: {', '.join(TARGETS)}")
    if todo.experiment is None:
        raise InputError(
            f"the target {target} needs a measurement file, which says what VM and disks there are; "
            "campaigns/ has some to begin with"
        )
    experiment = todo.experiment.model_copy(update={"title": named})
    if target == "lab":
        return run_lab(
            emulated(experiment),
            dataset,
            title=named,
            about=experiment.about,
            longest_s=longest_s,
            progress=progress,
            fresh=fresh,
        )
    return run_azure(experiment, dataset, progress=progress, fresh=fresh)
