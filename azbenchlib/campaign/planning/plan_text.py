"""A plan for people: what would be asked, created and run, command by command."""

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from azbenchlib.campaign.design import blocks
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.planning import forecast
from azbenchlib.campaign.targets.azure import commands, container, guest, money
from azbenchlib.campaign.targets.azure import steps as cloud_plan
from azbenchlib.campaign.targets.azure.commands import PLAIN, Naming
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.side_by_side.target import parts, together
from azbenchlib.campaign.targets.azure.steps import Call, Guard, Measure, Prepare, Step
from azbenchlib.core.errors import InputError

GROUP, EXPIRY = "GROUP", "HHMM"


def lines(todo: Todo, at_once: int = 0) -> Iterator[str]:
    """The plan as text; lines that begin with ``az``, ``fio`` or ``iozone`` are commands as they would run.

    `at_once`: how many VMs are measured at a time; 0: as the file says.

    Raises an InputError when there is no measurement file behind it, or it cannot be carried out.
    """
    if todo.experiment is None:
        raise InputError("a plan needs a measurement file")
    experiment = todo.experiment
    yield f"# {experiment.title}: {experiment.region}"
    each, there = _apart(experiment, todo.vms_at_once(at_once))
    yield from (f"# {line}" for line in _expected(experiment, each).lines())
    yield f"# In Azure it takes {there.text}"
    yield from _heading("Asked first; nothing is created yet")
    yield from map(commands.text, cloud_plan.checks(experiment))
    for name, part in each.items():
        yield from _heading(f"In a resource group of its own: {name}") if len(each) > 1 else ()
        yield from _created(part)
        yield from _brought(part)
    yield from _heading("Before a VM goes on which a workload lasted a minute or longer")
    for names in (commands.DISK_METRICS, commands.VM_METRICS):
        shown = ["monitor", "metrics", "list", "--resource", "VM", "--metrics", *names, "--interval", "1m"]
        yield commands.text(shown)
    yield from _heading("At the end, at an error and at an interrupt")
    if experiment.group:
        yield f"# In {experiment.group}, all that begins with RUN is deleted, one by one; the group stays"
    else:
        yield orphans.command(GROUP) + ("  # each of them" if len(each) > 1 else "")


def _apart(experiment: Experiment, at_once: int) -> tuple[dict[str, Experiment], money.AnyEstimate]:
    """What is measured in a resource group of its own, and what the whole takes."""
    each = parts(experiment)
    if at_once == 1:
        return {"": experiment}, money.estimate(experiment)
    return each, together(experiment, at_once)


def _expected(experiment: Experiment, each: Mapping[str, Experiment]) -> forecast.Forecast:
    """What is expected of all runs; each VM that is measured beside others has data of its own."""
    whole = forecast.of(experiment, blocks.described(experiment))
    laid_out = sum(forecast.of(part, "").laid_out_bytes for part in each.values())
    return replace(whole, laid_out_bytes=laid_out)


def _created(experiment: Experiment) -> Iterator[str]:
    tags = {"tool": "azbench", "owner": "YOU", "campaign": cloud_plan.slug(experiment.title)}
    group, prefix = experiment.group or GROUP, "RUN" if experiment.group else ""
    steps = cloud_plan.steps(experiment, group, {**tags, "expires": "WHEN"}, EXPIRY, prefix)
    measured, told = True, set[str]()
    for step in steps:
        if measured and not isinstance(step, Measure):
            yield from _heading("Created and changed")
        measured = isinstance(step, Measure)
        yield from _step(step, told)


def _brought(experiment: Experiment) -> Iterator[str]:
    """How results come from a VM, where there are enough of them."""
    if sum(isinstance(step, Measure) for step in cloud_plan.planned(experiment)) < FEWEST_FOR_CONTAINER:
        return
    group, naming = experiment.group or GROUP, Naming(prefix="RUN") if experiment.group else PLAIN
    name, zone = naming.called(container.RESULTS_DISK_NAME), experiment.setups[0].zone
    yield from _heading("Made before the VM, for the results")
    yield commands.text(commands.storage_account(group, "ACCOUNT", experiment.region, naming=naming))
    yield from _heading("Where Azure has no such account for us: made when a script has ended")
    yield commands.text(commands.disk_create(group, name, container.RESULTS_DISK, zone, naming))
    yield commands.text(commands.disk_grant(group, name, container.ACCESS_S))
    yield commands.text(commands.disk_delete(group, name))


def figures(todo: Todo, at_once: int = 0) -> dict[str, Any]:
    """What is expected, as plain values: the runs, and under ``azure`` the time and the most it costs there.

    Raises an InputError when there is no measurement file behind it.
    """
    if todo.experiment is None:
        raise InputError("a plan needs a measurement file")
    experiment = todo.experiment
    each, there = _apart(experiment, todo.vms_at_once(at_once))
    azure = {
        "seconds": there.seconds,
        "cost": None if there.most is None else float(there.most),
        "currency": there.currency or None,
        "note": there.why,
    }
    found = _expected(experiment, each).to_json()
    return {"title": experiment.title, "seed": experiment.seed, **found, "azure": azure}


def _step(step: Step, told: set[str]) -> Iterator[str]:
    if isinstance(step, Call):
        yield commands.text(step.argv) + ("  # Azure should refuse this" if step.refusal else "")
    elif isinstance(step, Measure):
        yield from _heading(step.title)
        if step.workload.duration_s is None:
            most = math.ceil(step.workload.max_duration_s / 60)
            yield f"# how long is not known beforehand: at most {most} min (Standard HDD, Azure's slowest)"
            yield "# cloud-init installs iozone3, which Ubuntu has in multiverse and Debian in non-free"
        *layout, run = (shlex.join(argv) for argv in guest.commands(step))
        lasting = step.setup.disks[step.disk].role == "data"  # it keeps its data from setup to setup
        for line in layout:
            key = f"{step.disk if lasting else step.folder} {line}"
            if key not in told:
                told.add(key)
                yield line
        yield run
    elif isinstance(step, Guard) and step.is_own_group:
        yield commands.text(commands.role_assign("VM", "GROUP")) + f"  # {step.title}"
    elif isinstance(step, Prepare):
        yield f"# {step.title}: find it, format it if it is empty, mount it"
    else:
        yield f"# {step.title}"


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield f"# {text}"
