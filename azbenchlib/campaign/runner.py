"""Measure one workload after the other, keep every raw output, and write the manifest."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azbenchlib import manifest
from azbenchlib.campaign import detect, outputs, plan, safety
from azbenchlib.campaign import fio as tool
from azbenchlib.campaign.arguments import fio_arguments, layout_arguments
from azbenchlib.campaign.jobfile import JobFile
from azbenchlib.campaign.plan import Plan
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets import local
from azbenchlib.campaign.workloads import LAYOUT, Workload, check_names
from azbenchlib.dataset import Dataset
from azbenchlib.errors import AzbenchError, UnsafeTargetError
from azbenchlib.manifest import Command, Manifest
from azbenchlib.units import format_count, format_size

SPARE_S = 10  # how much longer than its run time a fio may last that was left behind


def run_local(
    directory: Path | str | None,
    dataset: Path | str,
    workloads: Sequence[Workload | JobFile],
    *,
    title: str = "Measured on this machine",
    progress: Progress = quiet,
    allow_unsafe: str = "",
    fresh: bool = False,
) -> Path:
    """Measure on this machine into a dataset folder.

    A run that was interrupted is taken up where it stopped when it is called again with the same plan;
    one that is finished is returned as it is.

    Parameters
    ----------
    directory : path-like or None
        An existing directory, in which one file is made, shared by all workloads and removed at the end;
        or a block device, whose content is overwritten. None or empty: the folder that holds `dataset`.
    dataset : path-like
        The folder to write: ``manifest.json``, ``plan.json``, ``raw/`` and ``tables/``.
    workloads : sequence of Workload or JobFile
        Run in this order, never at the same time.
    title : str
        Title of the dataset.
    progress : callable
        Called with the number of workloads done, of all, and a line of text.
    allow_unsafe : str
        The words that permit a target which would be refused; the refusal names them.
    fresh : bool
        Measure anew beside an earlier dataset of this name and put the result in its place.

    Returns
    -------
    Path
        The dataset folder.

    Raises
    ------
    InputError
        When the folder holds something else, or a workload cannot be run.
    UnsafeTargetError
        When the target could lose data or run out of space.
    MissingToolError
        When fio is not there.
    AzbenchError
        When fio fails; what it left is kept below ``failed/``.
    """
    check_names(workloads)
    fio = tool.find()
    dataset = Path(dataset).absolute()
    if not directory:
        dataset.parent.mkdir(parents=True, exist_ok=True)
    target = Path(directory or dataset.parent).resolve()
    safety.check_target(target, 0, allow_unsafe)
    folder, todo, resumed = plan.workspace(dataset, plan.make(target, workloads, fio), fresh)
    run = _Run(folder, todo, fio, progress, allow_unsafe == safety.words_for_device(target, in_use=True))
    if resumed and (folder / manifest.FILE).is_file():
        run.tell(len(todo.workloads), "already measured; fresh=True measures anew")
    else:
        _check_space(todo, resumed, allow_unsafe)
        plan.save(folder, todo)
        _measure_all(run)
        manifest.save(folder, _manifest(dataset.name, title, run))
        Dataset.load(folder).save(folder)
    if folder != dataset:
        plan.swap(folder, dataset)
    return dataset


@dataclass(frozen=True)
class _Run:
    """A measurement under way."""

    folder: Path
    plan: Plan
    fio: tool.Fio
    progress: Progress
    over_mounted: bool  # whether the words for overwriting a device in use were given

    @property
    def raw(self) -> Path:
        return self.folder / manifest.RAW

    def tell(self, done: int, text: str) -> None:
        self.progress(done, len(self.plan.workloads), text)

    def layout(self) -> list[str]:
        """The command that writes the shared data, with the first workload's way of doing I/O."""
        first = next(work for work in self.plan.workloads if isinstance(work, Workload))
        data = local.data_path(self.plan.target)
        argv = layout_arguments(data, self.plan.size_bytes, first.ioengine, first.direct)
        return argv + self._mounted()

    def command(self, workload: Workload | JobFile) -> list[str]:
        """The command of a workload; fio is started in the folder that its outputs go to."""
        if isinstance(workload, JobFile):
            return workload.arguments(f"{workload.name}.fio", f"{workload.name}.json")
        return fio_arguments(workload, local.data_path(self.plan.target), Path()) + self._mounted()

    def _mounted(self) -> list[str]:
        return ["--allow_mounted_write=1"] if self.over_mounted else []


def _check_space(todo: Plan, resumed: bool, allow_unsafe: str) -> None:
    """Refuse a data file that is not ours, and a target without room for what is still to be written."""
    data = local.data_path(todo.target)
    ours = 0
    if data != todo.target and data.exists():
        if not resumed:
            raise UnsafeTargetError(
                f"{data}: exists and does not belong to this run; another measurement is using it or was cut "
                "short, so take that up again, or remove the file when none is running"
            )
        ours = data.stat().st_size
    safety.check_target(todo.target, max(0, todo.size_bytes - ours) + todo.jobs_bytes, allow_unsafe)


def _measure_all(run: _Run) -> None:
    """Every workload that has no whole output yet, in order."""
    run.raw.mkdir(parents=True, exist_ok=True)
    longest = max(workload.lasts_s for workload in run.plan.workloads)
    with local.held(run.plan.target, run.plan.size_bytes, longest + SPARE_S) as lock:
        try:
            laid_out = False
            for done, workload in enumerate(run.plan.workloads):
                iops = outputs.iops(run.raw / f"{workload.name}.json")
                if iops is None:
                    if not laid_out and isinstance(workload, Workload):
                        run.tell(done, f"writing {format_size(run.plan.size_bytes)} of data …")
                        shutil.rmtree(_finished(run, LAYOUT, run.layout(), lock))
                        laid_out = True
                    run.tell(done, f"{workload.title} …")
                    iops = _measure(run, workload, lock)
                run.tell(done + 1, f"{workload.title}: {format_count(round(iops))} IOPS")
        finally:
            for part in run.raw.glob(".part-*"):
                shutil.rmtree(part, ignore_errors=True)


def _measure(run: _Run, workload: Workload | JobFile, lock: int) -> float:
    """Run one workload and keep its output."""
    part = _finished(run, workload.name, run.command(workload), lock, workload)
    output = f"{workload.name}.json"
    found = outputs.iops(part / output) or 0.0
    outputs.keep(part, run.raw, output)
    return found


def _finished(
    run: _Run, name: str, argv: list[str], lock: int, workload: Workload | JobFile | None = None
) -> Path:
    """The folder with the output of a fio that did what it should.

    Raises
    ------
    AzbenchError
        When fio failed, or ended well without any I/O, as it does before a mounted device.
    """
    part = run.raw / f".part-{name}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    if isinstance(workload, JobFile):
        status, text = _run_job_file(run, workload, part, lock)
    else:
        status, text = tool.run(argv, run.fio, part, lock)
    if status or outputs.iops(part / f"{name}.json") is None:
        (part / f"{name}.txt").write_text(text)
        kept = outputs.keep_failed(part, run.folder, name)
        said = next((line for line in reversed(text.splitlines()) if line.strip()), "it did no I/O")
        fault = f"workload {name}: fio ended with status {status}: {said.strip()}"
        run.plan.notes.append(f"{plan.now()}: {fault}; it was run again.")
        plan.save(run.folder, run.plan)
        raise AzbenchError(f"{fault}; what it left is in {kept}")
    return part


def _run_job_file(run: _Run, workload: JobFile, part: Path, lock: int) -> tuple[int, str]:
    """Run a job file, whose data lies in a folder of its own meanwhile."""
    job = part / f"{workload.name}.fio"
    job.write_text(workload.text)
    data = run.plan.target / local.JOBS_FOLDER
    data.mkdir(exist_ok=True)
    try:
        argv = workload.arguments(str(job), str(part / f"{workload.name}.json"))
        return tool.run(argv, run.fio, data, lock)
    finally:
        shutil.rmtree(data, ignore_errors=True)


def _manifest(name: str, title: str, run: _Run) -> Manifest:
    todo = run.plan
    device = todo.target.is_block_device()
    where = "a block device" if device else "one file in a directory, removed at the end"
    commands = [Command(title="Write the data", text=shlex.join(run.layout()))] if todo.size_bytes else []
    commands += [
        Command(title=workload.title, text=shlex.join(run.command(workload))) for workload in todo.workloads
    ]
    return Manifest(
        name=name,
        title=title,
        about=f"Workloads with fio, one after the other: {len(todo.workloads)}. Target: {where}. "
        f"Data: {format_size(max(todo.size_bytes, todo.jobs_bytes))}.",
        measured=plan.day(todo.started),
        setups=[detect.describe(todo.target)],
        commands=commands,
        tools={"fio": todo.fio},
        notes=todo.notes,
    )
