"""What targets have in common whose workloads all drive one directory or one device."""

import secrets
import shlex
import shutil
from abc import abstractmethod
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, ClassVar, Self, TypeVar

from pydantic import Field

from azbenchlib.campaign import outputs
from azbenchlib.campaign.host import MEMORY_FILE_SYSTEMS, MEMORY_NOTE
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.safety import words_for_device, words_for_directory
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.grid import LAYOUT
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.campaign.workloads.program import Fio
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import format_size
from azbenchlib.dataset.manifest import Command, Manifest, ManifestSetup


@dataclass(frozen=True)
class OneTargetMeasurement:
    """A workload; all of them drive the one target."""

    workload: AnyWorkload
    folder: str = ""

    @property
    def title(self) -> str:
        """How progress and errors call it."""
        return self.workload.title


class OneTargetPlan(StoredPlan):
    """Workloads in their order, with the tools that there are."""

    workloads: list[AnyWorkload]
    fio: str
    started: str
    iozone: str = ""
    token: str = Field(
        default_factory=lambda: secrets.token_hex(8)
    )  # by which a campaign knows what is its own

    def only(self, names: Container[str]) -> Self:
        """The same with some of the workloads."""
        return self.model_copy(update={"workloads": [one for one in self.workloads if one.name in names]})

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads with the same tools."""
        mine, its = ((one.fio, one.iozone, one.workloads) for one in (self, other))
        return mine == its

    def brief_on(self, target: str) -> str:
        """In a few words, with those for the target."""
        count = len(self.workloads)
        return f"{count} workload{'s' if count != 1 else ''} on {target} with {self.fio}"

    @property
    def size_bytes(self) -> int:
        """How much data the workloads share: what the largest touches; some make their own."""
        return max((work.shared_bytes for work in self.workloads), default=0)

    def check_sizes_known(self, real: str, allow: str) -> None:
        """Refuse workloads of which nobody can tell how much they write, unless the words permit that.

        Raises an UnsafeTargetError with the words for the target, whose path without links is `real`.
        """
        words = words_for_directory(PurePath(real))
        if allow != words and (
            unknown := next(filter(None, (one.size_unknown for one in self.workloads)), "")
        ):
            raise UnsafeTargetError(
                f"{unknown}, so it could fill {real}; say size or filesize in bytes, or permit it with the "
                f"words '{words}'"
            )

    @property
    def jobs_bytes(self) -> int:
        """How much data a workload makes of its own at most."""
        return max((work.own_bytes for work in self.workloads), default=0)


def as_they_can_run(
    workloads: Sequence[AnyWorkload], fio: Fio, *, direct: bool, device: str, fstype: str
) -> tuple[list[AnyWorkload], list[str]]:
    """Workloads as they can run on a machine, and a note for each thing that had to be changed.

    `direct`: whether the page cache can be bypassed; `device`: that they drive, empty for a directory, whose
    file system is of the type `fstype`.
    """
    notes: list[str] = []
    adapted: list[AnyWorkload] = []
    for asked in workloads:
        work, changed = asked.adapt_to_host(fio.engine, direct)
        adapted.append(work.fits(device or ".", bool(device)))
        notes += changed
    if fstype in MEMORY_FILE_SYSTEMS:
        notes.append(MEMORY_NOTE)
    return adapted, list(dict.fromkeys(notes))


OnePlan = TypeVar("OnePlan", bound=OneTargetPlan)
OneRun = MeasurementRun[OnePlan, OneTargetMeasurement]


@dataclass(kw_only=True)
class OneTarget(Target[OnePlan, OneTargetMeasurement]):
    """Where all workloads drive one directory or one device."""

    where_data_is: ClassVar[str] = ""  # in the words of progress
    directory: Path | str | None
    workloads: Sequence[AnyWorkload]  # run in this order, never at the same time
    title: str  # title of the dataset
    allow_unsafe: str = ""  # the words that permit a target which would be refused; the refusal names them
    reached: str = ""  # how the machine is reached, in the words of the manifest
    _laid_out: bool = field(default=False, init=False)

    @classmethod
    def of(cls, request: Request, **more: Any) -> Self:
        """The setups of a measurement file are left aside, and each workload runs once for each repeat."""
        return cls(
            directory=request.directory,
            workloads=request.workloads,
            title=request.title,
            allow_unsafe=request.allow_unsafe,
            **more,
        )

    def measurements(self, plan: OnePlan) -> list[OneTargetMeasurement]:
        """One a workload."""
        return [OneTargetMeasurement(work) for work in plan.workloads]

    def device(self, run: OneRun[OnePlan]) -> PurePath | None:
        """The block device that is driven, its path without links; None: a directory is."""
        return None

    @abstractmethod
    def shared_data(self, run: OneRun[OnePlan]) -> PurePath:
        """What tools are told of where the data is that workloads share."""

    @abstractmethod
    def own_commands(self, run: OneRun[OnePlan], work: Work) -> list[list[str]]:
        """The commands of a workload that keeps data of its own."""

    @abstractmethod
    def lay_out(
        self, run: OneRun[OnePlan], one: OneTargetMeasurement, part: Path, limits: RunLimits
    ) -> tuple[int, str]:
        """Write the shared data, and fio's output into a folder: exit status, and what it said of errors."""

    @abstractmethod
    def machine(self, run: OneRun[OnePlan]) -> ManifestSetup:
        """The machine as it is, in the tables."""

    def layout(self, run: OneRun[OnePlan]) -> list[list[str]]:
        """The command that writes the shared data, with the first workload's way of doing I/O; or none."""
        first = next((work for work in run.plan.workloads if not work.own_data), None)
        return self._on_shared_data(run, first)[:1] if first else []

    def commands(self, run: OneRun[OnePlan], work: Work) -> list[list[str]]:
        """The commands of a workload, the one that measures last; the shared data is written before."""
        return self.own_commands(run, work) if work.own_data else self._on_shared_data(run, work)[-1:]

    def _on_shared_data(self, run: OneRun[OnePlan], work: Work) -> list[list[str]]:
        device = self.device(run)
        over = device and self.allow_unsafe == words_for_device(device, in_use=True)
        commands = work.commands(self.shared_data(run), PurePath(), run.plan.size_bytes)
        return [[*argv, *(["--allow_mounted_write=1"] if over else [])] for argv in commands]

    def prepare(self, run: OneRun[OnePlan], one: OneTargetMeasurement) -> None:
        """Write the shared data before the first workload that reads it."""
        if self._laid_out or one.workload.own_data:
            return
        run.tell(f"writing {format_size(run.plan.size_bytes)} of data{self.where_data_is} …")
        part, limits = run.part(LAYOUT), RunLimits(seconds=0, data_bytes=run.plan.size_bytes)
        status, text = self.lay_out(run, one, part, limits)
        # before a mounted device, fio ends well without any I/O
        if status or outputs.came_to(part / f"{LAYOUT}.json") is None:
            raise run.failure(part, LAYOUT, "fio", status, text)
        shutil.rmtree(part)
        self._laid_out = True

    def manifest(self, run: OneRun[OnePlan], name: str) -> Manifest:
        """The manifest of a finished run; the setup is the machine as it is."""
        todo, works = run.plan, [one.workload for one in run.measurements if run.made(one)]
        tools = {"fio": todo.fio} | ({"iozone": todo.iozone} if todo.iozone else {})
        lines = [("Write the data", argv) for argv in self.layout(run)]
        lines += [(work.title, argv) for work in works for argv in self.commands(run, work)]
        where = "a block device" if self.device(run) else "one file in a directory, removed at the end"
        return Manifest(
            name=name,
            title=self.title,
            about=f"Workloads with {' and '.join(tools)}{self.reached}, one after the other: {len(works)}. "
            f"Target: {where}. Data: {format_size(max(todo.size_bytes, todo.jobs_bytes))}.",
            measured=plan.day(todo.started),
            setups=[self.machine(run)],
            commands=[Command(title=title, text=shlex.join(argv)) for title, argv in lines],
            tools=tools,
            notes=todo.notes,
        )
