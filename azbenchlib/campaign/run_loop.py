"""The one loop that measures, whatever the target: one workload after the other, every raw output kept."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from azbenchlib.campaign import outputs, plan
from azbenchlib.campaign.plan import AnyPlan
from azbenchlib.campaign.progress import Progress, quiet, unheard
from azbenchlib.campaign.targets.base import AnyMeasurement, MeasurementRun, Target
from azbenchlib.core.errors import OutputError
from azbenchlib.core.files import make_folder
from azbenchlib.dataset.manifest import Manifest


def measure(
    target: Target[AnyPlan, AnyMeasurement],
    dataset: Path | str,
    *,
    progress: Progress = quiet,
    fresh: bool = False,
) -> Path:
    """Measure on a target into a dataset folder.

    The plan is written before the first workload. A run that was interrupted is taken up where it stopped
    when it is called again with the same plan; one that is finished is returned as it is.

    Parameters
    ----------
    target : Target
        Where to measure, and what.
    dataset : path-like
        The folder to write: ``manifest.json``, ``plan.json``, ``raw/`` and ``tables/``.
    progress : callable
        Called with the number of workloads done, of all, and a line of text.
    fresh : bool
        Measure anew beside an earlier dataset of this name and put the result in its place.

    Returns
    -------
    Path
        The dataset folder.

    Raises
    ------
    InputError
        When the folder holds something else, or what is asked for cannot be measured.
    UnsafeTargetError
        When the target could lose data or run out of space.
    MissingToolError
        When a program is not there that a workload or the target needs.
    OutputError
        When this machine's own disk is at fault.
    AzbenchError
        When a workload fails; what it left is kept below ``failed/``. When something could not be released.
    WorkloadsFailedError
        On a target that goes on after a failure: at the end, when the dataset is written.
    KeyboardInterrupt
        At an interrupt; its text tells what is left, where there is something to tell.
    """
    dataset = Path(dataset).absolute()
    heard = unheard(progress) if target.goes_on_unheard else progress
    asked = target.make_plan(dataset)
    with target.exclusively(dataset, asked, fresh, heard) as interrupts:
        folder, todo, resumed = plan.workspace(dataset, asked, fresh)
        run = MeasurementRun(
            folder=folder,
            plan=todo,
            measurements=target.measurements(todo),
            progress=heard,
            interrupts=interrupts,
        )

        def work() -> Manifest:
            target.check(run, resumed)
            run.save()
            carry_out(run, lambda: _measure_all(target, run), lambda fault: target.release(run, fault))
            run.check_any()
            return target.manifest(run, dataset.name)

        with _interrupt_explained(target, run), _disk_named(folder):
            whole = not target.goes_on_after_failure or all(map(run.done, run.measurements))
            made = plan.complete(folder, dataset, work, run.tell, whole)
        run.check_all()
        return made


def carry_out(
    run: MeasurementRun[AnyPlan, AnyMeasurement],
    work: Callable[[], object],
    release: Callable[[BaseException | None], None],
) -> None:
    """Do the work, and release what it had, whatever happened; it is told the fault, where there is one."""
    fault: BaseException | None = None
    try:
        try:
            with _disk_named(run.folder):
                work()
        finally:
            run.interrupts.end()
    except BaseException as error:
        run.interrupts.end()  # an interrupt may have come just before it
        fault = error
    release(fault)


def _measure_all(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement]
) -> None:
    make_folder(run.raw)
    try:
        target.begin(run)
        for one in run.measurements:
            found = target.result(run, one, run.output(one))
            run.tell(f"{one.title}: {found or _measured(target, run, one)}")
    finally:
        for part in run.raw.glob(".part-*"):
            shutil.rmtree(part, ignore_errors=True)


def _measured(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement
) -> str:
    """Run a workload; its outputs appear in ``raw/`` together, or what it left below ``failed/``."""
    target.prepare(run, one)
    run.tell(f"{one.title} …")
    name, output = one.workload.name, one.workload.output
    part = run.part("-".join([*Path(one.folder).parts, name]))
    status, text = target.measure(run, one, part)
    found = target.result(run, one, part / output)
    if status or found is None:
        again = not target.goes_on_after_failure
        fault = run.failure(part, name, one.workload.tool, status, text, again=again)
        if again:
            raise fault
        run.failed.append(fault)
        return f"FAILED: {fault}"
    outputs.keep(part, run.output(one).parent, output)
    return found


@contextmanager
def _disk_named(folder: Path) -> Iterator[None]:
    """Name the file or folder where this machine's own disk is at fault.

    Raises
    ------
    OutputError
        For every error of the operating system.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"{error.filename or folder}: {error.strerror or error}") from error


@contextmanager
def _interrupt_explained(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement]
) -> Iterator[None]:
    """Say of an interrupt what the target says, also where nothing was made yet."""
    try:
        yield
    except KeyboardInterrupt as error:
        if error.args or not (words := target.last_words(run)):
            raise
        raise KeyboardInterrupt(words) from error
