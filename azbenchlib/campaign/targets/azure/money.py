"""What a run in Azure costs and how long it lasts: reckoned by the price book, spent, and at most."""

import heapq
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Self

from azbenchlib.azure.az import Az
from azbenchlib.azure.prices.rows import PAYG, SPOT
from azbenchlib.campaign.files.spec import Experiment, SetupSpec, planned
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.azure.container import FEWEST_FOR_CONTAINER
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Prepare, Rest, Step
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import GIB, S_PER_HOUR, format_money
from azbenchlib.cost.priced_setups import Terms, price
from azbenchlib.model import VM, Disk, Setup
from azbenchlib.model.descriptions import stated_setup

# What az makes where it is told neither kind nor size: as large as the image, 30 GiB for the Linux images of
# the Marketplace, and Premium SSD on sizes that take it; the others get a cheaper kind. By judgement.
_OS_SKU, _OS_BYTES = "Premium_LRS", 32 * GIB
_NO_DISK_OF_AZURE = ("temp", "nvme", "ephemeral_os")


@dataclass(frozen=True, kw_only=True)
class HourlyPrices:
    """An hour of the dearest VM and of all managed disks of a measurement file.

    `vm` and `disks` are None where there is no price; `notes` say why, what was assumed, and by name what is
    not priced.
    """

    vm: Decimal | None = None
    disks: Decimal | None = None
    currency: str = ""
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """Of the VM and the disks; None where either has no price."""
        return None if self.vm is None or self.disks is None else self.vm + self.disks


def hourly(experiment: Experiment) -> HourlyPrices:
    """What an hour costs at most, by the newest prices of the region; a spot VM at the spot price."""
    tables = planned(experiment)
    vms: list[Decimal | None] = []
    each: dict[str, Decimal | None] = {}
    currency, notes, by_use = "", dict[str, None](), dict[str, None]()
    for setup in experiment.setups:
        sizes = dict.fromkeys([setup.vm, *(other.vm for other in setup.otherwise if other.vm)])
        for size in sizes:
            total, unit, said = _vm(experiment.region, size, setup.priority == "spot")
            vms.append(total)
            currency, notes = unit or currency, notes | dict.fromkeys(said)
        for disk in _disks(setup, stated_setup(tables, setup.name).disks):
            one = price(Setup(vm=VM(), disks=(disk,)), _terms(experiment.region))
            notes |= dict.fromkeys([one.why] if one.why else ())
            by_use |= dict.fromkeys([disk.name] if one.doubts else ())
            before = each.get(disk.name, Decimal(0))
            each[disk.name] = None if one.total is None or before is None else max(before, one.total)
    known = [one for one in vms if one is not None]
    return HourlyPrices(
        vm=None if None in vms else max(known, default=Decimal(0)),
        disks=None if None in each.values() else sum((one for one in each.values() if one), Decimal(0)),
        currency=currency,
        notes=(*notes, *_not_priced(experiment, list(by_use))),
    )


def _terms(region: str, pay: str = PAYG) -> Terms:
    return Terms(region=region, hours=Decimal(1), pay=pay)


def _vm(region: str, size: str, spot: bool) -> tuple[Decimal | None, str, list[str]]:
    """An hour of a size, its currency, and what is to be said of it."""
    stated = Setup(vm=VM(size=size))
    found = price(stated, _terms(region))
    unit = (found.bill.currency if found.bill else "") or ""
    if not spot or found.total is None:
        return found.total, unit, [found.why] if found.why else []
    cheaper = price(stated, _terms(region, SPOT)).total
    if cheaper is None:
        return found.total, unit, [f"{size}: no spot price is known there, so the regular one counts"]
    regular = f"{format_money(float(found.total))} {unit}"
    return cheaper, unit, [f"{size}: the spot price, which Azure changes, up to {regular} an hour"]


def _disks(setup: SetupSpec, stated: tuple[Disk, ...]) -> Iterator[Disk]:
    """The disks that are billed; the OS disk under one name, for a VM that follows another has one, too."""
    for disk in stated:
        if disk.role not in (*_NO_DISK_OF_AZURE, "os"):
            yield disk
    own = next((disk for disk in stated if disk.role in ("os", "ephemeral_os")), Disk(name="os", role="os"))
    if own.role == "os" and (own.size_bytes or not _has_own_image(setup)):
        size, sku = own.size_bytes or _OS_BYTES, own.sku or _OS_SKU
        yield replace(own, name="OS disk", sku=sku, size_bytes=size)


def _has_own_image(setup: SetupSpec) -> bool:
    return setup.image.startswith("/")


def _not_priced(experiment: Experiment, by_use: list[str]) -> list[str]:
    """What a run has that no price book knows, by name; `by_use`: disks whose I/Os are billed each."""
    n_results = sum(len(setup.driven(task)) for setup in experiment.setups for task in setup.tasks)
    nat = experiment.outbound == "nat" and not experiment.subnet
    named = {
        "the OS disk, which is as large as its image": any(
            _has_own_image(setup) and not any(disk.size or disk.role != "os" for disk in setup.os_disks)
            for setup in experiment.setups
        ),
        f"I/Os on {', '.join(by_use)}": bool(by_use),
        "the NAT gateway, its public address and what goes through it": nat,
        "the storage account for the results": n_results >= FEWEST_FOR_CONTAINER,
    }
    told = [name for name, holds in named.items() if holds]
    return [f"not priced: {'; '.join(told)}"] if told else []


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
    return RunEstimate(seconds=seconds(experiment), prices=hourly(experiment))


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


_NOTHING = RunEstimate(seconds=0, prices=HourlyPrices())
_NOTHING_LEFT = 1e-9  # of a cost; 0 is no limit


def check(likely: AnyEstimate, max_cost: float, max_hours: float) -> None:
    """Refuse what would take more than it may; a limit of 0 is none.

    Raises an InputError with the limit and what is reckoned; also where a cost is limited and there is no
    price.
    """
    if max_hours and likely.seconds > max_hours * S_PER_HOUR:
        raise InputError(f"max_hours {max_hours:g}: the run takes {likely.text}")
    if max_cost and (likely.most is None or likely.most > max_cost):
        raise InputError(f"max_cost {max_cost:g}: the run takes {likely.text}")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a run, and what it is likely to take; a limit of 0 is none."""

    estimate: RunEstimate = _NOTHING
    max_cost: float = 0.0
    max_hours: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, experiment: Experiment, max_cost: float, max_hours: float) -> Self:
        """For what is still to be measured."""
        return cls(estimate=estimate(experiment), max_cost=max_cost, max_hours=max_hours)

    def check(self) -> None:
        """Refuse what would take more than it may, as :func:`check` does."""
        check(self.estimate, self.max_cost, self.max_hours)

    @property
    def spent(self) -> str:
        """What it took so far, in words."""
        seconds = time.monotonic() - self.begun
        cost = self.estimate.cost(seconds)
        hours = f"{seconds / 3600:.1f} h"
        return hours if cost is None else f"{hours}, {cost:,.2f} {self.estimate.currency}"

    def end(self, az: Az) -> None:
        """Have az wait for nothing beyond the hours that the run may take."""
        if self.max_hours:
            az.end.at = self.begun + self.max_hours * S_PER_HOUR
            az.end.why = f"max_hours {self.max_hours:g} is reached"

    def check_spent(self) -> None:
        """End what took all that it may.

        Raises an AzbenchError when a limit is reached.
        """
        seconds = time.monotonic() - self.begun
        cost = self.estimate.cost(seconds)
        if self.max_hours and seconds > self.max_hours * 3600:
            raise AzbenchError(f"max_hours {self.max_hours:g} is reached ({self.spent})")
        if self.max_cost and cost is not None and cost > self.max_cost:
            raise AzbenchError(f"max_cost {self.max_cost:g} is reached ({self.spent})")


@dataclass(kw_only=True)
class CostShares:
    """A limit of costs, shared out by what each VM is likely to cost.

    What a VM that has ended did not spend goes to those that are not begun; what it spent beyond its share is
    taken from theirs. So all of them together keep to the limit.
    """

    most: float  # what all of them may cost; 0: no limit
    likely: Mapping[str, RunEstimate]  # by the name of each VM, what it is likely to take
    _given: dict[str, float] = field(default_factory=dict, init=False)  # to VMs that are there
    _spent: float = field(default=0.0, init=False)
    _over: set[str] = field(default_factory=set, init=False)

    def begin(self, name: str) -> float:
        """The share of a VM that is about to be made; 0: no limit."""
        if not self.most:
            return 0.0
        waiting = [one for one in self.likely if one not in self._over and one not in self._given]
        weights = {one: float(self.likely[one].most or 0) for one in waiting}
        left = self.most - self._spent - sum(self._given.values())
        total = sum(weights.values())
        share = weights[name] / total if total else 1 / len(weights)
        self._given[name] = max(left * share, _NOTHING_LEFT)
        return self._given[name]

    def end(self, name: str, seconds: float, again: bool) -> None:
        """Note that a VM is gone which was there for so long; `again`: it is tried again later."""
        self._given.pop(name, None)
        self._spent += float(self.likely[name].cost(seconds) or 0)
        if not again:
            self._over.add(name)
