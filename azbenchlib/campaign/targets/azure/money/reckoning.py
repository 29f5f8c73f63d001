"""How long a run in Azure takes and what it costs, reckoned before it is begun."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.campaign.targets.azure.money import expenses
from azbenchlib.campaign.targets.azure.money.expenses import HourlyPrices
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Prepare, Rest, Step
from azbenchlib.core.units import format_money

# Seconds that a call takes in Azure, by judgement, rounded up; none of them is promised.
CALL_S = {
    "group": 20,
    "network": 30,
    "vm create": 150,
    "vm delete": 90,
    "vm auto-shutdown": 20,
    "vm disk": 40,
    "disk": 25,
}
SCRIPT_S = 60  # from the start of a script to the news that it ended, beside what it does
FIRST_SCRIPT_S = 180  # of a new VM: its first boot installs the tools
CONTAINER_S = 90  # the account, its container, the signature
PER_RESULT_S = 6  # packing and uploading on the VM; the download goes on meanwhile
PER_RESULT_IN_PIECES_S = 90
DOWN_S = 300  # until the group is gone
MONITOR_S = 200  # until Azure Monitor has the last minutes of a VM
MONITORED_S = 60.0  # of a workload for which Azure Monitor is asked
LAYOUT_BYTES_PER_S = 100_000_000  # at which data is written before it is measured
DAY_H = 24


@dataclass(frozen=True, kw_only=True)
class RunEstimate:
    """What a run is likely to take and to cost: seconds from the first call to the end of the deletion."""

    seconds: float
    prices: HourlyPrices

    @property
    def currency(self) -> str:
        """Of the prices."""
        return self.prices.currency

    @property
    def why(self) -> str:
        """What the price leaves out, or why there is none."""
        return "; ".join(self.prices.notes)

    def cost(self, seconds: float) -> Decimal | None:
        """Of so many seconds, at most; None where there is no price."""
        return None if self.prices.total is None else self.prices.total * Decimal(seconds) / 3600

    @property
    def most(self) -> Decimal | None:
        """Of the whole run, at most; None where there is no price."""
        return self.cost(self.seconds)

    @property
    def text(self) -> str:
        """In a sentence or two."""
        return _in_words(self.seconds, self.most, [self.prices], self.why)


@dataclass(frozen=True, kw_only=True)
class TogetherEstimate:
    """What VMs are likely to take that are measured some at a time."""

    parts: Sequence[RunEstimate]  # of each VM, in the order in which they are begun
    at_once: int  # how many there are at a time

    @property
    def seconds(self) -> float:
        """Until the last one is deleted, where each is begun when one before it is gone."""
        ends = [0.0] * self.at_once
        for part in self.parts:
            heapq.heapreplace(ends, ends[0] + part.seconds)
        return max(ends)

    @property
    def most(self) -> Decimal | None:
        """What all of them cost, at most; None where any has no price."""
        each = [part.most for part in self.parts]
        known = [one for one in each if one is not None]
        return sum(known, Decimal(0)) if len(known) == len(each) else None

    @property
    def currency(self) -> str:
        """Of the prices."""
        return self.parts[0].currency

    @property
    def why(self) -> str:
        """What the price leaves out, or why there is none."""
        return "; ".join(dict.fromkeys(note for part in self.parts for note in part.why.split("; ") if note))

    @property
    def text(self) -> str:
        """In a sentence or two; left over are the dearest VMs that there are at a time."""
        prices = [part.prices for part in self.parts]
        dearest = sorted(prices, key=lambda hourly: hourly.total or 0, reverse=True)[: self.at_once]
        said = _in_words(self.seconds, self.most, dearest, self.why)
        return f"{said}; that is with {self.at_once} VMs at a time, for which the quota has to suffice"


AnyEstimate = RunEstimate | TogetherEstimate


def _in_words(seconds: float, most: Decimal | None, left_over: Sequence[HourlyPrices], why: str) -> str:
    """What a run takes, and what VMs that are left over cost with their disks; `why`: see RunEstimate."""
    if most is None:
        return f"about {seconds / 3600:.1f} hours; what it costs is not known: {why}"
    left = format_money(float(sum((one.disks or 0) * DAY_H for one in left_over)))
    stopped = format_money(float(sum((one.total or 0) * DAY_H for one in left_over)))
    vm = "the VM has stopped itself" if len(left_over) == 1 else "the VMs have stopped themselves"
    currency = left_over[0].currency
    return (
        f"about {seconds / 3600:.1f} hours and at most {format_money(float(most))} {currency}; "
        f"left over, it would cost {stopped} {currency} a day, and {left} when {vm}"
        f"{f' ({why})' if why else ''}"
    )


def estimate(experiment: Experiment) -> RunEstimate:
    """What a whole experiment takes and costs, by the newest prices of its region."""
    return RunEstimate(seconds=seconds(experiment), prices=expenses.hourly(experiment))


def seconds(experiment: Experiment) -> float:
    """How long a whole experiment takes."""
    all_steps = steps.planned(experiment)
    measures = [step for step in all_steps if isinstance(step, Measure)]
    rests_s = sum(step.seconds for step in all_steps if isinstance(step, Rest))
    workloads_s = sum(step.workload.max_duration_s for step in measures)
    return workloads_s + rests_s + _overhead_s(all_steps, measures)


def _overhead_s(all_steps: Iterable[Step], measures: list[Measure]) -> float:
    """Everything but the workloads and rests."""
    contained = len(measures) >= FEWEST_FOR_CONTAINER
    seconds = float(DOWN_S + CONTAINER_S * contained)
    seconds += MONITOR_S * len({step.vm for step in measures if step.workload.max_duration_s >= MONITORED_S})
    seconds += len(measures) * (PER_RESULT_S if contained else PER_RESULT_IN_PIECES_S)
    booted: set[str] = set()
    laid: set[tuple[str, int]] = set()
    before: Step | None = None
    for step in all_steps:
        if isinstance(step, Call):
            verb = " ".join(step.argv[:2])
            seconds += CALL_S.get(verb, CALL_S.get(step.argv[0], SCRIPT_S))
        elif isinstance(step, Prepare):
            seconds += SCRIPT_S if step.vm in booted else FIRST_SCRIPT_S
            booted.add(step.vm)
        elif isinstance(step, Measure):
            one_script = contained and isinstance(before, Measure)
            seconds += 0 if one_script else SCRIPT_S
            data = step.workload.own_bytes or step.data_bytes
            if (step.disk, data) not in laid:
                laid.add((step.disk, data))
                seconds += data / LAYOUT_BYTES_PER_S
        elif not isinstance(step, Rest):
            seconds += SCRIPT_S
        before = step
    return seconds
