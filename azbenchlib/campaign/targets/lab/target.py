"""Emulated disks as a target: a lab a setup, real fio, no Azure."""

import json
import math
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pandas as pd

from azbenchlib import __version__, model
from azbenchlib.analysis.mix import read_share
from azbenchlib.campaign import doctor, outputs
from azbenchlib.campaign.files.spec import with_one_disk
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.campaign.targets.lab.plan import (
    EmulatedSetup,
    EmulatedTask,
    LabPlan,
    command,
    emulated,
    limits_of,
    write_job_file,
)
from azbenchlib.campaign.workloads import program
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError, MissingToolError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.units import TIB, US_PER_S, format_us
from azbenchlib.dataset.manifest import Command, Manifest, ManifestSetup
from azbenchlib.formats import lab_log
from azbenchlib.lab import calibrate, dilation
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.credits import BURST_S


def make_manifest(name: str, todo: LabPlan, made: Sequence[tuple[EmulatedSetup, EmulatedTask]]) -> Manifest:
    """The manifest of a finished run, with what was made of its plan."""
    pairs = [(one, task) for one in todo.emulated for task in one.tasks]
    driven = {one.folder(task): (one, task.disk) for one, task in pairs}
    several = len(driven) > len({one.setup.setup_id for one, _ in pairs})
    count = f"{len(made)} workload" + ("" if len(made) == 1 else "s")
    return Manifest(
        name=name,
        title=todo.title,
        about=f"Emulated disks, driven by real fio: {count}. {todo.about}".strip(),
        measured=plan.day(todo.started),
        setups=[with_one_disk(_emulated(todo, one), disk, several) for one, disk in driven.values()],
        commands=[_command(todo, one, task) for one, task in made],
        tools={"fio": todo.fio, "azbench lab": __version__},
        notes=[*_emulation_notes(todo), *todo.notes],
    )


def _emulated(todo: LabPlan, one: EmulatedSetup) -> ManifestSetup:
    name, as_of = one.setup.setup_id, one.setup.as_of or todo.started[:10]
    told = {"time_scale": todo.time_scale[name], "credit_s": todo.credit_s[name], "as_of": as_of}
    return one.setup.model_copy(update=told)


def _command(todo: LabPlan, one: EmulatedSetup, task: EmulatedTask) -> Command:
    """What fio was told; the address of an emulated disk is gone with its lab."""
    place = todo.place(one, f"nbd+unix:///{task.disk}?socket=LAB", TIB)
    return Command(title=f"fio: {one.title(task)}", text=shlex.join(command(task.workload, place)))


def _emulation_notes(todo: LabPlan) -> Iterator[str]:
    """What a reader must know of the emulation before trusting a figure."""
    yield (
        "The disks are emulated after Azure's documents: they show what is documented, and nothing that the "
        "documents leave out."
    )
    for one in todo.emulated:
        if one.left_out:
            names = ", ".join(one.left_out)
            yield f"Setup {one.setup.setup_id}: not emulated, because they need a file system: {names}."
    day = todo.started[:10]
    on_credits = {one.setup.setup_id for one in todo.emulated if one.resolved(day).has_credits}
    for name, scale in todo.time_scale.items():
        credit_s = todo.credit_s[name] if name in on_credits else BURST_S
        slow = (
            f"under time dilation by the factor {scale}, which is undone in all figures"
            if scale > 1
            else "at full speed"
        )
        cut = f"; burst credits last {credit_s:.3g} s instead of {BURST_S:,} s" if credit_s < BURST_S else ""
        yield f"Setup {name} ran {slow}{cut}."
    for one in todo.emulated:
        if late_s := todo.late_s.get(one.setup.setup_id):
            yield _busy(one, late_s)


def _busy(one: EmulatedSetup, late_s: Mapping[str, float]) -> str:
    """What a machine that others used too did to the figures."""
    worst = format_us(max(late_s.values()) * US_PER_S)
    return (
        f"Setup {one.setup.setup_id}: this machine was busy in {len(late_s)} of {len(one.tasks)} runs: one "
        f"completion in a hundred came up to {worst} late, so latencies are too long, and rates at small "
        "queue depths too low."
    )


@dataclass(frozen=True)
class Mark:
    """A place in the log: its length in bytes at that moment."""

    log: Path
    offset: int

    @classmethod
    def now(cls, log: Path) -> "Mark":
        """The end of the log as it is."""
        return cls(log, log.stat().st_size if log.exists() else 0)


def keep(mark: Mark, start_unix_s: float, path: Path) -> None:
    """Write what was logged since a mark, from a moment on, as a log of its own.

    `start_unix_s` is when measuring began, by the clock on the wall; it becomes the log's zero.
    """
    with mark.log.open("rb") as file:
        file.seek(mark.offset)
        lines = file.read().decode(errors="replace").splitlines()
    kept = [line for line in lines if _moment(line) >= start_unix_s]
    head = f'{lab_log.MARK} "{lab_log.START}": {start_unix_s!r}}}'
    write_atomically(path, "\n".join([head, *kept, ""]).encode())


def _moment(line: str) -> float:
    """When a line was written; never, where it is not whole."""
    try:
        return float(json.loads(line)["unix_s"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return -math.inf


LONGEST_S = 6.0  # real seconds a workload lasts at most, unless another number is asked for
BUSY_S = 0.001  # real time; what came so much too late is worth a note


@dataclass(frozen=True)
class LabMeasurement:
    """A workload on an emulated disk."""

    one: EmulatedSetup
    task: EmulatedTask

    @property
    def title(self) -> str:
        """How progress and errors call it."""
        return self.one.title(self.task)

    @property
    def folder(self) -> str:
        """Below ``raw/``: where the outputs of this setup and disk go."""
        return self.one.folder(self.task)

    @property
    def workload(self) -> Workload | JobFile:
        """What is run."""
        return self.task.workload


LabRun = MeasurementRun[LabPlan, LabMeasurement]


def nbd_fio() -> program.Fio:
    """The fio of this machine, which can drive emulated disks.

    Raises a MissingToolError when there is no fio, or it lacks the NBD engine.
    """
    fio = program.find()
    if EMULATED_ENGINE not in fio.engines:
        raise MissingToolError(
            "this fio has no NBD engine, through which it drives emulated disks; "
            f"{doctor.fio_nbd().remedy}; `fio --enghelp` lists what there is"
        )
    return fio


@dataclass(kw_only=True)
class LabTarget(Target[LabPlan, LabMeasurement]):
    """Measure on emulated disks, with real fio.

    Every setup gets a lab of its own, under time dilation where this machine needs it. Workloads are
    shortened to `longest_s`, and the time that burst credits last is shortened in the same proportion, so
    that what happens in the requested time happens in ours. Figures of the dataset are those of the disk at
    full speed; ``raw/`` is as fio saw it.

    Parameters
    ----------
    emulated : sequence of Emulated
        Such as :func:`~azbenchlib.campaign.targets.lab.plan.emulated` makes of a measurement file.
    title, about : str
        Of the dataset.
    longest_s : float
        Real seconds a workload lasts at most.
    credit_s : float, optional
        Seconds of the emulated disk that full burst credits last. None: shortened as the workloads are.
    cache_bytes : float, optional
        Size of the host cache. None: that of the VM size.
    time_scale : int, optional
        Dilation factor, a power of two. None: what this machine keeps up with.
    """

    emulated: Sequence[EmulatedSetup]
    title: str
    about: str = ""
    longest_s: float = LONGEST_S
    credit_s: float | None = None
    cache_bytes: float | None = None
    time_scale: int | None = None
    _fio: program.Fio = field(init=False)
    _setups: dict[str, model.Setup] = field(default_factory=dict, init=False)  # of what is to be measured
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _lab: Lab = field(init=False)
    _of: str = field(default="", init=False)  # the setup that the lab emulates

    @classmethod
    def of(cls, request: Request) -> Self:
        """The setups of a measurement file, emulated."""
        experiment = request.needed_experiment("lab")
        return cls(
            emulated=emulated(experiment),
            title=request.title,
            about=experiment.about,
            longest_s=request.longest_s,
        )

    def make_plan(self, dataset: Path) -> LabPlan:
        """What is emulated and measured; how slowly is found out setup by setup.

        Raises a MissingToolError when there is no fio, or it lacks the NBD engine; an InputError when a
        number is out of its range.
        """
        if not self.longest_s >= 1:
            raise InputError(f"longest_s '{self.longest_s}' must be a number of seconds, at least 1")
        dilation.check(self.time_scale)
        self._fio = nbd_fio()
        return LabPlan(
            title=self.title,
            about=self.about,
            emulated=list(self.emulated),
            longest_s=self.longest_s,
            asked_credit_s=self.credit_s,
            asked_cache_bytes=self.cache_bytes,
            asked_scale=self.time_scale,
            fio=self._fio.version,
            started=plan.now(),
        )

    def measurements(self, plan: LabPlan) -> list[LabMeasurement]:
        """Setup by setup."""
        return [LabMeasurement(one, task) for one in plan.emulated for task in one.tasks]

    def check(self, run: LabRun, resumed: bool) -> None:
        """Look the limits up of all that is still to be emulated."""
        left = {one.folder for one in run.measurements if not run.done(one)}
        for one in run.plan.emulated:
            if any(one.folder(task) in left for task in one.tasks):
                self._setups[one.setup.setup_id] = one.resolved(run.plan.started[:10])

    def prepare(self, run: LabRun, one: LabMeasurement) -> None:
        """Have the lab of its setup."""
        name = one.one.setup.setup_id
        if self._of == name:
            return
        self._open.close()
        if name not in run.plan.time_scale:
            self._choose_scale(run, one.one)
        lab = Lab(
            self._setups[name],
            Options(credit_s=run.plan.credit_s[name], cache_bytes=run.plan.asked_cache_bytes),
            time_scale=run.plan.time_scale[name],
        )
        self._lab, self._of = self._open.enter_context(lab), name

    def _choose_scale(self, run: LabRun, one: EmulatedSetup) -> None:
        name, todo = one.setup.setup_id, run.plan
        run.tell(f"{name}: finding out what this machine can emulate …")
        asked = list(_asked(one.tasks, todo.longest_s))
        scale = todo.asked_scale or dilation.time_scale(
            self._setups[name], Options(), calibrate.calibration(), asked
        )
        cut_s = _credit_s(one.tasks, todo.longest_s / scale)
        todo.time_scale[name] = scale
        todo.credit_s[name] = cut_s if todo.asked_credit_s is None else todo.asked_credit_s
        run.save()

    def measure(self, run: LabRun, one: LabMeasurement, part: Path) -> tuple[int, str]:
        """Run fio, and keep what of the lab's log belongs to it."""
        lab, disk = self._lab, one.task.disk
        place = run.plan.place(one.one, lab.uri(disk), lab.sizes[disk])
        write_job_file(one.workload, place, part)
        mark, begun = Mark.now(lab.log), time.time()
        limits = limits_of(one.workload, place)
        status, text = program.run(command(one.workload, place), self._fio, part, limits=limits)
        if status:
            return status, "\n".join([text, *lab.warnings()[-1:], lab.fault()])
        begun += place.ramp_s(one.workload)
        keep(mark, begun, part / f"{one.workload.name}_lab.log")
        _, late_s = live_log.lateness_s(lab.log, begun)
        busy = run.plan.late_s.setdefault(one.one.setup.setup_id, {})
        if busy.pop(run.key(one), 0) or late_s > BUSY_S:  # it may have been measured before
            busy |= {run.key(one): late_s} if late_s > BUSY_S else {}
            run.save()
        return status, text

    def dilation(self, run: LabRun, one: LabMeasurement) -> float:
        """The dilation factor of its setup, as far as it is known."""
        return run.plan.time_scale.get(one.one.setup.setup_id, 1)

    def expected_s(self, run: LabRun, one: LabMeasurement) -> float:
        """Real seconds: as long as it lasts under the dilation that is known, and no longer than it may."""
        asked_s = one.workload.max_duration_s * self.dilation(run, one)
        return min(asked_s, run.plan.longest_s) if asked_s else run.plan.longest_s

    def result(self, run: LabRun, one: LabMeasurement, output: Path) -> str | None:
        """The IOPS of the disk at full speed."""
        return outputs.reached(output, self.dilation(run, one))

    def release(self, run: LabRun, fault: BaseException | None) -> None:
        """End the lab."""
        self._open.close()

    def manifest(self, run: LabRun, name: str) -> Manifest:
        """The manifest of a finished run."""
        made = [(one.one, one.task) for one in run.measurements if run.made(one)]
        return make_manifest(name, run.plan, made)


def _asked(tasks: Sequence[EmulatedTask], longest_s: float) -> Iterator[dilation.Asked]:
    """What the workloads ask of their disks; those of job files, as far as their jobs agree."""
    for task in tasks:
        facts = task.workload.facts()
        known = pd.Series([facts.get(name) for name in ("bs_bytes", "iodepth", "numjobs")])
        if known.notna().all():
            bs_bytes, iodepth, numjobs = known.astype(int)
            share = read_share(facts.get("rw"), facts.get("rwmix_read_pct"))
            both = 0.5 if share is None else share  # not known: reads as well as writes
            yield dilation.Asked(
                volume=task.disk,
                bs_bytes=bs_bytes,
                queue_depth=iodepth * numjobs,
                read_share=both,
                lasts_s=longest_s,
            )


def _credit_s(tasks: Sequence[EmulatedTask], longest_s: float) -> float:
    """How long burst credits last, in emulated seconds: cut as much as the workload that is cut most."""
    lasting = [task.workload.max_duration_s for task in tasks if task.workload.max_duration_s]
    return BURST_S * min([1.0, *(longest_s / seconds for seconds in lasting)])
