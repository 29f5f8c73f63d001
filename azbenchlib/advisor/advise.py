"""Advice: the cheapest VM with disks that meets a demand, its alternatives, and why nothing cheaper does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from azbenchlib.advisor import text as words
from azbenchlib.advisor.configuration import CHEAPEST, FEWEST, Configuration
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.disk_options import DiskOption
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_sizes import Bools
from azbenchlib.advisor.reasons import relaxation
from azbenchlib.advisor.reasons.savings import Saving, savings
from azbenchlib.advisor.search import Candidate, Search, search
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.azure.prices.rows import VM_PRODUCT
from azbenchlib.core.errors import InputError

CALM, ZRS, ONE_DISK = "cheapest without bursting", "cheapest with ZRS", "cheapest with one disk"
PRICE_STEPS = (("+10 %", "1.1"), ("−10 %", "0.9"))
DEMAND_STEPS = (("+20 %", 1.2), ("−20 %", 0.8))


@dataclass(frozen=True)
class Unpriced:
    """What meets the demand but has no price: never ranked. `at_least`: what the rest of it costs, with the
    cheapest VM, where only prices of operations are missing.
    """

    what: str
    missing: tuple[str, ...]
    at_least: Decimal | None = None


@dataclass(frozen=True)
class Sensitivity:
    """What is recommended after a change of `what` by a `step`; None: nothing does. `same`: as before."""

    what: str
    step: str
    configuration: Configuration | None
    same: bool

    @property
    def change(self) -> str:
        """Both in words."""
        return f"{self.what} {self.step}"


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The answer to one demand in one market.

    Parameters
    ----------
    demand : Demand
    market : Market
    configurations : tuple of Configuration
        The recommended one first, the others by price.
    notes : tuple of str
        Which alternative there is not, and why.
    unpriced : tuple of Unpriced
    """

    demand: Demand
    market: Market
    configurations: tuple[Configuration, ...]
    notes: tuple[str, ...] = field(repr=False)
    unpriced: tuple[Unpriced, ...] = field(repr=False)

    @property
    def best(self) -> Configuration:
        """The recommended one: the cheapest, or the one with the fewest disks that costs little more."""
        return self.configurations[0]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the answer assumes."""
        return words.assumptions(
            self.demand, self.market, [configuration.setup for configuration in self.configurations]
        )

    @cached_property
    def savings(self) -> tuple[Saving, ...]:
        """What would cost less without a condition that suits a server."""
        return savings(self.demand, self.market, self.best.candidate)

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What the price leaves out and the catalogue does not know."""
        return words.NOT_MODELLED if self.demand.os_disk else (words.NO_OS_DISK, *words.NOT_MODELLED)

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, ...]:
        """What wins when prices are 10 % or the demand 20 % higher or lower."""
        return tuple(_changes(self))

    def records(self) -> list[dict[str, object]]:
        """A table of the configurations, prices as exact decimals."""
        return [configuration.record() for configuration in self.configurations]


def recommended(demand: Demand, market: Market) -> Configuration | None:
    """The recommended configuration alone; None where nothing meets the demand."""
    looked_at = search(demand, market)
    best = looked_at.recommended()
    return Configuration(best, (_label(looked_at, best),), looked_at, is_recommended=True) if best else None


def advise(demand: Demand, market: Market) -> Advice:
    """The recommended configuration, the cheapest, and others that differ from them.

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
    best = found.recommended()
    if best is None:
        raise InputError(relaxation.sentence(demand, market))
    notes: list[str] = []
    picked = [
        Configuration(candidate, (label,), source, is_recommended=candidate is best)
        for label, candidate, source in (*_alternatives(found, best, notes), *_others(found, best))
    ]
    return Advice(
        demand=demand,
        market=market,
        configurations=_merged(picked),
        notes=tuple(notes),
        unpriced=tuple(_unpriced(found)),
    )


def _alternatives(
    found: Search, best: Candidate, notes: list[str]
) -> Iterator[tuple[str, Candidate, Search]]:
    """The recommended one, and the cheapest under a further condition; a note where there is none."""
    demand, market = found.demand, found.market
    label = _label(found, best)
    yield label, best, found
    if label != CHEAPEST:
        yield from _named(CHEAPEST, found, notes)
    bursts = Configuration(best, (), found).bursts
    yield from _named(CALM, search(demand, market, bursting=False) if bursts else found, notes)
    if demand.redundancy != "ZRS":
        safe = replace(demand, redundancy="ZRS", persistent=True)
        yield from _named(ZRS, search(safe, market), notes)
    lasting = [kind for kind in found.kinds() if not kind.local]
    if best.option.disk.count > 1 and not best.option.kind.local:
        yield from _named(ONE_DISK, found, notes, kinds=lasting, most_disks=1)
    if best.option.kind.local:
        yield from _named("cheapest that keeps its data", found, notes, kinds=lasting)
    if market.vms[best.vm_index].architecture == "arm64":
        x64 = market.vm_sizes.suits(replace(demand, architecture="x64"))
        yield from _named("cheapest with x64", found, notes, among=x64)


def _label(found: Search, best: Candidate) -> str:
    """Why a configuration is recommended."""
    cheapest = found.cheapest()
    return FEWEST if cheapest is not None and best.order > cheapest.order else CHEAPEST


def _named(
    label: str,
    found: Search,
    notes: list[str],
    kinds: Sequence[DiskKind] | None = None,
    among: Bools | None = None,
    most_disks: float = np.inf,
) -> Iterator[tuple[str, Candidate, Search]]:
    candidate = found.cheapest(kinds, among, most_disks)
    if candidate is not None:
        yield label, candidate, found
    else:
        missing = ": its prices are missing" if any(group.unpriced for group in found.groups) else ""
        notes.append(f"there is no configuration {label.removeprefix('cheapest ')}{missing}")


def _others(found: Search, best: Candidate) -> Iterator[tuple[str, Candidate, Search]]:
    """Another VM, and other kinds of disks."""
    kind = best.option.kind
    other = np.arange(len(found.market.vms)) != best.vm_index
    second = found.cheapest([kind], other)
    if second is not None:
        yield "next VM size", second, found
    for each in found.kinds():
        candidate = found.cheapest([each])
        if candidate is not None:
            yield f"cheapest with {each.label}", candidate, found


def _merged(configurations: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Each configuration once, with all that is said of it, the recommended one first, then by price."""
    found: dict[tuple[str, str, str | None], Configuration] = {}
    for one in configurations:
        key = (one.vm, one.disks, one.redundancy)
        before = found.get(key)
        if before:
            recommended = before.is_recommended or one.is_recommended
            one = replace(one, labels=(*before.labels, *one.labels), is_recommended=recommended)
        found[key] = one
    return tuple(
        sorted(
            found.values(), key=lambda one: (not one.is_recommended, one.price, CHEAPEST not in one.labels)
        )
    )


def _unpriced(found: Search) -> Iterator[Unpriced]:
    """Disks and VMs that would do, but have no price."""
    vm_sizes = np.zeros(len(found.market.vms), dtype=bool)
    for group in found.groups:
        vm_sizes |= group.unpriced_sizes
        slots = group.slots[group.fits].max(initial=0)
        lacking: dict[str, list[DiskOption]] = {}
        for option in group.unpriced:
            if option.disk.count <= slots and not group.cached:
                redundancy = (option.disk.sku or "").partition("_")[2]
                paid = ", bursting on demand" if option.on_demand else ""
                lacking.setdefault(f"{group.kind.label} {redundancy}{paid}", []).append(option)
        for what, some in lacking.items():
            least = group.at_least(some)
            meters = dict.fromkeys(str(meter) for option in some for meter in option.bill.missing)
            yield Unpriced(what, tuple(meters), least.price if least else None)
    if vm_sizes.any():
        names = [vm_size.size for vm_size, lacks in zip(found.market.vms, vm_sizes, strict=True) if lacks]
        yield Unpriced(f"{len(names)} VM size{'s' if len(names) > 1 else ''}", tuple(names))


def _changes(advice: Advice) -> Iterator[Sensitivity]:
    demand, market = advice.demand, advice.market
    managed = [configuration.kind for configuration in advice.configurations if not configuration.kind.local]
    kinds = list(dict.fromkeys(managed))[:2]
    names = {VM_PRODUCT: "VM", **{kind.product: kind.label for kind in kinds}}
    for product, name in names.items():
        for text, factor in PRICE_STEPS:
            yield _changed(f"{name} prices", text, demand, market.scaled(product, factor), advice.best)
    for text, share in DEMAND_STEPS:
        yield _changed("IOPS and MB/s", text, demand.times(share), market, advice.best)
        sized = replace(demand, size_bytes=demand.size_bytes * share)
        yield _changed("size", text, sized, market, advice.best)


def _changed(what: str, step: str, demand: Demand, market: Market, best: Configuration) -> Sensitivity:
    configuration = recommended(demand, market)
    return Sensitivity(what, step, configuration, configuration is not None and best.same(configuration))
