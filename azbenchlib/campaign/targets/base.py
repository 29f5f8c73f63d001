"""Where workloads are measured: the one interface of a target, and the run that it is handed."""

import glob
import re
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from azbenchlib.campaign import lock, outputs
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.planning.plan import AnyPlan
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.workloads import base
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import privacy
from azbenchlib.core.errors import AzbenchError, InputError, WorkloadsFailedError
from azbenchlib.core.files import make_folder
from azbenchlib.core.units import S_PER_HOUR
from azbenchlib.dataset import manifest
from azbenchlib.dataset.manifest import Manifest

WARM_UP = "warm-up"  # beside raw/: outputs of the runs before those that count; no part of the dataset


class Measurement(Protocol):
    """One workload on what it drives."""

    @property
    def title(self) -> str:
        """How progress and errors call it."""

    @property
    def folder(self) -> str:
        """Where its outputs go, below ``raw/``; empty: there."""

    @property
    def workload(self) -> Work:
        """What is run."""


AnyMeasurement = TypeVar("AnyMeasurement", bound=Measurement)


@dataclass(kw_only=True)
class MeasurementRun(Generic[AnyPlan, AnyMeasurement]):
    """A run under way: its folder, its plan, and all that is measured in order."""

    folder: Path
    plan: AnyPlan
    measurements: Sequence[AnyMeasurement]
    progress: Progress
    interrupts: Interrupts
    stopping: Stopping = field(default_factory=Stopping)
    dilation: Callable[[AnyMeasurement], float] = lambda one: 1.0  # by which a target ran more slowly
    max_hours: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    failed: list[AzbenchError] = field(default_factory=list)  # workloads that were gone on after

    def check_any(self) -> None:
        """Refuse to call a dataset what has no result.

        Raises the fault of the first workload, where none was measured.
        """
        counted = [one for one in self.measurements if not base.warm_up_of(one.workload.name)[1]]
        if self.failed and not any(map(self.made, counted)):
            raise self.failed[0]

    def check_all(self) -> None:
        """Tell of the workloads that failed, though the others are measured.

        Raises a WorkloadsFailedError when there are any.
        """
        if self.failed:
            first, total = self.failed[0], len(self.measurements)
            raise WorkloadsFailedError(
                f"{len(self.failed)} of {total} workloads failed; the others are measured and kept, and the "
                f"same command tries those again. The first: {first}"
            )

    @property
    def raw(self) -> Path:
        """The folder of the outputs."""
        return self.folder / manifest.RAW

    def output(self, one: AnyMeasurement) -> Path:
        """The file that, where it is whole, tells that all outputs of a workload are there."""
        kept = WARM_UP if base.warm_up_of(one.workload.name)[1] else manifest.RAW
        return self.folder / kept / one.folder / one.workload.output

    def made(self, one: AnyMeasurement) -> bool:
        """Whether all outputs of a workload are there."""
        return outputs.came_to(self.output(one)) is not None

    def done(self, one: AnyMeasurement) -> bool:
        """Whether all outputs of a workload are there, or it need not be run."""
        return self.made(one) or bool(self.left_out(one))

    def left_out(self, one: AnyMeasurement) -> str:
        """Why a repeat need not be run; empty: it is run."""
        return self.stopping.enough(self.output(one), one.folder, self.dilation(one))

    def out_of_time(self, expected_s: float) -> str:
        """Why a run is not begun any more: it would last beyond what the campaign may; else empty."""
        took = time.monotonic() - self.begun + expected_s
        over = self.max_hours and took > self.max_hours * S_PER_HOUR
        return f"max_hours {self.max_hours:g} leaves no time for it" if over else ""

    def waits(self, one: AnyMeasurement) -> bool:
        """Whether the result of another run decides about this one."""
        return self.stopping.waits(self.output(one), one.folder)

    @property
    def journal(self) -> Journal:
        """What happened so far, as it happened."""
        return Journal(self.folder)

    def files(self, one: AnyMeasurement) -> list[Path]:
        """The outputs of a workload that are there: what is called by its name and a suffix."""
        output, name = self.output(one), one.workload.name
        beside = {other.workload.name for other in self.measurements if other.folder == one.folder}
        return [
            path
            for path in output.parent.glob(f"{glob.escape(name)}[._]*")
            if not any(
                len(other) > len(name) and re.match(f"{re.escape(other)}[._]", path.name) for other in beside
            )
        ]

    def key(self, one: AnyMeasurement) -> str:
        """What the journal calls a run."""
        return "/".join([*Path(one.folder).parts, one.workload.name])

    def tell(self, text: str) -> None:
        """Tell how far it is."""
        self.progress(sum(map(self.done, self.measurements)), len(self.measurements), text)

    def save(self) -> None:
        """Write the plan as it is now."""
        plan.save(self.folder, self.plan)

    def note(self, text: str) -> None:
        """Keep what a reader must know before trusting a figure."""
        if text not in self.plan.notes:
            self.plan.notes.append(text)
        self.save()

    def part(self, name: str) -> Path:
        """A new and empty folder below ``raw/`` for what a program is about to write."""
        part = self.raw / f".part-{name}"
        shutil.rmtree(part, ignore_errors=True)
        make_folder(part.parent)
        part.mkdir()
        return part

    def failure(
        self, part: Path, what: str, tool: str, status: int, text: str, *, again: bool = True
    ) -> AzbenchError:
        """The error of a program that failed; what it left in its part is put aside, and it is noted.

        `again`: the next run measures it before anything else.
        """
        name = part.name.removeprefix(".part-")
        flaw = outputs.flaw(part / f"{what}.json") if tool == "fio" else ""
        output = part / f"{what}.txt"
        said = output.read_text(errors="replace") if output.is_file() else ""  # iozone's, errors last
        said = said if text in said else said + text
        output.write_text(privacy.masked(said))
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")
        if not status:  # it says that all is well
            last = f"{flaw} ({last})" if flaw and last else flaw or last or "it did no I/O"
        kept = outputs.keep_failed(part, self.folder, name)
        fault = f"workload {name}: {tool} ended with status {status}: {last or _silent(status)}"
        self.note(f"{plan.now()}: {fault}{'; it was run again' * again}.")
        return AzbenchError(f"{fault}; what it left is in {kept}")


def _silent(status: int) -> str:
    """Say of a program that said nothing how it ended."""
    try:
        return f"it was ended by the signal {signal.Signals(-status).name}"
    except ValueError:
        return "it said nothing"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a target, whichever it is."""

    workloads: Sequence[AnyWorkload]
    experiment: Experiment | None
    title: str
    directory: Path | str | None
    allow_unsafe: str
    longest_s: float
    max_cost: float = 0.0
    max_hours: float = 0.0
    address: str = ""  # of a host, such as ssh:user@host
    show_identity: bool = False  # in a dataset of Azure
    results_group: bool = False  # for the results of a VM of Azure that is there already
    at_once: int = 1  # VMs of Azure that are measured at a time

    def needed_experiment(self, target: str) -> Experiment:
        """The measurement file, under the title that was asked for.

        Raises an InputError when there is none.
        """
        if self.experiment is None:
            raise InputError(
                f"the target {target} needs a measurement file, which says what VM and disks there are; "
                "campaigns/ has some to begin with"
            )
        return self.experiment.model_copy(update={"title": self.title})


class Target(ABC, Generic[AnyPlan, AnyMeasurement]):
    """Where workloads are measured; :func:`azbenchlib.campaign.run_loop.measure` drives it.

    An instance is good for one run: what it has open in between is its own.

    Attributes
    ----------
    goes_on_unheard : bool
        Whether a run goes on where its progress can no longer be shown, as after a terminal was closed.
    goes_on_after_failure : bool
        Whether the other workloads are measured where one failed.
    ends_run_in_hand : bool
        Whether the run in hand is brought to its end at the first interrupt.
    has_own_budget : bool
        Whether it keeps to its limits of time and money itself.
    """

    goes_on_unheard: ClassVar[bool] = False
    goes_on_after_failure: ClassVar[bool] = False
    ends_run_in_hand: ClassVar[bool] = True
    has_own_budget: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, request: Request) -> Self:
        """The target for what is asked."""

    @abstractmethod
    def make_plan(self, dataset: Path) -> AnyPlan:
        """What is to be measured into a dataset folder; what cannot be is refused."""

    def answers_from_memory(self) -> bool:
        """Whether memory answers, and no disk is behind what was planned."""
        return False

    @abstractmethod
    def measurements(self, plan: AnyPlan) -> Sequence[AnyMeasurement]:
        """All workloads of a plan in order, each on what it drives."""

    @contextmanager
    def exclusively(
        self, dataset: Path, asked: AnyPlan, fresh: bool, progress: Progress
    ) -> Iterator[Interrupts]:
        """Keep others out of the folder meanwhile, and take interrupts."""
        with lock.held(dataset, self.telling(asked, progress)), Interrupts() as interrupts:
            yield interrupts

    def telling(self, asked: AnyPlan, progress: Progress) -> Callable[[str], None]:
        """How to tell a line before it is known what is done already."""
        return partial(progress, 0, len(self.measurements(asked)))

    def check(self, run: MeasurementRun[AnyPlan, AnyMeasurement], resumed: bool) -> None:
        """Refuse what cannot be measured now, before the plan is written."""

    def begin(self, run: MeasurementRun[AnyPlan, AnyMeasurement]) -> None:
        """Have what all workloads need; :meth:`release` follows, whatever happens."""

    def prepare(self, run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement) -> None:
        """Have what one workload needs, from what the ones before it left."""

    @abstractmethod
    def measure(
        self, run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement, part: Path
    ) -> tuple[int, str]:
        """Run a workload and bring its outputs into a folder: exit status, and what it said of errors."""

    def result(
        self, run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement, output: Path
    ) -> str | None:
        """What a whole output comes to, in words; None where it is not whole."""
        return outputs.came_to(output)

    @abstractmethod
    def release(self, run: MeasurementRun[AnyPlan, AnyMeasurement], fault: BaseException | None) -> None:
        """Let go of all that was had; afterwards the fault is raised, where there is one."""

    def dilation(self, run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement) -> float:
        """How much more slowly than the disk a run was made."""
        return 1.0

    def last_words(self, run: MeasurementRun[AnyPlan, AnyMeasurement]) -> str:
        """What to say at an interrupt; empty: nothing."""
        done, total = sum(map(run.done, run.measurements)), len(run.measurements)
        return f"{done} of {total} runs are kept in {run.folder}, and the same command goes on from there"

    def expected_s(self, run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement) -> float:
        """How long a run takes on this target, in seconds; at most, where that is not known beforehand."""
        return one.workload.max_duration_s

    @abstractmethod
    def manifest(self, run: MeasurementRun[AnyPlan, AnyMeasurement], name: str) -> Manifest:
        """The manifest of a finished run."""
