"""One way to measure, whatever the target: a measurement file or a grid of workloads in, a dataset out."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.campaign.design import blocks
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.run_loop import IN_TURN, measure
from azbenchlib.campaign.targets.azure.existing import VM_ID_VARIABLE, ExistingVmTarget
from azbenchlib.campaign.targets.azure.side_by_side.target import OfVms, VmsTarget, parts
from azbenchlib.campaign.targets.azure.target import AzureTarget
from azbenchlib.campaign.targets.base import Request, Target
from azbenchlib.campaign.targets.hosts.target import HostTarget
from azbenchlib.campaign.targets.hosts.together import HostsTarget
from azbenchlib.campaign.targets.lab.target import LONGEST_S, LabTarget
from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.campaign.workloads.grid import matrix, table
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import targets
from azbenchlib.core.errors import InputError
from azbenchlib.core.locations import shipped
from azbenchlib.core.units import MIB, S_PER_HOUR, format_span

DEFAULT = "emulated-disks.yaml"  # of campaigns/: what is emulated where no file is named
TARGETS: dict[str, type[Target[Any, Any]]] = {
    "lab": LabTarget,
    "local": LocalTarget,
    "azure": AzureTarget,
    **dict.fromkeys(targets.HOSTS, HostTarget),
}
# Set to 1: job files are one's own and may use every option of fio. No parameter of a notebook says so, for
# those come with files and datasets of others.
TRUST_JOB_FILES = "AZBENCH_TRUST_JOB_FILES"
QUICK_S, QUICK_BYTES = 3, 256 * MIB  # of a rehearsal: long enough to see that all works


@dataclass(frozen=True)
class Todo:
    """What is to be measured: workloads, and the Azure setups to run them in where a file tells."""

    workloads: Sequence[AnyWorkload]
    experiment: Experiment | None = None
    file: Path | None = None

    def vms_at_once(self, asked: int) -> int:
        """How many VMs are measured at a time in Azure: as many as are asked for; 0: as the file says."""
        if self.experiment is None:
            return 1
        return min(asked or self.experiment.at_once, len(parts(self.experiment)))

    def check_hours(self, at_once: int, max_hours: float) -> None:
        """Refuse a file whose own limit of time is below what it asks to be measured.

        `at_once`, `max_hours`: as for :func:`run`. A limit that is asked for counts instead of that of the
        file; it is checked by what the target takes.

        Raises an InputError with the file, the line and what would suffice.
        """
        if self.experiment is None or self.file is None or max_hours or not self.experiment.max_hours:
            return
        most, least = self.experiment.max_hours, self.experiment.seconds() / self.vms_at_once(at_once)
        if least > most * S_PER_HOUR:
            line = measurement_file.line_of(self.file, ("max_hours",))
            raise InputError(
                f"{line}max_hours {most:g}: the runs and rests alone last {format_span(least)}; allow at "
                f"least {least / S_PER_HOUR:.2g}, or measure less"
            )

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


def _target(name: str, at_once: int) -> type[Target[Any, Any]]:
    """The class of a target; several hosts, or several VMs at a time, are one of their own."""
    if at_once > 1:
        return VmsTarget
    several = targets.kind_of(name) in targets.HOSTS and len(targets.host_addresses(name)) > 1
    return HostsTarget if several else TARGETS[targets.kind_of(name)]


def todo(
    file: Path | str, *, target: str = "local", quick: bool = False, repeats: int = 0, **grid: Any
) -> Todo:
    """A measurement file, or where none is named what there is to begin with on the target.

    Parameters
    ----------
    file : path-like
        Empty: the disks that azbench emulates by default, or for this machine the grid.
    target : {"lab", "local", "azure"}
        As for :func:`run`.
    quick : bool
        Whether to rehearse the file.
    repeats : int
        How often each workload of the file is measured; 0: as the file says.
    **grid
        For :func:`~azbenchlib.campaign.matrix`.

    Notes
    -----
    Where the environment variable ``AZBENCH_TRUST_JOB_FILES`` is 1, job files may use every option of fio.
    """
    if not str(file) and target == "lab":
        file = next(home / DEFAULT for home in shipped("campaigns") if (home / DEFAULT).is_file())
    trusted = os.environ.get(TRUST_JOB_FILES) == "1"
    return load(file, quick, trusted, repeats) if str(file) else Todo(matrix(**grid))


def load(file: Path | str, quick: bool = False, trust_job_files: bool = False, repeats: int = 0) -> Todo:
    """A measurement file; `quick`: a rehearsal of a few seconds a workload on little data.

    `trust_job_files`, `repeats`: as for :func:`azbenchlib.campaign.files.measurement_file.load`.

    Raises
    ------
    InputError
        Naming the file, the key and what is wrong with its value.
    """
    rehearsal = (QUICK_S, QUICK_BYTES) if quick else None
    path = measurement_file.find(file)
    found = measurement_file.load(path, trust_job_files, repeats, rehearsal)
    return Todo(found.workloads(), found, path)


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
    max_cost: float = 0.0,
    max_hours: float = 0.0,
    show_identity: bool = False,
    results_group: bool = False,
    at_once: int = 0,
) -> Path:
    """Measure into a dataset folder.

    Parameters
    ----------
    todo : Todo
        From :func:`todo` or :func:`load`.
    dataset : path-like
        The folder to write.
    target : {"lab", "local", "azure", "ssh:USER@HOST", "exec:COMMAND"}
        Emulated disks; this machine, or a host that ssh or a command reaches, where setups are left aside
        (but one for the VM of a pod); or Azure.
    directory, allow_unsafe
        As for :class:`~azbenchlib.campaign.LocalTarget`.
    longest_s : float
        As for :class:`~azbenchlib.campaign.LabTarget`.
    title : str
        Of the dataset; empty: the measurement file's.
    max_cost, max_hours : float
        In Azure: what a run may cost, in the currency of its prices; and how long it may last. It is not
        begun where it would take more, and ends, with all it made deleted, when it has; elsewhere, the runs
        for which no time is left are left out, and a cost is refused. 0: as the measurement file says, or no
        limit.
    show_identity : bool
        In Azure: whether the dataset, and so a report of it, tells the subscription, the tenant and the user.
    results_group : bool
        On a VM of Azure that is there already: whether the results may come through a storage account, in a
        resource group that is made for it and deleted at the end.
    at_once : int
        In Azure: how many VMs of the measurement file are measured at a time, each with disks of its own.
        0: as the measurement file says, or one after the other.
    progress, fresh
        As for :func:`~azbenchlib.campaign.measure`.

    Returns
    -------
    Path
        The dataset folder.

    Raises
    ------
    InputError
        When the target is unknown, another than this machine is asked for without a measurement file, or a
        cost is limited where no price is known.
    AzbenchError
        As :func:`~azbenchlib.campaign.measure` does.
    """
    targets.check_target_name(target)
    targets.check_cost_limit(target, max_cost)  # one in the file is for Azure, wherever the file is measured
    planned = todo.experiment
    vm_id = os.environ.get(VM_ID_VARIABLE, "") if target == "azure" else ""
    targets.check_at_once(target, at_once, vm_id)
    todo.check_hours(at_once, max_hours)
    at_once = todo.vms_at_once(at_once) if target == "azure" and not vm_id else 1
    max_hours = max_hours or (planned.max_hours if planned else 0)
    max_cost = max_cost or (planned.max_cost if planned else 0)
    request = Request(
        workloads=todo.workloads,
        experiment=todo.experiment,
        title=title or (todo.experiment.title if todo.experiment else "Measured on this machine"),
        directory=directory,
        allow_unsafe=allow_unsafe,
        longest_s=longest_s,
        max_cost=max_cost,
        max_hours=max_hours,
        address=target,
        show_identity=show_identity,
        results_group=results_group,
        at_once=at_once,
    )
    chosen = ExistingVmTarget.of(request, vm_id) if vm_id else _target(target, at_once).of(request)
    design = blocks.described(todo.experiment) if todo.experiment else ""
    try:
        return measure(
            chosen,
            dataset,
            progress=progress,
            fresh=fresh,
            design=design,
            stopping=Stopping.of(todo.experiment),
            max_hours=max_hours,
            order=OfVms() if at_once > 1 else IN_TURN,
        )
    except InputError as error:
        if not (todo.file and error.keys):
            raise
        raise InputError(f"{measurement_file.line_of(todo.file, error.keys)}{error}") from error
