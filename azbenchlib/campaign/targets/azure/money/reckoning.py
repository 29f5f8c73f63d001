"""How long a run in Azure takes and what it costs, reckoned before it is begun."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.campaign.targets.azure.money import expenses
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
    """What a run is likely to take and to cost.

    Parameters
    ----------
    seconds : float
        From the first call to the end of the deletion.
    workload_s : float
        Of them, those of the workloads and rests.
    vm_an_hour, disks_an_hour : Decimal, optional
        Of the dearest VM and of all managed disks; None: there is no price.
    currency : str
    why : str
        What the price leaves out, or why there is none.
    """

    seconds: float
    workload_s: float
    vm_an_hour: Decimal | None
    disks_an_hour: Decimal | None
    currency: str
    why: str

    @property
    def an_hour(self) -> Decimal | None:
        """Of the VM and the disks; None where either has no price."""
        if self.vm_an_hour is None or self.disks_an_hour is None:
            return None
        return self.vm_an_hour + self.disks_an_hour

    def cost(self, seconds: float) -> Decimal | None:
        """Of so many seconds, at most; None where there is no price."""
        return None if self.an_hour is None else self.an_hour * Decimal(seconds) / 3600

    @property
    def most(self) -> Decimal | None:
        """Of the whole run, at most; None where there is no price."""
        return self.cost(self.seconds)

    @property
    def text(self) -> str:
        """In a sentence or two."""
        return in_words(self.seconds, self.most, [self], self.why)


def in_words(seconds: float, most: Decimal | None, left_over: Sequence[RunEstimate], why: str) -> str:
    """What a run takes, and what VMs that are left over cost with their disks; `why`: see RunEstimate."""
    if most is None:
        return f"about {seconds / 3600:.1f} hours; what it costs is not known: {why}"
    left = format_money(float(sum((one.disks_an_hour or 0) * DAY_H for one in left_over)))
    stopped = format_money(float(sum((one.an_hour or 0) * DAY_H for one in left_over)))
    vm = "the VM has stopped itself" if len(left_over) == 1 else "the VMs have stopped themselves"
    currency = left_over[0].currency
    return (
        f"about {seconds / 3600:.1f} hours and at most {format_money(float(most))} {currency}; "
        f"left over, it would cost {stopped} {currency} a day, and {left} when {vm}"
        f"{f' ({why})' if why else ''}"
    )


def estimate(experiment: Experiment) -> RunEstimate:
    """What a whole experiment takes and costs, by the newest prices of its region."""
    workload_s, others_s = _times_s(experiment)
    prices = expenses.hourly(experiment)
    return RunEstimate(
        seconds=workload_s + others_s,
        workload_s=workload_s,
        vm_an_hour=prices.vm,
        disks_an_hour=prices.disks,
        currency=prices.currency,
        why="; ".join(prices.notes),
    )


def seconds(experiment: Experiment) -> float:
    """How long a whole experiment takes."""
    return sum(_times_s(experiment))


def _times_s(experiment: Experiment) -> tuple[float, float]:
    """Seconds of the workloads and rests, and of everything else."""
    all_steps = steps.steps(experiment, "GROUP", {}, "HHMM")
    measures = [step for step in all_steps if isinstance(step, Measure)]
    workload_s = sum(step.workload.max_duration_s for step in measures)
    workload_s += sum(step.seconds for step in all_steps if isinstance(step, Rest))
    return workload_s, _overhead_s(all_steps, measures)


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
