"""Repeats of workloads in randomised complete blocks: each has every workload once, in an order of its own.

What changes slowly - a neighbour, burst credits, the temperature of a room - then falls on all workloads
alike instead of on those that the file names last. Setups follow one another as in the file: changing the VM
or a disk between any two runs would cost more time than the runs.
R. A. Fisher, The Design of Experiments, 1935.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace

from azbenchlib.campaign.design import figures, search
from azbenchlib.campaign.files.spec import Experiment, SetupSpec, Task
from azbenchlib.campaign.workloads import base


def repeated(experiment: Experiment) -> Experiment:
    """The experiment with every repeat as a task of its own, in the order in which all are run.

    Where the file gives no seed, it follows from what the file says, so that a run that is taken up again has
    the order it was begun with.
    """
    if all(setup.repeats == 1 and not setup.warm_up and not _found(setup) for setup in experiment.setups):
        return experiment
    seed = _seed(experiment) if experiment.seed is None else experiment.seed
    setups = tuple(
        setup.model_copy(update={"tasks": (*_tasks(setup, seed), *_searched(setup))})
        for setup in experiment.setups
    )
    return experiment.model_copy(update={"setups": setups, "seed": seed})


def described(experiment: Experiment) -> str:
    """How often what was measured, in sentences; empty where everything is measured once."""
    return " ".join(filter(None, (_repeats(experiment), _warm_ups(experiment))))


def _repeats(experiment: Experiment) -> str:
    times = sorted({setup.repeats for setup in experiment.setups if setup.repeats > 1})
    if not times:
        return ""
    often = " or ".join(map(str, times))
    most = "up to " if any(setup.until for setup in experiment.setups) else ""
    return (
        f"Each workload is measured {most}{often} times, in randomised complete blocks within a setup (seed "
        f"{experiment.seed})."
    )


def _warm_ups(experiment: Experiment) -> str:
    shares = (share for setup in experiment.setups for share in setup.warm_up.items())
    asked = dict.fromkeys(f"{figure} to within {share * 100:g} %" for figure, share in shares)
    if not asked:
        return ""
    return (
        "Before its runs count, each workload is run until two runs one after the other agree "
        f"({', '.join(asked)}), {figures.MOST_WARM_UPS} times at most."
    )


def _tasks(setup: SetupSpec, seed: int) -> Iterator[Task]:
    plain = [task for task in setup.tasks if not task.find]
    if setup.repeats == 1 and not setup.warm_up:
        yield from plain
        return
    entries = [(task, disk) for task in plain for disk in setup.driven(task)]
    for block in range(1, setup.repeats + 1):
        order = entries.copy()
        if setup.repeats > 1:
            random.Random(f"{seed}/{setup.name}/{block}").shuffle(order)  # noqa: S311  no secret
        for task, disk in order:
            called = task.workload.name
            if block == 1 and setup.warm_up:
                for number in range(1, figures.MOST_WARM_UPS + 1):
                    yield _task(task, disk, base.of_warm_up(called, number))
            yield _task(task, disk, base.of_repeat(called, block) if setup.repeats > 1 else called)


def _task(task: Task, disk: str, name: str) -> Task:
    return Task(workload=replace(task.workload, name=name), disks=(disk,))


def _found(setup: SetupSpec) -> list[Task]:
    """The first task of each search."""
    return [task for task in setup.tasks if task.find and task.workload.name == task.ladder[0]]


def _searched(setup: SetupSpec) -> Iterator[Task]:
    """Searches come after the blocks: the depths in the order of the bisection, then the repeats."""
    known = {task.workload.name: task for task in setup.tasks if task.find}
    repeats = setup.repeats if setup.repeats > 1 else search.REPEATS_AT_ANSWER
    for first in _found(setup):
        order = [first.ladder[place] for place in search.in_order(len(first.ladder))]
        for disk in setup.driven(first):
            for number in range(1, repeats + 1):
                for name in order:
                    work = replace(known[name].workload, name=base.of_repeat(name, number))
                    yield known[name].model_copy(update={"workload": work, "disks": (disk,)})


def _seed(experiment: Experiment) -> int:
    said = experiment.model_dump_json(include={"region", "setups"})
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:4])
