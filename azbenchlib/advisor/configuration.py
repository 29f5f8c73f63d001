"""One answer of an advice: a VM, its disks and their caching, with all that is to be known of it."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from azbenchlib.advisor import text as words
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.fio_job import fio_job
from azbenchlib.advisor.reasons.cautions import Caution, cautions, old_prices
from azbenchlib.advisor.reasons.rejected import RejectedAlternative, rejected_alternatives
from azbenchlib.advisor.search import FEWER_DISKS_WITHIN, Candidate, Search
from azbenchlib.advisor.verify import CheckedLimit, PlaceLimit, limits
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.cost.bill import Bill
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Setup

CHEAPEST, FEWEST = "cheapest", f"fewest disks within {FEWER_DISKS_WITHIN - 1:.0%} of the cheapest"


@dataclass(frozen=True)
class Configuration:
    """One answer: a VM, its disks and their caching.

    Parameters
    ----------
    candidate : Candidate
    labels : tuple of str
        Why it is shown, such as ``cheapest``.
    found : Search
        What it was chosen from.
    is_recommended : bool
        Whether it is the answer to the demand, rather than an alternative.
    """

    candidate: Candidate
    labels: tuple[str, ...]
    found: Search
    is_recommended: bool = False

    def __repr__(self) -> str:
        """Return what it is and costs; the search that it was chosen from has thousands of figures."""
        return f"Configuration({self.vm}, {self.disks}, {self.price:,.2f}, {', '.join(self.labels)})"

    @property
    def demand(self) -> Demand:
        """What it meets."""
        return self.found.demand

    @property
    def vm(self) -> str:
        """The VM size."""
        return self.setup.vm.size or ""

    @property
    def kind(self) -> DiskKind:
        """Of its disks."""
        return self.candidate.option.kind

    @property
    def disks(self) -> str:
        """In the notation of `--disk`."""
        return self.setup.disks[0].name

    @property
    def redundancy(self) -> str:
        """LRS or ZRS; empty for local disks."""
        return (self.setup.disks[0].sku or "").partition("_")[2]

    @property
    def caching(self) -> str:
        """Host caching."""
        return self.setup.disks[0].caching

    @property
    def setup(self) -> Setup:
        """For :func:`azbenchlib.model.limits.deliver`, `ceilings` and `charges`."""
        return self.candidate.setup

    @cached_property
    def bill(self) -> Bill:
        """Of the market's period."""
        return self.candidate.bill

    @property
    def price(self) -> Decimal:
        """The bill's total."""
        return self.bill.total or Decimal(0)

    @cached_property
    def limits(self) -> tuple[CheckedLimit, ...]:
        """Every limit that the demand passes, the tightest first, asked of `deliver`.

        Raises
        ------
        AssertionError
            When one of them is too small: the search would be wrong.
        """
        found = limits(self.setup, self.demand)
        if broken := [one for one in found if not one.fits]:
            raise AssertionError(f"{self.vm} with {self.disks} does not deliver {self.demand}: {broken}")
        return tuple(found)

    @property
    def headroom(self) -> dict[Label | PlaceLimit, float]:
        """What is left of every limit, as a share of what is wanted."""
        found: dict[Label | PlaceLimit, float] = {}
        for one in self.limits:
            found[one.label] = min(one.headroom, found.get(one.label, one.headroom))
        return found

    @property
    def binding(self) -> Label | PlaceLimit:
        """The limit of a rate that is nearest to what is enough."""
        return next(one.label for one in self.limits if one.unit in ("iops", "bytes_per_s", "credit_s"))

    @property
    def bound(self) -> str:
        """``<=`` where the price is the most that it can be, else ``=``."""
        return "<=" if any(option.at_most for option in self.candidate.options) else "="

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What is to be known of it before it is ordered: also how old its prices are."""
        return (*cautions(self), *old_prices(self.bill, self.candidate.market))

    @property
    def bursts(self) -> bool:
        """Whether it needs credits or pays for bursting."""
        return self.candidate.option.on_demand or any(one.unit == "credit_s" for one in self.limits)

    @cached_property
    def why_not_cheaper(self) -> tuple[RejectedAlternative, ...]:
        """Cheaper configurations that fail by least: any disks for the recommended one, else its kind."""
        kinds = None if self.is_recommended or CHEAPEST in self.labels else (self.kind,)
        return rejected_alternatives(self.found, self.candidate, kinds)

    @property
    def fio_job(self) -> str:
        """A job file that would verify it."""
        return fio_job(self.setup.vm, self.setup.disks[0], self.demand)

    def record(self) -> dict[str, object]:
        """A row of a table; prices are exact decimals."""
        return words.record(self)

    def same(self, other: "Configuration") -> bool:
        """Whether it is the same VM with the same disks, whatever is provisioned on each."""
        mine, theirs = (
            (one.vm, one.setup.disks[0].sku, one.setup.disks[0].tier, one.setup.disks[0].count, one.caching)
            for one in (self, other)
        )
        return mine == theirs
