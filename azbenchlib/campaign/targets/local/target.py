"""The target that is this machine: a directory or a block device that all workloads share."""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Self

from pydantic import field_serializer

from azbenchlib.campaign import device_guard, host, safety
from azbenchlib.campaign.detect import detect
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.base import MeasurementRun
from azbenchlib.campaign.targets.local import data
from azbenchlib.campaign.targets.local import data as local
from azbenchlib.campaign.targets.one_target import (
    OneTarget,
    OneTargetMeasurement,
    OneTargetPlan,
    as_they_can_run,
)
from azbenchlib.campaign.workloads import iozone, program
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.grid import check_names
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.campaign.workloads.program import Fio
from azbenchlib.core import privacy
from azbenchlib.core.errors import MissingToolError, UnsafeTargetError
from azbenchlib.dataset.manifest import ManifestSetup


class LocalPlan(OneTargetPlan):
    """What is measured on this machine, with what, and what has to be said about it."""

    target: Path

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        return self.told == other.told and super().same_as(other)

    @property
    def told(self) -> str:
        """The target as the stored plan tells it: without the home folder."""
        return privacy.without_homes(str(self.target))

    @field_serializer("target")
    def _target(self, _: Path) -> str:
        return self.told

    def taken_up(self, asked: Self) -> Self:
        """The plan of an earlier run, on the target as it is asked for now."""
        return self.model_copy(update={"target": asked.target})

    @property
    def brief(self) -> str:
        """In a few words."""
        return self.brief_on(self.told)


def make(target: Path, workloads: Sequence[AnyWorkload], fio: Fio, iozone: str = "") -> LocalPlan:
    """The workloads as they can run here, with a note for each thing that had to be changed."""
    device = str(target) if target.is_block_device() else ""
    adapted, notes = as_they_can_run(
        workloads,
        fio,
        direct=data.direct_works(target),
        device=device,
        fstype="" if device else host.mount_of(target).fstype,
    )
    return LocalPlan(
        target=target,
        fio=fio.version,
        workloads=adapted,
        started=plan.now(),
        notes=notes,
        iozone=iozone,
    )


SPARE_S = 10  # how much longer than its run time a fio may last that was left behind


LocalRun = MeasurementRun[LocalPlan, OneTargetMeasurement]


@dataclass(kw_only=True)
class LocalTarget(OneTarget[LocalPlan]):
    """Measure in a directory or on a block device of this machine.

    Parameters
    ----------
    directory : path-like or None
        An existing directory, in which one file is made, shared by all workloads and removed at the end;
        or a block device, whose content is overwritten. None or empty: the folder that holds the dataset.
    workloads, title, allow_unsafe
        As for :class:`~azbenchlib.campaign.targets.one_target.OneTarget`.
    """

    title: str = "Measured on this machine"
    _target: Path = field(init=False)
    _programs: dict[str, program.Program] = field(default_factory=dict, init=False)  # by tool
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _lock: int | None = field(default=None, init=False)

    def make_plan(self, dataset: Path) -> LocalPlan:
        """The workloads as they can run here."""
        if not hasattr(os, "O_DIRECT"):
            raise MissingToolError(
                "measuring on this machine needs Linux, for this system has no O_DIRECT to go past the page "
                "cache; measure a Linux machine from here: --target ssh:HOST, or --target azure"
            )
        check_names(self.workloads)
        fio = program.find()
        other = iozone.find() if any(work.tool == "iozone" for work in self.workloads) else None
        if not self.directory:
            dataset.parent.mkdir(parents=True, exist_ok=True)
        target = Path(self.directory or dataset.parent).resolve()
        safety.judge(safety.look(target), 0, self.allow_unsafe)
        self._target = target
        self._programs = {"fio": fio} | ({"iozone": other} if other else {})
        return make(target, self.workloads, fio, other.version if other else "")

    def answers_from_memory(self) -> bool:
        """As the kernel of this machine tells it."""
        return host.answers_from_memory(self._target)

    def check(self, run: LocalRun, resumed: bool) -> None:
        """Refuse what holds data that is not ours, and a target without room for what is to be written."""
        data = local.data_path(run.plan.target)
        if data == run.plan.target:
            self._check_device(run)
            return
        ours = 0
        if data.exists():
            if not resumed:
                raise UnsafeTargetError(
                    f"{data}: exists and does not belong to this run; another measurement is using it or was "
                    "cut short, so take that up again, or remove the file when none is running"
                )
            ours = data.stat().st_size
        run.plan.check_sizes_known(str(run.plan.target), self.allow_unsafe)
        needed = max(0, run.plan.size_bytes - ours) + run.plan.jobs_bytes
        device_guard.check_target(run.plan.target, needed, self.allow_unsafe)

    def _check_device(self, run: LocalRun) -> None:
        """Refuse a device that others use, that may hold data, or that is not the one of an earlier run."""
        run.tell(f"looking whether {run.plan.told} is blank …")
        with local.held(run.plan.target, 0, _longest_s(run.plan)):  # what an earlier run left has ended then
            device = device_guard.look(run.plan.target, self.allow_unsafe, run.plan.token)
        safety.judge(device, run.plan.size_bytes, self.allow_unsafe)
        device_guard.check_mark(device, self.allow_unsafe, run.journal)

    def begin(self, run: LocalRun) -> None:
        """Hold the target for us alone: a directory with a data file of full size, a device with our mark."""
        held = local.held(run.plan.target, run.plan.size_bytes, _longest_s(run.plan))
        self._lock = self._open.enter_context(held)
        target = safety.look(run.plan.target)
        if target.kind == "device" and not safety.is_permitted(target, self.allow_unsafe):
            device_guard.mark(run.plan.target, run.plan.token, run.journal)

    def device(self, run: LocalRun) -> PurePath | None:
        """The target, where it is a block device."""
        return run.plan.target if run.plan.target.is_block_device() else None

    def shared_data(self, run: LocalRun) -> PurePath:
        """The device, or the one file in the directory."""
        return local.told_path(local.data_path(run.plan.target))

    def own_commands(self, run: LocalRun, work: Work, out: PurePath | None = None) -> list[list[str]]:
        """The commands of a workload that keeps data of its own; `out`: where outputs go, if elsewhere."""
        return work.commands(local.told_path(run.plan.target / local.JOBS_FOLDER), out or PurePath(), 0)

    def lay_out(
        self, run: LocalRun, one: OneTargetMeasurement, part: Path, limits: RunLimits
    ) -> tuple[int, str]:
        """Write the shared data."""
        (argv,) = self.layout(run)
        limits = self._limits(run, limits)
        with local.within_reach(run.plan.target, part):
            return program.run(argv, self._programs["fio"], part, self._lock, limits=limits)

    def measure(self, run: LocalRun, one: OneTargetMeasurement, part: Path) -> tuple[int, str]:
        """Run a workload; data of its own is there meanwhile."""
        for name, text in one.workload.inputs.items():
            (part / name).write_text(text)
        if not one.workload.own_data:
            return self._run(run, one.workload, self.commands(run, one.workload), part, part)
        data = run.plan.target / local.JOBS_FOLDER
        local.make_empty(data)
        try:
            folder = data if one.workload.runs_in_data_dir else part
            return self._run(run, one.workload, self.own_commands(run, one.workload, part), folder, part)
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def _run(
        self, run: LocalRun, work: Work, commands: Sequence[Sequence[str]], folder: Path, part: Path
    ) -> tuple[int, str]:
        """Run commands in a folder until one fails: status and last words."""
        says = part / work.output if work.tool != "fio" else None
        status, text, limits = 0, "", self._limits(run, work.limits)
        with local.within_reach(run.plan.target, part):
            for argv in commands:
                status, text = program.run(argv, self._programs[work.tool], folder, self._lock, says, limits)
                if status:
                    break
        return status, text

    def _limits(self, run: LocalRun, limits: RunLimits) -> RunLimits:
        """With the file system that is watched, unless the words to fill it were given."""
        target = run.plan.target
        if target.is_block_device() or self.allow_unsafe == safety.words_for_directory(target):
            return limits
        return replace(limits, filled=target)

    def release(self, run: LocalRun, fault: BaseException | None) -> None:
        """Let go of the target; the data file is gone."""
        self._open.close()

    def machine(self, run: LocalRun) -> ManifestSetup:
        """The machine here, with what the target lies on."""
        return detect.describe(run.plan.target)


def _longest_s(todo: LocalPlan) -> float:
    """How long a fio may last that an earlier run left behind."""
    return max(work.duration_s or 0 for work in todo.workloads) + SPARE_S
