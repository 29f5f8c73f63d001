"""Several VMs of a measurement file at a time, each measured by a process of its own, in its own group."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Self

from azbenchlib.campaign import journal
from azbenchlib.campaign.files.spec import Experiment, SetupSpec
from azbenchlib.campaign.journal import JournalEvent
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.run_loop import Order
from azbenchlib.campaign.targets.azure import money, steps
from azbenchlib.campaign.targets.azure.ending import teardown
from azbenchlib.campaign.targets.azure.manifest import AzureRun, CloudPlan, measures_of, remaining
from azbenchlib.campaign.targets.azure.money import CostShares, TogetherEstimate
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.campaign.targets.azure.side_by_side.processes import (
    MessageKind,
    VmMessage,
    VmProcesses,
    VmRequest,
)
from azbenchlib.campaign.targets.azure.steps import Measure, Step
from azbenchlib.campaign.targets.azure.target import AzureTarget, hours
from azbenchlib.campaign.targets.base import Request
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.units import S_PER_HOUR


class OfVms(Order):
    """The runs that the VMs brought; the others failed, and are told already."""

    def each(self, run: AzureRun) -> Iterator[tuple[Any, Any]]:
        """As they stand in the plan."""
        yield from pairwise([*filter(run.done, run.measurements), None])


@dataclass(kw_only=True)
class VmsTarget(AzureTarget):
    """Measure several VMs at a time.

    Each VM, with the setups that follow each other on it, is a run of its own: a process, a resource group
    with disks of its own, a folder below the dataset's, in which it is taken up after a kill. At the end, at
    an error and at an interrupt, all of them have deleted what they made, and the outputs are joined.

    `at_once`: how many VMs at a time at most.
    """

    at_once: int = 1
    _left: Sequence[str] = field(default=(), init=False)  # VMs of which something is to be measured
    _begun: float = field(default_factory=time.monotonic, init=False)
    _ended: Mapping[str, VmMessage] = field(default_factory=dict, init=False)  # the last words of each VM

    @classmethod
    def of(cls, request: Request) -> Self:
        """The setups of a measurement file, created."""
        found = super().of(request)
        found.at_once = request.at_once
        return found

    def make_plan(self, dataset: Path) -> CloudPlan:
        """What is to be measured; what cannot be carried out is refused before Azure is asked."""
        for part in parts(self.experiment).values():
            hours(part)
        money.check(together(self.experiment, self.at_once), self.max_cost, self.max_hours)
        return CloudPlan(experiment=self.experiment, started=plan.now())

    def apart(self, run: AzureRun) -> Mapping[str, Experiment]:
        """What is still to be measured by each of the VMs."""
        whole = remaining(run)
        open_ = {setup.name for setup in whole.setups} if whole else set()
        found = {}
        for name, part in parts(run.plan.experiment).items():
            if setups := tuple(setup for setup in part.setups if setup.name in open_):
                found[name] = part.model_copy(update={"setups": setups})
        return found

    def check(self, run: AzureRun, resumed: bool) -> None:
        """Enter the subscription, and reckon what is left; each VM's own run asks Azure for what it needs."""
        left = self.apart(run)
        if not left:
            return
        self.enter(run)
        self._left = [*left]
        each = [money.estimate(part) for part in left.values()]
        whole = TogetherEstimate(parts=each, at_once=min(self.at_once, len(left)))
        run.tell(f"it takes {whole.text}")
        run.note(f"Up to {self.at_once} VMs were measured at a time, each with disks of its own.")

    def begin(self, run: AzureRun) -> None:
        """Have the VMs measured, and join what they brought; what failed is noted."""
        every = parts(run.plan.experiment)
        whole = {name: money.estimate(every[name]) for name in self._left}
        shares = CostShares(most=self.max_cost, likely=whole)
        measures = {name: measures_of(part) for name, part in every.items()}
        processes = VmProcesses(
            asked={name: partial(self._asked, run, name, every[name], shares) for name in whole},
            done={name: sum(map(run.done, found)) for name, found in measures.items()},
            total=len(run.measurements),
            at_once=self.at_once,
            progress=run.progress,
            interrupts=run.interrupts,
            over=shares.end,
        )
        self._ended = processes.ended
        try:
            processes.carry_out()
        finally:
            folders.take_back(run.folder, run.plan)
        for name, told in processes.ended.items():
            _note_failed(run, measures[name], told)

    def _asked(self, run: AzureRun, name: str, part: Experiment, shares: CostShares) -> VmRequest:
        """What the process of a VM is to do, within the cost and the hours that are left for it now."""
        passed_h = (time.monotonic() - self._begun) / S_PER_HOUR
        return VmRequest(
            experiment=part,
            folder=folders.hand_out(run, name, part),
            max_cost=shares.begin(name),
            max_hours=max(self.max_hours - passed_h, 1 / S_PER_HOUR) if self.max_hours else 0.0,
        )

    def release(self, run: AzureRun, fault: BaseException | None) -> None:
        """Say what is left, where anything is: each VM's run has deleted what it made."""
        teardown.release_vms(run, fault, "".join(told.text for told in self._ended.values()))

    def planned(self, experiment: Experiment) -> list[Step]:
        """What was created, changed and measured for an experiment, VM by VM."""
        return [step for part in parts(experiment).values() for step in steps.planned(part)]


def parts(experiment: Experiment) -> dict[str, Experiment]:
    """The setups that follow each other on one VM, by the name of the first of them.

    Each part has disks of its own. One that Azure should refuse to attach is created in the zone in which it
    would be if the VMs followed each other, for that is why it is refused.
    """
    zones: dict[str, str | None] = {}
    for setup in experiment.setups:
        for name, disk in setup.disks.items():
            zones.setdefault(name, disk.zone or setup.zone)
    found = {}
    for _, several in groupby(experiment.setups, key=SetupSpec.machine):
        setups = tuple(_bound(setup, zones) for setup in several)
        found[setups[0].name] = experiment.model_copy(update={"setups": setups})
    return found


def _bound(setup: SetupSpec, zones: Mapping[str, str | None]) -> SetupSpec:
    disks = {
        name: disk.model_copy(update={"zone": zones[name]}) if disk.attach == "refused" else disk
        for name, disk in setup.disks.items()
    }
    return setup.model_copy(update={"disks": disks})


def together(experiment: Experiment, at_once: int) -> TogetherEstimate:
    """What a measurement file takes with so many VMs at a time."""
    each = [money.estimate(part) for part in parts(experiment).values()]
    return TogetherEstimate(parts=each, at_once=min(at_once, len(each)))


def _note_failed(run: AzureRun, measures: list[Measure], told: VmMessage) -> None:
    """Note what a VM did not bring, and why."""
    why = journal.failures(run.journal.events())
    for one in measures:
        if run.done(one):
            continue
        key = run.key(one)
        if told.kind != MessageKind.WORKLOADS_FAILED:
            run.journal.add(JournalEvent.FAILED, run=key, why=told.text)
        own = why.get(key) if told.kind == MessageKind.WORKLOADS_FAILED else None
        run.failed.append(AzbenchError(own or f"{one.title}: {told.text}"))
