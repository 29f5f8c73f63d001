"""The manifest of a dataset of emulated disks."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from azbenchlib import __version__
from azbenchlib.campaign.files.setups import with_one_disk
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.lab import jobs
from azbenchlib.campaign.targets.lab.plan import EmulatedSetup, EmulatedTask, LabPlan
from azbenchlib.core.units import TIB, US_PER_S, format_us
from azbenchlib.dataset.manifest import Command, Manifest, ManifestSetup
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
    return Command(title=f"fio: {one.title(task)}", text=shlex.join(jobs.command(task.workload, place)))


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
