"""The one loop that measures, whatever the target: one workload after the other, every raw output kept."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from azbenchlib.campaign import journal, outputs
from azbenchlib.campaign.design import search_curves
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.journal import JournalEvent
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.planning.plan import AnyPlan
from azbenchlib.campaign.progress import Pace, Progress, quiet, unheard
from azbenchlib.campaign.targets.base import AnyMeasurement, MeasurementRun, Target
from azbenchlib.campaign.workloads import base
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.files import make_folder
from azbenchlib.core.units import S_PER_HOUR, format_span
from azbenchlib.dataset.manifest import Manifest

NO_RULES = Stopping()


class Order:
    """In which order the runs of a plan are made: as they stand there.

    Where each run decides about the next, a class of its own says so.
    """

    def check(self) -> None:
        """Refuse what need not be measured, once the target is known and before anything is kept."""

    def take_up(self, run: MeasurementRun[Any, Any]) -> None:
        """Look at what is kept already; also where nothing is left to be measured."""

    def begin(self, run: MeasurementRun[Any, Any]) -> None:
        """Settle what is measured, before the journal tells it."""

    def each(self, run: MeasurementRun[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """Each run, with the one after it where that is known; the next is asked for after it was made."""
        yield from pairwise([*run.measurements, None])


IN_TURN = Order()
LAST_ONE = "this run is brought to its end, then the campaign ends; Ctrl-C once more ends it at once"


def measure(
    target: Target[AnyPlan, AnyMeasurement],
    dataset: Path | str,
    *,
    progress: Progress = quiet,
    fresh: bool = False,
    design: str = "",
    stopping: Stopping = NO_RULES,
    max_hours: float = 0.0,
    order: Order = IN_TURN,
) -> Path:
    """Measure on a target into a dataset folder.

    The plan is written before the first workload, and the journal tells what happened, line by line. A
    campaign that was interrupted is taken up where it stopped when it is called again with the same plan; one
    that is finished is returned as it is. The first Ctrl-C ends it after the run in hand, a second at once.

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
    design : str
        How often what is measured, and in what order; a note of the dataset.
    stopping : Stopping
        When a workload has been repeated often enough.
    max_hours : float
        After which no run is begun any more, except in Azure, which has a budget of its own; 0: no limit.
    order : Order
        Of the runs.

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
        order.check()
        folder, todo, resumed = plan.workspace(dataset, asked, fresh)
        run = MeasurementRun(
            folder=folder,
            plan=todo,
            measurements=target.measurements(todo),
            progress=heard,
            interrupts=interrupts,
            stopping=stopping,
            max_hours=0.0 if target.has_own_budget else max_hours,
        )
        run.dilation = lambda one: target.dilation(run, one)
        damaged = resumed and _put_damaged_aside(run)
        order.take_up(run)

        def work() -> Manifest:
            target.check(run, resumed)
            order.begin(run)
            run.save()
            _check_time(target, run)
            _note_begin(target, run, design)
            carry_out(run, lambda: _measure_all(target, run, order), lambda fault: target.release(run, fault))
            run.check_any()
            run.journal.add(JournalEvent.FINISHED)
            made = target.manifest(run, dataset.name)
            return made.model_copy(update={"searches": search_curves.walked(run)})

        with _interrupt_explained(target, run), _disk_named(folder):
            whole = not target.goes_on_after_failure or all(map(run.done, run.measurements))
            whole = whole and not damaged
            made = plan.complete(folder, dataset, work, run.tell, whole)
        run.check_all()
        return made


def _check_time(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement]
) -> None:
    """Refuse a budget of time that does not suffice for what is measured in any case.

    Raises an InputError with what it takes.
    """
    open_ = [one for one in run.measurements if not run.done(one) and not run.waits(one)]
    seconds = sum(target.expected_s(run, one) for one in open_)
    if run.max_hours and seconds > run.max_hours * S_PER_HOUR:
        raise InputError(
            f"max_hours {run.max_hours:g}: what is still to be measured takes {format_span(seconds)}; allow "
            f"at least {seconds / S_PER_HOUR:.2g}, or measure less",
            keys=("max_hours",),
        )


def _note_begin(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement], design: str
) -> None:
    """Write the order of all runs into the journal, and what was kept and is not in it."""
    told = [
        {"run": run.key(one), "title": one.title, "expected_s": round(target.expected_s(run, one), 3)}
        for one in run.measurements
    ]
    run.journal.add(JournalEvent.PLANNED, runs=told, design=design)
    known = run.journal.kept()
    for one in run.measurements:
        if run.key(one) not in known and (found := target.result(run, one, run.output(one))):
            files = journal.hashes(run.files(one))
            run.journal.add(JournalEvent.KEPT, run=run.key(one), files=files, said=found)
    if design:
        run.note(design)


def _put_damaged_aside(run: MeasurementRun[AnyPlan, AnyMeasurement]) -> bool:
    """Put what is not as it was when it was kept below ``failed/``, to be measured again; whether any is."""
    known, found = run.journal.kept(), False
    for one in run.measurements:
        folder, files = run.output(one).parent, known.get(run.key(one), {})
        if not (name := journal.damage(folder, files)):
            continue
        found = True
        part = run.part("-".join([*Path(one.folder).parts, one.workload.name]))
        for path in (folder / file for file in files):
            if path.is_file():
                path.rename(part / path.name)
        kept = outputs.keep_failed(part, run.folder, part.name.removeprefix(".part-"))
        why = f"{name} is not as it was kept; what is left is in {outputs.FAILED}/{kept.name}"
        run.journal.add(JournalEvent.DAMAGED, run=run.key(one), why=why)
        run.note(f"{plan.now()}: {one.title}: {why}; it was run again.")
    return found


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
    if fault:
        raise fault


def _measure_all(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement], order: Order
) -> None:
    make_folder(run.raw)
    open_ = [one for one in run.measurements if not run.done(one)]
    pace = Pace(sum(target.expected_s(run, one) for one in open_))
    try:
        target.begin(run)
        for one, after in order.each(run):
            if found := target.result(run, one, run.output(one)):
                run.tell(f"{one.title}: {found}")
                continue
            expected_s = target.expected_s(run, one)
            if why := run.left_out(one) or run.out_of_time(expected_s):
                _leave_out(run, one, why)
                pace.left_s -= expected_s
                continue
            said = _in_hand(target, run, one)
            if doubt := run.stopping.still_cold(run.output(one), one.folder, run.dilation(one)):
                run.note(f"{_where(one)}{base.workload_of(one.workload.name)}: {doubt}.")
            pace.done(expected_s)
            left = f" ({pace.text}; next: {after.title})" if after else ""
            run.tell(f"{one.title}: {said}{left}")
    finally:
        for part in run.raw.glob(".part-*"):
            shutil.rmtree(part, ignore_errors=True)


def _leave_out(run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement, why: str) -> None:
    """Say that a repeat is not run, and why: once for all of those of a workload."""
    run.journal.add(JournalEvent.LEFT_OUT, run=run.key(one), why=why)
    name, where = base.workload_of(one.workload.name), _where(one)
    ladder = run.stopping.searches.ladder(run.output(one), one.folder)
    told = ladder.told(run.output(one), run.dilation(one)) if ladder else f"{name}: {why}"
    text = f"{where}{told}."
    if not told:  # the search goes on
        return
    if text not in run.plan.notes:
        run.note(text)
        run.tell(text)


def _where(one: AnyMeasurement) -> str:
    return f"{one.folder}, " if one.folder else ""


def _in_hand(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement
) -> str:
    """Run a workload, to its end where an interrupt comes and the target has it so."""
    if not target.ends_run_in_hand:
        return _measured(target, run, one)
    with run.interrupts.run_in_hand(lambda: run.tell(f"{one.title}: {LAST_ONE}")):
        said = _measured(target, run, one)
        if run.interrupts.noted:
            run.tell(f"{one.title}: {said}")
    return said


def _measured(
    target: Target[AnyPlan, AnyMeasurement], run: MeasurementRun[AnyPlan, AnyMeasurement], one: AnyMeasurement
) -> str:
    """Run a workload; its outputs appear in ``raw/`` together, or what it left below ``failed/``."""
    target.prepare(run, one)
    run.tell(f"{one.title} …")
    run.journal.add(JournalEvent.BEGUN, run=run.key(one))
    name, output = one.workload.name, one.workload.output
    part = run.part("-".join([*Path(one.folder).parts, name]))
    status, text = target.measure(run, one, part)
    found = target.result(run, one, part / output)
    if status or found is None:
        again = not target.goes_on_after_failure
        fault = run.failure(part, name, one.workload.tool, status, text, again=again)
        run.journal.add(JournalEvent.FAILED, run=run.key(one), why=str(fault))
        if again:
            raise fault
        run.failed.append(fault)
        return f"FAILED: {fault}"
    files = journal.hashes(part.iterdir())
    outputs.keep(part, run.output(one).parent, output)
    run.journal.add(JournalEvent.KEPT, run=run.key(one), files=files, said=found)
    return found


@contextmanager
def _disk_named(folder: Path) -> Iterator[None]:
    """Name the file or folder where this machine's own disk is at fault.

    Raises an OutputError for every error of the operating system.
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
        if run.journal.path.exists():
            run.journal.add(JournalEvent.INTERRUPTED)
        if error.args or not (words := target.last_words(run)):
            raise
        raise KeyboardInterrupt(words) from error
