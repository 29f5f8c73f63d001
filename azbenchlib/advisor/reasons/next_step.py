"""The cheapest change of a setup, of its disks or its VM, or of both, that lifts what binds a load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from azbenchlib.advisor.reasons.part_offers import PartOffers, provisioned_kinds
from azbenchlib.azure.prices.rows import MONTH_HOURS, Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.cost.bill import Bill, bill
from azbenchlib.cost.priced_setups import resolved
from azbenchlib.cost.usage import charges
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import TIE_REL, Delivered, deliver
from azbenchlib.model.setup import NO_CAP, VM, Disk, Setup

MORE = 1 + TIE_REL  # times the rate of now: less cannot be told from what documents differ by
_FURTHER = 2.0  # times the rate of now, for which provisioned disks are provisioned anew; our judgement


class SetupPart(StrEnum):
    """What is changed."""

    DISK = "disk"
    VM = "vm"
    BOTH = "both"


class StepObstacle(StrEnum):
    """Why no change gives more."""

    BOTH_BIND = "both_bind"
    NONE_LARGER = "none_larger"


@dataclass(frozen=True, kw_only=True)
class BoundLoad:
    """A load and the limits that bind it on a setup.

    Parameters
    ----------
    stated : Setup
        As it is described, without the limits of its parts.
    loads : tuple of Load
        All that run at once; those that are not bound ask for what they got.
    labels : tuple of Label
    on_credits : bool
        Whether these limits hold only as long as burst credits.
    """

    stated: Setup
    loads: tuple[Load, ...]
    labels: tuple[Label, ...]
    on_credits: bool = False


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Where and when parts are bought.

    Parameters
    ----------
    region : str
    prices : mapping of Meter to Price
        Of the region; empty where none is known.
    day : str
        ISO day whose limits and rules count.
    """

    region: str
    prices: Mapping[Meter, Price]
    day: str

    def bill(self, setup: Setup) -> Bill | None:
        """What parts cost a month; None where they cannot be billed as they are described."""
        try:
            charged = charges(replace(setup, as_of=None), self.region, MONTH_HOURS)
        except InputError:
            return None
        return bill(charged, self.prices, MONTH_HOURS)


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A change of a part, or of both, and what the load may get after it.

    Parameters
    ----------
    part : SetupPart
    labels : tuple of Label
        The limits that it lifts.
    on_credits : bool
        Whether these hold only as long as burst credits; the new rate lasts.
    before, after : Setup
        With their limits.
    place : int
        Of the disk in these, where it is what changes.
    then : Delivered
        What the load may get without credits, by all limits.
    bill_before, bill_after : Bill or None
        Of what changes alone, in a month; None where it cannot be billed.
    region : str
    instead : NextStep or None
        Provisioned disks that give as much and cost less.
    """

    part: SetupPart
    labels: tuple[Label, ...]
    on_credits: bool
    before: Setup
    after: Setup
    place: int
    then: Delivered
    bill_before: Bill | None
    bill_after: Bill | None
    region: str
    instead: NextStep | None = None

    @property
    def disk(self) -> Disk:
        """The new disk, where it is what changes."""
        return self.after.disks[self.place]

    @property
    def price(self) -> Decimal | None:
        """Of the new part, a month; None where it is not known."""
        return self.bill_after.total if self.bill_after and self.bill_after.lines else None

    @property
    def is_priced(self) -> bool:
        """Whether it names a price."""
        return self.price is not None

    @property
    def more(self) -> Decimal | None:
        """What that is above the price of the old part; None where either is not known."""
        before = self.bill_before.total if self.bill_before and self.bill_before.lines else None
        return None if self.price is None or before is None else self.price - before

    @property
    def currency(self) -> str:
        """Of the prices; empty where none is known."""
        return (self.bill_after.currency if self.bill_after else None) or ""

    @property
    def binding(self) -> tuple[tuple[Label, float], ...]:
        """The limits that bind then, with their values; of several volumes alike once."""
        return tuple(
            {
                use.label: (use.label, use.cap) for use in self.then.limits if use.label in self.then.binding
            }.values()
        )

    def record(self) -> dict[str, object]:
        """Return it as plain data: rates in base units, prices a month."""
        days = sorted({line.price.as_of for line in self.bill_after.lines}) if self.bill_after else []
        return {
            "part": self.part,
            "lifts": list(self.labels),
            **self._what(),
            "iops": self.then.iops,
            "bw_bytes_per_s": self.then.bytes_per_s,
            "binding": list(self.then.binding),
            "price": None
            if self.price is None
            else {
                "per_month": float(self.price),
                "more_per_month": None if self.more is None else float(self.more),
                "currency": self.currency,
                "region": self.region,
                "as_of": days[-1],
            },
            "instead": self.instead.record() if self.instead else None,
        }

    def _what(self) -> dict[str, object]:
        vm: dict[str, object] = {} if self.part is SetupPart.DISK else {"vm": self.after.vm.size}
        if self.part is SetupPart.VM:
            return vm
        disk = self.disk
        return {
            **vm,
            "sku": disk.sku,
            "tier": disk.tier,
            "count": disk.count,
            "size_bytes": disk.size_bytes,
            "disk_iops": disk.cap.iops,
            "disk_bytes_per_s": disk.cap.bytes_per_s,
        }


@dataclass(frozen=True)
class NoStep:
    """That no change gives more, and why."""

    part: SetupPart
    obstacle: StepObstacle
    is_priced = False

    def record(self) -> dict[str, object]:
        """Return it as plain data."""
        return {"part": self.part, "obstacle": self.obstacle}


def next_step(bound: BoundLoad, shop: Shop) -> NextStep | NoStep | None:
    """The cheapest change of the disks, or of the VM within its series, that lifts what binds; of both where
    one alone gives no more.

    Parameters
    ----------
    bound : BoundLoad
    shop : Shop

    Returns
    -------
    NextStep, NoStep or None
        None: neither by the limits of that day nor by those of the setup's own it is these that bind, or too
        little is known.

    Raises
    ------
    InputError
        When the setup has a part that the catalogue does not know.
    """
    found = _Change(bound, shop, shop.day)
    if not found.is_explained and bound.stated.as_of:
        found = _Change(bound, shop, bound.stated.as_of)
    return found.best() if found.is_explained else None


class _Change:
    """What is looked for, and what it is compared with."""

    def __init__(self, bound: BoundLoad, shop: Shop, day: str) -> None:
        self.bound, self.shop, self.day = bound, shop, day
        self.stated = replace(bound.stated, as_of=None)
        self.full = resolved(self.stated, day)
        self.now = deliver(self.full, bound.loads, bursting=bound.on_credits)
        self.offers = PartOffers(
            stated=self.stated, full=self.full, day=day, region=shop.region, bought=shop.day
        )

    @property
    def is_explained(self) -> bool:
        """Whether the limits that bind do so by the documents of the day."""
        return bool(set(self.bound.labels) & set(self.now.binding))

    def best(self) -> NextStep | NoStep | None:
        parts = {SetupPart.DISK if label.scope == "disk" else SetupPart.VM for label in self.now.binding}
        if len(parts) > 1:
            return self._of_both(SetupPart.DISK)
        (part,) = parts
        return self._of_disk() if part is SetupPart.DISK else self._of_vm()

    def _of_vm(self) -> NextStep | NoStep | None:
        if not self.full.vm.size:
            return None
        steps = (self._step(SetupPart.VM, after) for after in self.offers.vms())
        found = _cheapest(step for step in steps if self._gives(step) >= self._enough)
        return found or self._of_neither(SetupPart.VM, replace(self.full, vm=VM()))

    def _of_disk(self) -> NextStep | NoStep | None:
        place = self._bound_disk()
        if place is None:
            return None
        disk = self.full.disks[place]
        found = _cheapest(self._enough_of(place, self.offers.tiers(disk)))
        if found is not None:
            return replace(found, instead=self._instead(found, disk))
        own = [disk.kind] if disk.kind and disk.provisioned else []
        others = [kind for kind in provisioned_kinds(disk) if kind not in own]
        for kinds in (own, others):
            disks = self.offers.provisioned(kinds, disk, self._wanted(place))
            if step := _cheapest(self._enough_of(place, disks)):
                return step
        return self._of_neither(SetupPart.DISK, _with(self.full, place, replace(disk, cap=NO_CAP)))

    def _instead(self, step: NextStep, disk: Disk) -> NextStep | None:
        """Provisioned disks with the limits of a step's, that give as much and cost less."""
        figures = (step.disk.cap.iops or 0.0, step.disk.cap.bytes_per_s or 0.0)
        disks = self.offers.provisioned(provisioned_kinds(disk), disk, figures)
        least, most = self._gives(step) / MORE, step.price
        return _cheapest(
            other
            for other in self._enough_of(step.place, disks)
            if self._gives(other) >= least
            and most is not None
            and other.price is not None
            and other.price < most
        )

    @property
    def _enough(self) -> float:
        """The least rate that is more; where credits bind, the rate with these, but lasting."""
        return _rate(self.now) * (1 / MORE if self.bound.on_credits else MORE)

    @staticmethod
    def _gives(step: NextStep) -> float:
        return _rate(step.then)

    def _of_neither(self, part: SetupPart, unlimited: Setup) -> NextStep | NoStep:
        """Both, where the other part holds the load back however large this one is."""
        if _rate(deliver(unlimited, self.bound.loads, bursting=False)) >= self._enough:
            return NoStep(part, StepObstacle.NONE_LARGER)
        return self._of_both(part)

    def _of_both(self, part: SetupPart) -> NextStep | NoStep:
        """The cheapest pair of a larger VM and other disks, each of which gives enough beside the other."""
        nothing, place = NoStep(part, StepObstacle.BOTH_BIND), self._bound_disk()
        if place is None or not self.full.vm.size:
            return nothing
        disk = self.full.disks[place]
        free = replace(disk, cap=NO_CAP)
        sizes = [after for after in self.offers.vms() if self._is_enough(_with(after, place, free))]
        wanted = self.offers.provisioned(provisioned_kinds(disk), disk, self._wanted(place, VM()))
        disks = [
            other
            for other in (*self.offers.tiers(disk), *wanted)
            if self._is_enough(replace(_with(self.full, place, other), vm=VM()))
        ]
        pairs = (_with(after, place, other) for after in sizes for other in disks)
        steps = (self._step(SetupPart.BOTH, after, place) for after in pairs)
        return _cheapest(step for step in steps if self._gives(step) >= self._enough) or nothing

    def _is_enough(self, setup: Setup) -> bool:
        return _rate(deliver(setup, self.bound.loads, bursting=False)) >= self._enough

    def _bound_disk(self) -> int | None:
        """The place of the one disk, or several alike, whose limit binds; None: it is not one alone, or not
        one of the catalogue.
        """
        full = {
            use.owner for use in self.now.limits if use.label.scope == "disk" and use.utilisation * MORE >= 1
        }
        disks = {self.full.disks.index(v.disk) for v in self.full.volumes() if v.name in full}
        place = disks.pop() if len(disks) == 1 else None
        disk = self.full.disks[place] if place is not None else None
        return place if disk and disk.kind and "cap" not in disk.unstated else None

    def _enough_of(self, place: int, disks: Iterable[Disk]) -> list[NextStep]:
        steps = (self._step(SetupPart.DISK, _with(self.full, place, disk), place) for disk in disks)
        return [step for step in steps if self._gives(step) >= self._enough]

    def _step(self, part: SetupPart, after: Setup, place: int = 0) -> NextStep:
        before, new = (self.shop.bill(_only(part, setup, place)) for setup in (self.full, after))
        return NextStep(
            part=part,
            labels=self.bound.labels,
            on_credits=self.bound.on_credits,
            before=self.full,
            after=after,
            place=place,
            then=deliver(after, self.bound.loads, bursting=False),
            bill_before=before,
            bill_after=new,
            region=self.shop.region,
        )

    def _wanted(self, place: int, vm: VM | None = None) -> tuple[float, float]:
        """IOPS and bytes per second of each disk: twice what the load takes of it (with credits as much), as
        far as the VM, or another, carries that; and no less than what it has.
        """
        disk, now = self.full.disks[place], _rate(self.now)
        unlimited = replace(_with(self.full, place, replace(disk, cap=NO_CAP)), vm=vm or self.full.vm)
        free = _rate(deliver(unlimited, self.bound.loads, bursting=False))
        times = min(1.0 if self.bound.on_credits else _FURTHER, free / now)
        members = {volume.name: volume.members for volume in self.full.volumes() if volume.disk == disk}
        taken = {"iops": disk.cap.iops or 0.0, "bytes_per_s": disk.cap.bytes_per_s or 0.0}
        for use in self.now.limits:
            if use.owner in members and use.label.scope == "disk":
                needs = float(f"{use.used * times / members[use.owner]:.9g}")  # without what rounding adds
                taken[use.quantity] = max(taken[use.quantity], needs)
        return taken["iops"], taken["bytes_per_s"]


def _with(setup: Setup, place: int, disk: Disk) -> Setup:
    return replace(setup, disks=(*setup.disks[:place], disk, *setup.disks[place + 1 :]))


def _only(part: SetupPart, setup: Setup, place: int) -> Setup:
    """What changes of a setup, without the rest."""
    vm = VM() if part is SetupPart.DISK else VM(size=setup.vm.size)
    return Setup(vm, () if part is SetupPart.VM else (setup.disks[place],))


def _rate(delivered: Delivered) -> float:
    """What grows with the load: its IOPS, or its bytes where those are not known; infinite without limit."""
    known = delivered.iops if delivered.iops is not None else delivered.bytes_per_s
    return float("inf") if known is None else known


def _cheapest(steps: Iterable[NextStep]) -> NextStep | None:
    """Those with a price first; of what costs the same the simpler."""
    return min(steps, key=_order, default=None)


def _order(step: NextStep) -> tuple[object, ...]:
    vm = step.after.vm.size or ""
    constrained = "-" in vm and "-" not in (step.before.vm.size or "")
    size = _rate(step.then) if step.part is SetupPart.VM else (step.disk.size_bytes or 0)
    return step.price is None, step.price or 0, constrained, size, vm
