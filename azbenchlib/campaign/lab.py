"""Carry an experiment out on emulated disks: a lab a setup, real fio, no Azure."""

import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pandas as pd
from pydantic import Field

from azbenchlib import __version__, doctor, manifest
from azbenchlib.campaign import fio as tool
from azbenchlib.campaign import lab_record, outputs, plan
from azbenchlib.campaign.cloud_manifest import with_one_disk
from azbenchlib.campaign.lab_setup import Emulated, Task
from azbenchlib.campaign.plan import StoredPlan
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets import lab as target
from azbenchlib.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.lab import calibrate, live, pace
from azbenchlib.lab.machine import Options
from azbenchlib.lab.session import Lab
from azbenchlib.manifest import Command, Manifest, Setup
from azbenchlib.model.credits import BURST_S
from azbenchlib.units import TIB, US_PER_S, format_count, format_us

LONGEST_S = 6.0  # real seconds a workload lasts at most, unless another number is asked for
BUSY_S = 0.001  # real time; what came so much too late is worth a note


class LabPlan(StoredPlan):
    """What is measured on emulated disks, and what has to be remembered about it."""

    title: str
    about: str
    emulated: list[Emulated]
    longest_s: float
    asked_credit_s: float | None = None
    asked_scale: int | None = None
    fio: str
    started: str
    credit_s: dict[str, float] = Field(default_factory=dict)  # setup -> how long its credits last
    time_scale: dict[str, int] = Field(default_factory=dict)  # setup -> how slow its motion is
    notes: list[str] = Field(default_factory=list)

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads, as long, on the same setups at the same pace."""
        names = ("emulated", "longest_s", "asked_credit_s", "asked_scale")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.title}' on emulated disks"

    def place(self, one: Emulated, uri: str, size_bytes: int) -> target.Place:
        """Where workloads of a setup run."""
        return target.Place(uri, size_bytes, self.time_scale[one.setup.setup_id], self.longest_s)


def run_lab(
    asked: Sequence[Emulated],
    dataset: Path | str,
    *,
    title: str,
    about: str = "",
    longest_s: float = LONGEST_S,
    credit_s: float | None = None,
    time_scale: int | None = None,
    progress: Progress = quiet,
    fresh: bool = False,
) -> Path:
    """Measure on emulated disks into a dataset folder, with real fio.

    Every setup gets a lab of its own, in slow motion where this machine needs it. Workloads are cut to
    `longest_s`, and the time that burst credits last is cut in the same proportion, so that what happens
    in the asked time happens in ours. An interrupted run is taken up by the same call.

    Parameters
    ----------
    asked : sequence of Emulated
        Such as :func:`~azbenchlib.campaign.lab_setup.emulated` makes of a measurement file.
    dataset : path-like
        The folder to write: ``manifest.json``, ``plan.json``, ``raw/`` and ``tables/``.
    title, about : str
        Of the dataset.
    longest_s : float
        Real seconds a workload lasts at most.
    credit_s : float, optional
        Seconds of the emulated disk that full burst credits last. None: cut as the workloads are.
    time_scale : int, optional
        Slow motion, a power of two. None: what this machine keeps up with.
    progress : callable
        Called with the number of workloads done, of all, and a line of text.
    fresh : bool
        Measure anew beside an earlier dataset of this name and put the result in its place.

    Returns
    -------
    Path
        The dataset folder. Its figures are those of the disk at full speed; ``raw/`` is as fio saw it.

    Raises
    ------
    MissingToolError
        When there is no fio, or it lacks the NBD engine.
    InputError
        When a number is out of its range, the folder holds something else, or the catalogue does not know
        what is to be emulated.
    AzbenchError
        When fio or the lab failed; what they left is kept below ``failed/``.
    """
    if not longest_s >= 1:
        raise InputError(f"longest_s '{longest_s}' must be a number of seconds, at least 1")
    pace.check(time_scale)
    fio = tool.find()
    if target.ENGINE not in fio.engines:
        raise MissingToolError(
            "this fio has no NBD engine, through which it drives emulated disks; "
            f"{doctor.fio_nbd().remedy}; `fio --enghelp` lists what there is"
        )
    dataset = Path(dataset).absolute()
    wanted = LabPlan(
        title=title,
        about=about,
        emulated=list(asked),
        longest_s=longest_s,
        asked_credit_s=credit_s,
        asked_scale=time_scale,
        fio=fio.version,
        started=plan.now(),
    )
    folder, todo, _ = plan.workspace(dataset, wanted, fresh)
    run = _Run(folder, todo, fio, progress)

    def measure() -> Manifest:
        for one in todo.emulated:
            _measure_setup(run, one)
        return _manifest(dataset.name, todo)

    return plan.complete(folder, dataset, measure, run.tell)


@dataclass
class _Run:
    """A measurement under way."""

    folder: Path
    plan: LabPlan
    fio: tool.Fio
    progress: Progress

    def output(self, one: Emulated, task: Task) -> Path:
        return self.folder / manifest.RAW / one.folder(task) / f"{task.workload.name}.json"

    def left(self, one: Emulated) -> list[Task]:
        """What has no whole output yet."""
        return [task for task in one.tasks if outputs.iops(self.output(one, task)) is None]

    def tell(self, text: str) -> None:
        total = sum(len(one.tasks) for one in self.plan.emulated)
        left = sum(len(self.left(one)) for one in self.plan.emulated)
        self.progress(total - left, total, text)

    def note(self, text: str) -> None:
        self.plan.notes.append(text)
        plan.save(self.folder, self.plan)


def _measure_setup(run: _Run, one: Emulated) -> None:
    """What is still to be measured of one setup, on a lab of its own."""
    left, name = run.left(one), one.setup.setup_id
    if not left:
        return
    setup = one.resolved(run.plan.started[:10])
    if name not in run.plan.time_scale:
        run.tell(f"{name}: finding out what this machine can emulate …")
        asked = list(_asked(one.tasks, run.plan.longest_s))
        scale = run.plan.asked_scale or pace.time_scale(setup, Options(), calibrate.calibration(), asked)
        asked_s = run.plan.asked_credit_s
        cut_s = _credit_s(one.tasks, run.plan.longest_s / scale)
        run.plan.time_scale[name] = scale
        run.plan.credit_s[name] = cut_s if asked_s is None else asked_s
        run.folder.mkdir(parents=True, exist_ok=True)
        plan.save(run.folder, run.plan)
    options = Options(credit_s=run.plan.credit_s[name])
    with Lab(setup, options, time_scale=run.plan.time_scale[name]) as lab:
        for task in left:
            _measure(run, one, task, lab)


def _asked(tasks: Sequence[Task], longest_s: float) -> Iterator[pace.Asked]:
    """What the workloads ask of their disks; those of job files, as far as their jobs agree."""
    for task in tasks:
        facts = task.workload.facts()
        known = pd.Series([facts.get(name) for name in ("bs_bytes", "iodepth", "numjobs")])
        if known.notna().all():
            bs_bytes, iodepth, numjobs = known.astype(int)
            read_share = {"read": 1.0, "write": 0.0}.get(str(facts.get("rw")).removeprefix("rand"), 0.5)
            yield pace.Asked(task.disk, bs_bytes, iodepth * numjobs, read_share, longest_s)


def _credit_s(tasks: Sequence[Task], longest_s: float) -> float:
    """How long burst credits last, in emulated seconds: cut as much as the workload that is cut most."""
    lasting = [task.workload.lasts_s for task in tasks if task.workload.lasts_s]
    return BURST_S * min([1.0, *(longest_s / seconds for seconds in lasting)])


def _measure(run: _Run, one: Emulated, task: Task, lab: Lab) -> None:
    """Run a workload; its files appear in ``raw/`` together, or what it left below ``failed/``."""
    title, name = one.title(task), task.workload.name
    run.tell(f"{title} …")
    place = run.plan.place(one, lab.uri(task.disk), lab.sizes[task.disk])
    part = run.folder / manifest.RAW / f".part-{one.setup.setup_id}-{task.disk}-{name}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    target.write_job_file(task.workload, place, part)
    mark, begun = lab_record.Mark.now(lab.log), time.time()
    status, text = tool.run(target.command(task.workload, place), run.fio, part)
    found = outputs.iops(part / f"{name}.json")
    if status or found is None:
        (part / f"{name}.txt").write_text(text)
        kept = outputs.keep_failed(part, run.folder, part.name.removeprefix(".part-"))
        said = next((line for line in reversed(text.splitlines()) if line.strip()), "it did no I/O")
        fault = f"{title}: fio ended with status {status}: {(lab.fault() or said).strip()}"
        run.note(f"{plan.now()}: {fault}; it was run again.")
        raise AzbenchError(f"{fault}; what it left is in {kept}")
    begun += place.ramp_s(task.workload)
    lab_record.keep(mark, begun, part / f"{name}_lab.log")
    late = live.lateness_s(lab.log, begun)
    if late and late[1] > BUSY_S:
        late_us = format_us(late[1] * US_PER_S)
        run.note(f"{title}: this machine was busy; one completion in a hundred came {late_us} late or more.")
    outputs.keep(part, run.output(one, task).parent, f"{name}.json")
    run.tell(f"{title}: {format_count(round(found * place.time_scale))} IOPS")


def _manifest(name: str, todo: LabPlan) -> Manifest:
    pairs = [(one, task) for one in todo.emulated for task in one.tasks]
    driven = {one.folder(task): (one, task.disk) for one, task in pairs}
    several = len(driven) > len({one.setup.setup_id for one, _ in pairs})
    return Manifest(
        name=name,
        title=todo.title,
        about=f"Emulated disks, driven by real fio: {len(pairs)} workloads. {todo.about}".strip(),
        measured=plan.day(todo.started),
        setups=[with_one_disk(_emulated(todo, one), disk, several) for one, disk in driven.values()],
        commands=[_command(todo, one, task) for one, task in pairs],
        tools={"fio": todo.fio, "azbench lab": __version__},
        notes=[*_slow_motion(todo), *todo.notes],
    )


def _emulated(todo: LabPlan, one: Emulated) -> Setup:
    name, as_of = one.setup.setup_id, one.setup.as_of or todo.started[:10]
    told = {"time_scale": todo.time_scale[name], "credit_s": todo.credit_s[name], "as_of": as_of}
    return one.setup.model_copy(update=told)


def _command(todo: LabPlan, one: Emulated, task: Task) -> Command:
    """What fio was told; the address of an emulated disk is gone with its lab."""
    place = todo.place(one, f"nbd+unix:///{task.disk}?socket=LAB", TIB)
    return Command(title=f"fio: {one.title(task)}", text=shlex.join(target.command(task.workload, place)))


def _slow_motion(todo: LabPlan) -> Iterator[str]:
    """What a reader must know of the emulation before trusting a figure."""
    yield (
        "The disks are emulated: they do what Azure's documents say, so they show what those say, and "
        "nothing that the documents leave out."
    )
    for one in todo.emulated:
        if one.left_out:
            names = ", ".join(one.left_out)
            yield f"Setup {one.setup.setup_id}: not emulated, for want of a file system: {names}."
    for name, scale in todo.time_scale.items():
        credit_s = todo.credit_s[name]
        slow = (
            f"{scale} times slower than in Azure, which is undone in all figures"
            if scale > 1
            else "at full speed"
        )
        cut = f"; burst credits last {credit_s:.3g} s instead of {BURST_S:,} s" if credit_s < BURST_S else ""
        yield f"Setup {name} ran {slow}{cut}."
