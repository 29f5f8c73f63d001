"""Measure one workload after the other, keep every raw output, and write the manifest."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath

from azbenchlib import manifest
from azbenchlib.campaign import detect, iozone, outputs, plan, safety
from azbenchlib.campaign import fio as tool
from azbenchlib.campaign.arguments import LAYOUT
from azbenchlib.campaign.kinds import AnyWorkload
from azbenchlib.campaign.plan import Plan
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets import local
from azbenchlib.campaign.work import Work
from azbenchlib.campaign.workloads import check_names
from azbenchlib.errors import AzbenchError, UnsafeTargetError
from azbenchlib.manifest import Command, Manifest
from azbenchlib.units import format_size

SPARE_S = 10  # how much longer than its run time a fio may last that was left behind


def run_local(
    directory: Path | str | None,
    dataset: Path | str,
    workloads: Sequence[AnyWorkload],
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
    workloads : sequence of Workload, JobFile or Iozone
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
        When fio is not there, or iozone where a workload needs it.
    AzbenchError
        When the tool fails; what it left is kept below ``failed/``.
    """
    check_names(workloads)
    fio = tool.find()
    other = iozone.find() if any(work.tool == "iozone" for work in workloads) else None
    dataset = Path(dataset).absolute()
    if not directory:
        dataset.parent.mkdir(parents=True, exist_ok=True)
    target = Path(directory or dataset.parent).resolve()
    safety.check_target(target, 0, allow_unsafe)
    asked = plan.make(target, workloads, fio, other.version if other else "")
    folder, todo, resumed = plan.workspace(dataset, asked, fresh)
    programs: dict[str, tool.Program] = {"fio": fio} | ({"iozone": other} if other else {})
    over_mounted = allow_unsafe == safety.words_for_device(target, in_use=True)
    run = _Run(folder, todo, programs, progress, over_mounted)

    def measure() -> Manifest:
        _check_space(todo, resumed, allow_unsafe)
        plan.save(folder, todo)
        _measure_all(run)
        return _manifest(dataset.name, title, run)

    return plan.complete(folder, dataset, measure, partial(run.tell, len(todo.workloads)))


@dataclass(frozen=True)
class _Run:
    """A measurement under way."""

    folder: Path
    plan: Plan
    programs: dict[str, tool.Program]  # by tool
    progress: Progress
    over_mounted: bool  # whether the words for overwriting a device in use were given

    @property
    def raw(self) -> Path:
        return self.folder / manifest.RAW

    def tell(self, done: int, text: str) -> None:
        self.progress(done, len(self.plan.workloads), text)

    def layout(self) -> list[str]:
        """The command that writes the shared data, with the first workload's way of doing I/O."""
        first = next(work for work in self.plan.workloads if not work.apart)
        return self.commands(first)[0]

    def commands(self, workload: Work) -> list[list[str]]:
        """The commands of a workload, the one that measures last."""
        if workload.apart:
            return workload.commands(self.plan.target / local.JOBS_FOLDER, PurePath(), 0)
        data = local.data_path(self.plan.target)
        made = workload.commands(data, PurePath(), self.plan.size_bytes)
        return [argv + self._mounted() for argv in made]

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
    longest = max(workload.known_s or 0 for workload in run.plan.workloads)
    with local.held(run.plan.target, run.plan.size_bytes, longest + SPARE_S) as lock:
        try:
            laid_out = False
            for done, workload in enumerate(run.plan.workloads):
                found = outputs.came_to(run.raw / workload.output)
                if found is None:
                    if not laid_out and not workload.apart:
                        run.tell(done, f"writing {format_size(run.plan.size_bytes)} of data …")
                        shutil.rmtree(_laid_out(run, lock))
                        laid_out = True
                    run.tell(done, f"{workload.title} …")
                    found = _measure(run, workload, lock)
                run.tell(done + 1, f"{workload.title}: {found}")
        finally:
            for part in run.raw.glob(".part-*"):
                shutil.rmtree(part, ignore_errors=True)


def _measure(run: _Run, workload: Work, lock: int) -> str:
    """Run one workload and keep its output; what it came to."""
    part = _empty(run, workload.name)
    for name, text in workload.inputs.items():
        (part / name).write_text(text)
    data = run.plan.target / local.JOBS_FOLDER if workload.apart else None
    if data:
        data.mkdir(exist_ok=True)
    try:
        ended = _run_all(run, workload, data, part, lock)
    finally:
        if data:
            shutil.rmtree(data, ignore_errors=True)
    found = outputs.came_to(part / workload.output)
    if ended[0] or found is None:
        raise _failure(run, part, workload.name, workload.tool, *ended)
    outputs.keep(part, run.raw, workload.output)
    return found


def _run_all(run: _Run, workload: Work, data: Path | None, part: Path, lock: int) -> tuple[int, str]:
    """Write data of the workload's own, where it has some, and measure: status and last words."""
    commands = [run.commands(workload)[-1]]
    folder = part
    if data:
        commands = workload.commands(data, part, 0)
        folder = data if workload.in_data else part
    status, text = 0, ""
    for argv in commands:
        says = part / workload.output if workload.tool != "fio" else None
        status, text = tool.run(argv, run.programs[workload.tool], folder, lock, says)
        if status:
            break
    return status, text


def _laid_out(run: _Run, lock: int) -> Path:
    """The folder with what the fio said that wrote the shared data."""
    part = _empty(run, LAYOUT)
    status, text = tool.run(run.layout(), run.programs["fio"], part, lock)
    # before a mounted device, fio ends well without any I/O
    if status or outputs.came_to(part / f"{LAYOUT}.json") is None:
        raise _failure(run, part, LAYOUT, "fio", status, text)
    return part


def _empty(run: _Run, name: str) -> Path:
    part = run.raw / f".part-{name}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    return part


def _failure(run: _Run, part: Path, name: str, what: str, status: int, text: str) -> AzbenchError:
    """What a tool left is put aside, and noted; the error that says so."""
    said = part / f"{name}.txt"
    text = (said.read_text(errors="replace") if said.is_file() else "") + text  # iozone's output, errors last
    said.write_text(text)
    words = [line for line in text.splitlines() if line.strip()]
    kept = outputs.keep_failed(part, run.folder, name)
    fault = f"workload {name}: {what} ended with status {status}: "
    fault += (words[-1] if words else "it did no I/O").strip()
    run.plan.notes.append(f"{plan.now()}: {fault}; it was run again.")
    plan.save(run.folder, run.plan)
    return AzbenchError(f"{fault}; what it left is in {kept}")


def _manifest(name: str, title: str, run: _Run) -> Manifest:
    todo = run.plan
    device = todo.target.is_block_device()
    tools = {"fio": todo.fio} | ({"iozone": todo.iozone} if todo.iozone else {})
    where = "a block device" if device else "one file in a directory, removed at the end"
    commands = [Command(title="Write the data", text=shlex.join(run.layout()))] if todo.size_bytes else []
    commands += [
        Command(title=workload.title, text=shlex.join(argv))
        for workload in todo.workloads
        for argv in (run.commands(workload) if workload.apart else run.commands(workload)[-1:])
    ]
    return Manifest(
        name=name,
        title=title,
        about=f"Workloads with {' and '.join(tools)}, one after the other: {len(todo.workloads)}. "
        f"Target: {where}. Data: {format_size(max(todo.size_bytes, todo.jobs_bytes))}.",
        measured=plan.day(todo.started),
        setups=[detect.describe(todo.target)],
        commands=commands,
        tools=tools,
        notes=todo.notes,
    )
