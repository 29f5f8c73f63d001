"""What each of several VMs of a run may cost: shares of one limit, and what is left of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from azbenchlib.campaign.targets.azure.money.reckoning import RunEstimate

_NOTHING_LEFT = 1e-9  # 0 is no limit


@dataclass(kw_only=True)
class CostShares:
    """A limit of costs, shared out by what each VM is likely to cost.

    What a VM that has ended did not spend goes to those that are not begun; what it spent beyond its share is
    taken from theirs. So all of them together keep to the limit.

    Parameters
    ----------
    most : float
        What all of them may cost; 0: no limit.
    likely : mapping
        By the name of each VM, what it is likely to take.
    """

    most: float
    likely: Mapping[str, RunEstimate]
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
