"""What a run in Azure may cost and how long it may last."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from azbenchlib.azure.az import Az
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.targets.azure.money import reckoning
from azbenchlib.campaign.targets.azure.money.expenses import HourlyPrices
from azbenchlib.campaign.targets.azure.money.reckoning import AnyEstimate, RunEstimate
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import S_PER_HOUR

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
        return cls(estimate=reckoning.estimate(experiment), max_cost=max_cost, max_hours=max_hours)

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
