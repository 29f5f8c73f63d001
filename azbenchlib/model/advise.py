"""Advice: the cheapest VM with disks that meets a demand, its alternatives, and why nothing cheaper does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from azbenchlib.errors import InputError
from azbenchlib.model import nearest, words
from azbenchlib.model.demand import LOCAL, Demand
from azbenchlib.model.design import CHEAPEST, Design
from azbenchlib.model.machines import Bools
from azbenchlib.model.market import KINDS, Market, product_of
from azbenchlib.model.search import Choice, Search, search

CALM, ZRS = "cheapest without bursting", "cheapest with ZRS"
SIMPLER_WITHIN = 1.01  # of the price: so much dearer may be what has fewer disks
PRICE_STEPS = (("+10 %", "1.1"), ("−10 %", "0.9"))
DEMAND_STEPS = (("+20 %", 1.2), ("−20 %", 0.8))


@dataclass(frozen=True)
class Unpriced:
    """What would do, but has no price: never ranked."""

    what: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Sensitivity:
    """What is cheapest after a change of `what` by a `step`; None: nothing does. `same`: as before."""

    what: str
    step: str
    design: Design | None
    same: bool

    @property
    def change(self) -> str:
        """Both in words."""
        return f"{self.what} {self.step}"


@dataclass(frozen=True)
class Advice:
    """The answer to one demand in one market.

    Parameters
    ----------
    demand : Demand
    market : Market
    designs : tuple of Design
        By price; the first is the cheapest.
    notes : tuple of str
        Which alternative there is not, and why.
    unpriced : tuple of Unpriced
    """

    demand: Demand
    market: Market
    designs: tuple[Design, ...]
    notes: tuple[str, ...]
    unpriced: tuple[Unpriced, ...]

    @property
    def best(self) -> Design:
        """The cheapest."""
        return self.designs[0]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answer takes for granted."""
        return words.assumptions(self.demand, self.market, [design.kind for design in self.designs])

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What the price leaves out and the catalogue does not know."""
        return words.NOT_MODELLED

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, ...]:
        """What wins when prices are 10 % or the demand 20 % higher or lower."""
        return tuple(_changes(self))

    def records(self) -> list[dict[str, object]]:
        """A table of the designs, prices as exact decimals."""
        return [design.record() for design in self.designs]


def advise(demand: Demand, market: Market) -> Advice:
    """The cheapest design, and others that differ from it.

    Parameters
    ----------
    demand : Demand
    market : Market

    Raises
    ------
    InputError
        When nothing meets the demand: one sentence with the nearest that is met.
    """
    found = search(demand, market)
    best = found.cheapest()
    if best is None:
        raise InputError(nearest.sentence(demand, market))
    notes: list[str] = []
    picked = [
        Design(choice, (label,), source)
        for label, choice, source in (*_alternatives(found, best, notes), *_others(found, best))
    ]
    return Advice(demand, market, _merged(picked), tuple(notes), tuple(_unpriced(found)))


def _alternatives(found: Search, best: Choice, notes: list[str]) -> Iterator[tuple[str, Choice, Search]]:
    """The cheapest under a further condition; a note where there is none."""
    demand, market = found.demand, found.market
    yield CHEAPEST, best, found
    bursts = Design(best, (), found).bursts
    yield from _named(CALM, search(demand, market, bursting=False) if bursts else found, notes)
    if demand.redundancy != "ZRS":
        safe = replace(demand, redundancy="ZRS", persistent=True)
        yield from _named(ZRS, search(safe, market), notes)
    if best.option.kind in LOCAL:
        lasting = [kind for kind in found.kinds() if kind not in LOCAL]
        yield from _named("cheapest that keeps its data", found, notes, kinds=lasting)
    if market.vms[best.machine].architecture == "arm64":
        x64 = market.machines.suits(replace(demand, architecture="x64"))
        yield from _named("cheapest with x64", found, notes, among=x64)


def _named(
    label: str,
    found: Search,
    notes: list[str],
    kinds: Sequence[str] | None = None,
    among: Bools | None = None,
) -> Iterator[tuple[str, Choice, Search]]:
    choice = found.cheapest(kinds, among)
    if choice is not None:
        yield label, choice, found
    else:
        missing = ": its prices are missing" if any(group.unpriced for group in found.groups) else ""
        notes.append(f"there is no design {label.removeprefix('cheapest ')}{missing}")


def _others(found: Search, best: Choice) -> Iterator[tuple[str, Choice, Search]]:
    """Other kinds of disks, another VM, and fewer disks for nearly the same price."""
    kind = best.option.kind
    other = np.arange(len(found.market.vms)) != best.machine
    second = found.cheapest([kind], other)
    if second is not None:
        yield "next VM size", second, found
    disk = best.option.disk
    most = float(best.price) * SIMPLER_WITHIN
    groups = [one for one in found.groups if one.kind == kind and one.cached == (disk.caching != "None")]
    alike = [
        Choice(found.market, best.machine, option)
        for group in groups
        for option in group.options
        if option.disk.count < disk.count
    ]
    near = [choice for choice in alike if float(choice.price) <= most]
    if near:
        yield "fewer disks within 1 %", min(near, key=lambda one: (one.option.disk.count, one.order)), found
    for name in found.kinds():
        choice = found.cheapest([name])
        if choice is not None:
            yield f"cheapest with {words.KIND_NAMES[name]}", choice, found


def _merged(designs: Sequence[Design]) -> tuple[Design, ...]:
    """Each design once, with all that is said of it, by price."""
    found: dict[tuple[str, str, str | None], Design] = {}
    for one in designs:
        key = (one.vm, one.disks, one.redundancy)
        before = found.get(key)
        found[key] = replace(before, labels=(*before.labels, *one.labels)) if before else one
    return tuple(sorted(found.values(), key=lambda one: (one.price, CHEAPEST not in one.labels)))


def _unpriced(found: Search) -> Iterator[Unpriced]:
    """Disks and VMs that would do, but have no price."""
    machines = np.zeros(len(found.market.vms), dtype=bool)
    for group in found.groups:
        machines |= group.unpriced_machines
        slots = group.slots[group.fits].max(initial=0)
        missing: dict[str, list[str]] = {}
        for option in group.unpriced:
            if option.disk.count <= slots and not group.cached:
                redundancy = (option.disk.sku or "").partition("_")[2]
                paid = ", bursting on demand" if option.on_demand else ""
                meters = missing.setdefault(f"{words.KIND_NAMES[group.kind]} {redundancy}{paid}", [])
                meters += [str(meter) for meter in option.bill.missing]
        for what, meters in missing.items():
            yield Unpriced(what, tuple(dict.fromkeys(meters)))
    if machines.any():
        names = [offer.size for offer, lacks in zip(found.market.vms, machines, strict=True) if lacks]
        yield Unpriced(f"{len(names)} VM sizes", tuple(names))


def _changes(advice: Advice) -> Iterator[Sensitivity]:
    demand, market = advice.demand, advice.market
    kinds = list(dict.fromkeys(design.kind for design in advice.designs if design.kind in KINDS))[:2]
    names = {product_of("nvme"): "VM", **{product_of(kind): words.KIND_NAMES[kind] for kind in kinds}}
    for product, name in names.items():
        for text, factor in PRICE_STEPS:
            yield _changed(f"{name} prices", text, demand, market.scaled(product, factor), advice.best)
    for text, share in DEMAND_STEPS:
        yield _changed("IOPS and MB/s", text, demand.times(share), market, advice.best)
        sized = replace(demand, size_bytes=demand.size_bytes * share)
        yield _changed("size", text, sized, market, advice.best)


def _changed(what: str, step: str, demand: Demand, market: Market, best: Design) -> Sensitivity:
    found = search(demand, market)
    choice = found.cheapest()
    design = Design(choice, (CHEAPEST,), found) if choice else None
    return Sensitivity(what, step, design, design is not None and best.same(design))
