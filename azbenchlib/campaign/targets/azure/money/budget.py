"""What a run in Azure may cost and how long it may last."""

import time
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol, Self

from azbenchlib.azure.az import Az
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.targets.azure.money import reckoning
from azbenchlib.campaign.targets.azure.money.reckoning import RunEstimate
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import S_PER_HOUR

_NOTHING = RunEstimate(seconds=0, workload_s=0, vm_an_hour=None, disks_an_hour=None, currency="", why="")


class TimeAndCost(Protocol):
    """What a run is likely to take, and what it costs at most; None: there is no price."""

    @property
    def seconds(self) -> float: ...

    @property
    def most(self) -> Decimal | None: ...

    @property
    def currency(self) -> str: ...

    @property
    def why(self) -> str: ...

    @property
    def text(self) -> str: ...


def check(likely: TimeAndCost, max_cost: float, max_hours: float) -> None:
    """Refuse what would take more than it may; a limit of 0 is none.

    Raises
    ------
    InputError
        With the limit and what is reckoned; also where a cost is limited and there is no price.
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

        Raises
        ------
        AzbenchError
            When a limit is reached.
        """
        seconds = time.monotonic() - self.begun
        cost = self.estimate.cost(seconds)
        if self.max_hours and seconds > self.max_hours * 3600:
            raise AzbenchError(f"max_hours {self.max_hours:g} is reached ({self.spent})")
        if self.max_cost and cost is not None and cost > self.max_cost:
            raise AzbenchError(f"max_cost {self.max_cost:g} is reached ({self.spent})")
